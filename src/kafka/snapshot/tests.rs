use super::*;
use std::time::Duration;

const GAP: Duration = Duration::from_secs(1);

/// A snapshot and a clock: each reading is made two seconds after the one before.
struct World {
    snapshot: Snapshot,
    now: Instant,
    stamp: u64,
    poll: u64,
}

fn world() -> World {
    World {
        snapshot: Snapshot::new(Doubt {
            gap: GAP,
            misses: 3,
        }),
        now: Instant::now(),
        stamp: 0,
        poll: 0,
    }
}

fn description(id: &str, partitions: i32) -> TopicDescription {
    TopicDescription {
        id: id.to_owned(),
        partitions,
        replication_factor: 1,
        leaderless: 0,
    }
}

fn present(id: &str, partitions: i32) -> Seen {
    Seen::Present {
        description: description(id, partitions),
        records: Some(Records::None),
        config: ConfigSeen::NotAsked,
    }
}

fn with_records(id: &str, records: Option<Records>) -> Seen {
    Seen::Present {
        description: description(id, 6),
        records,
        config: ConfigSeen::NotAsked,
    }
}

fn with_config(id: &str, config: ConfigSeen) -> Seen {
    Seen::Present {
        description: description(id, 6),
        records: None,
        config,
    }
}

fn config(value: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("retention.ms".to_owned(), value.to_owned())])
}

fn names(topics: &[&str]) -> BTreeSet<String> {
    topics.iter().map(|topic| (*topic).to_owned()).collect()
}

impl World {
    fn reading(&mut self, cluster: &str, topics: Vec<(&str, Seen)>) -> Reading {
        self.stamp += 1;
        self.poll += 1;
        self.now += 2 * GAP;
        Reading {
            stamp: self.stamp,
            poll: self.poll,
            at: self.now,
            cluster_id: cluster.to_owned(),
            topics: topics
                .into_iter()
                .map(|(topic, seen)| (topic.to_owned(), seen))
                .collect(),
        }
    }

    fn read(&mut self, topics: Vec<(&str, Seen)>) -> Changed {
        let reading = self.reading("one", topics);
        self.snapshot.merge(reading)
    }

    fn is_due(&self, topic: &str) -> bool {
        self.snapshot.is_due(topic, false, self.now)
    }

    fn view(&self, topic: &str) -> Option<TopicView> {
        self.snapshot.views(&names(&[topic])).remove(topic)
    }

    fn state(&self, topic: &str) -> TopicState {
        match self.view(topic).unwrap().reading {
            TopicReading::Present(state) => state,
            other => panic!("{topic} is {other:?}"),
        }
    }
}

#[test]
fn a_view_needs_every_topic_and_every_wanted_config() {
    let mut world = world();
    assert_eq!(world.snapshot.view(&names(&[]), &names(&[])), None);
    world.read(vec![("a", present("A", 6))]);
    assert_eq!(world.snapshot.view(&names(&["a", "b"]), &names(&[])), None);
    assert!(world.snapshot.is_unread("b", false));
    world.read(vec![("b", Seen::Missing)]);
    let view = world
        .snapshot
        .view(&names(&["a", "b"]), &names(&[]))
        .unwrap();
    assert_eq!(view.cluster_id, "one");
    assert_eq!(view.topics.len(), 2);
    // The config of a topic that does not exist can't be waited for.
    assert!(
        world
            .snapshot
            .view(&names(&["b"]), &names(&["b"]))
            .is_some()
    );
    assert_eq!(world.snapshot.view(&names(&["a"]), &names(&["a"])), None);
    world.read(vec![("a", with_config("A", ConfigSeen::Read(config("1"))))]);
    let view = world.snapshot.view(&names(&["a"]), &names(&["a"]));
    assert!(view.is_some());
}

#[test]
fn one_miss_keeps_a_topic_and_a_second_one_does_not() {
    let mut world = world();
    world.read(vec![("a", present("A", 6))]);
    let before = world.view("a").unwrap();
    assert_eq!(world.read(vec![("a", Seen::Missing)]).topics, names(&["a"]));
    let once = world.view("a").unwrap();
    assert_eq!((once.reading, once.misses), (before.reading.clone(), 1));
    world.read(vec![("a", Seen::Missing)]);
    let twice = TopicView {
        reading: TopicReading::Missing,
        misses: 2,
    };
    assert_eq!(world.view("a"), Some(twice.clone()));
    assert_eq!(world.read(vec![("a", Seen::Missing)]), Changed::default());
    assert_eq!(world.view("a"), Some(twice));
    world.read(vec![("a", present("A", 6))]);
    assert_eq!(world.view("a"), Some(before));
}

