//! The validated group: what the spec asks for, with every default resolved. Nothing downstream reads the raw spec.

use std::collections::{BTreeMap, BTreeSet};

use crate::keys::KeyScheme;
use crate::keys::clients::Producer;
use crate::placement::Asked;

/// What one group wants.
#[derive(Clone, Debug, PartialEq, Eq)]
// Each is a switch of the spec by itself.
#[allow(clippy::struct_excessive_bools)]
pub struct Group {
    /// Report only; every topic then counts as Referenced.
    pub observe: bool,
    /// The pause annotation is set: nothing is written to Kafka.
    pub paused: bool,
    /// `spec.partitions`.
    pub partitions: Option<i32>,
    /// The replication factor of topics that are created; `None` is the broker's default.
    pub replication_factor: Option<i16>,
    /// The topics in the order of the spec.
    pub topics: Vec<Topic>,
    /// Keys whose layout is shown.
    pub sample_keys: Vec<String>,
    /// Redis key templates of the same logical key.
    pub redis_templates: Vec<String>,
    /// Whether the Managed topics are to be locked against ALTER.
    pub alter_lock: bool,
    /// Whether records are to be read and judged.
    pub verification: bool,
    /// The consumer groups that are to read the topics together.
    pub consumer_groups: Vec<Asked>,
    /// The consent to move keys.
    pub consent: Option<Consent>,
    /// The consent to drop records: topic and config keys.
    pub data_loss: Option<(String, BTreeSet<String>)>,
    /// What the user acknowledged: ids of topics and clusters, `deleted:ID` of topics, and `forget:ID` of clusters whose
    /// locks can't be undone.
    pub acknowledged: BTreeSet<String>,
}

/// One topic of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name in Kafka.
    pub name: String,
    /// Whether the operator may create, grow and configure it (never in Observe).
    pub managed: bool,
    /// The declared config.
    pub config: BTreeMap<String, String>,
    /// The key scheme that applies to it.
    pub scheme: Option<KeyScheme>,
    /// The clients that write it, as far as they are declared.
    pub producers: Vec<Producer>,
}

/// A consent to move keys by one growth.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Consent {
    /// The topics that may grow.
    pub topics: BTreeSet<String>,
    /// From exactly this count.
    pub from: i32,
    /// To exactly this count.
    pub to: i32,
    /// The live ids, where the same numbers are used again.
    pub topic_ids: BTreeSet<String>,
}

impl Group {
    /// The topic of that name.
    pub fn topic(&self, name: &str) -> Option<&Topic> {
        self.topics.iter().find(|topic| topic.name == name)
    }

    /// The topics that the operator may write.
    pub fn managed(&self) -> impl Iterator<Item = &Topic> {
        self.topics.iter().filter(|topic| topic.managed)
    }
}
