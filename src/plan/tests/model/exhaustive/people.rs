//! What may happen, and what people and other programs do.

use super::state::{Live, Outcome, Pass, Seen, Spec, id};
use super::*;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event {
    /// A commit: the group, its count (0: none) and its consent.
    Commits(usize, u8, Option<Consent>),
    /// Everything that there is, and the deletion of everything that was recorded.
    Acknowledges(usize),
    /// Deleted and created again at once, as `kubectl replace --force` does: the status is gone, the claim is not.
    Replaced(usize),
    /// Deleted.
    Removed(usize),
    /// Its claim is collected, some time after the group was deleted.
    Collected(usize),
    /// Partitions are added.
    Grown(usize, u8),
    /// The first record.
    Written(usize),
    Deleted(usize),
    /// Made by somebody else: its count, and whether it holds records when it is first seen.
    Made(usize, u8, bool),
    /// The operator of a group starts anew.
    Crash(usize),
    /// The operator starts anew and the claim is not there.
    LosesClaim(usize),
    Poll(usize),
    Begin(usize),
    WriteClaim(usize),
    Confirm(usize),
    /// Kafka is written to; which of the requests fail, one bit each.
    Act(usize, u8),
    Report(usize),
}

impl Shape {
    pub(super) fn may_happen(&self, state: &Moment, events: &mut Vec<Event>) {
        for at in 0..self.groups {
            self.operator_may(state, at, events);
            if state.left.faults > 0 && state.groups[at].seen.is_some() {
                events.push(Event::Crash(at));
                if self.groups == 1 && state.groups[at].claim.is_some() {
                    events.push(Event::LosesClaim(at));
                }
            }
            if state.left.edits > 0 {
                self.somebody_may_edit(state, at, events);
            }
        }
        if state.left.outside > 0 {
            Self::others_may(state, events);
        }
    }

    fn operator_may(&self, state: &Moment, at: usize, events: &mut Vec<Event>) {
        let group = &state.groups[at];
        match &group.pass {
            Pass::Idle => {
                let next: Vec<Seen> = self.look(state, at);
                if group.spec.is_some() && group.seen.as_ref() != Some(&next) {
                    events.push(Event::Poll(at));
                }
                if group.spec.is_some() && group.seen.is_some() {
                    events.push(Event::Begin(at));
                }
                if group.spec.is_none() && group.claim.is_some() {
                    events.push(Event::Collected(at));
                }
            }
            Pass::Begun { .. } => events.push(Event::WriteClaim(at)),
            Pass::Listed { .. } => events.push(Event::Confirm(at)),
            Pass::Decided { actions, .. } => {
                let requests = actions.creates.len() + actions.growths.len();
                let ways = if state.left.faults > 0 {
                    1 << requests
                } else {
                    1
                };
                events.extend((0..ways).map(|failing| Event::Act(at, failing)));
            }
            Pass::Done { .. } => events.push(Event::Report(at)),
        }
    }

    /// Every count with every consent to it: to which topics, from which count, by name or by the live ids.
    fn somebody_may_edit(&self, state: &Moment, at: usize, events: &mut Vec<Event>) {
        let Some(spec) = &state.groups[at].spec else {
            events.extend((0..=4).map(|count| Event::Commits(at, count, None)));
            return;
        };
        events.push(Event::Removed(at));
        events.push(Event::Replaced(at));
        let known = Self::acknowledgeable(state, at);
        if !known.is_subset(&spec.acknowledged) {
            events.push(Event::Acknowledges(at));
        }
        let live: BTreeSet<String> = (state.kafka.iter().enumerate())
            .filter_map(|(topic, slot)| slot.live.map(|live| id(topic, live)))
            .collect();
        let again = state.kafka.iter().any(|slot| slot.made > 1);
        for count in 0..=4_u8 {
            let mut consents = vec![None];
            for named in 1..(1_u8 << self.topics.len()) {
                let topics = NAMES.iter().enumerate();
                let topics = topics.filter(|(topic, _)| named & (1 << topic) != 0);
                let topics: BTreeSet<String> = topics.map(|(_, name)| (*name).to_owned()).collect();
                for from in 1..count {
                    let consent = Consent {
                        topics: topics.clone(),
                        from: i32::from(from),
                        to: i32::from(count),
                        topic_ids: BTreeSet::new(),
                    };
                    // The ids matter once a name was used twice.
                    if again {
                        consents.push(Some(Consent {
                            topic_ids: live.clone(),
                            ..consent.clone()
                        }));
                    }
                    consents.push(Some(consent));
                }
            }
            for consent in consents {
                if (count, &consent) != (spec.partitions, &spec.consent) {
                    events.push(Event::Commits(at, count, consent));
                }
            }
        }
    }

