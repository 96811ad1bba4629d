//! The steps of a pass, with the rules that each has to keep.

use super::super::rules::{Rules, holds};
use super::promises::memory_only_restricts;
use super::state::{Outcome, Pass, Seen, choose, view};
use super::*;

pub(super) fn number(count: i32) -> u8 {
    u8::try_from(count).unwrap()
}

/// Where a topic stands in [`NAMES`].
pub(super) fn position(topic: &str) -> usize {
    NAMES.iter().position(|name| *name == topic).unwrap()
}

impl Moment {
    pub(super) fn begin(&mut self, at: usize) {
        let rival = self.listed.first().is_some_and(|first| *first != at);
        let group = &mut self.groups[at];
        let (Some(spec), Some(seen)) = (group.spec.clone(), group.seen.clone()) else {
            return;
        };
        let memory = group.claim.clone().or(group.status.clone());
        group.pass = Pass::Begun {
            spec,
            seen,
            memory: memory.unwrap_or_default(),
            rival,
        };
    }

    pub(super) fn write_claim(&mut self, shape: &Shape, at: usize) -> Outcome {
        let group = &mut self.groups[at];
        let pass = std::mem::replace(&mut group.pass, Pass::Idle);
        let Pass::Begun {
            spec,
            seen,
            memory,
            rival,
        } = pass
        else {
            return Ok(());
        };
        // Decided on another memory than the one that would be overwritten: the API server refuses.
        let base = group.claim.clone().or(group.status.clone());
        if base.unwrap_or_default() != memory {
            return Ok(());
        }
        let (wanted, view) = (shape.group(&spec), view(&seen));
        let decision = choose(&wanted, &memory, &view, rival);
        let rules = Rules {
            group: &wanted,
            memory: &memory,
            view: &view,
            // What was done since the poll is seen when Kafka is read again, right before a growth.
            used: &BTreeSet::new(),
        };
        rules.check(&decision)?;
        holds!(
            Rule::Loser,
            !rival || decision.actions.is_empty(),
            "{:?} beside {:?}",
            decision.actions,
            self.listed
        );
        memory_only_restricts(rules, &decision, rival)?;
        if decision.undecided {
            return Ok(());
        }
        if decision.actions.is_empty() {
            rules.check_words(&decision)?;
        }
        // A new group that waits for a contested topic claims nothing.
        if decision.refusal.is_none() || memory.owner.is_some() {
            let before = group.claim.replace(decision.memory.clone());
            let holds = decision.memory.topics.values().any(|topic| topic.managed);
            if shape.groups > 1 {
                if !holds {
                    self.listed.retain(|listed| *listed != at);
                } else if !self.listed.contains(&at) {
                    self.listed.push(at);
                }
                self.groups[at].pass = Pass::Listed {
                    spec,
                    seen,
                    memory: decision.memory,
                    actions: decision.actions,
                    before,
                };
                return Ok(());
            }
        }
        self.groups[at].pass = if decision.actions.is_empty() && shape.groups > 1 {
            Pass::Idle
        } else if decision.actions.is_empty() {
            Pass::Done {
                status: status_of(&wanted, &decision),
            }
        } else {
            Pass::Decided {
                spec,
                seen,
                memory: decision.memory,
                actions: decision.actions,
            }
        };
        Ok(())
    }

    /// The claim came back through the watch, and with it every claim that was written before.
    pub(super) fn confirm(&mut self, at: usize) {
        let first = self.listed.first().is_none_or(|first| *first == at);
        let group = &mut self.groups[at];
        let pass = std::mem::replace(&mut group.pass, Pass::Idle);
        let Pass::Listed {
            spec,
            seen,
            memory,
            actions,
            before,
        } = pass
        else {
            return;
        };
        if !first {
            group.claim = before;
            self.listed.retain(|listed| *listed != at);
        } else if !actions.is_empty() {
            group.pass = Pass::Decided {
                spec,
                seen,
                memory,
                actions,
            };
        }
    }

