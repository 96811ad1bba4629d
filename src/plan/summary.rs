//! Ready and the kstatus pair, which follow from the other conditions.

use super::conditions::{Condition, ConditionType, Reason, State};

/// The conditions that gate Ready, in the order in which their reasons are shown.
const GATES: [ConditionType; 3] = [
    ConditionType::Accepted,
    ConditionType::PartitionsAligned,
    ConditionType::KeySchemesAligned,
];

/// Ready, Reconciling and Stalled for these conditions.
///
/// Ready is False if a gate is False, else Unknown if one is Unknown. Evidence and config do not gate it: an
/// application whose sync wave waits for Ready could otherwise never start. KafkaReachable does not either: an outage
/// changes no partition count.
pub fn summarise(conditions: &[Condition], observing: bool) -> Vec<Condition> {
    let gates: Vec<&Condition> = GATES
        .iter()
        .filter_map(|kind| conditions.iter().find(|condition| condition.kind == *kind))
        .collect();
    let first = |state| {
        gates
            .iter()
            .find(|gate| gate.state == state && !counts_as_fine(gate))
            .copied()
    };
    let gate = first(State::False).or_else(|| first(State::Unknown));
    let Some(gate) = gate.filter(|_| !gates.is_empty()) else {
        return vec![
            Condition::new(
                ConditionType::Ready,
                State::True,
                Reason::Aligned,
                "accepted, aligned, and no key scheme mismatch",
            ),
            Condition::new(
                ConditionType::Reconciling,
                State::False,
                Reason::Settled,
                "",
            ),
            Condition::new(ConditionType::Stalled, State::False, Reason::Settled, ""),
        ];
    };
    // With nothing decided yet, a refused login is what somebody has to act on.
    let unreachable = conditions.iter().find(|condition| {
        condition.kind == ConditionType::KafkaReachable && condition.state == State::False
    });
    let stalled = gate.reason.is_stalled(observing)
        || unreachable.is_some_and(|condition| condition.reason.is_stalled(observing));
    let pair = |kind, holds, reason| {
        let (state, reason) = if holds {
            (State::True, reason)
        } else {
            (State::False, Reason::Settled)
        };
        Condition::new(
            kind,
            state,
            reason,
            if holds {
                gate.message.clone()
            } else {
                String::new()
            },
        )
    };
    vec![
        Condition::new(
            ConditionType::Ready,
            gate.state,
            gate.reason,
            gate.message.clone(),
        ),
        pair(ConditionType::Reconciling, !stalled, Reason::InProgress),
        pair(ConditionType::Stalled, stalled, Reason::ActionNeeded),
    ]
}

/// No declared scheme, or one that cannot be compared, is not a mismatch.
fn counts_as_fine(condition: &Condition) -> bool {
    condition.kind == ConditionType::KeySchemesAligned
        && matches!(
            condition.reason,
            Reason::NotProvable | Reason::SchemeNotDeclared
        )
}
