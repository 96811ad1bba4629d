//! Encodings: from the logical key that people write to the bytes that a producer's serializer sends.
//!
//! An encoding is a [`Plain`] one, perhaps framed by a schema registry, perhaps in a window of Kafka Streams:
//! `utf8`, `confluent:7:avro_string`, `windowed:utf8`.

mod plain;

use std::borrow::Cow;
use std::fmt;

use super::unsupported::{UnsupportedName, quoted};
pub use plain::Plain;

/// How a logical key becomes bytes. A partitioner sees nothing but these bytes, so the same logical key under
/// another encoding is another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Encoding {
    /// The window around the key, if Kafka Streams wrote it.
    pub window: Option<Window>,
    /// What a schema registry's serializer adds.
    pub framing: Framing,
    /// The encoding of the key itself.
    pub plain: Plain,
}

/// The window that Kafka Streams appends to the key of a windowed aggregation. Its `WindowedStreamPartitioner` hashes
/// the key without it, so the window has no influence on the partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Window {
    /// Time windows: 8 bytes of the start follow the key (`TimeWindowedSerializer`).
    Time,
    /// Session windows: 8 bytes of the end and 8 of the start follow the key (`SessionWindowedSerializer`).
    Session,
}

impl Window {
    /// How many bytes follow the key.
    pub const fn suffix(self) -> usize {
        match self {
            Self::Time => 8,
            Self::Session => 16,
        }
    }
}

/// What the serializers of Confluent's schema registry add to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Framing {
    /// Nothing.
    None,
    /// A zero byte and the schema's id as 4 bytes, big-endian, before the key: they are hashed with it. The registry
    /// gives ids as schemas are registered, so an id that was not declared is not known.
    Prefix(Option<u32>),
    /// The schema's id goes into a record header (`HeaderSchemaIdSerializer`), so the key's bytes are the plain ones.
    Header,
}

const CONFLUENT: &str = "confluent";
const CONFLUENT_HEADER: &str = "confluent_header";
const WINDOWED: &str = "windowed";
const SESSION_WINDOWED: &str = "session_windowed";

impl Encoding {
    /// UTF-8 text, what Kafka's `StringSerializer` sends by default.
    pub const UTF8: Self = Self::plain(Plain::Utf8);

    /// A plain encoding.
    pub const fn plain(plain: Plain) -> Self {
        Self {
            window: None,
            framing: Framing::None,
            plain,
        }
    }

    /// Reads the name that resources use.
    ///
    /// # Errors
    /// [`UnsupportedName`] says what may stand there.
    pub fn parse(name: &str) -> Result<Self, UnsupportedName> {
        let unknown = || UnsupportedName::encoding(name);
        let (window, rest) = match name.split_once(':') {
            Some((WINDOWED, rest)) => (Some(Window::Time), rest),
            Some((SESSION_WINDOWED, rest)) => (Some(Window::Session), rest),
            _ => (None, name),
        };
        let (framing, rest) = match rest.split_once(':') {
            Some((CONFLUENT_HEADER, rest)) => (Framing::Header, rest),
            Some((CONFLUENT, rest)) => match rest.split_once(':') {
                // Ids are positive i32 in the registry's API.
                Some((id, rest)) => match id.parse::<i32>() {
                    Ok(id) if id > 0 => (Framing::Prefix(Some(id.unsigned_abs())), rest),
                    _ => return Err(unknown()),
                },
                None => (Framing::Prefix(None), rest),
            },
            _ => (Framing::None, rest),
        };
        let plain = Plain::parse(rest).ok_or_else(unknown)?;
        Ok(Self {
            window,
            framing,
            plain,
        })
    }

    /// The names that [`Encoding::parse`] reads, with `ID` for a schema id and `E` for a plain encoding.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Plain::ALL.into_iter().map(Plain::name).chain([
            "confluent:ID:E",
            "confluent:E",
            "confluent_header:E",
            "windowed:E",
            "session_windowed:E",
        ])
    }

    /// Whether the bytes of a key can be told: not where a registry's id is part of them and is not declared.
    pub const fn is_computed(self) -> bool {
        !matches!(self.framing, Framing::Prefix(None))
    }

    /// Whether the bytes are the UTF-8 of some text.
    pub const fn is_text(self) -> bool {
        !matches!(self.framing, Framing::Prefix(_))
            && matches!(
                self.plain,
                Plain::Utf8 | Plain::Uuid | Plain::Json | Plain::JsonString
            )
    }

    /// The encoding of the bytes that are hashed: without a window, and without a header, which are not part of them.
    #[must_use]
    pub const fn hashed(self) -> Self {
        Self {
            window: None,
            framing: match self.framing {
                Framing::Header => Framing::None,
                framing => framing,
            },
            plain: self.plain,
        }
    }

    /// The bytes of a logical key that are hashed; of a windowed key those before the window. Borrowed where they are
    /// the text's own, so that a file of millions of keys is not copied.
    ///
    /// # Errors
    /// [`EncodeError`] if the text is no value of this encoding, or the bytes cannot be told.
    #[inline]
    pub fn encode<'a>(&self, logical: &'a str) -> Result<Cow<'a, [u8]>, EncodeError> {
        let refused = |expected| EncodeError {
            encoding: *self,
            key: logical.to_owned(),
            expected,
        };
        let bytes = self.plain.encode(logical).map_err(refused)?;
        match self.framing {
            Framing::None | Framing::Header => Ok(bytes),
            Framing::Prefix(Some(id)) => {
                let mut framed = Vec::with_capacity(5 + bytes.len());
                framed.push(0);
                framed.extend_from_slice(&id.to_be_bytes());
                framed.extend_from_slice(&bytes);
                Ok(Cow::Owned(framed))
            }
            Framing::Prefix(None) => Err(refused(
                "the registry's schema id, which is part of the key: declare confluent:ID:ENCODING",
            )),
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.window {
            Some(Window::Time) => write!(f, "{WINDOWED}:")?,
            Some(Window::Session) => write!(f, "{SESSION_WINDOWED}:")?,
            None => {}
        }
        match self.framing {
            Framing::None => {}
            Framing::Prefix(Some(id)) => write!(f, "{CONFLUENT}:{id}:")?,
            Framing::Prefix(None) => write!(f, "{CONFLUENT}:")?,
            Framing::Header => write!(f, "{CONFLUENT_HEADER}:")?,
        }
        f.write_str(self.plain.name())
    }
}

