//! Claims as holds: a topic belongs to one group, and comes free only when that group lets it go.

use serde_json::{Value, json};

use crate::env::{Env, unique, wait_for};
use crate::group::{DEADLINE, Group, condition, spec};
use crate::seen::{kafka_writes, operator, wait_polls};

/// Soon enough to wait for.
pub(crate) const SHORT: [&str; 2] = ["--claim-retention", "2s"];

/// The spec of a group's claim.
pub(crate) fn remembered(group: &Group<'_>) -> Value {
    let claim = group.claim();
    claim.map_or(Value::Null, |claim| claim["spec"].clone())
}

/// The names of the topics in one list of a claim.
pub(crate) fn listed(claim: &Value, list: &str) -> Vec<String> {
    let topics = claim[list].as_array().cloned().unwrap_or_default();
    let name = |topic: &Value| topic["name"].as_str().map(ToOwned::to_owned);
    topics.iter().filter_map(name).collect()
}

/// `kubectl VERB copartitionclaim NAME ARGS`, as somebody who may do everything.
pub(crate) fn by_hand(env: &Env, group: &Group<'_>, verb: &str, args: &[&str]) {
    let name = format!("{}.{}", group.namespace, group.name);
    let all = [&[verb, "copartitionclaim", &name], args].concat();
    env.kube.kubectl_ok(&all);
}

/// Waits until a claim is gone.
pub(crate) fn wait_collected(group: &Group<'_>) {
    wait_for("the claim to be collected", DEADLINE, || {
        group.claim().map_or(Ok(()), |claim| Err(claim.to_string()))
    });
}

/// Waits until the claim says this.
pub(crate) fn wait_remembered(
    group: &Group<'_>,
    what: &str,
    fits: impl Fn(&Value) -> bool,
) -> Value {
    wait_for(what, DEADLINE, || {
        let claim = remembered(group);
        if fits(&claim) {
            Ok(claim)
        } else {
            Err(claim.to_string())
        }
    })
}

pub(crate) fn the_second_group_of_a_topic_takes_over_once_the_first_is_gone(env: &Env) {
    let namespace = env.namespace("second");
    let (shared, own) = (unique("shared"), unique("own"));
    let operator = operator(env, &namespace, &SHORT);
    let first = Group::new(&env.kube, &namespace, "first");
    first.apply(&spec(&env.kafka.bootstrap(), 3, &[&shared]));
    first.wait_ready();
    let second = Group::new(&env.kube, &namespace, "second");
    second.apply(&spec(&env.kafka.bootstrap(), 3, &[&shared, &own]));
    let message = second.wait_for("Accepted", "False", "TopicConflict");
    let holder = format!("{shared} is held by the group {namespace}/first");
    assert!(message.contains(&holder), "{message}");
    second.wait_for("Stalled", "True", "ActionNeeded");

    // All or none: it does not even take the topic that nobody else wants.
    wait_polls(&operator, 2);
    assert_eq!(kafka_writes(&env.kafka, &[&own]), [""; 0]);
    assert_eq!(second.claim(), None);

    first.delete();
    wait_collected(&first);
    second.wait_ready();
    assert_eq!(listed(&remembered(&second), "holds"), [own.clone(), shared]);
    assert_eq!(env.kafka.partitions(&own), Some(3));
}

pub(crate) fn the_second_group_of_a_topic_takes_over_once_the_first_drops_it(env: &Env) {
    let namespace = env.namespace("dropped");
    let (shared, own) = (unique("shared"), unique("own"));
    let _operator = operator(env, &namespace, &[]);
    let first = Group::new(&env.kube, &namespace, "first");
    first.apply(&spec(&env.kafka.bootstrap(), 3, &[&shared, &own]));
    first.wait_ready();
    let second = Group::new(&env.kube, &namespace, "second");
    second.apply(&spec(&env.kafka.bootstrap(), 3, &[&shared]));
    second.wait_for("Accepted", "False", "TopicConflict");

    first.apply(&spec(&env.kafka.bootstrap(), 3, &[&own]));
    second.wait_ready();
    assert_eq!(listed(&remembered(&second), "holds"), [shared]);
    assert_eq!(listed(&remembered(&first), "holds"), [own]);
}

