//! What KafkaJS before 2.0 took for `MurmurHash2`, and its `LegacyPartitioner` still does.
//!
//! Two faults make it differ from Kafka's (tulios/kafkajs#357; `src/producer/partitioners/legacy/murmur2.js` in that
//! repository), and both have to be kept to place keys as those producers do:
//!
//! - the number of whole blocks is not rounded down, so a key whose length is no multiple of four has one block more,
//!   padded with zeros, before its last bytes are mixed in once more;
//! - numbers are JavaScript's: a product of two values of 32 bits is a double, rounded above 2^53, and only the next
//!   bitwise operator cuts it to 32 bits.

const SEED: i32 = 0x9747_b28c_u32.cast_signed();
const M: f64 = 1_540_483_477.0; // 0x5bd1e995

/// The hash of a key's bytes, as the bits of JavaScript's 32-bit integer.
pub(super) fn kafkajs_legacy(key: &[u8]) -> u32 {
    let byte = |at: usize| key.get(at).copied().map_or(0, i32::from);
    // A record with a key of 2 GiB can't exist, so saturating loses nothing.
    let length = i32::try_from(key.len()).unwrap_or(i32::MAX);
    let mut hash = f64::from(SEED ^ length);

    for block in 0..key.len().div_ceil(4) {
        let at = block * 4;
        let word = byte(at) + (byte(at + 1) << 8) + (byte(at + 2) << 16);
        // Signed as in JavaScript: `<< 24` of a byte above 0x7f is negative.
        let mut k = (f64::from(word) + f64::from(byte(at + 3) << 24)) * M;
        k = f64::from(to_int32(k) ^ logical_shift(k, 24).cast_signed());
        k *= M;
        hash *= M;
        hash = f64::from(to_int32(hash) ^ to_int32(k));
    }

    let whole = key.len() & !3;
    let tail = key.len() % 4;
    if tail > 2 {
        hash = f64::from(to_int32(hash) ^ (byte(whole + 2) << 16));
    }
    if tail > 1 {
        hash = f64::from(to_int32(hash) ^ (byte(whole + 1) << 8));
    }
    if tail > 0 {
        hash = f64::from(to_int32(hash) ^ byte(whole));
        hash *= M;
    }

    hash = f64::from(to_int32(hash) ^ logical_shift(hash, 13).cast_signed());
    hash *= M;
    (to_int32(hash) ^ logical_shift(hash, 15).cast_signed()).cast_unsigned()
}

/// ECMAScript's `ToInt32`: the integer modulo 2^32, as two's complement. All values here are whole and below 2^63 in
/// magnitude (32 bits by 31), so the conversion to `i64` is exact.
fn to_int32(value: f64) -> i32 {
    #[allow(clippy::cast_possible_truncation)]
    let whole = value as i64;
    #[allow(clippy::cast_possible_truncation)]
    let low = whole as i32;
    low
}

/// ECMAScript's `>>>`.
fn logical_shift(value: f64, bits: u32) -> u32 {
    to_int32(value).cast_unsigned() >> bits
}
