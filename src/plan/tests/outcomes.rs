//! What Kafka said to the actions.

use super::*;

fn words() -> String {
    "PolicyViolation: at most 4 partitions".to_owned()
}

#[test]
fn a_refused_creation_is_said_in_the_brokers_words_and_tried_again() {
    for failure in [Failure::Rejected(words()), Failure::NotAuthorized(words())] {
        let mut world = group(6);
        world.manages("a").manages("b").has("b", 6, EMPTY).looks();
        world.outcomes.creates.insert("a".to_owned(), failure);
        assert_eq!(world.verdict(), (State::False, Reason::CreateRejected));
        world.says(
            ConditionType::PartitionsAligned,
            &["a: wanted 6 partitions", &words(), "Correct the spec"],
        );
        let report = world.report();
        assert_eq!(report.topics[0].verdict, Verdict::Rejected);
        assert_eq!(report.topics[1].verdict, Verdict::Aligned);
        assert_eq!(creates(&world.decide()), [("a", 6)]);
    }
}

#[test]
fn a_creation_that_was_refused_because_somebody_was_faster_is_no_refusal() {
    let mut world = group(6);
    world.manages("a");
    let failure = Failure::Rejected("already exists".to_owned());
    world.outcomes.creates.insert("a".to_owned(), failure);
    world.has("a", 6, FULL);
    world.is_aligned();
}

#[test]
fn a_refused_growth_is_said_in_the_brokers_words() {
    for failure in [Failure::Rejected(words()), Failure::NotAuthorized(words())] {
        let mut world = settled(6, &["a"]);
        world.wants(8).consent(&["a"], 6, 8).looks();
        world.outcomes.growths.insert("a".to_owned(), failure);
        assert_eq!(world.verdict(), (State::False, Reason::GrowthRejected));
        world.says(
            ConditionType::PartitionsAligned,
            &["a: wanted 8 partitions, seen 6", &words()],
        );
        assert_eq!(world.report().topics[0].verdict, Verdict::Rejected);
        assert!(world.memory.spent.is_empty());
        assert_eq!(growths(&world.decide()), [("a", 6, 8)]);
    }
}

#[test]
fn one_refused_growth_of_three_keeps_its_consent_and_the_others_spend_theirs() {
    let mut world = settled(6, &["a", "b", "c"]);
    world.wants(8).consent(&["a", "b", "c"], 6, 8).looks();
    world.grown("a", 8).grown("c", 8);
    let failure = Failure::Rejected(words());
    world.outcomes.growths.insert("b".to_owned(), failure);
    world.stands(Reason::GrowthRejected);
    let message = world.condition(ConditionType::PartitionsAligned).message;
    assert!(
        !message.contains("a: ") && !message.contains("c: "),
        "{message}"
    );
    assert_eq!(growths(&world.looks()), [("b", 6, 8)]);
    let spent: Vec<&str> = world
        .memory
        .spent
        .iter()
        .map(|s| s.topic.as_str())
        .collect();
    assert_eq!(spent, ["a", "c"]);
    world.outcomes = Outcomes::default();
    world.passes();
    world.is_aligned();
}

#[test]
fn one_refused_creation_of_three_does_not_stop_the_others() {
    let mut world = group(6);
    world.manages("a").manages("b").manages("c");
    world.looks();
    world.has("a", 6, EMPTY).has("c", 6, EMPTY);
    let failure = Failure::Rejected(words());
    world.outcomes.creates.insert("b".to_owned(), failure);
    world.stands(Reason::CreateRejected);
    let verdicts: Vec<Verdict> = world.report().topics.iter().map(|t| t.verdict).collect();
    assert_eq!(
        verdicts,
        [Verdict::Aligned, Verdict::Rejected, Verdict::Aligned]
    );
}

#[test]
fn an_open_answer_is_under_way_with_its_words() {
    let unsure = || Failure::Unsure("timed out".to_owned());
    let mut world = group(6);
    world.manages("a");
    world.outcomes.creates.insert("a".to_owned(), unsure());
    assert_eq!(world.verdict(), (State::Unknown, Reason::Creating));
    world.says(
        ConditionType::PartitionsAligned,
        &["a: ", "last answer: timed out"],
    );
    let mut world = settled(6, &["a"]);
    world.wants(8).consent(&["a"], 6, 8);
    world.outcomes.growths.insert("a".to_owned(), unsure());
    assert_eq!(world.verdict(), (State::False, Reason::GrowthIncomplete));
    world.says(
        ConditionType::PartitionsAligned,
        &["last answer: timed out"],
    );
    assert_eq!(
        world.report().topics[0].message.as_deref(),
        Some("Kafka said: timed out")
    );
}

#[test]
fn outcomes_are_empty_only_if_nothing_failed() {
    assert!(Outcomes::default().is_empty());
    let mut world = group(6);
    world
        .outcomes
        .configs
        .insert("a".to_owned(), Failure::Unsure(words()));
    assert!(!world.outcomes.is_empty());
}
