//! Little evidence, none, strays, and keys that two topics share.

use super::cases::{explanation, fits};
use super::*;

use Partitioner::{Crc32, Crc32SpreadEmpty, Fnv1aAbs, Murmur2};

#[test]
fn too_few_keys_fit_so_far() {
    let mut log = Log::default();
    for _ in 0..100 {
        log.0.extend(written(&keys(3, "utf8"), &Murmur2, 6).0);
    }
    let report = log.report(topic("utf8/murmur2", 6));
    assert_eq!(report.verdict, Verdict::TooFewKeys);
    assert_eq!(report.keys.distinct, 3);
    // That they are wrong is certain, but not who placed them.
    let wrong = [(1, "a"), (1, "b"), (1, "c")].map(|(by, key)| {
        let Placement::At(partition) = Murmur2.partition(Some(key.as_bytes()), at(6)) else {
            panic!()
        };
        ((partition + by) % 6, key)
    });
    let mut log = Log::default();
    for (partition, key) in wrong {
        log.put(partition, key.as_bytes());
    }
    let report = log.report(topic("utf8/murmur2", 6));
    assert_eq!(explanation(&report), &Explanation::TooFewToTell);
    // A single one of few keys may be a stray, until it has too many records for that.
    let mut log = written(&keys(10, "utf8"), &Murmur2, 6);
    log.0[0].0 = (log.0[0].0 + 1) % 6;
    let moved = log.0[0].clone();
    let report = log.report(topic("utf8/murmur2", 6));
    assert_eq!(report.verdict, Verdict::TooFewKeys);
    log.0.extend(vec![moved; 18]);
    let report = log.report(topic("utf8/murmur2", 6));
    assert_eq!(
        (report.verdict, report.records.misplaced),
        (Verdict::TooFewKeys, 19)
    );
    log.0.push(log.0[0].clone());
    let report = log.report(topic("utf8/murmur2", 6));
    assert_eq!(explanation(&report), &Explanation::TooFewToTell);
    // On one partition there is nothing to prove.
    assert!(fits(
        &written(&keys(3, "utf8"), &Murmur2, 1).report(topic("utf8/murmur2", 1))
    ));
}

#[test]
fn no_records() {
    let report = Log::default().report(topic("utf8/murmur2", 6));
    assert_eq!(report.verdict, Verdict::NoRecords);
    let mut log = Log::default();
    log.put(6, b"beyond");
    log.put(-1, b"below");
    let report = log.report(topic("utf8/murmur2", 6));
    assert_eq!(
        (report.verdict, report.records.outside),
        (Verdict::NoRecords, 2)
    );
}

#[test]
fn what_is_not_declared_or_custom_is_not_proven_but_named() {
    let log = written(&keys(100, "utf8"), &Fnv1aAbs, 6);
    let fits = vec![Fnv1aAbs];
    let report = log.report(topic("-", 6));
    assert_eq!(
        report.verdict,
        Verdict::SchemeNotDeclared { fits: fits.clone() }
    );
    let report = log.report(topic("utf8/custom:own", 6));
    assert_eq!(report.verdict, Verdict::NotProvable { fits });
    let report = written(&keys(3, "utf8"), &Fnv1aAbs, 6).report(topic("-", 6));
    assert_eq!(report.verdict, Verdict::SchemeNotDeclared { fits: vec![] });
}

#[test]
fn spread_keys_are_no_violation() {
    let mut log = written(&keys(100, "utf8"), &Crc32, 6);
    (0..100).for_each(|at| log.put(at % 6, b""));
    let report = log.report(topic("utf8/crc32_spread_empty", 6));
    assert!(fits(&report), "{report:?}");
    assert_eq!((report.records.spread, report.records.placed), (100, 100));
    // Where they should be hashed, the scheme that spreads them is named, and it alone.
    let report = log.report(topic("utf8/crc32", 6));
    let Explanation::Other { partitioners, .. } = explanation(&report) else {
        panic!("{report:?}")
    };
    assert_eq!(partitioners, &[Crc32SpreadEmpty]);
    // Who declares nothing may spread them.
    let report = log.report(topic("-", 6));
    assert!(
        matches!(report.verdict, Verdict::SchemeNotDeclared { .. }),
        "{report:?}"
    );
}

