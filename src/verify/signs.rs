//! What the bytes of keys say about their encoding. It needs no key in particular: a text does not begin with a zero
//! byte, and an integer of 8 bytes has 8.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::limits::{AT_LEAST, MIXTURE, QUOTED, share, too_many};
use crate::keys::{Encoding, Framing, Plain, Window};

/// The milliseconds since 1970 that are taken for the time of a window: the years 2000 to 2099.
const TIMES: std::ops::Range<i64> = 946_684_800_000..4_102_444_800_000;

/// How many different schema ids a topic may have for its keys to be taken for framed ones, and how many are named.
const MAX_IDS: usize = 16;

/// What the bytes of one key look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Signs {
    looks: u8,
    /// They are no value of the declared encoding, or would be a strange one.
    alien: bool,
    /// The schema id, if they look framed.
    id: Option<u32>,
}

const TEXT: u8 = 1;
const IN_QUOTES: u8 = 1 << 1;
const INT32: u8 = 1 << 2;
const INT64: u8 = 1 << 3;
const TIME_WINDOW: u8 = 1 << 4;
const SESSION_WINDOW: u8 = 1 << 5;

impl Signs {
    /// Of the bytes of a key as they are hashed, and what is declared of them.
    pub(super) fn of(bytes: &[u8], declared: Option<Encoding>) -> Self {
        let text = str::from_utf8(bytes).ok();
        let plain_text = text.is_some_and(|text| !text.chars().any(char::is_control));
        // Integers of this size that are not near 0 may be text as well.
        let small = matches!(bytes.first(), Some(0 | 0xff));
        let mut looks = 0;
        for (look, seen) in [
            (TEXT, plain_text && !bytes.is_empty()),
            (
                IN_QUOTES,
                bytes.len() >= 2 && bytes.first() == Some(&b'"') && bytes.last() == Some(&b'"'),
            ),
            (INT32, bytes.len() == 4 && small),
            (INT64, bytes.len() == 8 && small),
            (TIME_WINDOW, bytes.len() > 8 && ends_in_time(bytes)),
            (
                SESSION_WINDOW,
                bytes.len() > 16 && ends_in_time(bytes) && ends_in_time(&bytes[..bytes.len() - 8]),
            ),
        ] {
            if seen {
                looks |= look;
            }
        }
        let id = schema_id(bytes);
        let signs = Self {
            looks,
            alien: false,
            id,
        };
        Self {
            alien: declared.is_some_and(|declared| signs.is_alien(bytes, declared.hashed())),
            ..signs
        }
    }

    fn is_alien(self, bytes: &[u8], declared: Encoding) -> bool {
        let bytes = match declared.framing {
            Framing::Prefix(_) => match bytes.get(5..) {
                Some(inside) if bytes[0] == 0 => inside,
                _ => return true,
            },
            Framing::None | Framing::Header => bytes,
        };
        let windowed = self.looks & (TIME_WINDOW | SESSION_WINDOW) != 0;
        let is_text = || str::from_utf8(bytes).is_ok() && bytes.first() != Some(&0) && !windowed;
        match declared.plain {
            Plain::Utf8 | Plain::Json => !is_text(),
            Plain::JsonString => !is_text() || !bytes.starts_with(b"\""),
            Plain::Uuid => bytes.len() != 36,
            Plain::Int16 => bytes.len() != 2,
            Plain::Int32 => bytes.len() != 4,
            Plain::Int64 | Plain::Float64 => bytes.len() != 8,
            Plain::UuidBytes => bytes.len() != 16,
            Plain::Hex | Plain::Base64 => false,
            Plain::AvroString => !is_avro_string(bytes),
            Plain::AvroLong => !is_avro_long(bytes),
        }
    }

    fn has(self, look: u8) -> bool {
        self.looks & look != 0
    }
}

fn ends_in_time(bytes: &[u8]) -> bool {
    let last = bytes.last_chunk::<8>();
    last.is_some_and(|last| TIMES.contains(&i64::from_be_bytes(*last)))
}

/// The schema id before a key. A key of 8 bytes is more probably a whole number, unless what follows is an Avro string.
fn schema_id(bytes: &[u8]) -> Option<u32> {
    let (0, rest) = bytes.split_first()? else {
        return None;
    };
    let (id, inside) = rest.split_first_chunk::<4>()?;
    let id = u32::from_be_bytes(*id);
    let positive = id > 0 && i32::try_from(id).is_ok();
    let framed = !inside.is_empty() && (bytes.len() != 8 || is_avro_string(inside));
    (positive && framed).then_some(id)
}

/// A number of variable length, seven bits a byte, least significant first, and what follows it.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let end = bytes.iter().take(10).position(|byte| byte & 0x80 == 0)?;
    let (number, rest) = bytes.split_at(end + 1);
    let bits = |sum: u64, byte: &u8| sum << 7 | u64::from(byte & 0x7f);
    Some((number.iter().rev().fold(0, bits), rest))
}

fn is_avro_long(bytes: &[u8]) -> bool {
    varint(bytes).is_some_and(|(_, rest)| rest.is_empty())
}

