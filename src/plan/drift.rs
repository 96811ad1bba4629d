//! `PartitionDrift`: what is said of counts that nobody declared, and the way out.

use super::checks::{Context, Finding, each, found};
use super::conditions::{Reason, State};
use super::counts::is_empty;
use super::decision::{Standing, TopicDecision};
use super::remedy::consent_and_movement;

pub(super) fn drifted(context: Context<'_>) -> Option<Finding> {
    let target = context.decision.target?;
    let mut parts = each(context, |judged| {
        let live = judged.live().filter(|_| judged.drifted)?;
        let accepted = judged.accepted.unwrap_or(target);
        let expected = match &judged.standing {
            Standing::AtTarget => format!("{accepted} partitions until its siblings may follow"),
            Standing::Below { .. } if !context.group.observe => format!("{accepted} partitions"),
            _ => format!("{target} partitions"),
        };
        Some(format!(
            "{}: expected {expected}, seen {}",
            judged.topic.name, live.partitions
        ))
    });
    if parts.is_empty() {
        return None;
    }
    parts.push(way_out(context, target));
    found(State::False, Reason::PartitionDrift, &parts)
}

/// What to commit after a drift: Kafka cannot shrink a topic, so the others have to follow.
fn way_out(context: Context<'_>, target: i32) -> String {
    let decision = context.decision;
    let highest = decision
        .topics
        .iter()
        .filter_map(|judged| judged.live().map(|live| live.partitions))
        .fold(target, i32::max);
    if context.group.observe {
        return format!(
            "Kafka cannot remove partitions; let the topics' owners grow all of them to {highest}, and set spec.partitions: {highest}"
        );
    }
    // One commit names one live count: the lowest that nothing lets grow yet.
    let from = decision
        .topics
        .iter()
        .filter(|judged| judged.topic.managed && !on_its_way(judged, highest == target))
        .filter_map(|judged| {
            let live = judged.live().filter(|live| live.partitions < highest)?;
            let empty = is_empty(&decision.memory, &judged.topic.name, live);
            (!empty).then_some(live.partitions)
        })
        .min();
    let consent = from.map_or_else(String::new, |from| {
        format!(" with {}", consent_and_movement(context, from, highest))
    });
    format!(
        "Kafka cannot remove partitions and the operator changes nothing until you decide; to go on, set spec.partitions: {highest}{consent}"
    )
}

fn on_its_way(judged: &TopicDecision, to_this_target: bool) -> bool {
    to_this_target && matches!(judged.standing, Standing::Below { covered: true, .. })
}