#[test]
fn misses_count_only_in_a_row() {
    let mut world = world();
    world.read(vec![("a", present("A", 6))]);
    for _ in 0..3 {
        world.read(vec![("a", Seen::Missing)]);
        assert_eq!(world.view("a").unwrap().misses, 1);
        world.read(vec![("a", present("A", 6))]);
        assert_eq!(world.view("a").unwrap().misses, 0);
    }
}

#[test]
fn a_topic_that_was_never_there_is_missing_at_once() {
    let mut world = world();
    for misses in [1, 2, 2] {
        world.read(vec![("a", Seen::Missing)]);
        assert_eq!(
            world.view("a"),
            Some(TopicView {
                reading: TopicReading::Missing,
                misses
            })
        );
    }
}

#[test]
fn two_misses_at_nearly_the_same_time_are_one() {
    let mut world = world();
    world.read(vec![("a", present("A", 6))]);
    world.read(vec![("a", Seen::Missing)]);
    let soon = world.now + GAP / 2;
    let mut again = world.reading("one", vec![("a", Seen::Missing)]);
    again.at = soon;
    assert_eq!(world.snapshot.merge(again), Changed::default());
    assert_eq!(world.view("a").unwrap().misses, 1);
    world.read(vec![("a", Seen::Missing)]);
    assert_eq!(world.view("a").unwrap().misses, 2);
}

#[test]
fn an_own_creation_is_awaited_until_it_shows_or_the_deadline() {
    let mut world = world();
    world.read(vec![("a", Seen::Missing)]);
    let missing = world.view("a");
    let until = world.now + 10 * GAP;
    world.snapshot.expect("a", 0, until);
    world.snapshot.expect("b", 0, until);
    world.read(vec![("a", Seen::Missing), ("b", Seen::Missing)]);
    world.read(vec![("a", Seen::Missing), ("b", Seen::Missing)]);
    assert_eq!(world.view("a"), missing);
    assert_eq!(world.view("b"), None);
    assert!(world.snapshot.is_unread("b", false));
    assert!(world.snapshot.is_awaited("b", world.now));
    world.read(vec![("a", present("A", 6))]);
    assert!(!world.snapshot.is_awaited("a", world.now));
    for _ in 0..5 {
        world.read(vec![("b", Seen::Missing)]);
    }
    assert!(!world.snapshot.is_awaited("b", world.now));
    assert_eq!(world.view("b").unwrap().reading, TopicReading::Missing);
}

#[test]
fn an_own_growth_is_awaited_until_the_count_shows() {
    let mut world = world();
    world.read(vec![("a", present("A", 6))]);
    let until = world.now + 100 * GAP;
    world.snapshot.expect("a", 6, until);
    assert!(
        !world.snapshot.is_awaited("a", world.now),
        "it shows already"
    );
    world.snapshot.expect("a", 8, until);
    world.read(vec![("a", present("A", 6))]);
    assert!(world.snapshot.is_awaited("a", world.now));
    world.read(vec![("a", present("A", 8))]);
    assert!(!world.snapshot.is_awaited("a", world.now));
}

#[test]
fn a_lower_count_under_the_same_id_is_an_answer_from_the_past() {
    let mut world = world();
    world.read(vec![("a", present("A", 8))]);
    assert_eq!(world.read(vec![("a", present("A", 6))]), Changed::default());
    assert_eq!(world.state("a").partitions, 8);
    world.read(vec![("a", present("B", 6))]);
    assert_eq!(world.state("a").partitions, 6);
}

#[test]
fn records_once_seen_stay_seen_under_the_same_id() {
    let mut world = world();
    let unreadable = Records::Unreadable("x".to_owned());
    world.read(vec![("a", with_records("A", Some(Records::None)))]);
    assert_eq!(world.state("a").records, Records::None);
    assert!(!world.snapshot.holds_records("a", &"A".to_owned()));
    for _ in 0..3 {
        world.read(vec![("a", with_records("A", Some(unreadable.clone())))]);
    }
    assert_eq!(world.state("a").records, unreadable);
    world.read(vec![("a", with_records("A", None))]);
    assert_eq!(world.state("a").records, unreadable);
    world.read(vec![("a", with_records("A", Some(Records::Some)))]);
    assert!(world.snapshot.holds_records("a", &"A".to_owned()));
    for later in [Some(Records::None), Some(unreadable), None] {
        world.read(vec![("a", with_records("A", later))]);
        assert_eq!(world.state("a").records, Records::Some);
        assert_eq!(world.view("a").unwrap().misses, 0);
    }
    world.read(vec![("a", Seen::Missing)]);
    world.read(vec![("a", Seen::Missing)]);
    world.read(vec![("a", with_records("A", None))]);
    assert_eq!(world.state("a").records, Records::Some);
    world.read(vec![("a", with_records("B", None))]);
    assert!(matches!(world.state("a").records, Records::Unreadable(_)));
    world.read(vec![("a", with_records("B", Some(Records::None)))]);
    assert_eq!(world.state("a").records, Records::None);
}

