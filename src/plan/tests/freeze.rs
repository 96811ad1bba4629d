//! Topics and clusters that are not those that were recorded.

use super::*;

#[test]
fn one_miss_of_a_recorded_topic_decides_nothing() {
    let mut world = settled(6, &["a", "b"]);
    world.wants(8).consent(&["a", "b"], 6, 8);
    let kept = world.view.topics["a"].reading.clone();
    // The reading that stays from before the miss, and a miss that is the first reading of a new process.
    for reading in [kept, TopicReading::Missing] {
        world.shows("a", reading, 1);
        let decision = world.decide();
        assert!(decision.undecided && decision.actions.is_empty());
        assert_eq!(decision.memory, world.memory);
    }
}

#[test]
fn a_kept_reading_of_a_topic_that_is_missing_is_not_adopted() {
    let mut world = group(6);
    world.manages("a").has("a", 6, FULL);
    let reading = world.view.topics["a"].reading.clone();
    world.shows("a", reading, 1);
    assert!(world.decide().undecided);
    world.deleted("a");
    assert_eq!(creates(&world.decide()), [("a", 6)]);
}

#[test]
fn two_misses_of_a_recorded_topic_freeze_the_group() {
    let mut world = settled(6, &["a", "b", "c"]);
    let id = world.id("a");
    world.deleted("a");
    world.wants(8).consent(&["b", "c"], 6, 8);
    world.config("b", "min.insync.replicas", "2");
    let decision = world.acts();
    assert!(decision.frozen && creates(&decision).is_empty() && growths(&decision).is_empty());
    assert_eq!(decision.actions.configs.len(), 1, "declared config goes on");
    assert_eq!(world.verdict(), (State::False, Reason::TopicDeleted));
    world.says(
        ConditionType::PartitionsAligned,
        &[
            "a (id ",
            &id,
            "Take it out of spec.topics",
            &format!("copartition.dev/acknowledge: \"deleted:{id}\""),
        ],
    );
    world.rests();
}

#[test]
fn an_acknowledged_deletion_lets_the_topic_be_created_anew() {
    let mut world = settled(6, &["a", "b"]);
    let id = world.id("a");
    world.deleted("a").acknowledges(&format!("deleted:{id}"));
    assert_eq!(creates(&world.acts()), [("a", 6)]);
    world.passes();
    world.is_aligned();
    let memory = &world.memory.topics["a"];
    assert!(memory.created && !memory.holds_records && memory.id.as_ref() != Some(&id));
}

#[test]
fn an_id_that_was_acknowledged_as_recreated_does_not_let_its_deletion_pass() {
    let mut world = settled(6, &["a", "b"]);
    world.has("a", 6, FULL);
    let id = world.id("a");
    world.acknowledges(&id).passes();
    world.is_aligned();
    world.deleted("a").rests();
    world.stands(Reason::TopicDeleted);
}

#[test]
fn a_deleted_topic_may_be_taken_out_of_the_spec() {
    let mut world = settled(6, &["a", "b"]);
    world.deleted("a").passes();
    world.group.topics.remove(0);
    world.passes();
    world.is_aligned();
    assert!(!world.memory.topics.contains_key("a"));
}

#[test]
fn a_deletion_freezes_a_group_without_a_count_too() {
    let mut world = group(0);
    world.manages("a").manages("b");
    world.has("a", 6, FULL).has("b", 8, FULL).passes();
    world.deleted("a");
    assert!(world.decide().frozen);
    world.rests();
    world.stands(Reason::TopicDeleted);
}

#[test]
fn a_recreated_topic_freezes_the_group_even_at_the_same_count() {
    let mut world = settled(6, &["a", "b", "c"]);
    let was = world.id("a");
    world.has("a", 6, EMPTY);
    world.manages("d");
    let now = world.id("a");
    world.config("a", "min.insync.replicas", "2");
    let decision = world.decide();
    assert!(decision.frozen && decision.actions.is_empty());
    assert_eq!(world.verdict(), (State::False, Reason::TopicRecreated));
    world.says(
        ConditionType::PartitionsAligned,
        &[
            &format!("recorded id {was}, seen id {now} with 6 partitions"),
            &format!("copartition.dev/acknowledge: \"{now}\""),
        ],
    );
    assert!(!world.decide().aligned());
    world.rests();
}

#[test]
fn an_acknowledged_recreation_is_adopted_like_a_first_seen_topic() {
    let mut world = settled(6, &["a", "b"]);
    world.has("a", 5, EMPTY);
    let id = world.id("a");
    world.acknowledges(&id);
    let decision = world.looks();
    let memory = &world.memory.topics["a"];
    assert_eq!((memory.id.as_ref(), memory.count), (Some(&id), Some(5)));
    assert!(!memory.holds_records && !memory.created);
    assert_eq!(growths(&decision), [("a", 5, 6)]);
    world.passes();
    world.is_aligned();
}

