//! The encodings of a key itself.

use std::borrow::Cow;

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use uuid::Uuid;

/// How a logical key becomes bytes, without anything around it. Named by what the bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Plain {
    /// The text's UTF-8 bytes: no quotes, no length, no terminator and no Unicode normalisation, so `é` as one
    /// code point and as two are different keys.
    Utf8,
    /// A whole number as 2 bytes, big-endian (`ShortSerializer`).
    Int16,
    /// A whole number as 4 bytes, big-endian (`IntegerSerializer`, `IntegerConverter`).
    Int32,
    /// A whole number as 8 bytes, big-endian (`LongSerializer`, `LongConverter`).
    Int64,
    /// A number as 8 bytes of IEEE 754, big-endian (`DoubleSerializer`).
    Float64,
    /// A UUID as its 36 characters in lower case (`UUIDSerializer`).
    Uuid,
    /// A UUID as its 16 bytes, in the order in which it is written.
    UuidBytes,
    /// Any bytes, written as hex digits.
    Hex,
    /// Any bytes, written in base64 (RFC 4648, section 4, with padding).
    Base64,
    /// JSON text as it stands: spaces, the order of fields and escapes are part of the key.
    Json,
    /// Text as a JSON string, in quotes and escaped as Jackson does it (Connect's `JsonConverter` without schemas).
    JsonString,
    /// Text as an Avro string: its length as a variable-length zig-zag number, then UTF-8.
    AvroString,
    /// A whole number as an Avro int or long, which have the same bytes: a variable-length zig-zag number.
    AvroLong,
}

impl Plain {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 13] = [
        Self::Utf8,
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::Float64,
        Self::Uuid,
        Self::UuidBytes,
        Self::Hex,
        Self::Base64,
        Self::Json,
        Self::JsonString,
        Self::AvroString,
        Self::AvroLong,
    ];

    /// The name that resources, status and the command line use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Float64 => "float64",
            Self::Uuid => "uuid",
            Self::UuidBytes => "uuid_bytes",
            Self::Hex => "hex",
            Self::Base64 => "base64",
            Self::Json => "json",
            Self::JsonString => "json_string",
            Self::AvroString => "avro_string",
            Self::AvroLong => "avro_long",
        }
    }

    /// What a logical key is and what its bytes are, in one line for people.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Utf8 => "text, as it is (Java's `StringSerializer`)",
            Self::Int16 => "a whole number, 2 bytes big-endian (`ShortSerializer`)",
            Self::Int32 => "a whole number, 4 bytes big-endian (`IntegerSerializer`)",
            Self::Int64 => "a whole number, 8 bytes big-endian (`LongSerializer`)",
            Self::Float64 => "a number, 8 bytes IEEE 754 big-endian (`DoubleSerializer`)",
            Self::Uuid => "a UUID, as 36 characters in lower case (`UUIDSerializer`)",
            Self::UuidBytes => "a UUID, as 16 bytes",
            Self::Hex => "any bytes, written in hex",
            Self::Base64 => "any bytes, written in base64",
            Self::Json => "JSON text, as it stands",
            Self::JsonString => {
                "text, as a JSON string in quotes (Connect's `JsonConverter` without schemas)"
            }
            Self::AvroString => "text, as an Avro string: length and UTF-8",
            Self::AvroLong => "a whole number, as an Avro int or long",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|plain| plain.name() == name)
    }

    /// The bytes of a logical key, or what was expected in its place.
    #[inline]
    pub(super) fn encode(self, logical: &str) -> Result<Cow<'_, [u8]>, &'static str> {
        let owned = |bytes: Vec<u8>| Ok(Cow::Owned(bytes));
        match self {
            Self::Utf8 => Ok(Cow::Borrowed(logical.as_bytes())),
            Self::Int16 => match logical.parse::<i16>() {
                Ok(number) => owned(number.to_be_bytes().into()),
                Err(_) => Err("a whole number from -32768 to 32767"),
            },
            Self::Int32 => match logical.parse::<i32>() {
                Ok(number) => owned(number.to_be_bytes().into()),
                Err(_) => Err("a whole number from -2147483648 to 2147483647"),
            },
            Self::Int64 => owned(long(logical)?.to_be_bytes().into()),
            Self::Float64 => owned(float(logical)?.to_be_bytes().into()),
            Self::Uuid => owned(uuid(logical)?.hyphenated().to_string().into_bytes()),
            Self::UuidBytes => owned(uuid(logical)?.into_bytes().into()),
            Self::Hex => match HEXLOWER_PERMISSIVE.decode(logical.as_bytes()) {
                Ok(bytes) => owned(bytes),
                Err(_) => Err("pairs of hex digits"),
            },
            Self::Base64 => match BASE64.decode(logical.as_bytes()) {
                Ok(bytes) => owned(bytes),
                Err(_) => Err("base64 with padding"),
            },
            Self::Json => match serde_json::from_str::<serde::de::IgnoredAny>(logical) {
                Ok(_) => Ok(Cow::Borrowed(logical.as_bytes())),
                Err(_) => Err(
                    "JSON text, in which a string stands in double quotes (json_string adds them)",
                ),
            },
            Self::JsonString => owned(json_string(logical)),
            Self::AvroString => {
                // A text's length fits i64: no allocation is larger than isize::MAX.
                let length = i64::try_from(logical.len()).unwrap_or(i64::MAX);
                let mut bytes = zig_zag(length);
                bytes.extend_from_slice(logical.as_bytes());
                owned(bytes)
            }
            Self::AvroLong => owned(zig_zag(long(logical)?)),
        }
    }
}

