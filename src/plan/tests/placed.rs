//! `ConsumersColocated` follows from what two readings said, and from nothing that has changed since.

use super::*;
use crate::placement::{Asked, Reason as Judged};

fn colocated(world: &World, evidence: Option<&PlacementEvidence>) -> (State, Reason) {
    let proofs = Proofs {
        consumers: evidence,
        ..Proofs::default()
    };
    let report = report_with(&world.group, &world.decide(), &world.outcomes, proofs);
    let mut conditions = report.conditions.into_iter();
    let condition = conditions.find(|it| it.kind == ConditionType::ConsumersColocated);
    let condition = condition.unwrap();
    (condition.state, condition.reason)
}

const FIT: (State, Reason) = (State::True, Reason::Colocated);
const SPLIT: (State, Reason) = (State::False, Reason::SplitMembers);
const SEPARATE: (State, Reason) = (State::False, Reason::SeparateSubTopologies);
const MOVING: (State, Reason) = (State::Unknown, Reason::Rebalancing);
const PENDING: (State, Reason) = (State::Unknown, Reason::Pending);

/// A settled group that asks for a consumer group.
fn watched() -> World {
    let mut world = settled(6, &["a", "b"]);
    world.group.consumer_groups = vec![Asked::Id("app".to_owned())];
    world
}

fn reading(world: &World, (state, reason): (State, Reason), members: &str) -> PlacementEvidence {
    PlacementEvidence {
        about: countable(&world.decide()),
        asked: world.group.consumer_groups.clone(),
        state,
        reason,
        message: format!("{reason}. First seen: {members}"),
        gist: reason.to_string(),
    }
}

#[test]
fn without_being_asked_nothing_is_said() {
    let mut world = watched();
    let evidence = reading(&world, FIT, "");
    assert_eq!(colocated(&world, None), PENDING);
    assert_eq!(colocated(&world, Some(&evidence)), FIT);
    world.group.consumer_groups.clear();
    let off = (State::Unknown, Reason::Off);
    assert_eq!(colocated(&world, Some(&evidence)), off);
}

#[test]
fn evidence_speaks_of_topics_counts_and_consumers_as_they_were() {
    let world = watched();
    let evidence = reading(&world, FIT, "");
    let mut grown = world.clone();
    grown.grown("a", 8);
    assert_eq!(colocated(&grown, Some(&evidence)), PENDING);
    let mut fewer = world.clone();
    fewer.group.topics.pop();
    assert_eq!(colocated(&fewer, Some(&evidence)), PENDING);
    let mut others = world.clone();
    others.group.consumer_groups = vec![Asked::Prefix("app".to_owned())];
    assert_eq!(colocated(&others, Some(&evidence)), PENDING);
    assert_eq!(colocated(&world, Some(&evidence)), FIT);
}

#[test]
fn without_all_topics_only_a_split_is_one() {
    let mut world = watched();
    let view = TopicView {
        reading: TopicReading::Failed("no answer".to_owned()),
        misses: 0,
    };
    world.view.topics.insert("b".to_owned(), view);
    let open = (State::Unknown, Reason::ReadIncomplete);
    assert_eq!(colocated(&world, None), open);
    let half = reading(&world, FIT, "");
    assert_eq!(half.about.len(), 1);
    assert_eq!(colocated(&world, Some(&half)), open);
    let split = reading(&world, SPLIT, "");
    assert_eq!(colocated(&world, Some(&split)), SPLIT);
}

#[test]
fn placement_does_not_gate_ready() {
    let world = watched();
    let evidence = reading(&world, SPLIT, "");
    let proofs = Proofs {
        consumers: Some(&evidence),
        ..Proofs::default()
    };
    let report = report_with(&world.group, &world.decide(), &world.outcomes, proofs);
    let ready = summarise(&report.conditions, false);
    assert_eq!(
        (ready[0].kind, ready[0].state),
        (ConditionType::Ready, State::True)
    );
}

