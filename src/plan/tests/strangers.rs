//! Claims of others: another Kubernetes cluster, another installation, another group.

use super::*;

fn accepted(world: &World) -> (State, Reason) {
    let condition = world.condition(ConditionType::Accepted);
    (condition.state, condition.reason)
}

#[test]
fn a_claim_of_another_kubernetes_cluster_is_not_acted_on_until_its_uid_is_acknowledged() {
    let mut world = settled(6, &["a"]);
    world.memory.owner = Some(owner("main", "uid-9"));
    world.manages("b");
    let before = world.memory.clone();
    let decision = world.looks();
    assert!(decision.actions.is_empty());
    assert_eq!(world.memory, before, "not even rewritten");
    assert_eq!(accepted(&world), (State::False, Reason::ForeignMemory));
    assert_eq!(world.verdict(), (State::Unknown, Reason::Pending));
    world.says(
        ConditionType::Accepted,
        &[
            "uid-9",
            "restoring a backup",
            "copartition.dev/acknowledge: \"uid-9\"",
        ],
    );
    world.acknowledges("uid-9");
    assert_eq!(creates(&world.acts()), [("b", 6)]);
    assert_eq!(world.memory.owner, Some(owner("main", "uid-1")));
    assert_eq!(
        world.memory.topics["a"].count,
        Some(6),
        "the memory is inherited"
    );
    assert_eq!(accepted(&world), (State::True, Reason::Accepted));
}

#[test]
fn a_claim_of_another_installation_is_left_alone() {
    let mut world = settled(6, &["a"]);
    world.memory.owner = Some(owner("blue", "uid-1"));
    world.manages("b");
    let before = world.memory.clone();
    assert!(world.looks().actions.is_empty());
    assert_eq!(world.memory, before);
    assert_eq!(accepted(&world), (State::False, Reason::ManagedByOther));
    world.says(ConditionType::Accepted, &["\"blue\"", "\"main\""]);
}

#[test]
fn a_new_group_takes_all_its_managed_topics_or_none() {
    let mut world = group(6);
    world.manages("a").manages("b").references("r");
    world.has("b", 4, EMPTY).has("r", 6, FULL);
    world
        .conflicts
        .insert("a".to_owned(), "trading/other".to_owned());
    let decision = world.looks();
    assert!(decision.actions.is_empty());
    assert_eq!(world.memory, Memory::default(), "it claims nothing");
    assert_eq!(accepted(&world), (State::False, Reason::TopicConflict));
    world.says(
        ConditionType::Accepted,
        &[
            "a is held by the group trading/other",
            "management: Referenced",
        ],
    );
    world.conflicts.clear();
    world.passes();
    world.is_aligned();
}

#[test]
fn a_group_that_adds_a_contested_topic_keeps_what_it_held_and_writes_nothing() {
    let mut world = settled(6, &["a", "b"]);
    world.config("a", "min.insync.replicas", "2");
    world.manages("c").manages("d").has("c", 6, FULL);
    world
        .conflicts
        .insert("c".to_owned(), "trading/other".to_owned());
    world.wants(8).consent(&["a", "b", "c"], 6, 8);
    let before = world.memory.clone();
    world.rests();
    assert_eq!(world.memory, before);
    assert_eq!(accepted(&world), (State::False, Reason::TopicConflict));
    // Reporting goes on.
    let report = world.report();
    assert_eq!(report.topics.len(), 4);
    assert_eq!(report.topics[2].partitions, Some(6));
    world.says(
        ConditionType::PartitionsAligned,
        &["d: wanted", "once the group is accepted"],
    );
    world.has("d", 8, EMPTY);
    world.says(
        ConditionType::PartitionsAligned,
        &["a: wanted 8", "waits until the group is accepted"],
    );
}

#[test]
fn a_referenced_topic_that_another_group_holds_is_no_conflict() {
    let mut world = settled(6, &["a"]);
    world.references("r").has("r", 6, FULL);
    world
        .conflicts
        .insert("r".to_owned(), "trading/other".to_owned());
    world.passes();
    assert_eq!(accepted(&world), (State::True, Reason::Accepted));
    world.is_aligned();
}

#[test]
fn a_conflict_on_another_cluster_writes_nothing_either() {
    let mut world = settled(6, &["a"]);
    world
        .conflicts
        .insert("a".to_owned(), "trading/other".to_owned());
    world.cluster("K2").deleted("a");
    let before = world.memory.clone();
    world.rests();
    assert_eq!(world.memory, before);
    world.stands(Reason::ClusterChanged);
}

#[test]
fn the_claim_of_an_installation_that_is_gone_is_taken_over_when_asked() {
    let mut world = settled(6, &["a"]);
    world.memory.owner = Some(owner("other", "uid-1"));
    assert_eq!(accepted(&world), (State::False, Reason::ManagedByOther));
    world.take_over.insert("other".to_owned());
    world.passes();
    world.is_aligned();
    assert_eq!(world.memory.owner, Some(owner("main", "uid-1")));
}