    pub(super) fn act(&mut self, shape: &Shape, at: usize, failing: u8) -> Outcome {
        let pass = std::mem::replace(&mut self.groups[at].pass, Pass::Idle);
        let Pass::Decided {
            spec,
            seen,
            memory,
            actions,
        } = pass
        else {
            return Ok(());
        };
        if failing != 0 {
            self.left.faults -= 1;
        }
        let before = self.kafka.clone();
        let holder = shape.groups == 1 || self.listed.first() == Some(&at);
        holds!(Rule::Loser, holder, "{actions:?} beside {:?}", self.listed);
        // There is no other kind of action: one that deletes would not compile here.
        let Actions {
            creates,
            growths,
            configs: _,
            locks: _,
            unlocks: _,
        } = &actions;
        let fails = |request: usize| failing & (1 << request) != 0;
        for (request, create) in creates.iter().enumerate() {
            let topic = position(&create.topic);
            // Kafka refuses what exists.
            if !fails(request) && self.kafka[topic].live.is_none() {
                self.make(topic, number(create.partitions), false);
            }
        }
        // A growth goes out only if it is decided again on what Kafka shows right before.
        let wanted = shape.group(&spec);
        let fresh: Vec<Seen> = seen
            .iter()
            .zip(&self.kafka)
            .map(|(s, slot)| s.then(*slot))
            .collect();
        let view = view(&fresh);
        let again = choose(&wanted, &memory, &view, false);
        let growths = confirmed(growths, &again.actions.growths);
        let mut grown = Vec::new();
        for (request, grow) in growths.iter().enumerate() {
            let used = &self.groups[at].used;
            let rules = Rules {
                group: &wanted,
                memory: &memory,
                view: &view,
                used,
            };
            let topic = position(&grow.topic);
            let Some(live) = self.kafka[topic].live.as_mut() else {
                continue;
            };
            if fails(creates.len() + request) || live.count >= number(grow.to) {
                continue;
            }
            if live.records {
                rules.check_consent(grow)?;
                let consent = (grow.topic.clone(), grow.from, grow.to, grow.id.clone());
                self.groups[at].used.insert(consent);
            }
            live.count = number(grow.to);
            grown.push(topic);
        }
        self.nothing_is_lost(&before)?;
        let parted = self.equal_stays_equal(shape, &before, &grown, &wanted, &memory, &fresh)?;
        // Nothing but an answer of Kafka's parts them.
        holds!(Rule::Equal, !parted || failing != 0, "{:?}", self.kafka);
        Ok(())
    }

    pub(super) fn report(&mut self, shape: &Shape, at: usize) -> Outcome {
        let pass = std::mem::replace(&mut self.groups[at].pass, Pass::Idle);
        if let Pass::Done { status } = pass
            && self.groups[at].spec.is_some()
        {
            self.groups[at].status = Some(status);
        }
        if self.left.is_spent() && shape.groups == 1 {
            return self.clone().comes_to_rest(shape, at);
        }
        Ok(())
    }

    /// Passes that nobody disturbs end, and what they leave needs nothing.
    fn comes_to_rest(mut self, shape: &Shape, at: usize) -> Outcome {
        for _ in 0..8 {
            let before = (self.kafka.clone(), self.groups[at].claim.clone());
            self.groups[at].seen = Some(shape.look(&self, at));
            self.groups[at].seen = Some(shape.look(&self, at));
            self.begin(at);
            self.write_claim(shape, at)?;
            let idle = !matches!(self.groups[at].pass, Pass::Decided { .. });
            self.act(shape, at, 0)?;
            self.groups[at].pass = Pass::Idle;
            if idle && before == (self.kafka.clone(), self.groups[at].claim.clone()) {
                return Ok(());
            }
        }
        Err((Rule::Rest, format!("eight passes on: {self:?}")))
    }
}

/// What a status remembers, as `controller::memory` reads it.
fn status_of(wanted: &Group, decision: &Decision) -> Memory {
    let said = report(wanted, decision, &Outcomes::default());
    let topic = |topic: TopicReport| {
        let memory = TopicMemory {
            managed: topic.managed,
            count: said.recorded.or(topic.partitions),
            id: Some(topic.id?),
            ..TopicMemory::default()
        };
        Some((topic.name, memory))
    };
    Memory {
        cluster_id: said.cluster_id,
        recorded: said.recorded,
        topics: said.topics.into_iter().filter_map(topic).collect(),
        ..Memory::default()
    }
}
