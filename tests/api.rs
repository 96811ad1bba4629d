//! The resource definitions and what users do with kubectl, on a real API server.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::env::{Env, text, unique};
use crate::group::{Group, condition, consent, spec};
use crate::scene::{Scene, names};

const BROKER: &str = "kafka.example:9092";

/// A group in a namespace that no operator watches.
fn unwatched<'a>(env: &'a Env, prefix: &str) -> Group<'a> {
    Group::new(&env.kube, &env.namespace(prefix), "market-data")
}

/// A group at 6 that an operator has seen aligned, with records on `a` and `b`.
fn seeded<'a>(env: &'a Env, prefix: &str) -> Group<'a> {
    let group = unwatched(env, prefix);
    group.apply(&spec(BROKER, 6, &["a", "b"]));
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

/// A way to bring a spec to the API server.
type Write<'a> = &'a dyn Fn(&Value) -> Output;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crds")
}

pub(crate) fn the_files_in_crds_are_what_the_operator_prints(env: &Env) {
    let fresh = env.root().join(unique("crds"));
    fs::create_dir_all(&fresh).expect("a folder");
    let operator = || Command::new(env!("CARGO_BIN_EXE_copartition-operator"));
    let output = operator()
        .args(["crd", "--output-dir"])
        .arg(&fresh)
        .output()
        .expect("cannot run the operator");
    assert!(output.status.success(), "{}", text(&output));
    let all = operator()
        .arg("crd")
        .output()
        .expect("cannot run the operator");
    let all = text(&all);
    let mut count = 0;
    for entry in fs::read_dir(folder()).expect("crds/") {
        let entry = entry.expect("a file in crds/");
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_else(|e| e.to_string());
        let kept = read(&entry.path());
        assert_eq!(kept, read(&fresh.join(entry.file_name())), "{entry:?}");
        assert!(all.contains(&kept), "{entry:?} without a folder");
        count += 1;
    }
    assert_eq!(count, fs::read_dir(&fresh).expect("the folder").count());
}

/// What a GitOps tool compares: the file in Git and the live object.
pub(crate) fn the_api_server_keeps_the_resource_definitions_as_they_are(env: &Env) {
    for entry in fs::read_dir(folder()).expect("crds/") {
        let path = entry.expect("a file in crds/").path();
        let yaml = fs::read_to_string(&path).expect("a file in crds/");
        let file: Value = serde_yaml::from_str(&yaml).expect("YAML");
        let name = file["metadata"]["name"].as_str().expect("a name");
        let mut live = env.kube.get_json(&["crd", name])["spec"].take();
        // The server fills these two in for everybody, and GitOps tools know that.
        let added = [
            live.as_object_mut()
                .and_then(|spec| spec.remove("conversion")),
            live["names"]
                .as_object_mut()
                .and_then(|names| names.remove("listKind")),
        ];
        assert!(added.iter().all(Option::is_some), "{added:?}");
        assert_eq!(
            differences("spec", &file["spec"], &live),
            Vec::<String>::new()
        );
    }
}

/// Where two values differ, as paths: the whole of a schema says nothing.
fn differences(path: &str, file: &Value, live: &Value) -> Vec<String> {
    match (file, live) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            keys.iter()
                .flat_map(|key| differences(&format!("{path}.{key}"), &file[*key], &live[*key]))
                .collect()
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => (0..a.len())
            .flat_map(|i| differences(&format!("{path}[{i}]"), &file[i], &live[i]))
            .collect(),
        _ if file == live => Vec::new(),
        _ => vec![format!("{path}: {file} in the file, {live} live")],
    }
}

pub(crate) fn a_group_that_nobody_has_looked_at_is_pending(env: &Env) {
    let group = unwatched(env, "pending");
    group.apply(&spec(BROKER, 6, &["a"]));
    let ready = condition(&group.status(), "Ready");
    assert_eq!(ready["status"], "Unknown", "{ready}");
    assert_eq!(ready["reason"], "Pending", "{ready}");
    let output = group.kubectl("wait", &["--for=condition=Ready", "--timeout=0s"]);
    assert!(!output.status.success(), "a false green");
}

pub(crate) fn a_dry_run_on_the_server_gives_the_denial(env: &Env) {
    let group = seeded(env, "dry-run");
    let dry_run = |spec: &Value| {
        let args = ["apply", "--dry-run=server", "-f", "-"];
        env.kube.kubectl_with_input(&args, &group.manifest(spec))
    };
    let before = group.resource_version();
    let mut wanted = spec(BROKER, 8, &["a", "b"]);
    assert_denied(&dry_run(&wanted), "add spec.acceptKeyMovement");
    wanted["acceptKeyMovement"] = consent(&["a", "b"], 6, 8);
    let output = dry_run(&wanted);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(group.resource_version(), before);
}

fn assert_denied(output: &Output, why: &str) {
    let said = text(output);
    assert!(!output.status.success(), "it passes: {said}");
    assert!(said.contains(why), "{why:?} is not in {said}");
}

