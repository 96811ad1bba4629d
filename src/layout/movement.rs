//! What moves when a topic's partition count changes.

use std::fmt;

use crate::keys::{EncodeError, KeyScheme, PartitionCount, Placement};

/// An exact share of a key space: at least 0 and below 1, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Share {
    numerator: u64,
    denominator: u64,
}

impl Share {
    /// How many of [`denominator`](Self::denominator) equal parts.
    pub const fn numerator(self) -> u64 {
        self.numerator
    }

    /// The number of equal parts, 1 or more.
    pub const fn denominator(self) -> u64 {
        self.denominator
    }

    /// Whether nothing moves.
    pub const fn is_zero(self) -> bool {
        self.numerator == 0
    }
}

/// In percent with at most one decimal, rounded half up: `75 %`, `33.3 %`. A share is never all of the key
/// space, so one that would round to `100 %` reads `> 99.9 %`.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (numerator, denominator) = (u128::from(self.numerator), u128::from(self.denominator));
        let tenths = (2 * 1000 * numerator + denominator) / (2 * denominator);
        match (tenths / 10, tenths % 10) {
            (100.., _) => f.write_str("> 99.9 %"),
            (percent, 0) => write!(f, "{percent} %"),
            (percent, tenth) => write!(f, "{percent}.{tenth} %"),
        }
    }
}

/// The share of the key space that changes its partition when the count goes `from` n `to` m:
/// 1 - min(n, m) / lcm(n, m).
///
/// It holds for every partitioner that takes a hash modulo the count. Over one period of lcm(n, m) hash values,
/// h mod n = h mod m = r forces h to be r itself (the Chinese remainder theorem), and r to be below both
/// counts: so min(n, m) values in each period stay. Exact up to the last, cut-off period of the hash's range.
pub fn moved_share(from: PartitionCount, to: PartitionCount) -> Share {
    let (from, to) = (wide(from), wide(to));
    let period = from / gcd(from, to) * to;
    let moved = period - from.min(to);
    let common = gcd(moved, period);
    Share {
        numerator: moved / common,
        denominator: period / common,
    }
}

/// A count for multiplication: two of them multiplied stay below 2^62.
fn wide(count: PartitionCount) -> u64 {
    // A count is positive, so its absolute value is the count itself.
    u64::from(count.get().unsigned_abs())
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A key whose partition changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The logical key.
    pub key: String,
    /// Where it lies at the old count.
    pub from: Placement,
    /// Where it lies at the new count.
    pub to: Placement,
}

/// `BBCA 0 -> 2`.
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} -> {}", self.key, self.from, self.to)
    }
}

