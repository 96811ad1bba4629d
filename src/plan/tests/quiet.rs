//! Quiescence: where nothing happens, nothing is planned, remembered or said anew.

use super::*;

/// Every kind of world in which the operator has nothing left to do.
fn resting() -> Vec<World> {
    let mut worlds = vec![settled(6, &["a", "b"])];
    let mut with = |change: &dyn Fn(&mut World)| {
        let mut world = settled(6, &["a", "b"]);
        change(&mut world);
        worlds.push(world);
    };
    with(&|world| {
        world.wants(8);
    });
    with(&|world| {
        world.wants(8).consent(&["a", "b"], 6, 8).passes();
    });
    with(&|world| {
        world.grown("a", 8);
    });
    with(&|world| {
        world.wants(8).grown("a", 8);
    });
    with(&|world| {
        world.deleted("a");
    });
    with(&|world| {
        world.has("a", 6, EMPTY);
    });
    with(&|world| {
        world.cluster("K2");
    });
    with(&|world| {
        world.observes().grown("a", 7).deleted("b");
    });
    with(&|world| {
        world.manages("c");
        world.conflicts.insert("c".to_owned(), "x/y".to_owned());
    });
    with(&|world| {
        world.memory.owner = Some(owner("main", "uid-9"));
    });
    with(&|world| {
        world.references("r").deleted("r");
    });
    with(&|world| {
        world.shows("a", TopicReading::NotAuthorized, 0);
    });
    with(&|world| {
        world.config("a", "retention.ms", "1");
    });
    with(&|world| {
        world.config("a", "retention.ms", "1");
        world.accepts_loss("a", &["retention.ms"]).passes();
    });
    worlds
}

#[test]
fn a_resting_world_is_left_alone() {
    for mut world in resting() {
        world.passes();
        let decision = world.decide();
        assert!(decision.actions.is_empty());
        assert_eq!(decision.memory, world.memory);
    }
}

#[test]
fn a_resting_world_gets_the_same_words_on_the_first_look_and_on_every_other() {
    for mut world in resting() {
        let first = world.report();
        for _ in 0..3 {
            world.looks();
            assert_eq!(world.report(), first);
        }
    }
}

#[test]
fn the_order_of_topics_changes_the_order_of_words_only() {
    for mut world in resting() {
        world.passes();
        let before = world.decide();
        world.group.topics.reverse();
        let mut after = world.decide();
        after.topics.reverse();
        assert_eq!(after, before);
    }
}
