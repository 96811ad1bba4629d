//! What is said of topics that client libraries wrote, each as its users run it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{KEYS, condition, keys, message, parsed, verified};
use crate::conformance::{Key, Topics, send_by};
use crate::env::process::guarded;
use crate::env::{Env, unique, wait_for};
use crate::group::{DEADLINE, TICKERS};

/// A new topic of six partitions that have leaders: some clients give up on one without.
fn topic(env: &Env, prefix: &str) -> String {
    let topic = unique(prefix);
    env.kafka.create_topic(&topic, 6);
    wait_for("leaders of new partitions", DEADLINE, || {
        env.kafka.try_end_offsets(&topic)
    });
    topic
}

fn some(numbers: std::ops::Range<usize>) -> Vec<Key> {
    keys(numbers).map(|key| Some(key.into_bytes())).collect()
}

pub(crate) fn java_and_kafkajs_are_alike(env: &Env) {
    let [java, node] = ["java", "kafkajs"].map(|client| {
        let topic = topic(env, client);
        send_by(env, client, "default", &[&topic], &some(0..KEYS));
        topic
    });
    let args = ["--topic", &java, "--topic", &node, "--client", "java"];
    let seen = verified(env, &args, 0);
    assert_eq!(condition(&seen), ("True", "KeysFit"), "{seen}");
    let shared = json!([{"a": java, "b": node, "shared": KEYS, "apart": 0}]);
    assert_eq!(seen["between"], shared);
    for topic in seen["topics"].as_array().into_iter().flatten() {
        assert_eq!(topic["distinctKeys"], KEYS, "{topic}");
        assert_eq!(topic["sharePlaced"], 1.0, "{topic}");
    }
}

pub(crate) fn librdkafkas_default_is_named_beside_java(env: &Env) {
    let java = topic(env, "java");
    send_by(env, "java", "default", &[&java], &some(0..KEYS));
    let python = super::written(env, 6, Some("consistent_random"));
    let args = ["--topic", &java, "--topic", &python, "--client", "java"];
    let seen = verified(env, &args, 2);
    assert_eq!(condition(&seen), ("False", "SchemeMismatch"), "{seen}");
    assert_eq!(seen["topics"][0]["reason"], "KeysFit");
    let said = message(&seen, 1);
    for part in ["crc32_spread_empty", "librdkafka default", "murmur2"] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    assert!(seen["between"][0]["apart"].as_u64() > Some(200), "{seen}");
}

pub(crate) fn kafka_go_in_turns_is_no_order(env: &Env) {
    let topic = topic(env, "kafka-go");
    // No multiple of the partitions, so that each key comes around.
    let keys: Vec<Key> = (0..10).flat_map(|_| some(0..31)).collect();
    send_by(env, "kafka-go", "default", &[&topic], &keys);
    let seen = verified(env, &["--topic", &topic, "--client", "java"], 2);
    assert_eq!(condition(&seen), ("False", "NonDeterministic"), "{seen}");
    let said = message(&seen, 0);
    assert!(said.contains("31 of 31 keys"), "{said}");
    // Nor does it need a declared scheme.
    let seen = verified(env, &["--topic", &topic], 2);
    assert_eq!(condition(&seen), ("False", "NonDeterministic"), "{seen}");
}

pub(crate) fn a_producer_without_keys_is_unkeyed(env: &Env) {
    let topic = topic(env, "unkeyed");
    send_by(env, "java", "default", &[&topic], &vec![None; KEYS]);
    let seen = verified(env, &["--topic", &topic, "--client", "java"], 2);
    assert_eq!(condition(&seen), ("False", "Unkeyed"), "{seen}");
    assert_eq!(seen["topics"][0]["unkeyed"], KEYS);
    // A part of the records is enough.
    send_by(env, "java", "default", &[&topic], &some(0..2 * KEYS));
    let seen = verified(env, &["--topic", &topic, "--client", "java"], 2);
    assert_eq!(condition(&seen), ("False", "Unkeyed"), "{seen}");
    assert_eq!(seen["topics"][0]["misplaced"], 0, "{seen}");
}

