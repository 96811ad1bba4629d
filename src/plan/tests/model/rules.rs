//! What must hold of every decision, said once more without the code that decides. The random model and the exhaustive
//! ones share it.

use super::*;

/// What must never happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Rule {
    /// `PartitionsAligned` is True exactly when all topics are there, as themselves, with the group's count; and every
    /// condition is one that the documentation lists.
    Words,
    /// Nothing is created or grown while somebody has to decide, and in Observe and Paused nothing at all.
    Frozen,
    /// What is created is a Managed topic that is missing, with the group's count.
    Creation,
    /// What is grown is a Managed topic, from its live count to the group's, and the claim knows before.
    Growth,
    /// A topic that holds records grows by a consent that names it with exactly its live and wanted count, unused.
    Consent,
    /// Topics with one count grow together or not at all; what fails of that is visible and completed.
    Equal,
    /// No topic goes away and none loses partitions by what the operator does.
    Deletion,
    /// Nothing is planned for a group that is aligned, and every group comes to rest.
    Rest,
    /// Who does not hold a topic writes nothing to it.
    Loser,
    /// Memory only takes growths away from what spec and Kafka allow by themselves, however much of it is lost; and a count
    /// is recorded only when all topics have it.
    Memory,
    /// Another key scheme in the spec moves no partition.
    Keys,
}

/// A rule that does not hold, and what was seen.
pub(super) type Broken = (Rule, String);

/// A consent that counts as used: topic, from, to, and the topic's id.
pub(super) type Used = (String, i32, i32, String);

/// Fails with a rule unless the condition holds.
macro_rules! holds {
    ($rule:expr, $condition:expr, $($seen:tt)+) => {
        if !$condition {
            return Err(($rule, format!($($seen)+)));
        }
    };
}
pub(super) use holds;

/// What a decision rests on.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) group: &'a Group,
    pub(super) memory: &'a Memory,
    pub(super) view: &'a View,
    pub(super) used: &'a BTreeSet<Used>,
}

