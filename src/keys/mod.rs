//! Key schemes: from a logical key to the bytes that a producer sends, and from those bytes to a partition.
//!
//! Two topics are co-partitioned only if the same logical key becomes the same bytes (the [`Encoding`]) and
//! the same bytes go to the same partition number (the [`Partitioner`]). So a scheme is the pair of both, and
//! a partitioner is named by its whole formula: hash, reduction to a partition, and what becomes of a null and
//! of an empty key. Clients that share a hash but not the rest disagree.
//!
//! This folder is pure: nothing in it reads a clock, the environment or a socket.

mod encoding;
mod murmur2;
mod partitioner;
mod unsupported;

#[cfg(test)]
mod vectors;

use std::fmt;

pub use encoding::{EncodeError, Encoding};
pub use partitioner::{PARTITIONER_NAMES, PartitionCount, Partitioner, Placement};
pub use unsupported::{UnsupportedName, UnsupportedScheme, Why};

/// How a topic's producers turn a logical key into a partition.
///
/// Two topics whose schemes are equal place every non-null key alike at equal partition counts. It is not
/// `Copy`: a custom partitioner carries its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyScheme {
    /// From the logical key to its bytes.
    pub encoding: Encoding,
    /// From the bytes to a partition.
    pub partitioner: Partitioner,
}

impl KeyScheme {
    /// Reads a scheme from the two names of a `keyScheme`, as a resource spells them. Names are exact: `UTF-8`
    /// or `Murmur2` are refused, with the right spelling in the error.
    ///
    /// # Errors
    /// [`UnsupportedScheme`] names every part that is unknown or not built yet, both at once if need be.
    pub fn parse(encoding: &str, partitioner: &str) -> Result<Self, UnsupportedScheme> {
        match (Encoding::parse(encoding), Partitioner::parse(partitioner)) {
            (Ok(encoding), Ok(partitioner)) => Ok(Self {
                encoding,
                partitioner,
            }),
            (encoding, partitioner) => Err(UnsupportedScheme {
                encoding: encoding.err(),
                partitioner: partitioner.err(),
            }),
        }
    }
}

/// `encoding/partitioner`, as status and the command line print it: `utf8/murmur2`.
impl fmt::Display for KeyScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.encoding, self.partitioner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_prints_as_it_is_declared() {
        let scheme = KeyScheme::parse("utf8", "murmur2").unwrap();
        assert_eq!(scheme.to_string(), "utf8/murmur2");
        assert_eq!(
            scheme,
            KeyScheme {
                encoding: Encoding::Utf8,
                partitioner: Partitioner::Murmur2,
            }
        );
    }

    #[test]
    fn an_unknown_part_is_named_with_what_may_stand_there() {
        let error = KeyScheme::parse("utf8", "murmur3").unwrap_err();
        assert_eq!(error.encoding, None);
        assert_eq!(
            error.to_string(),
            "partitioner \"murmur3\" is not known; use murmur2"
        );
        let error = KeyScheme::parse("latin1", "murmur2").unwrap_err();
        assert_eq!(error.partitioner, None);
        assert_eq!(
            error.to_string(),
            "encoding \"latin1\" is not known; use utf8"
        );
    }

    #[test]
    fn a_known_partitioner_that_is_not_built_is_told_from_a_typing_error() {
        for name in PARTITIONER_NAMES
            .into_iter()
            .filter(|name| *name != "murmur2")
        {
            let error = KeyScheme::parse("utf8", name).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "partitioner \"{name}\" is known, but this version of the operator does not support it yet; \
                     use murmur2, or leave keyScheme out to have partition counts checked only"
                )
            );
        }
    }

    #[test]
    fn both_parts_are_reported_at_once() {
        let error = KeyScheme::parse("", "crc32").unwrap_err();
        assert_eq!(
            error.encoding.as_ref().map(|part| part.why.clone()),
            Some(Why::Unknown)
        );
        assert_eq!(
            error.partitioner.as_ref().map(|part| part.why.clone()),
            Some(Why::NotBuiltYet)
        );
        let text = error.to_string();
        assert!(
            text.starts_with(
                "encoding \"\" is not known; use utf8. Partitioner \"crc32\" is known, but"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_near_miss_gets_the_right_spelling() {
        for (encoding, partitioner) in [("UTF-8", "Murmur2"), ("Utf_8", " murmur-2")] {
            let error = KeyScheme::parse(encoding, partitioner).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "encoding {encoding:?} is not known; write it as utf8. \
                     Partitioner {partitioner:?} is not known; write it as murmur2"
                )
            );
        }
    }

    #[test]
    fn a_near_miss_of_a_name_that_is_not_built_does_not_send_the_author_there() {
        let error = KeyScheme::parse("utf8", "CRC-32").unwrap_err();
        assert_eq!(
            error.partitioner.map(|part| part.why),
            Some(Why::NotBuiltYet)
        );
    }

    #[test]
    fn a_name_from_outside_is_printed_escaped_and_cut() {
        let error = KeyScheme::parse("a\nb", &"x".repeat(1000)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("\"a\\nb\""), "{text}");
        assert!(text.len() < 250, "{text}");
    }
}
