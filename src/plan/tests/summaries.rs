//! Ready and the kstatus pair.

use super::*;

fn conditions(gates: [(State, Reason); 3]) -> Vec<Condition> {
    let kinds = [
        ConditionType::Accepted,
        ConditionType::PartitionsAligned,
        ConditionType::KeySchemesAligned,
    ];
    let each = kinds.into_iter().zip(gates);
    each.map(|(kind, (state, reason))| {
        Condition::new(kind, state, reason, format!("because of {reason}"))
    })
    .collect()
}

const FINE: [(State, Reason); 3] = [
    (State::True, Reason::Accepted),
    (State::True, Reason::Aligned),
    (State::True, Reason::SameScheme),
];

fn with(at: usize, state: State, reason: Reason) -> Vec<Condition> {
    let mut gates = FINE;
    gates[at] = (state, reason);
    conditions(gates)
}

/// Ready's status and reason, whether Reconciling, whether Stalled.
fn summary(conditions: &[Condition], observing: bool) -> (State, Reason, bool, bool) {
    let said = summarise(conditions, observing);
    let find = |kind| said.iter().find(|c| c.kind == kind).unwrap();
    let ready = find(ConditionType::Ready);
    let holds = |kind| find(kind).state == State::True;
    (
        ready.state,
        ready.reason,
        holds(ConditionType::Reconciling),
        holds(ConditionType::Stalled),
    )
}

#[test]
fn ready_holds_when_all_three_gates_hold() {
    assert_eq!(
        summary(&conditions(FINE), false),
        (State::True, Reason::Aligned, false, false)
    );
}

#[test]
fn a_scheme_that_is_not_declared_or_not_provable_is_fine() {
    for reason in [Reason::SchemeNotDeclared, Reason::NotProvable] {
        let (ready, ..) = summary(&with(2, State::Unknown, reason), false);
        assert_eq!(ready, State::True);
        // Elsewhere these reasons excuse nothing.
        let (ready, ..) = summary(&with(1, State::Unknown, reason), false);
        assert_eq!(ready, State::Unknown);
    }
}

#[test]
fn a_false_gate_outweighs_an_unknown_one() {
    let mut gates = FINE;
    gates[0] = (State::Unknown, Reason::Pending);
    assert_eq!(
        summary(&conditions(gates), false),
        (State::Unknown, Reason::Pending, true, false)
    );
    gates[1] = (State::False, Reason::GrowthIncomplete);
    assert_eq!(
        summary(&conditions(gates), false),
        (State::False, Reason::GrowthIncomplete, true, false)
    );
}

#[test]
fn a_gate_that_is_not_there_is_not_open() {
    for missing in 0..3 {
        let mut said = conditions(FINE);
        said.remove(missing);
        let (ready, ..) = summary(&said, false);
        assert_eq!(ready, State::Unknown);
    }
    assert_eq!(
        summary(&[], false),
        (State::Unknown, Reason::Pending, true, false)
    );
}

#[test]
fn stalled_are_exactly_the_reasons_on_which_somebody_has_to_act() {
    let stalled: Vec<&str> = Reason::ALL
        .iter()
        .filter(|reason| reason.is_stalled(false))
        .map(|reason| reason.as_str())
        .collect();
    let mut listed = [
        "InvalidSpec",
        "NotPermitted",
        "TopicConflict",
        "ManagedByOther",
        "ForeignMemory",
        "PartitionDrift",
        "TopicDeleted",
        "TopicRecreated",
        "ClusterChanged",
        "GrowthBlocked",
        "CountsDisagree",
        "CountUnknown",
        "CreateRejected",
        "GrowthRejected",
        "PartitionerMismatch",
        "EncodingMismatch",
        "AuthenticationFailed",
        "CertificateRejected",
    ];
    let mut found = stalled;
    listed.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, listed);
    for reason in Reason::ALL {
        let (_, _, reconciling, stalled) = summary(&with(1, State::False, *reason), false);
        assert_eq!(stalled, reason.is_stalled(false), "{reason}");
        assert_ne!(stalled, reconciling, "{reason}");
        assert_eq!(
            reason.is_stalled(true),
            reason.is_stalled(false) || *reason == Reason::TopicMissing
        );
    }
}

#[test]
fn a_missing_topic_is_final_in_observe_only() {
    let said = with(1, State::False, Reason::TopicMissing);
    assert!(!summary(&said, false).3);
    assert!(summary(&said, true).3);
}

#[test]
fn whoever_has_to_act_is_told_while_something_else_is_under_way() {
    let mut gates = FINE;
    gates[1] = (State::False, Reason::GrowthIncomplete);
    gates[2] = (State::False, Reason::PartitionerMismatch);
    let said = summarise(&conditions(gates), false);
    let stalled = said
        .iter()
        .find(|c| c.kind == ConditionType::Stalled)
        .unwrap();
    assert_eq!(stalled.state, State::True);
    assert_eq!(stalled.message, "because of PartitionerMismatch");
}

#[test]
fn stalled_never_stands_beside_ready() {
    let off = |kind, reason| Condition::new(kind, State::False, reason, "");
    for reason in Reason::ALL {
        let mut said = conditions(FINE);
        said.push(off(ConditionType::KafkaReachable, *reason));
        said.push(off(ConditionType::TopicConfigsApplied, *reason));
        said.push(off(ConditionType::KeysVerified, *reason));
        let found = summary(&said, true);
        assert_eq!(
            found,
            (State::True, Reason::Aligned, false, false),
            "{reason}"
        );
    }
}

#[test]
fn an_outage_does_not_stall_but_refused_credentials_do_while_nothing_is_decided() {
    for (reason, expected) in [
        (Reason::Unreachable, false),
        (Reason::Timeout, false),
        (Reason::AuthenticationFailed, true),
        (Reason::CertificateRejected, true),
    ] {
        let mut said = with(1, State::Unknown, Reason::Pending);
        said.push(Condition::new(
            ConditionType::KafkaReachable,
            State::False,
            reason,
            "no",
        ));
        let (ready, _, reconciling, stalled) = summary(&said, false);
        assert_eq!(
            (ready, stalled, reconciling),
            (State::Unknown, expected, !expected)
        );
    }
}