#[test]
fn a_config_is_kept_until_it_is_read_again_or_the_id_changes() {
    let mut world = world();
    let id = "A".to_owned();
    world.read(vec![("a", with_config("A", ConfigSeen::NotAsked))]);
    assert_eq!(world.snapshot.config_read("a", &id), None);
    assert!(world.snapshot.is_unread("a", true));
    world.read(vec![("a", with_config("A", ConfigSeen::Failed))]);
    // It was tried, so the view is complete, but the next poll tries again.
    assert!(!world.snapshot.is_unread("a", true));
    assert_eq!(world.snapshot.config_read("a", &id), None);
    assert_eq!(world.state("a").config, None);
    world.read(vec![("a", with_config("A", ConfigSeen::Read(config("1"))))]);
    let read = world.poll;
    for seen in [ConfigSeen::NotAsked, ConfigSeen::Failed] {
        world.read(vec![("a", with_config("A", seen))]);
        assert_eq!(world.state("a").config, Some(config("1")));
        assert_eq!(world.snapshot.config_read("a", &id), Some(read));
    }
    world.read(vec![("a", with_config("A", ConfigSeen::Unreadable))]);
    assert_eq!(world.state("a").config, None);
    world.read(vec![("a", with_config("A", ConfigSeen::Read(config("2"))))]);
    world.read(vec![("a", with_config("B", ConfigSeen::NotAsked))]);
    assert_eq!(world.state("a").config, None);
    assert_eq!(world.snapshot.config_read("a", &"B".to_owned()), None);
}

/// Readings that tell nothing of a topic, each of another kind.
fn untold() -> [(Seen, TopicReading); 2] {
    let words = "words".to_owned();
    [
        (Seen::NotAuthorized, TopicReading::NotAuthorized),
        (Seen::Failed(words.clone()), TopicReading::Failed(words)),
    ]
}

#[test]
fn what_was_read_stands_until_three_readings_in_a_row_tell_nothing() {
    for (seen, told) in untold() {
        for before in [present("A", 6), Seen::Missing] {
            let mut world = world();
            world.read(vec![("a", before.clone())]);
            world.read(vec![("a", before)]);
            let stood = world.view("a").unwrap();
            for _ in 0..2 {
                world.read(vec![("a", seen.clone())]);
                let view = world.view("a").unwrap();
                assert_eq!((view.reading, view.misses), (stood.reading.clone(), 1));
            }
            world.read(vec![("a", seen.clone())]);
            let view = world.view("a").unwrap();
            assert_eq!((view.reading, view.misses), (told.clone(), 0));
        }
    }
}

#[test]
fn an_answer_ends_the_doubt() {
    for (seen, _) in untold() {
        let mut world = world();
        world.read(vec![("a", present("A", 6))]);
        let stood = world.view("a");
        for _ in 0..3 {
            world.read(vec![("a", seen.clone())]);
            world.read(vec![("a", seen.clone())]);
            // Also one that did not ask for offsets.
            world.read(vec![("a", with_records("A", None))]);
            assert_eq!(world.view("a"), stood);
        }
    }
}

#[test]
fn readings_at_nearly_the_same_time_are_one_doubt() {
    let mut world = world();
    world.read(vec![("a", present("A", 6))]);
    let at = world.now + GAP;
    for _ in 0..5 {
        let reading = world.reading("one", vec![("a", Seen::NotAuthorized)]);
        world.snapshot.merge(Reading { at, ..reading });
    }
    assert!(present_state(&world.view("a").unwrap()));
}

fn present_state(view: &TopicView) -> bool {
    matches!(view.reading, TopicReading::Present(_))
}

#[test]
fn a_failure_between_two_misses_does_not_make_the_first_one_a_proof() {
    let mut world = world();
    world.read(vec![("a", present("A", 6))]);
    world.read(vec![("a", Seen::Failed("words".to_owned()))]);
    world.read(vec![("a", Seen::Missing)]);
    assert!(present_state(&world.view("a").unwrap()), "one miss");
    world.read(vec![("a", Seen::Missing)]);
    let view = world.view("a").unwrap();
    assert_eq!((view.reading, view.misses), (TopicReading::Missing, 2));
    // Nor does it bring the topic back.
    world.read(vec![("a", Seen::Failed("words".to_owned()))]);
    let view = world.view("a").unwrap();
    assert_eq!((view.reading, view.misses), (TopicReading::Missing, 1));
    world.read(vec![("a", Seen::Missing)]);
    assert_eq!(world.view("a").unwrap().misses, 2);
}

