//! Counts that nobody declared, partial coverage, and the ways out.

use super::*;

#[test]
fn a_topic_above_the_target_freezes_creations_and_growths_but_not_config() {
    let mut world = settled(6, &["a"]);
    world.manages("b").manages("c");
    world.grown("a", 8).has("b", 4, EMPTY);
    world.config("a", "min.insync.replicas", "2");
    let decision = world.acts();
    assert!(decision.frozen);
    assert!(creates(&decision).is_empty() && growths(&decision).is_empty());
    assert_eq!(decision.actions.configs.len(), 1);
    assert_eq!(world.verdict(), (State::False, Reason::PartitionDrift));
    world.says(
        ConditionType::PartitionsAligned,
        &["a: expected 6 partitions, seen 8", "set spec.partitions: 8"],
    );
}

#[test]
fn a_referenced_topic_above_the_target_freezes_too() {
    let mut world = group(6);
    world.manages("a").references("r").has("r", 8, FULL);
    world.rests();
    world.stands(Reason::PartitionDrift);
}

#[test]
fn the_way_out_of_a_drift_is_the_new_count_with_consent_for_the_siblings() {
    let mut world = settled(6, &["a", "b", "c"]);
    world.grown("a", 8);
    world.stands(Reason::PartitionDrift);
    world.says(
        ConditionType::PartitionsAligned,
        &["set spec.partitions: 8 with acceptKeyMovement: {topics: [b, c], fromPartitions: 6, toPartitions: 8}"],
    );
    world.wants(8);
    // The count alone moves nothing.
    world.rests();
    world.stands(Reason::PartitionDrift);
    world.consent(&["b", "c"], 6, 8);
    assert_eq!(growths(&world.acts()), [("b", 6, 8), ("c", 6, 8)]);
    world.passes();
    world.is_aligned();
}

#[test]
fn the_way_out_needs_no_consent_where_the_siblings_are_empty() {
    let mut world = settled(6, &["a"]);
    world.manages("b").has("b", 6, EMPTY).passes();
    world.grown("a", 8);
    let message = world.condition(ConditionType::PartitionsAligned).message;
    assert!(message.ends_with("set spec.partitions: 8"), "{message}");
    world.wants(8).passes();
    world.is_aligned();
}

#[test]
fn a_topic_brought_to_the_target_by_somebody_else_is_drift_until_its_siblings_may_follow() {
    let mut world = settled(6, &["a", "b"]);
    world.wants(8).grown("a", 8);
    world.rests();
    world.stands(Reason::PartitionDrift);
    world.says(
        ConditionType::PartitionsAligned,
        &[
            "a: expected 6 partitions until its siblings may follow, seen 8",
            "topics: [b]",
        ],
    );
    assert_eq!(world.report().topics[0].verdict, Verdict::Drifted);
    world.consent(&["b"], 6, 8);
    assert_eq!(growths(&world.acts()), [("b", 6, 8)]);
    world.passes();
    world.is_aligned();
}

#[test]
fn a_growth_that_was_followed_is_forgotten_as_drift() {
    let mut world = settled(6, &["a", "b"]);
    world.wants(8).grown("a", 8).consent(&["b"], 6, 8).passes();
    world.wants(10);
    world.stands(Reason::GrowthBlocked);
}

#[test]
fn what_owners_did_while_the_group_observed_is_no_drift_afterwards() {
    let mut world = settled(6, &["a", "b"]);
    world.observes().grown("a", 8).passes();
    world.enforces().wants(8);
    world.stands(Reason::GrowthBlocked);
}

#[test]
fn the_way_out_does_not_name_what_is_on_its_way() {
    let mut world = settled(5, &["a", "b", "c"]);
    world.grown("a", 8).grown("b", 6);
    world.wants(8).consent(&["b"], 6, 8);
    world.stands(Reason::PartitionDrift);
    world.says(
        ConditionType::PartitionsAligned,
        &["topics: [c], fromPartitions: 5, toPartitions: 8"],
    );
    world.wants(8).consent(&["c"], 5, 8);
    world.says(
        ConditionType::PartitionsAligned,
        &["topics: [b], fromPartitions: 6, toPartitions: 8"],
    );
}

#[test]
fn with_an_intent_a_topic_at_the_target_is_progress_and_not_drift() {
    let mut world = settled(6, &["a", "b"]);
    world.wants(8).consent(&["a", "b"], 6, 8).looks();
    world.grown("a", 8);
    // Even if the consent is withdrawn half-way: the sibling is blocked, and nobody else is blamed.
    world.group.consent = None;
    world.stands(Reason::GrowthBlocked);
    world.looks();
    world.stands(Reason::GrowthBlocked);
}

#[test]
fn while_a_topic_at_the_target_is_drift_nothing_is_created_and_no_empty_topic_grows() {
    let mut world = settled(6, &["a", "b"]);
    world.manages("c").manages("d").has("c", 4, EMPTY).looks();
    world.wants(8).grown("a", 8);
    world.rests();
    world.stands(Reason::PartitionDrift);
    world.consent(&["b"], 6, 8).passes();
    world.is_aligned();
}

