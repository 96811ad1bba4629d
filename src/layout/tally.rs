//! How many keys lie on each partition.

use std::fmt;

use crate::keys::{PartitionCount, Placement};

/// The keys of each partition, counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    per_partition: Vec<u64>,
    spread: u64,
    unknown: u64,
}

impl Tally {
    /// No keys yet. Takes 8 bytes for each partition.
    pub fn new(count: PartitionCount) -> Self {
        // A positive i32 fits an index on targets of 32 bits and more, the only ones with a Kafka client.
        let partitions = usize::try_from(count.get()).unwrap_or(usize::MAX);
        Self {
            per_partition: vec![0; partitions],
            spread: 0,
            unknown: 0,
        }
    }

    /// Counts one key.
    #[inline]
    pub fn add(&mut self, placement: Placement) {
        let place = match placement {
            Placement::At(partition) => {
                let at = usize::try_from(partition).unwrap_or(usize::MAX);
                self.per_partition.get_mut(at)
            }
            Placement::Spread => Some(&mut self.spread),
            Placement::Unknown => Some(&mut self.unknown),
        };
        if let Some(place) = place {
            *place += 1;
        }
    }

    /// The number of partitions, 1 or more.
    pub fn partitions(&self) -> i32 {
        i32::try_from(self.per_partition.len()).unwrap_or(i32::MAX)
    }

    /// How many keys lie on each partition, from partition 0 on.
    pub fn per_partition(&self) -> &[u64] {
        &self.per_partition
    }

    /// How many keys are spread, and so lie on no partition of their own.
    pub fn spread(&self) -> u64 {
        self.spread
    }

    /// Of how many keys no formula tells the partition.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    /// How many keys were counted.
    pub fn keys(&self) -> u64 {
        self.placed() + self.spread + self.unknown
    }

    /// The partitions without a key, in order.
    pub fn empty(&self) -> impl Iterator<Item = i32> {
        let counts = (0..).zip(&self.per_partition);
        counts.filter(|(_, keys)| **keys == 0).map(|(at, _)| at)
    }

    /// How uneven the keys lie; `None` if none has a partition.
    pub fn skew(&self) -> Option<Skew> {
        let placed = self.placed();
        (placed > 0).then(|| Skew {
            fullest: self.per_partition.iter().copied().max().unwrap_or_default(),
            partitions: u64::try_from(self.per_partition.len()).unwrap_or(u64::MAX),
            placed,
        })
    }

    fn placed(&self) -> u64 {
        self.per_partition.iter().sum()
    }
}

/// The keys of the fullest partition over those of an even share: 1 is even, the number of partitions means that all
/// keys lie on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skew {
    fullest: u64,
    partitions: u64,
    placed: u64,
}

/// With two decimals, rounded half up: `2.40`.
impl fmt::Display for Skew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (fullest, partitions) = (u128::from(self.fullest), u128::from(self.partitions));
        let placed = u128::from(self.placed);
        let hundredths = (200 * fullest * partitions + placed) / (2 * placed);
        write!(f, "{}.{:02}", hundredths / 100, hundredths % 100)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tally(count: i32, placements: &[Placement]) -> Tally {
        let mut tally = Tally::new(PartitionCount::new(count).unwrap());
        for placement in placements {
            tally.add(*placement);
        }
        tally
    }

    #[test]
    fn keys_are_counted_where_they_lie() {
        use Placement::{At, Spread, Unknown};
        let tally = tally(4, &[At(0), At(0), At(2), Spread, Unknown, Spread]);
        assert_eq!(tally.partitions(), 4);
        assert_eq!(tally.per_partition(), [2, 0, 1, 0]);
        assert_eq!((tally.spread(), tally.unknown(), tally.keys()), (2, 1, 6));
        assert_eq!(tally.empty().collect::<Vec<_>>(), [1, 3]);
        assert_eq!(tally.skew().unwrap().to_string(), "2.67");
    }

    #[test]
    fn skew_is_one_if_even_and_the_count_if_all_lie_on_one() {
        use Placement::{At, Spread};
        let skew = |count, placements: &[Placement]| {
            tally(count, placements).skew().map(|skew| skew.to_string())
        };
        assert_eq!(skew(2, &[At(0), At(1)]).as_deref(), Some("1.00"));
        assert_eq!(skew(6, &[At(5), At(5)]).as_deref(), Some("6.00"));
        assert_eq!(skew(6, &[Spread]), None);
        assert_eq!(skew(1, &[]), None);
    }

    proptest! {
        #[test]
        fn every_key_is_counted_once(placements in prop::collection::vec(0..20_i32, 0..200)) {
            let placed: Vec<Placement> = placements.iter().map(|at| Placement::At(*at)).collect();
            let tally = tally(20, &placed);
            prop_assert_eq!(tally.keys(), u64::try_from(placements.len()).unwrap());
            prop_assert_eq!(
                tally.empty().count(),
                tally.per_partition().iter().filter(|keys| **keys == 0).count()
            );
        }
    }
}
