//! `KeysVerified` follows from what records said, and from nothing that has changed since.

use super::*;

fn verified(world: &World, evidence: Option<&Evidence>) -> Condition {
    let proofs = Proofs {
        records: evidence,
        ..Proofs::default()
    };
    let report = report_with(&world.group, &world.decide(), &world.outcomes, proofs);
    let mut conditions = report.conditions.into_iter();
    conditions
        .find(|it| it.kind == ConditionType::KeysVerified)
        .unwrap()
}

fn found(world: &World, evidence: Option<&Evidence>) -> (State, Reason) {
    let condition = verified(world, evidence);
    (condition.state, condition.reason)
}

const FIT: (State, Reason) = (State::True, Reason::KeysFit);
const REFUTED: (State, Reason) = (State::False, Reason::SchemeMismatch);
const PENDING: (State, Reason) = (State::Unknown, Reason::Pending);

/// A settled group that asks for verification, and what its records said.
fn read(verdict: (State, Reason)) -> (World, Evidence) {
    let mut world = settled(6, &["a", "b"]);
    world.group.verification = true;
    for topic in &mut world.group.topics {
        topic.scheme = Some(KeyScheme::parse("utf8", "murmur2").unwrap());
    }
    let evidence = Evidence {
        about: readable(&world.decide()),
        state: verdict.0,
        reason: verdict.1,
        message: "as read".to_owned(),
    };
    (world, evidence)
}

#[test]
fn without_being_asked_nothing_is_said() {
    let (mut world, evidence) = read(FIT);
    assert_eq!(found(&world, None), PENDING);
    assert_eq!(found(&world, Some(&evidence)), FIT);
    world.group.verification = false;
    let off = (State::Unknown, Reason::Off);
    assert_eq!(found(&world, Some(&evidence)), off);
}

#[test]
fn evidence_speaks_of_topics_as_they_were() {
    let (world, evidence) = read(FIT);
    let mut edited = world.clone();
    edited.group.topics[1].scheme = Some(KeyScheme::parse("utf8", "crc32").unwrap());
    assert_eq!(found(&edited, Some(&evidence)), PENDING);
    let mut grown = world.clone();
    grown.grown("a", 8);
    assert_eq!(found(&grown, Some(&evidence)), PENDING);
    let mut joined = world.clone();
    joined.group.topics.pop();
    assert_eq!(found(&joined, Some(&evidence)), PENDING);
    // It takes the same topics to believe it again.
    assert_eq!(found(&world, Some(&evidence)), FIT);
}

#[test]
fn a_proof_of_half_the_topics_is_none() {
    let (mut world, _) = read(FIT);
    let view = TopicView {
        reading: TopicReading::Failed("no answer".to_owned()),
        misses: 0,
    };
    world.view.topics.insert("b".to_owned(), view);
    let half = Evidence {
        about: readable(&world.decide()),
        state: State::True,
        reason: Reason::KeysFit,
        message: String::new(),
    };
    assert_eq!(half.about.len(), 1);
    let open = (State::Unknown, Reason::ReadIncomplete);
    assert_eq!(found(&world, Some(&half)), open);
    assert_eq!(found(&world, None), open);
    // Keys in the wrong place are in the wrong place whatever else there is.
    let refuted = Evidence {
        state: State::False,
        reason: Reason::SchemeMismatch,
        ..half
    };
    assert_eq!(found(&world, Some(&refuted)), REFUTED);
}

#[test]
fn proof_does_not_gate_ready() {
    let (world, evidence) = read(REFUTED);
    let proofs = Proofs {
        records: Some(&evidence),
        ..Proofs::default()
    };
    let report = report_with(&world.group, &world.decide(), &world.outcomes, proofs);
    let ready = summarise(&report.conditions, false);
    assert_eq!(ready[0].kind, ConditionType::Ready);
    assert_eq!(ready[0].state, State::True);
}

#[test]
fn every_word_of_the_judge_is_one_of_the_condition() {
    use crate::verify::Reason as Judged;
    for judged in [
        Judged::SchemeMismatch,
        Judged::NonDeterministic,
        Judged::Unkeyed,
        Judged::SchemeNotDeclared,
        Judged::NotProvable,
        Judged::Settling,
        Judged::NoRecords,
        Judged::TooFewKeys,
        Judged::KeysFit,
    ] {
        let (state, reason) = (State::from(judged.outcome()), Reason::from(judged));
        assert_eq!(reason.as_str(), judged.to_string());
        let listed = VOCABULARY.iter().any(|entry| {
            entry.kind == ConditionType::KeysVerified
                && entry.state == state
                && entry.reasons.contains(&reason)
        });
        assert!(listed, "{judged} is not documented as {state:?}");
    }
}
