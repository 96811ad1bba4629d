//! What it takes to judge the assignment of a large consumer group.
//!
//! Without servers: the members are made up. Every member reads one partition number of two topics, or of ten.

use std::time::{Duration, Instant};

use copartition::placement::{
    Asked, ConsumerGroup, Counted, Member, Phase, Protocol, TopicPartitions, judge,
};

/// How often each is judged; the median is told.
const RUNS: usize = 21;

fn main() {
    println!("| members | topics | partitions in all | together | split everywhere |");
    println!("|---|---|---|---|---|");
    for (members, topics) in [(100, 2), (2_000, 10), (10_000, 2)] {
        let together = measured(members, topics, false);
        let split = measured(members, topics, true);
        println!(
            "| {members} | {topics} | {} | {together:.1?} | {split:.1?} |",
            members * topics
        );
    }
}

fn measured(members: i32, topics: i32, split: bool) -> Duration {
    let (counted, group) = made_up(members, topics, split);
    let asked = [Asked::Id(group.id.clone())];
    let mut took: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let begin = Instant::now();
            let report = judge(&counted, &asked, std::slice::from_ref(&group), &[]);
            let took = begin.elapsed();
            assert_eq!(report.message().contains("is read by"), split);
            took
        })
        .collect();
    took.sort_unstable();
    took[RUNS / 2]
}

/// A group whose member of each number reads the partition of that number, of every second topic another one if `split`.
fn made_up(members: i32, topics: i32, split: bool) -> (Vec<Counted>, ConsumerGroup) {
    let name = |topic: i32| format!("topic-{topic}");
    let member = |number: i32| {
        let assigned = (0..topics).map(|topic| TopicPartitions {
            topic: name(topic),
            partitions: vec![if split && topic % 2 == 1 {
                members - 1 - number
            } else {
                number
            }],
        });
        Member {
            id: format!("consumer-{number:05}-0b6c1c0e-5f7e-4e0c-9d55-7d1f5a0e9a11"),
            client_id: format!("consumer-{number:05}"),
            host: "/10.1.2.3".to_owned(),
            process: None,
            assigned: assigned.collect(),
            tasks: Vec::new(),
        }
    };
    let counted = (0..topics).map(|topic| Counted {
        name: name(topic),
        partitions: members,
    });
    let group = ConsumerGroup {
        id: "app".to_owned(),
        protocol: Protocol::Classic,
        phase: Phase::Stable,
        assignor: Some("range".to_owned()),
        members: (0..members).map(member).collect(),
        sub_topologies: Vec::new(),
    };
    (counted.collect(), group)
}
