//! `spec.verification`: what the operator says of records that lie on a real Kafka.

use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use serde_json::{Value, json};

use crate::env::{Env, KafkaCluster, KafkaOptions, unique, wait_for};
use crate::group::{self, DEADLINE, Group, condition, consent};
use crate::scene::{Scene, names};
use crate::seen;

/// Enough to prove a scheme.
const KEYS: usize = 300;

/// One record a key, placed by one of librdkafka's partitioners; without keys if there is none.
fn write(kafka: &KafkaCluster, topic: &str, partitioner: Option<&str>, keys: usize) {
    write_values(kafka, topic, partitioner, keys, "x");
}

fn write_values(
    kafka: &KafkaCluster,
    topic: &str,
    partitioner: Option<&str>,
    keys: usize,
    value: &str,
) {
    let producer: BaseProducer = ClientConfig::new()
        .set("bootstrap.servers", kafka.bootstrap())
        .set("allow.auto.create.topics", "false")
        .set("partitioner", partitioner.unwrap_or("random"))
        .set("message.max.bytes", "60000000")
        .create()
        .expect("a producer");
    for number in 0..keys {
        let key = format!("account-{number}");
        let record = BaseRecord::to(topic).payload(value);
        let record = match partitioner {
            Some(_) => record.key(&key),
            None => record,
        };
        producer
            .send(record)
            .unwrap_or_else(|(e, _)| panic!("cannot write to {topic}: {e}"));
    }
    producer.flush(DEADLINE).expect("cannot write");
}

/// A group of these topics that is verified every ten seconds.
fn spec(scene: &Scene<'_>, topics: &[&str]) -> Value {
    with_verification(scene.spec(6, topics))
}

fn with_verification(mut spec: Value) -> Value {
    spec["verification"] = json!({"interval": "10s", "recordsPerPartition": 100});
    spec
}

/// The entry of a topic under `status.verification`.
fn verified(group: &Group<'_>, topic: &str) -> Value {
    let status = group.status();
    let topics = status["verification"]["topics"].as_array().cloned();
    let entry = topics
        .into_iter()
        .flatten()
        .find(|entry| entry["name"] == topic);
    entry.unwrap_or_else(|| panic!("{topic} is not in {status}"))
}

fn readings(scene: &Scene<'_>) -> u64 {
    seen::counted(&scene.operator, "copartition_verifications_total")
}

/// Waits for the verdict of readings that begin from now on.
fn wait_for_readings(scene: &Scene<'_>, more: u64) {
    let from = readings(scene);
    wait_for("more readings", DEADLINE, || match readings(scene) - from {
        read if read < more => Err(scene.operator.metrics()),
        _ => Ok(()),
    });
}

