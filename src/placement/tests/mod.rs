//! The judge of placement.

mod apart;
mod figures;
mod needed;
mod oracle;
mod phases;
mod streams;
mod texts;

use super::*;

/// Topics with their counts.
fn topics(counts: &[(&str, i32)]) -> Vec<Counted> {
    let counted = |(name, partitions): &(&str, i32)| Counted {
        name: (*name).to_owned(),
        partitions: *partitions,
    };
    counts.iter().map(counted).collect()
}

fn ids(ids: &[&str]) -> Vec<Asked> {
    ids.iter().map(|id| Asked::Id((*id).to_owned())).collect()
}

/// A member with the partitions that it reads.
fn member(id: &str, assigned: &[(&str, &[i32])]) -> Member {
    let partitions = |(topic, partitions): &(&str, &[i32])| TopicPartitions {
        topic: (*topic).to_owned(),
        partitions: partitions.to_vec(),
    };
    Member {
        id: id.to_owned(),
        client_id: "client".to_owned(),
        host: format!("/10.0.0.{}", id.len()),
        process: None,
        assigned: assigned.iter().map(partitions).collect(),
        tasks: Vec::new(),
    }
}

fn group(assignor: &str, members: Vec<Member>) -> ConsumerGroup {
    ConsumerGroup {
        id: "app".to_owned(),
        protocol: Protocol::Classic,
        phase: Phase::Stable,
        assignor: Some(assignor.to_owned()),
        members,
        sub_topologies: Vec::new(),
    }
}

/// Two members that read the same numbers of two topics.
fn colocated(assignor: &str) -> ConsumerGroup {
    group(
        assignor,
        vec![
            member("m1", &[("a", &[0, 1]), ("b", &[0, 1])]),
            member("m22", &[("a", &[2, 3]), ("b", &[2, 3])]),
        ],
    )
}

/// Two members that do not.
fn split(assignor: &str) -> ConsumerGroup {
    group(
        assignor,
        vec![
            member("m1", &[("a", &[0, 1]), ("b", &[0, 3])]),
            member("m22", &[("a", &[2, 3]), ("b", &[1, 2])]),
        ],
    )
}

fn sub(id: &str, sources: &[&str]) -> SubTopology {
    SubTopology {
        id: id.to_owned(),
        source_topics: sources.iter().map(|it| (*it).to_owned()).collect(),
        repartition_topics: Vec::new(),
        changelog_topics: Vec::new(),
    }
}

/// The judge's word on one group that reads `a` and `b` of four partitions.
fn judged(group: &ConsumerGroup) -> Report {
    judge(
        &topics(&[("a", 4), ("b", 4)]),
        &ids(&["app"]),
        std::slice::from_ref(group),
        &[],
    )
}

fn says(group: &ConsumerGroup) -> (Outcome, Reason) {
    judged(group).says()
}

const TOGETHER: (Outcome, Reason) = (Outcome::Colocated, Reason::Colocated);
const BY_CHANCE: (Outcome, Reason) = (Outcome::Colocated, Reason::ColocatedByChance);
const SPLIT: (Outcome, Reason) = (Outcome::Refuted, Reason::SplitMembers);
const SEPARATE: (Outcome, Reason) = (Outcome::Refuted, Reason::SeparateSubTopologies);

#[test]
fn who_reads_the_same_numbers_is_colocated() {
    assert_eq!(says(&colocated("range")), TOGETHER);
    assert_eq!(says(&split("range")), SPLIT);
    assert_eq!(says(&split("roundrobin")), SPLIT);
    // Members that read nothing, as more members than partitions, or something else, change nothing.
    let mut idle = colocated("range");
    idle.members.push(member("idle", &[]));
    idle.members.push(member("other", &[("c", &[0, 99])]));
    assert_eq!(says(&idle), TOGETHER);
}

#[test]
fn an_assignor_that_parts_them_is_right_by_chance() {
    for assignor in [
        "roundrobin",
        "RoundRobinAssigner",
        "sticky",
        "cooperative-sticky",
        "uniform",
    ] {
        assert_eq!(says(&colocated(assignor)), BY_CHANCE, "{assignor}");
        let alone = member("m1", &[("a", &[0, 1, 2, 3]), ("b", &[0, 1, 2, 3])]);
        let alone = group(assignor, vec![alone]);
        assert_eq!(says(&alone), BY_CHANCE, "{assignor}");
        let message = judged(&alone).message();
        assert!(
            message.contains("because one member reads them all"),
            "{message}"
        );
    }
}

#[test]
fn one_member_proves_nothing_of_an_assignor_that_nobody_knows() {
    let alone = member("m1", &[("a", &[0, 1, 2, 3]), ("b", &[0, 1, 2, 3])]);
    assert_eq!(says(&group("ours", vec![alone.clone()])), BY_CHANCE);
    assert_eq!(says(&colocated("ours")), TOGETHER);
    assert_eq!(says(&group("range", vec![alone])), TOGETHER);
}

#[test]
fn unequal_counts_are_never_colocated() {
    let counts = topics(&[("a", 4), ("b", 2)]);
    let judge_all = |group: ConsumerGroup| judge(&counts, &ids(&["app"]), &[group], &[]);
    let all = member("m1", &[("a", &[0, 1, 2, 3]), ("b", &[0, 1])]);
    let report = judge_all(group("range", vec![all]));
    assert_eq!(report.says(), (Outcome::Unproven, Reason::UnequalCounts));
    let apart = [
        member("m1", &[("a", &[0, 1]), ("b", &[0])]),
        member("m2", &[("a", &[2, 3]), ("b", &[1])]),
    ];
    assert_eq!(judge_all(group("range", apart.to_vec())).says(), SPLIT);
}

#[test]
fn what_is_not_read_is_not_colocated() {
    let open = (Outcome::Unproven, Reason::TopicsUnread);
    let half = group("range", vec![member("m1", &[("a", &[0, 1, 2, 3])])]);
    assert_eq!(says(&half), open);
    let gap = member("m1", &[("a", &[0, 1, 2, 3]), ("b", &[0, 1, 3])]);
    assert_eq!(says(&group("range", vec![gap])), open);
    assert_eq!(says(&group("range", vec![member("m1", &[])])), open);
    let none = judge(&[], &ids(&["app"]), &[colocated("range")], &[]);
    assert_eq!(none.says(), open);
}

#[test]
fn an_assignment_that_cannot_be_of_one_moment_is_a_rebalance() {
    let open = (Outcome::Unproven, Reason::Rebalancing);
    let mut twice = colocated("range");
    twice.members.push(member("late", &[("a", &[3])]));
    assert_eq!(says(&twice), open);
    let mut beyond = colocated("range");
    beyond.members[1].assigned[0].partitions.push(4);
    assert_eq!(says(&beyond), open);
    let mut negative = colocated("range");
    negative.members[1].assigned[0].partitions.push(-1);
    assert_eq!(says(&negative), open);
}
