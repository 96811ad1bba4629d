//! The words: each message says topic, wanted, seen, what to do; and what else a report carries.

use super::*;

#[test]
fn a_blocked_growth_says_what_would_move_and_how_to_accept_it() {
    let mut world = settled(6, &["market-updates", "notifications"]);
    world.scheme().wants(8);
    world.group.sample_keys = ["BBCA", "BBRI", "UNVR"].map(str::to_owned).to_vec();
    world.live_config("market-updates", "cleanup.policy", "compact");
    world.stands(Reason::GrowthBlocked);
    world.says(
        ConditionType::PartitionsAligned,
        &[
            "market-updates: wanted 8 partitions, seen 6, and it holds records; it is compacted",
            "notifications: wanted 8 partitions, seen 6, and it holds records;",
            "6 -> 8 moves 75 % of the key space",
            "of 3 sample keys: BBCA 0 -> 2",
            "set spec.acceptKeyMovement: {topics: [market-updates, notifications], fromPartitions: 6, toPartitions: 8}",
        ],
    );
}

#[test]
fn without_sample_keys_or_a_scheme_the_share_stands_alone() {
    let mut world = settled(6, &["a"]);
    world.wants(12);
    world.says(
        ConditionType::PartitionsAligned,
        &["6 -> 12 moves 50 % of the key space; nothing"],
    );
    world.group.sample_keys = vec!["BBCA".to_owned()];
    world.says(
        ConditionType::PartitionsAligned,
        &["6 -> 12 moves 50 % of the key space; nothing"],
    );
}

