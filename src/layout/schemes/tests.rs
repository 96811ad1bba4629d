use proptest::prelude::*;

use super::*;
use crate::keys::Partitioner;

fn scheme(text: &str) -> KeyScheme {
    let (encoding, partitioner) = text.split_once('/').unwrap();
    KeyScheme::parse(encoding, partitioner).unwrap()
}

fn side(scheme: &KeyScheme) -> Side<'_> {
    Side {
        scheme,
        spreads_empty: spreads_empty(scheme),
    }
}

fn producer(label: &str, partitioner: Partitioner) -> Producer {
    Producer {
        label: label.to_owned(),
        partitioner,
        null: KeyRule::Spread,
        spreads_empty: false,
        hashes_key_inside: false,
    }
}

fn at(n: i32) -> Option<PartitionCount> {
    PartitionCount::new(n)
}

/// The verdict on topics `a`, `b`, ... with these schemes; "-" declares none.
fn verdict(schemes: &[&str], count: Option<PartitionCount>) -> SchemesVerdict {
    let parsed: Vec<Option<KeyScheme>> = schemes
        .iter()
        .map(|text| (*text != "-").then(|| scheme(text)))
        .collect();
    let names = ["a", "b", "c", "d"];
    let topics: Vec<Declared<'_>> = names
        .iter()
        .zip(&parsed)
        .map(|(topic, scheme)| Declared {
            topic,
            scheme: scheme.as_ref(),
            producers: &[],
        })
        .collect();
    compare(&topics, count, &[])
}

fn limits(schemes: &[&str], count: i32) -> Vec<Limit> {
    match verdict(schemes, at(count)) {
        SchemesVerdict::Equivalent { limits, .. } => limits,
        other => panic!("{schemes:?} at {count}: {other:?}"),
    }
}

fn unprovable(schemes: &[&str]) -> Unprovable {
    match verdict(schemes, at(6)) {
        SchemesVerdict::NotProvable { why, .. } => why,
        other => panic!("{schemes:?}: {other:?}"),
    }
}

fn shown(schemes: &[&str], count: i32) -> String {
    match verdict(schemes, at(count)) {
        SchemesVerdict::PartitionerMismatch { pair, examples }
        | SchemesVerdict::EncodingMismatch { pair, examples } => {
            let examples: Vec<String> = examples.iter().map(ToString::to_string).collect();
            format!("{} / {}: {}", pair.a, pair.b, examples.join(", "))
        }
        other => panic!("{schemes:?} at {count}: {other:?}"),
    }
}

#[test]
fn equal_schemes_are_the_same_at_any_count() {
    for count in [None, at(1), at(6)] {
        let same = SchemesVerdict::Same(scheme("utf8/murmur2"));
        assert_eq!(verdict(&["utf8/murmur2", "utf8/murmur2"], count), same);
    }
    let framed = "confluent:7:avro_string/murmur2";
    assert_eq!(
        verdict(&[framed, framed], at(6)),
        SchemesVerdict::Same(scheme(framed))
    );
}

#[test]
fn topics_without_a_scheme_are_named_in_order() {
    let not_declared = |topics: &[&str]| SchemesVerdict::NotDeclared {
        topics: topics.iter().map(|topic| (*topic).to_owned()).collect(),
    };
    assert_eq!(
        verdict(&["-", "utf8/crc32", "-"], at(6)),
        not_declared(&["a", "c"])
    );
    assert_eq!(verdict(&["-"], at(6)), not_declared(&["a"]));
    assert_eq!(compare(&[], at(6), &[]), not_declared(&[]));
    // A mismatch stands whatever the missing ones are.
    assert!(shown(&["-", "utf8/crc32", "utf8/murmur2"], 6).contains("c (utf8/murmur2)"));
}

