//! When what is read, and what of it stands: the bookkeeping, with made-up outcomes.

use super::*;
use crate::controller::validate::Sampling;
use crate::kafka::{ConnectionSettings, Incomplete};
use crate::plan::{About, Evidence, Reason, State as Verdict};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

fn wish(cluster: &str, partitions: i32) -> Wish {
    Wish {
        cluster_id: cluster.to_owned(),
        settings: ConnectionSettings::new(["kafka:9092"]),
        topics: vec![Asked {
            about: About {
                topic: "orders".to_owned(),
                id: "id".to_owned(),
                partitions,
                scheme: None,
            },
            scheme: None,
            growth: None,
        }],
        sampling: Sampling {
            interval: HOUR,
            records: 200,
            reveal_keys: false,
        },
    }
}

fn found(wish: &Wish, state: Verdict, reason: Reason) -> Found {
    let mut found = Found::nothing(Timestamp::now(), wish.about(), &Incomplete::Stopped);
    found.evidence = Evidence {
        state,
        reason,
        ..found.evidence
    };
    found
}

fn fits(wish: &Wish) -> Found {
    found(wish, Verdict::True, Reason::KeysFit)
}

fn failed(wish: &Wish) -> Result<Found, NotRead> {
    Err(NotRead::Failed(found(
        wish,
        Verdict::Unknown,
        Reason::ReadIncomplete,
    )))
}

struct Bench {
    verifier: Verifier,
    now: Instant,
}

impl Bench {
    fn new() -> Self {
        Bench {
            verifier: Verifier::new(1000, Metrics::default()),
            now: Instant::now(),
        }
    }

    /// The groups whose reading begins now.
    fn begins(&self) -> Vec<Start> {
        self.verifier.next(self.now + Duration::from_secs(1)).0
    }

    /// The one reading that begins now ends like this; whether the group hears of it.
    fn reads(&self, result: impl FnOnce(&Wish) -> Result<Found, NotRead>) -> bool {
        let starts = self.begins();
        let [start] = &starts[..] else {
            panic!("{} readings begin", starts.len());
        };
        let outcome = Outcome {
            bytes: 10,
            cut_short: false,
            result: result(&start.wish),
        };
        self.verifier.ended(start, outcome, self.now)
    }

    fn reason(&self, group: &str) -> Option<Reason> {
        Some(self.verifier.found(group)?.evidence.reason)
    }

    fn waits(&mut self, time: Duration) {
        assert!(self.begins().is_empty(), "it is not due yet");
        self.now += time;
    }
}

#[test]
fn a_group_is_read_at_once_and_then_by_its_interval() {
    let mut bench = Bench::new();
    bench.verifier.want("ns/a", wish("K", 6), None);
    assert!(bench.reads(|wish| Ok(fits(wish))));
    assert_eq!(bench.reason("ns/a"), Some(Reason::KeysFit));
    // Passes that say the same again change nothing.
    bench.verifier.want("ns/a", wish("K", 6), None);
    bench.waits(HOUR);
    assert!(bench.reads(|wish| Ok(fits(wish))));
    bench.verifier.forget("ns/a");
    assert_eq!(bench.reason("ns/a"), None);
    bench.now += HOUR;
    assert!(bench.begins().is_empty());
    assert!(bench.verifier.lock().lanes.is_empty());
}

#[test]
fn what_was_written_before_a_restart_counts() {
    let bench = Bench::new();
    let written = fits(&wish("K", 6));
    bench.verifier.want("ns/a", wish("K", 6), Some(&written));
    assert!(bench.begins().is_empty());
    // Not of other topics, and not if it could tell nothing.
    bench.verifier.want("ns/b", wish("K", 8), Some(&written));
    assert_eq!(bench.begins()[0].group, "ns/b");
    let bench = Bench::new();
    let open = found(&wish("K", 6), Verdict::Unknown, Reason::NoRecords);
    bench.verifier.want("ns/a", wish("K", 6), Some(&open));
    assert_eq!(bench.begins().len(), 1);
}

#[test]
fn an_edit_is_read_soon_and_the_interval_alone_is_none() {
    let mut bench = Bench::new();
    bench.verifier.want("ns/a", wish("K", 6), None);
    assert!(bench.reads(|wish| Ok(fits(wish))));
    let mut slower = wish("K", 6);
    slower.sampling.interval = 2 * HOUR;
    bench.verifier.want("ns/a", slower.clone(), None);
    bench.waits(HOUR);
    bench.waits(HOUR);
    assert!(bench.reads(|wish| Ok(fits(wish))));
    let mut more = slower;
    more.sampling.records = 1000;
    bench.verifier.want("ns/a", more, None);
    assert!(bench.reads(|wish| Ok(fits(wish))));
    bench.waits(HOUR);
}

