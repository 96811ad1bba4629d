//! What the API server refuses by itself, in words that say what to write instead; and what it must never refuse.

use serde_json::{Value, json};

use crate::env::{ControlPlane, Env, text};
use crate::group::{Group, consent};

/// A spec of this count (or none) and these topics, without anything that the rules do not look at.
fn spec(partitions: impl Into<Option<i32>>, topics: &[&str]) -> Value {
    let mut spec = crate::group::spec("kafka.example:9092", partitions, topics);
    spec["sampleKeys"] = json!([]);
    spec
}

/// A status in which topics have these counts.
fn status(recorded: impl Into<Option<i32>>, holds_records: bool, topics: &[(&str, i32)]) -> Value {
    let topics: Vec<_> = topics
        .iter()
        .map(|(name, count)| json!({"name": name, "verdict": "Aligned", "partitions": count}))
        .collect();
    json!({"recordedPartitions": recorded.into(), "holdsRecords": holds_records, "topics": topics})
}

/// A group of this spec and, as if an operator had written it, this status.
fn seeded<'a>(kube: &'a ControlPlane, namespace: &str, spec: &Value, status: &Value) -> Group<'a> {
    let group = Group::new(kube, namespace, &crate::env::unique("group"));
    group.apply(spec);
    group.patch_status(status);
    group
}

fn assert_denied(group: &Group<'_>, spec: &Value, why: &str) {
    let output = group.try_apply(spec);
    let said = text(&output);
    assert!(!output.status.success(), "it passes: {spec}");
    assert!(said.contains(why), "{why:?} is not in {said}");
}

/// A spec (or status) in which the field at a path such as `/kafka/inline` has another value.
fn with(mut value: Value, path: &str, field: Value) -> Value {
    let (parent, key) = path.rsplit_once('/').expect("a path");
    value.pointer_mut(parent).expect("a path that exists")[key] = field;
    value
}

