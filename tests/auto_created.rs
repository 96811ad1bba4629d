//! A topic that a client creates by using it, before its group is applied.

use serde_json::json;

use crate::env::{Env, KafkaCluster, KafkaOptions, unique};
use crate::group::{self, Group};
use crate::scene::Scene;

pub(crate) fn a_topic_that_a_client_created_too_early_is_told_from_one_that_drifted(env: &Env) {
    let options = KafkaOptions {
        properties: ["auto.create.topics.enable=true", "num.partitions=3"]
            .map(str::to_owned)
            .to_vec(),
        ..KafkaOptions::default()
    };
    let kafka = KafkaCluster::start(env.root(), 1, options);
    let scene = Scene::new(env, "auto-created");
    let group = |name: &str| Group::new(&env.kube, &scene.namespace, name);
    let [early, other, drifted] = ["early", "other", "drifted"].map(unique);
    kafka.produce_unasked(&early);
    kafka.wait_for_partitions(&early, 3);

    let orders = group("orders");
    let mut spec = group::spec(&kafka.bootstrap(), 6, &[&early]);
    orders.apply(&spec);
    let message = orders.wait_for("PartitionsAligned", "False", "GrowthBlocked");
    assert!(
        message.contains("3 is what brokers give a topic without asking (num.partitions)")
            && message.contains(&format!("created {early} by"))
            && message.contains("auto.create.topics.enable=false"),
        "{message}"
    );
    // The way out is what it always is.
    spec["acceptKeyMovement"] = group::consent(&[&early], 3, 6);
    orders.apply(&spec);
    orders.wait_ready();

    // No count is declared, and one of two topics is somebody's accident.
    kafka.create_topic(&other, 6);
    let accident = unique("accident");
    kafka.produce_unasked(&accident);
    let mixed = group("mixed");
    mixed.apply(&group::spec(&kafka.bootstrap(), None, &[&other, &accident]));
    let message = mixed.wait_for("PartitionsAligned", "False", "CountsDisagree");
    assert!(
        message.contains(&format!("created {accident} by")),
        "{message}"
    );

    // Grown by a person to what happens to be the default: no client did that.
    let grown = group("grown");
    let mut spec = group::spec(&kafka.bootstrap(), 2, &[&drifted]);
    grown.apply(&spec);
    grown.wait_ready();
    kafka.grow_topic(&drifted, 3);
    let message = grown.wait_for("PartitionsAligned", "False", "PartitionDrift");
    assert!(!message.contains("num.partitions"), "{message}");
    spec["partitions"] = json!(3);
    grown.apply(&spec);
    grown.wait_ready();
}
