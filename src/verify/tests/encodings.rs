//! Encodings other than the declared one, and windowed keys.

use super::cases::{explanation, fits};
use super::*;
use crate::keys::Window;

use Partitioner::{Crc32, Murmur2};

/// What the keys are taken for, all of them.
fn encoding(report: &TopicReport) -> (&SeenEncoding, Option<&Explanation>) {
    match &report.verdict {
        Verdict::SchemeMismatch {
            encoding: Some(Foreign { encoding, keys }),
            partitioner,
        } if *keys == report.keys.distinct => (encoding, partitioner.as_ref()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn some_keys_of_another_encoding_are_counted() {
    let mut log = written(&keys(95, "utf8"), &Murmur2, 6);
    log.0
        .extend(written(&keys(5, "confluent:7:avro_string"), &Murmur2, 6).0);
    let report = log.report(topic("utf8/murmur2", 6));
    let foreign = Foreign {
        encoding: SeenEncoding::SchemaIds { ids: vec![7] },
        keys: 5,
    };
    let mismatch = Verdict::SchemeMismatch {
        encoding: Some(foreign),
        partitioner: None,
    };
    assert_eq!(report.verdict, mismatch);
    let said = report.to_string();
    assert!(
        said.starts_with(
            "utf8 is declared, but 5 of 100 distinct keys are keys behind the schema id 7. "
        ),
        "{said}"
    );
    // A single one is a stray.
    log.0.truncate(96);
    assert!(fits(&log.report(topic("utf8/murmur2", 6))));
}

#[test]
fn schema_ids() {
    let mut log = written(&keys(100, "confluent:7:avro_string"), &Murmur2, 6);
    assert!(fits(
        &log.report(topic("confluent:7:avro_string/murmur2", 6))
    ));
    assert!(fits(&log.report(topic("confluent:avro_string/murmur2", 6))));
    let ids = |ids: &[u32]| SeenEncoding::SchemaIds { ids: ids.to_vec() };
    // Where none is declared, or another one.
    for declared in ["utf8/murmur2", "confluent:9:avro_string/murmur2"] {
        let report = log.report(topic(declared, 6));
        assert_eq!(encoding(&report), (&ids(&[7]), None), "{declared}");
    }
    log.0
        .extend(written(&keys(50, "confluent:100042:avro_string"), &Murmur2, 6).0);
    for declared in ["utf8", "confluent:avro_string", "confluent:7:avro_string"] {
        let report = log.report(topic(&format!("{declared}/murmur2"), 6));
        assert_eq!(encoding(&report), (&ids(&[7, 100_042]), None), "{declared}");
    }
}

#[test]
fn encodings_are_recognised_from_the_bytes() {
    let numbers = |encoding: &str| -> Vec<Vec<u8>> {
        let encoding = Encoding::parse(encoding).unwrap();
        let encode = |at: i32| {
            encoding
                .encode(&(at * 997 - 5000).to_string())
                .unwrap()
                .into_owned()
        };
        (0..100).map(encode).collect()
    };
    for (written_as, declared, seen) in [
        ("json_string", "utf8", SeenEncoding::JsonString),
        ("int32", "utf8", SeenEncoding::Int32),
        ("int64", "utf8", SeenEncoding::Int64),
        ("int64", "int32", SeenEncoding::Int64),
        ("int32", "int64", SeenEncoding::Int32),
        ("utf8", "int64", SeenEncoding::Text),
        ("utf8", "json_string", SeenEncoding::Text),
    ] {
        let all = match written_as {
            "int32" | "int64" => numbers(written_as),
            _ => keys(100, written_as),
        };
        let log = written(&all, &Murmur2, 6);
        let report = log.report(topic(&format!("{declared}/murmur2"), 6));
        assert_eq!(
            encoding(&report),
            (&seen, None),
            "{written_as} for {declared}"
        );
        // With what it is, nothing is the matter.
        let report = log.report(topic(&format!("{written_as}/murmur2"), 6));
        assert!(fits(&report), "{written_as}: {report:?}");
        // And the wrong partitioner is seen beside it.
        let log = written(&all, &Crc32, 6);
        let report = log.report(topic(&format!("{declared}/murmur2"), 6));
        assert!(matches!(encoding(&report), (it, Some(Explanation::Other { .. })) if *it == seen));
    }
}

#[test]
fn windowed_keys() {
    for (name, window) in [
        ("windowed:utf8", Window::Time),
        ("session_windowed:utf8", Window::Session),
    ] {
        let declared = format!("{name}/murmur2");
        let (mut inside, mut whole) = (Log::default(), Log::default());
        for (at, key) in (0..).zip(keys(300, "utf8").iter().cycle().take(900)) {
            let time = 1_700_000_000_000_i64 + at * 60_000;
            let mut bytes = key.clone();
            for _ in 0..window.suffix() / 8 {
                bytes.extend(time.to_be_bytes());
            }
            let Placement::At(partition) = Murmur2.partition(Some(key), super::at(6)) else {
                panic!()
            };
            inside.put(partition, &bytes);
            whole.write(&bytes, &Murmur2, 6);
        }
        let report = inside.report(topic(&declared, 6));
        assert!(fits(&report), "{report:?}");
        assert_eq!(report.keys.distinct, 300);
        // Undeclared, the windows are seen; the partitioner is the declared one over the key inside.
        let report = inside.report(topic("utf8/murmur2", 6));
        assert_eq!(encoding(&report), (&SeenEncoding::Windowed(window), None));
        // Written by another client, one key is on many partitions.
        let report = whole.report(topic(&declared, 6));
        assert_eq!(explanation(&report), &Explanation::WindowHashed);
    }
}
