//! Quiescence: an operator that has nothing to do writes nothing, neither to Kafka nor to the API server. Counted on the
//! servers, over polls, not over time.

use serde_json::{Value, json};

use crate::env::{Env, free_port, unique, wait_for};
use crate::group::{DEADLINE, Group, condition, spec};
use crate::rights::{self, manifests};
use crate::seen::{
    OUTAGE, USER, api_requests, api_writes, failed_polls, kafka_writes, operator, rbac, wait_polls,
};

/// More than the polls between two readings of config and of what is read only now and then.
const MANY: u64 = 15;

/// A spec with a declared config.
fn with_config(env: &Env, topics: &[&str]) -> Value {
    let mut wanted = spec(&env.kafka.bootstrap(), 3, topics);
    wanted["topics"][0]["config"] = json!({"cleanup.policy": "compact", "retention.ms": "604800000", "min.insync.replicas": "1"});
    wanted
}

pub(crate) fn an_aligned_group_is_left_alone_also_after_a_restart(env: &Env) {
    let namespace = env.namespace("quiet");
    let topics = [unique("quiet"), unique("quiet")];
    let topics = topics.each_ref().map(String::as_str);
    let mut first = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&with_config(env, &topics));
    group.wait_ready();
    group.wait_for("TopicConfigsApplied", "True", "Applied");
    // What it sees a little later belongs to the way there.
    wait_polls(&first, 2);
    let before = (
        kafka_writes(&env.kafka, &topics),
        api_writes(&env.kube, &namespace),
    );
    assert_eq!(before.0, ["CREATE_TOPICS"]);

    let seen = || {
        (
            kafka_writes(&env.kafka, &topics),
            api_writes(&env.kube, &namespace),
        )
    };
    wait_polls(&first, MANY);
    assert_eq!(seen(), before);
    assert!(first.stop().success());
    let second = operator(env, &namespace, &[]);
    wait_polls(&second, MANY);
    assert_eq!(seen(), before, "after a restart");
}

pub(crate) fn groups_that_wait_for_somebody_are_left_alone(env: &Env) {
    let namespace = env.namespace("waiting");
    let mut operator = operator(env, &namespace, &[]);
    let bootstrap = env.kafka.bootstrap();
    let topics: Vec<String> = (0..6).map(|_| unique("waiting")).collect();
    let [drifted, blocked, observed, deleted, conflict, sibling] =
        [0, 1, 2, 3, 4, 5].map(|n: usize| topics[n].as_str());
    let group = |name: &str| Group::new(&env.kube, &namespace, name);

    let drift = group("drifted");
    drift.apply(&spec(&bootstrap, 3, &[drifted]));
    drift.wait_ready();
    env.kafka.grow_topic(drifted, 4);
    drift.wait_for("PartitionsAligned", "False", "PartitionDrift");

    env.kafka.create_topic(blocked, 2);
    env.kafka.produce(blocked, &[("BBCA", "1")]);
    let block = group("blocked");
    block.apply(&spec(&bootstrap, 3, &[blocked]));
    block.wait_for("PartitionsAligned", "False", "GrowthBlocked");

    env.kafka.create_topic(observed, 2);
    let observe = group("observed");
    let mut wanted = with_config(env, &[observed, sibling]);
    wanted["mode"] = json!("Observe");
    observe.apply(&wanted);
    observe.wait_for("Ready", "False", "PartitionDrift");
    observe.wait_for("TopicConfigsApplied", "False", "Observed");

    let delete = group("deleted");
    delete.apply(&spec(&bootstrap, 3, &[deleted]));
    delete.wait_ready();
    env.kafka.delete_topic(deleted);
    delete.wait_for("PartitionsAligned", "False", "TopicDeleted");

    let holder = group("holder");
    holder.apply(&spec(&bootstrap, 3, &[conflict]));
    holder.wait_ready();
    let second = group("second");
    second.apply(&spec(&bootstrap, 3, &[conflict]));
    second.wait_for("Accepted", "False", "TopicConflict");

    let invalid = group("invalid");
    let mut wanted = spec(&bootstrap, 3, &[sibling]);
    wanted["keyScheme"]["partitioner"] = json!("by-hand");
    invalid.apply(&wanted);
    invalid.wait_for("Accepted", "False", "InvalidSpec");

    let all: Vec<&str> = topics.iter().map(String::as_str).collect();
    wait_polls(&operator, 2);
    let seen = || {
        (
            kafka_writes(&env.kafka, &all),
            api_writes(&env.kube, &namespace),
        )
    };
    let before = seen();
    assert_eq!(before.0, ["CREATE_TOPICS"; 3]);
    wait_polls(&operator, MANY);
    assert_eq!(seen(), before);
    assert!(operator.stop().success());
    let operator = crate::seen::operator(env, &namespace, &[]);
    wait_polls(&operator, MANY);
    assert_eq!(seen(), before, "after a restart");
}

