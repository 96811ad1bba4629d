//! The hashes of 32 bits that producers take of a key.

mod kafkajs_legacy;
mod murmur2;

use std::fmt;

use crc::{CRC_32_ISO_HDLC, Crc, Table};
use twox_hash::XxHash32;

/// A hash of 32 bits. What a partitioner makes of the sign bit is the business of its reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hash {
    /// `MurmurHash2` with Kafka's seed.
    Murmur2,
    /// What KafkaJS before 2.0 took for `MurmurHash2`.
    KafkajsLegacy,
    /// The CRC-32 of zlib and IEEE 802.3; not the CRC-32C of Kafka's record batches.
    Crc32,
    /// FNV-1a.
    Fnv1a,
    /// Java's `String.hashCode`. It hashes text, so bytes that are no UTF-8 have none.
    JavaString,
    /// xxHash32 with seed 0.
    Xxhash32,
}

/// zlib's parameters are those of the catalogue's CRC-32/ISO-HDLC (librdkafka's `rdcrc32.c` states the same).
static CRC32: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC);

impl Hash {
    /// The hash of a key's bytes; `None` if it hashes text and these bytes are none.
    #[inline]
    pub fn of(self, key: &[u8]) -> Option<u32> {
        match self {
            Self::Murmur2 => Some(murmur2::murmur2(key)),
            Self::KafkajsLegacy => Some(kafkajs_legacy::kafkajs_legacy(key)),
            Self::Crc32 => Some(CRC32.checksum(key)),
            Self::Fnv1a => Some(fnv1a(key)),
            Self::JavaString => java_string(key),
            Self::Xxhash32 => Some(XxHash32::oneshot(0, key)),
        }
    }

    /// The name, as `explain` prints it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Murmur2 => "murmur2",
            Self::KafkajsLegacy => "kafkajs_legacy",
            Self::Crc32 => "crc32",
            Self::Fnv1a => "fnv1a",
            Self::JavaString => "java_string_hash",
            Self::Xxhash32 => "xxhash32",
        }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// FNV-1a of 32 bits (draft-eastlake-fnv, section 2: offset basis and prime of the 32-bit variant).
fn fnv1a(key: &[u8]) -> u32 {
    key.iter().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

/// `java.lang.String.hashCode`: `s[0]*31^(n-1) + ... + s[n-1]` over the UTF-16 units, wrapping (Java SE API, String).
fn java_string(key: &[u8]) -> Option<u32> {
    let text = str::from_utf8(key).ok()?;
    Some(text.encode_utf16().fold(0, |hash: u32, unit| {
        hash.wrapping_mul(31).wrapping_add(u32::from(unit))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_check_values() {
        // The check value of the CRC catalogue, and the offset basis that the FNV draft starts from.
        assert_eq!(Hash::Crc32.of(b"123456789"), Some(0xcbf4_3926));
        assert_eq!(Hash::Fnv1a.of(b""), Some(0x811c_9dc5));
        // From the FNV draft's own test vectors.
        assert_eq!(Hash::Fnv1a.of(b"a"), Some(0xe40c_292c));
        assert_eq!(Hash::Fnv1a.of(b"foobar"), Some(0xbf9c_f968));
        // xxHash's specification: the empty input with seed 0.
        assert_eq!(Hash::Xxhash32.of(b""), Some(0x02cc_5d05));
    }

    #[test]
    fn two_short_keys_have_the_smallest_integer_as_fnv1a() {
        for key in ["3wujz9a", "gq3p75b"] {
            assert_eq!(Hash::Fnv1a.of(key.as_bytes()), Some(0x8000_0000), "{key}");
        }
    }

    /// Recorded from the JDK (`String.hashCode`).
    #[test]
    fn java_hashes_utf16_units() {
        for (text, hash) in [
            ("BBCA", 2_031_774),
            ("", 0),
            ("a", 97),
            ("giberish123456789", -1_960_470_940),
            ("user-42", -147_182_656),
            ("日本語", 25_921_943),
            ("é", 233),
            ("😀", 1_772_899),
            ("key with spaces", -1_885_319_034),
        ] {
            let wanted = i32::cast_unsigned(hash);
            assert_eq!(Hash::JavaString.of(text.as_bytes()), Some(wanted), "{text}");
        }
        assert_eq!(Hash::JavaString.of(&[0xff, 0xfe]), None);
    }
}
