//! Partitioners: from a key's bytes to the partition that a producer chooses.

use std::fmt;

use super::hash::Hash;
use super::reduction::Reduction;
use super::unsupported::UnsupportedName;

/// A number of partitions that a topic can have: 1 to `i32::MAX`. It can't be 0, so a remainder by it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionCount {
    count: i32,
    /// 2^64 over the count, rounded up, modulo 2^64.
    reciprocal: u64,
}

impl PartitionCount {
    /// The count, or `None` below 1.
    pub const fn new(count: i32) -> Option<Self> {
        if count < 1 {
            return None;
        }
        let reciprocal = (u64::MAX / count.unsigned_abs() as u64).wrapping_add(1);
        Some(Self { count, reciprocal })
    }

    /// The number of partitions, 1 or more.
    pub const fn get(self) -> i32 {
        self.count
    }

    /// `value` modulo the count, by two multiplications: a division would take a third of the time of placing a key.
    /// Exact for all values of 32 bits (Lemire, Kaser and Kurz, "Faster remainder by direct computation", 2019).
    #[inline]
    pub(super) const fn remainder(self, value: u32) -> i32 {
        let fraction = self.reciprocal.wrapping_mul(value as u64) as u128;
        let remainder = (fraction * self.count.unsigned_abs() as u128) >> 64;
        // Below the count, which is a positive i32.
        #[allow(clippy::cast_possible_truncation)]
        let remainder = remainder as i32;
        remainder
    }
}

impl fmt::Display for PartitionCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.count.fmt(f)
    }
}

/// Where a partitioner puts a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placement {
    /// Always on this partition, 0 or more and below the count.
    At(i32),
    /// On any partition: at random, in turn or by load. Records with such a key are never co-partitioned.
    Spread,
    /// No formula tells: the partitioner is a custom one, it hashes text and these bytes are none, or the client
    /// refuses such a record.
    Unknown,
}

/// The partition's number, `spread` or `unknown`.
impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(partition) => partition.fmt(f),
            Self::Spread => f.write_str("spread"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

/// What a partitioner does with a key that has no bytes, or with a record that has no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyRule {
    /// Hashes it like any other key; a record without a key as an empty one.
    Hashed,
    /// Puts it on partition 0.
    First,
    /// Spreads it: it has no partition of its own.
    Spread,
    /// Refuses the record with an error.
    Refused,
}

/// The word that tables use.
impl fmt::Display for KeyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hashed => "hashed",
            Self::First => "partition 0",
            Self::Spread => "spread",
            Self::Refused => "refused",
        })
    }
}

/// A partitioner, named by its whole formula and not by a client: clients change their defaults.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Partitioner {
    /// `murmur2`: Kafka's `MurmurHash2` with the sign bit masked. The default of the Java producer and with it of
    /// Kafka Streams and Kafka Connect.
    Murmur2,
    /// `murmur2_unsigned`: the same hash without the mask. The default of @platformatic/kafka.
    Murmur2Unsigned,
    /// `crc32`: CRC-32, an empty key hashed too. librdkafka's `consistent`.
    Crc32,
    /// `crc32_spread_empty`: CRC-32, but an empty key is spread. librdkafka's default, `consistent_random`.
    Crc32SpreadEmpty,
    /// `fnv1a_abs`: the absolute value of FNV-1a. The default of sarama.
    Fnv1aAbs,
    /// `fnv1a_positive`: FNV-1a with the sign bit masked. sarama's `NewReferenceHashPartitioner`.
    Fnv1aPositive,
    /// `fnv1a_unsigned`: FNV-1a as it is. franz-go's `SaramaHasher` on 64-bit machines.
    Fnv1aUnsigned,
    /// `kafkajs_legacy`: the default of KafkaJS before 2.0.
    KafkajsLegacy,
    /// `java_string_hash_abs`: the absolute value of `String.hashCode`. Spring Cloud Stream's partition keys.
    JavaStringHashAbs,
    /// `java_string_hash_positive`: `String.hashCode` with the sign bit masked. Debezium's `PartitionRouting`.
    JavaStringHashPositive,
    /// `kafka_node_keyed`: the keyed partitioner of kafka-node.
    KafkaNodeKeyed,
    /// `xxhash32`: xxHash32 with seed 0. The default of the Rust crate kafka.
    Xxhash32,
    /// `custom:NAME`: somebody's own. It has a name to be compared by and no formula.
    Custom(String),
}

/// A loop that places many keys: see [`Partitioner::specialised`].
pub trait PlacingLoop {
    /// What comes of it.
    type Output;

    /// The loop, with the function that places a key's bytes.
    fn run(self, place: impl Fn(&[u8]) -> Placement) -> Self::Output;
}

/// The formula of a partitioner that has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formula {
    /// The hash of the key's bytes.
    pub hash: Hash,
    /// From the hash to a partition.
    pub reduction: Reduction,
    /// What becomes of an empty key.
    pub empty: KeyRule,
    /// What becomes of a record without a key, as a rule; some settings of clients differ.
    pub null: KeyRule,
}

impl Partitioner {
    /// Those that have a formula, in the order of the documentation.
    pub const COMPUTED: [Self; 12] = [
        Self::Murmur2,
        Self::Murmur2Unsigned,
        Self::Crc32,
        Self::Crc32SpreadEmpty,
        Self::Fnv1aAbs,
        Self::Fnv1aPositive,
        Self::Fnv1aUnsigned,
        Self::KafkajsLegacy,
        Self::JavaStringHashAbs,
        Self::JavaStringHashPositive,
        Self::KafkaNodeKeyed,
        Self::Xxhash32,
    ];

