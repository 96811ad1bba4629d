//! Claims as memory: what is known of a group survives whatever happens to the group, to the operator and to the claim.

use serde_json::{Value, json};

use crate::claims::{SHORT, by_hand, remembered, wait_collected, wait_remembered};
use crate::env::{ControlPlane, Env, KafkaCluster, KafkaOptions, Operator, unique, wait_for};
use crate::group::{DEADLINE, Group, consent, spec};
use crate::seen::{USER, api_writes, events, kafka_writes, operator, options, wait_polls};

pub(crate) fn a_claim_that_somebody_deletes_or_edits_is_written_again(env: &Env) {
    let namespace = env.namespace("by-hand");
    let topic = unique("by-hand");
    let _operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&topic]));
    group.wait_ready();
    let before = remembered(&group);

    by_hand(env, &group, "delete", &[]);
    wait_remembered(&group, "the deleted claim to be there again", |claim| {
        *claim == before
    });

    let edit = json!({"spec": {"recordedPartitions": 99, "holds": [], "spentConsents": []}});
    by_hand(
        env,
        &group,
        "patch",
        &["--type=merge", "-p", &edit.to_string()],
    );
    wait_remembered(&group, "the edited claim to be as it was", |claim| {
        *claim == before
    });
    group.wait_ready();
    assert_eq!(kafka_writes(&env.kafka, &[&topic]), ["CREATE_TOPICS"]);
}

pub(crate) fn a_claim_deleted_while_the_operator_is_stopped_comes_back_from_the_status(env: &Env) {
    let namespace = env.namespace("from-status");
    let (a, b) = (unique("from-status"), unique("from-status"));
    env.kafka.create_topic(&a, 3);
    let mut first = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    // The count is not in the spec: it is remembered or lost.
    group.apply(&spec(&env.kafka.bootstrap(), None, &[&a, &b]));
    group.wait_ready();
    let before = remembered(&group);
    assert!(first.stop().success());

    by_hand(env, &group, "delete", &[]);
    for topic in [&a, &b] {
        env.kafka.grow_topic(topic, 5);
    }
    let _second = operator(env, &namespace, &[]);
    let message = group.wait_for("PartitionsAligned", "False", "PartitionDrift");
    assert!(
        message.contains("expected 3 partitions, seen 5"),
        "{message}"
    );
    let after = remembered(&group);
    assert_eq!(after["recordedPartitions"], 3);
    for field in ["topicId", "counts"] {
        assert_eq!(
            after["holds"][0][field], before["holds"][0][field],
            "{after}"
        );
    }
}

/// Stops the operator, deletes the group's claim by hand and starts the operator again.
fn lose_the_claim(env: &Env, mut running: Operator, group: &Group<'_>) -> Operator {
    assert!(running.stop().success());
    by_hand(env, group, "delete", &[]);
    let again = operator(env, &group.namespace, &[]);
    wait_polls(&again, 3);
    again
}

pub(crate) fn what_was_deleted_or_replaced_is_not_new_because_the_claim_was_lost(env: &Env) {
    let other = KafkaCluster::start(env.root(), 1, KafkaOptions::default());
    let namespace = env.namespace("lost");
    let mut running = operator(env, &namespace, &[]);
    let [gone, swapped, moved] = ["gone", "swapped", "moved"].map(|name| {
        let group = Group::new(&env.kube, &namespace, name);
        let topic = unique(name);
        group.apply(&spec(&env.kafka.bootstrap(), 3, &[&topic]));
        group.wait_ready();
        (group, topic)
    });
    env.kafka.delete_topic(&gone.1);
    env.kafka.delete_topic(&swapped.1);
    env.kafka.create_topic(&swapped.1, 3);
    moved.0.apply(&spec(&other.bootstrap(), 3, &[&moved.1]));
    let states = [
        (&gone.0, "TopicDeleted"),
        (&swapped.0, "TopicRecreated"),
        (&moved.0, "ClusterChanged"),
    ];
    for (group, reason) in states {
        group.wait_for("PartitionsAligned", "False", reason);
    }

    for (group, _) in states {
        running = lose_the_claim(env, running, group);
    }
    for (group, reason) in states {
        group.wait_for("PartitionsAligned", "False", reason);
    }
    assert_eq!(env.kafka.partitions(&gone.1), None, "it was created anew");
    assert_eq!(
        other.partitions(&moved.1),
        None,
        "another cluster was written to"
    );
    drop(running);
}

