//! What a decision is made of: its input, what each topic is found to be, and what is to be done.

use std::collections::{BTreeMap, BTreeSet};

use super::conditions::Reason;
use super::config::ConfigDiff;
use super::consent::Coverage;
use super::group::{Group, Topic};
use super::locks::LockStanding;
use super::memory::{Lock, Memory, Owner};
use super::observed::{LocksFailure, LocksView, TopicId, TopicState, View};

/// Everything that a decision rests on.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What the spec wants.
    pub group: &'a Group,
    /// What the claim remembers.
    pub memory: &'a Memory,
    /// What Kafka shows.
    pub view: &'a View,
    /// What Kafka shows of ALTER locks.
    pub locks: &'a LocksView,
    /// This installation in this Kubernetes cluster.
    pub me: &'a Owner,
    /// Installations whose claims this one takes over.
    pub take_over: &'a BTreeSet<String>,
    /// Topics that another group holds, and that group as `namespace/name`.
    pub conflicts: &'a BTreeMap<String, String>,
}

/// Why nothing may be done for a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The reason of Accepted=False.
    pub reason: Reason,
    /// Topic, wanted, seen, what to do.
    pub message: String,
}

/// What a topic is to its group, before counts are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It cannot be described; whether for lack of a permission, and the broker's words.
    Unread {
        /// The principal lacks DESCRIBE.
        denied: bool,
        /// The broker's words, if any.
        words: String,
    },
    /// It does not exist and no memory says that it should.
    Absent,
    /// It was recorded under this id and is gone.
    Deleted {
        /// The recorded id.
        id: TopicId,
    },
    /// It exists under another id than the recorded one.
    Recreated {
        /// The recorded id.
        was: TopicId,
        /// The live topic.
        live: TopicState,
    },
    /// It exists.
    Live(TopicState),
}

/// How a live topic's count stands to the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is no target, or the topic is not there to compare.
    Unjudged,
    /// It has the group's count.
    AtTarget,
    /// It has more: Kafka cannot take partitions away.
    Above,
    /// It has fewer.
    Below {
        /// May it grow: it is empty, or a consent covers it.
        covered: bool,
        /// What the consent says.
        coverage: Coverage,
    },
}

/// The decision on one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicDecision {
    /// The topic as declared.
    pub topic: Topic,
    /// What it is.
    pub stage: Stage,
    /// How its count stands.
    pub standing: Standing,
    /// The count that was accepted for it: when it was adopted, when a growth was read back, when all were aligned.
    pub accepted: Option<i32>,
    /// Its count is one that nobody declared, or that somebody else gave it while its siblings may not follow.
    pub drifted: bool,
    /// It has another id than last time, as a Referenced topic or because that was acknowledged; the id before.
    pub replaced: Option<TopicId>,
    /// What its ALTER lock is.
    pub lock: LockStanding,
    /// What its config needs; `None` while the live config is not known or not to be compared.
    pub config: Option<ConfigDiff>,
}

impl TopicDecision {
    /// The live topic, whatever its id.
    pub fn live(&self) -> Option<&TopicState> {
        match &self.stage {
            Stage::Live(live) | Stage::Recreated { live, .. } => Some(live),
            _ => None,
        }
    }

    /// The live topic, if it is the one that was accepted.
    pub(super) fn settled(&self) -> Option<&TopicState> {
        match &self.stage {
            Stage::Live(live) => Some(live),
            _ => None,
        }
    }
}

/// A topic to create.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Create {
    /// Its name.
    pub topic: String,
    /// Its partition count.
    pub partitions: i32,
    /// Its replication factor; `None` is the broker's default.
    pub replication_factor: Option<i16>,
    /// Its config.
    pub config: BTreeMap<String, String>,
}

/// A topic to grow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grow {
    /// Its name.
    pub topic: String,
    /// The id that was judged.
    pub id: TopicId,
    /// The count that was judged.
    pub from: i32,
    /// The count to reach.
    pub to: i32,
}

/// Config keys to set on a topic.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Alter {
    /// Its name.
    pub topic: String,
    /// The id that was judged.
    pub id: TopicId,
    /// The keys with their values.
    pub set: BTreeMap<String, String>,
}

/// What shall be written to Kafka. There is no action that deletes a topic or lowers a count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Actions {
    /// Topics to create.
    pub creates: Vec<Create>,
    /// Topics to grow, all in one request.
    pub growths: Vec<Grow>,
    /// Config to set.
    pub configs: Vec<Alter>,
    /// Topics to lock against ALTER.
    pub locks: Vec<String>,
    /// Locks of ours to take away for good. For a growth of ours, a lock is lifted by whoever carries that out.
    pub unlocks: Vec<Lock>,
}

impl Actions {
    /// Whether Kafka is left alone.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }
}

/// The decision of one pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// A recorded topic was missing only once so far: no verdict changes before the next look.
    pub undecided: bool,
    /// Why the group is not accepted, if so.
    pub refusal: Option<Refusal>,
    /// The recorded cluster, if the live one is another and was not acknowledged.
    pub other_cluster: Option<String>,
    /// The live cluster.
    pub cluster_id: String,
    /// What the claim shall say before anything is written to Kafka.
    pub memory: Memory,
    /// What shall be written to Kafka.
    pub actions: Actions,
    /// The topics in the order of the spec.
    pub topics: Vec<TopicDecision>,
    /// The count that all topics shall have, where it is known.
    pub target: Option<i32>,
    /// A drift, a deletion, a recreation or another cluster stands: nothing is created or grown, but for the growths
    /// by which the siblings of a drifted topic follow it, each with its own consent.
    pub frozen: bool,
    /// Why the topics, which hold records and are equal, must not grow to the target: their key schemes agree at the
    /// count that they have, and not at that one. No consent helps: it says that keys may move, not that they may part.
    pub parts_keys: Option<String>,
    /// Why Kafka does not tell which locks stand.
    pub locks_failure: Option<LocksFailure>,
}

impl Decision {
    /// The count that all topics have, if they all exist and agree.
    pub fn agreed(&self) -> Option<i32> {
        let mut counts = self
            .topics
            .iter()
            .map(|topic| topic.live().map(|live| live.partitions));
        let first = counts.next()??;
        counts.all(|count| count == Some(first)).then_some(first)
    }

    /// Whether every topic is there, as itself, with the target count.
    pub fn aligned(&self) -> bool {
        self.other_cluster.is_none()
            && !self.topics.is_empty()
            && self
                .topics
                .iter()
                .all(|topic| topic.standing == Standing::AtTarget)
    }
}
