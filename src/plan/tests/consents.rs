//! When keys may move: exact consents, each used once.

use super::*;

#[test]
fn a_topic_with_records_grows_with_a_consent_that_names_its_live_and_wanted_count() {
    let mut world = settled(6, &["a", "b"]);
    world.wants(8).consent(&["a", "b"], 6, 8);
    assert_eq!(growths(&world.acts()), [("a", 6, 8), ("b", 6, 8)]);
    world.passes();
    world.is_aligned();
    assert_eq!(world.memory.recorded, Some(8));
}

#[test]
fn without_a_consent_nothing_grows() {
    let mut world = settled(6, &["a", "b"]);
    world.wants(8);
    world.rests();
    world.stands(Reason::GrowthBlocked);
    assert_eq!(world.memory.recorded, Some(6));
}

#[test]
fn a_consent_with_other_numbers_or_another_topic_authorises_nothing() {
    for (topics, from, to) in [
        (&["a"][..], 5, 8),
        (&["a"], 7, 8),
        (&["a"], 6, 7),
        (&["a"], 6, 12),
        (&["b"], 6, 8),
        (&[], 6, 8),
    ] {
        let mut world = settled(6, &["a"]);
        world.wants(8).consent(topics, from, to);
        world.rests();
        world.stands(Reason::GrowthBlocked);
    }
}

#[test]
fn the_live_count_decides_not_the_remembered_one() {
    let mut world = settled(6, &["a"]);
    world.wants(8).grown("a", 7).consent(&["a"], 6, 8);
    world.rests();
    world.consent(&["a"], 7, 8);
    assert_eq!(growths(&world.acts()), [("a", 7, 8)]);
}

#[test]
fn empty_topics_grow_without_a_consent() {
    let mut world = group(6);
    world.manages("a").manages("b");
    world.has("a", 6, EMPTY).has("b", 6, EMPTY).passes();
    world.wants(8);
    assert_eq!(growths(&world.acts()), [("a", 6, 8), ("b", 6, 8)]);
    world.passes();
    world.is_aligned();
    assert!(world.memory.spent.is_empty());
}

#[test]
fn unreadable_offsets_hold_a_growth_back_until_they_are_read_or_it_is_consented_to() {
    let mut world = group(6);
    world.manages("a").has("a", 6, unreadable()).passes();
    world.wants(8);
    world.rests();
    assert_eq!(world.verdict(), (State::Unknown, Reason::OffsetsUnreadable));
    world.says(
        ConditionType::PartitionsAligned,
        &[
            "a: wanted 8 partitions, seen 6",
            "no leader",
            "acceptKeyMovement",
        ],
    );
    let mut consented = world.clone();
    consented.consent(&["a"], 6, 8);
    assert_eq!(growths(&consented.decide()), [("a", 6, 8)]);
    world.holds("a", EMPTY);
    assert_eq!(growths(&world.decide()), [("a", 6, 8)]);
}

#[test]
fn a_topic_that_once_held_records_is_not_empty_whatever_its_offsets_say_now() {
    let mut world = settled(6, &["a"]);
    world.holds("a", EMPTY).wants(8);
    world.rests();
    world.stands(Reason::GrowthBlocked);
}

#[test]
fn memory_cannot_make_a_full_topic_empty() {
    let mut world = settled(6, &["a"]);
    world.wants(8);
    world.memory.topics.get_mut("a").unwrap().holds_records = false;
    assert!(world.decide().actions.is_empty());
    world.memory = Memory::default();
    world.rests();
}

#[test]
fn a_consent_is_spent_by_the_growth_that_it_allowed() {
    let mut world = settled(6, &["a"]);
    world.wants(8).consent(&["a"], 6, 8).passes();
    assert_eq!(
        Vec::from_iter(world.memory.spent.clone()),
        [Spent {
            topic: "a".to_owned(),
            from: 6,
            to: 8,
            id: world.id("a"),
        }]
    );
}

#[test]
fn a_consent_is_spent_by_the_growth_that_it_allowed_even_if_it_left_the_spec_meanwhile() {
    let mut world = settled(6, &["a"]);
    world.wants(8).consent(&["a"], 6, 8).acts();
    world.group.consent = None;
    world.passes();
    assert_eq!(world.memory.spent.len(), 1);
    // The same commit again, on a topic that was recreated at the old count.
    recreated_at_six(&mut world);
    world.consent(&["a"], 6, 8);
    spent(&mut world);
}