fn long(logical: &str) -> Result<i64, &'static str> {
    logical
        .parse()
        .map_err(|_| "a whole number from -9223372036854775808 to 9223372036854775807")
}

/// The bits of Java's `Double.doubleToLongBits`, which has one NaN only.
fn float(logical: &str) -> Result<u64, &'static str> {
    const EXPECTED: &str = "a number that 64 bits of IEEE 754 hold";
    const JAVA_NAN: u64 = 0x7ff8_0000_0000_0000;
    let number: f64 = logical.parse().map_err(|_| EXPECTED)?;
    if number.is_nan() {
        return Ok(JAVA_NAN);
    }
    // Digits that overflow would all become the one infinity; who means it writes `inf`.
    if number.is_infinite() && logical.contains(|letter: char| letter.is_ascii_digit()) {
        return Err(EXPECTED);
    }
    Ok(number.to_bits())
}

fn uuid(logical: &str) -> Result<Uuid, &'static str> {
    const EXPECTED: &str = "a UUID such as 550e8400-e29b-41d4-a716-446655440000";
    // The crate also reads forms with braces or without hyphens, which no serializer of keys writes.
    if logical.len() != 36 {
        return Err(EXPECTED);
    }
    Uuid::try_parse(logical).map_err(|_| EXPECTED)
}

/// A JSON string as Jackson's generator of bytes writes it: short escapes where JSON has them, upper-case hex for the
/// other control characters and for what lies outside the basic plane (as a surrogate pair), everything else as it is.
fn json_string(text: &str) -> Vec<u8> {
    let mut json = Vec::with_capacity(text.len() + 2);
    json.push(b'"');
    for letter in text.chars() {
        match letter {
            '"' => json.extend_from_slice(b"\\\""),
            '\\' => json.extend_from_slice(b"\\\\"),
            '\u{8}' => json.extend_from_slice(b"\\b"),
            '\t' => json.extend_from_slice(b"\\t"),
            '\n' => json.extend_from_slice(b"\\n"),
            '\u{c}' => json.extend_from_slice(b"\\f"),
            '\r' => json.extend_from_slice(b"\\r"),
            '\0'..' ' | '\u{1_0000}'.. => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    json.extend_from_slice(format!("\\u{unit:04X}").as_bytes());
                }
            }
            _ => json.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    json.push(b'"');
    json
}

