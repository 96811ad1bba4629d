//! When what is read, and what of it stands: the bookkeeping, with made-up answers.

use super::written::of_status;
use super::*;
use crate::api::{GroupStatus, TopicStatus};
use crate::kafka::GroupError;
use crate::placement::{Asked, ConsumerGroup, Counted, Member, Phase, Protocol, TopicPartitions};
use crate::plan::{Reason, State as Verdict};

const POLL: Duration = Duration::from_secs(5);

fn settings(server: &str) -> ConnectionSettings {
    ConnectionSettings::new([server])
}

fn wish(server: &str, app: &str) -> Wish {
    let counted = |name: &str| Counted {
        name: name.to_owned(),
        partitions: 2,
    };
    Wish {
        settings: settings(server),
        about: vec![counted("left"), counted("right")],
        asked: vec![Asked::Id(app.to_owned())],
    }
}

/// A group of two members, of which each reads one partition of both topics, or of which one has them crosswise.
fn group(app: &str, together: bool) -> ConsumerGroup {
    let member = |number: i32| {
        let given = |topic: &str, partition| TopicPartitions {
            topic: topic.to_owned(),
            partitions: vec![partition],
        };
        let right = if together { number } else { 1 - number };
        Member {
            id: format!("m{number}"),
            client_id: "c".to_owned(),
            host: "/10.0.0.1".to_owned(),
            process: None,
            assigned: vec![given("left", number), given("right", right)],
            tasks: Vec::new(),
        }
    };
    ConsumerGroup {
        id: app.to_owned(),
        protocol: Protocol::Classic,
        phase: Phase::Stable,
        assignor: Some("range".to_owned()),
        members: vec![member(0), member(1)],
        sub_topologies: Vec::new(),
    }
}

struct Bench {
    watcher: Watcher,
    now: Instant,
}

impl Bench {
    fn new() -> Self {
        Bench {
            watcher: Watcher::new(POLL, Metrics::default()),
            now: Instant::now(),
        }
    }

    fn want(&self, name: &str, wish: Wish) {
        self.watcher.want(name, wish, None);
    }

    /// The readings that begin now.
    fn starts(&mut self, later: Duration) -> Vec<Start> {
        self.now += later;
        self.watcher.next(self.now).0
    }

    /// Ends the one reading that begins now; who is told.
    fn read(&mut self, later: Duration, groups: &[ConsumerGroup]) -> Vec<String> {
        self.end(later, &Ok(found(groups)))
    }

    /// The same without an answer.
    fn silence(&mut self, later: Duration) -> Vec<String> {
        self.end(later, &silent())
    }

    fn end(&mut self, later: Duration, read: &Read) -> Vec<String> {
        let mut starts = self.starts(later);
        assert_eq!(starts.len(), 1);
        self.watcher.ended(starts.remove(0), read, self.now)
    }

    fn says(&self, name: &str) -> Option<(Verdict, Reason)> {
        let found = self.watcher.found(name)?;
        Some((found.state, found.reason))
    }
}

fn found(groups: &[ConsumerGroup]) -> FoundGroups {
    let of = |group: &ConsumerGroup| (group.id.clone(), Ok(group.clone()));
    FoundGroups {
        groups: groups.iter().map(of).collect(),
        unlisted: BTreeMap::new(),
    }
}

fn silent() -> Read {
    Err(Error::Timeout("nobody answers".to_owned()))
}

const TOGETHER: Option<(Verdict, Reason)> = Some((Verdict::True, Reason::Colocated));
const SPLIT: Option<(Verdict, Reason)> = Some((Verdict::False, Reason::SplitMembers));

#[test]
fn one_reading_serves_all_groups_of_a_connection_and_two_make_a_verdict() {
    let mut bench = Bench::new();
    for name in ["n/a", "n/b"] {
        bench.want(name, wish("kafka:1", name));
    }
    bench.want("n/c", wish("kafka:2", "n/c"));
    let starts = bench.starts(Duration::from_secs(60));
    assert_eq!(starts.len(), 2);
    let asked = wanted(starts[0].wishes.values());
    assert_eq!(asked.ids.len(), 2);
    let read = Ok(found(&[group("n/a", true), group("n/b", false)]));
    for start in starts {
        assert!(bench.watcher.ended(start, &read, bench.now).is_empty());
    }
    assert_eq!(bench.says("n/a"), None);
    // The second reading follows soon.
    assert!(bench.starts(POLL).is_empty());
    let starts = bench.starts(POLL);
    let first = starts.into_iter().next().unwrap();
    let told = bench.watcher.ended(first, &read, bench.now);
    assert_eq!(told, ["n/a", "n/b"]);
    assert_eq!(bench.says("n/a"), TOGETHER);
    assert_eq!(bench.says("n/b"), SPLIT);
}

