//! `kubectl copartition verify` on records that real clients wrote to a real Kafka.

mod cases;
mod clients;
mod growth;
mod logs;
mod resumed;

use std::process::{Command, Output, Stdio};

use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use serde_json::Value;

use crate::env::process::guarded;
use crate::env::{Env, KafkaCluster, text, unique};
use crate::group::DEADLINE;

pub(crate) use cases::*;
pub(crate) use clients::*;
pub(crate) use growth::*;
pub(crate) use logs::*;
pub(crate) use resumed::*;

/// Enough to prove a scheme.
const KEYS: usize = 300;

/// `verify` with these arguments.
fn command(args: &[&str]) -> Command {
    let mut command = guarded(env!("CARGO_BIN_EXE_kubectl-copartition"));
    command.arg("verify").args(args).stdin(Stdio::null());
    command
}

/// `verify` of topics of the shared Kafka.
fn run(env: &Env, args: &[&str]) -> Output {
    let bootstrap = env.kafka.bootstrap();
    let mut command = command(&[&["--bootstrap", &bootstrap], args].concat());
    command.output().expect("cannot run the plugin")
}

/// What is printed as JSON by a command that ends with this code.
fn verified(env: &Env, args: &[&str], code: i32) -> Value {
    parsed(&run(env, &[args, &["-o", "json"]].concat()), code)
}

/// What a command that ended with this code has printed as JSON.
fn parsed(output: &Output, code: i32) -> Value {
    assert_eq!(output.status.code(), Some(code), "{}", text(output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(output)))
}

fn condition(verified: &Value) -> (&str, &str) {
    let field = |name: &str| verified["keysVerified"][name].as_str().unwrap_or_default();
    (field("status"), field("reason"))
}

/// What is said of one of the topics.
fn message(verified: &Value, topic: usize) -> String {
    let message = &verified["topics"][topic]["message"];
    message.as_str().unwrap_or_default().to_owned()
}

/// A producer of librdkafka's.
fn producer(kafka: &KafkaCluster, config: &[(&str, &str)]) -> BaseProducer {
    let mut all = ClientConfig::new();
    all.set("bootstrap.servers", kafka.bootstrap())
        .set("client.id", "test-client")
        .set("allow.auto.create.topics", "false");
    for (key, value) in config {
        all.set(*key, *value);
    }
    all.create().expect("a producer")
}

/// The keys that most tests write.
fn keys(numbers: std::ops::Range<usize>) -> impl Iterator<Item = String> {
    numbers.map(|number| format!("user-{number}"))
}

/// Writes one record of each key, and waits until the broker has them.
fn write<K: AsRef<[u8]>>(
    producer: &BaseProducer,
    topic: &str,
    keys: impl IntoIterator<Item = Option<K>>,
) {
    for key in keys {
        let mut record = BaseRecord::<[u8], str>::to(topic).payload("x");
        record.key = key.as_ref().map(AsRef::as_ref);
        producer
            .send(record)
            .unwrap_or_else(|(e, _)| panic!("cannot write to {topic}: {e}"));
    }
    producer.flush(DEADLINE).expect("cannot write");
}

/// A topic with one record of each key, by one of librdkafka's partitioners; without keys if there is none.
fn written(env: &Env, partitions: usize, partitioner: Option<&str>) -> String {
    let topic = unique("verify");
    env.kafka.create_topic(&topic, partitions);
    let producer = producer(
        &env.kafka,
        &[("partitioner", partitioner.unwrap_or("random"))],
    );
    let keys = keys(0..KEYS).map(|key| partitioner.map(|_| key));
    write(&producer, &topic, keys);
    topic
}
