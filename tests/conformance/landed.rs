//! The topics of one comparison, and what has landed in them.

use std::collections::BTreeMap;
use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::Message;
use rdkafka::{ClientConfig, Offset, TopicPartitionList};

use super::keys::Key;
use crate::env::{KafkaCluster, unique, wait_for};

const DEADLINE: Duration = Duration::from_secs(60);

/// A record as it was read back.
pub(crate) struct Landed {
    /// How many partitions its topic has.
    pub(crate) count: i32,
    pub(crate) partition: i32,
    pub(crate) key: Key,
    pub(crate) value: String,
}

/// New topics, one for each count.
pub(crate) struct Topics<'a> {
    kafka: &'a KafkaCluster,
    counts: BTreeMap<String, i32>,
    consumer: BaseConsumer,
}

impl<'a> Topics<'a> {
    /// Creates them and waits until each partition has a leader: some clients take a topic without one for unknown, and
    /// give up.
    pub(crate) fn create(kafka: &'a KafkaCluster, counts: &[i32]) -> Self {
        let consumer = ClientConfig::new()
            .set("bootstrap.servers", kafka.bootstrap())
            .set("client.id", "test-client")
            // Assigning partitions takes a group's name, although no group comes of it.
            .set("group.id", unique("conformance"))
            .set("enable.auto.commit", "false")
            .set("auto.offset.reset", "error")
            .create()
            .expect("cannot make a Kafka client");
        let topics = Self {
            kafka,
            counts: counts
                .iter()
                .map(|count| (unique(&format!("conformance-{count}")), *count))
                .collect(),
            consumer,
        };
        for (topic, count) in &topics.counts {
            kafka.create_topic(topic, usize::try_from(*count).expect("a partition count"));
        }
        wait_for("leaders of new partitions", DEADLINE, || topics.ends());
        topics
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.counts.keys().map(String::as_str)
    }

    /// All records that the topics hold now.
    pub(crate) fn read(&self) -> Vec<Landed> {
        let ends = wait_for("the end offsets", DEADLINE, || self.ends());
        let mut partitions = TopicPartitionList::new();
        for (topic, partition) in ends.keys() {
            partitions
                .add_partition_offset(topic, *partition, Offset::Beginning)
                .expect("the beginning is an offset");
        }
        self.consumer
            .assign(&partitions)
            .expect("cannot assign partitions");
        let mut left: i64 = ends.values().sum();
        let mut records = Vec::new();
        wait_for("the records that were sent", DEADLINE, || {
            while left > 0 {
                let Some(message) = self.consumer.poll(Duration::from_millis(100)) else {
                    return Err(format!("{left} are missing"));
                };
                let message = message.map_err(|e| e.to_string())?;
                records.push(Landed {
                    count: self.counts[message.topic()],
                    partition: message.partition(),
                    key: message.key().map(<[u8]>::to_vec),
                    value: String::from_utf8_lossy(message.payload().unwrap_or_default())
                        .into_owned(),
                });
                left -= 1;
            }
            Ok(())
        });
        records
    }

    /// A full run would fill the broker with thousands of partitions.
    pub(super) fn delete(self) {
        // What a consumer reads it asks for again and again, also when it is gone.
        self.consumer.unassign().expect("cannot stop reading");
        for topic in self.names() {
            self.kafka.delete_topic(topic);
        }
    }

    /// The end offset of each partition. Nothing has been deleted here, so it is a number of records.
    fn ends(&self) -> Result<BTreeMap<(String, i32), i64>, String> {
        let partitions = self.counts.iter().flat_map(|(topic, count)| {
            (0..*count).map(move |partition| (topic.clone(), partition))
        });
        partitions
            .map(|(topic, partition)| {
                self.consumer
                    .fetch_watermarks(&topic, partition, DEADLINE)
                    .map(|(_, end)| ((topic.clone(), partition), end))
                    .map_err(|e| format!("{topic}/{partition}: {e}"))
            })
            .collect()
    }
}
