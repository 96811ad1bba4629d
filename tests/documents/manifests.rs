//! What documents show as YAML: manifests and parts of them go to the API server as a dry run, values to Helm, and the steps of
//! a pipeline to the shell. No tests here.

use std::fs;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::blocks::{Block, commands};
use super::stage::Stage;
use super::{Fault, shell};
use crate::env::{text, unique};

/// Checks all documents of one block.
pub(super) fn check(stage: &mut Stage<'_>, block: &Block) -> Vec<Fault> {
    let bound = stage.bind(&block.text);
    let mut faults = Vec::new();
    for document in serde_yaml::Deserializer::from_str(&bound) {
        match Value::deserialize(document) {
            Ok(value) => faults.extend(one(stage, block, &value)),
            Err(e) => {
                faults.push(fault(block, "YAML", &e.to_string()));
                // What is no YAML has no end either.
                break;
            }
        }
    }
    faults
}

fn fault(block: &Block, what: &str, wrong: &str) -> Fault {
    Fault::new(&block.file, block.line, what, wrong)
}

fn one(stage: &mut Stage<'_>, block: &Block, value: &Value) -> Vec<Fault> {
    let refused = match value {
        Value::Array(steps) => return run_steps(stage, block, steps),
        Value::Object(fields) if fields.contains_key("jobs") => {
            let jobs = fields["jobs"].as_object().into_iter().flatten();
            let steps = jobs
                .filter_map(|(_, job)| job["steps"].as_array())
                .flatten();
            return run_steps(stage, block, &steps.cloned().collect::<Vec<_>>());
        }
        Value::Object(fields) if fields.contains_key("kind") => dry_run(stage, value),
        Value::Object(fields) if fields.keys().all(|it| it == "spec" || it == "metadata") => {
            whole(stage, fields).and_then(|object| dry_run(stage, &object))
        }
        Value::Object(fields) if are_values(stage, fields) => rendered(stage, value),
        _ => Err("neither a manifest, nor a part of one, nor values, nor steps".to_owned()),
    };
    refused
        .err()
        .map(|wrong| fault(block, &value.to_string(), &wrong))
        .into_iter()
        .collect()
}

/// As `kubectl apply` would, with every rule that the API server and its policies have, and no unknown field.
fn dry_run(stage: &Stage<'_>, object: &Value) -> Result<(), String> {
    let args = ["apply", "--dry-run=server", "--validate=strict", "-f", "-"];
    let output = stage.plane.kubectl_with_input(&args, &object.to_string());
    if output.status.success() {
        return Ok(());
    }
    Err(text(&output))
}

/// The live group or a small connection with these fields in place of its own, by whose fields they are.
fn whole(stage: &Stage<'_>, fields: &Map<String, Value>) -> Result<Value, String> {
    let names: Vec<&str> = fields
        .get("spec")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|it| it.0.as_str())
        .collect();
    let knows = |kind: &str| {
        let definition = stage.plane.get_json(&["crd", kind]);
        let version = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        let spec = &version["properties"]["spec"]["properties"];
        names.iter().all(|name| spec.get(name).is_some())
    };
    let mut object = if knows("copartitionedtopicgroups.copartition.dev") {
        stage.live()
    } else if knows("kafkaconnections.copartition.dev") {
        json!({
            "apiVersion": "copartition.dev/v1alpha1", "kind": "KafkaConnection", "metadata": {"name": "prod"},
            "spec": {"bootstrapServers": ["kafka.kafka:9092"], "rules": []},
        })
    } else {
        return Err(format!("no resource has all of these fields: {names:?}"));
    };
    merge(&mut object, &Value::Object(fields.clone()));
    Ok(object)
}

/// Fields of objects one by one, everything else as a whole.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

const CHART: &str = "charts/copartition-operator";

fn are_values(stage: &Stage<'_>, fields: &Map<String, Value>) -> bool {
    let path = stage.folder.join(CHART).join("values.yaml");
    let values = fs::read_to_string(&path).unwrap_or_default();
    let values: Value = serde_yaml::from_str(&values).unwrap_or_default();
    fields.keys().all(|key| values.get(key).is_some())
}

/// Helm checks values against the schema of the chart as it renders it with them.
fn rendered(stage: &Stage<'_>, values: &Value) -> Result<(), String> {
    let file = stage.folder.join(unique("values"));
    fs::write(&file, values.to_string()).expect("a file of values");
    let line = format!(
        "helm template copartition-operator {CHART} -f '{}'",
        file.display()
    );
    stage.run(&line).map(drop)
}

/// What the steps of a pipeline run; what they use is somebody else's.
fn run_steps(stage: &mut Stage<'_>, block: &Block, steps: &[Value]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for step in steps {
        let Some(script) = step["run"].as_str() else {
            if step["uses"].is_null() {
                faults.push(fault(
                    block,
                    &step.to_string(),
                    "a step without run and uses",
                ));
            }
            continue;
        };
        let lines = commands(script, line_of(block, script), false);
        faults.extend(shell::run(stage, &block.file, &lines));
    }
    faults
}

/// Where a script stands in the document, which the parser of YAML does not say; its block if it can't be told.
fn line_of(block: &Block, script: &str) -> usize {
    let first = script.lines().next().unwrap_or_default().trim();
    let offset = block.text.lines().position(|line| line.contains(first));
    block.line + offset.unwrap_or(0)
}
