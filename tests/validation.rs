//! What only the operator can refuse: fields that this version does not act on, and objects that it cannot read.

use serde_json::{Value, json};

use crate::env::{ControlPlane, Env, Operator, OperatorOptions, unique, wait_for};
use crate::group::{DEADLINE, Group, condition, spec};
use crate::scene::{Scene, names};

/// Every field of the API that this version refuses, with what the message has to name.
fn refused(good: &Value) -> Vec<(Value, String)> {
    let with = |field: &str, value: Value| {
        let mut spec = good.clone();
        let at = spec.pointer_mut(field).expect("a field of the spec");
        *at = value;
        spec
    };
    let set = |field: &str, value: Value| {
        let mut spec = good.clone();
        spec[field] = value;
        spec
    };
    let servers = good["kafka"]["inline"]["bootstrapServers"].clone();
    let inline = |more: &str, value: Value| {
        let mut spec = good.clone();
        spec["kafka"]["inline"] = json!({"bootstrapServers": servers, more: value});
        spec
    };
    let topic = good["topics"][0]["name"].as_str().expect("a topic");
    let scheme = |partitioner: &str| json!({"encoding": "utf8", "partitioner": partitioner});
    let own = |key: &str, value: Value| {
        let mut spec = good.clone();
        spec["topics"][0][key] = value;
        spec
    };
    let cases = [
        (
            inline("sasl", json!({"mechanism": "PLAIN"})),
            "PLAIN and SCRAM need usernameRef and passwordRef",
        ),
        (
            inline("tls", json!({"keyRef": {"name": "tls", "key": "tls.key"}})),
            "give certificateRef and keyRef both",
        ),
        (
            with("/kafka/inline/bootstrapServers", json!(["kafka"])),
            "\"kafka\" is not host:port",
        ),
        (
            set("verification", json!({"interval": "9s"})),
            "verification.interval: wanted a time from 10s to 720h",
        ),
        (
            set("redis", json!({"keyTemplates": ["market"]})),
            "redis.keyTemplates: \"market\" has no %s",
        ),
        (set("keyScheme", scheme("murmur2_random")), "write murmur2"),
        (
            set(
                "keyScheme",
                json!({"encoding": "avro", "partitioner": "murmur2"}),
            ),
            "keyScheme: ",
        ),
    ];
    let own_fields = [
        (
            own("producers", json!([{"client": "kafka-go"}])),
            format!("topics[{topic}].producers: kafka-go does not place records by key"),
        ),
        (
            own("keyScheme", scheme("fnv1a")),
            format!("topics[{topic}].keyScheme"),
        ),
    ];
    let cases = cases
        .into_iter()
        .map(|(spec, field)| (spec, field.to_owned()));
    cases.chain(own_fields).collect()
}

pub(crate) fn a_field_that_is_not_implemented_is_refused_by_name(env: &Env) {
    let scene = Scene::new(env, "not-yet");
    let mut groups = Vec::new();
    let count = refused(&scene.spec(6, &["t"])).len();
    for case in 0..count {
        // Topics of its own for each: else all but one would be refused because another group holds them.
        let [topic] = names(["refused"]);
        let (spec, field) = refused(&scene.spec(6, &[&topic])).swap_remove(case);
        let group = scene.group(&unique("group"));
        group.apply(&spec);
        groups.push((group, topic, field));
    }
    let [topic] = names(["accepted"]);
    let mut spec = scene.spec(6, &[&topic]);
    // The default, written out.
    spec["alterLock"] = json!("None");
    let good = scene.group("good");
    good.apply(&spec);
    good.wait_ready();
    for (group, topic, field) in &groups {
        let message = group.wait_for("Accepted", "False", "InvalidSpec");
        assert!(
            message.contains(field.as_str()),
            "{field:?} is not in {message}"
        );
        group.wait_for("Ready", "False", "InvalidSpec");
        group.wait_for("Stalled", "True", "ActionNeeded");
        assert_eq!(env.kafka.partitions(topic), None, "{field}");
        assert_eq!(group.claim(), None, "{field}");
    }
    let topics: Vec<&str> = groups.iter().map(|(_, topic, _)| topic.as_str()).collect();
    scene.assert_never_writes(&topics);
}

