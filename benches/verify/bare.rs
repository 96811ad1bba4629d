//! The bare client: assigned to all partitions, it polls and counts.

use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{ClientConfig, Offset, TopicPartitionList};

/// What `src/kafka/sample/session.rs` sets; to be kept as it is there.
const SETTINGS: [(&str, &str); 13] = [
    ("group.id", "bare"),
    ("enable.auto.commit", "false"),
    ("enable.auto.offset.store", "false"),
    ("isolation.level", "read_committed"),
    ("auto.offset.reset", "error"),
    ("enable.partition.eof", "true"),
    ("check.crcs", "true"),
    ("fetch.max.bytes", "4194304"),
    ("fetch.message.max.bytes", "1048576"),
    ("queued.max.messages.kbytes", "8192"),
    ("queued.min.messages", "10000"),
    ("fetch.wait.max.ms", "50"),
    ("fetch.queue.backoff.ms", "20"),
];

/// How many records there are.
pub(crate) fn read(bootstrap: &str, topic: &str, partitions: i32) -> u64 {
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", bootstrap)
        .set("receive.message.max.bytes", "17825792");
    for (key, value) in SETTINGS {
        config.set(key, value);
    }
    let consumer: BaseConsumer = config.create().expect("a consumer");
    let mut list = TopicPartitionList::new();
    for partition in 0..partitions {
        list.add_partition_offset(topic, partition, Offset::Beginning)
            .expect("an offset");
    }
    consumer.assign(&list).expect("cannot assign partitions");
    let (mut records, mut ended) = (0, 0);
    while ended < partitions {
        match consumer.poll(Duration::from_secs(60)) {
            Some(Ok(_)) => records += 1,
            Some(Err(KafkaError::PartitionEOF(_))) => ended += 1,
            Some(Err(error)) => panic!("{error}"),
            None => panic!("nothing came for a minute"),
        }
    }
    records
}
