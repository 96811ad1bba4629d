//! A group's life against real servers: what is created, adopted, refused and left alone.

use serde_json::{Value, json};

use crate::env::{Env, text};
use crate::group::{TICKERS, condition, topic_status};
use crate::scene::{Scene, names};

pub(crate) fn missing_topics_are_created_as_declared(env: &Env) {
    let scene = Scene::new(env, "create");
    let [a, b] = names(["updates", "notes"]);
    let mut spec = scene.spec(6, &[&a, &b]);
    spec["topics"][0]["config"] = json!({"cleanup.policy": "compact", "retention.ms": "123456789"});
    let group = scene.group("market-data");
    group.apply(&spec);
    group.wait_ready();
    group.wait_for("TopicConfigsApplied", "True", "Applied");
    for topic in [&a, &b] {
        let seen = topic_status(&group.status(), topic);
        assert_eq!(seen["partitions"], 6, "{seen}");
        assert_eq!(seen["replicationFactor"], 1, "{seen}");
        assert_eq!(seen["verdict"], "Aligned", "{seen}");
        assert_eq!(env.kafka.partitions(topic), Some(6));
    }
    let config = env.kafka.topic_config(&a);
    assert_eq!(config["cleanup.policy"], "compact");
    assert_eq!(config["retention.ms"], "123456789");
    assert!(env.kafka.topic_config(&b).is_empty());

    let status = group.status();
    assert_eq!(status["clusterId"], env.kafka.id());
    assert_eq!(status["recordedPartitions"], 6);
    assert_eq!(status["holdsRecords"], false);
    assert_eq!(status["topicsAligned"], "2/2");
}

pub(crate) fn the_status_says_where_the_sample_keys_lie(env: &Env) {
    let scene = Scene::new(env, "layout");
    let [a, b, c] = names(["updates", "notes", "trades"]);
    let six = scene.group("six");
    six.apply(&scene.spec(6, &[&a, &b]));
    let eight = scene.group("eight");
    eight.apply(&scene.spec(8, &[&c]));

    six.wait_ready();
    let layout = six.status()["layout"].clone();
    assert_eq!(layout["scheme"], "utf8/murmur2");
    assert_eq!(layout["partitions"], 6);
    assert_eq!(layout["keysPerPartition"], json!([4, 1, 3, 1, 0, 1]));
    let wanted = [
        (0, ["BBCA", "BBRI", "BMRI", "BBNI"].as_slice()),
        (1, &["ANTM"]),
        (2, &["ASII", "GOTO", "ICBP"]),
        (3, &["UNVR"]),
        (5, &["TLKM"]),
    ];
    for (partition, keys) in wanted {
        for key in keys {
            assert_eq!(key_row(&layout, key)["partition"], partition, "{key}");
        }
    }
    assert_eq!(key_row(&layout, "BBCA")["bytes"], "42424341");
    let order: Vec<_> = layout["keys"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| &row["key"])
        .collect();
    assert_eq!(order, TICKERS, "in the order of the spec");

    // What the status says is where a real producer puts them.
    scene.produce(&a);
    let ends: Vec<_> = env.kafka.end_offsets(&a).into_values().collect();
    assert_eq!(ends, [4, 1, 3, 1, 0, 1]);

    eight.wait_ready();
    let layout = eight.status()["layout"].clone();
    assert_eq!(layout["partitions"], 8);
    assert_eq!(key_row(&layout, "BBCA")["partition"], 2);
}

fn key_row(layout: &Value, key: &str) -> Value {
    let mut rows = layout["keys"].as_array().into_iter().flatten();
    rows.find(|row| row["key"] == key)
        .cloned()
        .unwrap_or_else(|| panic!("no row of {key} in {layout}"))
}

pub(crate) fn existing_topics_are_adopted_as_they_are(env: &Env) {
    let scene = Scene::new(env, "adopt");
    let [a, b] = names(["updates", "notes"]);
    env.kafka
        .create_topic_with(&a, 6, &[("retention.ms", "123456789")]);
    scene.produce(&a);
    scene.topic_with_records(&b, 6);
    let before = env.kafka.end_offsets(&a);
    let group = scene.group("market-data");
    group.apply(&scene.spec(6, &[&a, &b]));
    group.wait_ready();
    assert_eq!(group.status()["holdsRecords"], true);
    scene.assert_never_writes(&[&a, &b]);
    assert_eq!(env.kafka.end_offsets(&a), before);
    assert_eq!(env.kafka.topic_config(&a)["retention.ms"], "123456789");
}

pub(crate) fn a_deleted_group_leaves_its_topics(env: &Env) {
    let scene = Scene::new(env, "leave");
    let [a, other] = names(["updates", "stays"]);
    // Without any group nobody looks at Kafka any more.
    let stays = scene.group("stays");
    stays.apply(&scene.spec(3, &[&other]));
    stays.wait_ready();
    let group = scene.group("market-data");
    group.apply(&scene.spec(3, &[&a]));
    group.wait_ready();
    assert_eq!(group.get()["metadata"]["finalizers"], Value::Null);
    scene.produce(&a);
    let before = env.kafka.end_offsets(&a);
    group.delete();
    scene.look_again();
    assert_eq!(env.kafka.end_offsets(&a), before);
}