/// KafkaJS 1 hashed otherwise than KafkaJS 2: a fleet that is upgraded one by one writes both ways.
pub(crate) fn an_old_and_a_new_producer_are_told_apart(env: &Env) {
    let topic = topic(env, "mixture");
    send_by(env, "kafkajs-1", "default", &[&topic], &some(0..200));
    send_by(env, "kafkajs", "default", &[&topic], &some(100..300));
    let seen = verified(env, &["--topic", &topic, "--client", "java"], 2);
    assert_eq!(condition(&seen), ("False", "SchemeMismatch"), "{seen}");
    let said = message(&seen, 0);
    for part in ["kafkajs_legacy", "murmur2", "Two producers"] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    // All are one or the other.
    let misplaced = seen["topics"][0]["misplaced"].as_u64();
    assert!(
        misplaced > Some(100) && misplaced <= Some(200),
        "{misplaced:?}"
    );
}

pub(crate) fn avro_keys_of_two_schema_ids_are_seen(env: &Env) {
    let topic = topic(env, "avro");
    let framed = |id: u32, numbers| {
        let bytes = |text: String| {
            let length = u8::try_from(2 * text.len()).expect("a short key");
            let id = id.to_be_bytes();
            [&[0], &id[..], &[length], text.as_bytes()].concat()
        };
        let keys: Vec<Key> = keys(numbers).map(|text| Some(bytes(text))).collect();
        keys
    };
    let keys = [framed(7, 0..200), framed(12, 0..100)].concat();
    send_by(env, "java", "default", &[&topic], &keys);
    let of = |encoding: &str| {
        let args = [
            "--topic",
            &topic,
            "--client",
            "java",
            "--encoding",
            encoding,
        ];
        let seen = verified(env, &args, 2);
        assert_eq!(condition(&seen), ("False", "SchemeMismatch"), "{seen}");
        message(&seen, 0)
    };
    for encoding in ["utf8", "confluent:7:avro_string", "confluent:avro_string"] {
        let said = of(encoding);
        assert!(said.contains("schema ids 7, 12"), "{encoding}: {said}");
    }
}

pub(crate) fn a_windowed_topic_of_streams_fits_its_input(env: &Env) {
    let [plain, windowed] = ["plain", "windowed"].map(|name| topic(env, name));
    send_by(env, "java", "default", &[&plain], &some(0..KEYS));
    let kind = "time windows";
    send_by(env, "kafka-streams", kind, &[&windowed], &some(0..KEYS));
    let of = |encoding: &str, code| {
        let args = [
            "--topic",
            &windowed,
            "--client",
            "java",
            "--encoding",
            encoding,
        ];
        verified(env, &args, code)
    };
    let seen = of("windowed:utf8", 0);
    assert_eq!(condition(&seen), ("True", "KeysFit"), "{seen}");
    assert_eq!(seen["topics"][0]["distinctKeys"], KEYS, "{seen}");
    // Declared as plain text, the bytes tell what they are.
    let seen = of("utf8", 2);
    assert_eq!(condition(&seen), ("False", "SchemeMismatch"), "{seen}");
    let said = message(&seen, 0);
    assert!(said.contains("time-windowed keys"), "{said}");

    // In one group: what goes in and what comes out share their keys, on equal partition numbers.
    let group = json!({
        "apiVersion": "copartition.dev/v1alpha1", "kind": "CoPartitionedTopicGroup",
        "metadata": {"name": "windows", "namespace": "default"},
        "spec": {
            "kafka": {"inline": {"bootstrapServers": [env.kafka.bootstrap()]}},
            "keyScheme": {"encoding": "utf8", "partitioner": "murmur2"},
            "topics": [{"name": plain}, {
                "name": windowed, "keyScheme": {"encoding": "windowed:utf8", "partitioner": "murmur2"},
            }],
        },
    });
    let file = env.root().join(unique("windows"));
    std::fs::write(&file, group.to_string()).expect("a manifest");
    let args = ["-f", &file.to_string_lossy(), "-o", "json"];
    let output = super::command(&args).output().expect("the plugin");
    let seen = parsed(&output, 0);
    assert_eq!(condition(&seen), ("True", "KeysFit"), "{seen}");
    assert_eq!(seen["between"][0]["shared"], KEYS, "{seen}");
    assert_eq!(seen["between"][0]["apart"], 0, "{seen}");
}

