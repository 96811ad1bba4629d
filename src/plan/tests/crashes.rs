//! What a crash between two steps leaves behind, and that the next pass completes it.

use super::*;

fn growing() -> World {
    let mut world = settled(6, &["a", "b"]);
    world.wants(8).consent(&["a", "b"], 6, 8);
    world
}

#[test]
fn the_intent_is_in_the_memory_before_anything_is_written() {
    let mut world = growing();
    let decision = world.looks();
    let intent = |topic: &str, id: &str| Intent {
        topic: topic.to_owned(),
        id: id.to_owned(),
        from: 6,
        to: 8,
        consented: true,
    };
    let (a, b) = (world.id("a"), world.id("b"));
    assert_eq!(decision.memory.intents, [intent("a", &a), intent("b", &b)]);
    assert!(decision.memory.spent.is_empty(), "spent when it is seen");
}

#[test]
fn an_intent_says_whether_a_consent_names_the_growth() {
    let mut world = group(6);
    world.manages("a").manages("b");
    world.has("a", 6, EMPTY).has("b", 6, FULL).passes();
    world.wants(8).consent(&["b"], 6, 8).looks();
    let consented: Vec<bool> = world.memory.intents.iter().map(|i| i.consented).collect();
    assert_eq!(consented, [false, true]);
}

#[test]
fn a_crash_before_the_memory_is_written_loses_nothing() {
    let mut world = growing();
    let first = world.decide();
    assert_eq!(world.decide(), first);
    world.passes();
    world.is_aligned();
}

#[test]
fn a_crash_between_the_memory_and_the_growth_grows_later() {
    let mut world = growing();
    world.looks();
    assert_eq!(growths(&world.acts()), [("a", 6, 8), ("b", 6, 8)]);
    world.passes();
    world.is_aligned();
}

#[test]
fn a_crash_between_the_growth_and_its_record_completes() {
    let mut world = growing();
    world.looks();
    world.grown("a", 8).grown("b", 8);
    let decision = world.passes();
    assert!(decision.actions.is_empty());
    world.is_aligned();
    assert!(world.memory.intents.is_empty());
    assert_eq!(world.memory.recorded, Some(8));
    assert_eq!(world.memory.spent.len(), 2);
}

#[test]
fn a_crash_between_two_topics_of_a_growth_completes() {
    let mut world = growing();
    world.looks();
    world.grown("a", 8);
    assert_eq!(world.verdict(), (State::False, Reason::GrowthIncomplete));
    assert_eq!(growths(&world.acts()), [("b", 6, 8)]);
    world.passes();
    world.is_aligned();
    assert_eq!(world.memory.spent.len(), 2);
}

#[test]
fn a_crash_between_two_empty_topics_of_a_growth_completes_although_records_arrive() {
    let mut world = group(6);
    world.manages("a").manages("b");
    world.has("a", 6, EMPTY).has("b", 6, EMPTY).passes();
    world.wants(8).looks();
    world.grown("a", 8).holds("b", FULL);
    world.rests();
    // Our own growth is no drift, but the records of the sibling are not moved.
    world.stands(Reason::GrowthBlocked);
    assert_eq!(world.memory.topics["a"].count, Some(8));
    world.consent(&["b"], 6, 8).passes();
    world.is_aligned();
}

#[test]
fn an_intent_that_is_not_planned_any_more_is_dropped() {
    let mut world = growing();
    world.looks();
    world.group.consent = None;
    world.looks();
    assert!(world.memory.intents.is_empty());
    // So who grows it now is somebody else.
    world.grown("a", 8);
    world.stands(Reason::PartitionDrift);
}

#[test]
fn an_intent_for_another_id_or_count_is_none() {
    for change in [|i: &mut Intent| i.id.push('x'), |i: &mut Intent| i.to = 9] {
        let mut world = growing();
        world.looks();
        world.memory.intents.iter_mut().for_each(change);
        world.grown("a", 8);
        world.group.consent = None;
        world.stands(Reason::PartitionDrift);
    }
}

