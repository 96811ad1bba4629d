//! Whether the declared schemes of a group's topics map every key alike.

use crate::keys::KeyScheme;

/// A topic with its declared scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicScheme {
    /// The topic's name.
    pub topic: String,
    /// Its scheme.
    pub scheme: KeyScheme,
}

/// What the declared schemes of some topics say together. It speaks of declarations only: whether producers
/// keep to them is for the judge of sampled records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemesVerdict {
    /// Every topic declares this scheme.
    Same(KeyScheme),
    /// These topics, sorted by name, declare none, and those that do agree. Empty only if no topic was given.
    NotDeclared {
        /// The names of the topics without a scheme.
        topics: Vec<String>,
    },
    /// Two topics use different partitioners, and perhaps different encodings too.
    PartitionerMismatch {
        /// The first topic by name that declares a scheme.
        a: TopicScheme,
        /// The first topic by name that differs from it.
        b: TopicScheme,
    },
    /// Two topics use the same partitioner on different bytes.
    EncodingMismatch {
        /// The first topic by name that declares a scheme.
        a: TopicScheme,
        /// The first topic by name that differs from it.
        b: TopicScheme,
    },
}

/// Compares the schemes that topics declare, each given by topic name with its own scheme or the group's.
///
/// Topics are looked at by name, so that the verdict does not change when the list is reordered. A mismatch
/// outweighs a missing declaration: it stands whatever the missing ones turn out to be.
pub fn compare(schemes: &[(&str, Option<&KeyScheme>)]) -> SchemesVerdict {
    let mut sorted = schemes.to_vec();
    sorted.sort_unstable();
    let declared: Vec<(&str, &KeyScheme)> = sorted
        .iter()
        .filter_map(|(topic, scheme)| scheme.map(|scheme| (*topic, scheme)))
        .collect();

    let parts: Vec<_> = declared
        .iter()
        .map(|(_, scheme)| (&scheme.partitioner, &scheme.encoding))
        .collect();
    if let Some((at, part)) = first_mismatch(&parts) {
        let [a, b] = [0, at].map(|at| TopicScheme {
            topic: declared[at].0.to_owned(),
            scheme: declared[at].1.clone(),
        });
        return match part {
            Part::Partitioner => SchemesVerdict::PartitionerMismatch { a, b },
            Part::Encoding => SchemesVerdict::EncodingMismatch { a, b },
        };
    }
    match declared.first() {
        Some((_, scheme)) if declared.len() == sorted.len() => {
            SchemesVerdict::Same((*scheme).clone())
        }
        _ => not_declared(&sorted),
    }
}

fn not_declared(sorted: &[(&str, Option<&KeyScheme>)]) -> SchemesVerdict {
    SchemesVerdict::NotDeclared {
        topics: sorted
            .iter()
            .filter(|(_, scheme)| scheme.is_none())
            .map(|(topic, _)| (*topic).to_owned())
            .collect(),
    }
}

/// The part of two schemes that differs; the partitioner if both do, because no change of a serializer alone
/// would bring the topics together then.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Partitioner,
    Encoding,
}

/// The first of `schemes` that differs from the very first one, by position, and in what. Looking at the first
/// one only is enough: if all equal it, they equal each other.
///
/// Generic over both parts, so that the rule is tested apart from how many of each are built.
fn first_mismatch<P: PartialEq, E: PartialEq>(schemes: &[(P, E)]) -> Option<(usize, Part)> {
    let (partitioner, encoding) = schemes.first()?;
    schemes.iter().enumerate().find_map(|(at, other)| {
        if other.0 != *partitioner {
            Some((at, Part::Partitioner))
        } else if other.1 != *encoding {
            Some((at, Part::Encoding))
        } else {
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Encoding, Partitioner};

    const SCHEME: KeyScheme = KeyScheme {
        encoding: Encoding::Utf8,
        partitioner: Partitioner::Murmur2,
    };

    fn not_declared_by(topics: &[&str]) -> SchemesVerdict {
        SchemesVerdict::NotDeclared {
            topics: topics.iter().map(|topic| (*topic).to_owned()).collect(),
        }
    }

    #[test]
    fn equal_schemes_are_the_same() {
        assert_eq!(
            compare(&[("a", Some(&SCHEME))]),
            SchemesVerdict::Same(SCHEME)
        );
        assert_eq!(
            compare(&[("b", Some(&SCHEME)), ("a", Some(&SCHEME))]),
            SchemesVerdict::Same(SCHEME)
        );
    }

    #[test]
    fn topics_without_a_scheme_are_named_in_order() {
        assert_eq!(
            compare(&[("c", None), ("b", Some(&SCHEME)), ("a", None)]),
            not_declared_by(&["a", "c"])
        );
        assert_eq!(compare(&[("a", None)]), not_declared_by(&["a"]));
        assert_eq!(compare(&[]), not_declared_by(&[]));
    }

    #[test]
    fn the_first_mismatch_is_found_with_the_partitioner_before_the_encoding() {
        let none: [(u8, &str); 0] = [];
        assert_eq!(first_mismatch(&none), None);
        assert_eq!(first_mismatch(&[(1, "x"), (1, "x")]), None);
        for (schemes, found) in [
            ([(1, "x"), (2, "x"), (1, "y")], (1, Part::Partitioner)),
            ([(1, "x"), (1, "y"), (2, "x")], (1, Part::Encoding)),
            ([(1, "x"), (2, "y"), (1, "x")], (1, Part::Partitioner)),
            ([(1, "x"), (1, "x"), (1, "y")], (2, Part::Encoding)),
        ] {
            assert_eq!(first_mismatch(&schemes), Some(found), "{schemes:?}");
        }
    }
}
