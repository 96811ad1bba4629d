//! PartitionsAligned as a list of small checks: the first that finds something names the reason.

use super::conditions::{Reason, State};
use super::consent::Coverage;
use super::decide::{Decision, Stage, Standing, TopicDecision, acknowledge};
use super::group::Group;
use super::observed::{Records, TopicState};
use super::report::{Failure, Outcomes};
use crate::keys::PartitionCount;
use crate::layout;

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

type Check = fn(Context<'_>) -> Option<Finding>;

/// In the order of their weight: what somebody has to clear up first comes first, what heals by itself last.
const CHECKS: &[Check] = &[
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
    // A growth that nobody consented to.
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
        .unwrap_or_else(|| Finding {
            state: State::True,
            reason: Reason::Aligned,
            message: format!(
                "all {} topics have {} partitions",
                context.decision.topics.len(),
                context.decision.target.unwrap_or_default()
            ),
        })
}

fn found(state: State, reason: Reason, parts: Vec<String>) -> Option<Finding> {
    (!parts.is_empty()).then(|| Finding {
        state,
        reason,
        message: parts.join("; "),
    })
}

fn each<'a>(
    context: Context<'a>,
    part: impl Fn(&'a TopicDecision) -> Option<String>,
) -> Vec<String> {
    context.decision.topics.iter().filter_map(part).collect()
}

fn cluster_changed(context: Context<'_>) -> Option<Finding> {
    let recorded = context.decision.other_cluster.as_ref()?;
    let live = &context.decision.cluster_id;
    found(
        State::False,
        Reason::ClusterChanged,
        vec![format!(
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
        each(context, |judged| match &judged.stage {
            Stage::Deleted { id } => Some(format!(
                "{} (id {id}) was deleted outside the operator. Take it out of spec.topics, or let it be created anew by annotating the group with {}",
                judged.topic.name,
                acknowledge(id)
            )),
            _ => None,
        }),
    )
}

fn topic_recreated(context: Context<'_>) -> Option<Finding> {
    found(
        State::False,
        Reason::TopicRecreated,
        each(context, |judged| match &judged.stage {
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

fn drifted(context: Context<'_>) -> Option<Finding> {
    let decision = context.decision;
    let target = decision.target?;
    let uncovered = decision
        .topics
        .iter()
        .any(|judged| matches!(judged.standing, Standing::Below { covered: false, .. }));
    let mut parts = each(context, |judged| {
        let live = judged.live()?;
        let name = &judged.topic.name;
        match &judged.standing {
            Standing::Above => Some(format!(
                "{name}: expected {target} partitions, seen {}",
                live.partitions
            )),
            Standing::Below { drifted: true, .. } => Some(format!(
                "{name}: expected {} partitions, seen {}",
                judged.accepted.unwrap_or(target),
                live.partitions
            )),
            // In Observe nobody will bring it to the target.
            Standing::Below { .. } if context.group.observe => Some(format!(
                "{name}: expected {target} partitions, seen {}",
                live.partitions
            )),
            // At the target by somebody else's hand, while its siblings have no consent to follow.
            Standing::AtTarget if uncovered && judged.topic.managed => {
                let accepted = judged
                    .accepted
                    .filter(|accepted| *accepted != live.partitions)?;
                Some(format!(
                    "{name}: expected {accepted} partitions until its siblings may follow, seen {}",
                    live.partitions
                ))
            }
            _ => None,
        }
    });
    if parts.is_empty() {
        return None;
    }
    parts.push(way_out(context));
    found(State::False, Reason::PartitionDrift, parts)
}

/// What to commit after a drift: Kafka cannot shrink a topic, so the others have to follow.
fn way_out(context: Context<'_>) -> String {
    let decision = context.decision;
    let highest = decision
        .topics
        .iter()
        .filter_map(|judged| judged.live().map(|live| live.partitions))
        .max()
        .unwrap_or_default();
    let highest = highest.max(decision.target.unwrap_or_default());
    if context.group.observe {
        return format!(
            "Kafka cannot remove partitions; let the topics' owners grow all of them to {highest}, and set spec.partitions: {highest}"
        );
    }
    let behind: Vec<&TopicDecision> = decision
        .topics
        .iter()
        .filter(|judged| {
            judged.topic.managed && judged.live().is_some_and(|live| live.partitions < highest)
        })
        .collect();
    let mut text = format!(
        "Kafka cannot remove partitions and the operator changes nothing until you decide; to go on, set spec.partitions: {highest}"
    );
    if let Some(from) = behind
        .iter()
        .filter_map(|judged| judged.live().map(|live| live.partitions))
        .min()
    {
        let names: Vec<&str> = behind
            .iter()
            .filter(|judged| judged.live().is_some_and(|live| live.partitions == from))
            .map(|judged| judged.topic.name.as_str())
            .collect();
        text.push_str(" with ");
        text.push_str(&consent_text(&names, from, highest));
        text.push_str(" (");
        text.push_str(&movement(context.group, from, highest));
        text.push(')');
    }
    text
}

fn consent_text(topics: &[&str], from: i32, to: i32) -> String {
    format!(
        "acceptKeyMovement: {{topics: [{}], fromPartitions: {from}, toPartitions: {to}}}",
        topics.join(", ")
    )
}

/// How many moved sample keys a message lists.
const SHOWN: usize = 10;

/// What a growth moves: the exact share of the key space, and the sample keys one by one.
fn movement(group: &Group, from: i32, to: i32) -> String {
    let (Some(from_count), Some(to_count)) = (PartitionCount::new(from), PartitionCount::new(to))
    else {
        return String::new();
    };
    let mut text = format!(
        "{from} -> {to} moves {} of the key space",
        layout::moved_share(from_count, to_count)
    );
    let scheme = group.topics.iter().find_map(|topic| topic.scheme.clone());
    let Some(scheme) = scheme.filter(|_| !group.sample_keys.is_empty()) else {
        return text;
    };
    // A key that the encoding cannot represent is refused with the spec, so there is nothing to report of it here.
    let Ok(moves) = layout::moves(&scheme, &group.sample_keys, from_count, to_count) else {
        return text;
    };
    let shown: Vec<String> = moves.iter().take(SHOWN).map(ToString::to_string).collect();
    text.push_str(&format!(
        ", {} of {} sample keys",
        moves.len(),
        group.sample_keys.len()
    ));
    if !shown.is_empty() {
        text.push_str(&format!(": {}", shown.join(", ")));
    }
    if moves.len() > SHOWN {
        text.push_str(&format!(" and {} more", moves.len() - SHOWN));
    }
    text
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
        vec![format!(
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
        vec![format!(
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
        each(context, |judged| {
            match context.outcomes.creates.get(&judged.topic.name)? {
                Failure::Rejected(words) | Failure::NotAuthorized(words)
                    if judged.stage == Stage::Absent =>
                {
                    Some(format!(
                        "{}: wanted {target} partitions, Kafka refused to create it: {words}. Correct the spec or the broker's policy; it is tried again with growing pauses",
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
        each(context, |judged| {
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

fn blocked(judged: &TopicDecision) -> Option<(&TopicState, &Coverage)> {
    match (&judged.stage, &judged.standing) {
        (
            Stage::Live(live),
            Standing::Below {
                covered: false,
                coverage,
                ..
            },
        ) if judged.topic.managed => Some((live, coverage)),
        _ => None,
    }
}

fn growth_blocked(context: Context<'_>) -> Option<Finding> {
    let target = context.decision.target?;
    let blocked: Vec<_> = context
        .decision
        .topics
        .iter()
        .filter_map(|judged| blocked(judged).map(|(live, coverage)| (judged, live, coverage)))
        .collect();
    if blocked.is_empty()
        || blocked
            .iter()
            .all(|(_, live, _)| matches!(live.records, Records::Unreadable(_)))
    {
        return None;
    }
    let mut parts: Vec<String> = blocked
        .iter()
        .map(|(judged, live, coverage)| {
            let name = &judged.topic.name;
            let mut text = format!("{name}: wanted {target} partitions, seen {}, and it holds records", live.partitions);
            match coverage {
                Coverage::Spent => text.push_str(&format!(
                    "; the consent {} -> {target} was used before, to use it again add topicIds: [{}] to it",
                    live.partitions, live.id
                )),
                Coverage::OtherId => text.push_str(&format!("; the consent lists other topic ids than the live one, {}", live.id)),
                Coverage::Absent | Coverage::Covered => {}
            }
            if compacted(live) {
                text.push_str("; it is compacted, so old values of keys that move stay behind on their old partition for ever");
            }
            text
        })
        .collect();
    let from = blocked
        .iter()
        .map(|(_, live, _)| live.partitions)
        .min()
        .unwrap_or_default();
    parts.push(movement(context.group, from, target));
    let names: Vec<&str> = context
        .decision
        .topics
        .iter()
        .filter(|judged| {
            judged.topic.managed && judged.live().is_some_and(|live| live.partitions == from)
        })
        .map(|judged| judged.topic.name.as_str())
        .collect();
    parts.push(format!(
        "nothing is changed without consent; to accept, set spec.{}",
        consent_text(&names, from, target)
    ));
    found(State::False, Reason::GrowthBlocked, parts)
}

fn compacted(live: &TopicState) -> bool {
    live.config
        .as_ref()
        .and_then(|config| config.get("cleanup.policy"))
        .is_some_and(|policy| policy.split(',').any(|item| item.trim() == "compact"))
}

fn offsets_unreadable(context: Context<'_>) -> Option<Finding> {
    let target = context.decision.target?;
    found(
        State::Unknown,
        Reason::OffsetsUnreadable,
        each(context, |judged| {
            let (live, _) = blocked(judged)?;
            let Records::Unreadable(words) = &live.records else {
                return None;
            };
            Some(format!(
                "{}: wanted {target} partitions, seen {}, and whether it holds records could not be read ({words}); it is not grown until that is \
             known or acceptKeyMovement names it",
                judged.topic.name, live.partitions
            ))
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
        each(context, |judged| match (&judged.stage, &judged.standing) {
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
        each(context, |judged| match &judged.stage {
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
        each(context, |judged| {
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
    let why = if context.group.paused {
        "waits for the pause to end"
    } else {
        "it grows"
    };
    found(
        State::False,
        Reason::GrowthIncomplete,
        each(context, |judged| match (&judged.stage, &judged.standing) {
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
        each(context, |judged| {
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
