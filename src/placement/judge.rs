//! From assignments to verdicts.

use std::collections::BTreeSet;

use super::asked::{Asked, Counted, Unread};
use super::assignor;
use super::model::{ConsumerGroup, Phase, Protocol};
use super::owners::{Owners, Pair};
use super::report::{GroupReport, Report};
use super::verdict::{Seat, Split, Verdict};

/// Judges consumer groups against the topics that they are to read together.
///
/// `groups` are those that were read, in any order; who is asked for and is not among them, nor in `unread`, does not exist.
pub fn judge(
    topics: &[Counted],
    asked: &[Asked],
    groups: &[ConsumerGroup],
    unread: &[Unread],
) -> Report {
    let mut reports = Vec::new();
    let mut seen = BTreeSet::new();
    for group in groups {
        let mut asks = asked.iter().filter(|asked| asked.asks_for(&group.id));
        let Some(first) = asks.next() else {
            continue;
        };
        if seen.insert(group.id.as_str()) {
            let by_id = |asked: &Asked| matches!(asked, Asked::Id(_));
            reports.push(GroupReport {
                of: Asked::Id(group.id.clone()),
                named: by_id(first) || asks.any(by_id),
                verdict: verdict(topics, group),
            });
        }
    }
    for Unread { of, why, words } in unread {
        reports.push(GroupReport {
            of: of.clone(),
            named: true,
            verdict: Verdict::Unread(*why, words.clone()),
        });
    }
    for asked in asked {
        let found = match asked {
            Asked::Id(id) => seen.contains(id.as_str()),
            Asked::Prefix(prefix) => seen.iter().any(|id| id.starts_with(prefix.as_str())),
        };
        let covered = |of: &Asked| match (asked, of) {
            (Asked::Prefix(prefix), Asked::Id(id)) => id.starts_with(prefix.as_str()),
            _ => asked == of,
        };
        if !found && !unread.iter().any(|unread| covered(&unread.of)) {
            let unequal = unequal(topics.iter());
            reports.push(GroupReport {
                of: asked.clone(),
                named: true,
                verdict: Verdict::Missing { unequal },
            });
        }
    }
    reports.sort_by(|a, b| a.of.cmp(&b.of));
    Report::new(topics, reports)
}

/// The verdict on one group.
fn verdict(topics: &[Counted], group: &ConsumerGroup) -> Verdict {
    if let Protocol::Other(kind) = &group.protocol {
        return Verdict::Unsupported(format!("of the kind {kind}"));
    }
    match &group.phase {
        Phase::Stable => stable(topics, group),
        Phase::Rebalancing => Verdict::Rebalancing,
        Phase::Missing => Verdict::Missing {
            unequal: unequal(topics.iter()),
        },
        Phase::Empty => cannot_run(topics, group, false).unwrap_or_else(|| Verdict::Empty {
            unequal: unequal(topics.iter()),
        }),
        Phase::NotReady(words) => {
            cannot_run(topics, group, true).unwrap_or_else(|| Verdict::NotReady(words.clone()))
        }
        Phase::Other(state) => Verdict::Unsupported(format!("in the state {state}")),
    }
}

/// A pair of topics of unequal counts: the smallest and the largest.
fn unequal<'a>(
    topics: impl DoubleEndedIterator<Item = &'a Counted> + Clone,
) -> Option<[Counted; 2]> {
    let least = topics.clone().min_by_key(|topic| topic.partitions)?;
    // Of several the first, so backwards: the last of equals is taken.
    let most = topics.rev().max_by_key(|topic| topic.partitions)?;
    (least.partitions < most.partitions).then(|| [most.clone(), least.clone()])
}

/// A sub-topology of topics with unequal counts: Kafka Streams does not run if it joins them.
fn cannot_run(topics: &[Counted], group: &ConsumerGroup, said: bool) -> Option<Verdict> {
    group.sub_topologies.iter().find_map(|sub| {
        let read = topics.iter().filter(|it| sub.reads(&it.name));
        let pair = unequal(read)?;
        Some(Verdict::CannotRun {
            sub_topology: sub.id.clone(),
            pair,
            said,
        })
    })
}

fn stable(topics: &[Counted], group: &ConsumerGroup) -> Verdict {
    let Ok(owners) = Owners::of(topics, &group.members) else {
        // Two readers of one partition, or a partition that was not there when it was counted: not one moment.
        return Verdict::Rebalancing;
    };
    let splits = owners.splits();
    if let Some(separate) = separate(topics, group, &owners, splits.is_none()) {
        return separate;
    }
    if let Some((first, number)) = splits {
        return Verdict::Split(Box::new(split(topics, group, &first, number)));
    }
    let (reads, unread): (Vec<usize>, Vec<usize>) =
        (0..topics.len()).partition(|topic| owners.reads(*topic));
    let names = |of: &[usize]| of.iter().map(|at| topics[*at].name.clone()).collect();
    let unassigned = reads.iter().find_map(|topic| {
        let partition = i32::try_from(owners.unassigned(*topic)?).ok()?;
        Some((topics[*topic].name.clone(), partition))
    });
    if !unread.is_empty() || unassigned.is_some() || topics.is_empty() {
        return Verdict::Partial {
            reads: names(&reads),
            unread: names(&unread),
            unassigned,
        };
    }
    if let Some(pair) = unequal(topics.iter()) {
        return Verdict::UnequalCounts { pair };
    }
    Verdict::Colocated {
        assignor: assignor::name(group).to_owned(),
        habit: assignor::habit(group),
        alone: owners.is_one_seat(),
        remedy: assignor::remedy(group),
    }
}

/// Whether Kafka Streams reads the topics in several sub-topologies: then nothing keeps them together, wherever they are now.
fn separate(
    topics: &[Counted],
    group: &ConsumerGroup,
    owners: &Owners<'_>,
    unsplit: bool,
) -> Option<Verdict> {
    let mut parts = Vec::new();
    let mut repartitioned = Vec::new();
    let mut together = BTreeSet::new();
    for sub in &group.sub_topologies {
        let read = topics.iter().filter(|it| sub.reads(&it.name));
        let names: Vec<String> = read.map(|it| it.name.clone()).collect();
        if !names.is_empty() {
            together.insert(names.clone());
            repartitioned.extend(sub.repartition_topics.iter().cloned());
            parts.push((sub.id.clone(), names));
        }
    }
    let all: BTreeSet<&String> = together.iter().flatten().collect();
    if together.iter().any(|part| part.len() == all.len()) || all.is_empty() {
        return None;
    }
    let complete = (0..topics.len()).all(|topic| owners.unassigned(topic).is_none());
    Some(Verdict::SeparateSubTopologies {
        parts,
        repartitioned,
        together: unsplit && complete,
    })
}

fn split(topics: &[Counted], group: &ConsumerGroup, first: &Pair<'_>, number: usize) -> Split {
    let seat = |(topic, member): (usize, _)| Seat::of(&topics[topic].name, member);
    let counts = topics.iter().map(|topic| topic.partitions);
    Split {
        partition: i32::try_from(first.partition).unwrap_or(i32::MAX),
        a: seat(first.a),
        b: seat(first.b),
        split: number,
        of: counts.max().unwrap_or_default(),
        assignor: assignor::name(group).to_owned(),
        remedy: assignor::remedy(group),
    }
}
