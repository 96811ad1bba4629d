//! The judge against one that looks at each pair of partitions.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Counts of topics, the process of each member, and the member of each partition.
type World = (Vec<i32>, Vec<Option<u8>>, Vec<Vec<Option<usize>>>);

fn worlds() -> impl Strategy<Value = World> {
    let counts = prop_oneof![
        (1..5_i32, 1..=4_usize).prop_map(|(count, topics)| vec![count; topics]),
        vec(1..5_i32, 1..=4),
    ];
    let processes = vec(proptest::option::weighted(0.3, 0..2_u8), 1..4);
    (counts, processes).prop_flat_map(|(counts, processes)| {
        let members = processes.len();
        let owner = proptest::option::weighted(0.9, 0..members);
        let owners: Vec<_> = counts
            .iter()
            .map(|count| vec(owner.clone(), usize::try_from(*count).unwrap()))
            .collect();
        // Half of them have the first topic's owners everywhere, so that much is together.
        let same = any::<bool>();
        (Just(counts), Just(processes), owners, same).prop_map(
            |(counts, processes, mut owners, same)| {
                if same {
                    let first = owners[0].clone();
                    for of in &mut owners {
                        for (at, owner) in of.iter_mut().enumerate() {
                            *owner = first.get(at).copied().flatten();
                        }
                    }
                }
                (counts, processes, owners)
            },
        )
    })
}

fn built((counts, processes, owners): &World) -> (Vec<Counted>, ConsumerGroup) {
    let counted: Vec<(&str, i32)> = NAMES.into_iter().zip(counts.iter().copied()).collect();
    let members = processes.iter().enumerate().map(|(at, process)| {
        let assigned = owners.iter().enumerate().map(|(topic, owners)| {
            let mine = (0..).zip(owners).filter(|(_, owner)| **owner == Some(at));
            TopicPartitions {
                topic: NAMES[topic].to_owned(),
                partitions: mine.map(|(partition, _)| partition).collect(),
            }
        });
        Member {
            process: process.map(|it| it.to_string()),
            assigned: assigned.collect(),
            ..member(&format!("m{at}"), &[])
        }
    });
    (topics(&counted), group("range", members.collect()))
}

/// Who is one: members of one process, or the same member.
fn one(processes: &[Option<u8>], a: usize, b: usize) -> bool {
    a == b || (processes[a].is_some() && processes[a] == processes[b])
}

/// Whether any two topics have a partition number that two read.
fn is_split((_, processes, owners): &World) -> bool {
    let pairs = owners
        .iter()
        .flat_map(|a| owners.iter().map(move |b| (a, b)));
    pairs.into_iter().any(|(a, b)| {
        a.iter().zip(b).any(|both| match both {
            (Some(a), Some(b)) => !one(processes, *a, *b),
            _ => false,
        })
    })
}

proptest! {
    #[test]
    fn it_says_what_a_look_at_each_pair_says(world in worlds()) {
        let (counted, group) = built(&world);
        let report = judge(&counted, &ids(&["app"]), &[group], &[]);
        let all_read = world.2.iter().flatten().all(Option::is_some);
        let equal = world.0.iter().all(|count| *count == world.0[0]);
        let expected = if is_split(&world) {
            SPLIT
        } else if !all_read {
            (Outcome::Unproven, Reason::TopicsUnread)
        } else if !equal {
            (Outcome::Unproven, Reason::UnequalCounts)
        } else {
            TOGETHER
        };
        prop_assert_eq!(report.says(), expected);
    }

    /// What is named as a split is one.
    #[test]
    fn what_it_names_is_so(world in worlds()) {
        let (counted, group) = built(&world);
        let report = judge(&counted, &ids(&["app"]), &[group], &[]);
        if let Verdict::Split(split) = &report.groups[0].verdict {
            let owner = |seat: &Seat| {
                let topic = NAMES.iter().position(|name| *name == seat.topic).unwrap();
                let owner = world.2[topic][usize::try_from(split.partition).unwrap()].unwrap();
                assert_eq!(seat.member, format!("m{owner}"));
                owner
            };
            prop_assert!(split.a.topic != split.b.topic);
            prop_assert!(!one(&world.1, owner(&split.a), owner(&split.b)));
        }
    }

    /// Neither the order of members nor that of topics changes the word.
    #[test]
    fn order_is_nothing(world in worlds()) {
        let (mut counted, mut group) = built(&world);
        let before = judge(&counted, &ids(&["app"]), std::slice::from_ref(&group), &[]).says();
        counted.reverse();
        group.members.reverse();
        prop_assert_eq!(judge(&counted, &ids(&["app"]), &[group], &[]).says(), before);
    }
}
