//! The admission policies of charts/copartition-operator/policies, on an API server of their own: they speak of whole
//! clusters.

mod attacks;
pub(crate) mod kinds;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{ControlPlane, Env, text};
use crate::group::{Group, spec};
use attacks::{
    Topics, a_count_may_be_taken_out, a_deletion_is_warned_of_and_passes,
    a_guarded_reference_keeps_its_count, a_held_topic_keeps_its_count, a_null_hides_nothing,
    a_referenced_topic_is_warned_of, another_name_for_a_held_topic_changes_nothing,
    both_counts_of_a_growth_are_fine, denied, passes, says, silent, warned,
    what_a_policy_does_not_speak_of_passes,
};
use kinds::{KINDS, Kind, STRIMZI};

/// The API server looks at policies, definitions and claims through watches of its own.
const DEADLINE: Duration = Duration::from_secs(60);
const OPERATOR: &str = "--as=system:serviceaccount:copartition-system:copartition-operator";
const SPACE: &str = "shop";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("charts/copartition-operator/policies")
}

fn apply_folder(plane: &ControlPlane) {
    plane.kubectl_ok(&["apply", "-f", &folder().to_string_lossy()]);
}

/// Writes as the operator's own service account would.
fn as_operator(plane: &ControlPlane, verb: &str, object: &Value) -> Output {
    let args = [verb, OPERATOR, "--as-group=system:masters", "-f", "-"];
    plane.kubectl_with_input(&args, &object.to_string())
}

/// A claim that holds `held` and refers to `referenced`, with these counts.
fn claim(
    name: &str,
    aliases: &[Value],
    held: &[(&str, &[i32])],
    referenced: &[(&str, &[i32])],
) -> Value {
    let topics = |topics: &[(&str, &[i32])]| -> Vec<Value> {
        let topic = |(name, counts): &(&str, &[i32])| json!({"name": name, "counts": counts, "since": "2026-01-01T00:00:00.000000Z"});
        topics.iter().map(topic).collect()
    };
    let (namespace, group) = name.split_once('.').expect("a namespace and a group");
    json!({
        "apiVersion": "copartition.dev/v1alpha1",
        "kind": "CoPartitionClaim",
        "metadata": {"name": name, "labels": {"copartition.dev/guard": "true"}},
        "spec": {
            "installation": "main",
            "kubeSystemUid": "uid",
            "group": {"namespace": namespace, "name": group, "uid": "uid"},
            "aliases": aliases,
            "holds": topics(held),
            "references": topics(referenced),
        },
    })
}

fn put_claim(plane: &ControlPlane, claim: &Value) {
    let output = as_operator(plane, "apply", claim);
    assert!(output.status.success(), "{}", text(&output));
}

fn put_definitions(plane: &ControlPlane, kinds: &[Kind]) {
    for kind in kinds {
        plane.apply_ok(&kind.definition().to_string());
        let name = format!("crd/{}", kind.resource());
        plane.kubectl_ok(&[
            "wait",
            "--for=condition=Established",
            "--timeout=60s",
            &name,
        ]);
    }
}

pub(crate) fn topics_of_other_operators_keep_the_count_of_their_group(env: &Env) {
    let plane = ControlPlane::start(env.root());
    plane.install_crds();
    plane.kubectl_ok(&["create", "namespace", SPACE]);
    put_definitions(&plane, &KINDS);
    apply_folder(&plane);
    for (at, kind) in KINDS.iter().enumerate() {
        // Names of its own for each, since two of them are the same kind.
        let named = |topic: &str| format!("{topic}-{at}");
        let [held, other, referenced, free, growing] =
            ["held", "other", "referenced", "free", "growing"].map(named);
        let aliases = [kind.alias("prod", SPACE)];
        let holds: [(&str, &[i32]); 2] = [(&held, &[6]), (&growing, &[6, 8])];
        let claims = [
            claim(
                &format!("trading.a{at}"),
                &aliases,
                &holds,
                &[(&referenced, &[6])],
            ),
            // The same names on another cluster, and on one that nobody names.
            claim(
                &format!("trading.b{at}"),
                &[kind.alias("test", SPACE)],
                &[(&held, &[3])],
                &[],
            ),
            claim(&format!("trading.c{at}"), &[], &[(&free, &[6])], &[]),
        ];
        for claim in &claims {
            put_claim(&plane, claim);
        }
        let guarded = named("guarded");
        let awaited = format!("{guarded}-growing");
        let mut guards = claim(
            &format!("trading.d{at}"),
            &aliases,
            &[],
            &[(&guarded, &[6]), (&awaited, &[6, 8])],
        );
        for reference in guards["spec"]["references"]
            .as_array_mut()
            .into_iter()
            .flatten()
        {
            reference["guarded"] = json!(true);
        }
        put_claim(&plane, &guards);
        let topics = Topics {
            plane: &plane,
            kind: *kind,
        };
        topics.wait_until_guarded(&held);
        a_held_topic_keeps_its_count(&topics, &held, &format!("trading/a{at}"));
        a_null_hides_nothing(&topics, &held);
        a_count_may_be_taken_out(&topics, &held);
        what_a_policy_does_not_speak_of_passes(&topics, &held, &free);
        both_counts_of_a_growth_are_fine(&topics, &growing);
        another_name_for_a_held_topic_changes_nothing(&topics, &held, &other);
        a_referenced_topic_is_warned_of(&topics, &referenced);
        a_guarded_reference_keeps_its_count(&topics, &guarded);
        a_deletion_is_warned_of_and_passes(&topics, &held, &referenced);
    }
}

