//! Consumer groups as they are read from brokers: of every protocol, with real members, by one reader.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use copartition::kafka::{
    Client, ConnectionSettings, FoundGroups, GroupReader, Metrics, WantedGroups, WriteGuard,
};
use copartition::placement::{
    Asked, ConsumerGroup, Counted, Outcome, Phase, Protocol, Reason, judge,
};
use tokio::runtime::Runtime;

use crate::env::{Env, unique, wait_for};
use crate::joiner::join_in_pairs;
use crate::members::Members;

/// JVMs that join share two cores with servers.
const DEADLINE: Duration = Duration::from_secs(120);

/// A reader with a runtime of its own, for tests that are not async.
pub(crate) struct Reader {
    runtime: Runtime,
    client: Client,
    groups: GroupReader,
    pub(crate) metrics: Arc<Metrics>,
}

impl Reader {
    pub(crate) fn new(settings: &ConnectionSettings) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let metrics = Arc::new(Metrics::default());
        let client = {
            let _context = runtime.enter();
            Client::connect(settings, Arc::clone(&metrics), &WriteGuard::default())
                .expect("a client")
        };
        Self {
            runtime,
            client,
            groups: GroupReader::default(),
            metrics,
        }
    }

    pub(crate) fn read(&mut self, wanted: &WantedGroups) -> FoundGroups {
        let read = self.groups.read(&self.client, wanted, Duration::ZERO);
        self.runtime.block_on(read).expect("the brokers answer")
    }

    /// How many questions were asked.
    fn requests(&self) -> u64 {
        let apis = [
            "Metadata",
            "ListGroups",
            "DescribeGroups",
            "ConsumerGroupDescribe",
            "StreamsGroupDescribe",
        ];
        let asked = apis.iter();
        asked.map(|api| self.metrics.requests(api, "Ok")).sum()
    }

    /// A group by its id, once its coordinator tells of it.
    fn group(&mut self, id: &str) -> Result<ConsumerGroup, String> {
        let wanted = by_id(&[id]);
        let mut found = self.read(&wanted);
        let group = found.groups.remove(id).expect("an answer for each id");
        group.map_err(|error| error.to_string())
    }

    /// Waits until a group is stable with so many members.
    fn stable(&mut self, id: &str, members: usize, process: &Members) -> ConsumerGroup {
        let what = format!("{id} to be stable with {members} members");
        wait_for(&what, DEADLINE, || {
            let group = self.group(id)?;
            let reads = group.members.iter().all(|it| !it.assigned.is_empty());
            match group.phase {
                Phase::Stable if group.members.len() == members && reads => Ok(group),
                _ => Err(format!("{group:?}; {}", process.log_tail())),
            }
        })
    }
}

pub(crate) fn by_id(ids: &[&str]) -> WantedGroups {
    WantedGroups {
        ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        prefixes: BTreeSet::new(),
    }
}

/// Who reads which partitions of a topic, by member.
fn seats(group: &ConsumerGroup, topic: &str) -> Vec<Vec<i32>> {
    let of = |it: &copartition::placement::Member| {
        let topics = it.assigned.iter().filter(|given| given.topic == topic);
        topics.flat_map(|given| given.partitions.clone()).collect()
    };
    group.members.iter().map(of).collect()
}

/// What the judge says of a group that is to read topics of three partitions together.
fn judged(group: &ConsumerGroup, topics: [&str; 2]) -> (Outcome, Reason) {
    let counted = topics.map(|name| Counted {
        name: name.to_owned(),
        partitions: 3,
    });
    let asked = Asked::Id(group.id.clone());
    judge(&counted, &[asked], std::slice::from_ref(group), &[]).says()
}

/// Whether each member reads the same-numbered partitions of both topics.
fn together(group: &ConsumerGroup, topics: [&str; 2]) -> bool {
    seats(group, topics[0]) == seats(group, topics[1])
}

fn settings(env: &Env) -> ConnectionSettings {
    ConnectionSettings::new(env.kafka.bootstrap().split(','))
}

