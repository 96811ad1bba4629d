//! What is asked of topics and what is told of them.

use std::collections::BTreeMap;

use crate::plan::TopicId;

/// A topic to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTopic {
    /// The topic's name.
    pub name: String,
    /// The number of partitions; brokers refuse 10,000 and more.
    pub partitions: i32,
    /// The replicas of each partition; `None` leaves it to the broker's `default.replication.factor`.
    pub replication_factor: Option<i16>,
    /// Config keys to set; all others follow the broker's defaults.
    pub config: BTreeMap<String, String>,
}

/// A topic to grow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The topic's name.
    pub topic: String,
    /// The number of partitions it shall have in all, at most 10,000; the broker refuses an equal or lower
    /// one. Beyond 10,000 new partitions, brokers fail and still add 10,000, so such a growth is not sent.
    pub to: i32,
}

/// Config keys to set on a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigChange {
    /// The topic's name.
    pub topic: String,
    /// The keys with their new values; at least one. Other keys stay as they are.
    pub set: BTreeMap<String, String>,
}

/// An existing topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicDescription {
    /// Its id, as Kafka prints it.
    pub id: TopicId,
    /// The number of partitions.
    pub partitions: i32,
    /// The number of replicas of partition 0.
    pub replication_factor: i16,
    /// How many partitions have no leader (yet).
    pub leaderless: usize,
}

/// A topic to lock, or to take the lock from: the ACL `DENY ALTER` for `User:*` and host `*` on its literal name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// The topic's name.
    pub topic: String,
}

/// An ACL on topics, as far as it matters to locks. Whom it is for stays unknown here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicAcl {
    /// How `name` is meant.
    pub pattern: AclPattern,
    /// A topic's name, a prefix, or `*` for all topics.
    pub name: String,
    /// It is the ACL that a [`Lock`] is.
    pub locks: bool,
}

/// How an ACL names topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AclPattern {
    /// One name, or `*`.
    Literal,
    /// All names that begin so.
    Prefixed,
}