impl<'a> Rules<'a> {
    pub(super) fn present(&self, topic: &str) -> Option<&'a TopicState> {
        match self.view.topics.get(topic) {
            Some(TopicView {
                reading: TopicReading::Present(live),
                misses: 0,
            }) => Some(live),
            _ => None,
        }
    }

    /// The count that counts, by the text of the rules.
    fn target(&self) -> Option<i32> {
        let same = self.memory.cluster_id.as_ref() == Some(&self.view.cluster_id);
        let recorded = self.memory.recorded.filter(|_| same);
        let mut counts = BTreeSet::new();
        for topic in &self.group.topics {
            counts.extend(self.present(&topic.name).map(|live| live.partitions));
        }
        let shared = counts.first().filter(|_| counts.len() == 1).copied();
        self.group.partitions.or(recorded).or(shared)
    }

    /// Whether the cluster is the recorded one, or taken over, and whether memory speaks of it.
    fn cluster_accepted(&self) -> (bool, bool) {
        let live = &self.view.cluster_id;
        let recorded = self.memory.cluster_id.as_ref();
        let same = recorded == Some(live);
        let accepted = recorded.is_none() || same || self.group.acknowledged.contains(live);
        (accepted, same)
    }

    fn recorded_id(&self, topic: &str) -> Option<&'a String> {
        let recorded = self.memory.topics.get(topic);
        recorded.and_then(|memory| memory.id.as_ref())
    }

    fn id_accepted(&self, topic: &Topic, live: &TopicState) -> bool {
        let (_, same_cluster) = self.cluster_accepted();
        !same_cluster
            || !topic.managed
            || self
                .recorded_id(&topic.name)
                .is_none_or(|id| *id == live.id)
            || self.group.acknowledged.contains(&live.id)
    }

    pub(super) fn aligned(&self) -> bool {
        let target = self.target();
        let topics = &self.group.topics;
        self.cluster_accepted().0
            && !topics.is_empty()
            && topics.iter().all(|topic| {
                self.present(&topic.name).is_some_and(|live| {
                    Some(live.partitions) == target && self.id_accepted(topic, live)
                })
            })
    }

    /// Whether a topic of the group is not the recorded one, is gone, or is above the target.
    fn frozen(&self) -> bool {
        let (accepted, same) = self.cluster_accepted();
        !accepted
            || self.group.topics.iter().any(|topic| {
                let recorded = self.recorded_id(&topic.name);
                match self.present(&topic.name) {
                    Some(live) => {
                        !self.id_accepted(topic, live) || Some(live.partitions) > self.target()
                    }
                    None => {
                        same && topic.managed
                            && recorded.is_some_and(|id| {
                                let token = format!("deleted:{id}");
                                !self.group.acknowledged.contains(&token)
                            })
                    }
                }
            })
    }

    /// What is said of a decision.
    pub(super) fn check_words(&self, decision: &Decision) -> Result<(), Broken> {
        let said = report(self.group, decision, &Outcomes::default());
        let kind = |kind| move |c: &&Condition| c.kind == kind;
        let counts = said
            .conditions
            .iter()
            .find(kind(ConditionType::PartitionsAligned))
            .unwrap();
        // While a group is not accepted nothing is judged.
        holds!(
            Rule::Words,
            decision.refusal.is_some() || (counts.state == State::True) == self.aligned(),
            "{}",
            counts.message
        );
        for found in &said.conditions {
            let listed = VOCABULARY.iter().any(|entry| {
                (entry.kind, entry.state) == (found.kind, found.state)
                    && entry.reasons.contains(&found.reason)
            });
            holds!(Rule::Words, listed, "not in the documentation: {found:?}");
        }
        let summary = summarise(&said.conditions, self.group.observe);
        let is = |k| {
            summary
                .iter()
                .any(|c| c.kind == k && c.state == State::True)
        };
        holds!(
            Rule::Words,
            !(is(ConditionType::Ready) && is(ConditionType::Stalled)),
            "Ready and Stalled"
        );
        Ok(())
    }

    /// What a decision would do.
    pub(super) fn check(&self, decision: &Decision) -> Result<(), Broken> {
        let actions = &decision.actions;
        let quiet = actions.creates.is_empty() && actions.growths.is_empty();
        if self.group.observe || self.group.paused || decision.undecided || self.frozen() {
            // Siblings may follow a drifted topic that stands at the target, so that alone is not `frozen` here.
            holds!(Rule::Frozen, quiet, "{actions:?}");
        }
        if decision.frozen {
            holds!(Rule::Frozen, actions.creates.is_empty(), "{actions:?}");
        }
        if decision.refusal.is_some() {
            holds!(Rule::Loser, actions.is_empty(), "{actions:?}");
        }
        if self.aligned() {
            holds!(Rule::Rest, quiet, "{actions:?}");
        }
        let (was, is) = (self.memory.recorded, decision.memory.recorded);
        holds!(
            Rule::Memory,
            was == is || is.is_none() || (self.aligned() && is == self.target()),
            "recorded {is:?} after {was:?}"
        );
        for create in &actions.creates {
            let topic = self.group.topic(&create.topic);
            let missing = self.view.topics.get(&create.topic).map(|v| &v.reading)
                == Some(&TopicReading::Missing);
            holds!(
                Rule::Creation,
                Some(create.partitions) == self.target()
                    && topic.is_some_and(|topic| topic.managed)
                    && missing,
                "{create:?}"
            );
        }
        for grow in &actions.growths {
            self.check_growth(grow, decision)?;
        }
        Ok(())
    }

    fn check_growth(&self, grow: &Grow, decision: &Decision) -> Result<(), Broken> {
        let live = self.present(&grow.topic);
        let managed = self
            .group
            .topic(&grow.topic)
            .is_some_and(|topic| topic.managed);
        let intends = |i: &Intent| (&i.topic, &i.id, i.to) == (&grow.topic, &grow.id, grow.to);
        holds!(
            Rule::Growth,
            grow.from < grow.to
                && managed
                && Some(grow.to) == self.target()
                && live.map(|live| (&live.id, live.partitions)) == Some((&grow.id, grow.from))
                && decision.memory.intents.iter().any(intends),
            "{grow:?} of {live:?}"
        );
        for topic in &self.group.topics {
            let other = self.present(&topic.name);
            let growths = &decision.actions.growths;
            let together = growths.iter().any(|g| g.topic == topic.name);
            if topic.managed {
                // A topic that cannot be read might have any count.
                let seen = self.view.topics.get(&topic.name).map(|view| &view.reading);
                holds!(
                    Rule::Equal,
                    other.is_none_or(|other| other.partitions != grow.from || together)
                        && matches!(seen, Some(TopicReading::Present(_) | TopicReading::Missing)),
                    "{grow:?} without {}: {seen:?}",
                    topic.name
                );
            } else {
                let seen = other.map(|other| other.partitions);
                holds!(Rule::Growth, seen == Some(grow.to), "before {}", topic.name);
            }
        }
        match live {
            Some(live) if live.records == EMPTY => Ok(()),
            _ => self.check_consent(grow),
        }
    }

    /// Whether the spec agrees to a growth that moves keys.
    pub(super) fn check_consent(&self, grow: &Grow) -> Result<(), Broken> {
        let Some(consent) = &self.group.consent else {
            return Err((Rule::Consent, format!("{grow:?} without any")));
        };
        holds!(
            Rule::Consent,
            consent.topics.contains(&grow.topic)
                && (consent.from, consent.to) == (grow.from, grow.to)
                && (consent.topic_ids.is_empty() || consent.topic_ids.contains(&grow.id)),
            "{grow:?} by {consent:?}"
        );
        let alike = |used: &&Used| (&used.0, used.1, used.2) == (&grow.topic, grow.from, grow.to);
        for used in self.used.iter().filter(alike) {
            holds!(
                Rule::Consent,
                consent.topic_ids.contains(&grow.id) && used.3 != grow.id,
                "{grow:?} by {consent:?}, used before: {used:?}"
            );
        }
        Ok(())
    }
}