#[test]
fn a_mismatch_names_the_pair_and_keys_that_show_it() {
    let said = shown(&["utf8/murmur2", "utf8/murmur2", "utf8/crc32"], 6);
    assert!(
        said.starts_with("a (utf8/murmur2) / c (utf8/crc32): 1000 "),
        "{said}"
    );
    let said = shown(&["int32/murmur2", "int64/murmur2"], 6);
    assert!(
        said.starts_with("a (int32/murmur2) / b (int64/murmur2): 1000 "),
        "{said}"
    );
    // No UUID is a number.
    assert!(shown(&["uuid_bytes/murmur2", "int64/murmur2"], 6).ends_with(": "));
}

#[test]
fn the_groups_own_keys_are_the_first_examples() {
    let schemes = [scheme("utf8/murmur2"), scheme("utf8/crc32_spread_empty")];
    let topics = [0, 1].map(|at| Declared {
        topic: ["a", "b"][at],
        scheme: Some(&schemes[at]),
        producers: &[],
    });
    let keys: Vec<String> = ["BBCA", "BMRI", "ANTM", ""].map(str::to_owned).into();
    let SchemesVerdict::PartitionerMismatch { examples, .. } = compare(&topics, at(6), &keys)
    else {
        panic!("no mismatch");
    };
    let said: Vec<String> = examples.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        ["BBCA 0 against 2", "BMRI 0 against 3", "ANTM 1 against 5"]
    );
}

#[test]
fn masked_and_unsigned_agree_at_powers_of_two_only() {
    let murmur2 = ["utf8/murmur2", "utf8/murmur2_unsigned"];
    let fnv1a = ["utf8/fnv1a_positive", "utf8/fnv1a_unsigned"];
    for n in [1, 2, 4, 8, 64, 1 << 30] {
        assert_eq!(limits(&murmur2, n), [Limit::AtThisCount], "{n}");
        assert_eq!(limits(&fnv1a, n), [Limit::AtThisCount], "{n}");
    }
    for n in [3, 6, 7, 12, 100] {
        assert!(!shown(&murmur2, n).ends_with(": "), "{n}");
        assert!(!shown(&fnv1a, n).ends_with(": "), "{n}");
    }
    assert_eq!(
        verdict(&murmur2, None),
        SchemesVerdict::NotProvable {
            pair: Pair {
                a: Writer {
                    topic: "a".to_owned(),
                    producer: None,
                    scheme: scheme(murmur2[0]),
                    spreads_empty: false,
                },
                b: Writer {
                    topic: "b".to_owned(),
                    producer: None,
                    scheme: scheme(murmur2[1]),
                    spreads_empty: false,
                },
            },
            why: Unprovable::CountUnknown,
        }
    );
}

#[test]
fn both_crc32_agree_but_for_empty_keys() {
    let crc32 = ["utf8/crc32", "utf8/crc32_spread_empty"];
    for n in [2, 6, 8] {
        assert_eq!(limits(&crc32, n), [Limit::NotEmptyKeys]);
    }
    assert!(matches!(
        verdict(&crc32, None),
        SchemesVerdict::Equivalent { .. }
    ));
}

#[test]
fn one_partition_takes_all() {
    assert_eq!(
        limits(&["utf8/murmur2", "int64/crc32_spread_empty"], 1),
        [Limit::AtThisCount]
    );
    // And yet nothing is said of what can't be calculated.
    let custom = ["utf8/custom:x", "utf8/murmur2"];
    assert!(matches!(
        verdict(&custom, at(1)),
        SchemesVerdict::NotProvable { .. }
    ));
}

#[test]
fn what_cannot_be_calculated_is_neither_true_nor_false() {
    for schemes in [
        &["utf8/custom:x"][..],
        &["utf8/custom:x", "utf8/custom:x"],
        &["utf8/custom:x", "utf8/custom:y"],
        &["int32/custom:x", "utf8/murmur2"],
    ] {
        assert_eq!(unprovable(schemes), Unprovable::Custom, "{schemes:?}");
    }
    for schemes in [
        &["confluent:avro_string/murmur2"][..],
        &[
            "confluent:7:avro_string/murmur2",
            "confluent:8:avro_string/murmur2",
        ],
        &["confluent:7:avro_string/murmur2", "utf8/murmur2"],
        &["confluent:7:avro_string/murmur2", "utf8/crc32"],
    ] {
        assert_eq!(unprovable(schemes), Unprovable::SchemaIds, "{schemes:?}");
    }
    for schemes in [
        ["utf8/murmur2", "uuid/murmur2"],
        ["json/murmur2", "utf8/murmur2"],
    ] {
        assert_eq!(unprovable(&schemes), Unprovable::Encodings, "{schemes:?}");
    }
    // Equal ids are equal bytes, and then the partitioners decide.
    let framed = [
        "confluent:7:avro_string/murmur2",
        "confluent:7:avro_string/crc32",
    ];
    assert!(matches!(
        verdict(&framed, at(6)),
        SchemesVerdict::PartitionerMismatch { .. }
    ));
}

