//! What is said of a pass: conditions, one verdict a topic, the layout.

use std::collections::BTreeMap;

use super::applied::topic_configs_applied;
use super::checks::{self, Context, Finding};
use super::conditions::{Condition, ConditionType, Reason, State};
use super::consumers_colocated::{PlacementEvidence, consumers_colocated};
use super::counts::is_empty;
use super::decision::{Decision, Stage, TopicDecision};
use super::group::Group;
use super::key_schemes::{key_layout, key_schemes_aligned};
use super::keys_verified::{Evidence, keys_verified};
use super::locked::locked;
use super::memory::Lock;
use super::observed::TopicId;
use super::slots::slots_aligned;
use super::verdict::{Verdict, verdict};
use crate::layout;

/// Why an action failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Kafka refused; its words.
    Rejected(String),
    /// The principal lacks a permission; Kafka's words.
    NotAuthorized(String),
    /// No answer, or one that leaves the outcome open; the next look tells.
    Unsure(String),
}

/// What failed of the actions, by topic. What is not listed went well or was not tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Of the creations.
    pub creates: BTreeMap<String, Failure>,
    /// Of the growths.
    pub growths: BTreeMap<String, Failure>,
    /// Of the config changes.
    pub configs: BTreeMap<String, Failure>,
    /// Of the locks that were to be set, or to be put back after a growth.
    pub locks: BTreeMap<String, Failure>,
    /// Of the locks that were to be taken away.
    pub unlocks: BTreeMap<Lock, Failure>,
}

impl Outcomes {
    /// Whether nothing failed.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }
}

/// What is said of one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicReport {
    /// Its name.
    pub name: String,
    /// Whether the operator may write it.
    pub managed: bool,
    /// The id: the recorded one of a topic that is gone, was replaced or cannot be seen, else the live one.
    pub id: Option<TopicId>,
    /// The live count.
    pub partitions: Option<i32>,
    /// The live replication factor.
    pub replication_factor: Option<i16>,
    /// The verdict.
    pub verdict: Verdict,
    /// What else there is to say.
    pub message: Option<String>,
}

/// Where the sample keys lie, and at which count that was computed.
pub type Layout = layout::Table;

/// What is said of a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// All conditions but `KafkaReachable`, which is the connection's to say, and the three that follow from all.
    pub conditions: Vec<Condition>,
    /// The topics in the order of the spec.
    pub topics: Vec<TopicReport>,
    /// The cluster.
    pub cluster_id: Option<String>,
    /// The count last seen aligned.
    pub recorded: Option<i32>,
    /// Whether any topic holds records, as far as is known.
    pub holds_records: Option<bool>,
    /// The layout, where a scheme and a count are known.
    pub layout: Option<Layout>,
}

/// The report of a group on which nothing could be decided because it is not accepted.
pub fn refused(reason: Reason, state: State, message: &str, paused: bool) -> Report {
    let open = match reason {
        Reason::NotPermitted => Reason::NotPermitted,
        _ => Reason::Pending,
    };
    let unjudged = |kind| {
        Condition::new(
            kind,
            State::Unknown,
            open,
            format!("not judged while Accepted is not True ({reason})"),
        )
    };
    let mut conditions = vec![
        Condition::new(ConditionType::Accepted, state, reason, message),
        unjudged(ConditionType::PartitionsAligned),
        unjudged(ConditionType::KeySchemesAligned),
        unjudged(ConditionType::TopicConfigsApplied),
        unjudged(ConditionType::KeysVerified),
        unjudged(ConditionType::ConsumersColocated),
        unjudged(ConditionType::SlotsAligned),
        unjudged(ConditionType::Locked),
    ];
    conditions.push(paused_condition(paused));
    Report {
        conditions,
        topics: Vec::new(),
        cluster_id: None,
        recorded: None,
        holds_records: None,
        layout: None,
    }
}

/// What was seen of a group beside its topics, as far as it was looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Proofs<'a> {
    /// What records said.
    pub records: Option<&'a Evidence>,
    /// What the assignments of consumer groups said, as [`confirmed`](super::confirmed_placement).
    pub consumers: Option<&'a PlacementEvidence>,
}

/// Says what a decision and its outcomes mean, for who has read no records and looked at no consumers.
pub fn report(group: &Group, decision: &Decision, outcomes: &Outcomes) -> Report {
    report_with(group, decision, outcomes, Proofs::default())
}

