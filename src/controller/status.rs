//! Step 6, report: what a pass found out becomes the resource's status, and one write if it differs.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition as KubeCondition, Time};
use kube::Resource;
use kube::api::{Api, Patch, PatchParams};
use kube::core::NamespaceResourceScope;
use serde_json::{Value, json};

use super::validate::management;
use crate::api::{GroupStatus, LayoutKey, LayoutStatus, TopicStatus};
use crate::keys::Placement;
use crate::layout::hex;
use crate::plan::{
    Condition, ConditionType, Layout, Reason, Report, State, TopicReport, refused, summarise,
};

/// The longest message of a topic; the schema bounds it.
const LONGEST_TOPIC_MESSAGE: usize = 1024;
/// The longest message of a condition; Kubernetes bounds it (metav1.Condition).
const LONGEST_MESSAGE: usize = 32_768;
/// The most entries of `layout.keysPerPartition`; the schema bounds it.
const MOST_PARTITIONS_SHOWN: usize = 100;
/// Fields of the status that a pass may leave out: a merge patch has to say `null` to take them away.
const OPTIONAL: [&str; 8] = [
    "clusterId",
    "recordedPartitions",
    "holdsRecords",
    "topicsAligned",
    "topics",
    "layout",
    "verification",
    "conditions",
];

/// The status of a report. Conditions that have the status of their predecessor keep its transition time.
pub(super) fn status(
    report: &Report,
    reachable: Condition,
    generation: Option<i64>,
    observing: bool,
    old: Option<&GroupStatus>,
    now: Timestamp,
) -> GroupStatus {
    let mut conditions = report.conditions.clone();
    // KafkaReachable stands second, behind Accepted.
    conditions.insert(1.min(conditions.len()), reachable);
    let summary = summarise(&conditions, observing);
    conditions.extend(summary);
    let aligned = report
        .topics
        .iter()
        .filter(|topic| topic.verdict == crate::plan::Verdict::Aligned)
        .count();
    GroupStatus {
        observed_generation: generation,
        cluster_id: report.cluster_id.clone(),
        recorded_partitions: report.recorded,
        holds_records: report.holds_records,
        topics_aligned: (!report.topics.is_empty())
            .then(|| format!("{aligned}/{}", report.topics.len())),
        topics: report.topics.iter().map(topic_status).collect(),
        layout: report.layout.as_ref().map(layout_status),
        verification: None,
        conditions: conditions
            .iter()
            .map(|condition| kube_condition(condition, generation, known(old), now))
            .collect(),
    }
}

/// The status while Kafka does not answer: the verdicts on this generation stand, those on an earlier one are open.
pub(super) fn kept(
    old: &GroupStatus,
    reachable: &Condition,
    generation: Option<i64>,
    observing: bool,
    paused: &Condition,
    now: Timestamp,
) -> GroupStatus {
    let mut conditions: Vec<Condition> = Vec::new();
    for kind in ConditionType::ALL {
        let carried = match kind {
            ConditionType::KafkaReachable => Some(reachable.clone()),
            ConditionType::Paused => Some(paused.clone()),
            ConditionType::Ready | ConditionType::Reconciling | ConditionType::Stalled => None,
            kind => Some(carry(*kind, old, generation)),
        };
        conditions.extend(carried);
    }
    conditions.extend(summarise(&conditions, observing));
    GroupStatus {
        observed_generation: generation,
        conditions: conditions
            .iter()
            .map(|condition| kube_condition(condition, generation, &old.conditions, now))
            .collect(),
        ..old.clone()
    }
}

/// The condition Paused alone.
pub(super) fn paused(paused: bool) -> Condition {
    let all = refused(Reason::Pending, State::Unknown, "", paused).conditions;
    let fallback = Condition::new(ConditionType::Paused, State::Unknown, Reason::Pending, "");
    all.into_iter()
        .find(|condition| condition.kind == ConditionType::Paused)
        .unwrap_or(fallback)
}

fn carry(kind: ConditionType, old: &GroupStatus, generation: Option<i64>) -> Condition {
    let open = || {
        let reason = if kind == ConditionType::Accepted {
            Reason::ClusterUnknown
        } else {
            Reason::Pending
        };
        Condition::new(
            kind,
            State::Unknown,
            reason,
            "Kafka has not answered since the spec changed",
        )
    };
    let Some(last) = find(old, kind) else {
        return open();
    };
    let reason = Reason::ALL
        .iter()
        .find(|reason| reason.as_str() == last.reason);
    match reason {
        Some(reason) if last.observed_generation == generation => {
            Condition::new(kind, parse(&last.status), *reason, last.message.clone())
        }
        _ => open(),
    }
}

