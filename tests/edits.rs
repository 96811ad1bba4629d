//! A group as a hurried engineer edits it, by every way that kubectl has: what the API server refuses, what it lets
//! through, and what stands then. docs/drift.md tells it as a table.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use serde_json::{Value, json};

use crate::env::{Env, text, unique};
use crate::group::{Group, condition, consent};
use crate::scene::{Scene, names};

const ADD_CONSENT: &str = "to accept that, add spec.acceptKeyMovement: {topics: [every Managed topic of one live count], \
                           fromPartitions: that count (status.topics[].partitions), toPartitions: the new spec.partitions}";
const NO_LOWER: &str =
    "Kafka cannot remove partitions: write a spec.partitions of status.recordedPartitions or more";
const NO_UNSET: &str =
    "spec.partitions cannot be unset once it is set; keep the value that the topics have";

fn spec(partitions: impl Into<Option<i32>>, topics: &[&str]) -> Value {
    crate::group::spec("kafka.example:9092", partitions, topics)
}

/// A group at 6 that an operator has seen aligned, with records on `a` and `b`.
fn seeded<'a>(env: &'a Env, prefix: &str) -> Group<'a> {
    let group = Group::new(&env.kube, &env.namespace(prefix), "market-data");
    group.apply(&spec(6, &["a", "b"]));
    group.patch_status(&json!({
        "recordedPartitions": 6,
        "holdsRecords": true,
        "topics": [
            {"name": "a", "verdict": "Aligned", "partitions": 6},
            {"name": "b", "verdict": "Aligned", "partitions": 6},
        ],
    }));
    group
}

fn denied(output: &Output, why: &str) {
    let said = text(output);
    assert!(!output.status.success(), "it passes: {said}");
    assert!(said.contains(why), "{why:?} is not in {said}");
}

fn passes(output: &Output) {
    assert!(output.status.success(), "{}", text(output));
}

/// `kubectl edit` with an editor that runs this sed script: whether it was taken, and what the editor showed at last. A
/// refusal opens the editor once more, with the reason on top.
fn edit(env: &Env, group: &Group<'_>, script: &str) -> (bool, String) {
    let folder = env.root().join(unique("edit"));
    fs::create_dir_all(&folder).expect("a folder");
    let editor = folder.join("editor");
    fs::write(
        &editor,
        format!("#!/bin/sh\nexec sed -i '{script}' \"$1\"\n"),
    )
    .expect("an editor");
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).expect("an editor");
    let args = ["edit", "cptg", &group.name, "-n", &group.namespace];
    let output = env
        .kube
        .kubectl_command(&args)
        .env("KUBE_EDITOR", &editor)
        // What is refused is kept in a file that kubectl never removes.
        .env("TMPDIR", &folder)
        .output()
        .expect("cannot run kubectl");
    let files = fs::read_dir(&folder).expect("the folder");
    let kept = files.map(|file| file.expect("a file").path());
    let kept = kept.filter(|file| *file != editor);
    let shown: String = kept
        .map(|file| fs::read_to_string(file).expect("what was refused"))
        .collect();
    (output.status.success(), shown + &text(&output))
}

pub(crate) fn kubectl_edit_meets_the_rules(env: &Env) {
    let group = seeded(env, "edit");
    let before = group.get()["spec"].clone();
    let refused = |(taken, said): (bool, String), why: &str| {
        assert!(!taken && said.contains(why), "{why:?} is not in {said}");
    };
    let to = |count: &str| format!("s/^  partitions: 6$/  partitions: {count}/");
    refused(edit(env, &group, &to("8")), ADD_CONSENT);
    refused(edit(env, &group, &to("5")), NO_LOWER);
    refused(edit(env, &group, "/^  partitions: 6$/d"), NO_UNSET);
    assert_eq!(group.get()["spec"], before);
    let accepted = "s/^  partitions: 6$/  partitions: 8\\n  acceptKeyMovement: {topics: [a, b], fromPartitions: 6, toPartitions: 8}/";
    let (taken, said) = edit(env, &group, accepted);
    assert!(taken, "{said}");
    assert_eq!(group.get()["spec"]["partitions"], 8);
}

