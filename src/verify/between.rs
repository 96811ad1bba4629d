//! The same key bytes in two topics: they have to lie on same-numbered partitions, whatever the schemes are.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::evidence::Evidence;
use super::limits::too_many;

/// Two topics of equal partition counts that share keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// The number of the first topic, as its reports are listed.
    pub a: usize,
    /// The number of the second one, above the first.
    pub b: usize,
    /// How many distinct keys both have, of those that are remembered. Empty ones are left out: some producers spread them.
    pub shared: u64,
    /// How many of them lie on different partition numbers: where most of a key's records lie.
    pub apart: u64,
}

impl Between {
    /// Whether the topics are not co-partitioned, by more than strays.
    pub fn is_apart(&self) -> bool {
        too_many(self.apart, self.shared)
    }
}

/// All pairs of topics that share keys, by their numbers.
pub(super) fn between(topics: &[Evidence]) -> Vec<Between> {
    // One walk over the sorted fingerprints of all topics at once.
    let sorted = topics.iter().map(|topic| topic.keys.sorted().into_iter());
    let mut walks: Vec<_> = sorted.collect();
    let mut next = BinaryHeap::new();
    let mut advance = |next: &mut BinaryHeap<_>, topic: usize| {
        for (fingerprint, key) in walks[topic].by_ref() {
            if let Some(main) = key.main_now().filter(|_| !key.is_empty()) {
                next.push(Reverse((fingerprint, topic, main)));
                return;
            }
        }
    };
    for topic in 0..topics.len() {
        advance(&mut next, topic);
    }
    let mut pairs: BTreeMap<(usize, usize), (u64, u64)> = BTreeMap::new();
    let mut same: Vec<(usize, i32)> = Vec::new();
    let mut current = None;
    while let Some(Reverse((fingerprint, topic, main))) = next.pop() {
        if current != Some(fingerprint) {
            current = Some(fingerprint);
            same.clear();
        }
        // The heap gives the topics of one fingerprint in their order.
        for (other, its) in &same {
            if topics[*other].topic.count == topics[topic].topic.count {
                let (shared, apart) = pairs.entry((*other, topic)).or_default();
                *shared += 1;
                *apart += u64::from(*its != main);
            }
        }
        same.push((topic, main));
        advance(&mut next, topic);
    }
    let between = |((a, b), (shared, apart))| Between {
        a,
        b,
        shared,
        apart,
    };
    pairs.into_iter().map(between).collect()
}
