//! What a growth breaks besides the place of keys, judged by what the cluster holds around the topics: facts in, findings
//! out. Nothing here decides whether a growth may be done; it is what somebody should know who consents to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::placement::Asked;

/// How many names a message lists; the finding has them all.
const SHOWN: usize = 10;

/// A topic that would get more partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growing {
    /// Its name.
    pub topic: String,
    /// The live count.
    pub from: i32,
    /// The wanted count, above the live one.
    pub to: i32,
    /// `cleanup.policy` as Kafka has it; `None` if it could not be read.
    pub cleanup_policy: Option<String>,
}

/// What the cluster holds around the topics, as far as it could be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The topics of the cluster with their partition counts.
    pub topics: BTreeMap<String, i32>,
    /// The consumer groups that have committed offsets, by topic.
    pub readers: BTreeMap<String, BTreeSet<String>>,
}

/// What kind of thing breaks. The names are part of the plugin's JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BreakKind {
    /// The topic is compacted: old values of moved keys stay behind.
    CompactedTopic,
    /// Internal topics of Kafka Streams keep the old count.
    StreamsInternalTopics,
    /// Consumer groups have no offsets on the new partitions.
    ConsumersAtLatest,
}

impl fmt::Display for BreakKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CompactedTopic => "CompactedTopic",
            Self::StreamsInternalTopics => "StreamsInternalTopics",
            Self::ConsumersAtLatest => "ConsumersAtLatest",
        })
    }
}

/// One thing that a growth breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// What kind.
    pub kind: BreakKind,
    /// The growing topics that it is about, sorted.
    pub topics: Vec<String>,
    /// What was found in the cluster: internal topics, or consumer groups; sorted.
    pub found: Vec<String>,
    /// What happens.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

/// What the growth of these topics breaks.
pub fn breaks(growing: &[Growing], declared: &[Asked], around: &Surroundings) -> Vec<Break> {
    let compacted = growing.iter().filter_map(compacted);
    let streams = declared
        .iter()
        .filter_map(|group| internal(growing, group, around));
    let latest = growing
        .iter()
        .filter_map(|growing| at_latest(growing, around));
    compacted.chain(streams).chain(latest).collect()
}

/// Whether a `cleanup.policy` compacts.
pub(super) fn is_compacted(policy: &str) -> bool {
    policy.split(',').any(|item| item.trim() == "compact")
}

fn compacted(growing: &Growing) -> Option<Break> {
    let Growing {
        topic, from, to, ..
    } = growing;
    growing
        .cleanup_policy
        .as_deref()
        .filter(|policy| is_compacted(policy))?;
    Some(Break {
        kind: BreakKind::CompactedTopic,
        topics: vec![topic.clone()],
        found: Vec::new(),
        message: format!(
            "{topic} is compacted, and compaction looks at one partition alone: after {from} -> {to} the last value of each key that moves stays on \
             its old partition for ever, beside the newer ones on the new partition, and a tombstone on the new one deletes nothing there. A \
             table or a cache that is built from {topic} (KTable, GlobalKTable, a map in memory) then has such keys twice, and whichever \
             partition it reads last wins"
        ),
        remedy: format!(
            "copy {topic} key by key into a new topic with {to} partitions and switch over; or after the growth write the current value of each key \
             once more and a tombstone for each moved key to its old partition, by number"
        ),
    })
}

/// What Kafka Streams makes for an application: changelogs and repartition topics (`InternalTopologyBuilder`), and the topics
/// of a foreign-key join (KIP-213).
fn is_internal(topic: &str, group: &Asked) -> bool {
    let rest = match group {
        Asked::Id(id) => topic
            .strip_prefix(id)
            .and_then(|rest| rest.strip_prefix('-')),
        Asked::Prefix(prefix) => topic.strip_prefix(prefix),
    };
    rest.is_some_and(|rest| {
        rest.ends_with("-changelog")
            || rest.ends_with("-repartition")
            || (rest.contains("KTABLE-FK-JOIN-SUBSCRIPTION-") && rest.ends_with("-topic"))
    })
}

fn internal(growing: &[Growing], group: &Asked, around: &Surroundings) -> Option<Break> {
    let own: BTreeSet<&str> = growing.iter().map(|it| it.topic.as_str()).collect();
    // Those of another count belong to a part of the topology that reads other topics.
    let by_count = |count: i32| growing.iter().filter(move |it| it.from == count);
    let mut topics = BTreeSet::new();
    let mut found = Vec::new();
    for (topic, count) in &around.topics {
        if is_internal(topic, group) && !own.contains(topic.as_str()) {
            let mut grown = by_count(*count).peekable();
            if grown.peek().is_some() {
                found.push(topic.clone());
                topics.extend(grown.map(|it| it.topic.clone()));
            }
        }
    }
    let first = growing.iter().find(|it| topics.contains(&it.topic))?;
    let (from, to) = (first.from, first.to);
    let who = match group {
        Asked::Id(id) => format!("the application {id}"),
        Asked::Prefix(prefix) => format!("applications {prefix}*"),
    };
    let stops = if topics.len() == 1 {
        first.topic.clone()
    } else {
        format!("one of {}", listed(topics.iter()))
    };
    Some(Break {
        kind: BreakKind::StreamsInternalTopics,
        message: format!(
            "Kafka Streams made {} for {who}, with {from} partitions. Where that part of the topology reads {stops}, they no longer fit {to}: Streams does \
             not grow them, and stops with \"existing internal topic has invalid partitions\"; what the state stores hold of moved keys stays with \
             the old partitions",
            listed(found.iter()),
        ),
        remedy: format!(
            "stop all instances of {who} before the growth, and after it reset them (kafka-streams-application-reset.sh, and KafkaStreams#cleanUp on \
             each instance), so that they make these topics anew from their input; or start under another application.id"
        ),
        topics: topics.into_iter().collect(),
        found,
    })
}

fn at_latest(growing: &Growing, around: &Surroundings) -> Option<Break> {
    let Growing {
        topic, from, to, ..
    } = growing;
    let readers = around
        .readers
        .get(topic)
        .filter(|readers| !readers.is_empty())?;
    let partitions = match to - from {
        1 => format!("partition {from}"),
        _ => format!("partitions {from} to {}", to - 1),
    };
    Some(Break {
        kind: BreakKind::ConsumersAtLatest,
        topics: vec![topic.clone()],
        found: readers.iter().cloned().collect(),
        message: format!(
            "{} of {topic} committed offsets, and will have none on {partitions}. A consumer with auto.offset.reset=latest, the default of Kafka's clients (Kafka \
             Streams begins at earliest), begins there when it notices them, up to metadata.max.age.ms (5 minutes by default) later, and never sees what \
             was written before. Brokers do not know this setting of a consumer, so whether it is so is for its owner to say",
            match readers.len() {
                1 => format!("the consumer group {}", listed(readers.iter())),
                _ => format!("the consumer groups {}", listed(readers.iter())),
            }
        ),
        remedy: "set auto.offset.reset=earliest for the growth (or by_duration:PT1H, Kafka 4.0), or let the producers pause until the consumers have noticed"
            .to_owned(),
    })
}

fn listed<'a>(names: impl ExactSizeIterator<Item = &'a String>) -> String {
    let rest = names.len().saturating_sub(SHOWN);
    let mut shown: Vec<&str> = names.take(SHOWN).map(String::as_str).collect();
    let more = format!("{rest} more");
    if rest > 0 {
        shown.push(&more);
    }
    shown.join(", ")
}
