//! Step 2, validate: the spec becomes a [`Group`] with every default resolved, or a list of what is wrong with it.
//! No IO. The schema and its CEL rules refuse most of this earlier; a resource can still get past them (an older
//! CRD, a restored backup), and what is not implemented yet is refused only here.

mod keys;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::SignedDuration;

use crate::api::{
    self, ACKNOWLEDGE_ANNOTATION, AlterLock, ConsumerGroupRef, GroupSpec, InlineConnection,
    KafkaRef, Management, Mode, PAUSED_ANNOTATION, TopicSpec, Verification,
};
use crate::kafka::{ClientProperties, ConnectionSettings, Use};
use crate::placement::Asked;
use crate::plan::{Consent, Group, Topic};

/// The most partitions that a group may ask for, over all its topics.
const MOST_PARTITIONS: i64 = 20_000;

/// A spec that can be worked on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Declared {
    /// What the group wants.
    pub(super) group: Group,
    /// How its records are to be sampled, if they are.
    pub(super) sampling: Option<Sampling>,
}

/// A spec that can be worked on, and the way to its cluster.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Valid {
    /// What the group wants.
    pub(super) group: Group,
    /// How its records are to be sampled, if they are.
    pub(super) sampling: Option<Sampling>,
    /// How its cluster is reached.
    pub(super) settings: ConnectionSettings,
}

impl Declared {
    /// What is done with each topic.
    pub(super) fn uses(&self) -> BTreeMap<String, BTreeSet<Use>> {
        let sampled = self.sampling.map(|_| Use::Sample);
        let locked = (self.group.alter_lock).then_some(Use::Lock);
        let of = |topic: &Topic| {
            let seen = if topic.managed {
                Use::Manage
            } else {
                Use::Observe
            };
            let locked = locked.filter(|_| topic.managed);
            let uses = [Some(seen), Some(Use::Observe), sampled, locked];
            (topic.name.clone(), uses.into_iter().flatten().collect())
        };
        self.group.topics.iter().map(of).collect()
    }

    /// With the way to its cluster.
    pub(super) fn on(self, settings: ConnectionSettings) -> Valid {
        Valid {
            group: self.group,
            sampling: self.sampling,
            settings,
        }
    }
}

/// How the records of a group are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sampling {
    /// The time between two readings.
    pub(super) interval: Duration,
    /// How many of the newest records of each partition are read.
    pub(super) records: u64,
    /// Whether keys may appear in the status.
    pub(super) reveal_keys: bool,
}

impl Sampling {
    const DEFAULT_INTERVAL: Duration = Duration::from_secs(3600);
    const SHORTEST_INTERVAL: Duration = Duration::from_secs(10);
    const LONGEST_INTERVAL: Duration = Duration::from_secs(30 * 24 * 3600);
    const DEFAULT_RECORDS: i32 = 200;
    const MOST_RECORDS: i32 = 100_000;

    fn of(verification: &Verification, problems: &mut Vec<String>) -> Self {
        let asked = verification.interval.as_deref();
        let interval = asked.map_or(Some(Self::DEFAULT_INTERVAL), |text| {
            Duration::try_from(text.parse::<SignedDuration>().ok()?).ok()
        });
        let range = Self::SHORTEST_INTERVAL..=Self::LONGEST_INTERVAL;
        let fits = interval.filter(|interval| range.contains(interval));
        if fits.is_none() {
            problems.push(format!(
                "verification.interval: wanted a time from 10s to 720h, such as 1h, seen {:?}",
                asked.unwrap_or_default()
            ));
        }
        let records = verification
            .records_per_partition
            .unwrap_or(Self::DEFAULT_RECORDS);
        if !(1..=Self::MOST_RECORDS).contains(&records) {
            problems.push(format!(
                "verification.recordsPerPartition: wanted 1 to {}, seen {records}",
                Self::MOST_RECORDS
            ));
        }
        Sampling {
            interval: fits.unwrap_or(Self::DEFAULT_INTERVAL),
            records: u64::try_from(records).unwrap_or(1),
            reveal_keys: verification.reveal_keys == Some(true),
        }
    }
}

impl Valid {
    /// The names of all topics.
    pub(super) fn names(&self) -> Vec<String> {
        let topics = self.group.topics.iter();
        topics.map(|topic| topic.name.clone()).collect()
    }
}

