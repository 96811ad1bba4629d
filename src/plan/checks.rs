//! `PartitionsAligned` as a list of small checks: the first that finds something names the reason.

use super::blocked::{growth_blocked, growth_parts_keys, offsets_unreadable};
use super::conditions::{Reason, State};
use super::decide::{acknowledge, deleted};
use super::decision::{Decision, Stage, Standing, TopicDecision};
use super::drift::drifted;
use super::group::Group;
use super::report::{Failure, Outcomes};

/// What a check looks at.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) group: &'a Group,
    pub(super) decision: &'a Decision,
    pub(super) outcomes: &'a Outcomes,
}

/// What a check found.
pub(super) struct Finding {
    pub(super) state: State,
    pub(super) reason: Reason,
    pub(super) message: String,
}

/// What the operator does about a refusal. Who runs once says something else.
pub const TRIED_AGAIN: &str = "; it is tried again with growing pauses";

type Check = fn(Context<'_>) -> Option<Finding>;

/// In the order of their weight: what somebody has to clear up first comes first, what heals by itself last.
const CHECKS: &[Check] = &[
    nothing_decided,
    // Everything that is remembered speaks of another cluster.
    cluster_changed,
    // A topic is not the one that was recorded.
    topic_deleted,
    topic_recreated,
    // A count that nobody declared.
    drifted,
    // There is no count to compare with.
    counts_disagree,
    count_unknown,
    // Kafka said no.
    create_rejected,
    growth_rejected,
    // A growth that would break what holds now, or that nobody consented to.
    growth_parts_keys,
    growth_blocked,
    offsets_unreadable,
    // Somebody else's turn.
    waiting_for_referenced,
    not_readable,
    topic_missing,
    // Under way.
    growth_incomplete,
    creating,
];

/// The verdict on the partition counts.
pub(super) fn partitions_aligned(context: Context<'_>) -> Finding {
    CHECKS
        .iter()
        .find_map(|check| check(context))
        .unwrap_or_else(|| aligned(context.decision))
}

/// What is left when no check found anything. A case that they missed must not read as aligned.
fn aligned(decision: &Decision) -> Finding {
    match decision.target.filter(|_| decision.aligned()) {
        Some(target) => Finding {
            state: State::True,
            reason: Reason::Aligned,
            message: format!(
                "all {} topics have {target} partitions",
                decision.topics.len()
            ),
        },
        None => Finding {
            state: State::Unknown,
            reason: Reason::Pending,
            message: "the counts are not judged yet".to_owned(),
        },
    }
}

pub(super) fn found(state: State, reason: Reason, parts: &[String]) -> Option<Finding> {
    (!parts.is_empty()).then(|| Finding {
        state,
        reason,
        message: parts.join("; "),
    })
}

pub(super) fn each<'a>(
    context: Context<'a>,
    part: impl Fn(&'a TopicDecision) -> Option<String>,
) -> Vec<String> {
    context.decision.topics.iter().filter_map(part).collect()
}

/// A topic has to be looked at once more.
fn nothing_decided(context: Context<'_>) -> Option<Finding> {
    context.decision.undecided.then(|| Finding {
        state: State::Unknown,
        reason: Reason::Pending,
        message: "a topic has to be looked at once more".to_owned(),
    })
}

fn cluster_changed(context: Context<'_>) -> Option<Finding> {
    let recorded = context.decision.other_cluster.as_ref()?;
    let live = &context.decision.cluster_id;
    found(
        State::False,
        Reason::ClusterChanged,
        &[format!(
            "the group was recorded on the Kafka cluster {recorded}, the connection now leads to {live}: nothing is written there. Point the \
         connection back, or accept the new cluster by annotating the group with {}",
            acknowledge(live)
        )],
    )
}

fn topic_deleted(context: Context<'_>) -> Option<Finding> {
    found(
        State::False,
        Reason::TopicDeleted,
        &each(context, |judged| match &judged.stage {
            Stage::Deleted { id } => Some(format!(
                "{} (id {id}) was deleted outside the operator. Take it out of spec.topics, or let it be created anew by annotating the group with {}",
                judged.topic.name,
                acknowledge(&deleted(id))
            )),
            _ => None,
        }),
    )
}

fn topic_recreated(context: Context<'_>) -> Option<Finding> {
    found(
        State::False,
        Reason::TopicRecreated,
        &each(context, |judged| match &judged.stage {
            Stage::Recreated { was, live } => Some(format!(
                "{} was deleted and created again: recorded id {was}, seen id {} with {} partitions. Take it out of spec.topics, or adopt it as \
             it is by annotating the group with {}",
                judged.topic.name,
                live.id,
                live.partitions,
                acknowledge(&live.id)
            )),
            _ => None,
        }),
    )
}

fn counts_disagree(context: Context<'_>) -> Option<Finding> {
    if context.decision.target.is_some() || unread(context) {
        return None;
    }
    let counts = each(context, |judged| {
        judged
            .live()
            .map(|live| format!("{} has {}", judged.topic.name, live.partitions))
    });
    if counts.is_empty() {
        return None;
    }
    found(
        State::False,
        Reason::CountsDisagree,
        &[format!(
            "spec.partitions is unset and the existing topics differ: {}. Set spec.partitions to the highest of these counts; topics that hold \
         records then also need acceptKeyMovement",
            counts.join(", ")
        )],
    )
}

fn count_unknown(context: Context<'_>) -> Option<Finding> {
    if context.decision.target.is_some() || unread(context) {
        return None;
    }
    let names: Vec<&str> = context
        .decision
        .topics
        .iter()
        .map(|judged| judged.topic.name.as_str())
        .collect();
    found(
        State::False,
        Reason::CountUnknown,
        &[format!(
            "spec.partitions is unset and none of the topics exists ({}), so there is no count to take. Set spec.partitions",
            names.join(", ")
        )],
    )
}

fn unread(context: Context<'_>) -> bool {
    context
        .decision
        .topics
        .iter()
        .any(|judged| matches!(judged.stage, Stage::Unread { .. }))
}

fn create_rejected(context: Context<'_>) -> Option<Finding> {
    let target = context.decision.target?;
    found(
        State::False,
        Reason::CreateRejected,
        &each(context, |judged| {
            match context.outcomes.creates.get(&judged.topic.name)? {
                Failure::Rejected(words) | Failure::NotAuthorized(words)
                    if judged.stage == Stage::Absent =>
                {
                    Some(format!(
                        "{}: wanted {target} partitions, Kafka refused to create it: {words}. Correct the spec or the broker's policy{TRIED_AGAIN}",
                        judged.topic.name
                    ))
                }
                _ => None,
            }
        }),
    )
}

fn growth_rejected(context: Context<'_>) -> Option<Finding> {
    let target = context.decision.target?;
    found(
        State::False,
        Reason::GrowthRejected,
        &each(context, |judged| {
            let live = judged.live().filter(|live| live.partitions < target)?;
            match context.outcomes.growths.get(&judged.topic.name)? {
                Failure::Rejected(words) | Failure::NotAuthorized(words) => Some(format!(
                    "{}: wanted {target} partitions, seen {}, Kafka refused to add them: {words}. Correct the cause at the broker; it is tried \
                 again with growing pauses",
                    judged.topic.name, live.partitions
                )),
                Failure::Unsure(_) => None,
            }
        }),
    )
}

fn waiting_for_referenced(context: Context<'_>) -> Option<Finding> {
    let target = context.decision.target?;
    if context.group.observe {
        return None;
    }
    found(
        State::False,
        Reason::WaitingForReferenced,
        &each(context, |judged| match (&judged.stage, &judged.standing) {
            (Stage::Live(live), Standing::Below { .. }) if !judged.topic.managed => Some(format!(
                "{}: wanted {target} partitions, seen {}; it is Referenced, so its owner has to grow it first, and the Managed topics follow",
                judged.topic.name, live.partitions
            )),
            _ => None,
        }),
    )
}

fn not_readable(context: Context<'_>) -> Option<Finding> {
    found(
        State::Unknown,
        Reason::TopicNotAuthorized,
        &each(context, |judged| match &judged.stage {
            Stage::Unread { denied: true, .. } => Some(format!(
                "{}: Kafka does not let the operator's principal describe it; allow DESCRIBE on the topic. Until then nothing is created or grown",
                judged.topic.name
            )),
            Stage::Unread { words, .. } => Some(format!(
                "{}: Kafka could not describe it: {words}. Until then nothing is created or grown",
                judged.topic.name
            )),
            _ => None,
        }),
    )
}

fn topic_missing(context: Context<'_>) -> Option<Finding> {
    let being_created = |name: &str| {
        context
            .decision
            .actions
            .creates
            .iter()
            .any(|create| create.topic == name)
    };
    found(
        State::False,
        Reason::TopicMissing,
        &each(context, |judged| {
            let name = &judged.topic.name;
            if judged.stage != Stage::Absent || being_created(name) {
                return None;
            }
            let what_to_do = match () {
                () if context.group.observe => {
                    "the group observes, so nobody creates it here; create it, or set mode: Enforce"
                }
                () if !judged.topic.managed => "it is Referenced, so its owner has to create it",
                () if context.group.paused => "it is created once the pause annotation is gone",
                () => "it is created once the group is accepted",
            };
            Some(format!(
                "{name}: wanted, and seen nowhere on this cluster; {what_to_do}"
            ))
        }),
    )
}

fn growth_incomplete(context: Context<'_>) -> Option<Finding> {
    let target = context.decision.target?;
    let why = match () {
        () if context.group.paused => "waits for the pause to end",
        () if context.decision.refusal.is_some() => "waits until the group is accepted",
        () => "it grows",
    };
    found(
        State::False,
        Reason::GrowthIncomplete,
        &each(context, |judged| match (&judged.stage, &judged.standing) {
            (Stage::Live(live), Standing::Below { .. }) if judged.topic.managed => {
                let words = match context.outcomes.growths.get(&judged.topic.name) {
                    Some(Failure::Unsure(words)) => format!(" (last answer: {words})"),
                    _ => String::new(),
                };
                Some(format!(
                    "{}: wanted {target} partitions, seen {}; {why}{words}",
                    judged.topic.name, live.partitions
                ))
            }
            _ => None,
        }),
    )
}

fn creating(context: Context<'_>) -> Option<Finding> {
    found(
        State::Unknown,
        Reason::Creating,
        &each(context, |judged| {
            (judged.stage == Stage::Absent).then(|| {
                let words = match context.outcomes.creates.get(&judged.topic.name) {
                    Some(Failure::Unsure(words)) => format!(" (last answer: {words})"),
                    _ => String::new(),
                };
                format!(
                    "{}: wanted with {} partitions, being created{words}",
                    judged.topic.name,
                    context.decision.target.unwrap_or_default()
                )
            })
        }),
    )
}
