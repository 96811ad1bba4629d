//! Topics that a client probably created by asking for them, before anybody declared their count.

use super::conditions::{Condition, ConditionType, Reason, State};
use super::decision::{Decision, Stage, TopicDecision};
use super::report::Report;

/// Whether it would help to know the brokers' default count: a count is wrong that nobody of this group is known to have
/// wanted.
pub fn may_be_auto_created(decision: &Decision) -> bool {
    decision
        .topics
        .iter()
        .any(|judged| unwanted(decision, judged).is_some())
}

/// Adds to the verdict on counts which topics have just the count that brokers give (`num.partitions`), and what to do.
pub fn explain_auto_created(report: &mut Report, decision: &Decision, default: i32) {
    let topics: Vec<&str> = decision
        .topics
        .iter()
        .filter(|judged| unwanted(decision, judged) == Some(default))
        .map(|judged| judged.topic.name.as_str())
        .collect();
    let speaks_of_counts = |condition: &&mut Condition| {
        condition.kind == ConditionType::PartitionsAligned
            && condition.state != State::True
            && matches!(
                condition.reason,
                Reason::PartitionDrift
                    | Reason::CountsDisagree
                    | Reason::GrowthBlocked
                    | Reason::OffsetsUnreadable
                    | Reason::TopicRecreated
                    | Reason::WaitingForReferenced
            )
    };
    let condition = report.conditions.iter_mut().find(speaks_of_counts);
    let Some(condition) = condition.filter(|_| !topics.is_empty()) else {
        return;
    };
    let (names, it) = (
        topics.join(", "),
        if topics.len() == 1 { "it" } else { "them" },
    );
    condition.message = format!(
        "{}; {default} is what brokers give a topic without asking (num.partitions), so a client probably created {names} by using {it} too \
         early: set auto.create.topics.enable=false on the brokers, and apply the group before the application",
        condition.message
    );
}

/// The count of a live topic, if it is another one than wanted, was never all topics' count, and is not of the operator's
/// own making.
fn unwanted(decision: &Decision, judged: &TopicDecision) -> Option<i32> {
    let live = judged.live()?;
    let remembered = decision.memory.topics.get(&judged.topic.name);
    let replaced = matches!(judged.stage, Stage::Recreated { .. });
    let own = !replaced && remembered.is_some_and(|memory| memory.created);
    let wanted = decision.target == Some(live.partitions);
    let was_aligned = !replaced && decision.memory.recorded == Some(live.partitions);
    // It had another count before, so this one is not from its creation.
    let grown = judged
        .accepted
        .is_some_and(|count| !replaced && count != live.partitions);
    (!own && !wanted && !was_aligned && !grown).then_some(live.partitions)
}
