//! What a group's conditions mean to a pipeline that runs one pass: an exit code.

use std::fmt::Write as _;

use super::conditions::{Condition, ConditionType, Reason, State};
use super::vocabulary::VOCABULARY;

/// What a pass came to, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything is as declared.
    Aligned,
    /// Somebody has to decide: what is declared differs from what is there, and may not be changed unasked.
    Blocked,
    /// It could not be judged or done.
    Failed,
}

/// The conditions that count, in the order in which they are blamed. Unlike Ready, config counts too: what waits for
/// Ready is an application, what waits for an exit code is whoever declared the config.
const COUNTED: [ConditionType; 5] = [
    ConditionType::KafkaReachable,
    ConditionType::Accepted,
    ConditionType::PartitionsAligned,
    ConditionType::KeySchemesAligned,
    ConditionType::TopicConfigsApplied,
];

impl Exit {
    /// All of them.
    pub const ALL: [Exit; 3] = [Exit::Aligned, Exit::Blocked, Exit::Failed];

    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Aligned => 0,
            Exit::Failed => 1,
            Exit::Blocked => 2,
        }
    }

    /// The word that outputs use.
    pub fn as_str(self) -> &'static str {
        match self {
            Exit::Aligned => "Aligned",
            Exit::Blocked => "Blocked",
            Exit::Failed => "Failed",
        }
    }

    /// What one reason means. `paused` makes a growth that is not done somebody's decision.
    fn of_reason(reason: Reason, paused: bool) -> Exit {
        match reason {
            Reason::Accepted
            | Reason::Reachable
            | Reason::Aligned
            | Reason::SameScheme
            | Reason::EquivalentSchemes
            | Reason::SameSlot
            | Reason::KeysFit
            | Reason::TooFewKeys
            | Reason::NoRecords
            | Reason::Settling
            | Reason::Colocated
            | Reason::ColocatedByChance
            | Reason::Rebalancing
            | Reason::NotReady
            | Reason::GroupMissing
            | Reason::GroupEmpty
            | Reason::TopicsUnread
            | Reason::NotProvable
            | Reason::SchemeNotDeclared
            | Reason::Applied
            | Reason::Off
            | Reason::Locked
            | Reason::SuperUser
            | Reason::Paused
            | Reason::NotPaused
            | Reason::Settled => Exit::Aligned,
            Reason::ClusterChanged
            | Reason::TopicDeleted
            | Reason::TopicRecreated
            | Reason::PartitionDrift
            | Reason::CountsDisagree
            | Reason::CountUnknown
            | Reason::GrowthBlocked
            | Reason::WaitingForReferenced
            | Reason::TopicMissing
            | Reason::PartitionerMismatch
            | Reason::EncodingMismatch
            | Reason::SchemeMismatch
            | Reason::NonDeterministic
            | Reason::Unkeyed
            | Reason::SplitMembers
            | Reason::SeparateSubTopologies
            | Reason::SeparateGroups
            | Reason::UnequalCounts
            | Reason::UntaggedTemplate
            | Reason::TagMismatch
            | Reason::WouldDropData
            | Reason::Observed
            | Reason::ForeignDeny
            | Reason::DefaultAllowUnknown
            | Reason::NoAuthorizer
            | Reason::ActionNeeded => Exit::Blocked,
            Reason::GrowthIncomplete if paused => Exit::Blocked,
            Reason::InvalidSpec
            | Reason::NotPermitted
            | Reason::ConnectionNotFound
            | Reason::SecretNotFound
            | Reason::TopicConflict
            | Reason::ManagedByOther
            | Reason::ForeignMemory
            | Reason::Pending
            | Reason::ClusterUnknown
            | Reason::Unreachable
            | Reason::AuthenticationFailed
            | Reason::CertificateRejected
            | Reason::NotAuthorized
            | Reason::Timeout
            | Reason::GrowthIncomplete
            | Reason::Lifted
            | Reason::Spreading
            | Reason::CreateRejected
            | Reason::GrowthRejected
            | Reason::Creating
            | Reason::TopicNotAuthorized
            | Reason::OffsetsUnreadable
            | Reason::ReadIncomplete
            | Reason::UnsupportedGroup
            | Reason::GroupNotAuthorized
            | Reason::Rejected
            | Reason::InProgress => Exit::Failed,
        }
    }

    /// What conditions mean together: the worst, and the first condition that is to blame for it.
    pub fn of(conditions: &[Condition], paused: bool) -> (Exit, Option<&Condition>) {
        let mut worst = (Exit::Aligned, None);
        for kind in COUNTED {
            // A Kafka that was not asked is not to blame.
            let counts = |one: &&Condition| {
                one.kind == kind
                    && (kind != ConditionType::KafkaReachable || one.state == State::False)
            };
            for condition in conditions.iter().filter(counts) {
                let exit = Exit::of_reason(condition.reason, paused);
                if exit > worst.0 {
                    worst = (exit, Some(condition));
                }
            }
        }
        worst
    }

    /// The reasons that mean this, as they stand in the documentation.
    fn reasons(self) -> Vec<&'static str> {
        let counted = VOCABULARY
            .iter()
            .filter(|entry| COUNTED.contains(&entry.kind));
        let reasons = counted.flat_map(|entry| entry.reasons.iter().copied());
        let mut names = Vec::new();
        for reason in reasons.filter(|reason| Exit::of_reason(*reason, false) == self) {
            if !names.contains(&reason.as_str()) {
                names.push(reason.as_str());
            }
        }
        names
    }
}