/// What is said after each of the readings.
fn said(readings: &[(State, Reason)]) -> Vec<Option<(State, Reason)>> {
    let world = watched();
    let mut standing: Option<PlacementEvidence> = None;
    let mut before: Option<PlacementEvidence> = None;
    let said = readings.iter().enumerate().map(|(at, verdict)| {
        let now = reading(&world, *verdict, &format!("members of {at}"));
        standing = confirmed_placement(standing.as_ref(), before.as_ref(), &now);
        before = Some(now);
        standing.as_ref().map(|it| (it.state, it.reason))
    });
    said.collect()
}

#[test]
fn it_takes_two_readings() {
    assert_eq!(said(&[FIT, FIT]), [None, Some(FIT)]);
    assert_eq!(said(&[FIT, SPLIT, SPLIT]), [None, None, Some(SPLIT)]);
    let rolled = said(&[FIT, FIT, MOVING, FIT, MOVING, FIT]);
    assert_eq!(rolled[1..], [Some(FIT); 5]);
    let parted = said(&[FIT, FIT, SPLIT, SPLIT, FIT, FIT]);
    let expected = [FIT, FIT, SPLIT, SPLIT, FIT].map(Some);
    assert_eq!(parted[1..], expected);
    // A new reason of the same status waits for a second reading as well.
    let other = said(&[SPLIT, SPLIT, SEPARATE, SPLIT, SEPARATE, SEPARATE]);
    let expected = [SPLIT, SPLIT, SPLIT, SPLIT, SEPARATE].map(Some);
    assert_eq!(other[1..], expected);
}

#[test]
fn what_was_right_does_not_outlive_readings_that_disagree() {
    let said = said(&[FIT, FIT, MOVING, SPLIT, MOVING, SPLIT, SPLIT]);
    assert_eq!(said[3..], [MOVING, MOVING, MOVING, SPLIT].map(Some));
}

#[test]
fn members_of_the_first_time_stay_named() {
    let world = watched();
    let first = reading(&world, SPLIT, "old members");
    let now = reading(&world, SPLIT, "new members");
    let said = confirmed_placement(Some(&first), Some(&now), &now);
    assert_eq!(said, Some(first.clone()));
    // Also after a restart, when all that is left of it is what the status says.
    let restored = PlacementEvidence {
        gist: first.message.clone(),
        ..first
    };
    let said = confirmed_placement(Some(&restored), None, &now);
    assert_eq!(said, Some(restored));
}

#[test]
fn what_changed_meanwhile_is_read_twice_anew() {
    let world = watched();
    let old = reading(&world, FIT, "");
    let mut grown = world.clone();
    grown.grown("a", 8);
    let now = reading(&grown, FIT, "");
    assert_eq!(confirmed_placement(Some(&old), Some(&old), &now), None);
    assert_eq!(
        confirmed_placement(None, Some(&now), &now),
        Some(now.clone())
    );
}

#[test]
fn every_word_of_the_judge_is_one_of_the_condition() {
    use crate::placement::Outcome::{Colocated, Refuted, Unproven};
    for (outcome, judged) in [
        (Refuted, Judged::SplitMembers),
        (Refuted, Judged::SeparateSubTopologies),
        (Refuted, Judged::SeparateGroups),
        (Refuted, Judged::UnequalCounts),
        (Unproven, Judged::UnequalCounts),
        (Unproven, Judged::UnsupportedGroup),
        (Unproven, Judged::GroupNotAuthorized),
        (Unproven, Judged::ReadIncomplete),
        (Unproven, Judged::Rebalancing),
        (Unproven, Judged::NotReady),
        (Unproven, Judged::GroupMissing),
        (Unproven, Judged::GroupEmpty),
        (Unproven, Judged::TopicsUnread),
        (Colocated, Judged::ColocatedByChance),
        (Colocated, Judged::Colocated),
    ] {
        let (state, reason) = (State::from(outcome), Reason::from(judged));
        assert_eq!(reason.as_str(), judged.to_string());
        let listed = VOCABULARY.iter().any(|entry| {
            entry.kind == ConditionType::ConsumersColocated
                && entry.state == state
                && entry.reasons.contains(&reason)
        });
        assert!(listed, "{judged} is not documented as {state:?}");
    }
}