pub(crate) fn groups_of_all_protocols_are_read_with_their_members(env: &Env) {
    let [a, b] = [unique("left"), unique("right")];
    let topics = [a.as_str(), b.as_str()];
    for topic in topics {
        env.kafka.create_topic(topic, 3);
    }
    let prefix = format!("{}-", unique("read"));
    let id = |name: &str| format!("{prefix}{name}");
    let mut members = Members::java(env);
    let consumers = [
        ("range", "classic", "range"),
        ("roundrobin", "classic", "roundrobin"),
        ("cooperative", "classic", "cooperative-sticky"),
        ("new-uniform", "consumer", "uniform"),
        ("new-range", "consumer", "range"),
    ];
    for (name, protocol, assignor) in consumers {
        for member in ["1", "2"] {
            let client = format!("{name}-{member}");
            members.consumer(&client, &id(name), protocol, assignor, &topics);
        }
    }
    let applications = [
        ("apart", "classic", "apart"),
        ("shared", "classic", "shared"),
        ("new-apart", "streams", "apart"),
        ("new-shared", "streams", "shared"),
    ];
    for (name, protocol, shape) in applications {
        for member in ["1", "2"] {
            let client = format!("{name}-{member}");
            members.streams(&client, &id(name), protocol, shape, topics);
        }
    }
    let mut reader = Reader::new(&settings(env));
    let mut read = BTreeMap::new();
    for (name, protocol, assignor) in consumers {
        let group = reader.stable(&id(name), 2, &members);
        let expected = match protocol {
            "classic" => Protocol::Classic,
            _ => Protocol::Consumer,
        };
        assert_eq!(group.protocol, expected, "{group:?}");
        assert_eq!(group.assignor.as_deref(), Some(assignor), "{group:?}");
        for topic in topics {
            let mut all: Vec<i32> = seats(&group, topic).concat();
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2], "{group:?}");
        }
        assert!(group.members.iter().all(|it| it.host.contains("127.0.0.1")));
        read.insert(name, group);
    }
    // Three partitions of two topics over two members: range keeps them together, round-robin deals them out in turn.
    let split = (Outcome::Refuted, Reason::SplitMembers);
    let kept = (Outcome::Colocated, Reason::Colocated);
    for (name, expected) in [("range", kept), ("roundrobin", split), ("new-range", kept)] {
        assert_eq!(judged(&read[name], topics), expected, "{:?}", read[name]);
    }
    // The others promise nothing: what is together is so by chance.
    let by_chance = (Outcome::Colocated, Reason::ColocatedByChance);
    for name in ["cooperative", "new-uniform"] {
        let together = together(&read[name], topics);
        let expected = if together { by_chance } else { split };
        assert_eq!(judged(&read[name], topics), expected, "{:?}", read[name]);
    }
    for (name, protocol, shape) in applications {
        let group = reader.stable(&id(name), 2, &members);
        let expected = match protocol {
            "classic" => Protocol::Classic,
            _ => Protocol::Streams,
        };
        assert_eq!(group.protocol, expected, "{group:?}");
        let sources: Vec<BTreeSet<&str>> = group
            .sub_topologies
            .iter()
            .map(|part| part.source_topics.iter().map(String::as_str).collect())
            .collect();
        let expected = match shape {
            "apart" => vec![BTreeSet::from([topics[0]]), BTreeSet::from([topics[1]])],
            _ => vec![BTreeSet::from(topics)],
        };
        assert_eq!(sources, expected, "{group:?}");
        assert!(group.members.iter().all(|it| it.process.is_some()));
        let tasks: usize = group.members.iter().map(|it| it.tasks.len()).sum();
        assert_eq!(tasks, 3 * sources.len(), "{group:?}");
        let expected = match shape {
            "shared" => kept,
            _ => (Outcome::Refuted, Reason::SeparateSubTopologies),
        };
        assert_eq!(judged(&group, topics), expected, "{group:?}");
    }
    // All of them by their prefix, in a handful of requests.
    let before = reader.requests();
    let found = reader.read(&WantedGroups {
        ids: BTreeSet::new(),
        prefixes: BTreeSet::from([prefix.clone()]),
    });
    assert_eq!(found.unlisted, BTreeMap::new());
    let names: Vec<&str> = found.groups.keys().map(|id| &id[prefix.len()..]).collect();
    let expected: BTreeSet<&str> = read
        .keys()
        .copied()
        .chain(applications.map(|(name, ..)| name))
        .collect();
    assert_eq!(names, expected.into_iter().collect::<Vec<_>>());
    assert_eq!(reader.requests() - before, 5);
    let nobody = reader.group(&unique("nobody")).expect("an answer");
    assert_eq!(nobody.phase, Phase::Missing);
    members_join_and_leave(&mut reader, &mut members, &id("range"), topics);
}

