//! One test for each thing that can be the matter with a topic.

use super::*;
use Partitioner::{Crc32, Crc32SpreadEmpty, Fnv1aAbs, Murmur2, Murmur2Unsigned};

pub(super) fn explanation(report: &TopicReport) -> &Explanation {
    match &report.verdict {
        Verdict::SchemeMismatch {
            encoding: None,
            partitioner: Some(explanation),
        } => explanation,
        other => panic!("{other:?}"),
    }
}

pub(super) fn fits(report: &TopicReport) -> bool {
    matches!(report.verdict, Verdict::Fits { .. })
}

#[test]
fn all_alike() {
    let mut log = written(&keys(200, "utf8"), &Murmur2, 6);
    log.0.extend(log.0.clone());
    let report = log.report(topic("utf8/murmur2", 6));
    assert!(fits(&report), "{report:?}");
    assert_eq!(report.share_placed(), Some(1.0));
    assert_eq!((report.records.placed, report.records.misplaced), (400, 0));
    assert_eq!((report.keys.distinct, report.keys.repeated), (200, 200));
    assert!(!report.keys.more);
    let Verdict::Fits { log10_chance } = report.verdict else {
        panic!()
    };
    // 6^-200.
    assert!((-156.0..-155.0).contains(&log10_chance), "{log10_chance}");
    let seen: u64 = report.per_partition.iter().map(|it| it.seen).sum();
    assert_eq!(seen, 400);
    assert!(
        report
            .per_partition
            .iter()
            .all(|it| it.seen == it.predicted)
    );
}

#[test]
fn another_partitioner_is_named() {
    let log = written(&keys(200, "utf8"), &Crc32SpreadEmpty, 6);
    let report = log.report(topic("utf8/murmur2", 6));
    let Explanation::Other {
        partitioners,
        log10_chance,
    } = explanation(&report)
    else {
        panic!("{report:?}")
    };
    // No key is empty, so nothing tells the two apart.
    assert_eq!(partitioners, &[Crc32, Crc32SpreadEmpty]);
    assert!(*log10_chance < -100.0);
    assert!(report.share_placed().unwrap() < 0.4);
}

#[test]
fn partitioners_that_agree_at_a_power_of_two_are_both_named() {
    let log = written(&keys(200, "utf8"), &Murmur2, 8);
    let report = log.report(topic("utf8/crc32", 8));
    let Explanation::Other { partitioners, .. } = explanation(&report) else {
        panic!("{report:?}")
    };
    assert_eq!(partitioners, &[Murmur2, Murmur2Unsigned]);
    // Declared, either fits.
    assert!(fits(&log.report(topic("utf8/murmur2_unsigned", 8))));
    let log = written(&keys(200, "utf8"), &Murmur2, 6);
    let report = log.report(topic("utf8/murmur2_unsigned", 6));
    let Explanation::Other { partitioners, .. } = explanation(&report) else {
        panic!("{report:?}")
    };
    assert_eq!(partitioners, &[Murmur2]);
}

#[test]
fn an_unknown_partitioner_is_not_named() {
    let mut log = Log::default();
    for key in keys(200, "utf8") {
        // A formula of nobody's.
        let sum: i32 = key.iter().map(|byte| i32::from(*byte)).sum();
        log.put(sum % 6, &key);
        log.put(sum % 6, &key);
    }
    let report = log.report(topic("utf8/murmur2", 6));
    assert_eq!(explanation(&report), &Explanation::NoneFits);
}

#[test]
fn a_round_robin_is_seen_by_its_keys_on_several_partitions() {
    let mut log = Log::default();
    for (at, key) in (0..).zip(keys(100, "utf8").iter().cycle().take(1000)) {
        log.put((at + at / 100) % 6, key);
    }
    for scheme in ["utf8/murmur2", "-", "utf8/custom:own"] {
        let report = log.report(topic(scheme, 6));
        assert_eq!(report.verdict, Verdict::NonDeterministic, "{scheme}");
        assert_eq!(report.keys.on_several, 100);
    }
}

#[test]
fn a_single_hot_key_on_all_partitions_is_seen() {
    let mut log = Log::default();
    (0..60).for_each(|at| log.put(at % 6, b"hot"));
    let report = log.report(topic("utf8/murmur2", 6));
    assert_eq!(report.verdict, Verdict::NonDeterministic);
}

#[test]
fn records_without_keys() {
    let mut log = Log::default();
    (0..100).for_each(|at| log.0.push((at % 6, i64::from(at), None)));
    for scheme in ["utf8/murmur2", "-"] {
        let report = log.report(topic(scheme, 6));
        assert_eq!(report.verdict, Verdict::Unkeyed);
        assert!((report.share_unkeyed() - 1.0).abs() < 1e-9);
    }
    // Some among many that fit; and a single one is a stray.
    let fitting = written(&keys(100, "utf8"), &Murmur2, 6);
    let mut some = fitting.clone();
    some.0.extend(log.0.iter().take(5).cloned());
    assert_eq!(
        some.report(topic("utf8/murmur2", 6)).verdict,
        Verdict::Unkeyed
    );
    let mut one = fitting;
    one.0.extend(log.0.into_iter().take(1));
    assert!(fits(&one.report(topic("utf8/murmur2", 6))));
}

