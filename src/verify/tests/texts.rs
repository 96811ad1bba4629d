//! What a group is told.

use super::*;

use Partitioner::{Crc32, Murmur2};

fn named(name: &str, scheme: &str) -> Topic {
    Topic {
        name: name.to_owned(),
        ..topic(scheme, 6)
    }
}

#[test]
fn the_worst_topic_decides() {
    let fits = written(&keys(50, "utf8"), &Murmur2, 6);
    let wrong = written(&keys(50, "utf8"), &Crc32, 6);
    let none = Log::default();
    let topics = || {
        ["orders", "payments", "refunds"]
            .map(|name| named(name, "utf8/murmur2"))
            .to_vec()
    };
    let report = group(topics(), &[&fits, &fits, &none]);
    assert_eq!(
        (report.reason(), report.outcome()),
        (Reason::NoRecords, Outcome::Unproven)
    );
    assert_eq!(
        report.message(),
        "refunds: there are no records to be judged"
    );
    let report = group(topics(), &[&fits, &wrong, &none]);
    assert_eq!(
        (report.reason(), report.outcome()),
        (Reason::SchemeMismatch, Outcome::Refuted)
    );
    let said = report.message();
    for part in [
        "payments: ",
        "do not lie where utf8/murmur2 puts them at 6 partitions",
        "all of them fit crc32 (",
        "crc32_spread_empty (librdkafka default",
        "keys that orders and payments share lie on different partition numbers",
    ] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    let report = group(topics(), &[&fits, &fits, &fits]);
    assert_eq!(report.outcome(), Outcome::Verified);
    assert_eq!(
        report.message(),
        "150 records of 3 topics lie where the declared schemes put them, with 50 distinct keys or more in each; \
         50 keys that orders and payments share lie on equal partition numbers"
    );
}

#[test]
fn a_group_without_topics_proves_nothing() {
    let report = group(vec![], &[]);
    assert_eq!(report.outcome(), Outcome::Unproven);
    assert_eq!(report.message(), "there are no topics");
}

#[test]
fn no_text_names_a_key() {
    let all = keys(60, "utf8");
    let mut spread = Log::default();
    for (at, key) in (0..).zip(all.iter().chain(&all)) {
        spread.put(at % 7 % 6, key);
    }
    let logs = [
        written(&all, &Murmur2, 6),
        written(&all, &Crc32, 6),
        written(&all[..3], &Murmur2, 6),
        spread,
    ];
    for scheme in ["utf8/murmur2", "-", "int64/murmur2", "utf8/custom:own"] {
        for log in &logs {
            let report = group(vec![named("t", scheme)], &[log]);
            assert!(!report.message().contains("key-"), "{}", report.message());
            assert!(!format!("{report:?}").contains("key-"));
        }
    }
}

#[test]
fn how_sure_it_is() {
    let said = |n| {
        let log = written(&keys(50, "utf8"), &Murmur2, n);
        log.report(topic("utf8/murmur2", n)).to_string()
    };
    // 6^-50 is 10^-38.9, rounded to the side of doubt.
    assert_eq!(
        said(6),
        "100.0 % of 50 records with 50 distinct keys lie where utf8/murmur2 puts them, by chance once in 10^38"
    );
    assert!(said(1).ends_with(", as under any scheme"), "{}", said(1));
}

#[test]
fn a_lower_count_may_be_older_than_a_growth() {
    let mut log = written(&keys(200, "utf8"), &Murmur2, 6);
    let report = log.report(topic("utf8/murmur2", 8));
    let said = report.to_string();
    assert!(
        said.contains(
            "the same scheme at 6 partitions fits them all. Either they are older than a growth"
        ),
        "{said}"
    );
    log.0
        .extend(written(&keys(400, "utf8")[200..], &Murmur2, 8).0);
    let said = log.report(topic("utf8/murmur2", 8)).to_string();
    assert!(
        said.contains("fit the same scheme at 6 partitions. Either those are older than a growth"),
        "{said}"
    );
}
