//! Partitions that real producers chose, kept as files in `testdata`; this module compares them with ours.

use super::hash::Hash;
use super::{Encoding, PartitionCount, Partitioner, Placement};

/// The columns of a vector file that hold partitions.
const COUNTS: [i32; 5] = [3, 5, 6, 7, 12];

struct Vector {
    bytes: Vec<u8>,
    /// `None` where only the partition was recorded.
    hash: Option<u32>,
    /// By position as in [`COUNTS`].
    partitions: [Option<i32>; 5],
    what: &'static str,
}

fn murmur2_vectors() -> Vec<Vector> {
    include_str!("testdata/murmur2.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(vector)
        .collect()
}

fn vector(line: &'static str) -> Vector {
    let mut rest = line;
    let mut column = || {
        let (word, tail) = rest.trim_start().split_once(' ').unwrap();
        rest = tail;
        word
    };
    let bytes = unhex(column());
    let hash = recorded(column(), |text| u32::from_str_radix(text, 16).unwrap());
    let partitions = COUNTS.map(|_| recorded(column(), |text| text.parse().unwrap()));
    Vector {
        bytes,
        hash,
        partitions,
        what: rest.trim(),
    }
}

fn recorded<T>(text: &str, read: impl Fn(&str) -> T) -> Option<T> {
    (text != "-").then(|| read(text))
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.trim_matches('"');
    assert!(digits.len().is_multiple_of(2), "{text}");
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

fn murmur2_at(bytes: &[u8], n: i32) -> Placement {
    Partitioner::Murmur2.partition(Some(bytes), PartitionCount::new(n).unwrap())
}

#[test]
fn murmur2_hashes_as_java_does() {
    let mut compared = 0;
    for vector in murmur2_vectors() {
        if let Some(hash) = vector.hash {
            assert_eq!(
                Hash::Murmur2.of(&vector.bytes),
                Some(hash),
                "{}",
                vector.what
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 41);
}

#[test]
fn murmur2_places_as_the_java_producer_did() {
    let mut compared = [0; COUNTS.len()];
    for vector in murmur2_vectors() {
        for ((n, recorded), compared) in COUNTS.iter().zip(vector.partitions).zip(&mut compared) {
            if let Some(partition) = recorded {
                let placed = murmur2_at(&vector.bytes, *n);
                assert_eq!(placed, Placement::At(partition), "{} at {n}", vector.what);
                *compared += 1;
            }
        }
    }
    // Guards against a file that is read only in part.
    assert_eq!(compared, [34, 34, 54, 41, 34]);
}

#[test]
fn the_vectors_cover_every_tail_length_and_long_keys() {
    let lengths: Vec<usize> = murmur2_vectors().iter().map(|v| v.bytes.len()).collect();
    for tail in 0..4 {
        assert!(
            lengths
                .iter()
                .any(|length| *length > 4 && length % 4 == tail)
        );
    }
    assert!(lengths.contains(&0) && lengths.iter().any(|length| *length > 32));
}

#[test]
fn utf8_turns_the_text_of_a_vector_into_its_bytes() {
    let texts = ["BBCA", "user-42", "key with spaces", "日本語", "é", "😀"];
    for text in texts {
        let vectors = murmur2_vectors();
        let vector = vectors.iter().find(|v| v.what == text).unwrap();
        assert_eq!(Encoding::UTF8.encode(text).unwrap(), vector.bytes, "{text}");
    }
}

/// The other partitioners, each at 3, 5, 6 and 12.
#[test]
fn every_partitioner_places_as_its_clients_did() {
    let mut compared = std::collections::BTreeMap::new();
    for line in include_str!("testdata/placements.txt").lines() {
        if line.starts_with('#') {
            continue;
        }
        let columns: Vec<&str> = line.split_whitespace().collect();
        let partitioner = Partitioner::parse(columns[0]).unwrap();
        let key = unhex(columns[1]);
        for (n, recorded) in [3, 5, 6, 12].into_iter().zip(&columns[2..]) {
            let count = PartitionCount::new(n).unwrap();
            assert_eq!(
                partitioner.partition(Some(&key), count),
                Placement::At(recorded.parse().unwrap()),
                "{line} at {n}"
            );
        }
        *compared.entry(partitioner.name()).or_insert(0) += 1;
    }
    // Guards against a file that is read only in part.
    let compared: Vec<_> = compared.into_iter().collect();
    assert_eq!(
        compared,
        [
            ("crc32", 34),
            ("crc32_spread_empty", 33),
            ("fnv1a_abs", 36),
            ("fnv1a_positive", 36),
            ("fnv1a_unsigned", 34),
            ("java_string_hash_abs", 22),
            ("java_string_hash_positive", 22),
            ("kafka_node_keyed", 22),
            ("kafkajs_legacy", 34),
            ("murmur2_unsigned", 34),
            ("xxhash32", 33),
        ]
    );
}

/// Keys from public bug reports in which two clients disagreed: tulios/kafkajs#357 and #1154,
/// fluent/fluent-plugin-kafka#397. The partitions are those that the reports give.
#[test]
fn bug_reports_say_the_same() {
    for (key, n, partitioner, partition) in [
        ("100:48069", 12, Partitioner::Murmur2, 9),
        ("100:48069", 12, Partitioner::KafkajsLegacy, 6),
        ("TT0124", 15, Partitioner::Murmur2, 10),
        ("TT0124", 15, Partitioner::Crc32SpreadEmpty, 9),
        ("mk-123456", 25, Partitioner::Murmur2, 5),
        ("mk-123456", 25, Partitioner::Crc32SpreadEmpty, 3),
    ] {
        assert_eq!(
            partitioner.partition(Some(key.as_bytes()), PartitionCount::new(n).unwrap()),
            Placement::At(partition),
            "{key} at {n}: {partitioner}"
        );
    }
}
