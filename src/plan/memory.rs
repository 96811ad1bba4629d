//! What the operator remembers of a group between passes. It can only make decisions stricter: every decision rests
//! on live counts.

use std::collections::{BTreeMap, BTreeSet};

use super::observed::TopicId;

/// Who wrote a claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The installation of the operator.
    pub installation: String,
    /// The uid of the kube-system namespace.
    pub kube_system_uid: String,
}

/// The memory of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Memory {
    /// Who wrote it; `None` for a group that has no claim yet.
    pub owner: Option<Owner>,
    /// The Kafka cluster that everything here speaks of.
    pub cluster_id: Option<String>,
    /// The count that all topics had when they were last seen aligned.
    pub recorded: Option<i32>,
    /// The topics by name.
    pub topics: BTreeMap<String, TopicMemory>,
    /// Growths that were decided and not read back.
    pub intents: Vec<Intent>,
    /// Consents that were used.
    pub spent: BTreeSet<Spent>,
    /// Consents to data loss that were used and still stand in the spec: topic and config key.
    pub spent_data_loss: BTreeSet<(String, String)>,
    /// The ALTER locks that the operator set, or is about to set, and did not take away.
    pub locks: BTreeSet<Lock>,
}

/// An ALTER lock of ours: the ACL `DENY ALTER` for `User:*` and host `*` on the literal name of a topic.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lock {
    /// The topic.
    pub topic: String,
    /// The cluster on which it was set.
    pub cluster_id: String,
}

/// The memory of one topic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TopicMemory {
    /// Held exclusively (Managed) or shared (Referenced).
    pub managed: bool,
    /// The id under which it was accepted.
    pub id: Option<TopicId>,
    /// The count that was accepted.
    pub count: Option<i32>,
    /// Whether the operator created it.
    pub created: bool,
    /// Whether it was seen holding records under this id.
    pub holds_records: bool,
}

/// A growth that was decided.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Intent {
    /// The topic.
    pub topic: String,
    /// Its id.
    pub id: TopicId,
    /// The live count.
    pub from: i32,
    /// The wanted count.
    pub to: i32,
    /// Whether a consent names it.
    pub consented: bool,
}

/// A used consent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spent {
    /// The topic.
    pub topic: String,
    /// From this count.
    pub from: i32,
    /// To this count.
    pub to: i32,
    /// The id that the topic had.
    pub id: TopicId,
}

impl Spent {
    /// The consent that a decided growth uses up.
    pub fn of(intent: &Intent) -> Self {
        Spent {
            topic: intent.topic.clone(),
            from: intent.from,
            to: intent.to,
            id: intent.id.clone(),
        }
    }
}

impl Memory {
    /// What stays of the memory on another cluster, once that was acknowledged: spent consents, and which topics are
    /// claimed. Counts, ids and offsets spoke of the old one.
    pub fn on_new_cluster(&mut self, cluster_id: &str) {
        self.cluster_id = Some(cluster_id.to_owned());
        self.recorded = None;
        self.drop_intents(|_| true);
        for topic in self.topics.values_mut() {
            *topic = TopicMemory {
                managed: topic.managed,
                ..TopicMemory::default()
            };
        }
    }

    /// Drops intents that nobody can read back any more: the topic left the group, or has another id by now. They may
    /// have been carried out, so their consents count as used.
    pub(super) fn drop_intents(&mut self, lost: impl Fn(&Intent) -> bool) {
        for intent in self.intents.extract_if(.., |intent| lost(intent)) {
            if intent.consented {
                self.spent.insert(Spent::of(&intent));
            }
        }
    }

    /// Whether the topic has a lock of ours on the cluster that the memory speaks of.
    pub fn has_locked(&self, topic: &str) -> bool {
        let locks = self.locks.iter();
        let mut here = locks.filter(|lock| Some(&lock.cluster_id) == self.cluster_id.as_ref());
        here.any(|lock| lock.topic == topic)
    }

    /// Notes that Kafka took a lock away: only that ends the memory of it.
    pub fn mark_unlocked(&mut self, lock: &Lock) {
        self.locks.remove(lock);
    }

    /// Notes that the operator created a topic, so that a declared config is not taken for a threat to foreign data.
    pub fn mark_created(&mut self, topic: &str) {
        if let Some(memory) = self.topics.get_mut(topic) {
            memory.created = true;
        }
    }
}
