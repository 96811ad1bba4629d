//! Creation, adoption, the count where none is declared, and topics that are somebody else's.

use super::*;

#[test]
fn a_missing_topic_is_created_with_the_declared_count_factor_and_config() {
    let mut world = group(6);
    world.manages("a").config("a", "cleanup.policy", "compact");
    world.group.replication_factor = Some(3);
    let decision = world.decide();
    assert_eq!(
        decision.actions.creates,
        [Create {
            topic: "a".to_owned(),
            partitions: 6,
            replication_factor: Some(3),
            config: BTreeMap::from([("cleanup.policy".to_owned(), "compact".to_owned())]),
        }]
    );
    assert_eq!(world.verdict(), (State::Unknown, Reason::Creating));
    world.passes();
    world.is_aligned();
    assert_eq!(world.memory.recorded, Some(6));
    assert!(world.memory.topics["a"].created);
}

#[test]
fn a_topic_that_was_never_recorded_is_created_after_the_first_miss() {
    let mut world = group(6);
    world.manages("a").shows("a", TopicReading::Missing, 1);
    assert_eq!(creates(&world.decide()), [("a", 6)]);
}

#[test]
fn an_existing_topic_is_adopted_as_it_is() {
    let mut world = group(6);
    world.manages("a").has("a", 6, FULL);
    let decision = world.looks();
    assert!(decision.actions.is_empty());
    world.is_aligned();
    let id = world.id("a");
    assert_eq!(
        world.memory.topics["a"],
        TopicMemory {
            managed: true,
            id: Some(id),
            count: Some(6),
            created: false,
            holds_records: true,
        }
    );
}

#[test]
fn missing_topics_are_created_beside_adopted_ones() {
    let mut world = group(6);
    world.manages("a").manages("b").has("a", 6, FULL);
    assert_eq!(creates(&world.acts()), [("b", 6)]);
    world.passes();
    world.is_aligned();
}

#[test]
fn a_topic_that_was_created_by_somebody_faster_is_adopted() {
    let mut world = group(6);
    world.manages("a");
    world.looks();
    world.has("a", 6, FULL);
    world.passes();
    world.is_aligned();
    assert!(!world.memory.topics["a"].created);
}

#[test]
fn without_a_declared_count_the_one_that_existing_topics_share_is_taken() {
    let mut world = group(0);
    world.manages("a").manages("b").manages("c");
    world.has("a", 6, FULL).has("b", 6, FULL);
    assert_eq!(creates(&world.acts()), [("c", 6)]);
    world.passes();
    world.is_aligned();
    assert_eq!(world.memory.recorded, Some(6));
}

#[test]
fn without_a_declared_count_differing_topics_disagree_and_nothing_is_written() {
    let mut world = group(0);
    world.manages("a").manages("b").manages("c");
    world.has("a", 6, FULL).has("b", 8, EMPTY);
    world.config("a", "min.insync.replicas", "2");
    world.rests();
    assert_eq!(world.verdict(), (State::False, Reason::CountsDisagree));
    world.says(
        ConditionType::PartitionsAligned,
        &["a has 6", "b has 8", "Set spec.partitions to the highest"],
    );
    assert_eq!(world.memory.recorded, None);
}

#[test]
fn without_a_declared_count_and_without_topics_the_count_is_unknown() {
    let mut world = group(0);
    world.manages("a").manages("b");
    world.rests();
    assert_eq!(world.verdict(), (State::False, Reason::CountUnknown));
    world.says(
        ConditionType::PartitionsAligned,
        &["a, b", "Set spec.partitions"],
    );
}

#[test]
fn without_a_declared_count_the_recorded_one_stands_from_the_first_alignment_on() {
    let mut world = group(0);
    world.manages("a").manages("b");
    world.has("a", 6, FULL).has("b", 6, FULL);
    world.passes();
    world.grown("a", 8).grown("b", 8);
    world.rests();
    world.stands(Reason::PartitionDrift);
    assert_eq!(world.memory.recorded, Some(6));
    world.wants(8);
    world.passes();
    world.is_aligned();
    assert_eq!(world.memory.recorded, Some(8));
}