/// A number as Avro writes it (Avro 1.12 specification, binary encoding): zig-zag, then 7 bits a byte, low ones first.
fn zig_zag(number: i64) -> Vec<u8> {
    let mut rest = ((number << 1) ^ (number >> 63)).cast_unsigned();
    let mut bytes = Vec::new();
    loop {
        // The low 7 bits fit a byte.
        #[allow(clippy::cast_possible_truncation)]
        let low = (rest & 0x7f) as u8;
        rest >>= 7;
        if rest == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf8_is_the_text_itself() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("a\0b", b"a\0b"),
            ("日本語", b"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"),
            ("\u{e9}", b"\xc3\xa9"),
            ("e\u{301}", b"e\xcc\x81"),
        ] {
            let encoded = Plain::Utf8.encode(text).unwrap();
            assert_eq!(encoded, bytes, "{text:?}");
            assert!(matches!(encoded, Cow::Borrowed(_)));
        }
    }

    #[test]
    fn numbers_have_their_ranges() {
        for (plain, fits, does_not) in [
            (Plain::Int16, "-32768", "32768"),
            (Plain::Int32, "-2147483648", "2147483648"),
            (Plain::Int64, "-9223372036854775808", "9223372036854775808"),
            (
                Plain::AvroLong,
                "9223372036854775807",
                "9223372036854775808",
            ),
            (Plain::Float64, "-1e308", "1e400"),
        ] {
            assert!(plain.encode(fits).is_ok(), "{fits}");
            for refused in [does_not, "", " 1", "1 ", "abc", "0x10", "1_000"] {
                assert!(
                    plain.encode(refused).is_err(),
                    "{} {refused:?}",
                    plain.name()
                );
            }
        }
        assert!(Plain::Int32.encode("1.0").is_err());
    }

    #[test]
    fn floats_have_one_nan_and_two_zeros() {
        let bits = |text| Plain::Float64.encode(text).unwrap().into_owned();
        assert_eq!(bits("NaN"), [0x7f, 0xf8, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bits("NaN"), bits("-NaN"));
        assert_eq!(bits("inf"), [0x7f, 0xf0, 0, 0, 0, 0, 0, 0]);
        assert_ne!(bits("0.0"), bits("-0.0"));
    }

    #[test]
    fn other_forms_are_refused() {
        for (plain, refused) in [
            (Plain::Uuid, "550e8400e29b41d4a716446655440000"),
            (Plain::Uuid, "{550e8400-e29b-41d4-a716-44665544000}"),
            (Plain::UuidBytes, "550e8400-e29b-41d4-a716-44665544000g"),
            (Plain::Hex, "abc"),
            (Plain::Hex, "0x42"),
            (Plain::Base64, "gP8A_g=="),
            (Plain::Base64, "gP8A/g"),
            (Plain::Json, "BBCA"),
            (Plain::Json, "{\"id\":42"),
            (Plain::Json, ""),
        ] {
            assert!(plain.encode(refused).is_err(), "{} {refused}", plain.name());
        }
    }

    /// What Jackson 2.21 wrote for these strings.
    #[test]
    fn strings_are_escaped_as_jackson_does() {
        for (text, json) in [
            ("", "\"\""),
            ("a\"b\\c/d", "\"a\\\"b\\\\c/d\""),
            ("\u{8}\t\n\u{c}\r", "\"\\b\\t\\n\\f\\r\""),
            ("\0\u{1f}\u{7f}", "\"\\u0000\\u001F\u{7f}\""),
            ("日\u{2028}é😀", "\"日\u{2028}é\\uD83D\\uDE00\""),
        ] {
            let encoded = Plain::JsonString.encode(text).unwrap();
            assert_eq!(encoded, json.as_bytes(), "{text:?}");
        }
    }

    /// From the examples of the Avro specification.
    #[test]
    fn avro_numbers_are_zig_zag() {
        for (number, bytes) in [
            ("0", &[0x00][..]),
            ("-1", &[0x01]),
            ("1", &[0x02]),
            ("-64", &[0x7f]),
            ("64", &[0x80, 0x01]),
        ] {
            assert_eq!(Plain::AvroLong.encode(number).unwrap(), bytes, "{number}");
        }
        assert_eq!(
            Plain::AvroLong.encode("-9223372036854775808").unwrap(),
            [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01].as_slice()
        );
    }
}
