//! Tests of the decisions, one file a theme. A [`World`] is a group, its memory and a Kafka of plain data: tests say
//! what people and other programs do to it, let passes run, and look at what was decided and said.

mod auto_created;
mod breaks;
mod configs;
mod consents;
mod crashes;
mod create;
mod drift;
mod follow;
mod freeze;
mod locks;
mod messages;
mod model;
mod once;
mod outcomes;
mod placed;
mod quiet;
mod records;
mod schemes;
mod strangers;
mod summaries;

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::keys::KeyScheme;

/// What a topic holds, in the words of the tests.
const EMPTY: Records = Records::None;
const FULL: Records = Records::Some;

fn unreadable() -> Records {
    Records::Unreadable("no leader".to_owned())
}

/// A group, its memory, and what Kafka shows.
#[derive(Clone, Debug)]
struct World {
    group: Group,
    memory: Memory,
    view: View,
    locks: LocksView,
    me: Owner,
    take_over: BTreeSet<String>,
    conflicts: BTreeMap<String, String>,
    /// What Kafka said to the last actions.
    outcomes: Outcomes,
    /// Ids given so far: each topic ever made has its own.
    ids: usize,
}

/// A group that declares this count (0: none) and nothing else yet, on an empty cluster.
fn group(partitions: i32) -> World {
    World {
        group: Group {
            observe: false,
            paused: false,
            partitions: (partitions > 0).then_some(partitions),
            replication_factor: None,
            topics: Vec::new(),
            sample_keys: Vec::new(),
            redis_templates: Vec::new(),
            alter_lock: false,
            verification: false,
            consumer_groups: Vec::new(),
            consent: None,
            data_loss: None,
            acknowledged: BTreeSet::new(),
        },
        memory: Memory::default(),
        view: View {
            cluster_id: "K1".to_owned(),
            topics: BTreeMap::new(),
        },
        locks: LocksView::Unread,
        me: owner("main", "uid-1"),
        take_over: BTreeSet::new(),
        conflicts: BTreeMap::new(),
        outcomes: Outcomes::default(),
        ids: 0,
    }
}

fn owner(installation: &str, kube_system_uid: &str) -> Owner {
    Owner {
        installation: installation.to_owned(),
        kube_system_uid: kube_system_uid.to_owned(),
    }
}

/// A group whose Managed topics all have this count, hold records, and were seen so.
fn settled(partitions: i32, topics: &[&str]) -> World {
    let mut world = group(partitions);
    for topic in topics {
        world.manages(topic).has(topic, partitions, FULL);
    }
    let decision = world.passes();
    assert!(decision.aligned() && decision.actions.is_empty());
    world
}

