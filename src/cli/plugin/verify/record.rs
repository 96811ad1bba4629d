//! What was verified, for programs.

use serde::Serialize;

use crate::kafka::Incomplete;
use crate::verify::{Between, GroupReport, OnPartition, Outcome, TopicReport};

/// Some topics that were looked at together.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Proof {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<String>,
    /// What was asked for.
    pub(super) read: String,
    pub(super) keys_verified: Condition,
    pub(super) topics: Vec<Judged>,
    /// Topics that share keys.
    pub(super) between: Vec<Pair>,
    /// What was not read to its end.
    pub(super) incomplete: Vec<Unread>,
    #[serde(skip)]
    refuted: bool,
}

/// What the condition KeysVerified says of it.
#[derive(Debug, Serialize)]
pub(super) struct Condition {
    pub(super) status: &'static str,
    pub(super) reason: String,
    pub(super) message: String,
}

/// One topic.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Judged {
    pub(super) topic: String,
    pub(super) scheme: Option<String>,
    pub(super) partitions: i32,
    pub(super) records: u64,
    pub(super) keyed: u64,
    pub(super) unkeyed: u64,
    /// From the time of a growth, in which nobody can tell at which count a record was placed.
    pub(super) left_out: u64,
    /// Of the keyed ones with a predicted partition.
    pub(super) misplaced: u64,
    /// The share of those that lie there, 0 to 1.
    pub(super) share_placed: Option<f64>,
    pub(super) distinct_keys: u64,
    /// There are more keys than were told apart.
    pub(super) more_keys: bool,
    pub(super) reason: String,
    pub(super) message: String,
    #[serde(skip)]
    pub(super) refuted: bool,
    pub(super) per_partition: Vec<Partition>,
}

/// One partition.
#[derive(Debug, Serialize)]
pub(super) struct Partition {
    /// Records that lie there.
    pub(super) seen: u64,
    /// Records that the declared scheme puts there.
    pub(super) predicted: u64,
}

/// Two topics that share keys.
#[derive(Debug, Serialize)]
pub(super) struct Pair {
    pub(super) a: String,
    pub(super) b: String,
    /// Keys that both have.
    pub(super) shared: u64,
    /// Those of them that lie on different partition numbers.
    pub(super) apart: u64,
}

/// A topic that was not read to its end.
#[derive(Debug, Serialize)]
pub(super) struct Unread {
    pub(super) topic: String,
    pub(super) why: String,
}

impl Proof {
    pub(super) fn of(
        group: Option<String>,
        read: String,
        report: &GroupReport,
        unread: Vec<(String, Incomplete)>,
    ) -> Self {
        let outcome = report.outcome();
        let name = |at: usize| {
            report
                .topics
                .get(at)
                .map_or("", |topic| topic.topic.as_str())
        };
        Self {
            group,
            read,
            keys_verified: Condition {
                status: match outcome {
                    Outcome::Verified if unread.is_empty() => "True",
                    Outcome::Refuted => "False",
                    Outcome::Verified | Outcome::Unproven => "Unknown",
                },
                reason: report.reason().to_string(),
                message: report.message(),
            },
            topics: report.topics.iter().map(topic).collect(),
            between: report
                .between
                .iter()
                .map(
                    |Between {
                         a,
                         b,
                         shared,
                         apart,
                     }| Pair {
                        a: name(*a).to_owned(),
                        b: name(*b).to_owned(),
                        shared: *shared,
                        apart: *apart,
                    },
                )
                .collect(),
            incomplete: unread
                .into_iter()
                .map(|(topic, why)| Unread {
                    topic,
                    why: why.to_string(),
                })
                .collect(),
            refuted: outcome == Outcome::Refuted,
        }
    }

    /// What it is called: the group's name, or those of its topics.
    pub(super) fn name(&self) -> String {
        let topics = || {
            let judged = self.topics.iter().map(|topic| topic.topic.as_str());
            judged.collect::<Vec<&str>>().join(", ")
        };
        self.group.clone().unwrap_or_else(topics)
    }

    /// Whether all that was asked for was read.
    pub(super) fn is_complete(&self) -> bool {
        self.incomplete.is_empty()
    }

    /// A refutation stands whatever else could not be read.
    pub(super) fn exit_code(&self) -> u8 {
        match (self.refuted, self.is_complete()) {
            (true, _) => 2,
            (false, false) => 1,
            (false, true) => 0,
        }
    }
}

fn topic(report: &TopicReport) -> Judged {
    let records = &report.records;
    Judged {
        topic: report.topic.clone(),
        scheme: report.scheme.as_ref().map(ToString::to_string),
        partitions: report.count.get(),
        records: records.read,
        keyed: report.judged() - records.unkeyed,
        unkeyed: records.unkeyed,
        left_out: records.left_out,
        misplaced: records.misplaced,
        share_placed: report.share_placed(),
        distinct_keys: report.keys.distinct,
        more_keys: report.keys.more,
        reason: report.verdict.reason().to_string(),
        message: report.to_string(),
        refuted: report.verdict.reason().outcome() == Outcome::Refuted,
        per_partition: report
            .per_partition
            .iter()
            .map(|OnPartition { seen, predicted }| Partition {
                seen: *seen,
                predicted: *predicted,
            })
            .collect(),
    }
}