/// A logical key that is no value of the declared encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// The encoding that refused it.
    pub encoding: Encoding,
    /// The key as it was declared.
    pub key: String,
    /// What the encoding expects, to follow "expected": "a whole number of 64 bits".
    pub expected: &'static str,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            encoding,
            key,
            expected,
        } = self;
        let key = quoted(key);
        write!(
            f,
            "key {key} has no {encoding} encoding: expected {expected}"
        )
    }
}

impl std::error::Error for EncodeError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(encoding: &str, key: &str) -> String {
        let encoding = Encoding::parse(encoding).unwrap();
        let bytes = encoding.encode(key).unwrap();
        data_encoding::HEXLOWER.encode(&bytes)
    }

    fn refusal(encoding: &str, key: &str) -> String {
        let encoding = Encoding::parse(encoding).unwrap();
        encoding.encode(key).unwrap_err().to_string()
    }

    #[test]
    fn names_read_back() {
        for name in [
            "utf8",
            "avro_long",
            "confluent:avro_string",
            "confluent:7:avro_string",
            "confluent_header:json",
            "windowed:utf8",
            "session_windowed:confluent:2147483647:avro_long",
        ] {
            assert_eq!(Encoding::parse(name).unwrap().to_string(), name);
        }
        for name in [
            "",
            "confluent",
            "confluent:",
            "confluent:0:utf8",
            "confluent:-1:utf8",
            "confluent:2147483648:utf8",
            "confluent:x:utf8",
            "windowed",
            "windowed:windowed:utf8",
            "confluent:7:windowed:utf8",
            "utf8:",
        ] {
            assert!(Encoding::parse(name).is_err(), "{name:?}");
        }
    }

    /// Recorded from the real serializers: Kafka's own, Connect's converters and Confluent's Avro serializer.
    #[test]
    fn bytes_are_those_of_the_real_serializers() {
        for (encoding, key, hex) in [
            ("utf8", "BBCA", "42424341"),
            ("utf8", "é", "c3a9"),
            ("int16", "42", "002a"),
            ("int32", "42", "0000002a"),
            ("int64", "42", "000000000000002a"),
            ("int64", "-1", "ffffffffffffffff"),
            ("float64", "42.0", "4045000000000000"),
            (
                "uuid",
                "550E8400-e29b-41d4-a716-446655440000",
                "35353065383430302d653239622d343164342d613731362d343436363535343430303030",
            ),
            (
                "uuid_bytes",
                "550e8400-e29b-41d4-a716-446655440000",
                "550e8400e29b41d4a716446655440000",
            ),
            ("hex", "80FF00fe", "80ff00fe"),
            ("base64", "gP8A/g==", "80ff00fe"),
            ("json", "{\"id\":42}", "7b226964223a34327d"),
            ("json_string", "BBCA", "224242434122"),
            ("avro_string", "BBCA", "0842424341"),
            ("confluent_header:avro_string", "BBCA", "0842424341"),
            ("confluent:1:avro_string", "BBCA", "00000000010842424341"),
            (
                "confluent:100042:avro_string",
                "BBCA",
                "00000186ca0842424341",
            ),
            ("windowed:utf8", "BBCA", "42424341"),
            ("session_windowed:utf8", "BBCA", "42424341"),
        ] {
            assert_eq!(bytes(encoding, key), hex, "{encoding} {key}");
        }
    }

    #[test]
    fn a_refusal_says_what_was_expected() {
        for (encoding, key, says) in [
            (
                "int32",
                "abc",
                "key \"abc\" has no int32 encoding: expected a whole number",
            ),
            ("int32", "2147483648", "-2147483648 to 2147483647"),
            ("windowed:int64", "1.5", "no windowed:int64 encoding"),
            (
                "confluent:avro_string",
                "BBCA",
                "declare confluent:ID:ENCODING",
            ),
        ] {
            let said = refusal(encoding, key);
            assert!(said.contains(says), "{said}");
        }
    }

    #[test]
    fn a_long_key_is_cut_in_a_refusal() {
        let said = refusal("int32", &"9".repeat(1_000_000));
        assert!(said.len() < 300, "{}", said.len());
    }

    #[test]
    fn what_is_hashed_has_no_window_and_no_header() {
        for (name, hashed) in [
            ("windowed:utf8", "utf8"),
            ("confluent_header:avro_string", "avro_string"),
            ("session_windowed:confluent:7:json", "confluent:7:json"),
            ("int64", "int64"),
        ] {
            assert_eq!(Encoding::parse(name).unwrap().hashed().to_string(), hashed);
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_an_encoding_panic(key: String, at in 0..Plain::ALL.len()) {
            let _ = Encoding::plain(Plain::ALL[at]).encode(&key);
        }

        #[test]
        fn no_name_makes_reading_panic(name in "[a-z0-9_:]{0,40}") {
            if let Ok(encoding) = Encoding::parse(&name) {
                prop_assert_eq!(Encoding::parse(&encoding.to_string()), Ok(encoding));
            }
        }
    }
}
