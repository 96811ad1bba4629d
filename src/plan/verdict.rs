//! One word on each topic.

use std::collections::BTreeMap;

use super::checks::Context;
use super::decision::{Stage, Standing, TopicDecision};
use super::report::Failure;

/// One word on one topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has the group's count.
    Aligned,
    /// It has a count that nobody declared.
    Drifted,
    /// It does not exist.
    Missing,
    /// It is being created.
    Creating,
    /// It was recorded and is gone.
    Deleted,
    /// It has another id than the recorded one.
    Recreated,
    /// It is being grown, or waits for its turn.
    Growing,
    /// It would have to grow, and nobody consented.
    GrowthBlocked,
    /// Its owner has to grow it.
    WaitingForOwner,
    /// Kafka does not describe it.
    Unreadable,
    /// Kafka refused to create or grow it.
    Rejected,
    /// There is nothing to compare it with.
    Unjudged,
}

impl Verdict {
    /// The word as it stands in the status.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Aligned => "Aligned",
            Verdict::Drifted => "Drifted",
            Verdict::Missing => "Missing",
            Verdict::Creating => "Creating",
            Verdict::Deleted => "Deleted",
            Verdict::Recreated => "Recreated",
            Verdict::Growing => "Growing",
            Verdict::GrowthBlocked => "GrowthBlocked",
            Verdict::WaitingForOwner => "WaitingForOwner",
            Verdict::Unreadable => "Unreadable",
            Verdict::Rejected => "Rejected",
            Verdict::Unjudged => "Unjudged",
        }
    }
}

pub(super) fn verdict(judged: &TopicDecision, context: Context<'_>) -> Verdict {
    let refused = |failures: &BTreeMap<String, Failure>| {
        matches!(
            failures.get(&judged.topic.name),
            Some(Failure::Rejected(_) | Failure::NotAuthorized(_))
        )
    };
    match (&judged.stage, &judged.standing) {
        (Stage::Unread { .. }, _) => Verdict::Unreadable,
        (Stage::Absent, _) if refused(&context.outcomes.creates) => Verdict::Rejected,
        (Stage::Absent, _)
            if context
                .decision
                .actions
                .creates
                .iter()
                .any(|create| create.topic == judged.topic.name) =>
        {
            Verdict::Creating
        }
        (Stage::Absent, _) => Verdict::Missing,
        (Stage::Deleted { .. }, _) => Verdict::Deleted,
        (Stage::Recreated { .. }, _) => Verdict::Recreated,
        (Stage::Live(_), Standing::Unjudged) => Verdict::Unjudged,
        (Stage::Live(_), _) if judged.drifted => Verdict::Drifted,
        (Stage::Live(_), Standing::AtTarget) => Verdict::Aligned,
        (Stage::Live(_), Standing::Above) => Verdict::Drifted,
        (Stage::Live(_), Standing::Below { .. }) if !judged.topic.managed => {
            Verdict::WaitingForOwner
        }
        (Stage::Live(_), Standing::Below { .. }) if refused(&context.outcomes.growths) => {
            Verdict::Rejected
        }
        (Stage::Live(_), Standing::Below { covered: true, .. }) => Verdict::Growing,
        (Stage::Live(_), Standing::Below { .. }) => Verdict::GrowthBlocked,
    }
}
