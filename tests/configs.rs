//! Declared topic config against real servers: what is set, what is left, and what needs a consent.

use serde_json::{Value, json};

use crate::env::{Env, wait_for};
use crate::group::{DEADLINE, topic_status};
use crate::scene::{Scene, names};

/// A spec of one topic at 6 with this config.
fn declared(scene: &Scene<'_>, topic: &str, config: &Value) -> Value {
    let mut spec = scene.spec(6, &[topic]);
    spec["topics"][0]["config"] = config.clone();
    spec
}

/// Waits until a topic itself carries this value.
fn wait_for_config(env: &Env, topic: &str, key: &str, value: &str) {
    wait_for(&format!("{key}={value} on {topic}"), DEADLINE, || {
        let config = env.kafka.topic_config(topic);
        if config.get(key).is_some_and(|seen| seen == value) {
            Ok(())
        } else {
            Err(format!("{config:?}"))
        }
    });
}

pub(crate) fn declared_keys_are_set_and_all_others_are_left(env: &Env) {
    let scene = Scene::new(env, "declare");
    let [topic] = names(["updates"]);
    env.kafka
        .create_topic_with(&topic, 6, &[("max.message.bytes", "2000000")]);
    let group = scene.group("market-data");
    group.apply(&declared(
        &scene,
        &topic,
        &json!({"retention.ms": "123456789", "segment.bytes": "12345678"}),
    ));
    group.wait_ready();
    group.wait_for("TopicConfigsApplied", "True", "Applied");
    let config = env.kafka.topic_config(&topic);
    let wanted = [
        ("max.message.bytes", "2000000"),
        ("retention.ms", "123456789"),
        ("segment.bytes", "12345678"),
    ];
    assert_eq!(config.len(), wanted.len(), "{config:?}");
    for (key, value) in wanted {
        assert_eq!(config[key], value);
    }

    // A key that leaves the spec is no longer the group's; its value stays.
    group.apply(&declared(
        &scene,
        &topic,
        &json!({"segment.bytes": "12345678"}),
    ));
    group.wait_for("TopicConfigsApplied", "True", "Applied");
    scene.look_again();
    assert_eq!(env.kafka.topic_config(&topic), config);
    assert_eq!(scene.writes(&topic).len(), 1, "both keys in one request");
}

pub(crate) fn config_changed_by_hand_is_set_back(env: &Env) {
    let scene = Scene::new(env, "set-back");
    let [topic] = names(["updates"]);
    let group = scene.group("market-data");
    group.apply(&declared(
        &scene,
        &topic,
        &json!({"retention.ms": "123456789"}),
    ));
    group.wait_ready();
    let by_hand = [
        ("retention.ms", "999999999"),
        ("max.message.bytes", "2000000"),
    ];
    env.kafka.set_topic_config(&topic, &by_hand);
    wait_for_config(env, &topic, "retention.ms", "123456789");
    group.wait_for("TopicConfigsApplied", "True", "Applied");
    let config = env.kafka.topic_config(&topic);
    assert_eq!(config["max.message.bytes"], "2000000", "nobody declared it");
}

pub(crate) fn a_refused_value_is_told_in_kafkas_words_and_leaves_the_group_ready(env: &Env) {
    let scene = Scene::new(env, "value");
    let [topic] = names(["updates"]);
    env.kafka.create_topic(&topic, 6);
    let group = scene.group("market-data");
    group.apply(&declared(&scene, &topic, &json!({"retention.ms": "soon"})));
    let message = group.wait_for("TopicConfigsApplied", "False", "Rejected");
    let words = "Not a number of type LONG";
    assert!(message.contains(words), "{message}");
    assert!(message.contains("retention.ms=soon"), "{message}");
    group.wait_ready();
    let seen = topic_status(&group.status(), &topic);
    assert!(
        seen["message"].as_str().is_some_and(|m| m.contains(words)),
        "{seen}"
    );
    wait_for("a Warning Event", DEADLINE, || {
        let events = env.kube.get_json(&["events", "-n", &scene.namespace]);
        let told = events["items"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|event| {
                event["type"] == "Warning"
                    && event["reason"] == "Rejected"
                    && event["involvedObject"]["name"] == "market-data"
                    && event["message"].as_str().is_some_and(|m| m.contains(words))
            });
        if told {
            Ok(())
        } else {
            Err(events.to_string())
        }
    });

    group.apply(&declared(
        &scene,
        &topic,
        &json!({"retention.ms": "1234567890"}),
    ));
    group.wait_for("TopicConfigsApplied", "True", "Applied");
    let message = topic_status(&group.status(), &topic)["message"].clone();
    assert_eq!(message, Value::Null);
}

