//! Whether two schemes map every key alike.

use super::{Limit, Unprovable};
use crate::keys::{Encoding, Framing, Hash, KeyScheme, PartitionCount, Plain, Reduction};

/// What can be said of two schemes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// They map every key alike, within these limits.
    Alike(Vec<Limit>),
    /// Calculation can't tell.
    Unprovable(Unprovable),
    /// Their partitioners map the same bytes differently.
    Partitioners,
    /// The same logical key becomes different bytes.
    Encodings,
}

/// A scheme as one side of a comparison.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) scheme: &'a KeyScheme,
    /// Empty keys are spread: by the partitioner itself, or by a client that takes an empty key for none.
    pub(super) spreads_empty: bool,
}

/// Compares two schemes at a count; `None` if the count is not known.
pub(super) fn judge(x: Side<'_>, y: Side<'_>, count: Option<PartitionCount>) -> Judgement {
    let (a, b) = (x.scheme, y.scheme);
    // With one partition there is nothing to choose. Custom partitioners and schema ids are excepted: nothing is
    // said of what can't be calculated.
    let (Some(_), Some(_)) = (a.partitioner.formula(), b.partitioner.formula()) else {
        return Judgement::Unprovable(Unprovable::Custom);
    };
    let encodings = encodings(a.encoding, b.encoding);
    if let Bytes::Unprovable(why) = encodings {
        return Judgement::Unprovable(why);
    }
    let one = count.is_some_and(|count| count.get() == 1);
    let mut limits = Vec::new();
    match partitioners(x, y, count) {
        Places::Alike => {}
        Places::AlikeWithin(limit) => limits.push(limit),
        Places::Differently => return Judgement::Partitioners,
        Places::CountDecides => return Judgement::Unprovable(Unprovable::CountUnknown),
    }
    match encodings {
        Bytes::Same => {}
        Bytes::SameOfStreams => limits.push(Limit::WrittenByStreams),
        Bytes::Different | Bytes::SomeSame if one => limits.push(Limit::AtThisCount),
        Bytes::Different => return Judgement::Encodings,
        Bytes::SomeSame => return Judgement::Unprovable(Unprovable::Encodings),
        Bytes::Unprovable(why) => return Judgement::Unprovable(why),
    }
    limits.sort_unstable();
    limits.dedup();
    Judgement::Alike(limits)
}

/// What two encodings make of one logical key.
enum Bytes {
    Same,
    /// The bytes that are hashed are the same; one of them stands in a window of Kafka Streams.
    SameOfStreams,
    Different,
    /// The same for every text that both take as it is written, and different for other ways to write the same key.
    SomeSame,
    Unprovable(Unprovable),
}

fn encodings(a: Encoding, b: Encoding) -> Bytes {
    let framed = |encoding: Encoding| matches!(encoding.framing, Framing::Prefix(_));
    let (x, y) = (a.hashed(), b.hashed());
    // Equal ids are equal bytes; of other ids only the registry knows what they will be tomorrow.
    if (framed(x) || framed(y)) && (x != y || !x.is_computed()) {
        return Bytes::Unprovable(Unprovable::SchemaIds);
    }
    if x == y {
        return if a.window == b.window {
            Bytes::Same
        } else {
            Bytes::SameOfStreams
        };
    }
    match (x.plain, y.plain) {
        // A UUID is its own text only in lower case, and JSON text is text if the producer of text writes JSON.
        (Plain::Utf8, Plain::Uuid | Plain::Json) | (Plain::Uuid | Plain::Json, Plain::Utf8) => {
            Bytes::SomeSame
        }
        _ => Bytes::Different,
    }
}

/// What two partitioners do with the same bytes.
enum Places {
    Alike,
    AlikeWithin(Limit),
    Differently,
    /// Alike at some counts, and the count is not known.
    CountDecides,
}

fn partitioners(x: Side<'_>, y: Side<'_>, count: Option<PartitionCount>) -> Places {
    let [a, b] = [x, y].map(|side| side.scheme.partitioner.formula());
    let (Some(a), Some(b)) = (a, b) else {
        return Places::Differently;
    };
    if a.hash == b.hash && a.reduction == b.reduction {
        return match count {
            _ if x.spreads_empty == y.spreads_empty => Places::Alike,
            // Even a spread key has no choice.
            Some(count) if count.get() == 1 => Places::AlikeWithin(Limit::AtThisCount),
            _ => Places::AlikeWithin(Limit::NotEmptyKeys),
        };
    }
    match count {
        Some(count) if alike_at((a.hash, a.reduction), (b.hash, b.reduction), count) => {
            Places::AlikeWithin(Limit::AtThisCount)
        }
        Some(_) => Places::Differently,
        None => Places::CountDecides,
    }
}

/// Whether two reductions of one hash give the same partition for all of its values at a count.
///
/// Let m be the low 31 bits of a hash whose sign bit is set. Masked it is m, unsigned m + 2^31, and its absolute value
/// 2^31 - m. So masked and unsigned agree for all hashes exactly if the count divides 2^31; the absolute value agrees
/// with them only if the count divides 2m for every m, which leaves 1 and 2. The variants that make an exception of one
/// value agree with another one only at 1.
fn alike_at(a: (Hash, Reduction), b: (Hash, Reduction), count: PartitionCount) -> bool {
    use Reduction::{Absolute, Masked, Unsigned};
    let n = count.get().unsigned_abs();
    if n == 1 {
        return true;
    }
    if a.0 != b.0 {
        return false;
    }
    match (a.1, b.1) {
        (Masked, Unsigned) | (Unsigned, Masked) => n.is_power_of_two(),
        (Absolute, Masked | Unsigned) | (Masked | Unsigned, Absolute) => n == 2,
        _ => false,
    }
}