pub(crate) fn policies_may_come_and_go_in_any_order(env: &Env) {
    let plane = ControlPlane::start(env.root());
    plane.kubectl_ok(&["create", "namespace", SPACE]);
    let topics = Topics {
        plane: &plane,
        kind: STRIMZI,
    };
    // Without any definition; then with that of the other operator only. Nothing is in the way of its first topic.
    apply_folder(&plane);
    put_definitions(&plane, &[STRIMZI]);
    silent(&topics.put(says("held", 6)));
    silent(&topics.put(says("held", 7)));
    silent(&topics.put(says("held", 6)));
    // With the claims' definition and no claim, with a claim that is not labelled, and with one that is.
    plane.install_crds();
    silent(&topics.put(says("held", 7)));
    silent(&topics.put(says("held", 6)));
    let alias = [STRIMZI.alias("prod", SPACE)];
    let six = claim("trading.market-data", &alias, &[("held", &[6])], &[]);
    let mut unlabelled = six.clone();
    unlabelled["metadata"]["labels"] = json!({});
    put_claim(&plane, &unlabelled);
    let hundred = (0..100).map(|n| {
        claim(
            &format!("trading.n{n}"),
            &alias,
            &[(&format!("t{n}"), &[6])],
            &[],
        )
    });
    let list = json!({"apiVersion": "v1", "kind": "List", "items": hundred.collect::<Vec<_>>()});
    put_claim(&plane, &list);
    topics.wait_until_guarded("t99");
    silent(&topics.dry_run(says("held", 7)));
    put_claim(&plane, &six);
    topics.wait_until_guarded("held");
    denied(
        &topics.put(says("held", 7)),
        &["wanted 6 partitions, seen 7"],
    );
    silent(&topics.put(says("t7", 6)));

    // Removed and installed again: with what the claims say by then.
    plane.kubectl_ok(&["delete", "-f", &folder().to_string_lossy()]);
    topics.wait_until_unguarded("held");
    let eight = claim("trading.market-data", &alias, &[("held", &[8])], &[]);
    put_claim(&plane, &eight);
    apply_folder(&plane);
    topics.wait_until_guarded("held");
    denied(
        &topics.put(says("held", 7)),
        &["wanted 8 partitions, seen 7"],
    );
    silent(&topics.put(says("held", 8)));

    // The claims' definition goes, and comes back.
    plane.kubectl_ok(&["delete", "crd", "copartitionclaims.copartition.dev"]);
    topics.wait_until_unguarded("held");
    silent(&topics.put(says("held", 9)));
    plane.install_crds();
    let nine = claim("trading.market-data", &alias, &[("held", &[9])], &[]);
    put_claim(&plane, &nine);
    topics.wait_until_guarded("held");
    denied(
        &topics.put(says("held", 8)),
        &["wanted 9 partitions, seen 8"],
    );
    // So does that of the other operator, with all its topics.
    plane.kubectl_ok(&["delete", "crd", &STRIMZI.resource()]);
    put_definitions(&plane, &[STRIMZI]);
    topics.wait_until_guarded("held");
    silent(&topics.put(says("held", 9)));
    what_is_done_to_groups_and_claims_is_told(&plane);
}

