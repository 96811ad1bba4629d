//! A group as tests write and read it: with kubectl, as a user does. No tests here.

use std::process::Output;
use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{ControlPlane, wait_for};

/// The seeds' ten tickers.
pub(crate) const TICKERS: [&str; 10] = [
    "BBCA", "BBRI", "BMRI", "BBNI", "ANTM", "ASII", "GOTO", "ICBP", "UNVR", "TLKM",
];

/// Longer than anything that is waited for may take on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// One group of one namespace.
pub(crate) struct Group<'a> {
    kube: &'a ControlPlane,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// A spec with utf8/murmur2, the ten tickers and these Managed topics; add or replace fields with `spec["x"] = ...`.
pub(crate) fn spec(bootstrap: &str, partitions: impl Into<Option<i32>>, topics: &[&str]) -> Value {
    let mut spec = json!({
        "kafka": {"inline": {"bootstrapServers": [bootstrap]}},
        "replicationFactor": 1,
        "keyScheme": {"encoding": "utf8", "partitioner": "murmur2"},
        "topics": topics.iter().map(|topic| json!({"name": topic})).collect::<Vec<_>>(),
        "sampleKeys": TICKERS,
    });
    if let Some(partitions) = partitions.into() {
        spec["partitions"] = json!(partitions);
    }
    spec
}

/// A consent.
pub(crate) fn consent(topics: &[&str], from: i32, to: i32) -> Value {
    json!({"topics": topics, "fromPartitions": from, "toPartitions": to})
}

impl<'a> Group<'a> {
    pub(crate) fn new(kube: &'a ControlPlane, namespace: &str, name: &str) -> Self {
        Self {
            kube,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    /// The whole resource as JSON, which kubectl takes as well as YAML.
    pub(crate) fn manifest(&self, spec: &Value) -> String {
        json!({
            "apiVersion": "copartition.dev/v1alpha1",
            "kind": "CoPartitionedTopicGroup",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": spec,
        })
        .to_string()
    }

    /// `kubectl apply`; the outcome is the test's to judge.
    pub(crate) fn try_apply(&self, spec: &Value) -> Output {
        self.kube.apply(&self.manifest(spec))
    }

    /// `kubectl apply` that has to work.
    pub(crate) fn apply(&self, spec: &Value) {
        self.kube.apply_ok(&self.manifest(spec));
    }

    /// `kubectl replace --force`: deletes the object and creates another one.
    pub(crate) fn replace_force(&self, spec: &Value) -> Output {
        let args = ["replace", "--force", "-f", "-"];
        self.kube.kubectl_with_input(&args, &self.manifest(spec))
    }

    /// `kubectl VERB cptg NAME -n NAMESPACE ARGS`.
    pub(crate) fn kubectl(&self, verb: &str, args: &[&str]) -> Output {
        let mut all = vec![
            verb,
            "cptg",
            self.name.as_str(),
            "-n",
            self.namespace.as_str(),
        ];
        all.extend(args);
        self.kube.kubectl(&all)
    }

    /// Sets an annotation.
    pub(crate) fn annotate(&self, key: &str, value: &str) {
        let output = self.kubectl("annotate", &["--overwrite", &format!("{key}={value}")]);
        assert!(output.status.success(), "{}", crate::env::text(&output));
    }

    /// Acknowledges an id, as the messages ask for.
    pub(crate) fn acknowledge(&self, ids: &str) {
        self.annotate("copartition.dev/acknowledge", ids);
    }

    /// Merges into the status, as an operator would write it.
    pub(crate) fn patch_status(&self, status: &Value) {
        let patch = json!({"status": status}).to_string();
        let output = self.kubectl(
            "patch",
            &["--subresource=status", "--type=merge", "-p", &patch],
        );
        assert!(output.status.success(), "{}", crate::env::text(&output));
    }

    /// Deletes the group and waits until it is gone.
    pub(crate) fn delete(&self) {
        let output = self.kubectl("delete", &["--wait=true", "--timeout=60s"]);
        assert!(output.status.success(), "{}", crate::env::text(&output));
    }

    /// The live object.
    pub(crate) fn get(&self) -> Value {
        self.kube
            .get_json(&["cptg", &self.name, "-n", &self.namespace])
    }

    /// The live status.
    pub(crate) fn status(&self) -> Value {
        self.get()["status"].clone()
    }

    /// The live claim, if there is one.
    pub(crate) fn claim(&self) -> Option<Value> {
        let name = format!("{}.{}", self.namespace, self.name);
        let output = self.kube.kubectl(&[
            "get",
            "copartitionclaim",
            &name,
            "-o",
            "json",
            "--ignore-not-found",
        ]);
        assert!(output.status.success(), "{}", crate::env::text(&output));
        serde_json::from_slice(&output.stdout).ok()
    }

    /// Waits until a condition has this status and reason *for the live generation*, and returns its message.
    pub(crate) fn wait_for(&self, kind: &str, status: &str, reason: &str) -> String {
        wait_for(
            &format!("{kind}={status}/{reason} of {}", self.name),
            DEADLINE,
            || {
                let object = self.get();
                let condition = condition(&object["status"], kind);
                let fits = condition["status"] == status
                    && condition["reason"] == reason
                    && condition["observedGeneration"] == object["metadata"]["generation"];
                if fits {
                    Ok(condition["message"].as_str().unwrap_or_default().to_owned())
                } else {
                    Err(object["status"].to_string())
                }
            },
        )
    }

    /// Waits until the status is as wanted.
    pub(crate) fn wait_until(&self, what: &str, wanted: impl Fn(&Value) -> bool) {
        wait_for(&format!("{what} of {}", self.name), DEADLINE, || {
            let status = self.status();
            if wanted(&status) {
                Ok(())
            } else {
                Err(status.to_string())
            }
        });
    }

    /// Waits until the group is Ready for the live generation.
    pub(crate) fn wait_ready(&self) {
        self.wait_for("Ready", "True", "Aligned");
    }

    /// The resourceVersion: equal twice means that nothing was written in between.
    pub(crate) fn resource_version(&self) -> String {
        self.get()["metadata"]["resourceVersion"].to_string()
    }
}

/// Many groups, each with its spec, as one manifest.
pub(crate) fn list<'a>(groups: impl Iterator<Item = (&'a Group<'a>, &'a Value)>) -> String {
    let items: Vec<Value> = groups
        .map(|(group, spec)| serde_json::from_str(&group.manifest(spec)).expect("JSON"))
        .collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

/// A condition of a status; `Null` if it is not there.
pub(crate) fn condition(status: &Value, kind: &str) -> Value {
    let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    conditions
        .into_iter()
        .find(|condition| condition["type"] == kind)
        .unwrap_or(Value::Null)
}

/// What a status says of one topic.
pub(crate) fn topic_status(status: &Value, topic: &str) -> Value {
    let mut topics = status["topics"].as_array().into_iter().flatten();
    topics
        .find(|entry| entry["name"] == topic)
        .cloned()
        .unwrap_or_else(|| panic!("nothing on {topic} in {status}"))
}
