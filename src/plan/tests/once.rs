//! A pass without a claim: what a run from a pipeline finds that remembers nothing, and what a dry run foretells.

use super::super::predict;
use super::*;

impl World {
    /// The process ends, and with it all that it remembered.
    fn forgets(&mut self) -> &mut Self {
        self.memory = Memory::default();
        self
    }

    /// Decides on what Kafka would show, until nothing is left to do.
    fn foretells(&self) -> World {
        let mut world = self.clone();
        for _ in 0..5 {
            let decision = world.looks();
            if decision.actions.is_empty() {
                return world;
            }
            world.view = predict(&world.view, &decision.actions);
            for create in &decision.actions.creates {
                world.memory.mark_created(&create.topic);
            }
        }
        panic!("not settled after five rounds: {world:#?}");
    }
}

#[test]
fn a_growth_that_ended_between_two_topics_is_completed_by_the_next_run() {
    let mut world = settled(6, &["a", "b"]);
    world.wants(8).consent(&["a", "b"], 6, 8);
    world.grown("a", 8).forgets();
    assert_eq!(growths(&world.acts()), [("b", 6, 8)]);
    world.forgets().passes();
    world.is_aligned();
}

#[test]
fn a_status_in_the_file_does_not_hold_such_a_growth_back() {
    let mut world = settled(6, &["a", "b"]);
    // What a status remembers: counts and ids, no intents.
    world.wants(8).consent(&["a", "b"], 6, 8).grown("a", 8);
    assert_eq!(growths(&world.acts()), [("b", 6, 8)]);
    world.passes();
    world.is_aligned();
}

#[test]
fn empty_topics_need_no_consent_to_complete() {
    let mut world = group(8);
    world.manages("a").manages("b");
    world.has("a", 8, EMPTY).has("b", 6, EMPTY);
    assert_eq!(growths(&world.acts()), [("b", 6, 8)]);
}

#[test]
fn records_that_came_meanwhile_ask_for_a_consent_for_the_rest_alone() {
    let mut world = group(8);
    world.manages("a").manages("b");
    world.has("a", 8, EMPTY).has("b", 6, FULL).rests();
    world.stands(Reason::GrowthBlocked);
    let consent = "acceptKeyMovement: {topics: [b], fromPartitions: 6, toPartitions: 8}";
    world.says(ConditionType::PartitionsAligned, &[consent]);
    world.forgets().consent(&["b"], 6, 8).passes();
    world.is_aligned();
}

#[test]
fn topics_that_came_with_different_counts_each_take_their_consent() {
    let mut world = group(8);
    world.manages("a").manages("b");
    world.has("a", 8, FULL).has("b", 6, FULL);
    // The consent of the whole growth still names the one that is left.
    world.consent(&["a", "b"], 6, 8).passes();
    world.is_aligned();
}

#[test]
fn a_prediction_comes_to_what_the_passes_come_to() {
    let mut creating = group(6);
    creating.manages("a").manages("b");
    creating.config("a", "cleanup.policy", "compact");
    let mut joining = group(6);
    joining.manages("a").manages("b").has("a", 6, FULL);
    let mut growing = settled(6, &["a", "b"]);
    growing.wants(8).consent(&["a", "b"], 6, 8);
    let mut blocked = settled(6, &["a", "b"]);
    blocked.wants(8);
    let mut configuring = settled(6, &["a", "b"]);
    configuring.config("b", "min.insync.replicas", "2");
    let mut drifted = settled(6, &["a", "b"]);
    drifted.grown("a", 7);
    let mut unset = group(0);
    unset.manages("a").manages("b");
    for mut world in [
        creating,
        joining,
        growing,
        blocked,
        configuring,
        drifted,
        unset,
    ] {
        let foretold = world.foretells();
        world.passes();
        assert_eq!(foretold.verdict(), world.verdict());
        let configs = |world: &World| world.condition(ConditionType::TopicConfigsApplied);
        assert_eq!(configs(&foretold), configs(&world));
    }
}
