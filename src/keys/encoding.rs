//! Encodings: from the logical key that people write to the bytes that a producer's serializer sends.

use std::borrow::Cow;
use std::fmt;

use super::unsupported::UnsupportedName;

/// How a logical key becomes bytes. A partitioner sees nothing but these bytes, so the same logical key under
/// another encoding is another key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Encoding {
    /// The text's UTF-8 bytes: no quotes, no length, no terminator and no Unicode normalisation, so `é` as one
    /// code point and as two are different keys. What Kafka's `StringSerializer` sends by default.
    Utf8,
}

/// The names of all encodings that this version knows.
pub(super) const NAMES: [&str; 1] = ["utf8"];

impl Encoding {
    /// Reads the name that resources use.
    pub(super) fn parse(name: &str) -> Result<Self, UnsupportedName> {
        match name {
            "utf8" => Ok(Self::Utf8),
            _ => Err(UnsupportedName::of(name, &NAMES, &NAMES)),
        }
    }

    /// The name that resources, status and the command line use.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Utf8 => "utf8",
        }
    }

    /// The bytes of a logical key. Borrowed where the bytes are the text's own, so that a file of millions of
    /// keys is not copied.
    ///
    /// # Errors
    /// [`EncodeError`] if the text is no value of this encoding. UTF-8 takes any text; an encoding of whole
    /// numbers does not.
    pub fn encode<'a>(&self, logical: &'a str) -> Result<Cow<'a, [u8]>, EncodeError> {
        match self {
            Self::Utf8 => Ok(Cow::Borrowed(logical.as_bytes())),
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
        write!(
            f,
            "key {key:?} has no {encoding} encoding: expected {expected}"
        )
    }
}

impl std::error::Error for EncodeError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_variants_agree() {
        for name in NAMES {
            assert_eq!(Encoding::parse(name).unwrap().to_string(), name);
        }
    }

    #[test]
    fn utf8_is_the_text_itself() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("BBCA", b"BBCA"),
            ("a\0b", b"a\0b"),
            ("日本語", b"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"),
            ("\u{e9}", b"\xc3\xa9"),
            ("e\u{301}", b"e\xcc\x81"),
        ] {
            assert_eq!(Encoding::Utf8.encode(text).unwrap(), bytes, "{text:?}");
        }
    }

    #[test]
    fn a_refusal_says_what_was_expected() {
        let error = EncodeError {
            encoding: Encoding::Utf8,
            key: "x".to_owned(),
            expected: "text",
        };
        assert_eq!(
            error.to_string(),
            "key \"x\" has no utf8 encoding: expected text"
        );
    }
}
