//! What the servers say of a growth: Kafka, and where the group lives there, the Kubernetes API.

mod record;
mod table;

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::super::live::{self, Place};
use super::super::source::Source;
use crate::api::{AcceptKeyMovement, CoPartitionedTopicGroup, GroupStatus, TopicStatus};
use crate::controller::{Foresight, foresee, without_kubernetes};
use crate::kafka::{ClientProperties, ConnectionSettings};
use crate::keys::PartitionCount;
use crate::plan::State;

pub(super) use record::Record;
pub(super) use table::{head, tail};

/// Whether servers are asked, and how.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "What to ask")]
pub(super) struct Asking {
    /// Ask no Kafka: only what can be calculated, which needs --to
    #[arg(long, conflicts_with_all = ["bootstrap_server", "command_config", "live"])]
    offline: bool,
    /// host:port of brokers of the group's cluster; repeat it or separate with commas
    #[arg(long, value_name = "HOST:PORT", value_delimiter = ',')]
    bootstrap_server: Vec<String>,
    /// A properties file of Kafka's own tools (bootstrap.servers, security.protocol, sasl.jaas.config ...): how to connect
    #[arg(long, value_name = "FILE")]
    command_config: Option<PathBuf>,
    /// With -f: also ask the Kubernetes cluster of the current context what the operator remembers of the group of that
    /// name, how its Kafka is reached, and whether it would take the manifest
    #[arg(long, requires = "file")]
    live: bool,
    /// How long the answers may take
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = crate::cli::duration)]
    timeout: Duration,
}

/// What the servers said of one group.
pub(super) struct Live {
    pub(super) foresight: Foresight,
    /// Why the Kubernetes API would not take the change even with the consent.
    pub(super) denied: Option<String>,
}

impl Asking {
    /// Whether servers are asked: of a live group unless told otherwise, of a file only if told so.
    pub(super) fn is_asked(&self, source: &Source) -> bool {
        let told = self.live || !self.bootstrap_server.is_empty() || self.command_config.is_some();
        let lives = source.name.is_some() && source.place.file.is_none();
        !self.offline && (told || lives)
    }

    /// Asks about all groups that the arguments name. Each is returned as it is in the cluster: with the live counts.
    ///
    /// # Errors
    /// One line for the user.
    pub(super) fn ask(
        &self,
        source: &Source,
        to: Option<PartitionCount>,
        stdin: &mut dyn Read,
    ) -> Result<Vec<(CoPartitionedTopicGroup, Live)>, String> {
        if source.partitions.is_some() {
            return Err(
                "--partitions says what Kafka is asked for here; leave it out, or ask nobody with --offline"
                    .to_owned(),
            );
        }
        if source.name.is_none() && source.place.file.is_none() {
            return Err("name a group, or give -f FILE: only a group is asked about".to_owned());
        }
        let properties = self.command_config.as_deref();
        let properties = properties.map(ClientProperties::read).transpose()?;
        let groups = source.place.groups(source.name.as_deref(), stdin)?;
        let place = (self.live || source.place.file.is_none()).then(|| source.place.live());
        groups
            .into_iter()
            .map(|group| self.about(group, to, place.as_ref(), properties.as_ref()))
            .collect()
    }

    fn about(
        &self,
        mut group: CoPartitionedTopicGroup,
        to: Option<PartitionCount>,
        place: Option<&Place>,
        properties: Option<&ClientProperties>,
    ) -> Result<(CoPartitionedTopicGroup, Live), String> {
        let name = group.metadata.name.clone().unwrap_or_default();
        let namespace = group.metadata.namespace.clone();
        let namespace = namespace.unwrap_or_else(|| "default".to_owned());
        let of_group = |problem: String| format!("{namespace}/{name}: {problem}");
        let mut unread = Vec::new();
        let claim = match place.map(|place| live::claim(&namespace, &name, place)) {
            None => None,
            Some(Ok(claim)) => claim,
            // A consent that was used before then looks like a new one.
            Some(Err(error)) => {
                unread.push(format!("which consents were used before: {error}"));
                None
            }
        };
        let settings = self.settings(&group, place, properties).map_err(of_group)?;
        let runtime = crate::cli::runtime()?;
        let count = to.map(PartitionCount::get);
        let foreseen = foresee(&group, claim.as_ref(), &settings, count, self.timeout);
        let foreseen = runtime.block_on(foreseen);
        runtime.shutdown_background();
        let mut foresight = foreseen.map_err(of_group)?;
        group.spec.partitions = foresight.target.or(group.spec.partitions);
        let denied = match place.map(|place| live::admitted(&consented(&group, &foresight), place))
        {
            None => None,
            Some(Ok(denied)) => denied,
            Some(Err(error)) => {
                unread.push(format!(
                    "whether the Kubernetes API would take the change: {error}"
                ));
                None
            }
        };
        foresight.unread.extend(unread);
        group.status = Some(seen(&foresight));
        Ok((group, Live { foresight, denied }))
    }

    fn settings(
        &self,
        group: &CoPartitionedTopicGroup,
        place: Option<&Place>,
        properties: Option<&ClientProperties>,
    ) -> Result<ConnectionSettings, String> {
        let kafka = &group.spec.kafka;
        let security = || properties.map(|it| it.security.clone()).unwrap_or_default();
        let settings = if !self.bootstrap_server.is_empty() {
            ConnectionSettings::new(self.bootstrap_server.clone()).with_security(security())
        } else if let (Some(connection), Some(place)) = (&kafka.connection_ref, place)
            && properties.is_none_or(|it| it.bootstrap_servers.is_empty())
        {
            let spec = live::connection(&connection.name, place)?;
            let name = &connection.name;
            let Some(servers) = spec.bootstrap_servers else {
                return Err(format!(
                    "KafkaConnection {name} takes its address from Strimzi; give --bootstrap-server"
                ));
            };
            if properties.is_none() && (spec.tls.is_some() || spec.sasl.is_some()) {
                return Err(format!(
                    "KafkaConnection {name} has Secrets, which are not read here; give a properties file of Kafka's tools (--command-config)"
                ));
            }
            ConnectionSettings::new(servers).with_security(security())
        } else {
            without_kubernetes(kafka, properties).map_err(|problems| problems.join("; "))?
        };
        let longest = (self.timeout / 4).saturating_mul(3);
        Ok(settings.with_request_timeout(ConnectionSettings::DEFAULT_REQUEST_TIMEOUT.min(longest)))
    }
}

/// The group with the first consent that is missing: what somebody would apply next.
fn consented(group: &CoPartitionedTopicGroup, foresight: &Foresight) -> CoPartitionedTopicGroup {
    let mut group = group.clone();
    if let Some(proposal) = foresight.consents.first() {
        group.spec.accept_key_movement = Some(AcceptKeyMovement {
            topics: proposal.topics.clone(),
            from_partitions: proposal.from,
            to_partitions: proposal.to,
            topic_ids: proposal.topic_ids.clone(),
        });
    }
    group
}

/// The counts of now, in place of those that the operator saw last.
fn seen(foresight: &Foresight) -> GroupStatus {
    let topics = foresight.topics.iter().map(|topic| TopicStatus {
        name: topic.name.clone(),
        partitions: topic.partitions,
        ..TopicStatus::default()
    });
    GroupStatus {
        topics: topics.collect(),
        ..GroupStatus::default()
    }
}

impl Live {
    /// Whether it would not go through as it stands.
    pub(super) fn is_blocked(&self) -> bool {
        let foresight = &self.foresight;
        foresight.then.state != State::True
            || !foresight.refused.is_empty()
            || self.denied.is_some()
    }
}