pub(crate) fn a_refused_config_is_tried_again_with_growing_pauses_and_said_once(env: &Env) {
    let namespace = env.namespace("refused");
    let topic = unique("refused");
    env.kafka.create_topic(&topic, 3);
    let operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    let mut wanted = spec(&env.kafka.bootstrap(), 3, &[&topic]);
    wanted["topics"][0]["config"] = json!({"retention.ms": "a week"});
    group.apply(&wanted);
    let message = group.wait_for("TopicConfigsApplied", "False", "Rejected");
    assert!(message.contains("a week"), "{message}");
    wait_polls(&operator, 2);
    let writes = api_writes(&env.kube, &namespace);
    let tried = kafka_writes(&env.kafka, &[&topic]).len();

    // Pauses that double: in the time of forty polls there are few tries, and there is one.
    wait_polls(&operator, 40);
    let again = kafka_writes(&env.kafka, &[&topic]);
    assert!(
        again.iter().all(|api| api == "INCREMENTAL_ALTER_CONFIGS"),
        "{again:?}"
    );
    let more = again.len() - tried;
    assert!((1..=6).contains(&more), "{more} more tries in 40 polls");
    assert_eq!(api_writes(&env.kube, &namespace), writes);
}

pub(crate) fn an_unreachable_cluster_is_written_once(env: &Env) {
    let namespace = env.namespace("unreachable");
    let operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    let nobody = format!("127.0.0.1:{}", free_port());
    group.apply(&spec(&nobody, 3, &[&unique("unreachable")]));
    wait_for("the outage in the status", OUTAGE, || {
        let seen = condition(&group.status(), "KafkaReachable");
        if seen["status"] == "False" {
            Ok(())
        } else {
            Err(seen.to_string())
        }
    });
    let failed = failed_polls(&operator);
    let before = group.resource_version();
    wait_for("more polls that fail", OUTAGE, || {
        let seen = failed_polls(&operator);
        if seen >= failed + 3 {
            Ok(())
        } else {
            Err(seen.to_string())
        }
    });
    assert_eq!(group.resource_version(), before);
    let writes = api_writes(&env.kube, &namespace);
    let status = "patch copartitionedtopicgroups/status 200";
    assert_eq!(writes, [status, "create events 201"]);
}

pub(crate) fn a_new_group_costs_three_writes_to_the_api_server_and_one_to_kafka(env: &Env) {
    let namespace = env.namespace("three-writes");
    let topics: Vec<String> = (0..4).map(|_| unique("three-writes")).collect();
    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
    let operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&with_config(env, &topics));
    group.wait_ready();
    wait_polls(&operator, MANY);
    assert_eq!(
        api_writes(&env.kube, &namespace),
        [
            "create copartitionclaims 201",
            "update copartitionclaims 200",
            "patch copartitionedtopicgroups/status 200"
        ]
    );
    assert_eq!(kafka_writes(&env.kafka, &topics), ["CREATE_TOPICS"]);
}

pub(crate) fn the_role_of_the_example_suffices_and_grants_nothing_else(env: &Env) {
    let namespace = env.namespace("role");
    let topic = unique("role");
    let operator = operator(env, &namespace, &["--claim-retention", "1s"]);
    let group = Group::new(&env.kube, &namespace, "orders");
    let connection = a_connection(env, &namespace);
    // One life: created, twice drifted (the second Event counts up the first), adopted, gone, forgotten.
    for partitions in [3, 4, 5] {
        group.apply(&spec(&env.kafka.bootstrap(), partitions, &[&topic]));
        group.wait_ready();
        env.kafka
            .grow_topic(&topic, usize::try_from(partitions).unwrap_or(0) + 1);
        group.wait_for("PartitionsAligned", "False", "PartitionDrift");
    }
    group.delete();
    wait_for("the claim to be collected", DEADLINE, || {
        group.claim().map_or(Ok(()), |claim| Err(claim.to_string()))
    });
    drop(operator);
    env.kube
        .kubectl_ok(&["delete", "kafkaconnection", &connection]);

    let refused: Vec<Value> = api_requests(&env.kube, &namespace)
        .into_iter()
        .filter(|event| event["responseStatus"]["code"] == 403)
        .collect();
    assert!(refused.is_empty(), "{refused:?}");
    rights::assert_exact(
        &rights::granted(&manifests(&rbac())),
        &rights::used(&env.kube, USER),
    );
}

/// A connection that refers to what is not there, and a group that uses it. Both are looked for.
fn a_connection(env: &Env, namespace: &str) -> String {
    let name = unique("role");
    let reference = |kind: &str| json!({"kind": kind, "name": "missing", "key": "x"});
    for (field, kind) in [("caRef", "ConfigMap"), ("certificateRef", "Secret")] {
        let tls = json!({field: reference(kind), "keyRef": reference("Secret")});
        let connection = json!({
            "apiVersion": "copartition.dev/v1alpha1",
            "kind": "KafkaConnection",
            "metadata": {"name": name},
            "spec": {"bootstrapServers": [env.kafka.bootstrap()], "tls": tls},
        });
        env.kube.apply_ok(&connection.to_string());
        let group = Group::new(&env.kube, namespace, "through");
        let mut spec = spec("", 3, &["never"]);
        spec["kafka"] = json!({"connectionRef": {"name": name}});
        group.apply(&spec);
        let message = group.wait_for("Accepted", "False", "SecretNotFound");
        assert!(message.contains(kind), "{message}");
    }
    Group::new(&env.kube, namespace, "through").delete();
    name
}
