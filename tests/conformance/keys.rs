//! The keys that are sent: the ones that clients are known to differ on, and many that nobody has chosen.

use std::fmt::Write as _;

use crate::xorshift::Xorshift;

/// A record's key; `None` is no key at all.
pub(crate) type Key = Option<Vec<u8>>;

/// How often the keys are sent that may be spread, so that spreading shows: that 60 records of a key meet on one of five
/// partitions by chance happens once in 5^59 runs.
pub(super) const COPIES: usize = 60;

/// Texts: what can be a key of clients that take no bytes.
const TEXTS: [&str; 36] = [
    // Each length around the blocks of 4 bytes that murmur2 takes.
    "a",
    "ab",
    "abc",
    "abcd",
    "abcde",
    "abcdef",
    "abcdefg",
    "abcdefgh",
    "abcdefghi",
    "abcdefghij",
    "abcdefghijk",
    "abcdefghijkl",
    "abcdefghijklm",
    "abcdefghijklmn",
    "abcdefghijklmno",
    "abcdefghijklmnop",
    // Beyond ASCII; the last one is two UTF-16 units.
    "日本語",
    "é",
    "e\u{301}",
    "ß",
    "😀",
    "key 😀 and ü",
    // NUL inside, and alone.
    "a\0b",
    "\0",
    "\0\0\0\0",
    // Their FNV-1a is i32::MIN, which has no absolute value.
    "3wujz9a",
    "gq3p75b",
    // Their String.hashCode is i32::MIN.
    "polygenelubricants",
    "xfjfxtf",
    // It is i32::MAX here and -1, which keeps the same 31 bits.
    "xfjfxte",
    "zsjpxag",
    // Keys of bug reports, on which clients differed.
    "100:48069",
    "TT0124",
    "mk-123456",
    // Usual ones.
    "550e8400-e29b-41d4-a716-446655440000",
    "key with spaces",
];

/// Bytes that are no text.
const BYTES: [&[u8]; 8] = [
    b"\xff",
    b"\x80\xff\x00\xfe",
    b"\x9d\x1f\xe3\x07\x5c\xb8\x82\xfa",
    // Numbers as Java's serializers write them: 42, -1 and i64::MIN.
    b"\0\0\0\x2a",
    b"\0\0\0\0\0\0\0\x2a",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\x80\0\0\0\0\0\0\0",
];

/// All keys in the order they are sent: only texts if asked, and with records that have no key if asked.
pub(super) fn all(only_texts: bool, with_null: bool) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    let copies = |key: &Key| std::iter::repeat_n(key.clone(), COPIES);
    if with_null {
        keys.extend(copies(&None));
    }
    keys.extend(copies(&Some(Vec::new())));
    // An ordinary key, for the partitioners that look at none.
    keys.extend(copies(&Some(b"BBCA".to_vec())));

    let mut random = Xorshift::new();
    let texts = TEXTS.map(|text| text.as_bytes().to_vec());
    keys.extend(texts.into_iter().map(Some));
    keys.extend([64, 1000].map(|length| Some(b"0123456789".repeat(100)[..length].to_vec())));
    keys.extend((0..200).map(|_| Some(text(&mut random).into_bytes())));
    if !only_texts {
        keys.extend(BYTES.map(|bytes| Some(bytes.to_vec())));
        keys.extend((0..300).map(|_| Some(bytes(&mut random))));
    }
    keys
}

/// A key as `tests/clients/run` reads it.
pub(super) fn line(key: &Key) -> String {
    hex(key) + "\n"
}

pub(super) fn hex(key: &Key) -> String {
    let Some(bytes) = key else {
        return "-".to_owned();
    };
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// 0 to 40 bytes.
fn bytes(random: &mut Xorshift) -> Vec<u8> {
    let length = random.below(41);
    (0..length)
        .filter_map(|_| u8::try_from(random.below(256)).ok())
        .collect()
}

/// 0 to 12 characters of one to four bytes each.
fn text(random: &mut Xorshift) -> String {
    const ALPHABET: [char; 16] = [
        'a', 'Z', '0', '9', '-', '_', ':', '.', '\0', 'é', 'ß', 'я', '語', '€', '😀', '𝄞',
    ];
    let length = random.below(13);
    (0..length).map(|_| random.one_of(&ALPHABET)).collect()
}