fn strings(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// What the spec says.
impl World {
    fn manages(&mut self, topic: &str) -> &mut Self {
        self.declares(topic, true)
    }

    fn references(&mut self, topic: &str) -> &mut Self {
        self.declares(topic, false)
    }

    fn declares(&mut self, topic: &str, managed: bool) -> &mut Self {
        self.group.topics.push(Topic {
            name: topic.to_owned(),
            managed,
            config: BTreeMap::new(),
            scheme: None,
            producers: Vec::new(),
        });
        if !self.view.topics.contains_key(topic) {
            self.shows(topic, TopicReading::Missing, 1);
        }
        self
    }

    fn config(&mut self, topic: &str, key: &str, value: &str) -> &mut Self {
        let declared = self.group.topics.iter_mut().find(|t| t.name == topic);
        let config = &mut declared.unwrap().config;
        config.insert(key.to_owned(), value.to_owned());
        self
    }

    fn scheme(&mut self) -> &mut Self {
        for topic in &mut self.group.topics {
            topic.scheme = Some(KeyScheme::parse("utf8", "murmur2").unwrap());
        }
        self
    }

    fn wants(&mut self, partitions: i32) -> &mut Self {
        self.group.partitions = Some(partitions);
        self
    }

    fn observes(&mut self) -> &mut Self {
        self.group.observe = true;
        for topic in &mut self.group.topics {
            topic.managed = false;
        }
        self
    }

    fn enforces(&mut self) -> &mut Self {
        self.group.observe = false;
        for topic in &mut self.group.topics {
            topic.managed = true;
        }
        self
    }

    fn consent(&mut self, topics: &[&str], from: i32, to: i32) -> &mut Self {
        self.group.consent = Some(Consent {
            topics: strings(topics),
            from,
            to,
            topic_ids: BTreeSet::new(),
        });
        self
    }

    fn with_ids(&mut self, ids: &[&str]) -> &mut Self {
        self.group.consent.as_mut().unwrap().topic_ids = strings(ids);
        self
    }

    fn accepts_loss(&mut self, topic: &str, keys: &[&str]) -> &mut Self {
        self.group.data_loss = Some((topic.to_owned(), strings(keys)));
        self
    }

    fn acknowledges(&mut self, id: &str) -> &mut Self {
        self.group.acknowledged.insert(id.to_owned());
        self
    }
}

/// What happens on Kafka.
impl World {
    fn shows(&mut self, topic: &str, reading: TopicReading, misses: u8) -> &mut Self {
        let view = TopicView { reading, misses };
        self.view.topics.insert(topic.to_owned(), view);
        self
    }

    /// The topic is made, under a new id: `a#1`, `a#2`, ...
    fn has(&mut self, topic: &str, partitions: i32, records: Records) -> &mut Self {
        self.ids += 1;
        let live = TopicState {
            id: format!("{topic}#{}", self.ids),
            partitions,
            replication_factor: 1,
            records,
            config: Some(BTreeMap::from(
                [
                    ("cleanup.policy", "delete"),
                    ("retention.ms", "604800000"),
                    ("retention.bytes", "-1"),
                    ("min.insync.replicas", "1"),
                    ("unclean.leader.election.enable", "false"),
                    ("min.cleanable.dirty.ratio", "0.5"),
                ]
                .map(|(key, value)| (key.to_owned(), value.to_owned())),
            )),
        };
        self.shows(topic, TopicReading::Present(live), 0)
    }

    fn live(&mut self, topic: &str) -> &mut TopicState {
        match &mut self.view.topics.get_mut(topic).unwrap().reading {
            TopicReading::Present(live) => live,
            other => panic!("{topic}: {other:?}"),
        }
    }

    fn id(&mut self, topic: &str) -> String {
        self.live(topic).id.clone()
    }

    fn count(&mut self, topic: &str) -> i32 {
        self.live(topic).partitions
    }

    /// Partitions are added by somebody else.
    fn grown(&mut self, topic: &str, partitions: i32) -> &mut Self {
        self.live(topic).partitions = partitions;
        self
    }

    fn holds(&mut self, topic: &str, records: Records) -> &mut Self {
        self.live(topic).records = records;
        self
    }

    fn live_config(&mut self, topic: &str, key: &str, value: &str) -> &mut Self {
        let config = self.live(topic).config.as_mut().unwrap();
        config.insert(key.to_owned(), value.to_owned());
        self
    }

    /// Deleted, and seen so often enough.
    fn deleted(&mut self, topic: &str) -> &mut Self {
        self.shows(topic, TopicReading::Missing, 2)
    }

    fn cluster(&mut self, id: &str) -> &mut Self {
        id.clone_into(&mut self.view.cluster_id);
        self
    }
}

/// What the operator does.
impl World {
    fn decide(&self) -> Decision {
        decide(&Input {
            group: &self.group,
            memory: &self.memory,
            view: &self.view,
            locks: &self.locks,
            me: &self.me,
            take_over: &self.take_over,
            conflicts: &self.conflicts,
        })
    }

    /// A pass that ends before anything is written to Kafka.
    fn looks(&mut self) -> Decision {
        let decision = self.decide();
        self.memory = decision.memory.clone();
        decision
    }

    /// A whole pass; Kafka does what it is asked for.
    fn acts(&mut self) -> Decision {
        let decision = self.looks();
        self.apply(&decision.actions);
        decision
    }

    fn apply(&mut self, actions: &Actions) {
        for create in &actions.creates {
            self.has(&create.topic, create.partitions, EMPTY);
            for (key, value) in &create.config {
                self.live_config(&create.topic, key, value);
            }
            self.memory.mark_created(&create.topic);
        }
        for grow in &actions.growths {
            self.grown(&grow.topic, grow.to);
        }
        for alter in &actions.configs {
            for (key, value) in &alter.set {
                self.live_config(&alter.topic, key, value);
            }
        }
    }

    /// Passes until nothing changes any more; the last decision.
    fn passes(&mut self) -> Decision {
        for _ in 0..5 {
            let before = self.clone();
            let decision = self.acts();
            if decision.actions.is_empty() && self.memory == before.memory {
                return decision;
            }
        }
        panic!("not settled after five passes: {self:#?}");
    }

    /// Nothing is planned, on this look and on later ones.
    fn rests(&mut self) {
        for _ in 0..3 {
            assert_eq!(self.looks().actions, Actions::default());
        }
    }

    fn report(&self) -> Report {
        report(&self.group, &self.decide(), &self.outcomes)
    }

    fn condition(&self, kind: ConditionType) -> Condition {
        let report = self.report();
        let all = report.conditions.iter().cloned();
        let summary = summarise(&report.conditions, self.group.observe);
        all.chain(summary).find(|c| c.kind == kind).unwrap()
    }

    /// The status and the reason of `PartitionsAligned`.
    fn verdict(&self) -> (State, Reason) {
        let condition = self.condition(ConditionType::PartitionsAligned);
        (condition.state, condition.reason)
    }

    fn stands(&self, reason: Reason) {
        let condition = self.condition(ConditionType::PartitionsAligned);
        assert_eq!(condition.reason, reason, "{}", condition.message);
        assert_ne!(condition.state, State::True);
    }

    fn is_aligned(&self) {
        let found = self.condition(ConditionType::PartitionsAligned);
        assert_eq!(found.state, State::True, "{}", found.message);
        assert_eq!(found.reason, Reason::Aligned);
    }

    /// The message of a condition holds all these parts.
    fn says(&self, kind: ConditionType, parts: &[&str]) {
        let message = self.condition(kind).message;
        for part in parts {
            assert!(message.contains(part), "no {part:?} in {message:?}");
        }
    }
}

/// Growths as `(topic, from, to)`.
fn growths(decision: &Decision) -> Vec<(&str, i32, i32)> {
    let growths = decision.actions.growths.iter();
    growths
        .map(|grow| (grow.topic.as_str(), grow.from, grow.to))
        .collect()
}

/// Creations as `(topic, partitions)`.
fn creates(decision: &Decision) -> Vec<(&str, i32)> {
    let creates = decision.actions.creates.iter();
    creates
        .map(|create| (create.topic.as_str(), create.partitions))
        .collect()
}
