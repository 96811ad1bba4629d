//! What is said of logs that are not a plain row of records.

use rdkafka::producer::{BaseRecord, Producer};

use super::{KEYS, command, condition, keys, parsed, producer, verified, write};
use crate::env::{Env, KafkaCluster, KafkaOptions, unique, wait_for};
use crate::group::DEADLINE;

pub(crate) fn what_compaction_left_is_proven(env: &Env) {
    let options = KafkaOptions {
        properties: vec!["log.cleaner.backoff.ms=200".to_owned()],
        ..KafkaOptions::default()
    };
    let kafka = KafkaCluster::start(env.root(), 1, options);
    let topic = unique("compacted");
    let config = [
        ("cleanup.policy", "compact"),
        ("segment.ms", "100"),
        ("min.cleanable.dirty.ratio", "0.01"),
        ("max.compaction.lag.ms", "100"),
    ];
    kafka.create_topic_with(&topic, 3, &config);
    let java = producer(&kafka, &[("partitioner", "murmur2_random")]);
    let bootstrap = kafka.bootstrap();
    let of = |extent: &[&str]| {
        let args = ["--bootstrap", &bootstrap, "--topic", &topic];
        let more = ["--client", "java", "-o", "json"];
        let output = command(&[&args, &more, extent].concat()).output();
        parsed(&output.expect("the plugin"), 0)
    };
    let records = |seen: &serde_json::Value| seen["topics"][0]["records"].as_i64();
    // Only a segment that is not the last one is compacted, and the next records begin a new one.
    let seen = wait_for("records to be compacted", DEADLINE, || {
        write(&java, &topic, keys(0..KEYS).map(Some));
        let deleted = BaseRecord::<str, str>::to(&topic).key("user-0");
        java.send(deleted).map_err(|(e, _)| e.to_string())?;
        java.flush(DEADLINE).map_err(|e| e.to_string())?;
        let offsets: i64 = kafka.end_offsets(&topic).values().sum();
        let seen = of(&["--full"]);
        let gaps = offsets - records(&seen).unwrap_or(offsets);
        if gaps > 3 * i64::try_from(KEYS).expect("a number") {
            Ok(seen)
        } else {
            Err(format!("{gaps} of {offsets} offsets are empty"))
        }
    });
    assert_eq!(condition(&seen), ("True", "KeysFit"), "{seen}");
    assert_eq!(seen["topics"][0]["distinctKeys"], KEYS, "{seen}");
    assert_eq!(seen["topics"][0]["misplaced"], 0, "{seen}");
    let seen = of(&["--records", "150"]);
    assert_eq!(condition(&seen), ("True", "KeysFit"), "{seen}");
    assert!(records(&seen) <= Some(450), "{seen}");
}

pub(crate) fn records_in_zstd_are_proven(env: &Env) {
    let topic = unique("zstd");
    // Whatever producers send, the broker keeps zstd.
    let config = [("compression.type", "zstd")];
    env.kafka.create_topic_with(&topic, 3, &config);
    let config = [
        ("partitioner", "murmur2_random"),
        ("compression.type", "zstd"),
        ("linger.ms", "50"),
    ];
    let java = producer(&env.kafka, &config);
    write(&java, &topic, keys(0..KEYS).map(Some));
    let seen = verified(env, &["--topic", &topic, "--client", "java"], 0);
    assert_eq!(condition(&seen), ("True", "KeysFit"), "{seen}");
    assert_eq!(seen["topics"][0]["distinctKeys"], KEYS, "{seen}");
}

/// The aborted records lie where no scheme puts them: read, they would refute it.
pub(crate) fn aborted_records_prove_nothing(env: &Env) {
    let topic = unique("transactions");
    env.kafka.create_topic(&topic, 3);
    let id = unique("writer");
    let java = producer(
        &env.kafka,
        &[("partitioner", "murmur2_random"), ("transactional.id", &id)],
    );
    java.init_transactions(DEADLINE).expect("transactions");
    let misplaced = |numbers| {
        for key in keys(numbers) {
            let record = BaseRecord::to(&topic).partition(1).key(&key).payload("x");
            java.send(record)
                .unwrap_or_else(|(e, _)| panic!("cannot write: {e}"));
        }
        java.flush(DEADLINE).expect("cannot write");
    };
    for part in 0..3 {
        java.begin_transaction().expect("a transaction");
        write(&java, &topic, keys(part * 100..part * 100 + 100).map(Some));
        java.commit_transaction(DEADLINE).expect("a commit");
        java.begin_transaction().expect("a transaction");
        misplaced(0..200);
        java.abort_transaction(DEADLINE).expect("an abort");
    }
    let args = ["--topic", &topic, "--client", "java", "--full"];
    let seen = verified(env, &args, 0);
    assert_eq!(condition(&seen), ("True", "KeysFit"), "{seen}");
    assert_eq!(seen["topics"][0]["records"], 300, "{seen}");
    assert_eq!(seen["topics"][0]["misplaced"], 0, "{seen}");

    java.begin_transaction().expect("a transaction");
    misplaced(0..200);
    // Still open, it is not waited for and not read.
    let seen = verified(env, &args, 0);
    assert_eq!(seen["topics"][0]["records"], 300, "{seen}");
    java.commit_transaction(DEADLINE).expect("a commit");
    let seen = verified(env, &args, 2);
    assert_eq!(seen["topics"][0]["records"], 500, "{seen}");
}