#[test]
fn without_a_declared_count_a_topic_that_cannot_be_read_leaves_it_open() {
    let mut world = group(0);
    world.manages("a").manages("b").manages("c");
    world.has("a", 6, FULL);
    world.shows("b", TopicReading::NotAuthorized, 0);
    world.rests();
    assert_eq!(
        world.verdict(),
        (State::Unknown, Reason::TopicNotAuthorized)
    );
}

#[test]
fn a_count_is_never_lowered() {
    let mut world = settled(8, &["a", "b"]);
    world.wants(6).consent(&["a", "b"], 8, 6);
    world.rests();
    world.stands(Reason::PartitionDrift);
    world.says(
        ConditionType::PartitionsAligned,
        &["a: expected 6 partitions, seen 8", "set spec.partitions: 8"],
    );
}

#[test]
fn nothing_is_created_or_grown_beside_a_topic_that_cannot_be_read() {
    for reading in [
        TopicReading::NotAuthorized,
        TopicReading::Failed("leader election".to_owned()),
    ] {
        let mut world = group(6);
        world.manages("a").manages("b").manages("c");
        world.has("a", 4, EMPTY).shows("b", reading, 0);
        world.rests();
        assert_eq!(
            world.verdict(),
            (State::Unknown, Reason::TopicNotAuthorized)
        );
        world.says(ConditionType::PartitionsAligned, &["b: "]);
    }
}

#[test]
fn a_topic_that_was_not_read_yet_leaves_the_group_undecided() {
    let mut world = settled(6, &["a", "b"]);
    world.view.topics.remove("b");
    let decision = world.decide();
    assert!(decision.undecided && decision.actions.is_empty());
    assert_eq!(decision.memory, world.memory);
    assert_eq!(world.verdict(), (State::Unknown, Reason::Pending));
}

#[test]
fn a_referenced_topic_is_never_created_configured_or_grown() {
    let mut world = group(6);
    world.references("r").references("s");
    world.has("r", 4, EMPTY).config("r", "retention.ms", "1");
    world.consent(&["r"], 4, 6);
    world.rests();
    world.grown("r", 6);
    world.rests();
    assert_eq!(world.verdict(), (State::False, Reason::TopicMissing));
    world.says(
        ConditionType::PartitionsAligned,
        &[
            "s: wanted",
            "it is Referenced",
            "its owner has to create it",
        ],
    );
}

#[test]
fn managed_topics_grow_after_every_referenced_one() {
    let mut world = settled(6, &["a"]);
    world.references("r").has("r", 6, FULL).passes();
    world.wants(8).consent(&["a"], 6, 8);
    world.rests();
    assert_eq!(
        world.verdict(),
        (State::False, Reason::WaitingForReferenced)
    );
    world.says(
        ConditionType::PartitionsAligned,
        &["r: wanted 8 partitions, seen 6", "its owner has to grow it"],
    );
    world.grown("r", 7);
    assert!(world.looks().actions.is_empty());
    assert_eq!(
        world.verdict(),
        (State::False, Reason::WaitingForReferenced)
    );
    world.grown("r", 8);
    assert_eq!(growths(&world.acts()), [("a", 6, 8)]);
    world.passes();
    world.is_aligned();
}

#[test]
fn a_missing_referenced_topic_holds_growth_back_too_and_is_never_called_deleted() {
    let mut world = settled(6, &["a"]);
    world.references("r").has("r", 6, FULL).passes();
    world.wants(8).consent(&["a"], 6, 8).deleted("r");
    world.rests();
    assert_eq!(world.verdict(), (State::False, Reason::TopicMissing));
}

#[test]
fn a_step_of_a_referenced_topic_towards_the_target_is_no_drift() {
    let mut world = settled(6, &["a"]);
    world.references("r").has("r", 6, FULL).passes();
    world.wants(8).grown("r", 7);
    assert!(!world.decide().frozen);
    let first = world.report();
    world.looks();
    assert_eq!(world.report(), first, "the same world, the same words");
}

