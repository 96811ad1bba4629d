//! The thresholds of the judge. A key's partition is a calculation and no matter of chance, so one record in the wrong
//! place is wrong for certain; the thresholds say when it is more than a stray, which somebody sent by hand.

/// How many distinct keys of one topic are remembered, unless the caller sets another bound. A key takes about 200
/// bytes, so 100,000 take 20 MB.
pub const MAX_KEYS: usize = 100_000;

/// How many partitions of one key are remembered, those before a growth and those since together. A key that is hashed
/// lies on one at each count, and on two if two producers disagree.
pub(super) const MAX_PLACES: usize = 16;

/// Above which partition count records are not counted for each partition. It is beyond what a cluster carries.
pub(super) const MAX_HISTOGRAM: i32 = 200_000;

/// The share of records, or of keys, above which misplaced ones are a mismatch and unkeyed ones make a topic unkeyed.
pub const TOLERATED: f64 = 0.02;

/// How many of something there have to be before their share counts: a single one is a stray.
pub const AT_LEAST: u64 = 2;

/// How many distinct keys it takes to say that a topic fits. With fewer, what was seen fits so far.
pub const MIN_KEYS: u64 = 20;

/// The decimal logarithm of the greatest chance with which a scheme may fit without being the one that was used. The
/// chance is that of hashes that have nothing to do with each other. Those of one family have, and FNV-1a and Java's
/// `String.hashCode` at two partitions: where such ones can't be told apart by the keys seen, all that fit are named.
pub const LOG10_CHANCE: f64 = -9.0;

/// The share of misplaced keys that another scheme has to explain where two producers disagree. It is below that of a
/// scheme on its own, because strays are all among the misplaced ones.
pub const MIXTURE: f64 = 0.9;

/// The share of keys in quotes from which on they are taken for JSON strings. Text itself may begin and end with a
/// quote, but hardly most of it.
pub const QUOTED: f64 = 0.5;

/// Whether a part of a whole is more than strays.
pub(super) fn too_many(part: u64, whole: u64) -> bool {
    part >= AT_LEAST && share(part, whole) > TOLERATED
}

/// A part of a whole, 0 to 1; nothing of nothing is 0.
// Counts beyond 2^52 would lose a digit that nobody looks at.
#[allow(clippy::cast_precision_loss)]
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// How many misplaced records of a single key are no strays any more.
pub const MIN_RECORDS: u64 = 20;