pub(crate) fn server_side_apply_meets_the_rules_with_and_without_force(env: &Env) {
    let group = seeded(env, "managers");
    let apply = |manager: &str, spec: &Value, more: &[&str]| {
        let manager = format!("--field-manager={manager}");
        let args = [&["apply", "--server-side", &manager, "-f", "-"], more].concat();
        env.kube.kubectl_with_input(&args, &group.manifest(spec))
    };
    let force: &[&str] = &["--force-conflicts"];
    let platform = spec(6, &["a", "b"]);
    passes(&apply("platform", &platform, force));
    let count = |count: i32| json!({"partitions": count});
    // Another team's manager: the conflict first, and with force the rule.
    denied(&apply("team", &count(8), &[]), ".spec.partitions");
    denied(&apply("team", &count(8), force), ADD_CONSENT);
    denied(&apply("team", &count(5), force), NO_LOWER);
    // A consent of its own conflicts with nobody's; it does not make the platform's count another one.
    let mut accepted = count(6);
    accepted["acceptKeyMovement"] = consent(&["a", "b"], 6, 8);
    passes(&apply("team", &accepted, &[]));
    // The platform lets go of the count: the team still owns it, so it stays. When the last owner lets go it would be unset.
    passes(&apply("platform", &spec(None, &["a", "b"]), &[]));
    assert_eq!(group.get()["spec"]["partitions"], 6);
    let mut without = accepted.clone();
    without["partitions"] = Value::Null;
    denied(&apply("team", &without, &[]), NO_UNSET);
    accepted["partitions"] = json!(8);
    passes(&apply("team", &accepted, &[]));
    let live = group.get()["spec"].clone();
    assert_eq!(
        (&live["partitions"], &live["topics"]),
        (&json!(8), &platform["topics"])
    );
}

/// Which partition a key goes to is decided by the producers; what the spec says of it moves nothing.
pub(crate) fn another_key_scheme_needs_no_consent(env: &Env) {
    let scene = Scene::new(env, "rekeyed");
    let [a, b] = names(["updates", "notes"]);
    for topic in [&a, &b] {
        scene.topic_with_records(topic, 6);
    }
    let group = scene.group("market-data");
    let mut wanted = scene.spec(6, &[&a, &b]);
    group.apply(&wanted);
    group.wait_ready();
    for scheme in [
        json!({"encoding": "utf8", "partitioner": "crc32"}),
        json!({"encoding": "json_string", "partitioner": "murmur2"}),
        Value::Null,
    ] {
        wanted["keyScheme"] = scheme.clone();
        wanted["topics"][0]["keyScheme"] = Value::Null;
        group.apply(&wanted);
        group.wait_ready();
        let scheme_of = |status: &Value| status["layout"]["scheme"].clone();
        let expected = scheme.as_object().map(|scheme| {
            let word = |field: &str| scheme[field].as_str().unwrap_or_default().to_owned();
            json!(format!("{}/{}", word("encoding"), word("partitioner")))
        });
        group.wait_until("the layout of the new scheme", |status| {
            scheme_of(status) == expected.clone().unwrap_or(Value::Null)
        });
    }
    scene.assert_never_writes(&[&a, &b]);
}

/// What no rule can see, since a creation has no old state: the operator holds the line by what Kafka shows.
pub(crate) fn a_group_that_is_created_again_with_other_numbers_moves_nothing(env: &Env) {
    let scene = Scene::new(env, "again");
    let [a, b] = names(["updates", "notes"]);
    for topic in [&a, &b] {
        scene.topic_with_records(topic, 6);
    }
    let group = scene.group("market-data");
    let six = scene.spec(6, &[&a, &b]);
    let eight = scene.spec(8, &[&a, &b]);
    group.apply(&six);
    group.wait_ready();
    passes(&group.replace_force(&eight));
    let said = group.wait_for("PartitionsAligned", "False", "GrowthBlocked");
    assert!(
        said.contains("set spec.acceptKeyMovement: {topics: ["),
        "{said}"
    );
    group.delete();
    group.apply(&eight);
    group.wait_for("PartitionsAligned", "False", "GrowthBlocked");
    // A lower count is above what Kafka can do: nothing happens but a verdict.
    passes(&group.replace_force(&scene.spec(4, &[&a, &b])));
    group.wait_for("PartitionsAligned", "False", "PartitionDrift");
    scene.assert_never_writes(&[&a, &b]);
    assert_eq!(condition(&group.status(), "Ready")["status"], "False");
}