#[test]
fn a_topic_that_was_never_read_is_denied_at_once_and_unknown_after_three_failures() {
    let mut world = world();
    let [(denied, denial), (failed, failure)] = untold();
    world.read(vec![("a", denied), ("b", failed.clone())]);
    assert_eq!(world.view("a").unwrap().reading, denial);
    assert_eq!(world.view("b"), None);
    world.read(vec![("b", failed.clone())]);
    assert_eq!(world.view("b"), None);
    world.read(vec![("b", failed)]);
    assert_eq!(world.view("b").unwrap().reading, failure);
}

#[test]
fn nothing_is_decided_on_a_new_topic_before_its_offsets_are_read() {
    let mut world = world();
    // The leaders of its partitions are not elected yet, or nobody asked.
    let unreadable = Some(Records::Unreadable("no leader".to_owned()));
    for records in [unreadable.clone(), None, unreadable] {
        world.read(vec![("a", with_records("A", records))]);
        assert_eq!(world.view("a").unwrap().misses, 1);
        assert!(world.is_due("a"));
    }
    world.read(vec![("a", with_records("A", Some(Records::None)))]);
    assert_eq!(world.view("a").unwrap().misses, 0);
    assert!(!world.is_due("a"));
    // The same once more for another topic of this name.
    world.read(vec![("a", with_records("B", None))]);
    assert_eq!(world.view("a").unwrap().misses, 1);
}

#[test]
fn offsets_that_become_unreadable_are_doubted_and_then_believed() {
    let mut world = world();
    let unreadable = || with_records("A", Some(Records::Unreadable("words".to_owned())));
    world.read(vec![("a", with_records("A", Some(Records::None)))]);
    for _ in 0..2 {
        world.read(vec![("a", unreadable())]);
        assert_eq!(world.view("a").unwrap().misses, 1);
        assert!(world.is_due("a"), "to be read again soon");
        assert_eq!(world.state("a").records, Records::None);
        // A reading that did not ask for them says nothing of them.
        world.read(vec![("a", with_records("A", None))]);
    }
    world.read(vec![("a", unreadable())]);
    assert_eq!(world.view("a").unwrap().misses, 0);
    assert!(!world.is_due("a"));
    assert!(matches!(world.state("a").records, Records::Unreadable(_)));
    world.read(vec![("a", with_records("A", Some(Records::None)))]);
    assert_eq!(world.state("a").records, Records::None);
}

#[test]
fn what_started_earlier_is_older_whenever_it_ends() {
    let mut world = world();
    let early = world.reading("one", vec![("a", present("A", 6)), ("b", present("B", 6))]);
    world.read(vec![("a", present("A", 8))]);
    let changed = world.snapshot.merge(early);
    assert_eq!(changed.topics, names(&["b"]));
    assert_eq!(world.state("a").partitions, 8);
}

#[test]
fn another_cluster_discards_everything_at_once() {
    let mut world = world();
    world.read(vec![
        ("a", with_records("A", Some(Records::Some))),
        ("b", present("B", 6)),
    ]);
    let late = world.reading("one", vec![("b", present("B", 8))]);
    let reading = world.reading("two", vec![("a", Seen::Missing)]);
    let changed = world.snapshot.merge(reading);
    assert!(changed.cluster);
    assert_eq!(changed.topics, names(&["a", "b"]));
    // No memory of the other cluster makes this a first miss of an existing topic.
    assert_eq!(
        world.view("a"),
        Some(TopicView {
            reading: TopicReading::Missing,
            misses: 1
        })
    );
    assert_eq!(world.view("b"), None);
    assert_eq!(world.snapshot.view(&names(&["a", "b"]), &names(&[])), None);
    assert_eq!(world.snapshot.merge(late), Changed::default());
    assert_eq!(world.snapshot.cluster_id(), Some(&"two".to_owned()));
    assert!(!world.snapshot.holds_records("a", &"A".to_owned()));
}

#[test]
fn the_first_cluster_is_no_change_of_cluster() {
    let mut world = world();
    let changed = world.read(vec![("a", present("A", 6))]);
    assert_eq!(
        changed,
        Changed {
            cluster: false,
            topics: names(&["a"])
        }
    );
    assert_eq!(world.read(vec![("a", present("A", 6))]), Changed::default());
    world.snapshot.forget(&["a".to_owned()]);
    assert_eq!(world.view("a"), None);
}