#[test]
fn equal_stays_equal_when_a_consent_names_only_one_of_two() {
    let mut world = settled(6, &["a", "b"]);
    world.wants(8).consent(&["a"], 6, 8);
    world.rests();
    world.stands(Reason::GrowthBlocked);
    world.says(
        ConditionType::PartitionsAligned,
        &["b: wanted 8", "topics: [a, b]"],
    );
}

#[test]
fn equal_stays_equal_when_one_of_two_is_empty_or_cannot_be_read() {
    for records in [EMPTY, FULL] {
        let mut world = group(6);
        world.manages("a").manages("b");
        world
            .has("a", 6, records)
            .has("b", 6, unreadable())
            .passes();
        world.wants(8);
        world.rests();
    }
}

#[test]
fn equal_stays_equal_when_the_siblings_consent_is_spent() {
    let mut world = settled(6, &["a", "b"]);
    world.wants(8).consent(&["b"], 6, 8).grown("b", 8).passes();
    world.has("b", 6, FULL);
    let id = world.id("b");
    world.acknowledges(&id).consent(&["a", "b"], 6, 8);
    world.rests();
    world.stands(Reason::GrowthBlocked);
}

#[test]
fn topics_with_other_counts_need_their_own_consent_and_two_commits_align_eight_six_five() {
    for (first, second) in [(("b", 6), ("c", 5)), (("c", 5), ("b", 6))] {
        let mut world = group(8);
        for (topic, count) in [("a", 8), ("b", 6), ("c", 5)] {
            world.manages(topic).has(topic, count, FULL);
        }
        world.rests();
        world.stands(Reason::GrowthBlocked);
        world.consent(&[first.0], first.1, 8);
        assert_eq!(growths(&world.acts()), [(first.0, first.1, 8)]);
        world.rests();
        world.stands(Reason::GrowthBlocked);
        world.consent(&[second.0], second.1, 8);
        assert_eq!(growths(&world.acts()), [(second.0, second.1, 8)]);
        world.passes();
        world.is_aligned();
    }
}

/// Four equal topics of which somebody grew three, differently: every message names a commit, and each commit leads on.
#[test]
fn the_way_out_that_messages_name_leads_out_of_any_drift() {
    for target in [5, 6, 7, 8, 9] {
        let mut world = settled(5, &["a", "b", "c", "d"]);
        world
            .grown("a", 8)
            .grown("b", 7)
            .grown("c", 6)
            .wants(target);
        for commit in 0.. {
            assert!(commit < 5, "no way out for {target}: {world:#?}");
            world.passes();
            if world.condition(ConditionType::PartitionsAligned).state == State::True {
                break;
            }
            world.follows_the_message();
        }
        assert_eq!(world.count("d"), target.max(8));
    }
}

#[test]
fn a_drift_below_the_target_freezes_what_was_consented_to_for_both() {
    let mut world = settled(6, &["a", "b"]);
    world.wants(8).consent(&["a", "b"], 6, 8).grown("a", 7);
    // `a` is not where the consent says.
    world.rests();
    world.stands(Reason::PartitionDrift);
    world.says(
        ConditionType::PartitionsAligned,
        &["a: expected 6 partitions, seen 7"],
    );
    world.consent(&["b"], 6, 8);
    assert_eq!(growths(&world.acts()), [("b", 6, 8)]);
    world.consent(&["a"], 7, 8).passes();
    world.is_aligned();
}

#[test]
fn beside_a_drift_below_the_target_an_equal_empty_topic_is_not_left_behind() {
    let mut world = settled(6, &["a", "b"]);
    world.manages("c").has("c", 6, EMPTY).passes();
    world.wants(8).grown("a", 7).consent(&["b"], 6, 8);
    // `c` would not follow `b`.
    world.rests();
    world.consent(&["b", "c"], 6, 8);
    assert_eq!(growths(&world.acts()), [("b", 6, 8), ("c", 6, 8)]);
}

#[test]
fn an_empty_topic_that_somebody_grew_on_the_way_to_the_target_goes_on() {
    let mut world = group(6);
    world.manages("a").has("a", 6, EMPTY).passes();
    world.wants(8).grown("a", 7).passes();
    world.is_aligned();
}

#[test]
fn the_printed_consent_carries_ids_where_the_numbers_were_used_before() {
    let mut world = settled(6, &["a", "b"]);
    world.wants(8).consent(&["a", "b"], 6, 8).passes();
    world.has("b", 6, FULL);
    let id = world.id("b");
    world.acknowledges(&id).wants(6);
    world.rests();
    world.stands(Reason::PartitionDrift);
    world.says(
        ConditionType::PartitionsAligned,
        &[&format!(
            "topics: [b], fromPartitions: 6, toPartitions: 8, topicIds: [{id}]}}"
        )],
    );
}
