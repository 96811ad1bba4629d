//! Claims, for people: a line for each topic.

use std::io::{self, Write};

use jiff::Timestamp;

use super::super::columns::columns;
use super::super::terminal::cell;
use super::record::{Entry, Holder, Lock, Record};

/// The widest name that is shown whole.
const WIDEST: usize = 60;

/// Prints the table.
pub(super) fn print(out: &mut dyn Write, record: &Record, now: Timestamp) -> io::Result<()> {
    if record.claims.is_empty() {
        return writeln!(out, "no claims");
    }
    let rows: Vec<[String; 7]> = record.claims.iter().flat_map(|it| rows(it, now)).collect();
    let heads = [
        "TOPIC",
        "GROUP",
        "CLAIM",
        "PARTITIONS",
        "CLUSTER",
        "LOCK",
        "AGE",
    ];
    columns(out, heads, &rows)
}

fn rows(claim: &Holder, now: Timestamp) -> Vec<[String; 7]> {
    let group = cell(&format!("{}/{}", claim.namespace, claim.group), WIDEST);
    let here = |lock: &&Lock| Some(&lock.cluster_id) == claim.cluster_id.as_ref();
    let topics = claim.holds.iter().map(|topic| (topic, "held"));
    let topics = topics.chain(claim.references.iter().map(|topic| (topic, "referenced")));
    let mut rows: Vec<[String; 7]> = topics
        .map(|(topic, how)| {
            let mut locks = claim.locks.iter().filter(here);
            let lock = locks.find(|lock| lock.topic == topic.topic);
            [
                cell(&topic.topic, WIDEST),
                group.clone(),
                how.to_owned(),
                counts(topic),
                claim.cluster_id.clone().unwrap_or_default(),
                lock.map_or("", said).to_owned(),
                age(&topic.since, now),
            ]
        })
        .collect();
    // Of clusters that the group has left, and of topics that it does not hold any more.
    let held = |lock: &Lock| claim.holds.iter().any(|topic| topic.topic == lock.topic);
    let left = claim.locks.iter().filter(|lock| !here(lock) || !held(lock));
    rows.extend(left.map(|lock| {
        [
            cell(&lock.topic, WIDEST),
            group.clone(),
            "left".to_owned(),
            String::new(),
            lock.cluster_id.clone(),
            said(lock).to_owned(),
            String::new(),
        ]
    }));
    rows
}

fn counts(topic: &Entry) -> String {
    let counts = topic.counts.iter().map(ToString::to_string);
    counts.collect::<Vec<_>>().join(" -> ")
}

fn said(lock: &Lock) -> &'static str {
    match lock.orphaned {
        Some(true) => "Orphaned",
        Some(false) | None => "Locked",
    }
}

/// As kubectl prints it, in the largest unit that is whole.
fn age(since: &str, now: Timestamp) -> String {
    let Ok(since) = since.parse::<Timestamp>() else {
        return String::new();
    };
    let seconds = now.duration_since(since).as_secs().max(0);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Clusters;
    use super::*;
    use crate::api::{AclLock, ClaimSpec, ClaimedTopic, CoPartitionClaim, GroupRef};
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;

    fn claim(name: &str, topics: &[&str], locks: &[(&str, &str, &str)]) -> CoPartitionClaim {
        let held = |name: &&str| ClaimedTopic {
            name: (*name).to_owned(),
            topic_id: None,
            counts: vec![6, 8],
            created: false,
            holds_records: false,
            guarded: false,
            since: MicroTime(Timestamp::UNIX_EPOCH),
        };
        let lock = |(topic, cluster, connection): &(&str, &str, &str)| AclLock {
            topic: (*topic).to_owned(),
            cluster_id: (*cluster).to_owned(),
            connection: Some((*connection).to_owned()),
        };
        CoPartitionClaim::new(
            &format!("trading.{name}"),
            ClaimSpec {
                group: GroupRef {
                    namespace: "trading".to_owned(),
                    name: name.to_owned(),
                    uid: String::new(),
                },
                cluster_id: Some("K1".to_owned()),
                holds: topics.iter().map(held).collect(),
                locks: locks.iter().map(lock).collect(),
                ..ClaimSpec::default()
            },
        )
    }

    fn printed(record: &Record) -> String {
        let mut out = Vec::new();
        let now = Timestamp::from_second(7_300).unwrap();
        print(&mut out, record, now).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_topic_has_a_line_and_each_lock_that_was_left() {
        let claims = [
            claim("b", &["orders"], &[]),
            claim(
                "a",
                &["x", "y"],
                &[
                    ("x", "K1", "prod"),
                    ("z", "K1", "prod"),
                    ("x", "K0", "gone"),
                ],
            ),
        ];
        let clusters = Clusters::from([("prod".to_owned(), Some("K1".to_owned()))]);
        let mut record = Record::of(&claims, Some(&clusters));
        let table = printed(&record);
        let lines: Vec<Vec<&str>> = table
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(
            lines[1],
            [
                "x",
                "trading/a",
                "held",
                "6",
                "->",
                "8",
                "K1",
                "Locked",
                "2h"
            ]
        );
        assert_eq!(
            lines[2],
            ["y", "trading/a", "held", "6", "->", "8", "K1", "2h"]
        );
        assert_eq!(lines[4], ["x", "trading/a", "left", "K0", "Orphaned"]);
        assert_eq!(lines[3], ["z", "trading/a", "left", "K1", "Locked"]);
        assert_eq!(lines[5][..3], ["orders", "trading/b", "held"]);
        // Who may not read connections is told nothing of orphans.
        assert!(
            Record::of(&claims, None).claims[0].locks[0]
                .orphaned
                .is_none()
        );
        record.keep(None, Some("z"));
        assert_eq!(record.claims.len(), 1);
        assert_eq!(printed(&record).lines().count(), 2);
        record.keep(Some("other"), None);
        assert_eq!(printed(&record), "no claims\n");
    }

    #[test]
    fn ages_are_those_of_kubectl() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        for (before, wanted) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (7_200, "2h"),
            (172_800, "2d"),
        ] {
            let since = Timestamp::from_second(1_000_000 - before).unwrap();
            assert_eq!(age(&since.to_string(), now), wanted);
        }
        assert_eq!(age("nonsense", now), "");
    }
}