#[test]
fn an_acknowledged_id_that_nobody_has_is_ignored() {
    let mut world = settled(6, &["a"]);
    world.acknowledges("nonsense").deleted("a");
    world.rests();
    world.stands(Reason::TopicDeleted);
}

#[test]
fn another_cluster_freezes_everything_config_too() {
    let mut world = settled(6, &["a"]);
    world.manages("b").config("a", "min.insync.replicas", "2");
    world.cluster("K2");
    let before = world.memory.clone();
    let decision = world.looks();
    assert!(decision.frozen && decision.actions.is_empty());
    assert_eq!(world.memory, before);
    assert_eq!(world.verdict(), (State::False, Reason::ClusterChanged));
    assert!(!decision.aligned());
    world.says(
        ConditionType::PartitionsAligned,
        &[
            "cluster K1",
            "leads to K2",
            "copartition.dev/acknowledge: \"K2\"",
        ],
    );
}

/// What the status says is the memory of last resort, so it must not forget what froze the group.
#[test]
fn a_report_keeps_the_recorded_cluster_and_the_recorded_id_of_a_topic_that_is_not_seen_as_itself() {
    let mut world = settled(6, &["a"]);
    let was = world.id("a");
    let found = |world: &World| world.report().topics[0].id.clone();
    world.cluster("K2").has("a", 6, FULL);
    assert_eq!(found(&world).as_ref(), Some(&was));
    assert_eq!(world.report().cluster_id.as_deref(), Some("K1"));
    world.cluster("K1");
    assert_eq!(found(&world).as_ref(), Some(&was));
    let now = world.id("a");
    world.acknowledges(&now);
    assert_eq!(found(&world), Some(now));
    world.shows("a", TopicReading::NotAuthorized, 0);
    assert_eq!(found(&world).as_ref(), Some(&was));
    world.deleted("a");
    assert_eq!(found(&world).as_ref(), Some(&was));
    world.acknowledges(&format!("deleted:{was}"));
    assert_eq!(found(&world), None);
    world.cluster("K2").acknowledges("K2");
    assert_eq!(world.report().cluster_id.as_deref(), Some("K2"));
}

#[test]
fn another_cluster_without_the_topics_is_no_deletion() {
    let mut world = settled(6, &["a"]);
    world.cluster("K2").deleted("a");
    world.rests();
    world.stands(Reason::ClusterChanged);
    assert!(world.memory.topics["a"].id.is_some());
}

#[test]
fn an_acknowledged_cluster_drops_counts_ids_and_offsets_and_keeps_spent_consents() {
    let mut world = settled(6, &["a", "b"]);
    world.wants(8).consent(&["a", "b"], 6, 8).passes();
    let spent = world.memory.spent.clone();
    world.cluster("K2").has("a", 8, EMPTY).deleted("b");
    world.acknowledges("K2");
    let decision = world.looks();
    assert_eq!(decision.other_cluster, None);
    assert_eq!(creates(&decision), [("b", 8)], "covers all ids there");
    let memory = &world.memory;
    assert_eq!(memory.cluster_id.as_deref(), Some("K2"));
    assert_eq!(memory.recorded, None);
    assert!(!memory.topics["a"].holds_records);
    assert_eq!(memory.topics["b"].id, None);
    assert!(memory.spent.is_superset(&spent));
    world.apply(&decision.actions);
    world.passes();
    world.is_aligned();
}

#[test]
fn an_acknowledged_cluster_drops_intents_and_their_consents_count_as_used() {
    let mut world = settled(6, &["a"]);
    world.wants(8).consent(&["a"], 6, 8).looks();
    world.cluster("K2").has("a", 6, FULL).acknowledges("K2");
    world.rests();
    world.stands(Reason::GrowthBlocked);
    assert!(world.memory.intents.is_empty());
}

#[test]
fn another_cluster_is_not_aligned_whatever_its_counts_are() {
    let mut world = settled(6, &["a"]);
    world.cluster("K2");
    assert!(!world.decide().aligned());
    world.stands(Reason::ClusterChanged);
}

#[test]
fn a_cluster_with_the_same_id_is_no_event() {
    let mut world = settled(6, &["a"]);
    let before = world.memory.clone();
    world.cluster("K1");
    assert_eq!(world.passes().other_cluster, None);
    assert_eq!(world.memory, before);
}