/// On the same API server, since it takes longer to start than all of this.
fn what_is_done_to_groups_and_claims_is_told(plane: &ControlPlane) {
    let group = Group::new(plane, SPACE, "market-data");
    silent(&group.try_apply(&spec("kafka.example:9092", 6, &["a", "b", "c"])));
    silent(&group.try_apply(&spec("kafka.example:9092", 6, &["a", "b", "c", "d"])));
    silent(&group.kubectl("label", &["team=trading"]));
    let fewer = spec("kafka.example:9092", 6, &["a", "d"]);
    let parts = [
        "b, c: taken out of the group market-data",
        "Kafka keeps topic and records",
        "write it back under spec.topics",
    ];
    warned(&group.try_apply(&fewer), &parts);
    let parts = [
        "the group market-data goes; its topics stay in Kafka with all records: a, d",
        "--claim-retention",
    ];
    warned(&group.kubectl("delete", &[]), &parts);

    let claim = claim("trading.by-hand", &[], &[], &[]);
    let why = [
        "only the operator writes it",
        "Change or delete the CoPartitionedTopicGroup",
    ];
    denied(&plane.apply(&claim.to_string()), &why);
    put_claim(plane, &claim);
    denied(
        &plane.kubectl(&["label", "copartitionclaim", "trading.by-hand", "x=y"]),
        &why,
    );
    denied(
        &plane.kubectl(&["delete", "copartitionclaim", "trading.by-hand"]),
        &why,
    );
    // Asking the operator to forget a lock is no edit of its memory.
    let annotate = |notes: &[&str]| {
        let args = [
            "annotate",
            "--overwrite",
            "copartitionclaim",
            "trading.by-hand",
        ];
        plane.kubectl(&[&args[..], notes].concat())
    };
    let forget = "copartition.dev/forget-locks=K1";
    silent(&annotate(&[forget]));
    silent(&annotate(&["copartition.dev/forget-locks=K2"]));
    for more in ["x=y", "copartition.dev/other=K1"] {
        denied(&annotate(&[forget, more]), &why);
    }
    silent(&annotate(&["copartition.dev/forget-locks-"]));
    let finalizers = r#"{"metadata":{"finalizers":["example.com/stay"]}}"#;
    let patch = [
        "patch",
        "copartitionclaim",
        "trading.by-hand",
        "--type=merge",
    ];
    denied(
        &plane.kubectl(&[&patch[..], &["-p", finalizers]].concat()),
        &why,
    );
    let like_it = "--as=system:serviceaccount:shop:copartition-operators";
    let output = plane.kubectl(&[
        "delete",
        "copartitionclaim",
        "trading.by-hand",
        like_it,
        "--as-group=system:masters",
    ]);
    denied(&output, &why);
    passes(&as_operator(plane, "delete", &claim));
}

/// Each file says of a claim what the others say; they differ in where a kind writes its name, count and cluster.
pub(crate) fn all_policies_say_the_same_of_a_claim(_env: &Env) {
    let mut files: Vec<PathBuf> = fs::read_dir(folder())
        .expect("the policies")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    let mut guarded = Vec::new();
    let mut first: Option<Vec<Value>> = None;
    for file in files {
        let stem = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let yaml = fs::read_to_string(&file).expect("a policy");
        let documents: Vec<Value> = serde_yaml::Deserializer::from_str(&yaml)
            .map(|document| serde::Deserialize::deserialize(document).expect("YAML"))
            .collect();
        // A policy that fails must not stop anything.
        let policies = documents
            .iter()
            .filter(|d| d["kind"] == "ValidatingAdmissionPolicy");
        assert!(
            policies
                .clone()
                .all(|policy| policy["spec"]["failurePolicy"] == "Ignore"),
            "{stem}"
        );
        if matches!(stem.as_str(), "claims" | "groups") {
            continue;
        }
        let same: Vec<Value> = documents
            .into_iter()
            .map(|document| common(document, &stem))
            .collect();
        assert_eq!(
            first.get_or_insert(same.clone()),
            &same,
            "{stem} beside the first"
        );
        guarded.push(stem);
    }
    guarded.dedup();
    let mut kinds: Vec<&str> = KINDS.iter().map(|kind| kind.file).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(guarded, kinds);
}

/// A document without what belongs to its kind.
fn common(mut document: Value, stem: &str) -> Value {
    for name in ["/metadata/name", "/spec/policyName"] {
        if let Some(Value::String(name)) = document.pointer_mut(name) {
            *name = name.replace(stem, "KIND");
        }
    }
    let spec = &mut document["spec"];
    if let Some(Value::Array(rules)) = spec.pointer_mut("/matchConstraints/resourceRules") {
        for rule in rules.iter_mut() {
            (rule["apiGroups"], rule["resources"]) = (Value::Null, Value::Null);
        }
        rules.dedup();
    }
    for (list, differing) in [
        (
            "matchConditions",
            &["count-topic-or-cluster-changes", "named-in-the-claim"][..],
        ),
        ("variables", &["named", "asked", "here"]),
    ] {
        for item in spec[list].as_array_mut().into_iter().flatten() {
            if differing.iter().any(|name| item["name"] == *name) {
                item["expression"] = Value::Null;
            }
        }
    }
    // What a deletion does is each operator's own.
    let deletion = spec.pointer_mut("/validations/1/messageExpression");
    if let Some(Value::String(message)) = deletion {
        message.truncate(message.find("needs it, and").unwrap_or(message.len()));
    }
    document
}
