//! What is remembered of a key: not its bytes, but all that is asked of them later.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::limits::MAX_PLACES;
use super::signs::Signs;
use super::topic::Era;
use crate::keys::{Formula, Hash, KeyRule, PartitionCount, Placement, Window};

/// The hashes of all known partitioners.
const HASHES: [Hash; 6] = [
    Hash::Murmur2,
    Hash::KafkajsLegacy,
    Hash::Crc32,
    Hash::Fnv1a,
    Hash::JavaString,
    Hash::Xxhash32,
];

/// A distinct key. Each record looks one up among many and counts there, so that what it takes is to find it in memory:
/// with its fingerprint it fills one cache line, and what never changes lies elsewhere.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Kept", try_from = "Kept")]
pub(super) struct Key {
    traits: Box<Traits>,
    /// Sorted; of more than [`MAX_PLACES`] the lowest.
    places: SmallVec<[Place; 1]>,
    /// How many records it has.
    pub(super) records: u64,
    /// How many of them do not lie where the declared scheme puts them.
    pub(super) misplaced: u64,
}

/// What the bytes of a key are like.
#[derive(Clone, Copy, Debug)]
struct Traits {
    hashes: [u32; HASHES.len()],
    /// Those of [`HASHES`] that hash text and got none, as bits.
    without: u8,
    /// The murmur2 of the bytes without the last 8 and without the last 16.
    inside: [u32; 2],
    empty: bool,
    signs: Signs,
}

/// A partition on which a key was seen.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(into = "(Era, i32, u64)", from = "(Era, i32, u64)")]
pub(super) struct Place {
    pub(super) era: Era,
    pub(super) partition: i32,
    pub(super) records: u64,
}

/// How a key is kept: there are many, so none names its fields.
#[derive(Serialize, Deserialize)]
struct Kept(
    [u32; HASHES.len()],
    u8,
    [u32; 2],
    bool,
    Signs,
    Vec<Place>,
    u64,
    u64,
);

impl From<Key> for Kept {
    fn from(key: Key) -> Self {
        let traits = *key.traits;
        Self(
            traits.hashes,
            traits.without,
            traits.inside,
            traits.empty,
            traits.signs,
            key.places.into_vec(),
            key.records,
            key.misplaced,
        )
    }
}

impl TryFrom<Kept> for Key {
    type Error = &'static str;

    fn try_from(kept: Kept) -> Result<Self, Self::Error> {
        let Kept(hashes, without, inside, empty, signs, places, records, misplaced) = kept;
        let order = |place: &Place| (place.era, place.partition);
        let sorted = places
            .windows(2)
            .all(|pair| order(&pair[0]) < order(&pair[1]));
        let placed = places
            .iter()
            .try_fold(0_u64, |sum, place| sum.checked_add(place.records));
        let fits = placed.is_some_and(|placed| placed <= records) && misplaced <= records;
        if !sorted || !fits || places.is_empty() || places.len() > MAX_PLACES {
            return Err("a key whose records are on no partitions that they can be on");
        }
        Ok(Self {
            traits: Box::new(Traits {
                hashes,
                without,
                inside,
                empty,
                signs,
            }),
            places: places.into(),
            records,
            misplaced,
        })
    }
}

impl From<Place> for (Era, i32, u64) {
    fn from(place: Place) -> Self {
        (place.era, place.partition, place.records)
    }
}

impl From<(Era, i32, u64)> for Place {
    fn from((era, partition, records): (Era, i32, u64)) -> Self {
        Self {
            era,
            partition,
            records,
        }
    }
}

impl Key {
    /// Hashes the bytes of a key. No record of it is counted yet.
    pub(super) fn new(bytes: &[u8], signs: Signs) -> Self {
        let mut without = 0;
        let mut hashes = [0; HASHES.len()];
        for (at, (hash, place)) in HASHES.into_iter().zip(&mut hashes).enumerate() {
            match hash.of(bytes) {
                Some(hash) => *place = hash,
                None => without |= 1 << at,
            }
        }
        let inside = [Window::Time, Window::Session].map(|window| {
            let end = bytes.len().saturating_sub(window.suffix());
            Hash::Murmur2.of(&bytes[..end]).unwrap_or_default()
        });
        Self {
            traits: Box::new(Traits {
                hashes,
                without,
                inside,
                empty: bytes.is_empty(),
                signs,
            }),
            places: SmallVec::new(),
            records: 0,
            misplaced: 0,
        }
    }

