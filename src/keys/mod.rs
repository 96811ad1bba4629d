//! Key schemes: from a logical key to the bytes that a producer sends, and from those bytes to a partition.
//!
//! Two topics are co-partitioned only if the same logical key becomes the same bytes (the [`Encoding`]) and
//! the same bytes go to the same partition number (the [`Partitioner`]). So a scheme is the pair of both, and
//! a partitioner is named by its whole formula: hash, reduction to a partition, and what becomes of a null and
//! of an empty key. Clients that share a hash but not the rest disagree; which client uses what is in [`clients`].
//!
//! This folder is pure: nothing in it reads a clock, the environment or a socket.

pub mod clients;
mod encoding;
mod hash;
mod partitioner;
mod reduction;
mod unsupported;

#[cfg(test)]
mod vectors;

use std::fmt;

pub use encoding::{EncodeError, Encoding, Framing, Plain, Window};
pub use hash::Hash;
pub use partitioner::{Formula, KeyRule, PartitionCount, Partitioner, Placement, PlacingLoop};
pub use reduction::Reduction;
pub use unsupported::{UnsupportedName, UnsupportedScheme, Why};

/// How a topic's producers turn a logical key into a partition.
///
/// It is not `Copy`: a custom partitioner carries its name.
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
    /// [`UnsupportedScheme`] names every part that is unknown, both at once if need be, or says why the two do
    /// not go together.
    pub fn parse(encoding: &str, partitioner: &str) -> Result<Self, UnsupportedScheme> {
        match (Encoding::parse(encoding), Partitioner::parse(partitioner)) {
            (Ok(encoding), Ok(partitioner)) => Self::of(encoding, partitioner),
            (encoding, partitioner) => Err(UnsupportedScheme::Names {
                encoding: encoding.err().map(Box::new),
                partitioner: partitioner.err().map(Box::new),
            }),
        }
    }

    /// The scheme of two parts.
    ///
    /// # Errors
    /// [`UnsupportedScheme`] if they do not go together.
    pub fn of(encoding: Encoding, partitioner: Partitioner) -> Result<Self, UnsupportedScheme> {
        let hash = partitioner.formula().map(|formula| formula.hash);
        if hash == Some(Hash::JavaString) && !encoding.is_text() {
            return Err(UnsupportedScheme::NotText {
                encoding,
                partitioner,
            });
        }
        let places_windowed = matches!(partitioner, Partitioner::Murmur2 | Partitioner::Custom(_));
        if encoding.window.is_some() && !places_windowed {
            return Err(UnsupportedScheme::Windowed { partitioner });
        }
        Ok(Self {
            encoding,
            partitioner,
        })
    }

    /// Whether the partition of a key can be computed: not by a custom partitioner, nor of bytes that carry a
    /// schema id which was not declared.
    pub fn is_computed(&self) -> bool {
        self.encoding.is_computed() && self.partitioner.formula().is_some()
    }

    /// Where a logical key lies.
    ///
    /// # Errors
    /// [`EncodeError`] if it is no value of the encoding.
    #[inline]
    pub fn place(&self, logical: &str, count: PartitionCount) -> Result<Placement, EncodeError> {
        let bytes = self.encoding.encode(logical)?;
        Ok(self.partitioner.partition(Some(&bytes), count))
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

    fn refusal(encoding: &str, partitioner: &str) -> String {
        let error = KeyScheme::parse(encoding, partitioner).unwrap_err();
        error.to_string()
    }

    #[test]
    fn a_scheme_prints_as_it_is_declared() {
        for (encoding, partitioner) in [
            ("utf8", "murmur2"),
            ("confluent:7:avro_string", "crc32_spread_empty"),
            ("windowed:int64", "murmur2"),
            ("utf8", "custom:by-region"),
        ] {
            let scheme = KeyScheme::parse(encoding, partitioner).unwrap();
            assert_eq!(scheme.to_string(), format!("{encoding}/{partitioner}"));
        }
    }

    #[test]
    fn an_unknown_part_is_named_with_what_may_stand_there() {
        let said = refusal("utf8", "murmur3");
        assert!(
            said.starts_with(
                "partitioner \"murmur3\" is not known; use murmur2, murmur2_unsigned, crc32,"
            ),
            "{said}"
        );
        assert!(said.ends_with("xxhash32, custom:NAME"), "{said}");
        let said = refusal("latin1", "murmur2");
        assert!(
            said.starts_with("encoding \"latin1\" is not known; use utf8, int16,"),
            "{said}"
        );
        assert!(said.ends_with("windowed:E, session_windowed:E"), "{said}");
    }

    #[test]
    fn both_parts_are_reported_at_once() {
        let said = refusal("", "crc64");
        assert!(said.contains("encoding \"\" is not known"), "{said}");
        assert!(
            said.contains(". Partitioner \"crc64\" is not known"),
            "{said}"
        );
    }

    #[test]
    fn a_near_miss_gets_the_right_spelling() {
        for (encoding, partitioner) in [("UTF-8", "Murmur2"), ("Utf_8", " murmur-2")] {
            assert_eq!(
                refusal(encoding, partitioner),
                format!(
                    "encoding {encoding:?} is not known; write it as utf8. \
                     Partitioner {partitioner:?} is not known; write it as murmur2"
                )
            );
        }
    }

    #[test]
    fn the_name_that_a_client_uses_leads_to_ours() {
        assert_eq!(
            refusal("utf8", "murmur2_random"),
            "partitioner \"murmur2_random\" is what librdkafka calls it; write murmur2"
        );
        assert_eq!(
            refusal("utf8", "consistent"),
            "partitioner \"consistent\" is what librdkafka calls it; write crc32"
        );
    }

    #[test]
    fn a_hash_of_text_needs_text() {
        assert!(KeyScheme::parse("utf8", "java_string_hash_abs").is_ok());
        assert!(KeyScheme::parse("uuid", "kafka_node_keyed").is_ok());
        for encoding in ["int32", "hex", "confluent:7:json", "avro_string"] {
            let said = refusal(encoding, "kafka_node_keyed");
            assert!(said.contains("hashes text"), "{said}");
        }
    }

    #[test]
    fn windowed_keys_are_placed_by_kafka_streams() {
        let said = refusal("windowed:utf8", "crc32");
        assert!(said.contains("not with crc32"), "{said}");
        assert!(KeyScheme::parse("session_windowed:utf8", "custom:mine").is_ok());
    }

    #[test]
    fn what_cannot_be_computed() {
        for (encoding, partitioner, computed) in [
            ("utf8", "murmur2", true),
            ("confluent:7:avro_string", "murmur2", true),
            ("confluent_header:avro_string", "murmur2", true),
            ("confluent:avro_string", "murmur2", false),
            ("utf8", "custom:mine", false),
        ] {
            let scheme = KeyScheme::parse(encoding, partitioner).unwrap();
            assert_eq!(scheme.is_computed(), computed, "{scheme}");
        }
    }

    #[test]
    fn a_name_from_outside_is_printed_escaped_and_cut() {
        let said = refusal("a\nb", &"x".repeat(1000));
        assert!(said.contains("\"a\\nb\""), "{said}");
        assert!(said.len() < 700, "{}", said.len());
    }
}
