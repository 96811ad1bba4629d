//! What roles grant at the API server, and what was asked of it. No tests here.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use crate::env::ControlPlane;

/// (group, resource, verb).
pub(crate) type Permission = (String, String, String);

/// The documents of a YAML file.
pub(crate) fn manifests(yaml: &str) -> Vec<Value> {
    serde_yaml::Deserializer::from_str(yaml)
        .map(|document| Value::deserialize(document).expect("YAML"))
        .filter(|document| !document.is_null())
        .collect()
}

/// What the roles among these objects grant.
pub(crate) fn granted(objects: &[Value]) -> BTreeSet<Permission> {
    let roles = objects
        .iter()
        .filter(|object| object["kind"] == "ClusterRole" || object["kind"] == "Role");
    let mut granted = BTreeSet::new();
    for rule in roles.flat_map(|role| role["rules"].as_array().expect("rules")) {
        for group in words(&rule["apiGroups"]) {
            for resource in words(&rule["resources"]) {
                for verb in words(&rule["verbs"]) {
                    granted.insert((group.clone(), resource.clone(), verb));
                }
            }
        }
    }
    granted
}

fn words(list: &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|word| word.as_str().map(ToOwned::to_owned))
        .collect()
}

/// What a user has asked of the API server so far, and got.
pub(crate) fn used(kube: &ControlPlane, user: &str) -> BTreeSet<Permission> {
    let requests = kube.audit(|event| {
        event["user"]["username"] == user
            && event["objectRef"]["resource"].is_string()
            && event["responseStatus"]["code"] != 403
    });
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    requests
        .iter()
        .map(|event| {
            let of = &event["objectRef"];
            let resource = match &of["subresource"] {
                Value::String(subresource) => format!("{}/{subresource}", word(&of["resource"])),
                _ => word(&of["resource"]),
            };
            (word(&of["apiGroup"]), resource, word(&event["verb"]))
        })
        .collect()
}

/// Fails if something was granted and never used, or the other way round.
pub(crate) fn assert_exact(granted: &BTreeSet<Permission>, used: &BTreeSet<Permission>) {
    let unused: Vec<_> = granted.difference(used).collect();
    assert!(unused.is_empty(), "granted and never used: {unused:?}");
    let more: Vec<_> = used.difference(granted).collect();
    assert!(more.is_empty(), "used and not granted: {more:?}");
}
