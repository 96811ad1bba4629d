//! The world of the model: what happens on Kafka and in the spec, and passes that may end at any point.

use super::rules::{Rules, Used};
use super::*;

/// Kafka as it is, and what was done to it with which consent.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) world: World,
    pub(super) truth: BTreeMap<String, TopicState>,
    pub(super) dark: BTreeSet<String>,
    pub(super) hidden: BTreeSet<String>,
    pub(super) used: BTreeSet<Used>,
}

impl Model {
    pub(super) fn new(partitions: i32, topics: &[(bool, i32, bool)]) -> Self {
        let mut model = Model {
            world: group(partitions),
            truth: BTreeMap::new(),
            dark: BTreeSet::new(),
            hidden: BTreeSet::new(),
            used: BTreeSet::new(),
        };
        for ((managed, count, full), name) in topics.iter().zip(NAMES) {
            model.world.declares(name, *managed);
            if *count > 0 {
                model.make(name, *count, *full);
            }
        }
        model
    }

    fn make(&mut self, topic: &str, count: i32, full: bool) {
        let records = if full { FULL } else { EMPTY };
        let before = self.world.view.topics.get(topic).cloned();
        self.world.has(topic, count, records);
        let live = self.world.live(topic).clone();
        self.truth.insert(topic.to_owned(), live);
        // It was made, and nobody looked yet.
        match before {
            Some(view) => self.world.shows(topic, view.reading, view.misses),
            None => self.world.shows(topic, TopicReading::Missing, 1),
        };
    }

    /// What a reading makes of the view: a first miss keeps the reading before it.
    fn read(&mut self) {
        for name in NAMES {
            let before = self.world.view.topics.get(name).cloned();
            let misses = before.as_ref().map_or(0, |view| view.misses);
            let (reading, misses) = match self.truth.get(name) {
                _ if self.hidden.contains(name) => (TopicReading::NotAuthorized, 0),
                Some(live) => {
                    let mut live = live.clone();
                    if self.dark.contains(name) {
                        live.records = unreadable();
                    }
                    (TopicReading::Present(live), 0)
                }
                None => match before.map(|view| view.reading) {
                    Some(TopicReading::Present(live)) if misses == 0 => {
                        (TopicReading::Present(live), 1)
                    }
                    _ => (TopicReading::Missing, 2.min(misses + 1)),
                },
            };
            self.world.shows(name, reading, misses);
        }
    }

    pub(super) fn happens(&mut self, event: &Event) {
        let pick = |topics: &[bool]| -> Vec<&str> {
            let chosen = NAMES.into_iter().zip(topics).filter(|(_, named)| **named);
            chosen.map(|(name, _)| name).collect()
        };
        match event {
            Event::Wants(count) => self.world.group.partitions = (*count > 0).then_some(*count),
            Event::Consents(topics, from, to, ids) => {
                self.world.consent(&pick(topics), *from, *to);
                self.name_ids(*ids);
            }
            Event::ConsentsToLive(topics, ids) => {
                let named = pick(topics);
                let live = named.first().and_then(|name| self.truth.get(*name));
                if let (Some(live), Some(to)) = (live, self.world.group.partitions) {
                    let from = live.partitions;
                    self.world.consent(&named, from, to);
                    self.name_ids(*ids);
                }
            }
            Event::ConsentsToNothing => self.world.group.consent = None,
            Event::FollowsTheMessage => self.world.follows_the_message(),
            Event::Leaves(at) => self.world.group.topics.retain(|t| t.name != NAMES[*at]),
            Event::Joins(at, managed) => {
                let managed = *managed && !self.world.group.observe;
                if self.world.group.topic(NAMES[*at]).is_none() {
                    self.world.declares(NAMES[*at], managed);
                }
            }
            Event::Observes(true) => drop(self.world.observes()),
            Event::Observes(false) => drop(self.world.enforces()),
            Event::Pauses(paused) => self.world.group.paused = *paused,
            Event::Acknowledges(at) => {
                let recorded = self.world.memory.topics.get(NAMES[*at]);
                let ids = recorded.and_then(|memory| memory.id.clone());
                let live = self.truth.get(NAMES[*at]).map(|live| live.id.clone());
                self.world.group.acknowledged.extend(
                    ids.map(|id| format!("deleted:{id}"))
                        .into_iter()
                        .chain(live),
                );
            }
            Event::Grows(at, count) => {
                if let Some(live) = self.truth.get_mut(NAMES[*at]) {
                    live.partitions = live.partitions.max(*count);
                }
            }
            Event::Produces(at) => {
                if let Some(live) = self.truth.get_mut(NAMES[*at]) {
                    live.records = FULL;
                }
            }
            Event::Offsets(at, true) => drop(self.dark.remove(NAMES[*at])),
            Event::Offsets(at, false) => drop(self.dark.insert(NAMES[*at].to_owned())),
            Event::Describes(at, true) => drop(self.hidden.remove(NAMES[*at])),
            Event::Describes(at, false) => drop(self.hidden.insert(NAMES[*at].to_owned())),
            Event::Deletes(at) => drop(self.truth.remove(NAMES[*at])),
            Event::Recreates(at, count, full) => self.make(NAMES[*at], *count, *full),
            Event::StartsOver(at) => {
                let consent = self.world.group.consent.as_ref();
                if let Some(from) = consent.map(|consent| consent.from) {
                    self.make(NAMES[*at], from, true);
                    self.happens(&Event::Acknowledges(*at));
                }
            }
            Event::Moves(back) => {
                self.world.cluster(if *back { "K1" } else { "K2" });
            }
            Event::AcknowledgesCluster => {
                let id = self.world.view.cluster_id.clone();
                self.world.acknowledges(&id);
            }
            Event::Passes(crash) => self.pass(*crash),
        }
    }

