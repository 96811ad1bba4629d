//! Records of real topics, read without a group: what is given, what is told of what is missing.

mod records;
mod thread;
mod trouble;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use copartition::kafka::{
    Cancel, ConnectionSettings, Extent, Progress, Sample, SampleRequest, SampledRecord, Sink,
    sample_blocking,
};
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};

use crate::env::KafkaCluster;

pub(crate) use records::*;
pub(crate) use thread::*;
pub(crate) use trouble::*;

const DEADLINE: Duration = Duration::from_secs(60);

/// A record that was given, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Given {
    topic: String,
    partition: i32,
    offset: i64,
    timestamp: Option<i64>,
    key: Option<Vec<u8>>,
    tombstone: bool,
}

impl Given {
    fn of(record: &SampledRecord<'_>) -> Self {
        Self {
            topic: record.topic.to_owned(),
            partition: record.partition,
            offset: record.offset,
            timestamp: record.timestamp,
            key: record.key.map(<[u8]>::to_vec),
            tombstone: record.tombstone,
        }
    }
}

fn settings(kafka: &KafkaCluster) -> ConnectionSettings {
    ConnectionSettings::new(kafka.bootstrap().split(','))
}

fn request(topics: &[&str], extent: Extent) -> SampleRequest {
    SampleRequest::new(topics.iter().copied(), extent)
}

/// Reads with a sink of the test's own.
fn read_into(
    settings: &ConnectionSettings,
    request: &SampleRequest,
    sink: &mut dyn Sink,
) -> Sample {
    let progress = Progress::default();
    let sample =
        sample_blocking(settings, request, &progress, &Cancel::default(), sink).expect("an answer");
    assert_eq!(progress.records(), sample.records());
    assert_eq!(progress.bytes(), sample.bytes());
    assert_eq!(progress.partitions_done(), progress.partitions());
    sample
}

/// Reads everything that is asked for.
fn read(kafka: &KafkaCluster, request: &SampleRequest) -> (Sample, Vec<Given>) {
    let mut given = Vec::new();
    let mut sink = |record: &SampledRecord<'_>| {
        given.push(Given::of(record));
        ControlFlow::Continue(())
    };
    let sample = read_into(&settings(kafka), request, &mut sink);
    assert_eq!(sample.records(), given.len() as u64);
    (sample, given)
}

/// The offsets that were given, per partition.
fn offsets(given: &[Given], topic: &str) -> BTreeMap<i32, Vec<i64>> {
    let mut offsets: BTreeMap<i32, Vec<i64>> = BTreeMap::new();
    for record in given.iter().filter(|record| record.topic == topic) {
        offsets
            .entry(record.partition)
            .or_default()
            .push(record.offset);
    }
    offsets
}

/// A producer of the test's own.
struct Writer(BaseProducer);

impl Writer {
    fn new(kafka: &KafkaCluster, config: &[(&str, &str)]) -> Self {
        let mut all = ClientConfig::new();
        all.set("bootstrap.servers", kafka.bootstrap())
            .set("client.id", "test-client")
            .set("allow.auto.create.topics", "false");
        for (key, value) in config {
            all.set(*key, *value);
        }
        Self(all.create().expect("a producer"))
    }

    /// Sends one record.
    fn send(
        &self,
        (topic, partition): (&str, i32),
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        timestamp: Option<i64>,
    ) {
        let mut record = BaseRecord::<[u8], [u8]>::to(topic).partition(partition);
        record.key = key;
        record.payload = value;
        record.timestamp = timestamp;
        self.0
            .send(record)
            .unwrap_or_else(|(e, _)| panic!("cannot write to {topic}: {e}"));
    }

    /// Sends records with a key and a value each, and waits until the broker has them.
    fn write(&self, to: (&str, i32), count: usize) {
        for number in 0..count {
            let key = format!("key-{number}");
            self.send(to, Some(key.as_bytes()), Some(b"value"), None);
        }
        self.flush();
    }

    fn flush(&self) {
        self.0.flush(DEADLINE).expect("records are written");
    }
}