pub(crate) fn config_that_would_drop_records_needs_a_consent_that_counts_once(env: &Env) {
    let scene = Scene::new(env, "data-loss");
    let [topic] = names(["updates"]);
    scene.topic_with_records(&topic, 6);
    let group = scene.group("market-data");
    // A week is Kafka's default.
    let mut spec = declared(&scene, &topic, &json!({"retention.ms": "123456789"}));
    group.apply(&spec);
    let message = group.wait_for("TopicConfigsApplied", "False", "WouldDropData");
    let way_out = format!("acceptDataLoss: {{topic: {topic}, keys: [retention.ms]}}");
    assert!(message.contains(&way_out), "{message}");
    group.wait_ready();
    scene.assert_never_writes(&[&topic]);

    spec["acceptDataLoss"] = json!({"topic": topic, "keys": ["retention.ms"]});
    group.apply(&spec);
    group.wait_for("TopicConfigsApplied", "True", "Applied");
    assert_eq!(env.kafka.topic_config(&topic)["retention.ms"], "123456789");

    // The same consent, left in Git, does not stand for a later change.
    spec["topics"][0]["config"]["retention.ms"] = json!("12345678");
    group.apply(&spec);
    group.wait_for("TopicConfigsApplied", "False", "WouldDropData");
    scene.look_again();
    assert_eq!(env.kafka.topic_config(&topic)["retention.ms"], "123456789");

    // Taken out and given again it is a new one.
    let consent = spec["acceptDataLoss"].take();
    group.apply(&spec);
    group.wait_for("TopicConfigsApplied", "False", "WouldDropData");
    spec["acceptDataLoss"] = consent;
    group.apply(&spec);
    group.wait_for("TopicConfigsApplied", "True", "Applied");
    assert_eq!(env.kafka.topic_config(&topic)["retention.ms"], "12345678");
}

pub(crate) fn a_cleanup_policy_that_deletes_needs_a_consent(env: &Env) {
    let scene = Scene::new(env, "policy");
    let [state, log] = names(["state", "log"]);
    for topic in [&state, &log] {
        env.kafka
            .create_topic_with(topic, 6, &[("cleanup.policy", "compact")]);
    }
    scene.produce(&state);
    let mut spec = scene.spec(6, &[&state, &log]);
    for topic in 0..2 {
        spec["topics"][topic]["config"] = json!({"cleanup.policy": "compact,delete"});
    }
    let group = scene.group("market-data");
    group.apply(&spec);
    let message = group.wait_for("TopicConfigsApplied", "False", "WouldDropData");
    assert!(message.contains(&state), "{message}");
    assert!(
        !message.contains(&log),
        "it holds nothing to lose: {message}"
    );
    wait_for_config(env, &log, "cleanup.policy", "compact,delete");
    assert_eq!(env.kafka.topic_config(&state)["cleanup.policy"], "compact");
}

pub(crate) fn a_topic_that_the_operator_created_takes_any_declared_config(env: &Env) {
    let scene = Scene::new(env, "own");
    let [topic] = names(["updates"]);
    let group = scene.group("market-data");
    group.apply(&declared(
        &scene,
        &topic,
        &json!({"retention.ms": "123456789"}),
    ));
    group.wait_ready();
    scene.produce(&topic);
    group.wait_until("holdsRecords is true", |status| {
        status["holdsRecords"] == true
    });
    group.apply(&declared(
        &scene,
        &topic,
        &json!({"retention.ms": "12345678"}),
    ));
    group.wait_for("TopicConfigsApplied", "True", "Applied");
    assert_eq!(env.kafka.topic_config(&topic)["retention.ms"], "12345678");
}

pub(crate) fn a_value_that_kafka_spells_in_its_own_way_is_not_sent_without_end(env: &Env) {
    let scene = Scene::new(env, "spelling");
    let [topic] = names(["spelled"]);
    let group = scene.group("orders");
    env.kafka.create_topic(&topic, 6);
    // Java reads it as 0.5, and Kafka shows 0.5.
    let config = json!({"min.cleanable.dirty.ratio": "0x1p-1"});
    group.apply(&declared(&scene, &topic, &config));
    wait_for_config(env, &topic, "min.cleanable.dirty.ratio", "0.5");
    // Long enough that tries which do not wait longer each time would be many more.
    for _ in 0..20 {
        scene.look_again();
    }
    let sent = scene.writes(&topic).len();
    assert!((1..=7).contains(&sent), "sent {sent} times");
    group.wait_ready();
}
