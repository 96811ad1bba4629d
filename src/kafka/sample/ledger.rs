//! What is to be read and how far it is: plain bookkeeping.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;

use super::request::{Incomplete, PartitionSample, Progress, Sample, TopicSample};
use crate::plan::TopicId;

/// A partition: the index of its topic in the ledger, and its number.
pub(super) type Key = (usize, i32);

/// All topics of one reading.
pub(super) struct Ledger<'p> {
    topics: Vec<Topic>,
    index: HashMap<String, usize>,
    /// The topic of the last look-up: records of one topic come in runs.
    last: usize,
    bytes: u64,
    progress: &'p Progress,
}

struct Topic {
    name: String,
    id: Option<TopicId>,
    partitions: BTreeMap<i32, Partition>,
    failure: Option<Incomplete>,
}

struct Partition {
    sample: PartitionSample,
    open: bool,
}

impl<'p> Ledger<'p> {
    pub(super) fn new(topics: impl Iterator<Item = String>, progress: &'p Progress) -> Self {
        let topics: Vec<Topic> = topics
            .map(|name| Topic {
                name,
                id: None,
                partitions: BTreeMap::new(),
                failure: None,
            })
            .collect();
        let index = topics.iter().enumerate();
        let index = index.map(|(at, topic)| (topic.name.clone(), at)).collect();
        Self {
            topics,
            index,
            last: 0,
            bytes: 0,
            progress,
        }
    }

    pub(super) fn name(&self, topic: usize) -> &str {
        self.topics.get(topic).map_or("", |topic| &topic.name)
    }

    pub(super) fn find(&mut self, name: &str) -> Option<usize> {
        if self.name(self.last) != name {
            self.last = *self.index.get(name)?;
        }
        Some(self.last)
    }

    pub(super) fn id(&self, topic: usize) -> Option<&TopicId> {
        self.topics.get(topic)?.id.as_ref()
    }

    pub(super) fn set_id(&mut self, topic: usize, id: TopicId) {
        if let Some(topic) = self.topics.get_mut(topic) {
            topic.id = Some(id);
        }
    }

