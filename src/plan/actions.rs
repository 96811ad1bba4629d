//! The actions of one pass.

use std::collections::BTreeSet;

use super::consent::Coverage;
use super::decision::{Actions, Alter, Create, Decision, Grow, Input, Stage, Standing};
use super::group::Group;
use super::memory::Intent;

/// The actions. Whatever speaks against writing leaves them empty.
pub(super) fn plan(input: &Input<'_>, decision: &mut Decision) -> Actions {
    let mut actions = Actions::default();
    if input.group.observe
        || input.group.paused
        || decision.refusal.is_some()
        || decision.other_cluster.is_some()
    {
        return actions;
    }
    // Without a count the group is not decided on: nothing is written.
    let Some(target) = decision.target else {
        return actions;
    };
    for judged in decision.topics.iter().filter(|judged| judged.topic.managed) {
        if let (Stage::Live(live), Some(diff)) = (&judged.stage, &judged.config)
            && !diff.set.is_empty()
        {
            actions.configs.push(Alter {
                topic: judged.topic.name.clone(),
                id: live.id.clone(),
                set: diff.set.clone(),
            });
        }
    }
    // A topic that cannot be read may have any count; what is created or grown beside it could not be taken back.
    if decision
        .topics
        .iter()
        .any(|judged| matches!(judged.stage, Stage::Unread { .. }))
    {
        return actions;
    }
    if !decision.frozen && !held_up(decision) {
        actions.creates = decision
            .topics
            .iter()
            .filter(|judged| judged.topic.managed && judged.stage == Stage::Absent)
            .map(|judged| Create {
                topic: judged.topic.name.clone(),
                partitions: target,
                replication_factor: input.group.replication_factor,
                config: judged.topic.config.clone(),
            })
            .collect();
    }
    if decision.parts_keys.is_none() && (!decision.frozen || may_follow(input.group, decision)) {
        actions.growths = growths(decision, target);
    }
    decision
        .memory
        .intents
        .extend(actions.growths.iter().map(|grow| Intent {
            topic: grow.topic.clone(),
            id: grow.id.clone(),
            from: grow.from,
            to: grow.to,
            consented: input.group.consent.as_ref().is_some_and(|consent| {
                consent.topics.contains(&grow.topic)
                    && consent.from == grow.from
                    && consent.to == grow.to
            }),
        }));
    actions
}

/// Whether a topic that exists has fewer partitions and does not grow now: nobody consented, or it is its owner's turn.
/// The spec may still be taken back then, and what was created at its count could not.
fn held_up(decision: &Decision) -> bool {
    decision.topics.iter().any(|judged| match judged.standing {
        Standing::Below { covered, .. } => !covered || !judged.topic.managed,
        _ => false,
    })
}

/// Whether topics may follow a drifted one although the group is frozen. A drift cannot be undone, and one consent
/// speaks of one live count only, so each has to take the group a step further: else `[8, 7, 6, 5]` had no way out. But
/// a consent that names a drifted topic was given for another state of the group, and a new target is declared first.
fn may_follow(group: &Group, decision: &Decision) -> bool {
    decision.other_cluster.is_none()
        && decision.topics.iter().all(|judged| {
            let named = || {
                group
                    .consent
                    .as_ref()
                    .is_some_and(|consent| consent.topics.contains(&judged.topic.name))
            };
            match (&judged.stage, &judged.standing) {
                (Stage::Deleted { .. } | Stage::Recreated { .. }, _) | (_, Standing::Above) => {
                    false
                }
                (_, Standing::Below { .. }) => !(judged.drifted && named()),
                _ => true,
            }
        })
}

/// The topics that grow now. Equal stays equal: of the Managed topics with one live count, all grow or none. And
/// the operator is last: every Referenced topic has to show the target first.
fn growths(decision: &Decision, target: i32) -> Vec<Grow> {
    let waiting = decision
        .topics
        .iter()
        .any(|judged| !judged.topic.managed && judged.standing != Standing::AtTarget);
    if waiting {
        return Vec::new();
    }
    let below = || {
        decision
            .topics
            .iter()
            .filter(|judged| judged.topic.managed)
            .filter_map(|judged| match (&judged.stage, &judged.standing) {
                // Beside a drift, being empty is not enough: that somebody follows it has to be said.
                (Stage::Live(live), Standing::Below { covered, coverage }) => Some((
                    judged,
                    live,
                    *covered && (!decision.frozen || *coverage == Coverage::Covered),
                )),
                _ => None,
            })
    };
    let held_back: BTreeSet<i32> = below()
        .filter(|(_, _, may_grow)| !may_grow)
        .map(|(_, live, _)| live.partitions)
        .collect();
    below()
        .filter(|(_, live, _)| !held_back.contains(&live.partitions))
        .map(|(judged, live, _)| Grow {
            topic: judged.topic.name.clone(),
            id: live.id.clone(),
            from: live.partitions,
            to: target,
        })
        .collect()
}

/// Which of the growths that were `planned` may still be asked for, now that a fresh look decided `again`. All of
/// those with one live count or none: were one of them left out, or one that joined them meanwhile, equal topics would part.
pub fn confirmed(planned: &[Grow], again: &[Grow]) -> Vec<Grow> {
    let alike = |growths: &[Grow], from: i32| -> BTreeSet<String> {
        let alike = growths.iter().filter(|grow| grow.from == from);
        alike.map(|grow| grow.topic.clone()).collect()
    };
    let stands =
        |grow: &&Grow| again.contains(grow) && alike(planned, grow.from) == alike(again, grow.from);
    planned.iter().filter(stands).cloned().collect()
}