#[test]
fn an_edit_while_it_is_read_makes_that_reading_void() {
    let bench = Bench::new();
    bench.verifier.want("ns/a", wish("K", 6), None);
    let start = bench.begins().pop().unwrap();
    bench.verifier.want("ns/a", wish("K", 8), None);
    let outcome = Outcome {
        bytes: 1,
        cut_short: false,
        result: Ok(fits(&start.wish)),
    };
    assert!(!bench.verifier.ended(&start, outcome, bench.now));
    assert_eq!(bench.reason("ns/a"), None);
    assert_eq!(bench.begins()[0].wish, wish("K", 8));
}

#[test]
fn a_verdict_outlives_two_failures() {
    let mut bench = Bench::new();
    bench.verifier.want("ns/a", wish("K", 6), None);
    assert!(bench.reads(|wish| Ok(fits(wish))));
    bench.waits(HOUR);
    for pause in [30, 60] {
        assert!(!bench.reads(failed));
        assert_eq!(bench.reason("ns/a"), Some(Reason::KeysFit));
        bench.waits(Duration::from_secs(pause));
    }
    assert!(bench.reads(failed));
    assert_eq!(bench.reason("ns/a"), Some(Reason::ReadIncomplete));
    bench.waits(Duration::from_secs(120));
    assert!(bench.reads(|wish| Ok(fits(wish))));
    assert_eq!(bench.reason("ns/a"), Some(Reason::KeysFit));
    // Without an earlier verdict the first failure is told.
    bench.verifier.want("ns/b", wish("K", 6), None);
    assert!(bench.reads(failed));
    assert_eq!(bench.reason("ns/b"), Some(Reason::ReadIncomplete));
}

#[test]
fn what_is_open_is_looked_at_again_soon_and_then_less_often() {
    let mut bench = Bench::new();
    bench.verifier.want("ns/a", wish("K", 6), None);
    let empty = |wish: &Wish| Ok(found(wish, Verdict::Unknown, Reason::NoRecords));
    for pause in [30, 60, 120, 240, 480, 960, 1920, 3600, 3600] {
        assert!(bench.reads(empty));
        bench.waits(Duration::from_secs(pause));
    }
}

#[test]
fn clusters_do_not_wait_for_each_other_and_groups_of_one_do() {
    let bench = Bench::new();
    for group in ["ns/a", "ns/b"] {
        for cluster in ["K1", "K2"] {
            bench
                .verifier
                .want(&format!("{group}-{cluster}"), wish(cluster, 6), None);
        }
    }
    let first = bench.begins();
    let groups: Vec<&str> = first.iter().map(|start| start.group.as_str()).collect();
    assert_eq!(groups, ["ns/a-K1", "ns/a-K2"]);
    assert!(bench.begins().is_empty(), "each lane is busy");
    // One that is gone meanwhile leaves its lane free.
    bench.verifier.forget("ns/a-K2");
    let outcome = Outcome {
        bytes: 0,
        cut_short: false,
        result: Err(NotRead::Changed),
    };
    assert!(!bench.verifier.ended(&first[1], outcome, bench.now));
    assert_eq!(bench.begins()[0].group, "ns/b-K2");
}

#[test]
fn readings_of_all_clusters_are_bounded() {
    let bench = Bench::new();
    for number in 0..2 * READERS {
        let wish = wish(&format!("K{number}"), 6);
        bench.verifier.want(&format!("ns/{number}"), wish, None);
    }
    let starts = bench.begins();
    assert_eq!(starts.len(), READERS);
    let outcome = Outcome {
        bytes: 0,
        cut_short: false,
        result: Ok(fits(&starts[0].wish)),
    };
    bench.verifier.ended(&starts[0], outcome, bench.now);
    assert_eq!(bench.begins().len(), 1);
}

#[test]
fn a_suspended_group_keeps_what_was_found() {
    let mut bench = Bench::new();
    bench.verifier.want("ns/a", wish("K", 6), None);
    assert!(bench.reads(|wish| Ok(fits(wish))));
    bench.verifier.suspend("ns/a");
    bench.waits(HOUR);
    bench.waits(MINUTE);
    assert_eq!(bench.reason("ns/a"), Some(Reason::KeysFit));
    bench.verifier.want("ns/a", wish("K", 6), None);
    assert_eq!(bench.begins().len(), 1, "its interval has passed");
}

#[test]
fn who_was_cut_short_by_a_part_of_the_budget_reads_again_with_all_of_it() {
    let bench = Bench::new();
    bench.verifier.want("ns/a", wish("K", 6), None);
    assert!(bench.reads(|wish| Ok(fits(wish))));
    bench.verifier.want("ns/b", wish("K", 6), None);
    let start = bench.begins().pop().unwrap();
    assert_eq!(start.allowance, 990);
    let outcome = Outcome {
        bytes: 990,
        cut_short: true,
        result: failed(&start.wish),
    };
    assert!(!bench.verifier.ended(&start, outcome, bench.now));
    assert_eq!(bench.reason("ns/b"), None);
    let (_, again) = bench.verifier.next(bench.now);
    assert!(again.is_some_and(|at| at <= bench.now + 2 * MINUTE));
    let start = bench.verifier.next(bench.now + 2 * MINUTE).0.pop().unwrap();
    assert_eq!((start.group.as_str(), start.allowance), ("ns/b", 1000));
}
