//! librdkafka, in this process.

use std::sync::Mutex;
use std::time::Duration;

use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext};
use rdkafka::{ClientConfig, ClientContext};

use super::keys::Key;

/// Keeps what was not delivered.
#[derive(Default)]
struct Failures(Mutex<Vec<String>>);

impl ClientContext for Failures {}

impl ProducerContext for Failures {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        if let Err((e, _)) = result {
            self.0.lock().expect("no panic").push(e.to_string());
        }
    }
}

pub(super) fn send(bootstrap: &str, partitioner: &str, topics: &[&str], keys: &[Key]) {
    let producer: BaseProducer<Failures> = ClientConfig::new()
        .set("bootstrap.servers", bootstrap)
        .set("client.id", "test-client")
        .set("allow.auto.create.topics", "false")
        .set("partitioner", partitioner)
        // Else all of 10 ms go to one partition, which is no less random but cannot be told from pinned.
        .set("sticky.partitioning.linger.ms", "0")
        .create_with_context(Failures::default())
        .expect("a producer");
    for topic in topics {
        for (line, key) in keys.iter().enumerate() {
            let value = line.to_string();
            let mut record = BaseRecord::to(topic).payload(&value);
            record.key = key.as_deref();
            producer
                .send(record)
                .unwrap_or_else(|(e, _)| panic!("cannot write to {topic}: {e}"));
        }
    }
    producer
        .flush(Duration::from_secs(60))
        .unwrap_or_else(|e| panic!("cannot write: {e}"));
    let failures = producer.context().0.lock().expect("no panic");
    assert!(failures.is_empty(), "not delivered: {failures:?}");
}