pub(crate) fn a_group_that_is_replaced_by_force_inherits_its_memory(env: &Env) {
    let namespace = env.namespace("replaced");
    let topic = unique("replaced");
    let _operator = operator(env, &namespace, &SHORT);
    let group = Group::new(&env.kube, &namespace, "orders");
    let mut wanted = spec(&env.kafka.bootstrap(), 3, &[&topic]);
    group.apply(&wanted);
    group.wait_ready();
    env.kafka.produce(&topic, &[("BBCA", "1")]);
    wanted["partitions"] = json!(4);
    wanted["acceptKeyMovement"] = consent(&[&topic], 3, 4);
    group.apply(&wanted);
    group.wait_ready();
    let mut before = remembered(&group);

    let force = ["replace", "--force", "-f", "-"];
    let output = env
        .kube
        .kubectl_with_input(&force, &group.manifest(&wanted));
    assert!(output.status.success(), "{}", crate::env::text(&output));
    group.wait_ready();
    let uid = group.get()["metadata"]["uid"].clone();
    assert_ne!(before["group"]["uid"], uid);
    before["group"]["uid"] = uid;
    wait_remembered(&group, "the same memory under the new uid", |claim| {
        *claim == before
    });
    assert_eq!(
        before["spentConsents"].as_array().map(Vec::len),
        Some(1),
        "{before}"
    );

    // The same after it was away, as long as the claim was not collected: also the recorded count is remembered.
    let retained = Group::new(&env.kube, &namespace, "marker");
    retained.apply(&spec(&env.kafka.bootstrap(), 1, &[&unique("marker")]));
    retained.wait_ready();
    retained.delete();
    wait_collected(&retained);
    assert_eq!(
        remembered(&group),
        before,
        "the claim of a group that is there was touched"
    );
}

pub(crate) fn the_memory_of_another_kubernetes_cluster_is_not_acted_on_until_acknowledged(
    env: &Env,
) {
    let namespace = env.namespace("foreign");
    let (topic, missing) = (unique("foreign"), unique("foreign"));
    let mut first = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&topic]));
    group.wait_ready();
    assert!(first.stop().success());
    let ours = remembered(&group);
    let uid = "11111111-2222-3333-4444-555555555555";
    let edit = json!({"spec": {"kubeSystemUid": uid}}).to_string();
    by_hand(env, &group, "patch", &["--type=merge", "-p", &edit]);
    let foreign = remembered(&group);
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&topic, &missing]));

    let second = operator(env, &namespace, &SHORT);
    let message = group.wait_for("Accepted", "False", "ForeignMemory");
    let way_out = format!("copartition.dev/acknowledge: \"{uid}\"");
    assert!(message.contains(&way_out), "{message}");
    wait_polls(&second, 2);
    assert_eq!(kafka_writes(&env.kafka, &[&missing]), [""; 0]);
    assert_eq!(remembered(&group), foreign, "a foreign claim was written");

    group.acknowledge(uid);
    group.wait_ready();
    assert_eq!(env.kafka.partitions(&missing), Some(3));
    let claim = remembered(&group);
    assert_eq!(claim["kubeSystemUid"], ours["kubeSystemUid"]);
    assert_eq!(claim["recordedPartitions"], ours["recordedPartitions"]);
}

pub(crate) fn the_claim_of_another_installation_is_left_alone(env: &Env) {
    let namespace = env.namespace("installations");
    let (topic, missing) = (unique("installed"), unique("installed"));
    let mut first = operator(env, &namespace, &["--installation", "first"]);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&topic]));
    group.wait_ready();
    assert!(first.stop().success());
    let before = remembered(&group);
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&topic, &missing]));

    let mut second = operator(env, &namespace, &["--installation", "second"]);
    let message = group.wait_for("Accepted", "False", "ManagedByOther");
    assert!(
        message.contains("\"first\"") && message.contains("\"second\""),
        "{message}"
    );
    wait_polls(&second, 2);
    assert_eq!(kafka_writes(&env.kafka, &[&missing]), [""; 0]);
    assert_eq!(remembered(&group), before);
    assert!(second.stop().success());

    let _first = operator(env, &namespace, &["--installation", "first"]);
    group.wait_ready();
    assert_eq!(env.kafka.partitions(&missing), Some(3));
}

