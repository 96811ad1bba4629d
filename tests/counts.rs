//! Partition counts that are unset, disagree or drift, against real servers.

use crate::env::Env;
use crate::group::{consent, topic_status};
use crate::scene::{Scene, names};

pub(crate) fn an_unset_count_is_the_one_that_existing_topics_share(env: &Env) {
    let scene = Scene::new(env, "unset");
    let [a, b, c] = names(["updates", "notes", "trades"]);
    env.kafka.create_topic(&a, 5);
    env.kafka.create_topic(&b, 5);
    let group = scene.group("market-data");
    let spec = scene.spec(None, &[&a, &b, &c]);
    group.apply(&spec);
    group.wait_ready();
    assert_eq!(env.kafka.partitions(&c), Some(5));
    assert_eq!(group.status()["recordedPartitions"], 5);
    // From now on it is the group's count, whoever changes the topics.
    env.kafka.grow_topic(&a, 7);
    let message = group.wait_for("PartitionsAligned", "False", "PartitionDrift");
    assert!(
        message.contains(&format!("{a}: expected 5 partitions, seen 7")),
        "{message}"
    );
    assert_eq!(group.get()["spec"], spec, "the count is not written there");
}

pub(crate) fn an_unset_count_stays_open_while_topics_disagree(env: &Env) {
    let scene = Scene::new(env, "disagree");
    let [a, b, c] = names(["updates", "notes", "trades"]);
    env.kafka.create_topic(&a, 5);
    env.kafka.create_topic(&b, 6);
    let group = scene.group("market-data");
    group.apply(&scene.spec(None, &[&a, &b, &c]));
    let message = group.wait_for("PartitionsAligned", "False", "CountsDisagree");
    assert!(message.contains(&format!("{a} has 5")), "{message}");
    assert!(message.contains(&format!("{b} has 6")), "{message}");
    group.wait_for("Ready", "False", "CountsDisagree");
    group.wait_for("Stalled", "True", "ActionNeeded");
    scene.assert_never_writes(&[&a, &b, &c]);
}

pub(crate) fn an_unset_count_stays_open_while_no_topic_exists(env: &Env) {
    let scene = Scene::new(env, "unknown");
    let [a, b] = names(["updates", "notes"]);
    let group = scene.group("market-data");
    group.apply(&scene.spec(None, &[&a, &b]));
    let message = group.wait_for("PartitionsAligned", "False", "CountUnknown");
    assert!(message.contains("Set spec.partitions"), "{message}");
    group.wait_for("Stalled", "True", "ActionNeeded");
    scene.assert_never_writes(&[&a, &b]);
    // The first topic that comes decides.
    env.kafka.create_topic(&a, 4);
    group.wait_ready();
    assert_eq!(env.kafka.partitions(&b), Some(4));
}

pub(crate) fn a_topic_with_more_partitions_than_asked_freezes_the_group(env: &Env) {
    let scene = Scene::new(env, "above");
    let [a, b, c] = names(["updates", "notes", "trades"]);
    env.kafka.create_topic(&a, 8);
    env.kafka.create_topic(&b, 4);
    let group = scene.group("market-data");
    group.apply(&scene.spec(6, &[&a, &b, &c]));
    let message = group.wait_for("PartitionsAligned", "False", "PartitionDrift");
    assert!(
        message.contains(&format!("{a}: expected 6 partitions, seen 8")),
        "{message}"
    );
    assert!(message.contains("set spec.partitions: 8"), "{message}");
    group.wait_for("Stalled", "True", "ActionNeeded");
    assert_eq!(topic_status(&group.status(), &a)["verdict"], "Drifted");
    // Neither the empty one is grown nor the missing one created: they could not be taken back.
    scene.assert_never_writes(&[&a, &b, &c]);
}

pub(crate) fn a_count_changed_behind_the_operators_back_is_drift(env: &Env) {
    let scene = Scene::new(env, "drift");
    let [a, b] = names(["updates", "notes"]);
    let group = scene.group("market-data");
    group.apply(&scene.spec(6, &[&a, &b]));
    group.wait_ready();
    scene.produce(&b);
    env.kafka.grow_topic(&a, 8);
    let message = group.wait_for("PartitionsAligned", "False", "PartitionDrift");
    assert!(
        message.contains(&format!("{a}: expected 6 partitions, seen 8")),
        "{message}"
    );
    let way_out =
        format!("acceptKeyMovement: {{topics: [{b}], fromPartitions: 6, toPartitions: 8}}");
    assert!(message.contains(&way_out), "{message}");
    scene.assert_never_grows(&[&a, &b]);

    let mut spec = scene.spec(8, &[&a, &b]);
    spec["acceptKeyMovement"] = consent(&[&b], 6, 8);
    group.apply(&spec);
    group.wait_ready();
    assert_eq!(env.kafka.partitions(&b), Some(8));
}
