//! A consumer group as its coordinator describes it, whatever protocol it speaks.

/// A consumer group at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerGroup {
    /// Its id; for Kafka Streams the `application.id`.
    pub id: String,
    /// The protocol by which its partitions are assigned.
    pub protocol: Protocol,
    /// Whether its assignment can be relied upon.
    pub phase: Phase,
    /// The assignor in use, as the coordinator names it: `range`, `cooperative-sticky`, `uniform`, `RoundRobinAssigner`, `stream`.
    /// `None` while the coordinator names none.
    pub assignor: Option<String>,
    /// Its members with what each was given. Empty unless the phase is [`Phase::Stable`] or [`Phase::Rebalancing`].
    pub members: Vec<Member>,
    /// The sub-topologies of a Kafka Streams application. Streams groups (KIP-1071) publish them; of applications on the classic protocol
    /// only ids and source topics are known, from the tasks of their members.
    pub sub_topologies: Vec<SubTopology>,
}

/// How a group's partitions are assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// By a member that leads, since Kafka 0.9 (JoinGroup, SyncGroup).
    Classic,
    /// By the coordinator (KIP-848).
    Consumer,
    /// By the coordinator, from the topology of a Kafka Streams application (KIP-1071).
    Streams,
    /// Another one, as the coordinator names it: a share group, a Connect cluster, or a kind that is newer than this program.
    /// It counts as active: nothing says that it is not.
    Other(String),
}

/// What a group is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// All members have what they were given.
    Stable,
    /// Members come, go, or have not yet taken what they were given.
    Rebalancing,
    /// It exists and has no members.
    Empty,
    /// It does not exist.
    Missing,
    /// A Kafka Streams application that cannot run, with the coordinator's words, such as source topics of unequal counts.
    NotReady(String),
    /// Another one, as the coordinator names it.
    Other(String),
}

/// One member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The id that the coordinator knows it by.
    pub id: String,
    /// The client id that it gave itself.
    pub client_id: String,
    /// Where it connects from, as the coordinator writes it: `/10.1.2.3`.
    pub host: String,
    /// The process that it is a thread of, where the protocol says so (Kafka Streams): members of one process share their
    /// in-memory state.
    pub process: Option<String>,
    /// The partitions that it reads, by topic.
    pub assigned: Vec<TopicPartitions>,
    /// The active tasks of a Kafka Streams member.
    pub tasks: Vec<Task>,
}

/// Partitions of one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicPartitions {
    /// The topic.
    pub topic: String,
    /// Partition numbers, ascending.
    pub partitions: Vec<i32>,
}

/// A task of a Kafka Streams application: one partition number of one sub-topology.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Task {
    /// The sub-topology.
    pub sub_topology: String,
    /// The partition number of all its source topics.
    pub partition: i32,
}

/// A part of a Kafka Streams topology whose source topics must be co-partitioned, since one task reads the same partition of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubTopology {
    /// Its id: `0`, `1`.
    pub id: String,
    /// The topics that it reads, repartition topics aside.
    pub source_topics: Vec<String>,
    /// The repartition topics that it reads; Kafka Streams creates them itself.
    pub repartition_topics: Vec<String>,
    /// The changelog topics of its state stores; Kafka Streams creates them itself.
    pub changelog_topics: Vec<String>,
}

impl SubTopology {
    /// Whether the topic is one of its sources.
    pub fn reads(&self, topic: &str) -> bool {
        self.source_topics.iter().any(|source| source == topic)
    }
}
