//! Which reasons a condition can have in which status, and what that means to kstatus: the reference's table.

use std::fmt::Write as _;

use super::conditions::{ConditionType, Reason, State};

/// The reasons of one condition in one status.
pub struct Entry {
    /// The condition.
    pub kind: ConditionType,
    /// Its status.
    pub state: State,
    /// Its reasons in that status.
    pub reasons: &'static [Reason],
}

const fn entry(kind: ConditionType, state: State, reasons: &'static [Reason]) -> Entry {
    Entry {
        kind,
        state,
        reasons,
    }
}

/// All conditions with all their reasons, in the order of the documentation.
pub const VOCABULARY: &[Entry] = {
    use ConditionType as C;
    use Reason as R;
    use State::{False, True, Unknown};
    &[
        entry(C::Accepted, True, &[R::Accepted]),
        entry(
            C::Accepted,
            False,
            &[
                R::InvalidSpec,
                R::NotPermitted,
                R::ConnectionNotFound,
                R::SecretNotFound,
                R::TopicConflict,
                R::ManagedByOther,
                R::ForeignMemory,
            ],
        ),
        entry(C::Accepted, Unknown, &[R::ClusterUnknown]),
        entry(C::KafkaReachable, True, &[R::Reachable]),
        entry(
            C::KafkaReachable,
            False,
            &[
                R::Unreachable,
                R::Timeout,
                R::NotAuthorized,
                R::AuthenticationFailed,
                R::CertificateRejected,
            ],
        ),
        entry(C::KafkaReachable, Unknown, &[R::Pending]),
        entry(C::PartitionsAligned, True, &[R::Aligned]),
        entry(
            C::PartitionsAligned,
            False,
            &[
                R::ClusterChanged,
                R::TopicDeleted,
                R::TopicRecreated,
                R::PartitionDrift,
                R::CountsDisagree,
                R::CountUnknown,
                R::CreateRejected,
                R::GrowthRejected,
                R::GrowthBlocked,
                R::WaitingForReferenced,
                R::TopicMissing,
                R::GrowthIncomplete,
            ],
        ),
        entry(
            C::PartitionsAligned,
            Unknown,
            &[
                R::OffsetsUnreadable,
                R::TopicNotAuthorized,
                R::Creating,
                R::NotPermitted,
                R::Pending,
            ],
        ),
        entry(
            C::KeySchemesAligned,
            True,
            &[R::SameScheme, R::EquivalentSchemes],
        ),
        entry(
            C::KeySchemesAligned,
            False,
            &[R::PartitionerMismatch, R::EncodingMismatch],
        ),
        entry(
            C::KeySchemesAligned,
            Unknown,
            &[
                R::SchemeNotDeclared,
                R::NotProvable,
                R::NotPermitted,
                R::Pending,
            ],
        ),
        entry(C::TopicConfigsApplied, True, &[R::Applied]),
        entry(
            C::TopicConfigsApplied,
            False,
            &[R::Rejected, R::NotAuthorized, R::WouldDropData, R::Observed],
        ),
        entry(
            C::TopicConfigsApplied,
            Unknown,
            &[R::NotPermitted, R::Pending],
        ),
        entry(C::KeysVerified, True, &[R::KeysFit]),
        entry(
            C::KeysVerified,
            False,
            &[R::SchemeMismatch, R::NonDeterministic, R::Unkeyed],
        ),
        entry(
            C::KeysVerified,
            Unknown,
            &[
                R::TooFewKeys,
                R::NoRecords,
                R::Settling,
                R::SchemeNotDeclared,
                R::NotProvable,
                R::TopicNotAuthorized,
                R::ReadIncomplete,
                R::NotPermitted,
                R::Pending,
                R::Off,
            ],
        ),
        entry(
            C::ConsumersColocated,
            True,
            &[R::Colocated, R::ColocatedByChance],
        ),
        entry(
            C::ConsumersColocated,
            False,
            &[
                R::SplitMembers,
                R::SeparateSubTopologies,
                R::SeparateGroups,
                R::UnequalCounts,
            ],
        ),
        entry(
            C::ConsumersColocated,
            Unknown,
            &[
                R::UnequalCounts,
                R::UnsupportedGroup,
                R::GroupNotAuthorized,
                R::ReadIncomplete,
                R::Rebalancing,
                R::NotReady,
                R::GroupMissing,
                R::GroupEmpty,
                R::TopicsUnread,
                R::NotPermitted,
                R::Pending,
                R::Off,
            ],
        ),
        entry(C::SlotsAligned, True, &[R::SameSlot]),
        entry(
            C::SlotsAligned,
            False,
            &[R::UntaggedTemplate, R::TagMismatch],
        ),
        entry(
            C::SlotsAligned,
            Unknown,
            &[R::Off, R::NotPermitted, R::Pending],
        ),
        entry(C::Locked, True, &[R::Locked, R::SuperUser]),
        entry(
            C::Locked,
            False,
            &[
                R::NoAuthorizer,
                R::NotAuthorized,
                R::Rejected,
                R::ForeignDeny,
                R::DefaultAllowUnknown,
                R::Lifted,
                R::Spreading,
                R::Paused,
                R::Off,
            ],
        ),
        entry(C::Locked, Unknown, &[R::NotPermitted, R::Pending]),
        entry(C::Paused, True, &[R::Paused]),
        entry(C::Paused, False, &[R::NotPaused]),
    ]
};

/// The table of the reference: one line a reason.
pub fn conditions_table() -> String {
    let mut table =
        String::from("| Condition | Status | Reason | Means | kstatus |\n|---|---|---|---|---|\n");
    for Entry {
        kind,
        state,
        reasons,
    } in VOCABULARY
    {
        for reason in *reasons {
            // Writing to a String cannot fail.
            let _ = writeln!(
                table,
                "| {kind} | {} | {reason} | {} | {} |",
                state.as_str(),
                reason.doc(),
                kstatus(*kind, *state, *reason)
            );
        }
    }
    table
}

/// What the reason makes of a group in the words of kstatus, where it decides that at all.
fn kstatus(kind: ConditionType, state: State, reason: Reason) -> &'static str {
    let gates = matches!(
        kind,
        ConditionType::Accepted
            | ConditionType::PartitionsAligned
            | ConditionType::KeySchemesAligned
    );
    let fine = matches!(reason, Reason::NotProvable | Reason::SchemeNotDeclared);
    match state {
        _ if !gates && kind != ConditionType::KafkaReachable => "no effect",
        State::True if !gates => "no effect",
        State::True => "Current, if the other gates are",
        _ if fine => "no effect",
        _ if kind == ConditionType::KafkaReachable && state == State::Unknown => "no effect",
        _ if kind == ConditionType::KafkaReachable && reason.is_stalled(false) => {
            "Failed, unless Ready"
        }
        _ if kind == ConditionType::KafkaReachable => "InProgress, unless Ready",
        _ if reason.is_stalled(false) => "Failed",
        _ if reason.is_stalled(true) => "InProgress; in Observe Failed",
        _ => "InProgress",
    }
}
