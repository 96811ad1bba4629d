//! What the operator logs, as whoever collects logs gets it: one JSON object a line, with group, topic and cluster.

use serde_json::Value;

use crate::env::{Env, Operator, unique, wait_for};
use crate::group::{DEADLINE, Group, spec};
use crate::seen;

/// The lines of an operator's log that say `message`. Each line has to be an object of its own.
fn said(operator: &Operator, message: &str) -> Vec<Value> {
    let log = operator.log();
    // The last one may still be under way.
    let whole = log.rfind('\n').map(|end| &log[..end]).unwrap_or_default();
    let lines = whole.lines().map(|line| {
        let line: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        for field in ["timestamp", "level", "message", "target"] {
            assert!(line[field].is_string(), "no {field} in {line}");
        }
        line
    });
    lines.filter(|line| line["message"] == message).collect()
}

pub(crate) fn a_line_of_json_carries_group_topic_and_cluster(env: &Env) {
    let namespace = env.namespace("logs");
    let (steady, grown) = (unique("logs"), unique("logs"));
    let mut options = seen::options(&env.kube, &namespace, &["--log-format", "json"]);
    // As the chart sets it, so that this is what is collected.
    options.log = Some("info,kube_runtime=warn");
    let operator = Operator::start(&env.kube, options);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&steady, &grown]));
    group.wait_ready();
    env.kafka.grow_topic(&grown, 5);
    group.wait_for("PartitionsAligned", "False", "PartitionDrift");

    let name = format!("{namespace}/orders");
    let status = group.status();
    let cluster = status["clusterId"].as_str().expect("a cluster's id");
    let drift = wait_for("the drift in the log", DEADLINE, || {
        let verdicts = said(&operator, "a verdict changed");
        let drift = verdicts
            .into_iter()
            .find(|line| line["reason"] == "PartitionDrift");
        drift.ok_or_else(|| operator.log())
    });
    assert_eq!(drift["group"], *name, "{drift}");
    assert_eq!(drift["cluster"], *cluster, "{drift}");
    assert_eq!(drift["topics"], *grown, "{drift}");
    assert_eq!(drift["condition"], "PartitionsAligned", "{drift}");

    let written = said(&operator, "written to Kafka");
    for topic in [&steady, &grown] {
        let of: Vec<&Value> = written
            .iter()
            .filter(|line| line["topic"] == **topic)
            .collect();
        assert_eq!(of.len(), 1, "{topic} in {written:?}");
        assert_eq!(of[0]["action"], "create");
        assert_eq!(of[0]["group"], *name);
        assert_eq!(of[0]["cluster"], *cluster);
    }
}
