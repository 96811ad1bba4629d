//! What is asked of topics and what is told of them.

use std::collections::BTreeMap;

use crate::plan::TopicId;

/// A topic to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTopic {
    /// The topic's name.
    pub name: String,
    /// The number of partitions: 1 to 100,000, which is librdkafka's bound.
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
    /// The number of partitions it shall have in all; the broker refuses an equal or lower one.
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