pub(crate) fn a_referenced_topic_is_never_created_nor_configured(env: &Env) {
    let scene = Scene::new(env, "referenced");
    let [mine, theirs] = names(["updates", "payments"]);
    let mut spec = scene.spec(6, &[&mine, &theirs]);
    spec["topics"][1]["management"] = json!("Referenced");
    spec["topics"][1]["config"] = json!({"retention.ms": "123456789"});
    let group = scene.group("market-data");
    group.apply(&spec);
    let message = group.wait_for("PartitionsAligned", "False", "TopicMissing");
    assert!(
        message.contains(&format!("{theirs}: wanted, and seen nowhere")),
        "{message}"
    );
    group.wait_for("Reconciling", "True", "InProgress");
    scene.assert_never_writes(&[&theirs]);

    env.kafka.create_topic(&theirs, 4);
    let message = group.wait_for("PartitionsAligned", "False", "WaitingForReferenced");
    assert!(
        message.contains(&format!("{theirs}: wanted 6 partitions, seen 4")),
        "{message}"
    );
    env.kafka.grow_topic(&theirs, 6);
    group.wait_ready();
    let message = group.wait_for("TopicConfigsApplied", "False", "Observed");
    assert!(message.contains(&theirs), "{message}");
    scene.assert_never_writes(&[&theirs]);
    assert!(env.kafka.topic_config(&theirs).is_empty());
    assert_eq!(env.kafka.partitions(&mine), Some(6));
}

pub(crate) fn observe_reports_and_never_writes(env: &Env) {
    let scene = Scene::new(env, "observe");
    let [missing, low] = names(["updates", "notes"]);
    env.kafka.create_topic(&low, 4);
    let observed = |topic: &str| {
        let mut spec = scene.spec(6, &[topic]);
        spec["mode"] = json!("Observe");
        spec["topics"][0]["config"] = json!({"retention.ms": "1234567890"});
        spec
    };
    let absent = scene.group("absent");
    absent.apply(&observed(&missing));
    let lower = scene.group("lower");
    lower.apply(&observed(&low));
    absent.wait_for("PartitionsAligned", "False", "TopicMissing");
    absent.wait_for("Stalled", "True", "ActionNeeded");
    let message = lower.wait_for("PartitionsAligned", "False", "PartitionDrift");
    assert!(
        message.contains(&format!("{low}: expected 6 partitions, seen 4")),
        "{message}"
    );
    lower.wait_for("TopicConfigsApplied", "False", "Observed");
    scene.assert_never_writes(&[&missing, &low]);
    assert_eq!(
        lower.claim().expect("a claim")["spec"]["holds"],
        Value::Null
    );

    // The same specs in Enforce are what would have been written.
    for (group, topic) in [(&absent, &missing), (&lower, &low)] {
        let mut spec = observed(topic);
        spec["mode"] = json!("Enforce");
        group.apply(&spec);
        group.wait_ready();
        group.wait_for("TopicConfigsApplied", "True", "Applied");
        assert_eq!(env.kafka.partitions(topic), Some(6));
    }
}

pub(crate) fn a_paused_group_is_left_alone_until_the_pause_ends(env: &Env) {
    let scene = Scene::new(env, "pause");
    let [missing, low] = names(["updates", "notes"]);
    env.kafka.create_topic(&low, 4);
    let mut spec = scene.spec(6, &[&missing, &low]);
    spec["topics"][1]["config"] = json!({"retention.ms": "1234567890"});
    let group = scene.group("market-data");
    let mut object: Value = serde_json::from_str(&group.manifest(&spec)).expect("JSON");
    object["metadata"]["annotations"] = json!({"copartition.dev/paused": "true"});
    env.kube.apply_ok(&object.to_string());
    group.wait_for("Paused", "True", "Paused");
    let message = group.wait_for("PartitionsAligned", "False", "TopicMissing");
    assert!(
        message.contains("once the pause annotation is gone"),
        "{message}"
    );
    group.wait_for("TopicConfigsApplied", "False", "Observed");
    scene.assert_never_writes(&[&missing, &low]);

    let output = group.kubectl("annotate", &["copartition.dev/paused-"]);
    assert!(output.status.success(), "{}", text(&output));
    group.wait_for("Paused", "False", "NotPaused");
    group.wait_ready();
    group.wait_for("TopicConfigsApplied", "True", "Applied");
    assert_eq!(env.kafka.partitions(&missing), Some(6));
    assert_eq!(env.kafka.partitions(&low), Some(6));
}

