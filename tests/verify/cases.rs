//! What is said of topics that librdkafka wrote, in this process.

use copartition::keys::Partitioner;
use rdkafka::producer::{BaseRecord, Producer};
use serde_json::json;

use super::{KEYS, condition, producer, run, verified, written};
use crate::env::{Env, text, unique};
use crate::group::DEADLINE;

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
    let output = run(env, &[&args[..], &["-o", "html"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let page = String::from_utf8_lossy(&output.stdout);
    assert!(page.contains("KeysVerified is True (KeysFit)"), "{page}");
    assert_eq!(page.matches("<span class=\"bars\">").count(), 12, "{page}");
    assert!(!page.contains("user-"), "{page}");
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
    let producer = producer(&env.kafka, &[]);
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
