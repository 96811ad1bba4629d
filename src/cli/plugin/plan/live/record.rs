//! What the servers said of a growth, for programs. The fields are documented in docs/plan.md and do not change.

use serde::Serialize;

use super::Live;
use crate::plan::{Condition, Coverage};

/// The fields that stand beside those of the calculation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli::plugin::plan) struct Record<'a> {
    blocked: bool,
    cluster_id: &'a str,
    partitions_aligned: Verdict<'a>,
    partitions_aligned_then: Verdict<'a>,
    topics: Vec<Topic<'a>>,
    consents: Vec<Consent<'a>>,
    breaks: Vec<Break<'a>>,
    refusals: Vec<Refusal<'a>>,
    not_read: &'a [String],
}

#[derive(Serialize)]
struct Verdict<'a> {
    status: &'static str,
    reason: &'static str,
    message: &'a str,
}

impl<'a> From<&'a Condition> for Verdict<'a> {
    fn from(condition: &'a Condition) -> Self {
        Self {
            status: condition.state.as_str(),
            reason: condition.reason.as_str(),
            message: &condition.message,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_field_names)] // The name that the status has.
struct Topic<'a> {
    name: &'a str,
    management: &'static str,
    topic_id: Option<&'a str>,
    partitions: Option<i32>,
    holds_records: Option<bool>,
    records_written: Option<i64>,
    grows: bool,
    consent: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Consent<'a> {
    topics: &'a [String],
    from_partitions: i32,
    to_partitions: i32,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    topic_ids: &'a [String],
}

#[derive(Serialize)]
struct Break<'a> {
    kind: String,
    topics: &'a [String],
    found: &'a [String],
    message: &'a str,
    remedy: &'a str,
}

#[derive(Serialize)]
struct Refusal<'a> {
    by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'a str>,
    message: &'a str,
}

impl<'a> Record<'a> {
    pub(in crate::cli::plugin::plan) fn of(live: &'a Live) -> Self {
        let foresight = &live.foresight;
        let topics = foresight.topics.iter().map(|topic| Topic {
            name: &topic.name,
            management: if topic.managed {
                "Managed"
            } else {
                "Referenced"
            },
            topic_id: topic.id.as_deref(),
            partitions: topic.partitions,
            holds_records: topic.records,
            records_written: topic.written,
            grows: topic.grows,
            consent: topic.coverage.as_ref().map(word),
        });
        let kafka = foresight.refused.iter().map(|(topic, words)| Refusal {
            by: "Kafka",
            topic: Some(topic),
            message: words,
        });
        let kubernetes = live.denied.as_deref().map(|words| Refusal {
            by: "Kubernetes",
            topic: None,
            message: words,
        });
        Self {
            blocked: live.is_blocked(),
            cluster_id: &foresight.cluster_id,
            partitions_aligned: (&foresight.now).into(),
            partitions_aligned_then: (&foresight.then).into(),
            topics: topics.collect(),
            consents: foresight
                .consents
                .iter()
                .map(|it| Consent {
                    topics: &it.topics,
                    from_partitions: it.from,
                    to_partitions: it.to,
                    topic_ids: &it.topic_ids,
                })
                .collect(),
            breaks: foresight
                .breaks
                .iter()
                .map(|it| Break {
                    kind: it.kind.to_string(),
                    topics: &it.topics,
                    found: &it.found,
                    message: &it.message,
                    remedy: &it.remedy,
                })
                .collect(),
            refusals: kafka.chain(kubernetes).collect(),
            not_read: &foresight.unread,
        }
    }
}

fn word(coverage: &Coverage) -> &'static str {
    match coverage {
        Coverage::Covered => "Covered",
        Coverage::Absent => "Absent",
        Coverage::Spent => "Spent",
        Coverage::OtherId => "OtherId",
    }
}