    fn others_may(state: &Moment, events: &mut Vec<Event>) {
        for (topic, slot) in state.kafka.iter().enumerate() {
            match slot.live {
                Some(live) => {
                    events.extend((live.count + 1..=4).map(|count| Event::Grown(topic, count)));
                    if !live.records {
                        events.push(Event::Written(topic));
                    }
                    events.push(Event::Deleted(topic));
                    // Deleted and made again before anybody looked.
                    events.extend((1..=4).map(|count| Event::Made(topic, count, true)));
                }
                None => events.extend((1..=4).flat_map(|count| {
                    [false, true].map(|records| Event::Made(topic, count, records))
                })),
            }
        }
    }

    fn acknowledgeable(state: &Moment, at: usize) -> BTreeSet<String> {
        let claim = state.groups[at].claim.iter();
        let recorded = claim.flat_map(|claim| claim.topics.values());
        let gone = recorded.filter_map(|topic| topic.id.as_ref());
        let mut known: BTreeSet<String> = gone.map(|id| format!("deleted:{id}")).collect();
        for (topic, slot) in state.kafka.iter().enumerate() {
            known.extend(slot.live.map(|live| id(topic, live)));
        }
        known
    }

    /// What one more poll would see.
    pub(super) fn look(&self, state: &Moment, at: usize) -> Vec<Seen> {
        let nothing = vec![Seen::default(); self.topics.len()];
        let before = state.groups[at].seen.as_ref().unwrap_or(&nothing);
        before
            .iter()
            .zip(&state.kafka)
            .map(|(seen, slot)| seen.then(*slot))
            .collect()
    }
}

impl Moment {
    pub(super) fn happens(&mut self, shape: &Shape, event: &Event) -> Outcome {
        match event {
            Event::Commits(at, count, consent) => {
                self.left.edits -= 1;
                let group = &mut self.groups[*at];
                let before = group.spec.take();
                group.spec = Some(Spec {
                    partitions: *count,
                    consent: consent.clone(),
                    acknowledged: before.map(|spec| spec.acknowledged).unwrap_or_default(),
                });
            }
            Event::Acknowledges(at) => {
                self.left.edits -= 1;
                let known = Shape::acknowledgeable(self, *at);
                if let Some(spec) = &mut self.groups[*at].spec {
                    spec.acknowledged.extend(known);
                }
            }
            Event::Replaced(at) => {
                self.left.edits -= 1;
                self.groups[*at].status = None;
            }
            Event::Removed(at) => {
                self.left.edits -= 1;
                let group = &mut self.groups[*at];
                (group.spec, group.status) = (None, None);
            }
            Event::Collected(at) => {
                let group = &mut self.groups[*at];
                group.claim = None;
                group.used.clear();
                self.listed.retain(|listed| listed != at);
            }
            Event::Grown(topic, count) => {
                self.left.outside -= 1;
                if let Some(live) = &mut self.kafka[*topic].live {
                    live.count = *count;
                }
            }
            Event::Written(topic) => {
                self.left.outside -= 1;
                if let Some(live) = &mut self.kafka[*topic].live {
                    live.records = true;
                }
            }
            Event::Deleted(topic) => {
                self.left.outside -= 1;
                self.kafka[*topic].live = None;
            }
            Event::Made(topic, count, records) => {
                self.left.outside -= 1;
                self.make(*topic, *count, *records);
            }
            Event::Crash(at) => {
                self.left.faults -= 1;
                self.restarts(*at);
            }
            Event::LosesClaim(at) => {
                self.left.faults -= 1;
                self.restarts(*at);
                self.groups[*at].claim = None;
                // Which consents were used is written nowhere else.
                self.groups[*at].used.clear();
            }
            Event::Poll(at) => self.groups[*at].seen = Some(shape.look(self, *at)),
            Event::Begin(at) => self.begin(*at),
            Event::WriteClaim(at) => return self.write_claim(shape, *at),
            Event::Confirm(at) => self.confirm(*at),
            Event::Act(at, failing) => return self.act(shape, *at, *failing),
            Event::Report(at) => return self.report(shape, *at),
        }
        Ok(())
    }

    pub(super) fn make(&mut self, topic: usize, count: u8, records: bool) {
        let slot = &mut self.kafka[topic];
        slot.made += 1;
        slot.live = Some(Live {
            made: slot.made,
            count,
            records,
        });
    }

    fn restarts(&mut self, at: usize) {
        self.groups[at].pass = Pass::Idle;
        self.groups[at].seen = None;
    }
}
