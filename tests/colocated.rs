//! `ConsumersColocated` of the whole operator, about real members of consumer groups.

use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{Env, unique, wait_for};
use crate::group::{Group, condition};
use crate::members::Members;
use crate::scene::{Scene, names};
use crate::seen;

/// JVMs that start and join share two cores with servers, and a verdict takes two readings after that.
const DEADLINE: Duration = Duration::from_secs(180);
const KIND: &str = "ConsumersColocated";

/// Waits for the verdict; its message.
fn verdict(group: &Group<'_>, status: &str, reason: &str, members: &str) -> String {
    let what = format!("{KIND}={status}/{reason} of {}", group.name);
    wait_for(&what, DEADLINE, || {
        let live = group.status();
        let found = condition(&live, KIND);
        if found["status"] == status && found["reason"] == reason {
            Ok(found["message"].as_str().unwrap_or_default().to_owned())
        } else {
            Err(format!("{found}; {members}"))
        }
    })
}

/// A group of two topics with three partitions each, which these consumer groups are to read together.
fn watched(scene: &Scene<'_>, name: &str, topics: &[&str], groups: &Value) {
    let mut spec = scene.spec(3, topics);
    spec["consumerGroups"] = groups.clone();
    scene.group(name).apply(&spec);
}

/// Waits until consumer groups were read so many more times.
fn wait_readings(scene: &Scene<'_>, more: u64) {
    let read = || {
        let metric = "copartition_consumer_group_readings_total{outcome=\"Ok\"}";
        seen::counted(&scene.operator, metric)
    };
    let wanted = read() + more;
    wait_for("more readings", DEADLINE, || match read() {
        count if count >= wanted => Ok(()),
        count => Err(format!("{count} of {wanted}")),
    });
}

pub(crate) fn members_that_read_together_or_apart_are_told_and_nothing_is_written_without_news(
    env: &Env,
) {
    let scene = Scene::new(env, "colocated");
    let [left, right] = names(["left", "right"]);
    let topics = [left.as_str(), right.as_str()];
    let app = unique("app");
    watched(&scene, "pair", &topics, &json!([{"groupId": app}]));
    let group = scene.group("pair");
    // Evidence does not gate Ready.
    group.wait_ready();
    let message = verdict(&group, "Unknown", "GroupMissing", "");
    assert!(message.contains(&app), "{message}");

    let mut members = Members::java(env);
    for name in ["range-1", "range-2"] {
        members.consumer(name, &app, "classic", "range", &topics);
    }
    let message = verdict(&group, "True", "Colocated", &members.log_tail());
    assert!(message.contains("range"), "{message}");

    // A third one comes: still together, and nothing to write.
    let before = group.resource_version();
    members.consumer("range-3", &app, "classic", "range", &topics);
    wait_readings(&scene, 4);
    assert_eq!(group.resource_version(), before, "{}", group.status());

    for name in ["range-1", "range-2", "range-3"] {
        members.close(name);
    }
    let message = verdict(&group, "Unknown", "GroupEmpty", &members.log_tail());
    assert!(message.contains(&app), "{message}");
    for name in ["robin-1", "robin-2"] {
        members.consumer(name, &app, "classic", "roundrobin", &topics);
    }
    let message = verdict(&group, "False", "SplitMembers", &members.log_tail());
    for words in [&left, &right, "roundrobin", "robin-", "127.0.0.1", "range"] {
        assert!(message.contains(words), "no {words} in {message}");
    }
    let told = |events: &[(String, String, u64)]| -> u64 {
        let split = events
            .iter()
            .filter(|(_, reason, _)| reason == "SplitMembers");
        split.map(|(_, _, times)| times).sum()
    };
    wait_for("an Event", DEADLINE, || {
        let events = seen::events(&env.kube, &scene.namespace);
        (told(&events) == 1)
            .then_some(())
            .ok_or_else(|| format!("{events:?}"))
    });
    let before = group.resource_version();
    wait_readings(&scene, 3);
    assert_eq!(group.resource_version(), before, "{}", group.status());
    // What was known before a restart stands, and is not written again.
    let namespace = scene.namespace.clone();
    drop(scene);
    let scene = Scene::in_namespace(env, namespace);
    wait_readings(&scene, 3);
    assert_eq!(group.resource_version(), before, "{}", group.status());
    assert_eq!(told(&seen::events(&env.kube, &scene.namespace)), 1);
}

pub(crate) fn sub_topologies_of_kafka_streams_are_told_apart_until_a_store_joins_them(env: &Env) {
    let scene = Scene::new(env, "streams");
    let mut members = Members::java(env);
    let apps = [
        ("apart", "classic", "apart"),
        ("shared", "classic", "shared"),
        ("new-apart", "streams", "apart"),
        ("new-shared", "streams", "shared"),
    ];
    let mut groups = Vec::new();
    for (name, protocol, shape) in apps {
        let [left, right] = names(["left", "right"]);
        let app = unique(name);
        let prefix = json!([{"prefix": &app}]);
        watched(&scene, name, &[&left, &right], &prefix);
        let group = scene.group(name);
        group.wait_ready();
        for member in ["1", "2"] {
            let client = format!("{name}-{member}");
            members.streams(&client, &app, protocol, shape, [&left, &right]);
        }
        groups.push((group, shape, [left, right]));
    }
    // One that joins topics of unequal counts stops.
    let [four, three] = names(["four", "three"]);
    env.kafka.create_topic(&four, 4);
    env.kafka.create_topic(&three, 3);
    let unequal = unique("unequal");
    let mut spec = scene.spec(None, &[&four, &three]);
    spec["mode"] = json!("Observe");
    spec["consumerGroups"] = json!([{"groupId": unequal}]);
    let stopped = scene.group("unequal");
    stopped.apply(&spec);
    members.streams("unequal", &unequal, "streams", "join", [&four, &three]);
    // And one of which nobody thinks.
    let [some, others] = names(["some", "others"]);
    for topic in [&some, &others] {
        env.kafka.create_topic(topic, 3);
    }
    members.streams(
        "free",
        &unique("free"),
        "streams",
        "shared",
        [&some, &others],
    );

    for (group, shape, topics) in &groups {
        let log = members.log_tail();
        let message = match *shape {
            "shared" => verdict(group, "True", "Colocated", &log),
            _ => verdict(group, "False", "SeparateSubTopologies", &log),
        };
        if *shape == "apart" {
            for topic in topics {
                assert!(message.contains(topic), "no {topic} in {message}");
            }
            assert!(message.contains("store"), "{message}");
        }
    }
    let message = verdict(&stopped, "False", "UnequalCounts", &members.log_tail());
    for words in [&four, &three, "4", "3"] {
        assert!(message.contains(words), "no {words} in {message}");
    }
    // The two that share a store, the one that stopped, and the last one; other tests may have more.
    let cluster = env.kafka.id();
    for (covered, counts, least) in [
        (true, "equal", 2),
        (true, "unequal", 1),
        (false, "equal", 1),
    ] {
        let series = format!(
            "copartition_needed_sets{{cluster=\"{cluster}\",covered=\"{covered}\",counts=\"{counts}\"}}"
        );
        wait_for(&series, DEADLINE, || {
            match seen::counted(&scene.operator, &series) {
                sets if sets >= least => Ok(()),
                sets => Err(format!("{sets}: {}", members.log_tail())),
            }
        });
    }
}