/// Turns a spec and the annotations beside it into what it declares. What its connection leads to is another matter.
///
/// # Errors
/// One sentence for each thing that is wrong, naming the field.
pub(super) fn validate(
    spec: &GroupSpec,
    annotations: &BTreeMap<String, String>,
) -> Result<Declared, Vec<String>> {
    let mut problems = Vec::new();
    connection(&spec.kafka, &mut problems);
    lock(spec, &mut problems);
    names(&spec.topics, &mut problems);
    counts(spec, &mut problems);
    let group = group(spec, annotations, &mut problems);
    keys::templates(&group.redis_templates, &mut problems);
    let sampling = spec
        .verification
        .as_ref()
        .map(|verification| Sampling::of(verification, &mut problems));
    if problems.is_empty() {
        Ok(Declared { group, sampling })
    } else {
        Err(problems)
    }
}

/// What a spec declares of its topics and keys, for whoever only calculates: whether the operator could act on the rest
/// of the spec does not matter.
///
/// # Errors
/// One sentence for each thing that is wrong with the key schemes, the producers and the sample keys.
pub fn declared(spec: &GroupSpec) -> Result<Group, Vec<String>> {
    declared_with(spec, &BTreeMap::new())
}

/// As [`declared`], with what the annotations add.
pub(super) fn declared_with(
    spec: &GroupSpec,
    annotations: &BTreeMap<String, String>,
) -> Result<Group, Vec<String>> {
    let mut problems = Vec::new();
    let group = group(spec, annotations, &mut problems);
    if problems.is_empty() {
        Ok(group)
    } else {
        Err(problems)
    }
}

fn group(
    spec: &GroupSpec,
    annotations: &BTreeMap<String, String>,
    problems: &mut Vec<String>,
) -> Group {
    let observe = spec.mode == Some(Mode::Observe);
    let topics = spec
        .topics
        .iter()
        .map(|topic| Topic {
            name: topic.name.clone(),
            managed: !observe && topic.management != Some(Management::Referenced),
            config: topic.config.clone(),
            scheme: keys::scheme(spec, topic, problems),
            producers: keys::producers(topic, problems),
        })
        .collect();
    let group = Group {
        observe,
        paused: annotations
            .get(PAUSED_ANNOTATION)
            .is_some_and(|value| value == "true"),
        partitions: spec.partitions,
        replication_factor: spec.replication_factor,
        topics,
        sample_keys: spec.sample_keys.clone(),
        redis_templates: spec
            .redis
            .as_ref()
            .map(|redis| redis.key_templates.clone())
            .unwrap_or_default(),
        alter_lock: spec.alter_lock == Some(AlterLock::Deny),
        verification: spec.verification.is_some(),
        consumer_groups: spec.consumer_groups.iter().filter_map(asked).collect(),
        consent: spec.accept_key_movement.as_ref().map(|consent| Consent {
            topics: consent.topics.iter().cloned().collect(),
            from: consent.from_partitions,
            to: consent.to_partitions,
            topic_ids: consent.topic_ids.iter().cloned().collect(),
        }),
        data_loss: spec.accept_data_loss.as_ref().map(|consent| {
            (
                consent.topic.clone(),
                consent.keys.iter().cloned().collect(),
            )
        }),
        acknowledged: annotations
            .get(ACKNOWLEDGE_ANNOTATION)
            .map(|ids| acknowledged(ids))
            .unwrap_or_default(),
    };
    keys::schemes_fit(&group, problems);
    group
}

fn acknowledged(ids: &str) -> BTreeSet<String> {
    ids.split(',')
        .map(str::trim)
        .filter(|id| !id.is_empty())
        .map(ToOwned::to_owned)
        .collect()
}

fn connection(kafka: &KafkaRef, problems: &mut Vec<String>) {
    match (&kafka.connection_ref, &kafka.inline) {
        (Some(_), None) => {}
        (None, Some(inline)) => bootstrap(inline, problems),
        _ => problems.push("kafka: give exactly one of connectionRef and inline".to_owned()),
    }
}

fn bootstrap(inline: &InlineConnection, problems: &mut Vec<String>) {
    if inline.bootstrap_servers.is_empty() {
        problems.push(
            "kafka.inline.bootstrapServers: name at least one broker as host:port".to_owned(),
        );
    }
    for server in &inline.bootstrap_servers {
        let valid = server.rsplit_once(':').is_some_and(|(host, port)| {
            !host.is_empty()
                && !host.contains(|letter: char| {
                    letter.is_whitespace() || letter == ',' || letter == '/'
                })
                && port.parse::<u16>().is_ok_and(|port| port > 0)
        });
        if !valid {
            problems.push(format!(
                "kafka.inline.bootstrapServers: {server:?} is not host:port"
            ));
        }
    }
}

