//! From a hash of 32 bits to a partition. Clients that share a hash differ here, in what they do with its sign bit.

use std::fmt;

use super::PartitionCount;

/// How a hash is brought down to a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reduction {
    /// The sign bit is cleared, then the remainder taken. Clearing is not the absolute value: the two differ for
    /// every negative hash. Source: `Utils.toPositive` in apache/kafka, as `BuiltInPartitioner` uses it.
    Masked,
    /// The remainder of the hash as an unsigned number. Source: `rd_kafka_msg_partitioner_consistent` in librdkafka.
    Unsigned,
    /// The remainder of the hash as a signed number, then its absolute value. Of the smallest integer that is
    /// 2^31 modulo the count. Source: `hashPartitioner.Partition` in sarama.
    Absolute,
    /// As [`Reduction::Absolute`], but the smallest integer counts as 0. Source: `PartitionHandler` in Spring Cloud Stream.
    AbsoluteMinZero,
    /// As [`Reduction::Masked`], but the largest integer counts as 0. Source: `PartitionRouting` in Debezium.
    MaskedMaxZero,
    /// As [`Reduction::Masked`], but 0 counts as 1. Source: `KeyedPartitioner` in kafka-node.
    MaskedZeroOne,
}

impl Reduction {
    /// The partition, 0 or more and below the count.
    #[inline]
    pub fn reduce(self, hash: u32, count: PartitionCount) -> i32 {
        let masked = hash & 0x7fff_ffff;
        let value = match self {
            Self::Unsigned => hash,
            // The absolute value of a truncated remainder is the remainder of the absolute value.
            Self::Absolute => hash.cast_signed().unsigned_abs(),
            Self::AbsoluteMinZero => match hash.cast_signed() {
                i32::MIN => 0,
                signed => signed.unsigned_abs(),
            },
            Self::MaskedMaxZero if masked == 0x7fff_ffff => 0,
            Self::MaskedZeroOne if masked == 0 => 1,
            Self::Masked | Self::MaskedMaxZero | Self::MaskedZeroOne => masked,
        };
        count.remainder(value)
    }

    /// The formula, where `h` is the hash and `n` the count.
    pub fn formula(self) -> &'static str {
        match self {
            Self::Masked => "(h & 0x7fffffff) mod n",
            Self::Unsigned => "h mod n, unsigned",
            Self::Absolute => "|h| mod n, signed",
            Self::AbsoluteMinZero => "|h| mod n, signed; -2^31 counts as 0",
            Self::MaskedMaxZero => "(h & 0x7fffffff) mod n; 0x7fffffff counts as 0",
            Self::MaskedZeroOne => "(h & 0x7fffffff) mod n; 0 counts as 1",
        }
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.formula())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reduction_at_the_edges() {
        use Reduction::{
            Absolute, AbsoluteMinZero, Masked, MaskedMaxZero, MaskedZeroOne, Unsigned,
        };
        for (reduction, hash, n, partition) in [
            (Masked, 0xffff_ffff, 10, 7),
            (Masked, 0x8000_0000, 6, 0),
            (Masked, 0x7fff_ffff, i32::MAX, 0),
            (Masked, 0x7fff_fffe, i32::MAX, i32::MAX - 1),
            (Unsigned, 0xffff_ffff, 10, 5),
            (Unsigned, 0xffff_ffff, i32::MAX, 1),
            (Absolute, 0xffff_ffff, 10, 1),
            // 2^31 modulo n, as librdkafka and sarama were seen to do.
            (Absolute, 0x8000_0000, 3, 2),
            (Absolute, 0x8000_0000, 5, 3),
            (Absolute, 0x8000_0000, 12, 8),
            (Absolute, 0x8000_0000, i32::MAX, 1),
            (AbsoluteMinZero, 0x8000_0000, 5, 0),
            (AbsoluteMinZero, 0x8000_0001, i32::MAX, 0),
            (AbsoluteMinZero, 0xffff_ffff, 10, 1),
            (MaskedMaxZero, 0x7fff_ffff, 10, 0),
            (MaskedMaxZero, 0xffff_ffff, 10, 0),
            (MaskedMaxZero, 0xffff_fffe, 10, 6),
            (MaskedZeroOne, 0, 6, 1),
            (MaskedZeroOne, 0x8000_0000, 6, 1),
            (MaskedZeroOne, 0, 1, 0),
            (MaskedZeroOne, 7, 6, 1),
        ] {
            let count = PartitionCount::new(n).unwrap();
            assert_eq!(
                reduction.reduce(hash, count),
                partition,
                "{hash:x} at {n}: {reduction}"
            );
        }
    }
}