#[test]
fn windows_and_headers_are_not_hashed() {
    assert_eq!(
        limits(&["utf8/murmur2", "windowed:utf8/murmur2"], 6),
        [Limit::WrittenByStreams]
    );
    assert!(matches!(
        verdict(&["windowed:utf8/murmur2", "int64/murmur2"], at(6)),
        SchemesVerdict::EncodingMismatch { .. }
    ));
    let header = [
        "confluent_header:avro_string/murmur2",
        "avro_string/murmur2",
    ];
    assert!(matches!(verdict(&header, at(6)), SchemesVerdict::Same(_)));
}

#[test]
fn producers_count_as_their_topics_do() {
    let murmur2 = scheme("utf8/murmur2");
    let producers = [
        producer("java", Partitioner::Murmur2),
        producer("librdkafka", Partitioner::Crc32SpreadEmpty),
    ];
    let topic = |producers| Declared {
        topic: "orders",
        scheme: Some(&murmur2),
        producers,
    };
    assert!(matches!(
        compare(&[topic(&producers[..1])], at(6), &[]),
        SchemesVerdict::Same(_)
    ));
    let SchemesVerdict::PartitionerMismatch { pair, .. } =
        compare(&[topic(&producers[..])], at(6), &[])
    else {
        panic!("no mismatch");
    };
    assert_eq!(
        format!("{} / {}", pair.a, pair.b),
        "orders (utf8/murmur2) / librdkafka on orders (utf8/crc32_spread_empty)"
    );
}

#[test]
fn a_client_that_takes_an_empty_key_for_none_is_alike_but_for_those() {
    let fnv1a = scheme("utf8/fnv1a_abs");
    let producers = [Producer {
        spreads_empty: true,
        ..producer("redpanda-connect", Partitioner::Fnv1aAbs)
    }];
    let topic = Declared {
        topic: "orders",
        scheme: Some(&fnv1a),
        producers: &producers,
    };
    let SchemesVerdict::Equivalent { limits, .. } = compare(&[topic], at(6), &[]) else {
        panic!("not equivalent");
    };
    assert_eq!(limits, [Limit::NotEmptyKeys]);
}

#[test]
fn producers_of_topics_without_a_scheme_are_compared_too() {
    let java = [producer("java", Partitioner::Murmur2)];
    let other = [producer("librdkafka", Partitioner::Crc32SpreadEmpty)];
    let int64 = scheme("int64/murmur2");
    let topic = |topic, scheme, producers| Declared {
        topic,
        scheme,
        producers,
    };
    // Whatever the encoding is, if it is one.
    let verdict = compare(
        &[topic("a", None, &java), topic("b", None, &other)],
        at(6),
        &[],
    );
    assert!(matches!(
        verdict,
        SchemesVerdict::PartitionerMismatch { .. }
    ));
    // A hash of text says nothing of topics whose keys are numbers: this topic's keys are something else.
    let spring = [producer("spring", Partitioner::JavaStringHashAbs)];
    let verdict = compare(
        &[topic("a", Some(&int64), &[]), topic("b", None, &spring)],
        at(6),
        &[],
    );
    assert!(matches!(verdict, SchemesVerdict::NotDeclared { .. }));
    // No encoding is made up for a topic that declares none.
    let verdict = compare(
        &[topic("a", Some(&int64), &[]), topic("b", None, &java)],
        at(6),
        &[],
    );
    assert!(matches!(verdict, SchemesVerdict::NotDeclared { .. }));
}