    /// Reads the name that resources use; a custom partitioner is `custom:NAME`.
    ///
    /// # Errors
    /// [`UnsupportedName`] says what may stand there.
    pub fn parse(name: &str) -> Result<Self, UnsupportedName> {
        match name.split_once(':') {
            Some(("custom", own)) if !own.is_empty() => Ok(Self::Custom(own.to_owned())),
            _ => Self::COMPUTED
                .into_iter()
                .find(|partitioner| partitioner.name() == name)
                .ok_or_else(|| UnsupportedName::partitioner(name)),
        }
    }

    /// The name that resources, status and the command line use. They are frozen.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Murmur2 => "murmur2",
            Self::Murmur2Unsigned => "murmur2_unsigned",
            Self::Crc32 => "crc32",
            Self::Crc32SpreadEmpty => "crc32_spread_empty",
            Self::Fnv1aAbs => "fnv1a_abs",
            Self::Fnv1aPositive => "fnv1a_positive",
            Self::Fnv1aUnsigned => "fnv1a_unsigned",
            Self::KafkajsLegacy => "kafkajs_legacy",
            Self::JavaStringHashAbs => "java_string_hash_abs",
            Self::JavaStringHashPositive => "java_string_hash_positive",
            Self::KafkaNodeKeyed => "kafka_node_keyed",
            Self::Xxhash32 => "xxhash32",
            Self::Custom(_) => "custom",
        }
    }

    /// The formula; `None` for a custom partitioner.
    #[inline]
    pub const fn formula(&self) -> Option<Formula> {
        use KeyRule::{Hashed, Refused, Spread};
        let (hash, reduction, empty, null) = match self {
            Self::Murmur2 => (Hash::Murmur2, Reduction::Masked, Hashed, Spread),
            Self::Murmur2Unsigned => (Hash::Murmur2, Reduction::Unsigned, Hashed, Spread),
            Self::Crc32 => (Hash::Crc32, Reduction::Unsigned, Hashed, Spread),
            Self::Crc32SpreadEmpty => (Hash::Crc32, Reduction::Unsigned, Spread, Spread),
            Self::Fnv1aAbs => (Hash::Fnv1a, Reduction::Absolute, Hashed, Spread),
            Self::Fnv1aPositive => (Hash::Fnv1a, Reduction::Masked, Hashed, Spread),
            Self::Fnv1aUnsigned => (Hash::Fnv1a, Reduction::Unsigned, Hashed, Spread),
            Self::KafkajsLegacy => (Hash::KafkajsLegacy, Reduction::Masked, Hashed, Spread),
            Self::JavaStringHashAbs => (
                Hash::JavaString,
                Reduction::AbsoluteMinZero,
                Hashed,
                Refused,
            ),
            // The router hashes a field of the record's value, which cannot be missing.
            Self::JavaStringHashPositive => {
                (Hash::JavaString, Reduction::MaskedMaxZero, Hashed, Refused)
            }
            Self::KafkaNodeKeyed => (Hash::JavaString, Reduction::MaskedZeroOne, Hashed, Hashed),
            // Its only client sends a record with an empty key as one without a key.
            Self::Xxhash32 => (Hash::Xxhash32, Reduction::Unsigned, Spread, Spread),
            Self::Custom(_) => return None,
        };
        Some(Formula {
            hash,
            reduction,
            empty,
            null,
        })
    }

    /// Runs a loop over many keys at a partition count, compiled for each partitioner anew: to choose the formula for
    /// each key takes a third of the time of placing it.
    pub fn specialised<L: PlacingLoop>(&self, count: PartitionCount, body: L) -> L::Output {
        macro_rules! each {
            ($($name:ident),+) => {
                match self {
                    $(Self::$name => {
                        const FORMULA: Option<Formula> = Partitioner::$name.formula();
                        body.run(|key| match FORMULA {
                            Some(formula) => formula.partition(Some(key), count),
                            None => Placement::Unknown,
                        })
                    })+
                    Self::Custom(_) => body.run(|_| Placement::Unknown),
                }
            };
        }
        each!(
            Murmur2,
            Murmur2Unsigned,
            Crc32,
            Crc32SpreadEmpty,
            Fnv1aAbs,
            Fnv1aPositive,
            Fnv1aUnsigned,
            KafkajsLegacy,
            JavaStringHashAbs,
            JavaStringHashPositive,
            KafkaNodeKeyed,
            Xxhash32
        )
    }

    /// The partition of a key at a partition count. `None` is a record without a key, `Some` of no bytes an
    /// empty key: some partitioners treat them alike, most do not, so each decides for itself.
    #[inline]
    pub fn partition(&self, key: Option<&[u8]>, count: PartitionCount) -> Placement {
        match self.formula() {
            Some(formula) => formula.partition(key, count),
            None => Placement::Unknown,
        }
    }
}

impl Formula {
    /// As [`Partitioner::partition`], for whoever places many keys by one formula, or by one whose rules a client changes.
    // Always, so that a formula known at compile time leaves nothing of the choices.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub fn partition(&self, key: Option<&[u8]>, count: PartitionCount) -> Placement {
        let rule = match key {
            None => self.null,
            Some([]) => self.empty,
            Some(_) => KeyRule::Hashed,
        };
        match rule {
            KeyRule::Hashed => match self.hash.of(key.unwrap_or_default()) {
                Some(hash) => Placement::At(self.reduction.reduce(hash, count)),
                None => Placement::Unknown,
            },
            KeyRule::First => Placement::At(0),
            KeyRule::Spread => Placement::Spread,
            KeyRule::Refused => Placement::Unknown,
        }
    }
}

/// The name; of a custom partitioner `custom:NAME`, as [`Partitioner::parse`] reads it.
impl fmt::Display for Partitioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Custom(own) => write!(f, "custom:{own}"),
            _ => f.write_str(self.name()),
        }
    }
}

#[cfg(test)]
mod tests;