pub(super) fn parse(status: &str) -> State {
    match status {
        "True" => State::True,
        "False" => State::False,
        _ => State::Unknown,
    }
}

/// The condition of that type in a status.
pub(super) fn find(status: &GroupStatus, kind: ConditionType) -> Option<&KubeCondition> {
    status
        .conditions
        .iter()
        .find(|condition| condition.type_ == kind.as_str())
}

/// A condition as Kubernetes knows them. One that has the status of its predecessor among `old` keeps its transition time.
pub(super) fn kube_condition(
    condition: &Condition,
    generation: Option<i64>,
    old: &[KubeCondition],
    now: Timestamp,
) -> KubeCondition {
    let last = old.iter().find(|last| {
        last.type_ == condition.kind.as_str() && last.status == condition.state.as_str()
    });
    KubeCondition {
        type_: condition.kind.as_str().to_owned(),
        status: condition.state.as_str().to_owned(),
        reason: condition.reason.as_str().to_owned(),
        message: shortened(&condition.message, LONGEST_MESSAGE),
        observed_generation: generation,
        last_transition_time: last.map_or_else(
            || Time(seconds(now)),
            |last| last.last_transition_time.clone(),
        ),
    }
}

fn known(old: Option<&GroupStatus>) -> &[KubeCondition] {
    old.map_or(&[], |old| &old.conditions)
}

/// Kubernetes keeps whole seconds in these times; a fraction would come back different and look like a change.
fn seconds(now: Timestamp) -> Timestamp {
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(longest.saturating_sub(1)).collect();
    short.push('…');
    short
}

fn topic_status(topic: &TopicReport) -> TopicStatus {
    TopicStatus {
        name: topic.name.clone(),
        management: Some(management(topic.managed)),
        topic_id: topic.id.clone(),
        partitions: topic.partitions,
        replication_factor: topic.replication_factor,
        verdict: topic.verdict.as_str().to_owned(),
        message: topic
            .message
            .as_ref()
            .map(|message| shortened(message, LONGEST_TOPIC_MESSAGE)),
    }
}

fn layout_status(layout: &Layout) -> LayoutStatus {
    LayoutStatus {
        scheme: layout.scheme.to_string(),
        partitions: layout.tally.partitions(),
        keys: layout
            .rows
            .iter()
            .map(|row| LayoutKey {
                key: row.key.clone(),
                bytes: hex(&row.bytes),
                hash: row.hash.map(|hash| format!("{hash:08x}")),
                partition: match row.placement {
                    Placement::At(partition) => Some(partition),
                    Placement::Spread | Placement::Unknown => None,
                },
            })
            .collect(),
        keys_per_partition: layout
            .tally
            .per_partition()
            .iter()
            .take(MOST_PARTITIONS_SHOWN)
            .map(|keys| i32::try_from(*keys).unwrap_or(i32::MAX))
            .collect(),
        empty_partitions: layout.tally.empty().take(MOST_PARTITIONS_SHOWN).collect(),
        skew: layout.tally.skew().map(|skew| skew.to_string()),
    }
}

/// Writes a status. The write carries the resourceVersion that the pass has seen, so that it cannot overwrite the
/// status of a spec that changed meanwhile: the API server answers 409 then, and the next pass decides anew. Returns the
/// object as it is then.
///
/// # Errors
/// What the API server or the connection to it said.
pub(super) async fn write<K>(
    api: &Api<K>,
    name: &str,
    resource_version: Option<&str>,
    status: &GroupStatus,
) -> Result<K, kube::Error>
where
    K: Resource<Scope = NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned,
{
    let body = json!({
        "metadata": {"resourceVersion": resource_version},
        "status": explicit(status).map_err(kube::Error::SerdeError)?,
    });
    // Without a name managedFields would say "unknown".
    let params = PatchParams {
        field_manager: Some("copartition-operator".to_owned()),
        ..PatchParams::default()
    };
    api.patch_status(name, &params, &Patch::Merge(&body)).await
}

fn explicit(status: &GroupStatus) -> Result<Value, serde_json::Error> {
    let Value::Object(mut fields) = serde_json::to_value(status)? else {
        return Ok(Value::Null);
    };
    for field in OPTIONAL {
        fields.entry(field).or_insert(Value::Null);
    }
    Ok(Value::Object(fields))
}
