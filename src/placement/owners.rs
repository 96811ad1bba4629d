//! Who reads which partition.

use std::collections::BTreeMap;

use super::asked::Counted;
use super::model::Member;

/// Nobody.
const NOBODY: u32 = u32::MAX;

/// The members by the partitions that they read, of the topics that are judged.
pub(super) struct Owners<'a> {
    members: &'a [Member],
    /// Of each topic the member of each partition.
    by_topic: Vec<Vec<u32>>,
    /// Of each member its process, or itself.
    seats: Vec<u32>,
}

/// An assignment that cannot be of one moment.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Torn;

/// Two topics whose partition of one number is read by two members.
pub(super) struct Pair<'a> {
    pub(super) partition: usize,
    pub(super) a: (usize, &'a Member),
    pub(super) b: (usize, &'a Member),
}

impl<'a> Owners<'a> {
    /// Takes down who reads what, in one pass over the members.
    ///
    /// # Errors
    /// If two members read one partition, or one reads a partition that its topic did not have when it was counted.
    pub(super) fn of(topics: &[Counted], members: &'a [Member]) -> Result<Self, Torn> {
        let at: BTreeMap<&str, usize> = topics
            .iter()
            .enumerate()
            .map(|(at, topic)| (topic.name.as_str(), at))
            .collect();
        let mut owners: Vec<Vec<u32>> = topics
            .iter()
            .map(|topic| vec![NOBODY; usize::try_from(topic.partitions).unwrap_or_default()])
            .collect();
        let mut processes: BTreeMap<&str, u32> = BTreeMap::new();
        let mut seats = Vec::with_capacity(members.len());
        for (number, member) in (0..NOBODY).zip(members) {
            let process = member.process.as_deref();
            seats.push(process.map_or(number, |it| *processes.entry(it).or_insert(number)));
            for assigned in &member.assigned {
                let Some(owners) = at.get(assigned.topic.as_str()).map(|at| &mut owners[*at])
                else {
                    continue;
                };
                for partition in &assigned.partitions {
                    let owner = usize::try_from(*partition)
                        .ok()
                        .and_then(|partition| owners.get_mut(partition))
                        .ok_or(Torn)?;
                    if *owner != NOBODY && *owner != number {
                        return Err(Torn);
                    }
                    *owner = number;
                }
            }
        }
        Ok(Self {
            members,
            by_topic: owners,
            seats,
        })
    }

    /// Whether anybody reads a partition of the topic.
    pub(super) fn reads(&self, topic: usize) -> bool {
        self.by_topic[topic].iter().any(|owner| *owner != NOBODY)
    }

    /// The first partition of the topic that nobody reads.
    pub(super) fn unassigned(&self, topic: usize) -> Option<usize> {
        self.by_topic[topic]
            .iter()
            .position(|owner| *owner == NOBODY)
    }

    /// Whether one member, or one process, reads all that is read.
    pub(super) fn is_one_seat(&self) -> bool {
        let mut seats = self
            .by_topic
            .iter()
            .flatten()
            .filter_map(|it| self.seat(*it));
        let Some(first) = seats.next() else {
            return false;
        };
        seats.all(|seat| seat == first)
    }

    fn seat(&self, owner: u32) -> Option<u32> {
        self.seats.get(usize::try_from(owner).ok()?).copied()
    }

    /// The first partition number that two members read, each of another topic, and how many such numbers there are.
    pub(super) fn splits(&self) -> Option<(Pair<'a>, usize)> {
        let most = self.by_topic.iter().map(Vec::len).max().unwrap_or_default();
        let mut splits = (0..most).filter_map(|partition| self.split_at(partition));
        let first = splits.next()?;
        Some((first, 1 + splits.count()))
    }

    fn split_at(&self, partition: usize) -> Option<Pair<'a>> {
        let mut read = self.by_topic.iter().enumerate().filter_map(|(topic, it)| {
            let owner = it.get(partition).copied().filter(|it| *it != NOBODY)?;
            Some((topic, owner))
        });
        let a = read.next()?;
        let b = read.find(|it| self.seat(it.1) != self.seat(a.1))?;
        let named = |(topic, owner): (usize, u32)| {
            let member = self.members.get(usize::try_from(owner).ok()?)?;
            Some((topic, member))
        };
        Some(Pair {
            partition,
            a: named(a)?,
            b: named(b)?,
        })
    }
}
