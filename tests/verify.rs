//! `kubectl copartition verify` on records that real clients wrote to a real Kafka.

use std::process::{Command, Output};

use copartition::keys::Partitioner;
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use serde_json::{Value, json};

use crate::env::process::guarded;
use crate::env::{Env, text, unique};
use crate::group::DEADLINE;

/// Enough to prove a scheme.
const KEYS: usize = 300;

fn run(env: &Env, args: &[&str]) -> Output {
    let mut command: Command = guarded(env!("CARGO_BIN_EXE_kubectl-copartition"));
    command
        .args(["verify", "--bootstrap", &env.kafka.bootstrap()])
        .args(args);
    command.output().expect("cannot run the plugin")
}

/// What is printed as JSON by a command that ends with this code.
fn verified(env: &Env, args: &[&str], code: i32) -> Value {
    let output = run(env, &[args, &["-o", "json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{}", text(&output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&output)))
}

fn condition(verified: &Value) -> (&str, &str) {
    let field = |name: &str| verified["keysVerified"][name].as_str().unwrap_or_default();
    (field("status"), field("reason"))
}

fn producer(env: &Env, partitioner: &str) -> BaseProducer {
    ClientConfig::new()
        .set("bootstrap.servers", env.kafka.bootstrap())
        .set("client.id", "test-client")
        .set("allow.auto.create.topics", "false")
        .set("partitioner", partitioner)
        .create()
        .expect("a producer")
}

/// A topic with one record of each key, by one of librdkafka's partitioners; without keys if there is none.
fn written(env: &Env, partitions: usize, partitioner: Option<&str>) -> String {
    let topic = unique("verify");
    env.kafka.create_topic(&topic, partitions);
    let producer = producer(env, partitioner.unwrap_or("random"));
    for number in 0..KEYS {
        let key = format!("user-{number}");
        let record = BaseRecord::to(&topic).payload("x");
        let record = match partitioner {
            Some(_) => record.key(&key),
            None => record,
        };
        producer
            .send(record)
            .unwrap_or_else(|(e, _)| panic!("cannot write to {topic}: {e}"));
    }
    producer.flush(DEADLINE).expect("cannot write");
    topic
}

pub(crate) fn topics_written_alike_are_proven(env: &Env) {
    let [a, b] = ["murmur2_random", "murmur2"].map(|it| written(env, 6, Some(it)));
    let args = ["--topic", &a, "--topic", &b, "--client", "java"];
    let seen = verified(env, &args, 0);
    assert_eq!(condition(&seen), ("True", "KeysFit"), "{seen}");
    for topic in [0, 1] {
        let topic = &seen["topics"][topic];
        assert_eq!(topic["records"], KEYS, "{topic}");
        assert_eq!(topic["distinctKeys"], KEYS, "{topic}");
        assert_eq!(topic["sharePlaced"], 1.0, "{topic}");
    }
    let between = &seen["between"][0];
    assert_eq!(
        (&between["shared"], &between["apart"]),
        (&json!(KEYS), &json!(0))
    );
    // No key is printed, in no form.
    let output = run(env, &args);
    let said = text(&output);
    assert!(said.contains("KeysVerified True (KeysFit)"), "{said}");
    assert!(!said.contains("user-"), "{said}");
}

pub(crate) fn another_partitioner_is_named_with_its_clients(env: &Env) {
    let java = written(env, 6, Some("murmur2_random"));
    let python = written(env, 6, Some("consistent_random"));
    let args = [
        "--topic",
        &java,
        "--topic",
        &python,
        "--partitioner",
        "murmur2",
    ];
    let seen = verified(env, &args, 2);
    assert_eq!(condition(&seen), ("False", "SchemeMismatch"), "{seen}");
    let message = seen["topics"][1]["message"].as_str().unwrap_or_default();
    assert_eq!(seen["topics"][0]["reason"], "KeysFit");
    assert_eq!(seen["topics"][1]["reason"], "SchemeMismatch");
    for part in [
        Partitioner::Crc32SpreadEmpty.name(),
        "librdkafka",
        "murmur2",
    ] {
        assert!(message.contains(part), "no {part} in {message}");
    }
    // Whatever is declared: the same key lies on different partition numbers.
    let seen = verified(env, &["--topic", &java, "--topic", &python], 2);
    assert!(seen["between"][0]["apart"].as_u64() > Some(100), "{seen}");
}

pub(crate) fn records_without_keys_and_without_order_are_told_apart(env: &Env) {
    let unkeyed = written(env, 6, None);
    let seen = verified(env, &["--topic", &unkeyed, "--client", "java"], 2);
    assert_eq!(condition(&seen), ("False", "Unkeyed"), "{seen}");

    // Each key again and again, wherever it may be.
    let topic = unique("verify");
    env.kafka.create_topic(&topic, 6);
    let producer = producer(env, "random");
    for number in 0..KEYS {
        let key = format!("user-{}", number % 30);
        let partition = i32::try_from(number / 30 % 6).expect("a partition");
        let record = BaseRecord::to(&topic)
            .partition(partition)
            .key(&key)
            .payload("x");
        producer
            .send(record)
            .unwrap_or_else(|(e, _)| panic!("cannot write: {e}"));
    }
    producer.flush(DEADLINE).expect("cannot write");
    let seen = verified(env, &["--topic", &topic, "--client", "java"], 2);
    assert_eq!(condition(&seen), ("False", "NonDeterministic"), "{seen}");
}

pub(crate) fn what_cannot_be_read_proves_nothing(env: &Env) {
    let empty = unique("verify");
    env.kafka.create_topic(&empty, 3);
    let seen = verified(env, &["--topic", &empty, "--client", "java"], 0);
    assert_eq!(condition(&seen), ("Unknown", "NoRecords"), "{seen}");

    let good = written(env, 3, Some("murmur2_random"));
    let missing = unique("no-such");
    let args = ["--topic", &good, "--topic", &missing, "--client", "java"];
    let seen = verified(env, &args, 1);
    assert_eq!(condition(&seen).0, "Unknown", "{seen}");
    assert_eq!(seen["incomplete"][0]["topic"], missing.as_str());
    assert_eq!(seen["topics"][0]["reason"], "KeysFit", "{seen}");
    assert_eq!(env.kafka.partitions(&missing), None, "reading created it");
}

pub(crate) fn the_newest_records_are_enough_and_all_can_be_had(env: &Env) {
    let topic = written(env, 3, Some("murmur2_random"));
    let of = |more: &[&str]| {
        let args = [&["--topic", &topic, "--client", "java"], more].concat();
        verified(env, &args, 0)["topics"][0]["records"].clone()
    };
    assert_eq!(of(&["--records", "10"]), 30);
    assert_eq!(of(&["--full"]), KEYS);
    assert_eq!(of(&["--since", "1h"]), KEYS);
}