/// Those of `keys` that change their partition when the count goes `from` one `to` another, in the order given.
/// A key that is spread at both counts has no partition to change.
///
/// # Errors
/// [`EncodeError`] for the first key that is no value of the scheme's encoding.
pub fn moves(
    scheme: &KeyScheme,
    keys: &[String],
    from: PartitionCount,
    to: PartitionCount,
) -> Result<Vec<Move>, EncodeError> {
    let mut moves = Vec::new();
    for key in keys {
        let bytes = scheme.encoding.encode(key)?;
        let at = |count| scheme.partitioner.partition(Some(&bytes), count);
        let (from, to) = (at(from), at(to));
        if from != to {
            moves.push(Move {
                key: key.clone(),
                from,
                to,
            });
        }
    }
    Ok(moves)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::keys::{Encoding, Partitioner};

    fn count(n: i32) -> PartitionCount {
        PartitionCount::new(n).unwrap()
    }

    fn share(from: i32, to: i32) -> Share {
        moved_share(count(from), count(to))
    }

    fn murmur2_moves(keys: &[&str], from: i32, to: i32) -> Vec<Move> {
        let scheme = KeyScheme {
            encoding: Encoding::UTF8,
            partitioner: Partitioner::Murmur2,
        };
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        moves(&scheme, &keys, count(from), count(to)).unwrap()
    }

    #[test]
    fn shares_print_as_exact_percentages() {
        for (from, to, text) in [
            (6, 8, "75 %"),
            (6, 12, "50 %"),
            (6, 6, "0 %"),
            (1, 1, "0 %"),
            (6, 9, "66.7 %"),
            (2, 3, "66.7 %"),
            (8, 12, "66.7 %"),
            (6, 7, "85.7 %"),
            (15, 16, "93.8 %"), // 93.75: half goes up
            (1, 1000, "99.9 %"),
            (1, 1999, "99.9 %"),
            (1, 2000, "> 99.9 %"), // 99.95 would round to 100
            (i32::MAX - 1, i32::MAX, "> 99.9 %"),
            (i32::MAX, i32::MAX, "0 %"),
        ] {
            assert_eq!(share(from, to).to_string(), text, "{from} -> {to}");
        }
        // Below one half: no growth moves so little, but the type can hold it.
        let third = Share {
            numerator: 1,
            denominator: 3,
        };
        assert_eq!(third.to_string(), "33.3 %");
    }

    #[test]
    fn shares_are_in_lowest_terms() {
        let share = share(6, 8);
        assert_eq!((share.numerator(), share.denominator()), (3, 4));
        assert!(!share.is_zero());
        assert!(moved_share(count(6), count(6)).is_zero());
    }

    #[test]
    fn the_share_is_what_counting_residues_gives() {
        for from in 1..=30_i32 {
            for to in 1..=30_i32 {
                // from * to is a multiple of the period, so whole periods are counted.
                let all = u64::from((from * to).unsigned_abs());
                let moved = (0..from * to)
                    .filter(|hash| hash % from != hash % to)
                    .count();
                let share = share(from, to);
                assert_eq!(
                    share.numerator() * all,
                    u64::try_from(moved).unwrap() * share.denominator(),
                    "{from} -> {to}"
                );
            }
        }
    }

    /// The formula against counting keys, for every partitioner: 20,000 keys tell a share to about one percent.
    #[test]
    fn the_share_is_what_counting_keys_gives_for_every_partitioner() {
        let keys: Vec<String> = (0..20_000).map(|key| format!("key-{key}")).collect();
        for partitioner in Partitioner::COMPUTED {
            let scheme = KeyScheme {
                encoding: Encoding::UTF8,
                partitioner,
            };
            for (from, to) in [(6, 8), (6, 12), (1, 3), (7, 100)] {
                let moved = moves(&scheme, &keys, count(from), count(to)).unwrap();
                let share = share(from, to);
                let expected = 20_000 * share.numerator() / share.denominator();
                let seen = u64::try_from(moved.len()).unwrap();
                assert!(
                    seen.abs_diff(expected) < 250,
                    "{scheme} {from} -> {to}: {seen} moved, expected {expected}"
                );
            }
        }
    }

    #[test]
    fn only_keys_that_move_are_listed_in_their_order() {
        let keys = ["UNVR", "BBCA", "TLKM"];
        let texts = |from, to| -> Vec<String> {
            let moves = murmur2_moves(&keys, from, to);
            moves.iter().map(Move::to_string).collect()
        };
        assert_eq!(texts(6, 8), ["BBCA 0 -> 2", "TLKM 5 -> 1"]);
        assert_eq!(texts(6, 12), ["BBCA 0 -> 6"]);
        assert_eq!(texts(6, 6), [""; 0]);
    }

    proptest! {
        #[test]
        fn the_share_stays_in_range_and_does_not_depend_on_the_direction(
            from in 1..=i32::MAX,
            to in 1..=i32::MAX,
        ) {
            let there = share(from, to);
            prop_assert!(there.numerator() < there.denominator());
            prop_assert_eq!(there.is_zero(), from == to);
            prop_assert_eq!(there, share(to, from));
        }

        #[test]
        fn doubling_moves_a_key_to_its_partition_plus_the_old_count(key: String, from in 1..=10_000_i32) {
            for moved in murmur2_moves(&[&key], from, 2 * from) {
                let (Placement::At(old), Placement::At(new)) = (moved.from, moved.to) else {
                    return Err(TestCaseError::fail("a keyed record was spread"));
                };
                prop_assert_eq!(new, old + from);
            }
        }
    }
}