pub(crate) fn a_namespace_goes_while_the_operator_is_stopped_and_its_topics_stay(env: &Env) {
    let namespace = env.namespace("goes");
    let topic = unique("stays");
    let mut first = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&topic]));
    group.wait_ready();
    let claim = group.claim().expect("a claim");
    for object in [&group.get(), &claim] {
        assert_eq!(object["metadata"]["finalizers"], Value::Null, "{object}");
    }
    assert!(first.stop().success());
    env.kube
        .kubectl_ok(&["delete", "namespace", &namespace, "--timeout=60s"]);

    // Its Lease went with the namespace.
    let lease = ["--lease-namespace", &env.namespace("stays")];
    let _second = operator(env, &namespace, &[&SHORT[..], &lease[..]].concat());
    wait_collected(&group);
    assert_eq!(env.kafka.partitions(&topic), Some(3));
    assert_eq!(kafka_writes(&env.kafka, &[&topic]), ["CREATE_TOPICS"]);
    let deletes = api_writes(&env.kube, &namespace);
    let deletes: Vec<_> = deletes.iter().filter(|w| w.starts_with("delete")).collect();
    assert_eq!(deletes, ["delete copartitionclaims 200"]);
}

pub(crate) fn two_installations_over_one_namespace_never_write_in_turn(env: &Env) {
    let namespace = env.namespace("both");
    let topic = unique("both");
    let mut first = operator(env, &namespace, &["--installation", "first"]);
    let group = Group::new(&env.kube, &namespace, "orders");
    let mut wanted = spec(&env.kafka.bootstrap(), 3, &[&topic]);
    group.apply(&wanted);
    group.wait_ready();
    let second = operator(env, &namespace, &["--installation", "second"]);
    wait_for("an Event that says whose group it is", DEADLINE, || {
        let events = events(&env.kube, &namespace);
        let told = |(_, reason, _): &&(String, String, u64)| reason == "ManagedByOther";
        events
            .iter()
            .find(told)
            .map_or_else(|| Err(format!("{events:?}")), |_| Ok(()))
    });
    // Each of them has looked at the group; neither has anything more to say.
    let version = group.resource_version();
    for operator in [&first, &second] {
        wait_polls(operator, 3);
    }
    assert_eq!(group.resource_version(), version, "written in turn");

    // The owner's answer to a change is the only one.
    wanted["partitions"] = json!(4);
    group.apply(&wanted);
    group.wait_ready();
    let version = group.resource_version();
    wait_polls(&second, 3);
    assert_eq!(group.resource_version(), version, "written in turn");

    // It is gone, and its group is changed: the other one says so and does nothing, until it is told to take over.
    assert!(first.stop().success());
    wanted["partitions"] = json!(5);
    group.apply(&wanted);
    group.wait_for("Accepted", "False", "ManagedByOther");
    assert_eq!(env.kafka.partitions(&topic), Some(4));
    drop(second);
    let take_over = ["--installation", "second", "--take-over-from", "first"];
    let second = operator(env, &namespace, &take_over);
    group.wait_ready();
    assert_eq!(env.kafka.partitions(&topic), Some(5));
    assert_eq!(remembered(&group)["installation"], "second");

    // The first one comes back and leaves it alone.
    let version = group.resource_version();
    let first = operator(env, &namespace, &["--installation", "first"]);
    wait_polls(&first, 3);
    wait_polls(&second, 3);
    assert_eq!(group.resource_version(), version, "written in turn");
}

pub(crate) fn a_second_kubernetes_cluster_on_the_same_kafka_shows_up_as_drift(env: &Env) {
    let namespace = env.namespace("here");
    let topic = unique("shared");
    let _here = operator(env, &namespace, &[]);
    let ours = Group::new(&env.kube, &namespace, "orders");
    ours.apply(&spec(&env.kafka.bootstrap(), 3, &[&topic]));
    ours.wait_ready();

    let kube = ControlPlane::start(env.root());
    kube.install_crds();
    kube.kubectl_ok(&["create", "namespace", "there"]);
    let _there = Operator::start(&kube, options(&kube, "there", &[]));
    let theirs = Group::new(&kube, "there", "orders");
    let mut wanted = spec(&env.kafka.bootstrap(), None, &[&topic]);
    theirs.apply(&wanted);
    theirs.wait_ready();
    assert_eq!(theirs.status()["recordedPartitions"], 3);
    wanted["partitions"] = json!(4);
    theirs.apply(&wanted);
    theirs.wait_ready();
    let message = ours.wait_for("PartitionsAligned", "False", "PartitionDrift");
    assert!(message.contains('3') && message.contains('4'), "{message}");

    // All claims were read with one list when it began to lead, and never again, nor one by one.
    let reads = kube.audit(|event| {
        event["user"]["username"] == USER
            && event["objectRef"]["resource"] == "copartitionclaims"
            && ["get", "list"].iter().any(|verb| event["verb"] == *verb)
    });
    assert_eq!(reads.len(), 1, "{reads:?}");
}