#[test]
fn a_new_id_of_a_referenced_topic_is_taken_over_and_told() {
    let mut world = group(6);
    world.references("r").has("r", 6, FULL).passes();
    let was = world.id("r");
    world.has("r", 6, EMPTY);
    let decision = world.looks();
    assert_eq!(decision.topics[0].replaced, Some(was));
    let id = world.id("r");
    let memory = &world.memory.topics["r"];
    assert_eq!(memory.id.as_ref(), Some(&id));
    assert!(!memory.holds_records, "that was the old one");
    world.is_aligned();
    assert_eq!(world.decide().topics[0].replaced, None, "told once");
}

#[test]
fn observe_never_plans_anything() {
    let mut world = group(6);
    for topic in ["a", "b", "c"] {
        world.manages(topic).config(topic, "retention.ms", "1");
    }
    world.has("a", 4, EMPTY).has("b", 8, FULL).observes();
    world.consent(&["a"], 4, 6);
    world.rests();
    world.stands(Reason::PartitionDrift);
    world.says(
        ConditionType::PartitionsAligned,
        &[
            "a: expected 6 partitions, seen 4",
            "b: expected 6 partitions, seen 8",
            "let the topics' owners grow all of them to 8",
        ],
    );
    world.grown("a", 6).has("b", 6, FULL);
    world.rests();
    assert_eq!(world.verdict(), (State::False, Reason::TopicMissing));
    world.says(
        ConditionType::PartitionsAligned,
        &["the group observes", "set mode: Enforce"],
    );
}

#[test]
fn observe_holds_even_if_a_topic_is_called_managed() {
    let mut world = group(6);
    world.manages("a").manages("b").config("b", "x", "1");
    world.has("b", 4, EMPTY);
    world.group.observe = true;
    world.rests();
}

#[test]
fn what_observe_shows_as_missing_is_created_by_enforce() {
    let mut world = settled(6, &["a", "b"]);
    world.observes().deleted("b").passes();
    assert_eq!(world.verdict(), (State::False, Reason::TopicMissing));
    world.enforces();
    assert_eq!(creates(&world.acts()), [("b", 6)]);
    world.passes();
    world.is_aligned();
}

#[test]
fn paused_plans_nothing_and_goes_on_reporting() {
    let mut world = group(8);
    world.manages("a").manages("b");
    world
        .has("a", 6, EMPTY)
        .config("a", "min.insync.replicas", "2");
    world.group.paused = true;
    world.rests();
    assert!(world.memory.intents.is_empty());
    world.says(
        ConditionType::PartitionsAligned,
        &["b: wanted", "once the pause annotation is gone"],
    );
    world.has("b", 8, EMPTY);
    world.stands(Reason::GrowthIncomplete);
    world.says(
        ConditionType::PartitionsAligned,
        &[
            "a: wanted 8 partitions, seen 6",
            "waits for the pause to end",
        ],
    );
    assert_eq!(world.condition(ConditionType::Paused).state, State::True);
    world.group.paused = false;
    world.passes();
    world.is_aligned();
}

#[test]
fn nothing_is_created_beside_a_growth_that_nobody_consented_to() {
    let mut world = group(8);
    world.manages("a").manages("b").has("a", 6, FULL);
    assert!(world.decide().actions.is_empty());
    assert_eq!(world.verdict(), (State::False, Reason::GrowthBlocked));
    // The spec may be taken back as well as consented to: either way the missing topic gets the count of the other.
    let mut back = world.clone();
    assert_eq!(creates(&back.wants(6).decide()), [("b", 6)]);
    assert_eq!(creates(&world.consent(&["a"], 6, 8).decide()), [("b", 8)]);
}

#[test]
fn nothing_is_created_while_the_owner_of_a_referenced_topic_has_to_grow_it() {
    let mut world = group(8);
    world.manages("a").references("r").has("r", 6, FULL);
    assert!(world.decide().actions.is_empty());
    assert_eq!(
        world.verdict(),
        (State::False, Reason::WaitingForReferenced)
    );
}