fn is_avro_string(bytes: &[u8]) -> bool {
    let of_length = |(length, rest): (u64, &[u8])| {
        length % 2 == 0 && usize::try_from(length / 2) == Ok(rest.len())
    };
    varint(bytes).is_some_and(of_length)
}

/// Keys that are not of the declared encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The encoding that their bytes show.
    pub encoding: SeenEncoding,
    /// How many distinct keys they are.
    pub keys: u64,
}

/// An encoding that the bytes of keys show and that is not the declared one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeenEncoding {
    /// A registry's schema ids stand before the keys, and none is declared, or other ones are.
    SchemaIds {
        /// The ids, the most frequent ones first; at most 16.
        ids: Vec<u32>,
    },
    /// JSON strings, in quotes.
    JsonString,
    /// Whole numbers of 4 bytes, big-endian.
    Int32,
    /// Whole numbers of 8 bytes, big-endian.
    Int64,
    /// Text.
    Text,
    /// Windowed keys of Kafka Streams.
    Windowed(Window),
    /// No encoding that is known here; only that it is not the declared one.
    Unknown,
}

/// What a message calls it.
impl fmt::Display for SeenEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SchemaIds { ids } => {
                let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                let s = if ids.len() == 1 { "" } else { "s" };
                write!(f, "keys behind the schema id{s} {}", ids.join(", "))
            }
            Self::JsonString => f.write_str("JSON strings in quotes"),
            Self::Int32 => f.write_str("whole numbers of 4 bytes, big-endian"),
            Self::Int64 => f.write_str("whole numbers of 8 bytes, big-endian"),
            Self::Text => f.write_str("text"),
            Self::Windowed(Window::Time) => f.write_str("time-windowed keys of Kafka Streams"),
            Self::Windowed(Window::Session) => {
                f.write_str("session-windowed keys of Kafka Streams")
            }
            Self::Unknown => f.write_str("bytes that are no keys of this encoding"),
        }
    }
}

/// The keys of a topic that are not of the declared encoding, if they are more than strays.
pub(super) fn seen<'a>(
    keys: &(impl Iterator<Item = &'a Signs> + Clone),
    declared: Encoding,
) -> Option<Foreign> {
    let found = |encoding, keys| Foreign { encoding, keys };
    let count = |of: &dyn Fn(&Signs) -> bool| {
        let found = keys.clone().filter(|signs| of(signs)).count();
        u64::try_from(found).unwrap_or(u64::MAX)
    };
    let all = count(&|_| true);
    let aliens = count(&|signs| signs.alien);
    if too_many(aliens, all) {
        let most = |of: &dyn Fn(&Signs) -> bool| {
            share(count(&|signs| signs.alien && of(signs)), aliens) >= MIXTURE
        };
        let ids = ids(keys.clone().filter(|signs| signs.alien));
        let framed = most(&|signs| signs.id.is_some()) && ids.len() <= MAX_IDS;
        let encoding = if framed {
            SeenEncoding::SchemaIds { ids: named(&ids) }
        } else if most(&|signs| signs.has(INT32)) {
            SeenEncoding::Int32
        } else if most(&|signs| signs.has(INT64)) {
            SeenEncoding::Int64
        } else if most(&|signs| signs.has(SESSION_WINDOW)) {
            SeenEncoding::Windowed(Window::Session)
        } else if most(&|signs| signs.has(TIME_WINDOW)) {
            SeenEncoding::Windowed(Window::Time)
        } else if most(&|signs| signs.has(TEXT)) {
            SeenEncoding::Text
        } else {
            SeenEncoding::Unknown
        };
        return Some(found(encoding, aliens));
    }
    if let Framing::Prefix(id) = declared.framing {
        let ids = ids(keys.clone());
        let common = ids.iter().max_by_key(|(id, keys)| (**keys, **id));
        let wanted = id.or(common.map(|(id, _)| *id))?;
        let framed: u64 = ids.values().sum();
        let others = framed - ids.get(&wanted).copied().unwrap_or_default();
        return too_many(others, all)
            .then(|| found(SeenEncoding::SchemaIds { ids: named(&ids) }, framed));
    }
    let quoted = count(&|signs| signs.has(IN_QUOTES));
    let quotes =
        declared.plain == Plain::Utf8 && quoted >= AT_LEAST && share(quoted, all) >= QUOTED;
    quotes.then(|| found(SeenEncoding::JsonString, quoted))
}

/// How many distinct keys carry each schema id.
fn ids<'a>(keys: impl Iterator<Item = &'a Signs>) -> BTreeMap<u32, u64> {
    let mut ids = BTreeMap::new();
    for id in keys.filter_map(|signs| signs.id) {
        *ids.entry(id).or_default() += 1;
    }
    ids
}

fn named(ids: &BTreeMap<u32, u64>) -> Vec<u32> {
    let mut named: Vec<(u64, u32)> = ids.iter().map(|(id, keys)| (*keys, *id)).collect();
    named.sort_unstable_by_key(|(keys, id)| (std::cmp::Reverse(*keys), *id));
    named.into_iter().map(|(_, id)| id).take(MAX_IDS).collect()
}
