//! What is verified: the topics of a group, or topics alone, and where they are.

use std::collections::HashMap;

use super::super::live::{self, Place};
use super::super::subject::declared;
use super::super::terminal::{Io, printable};
use super::Verify;
use crate::api::{CoPartitionedTopicGroup, GrowthMark};
use crate::controller::{marks, without_kubernetes};
use crate::kafka::{ClientProperties, ConnectionSettings};
use crate::keys::{KeyScheme, PartitionCount};
use crate::verify::Growth;

/// Topics that are looked at together.
pub(super) struct Subject {
    /// Namespace and name of the group, if it is one.
    pub(super) group: Option<String>,
    pub(super) settings: ConnectionSettings,
    /// The topics and what is declared of them.
    pub(super) topics: Vec<(String, Option<KeyScheme>)>,
    /// Where the group's claim is, if the group is a live one.
    claim: Option<Claim>,
}

struct Claim {
    namespace: String,
    name: String,
    place: Place,
}

/// The growth marks of a group's claim.
#[derive(Default)]
pub(super) struct Growths(HashMap<String, GrowthMark>);

impl Growths {
    /// What they say of the records of a topic that has this id and count now.
    pub(super) fn of(&self, topic: &str, id: &str, count: PartitionCount) -> Option<Growth> {
        marks::growth(self.0.get(topic)?, id, count)
    }
}

impl Subject {
    /// All that the arguments name, at least one.
    ///
    /// # Errors
    /// One line for the user.
    pub(super) fn all(arguments: &Verify, io: &mut Io<'_>) -> Result<Vec<Self>, String> {
        let properties = arguments.command_config.as_deref();
        let properties = properties.map(ClientProperties::read).transpose()?;
        if !arguments.bootstrap.is_empty() {
            return Self::bare(arguments, properties.as_ref()).map(|subject| vec![subject]);
        }
        let place = &arguments.place;
        if arguments.name.is_none() && place.file.is_none() {
            return Err(
                "nothing to look at: name a group, or give -f FILE, or --bootstrap with --topic; --help has examples"
                    .to_owned(),
            );
        }
        let groups = place.groups(arguments.name.as_deref(), io.stdin)?;
        let live = place.file.is_none().then(|| place.live());
        groups
            .iter()
            .map(|group| Self::of_group(group, live.as_ref(), properties.as_ref()))
            .collect()
    }

    fn bare(arguments: &Verify, properties: Option<&ClientProperties>) -> Result<Self, String> {
        let scheme = arguments.bare.scheme()?.map(|(scheme, _)| scheme);
        if scheme.is_none() && arguments.bare.encoding.is_some() {
            return Err(
                "--encoding says little alone; give --partitioner or --client too".to_owned(),
            );
        }
        let topics = arguments.topics.iter();
        Ok(Self {
            group: None,
            settings: ConnectionSettings::new(arguments.bootstrap.clone())
                .with_security(properties.map(|it| it.security.clone()).unwrap_or_default()),
            topics: topics
                .map(|topic| (topic.clone(), scheme.clone()))
                .collect(),
            claim: None,
        })
    }

    fn of_group(
        resource: &CoPartitionedTopicGroup,
        live: Option<&Place>,
        properties: Option<&ClientProperties>,
    ) -> Result<Self, String> {
        let (name, group) = declared(resource)?;
        let metadata = &resource.metadata;
        let claim = live.map(|place| Claim {
            namespace: metadata.namespace.clone().unwrap_or_default(),
            name: metadata.name.clone().unwrap_or_default(),
            place: place.clone(),
        });
        let topics = group.topics.into_iter();
        Ok(Self {
            settings: without_kubernetes(&resource.spec.kafka, properties)
                .map_err(|problems| format!("{name}: {}", problems.join("; ")))?,
            topics: topics.map(|topic| (topic.name, topic.scheme)).collect(),
            group: Some(name),
            claim,
        })
    }

    /// The growth marks that the operator keeps of a live group. Who may not read them is told so, and goes on without.
    pub(super) fn growths(&self) -> Growths {
        let Some(claim) = &self.claim else {
            return Growths::default();
        };
        let marks = match live::claim(&claim.namespace, &claim.name, &claim.place) {
            Ok(claim) => claim.map(|claim| claim.growth_marks).unwrap_or_default(),
            Err(error) => {
                eprintln!(
                    "kubectl copartition: without growth marks, so records from before a growth are judged at the count of \
                     now: {}",
                    printable(&error)
                );
                Vec::new()
            }
        };
        let marks = marks.into_iter().map(|mark| (mark.topic.clone(), mark));
        Growths(marks.collect())
    }
}
