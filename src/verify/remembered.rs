//! The keys of a topic that are remembered, by their fingerprints.

use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::key::Key;

/// Each record looks up its key here, so it is a table and no tree: with a hundred thousand keys a tree takes as long as
/// all else that is done with a record.
type Table = HashMap<u128, Key, BuildHasherDefault<Low>>;

/// The keys with the lowest fingerprints, as many as may be.
///
/// When there is no room for all, a key that once had to go can't return, so each one that stays has all its records, and
/// which those are does not depend on their order. For all topics they are also the same keys.
#[derive(Clone, Debug)]
pub(super) struct Remembered {
    table: Table,
    /// The fingerprints, the highest at the top; empty until there are as many as may be.
    heap: BinaryHeap<u128>,
    most: usize,
    /// There are more keys than these.
    pub(super) more: bool,
}

impl Remembered {
    /// None yet, and never more than `most`, but at least one.
    pub(super) fn new(most: usize) -> Self {
        Self {
            table: Table::default(),
            heap: BinaryHeap::new(),
            most: most.max(1),
            more: false,
        }
    }

    /// The place of a key; `None` if it is not among those that stay.
    pub(super) fn place(
        &mut self,
        fingerprint: u128,
        new: impl FnOnce() -> Key,
    ) -> Option<&mut Key> {
        if self.table.len() >= self.most {
            if self.heap.is_empty() {
                self.heap = self.table.keys().copied().collect();
            }
            let highest = self.heap.peek().copied().unwrap_or_default();
            if fingerprint > highest {
                self.more = true;
                return None;
            }
            if !self.table.contains_key(&fingerprint) {
                self.more = true;
                self.heap.pop();
                self.table.remove(&highest);
                self.heap.push(fingerprint);
            }
        }
        Some(self.table.entry(fingerprint).or_insert_with(new))
    }

    /// All of them in the order of their fingerprints, so that sums of fractions are the same whenever the keys are.
    pub(super) fn sorted(&self) -> Vec<(u128, &Key)> {
        let mut sorted: Vec<(u128, &Key)> = self.table.iter().map(|(at, key)| (*at, key)).collect();
        sorted.sort_unstable_by_key(|(fingerprint, _)| *fingerprint);
        sorted
    }

    /// Those that [`Remembered::serialize`] wrote.
    pub(super) fn refill(&mut self, kept: Kept, more: bool) {
        self.table = kept.0;
        self.heap.clear();
        self.more = more;
    }
}

impl Serialize for Remembered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.table.len()))?;
        for (fingerprint, key) in &self.table {
            map.serialize_entry(fingerprint, key)?;
        }
        map.end()
    }
}

/// Keys that were kept.
#[derive(Debug, Deserialize)]
pub(super) struct Kept(Table);

impl Kept {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.0.values()
    }
}

/// Takes the lower half of a fingerprint for its hash: it is one already, under a secret.
#[derive(Clone, Copy, Debug, Default)]
struct Low(u64);

impl Hasher for Low {
    fn write(&mut self, bytes: &[u8]) {
        // Not used for fingerprints; right for anything.
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    // What is left out is the upper half.
    #[allow(clippy::cast_possible_truncation)]
    fn write_u128(&mut self, fingerprint: u128) {
        self.0 = fingerprint as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
