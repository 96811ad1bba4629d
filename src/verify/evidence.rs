//! What is gathered of a topic while its records pass by.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::key::Key;
use super::limits::MAX_HISTOGRAM;
use super::remembered::Remembered;
use super::signs::Signs;
use super::topic::{Era, FingerprintKey, Topic};
use crate::keys::Placement;

/// How many records were what. Those that were read are the sum of the others, where `misplaced` is a part of `placed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Records {
    /// All that the judge was given.
    pub read: u64,
    /// Between the marks of a growth, where nobody can tell at which count they were placed.
    pub left_out: u64,
    /// On a partition that the topic does not have: it was grown meanwhile.
    pub outside: u64,
    /// Without a key.
    pub unkeyed: u64,
    /// With a key that the declared scheme spreads, and that therefore may lie anywhere.
    pub spread: u64,
    /// With a key whose partition no formula tells: no scheme is declared or a custom one, or it hashes text and this is none.
    pub unpredicted: u64,
    /// With a key whose partition the declared scheme tells.
    pub placed: u64,
    /// Those of them that lie on another one.
    pub misplaced: u64,
}

/// The records of one partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnPartition {
    /// How many were seen on it, of those that the declared scheme places.
    pub seen: u64,
    /// How many of those the scheme puts there.
    pub predicted: u64,
}

/// What is known of a topic so far.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    pub(super) topic: Topic,
    pub(super) records: Records,
    pub(super) keys: Remembered,
    /// How many records of windowed keys lie where the whole key hashes to, its window included.
    pub(super) whole_fits: u64,
    pub(super) per_partition: Vec<OnPartition>,
}

/// The same when it is looked at, with its keys in order.
pub(super) struct Seen<'a> {
    pub(super) evidence: &'a Evidence,
    pub(super) keys: Vec<&'a Key>,
}

impl Deref for Seen<'_> {
    type Target = Evidence;

    fn deref(&self) -> &Evidence {
        self.evidence
    }
}

impl Evidence {
    pub(super) fn new(topic: Topic, max_keys: usize) -> Self {
        Self {
            topic,
            records: Records::default(),
            keys: Remembered::new(max_keys),
            whole_fits: 0,
            per_partition: Vec::new(),
        }
    }

    /// Takes a record into account. The partition where the declared scheme puts it, if that is another one.
    pub(super) fn add(
        &mut self,
        secret: FingerprintKey,
        partition: i32,
        offset: i64,
        key: Option<&[u8]>,
    ) -> Option<i32> {
        self.records.read += 1;
        let Some(era) = self.topic.era(partition, offset) else {
            self.records.left_out += 1;
            return None;
        };
        let count = self.topic.count_in(era);
        if !(0..count.get()).contains(&partition) {
            self.records.outside += 1;
            return None;
        }
        let Some(whole) = key else {
            self.records.unkeyed += 1;
            return None;
        };
        let bytes = self.topic.hashed(whole);
        let formula = self.topic.formula();
        let placement = formula.map_or(Placement::Unknown, |it| it.partition(Some(bytes), count));
        let mut elsewhere = None;
        match placement {
            Placement::Spread => {
                self.records.spread += 1;
                return None;
            }
            Placement::Unknown => self.records.unpredicted += 1,
            Placement::At(predicted) => {
                elsewhere = Some(predicted).filter(|predicted| *predicted != partition);
                self.records.placed += 1;
                self.records.misplaced += u64::from(elsewhere.is_some());
                if era == Era::Now && self.topic.count.get() <= MAX_HISTOGRAM {
                    self.on(partition).seen += 1;
                    self.on(predicted).predicted += 1;
                }
            }
        }
        if bytes.len() < whole.len() {
            let placed = formula.map(|formula| formula.partition(Some(whole), count));
            self.whole_fits += u64::from(placed == Some(Placement::At(partition)));
        }
        let fingerprint = secret.fingerprint(bytes);
        let declared = self.topic.scheme.as_ref().map(|it| it.encoding);
        let new = || Key::new(bytes, Signs::of(bytes, declared));
        if let Some(key) = self.keys.place(fingerprint, new) {
            key.add(era, partition, elsewhere.is_some());
        }
        elsewhere
    }

    fn on(&mut self, partition: i32) -> &mut OnPartition {
        let at = usize::try_from(partition).unwrap_or_default();
        if at >= self.per_partition.len() {
            self.per_partition.resize(at + 1, OnPartition::default());
        }
        &mut self.per_partition[at]
    }

    /// Its keys in order.
    pub(super) fn seen(&self) -> Seen<'_> {
        let keys = self.keys.sorted().into_iter();
        Seen {
            evidence: self,
            keys: keys.map(|(_, key)| key).collect(),
        }
    }
}