#[test]
fn an_intent_stays_while_its_topic_cannot_be_read() {
    let mut world = growing();
    world.looks();
    world.grown("a", 8).grown("b", 8);
    let view = world.view.clone();
    world.shows("a", TopicReading::Failed("timed out".to_owned()), 0);
    world.group.consent = None;
    world.rests();
    let kept: Vec<&str> = world
        .memory
        .intents
        .iter()
        .map(|i| i.topic.as_str())
        .collect();
    assert_eq!(kept, ["a"]);
    world.view = view;
    world.passes();
    world.is_aligned();
    assert_eq!(world.memory.spent.len(), 2, "both consents were used");
}

/// Grown, and nobody saw it before the topic was made anew or left the group for a while.
#[test]
fn the_consent_of_an_intent_that_cannot_be_read_back_counts_as_used() {
    for leaves in [false, true] {
        let mut world = growing();
        world.looks();
        world.has("a", 6, FULL).has("b", 6, FULL);
        let topics = world.group.topics.clone();
        if leaves {
            world.group.topics.clear();
            world.manages("z").looks();
            world.group.topics = topics;
        } else {
            world.deleted("a").deleted("b").passes();
            world.has("a", 6, FULL).has("b", 6, FULL);
        }
        for topic in ["a", "b"] {
            let id = world.id(topic);
            world.acknowledges(&id);
        }
        world.rests();
        world.stands(Reason::GrowthBlocked);
    }
}

/// Grown, and grown further by somebody else before anybody looked.
#[test]
fn the_consent_of_an_overtaken_growth_counts_as_used() {
    for (seen, used) in [(9, true), (7, false)] {
        let mut world = growing();
        world.looks();
        world.grown("a", seen).looks();
        world.stands(Reason::PartitionDrift);
        world.has("a", 6, FULL);
        let id = world.id("a");
        world.acknowledges(&id);
        let again = growths(&world.looks()).contains(&("a", 6, 8));
        assert_eq!(again, !used, "a was seen at {seen}");
    }
}

#[test]
fn a_crash_between_a_creation_and_its_mark_adopts_the_topic_as_foreign() {
    let mut world = group(6);
    world.manages("a");
    world.looks();
    world.has("a", 6, EMPTY);
    world.passes();
    world.is_aligned();
    assert!(!world.memory.topics["a"].created, "stricter for its config");
}

#[test]
fn a_crash_between_two_creations_completes() {
    let mut world = group(6);
    world.manages("a").manages("b");
    world.looks();
    world.has("a", 6, EMPTY);
    assert_eq!(creates(&world.acts()), [("b", 6)]);
    world.passes();
    world.is_aligned();
}

#[test]
fn a_lost_memory_is_written_again_from_what_is_seen() {
    let mut world = settled(6, &["a", "b"]);
    let before = world.memory.clone();
    world.memory = Memory::default();
    world.passes();
    assert_eq!(world.memory, before);
}

/// Between the decision and the request somebody grows a topic to the count of another: the two are equal by now, so they
/// grow together or not at all.
#[test]
fn a_growth_waits_for_a_topic_that_became_its_equal() {
    let mut world = group(1);
    world.manages("a").manages("b").manages("c");
    world.has("a", 2, FULL).has("b", 1, FULL).has("c", 1, EMPTY);
    let planned = {
        world.wants(4).consent(&["a", "b"], 2, 4);
        world.looks().actions.growths
    };
    let from = |growths: &[Grow]| growths.iter().map(|grow| grow.from).collect::<Vec<_>>();
    assert_eq!(from(&planned), [2]);
    assert_eq!(confirmed(&planned, &planned), planned);
    world.grown("b", 2);
    let again = world.looks().actions.growths;
    assert_eq!(from(&again), [2, 2, 1]);
    assert_eq!(confirmed(&planned, &again), []);
    assert_eq!(confirmed(&again, &again), again);
    assert_eq!(confirmed(&again, &[]), []);
    // What has another count goes its own way.
    let [a, b, c] = [0, 1, 2].map(|at| again[at].clone());
    assert_eq!(confirmed(&again, &[a.clone(), c.clone()]), [c]);
    assert_eq!(confirmed(&again, &[a.clone(), b.clone()]), [a, b]);
}
