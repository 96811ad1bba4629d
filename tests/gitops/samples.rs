//! The health scripts with their tests and samples, in the form of Argo CD's built-in set. No tests here.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use serde_json::{Value, json};

use crate::env::{text, tool};
use crate::group::condition;

/// The health script of a kind; its test and its samples lie beside it.
pub(super) fn script(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/argocd/resource_customizations/copartition.dev")
        .join(kind)
        .join("health.lua")
}

/// Argo CD's health of each object: `status` and `message`.
pub(super) fn health(kind: &str, objects: &[Value]) -> Vec<Value> {
    judge(&["health", &script(kind).to_string_lossy()], objects)
}

/// kstatus' status of each object: `status` and `message`.
pub(super) fn kstatus(objects: &[Value]) -> Vec<Value> {
    judge(&["kstatus"], objects)
}

fn judge(args: &[&str], objects: &[Value]) -> Vec<Value> {
    let mut child = Command::new(tool("judge"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cannot run the judge");
    let input = Value::from(objects.to_vec()).to_string();
    // If it ends without reading everything, its exit status says why.
    let _ = child
        .stdin
        .take()
        .map(|mut stdin| stdin.write_all(input.as_bytes()));
    let output = child
        .wait_with_output()
        .expect("cannot read what the judge says");
    assert!(output.status.success(), "{}", text(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// An entry of health_test.yaml.
#[derive(Debug)]
pub(super) struct Test {
    pub(super) path: String,
    pub(super) object: Value,
    pub(super) wanted: Value,
}

pub(super) fn tested(kind: &str) -> Vec<Test> {
    let folder = script(kind).parent().expect("a folder").to_owned();
    let read = |path: &str| -> Value {
        let path = folder.join(path);
        let yaml = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        serde_yaml::from_str(&yaml).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let tests = read("health_test.yaml")["tests"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    tests
        .into_iter()
        .map(|test| {
            let path = test["inputPath"].as_str().expect("inputPath").to_owned();
            Test {
                object: read(&path),
                wanted: test["healthStatus"].clone(),
                path,
            }
        })
        .collect()
}

/// Compares what decides about health in a committed sample with what a real object says. With
/// COPARTITION_WRITE_SAMPLES=1 the real one becomes the sample.
pub(super) fn keep_or_compare(kind: &str, name: &str, object: &Value) {
    let path = script(kind)
        .with_file_name("testdata")
        .join(format!("{name}.yaml"));
    if env::var_os("COPARTITION_WRITE_SAMPLES").is_some() {
        let yaml = serde_yaml::to_string(&tidy(object)).expect("YAML");
        fs::write(&path, yaml).expect("a sample");
        return;
    }
    let yaml = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let sample: Value = serde_yaml::from_str(&yaml).expect("YAML");
    for kind in ["Ready", "Stalled", "Reconciling", "Paused", "Accepted"] {
        let of = |object: &Value| {
            let found = condition(&object["status"], kind);
            (found["status"].clone(), found["reason"].clone())
        };
        assert_eq!(
            of(&sample),
            of(object),
            "{kind} in {}: {object}",
            path.display()
        );
    }
}

/// Without what differs from run to run and decides nothing.
fn tidy(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(meta) = object["metadata"].as_object_mut() {
        for volatile in [
            "uid",
            "resourceVersion",
            "managedFields",
            "creationTimestamp",
        ] {
            meta.remove(volatile);
        }
        if let Some(annotations) = meta.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        }
        let empty = meta.get("annotations") == Some(&json!({}));
        if empty {
            meta.remove("annotations");
        }
    }
    for (part, long) in [("spec", "sampleKeys"), ("status", "layout")] {
        if let Some(part) = object[part].as_object_mut() {
            part.remove(long);
        }
    }
    let mut text = object.to_string();
    let topics = object["spec"]["topics"].as_array().into_iter().flatten();
    for name in topics.filter_map(|topic| topic["name"].as_str()) {
        let plain = name.trim_start_matches("gitops-");
        let plain = plain.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
        text = text.replace(name, plain);
    }
    for (at, readable) in [
        ("/status/clusterId", "5L6g3nShT-eMCtK--X86sw"),
        ("/spec/bootstrapServers/0", "kafka.kafka:9092"),
        ("/spec/kafka/inline/bootstrapServers/0", "kafka.kafka:9092"),
        ("/spec/rules/0/namespaces/names/0", "trading"),
        ("/metadata/namespace", "trading"),
    ] {
        if let Some(word) = object.pointer(at).and_then(Value::as_str) {
            text = text.replace(word, readable);
        }
    }
    serde_json::from_str(&text).expect("JSON")
}