/// Predict where ten tickers lie, produce sixty ticks, read them back and check partition and order; then break it with a
/// second topic whose ticks have no keys.
pub(crate) fn the_proof_of_the_seeds_holds_and_breaks(env: &Env) {
    const TICKS: usize = 60;
    let predicted = predicted();
    let key = |tick: usize| TICKERS[tick % TICKERS.len()];
    let keyed: Vec<Key> = (0..TICKS)
        .map(|tick| Some(key(tick).as_bytes().to_vec()))
        .collect();
    let topics = Topics::create(&env.kafka, &[6]);
    let updates = topics.names().next().expect("a topic").to_owned();
    send_by(env, "kafkajs", "default", &[&updates], &keyed);
    let mut last: BTreeMap<String, usize> = BTreeMap::new();
    let read = topics.read();
    assert_eq!(read.len(), TICKS);
    for record in read {
        let tick: usize = record.value.parse().expect("a tick");
        assert_eq!(record.key.as_deref(), Some(key(tick).as_bytes()));
        assert_eq!(Some(&record.partition), predicted.get(key(tick)));
        let before = last.insert(key(tick).to_owned(), tick);
        assert!(
            before < Some(tick),
            "{}: {tick} after {before:?}",
            key(tick)
        );
    }
    let seen = verified(env, &["--topic", &updates, "--client", "java"], 0);
    // Ten keys prove no scheme; none speaks against it.
    assert_eq!(condition(&seen), ("Unknown", "TooFewKeys"), "{seen}");
    assert_eq!(seen["topics"][0]["keyed"], TICKS, "{seen}");
    assert_eq!(seen["topics"][0]["misplaced"], 0, "{seen}");

    let broken = Topics::create(&env.kafka, &[6]);
    let alerts = broken.names().next().expect("a topic").to_owned();
    send_by(env, "kafkajs", "default", &[&alerts], &vec![None; TICKS]);
    let mut scattered: BTreeMap<&str, BTreeSet<i32>> = BTreeMap::new();
    for record in broken.read() {
        let tick: usize = record.value.parse().expect("a tick");
        scattered
            .entry(key(tick))
            .or_default()
            .insert(record.partition);
    }
    assert!(
        scattered.values().any(|partitions| partitions.len() > 1),
        "{scattered:?}"
    );
    let args = ["--topic", &updates, "--topic", &alerts, "--client", "java"];
    let seen = verified(env, &args, 2);
    assert_eq!(condition(&seen), ("False", "Unkeyed"), "{seen}");
    let reasons: Vec<&Value> = [0, 1].map(|at| &seen["topics"][at]["reason"]).to_vec();
    assert_eq!(reasons, ["TooFewKeys", "Unkeyed"]);
}

/// Where `layout` puts the ten tickers, without a broker.
fn predicted() -> BTreeMap<String, i32> {
    let mut command = guarded(env!("CARGO_BIN_EXE_kubectl-copartition"));
    command.args(["layout", "--client", "kafkajs", "--client-version", "2"]);
    command.args(["--partitions", "6", "-o", "json"]);
    for ticker in TICKERS {
        command.args(["--key", ticker]);
    }
    let layout = parsed(&command.output().expect("the plugin"), 0);
    let keys = layout["keys"].as_array().into_iter().flatten();
    let predicted: BTreeMap<String, i32> = keys
        .filter_map(|key| {
            let partition = i32::try_from(key["partition"].as_i64()?).ok()?;
            Some((key["key"].as_str()?.to_owned(), partition))
        })
        .collect();
    assert_eq!(predicted.len(), TICKERS.len(), "{layout}");
    predicted
}