#[test]
fn only_kafka_streams_places_windowed_keys_by_the_key_inside() {
    let windowed = scheme("windowed:utf8/murmur2");
    let verdict = |inside| {
        let producers = [Producer {
            hashes_key_inside: inside,
            ..producer("p", Partitioner::Murmur2)
        }];
        let topic = Declared {
            topic: "counts",
            scheme: Some(&windowed),
            producers: &producers,
        };
        compare(&[topic], at(6), &[])
    };
    assert!(matches!(verdict(true), SchemesVerdict::Same(_)));
    let SchemesVerdict::WindowHashed { pair } = verdict(false) else {
        panic!("not seen");
    };
    assert_eq!(pair.b.to_string(), "p on counts (windowed:utf8/murmur2)");
}

#[test]
fn the_order_of_topics_does_not_matter() {
    let a = scheme("utf8/murmur2");
    let b = scheme("utf8/fnv1a_abs");
    let one = |topic, scheme| Declared {
        topic,
        scheme: Some(scheme),
        producers: &[],
    };
    assert_eq!(
        compare(&[one("x", &a), one("y", &b)], at(6), &[]),
        compare(&[one("y", &b), one("x", &a)], at(6), &[])
    );
}

/// Every claim about two partitioners against counting: what is said to be alike is so for any bytes, and what is said to
/// differ is shown by a key.
#[test]
fn every_pair_of_partitioners_is_judged_right_at_small_counts() {
    for a in &Partitioner::COMPUTED {
        for b in &Partitioner::COMPUTED {
            for n in (1..=32).chain([64, 100, 127, 128, 1000, 1024]) {
                let count = PartitionCount::new(n).unwrap();
                let [a, b] = [a, b].map(|partitioner| KeyScheme {
                    encoding: crate::keys::Encoding::UTF8,
                    partitioner: partitioner.clone(),
                });
                let differing = (0..400)
                    .map(|key| format!("key-{key}"))
                    .find(|key| a.place(key, count) != b.place(key, count));
                match pair::judge(side(&a), side(&b), Some(count)) {
                    Judgement::Alike(_) => assert_eq!(differing, None, "{a} {b} at {n}"),
                    Judgement::Partitioners => {
                        let found = examples::find(&a, &b, Some(count), &[]);
                        assert!(!found.is_empty(), "{a} and {b} at {n}: no example");
                        assert!(found.iter().all(|example| example.a != example.b));
                    }
                    other => panic!("{a} {b} at {n}: {other:?}"),
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn what_is_alike_at_any_count_is_so_for_any_bytes(
        x in 0..Partitioner::COMPUTED.len(),
        y in 0..Partitioner::COMPUTED.len(),
        key in prop::collection::vec(any::<u8>(), 1..40),
        n in 1..=i32::MAX,
        shift in 0..31,
    ) {
        let [a, b] = [x, y].map(|at| KeyScheme {
            encoding: crate::keys::Encoding::UTF8,
            partitioner: Partitioner::COMPUTED[at].clone(),
        });
        for n in [n, 1 << shift] {
            let count = PartitionCount::new(n).unwrap();
            if let Judgement::Alike(_) = pair::judge(side(&a), side(&b), Some(count)) {
                let [at_a, at_b] = [&a, &b].map(|scheme| scheme.partitioner.partition(Some(&key), count));
                let text = str::from_utf8(&key).is_ok();
                prop_assert!(at_a == at_b || !text, "{a} {b} at {n}");
            }
        }
    }
}

#[test]
fn an_example_is_one_line_whatever_the_key() {
    let example = |key: &str| Example {
        key: key.to_owned(),
        a: Placement::At(0),
        b: Placement::Spread,
    };
    assert_eq!(example("BBCA").to_string(), "BBCA 0 against spread");
    assert_eq!(example("").to_string(), "the empty key 0 against spread");
    assert_eq!(example("a\nb").to_string(), "\"a\\nb\" 0 against spread");
}
