//! What is the case with one consumer group.

use super::asked::{Counted, Why};
use super::model::Member;

/// The verdict on one consumer group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Same-numbered partitions of all topics are read by one member (of Kafka Streams: in one process).
    Colocated {
        /// The assignor in words.
        assignor: String,
        /// Whether it keeps it so.
        habit: Habit,
        /// Whether that is so because one member reads everything.
        alone: bool,
        /// What to use instead of an assignor that does not keep it so.
        remedy: &'static str,
    },
    /// Same-numbered partitions are read by two members.
    Split(Box<Split>),
    /// Kafka Streams reads topics in sub-topologies of their own, whose tasks go where they like.
    SeparateSubTopologies {
        /// The sub-topologies with the topics that they read, as far as they are judged.
        parts: Vec<(String, Vec<String>)>,
        /// Topics by which Kafka Streams brings records from one part to another; it needs no colocation for that.
        repartitioned: Vec<String>,
        /// Whether all same-numbered partitions are in one process now.
        together: bool,
    },
    /// A Kafka Streams application has no members or cannot run, and reads topics of unequal counts in one sub-topology. It stops
    /// over that if it joins them; on the classic protocol Kafka Streams 4.3.1 looks only where it also makes repartition topics, and what
    /// meets in a store without a join it never looks at (`examples/kafka-streams`).
    CannotRun {
        /// The sub-topology.
        sub_topology: String,
        /// The pair.
        pair: [Counted; 2],
        /// Whether the coordinator itself says that it cannot run.
        said: bool,
    },
    /// Nothing is split, but topics that are read have unequal counts, so some partitions have no counterpart.
    UnequalCounts {
        /// The pair.
        pair: [Counted; 2],
    },
    /// Topics are not read by it, or not all of their partitions. What it reads is not split.
    Partial {
        /// The topics that it reads.
        reads: Vec<String>,
        /// Those that it does not read.
        unread: Vec<String>,
        /// Of one that it reads, a partition that it does not.
        unassigned: Option<(String, i32)>,
    },
    /// A Kafka Streams application that cannot run, for another reason; in the coordinator's words.
    NotReady(String),
    /// It has no members.
    Empty {
        /// Topics of unequal counts, over which a Kafka Streams application stops.
        unequal: Option<[Counted; 2]>,
    },
    /// It does not exist.
    Missing {
        /// As above.
        unequal: Option<[Counted; 2]>,
    },
    /// Its assignment changes.
    Rebalancing,
    /// Of a kind, or in a state, that is not known here: it may be active.
    Unsupported(String),
    /// It could not be read.
    Unread(Why, String),
}

/// Whether an assignor keeps same-numbered partitions together when members come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// It does, as long as all members read all topics.
    Keeps,
    /// It does not.
    Parts,
    /// It is not known here.
    Unknown,
}

/// Where same-numbered partitions are parted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The first partition number.
    pub partition: i32,
    /// A topic and who reads its partition.
    pub a: Seat,
    /// Another topic and who reads its.
    pub b: Seat,
    /// How many partition numbers are parted.
    pub split: usize,
    /// Of how many.
    pub of: i32,
    /// The assignor in words.
    pub assignor: String,
    /// What to do.
    pub remedy: &'static str,
}

/// Who reads a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// The topic.
    pub topic: String,
    /// The member's id.
    pub member: String,
    /// Its client id.
    pub client_id: String,
    /// Where it connects from, without the slash that coordinators write.
    pub host: String,
}

impl Seat {
    pub(super) fn of(topic: &str, member: &Member) -> Self {
        Self {
            topic: topic.to_owned(),
            member: member.id.clone(),
            client_id: member.client_id.clone(),
            host: member.host.trim_start_matches('/').to_owned(),
        }
    }
}