pub(crate) fn a_spec_that_is_wrong_by_itself_is_denied(env: &Env) {
    let namespace = env.namespace("wrong");
    let group = Group::new(&env.kube, &namespace, "market-data");
    let good = || spec(6, &["a", "b"]);
    let named = |name: &str| spec(6, &["fine", name]);
    let one_connection = "give exactly one of kafka.connectionRef and kafka.inline";
    let many: Vec<String> = (0..101).map(|number| format!("t{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let cases = [
        (
            with(good(), "/kafka/connectionRef", json!({"name": "prod"})),
            one_connection,
        ),
        (with(good(), "/kafka", json!({})), one_connection),
        (
            named("."),
            "Kafka does not allow the topic names '.' and '..'",
        ),
        (
            named(".."),
            "Kafka does not allow the topic names '.' and '..'",
        ),
        (
            named("__consumer_offsets"),
            "names that begin with '__' are Kafka's own; name another topic",
        ),
        (
            with(
                good(),
                "/keyScheme",
                json!({"encoding": "utf8", "partitioner": "custom"}),
            ),
            "give a name exactly if the partitioner is custom",
        ),
        (
            with(
                good(),
                "/topics/0/keyScheme",
                json!({"encoding": "utf8", "partitioner": "murmur2", "name": "mine"}),
            ),
            "give a name exactly if the partitioner is custom",
        ),
        (named("two words"), "^[a-zA-Z0-9._-]+$"),
        (named("börse"), "^[a-zA-Z0-9._-]+$"),
        (named(""), "spec.topics[1].name"),
        (named(&"x".repeat(250)), "spec.topics[1].name: Too long"),
        (
            spec(6, &["a.b", "a_b"]),
            "two topic names differ only in '.' and '_', which Kafka refuses; rename one",
        ),
        (spec(6, &["a", "a"]), "Duplicate value"),
        (spec(6, &[]), "spec.topics"),
        (spec(6, &many), "spec.topics: Too many"),
        (
            spec(10_001, &["a", "b"]),
            "topics x partitions of one group may be at most 20000; split the group or lower spec.partitions",
        ),
        (spec(0, &["a"]), "spec.partitions"),
        (
            with(good(), "/mode", json!("Enforced")),
            "supported values: \"Enforce\", \"Observe\"",
        ),
        (
            with(good(), "/topics/0/config", json!({"retention.ms": 1})),
            "spec.topics[0].config.retention.ms",
        ),
        (
            with(good(), "/partition", json!(6)),
            "unknown field \"spec.partition\"",
        ),
        (
            with(
                good(),
                "/consumerGroups",
                json!([{"groupId": "a", "prefix": "b"}]),
            ),
            "give exactly one of groupId and prefix",
        ),
    ];
    for (spec, why) in cases {
        assert_denied(&group, &spec, why);
    }
    // The largest that is allowed.
    group.apply(&spec(10_000, &["a", "b"]));
}

pub(crate) fn a_name_that_leaves_no_room_for_a_claim_is_denied(env: &Env) {
    let namespace = env.namespace("long");
    let named = |length| Group::new(&env.kube, &namespace, &"n".repeat(length));
    assert_denied(
        &named(190),
        &spec(6, &["a"]),
        "metadata.name may have at most 189 characters",
    );
    named(189).apply(&spec(6, &["a"]));
}

pub(crate) fn a_count_can_be_neither_unset_nor_lowered(env: &Env) {
    let namespace = env.namespace("lower");
    let seen = status(6, true, &[("a", 6), ("b", 6)]);
    let group = seeded(&env.kube, &namespace, &spec(6, &["a", "b"]), &seen);
    assert_denied(
        &group,
        &spec(None, &["a", "b"]),
        "spec.partitions cannot be unset once it is set",
    );
    let lower = "Kafka cannot remove partitions: write a spec.partitions of status.recordedPartitions or more";
    assert_denied(&group, &spec(5, &["a", "b"]), lower);
    // A count that was unset and is now written down: the one that the topics have, and none below.
    let group = seeded(&env.kube, &namespace, &spec(None, &["a", "b"]), &seen);
    assert_denied(&group, &spec(5, &["a", "b"]), lower);
    assert_denied(&group, &spec(8, &["a", "b"]), "add spec.acceptKeyMovement");
    group.apply(&spec(6, &["a", "b"]));
    // A rise that was asked for and refused can be taken back.
    let group = seeded(&env.kube, &namespace, &spec(8, &["a", "b"]), &seen);
    assert_denied(&group, &spec(5, &["a", "b"]), lower);
    group.apply(&spec(6, &["a", "b"]));
}

pub(crate) fn a_rise_without_a_matching_consent_is_denied(env: &Env) {
    let namespace = env.namespace("rise");
    let seen = status(6, true, &[("a", 6), ("b", 6)]);
    let group = seeded(&env.kube, &namespace, &spec(6, &["a", "b"]), &seen);
    let rise = |consent: Value| with(spec(8, &["a", "b"]), "/acceptKeyMovement", consent);
    let why = "raising spec.partitions moves keys of topics that hold records; to accept that, add spec.acceptKeyMovement: \
               {topics: [every Managed topic of one live count], fromPartitions: that count (status.topics[].partitions), \
               toPartitions: the new spec.partitions}";
    assert_denied(&group, &spec(8, &["a", "b"]), why);
    assert_denied(&group, &rise(consent(&["a"], 6, 8)), why);
    assert_denied(&group, &rise(consent(&["a", "c"], 6, 8)), why);
    assert_denied(&group, &rise(consent(&["a", "b"], 5, 8)), why);
    assert_denied(&group, &rise(consent(&["a", "b"], 6, 9)), why);
    // A topic that comes with the same commit does not make up for one that is left out.
    let more = with(
        spec(8, &["a", "b", "c"]),
        "/acceptKeyMovement",
        consent(&["a", "c"], 6, 8),
    );
    assert_denied(&group, &more, why);
    // Nobody knows yet whether it holds records.
    let unknown = with(seen, "/holdsRecords", Value::Null);
    let group = seeded(&env.kube, &namespace, &spec(6, &["a", "b"]), &unknown);
    assert_denied(&group, &spec(8, &["a", "b"]), why);
    group.apply(&rise(consent(&["a", "b"], 6, 8)));
}

pub(crate) fn a_rise_that_moves_no_keys_unasked_passes(env: &Env) {
    let namespace = env.namespace("passes");
    let kube = &env.kube;
    let six = spec(6, &["a", "b"]);
    let eight = spec(8, &["a", "b"]);
    let with_records = status(6, true, &[("a", 6), ("b", 6)]);
    let consented = with(
        eight.clone(),
        "/acceptKeyMovement",
        consent(&["a", "b"], 6, 8),
    );
    let observing = with(eight.clone(), "/mode", json!("Observe"));
    // Nothing of `b` is this group's to move.
    let referenced = with(
        with_records.clone(),
        "/topics",
        json!([
            {"name": "a", "verdict": "Aligned", "partitions": 8},
            {"name": "b", "verdict": "WaitingForOwner", "partitions": 6, "management": "Referenced"},
        ]),
    );
    let missing = with(
        with_records.clone(),
        "/topics",
        json!([{"name": "a", "verdict": "Missing"}, {"name": "b", "verdict": "Missing"}]),
    );
    let drifted = status(6, true, &[("a", 8), ("b", 8)]);
    let cases = [
        ("with a matching consent", &with_records, &consented),
        (
            "without records",
            &status(6, false, &[("a", 6), ("b", 6)]),
            &eight,
        ),
        ("that is only observed", &with_records, &observing),
        ("with only Referenced topics below", &referenced, &eight),
        ("before any topic exists", &missing, &eight),
        ("to the count that all topics have by now", &drifted, &eight),
        ("before anybody looked", &json!({}), &eight),
    ];
    for (name, seen, wanted) in cases {
        let output = seeded(kube, &namespace, &six, seen).try_apply(wanted);
        assert!(output.status.success(), "a rise {name}: {}", text(&output));
    }
}

pub(crate) fn three_different_counts_are_brought_together_in_two_commits(env: &Env) {
    let namespace = env.namespace("two-commits");
    let topics = ["a", "b", "c"];
    let seen = status(6, true, &[("a", 8), ("b", 6), ("c", 5)]);
    let group = seeded(&env.kube, &namespace, &spec(6, &topics), &seen);
    let eight = |consent: Value| with(spec(8, &topics), "/acceptKeyMovement", consent);
    assert_denied(&group, &spec(8, &topics), "add spec.acceptKeyMovement");
    group.apply(&eight(consent(&["b"], 6, 8)));
    group.patch_status(&status(6, true, &[("a", 8), ("b", 8), ("c", 5)]));
    group.apply(&eight(consent(&["c"], 5, 8)));
}

/// A rule that compared spec with status on every write would refuse all of these once the two disagree.
pub(crate) fn labels_finalizers_and_status_can_be_written_in_every_state(env: &Env) {
    let namespace = env.namespace("states");
    let refused = json!({"conditions": [{
        "type": "Accepted", "status": "False", "reason": "InvalidSpec", "message": "redis: not implemented",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }]});
    let states = [
        ("unseen", spec(6, &["a", "b"]), json!({})),
        (
            "aligned",
            spec(6, &["a", "b"]),
            status(6, true, &[("a", 6), ("b", 6)]),
        ),
        (
            "drifted",
            spec(6, &["a", "b"]),
            status(6, true, &[("a", 8), ("b", 6)]),
        ),
        (
            "blocked",
            spec(6, &["a", "b"]),
            status(None, true, &[("a", 4), ("b", 4)]),
        ),
        (
            "spec above status",
            spec(6, &["a", "b"]),
            status(4, true, &[("a", 4), ("b", 4)]),
        ),
        (
            "spec below status",
            spec(6, &["a", "b"]),
            status(8, true, &[("a", 8), ("b", 8)]),
        ),
        (
            "count unset",
            spec(None, &["a", "b"]),
            status(8, true, &[("a", 8), ("b", 6)]),
        ),
        ("refused", spec(6, &["a", "b"]), refused),
    ];
    for (state, wanted, seen) in states {
        let group = seeded(&env.kube, &namespace, &wanted, &seen);
        let finalizers = |list: Value| json!({"metadata": {"finalizers": list}}).to_string();
        let held = finalizers(json!(["copartition.dev/test"]));
        let free = finalizers(Value::Null);
        let writes: [(&str, Vec<&str>); 4] = [
            ("label", vec!["team=trading"]),
            ("annotate", vec!["copartition.dev/paused=true"]),
            ("patch", vec!["--type=merge", "-p", &held]),
            ("patch", vec!["--type=merge", "-p", &free]),
        ];
        for (verb, args) in writes {
            let output = group.kubectl(verb, &args);
            assert!(
                output.status.success(),
                "{state}, {verb} {args:?}: {}",
                text(&output)
            );
        }
        group.patch_status(&json!({"observedGeneration": 1}));
        // And what does not touch the count can be edited.
        group.apply(&with(wanted, "/sampleKeys", json!(["BBCA"])));
        group.delete();
    }
}