/// The table of exit codes for the reference.
pub fn exit_table() -> String {
    let mut table = String::from("| Exit code | Verdict | Reasons |\n|---|---|---|\n");
    for exit in [Exit::Aligned, Exit::Blocked, Exit::Failed] {
        // Writing to a String cannot fail.
        let _ = writeln!(
            table,
            "| {} | {} | {} |",
            exit.code(),
            exit.as_str(),
            exit.reasons().join(", ")
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: ConditionType, state: State, reason: Reason) -> Condition {
        Condition::new(kind, state, reason, "")
    }

    #[test]
    fn the_worst_condition_decides_and_is_named() {
        use ConditionType as C;
        let fine = found(C::PartitionsAligned, State::True, Reason::Aligned);
        let drift = found(C::PartitionsAligned, State::False, Reason::PartitionDrift);
        let refused = found(C::TopicConfigsApplied, State::False, Reason::Rejected);
        let alone = [fine.clone()];
        assert_eq!(Exit::of(&alone, false), (Exit::Aligned, None));
        let blocked = [drift.clone()];
        assert_eq!(Exit::of(&blocked, false), (Exit::Blocked, Some(&drift)));
        let both = [refused.clone(), drift];
        assert_eq!(Exit::of(&both, false), (Exit::Failed, Some(&refused)));
        let codes = Exit::ALL.map(Exit::code);
        assert_eq!(codes, [0, 2, 1]);
    }

    #[test]
    fn a_growth_that_a_pause_holds_back_is_somebodys_decision() {
        let kind = ConditionType::PartitionsAligned;
        let open = [found(kind, State::False, Reason::GrowthIncomplete)];
        assert_eq!(Exit::of(&open, false).0, Exit::Failed);
        assert_eq!(Exit::of(&open, true).0, Exit::Blocked);
    }

    /// A condition that is True is never a reason to fail, and one that makes Ready False always is one.
    #[test]
    fn exit_codes_agree_with_the_conditions() {
        for entry in VOCABULARY
            .iter()
            .filter(|entry| COUNTED.contains(&entry.kind))
        {
            for reason in entry.reasons {
                let exit = Exit::of_reason(*reason, false);
                match entry.state {
                    State::True => assert_eq!(exit, Exit::Aligned, "{reason}"),
                    State::False => assert_ne!(exit, Exit::Aligned, "{reason}"),
                    State::Unknown => {}
                }
            }
        }
    }

    /// What kstatus calls Failed needs somebody, and so does every Blocked.
    #[test]
    fn nothing_that_needs_a_decision_reads_as_aligned() {
        for reason in Reason::ALL {
            if reason.is_stalled(true) {
                assert_ne!(Exit::of_reason(*reason, false), Exit::Aligned, "{reason}");
            }
        }
    }
}
