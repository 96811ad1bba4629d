//! `MurmurHash2` of 32 bits as Kafka uses it.
//!
//! Source of the formula: `org.apache.kafka.common.utils.Utils.murmur2` in apache/kafka
//! (`clients/src/main/java/org/apache/kafka/common/utils/Utils.java`). Java's `int` and Rust's `u32` hold the
//! same bits here: multiplication wraps in both, and Java's shifts are the logical ones (`>>>`).

/// Kafka's constants; the seed is what makes this flavour differ from other `MurmurHash2` libraries.
const SEED: u32 = 0x9747_b28c;
const M: u32 = 0x5bd1_e995;
const R: u32 = 24;

/// The hash of a key's bytes, as the bits of Java's `int`.
#[inline]
pub(super) fn murmur2(key: &[u8]) -> u32 {
    // A record with a key of 4 GiB can't exist (Kafka's lengths are positive i32), so saturating loses nothing.
    let length = u32::try_from(key.len()).unwrap_or(u32::MAX);
    let mut hash = SEED ^ length;

    let (blocks, tail) = key.as_chunks::<4>();
    for block in blocks {
        let mut k = u32::from_le_bytes(*block).wrapping_mul(M);
        k ^= k >> R;
        hash = hash.wrapping_mul(M) ^ k.wrapping_mul(M);
    }

    // Java falls through a switch here; that equals one little-endian word of the 1 to 3 bytes that are left. Written out
    // by length, since copying a slice of unknown length costs as much as all the rest does for a short key.
    let last = match *tail {
        [a] => Some([a, 0, 0, 0]),
        [a, b] => Some([a, b, 0, 0]),
        [a, b, c] => Some([a, b, c, 0]),
        _ => None,
    };
    if let Some(last) = last {
        hash = (hash ^ u32::from_le_bytes(last)).wrapping_mul(M);
    }

    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ (hash >> 15)
}