    fn rules(&self) -> Rules<'_> {
        Rules {
            group: &self.world.group,
            memory: &self.world.memory,
            view: &self.world.view,
            used: &self.used,
        }
    }

    pub(super) fn aligned(&self) -> bool {
        self.rules().aligned()
    }

    fn name_ids(&mut self, ids: Ids) {
        let live: Vec<String> = self.truth.values().map(|live| live.id.clone()).collect();
        let consent = self.world.group.consent.as_mut().unwrap();
        match ids {
            Ids::None => {}
            Ids::Live => consent.topic_ids.extend(live),
            Ids::Other => drop(consent.topic_ids.insert("other#0".to_owned())),
        }
    }

    fn pass(&mut self, crash: Crash) {
        self.read();
        let decision = self.world.decide();
        let rules = self.rules();
        let checked = rules
            .check(&decision)
            .and_then(|()| rules.check_words(&decision));
        if let Err((rule, seen)) = checked {
            panic!("{rule:?}: {seen}");
        }
        let Crash::AfterActions(done) = (match crash {
            Crash::BeforeTheMemory => return,
            Crash::Never => Crash::AfterActions(usize::MAX),
            after @ Crash::AfterActions(_) => after,
        }) else {
            return;
        };
        let said = self.world.report();
        self.world.memory = decision.memory.clone();
        assert_eq!(self.world.report(), said, "the same world, the same words");
        if self.aligned() {
            assert_eq!(self.world.memory.recorded, decision.target);
        }
        self.note_what_was_seen(&decision);
        for create in decision.actions.creates.iter().take(done) {
            self.make(&create.topic, create.partitions, false);
            self.world.memory.mark_created(&create.topic);
        }
        let done = done.saturating_sub(decision.actions.creates.len());
        for grow in decision.actions.growths.iter().take(done) {
            let live = self.truth.get_mut(&grow.topic).unwrap();
            if live.records != EMPTY || self.dark.contains(&grow.topic) {
                let used = (grow.topic.clone(), grow.from, grow.to, grow.id.clone());
                self.used.insert(used);
            }
            live.partitions = grow.to;
        }
    }

    /// A consent whose topic was seen at its target is used, whoever brought it there.
    fn note_what_was_seen(&mut self, decision: &Decision) {
        let Some(consent) = &self.world.group.consent else {
            return;
        };
        if decision.undecided || decision.other_cluster.is_some() || consent.from >= consent.to {
            return;
        }
        for name in &consent.topics {
            let accepted = self
                .world
                .memory
                .topics
                .get(name)
                .and_then(|m| m.id.clone());
            if let Some(live) = self.rules().present(name)
                && live.partitions == consent.to
                && accepted.as_ref() == Some(&live.id)
            {
                let used = (name.clone(), consent.from, consent.to, live.id.clone());
                self.used.insert(used);
            }
        }
    }

    /// Passes until nothing changes.
    pub(super) fn settles(&mut self) {
        for _ in 0..10 {
            let before = (self.world.memory.clone(), self.truth.clone());
            self.pass(Crash::Never);
            self.pass(Crash::Never);
            if before == (self.world.memory.clone(), self.truth.clone()) {
                assert!(self.world.decide().actions.is_empty());
                return;
            }
        }
        panic!("not settled: {self:#?}");
    }
}
