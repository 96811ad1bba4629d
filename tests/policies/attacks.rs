//! What is tried on a topic of another operator, and what a policy makes of it.

use std::process::Output;

use serde_json::{Value, json};

use super::kinds::{Kind, Says};
use super::{DEADLINE, SPACE};
use crate::env::{ControlPlane, text, wait_for};

pub(super) fn says(name: &str, count: i32) -> Says<'_> {
    Says {
        name,
        namespace: SPACE,
        topic: None,
        count,
        cluster: "prod",
    }
}

pub(super) fn denied(output: &Output, parts: &[&str]) {
    let said = text(output);
    assert!(!output.status.success(), "it passes: {said}");
    for part in parts {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
}

pub(super) fn passes(output: &Output) -> String {
    let said = text(output);
    assert!(output.status.success(), "{said}");
    said
}

pub(super) fn silent(output: &Output) {
    let said = passes(output);
    assert!(!said.contains("Warning: Validation"), "{said}");
}

pub(super) fn warned(output: &Output, parts: &[&str]) {
    let said = passes(output);
    assert!(said.contains("Warning: Validation failed"), "{said}");
    for part in parts {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
}

/// One kind on one API server.
pub(super) struct Topics<'a> {
    pub(super) plane: &'a ControlPlane,
    pub(super) kind: Kind,
}

impl Topics<'_> {
    pub(super) fn put(&self, says: Says<'_>) -> Output {
        self.plane.apply(&self.kind.manifest(says).to_string())
    }

    pub(super) fn dry_run(&self, says: Says<'_>) -> Output {
        let args = ["apply", "--dry-run=server", "-f", "-"];
        let manifest = self.kind.manifest(says).to_string();
        self.plane.kubectl_with_input(&args, &manifest)
    }

    pub(super) fn kubectl(&self, verb: &str, name: &str, args: &[&str]) -> Output {
        let resource = self.kind.resource();
        let mut all = vec![verb, &resource, name];
        if self.kind.namespaced {
            all.extend(["-n", SPACE]);
        }
        all.extend(args);
        self.plane.kubectl(&all)
    }

    /// Waits until a count that the claim does not allow is denied.
    pub(super) fn wait_until_guarded(&self, name: &str) {
        let what = format!("{:?} to be guarded", self.kind);
        wait_for(&what, DEADLINE, || {
            let output = self.dry_run(says(name, 99));
            if output.status.success() {
                Err(text(&output))
            } else {
                Ok(())
            }
        });
    }

    pub(super) fn wait_until_unguarded(&self, name: &str) {
        let what = format!("{:?} to be free", self.kind);
        wait_for(&what, DEADLINE, || {
            let output = self.dry_run(says(name, 99));
            if output.status.success() {
                Ok(())
            } else {
                Err(text(&output))
            }
        });
    }
}

pub(super) fn a_held_topic_keeps_its_count(topics: &Topics<'_>, held: &str, group: &str) {
    let text = format!("topic {held}: wanted 6 partitions, seen 8; the group {group} holds it");
    let parts = [
        text.as_str(),
        "set spec.partitions and spec.acceptKeyMovement",
    ];
    denied(&topics.put(says(held, 8)), &parts);
    silent(&topics.put(says(held, 6)));
    denied(&topics.put(says(held, 8)), &parts);
    denied(&topics.put(says(held, 5)), &["wanted 6 partitions, seen 5"]);
    for way in [
        vec!["replace", "-f", "-"],
        vec![
            "apply",
            "--server-side",
            "--force-conflicts",
            "--field-manager=gitops",
            "-f",
            "-",
        ],
        vec!["apply", "--dry-run=server", "-f", "-"],
    ] {
        let manifest = topics.kind.manifest(says(held, 8)).to_string();
        denied(&topics.plane.kubectl_with_input(&way, &manifest), &parts);
    }
}

/// A field that is null is as good as one that is not there, for the operators and so for the policies.
pub(super) fn a_null_hides_nothing(topics: &Topics<'_>, held: &str) {
    let mut object = topics.kind.manifest(says(held, 8));
    for field in ["topicName", "overwriteTopicName", "name"] {
        if object["spec"][field].is_null() {
            object["spec"][field] = Value::Null;
        }
    }
    let args = ["replace", "-f", "-"];
    let output = topics.plane.kubectl_with_input(&args, &object.to_string());
    denied(&output, &["wanted 6 partitions, seen 8"]);
}

/// A resource without a count asks for none.
pub(super) fn a_count_may_be_taken_out(topics: &Topics<'_>, held: &str) {
    let mut object = topics.kind.manifest(says(held, 6));
    for at in ["/spec", "/spec/forProvider"] {
        if let Some(Value::Object(fields)) = object.pointer_mut(at) {
            fields.retain(|name, _| !name.starts_with("partition"));
        }
    }
    let args = ["replace", "--dry-run=server", "-f", "-"];
    let plane = topics.plane;
    silent(&plane.kubectl_with_input(&args, &object.to_string()));
}

