//! What a growth breaks: each kind from its facts, and nothing from facts that are not its own.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Break, BreakKind, Growing, Surroundings, breaks};
use crate::placement::Asked;

fn growing(topic: &str, from: i32, to: i32, policy: Option<&str>) -> Growing {
    Growing {
        topic: topic.to_owned(),
        from,
        to,
        cleanup_policy: policy.map(str::to_owned),
    }
}

fn around(topics: &[(&str, i32)], readers: &[(&str, &[&str])]) -> Surroundings {
    let named = |(topic, count): &(&str, i32)| ((*topic).to_owned(), *count);
    let read = |(topic, groups): &(&str, &[&str])| {
        let groups: BTreeSet<String> = groups.iter().map(|id| (*id).to_owned()).collect();
        ((*topic).to_owned(), groups)
    };
    Surroundings {
        topics: topics.iter().map(named).collect::<BTreeMap<_, _>>(),
        readers: readers.iter().map(read).collect(),
    }
}

fn id(id: &str) -> Asked {
    Asked::Id(id.to_owned())
}

fn kinds(found: &[Break]) -> Vec<BreakKind> {
    found.iter().map(|it| it.kind).collect()
}

#[test]
fn a_plain_topic_that_nobody_reads_breaks_nothing() {
    let nobody = around(&[("updates", 6), ("app-store-changelog", 6)], &[]);
    for policy in [None, Some("delete"), Some("compacted")] {
        assert_eq!(
            breaks(&[growing("updates", 6, 8, policy)], &[], &nobody),
            []
        );
    }
    let readers = around(&[], &[("notes", &["app"])]);
    assert_eq!(breaks(&[growing("updates", 6, 8, None)], &[], &readers), []);
    assert_eq!(breaks(&[], &[id("app")], &nobody), []);
}

#[test]
fn old_values_of_a_compacted_topic_stay_behind() {
    let topics = [
        growing("updates", 6, 8, Some("delete, compact")),
        growing("notes", 6, 8, Some("delete")),
    ];
    let found = breaks(&topics, &[], &Surroundings::default());
    assert_eq!(kinds(&found), [BreakKind::CompactedTopic]);
    assert_eq!(found[0].topics, ["updates"]);
    assert!(found[0].message.contains("after 6 -> 8"), "{found:?}");
    assert!(
        found[0].remedy.contains("a new topic with 8 partitions"),
        "{found:?}"
    );
}

#[test]
fn internal_topics_of_a_declared_application_no_longer_fit() {
    let topics = [
        ("app-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog", 6),
        ("app-by-user-repartition", 6),
        (
            "app-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000006-topic",
            6,
        ),
        // Of a part of the topology that reads something else.
        ("app-other-repartition", 3),
        // Of somebody else.
        ("app2-store-changelog", 6),
        ("app-notes", 6),
        ("changelog", 6),
    ];
    let all = around(&topics, &[]);
    let grown = [
        growing("updates", 6, 8, None),
        growing("notes", 6, 8, None),
        growing("late", 4, 8, None),
    ];
    let found = breaks(&grown, &[id("app"), id("none")], &all);
    assert_eq!(kinds(&found), [BreakKind::StreamsInternalTopics]);
    assert_eq!(found[0].topics, ["notes", "updates"]);
    assert_eq!(
        found[0].found,
        [
            "app-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog",
            "app-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000006-topic",
            "app-by-user-repartition",
        ]
    );
    let by_prefix = breaks(&grown, &[Asked::Prefix("app".to_owned())], &all);
    assert_eq!(by_prefix[0].found.len(), 4, "app2 as well: {by_prefix:?}");
}

#[test]
fn a_growing_topic_is_not_its_own_internal_one() {
    let all = around(&[("app-by-user-repartition", 6)], &[]);
    let grown = [growing("app-by-user-repartition", 6, 8, None)];
    assert_eq!(breaks(&grown, &[id("app")], &all), []);
}

#[test]
fn who_reads_a_topic_has_no_offset_on_its_new_partitions() {
    let readers: Vec<String> = (10..23).map(|number| format!("reader-{number}")).collect();
    let readers: Vec<&str> = readers.iter().map(String::as_str).collect();
    let all = around(&[], &[("updates", &readers[..]), ("notes", &["one"])]);
    let grown = [growing("updates", 6, 8, None), growing("notes", 6, 7, None)];
    let found = breaks(&grown, &[], &all);
    assert_eq!(kinds(&found), [BreakKind::ConsumersAtLatest; 2]);
    assert_eq!(found[0].found.len(), 13, "all are in the list");
    assert!(
        found[0].message.contains("reader-19, 3 more of updates"),
        "{found:?}"
    );
    assert!(found[0].message.contains("partitions 6 to 7"), "{found:?}");
    assert!(
        found[1]
            .message
            .starts_with("the consumer group one of notes"),
        "{found:?}"
    );
    assert!(
        found[1].message.contains("none on partition 6."),
        "{found:?}"
    );
}
