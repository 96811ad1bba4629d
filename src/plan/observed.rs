//! What was seen on Kafka, as plain data: the input of every decision.

use std::collections::BTreeMap;

/// A topic's id as Kafka prints it: 22 characters of URL-safe base64. Kafka gives a new one to a topic
/// that is deleted and created again under the same name (KIP-516).
pub type TopicId = String;

/// Whether a topic holds records, as far as its end offsets tell. An end offset never falls while the
/// topic keeps its id, so [`Records::Some`] stays true for that id even when retention empties the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Records {
    /// Every partition's end offset is 0.
    None,
    /// At least one partition's end offset is above 0.
    Some,
    /// The end offsets could not be read; the reason. Decisions treat it as "holds records".
    Unreadable(String),
}

/// One existing topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicState {
    /// The topic's id.
    pub id: TopicId,
    /// The number of partitions; 1 or more.
    pub partitions: i32,
    /// The number of replicas of partition 0.
    pub replication_factor: i16,
    /// Whether it holds records.
    pub records: Records,
    /// The topic's effective config (defaults included), where it was asked for and could be read.
    pub config: Option<BTreeMap<String, String>>,
}

/// What one reading said of one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopicReading {
    /// It exists.
    Present(TopicState),
    /// The broker answered `UNKNOWN_TOPIC_OR_PARTITION` to a question for this very name.
    Missing,
    /// The principal may not describe it, so nobody knows whether it exists.
    NotAuthorized,
    /// Any other answer, in the broker's words.
    Failed(String),
}

/// The last reading of one topic with the memory of a missed one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicView {
    /// The last reading that stands. The first one after it that says "missing", and some that tell nothing, leave it.
    pub reading: TopicReading,
    /// How many readings in a row said that the topic is missing, counted up to 2; 1 as well where newer readings than
    /// the one above told nothing of it (or not whether it holds records). Nothing is decided on such a view.
    pub misses: u8,
}

/// One consistent look at the topics of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The id of the Kafka cluster that answered.
    pub cluster_id: String,
    /// The named topics. A name that is not here was not read yet.
    pub topics: BTreeMap<String, TopicView>,
}

/// What was seen of the ALTER locks on a group's topics: the ACL `DENY ALTER` for `User:*` and host `*` on the literal name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LocksView {
    /// Not looked at yet, or nobody wants to know.
    #[default]
    Unread,
    /// Kafka does not tell.
    Failed(LocksFailure),
    /// They were looked at.
    Seen {
        /// Whether the cluster is known to let nobody near a topic that no ACL matches; `None` where that could not be
        /// found out this time.
        denies_by_default: Option<bool>,
        /// What was seen of each topic. One that is not here was not looked at yet.
        topics: BTreeMap<String, LockSeen>,
    },
}

/// Why Kafka does not tell which locks stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocksFailure {
    /// The principal may not see ACLs; the words name the permission.
    NotAuthorized(String),
    /// The cluster has no authorizer, so an ACL would bind nobody; the broker's words.
    NoAuthorizer(String),
    /// No answer, or any other one.
    Other(String),
}

/// What was seen of one topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockSeen {
    /// The lock is there, whoever set it.
    pub stands: bool,
    /// Another ACL matches the topic: on its name, on a prefix of it, or on all topics.
    pub other_acls: bool,
    /// Whether the operator's principal may ALTER the topic, as the broker tells; `None` where it does not tell.
    pub may_alter: Option<bool>,
}