/// Waits until one of two groups is Ready and the other one in conflict with it; returns the name of the first.
fn winner(pair: &[Group<'_>; 2]) -> String {
    wait_for("one group to win", DEADLINE, || {
        let reasons = pair.each_ref().map(|group| {
            let accepted = condition(&group.status(), "Accepted");
            accepted["reason"].as_str().unwrap_or_default().to_owned()
        });
        match reasons.each_ref().map(String::as_str) {
            ["Accepted", "TopicConflict"] => Ok(pair[0].name.clone()),
            ["TopicConflict", "Accepted"] => Ok(pair[1].name.clone()),
            _ => Err(format!("{reasons:?}")),
        }
    })
}

/// Applies all pairs in one request each, as closely after one another as kubectl can.
fn apply_at_once(env: &Env, pairs: &[[Group<'_>; 2]], topics: &[String]) {
    let items: Vec<Value> = pairs
        .iter()
        .zip(topics)
        .flat_map(|(pair, topic)| {
            let spec = spec(&env.kafka.bootstrap(), 2, &[topic]);
            pair.each_ref().map(|group| {
                serde_json::from_str::<Value>(&group.manifest(&spec)).expect("a manifest is JSON")
            })
        })
        .collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    env.kube.apply_ok(&list.to_string());
}

pub(crate) fn of_two_groups_applied_at_once_one_wins_and_stays_the_winner(env: &Env) {
    let namespace = env.namespace("at-once");
    let topics: Vec<String> = (0..5).map(|_| unique("at-once")).collect();
    let pairs: Vec<[Group<'_>; 2]> = (0..5)
        .map(|n| ["a", "b"].map(|side| Group::new(&env.kube, &namespace, &format!("{side}{n}"))))
        .collect();
    // All are there when the operator starts: nothing but their order in its queue tells them apart.
    apply_at_once(env, &pairs, &topics);
    let mut first = operator(env, &namespace, &[]);
    let winners: Vec<String> = pairs.iter().map(winner).collect();
    assert!(first.stop().success());
    let second = operator(env, &namespace, &[]);
    wait_polls(&second, 2);
    let later: Vec<String> = pairs.iter().map(winner).collect();
    assert_eq!(later, winners);
}

pub(crate) fn two_installations_never_both_hold_a_topic(env: &Env) {
    let namespaces = [env.namespace("one"), env.namespace("two")];
    let operators = namespaces
        .each_ref()
        .map(|namespace| operator(env, namespace, &["--installation", namespace]));
    let topics: Vec<String> = (0..10).map(|_| unique("raced")).collect();
    let pairs: Vec<[Group<'_>; 2]> = (0..10)
        .map(|n| {
            namespaces
                .each_ref()
                .map(|namespace| Group::new(&env.kube, namespace, &format!("group{n}")))
        })
        .collect();
    apply_at_once(env, &pairs, &topics);
    for (pair, topic) in pairs.iter().zip(&topics) {
        winner(pair);
        wait_for("one claim to list it", DEADLINE, || {
            let holders = pair
                .iter()
                .filter(|group| listed(&remembered(group), "holds").contains(topic))
                .count();
            if holders == 1 {
                Ok(())
            } else {
                Err(format!("{holders} do"))
            }
        });
        assert_eq!(kafka_writes(&env.kafka, &[topic]), ["CREATE_TOPICS"]);
    }
    drop(operators);
}

pub(crate) fn a_group_that_adds_a_contested_topic_keeps_what_it_held(env: &Env) {
    let namespace = env.namespace("contested");
    let (theirs, ours) = (unique("theirs"), unique("ours"));
    let operator = operator(env, &namespace, &[]);
    let first = Group::new(&env.kube, &namespace, "first");
    first.apply(&spec(&env.kafka.bootstrap(), 3, &[&theirs]));
    first.wait_ready();
    let second = Group::new(&env.kube, &namespace, "second");
    second.apply(&spec(&env.kafka.bootstrap(), 3, &[&ours]));
    second.wait_ready();

    second.apply(&spec(&env.kafka.bootstrap(), 3, &[&ours, &theirs]));
    second.wait_for("Accepted", "False", "TopicConflict");
    assert_eq!(listed(&remembered(&second), "holds"), [ours.as_str()]);
    // It still reports on its topics, and they are still not anybody else's.
    env.kafka.grow_topic(&ours, 4);
    second.wait_for("PartitionsAligned", "False", "PartitionDrift");
    let third = Group::new(&env.kube, &namespace, "third");
    third.apply(&spec(&env.kafka.bootstrap(), 4, &[&ours]));
    let message = third.wait_for("Accepted", "False", "TopicConflict");
    assert!(
        message.contains(&format!("{namespace}/second")),
        "{message}"
    );

    second.apply(&spec(&env.kafka.bootstrap(), 4, &[&ours]));
    second.wait_ready();
    wait_polls(&operator, 2);
    assert_eq!(kafka_writes(&env.kafka, &[&theirs]), ["CREATE_TOPICS"]);
}

pub(crate) fn referenced_topics_are_shared(env: &Env) {
    let namespace = env.namespace("shared");
    let readers = env.namespace("readers");
    let topic = unique("shared");
    // One operator for both namespaces.
    let _operator = operator(env, &format!("{namespace},{readers}"), &[]);
    let owner = Group::new(&env.kube, &namespace, "owner");
    owner.apply(&spec(&env.kafka.bootstrap(), 3, &[&topic]));
    owner.wait_ready();
    for name in ["reader-1", "reader-2"] {
        let own = unique("own");
        let mut wanted = spec(&env.kafka.bootstrap(), None, &[&topic, &own]);
        wanted["topics"][0]["management"] = json!("Referenced");
        let reader = Group::new(&env.kube, &readers, name);
        reader.apply(&wanted);
        reader.wait_ready();
        assert_eq!(env.kafka.partitions(&own), Some(3));
        let claim = remembered(&reader);
        assert_eq!(listed(&claim, "references"), [topic.as_str()]);
        assert_eq!(listed(&claim, "holds"), [own]);
    }
}

pub(crate) fn a_claim_is_collected_only_when_its_group_is_gone_for_good(env: &Env) {
    let watched = env.namespace("collected");
    let unwatched = env.namespace("not-watched");
    let mut other = operator(env, &unwatched, &[]);
    let elsewhere = Group::new(&env.kube, &unwatched, "elsewhere");
    elsewhere.apply(&spec(&env.kafka.bootstrap(), 1, &[&unique("elsewhere")]));
    elsewhere.wait_ready();
    assert!(other.stop().success());
    // Nobody watches its namespace now, so nobody may take its claim, although its group is gone.
    elsewhere.delete();

    let _operator = operator(env, &watched, &SHORT);
    let topic = unique("back");
    let back = Group::new(&env.kube, &watched, "back");
    let wanted = spec(&env.kafka.bootstrap(), 1, &[&topic]);
    back.apply(&wanted);
    back.wait_ready();
    let before = remembered(&back);
    back.delete();
    back.apply(&wanted);
    back.wait_ready();

    // When the claim of a group that went last is collected, it would have been the turn of the others before.
    let last = Group::new(&env.kube, &watched, "last");
    last.apply(&spec(&env.kafka.bootstrap(), 1, &[&unique("last")]));
    last.wait_ready();
    last.delete();
    assert!(last.claim().is_some(), "the claim went with the group");
    wait_collected(&last);
    assert_eq!(remembered(&back)["holds"], before["holds"]);
    assert!(
        elsewhere.claim().is_some(),
        "a claim of a foreign namespace was collected"
    );
}

pub(crate) fn topics_stay_held_while_the_claim_outlives_its_group(env: &Env) {
    let namespace = env.namespace("outlives");
    let topic = unique("outlives");
    let operator = operator(env, &namespace, &[]);
    let first = Group::new(&env.kube, &namespace, "first");
    first.apply(&spec(&env.kafka.bootstrap(), 3, &[&topic]));
    first.wait_ready();
    first.delete();
    let second = Group::new(&env.kube, &namespace, "second");
    second.apply(&spec(&env.kafka.bootstrap(), 4, &[&topic]));
    let message = second.wait_for("Accepted", "False", "TopicConflict");
    assert!(message.contains(&format!("{namespace}/first")), "{message}");
    wait_polls(&operator, 2);
    assert_eq!(env.kafka.partitions(&topic), Some(3));
}

pub(crate) fn a_group_that_begins_to_observe_releases_its_topics(env: &Env) {
    let namespace = env.namespace("observes");
    let topic = unique("released");
    let _operator = operator(env, &namespace, &[]);
    let first = Group::new(&env.kube, &namespace, "first");
    let mut wanted = spec(&env.kafka.bootstrap(), 3, &[&topic]);
    first.apply(&wanted);
    first.wait_ready();
    let second = Group::new(&env.kube, &namespace, "second");
    second.apply(&wanted);
    second.wait_for("Accepted", "False", "TopicConflict");

    wanted["mode"] = json!("Observe");
    first.apply(&wanted);
    second.wait_ready();
    first.wait_ready();
    assert_eq!(listed(&remembered(&first), "holds"), [""; 0]);
    assert_eq!(listed(&remembered(&first), "references"), [topic.as_str()]);
    assert_eq!(listed(&remembered(&second), "holds"), [topic]);
}

/// A claim with everything at its bound: 100 topics with the longest names, growing to 20,000 partitions in all, with
/// the longest marks, locks and all consents that are remembered.
fn largest(namespace: &str) -> Value {
    let names: Vec<String> = (0..100).map(|n| format!("{n:0>249}")).collect();
    let each =
        |entry: &dyn Fn(&String) -> Value| -> Vec<Value> { names.iter().map(entry).collect() };
    let id = "x".repeat(22);
    let ends = vec!["1y2p0ij32e8e7"; 200].join(",");
    let (from, to) = (199, 200);
    json!({
        "apiVersion": "copartition.dev/v1alpha1",
        "kind": "CoPartitionClaim",
        "metadata": {"name": format!("{namespace}.largest")},
        "spec": {
            "installation": "i".repeat(63),
            "kubeSystemUid": "u".repeat(36),
            "group": {"namespace": namespace, "name": "largest", "uid": "u".repeat(36)},
            "clusterId": "c".repeat(253),
            "aliases": (0..20).map(|n| json!({"kind": "Strimzi", "namespace": format!("{n:0>63}"), "name": format!("{n:0>253}")}))
                .collect::<Vec<_>>(),
            "recordedPartitions": from,
            "holds": each(&|name| json!({
                "name": name, "topicId": id, "counts": [from, to], "created": true, "holdsRecords": true,
                "since": "2026-11-30T00:00:00.000001Z",
            })),
            "intents": each(&|name| json!({"topic": name, "topicId": id, "from": from, "to": to, "consented": true})),
            "spentConsents": (0..1000).map(|n| json!({"topic": names[n % 100], "from": n, "to": n + 1, "topicId": id}))
                .collect::<Vec<_>>(),
            "spentDataLoss": (0..50).map(|n| json!({"topic": names[0], "key": format!("{n:0>253}")})).collect::<Vec<_>>(),
            "growthMarks": each(&|name| json!({
                "topic": name, "topicId": id, "from": from, "to": to, "grownAt": "2026-11-30T00:00:00.000001Z",
                "before": ends, "after": ends,
            })),
            "locks": each(&|name| json!({"topic": name, "clusterId": "c".repeat(253)})),
        },
    })
}

pub(crate) fn the_largest_claim_there_can_be_is_stored_and_read(env: &Env) {
    let namespace = env.namespace("largest");
    let mut claim = largest(&namespace);
    let write = |verb: &str, claim: &Value| {
        env.kube
            .kubectl_with_input_ok(&[verb, "-f", "-"], &claim.to_string());
    };
    let operator = operator(env, &namespace, &[]);
    write("create", &claim);
    let size = claim.to_string().len();
    assert!(size > 1_000_000, "{size} bytes are not the largest");
    // An update carries the bookkeeping of the API server as well.
    claim["spec"]["recordedPartitions"] = json!(200);
    write("replace", &claim);
    let name = format!("{namespace}.largest");
    let stored = env.kube.get_json(&["copartitionclaim", &name]);
    assert_eq!(stored["spec"], claim["spec"]);
    // The watch delivers it: a topic of it is nobody else's.
    let other = Group::new(&env.kube, &namespace, "other");
    let held = claim["spec"]["holds"][7]["name"].as_str().expect("a name");
    let mut on_its_cluster = claim.clone();
    on_its_cluster["spec"]["clusterId"] = json!(env.kafka.id());
    write("replace", &on_its_cluster);
    other.apply(&spec(&env.kafka.bootstrap(), 1, &[held]));
    let message = other.wait_for("Accepted", "False", "TopicConflict");
    assert!(
        message.contains(&format!("{namespace}/largest")),
        "{message}"
    );
    drop(operator);
}
