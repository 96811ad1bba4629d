//! What holds for any records.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn any_key() -> impl Strategy<Value = Option<Vec<u8>>> {
    prop_oneof![
        1 => Just(None),
        1 => Just(Some(vec![])),
        4 => "[a-d]{1,2}".prop_map(|text| Some(text.into_bytes())),
        2 => "\"[a-z]{1,6}\"".prop_map(|text| Some(text.into_bytes())),
        2 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Some),
        2 => (1_u32..4, "[a-d]{1,2}").prop_map(|(id, text)| {
            let length = u8::try_from(text.len() * 2).unwrap();
            Some([&[0], &id.to_be_bytes()[..], &[length], text.as_bytes()].concat())
        }),
        1 => any::<i64>().prop_map(|number| Some(number.to_be_bytes().to_vec())),
    ]
}

pub(super) fn any_records() -> impl Strategy<Value = Vec<(usize, i32, i64, Option<Vec<u8>>)>> {
    let partition = prop_oneof![8 => 0..9_i32, 1 => any::<i32>()];
    let offset = prop_oneof![8 => 0..30_i64, 1 => any::<i64>()];
    prop::collection::vec((0..3_usize, partition, offset, any_key()), 0..200)
}

pub(super) fn any_topic() -> impl Strategy<Value = Topic> {
    let schemes = [
        "-",
        "utf8/murmur2",
        "utf8/crc32_spread_empty",
        "utf8/kafka_node_keyed",
        "int64/fnv1a_abs",
        "windowed:utf8/murmur2",
        "session_windowed:int64/murmur2",
        "confluent:avro_string/crc32",
        "confluent:2:avro_string/murmur2",
        "utf8/custom:own",
    ];
    let count = prop_oneof![8 => 1..9_i32, 1 => Just(i32::MAX)];
    let mark = prop::option::of(0..30_i64);
    let marks = prop::collection::vec((mark.clone(), mark), 0..9);
    let growth = prop::option::of((1..9_i32, marks));
    (prop::sample::select(schemes.to_vec()), count, growth).prop_map(|(scheme, count, growth)| {
        Topic {
            growth: growth.map(|(from, marks)| Growth {
                from: at(from),
                marks: marks
                    .into_iter()
                    .map(|(before, after)| Marks { before, after })
                    .collect(),
            }),
            ..topic(scheme, count)
        }
    })
}

pub(super) fn judged(
    topics: &[Topic],
    records: &[(usize, i32, i64, Option<Vec<u8>>)],
    max_keys: usize,
) -> (GroupReport, usize) {
    let mut judge = Judge::with_max_keys(topics.to_vec(), SECRET, max_keys);
    let mut most = 0;
    for (topic, partition, offset, key) in records {
        judge.add(Record {
            topic: *topic,
            partition: *partition,
            offset: *offset,
            key: key.as_deref(),
        });
        let kept = judge
            .topics
            .iter()
            .map(|topic| topic.keys.sorted().len())
            .max();
        most = most.max(kept.unwrap_or_default());
    }
    (judge.report(), most)
}

proptest! {
    #[test]
    fn no_records_make_it_panic_and_none_is_lost(
        topics in prop::collection::vec(any_topic(), 0..3),
        records in any_records(),
        max_keys in 0..40_usize,
    ) {
        let (report, most) = judged(&topics, &records, max_keys);
        prop_assert!(most <= max_keys.max(1));
        let _ = report.message();
        for (at, topic) in report.topics.iter().enumerate() {
            let given = records.iter().filter(|record| record.0 == at).count();
            let it = topic.records;
            prop_assert_eq!(it.read, u64::try_from(given).unwrap());
            prop_assert_eq!(it.read, it.left_out + it.outside + it.unkeyed + it.spread + it.unpredicted + it.placed);
            prop_assert!(it.misplaced <= it.placed);
            prop_assert!(topic.to_string().len() < 1000);
        }
    }

    #[test]
    fn the_order_of_records_does_not_matter(
        topics in prop::collection::vec(any_topic(), 1..3),
        (records, shuffled) in any_records().prop_flat_map(|records| {
            (Just(records.clone()), Just(records).prop_shuffle())
        }),
        max_keys in 1..40_usize,
    ) {
        prop_assert_eq!(judged(&topics, &records, max_keys).0, judged(&topics, &shuffled, max_keys).0);
    }

    #[test]
    fn what_is_remembered_of_a_key_is_what_its_partitioner_says(
        bytes in prop::collection::vec(any::<u8>(), 0..40), n in 1..200_i32,
    ) {
        let key = super::super::key::Key::new(&bytes, super::super::signs::Signs::default());
        for partitioner in Partitioner::COMPUTED {
            let formula = partitioner.formula().unwrap();
            prop_assert_eq!(key.place(formula, at(n)), partitioner.partition(Some(&bytes), at(n)));
        }
    }

    #[test]
    fn beyond_the_bound_all_records_are_counted_and_the_verdict_stays(
        distinct in 100..400_usize, max_keys in 30..90_usize,
    ) {
        let log = written(&keys(distinct, "utf8"), &Partitioner::Crc32, 6);
        let records: Vec<_> = log.0.iter().map(|(p, o, k)| (0, *p, *o, k.clone())).collect();
        for (declared, fits) in [("utf8/crc32", true), ("utf8/murmur2", false)] {
            let (report, most) = judged(&[topic(declared, 6)], &records, max_keys);
            let it = &report.topics[0];
            prop_assert_eq!(most, max_keys);
            prop_assert_eq!(it.keys.distinct, u64::try_from(max_keys).unwrap());
            prop_assert!(it.keys.more);
            prop_assert_eq!(it.records.placed, u64::try_from(distinct).unwrap());
            let named = BTreeSet::from([Reason::KeysFit, Reason::SchemeMismatch]);
            prop_assert!(named.contains(&it.verdict.reason()));
            prop_assert_eq!(matches!(it.verdict, Verdict::Fits { .. }), fits);
        }
    }
}
