//! Several consumer groups.

use super::*;

fn reader(id: &str, names: &[&str]) -> ConsumerGroup {
    let all: &[i32] = &[0, 1, 2, 3];
    let assigned: Vec<(&str, &[i32])> = names.iter().map(|name| (*name, all)).collect();
    ConsumerGroup {
        id: id.to_owned(),
        ..group("range", vec![member("m", &assigned)])
    }
}

fn over(asked: &[Asked], groups: &[ConsumerGroup]) -> Report {
    judge(&topics(&[("a", 4), ("b", 4), ("c", 4)]), asked, groups, &[])
}

const APART: (Outcome, Reason) = (Outcome::Refuted, Reason::SeparateGroups);
const UNREAD: (Outcome, Reason) = (Outcome::Unproven, Reason::TopicsUnread);

#[test]
fn two_groups_of_one_topic_each_are_what_they_are() {
    let groups = [reader("one", &["a"]), reader("two", &["b"])];
    for asked in [ids(&["one", "two"]), vec![Asked::Prefix(String::new())]] {
        let report = over(&asked, &groups);
        assert_eq!(report.says(), APART);
        let message = report.message();
        assert!(
            message.contains("a is read by consumer group one and b by two"),
            "{message}"
        );
    }
}

#[test]
fn groups_that_overlap_in_part_are_apart_only_where_none_reads_a_pair() {
    let both = [reader("one", &["a", "b"]), reader("two", &["b", "c"])];
    let report = over(&ids(&["one", "two"]), &both);
    assert_eq!(report.says(), APART);
    assert!(
        report
            .message()
            .contains("a is read by consumer group one and c by two")
    );
    let chain = [reader("one", &["a", "b"]), reader("two", &["a"])];
    assert_eq!(over(&ids(&["one", "two"]), &chain).says(), UNREAD);
}

#[test]
fn who_may_yet_read_both_leaves_it_open() {
    let mut third = reader("three", &[]);
    third.phase = Phase::Rebalancing;
    let groups = [reader("one", &["a"]), reader("two", &["b"]), third];
    let report = over(&ids(&["one", "two", "three"]), &groups);
    assert_eq!(report.says(), (Outcome::Unproven, Reason::Rebalancing));
    let report = over(&ids(&["one", "two", "four"]), &groups[..2]);
    assert_eq!(report.says(), (Outcome::Unproven, Reason::GroupMissing));
}

#[test]
fn what_a_prefix_finds_beside_the_one_that_is_meant_does_not_count() {
    let mut old = reader("app-old", &[]);
    old.phase = Phase::Empty;
    let groups = [
        reader("app", &["a", "b", "c"]),
        reader("app-audit", &["a"]),
        reader("app-else", &["x"]),
        old.clone(),
    ];
    let prefix = [Asked::Prefix("app".to_owned())];
    let report = over(&prefix, &groups);
    assert_eq!(report.says(), TOGETHER);
    assert_eq!(report.groups.len(), 1);
    // By name they do.
    let named = [prefix[0].clone(), Asked::Id("app-audit".to_owned())];
    assert_eq!(over(&named, &groups).says(), UNREAD);
    // And where nothing else is found.
    let report = over(&prefix, &[old]);
    assert_eq!(report.says(), (Outcome::Unproven, Reason::GroupEmpty));
}

#[test]
fn the_worst_of_several_is_said_and_only_some_are_named() {
    let mut groups: Vec<ConsumerGroup> = (0..9)
        .map(|number| reader(&format!("app-{number}"), &["a", "b", "c"]))
        .collect();
    let prefix = [Asked::Prefix("app-".to_owned())];
    let said = over(&prefix, &groups).message();
    assert!(said.ends_with("; and 6 more consumer groups"), "{said}");
    groups[8].members = vec![
        member("m1", &[("a", &[0, 1, 2, 3]), ("b", &[0, 1, 2, 3])]),
        member("m2", &[("c", &[0, 1, 2, 3])]),
    ];
    let report = over(&prefix, &groups);
    assert_eq!(report.says(), SPLIT);
    let said = report.message();
    assert!(
        said.starts_with("consumer group app-8: same-numbered"),
        "{said}"
    );
    assert!(
        said.contains("First seen: partition 0 of a is read by m1"),
        "{said}"
    );
    // In any order, the same words.
    groups.reverse();
    assert_eq!(over(&prefix, &groups), report);
}