pub(crate) fn records_are_proven_and_a_stranger_is_named(env: &Env) {
    let scene = Scene::new(env, "proof");
    let [a, b] = names(["updates", "notes"]);
    for topic in [&a, &b] {
        env.kafka.create_topic(topic, 6);
        write(&env.kafka, topic, Some("murmur2_random"), KEYS);
    }
    let group = scene.group("market-data");
    group.apply(&spec(&scene, &[&a, &b]));
    let message = group.wait_for("KeysVerified", "True", "KeysFit");
    assert!(message.contains("600 records of 2 topics"), "{message}");
    let entry = verified(&group, &a);
    for (field, value) in [
        ("reason", json!("KeysFit")),
        ("records", json!(KEYS)),
        ("distinctKeys", json!(KEYS)),
        ("sharePlaced", json!("1.000")),
        ("shareUnkeyed", json!("0.000")),
        ("partitions", json!(6)),
        ("scheme", json!("utf8/murmur2")),
        ("misplacedKeys", Value::Null),
    ] {
        assert_eq!(entry[field], value, "{field} of {entry}");
    }
    let metrics = scene.operator.metrics();
    let labels = format!(
        "{{namespace=\"{}\",group=\"market-data\",topic=\"{a}\"}} 1",
        scene.namespace
    );
    assert!(
        metrics.contains(&format!("copartition_records_placed_share{labels}\n")),
        "{metrics}"
    );
    // Readings that say the same write nothing.
    let version = group.resource_version();
    wait_for_readings(&scene, 1);
    assert_eq!(group.resource_version(), version);

    // Somebody moves a producer to another library.
    write(&env.kafka, &b, Some("consistent_random"), KEYS);
    let message = group.wait_for("KeysVerified", "False", "SchemeMismatch");
    for part in [b.as_str(), "crc32_spread_empty", "librdkafka"] {
        assert!(message.contains(part), "no {part} in {message}");
    }
    assert_eq!(verified(&group, &a)["reason"], "KeysFit");
    assert_eq!(verified(&group, &b)["reason"], "SchemeMismatch");
    group.wait_ready();
    // And back: the newest hundred of each partition are right again.
    write(&env.kafka, &b, Some("murmur2_random"), 6 * 2 * KEYS);
    group.wait_for("KeysVerified", "True", "KeysFit");
    let told = |type_: &str, reason: &str| {
        wait_for("the Events", DEADLINE, || {
            let events = seen::events(&env.kube, &scene.namespace);
            let times = events.iter().filter(|it| it.0 == type_ && it.1 == reason);
            match times.map(|it| it.2).sum::<u64>() {
                0 => Err(format!("{events:?}")),
                times => Ok(times),
            }
        })
    };
    assert_eq!(told("Warning", "SchemeMismatch"), 1);
    told("Normal", "KeysFit");

    // No key went anywhere.
    let events = env
        .kube
        .kubectl_ok(&["get", "events", "-n", &scene.namespace, "-o", "yaml"]);
    for text in [
        events,
        scene.operator.log(),
        scene.operator.metrics(),
        group.get().to_string(),
        group.claim().expect("a claim").to_string(),
    ] {
        assert!(!text.contains("account-"), "{text}");
    }
}

pub(crate) fn keys_are_shown_only_to_who_asks(env: &Env) {
    let scene = Scene::new(env, "reveal");
    let [topic] = names(["updates"]);
    env.kafka.create_topic(&topic, 6);
    write(&env.kafka, &topic, Some("consistent_random"), KEYS);
    let group = scene.group("market-data");
    let mut asked = spec(&scene, &[&topic]);
    asked["verification"]["revealKeys"] = json!(true);
    group.apply(&asked);
    group.wait_for("KeysVerified", "False", "SchemeMismatch");
    let keys = verified(&group, &topic)["misplacedKeys"].clone();
    let keys = keys.as_array().expect("some keys");
    assert_eq!(keys.len(), 5, "{keys:?}");
    for key in keys {
        let text = key["key"].as_str().unwrap_or_default();
        assert!(text.starts_with("account-"), "{key}");
        assert_ne!(key["partition"], key["predicted"], "{key}");
    }
    asked["verification"]["revealKeys"] = json!(false);
    group.apply(&asked);
    group.wait_until("no key", |status| !status.to_string().contains("account-"));
    group.wait_for("KeysVerified", "False", "SchemeMismatch");
}

pub(crate) fn what_is_open_has_its_reason(env: &Env) {
    let scene = Scene::new(env, "open");
    let [empty, unkeyed, few] = names(["empty", "unkeyed", "few"]);
    for topic in [&empty, &unkeyed, &few] {
        env.kafka.create_topic(topic, 6);
    }
    write(&env.kafka, &unkeyed, None, KEYS);
    write(&env.kafka, &few, Some("murmur2"), 5);
    for (topic, status, reason) in [
        (&empty, "Unknown", "NoRecords"),
        (&unkeyed, "False", "Unkeyed"),
        (&few, "Unknown", "TooFewKeys"),
    ] {
        let group = scene.group(topic);
        group.apply(&spec(&scene, &[topic]));
        let message = group.wait_for("KeysVerified", status, reason);
        assert!(message.contains(topic.as_str()), "{message}");
        group.wait_ready();
    }
    let off = scene.group("off");
    let [other] = names(["off"]);
    off.apply(&scene.spec(6, &[&other]));
    off.wait_for("KeysVerified", "Unknown", "Off");
    assert_eq!(off.status()["verification"], Value::Null);
}

