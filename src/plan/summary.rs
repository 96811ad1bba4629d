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
/// application whose sync wave waits for Ready could otherwise never start. `KafkaReachable` does not either: an outage
/// changes no partition count.
pub fn summarise(conditions: &[Condition], observing: bool) -> Vec<Condition> {
    let gates = GATES.map(|kind| find(conditions, kind).unwrap_or_else(|| not_judged(kind)));
    let open: Vec<&Condition> = gates
        .iter()
        .filter(|gate| gate.state != State::True && !counts_as_fine(gate))
        .collect();
    let first = |state| open.iter().find(|gate| gate.state == state);
    let Some(gate) = first(State::False).or_else(|| first(State::Unknown)) else {
        return vec![
            Condition::new(
                ConditionType::Ready,
                State::True,
                Reason::Aligned,
                "accepted, aligned, and no key scheme mismatch",
            ),
            settled(ConditionType::Reconciling),
            settled(ConditionType::Stalled),
        ];
    };
    // Whoever has to act is told so, also while something else is still under way. With nothing decided yet, a refused
    // login is what somebody has to act on.
    let unreachable = find(conditions, ConditionType::KafkaReachable)
        .filter(|condition| condition.state == State::False);
    let stalled = open
        .iter()
        .copied()
        .chain(&unreachable)
        .find(|condition| condition.reason.is_stalled(observing));
    let (reconciling, stalled) = match stalled {
        Some(cause) => (
            settled(ConditionType::Reconciling),
            holds(ConditionType::Stalled, Reason::ActionNeeded, cause),
        ),
        None => (
            holds(ConditionType::Reconciling, Reason::InProgress, gate),
            settled(ConditionType::Stalled),
        ),
    };
    vec![
        Condition::new(
            ConditionType::Ready,
            gate.state,
            gate.reason,
            gate.message.clone(),
        ),
        reconciling,
        stalled,
    ]
}

fn find(conditions: &[Condition], kind: ConditionType) -> Option<Condition> {
    conditions
        .iter()
        .find(|condition| condition.kind == kind)
        .cloned()
}

/// A gate that nobody judged is not open.
fn not_judged(kind: ConditionType) -> Condition {
    Condition::new(kind, State::Unknown, Reason::Pending, "not looked at yet")
}

fn settled(kind: ConditionType) -> Condition {
    Condition::new(kind, State::False, Reason::Settled, "")
}

fn holds(kind: ConditionType, reason: Reason, cause: &Condition) -> Condition {
    Condition::new(kind, State::True, reason, cause.message.clone())
}

/// No declared scheme, or one that cannot be compared, is not a mismatch.
fn counts_as_fine(condition: &Condition) -> bool {
    condition.kind == ConditionType::KeySchemesAligned
        && matches!(
            condition.reason,
            Reason::NotProvable | Reason::SchemeNotDeclared
        )
}