#[test]
fn a_long_list_of_moved_keys_is_cut() {
    let mut world = settled(6, &["a"]);
    world.scheme().wants(8);
    world.group.sample_keys = (0..100).map(|n| format!("key-{n}")).collect();
    let message = world.condition(ConditionType::PartitionsAligned).message;
    let moved: usize = {
        let (_, rest) = message.split_once("key space, ").unwrap();
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    assert!(
        message.contains(&format!(" and {} more", moved - 10)),
        "{message}"
    );
    assert_eq!(message.matches("key-").count(), 10);
}

#[test]
fn a_spec_that_is_met_says_so() {
    let world = settled(6, &["a", "b"]);
    world.says(
        ConditionType::PartitionsAligned,
        &["all 2 topics have 6 partitions"],
    );
}

#[test]
fn a_growth_under_way_names_the_topic() {
    let mut world = settled(6, &["a"]);
    world.wants(8).consent(&["a"], 6, 8);
    assert_eq!(world.verdict(), (State::False, Reason::GrowthIncomplete));
    world.says(
        ConditionType::PartitionsAligned,
        &["a: wanted 8 partitions, seen 6; it grows"],
    );
}

#[test]
fn what_somebody_has_to_clear_up_is_named_before_what_heals_by_itself() {
    let mut world = settled(6, &["a", "b"]);
    world.manages("c").references("r");
    world.has("r", 8, FULL);
    world.stands(Reason::PartitionDrift);
    world.deleted("b");
    world.stands(Reason::TopicDeleted);
    world.cluster("K2");
    world.stands(Reason::ClusterChanged);
}

#[test]
fn equal_schemes_are_aligned_and_unequal_or_missing_ones_are_not() {
    let schemes = |world: &World| {
        let condition = world.condition(ConditionType::KeySchemesAligned);
        (condition.state, condition.reason)
    };
    let mut world = settled(6, &["a", "b"]);
    assert_eq!(schemes(&world), (State::Unknown, Reason::SchemeNotDeclared));
    world.says(
        ConditionType::KeySchemesAligned,
        &["a, b", "Set spec.keyScheme"],
    );
    world.scheme();
    assert_eq!(schemes(&world), (State::True, Reason::SameScheme));
    world.group.topics[1].scheme = None;
    assert_eq!(schemes(&world), (State::Unknown, Reason::SchemeNotDeclared));
    world.says(ConditionType::KeySchemesAligned, &["declared for b:"]);
}

#[test]
fn the_layout_is_at_the_count_on_which_all_agree_else_at_the_recorded_one() {
    let mut world = settled(6, &["a", "b"]);
    world.scheme();
    let count = |world: &World| {
        world
            .report()
            .layout
            .map(|layout| layout.tally.partitions())
    };
    assert_eq!(count(&world), None, "no sample keys");
    world.group.sample_keys = vec!["BBCA".to_owned()];
    assert_eq!(count(&world), Some(6));
    world.grown("a", 8);
    assert_eq!(count(&world), Some(6), "they differ: the recorded one");
    world.grown("b", 8);
    assert_eq!(
        count(&world),
        Some(8),
        "what is live, though nobody declared it"
    );
    world.memory.recorded = None;
    world.grown("b", 9);
    assert_eq!(count(&world), None);
    world.group.topics[0].scheme = None;
    world.grown("a", 9);
    assert_eq!(count(&world), None, "no common scheme");
}

#[test]
fn holds_records_is_false_only_if_every_existing_topic_is_known_to_be_empty() {
    let mut world = group(6);
    world.manages("a").manages("b");
    assert_eq!(world.report().holds_records, None, "nothing exists");
    world.has("a", 6, EMPTY);
    assert_eq!(world.report().holds_records, Some(false));
    world.has("b", 6, unreadable());
    assert_eq!(world.report().holds_records, Some(true));
    world.holds("b", FULL).passes();
    world.holds("b", EMPTY);
    assert_eq!(world.report().holds_records, Some(true), "by memory");
    world.deleted("b");
    assert_eq!(world.report().holds_records, Some(true), "it may come back");
    world.shows("b", TopicReading::NotAuthorized, 0);
    assert_eq!(world.report().holds_records, Some(true));
}

#[test]
fn a_replication_factor_is_reported_and_never_changed() {
    let mut world = settled(6, &["a"]);
    world.group.replication_factor = Some(3);
    world.rests();
    let message = world.report().topics[0].message.clone().unwrap();
    assert!(
        message.contains("replication factor: wanted 3, seen 1"),
        "{message}"
    );
    world.is_aligned();
}

#[test]
fn each_topic_has_its_verdict() {
    let mut world = group(8);
    world.manages("at").manages("gone").passes();
    for topic in ["new", "full", "empty", "dark"] {
        world.manages(topic);
    }
    world.references("behind");
    world.has("full", 6, FULL).has("empty", 5, EMPTY);
    world.has("behind", 7, FULL).deleted("gone");
    world.shows("dark", TopicReading::NotAuthorized, 0);
    let found = |world: &World| {
        let topics = world.report().topics;
        topics
            .iter()
            .map(|topic| topic.verdict.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found(&world),
        [
            "Aligned",
            "Deleted",
            "Missing",
            "GrowthBlocked",
            "Growing",
            "Unreadable",
            "WaitingForOwner"
        ]
    );
    world.has("gone", 9, FULL).has("dark", 9, FULL);
    assert_eq!(found(&world)[1], "Recreated");
    assert_eq!(found(&world)[5], "Drifted");
    let mut open = group(0);
    open.manages("a")
        .manages("b")
        .has("a", 6, FULL)
        .has("b", 7, FULL);
    assert_eq!(found(&open), ["Unjudged", "Unjudged"]);
    let mut fresh = group(8);
    fresh.manages("a");
    assert_eq!(found(&fresh), ["Creating"]);
}

#[test]
fn a_report_of_a_refused_group_says_nothing_of_its_topics() {
    let said = refused(
        Reason::InvalidSpec,
        State::False,
        "spec.topics is empty",
        true,
    );
    let find = |kind| said.conditions.iter().find(|c| c.kind == kind).unwrap();
    assert_eq!(
        find(ConditionType::Accepted).message,
        "spec.topics is empty"
    );
    assert_eq!(find(ConditionType::PartitionsAligned).state, State::Unknown);
    assert_eq!(find(ConditionType::Paused).state, State::True);
    assert!(said.topics.is_empty() && said.layout.is_none());
}

#[test]
fn every_report_has_each_condition_once() {
    let mut worlds = vec![settled(6, &["a"]), group(6)];
    worlds[1].memory.owner = Some(owner("blue", "uid-1"));
    for world in worlds {
        let said = world.report().conditions;
        let mut kinds: Vec<_> = said.iter().map(|c| c.kind).collect();
        kinds.extend(summarise(&said, false).iter().map(|c| c.kind));
        kinds.push(ConditionType::KafkaReachable);
        kinds.sort();
        assert_eq!(kinds, ConditionType::ALL);
    }
}

#[test]
fn the_words_are_those_of_the_documentation() {
    for kind in ConditionType::ALL {
        assert_eq!(kind.to_string(), kind.as_str());
        assert!(kind.doc().ends_with('.'), "{kind}");
    }
    let mut words: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
    assert!(Reason::ALL.iter().all(|reason| reason.doc().ends_with('.')));
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), Reason::ALL.len());
    let states = [State::True, State::False, State::Unknown].map(State::as_str);
    assert_eq!(states, ["True", "False", "Unknown"]);
}