/// A third member takes its share, and gives it back.
fn members_join_and_leave(
    reader: &mut Reader,
    members: &mut Members,
    group: &str,
    topics: [&str; 2],
) {
    members.consumer("range-3", group, "classic", "range", &topics);
    let three = reader.stable(group, 3, members);
    assert!(together(&three, topics), "{three:?}");
    for name in ["range-1", "range-2", "range-3"] {
        members.close(name);
    }
    let phase = wait_for("an empty group", DEADLINE, || {
        match reader.group(group)?.phase {
            Phase::Stable | Phase::Rebalancing => Err("it has members".to_owned()),
            phase => Ok(phase),
        }
    });
    assert_eq!(phase, Phase::Empty);
}

pub(crate) fn an_application_that_stopped_over_unequal_counts_still_names_its_topics(env: &Env) {
    let [a, b] = [unique("four"), unique("three")];
    env.kafka.create_topic(&a, 4);
    env.kafka.create_topic(&b, 3);
    let mut members = Members::java(env);
    let application = unique("unequal");
    members.streams("app", &application, "streams", "join", [&a, &b]);
    let mut reader = Reader::new(&settings(env));
    let group = wait_for("the application's topology", DEADLINE, || {
        let group = reader.group(&application)?;
        let stopped = matches!(group.phase, Phase::Empty | Phase::NotReady(_));
        if stopped && !group.sub_topologies.is_empty() {
            Ok(group)
        } else {
            Err(format!("{group:?}; {}", members.log_tail()))
        }
    });
    assert_eq!(group.protocol, Protocol::Streams);
    let sources: BTreeSet<&String> = group.sub_topologies[0].source_topics.iter().collect();
    assert_eq!(sources, BTreeSet::from([&a, &b]), "{group:?}");
}

pub(crate) fn a_hundred_groups_of_two_members_take_a_few_requests(env: &Env) {
    let [left, right] = [unique("left"), unique("right")];
    for topic in [&left, &right] {
        env.kafka.create_topic(topic, 2);
    }
    let prefix = format!("{}-", unique("hundred"));
    let ids: Vec<String> = (0..100).map(|number| format!("{prefix}{number}")).collect();
    let mut reader = Reader::new(&settings(env));
    join_in_pairs(&env.kafka.bootstrap(), &ids, &[&left, &right]);
    let wanted = WantedGroups {
        ids: ids.iter().cloned().collect(),
        prefixes: BTreeSet::new(),
    };
    let (before, began) = (reader.requests(), Instant::now());
    let found = reader.read(&wanted);
    let (asked, took) = (reader.requests() - before, began.elapsed());
    println!("100 groups of two members: {asked} requests, {took:?}");
    for (id, group) in &found.groups {
        let group = group
            .as_ref()
            .unwrap_or_else(|error| panic!("{id}: {error}"));
        assert_eq!(group.phase, Phase::Stable, "{group:?}");
        assert_eq!(group.members.len(), 2, "{group:?}");
        assert!(together(group, [&left, &right]), "{group:?}");
    }
    assert_eq!(found.groups.len(), 100);
    // The issue asks for at most two a group; it is one for the brokers, one for the groups of each, and one for a hundred
    // descriptions.
    assert_eq!(asked, 3);
}