pub(crate) fn one_refused_topic_stops_no_other(env: &Env) {
    let scene = Scene::new(env, "refused");
    let [a, bad, c] = names(["updates", "notes", "trades"]);
    let mut spec = scene.spec(6, &[&a, &bad, &c]);
    spec["topics"][1]["config"] = json!({"retention.ms": "soon"});
    let group = scene.group("market-data");
    group.apply(&spec);
    let message = group.wait_for("PartitionsAligned", "False", "CreateRejected");
    assert!(message.contains(&bad), "{message}");
    assert!(!message.contains(&a), "{message}");
    // The broker's own words.
    assert!(message.contains("Not a number of type LONG"), "{message}");
    group.wait_for("Stalled", "True", "ActionNeeded");
    let status = group.status();
    assert_eq!(status["topicsAligned"], "2/3");
    for topic in [&a, &c] {
        assert_eq!(topic_status(&status, topic)["verdict"], "Aligned");
        assert_eq!(env.kafka.partitions(topic), Some(6));
    }
    let refused = topic_status(&status, &bad);
    assert_eq!(refused["verdict"], "Rejected");
    assert!(
        refused["message"]
            .as_str()
            .is_some_and(|words| words.contains("Not a number of type LONG")),
        "{refused}"
    );

    spec["topics"][1]["config"] = json!({"retention.ms": "123456789"});
    group.apply(&spec);
    group.wait_ready();
}

pub(crate) fn a_replication_factor_that_kafka_cannot_give_is_said_in_its_words(env: &Env) {
    let scene = Scene::new(env, "replicas");
    let [there, missing] = names(["updates", "notes"]);
    env.kafka.create_topic(&there, 6);
    let mut spec = scene.spec(6, &[&there, &missing]);
    spec["replicationFactor"] = json!(3);
    let group = scene.group("market-data");
    group.apply(&spec);
    let message = group.wait_for("PartitionsAligned", "False", "CreateRejected");
    assert!(message.contains(&missing), "{message}");
    assert!(
        message.contains("The target replication factor of 3 cannot be reached"),
        "{message}"
    );
    let status = group.status();
    let seen = topic_status(&status, &there);
    assert_eq!(seen["verdict"], "Aligned", "{seen}");
    // Of a topic that exists the difference is only reported.
    assert!(
        seen["message"]
            .as_str()
            .is_some_and(|words| words.contains("replication factor: wanted 3, seen 1")),
        "{seen}"
    );
    assert_eq!(scene.writes(&there), []);
}

pub(crate) fn kubectl_get_shows_the_verdicts(env: &Env) {
    let scene = Scene::new(env, "columns");
    let [a, b, c, d] = names(["updates", "notes", "trades", "quotes"]);
    let good = scene.group("good");
    good.apply(&scene.spec(6, &[&a, &b]));
    env.kafka.create_topic(&c, 8);
    let drifted = scene.group("grown");
    drifted.apply(&scene.spec(6, &[&c, &d]));
    good.wait_ready();
    drifted.wait_for("Ready", "False", "PartitionDrift");
    let table = env
        .kube
        .kubectl_ok(&["get", "cptg", "-n", &scene.namespace]);
    let mut lines = table.lines().map(|line| line.split_whitespace().collect());
    let mut line = || -> Vec<&str> { lines.next().unwrap_or_default() };
    let header = [
        "NAME",
        "PARTITIONS",
        "TOPICS",
        "ALIGNED",
        "CONFIGS",
        "VERIFIED",
        "COLOCATED",
        "READY",
        "REASON",
        "AGE",
    ];
    assert_eq!(line(), header, "{table}");
    let row = line();
    let wanted = [
        "good", "6", "2/2", "True", "True", "Unknown", "Unknown", "True", "Aligned",
    ];
    assert_eq!(row[..9], wanted, "{table}");
    // No count was ever seen on all its topics, so that column is empty.
    let row = line();
    let wanted = [
        "grown",
        "0/2",
        "False",
        "True",
        "Unknown",
        "Unknown",
        "False",
        "PartitionDrift",
    ];
    assert_eq!(row[..8], wanted, "{table}");
}

pub(crate) fn a_converged_group_is_written_no_more(env: &Env) {
    let scene = Scene::new(env, "quiet");
    let [a, b] = names(["updates", "notes"]);
    let mut spec = scene.spec(6, &[&a, &b]);
    spec["topics"][0]["config"] = json!({"retention.ms": "123456789"});
    let group = scene.group("market-data");
    group.apply(&spec);
    group.wait_ready();
    group.wait_for("TopicConfigsApplied", "True", "Applied");
    scene.look_again();
    let before = (group.resource_version(), scene.writes(&a).len());
    let claim = group.claim().expect("a claim")["metadata"]["resourceVersion"].clone();
    // Records arrive all the time; only the first ones are news.
    scene.produce(&b);
    group.wait_until("holdsRecords is true", |status| {
        status["holdsRecords"] == true
    });
    let after_records = group.resource_version();
    scene.produce(&b);
    scene.look_again();
    assert_ne!(before.0, after_records);
    assert_eq!(group.resource_version(), after_records);
    assert_eq!(scene.writes(&a).len(), before.1);
    assert_ne!(claim, Value::Null);
    assert_eq!(condition(&group.status(), "Ready")["status"], "True");
}