pub(crate) fn every_way_to_write_meets_the_same_rules(env: &Env) {
    let group = seeded(env, "verbs");
    let with =
        |args: &[&str], spec: &Value| env.kube.kubectl_with_input(args, &group.manifest(spec));
    let patch = |spec: &Value| {
        let patch = json!({"spec": spec}).to_string();
        group.kubectl("patch", &["--type=merge", "-p", &patch])
    };
    let server_side = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
    let ways: [(&str, Write<'_>); 4] = [
        ("apply", &|spec| with(&["apply", "-f", "-"], spec)),
        ("replace", &|spec| with(&["replace", "-f", "-"], spec)),
        ("patch", &patch),
        ("server-side apply", &|spec| with(&server_side, spec)),
    ];
    for (name, write) in ways {
        assert_denied(
            &write(&spec(BROKER, 8, &["a", "b"])),
            "add spec.acceptKeyMovement",
        );
        assert_denied(
            &write(&spec(BROKER, 5, &["a", "b"])),
            "Kafka cannot remove partitions",
        );
        let mut harmless = spec(BROKER, 6, &["a", "b"]);
        harmless["sampleKeys"] = json!([name]);
        let output = write(&harmless);
        assert!(output.status.success(), "{name}: {}", text(&output));
        assert_eq!(group.get()["spec"]["sampleKeys"], json!([name]));
    }
    // A forced replacement is a creation: it has no old state to compare with, so the operator has to hold the line.
    let output = group.replace_force(&spec(BROKER, 8, &["a", "b"]));
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(condition(&group.status(), "Ready")["reason"], "Pending");
}

pub(crate) fn two_managers_own_different_topics_of_one_group(env: &Env) {
    let group = unwatched(env, "managers");
    let apply = |manager: &str, spec: &Value, more: &[&str]| {
        let manager = format!("--field-manager={manager}");
        let args = [&["apply", "--server-side", &manager, "-f", "-"], more].concat();
        env.kube.kubectl_with_input(&args, &group.manifest(spec))
    };
    let ok = |output: Output| assert!(output.status.success(), "{}", text(&output));
    let mut platform = spec(BROKER, 6, &["a", "b"]);
    platform["topics"][0]["config"] = json!({"retention.ms": "1"});
    platform["acceptKeyMovement"] = consent(&["a"], 4, 6);
    ok(apply("platform", &platform, &[]));
    let team = json!({"topics": [{"name": "b", "config": {"cleanup.policy": "compact"}}]});
    ok(apply("team", &team, &[]));
    platform["topics"][0]["config"] = json!({"retention.ms": "2"});
    ok(apply("platform", &platform, &[]));
    assert_eq!(
        group.get()["spec"]["topics"],
        json!([
            {"name": "a", "config": {"retention.ms": "2"}},
            {"name": "b", "config": {"cleanup.policy": "compact"}},
        ])
    );

    let mut contested = platform.clone();
    contested["topics"][1]["config"] = json!({"cleanup.policy": "delete"});
    assert_denied(
        &apply("platform", &contested, &[]),
        ".spec.topics[name=\"b\"].config.cleanup.policy",
    );

    // The connection and the consent have one owner each: half of one and half of the other would make no sense.
    let connection = json!({"kafka": {"connectionRef": {"name": "prod"}}});
    assert_denied(&apply("team", &connection, &[]), ".spec.kafka");
    let accepted = json!({"acceptKeyMovement": consent(&["b"], 5, 6)});
    assert_denied(&apply("team", &accepted, &[]), ".spec.acceptKeyMovement");
    let mut both = accepted.clone();
    both["kafka"] = connection["kafka"].clone();
    ok(apply("team", &both, &["--force-conflicts"]));
    let live = group.get()["spec"].clone();
    assert_eq!(live["kafka"], both["kafka"], "replaced as a whole");
    assert_eq!(live["acceptKeyMovement"], both["acceptKeyMovement"]);
    // What the team no longer applies goes; the topic is the platform's as well and stays.
    let b = live["topics"].as_array().and_then(|topics| topics.get(1));
    assert_eq!(b, Some(&json!({"name": "b"})));
}

pub(crate) fn nothing_but_the_status_is_written_to_a_group(env: &Env) {
    let scene = Scene::new(env, "untouched");
    let [a, b] = names(["updates", "notes"]);
    // As little as possible, so that a default would show.
    let wanted = json!({
        "kafka": {"inline": {"bootstrapServers": [env.kafka.bootstrap()]}},
        "partitions": 6,
        "topics": [{"name": a}, {"name": b}],
    });
    let group = scene.group("market-data");
    let mut object: Value = serde_json::from_str(&group.manifest(&wanted)).expect("JSON");
    object["metadata"]["labels"] = json!({"team": "trading"});
    env.kube.apply_ok(&object.to_string());
    group.wait_ready();
    let live = env.kube.get_json(&[
        "cptg",
        "market-data",
        "-n",
        &scene.namespace,
        "--show-managed-fields",
    ]);
    assert_eq!(live["spec"], wanted);
    let metadata = &live["metadata"];
    assert_eq!(metadata["labels"], json!({"team": "trading"}));
    assert_eq!(metadata["finalizers"], Value::Null);
    assert_eq!(metadata["generation"], 1);
    let annotations: Vec<_> = metadata["annotations"]
        .as_object()
        .into_iter()
        .flatten()
        .collect();
    assert!(
        annotations
            .iter()
            .all(|(key, _)| key.starts_with("kubectl.")),
        "{annotations:?}"
    );
    let entries = metadata["managedFields"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let (by_kubectl, by_operator): (Vec<_>, Vec<_>) = entries
        .into_iter()
        .partition(|entry| entry["manager"] == "kubectl-client-side-apply");
    assert_eq!(by_kubectl.len(), 1, "{by_kubectl:?}");
    assert_eq!(by_operator.len(), 1, "{by_operator:?}");
    let operator = &by_operator[0];
    assert_eq!(operator["manager"], "copartition-operator");
    assert_eq!(operator["subresource"], "status");
    let fields: Vec<_> = operator["fieldsV1"]
        .as_object()
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(fields.len(), 1, "{fields:?}");
    assert_eq!(fields[0].0, "f:status");
}
