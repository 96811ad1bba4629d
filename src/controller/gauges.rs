//! What `/metrics` shows of the moment at which it is asked for: which build this is, why groups are not fine, and how
//! old what is known of each Kafka cluster is. Labels are bounded: by the vocabulary, and by the connections in use.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use kube::runtime::reflector::Store;

use super::discovery::Discovery;
use super::reconcile::WatchedGroup;
use crate::kafka::Clusters;
use crate::plan::{ConditionType, Reason};

/// `copartition_build_info`, which is 1.
pub(super) fn build(text: &mut String) {
    let labels = format!(
        "version=\"{}\",commit=\"{}\"",
        env!("CARGO_PKG_VERSION"),
        crate::commit()
    );
    gauge(
        text,
        "copartition_build_info",
        "The build of this replica.",
        &[(labels, 1.0)],
    );
}

/// `copartition_groups_not_true`: groups by condition, status and reason, of all conditions that are not True. Those that
/// nobody asked for (reason Off) are left out, and so is what waits for people by their own will (Paused).
pub(super) fn reasons(text: &mut String, stores: &[Store<WatchedGroup>]) {
    let mut counts: BTreeMap<(&str, &str, &str), f64> = BTreeMap::new();
    for object in stores.iter().flat_map(Store::state) {
        let Ok(group) = &object.0 else { continue };
        for condition in group.status.iter().flat_map(|status| &status.conditions) {
            // Only known words: a status edited by hand must not make new labels.
            let kind = ConditionType::ALL
                .iter()
                .find(|kind| kind.as_str() == condition.type_);
            let state = ["False", "Unknown"]
                .into_iter()
                .find(|state| *state == condition.status);
            let reason = Reason::ALL
                .iter()
                .find(|reason| reason.as_str() == condition.reason);
            let (Some(kind), Some(state), Some(reason)) = (kind, state, reason) else {
                continue;
            };
            let fine = matches!(reason, Reason::Off | Reason::NotPaused | Reason::Settled);
            if !fine {
                let key = (kind.as_str(), state, reason.as_str());
                *counts.entry(key).or_default() += 1.0;
            }
        }
    }
    let samples: Vec<(String, f64)> = counts
        .into_iter()
        .map(|((condition, status, reason), count)| {
            let labels =
                format!("condition=\"{condition}\",status=\"{status}\",reason=\"{reason}\"");
            (labels, count)
        })
        .collect();
    gauge(
        text,
        "copartition_groups_not_true",
        "Groups by a condition that is not True, its status and its reason.",
        &samples,
    );
}

/// `copartition_kafka_snapshot_age_seconds` and `copartition_kafka_reachable` by cluster: its id, or its addresses until it
/// has told that. Several connections to one cluster count as their oldest.
pub(super) fn clusters(text: &mut String, clusters: &Clusters) {
    let mut seen: BTreeMap<String, (f64, bool)> = BTreeMap::new();
    for (connection, cluster) in clusters.all() {
        let name = cluster
            .id()
            .unwrap_or_else(|| connection.bootstrap_servers.join(","));
        let entry = seen.entry(name).or_insert((0.0, true));
        entry.0 = entry.0.max(cluster.snapshot_age().as_secs_f64());
        entry.1 &= cluster.health().reachable;
    }
    let samples = |value: fn((f64, bool)) -> f64| -> Vec<(String, f64)> {
        seen.iter()
            .map(|(name, one)| (format!("cluster=\"{}\"", escaped(name)), value(*one)))
            .collect()
    };
    gauge(
        text,
        "copartition_kafka_snapshot_age_seconds",
        "How long ago the last answered poll of a Kafka cluster began.",
        &samples(|one| one.0),
    );
    gauge(
        text,
        "copartition_kafka_reachable",
        "Whether a Kafka cluster answers; 0 after several polls in a row that failed.",
        &samples(|one| f64::from(u8::from(one.1))),
    );
}

/// `copartition_needed_sets` by cluster: sets of topics that Kafka Streams applications read together, by whether one group covers
/// each and whether its topics have one count.
pub(super) fn needed(text: &mut String, discovery: &Discovery) {
    let counts = discovery.counts();
    let samples = counts.iter().flat_map(|(cluster, standings)| {
        standings.iter().map(|(standing, sets)| {
            let counts = match standing.equal {
                Some(true) => "equal",
                Some(false) => "unequal",
                None => "unknown",
            };
            let labels = format!(
                "cluster=\"{}\",covered=\"{}\",counts=\"{counts}\"",
                escaped(cluster),
                standing.covered
            );
            (labels, f64::from(u32::try_from(*sets).unwrap_or(u32::MAX)))
        })
    });
    gauge(
        text,
        "copartition_needed_sets",
        "Sets of topics that Kafka Streams applications read together.",
        &samples.collect::<Vec<_>>(),
    );
}

fn gauge(text: &mut String, name: &str, help: &str, samples: &[(String, f64)]) {
    if samples.is_empty() {
        return;
    }
    // Writing to a String cannot fail.
    let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n");
    for (labels, value) in samples {
        let _ = writeln!(text, "{name}{{{labels}}} {value}");
    }
}

/// What a user wrote, as a label's value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_users_write_breaks_the_page() {
        let mut text = String::new();
        let name = format!("cluster=\"{}\"", escaped("a\"b\\c\nd"));
        gauge(&mut text, "x", "What.", &[(name, 0.5)]);
        assert_eq!(
            text,
            "# HELP x What.\n# TYPE x gauge\nx{cluster=\"a\\\"b\\\\c\\nd\"} 0.5\n"
        );
    }

    #[test]
    fn a_gauge_without_samples_is_not_there() {
        let mut text = String::new();
        gauge(&mut text, "x", "What.", &[]);
        assert_eq!(text, "");
    }
}