pub(crate) fn all_that_is_wrong_is_said_at_once(env: &Env) {
    let scene = Scene::new(env, "several");
    let [topic] = names(["updates"]);
    let mut spec = scene.spec(6, &[&topic]);
    spec["verification"] = json!({"interval": "1s"});
    spec["keyScheme"] = json!({"encoding": "utf-8", "partitioner": "Murmur2"});
    let group = scene.group("market-data");
    group.apply(&spec);
    let message = group.wait_for("Accepted", "False", "InvalidSpec");
    for part in [
        "verification.interval",
        "write it as utf8",
        "write it as murmur2",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

pub(crate) fn a_refused_edit_keeps_what_was_known_and_writes_nothing(env: &Env) {
    let scene = Scene::new(env, "edit");
    let [topic, later] = names(["updates", "notes"]);
    let group = scene.group("market-data");
    group.apply(&scene.spec(6, &[&topic]));
    group.wait_ready();
    let known = group.status();
    let writes = scene.writes(&topic).len();
    let mut spec = scene.spec(6, &[&topic, &later]);
    spec["verification"] = json!({"interval": "1s"});
    group.apply(&spec);
    group.wait_for("Accepted", "False", "InvalidSpec");
    group.wait_for("Stalled", "True", "ActionNeeded");
    let status = group.status();
    for field in [
        "clusterId",
        "recordedPartitions",
        "holdsRecords",
        "topics",
        "layout",
    ] {
        assert_eq!(status[field], known[field], "{field}");
    }
    assert_eq!(env.kafka.partitions(&later), None);
    assert_eq!(scene.writes(&topic).len(), writes);

    group.apply(&scene.spec(6, &[&topic, &later]));
    group.wait_ready();
    assert_eq!(env.kafka.partitions(&later), Some(6));
}

/// Changes the served definition of groups so that a count may be a text: as after a rollback of the operator, whose
/// older version meets objects of a newer API.
fn let_counts_be_texts(kube: &ControlPlane) {
    let mut crd = kube.get_json(&["crd", "copartitionedtopicgroups.copartition.dev"]);
    let schema = &mut crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    // The rules calculate with the count.
    for rules in [
        "/x-kubernetes-validations",
        "/properties/spec/x-kubernetes-validations",
    ] {
        *schema.pointer_mut(rules).expect("rules") = json!([]);
    }
    schema["properties"]["spec"]["properties"]["partitions"] =
        json!({"x-kubernetes-int-or-string": true});
    let output = kube.kubectl_with_input(&["replace", "-f", "-"], &crd.to_string());
    assert!(output.status.success(), "{}", crate::env::text(&output));
}

pub(crate) fn an_object_that_cannot_be_read_stops_no_other(env: &Env) {
    let kube = ControlPlane::start(env.root());
    kube.install_crds();
    let_counts_be_texts(&kube);
    let [bad_topic, good_topic] = names(["updates", "notes"]);
    let bootstrap = env.kafka.bootstrap();
    let bad = Group::new(&kube, "default", "bad");
    let good = Group::new(&kube, "default", "good");
    let mut unreadable = spec(&bootstrap, 6, &[&bad_topic]);
    unreadable["partitions"] = json!("six");
    wait_for("the new definition to be served", DEADLINE, || {
        let output = bad.try_apply(&unreadable);
        if output.status.success() {
            Ok(())
        } else {
            Err(crate::env::text(&output))
        }
    });
    let operator = Operator::start(
        &kube,
        OperatorOptions {
            namespaces: vec!["default".to_owned()],
            ..OperatorOptions::default()
        },
    );
    good.apply(&spec(&bootstrap, 6, &[&good_topic]));
    good.wait_ready();
    let message = bad.wait_for("Accepted", "False", "InvalidSpec");
    assert!(message.contains("\"six\""), "{message}");
    bad.wait_for("Stalled", "True", "ActionNeeded");
    assert_eq!(env.kafka.partitions(&bad_topic), None);

    // A group that was fine and becomes unreadable keeps what was known of it.
    let mut unreadable = spec(&bootstrap, 6, &[&good_topic]);
    unreadable["partitions"] = json!("six");
    good.apply(&unreadable);
    good.wait_for("Accepted", "False", "InvalidSpec");
    assert_eq!(good.status()["recordedPartitions"], 6);
    for (group, topic) in [(&bad, &bad_topic), (&good, &good_topic)] {
        group.apply(&spec(&bootstrap, 6, &[topic]));
        group.wait_ready();
    }
    assert_eq!(condition(&bad.status(), "Accepted")["status"], "True");
    drop(operator);
}
