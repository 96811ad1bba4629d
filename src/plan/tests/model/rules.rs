//! What must hold of every decision, said once more without the code that decides.

use super::*;

impl Model {
    pub(super) fn present(&self, topic: &str) -> Option<&TopicState> {
        match self.world.view.topics.get(topic) {
            Some(TopicView {
                reading: TopicReading::Present(live),
                misses: 0,
            }) => Some(live),
            _ => None,
        }
    }

    /// The count that counts, by the text of the rules.
    fn target(&self) -> Option<i32> {
        let memory = &self.world.memory;
        let same = memory.cluster_id.as_ref() == Some(&self.world.view.cluster_id);
        let recorded = memory.recorded.filter(|_| same);
        let mut counts = BTreeSet::new();
        for topic in &self.world.group.topics {
            counts.extend(self.present(&topic.name).map(|live| live.partitions));
        }
        let shared = counts.first().filter(|_| counts.len() == 1).copied();
        self.world.group.partitions.or(recorded).or(shared)
    }

    /// Whether the cluster is the recorded one, or taken over, and whether memory speaks of it.
    fn cluster_accepted(&self) -> (bool, bool) {
        let live = &self.world.view.cluster_id;
        let recorded = self.world.memory.cluster_id.as_ref();
        let same = recorded == Some(live);
        let accepted = recorded.is_none() || same || self.world.group.acknowledged.contains(live);
        (accepted, same)
    }

    fn id_accepted(&self, topic: &Topic, live: &TopicState) -> bool {
        let (_, same_cluster) = self.cluster_accepted();
        let recorded = self
            .world
            .memory
            .topics
            .get(&topic.name)
            .and_then(|m| m.id.as_ref());
        !same_cluster
            || !topic.managed
            || recorded.is_none_or(|id| *id == live.id)
            || self.world.group.acknowledged.contains(&live.id)
    }

    pub(super) fn aligned(&self) -> bool {
        let target = self.target();
        let topics = &self.world.group.topics;
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
            || self.world.group.topics.iter().any(|topic| {
                let recorded = self
                    .world
                    .memory
                    .topics
                    .get(&topic.name)
                    .and_then(|m| m.id.as_ref());
                match self.present(&topic.name) {
                    Some(live) => {
                        !self.id_accepted(topic, live) || Some(live.partitions) > self.target()
                    }
                    None => {
                        same && topic.managed
                            && recorded.is_some_and(|id| {
                                let token = format!("deleted:{id}");
                                !self.world.group.acknowledged.contains(&token)
                            })
                    }
                }
            })
    }

    pub(super) fn check(&self, decision: &Decision) {
        let actions = &decision.actions;
        let said = report(&self.world.group, decision, &Outcomes::default());
        let kind = |kind| move |c: &&Condition| c.kind == kind;
        let counts = said
            .conditions
            .iter()
            .find(kind(ConditionType::PartitionsAligned))
            .unwrap();
        assert_eq!(
            counts.state == State::True,
            self.aligned(),
            "{}",
            counts.message
        );
        for found in &said.conditions {
            let listed = VOCABULARY.iter().any(|entry| {
                (entry.kind, entry.state) == (found.kind, found.state)
                    && entry.reasons.contains(&found.reason)
            });
            assert!(listed, "not in the documentation: {found:?}");
        }
        let summary = summarise(&said.conditions, self.world.group.observe);
        let holds = |k| {
            summary
                .iter()
                .any(|c| c.kind == k && c.state == State::True)
        };
        assert!(!(holds(ConditionType::Ready) && holds(ConditionType::Stalled)));
        if self.world.group.observe
            || self.world.group.paused
            || decision.undecided
            || self.frozen()
        {
            assert!(actions.creates.is_empty() && actions.growths.is_empty());
        }
        if decision.frozen {
            assert!(actions.creates.is_empty());
        }
        for create in &actions.creates {
            assert_eq!(Some(create.partitions), self.target());
            assert!(self.world.group.topic(&create.topic).unwrap().managed);
            assert!(!self.truth.contains_key(&create.topic));
        }
        for grow in &actions.growths {
            self.check_growth(grow, decision);
        }
    }

    fn check_growth(&self, grow: &Grow, decision: &Decision) {
        let live = self.present(&grow.topic).unwrap();
        assert!(grow.from < grow.to && self.world.group.topic(&grow.topic).unwrap().managed);
        assert_eq!(Some(grow.to), self.target());
        assert_eq!((&grow.id, grow.from), (&live.id, live.partitions));
        assert!(
            decision
                .memory
                .intents
                .iter()
                .any(|i| i.topic == grow.topic && i.id == grow.id)
        );
        for topic in &self.world.group.topics {
            // A topic that cannot be read might have any count.
            let other = self.present(&topic.name);
            let together = decision
                .actions
                .growths
                .iter()
                .any(|g| g.topic == topic.name);
            if topic.managed {
                assert!(other.is_none_or(|other| other.partitions != grow.from || together));
                assert!(!self.hidden.contains(&topic.name));
            } else {
                assert_eq!(other.map(|other| other.partitions), Some(grow.to));
            }
        }
        if live.records == EMPTY && !self.dark.contains(&grow.topic) {
            return;
        }
        let consent = self
            .world
            .group
            .consent
            .as_ref()
            .expect("no consent at all");
        assert!(consent.topics.contains(&grow.topic));
        assert_eq!((consent.from, consent.to), (grow.from, grow.to));
        assert!(consent.topic_ids.is_empty() || consent.topic_ids.contains(&grow.id));
        let key = |used: &&(String, i32, i32, String)| {
            used.0 == grow.topic && used.1 == grow.from && used.2 == grow.to
        };
        for used in self.used.iter().filter(key) {
            assert!(
                consent.topic_ids.contains(&grow.id) && used.3 != grow.id,
                "used before"
            );
        }
    }
}
