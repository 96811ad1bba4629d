//! What a claim tells the admission policies of a topic that its group only refers to.

use serde_json::{Value, json};

use crate::env::{Env, unique, wait_for};
use crate::group::{DEADLINE, Group, consent};
use crate::scene::{Scene, names};

/// What the claim says of its one referenced topic, once it is as wanted.
fn wait_for_reference(group: &Group<'_>, guarded: bool, counts: &[i32]) {
    let wanted = (json!(guarded), json!(counts));
    wait_for(&format!("{wanted:?} in the claim"), DEADLINE, || {
        let claim = group.claim().unwrap_or_default();
        let seen = &claim["spec"]["references"][0];
        let is_guarded = seen["guarded"] == true;
        if (json!(is_guarded), seen["counts"].clone()) == wanted {
            Ok(())
        } else {
            Err(claim.to_string())
        }
    });
}

pub(crate) fn a_guarded_reference_may_have_the_count_that_its_group_waits_for(env: &Env) {
    let scene = Scene::new(env, "guarded");
    let [own, theirs] = names(["own", "theirs"]);
    let connection = unique("guarded");
    let connect = |guard: &Value| {
        let rule = json!({
            "namespaces": {"names": [scene.namespace]},
            "manage": [{"name": own}],
            "reference": [{"name": theirs}],
            "referenceGuard": guard,
        });
        let manifest = json!({
            "apiVersion": "copartition.dev/v1alpha1",
            "kind": "KafkaConnection",
            "metadata": {"name": connection},
            "spec": {"bootstrapServers": [env.kafka.bootstrap()], "rules": [rule]},
        });
        env.kube.apply_ok(&manifest.to_string());
    };
    connect(&json!("Deny"));
    env.kafka.create_topic(&theirs, 6);
    let group = scene.group("orders");
    let mut spec = scene.spec(6, &[&own, &theirs]);
    spec["kafka"] = json!({"connectionRef": {"name": connection}});
    spec["topics"][1]["management"] = json!("Referenced");
    group.apply(&spec);
    group.wait_ready();
    wait_for_reference(&group, true, &[6]);
    scene.produce(&own);
    group.wait_until("holdsRecords is true", |status| {
        status["holdsRecords"] == true
    });

    // The group asks for more: its owner may follow now, and has to, since the group waits.
    spec["partitions"] = json!(8);
    spec["acceptKeyMovement"] = consent(&[&own], 6, 8);
    group.apply(&spec);
    group.wait_for("PartitionsAligned", "False", "WaitingForReferenced");
    wait_for_reference(&group, true, &[6, 8]);
    env.kafka.grow_topic(&theirs, 8);
    group.wait_ready();
    wait_for_reference(&group, true, &[8]);

    // The platform team thinks again.
    connect(&json!("Warn"));
    wait_for_reference(&group, false, &[8]);
}
