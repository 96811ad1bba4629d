//! Key schemes and Redis templates as users declare them, seen in the status that the operator writes.

use serde_json::json;

use crate::env::Env;
use crate::group::Group;
use crate::scene::{Scene, names};

fn says(group: &Group<'_>, status: &str, reason: &str, parts: &[&str]) {
    let message = group.wait_for("KeySchemesAligned", status, reason);
    for part in parts {
        assert!(message.contains(part), "no {part:?} in {message}");
    }
}

pub(crate) fn topics_written_by_different_clients_are_not_aligned(env: &Env) {
    let scene = Scene::new(env, "mismatch");
    let [a, b] = names(["java", "python"]);
    let mut spec = scene.spec(6, &[&a, &b]);
    spec["topics"][1]["keyScheme"] =
        json!({"encoding": "utf8", "partitioner": "crc32_spread_empty"});
    let group = scene.group("market-data");
    group.apply(&spec);
    says(
        &group,
        "False",
        "PartitionerMismatch",
        &[
            &format!("{a} (utf8/murmur2) and {b} (utf8/crc32_spread_empty)"),
            "BBCA 0 against 2",
        ],
    );
    group.wait_for("Ready", "False", "PartitionerMismatch");
    group.wait_for("Stalled", "True", "ActionNeeded");
    // Counts are one thing and schemes another: the topics are there.
    group.wait_for("PartitionsAligned", "True", "Aligned");
    assert!(group.status().get("layout").is_none());

    // What the producer really is says the same, and the way out.
    spec["topics"][1] = json!({"name": b, "producers": [{"client": "confluent-python"}]});
    group.apply(&spec);
    says(
        &group,
        "False",
        "PartitionerMismatch",
        &[
            "confluent-python on ",
            "; in confluent-python that is murmur2_random",
        ],
    );
    spec["topics"][1]["producers"] =
        json!([{"client": "confluent-python", "partitioner": "murmur2_random"}]);
    group.apply(&spec);
    says(
        &group,
        "True",
        "SameScheme",
        &["the declared producer keeps to it"],
    );
    group.wait_ready();
    let layout = group.status()["layout"].clone();
    assert_eq!(layout["keys"][0]["hash"], "c9ecb712");
    assert_eq!(layout["emptyPartitions"], json!([4]));
    assert_eq!(layout["skew"], "2.40");
}

pub(crate) fn schemes_that_agree_at_this_count_say_what_breaks_them(env: &Env) {
    let scene = Scene::new(env, "equivalent");
    let [a, b] = names(["java", "platformatic"]);
    let mut spec = scene.spec(8, &[&a, &b]);
    spec["topics"][1]["keyScheme"] = json!({"encoding": "utf8", "partitioner": "murmur2_unsigned"});
    let group = scene.group("market-data");
    group.apply(&spec);
    says(
        &group,
        "True",
        "EquivalentSchemes",
        &["growing to 9 would break it"],
    );
    group.wait_ready();

    // A growth that would part keys is blocked although somebody consented to it.
    scene.produce(&a);
    scene.produce(&b);
    group.wait_until("records to be seen", |status| {
        status["holdsRecords"] == true
    });
    spec["partitions"] = json!(12);
    spec["acceptKeyMovement"] = crate::group::consent(&[&a, &b], 8, 12);
    group.apply(&spec);
    let message = group.wait_for("PartitionsAligned", "False", "GrowthBlocked");
    let parted = "place keys differently at 12 partitions";
    assert!(
        message.contains(parted) && message.contains("whatever was consented to"),
        "{message}"
    );
    says(&group, "True", "EquivalentSchemes", &[parted]);
    assert_eq!(env.kafka.partitions(&a), Some(8));
    // 16 is a power of two as well.
    spec["partitions"] = json!(16);
    spec["acceptKeyMovement"] = crate::group::consent(&[&a, &b], 8, 16);
    group.apply(&spec);
    group.wait_until("the growth", |status| status["recordedPartitions"] == 16);
    says(
        &group,
        "True",
        "EquivalentSchemes",
        &["alike at 16 partitions"],
    );
}

pub(crate) fn custom_and_framed_keys_are_neither_aligned_nor_blocked(env: &Env) {
    let scene = Scene::new(env, "unprovable");
    let [a, b, c, d] = names(["custom", "java", "avro", "avro"]);
    let custom = scene.group("custom");
    let mut spec = scene.spec(3, &[&a, &b]);
    spec["topics"][0]["keyScheme"] =
        json!({"encoding": "utf8", "partitioner": "custom", "name": "by-region"});
    custom.apply(&spec);
    let framed = scene.group("framed");
    let mut spec = scene.spec(3, &[&c, &d]);
    spec["keyScheme"]["encoding"] = json!("confluent:avro_string");
    framed.apply(&spec);
    says(&custom, "Unknown", "NotProvable", &["custom:by-region"]);
    custom.wait_ready();
    says(
        &framed,
        "Unknown",
        "NotProvable",
        &["confluent:ID:avro_string"],
    );
    framed.wait_ready();
    // With the id it can be calculated, and the id is part of what is hashed.
    spec["keyScheme"]["encoding"] = json!("confluent:1:avro_string");
    framed.apply(&spec);
    says(
        &framed,
        "True",
        "SameScheme",
        &["confluent:1:avro_string/murmur2"],
    );
    framed.wait_for("Ready", "True", "Aligned");
    let layout = framed.status()["layout"].clone();
    assert_eq!(layout["keys"][0]["bytes"], "00000000010842424341");
}

pub(crate) fn a_layout_that_loses_its_gaps_is_not_merged_with_the_old_one(env: &Env) {
    let scene = Scene::new(env, "gaps");
    let [a] = names(["updates"]);
    let group = scene.group("market-data");
    let mut spec = scene.spec(2, &[&a]);
    spec["sampleKeys"] = json!(["BBCA"]);
    group.apply(&spec);
    group.wait_ready();
    assert_eq!(group.status()["layout"]["emptyPartitions"], json!([1]));
    spec["sampleKeys"] = json!(["BBCA", "TLKM"]);
    group.apply(&spec);
    group.wait_until("both keys in the layout", |status| {
        status["layout"]["keysPerPartition"] == json!([1, 1])
    });
    let layout = group.status()["layout"].clone();
    assert_eq!(layout["emptyPartitions"], json!([]));
    assert_eq!(layout["skew"], "1.00");
}

pub(crate) fn redis_templates_share_a_slot_or_not(env: &Env) {
    let scene = Scene::new(env, "slots");
    let [a] = names(["updates"]);
    let group = scene.group("market-data");
    let mut spec = scene.spec(3, &[&a]);
    group.apply(&spec);
    group.wait_for("SlotsAligned", "Unknown", "Off");
    for (templates, status, reason) in [
        (["market:{%s}", "notif:{%s}"], "True", "SameSlot"),
        (["market:{%s}", "notif:%s"], "False", "UntaggedTemplate"),
        (["market:{%s}", "notif:{n:%s}"], "False", "TagMismatch"),
    ] {
        spec["redis"] = json!({"keyTemplates": templates});
        group.apply(&spec);
        group.wait_for("SlotsAligned", status, reason);
        // Evidence that does not gate Ready.
        group.wait_ready();
    }
}
