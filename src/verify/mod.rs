//! The judge of sampled records: do they lie where the declared scheme puts them?
//!
//! A [`Judge`] is given the topics of a group and then their records one by one, in any order; it hashes the bytes of
//! each key as the producer should have, and remembers a bounded number of keys by a keyed fingerprint. Its
//! [`GroupReport`] says what holds for each topic, which known scheme fits where the declared one does not, and whether
//! the same key lies on different partition numbers of two topics. No report carries a key or a hash of one.
//!
//! This folder is pure: nothing in it reads a clock, the environment or a socket, and the secret of the fingerprints
//! comes from the caller.

mod between;
mod evidence;
mod fit;
mod group;
mod key;
mod limits;
mod remembered;
mod said;
mod signs;
mod state;
mod topic;
mod verdict;

pub use between::Between;
pub use evidence::{OnPartition, Records};
pub use group::{GroupReport, Outcome, Reason};
pub use limits::{
    AT_LEAST, LOG10_CHANCE, MAX_KEYS, MIN_KEYS, MIN_RECORDS, MIXTURE, QUOTED, TOLERATED,
};
pub use signs::{Foreign, SeenEncoding};
pub use state::State;
pub use topic::{FingerprintKey, Growth, Marks, Record, Topic};
pub use verdict::{Explanation, Keys, MixedWith, TopicReport, Verdict};

use evidence::Evidence;

/// Takes records and says what they prove. Its memory is bounded by the topics' number and partitions and by the keys
/// that it may remember.
pub struct Judge {
    secret: FingerprintKey,
    topics: Vec<Evidence>,
}

impl Judge {
    /// A judge of the topics of one group, which remembers at most [`MAX_KEYS`] distinct keys of each.
    pub fn new(topics: Vec<Topic>, secret: FingerprintKey) -> Self {
        Self::with_max_keys(topics, secret, MAX_KEYS)
    }

    /// As [`Judge::new`], with another bound, 1 or more: about 200 bytes a key, and up to 450 for one that lies on many
    /// partitions.
    pub fn with_max_keys(topics: Vec<Topic>, secret: FingerprintKey, max_keys: usize) -> Self {
        let topics = topics.into_iter();
        Self {
            secret,
            topics: topics.map(|it| Evidence::new(it, max_keys)).collect(),
        }
    }

    /// Takes a record into account. Returns the partition where the declared scheme puts it, if that is another one. One of
    /// a topic that the judge was not given is ignored.
    pub fn add(&mut self, record: Record<'_>) -> Option<i32> {
        let topic = self.topics.get_mut(record.topic)?;
        topic.add(self.secret, record.partition, record.offset, record.key)
    }

    /// How many records it was given.
    pub fn records(&self) -> u64 {
        let read = self.topics.iter().map(|topic| topic.records.read);
        read.fold(0, u64::saturating_add)
    }

    /// What the records so far say. More can follow.
    pub fn report(&self) -> GroupReport {
        GroupReport {
            topics: self.topics.iter().map(|it| it.seen().report()).collect(),
            between: between::between(&self.topics),
        }
    }
}

#[cfg(test)]
mod tests;
