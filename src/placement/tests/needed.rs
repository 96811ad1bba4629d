//! The sets that applications need.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn app(id: &str, subs: &[&[&str]]) -> ConsumerGroup {
    let subs = subs.iter().enumerate();
    ConsumerGroup {
        id: id.to_owned(),
        sub_topologies: subs
            .map(|(at, topics)| sub(&at.to_string(), topics))
            .collect(),
        ..group("stream", Vec::new())
    }
}

fn sets(groups: &[ConsumerGroup]) -> Vec<Vec<String>> {
    needed(groups).into_iter().map(|set| set.topics).collect()
}

#[test]
fn each_sub_topology_of_several_topics_needs_a_set() {
    let found = needed(&[
        app("x", &[&["b", "a"], &["c"], &[], &["d", "d"]]),
        colocated("range"),
    ]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].topics, ["a", "b"]);
    assert_eq!(found[0].by, [("x".to_owned(), "0".to_owned())]);
}

#[test]
fn sets_that_share_a_topic_are_one() {
    let groups = [
        app("x", &[&["a", "b"], &["c", "d"]]),
        app("y", &[&["e", "f"]]),
        app("z", &[&["b", "c"]]),
    ];
    let found = needed(&groups);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].topics, ["a", "b", "c", "d"]);
    assert_eq!(found[0].by.len(), 3);
    assert_eq!(found[1].topics, ["e", "f"]);
}

proptest! {
    /// Every topic is in one set, what a sub-topology reads is in the same, and order is nothing.
    #[test]
    fn sets_are_apart_and_whole(read in proptest::collection::vec(proptest::collection::vec(0..9_usize, 2..4), 0..8)) {
        const NAMES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        let mut groups: Vec<ConsumerGroup> = read
            .iter()
            .map(|topics| {
                let topics: Vec<&str> = topics.iter().map(|at| NAMES[*at]).collect();
                app("x", &[&topics])
            })
            .collect();
        let found = sets(&groups);
        let all: Vec<&String> = found.iter().flatten().collect();
        let distinct: BTreeSet<&String> = all.iter().copied().collect();
        prop_assert_eq!(all.len(), distinct.len());
        for group in &groups {
            let topics: BTreeSet<&String> = group.sub_topologies[0].source_topics.iter().collect();
            let whole = found.iter().any(|set| topics.iter().all(|topic| set.contains(topic)));
            prop_assert!(whole || topics.len() == 1, "{:?} in {:?}", topics, found);
        }
        groups.reverse();
        prop_assert_eq!(sets(&groups), found);
    }
}
