//! A live group whose topic the operator has grown: by the marks in its claim, records are judged at the count of their
//! time.

use std::path::Path;

use serde_json::{Value, json};

use super::{KEYS, command, condition, keys, parsed, producer, verified, write, written};
use crate::env::{Env, Operator, OperatorOptions, wait_for};
use crate::group::{DEADLINE, Group, consent};
use crate::plugin::of_nobody;
use crate::scene::Scene;

/// `verify` of a live group, as whom this kubeconfig is of: what it prints and what it says besides.
fn of_group(group: &Group<'_>, kubeconfig: &Path, code: i32) -> (Value, String) {
    let args = [&group.name, "-n", &group.namespace, "-o", "json"];
    let mut command = command(&args);
    command.env("KUBECONFIG", kubeconfig);
    let output = command.output().expect("cannot run the plugin");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (parsed(&output, code), said)
}

pub(crate) fn a_growth_by_the_operator_is_judged_by_its_marks(env: &Env) {
    let mut scene = Scene::new(env, "marks");
    let admin = env.kube.kubeconfig();
    let topic = written(env, 6, Some("murmur2_random"));
    let java = |numbers| {
        let producer = producer(&env.kafka, &[("partitioner", "murmur2_random")]);
        write(&producer, &topic, keys(numbers).map(Some));
    };
    let group = scene.group("market-data");
    group.apply(&scene.spec(6, &[&topic]));
    group.wait_ready();
    let (seen, said) = of_group(&group, &admin, 0);
    assert_eq!(condition(&seen), ("True", "KeysFit"), "{seen}");
    assert_eq!(said, "", "there is no mark yet, and that is no trouble");

    let mut spec = scene.spec(8, &[&topic]);
    spec["acceptKeyMovement"] = consent(&[&topic], 6, 8);
    group.apply(&spec);
    group.wait_ready();
    // Nobody can tell of these whether their producer knew of the growth.
    java(0..KEYS);
    let (seen, _) = of_group(&group, &admin, 0);
    assert_eq!(condition(&seen), ("True", "KeysFit"), "{seen}");
    let of_topic = |seen: &Value, field: &str| seen["topics"][0][field].clone();
    assert_eq!(of_topic(&seen, "leftOut"), KEYS, "{seen}");
    assert_eq!(of_topic(&seen, "records"), 2 * KEYS, "{seen}");
    assert_eq!(of_topic(&seen, "misplaced"), 0, "{seen}");

    scene.operator.stop();
    let options = OperatorOptions {
        namespaces: vec![scene.namespace.clone()],
        args: vec!["--settling-window=1s".to_owned()],
        ..OperatorOptions::default()
    };
    scene.operator = Operator::start(&env.kube, options);
    wait_for("the growth to have settled", DEADLINE, || {
        let claim = group.claim().unwrap_or_default();
        let marks = &claim["spec"]["growthMarks"];
        match &marks[0]["after"] {
            Value::String(_) => Ok(()),
            _ => Err(marks.to_string()),
        }
    });
    java(0..2 * KEYS);
    let (seen, said) = of_group(&group, &admin, 0);
    assert_eq!(condition(&seen), ("True", "KeysFit"), "{seen}");
    assert_eq!(of_topic(&seen, "leftOut"), KEYS, "{seen}");
    assert_eq!(of_topic(&seen, "records"), 4 * KEYS, "{seen}");
    assert_eq!(of_topic(&seen, "keyed"), 3 * KEYS, "{seen}");
    assert_eq!(of_topic(&seen, "misplaced"), 0, "{seen}");
    assert_eq!(said, "");

    // Without the marks, what was right at its time looks wrong: three quarters of the keys have moved.
    let bare = verified(env, &["--topic", &topic, "--client", "java"], 2);
    assert_eq!(condition(&bare), ("False", "SchemeMismatch"), "{bare}");
    let nobody = of_nobody(env, &scene.namespace);
    may_get_groups(env, &scene.namespace);
    let (seen, said) = of_group(&group, &nobody, 2);
    assert_eq!(seen["topics"], bare["topics"], "{seen}");
    for part in [
        "without growth marks",
        "at the count of now",
        "you may not get copartitionclaims",
    ] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    assert_eq!(said.lines().count(), 1, "{said}");
}

/// Lets the service account `nobody` read groups, and still no claims.
fn may_get_groups(env: &Env, namespace: &str) {
    let metadata = json!({"name": "groups", "namespace": namespace});
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata,
        "rules": [{
            "apiGroups": ["copartition.dev"], "resources": ["copartitionedtopicgroups"], "verbs": ["get"],
        }],
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "groups"},
        "subjects": [{"kind": "ServiceAccount", "name": "nobody", "namespace": namespace}],
    });
    env.kube.apply_ok(&role.to_string());
    env.kube.apply_ok(&binding.to_string());
}