    /// Adds a partition to read; one with nothing to read is done at once. `from` above `end` reads nothing.
    pub(super) fn add(&mut self, (topic, number): Key, from: i64, end: i64) {
        let Some(topic) = self.topics.get_mut(topic) else {
            return;
        };
        let sample = PartitionSample {
            from,
            end,
            next: from,
            records: 0,
            bytes: 0,
            incomplete: None,
        };
        let open = from < end;
        topic.partitions.insert(number, Partition { sample, open });
        self.progress.partitions.fetch_add(1, Ordering::Relaxed);
        if !open {
            self.progress.done.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn open(&mut self, (topic, number): Key) -> Option<&mut Partition> {
        let partition = self.topics.get_mut(topic)?.partitions.get_mut(&number)?;
        partition.open.then_some(partition)
    }

    /// The next offset of a partition that is still to be read.
    pub(super) fn next(&self, (topic, number): Key) -> Option<i64> {
        let partition = self.topics.get(topic)?.partitions.get(&number)?;
        partition.open.then_some(partition.sample.next)
    }

    /// Whether a record that came is one to give on: of an open partition, below its end, and not given before.
    pub(super) fn wants(&mut self, key: Key, offset: i64) -> bool {
        self.open(key).is_some_and(|partition| {
            (partition.sample.next..partition.sample.end).contains(&offset)
        })
    }

    /// Counts a record that was given on.
    pub(super) fn count(&mut self, key: Key, bytes: u64) {
        let Some(partition) = self.open(key) else {
            return;
        };
        partition.sample.records += 1;
        partition.sample.bytes += bytes;
        self.bytes += bytes;
        self.progress.records.fetch_add(1, Ordering::Relaxed);
        self.progress.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A record came, given on or not: true if it was the last one of its partition.
    pub(super) fn pass(&mut self, key: Key, offset: i64) -> bool {
        let Some(partition) = self.open(key) else {
            return false;
        };
        let sample = &mut partition.sample;
        sample.next = sample.next.max(offset.saturating_add(1)).min(sample.end);
        if sample.next < sample.end {
            return false;
        }
        self.close(key, None);
        true
    }

    /// Where the log begins now, if that is later than what would be read next.
    pub(super) fn skip_to(&mut self, key: Key, low: i64) -> bool {
        let next = self.next(key).unwrap_or(i64::MAX);
        low > next && !self.pass(key, low - 1)
    }

    /// Ends a partition: read to its end, or for a reason not.
    pub(super) fn close(&mut self, key: Key, incomplete: Option<Incomplete>) {
        let Some(partition) = self.open(key) else {
            return;
        };
        partition.open = false;
        if incomplete.is_none() {
            partition.sample.next = partition.sample.end;
        }
        partition.sample.incomplete = incomplete;
        self.progress.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends a topic for a reason that concerns all of it. The first reason stays.
    pub(super) fn fail(&mut self, topic: usize, reason: &Incomplete) {
        for key in self.open_of(topic) {
            self.close(key, Some(reason.clone()));
        }
        if let Some(topic) = self.topics.get_mut(topic) {
            topic.failure.get_or_insert_with(|| reason.clone());
        }
    }

    /// Ends whatever is still open.
    pub(super) fn close_all(&mut self, reason: &Incomplete) {
        for key in self.all_open() {
            self.close(key, Some(reason.clone()));
        }
        // What was not even looked at.
        for topic in &mut self.topics {
            if topic.partitions.is_empty() {
                topic.failure.get_or_insert_with(|| reason.clone());
            }
        }
    }

    pub(super) fn open_of(&self, topic: usize) -> Vec<Key> {
        let partitions = self.topics.get(topic).map(|topic| &topic.partitions);
        let open = partitions.into_iter().flatten();
        let open = open.filter(|(_, partition)| partition.open);
        open.map(|(number, _)| (topic, *number)).collect()
    }

    pub(super) fn all_open(&self) -> Vec<Key> {
        (0..self.topics.len())
            .flat_map(|topic| self.open_of(topic))
            .collect()
    }

    /// Bytes given on so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The topics of which records were given on, by index.
    pub(super) fn given(&self) -> Vec<usize> {
        let given = |topic: &Topic| {
            topic
                .partitions
                .values()
                .any(|part| part.sample.records > 0)
        };
        let topics = self.topics.iter().enumerate();
        let topics = topics.filter(|(_, topic)| given(topic));
        topics.map(|(at, _)| at).collect()
    }

    pub(super) fn into_sample(self) -> Sample {
        let topics = self.topics.into_iter().map(|topic| {
            let partitions = topic.partitions.into_iter();
            let sample = TopicSample {
                id: topic.id,
                partitions: partitions
                    .map(|(number, partition)| (number, partition.sample))
                    .collect(),
                failure: topic.failure,
            };
            (topic.name, sample)
        });
        Sample {
            topics: topics.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(progress: &Progress) -> Ledger<'_> {
        let mut ledger = Ledger::new(["a", "b"].map(str::to_owned).into_iter(), progress);
        ledger.add((0, 0), 5, 10);
        ledger.add((0, 1), 3, 3);
        ledger.add((1, 0), 0, 2);
        ledger
    }

    #[test]
    fn a_partition_is_done_at_its_last_offset_or_past_it() {
        let progress = Progress::default();
        let mut ledger = ledger(&progress);
        assert_eq!(ledger.all_open(), [(0, 0), (1, 0)]);
        assert!(!ledger.wants((0, 0), 4) && ledger.wants((0, 0), 5));
        ledger.count((0, 0), 7);
        assert!(!ledger.pass((0, 0), 5));
        assert!(!ledger.wants((0, 0), 5), "no record is given twice");
        // A gap up to the end, and a record that arrived later.
        assert!(!ledger.wants((0, 0), 12));
        assert!(ledger.pass((0, 0), 12));
        assert!(ledger.pass((1, 0), 1));
        assert_eq!(progress.partitions_done(), progress.partitions());
        let sample = ledger.into_sample();
        assert!(sample.is_complete());
        assert_eq!((sample.records(), sample.bytes()), (1, 7));
        assert_eq!(sample.topics["a"].partitions[&0].next, 10);
    }

    #[test]
    fn a_failed_topic_leaves_the_others_and_keeps_its_first_reason() {
        let progress = Progress::default();
        let mut ledger = ledger(&progress);
        ledger.fail(0, &Incomplete::TopicDeleted);
        ledger.fail(0, &Incomplete::Stopped);
        assert_eq!(ledger.all_open(), [(1, 0)]);
        ledger.close_all(&Incomplete::BudgetSpent);
        let sample = ledger.into_sample();
        let reason = |topic: &str| sample.topics[topic].incomplete().cloned();
        assert_eq!(reason("a"), Some(Incomplete::TopicDeleted));
        assert_eq!(reason("b"), Some(Incomplete::BudgetSpent));
        assert_eq!(sample.topics["a"].partitions[&1].incomplete, None);
    }

    #[test]
    fn records_that_retention_took_are_skipped() {
        let progress = Progress::default();
        let mut ledger = ledger(&progress);
        assert!(!ledger.skip_to((0, 0), 5), "nothing was taken");
        assert!(ledger.skip_to((0, 0), 8));
        assert_eq!(ledger.next((0, 0)), Some(8));
        assert!(!ledger.skip_to((0, 0), 20), "nothing is left");
        assert_eq!(ledger.next((0, 0)), None);
    }
}