#[test]
fn what_differs_once_changes_nothing() {
    let mut bench = Bench::new();
    bench.want("n/a", wish("kafka:1", "app"));
    bench.read(POLL * 2, &[group("app", true)]);
    assert_eq!(bench.read(POLL * 2, &[group("app", true)]), ["n/a"]);
    // From then on at leisure.
    assert!(bench.starts(POLL * 5).is_empty());
    assert!(bench.read(POLL, &[group("app", false)]).is_empty());
    assert_eq!(bench.says("n/a"), TOGETHER);
    assert!(bench.read(POLL * 2, &[group("app", true)]).is_empty());
    assert!(bench.read(POLL * 6, &[group("app", false)]).is_empty());
    assert_eq!(bench.read(POLL * 2, &[group("app", false)]), ["n/a"]);
    assert_eq!(bench.says("n/a"), SPLIT);
    // The same again is nothing to tell.
    assert!(bench.read(POLL * 6, &[group("app", false)]).is_empty());
}

#[test]
fn silence_says_something_once_it_lasts() {
    let mut bench = Bench::new();
    bench.want("n/a", wish("kafka:1", "app"));
    for _ in 0..2 {
        bench.read(POLL * 6, &[group("app", true)]);
    }
    for _ in 0..3 {
        assert!(bench.silence(POLL * 6).is_empty());
        assert_eq!(bench.says("n/a"), TOGETHER);
    }
    assert_eq!(bench.silence(POLL * 6), ["n/a"]);
    let unknown = Some((Verdict::Unknown, Reason::ReadIncomplete));
    assert_eq!(bench.says("n/a"), unknown);
}

#[test]
fn what_was_wanted_meanwhile_is_not_judged_by_an_older_reading() {
    let mut bench = Bench::new();
    bench.want("n/a", wish("kafka:1", "app"));
    let starts = bench.starts(POLL * 2);
    bench.want("n/a", wish("kafka:1", "other"));
    bench.want("n/b", wish("kafka:1", "app"));
    for start in starts {
        let read = Ok(found(&[group("app", true)]));
        assert!(bench.watcher.ended(start, &read, bench.now).is_empty());
    }
    let starts = bench.starts(POLL * 2);
    let asked = wanted(starts[0].wishes.values());
    assert_eq!(asked.ids.into_iter().collect::<Vec<_>>(), ["app", "other"]);
}

#[test]
fn who_is_forgotten_or_suspended_is_not_read_for() {
    let mut bench = Bench::new();
    bench.want("n/a", wish("kafka:1", "app"));
    for _ in 0..2 {
        bench.read(POLL * 6, &[group("app", true)]);
    }
    bench.watcher.suspend("n/a");
    assert!(bench.starts(POLL * 60).is_empty());
    assert_eq!(bench.says("n/a"), TOGETHER);
    bench.want("n/a", wish("kafka:1", "app"));
    // Forgotten while it is read.
    let starts = bench.starts(POLL * 6);
    bench.watcher.forget("n/a");
    for start in starts {
        assert!(bench.watcher.ended(start, &silent(), bench.now).is_empty());
    }
    assert_eq!(bench.says("n/a"), None);
    assert!(bench.watcher.lock().lanes.is_empty());
    assert_eq!(bench.watcher.lock().running, 0);
}

#[test]
fn a_missing_right_is_named_and_a_way_that_is_closed_here_is_no_silence() {
    let wish = wish("kafka:1", "app");
    let refused = GroupError::NotAuthorized("DESCRIBE on the group app".to_owned());
    let found = FoundGroups {
        groups: BTreeMap::from([("app".to_owned(), Err(refused))]),
        unlisted: BTreeMap::new(),
    };
    let said = of(&wish, &found);
    assert_eq!(said.reason, Reason::GroupNotAuthorized);
    assert!(
        said.message.contains("DESCRIBE on the group app"),
        "{}",
        said.message
    );
    let closed = Error::CertificateRejected("no name".to_owned());
    assert_eq!(nothing(&wish, &closed).reason, Reason::UnsupportedGroup);
}

#[test]
fn a_status_is_remembered_if_it_is_of_this_generation() {
    let wish = wish("kafka:1", "app");
    let read = FoundGroups {
        groups: BTreeMap::from([("app".to_owned(), Ok(group("app", true)))]),
        unlisted: BTreeMap::new(),
    };
    let said = of(&wish, &read);
    let topic = |name: &str| TopicStatus {
        name: name.to_owned(),
        partitions: Some(2),
        ..TopicStatus::default()
    };
    let condition: k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition =
        serde_json::from_value(serde_json::json!({
            "type": "ConsumersColocated",
            "status": "True",
            "reason": "Colocated",
            "message": said.message,
            "observedGeneration": 3,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }))
        .unwrap();
    let status = GroupStatus {
        topics: vec![topic("left"), topic("right")],
        conditions: vec![condition],
        ..GroupStatus::default()
    };
    let written = of_status(&status, Some(3), &wish.asked).unwrap();
    assert_eq!(of_status(&status, Some(4), &wish.asked), None);
    let mut bench = Bench::new();
    bench.watcher.want("n/a", wish, Some(written));
    assert_eq!(bench.says("n/a"), TOGETHER);
    // After a restart nothing is said that was said already.
    assert!(bench.read(POLL * 6, &[group("app", true)]).is_empty());
    assert!(bench.read(POLL * 6, &[group("app", true)]).is_empty());
}