/// Says what a decision, its outcomes, the records and the consumers mean.
pub fn report_with(
    group: &Group,
    decision: &Decision,
    outcomes: &Outcomes,
    proofs: Proofs<'_>,
) -> Report {
    if let Some(refusal) = decision
        .refusal
        .as_ref()
        .filter(|_| decision.topics.is_empty())
    {
        let mut report = refused(refusal.reason, State::False, &refusal.message, group.paused);
        report.cluster_id = Some(decision.cluster_id.clone());
        return report;
    }
    let context = Context {
        group,
        decision,
        outcomes,
    };
    let mut conditions = vec![
        accepted(decision),
        condition(
            ConditionType::PartitionsAligned,
            checks::partitions_aligned(context),
        ),
        condition(
            ConditionType::KeySchemesAligned,
            key_schemes_aligned(group, decision),
        ),
        condition(
            ConditionType::TopicConfigsApplied,
            topic_configs_applied(context),
        ),
        condition(
            ConditionType::KeysVerified,
            keys_verified(group, decision, proofs.records),
        ),
        condition(
            ConditionType::ConsumersColocated,
            consumers_colocated(group, decision, proofs.consumers),
        ),
    ];
    conditions.push(condition(ConditionType::SlotsAligned, slots_aligned(group)));
    conditions.push(condition(ConditionType::Locked, locked(context)));
    conditions.push(paused_condition(group.paused));
    Report {
        conditions,
        topics: decision
            .topics
            .iter()
            .map(|judged| topic_report(judged, context))
            .collect(),
        // The recorded cluster until the other one is acknowledged: a lost claim is restored from the status.
        cluster_id: Some(
            decision
                .other_cluster
                .as_ref()
                .unwrap_or(&decision.cluster_id)
                .clone(),
        ),
        recorded: decision.memory.recorded,
        holds_records: holds_records(decision),
        layout: key_layout(group, decision),
    }
}

fn condition(kind: ConditionType, finding: Finding) -> Condition {
    Condition::new(kind, finding.state, finding.reason, finding.message)
}

fn accepted(decision: &Decision) -> Condition {
    match &decision.refusal {
        Some(refusal) => Condition::new(
            ConditionType::Accepted,
            State::False,
            refusal.reason,
            refusal.message.clone(),
        ),
        None => Condition::new(
            ConditionType::Accepted,
            State::True,
            Reason::Accepted,
            "the spec is valid and the group holds its Managed topics",
        ),
    }
}

fn paused_condition(paused: bool) -> Condition {
    if paused {
        Condition::new(
            ConditionType::Paused,
            State::True,
            Reason::Paused,
            "nothing is written to Kafka while the annotation copartition.dev/paused is \"true\"",
        )
    } else {
        Condition::new(ConditionType::Paused, State::False, Reason::NotPaused, "")
    }
}

fn topic_report(judged: &TopicDecision, context: Context<'_>) -> TopicReport {
    let live = judged.live();
    TopicReport {
        name: judged.topic.name.clone(),
        managed: judged.topic.managed,
        id: reported_id(judged, context),
        partitions: live.map(|live| live.partitions),
        replication_factor: live.map(|live| live.replication_factor),
        verdict: verdict(judged, context),
        message: topic_message(judged, context),
    }
}

/// A lost claim is restored from the status, so it must not forget the id that a verdict rests on.
fn reported_id(judged: &TopicDecision, context: Context<'_>) -> Option<TopicId> {
    let memory = &context.decision.memory;
    let recorded = || memory.topics.get(&judged.topic.name)?.id.clone();
    match &judged.stage {
        Stage::Deleted { id } | Stage::Recreated { was: id, .. } => Some(id.clone()),
        Stage::Unread { .. } => recorded(),
        _ if context.decision.other_cluster.is_some() => recorded(),
        Stage::Live(live) => Some(live.id.clone()),
        Stage::Absent => None,
    }
}

fn topic_message(judged: &TopicDecision, context: Context<'_>) -> Option<String> {
    let mut parts = Vec::new();
    for failures in [
        &context.outcomes.creates,
        &context.outcomes.growths,
        &context.outcomes.configs,
    ] {
        if let Some(
            Failure::Rejected(words) | Failure::NotAuthorized(words) | Failure::Unsure(words),
        ) = failures.get(&judged.topic.name)
        {
            parts.push(format!("Kafka said: {words}"));
        }
    }
    if let (Some(live), Some(wanted)) = (judged.live(), context.group.replication_factor)
        && live.replication_factor != wanted
    {
        parts.push(format!("replication factor: wanted {wanted}, seen {}; it is reported only, reassign the replicas to change it", live.replication_factor));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// False only if every topic that exists is known to be empty, by its end offsets now and by memory.
fn holds_records(decision: &Decision) -> Option<bool> {
    let mut any = false;
    for judged in &decision.topics {
        match &judged.stage {
            Stage::Unread { .. } | Stage::Deleted { .. } => return Some(true),
            Stage::Absent => {}
            Stage::Live(live) | Stage::Recreated { live, .. } => {
                any = true;
                if !is_empty(&decision.memory, &judged.topic.name, live) {
                    return Some(true);
                }
            }
        }
    }
    any.then_some(false)
}