/// How the cluster of a group is reached without Kubernetes: no `KafkaConnection` and no Secret is read then, so that a
/// login comes from the properties file of the user.
///
/// # Errors
/// One sentence for each thing that is missing.
pub fn without_kubernetes(
    kafka: &KafkaRef,
    properties: Option<&ClientProperties>,
) -> Result<ConnectionSettings, Vec<String>> {
    let servers = match (&kafka.inline, properties) {
        (Some(inline), _) => inline.bootstrap_servers.clone(),
        (None, Some(properties)) => properties.bootstrap_servers.clone(),
        (None, None) => Vec::new(),
    };
    let mut problems = Vec::new();
    if kafka.connection_ref.is_some() && servers.is_empty() {
        problems.push(
            "kafka.connectionRef: the KafkaConnection lies in Kubernetes, which is not asked here; give a properties file of Kafka's tools with \
             bootstrap.servers (--command-config)"
                .to_owned(),
        );
    }
    let inline = kafka.inline.iter();
    let secured = inline.flat_map(|inline| {
        [
            ("tls", inline.tls.is_some()),
            ("sasl", inline.sasl.is_some()),
        ]
    });
    for (field, _) in secured.filter(|(_, given)| *given && properties.is_none()) {
        problems.push(format!(
            "kafka.inline.{field}: its Secrets lie in Kubernetes, which is not asked here; give a properties file of Kafka's tools (--command-config)"
        ));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let security = properties.map(|properties| properties.security.clone());
    Ok(ConnectionSettings::new(servers).with_security(security.unwrap_or_default()))
}

/// The schema asks for exactly one of the two; of a reference with neither there is nothing to look at.
fn asked(reference: &ConsumerGroupRef) -> Option<Asked> {
    let id = reference.group_id.clone().map(Asked::Id);
    id.or_else(|| reference.prefix.clone().map(Asked::Prefix))
}

/// A lock outlives the group for a while, and so must the way to undo it.
fn lock(spec: &GroupSpec, problems: &mut Vec<String>) {
    if spec.alter_lock == Some(AlterLock::Deny) && spec.kafka.inline.is_some() {
        problems.push(
            "alterLock: Deny needs kafka.connectionRef: a connection that the group writes out, and its Secrets, may be gone when the lock has to \
             be undone. Use a KafkaConnection, or leave alterLock out"
                .to_owned(),
        );
    }
}

/// Kafka's own rules for names (org.apache.kafka.common.internals.Topic), and one of ours: `__` is Kafka's own.
fn names(topics: &[TopicSpec], problems: &mut Vec<String>) {
    if topics.is_empty() || topics.len() > 100 {
        problems.push(format!(
            "topics: wanted 1 to 100 topics, seen {}",
            topics.len()
        ));
    }
    let mut twins: BTreeMap<String, &str> = BTreeMap::new();
    for topic in topics {
        let name = topic.name.as_str();
        let legal = !name.is_empty()
            && name.len() <= 249
            && name.bytes().all(|letter| {
                letter.is_ascii_alphanumeric() || matches!(letter, b'.' | b'_' | b'-')
            })
            && name != "."
            && name != "..";
        if !legal {
            problems.push(format!("topics: {name:?} is not a topic name; use 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-'"));
        }
        if name.starts_with("__") {
            problems.push(format!("topics: {name} is one of Kafka's own topics (they begin with '__'); name another topic"));
        }
        match twins.insert(name.replace('.', "_"), name) {
            Some(twin) if twin == name => problems.push(format!("topics: {name} is listed twice; list it once")),
            Some(twin) => problems.push(format!("topics: {twin} and {name} differ only in '.' and '_', which Kafka refuses; rename one")),
            None => {}
        }
    }
}

fn counts(spec: &GroupSpec, problems: &mut Vec<String>) {
    if let Some(partitions) = spec.partitions {
        let all = i64::from(partitions)
            .saturating_mul(i64::try_from(spec.topics.len()).unwrap_or(i64::MAX));
        if partitions < 1 {
            problems.push(format!("partitions: wanted 1 or more, seen {partitions}"));
        } else if all > MOST_PARTITIONS {
            problems.push(format!("partitions: topics x partitions may be at most {MOST_PARTITIONS}, seen {all}; split the group or ask for fewer"));
        }
    }
    if let Some(factor) = spec.replication_factor.filter(|factor| *factor < 1) {
        problems.push(format!(
            "replicationFactor: wanted 1 or more, seen {factor}"
        ));
    }
}

/// The interest in the `api` module beyond the spec: what a claim and a status call the management of a topic.
pub(super) fn management(managed: bool) -> api::Management {
    if managed {
        Management::Managed
    } else {
        Management::Referenced
    }
}

#[cfg(test)]
mod tests;
