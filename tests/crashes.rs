//! Crashes: the operator itself is cut off at any moment. The next one completes what was begun, and nothing twice.

use serde_json::{Value, json};

use crate::env::{Env, KafkaCluster, KafkaOptions, Operator, unique, wait_for};
use crate::group::{DEADLINE, Group, condition, consent, spec};
use crate::seen::{CLIENT_ID, kafka_writes, operator, options};

/// A growth whose intent was recorded and that went so far: which of the two topics were grown before the crash.
fn completed_after_a_crash(env: &Env, grown: [bool; 2]) {
    let namespace = env.namespace("crashed");
    let topics = [unique("crashed"), unique("crashed")];
    let names = topics.each_ref().map(String::as_str);
    let mut first = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    let mut wanted = spec(&env.kafka.bootstrap(), 3, &names);
    group.apply(&wanted);
    group.wait_ready();
    for topic in names {
        env.kafka.produce(topic, &[("BBCA", "1")]);
    }
    first.kill();

    wanted["partitions"] = json!(4);
    wanted["acceptKeyMovement"] = consent(&names, 3, 4);
    group.apply(&wanted);
    let mut claim = group.claim().expect("a claim");
    let mut intents = Vec::new();
    for held in claim["spec"]["holds"].as_array_mut().expect("holds") {
        held["counts"] = json!([3, 4]);
        intents.push(json!({
            "topic": held["name"], "topicId": held["topicId"], "from": 3, "to": 4, "consented": true,
        }));
    }
    claim["spec"]["intents"] = json!(intents);
    let output = env
        .kube
        .kubectl_with_input(&["replace", "-f", "-"], &claim.to_string());
    assert!(output.status.success(), "{}", crate::env::text(&output));
    for (topic, grown) in names.iter().zip(grown) {
        if grown {
            env.kafka.grow_topic(topic, 4);
        }
    }

    let _second = operator(env, &namespace, &[]);
    group.wait_ready();
    let claim = group.claim().expect("a claim")["spec"].clone();
    assert_eq!(claim["intents"], Value::Null, "{claim}");
    let spent = claim["spentConsents"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    assert_eq!(spent.len(), 2, "{spent:?}");
    for (topic, grown) in names.iter().zip(grown) {
        assert_eq!(env.kafka.partitions(topic), Some(4));
        let used = spent
            .iter()
            .filter(|s| s["topic"] == *topic && s["from"] == 3 && s["to"] == 4);
        assert_eq!(used.count(), 1, "{spent:?}");
        let writes = kafka_writes(&env.kafka, &[topic]);
        let expected: &[&str] = if grown {
            &["CREATE_TOPICS"]
        } else {
            &["CREATE_TOPICS", "CREATE_PARTITIONS"]
        };
        assert_eq!(writes, expected);
    }
}

pub(crate) fn a_growth_cut_off_before_its_request_is_completed(env: &Env) {
    completed_after_a_crash(env, [false, false]);
}

pub(crate) fn a_growth_cut_off_between_two_topics_is_completed(env: &Env) {
    completed_after_a_crash(env, [true, false]);
}

pub(crate) fn a_growth_cut_off_before_its_record_is_completed(env: &Env) {
    completed_after_a_crash(env, [true, true]);
}

/// Starts the operator and kills it again and again, each time after it got a little further: by the number of requests
/// that the broker has answered. Gives up when the group is Ready.
fn kill_again_and_again(env: &Env, kafka: &KafkaCluster, group: &Group<'_>) {
    let answered = || kafka.requests("", CLIENT_ID).len();
    for further in 1.. {
        let wanted = answered() + further;
        let mut operator = Operator::launch(&env.kube, options(&env.kube, &group.namespace, &[]));
        wait_for("the broker to answer", DEADLINE, || {
            let seen = answered();
            if seen >= wanted {
                Ok(())
            } else {
                Err(format!("{seen} of {wanted} answers"))
            }
        });
        operator.kill();
        let object = group.get();
        let ready = condition(&object["status"], "Ready");
        let ready = ready["status"] == "True"
            && ready["observedGeneration"] == object["metadata"]["generation"];
        if ready {
            assert!(further > 2, "it was there before it was killed at all");
            return;
        }
    }
}

pub(crate) fn an_operator_that_is_killed_again_and_again_gets_there(env: &Env) {
    let kafka = KafkaCluster::start(env.root(), 1, KafkaOptions::default());
    let namespace = env.namespace("killed");
    let topics: Vec<String> = (0..5).map(|_| unique("killed")).collect();
    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
    let group = Group::new(&env.kube, &namespace, "orders");
    let mut wanted = spec(&kafka.bootstrap(), 3, &topics);
    group.apply(&wanted);
    kill_again_and_again(env, &kafka, &group);
    for topic in &topics {
        assert_eq!(kafka.partitions(topic), Some(3));
        kafka.produce(topic, &[("BBCA", "1")]);
    }

    wanted["partitions"] = json!(5);
    wanted["acceptKeyMovement"] = consent(&topics, 3, 5);
    group.apply(&wanted);
    kill_again_and_again(env, &kafka, &group);
    let _operator = operator(env, &namespace, &[]);
    group.wait_ready();
    let claim = group.claim().expect("a claim")["spec"].clone();
    assert_eq!(
        claim["spentConsents"].as_array().map(Vec::len),
        Some(5),
        "{claim}"
    );
    assert_eq!(claim["intents"], Value::Null, "{claim}");
    for topic in &topics {
        assert_eq!(kafka.partitions(topic), Some(5));
    }
}

pub(crate) fn sigterm_ends_it_with_success(env: &Env) {
    let namespace = env.namespace("sigterm");
    let topic = unique("sigterm");
    let mut operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&topic]));
    group.wait_ready();
    let status = operator.stop();
    assert!(status.success(), "{status}");
    assert!(operator.log().contains("stopped"), "{}", operator.log());
}
