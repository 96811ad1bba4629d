//! When a wrong count is put down to a client that created the topic.

use super::super::{explain_auto_created, may_be_auto_created};
use super::*;

/// What is said of the counts where brokers give this many partitions.
fn said(world: &World, default: i32) -> (Reason, String) {
    let decision = world.decide();
    let mut said = report(&world.group, &decision, &world.outcomes);
    if may_be_auto_created(&decision) {
        explain_auto_created(&mut said, &decision, default);
    }
    let mut conditions = said.conditions.into_iter();
    let counts = conditions.find(|it| it.kind == ConditionType::PartitionsAligned);
    let counts = counts.unwrap();
    (counts.reason, counts.message)
}

fn is_explained(world: &World, default: i32) -> bool {
    said(world, default).1.contains("(num.partitions)")
}

#[test]
fn a_topic_that_shows_up_with_the_default_count_was_probably_created_by_a_client() {
    let mut world = group(6);
    world.manages("a").manages("b").has("a", 1, FULL);
    let (reason, message) = said(&world, 1);
    assert_eq!(reason, Reason::GrowthBlocked);
    assert!(
        message.contains("so a client probably created a by using it too early"),
        "{message}"
    );
    assert!(
        message.contains("auto.create.topics.enable=false"),
        "{message}"
    );
    assert!(!is_explained(&world, 3), "it has another count");
    world.looks();
    assert!(is_explained(&world, 1), "at each look");
}

#[test]
fn counts_that_differ_are_explained_without_a_wanted_one() {
    let mut world = group(6);
    world.group.partitions = None;
    world
        .manages("a")
        .manages("b")
        .has("a", 6, FULL)
        .has("b", 1, FULL);
    let (reason, message) = said(&world, 1);
    assert_eq!(reason, Reason::CountsDisagree);
    assert!(message.contains("created b by"), "{message}");
}

#[test]
fn more_than_wanted_is_explained_too() {
    let mut world = group(6);
    world.manages("a").has("a", 12, FULL);
    assert_eq!(said(&world, 12).0, Reason::PartitionDrift);
    assert!(is_explained(&world, 12));
}

#[test]
fn a_topic_that_was_deleted_and_came_back_by_itself_is_explained() {
    let mut world = group(6);
    world.manages("a").has("a", 6, FULL).acts();
    world.has("a", 1, FULL);
    assert_eq!(said(&world, 1).0, Reason::TopicRecreated);
    assert!(is_explained(&world, 1));
}

#[test]
fn what_somebody_declared_or_grew_is_nobodys_accident() {
    // Created by the operator, then a higher count is wanted.
    let mut world = group(6);
    world.manages("a").acts();
    world.holds("a", FULL).looks();
    world.wants(8);
    assert_eq!(said(&world, 6).0, Reason::GrowthBlocked);
    assert!(!is_explained(&world, 6));
    // Adopted, and grown by somebody else to what happens to be the default.
    let mut world = group(6);
    world.manages("a").has("a", 6, FULL).acts();
    world.grown("a", 12);
    assert_eq!(said(&world, 12).0, Reason::PartitionDrift);
    assert!(!is_explained(&world, 12));
    // All is as wanted.
    let mut world = group(6);
    world.manages("a").has("a", 6, FULL);
    assert!(!is_explained(&world, 6));
}
