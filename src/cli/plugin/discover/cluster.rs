//! What Kubernetes tells: the groups there are, and the topics that other operators own.

use std::collections::{BTreeMap, BTreeSet};

use kube::api::ListParams;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client};

use super::super::live::{self, Place};
use crate::api::{CoPartitionedTopicGroup, Management};

/// What is declared in a Kubernetes cluster.
#[derive(Debug, Default)]
pub(super) struct Declared {
    pub(super) groups: Vec<Group>,
    /// Topics that resources of other operators stand for, with those in words.
    pub(super) owned: BTreeMap<String, String>,
}

/// A group.
#[derive(Debug)]
pub(super) struct Group {
    /// `namespace/name`.
    pub(super) name: String,
    pub(super) topics: BTreeSet<String>,
    pub(super) managed: BTreeSet<String>,
    /// The cluster that it was last seen on.
    pub(super) cluster_id: Option<String>,
}

/// Other operators' resources that stand for a topic: API group, plural, and where the topic's name stands if it is not
/// the resource's own.
const OWNERS: [(&str, &str, &str, &[&str]); 6] = [
    (
        "kafka.strimzi.io",
        "KafkaTopic",
        "kafkatopics",
        &["/spec/topicName"],
    ),
    (
        "cluster.redpanda.com",
        "Topic",
        "topics",
        &["/spec/overwriteTopicName"],
    ),
    (
        "platform.confluent.io",
        "KafkaTopic",
        "kafkatopics",
        &["/spec/name"],
    ),
    (
        "kafka.banzaicloud.io",
        "KafkaTopic",
        "kafkatopics",
        &["/spec/name"],
    ),
    ("topic.kafka.crossplane.io", "Topic", "topics", CROSSPLANE),
    ("topic.kafka.m.crossplane.io", "Topic", "topics", CROSSPLANE),
];
const CROSSPLANE: &[&str] = &["/metadata/annotations/crossplane.io~1external-name"];

/// Reads what is declared.
///
/// # Errors
/// One line for the user.
pub(super) fn declared(place: &Place) -> Result<Declared, String> {
    live::asked(place, |client| async move {
        let groups: Api<CoPartitionedTopicGroup> = Api::all(client.clone());
        let groups = match groups.list(&ListParams::default()).await {
            Ok(list) => list.items.iter().map(Group::of).collect(),
            // A cluster that does not know them has none: this is how one begins.
            Err(kube::Error::Api(status)) if status.code == 404 => Vec::new(),
            Err(error) => return Err(failed("copartitionedtopicgroups", &error)),
        };
        let owned = owned(&client).await?;
        Ok(Declared { groups, owned })
    })
}

async fn owned(client: &Client) -> Result<BTreeMap<String, String>, String> {
    let known = client
        .list_api_groups()
        .await
        .map_err(|error| failed("API groups", &error))?;
    let mut owned = BTreeMap::new();
    for (group, kind, plural, names) in OWNERS {
        let versions = known.groups.iter().find(|it| it.name == group);
        let version = versions.and_then(|it| it.preferred_version.as_ref().or(it.versions.first()));
        let Some(version) = version else { continue };
        let gvk = GroupVersionKind::gvk(group, &version.version, kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, plural);
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        let list = match api.list(&ListParams::default()).await {
            Ok(list) => list,
            // Another resource of that API group is installed, this one is not.
            Err(kube::Error::Api(status)) if status.code == 404 => continue,
            Err(error) => return Err(failed(&format!("{plural}.{group}"), &error)),
        };
        for object in list {
            let named = serde_json::to_value(&object).unwrap_or_default();
            let name = object.metadata.name.clone().unwrap_or_default();
            let own = names.iter().find_map(|at| named.pointer(at)?.as_str());
            let topic = own.unwrap_or(&name).to_owned();
            let namespace = object
                .metadata
                .namespace
                .map(|it| it + "/")
                .unwrap_or_default();
            owned.insert(topic, format!("{kind} {namespace}{name} of {group}"));
        }
    }
    Ok(owned)
}

fn failed(what: &str, error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => format!("listing {what}: {}", status.message),
        other => format!("listing {what}: {}", live::chain(other)),
    }
}

impl Group {
    fn of(group: &CoPartitionedTopicGroup) -> Self {
        let metadata = &group.metadata;
        let names = [&metadata.namespace, &metadata.name].map(|it| it.clone().unwrap_or_default());
        let topics = || group.spec.topics.iter();
        let managed = topics().filter(|it| it.management != Some(Management::Referenced));
        Self {
            name: names.join("/"),
            topics: topics().map(|it| it.name.clone()).collect(),
            managed: managed.map(|it| it.name.clone()).collect(),
            cluster_id: group.status.as_ref().and_then(|it| it.cluster_id.clone()),
        }
    }
}