    /// Counts a record. The highest places are the ones to go, and what is gone never returns, so the order of records
    /// does not matter.
    pub(super) fn add(&mut self, era: Era, partition: i32, misplaced: bool) {
        self.records += 1;
        self.misplaced += u64::from(misplaced);
        let order = |place: &Place| (place.era, place.partition).cmp(&(era, partition));
        match self.places.binary_search_by(order) {
            Ok(at) => self.places[at].records += 1,
            Err(at) if at < MAX_PLACES => {
                self.places.truncate(MAX_PLACES - 1);
                self.places.insert(
                    at,
                    Place {
                        era,
                        partition,
                        records: 1,
                    },
                );
            }
            Err(_) => {}
        }
    }

    /// Where a formula puts the key.
    pub(super) fn place(&self, formula: Formula, count: PartitionCount) -> Placement {
        let rule = if self.traits.empty {
            formula.empty
        } else {
            KeyRule::Hashed
        };
        match rule {
            KeyRule::Hashed => match self.hash(formula.hash) {
                Some(hash) => Placement::At(formula.reduction.reduce(hash, count)),
                None => Placement::Unknown,
            },
            KeyRule::First => Placement::At(0),
            KeyRule::Spread => Placement::Spread,
            KeyRule::Refused => Placement::Unknown,
        }
    }

    /// Where a formula over murmur2 puts the key inside a window.
    pub(super) fn place_inside(
        &self,
        window: Window,
        formula: Formula,
        count: PartitionCount,
    ) -> Placement {
        let [time, session] = self.traits.inside;
        let hash = match window {
            Window::Time => time,
            Window::Session => session,
        };
        Placement::At(formula.reduction.reduce(hash, count))
    }

    fn hash(&self, hash: Hash) -> Option<u32> {
        let at = HASHES.iter().position(|known| *known == hash)?;
        (self.traits.without & (1 << at) == 0).then_some(self.traits.hashes[at])
    }

    /// Whether it has no bytes.
    pub(super) fn is_empty(&self) -> bool {
        self.traits.empty
    }

    /// What its bytes look like.
    pub(super) fn signs(&self) -> &Signs {
        &self.traits.signs
    }

    /// The partitions on which it was seen, lowest first.
    pub(super) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Whether it was seen on several partitions at one count.
    pub(super) fn is_on_several(&self) -> bool {
        self.places
            .windows(2)
            .any(|pair| pair[0].era == pair[1].era)
            || self.forgotten() > 0
    }

    /// How many records lie on places that are not remembered.
    pub(super) fn forgotten(&self) -> u64 {
        let kept: u64 = self.places.iter().map(|place| place.records).sum();
        self.records - kept
    }

    /// At least how many records do not lie on the partition that has most of the key's records at that count. What is
    /// forgotten counts as if it lay there.
    pub(super) fn off_main(&self) -> u64 {
        let most = |era| {
            let of_era = self.places.iter().filter(move |place| place.era == era);
            of_era.map(|place| place.records).max().unwrap_or_default()
        };
        let main = most(Era::Before) + most(Era::Now) + self.forgotten();
        self.records.saturating_sub(main)
    }

    /// The partition with most of its records at the count of now; `None` without one, or if not all are remembered.
    pub(super) fn main_now(&self) -> Option<i32> {
        let now = self.places.iter().filter(|place| place.era == Era::Now);
        // Of equal ones the lowest partition.
        let main = now.max_by_key(|place| (place.records, std::cmp::Reverse(place.partition)))?;
        (self.forgotten() == 0).then_some(main.partition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_fills_one_cache_line_with_its_fingerprint() {
        assert_eq!(size_of::<(u128, Key)>(), 64);
    }
}