pub(super) fn what_a_policy_does_not_speak_of_passes(topics: &Topics<'_>, held: &str, free: &str) {
    // What leaves the count alone.
    silent(&topics.kubectl("label", held, &["team=trading"]));
    silent(&topics.kubectl("annotate", held, &["note=x"]));
    silent(&topics.kubectl(
        "patch",
        held,
        &[
            "--type=merge",
            "-p",
            r#"{"spec":{"config":{"retention.ms":"1"}}}"#,
        ],
    ));
    // The same name on another cluster, which no claim speaks of, and on one whose claim wants another count.
    let elsewhere = |cluster, count| Says {
        name: "elsewhere",
        topic: Some(held),
        cluster,
        ..says("", count)
    };
    silent(&topics.put(elsewhere("staging", 8)));
    silent(&topics.put(elsewhere("staging", 9)));
    denied(
        &topics.dry_run(elsewhere("test", 8)),
        &["wanted 3 partitions, seen 8"],
    );
    silent(&topics.dry_run(elsewhere("test", 3)));
    passes(&topics.kubectl("delete", "elsewhere", &[]));
    // A claim without an alias.
    silent(&topics.put(says(free, 6)));
    silent(&topics.put(says(free, 8)));
    // A topic that no group has.
    silent(&topics.dry_run(says("nobodys", 8)));
    // An object that is being deleted has to be able to go, whatever is written to it meanwhile.
    let finalizers = |list: Value| json!({"metadata": {"finalizers": list}}).to_string();
    let patch = |body: &str| topics.kubectl("patch", held, &["--type=merge", "-p", body]);
    passes(&patch(&finalizers(json!(["copartition.dev/test"]))));
    passes(&topics.kubectl("delete", held, &["--wait=false"]));
    let field = match topics.kind.alias {
        "Confluent" => json!({"spec": {"partitionCount": 99}}),
        "Crossplane" => json!({"spec": {"forProvider": {"partitions": 99}}}),
        _ => json!({"spec": {"partitions": 99}}),
    };
    silent(&patch(&field.to_string()));
    silent(&patch(&finalizers(Value::Null)));
    wait_for("the topic to be gone", DEADLINE, || {
        let output = topics.kubectl("get", held, &["--ignore-not-found", "-o", "name"]);
        match text(&output).as_str() {
            "" => Ok(()),
            seen => Err(seen.to_owned()),
        }
    });
}

pub(super) fn both_counts_of_a_growth_are_fine(topics: &Topics<'_>, growing: &str) {
    silent(&topics.put(says(growing, 6)));
    denied(
        &topics.put(says(growing, 7)),
        &["wanted 6 or 8 partitions, seen 7"],
    );
    silent(&topics.put(says(growing, 8)));
}

pub(super) fn another_name_for_a_held_topic_changes_nothing(
    topics: &Topics<'_>,
    held: &str,
    other: &str,
) {
    let renamed = |topic, count| Says {
        topic,
        ..says(other, count)
    };
    silent(&topics.put(renamed(None, 8)));
    // The count stays, the topic does not.
    denied(
        &topics.put(renamed(Some(held), 8)),
        &["wanted 6 partitions, seen 8"],
    );
    silent(&topics.put(renamed(Some(held), 6)));
    passes(&topics.kubectl("delete", other, &[]));
}

pub(super) fn a_referenced_topic_is_warned_of(topics: &Topics<'_>, referenced: &str) {
    silent(&topics.put(says(referenced, 6)));
    let text = format!("topic {referenced}: the group trading/a");
    warned(
        &topics.put(says(referenced, 8)),
        &[&text, "expects 6 partitions, seen 8"],
    );
    silent(&topics.kubectl("label", referenced, &["team=trading"]));
}

/// The connection lets nobody change its count alone.
pub(super) fn a_guarded_reference_keeps_its_count(topics: &Topics<'_>, guarded: &str) {
    silent(&topics.put(says(guarded, 6)));
    denied(
        &topics.put(says(guarded, 8)),
        &[
            "wanted 6 partitions, seen 8",
            "refers to it, and the KafkaConnection",
            "referenceGuard: Deny",
        ],
    );
    silent(&topics.kubectl("label", guarded, &["team=trading"]));
    // Its count and the one that the group waits for.
    let growing = format!("{guarded}-growing");
    silent(&topics.put(says(&growing, 6)));
    silent(&topics.put(says(&growing, 8)));
    denied(
        &topics.put(says(&growing, 9)),
        &["wanted 6 or 8 partitions, seen 9"],
    );
}

pub(super) fn a_deletion_is_warned_of_and_passes(
    topics: &Topics<'_>,
    held: &str,
    referenced: &str,
) {
    silent(&topics.put(says(held, 6)));
    for name in [held, referenced] {
        let text = format!("topic {name}: the group trading/a");
        warned(
            &topics.kubectl("delete", name, &[]),
            &[&text, "needs it, and"],
        );
    }
    silent(&topics.put(says("nobodys", 6)));
    silent(&topics.kubectl("delete", "nobodys", &[]));
}