#[test]
fn a_consent_is_spent_by_somebody_elses_growth() {
    let mut world = settled(6, &["a"]);
    world.wants(8).consent(&["a"], 6, 8).grown("a", 8).passes();
    recreated_at_six(&mut world);
    spent(&mut world);
}

#[test]
fn a_consent_is_spent_by_the_adoption_of_a_topic_that_has_the_count() {
    let mut world = group(8);
    world.manages("a").has("a", 8, FULL);
    world.consent(&["a"], 6, 8).passes();
    recreated_at_six(&mut world);
    spent(&mut world);
}

#[test]
fn a_consent_is_spent_while_the_group_observes() {
    let mut world = settled(6, &["a"]);
    world.observes().wants(8).consent(&["a"], 6, 8);
    world.grown("a", 8).passes();
    world.has("a", 6, FULL).passes();
    world.enforces();
    spent(&mut world);
}

#[test]
fn a_consent_stays_spent_when_the_topic_is_recreated_and_acknowledged() {
    let mut world = grown_once();
    recreated_at_six(&mut world);
    spent(&mut world);
}

#[test]
fn a_consent_stays_spent_when_the_topic_leaves_the_group_and_comes_back() {
    let mut world = grown_once();
    let topics = std::mem::take(&mut world.group.topics);
    world.manages("z").has("z", 8, FULL).passes();
    world.group.topics = topics;
    world.has("a", 6, FULL).passes();
    spent(&mut world);
}

#[test]
fn a_consent_stays_spent_on_another_cluster() {
    let mut world = grown_once();
    world.cluster("K2").has("a", 6, FULL).acknowledges("K2");
    world.passes();
    spent(&mut world);
}

#[test]
fn a_spent_consent_counts_again_with_the_live_ids() {
    let mut world = grown_once();
    recreated_at_six(&mut world);
    let id = world.id("a");
    world.says(
        ConditionType::PartitionsAligned,
        &[
            "was used before",
            &format!("toPartitions: 8, topicIds: [{id}]}}"),
        ],
    );
    world.with_ids(&[&id]);
    assert_eq!(growths(&world.acts()), [("a", 6, 8)]);
    world.passes();
    world.is_aligned();
    // And that one is used up as well.
    recreated_at_six(&mut world);
    blocked_by_ids(&mut world);
}

#[test]
fn a_consent_with_other_ids_covers_nothing() {
    let mut world = settled(6, &["a"]);
    world.wants(8).consent(&["a"], 6, 8).with_ids(&["other"]);
    blocked_by_ids(&mut world);
    let id = world.id("a");
    world.with_ids(&["other", &id]);
    assert_eq!(growths(&world.decide()), [("a", 6, 8)]);
}

#[test]
fn the_printed_ids_are_those_of_all_topics_that_have_to_grow_together() {
    let mut world = grown_once();
    world.manages("b").has("b", 6, FULL);
    recreated_at_six(&mut world);
    world.consent(&["a", "b"], 6, 8);
    let ids = [world.id("a"), world.id("b")];
    world.says(
        ConditionType::PartitionsAligned,
        &[&format!("topicIds: [{}, {}]", ids[0], ids[1])],
    );
    world.with_ids(&[&ids[0], &ids[1]]);
    assert_eq!(growths(&world.decide()), [("a", 6, 8), ("b", 6, 8)]);
}

#[test]
fn a_spent_consent_does_not_hold_empty_topics_back() {
    let mut world = grown_once();
    world.has("a", 6, EMPTY);
    let id = world.id("a");
    world.acknowledges(&id);
    assert_eq!(growths(&world.acts()), [("a", 6, 8)]);
}

/// A group of one topic that grew from 6 to 8 by a consent that still stands in the spec.
fn grown_once() -> World {
    let mut world = settled(6, &["a"]);
    world.wants(8).consent(&["a"], 6, 8).passes();
    world.is_aligned();
    world
}

fn recreated_at_six(world: &mut World) {
    world.has("a", 6, FULL);
    let id = world.id("a");
    world.acknowledges(&id);
}

fn spent(world: &mut World) {
    world.rests();
    world.stands(Reason::GrowthBlocked);
    world.says(
        ConditionType::PartitionsAligned,
        &["the consent 6 -> 8 was used before"],
    );
}

fn blocked_by_ids(world: &mut World) {
    world.rests();
    world.stands(Reason::GrowthBlocked);
    let id = world.id("a");
    world.says(
        ConditionType::PartitionsAligned,
        &["lists other topic ids than the live one", &id],
    );
}