#[test]
fn half_old_producer_half_new() {
    for n in [2, 6, 8, 13] {
        let all = keys(600, "utf8");
        let mut log = written(&all[..300], &Murmur2, n);
        log.0.extend(written(&all[300..], &Fnv1aAbs, n).0);
        // The same keys from both producers lie on two partitions, and are no less explained.
        let mut twice = written(&all, &Murmur2, n);
        twice.0.extend(written(&all, &Fnv1aAbs, n).0);
        for log in [log, twice] {
            let report = log.report(topic("utf8/murmur2", n));
            let Explanation::Mixture {
                with: MixedWith::Partitioners(with),
                declared,
                other,
            } = explanation(&report)
            else {
                panic!("{n}: {report:?}")
            };
            assert!(with.contains(&Fnv1aAbs), "{n}: {with:?}");
            assert!(!with.contains(&Crc32), "{n}: {with:?}");
            // Half, and what agrees by chance.
            let by_chance = 0.5 / f64::from(n);
            assert!((declared - 0.5 - by_chance).abs() < 0.06, "{n}: {declared}");
            assert!((declared + other - 1.0).abs() < 1e-9, "{n}: {other}");
        }
    }
}

#[test]
fn grown_with_marks() {
    let all = keys(400, "utf8");
    let mut grown = topic("utf8/murmur2", 8);
    let mut log = Log::default();
    for (offset, key) in (0..).zip(&all) {
        // Until 100 at the old count, until 200 now so, now so, then at the new one.
        let n = match offset {
            0..100 => 6,
            100..200 if offset % 2 == 0 => 6,
            _ => 8,
        };
        log.write(key, &Murmur2, n);
        log.0.last_mut().unwrap().1 = offset;
    }
    assert!(!fits(&log.report(grown.clone())));
    let marks = |before, after| Marks { before, after };
    let growth = |marks: Marks| Growth {
        from: at(6),
        marks: (0..8)
            .map(|partition| Marks {
                before: if partition < 6 { marks.before } else { Some(0) },
                ..marks
            })
            .collect(),
    };
    grown.growth = Some(growth(marks(Some(100), Some(200))));
    let report = log.report(grown.clone());
    assert!(fits(&report), "{report:?}");
    assert_eq!(report.records.left_out, 100);
    assert_eq!(report.records.placed, 300);
    // The same keys again at the new count are on several partitions, but not at one count.
    let mut again = log.clone();
    for key in &all {
        again.write(key, &Murmur2, 8);
        again.0.last_mut().unwrap().1 = 1000;
    }
    let report = again.report(grown.clone());
    assert!(fits(&report), "{report:?}");
    assert_eq!(report.keys.on_several, 0);
    // A mark that is missing proves nothing of its side.
    for (marks, left_out) in [
        (marks(None, Some(200)), 200),
        (marks(Some(100), None), 300),
        (marks(None, None), 400),
    ] {
        grown.growth = Some(growth(marks));
        let report = log.report(grown.clone());
        let new = log.0.iter().filter(|it| it.0 >= 6 && it.1 < 200).count();
        let found = report.records.left_out;
        assert!(found >= left_out - u64::try_from(new).unwrap(), "{found}");
        assert!(
            fits(&report) || report.verdict == Verdict::Settling,
            "{report:?}"
        );
    }
    grown.growth = Some(Growth {
        from: at(6),
        marks: vec![],
    });
    assert_eq!(log.report(grown).verdict, Verdict::Settling);
}

#[test]
fn a_producer_that_missed_a_growth() {
    let log = written(&keys(300, "utf8"), &Murmur2, 6);
    let report = log.report(topic("utf8/murmur2", 8));
    assert_eq!(
        explanation(&report),
        &Explanation::FewerPartitions { count: at(6) }
    );
    // Half of the producers missed it.
    let mut half = written(&keys(600, "utf8")[300..], &Murmur2, 8);
    half.0.extend(log.0);
    let report = half.report(topic("utf8/murmur2", 8));
    let Explanation::Mixture { with, .. } = explanation(&report) else {
        panic!("{report:?}")
    };
    assert_eq!(with, &MixedWith::Count(at(6)));
}

#[test]
fn all_on_one_partition() {
    let mut log = Log::default();
    for key in keys(100, "utf8") {
        log.put(0, &key);
    }
    let report = log.report(topic("utf8/murmur2", 6));
    assert_eq!(
        explanation(&report),
        &Explanation::FewerPartitions { count: at(1) }
    );
}