pub(crate) fn an_edited_scheme_is_judged_anew(env: &Env) {
    let scene = Scene::new(env, "edited");
    let [topic] = names(["updates"]);
    env.kafka.create_topic(&topic, 6);
    write(&env.kafka, &topic, Some("murmur2"), KEYS);
    let group = scene.group("market-data");
    let mut asked = spec(&scene, &[&topic]);
    // The next reading by the clock is a day away.
    asked["verification"]["interval"] = json!("24h");
    group.apply(&asked);
    group.wait_for("KeysVerified", "True", "KeysFit");
    asked["keyScheme"]["partitioner"] = json!("crc32");
    group.apply(&asked);
    let message = group.wait_for("KeysVerified", "False", "SchemeMismatch");
    assert!(message.contains("murmur2"), "{message}");
    asked["keyScheme"]["partitioner"] = json!("murmur2");
    group.apply(&asked);
    group.wait_for("KeysVerified", "True", "KeysFit");
    asked
        .as_object_mut()
        .expect("a spec")
        .remove("verification");
    group.apply(&asked);
    group.wait_for("KeysVerified", "Unknown", "Off");
    group.wait_until("no evidence", |status| status["verification"].is_null());
}

pub(crate) fn records_from_before_a_growth_are_judged_at_their_count(env: &Env) {
    let scene = Scene::new(env, "grown");
    let [topic] = names(["updates"]);
    env.kafka.create_topic(&topic, 6);
    write(&env.kafka, &topic, Some("murmur2"), KEYS);
    let group = scene.group("market-data");
    group.apply(&spec(&scene, &[&topic]));
    group.wait_for("KeysVerified", "True", "KeysFit");
    let mut grown = with_verification(scene.spec(8, &[&topic]));
    grown["acceptKeyMovement"] = consent(&[&topic], 6, 8);
    group.apply(&grown);
    group.wait_ready();
    // Three in four of these keys would lie elsewhere at eight partitions.
    group.wait_for("KeysVerified", "True", "KeysFit");
    assert_eq!(verified(&group, &topic)["partitions"], 8);
    // What a producer writes now nobody can judge: it may or may not know of the growth.
    write(&env.kafka, &topic, Some("consistent_random"), KEYS);
    wait_for_readings(&scene, 2);
    group.wait_for("KeysVerified", "True", "KeysFit");
    assert_eq!(verified(&group, &topic)["sharePlaced"], "1.000");
}

pub(crate) fn a_topic_that_its_owner_grows_is_not_accused(env: &Env) {
    let scene = Scene::new(env, "owner");
    let [topic] = names(["payments"]);
    env.kafka.create_topic(&topic, 6);
    write(&env.kafka, &topic, Some("murmur2"), KEYS);
    let group = scene.group("market-data");
    let mut asked = spec(&scene, &[&topic]);
    asked["topics"][0]["management"] = json!("Referenced");
    asked.as_object_mut().expect("a spec").remove("partitions");
    group.apply(&asked);
    group.wait_for("KeysVerified", "True", "KeysFit");
    env.kafka.grow_topic(&topic, 8);
    let message = group.wait_for("KeysVerified", "Unknown", "Settling");
    assert!(message.contains(topic.as_str()), "{message}");
}

pub(crate) fn a_restart_neither_forgets_nor_reads_again(env: &Env) {
    let mut scene = Scene::new(env, "again");
    let [topic] = names(["updates"]);
    env.kafka.create_topic(&topic, 6);
    write(&env.kafka, &topic, Some("murmur2"), KEYS);
    let mut asked = spec(&scene, &[&topic]);
    asked["verification"]["interval"] = json!("1h");
    let group = scene.group("market-data");
    group.apply(&asked);
    group.wait_for("KeysVerified", "True", "KeysFit");
    let version = group.resource_version();
    scene.operator.kill();
    let again = Scene::in_namespace(env, scene.namespace.clone());
    again.look_again();
    assert_eq!(readings(&again), 0, "{}", again.operator.metrics());
    assert_eq!(group.resource_version(), version);
    let metrics = again.operator.metrics();
    let share = format!("topic=\"{topic}\"}} 1\n");
    assert!(metrics.contains(&share), "{metrics}");
}