#[test]
fn strays_are_no_mismatch() {
    let mut log = written(&keys(30, "utf8"), &Murmur2, 6);
    let first = log.0[0].0;
    log.put((first + 1) % 6, b"key-0");
    // 1 of 31 is above 2 %, and still a single record.
    let report = log.report(topic("utf8/murmur2", 6));
    assert!(fits(&report), "{report:?}");
    assert_eq!((report.records.misplaced, report.keys.on_several), (1, 1));
    log.put((first + 1) % 6, b"key-0");
    assert!(!fits(&log.report(topic("utf8/murmur2", 6))));
}

#[test]
fn a_hot_key_does_not_hide_that_the_others_are_wrong() {
    let mut log = written(&keys(100, "utf8"), &Crc32, 6);
    for _ in 0..10_000 {
        log.write(b"hot", &Murmur2, 6);
    }
    let report = log.report(topic("utf8/murmur2", 6));
    assert!(report.share_placed().unwrap() > 0.99);
    assert!(
        matches!(explanation(&report), Explanation::Mixture { .. }),
        "{report:?}"
    );
}

#[test]
fn topics_that_share_keys_are_compared_whatever_they_declare() {
    let all = keys(100, "utf8");
    let java = written(&all, &Murmur2, 6);
    let c = written(&all[50..], &Crc32, 6);
    let (plain, other) = (topic("-", 6), topic("-", 8));
    let report = group(vec![plain.clone(), plain.clone()], &[&java, &java]);
    let [between] = report.between[..] else {
        panic!()
    };
    assert_eq!((between.shared, between.apart), (100, 0));
    assert_eq!(report.reason(), Reason::SchemeNotDeclared);
    let report = group(vec![plain.clone(), plain.clone()], &[&java, &c]);
    let [between] = report.between[..] else {
        panic!()
    };
    assert_eq!((between.a, between.b, between.shared), (0, 1, 50));
    assert!((30..=49).contains(&between.apart), "{between:?}");
    assert_eq!(report.reason(), Reason::SchemeMismatch);
    // At different counts nothing is said.
    assert_eq!(group(vec![plain, other], &[&java, &java]).between, []);
    // A windowed key is the key inside.
    let mut windowed = Log::default();
    for (partition, _, key) in &java.0 {
        let key = [
            &key.clone().unwrap()[..],
            &1_700_000_000_000_i64.to_be_bytes(),
        ]
        .concat();
        windowed.put(*partition, &key);
    }
    let topics = vec![topic("utf8/murmur2", 6), topic("windowed:utf8/murmur2", 6)];
    let report = group(topics, &[&java, &windowed]);
    assert_eq!(
        (report.between[0].shared, report.between[0].apart),
        (100, 0)
    );
    assert_eq!(report.reason(), Reason::KeysFit);
}

#[test]
fn a_key_on_many_partitions_takes_no_more_memory() {
    let mut judge = Judge::new(vec![topic("-", 100)], SECRET);
    let add = |judge: &mut Judge, partition| {
        judge.add(Record {
            topic: 0,
            partition,
            offset: 0,
            key: Some(b"hot"),
        });
    };
    // Most lie where they should, high up, and strays everywhere: the highest places are the ones that are forgotten.
    (0..10_000).for_each(|_| add(&mut judge, 99));
    (0..99).for_each(|partition| add(&mut judge, partition));
    let key = judge.topics[0].keys.sorted()[0].1;
    assert_eq!(key.places().len(), limits::MAX_PLACES);
    assert_eq!((key.records, key.off_main()), (10_099, 15));
    let fits = vec![];
    let verdict = Verdict::SchemeNotDeclared { fits };
    assert_eq!(judge.report().topics[0].verdict, verdict);
    // On all partitions in turn it is seen nevertheless.
    for _ in 0..1000 {
        (0..100).for_each(|partition| add(&mut judge, partition));
    }
    assert_eq!(judge.report().topics[0].verdict, Verdict::NonDeterministic);
    assert!(size_of::<key::Key>() <= 96);
}
