//! Partitioners: from a key's bytes to the partition that a producer chooses.

use std::fmt;

use super::murmur2::murmur2;
use super::unsupported::UnsupportedName;

/// The partitioner names of the API. They are frozen: resources, status, the command line and the documentation
/// use them. A name stands here before its code does, so that a declared scheme which this version can't
/// compute is told from a typing error.
pub const PARTITIONER_NAMES: [&str; 13] = [
    "murmur2",
    "murmur2_unsigned",
    "crc32",
    "crc32_spread_empty",
    "fnv1a_abs",
    "fnv1a_positive",
    "fnv1a_unsigned",
    "kafkajs_legacy",
    "java_string_hash_abs",
    "java_string_hash_positive",
    "kafka_node_keyed",
    "xxhash32",
    "custom",
];

/// The names that have a variant of [`Partitioner`].
pub(super) const BUILT: [&str; 1] = ["murmur2"];

/// A number of partitions that a topic can have: 1 to `i32::MAX`. It can't be 0, so a remainder by it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionCount(i32);

impl PartitionCount {
    /// The count, or `None` below 1.
    pub const fn new(count: i32) -> Option<Self> {
        if count >= 1 { Some(Self(count)) } else { None }
    }

    /// The number of partitions, 1 or more.
    pub const fn get(self) -> i32 {
        self.0
    }
}

impl fmt::Display for PartitionCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where a partitioner puts a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placement {
    /// Always on this partition, 0 or more and below the count.
    At(i32),
    /// On any partition: at random, in turn or by load. Records with such a key are never co-partitioned.
    Spread,
}

/// The partition's number, or `spread`.
impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(partition) => partition.fmt(f),
            Self::Spread => f.write_str("spread"),
        }
    }
}

/// A partitioner, named by its whole formula and not by a client: clients change their defaults.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Partitioner {
    /// `murmur2`: Kafka's `MurmurHash2` with the sign bit masked, modulo the count. A null key is spread, an
    /// empty key is hashed. The default of the Java producer and with it of Kafka Streams and Kafka Connect.
    Murmur2,
}

impl Partitioner {
    /// Reads the name that resources use.
    pub(super) fn parse(name: &str) -> Result<Self, UnsupportedName> {
        match name {
            "murmur2" => Ok(Self::Murmur2),
            _ => Err(UnsupportedName::of(name, &BUILT, &PARTITIONER_NAMES)),
        }
    }

    /// The name that resources, status and the command line use.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Murmur2 => "murmur2",
        }
    }

    /// The partition of a key at a partition count. `None` is a record without a key, `Some` of no bytes an
    /// empty key: some partitioners treat them alike, most do not, so each decides for itself.
    pub fn partition(&self, key: Option<&[u8]>, count: PartitionCount) -> Placement {
        match (self, key) {
            // Java sends keyless records to a partition of the producer's own choosing (sticky, KIP-794).
            (Self::Murmur2, None) => Placement::Spread,
            (Self::Murmur2, Some(key)) => Placement::At(masked(murmur2(key), count)),
        }
    }
}

impl fmt::Display for Partitioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The reduction of Java's producer: clear the sign bit, then take the remainder. Clearing is not the absolute
/// value: the two differ for every negative hash.
///
/// Source: `BuiltInPartitioner.partitionForKey` in apache/kafka
/// (`clients/src/main/java/org/apache/kafka/clients/producer/internals/BuiltInPartitioner.java`), whose
/// `Utils.toPositive` is `number & 0x7fffffff`.
fn masked(hash: u32, count: PartitionCount) -> i32 {
    (hash & 0x7fff_ffff).cast_signed() % count.get()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn count(n: i32) -> PartitionCount {
        PartitionCount::new(n).unwrap()
    }

    #[test]
    fn a_count_is_at_least_one() {
        for refused in [0, -1, i32::MIN] {
            assert_eq!(PartitionCount::new(refused), None);
        }
        for accepted in [1, 6, i32::MAX] {
            assert_eq!(count(accepted).get(), accepted);
        }
        assert_eq!(count(6).to_string(), "6");
    }

    #[test]
    fn names_and_variants_agree() {
        for name in BUILT {
            assert_eq!(Partitioner::parse(name).unwrap().to_string(), name);
            assert!(PARTITIONER_NAMES.contains(&name));
        }
    }

    #[test]
    fn the_frozen_names_are_distinct() {
        let distinct: std::collections::BTreeSet<_> = PARTITIONER_NAMES.iter().collect();
        assert_eq!(distinct.len(), PARTITIONER_NAMES.len());
    }

    #[test]
    fn murmur2_spreads_a_null_key_and_hashes_an_empty_one() {
        let six = count(6);
        assert_eq!(Partitioner::Murmur2.partition(None, six), Placement::Spread);
        assert_eq!(
            Partitioner::Murmur2.partition(Some(b""), six),
            Placement::At(3)
        );
        assert_eq!(Placement::Spread.to_string(), "spread");
        assert_eq!(Placement::At(3).to_string(), "3");
    }

    #[test]
    fn the_sign_bit_is_masked_and_not_negated() {
        // 0xffffffff is -1: masked it is i32::MAX, negated it would be 1.
        assert_eq!(masked(0xffff_ffff, count(10)), 7);
        assert_eq!(masked(0x8000_0000, count(6)), 0);
        assert_eq!(masked(0x7fff_ffff, count(i32::MAX)), 0);
        assert_eq!(masked(0x7fff_fffe, count(i32::MAX)), i32::MAX - 1);
    }

    proptest! {
        #[test]
        fn a_partition_is_always_below_the_count(key: Vec<u8>, n in 1..=i32::MAX) {
            match Partitioner::Murmur2.partition(Some(&key), count(n)) {
                Placement::At(partition) => prop_assert!((0..n).contains(&partition)),
                Placement::Spread => prop_assert!(false, "a keyed record was spread"),
            }
        }

        #[test]
        fn one_partition_takes_every_key(key: Vec<u8>) {
            prop_assert_eq!(Partitioner::Murmur2.partition(Some(&key), count(1)), Placement::At(0));
        }
    }
}