pub(crate) fn what_exceeds_the_budget_is_said_and_holds_up_no_other(env: &Env) {
    let namespace = env.namespace("budget");
    let [large, small] = names(["large", "small"]);
    env.kafka.create_topic(&large, 1);
    env.kafka.create_topic(&small, 6);
    let value = "x".repeat(100_000);
    write_values(&env.kafka, &large, Some("murmur2"), 30, &value);
    write(&env.kafka, &small, Some("murmur2"), KEYS);
    let _operator = seen::operator(env, &namespace, &["--verification-budget", "1"]);
    let group = |name: &str| Group::new(&env.kube, &namespace, name);
    let of = |partitions: i32, topic: &str| {
        with_verification(group::spec(&env.kafka.bootstrap(), partitions, &[topic]))
    };
    let (greedy, modest) = (group("greedy"), group("modest"));
    greedy.apply(&of(1, &large));
    let message = greedy.wait_for("KeysVerified", "Unknown", "ReadIncomplete");
    for part in [
        large.as_str(),
        "--verification-budget",
        "recordsPerPartition",
    ] {
        assert!(message.contains(part), "no {part} in {message}");
    }
    // The budget of this minute is spent; in the next one who took less goes first.
    modest.apply(&of(6, &small));
    wait_for("the other group's proof", 3 * DEADLINE, || {
        let found = condition(&modest.status(), "KeysVerified");
        if found["reason"] == "KeysFit" {
            Ok(())
        } else {
            Err(found.to_string())
        }
    });
}

pub(crate) fn without_the_permission_nothing_is_claimed(env: &Env) {
    let properties = vec![
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer".to_owned(),
        "allow.everyone.if.no.acl.found=true".to_owned(),
    ];
    let options = KafkaOptions {
        properties,
        ..KafkaOptions::default()
    };
    let kafka = KafkaCluster::start(env.root(), 1, options);
    let topic = unique("closed");
    kafka.create_topic(&topic, 6);
    write(&kafka, &topic, Some("murmur2"), KEYS);
    let acl = |operation: &str| {
        kafka.tool_ok(
            "org.apache.kafka.tools.AclCommand",
            &[
                "--add",
                "--topic",
                &topic,
                "--allow-principal",
                "User:*",
                "--operation",
                operation,
            ],
        );
    };
    acl("Describe");
    acl("DescribeConfigs");
    let scene = Scene::new(env, "denied");
    let group = scene.group("market-data");
    group.apply(&with_verification(group::spec(
        &kafka.bootstrap(),
        6,
        &[&topic],
    )));
    let message = group.wait_for("KeysVerified", "Unknown", "TopicNotAuthorized");
    for part in [topic.as_str(), "READ", "Grant the operator"] {
        assert!(message.contains(part), "no {part} in {message}");
    }
    // The counts are judged as ever.
    group.wait_for("PartitionsAligned", "True", "Aligned");
    acl("Read");
    group.wait_for("KeysVerified", "True", "KeysFit");
}

/// A record of 50 MB, which nobody who samples wants in memory, and meanwhile a drift.
pub(crate) fn a_huge_record_is_named_and_drift_is_seen(env: &Env) {
    let scene = Scene::new(env, "huge");
    let [topic] = names(["huge"]);
    env.kafka
        .create_topic_with(&topic, 6, &[("max.message.bytes", "60000000")]);
    let value = "x".repeat(50_000_000);
    write(&env.kafka, &topic, Some("murmur2"), KEYS);
    write_values(&env.kafka, &topic, Some("murmur2"), 1, &value);
    let group = scene.group("market-data");
    group.apply(&spec(&scene, &[&topic]));
    let message = group.wait_for("KeysVerified", "Unknown", "ReadIncomplete");
    assert!(message.contains("more than 16777216 bytes"), "{message}");
    env.kafka.grow_topic(&topic, 7);
    group.wait_for("PartitionsAligned", "False", "PartitionDrift");
}
