//! The group's count, how each topic stands to it, and which counts nobody declared.

use std::collections::BTreeSet;

use super::consent::{self, Coverage};
use super::decision::{Decision, Input, Stage, Standing, TopicDecision};
use super::group::Group;
use super::key_schemes;
use super::memory::Memory;
use super::observed::{Records, TopicState};

/// The count that all topics shall have: the declared one, else the recorded one, else the one that all existing
/// topics share.
pub(super) fn target(group: &Group, decision: &Decision) -> Option<i32> {
    if group.partitions.is_some() {
        return group.partitions;
    }
    if decision.memory.recorded.is_some() {
        return decision.memory.recorded;
    }
    if decision
        .topics
        .iter()
        .any(|topic| matches!(topic.stage, Stage::Unread { .. }))
    {
        return None;
    }
    let counts: BTreeSet<i32> = decision
        .topics
        .iter()
        .filter_map(|topic| topic.live().map(|live| live.partitions))
        .collect();
    (counts.len() == 1)
        .then(|| counts.first().copied())
        .flatten()
}

/// Whether a topic is known to be empty: by its end offsets now, and by memory.
pub(super) fn is_empty(memory: &Memory, topic: &str, live: &TopicState) -> bool {
    live.records == Records::None
        && !memory
            .topics
            .get(topic)
            .is_some_and(|memory| memory.holds_records)
}

/// The count that the owners of Referenced topics are waited for to give them: the target, as soon as nothing stands in the
/// way of the Managed ones that follow.
pub fn awaited_of_referenced(decision: &Decision) -> Option<i32> {
    let blocked = |judged: &TopicDecision| {
        judged.topic.managed && matches!(judged.standing, Standing::Below { covered: false, .. })
    };
    let free =
        !decision.frozen && decision.parts_keys.is_none() && !decision.topics.iter().any(blocked);
    decision.target.filter(|_| free)
}

/// Compares every count with the target.
pub(super) fn compare_counts(input: &Input<'_>, decision: &mut Decision) {
    let target = decision.target;
    let memory = &decision.memory;
    for judged in &mut decision.topics {
        if let (Some(target), Some(live)) = (target, judged.settled()) {
            judged.standing = standing(input.group, memory, &judged.topic.name, live, target);
        }
    }
    find_drift(input.group, decision);
    decision.frozen |= decision.topics.iter().any(|judged| {
        judged.drifted
            || matches!(
                judged.stage,
                Stage::Deleted { .. } | Stage::Recreated { .. }
            )
    });
}

fn standing(
    group: &Group,
    memory: &Memory,
    topic: &str,
    live: &TopicState,
    target: i32,
) -> Standing {
    match live.partitions {
        count if count == target => Standing::AtTarget,
        count if count > target => Standing::Above,
        _ => {
            let coverage = consent::coverage(group, memory, topic, live, target);
            Standing::Below {
                covered: coverage == Coverage::Covered || is_empty(memory, topic, live),
                coverage,
            }
        }
    }
}

/// Which counts nobody declared. What a consent lets grow, or an empty topic, is on its way to the target wherever it
/// comes from. A topic that somebody else brought to the target is fine as soon as its siblings may follow.
fn find_drift(group: &Group, decision: &mut Decision) {
    let held_back = decision.topics.iter().any(|judged| {
        judged.topic.managed && matches!(judged.standing, Standing::Below { covered: false, .. })
    });
    for judged in &mut decision.topics {
        // The owner of a Referenced topic may give it any count on the way to the target.
        let moved = judged.topic.managed && moved(judged);
        judged.drifted = match judged.standing {
            Standing::Unjudged => false,
            Standing::AtTarget => moved && held_back,
            Standing::Above => true,
            // In Observe nobody will bring it to the target.
            Standing::Below { covered, .. } => group.observe || (moved && !covered),
        };
    }
}

/// Why equal topics with records must stay as they are, if their schemes part keys at the target.
pub(super) fn parts_keys(group: &Group, decision: &Decision) -> Option<String> {
    let (from, to) = (decision.agreed()?, decision.target?);
    let holds_records = |judged: &TopicDecision| {
        judged
            .live()
            .is_some_and(|live| !is_empty(&decision.memory, &judged.topic.name, live))
    };
    if from >= to || !decision.topics.iter().any(holds_records) {
        return None;
    }
    key_schemes::parted(group, from, to)
}

fn moved(judged: &TopicDecision) -> bool {
    judged.settled().is_some_and(|live| {
        judged
            .accepted
            .is_some_and(|accepted| accepted != live.partitions)
    })
}
