//! What is asked for, and what comes back.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::error::{Error, TopicError};
use crate::plan::TopicId;

/// Which records of each partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The newest offsets, so many at most. Fewer records may lie there, or none: compaction, aborted
    /// transactions and control records leave gaps.
    Newest(u64),
    /// All that the topic still has.
    Everything,
    /// From the first record at or after this time on, in milliseconds since 1970.
    Since(i64),
}

/// What to read, and what it may cost.
#[derive(Clone, Debug)]
pub struct SampleRequest {
    /// The topics by name.
    pub topics: BTreeSet<String>,
    /// Which of their records.
    pub extent: Extent,
    /// How long the reading may take as a whole; what was read until then is kept. A request under way at that
    /// moment is waited for, up to the connection's request timeout.
    pub deadline: Duration,
    /// Stop after so many bytes of keys and values, uncompressed; the record that exceeds it is still given.
    pub budget: Option<u64>,
    /// The largest batch of records that is read, in bytes as the broker stores it: what bounds memory. Kept
    /// within 1 MiB and 512 MiB. A partition with a larger one is [`Incomplete::RecordTooLarge`].
    pub largest_batch: u32,
    /// Where an earlier reading stopped. Partitions that it names go on from there, whatever `extent` says.
    pub resume: Positions,
}

impl SampleRequest {
    /// The largest batch where nothing else is asked for: 16 MiB.
    pub const DEFAULT_LARGEST_BATCH: u32 = 16 << 20;
    /// The deadline where nothing else is asked for.
    pub const DEFAULT_DEADLINE: Duration = Duration::from_secs(60);

    /// A request without a budget, with the default limits.
    pub fn new<S: Into<String>>(topics: impl IntoIterator<Item = S>, extent: Extent) -> Self {
        Self {
            topics: topics.into_iter().map(Into::into).collect(),
            extent,
            deadline: Self::DEFAULT_DEADLINE,
            budget: None,
            largest_batch: Self::DEFAULT_LARGEST_BATCH,
            resume: Positions::default(),
        }
    }
}

/// From where on to read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Positions(pub BTreeMap<String, TopicPositions>);

/// One topic's part of [`Positions`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicPositions {
    /// The topic that the offsets are of; another one under its name is not read.
    pub id: TopicId,
    /// The next offset of each partition.
    pub next: BTreeMap<i32, i64>,
}

/// A record without its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledRecord<'a> {
    /// The topic's name.
    pub topic: &'a str,
    /// The partition in which it lies.
    pub partition: i32,
    /// Its offset there.
    pub offset: i64,
    /// Milliseconds since 1970; `None` in the oldest record formats.
    pub timestamp: Option<i64>,
    /// The key's bytes, which may be empty; `None` for a record without a key.
    pub key: Option<&'a [u8]>,
    /// Whether the value is null.
    pub tombstone: bool,
}

/// Takes the records, each partition's in the order of their offsets.
pub trait Sink {
    /// Takes one record. `Break` ends the whole reading after it.
    fn take(&mut self, record: &SampledRecord<'_>) -> ControlFlow<()>;
}

impl<F: FnMut(&SampledRecord<'_>) -> ControlFlow<()>> Sink for F {
    fn take(&mut self, record: &SampledRecord<'_>) -> ControlFlow<()> {
        self(record)
    }
}

/// How far a reading is, to be looked at while it runs.
#[derive(Debug, Default)]
pub struct Progress {
    pub(super) records: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) partitions: AtomicU64,
    pub(super) done: AtomicU64,
}

impl Progress {
    /// Records given to the sink.
    pub fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    /// Bytes of their keys and values.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Partitions to read, as far as known yet.
    pub fn partitions(&self) -> u64 {
        self.partitions.load(Ordering::Relaxed)
    }

    /// Partitions that are read to their end or given up.
    pub fn partitions_done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

/// Ends a reading from elsewhere. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Ends the reading after the record, or the request, that is under way.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`Cancel::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// All topics of the request.
    pub topics: BTreeMap<String, TopicSample>,
}

/// What was read of one topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicSample {
    /// Its id, if it could be described.
    pub id: Option<TopicId>,
    /// All its partitions; empty if not known.
    pub partitions: BTreeMap<i32, PartitionSample>,
    /// What concerns the topic as a whole. With [`Incomplete::TopicDeleted`], records of a topic that took its
    /// name may be among those that were given.
    pub failure: Option<Incomplete>,
}

/// What was read of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionSample {
    /// The offset from which it was read.
    pub from: i64,
    /// The offset at which it ended when the reading began: that of the record after the last one.
    pub end: i64,
    /// From where to go on. Equal to `end` once complete.
    pub next: i64,
    /// Records given to the sink.
    pub records: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
    /// Why it was not read to its end; `None` if it was.
    pub incomplete: Option<Incomplete>,
}

impl Sample {
    /// Records given to the sink.
    pub fn records(&self) -> u64 {
        self.partitions().map(|partition| partition.records).sum()
    }

    /// Bytes of their keys and values.
    pub fn bytes(&self) -> u64 {
        self.partitions().map(|partition| partition.bytes).sum()
    }

    /// Whether every topic was read to its end.
    pub fn is_complete(&self) -> bool {
        self.topics
            .values()
            .all(|topic| topic.incomplete().is_none())
    }

    /// Where to go on, for [`SampleRequest::resume`].
    pub fn positions(&self) -> Positions {
        let positions = self.topics.iter().filter_map(|(name, topic)| {
            let next = topic
                .partitions
                .iter()
                .map(|(number, partition)| (*number, partition.next))
                .collect();
            let id = topic.id.clone()?;
            Some((name.clone(), TopicPositions { id, next }))
        });
        Positions(positions.collect())
    }

    fn partitions(&self) -> impl Iterator<Item = &PartitionSample> {
        self.topics
            .values()
            .flat_map(|topic| topic.partitions.values())
    }
}

impl TopicSample {
    /// Why the topic was not read as a whole: what concerns all of it, else its first partition that was not
    /// read to its end; `None` if it is complete.
    pub fn incomplete(&self) -> Option<&Incomplete> {
        let of_partition = || {
            self.partitions
                .values()
                .find_map(|partition| partition.incomplete.as_ref())
        };
        self.failure.as_ref().or_else(of_partition)
    }
}

/// Why something was not read to its end. Nothing can be said of what is missing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Incomplete {
    /// There is no topic of this name.
    #[error("the topic does not exist")]
    TopicNotFound,
    /// The topic that was meant is gone: deleted, or another one has its name.
    #[error("the topic was deleted, or deleted and created anew")]
    TopicDeleted,
    /// A permission is missing.
    #[error("not authorized: {0}")]
    NotAuthorized(String),
    /// The deadline has passed, or nothing arrived for too long.
    #[error("not read in time: {0}")]
    Timeout(String),
    /// No broker could be reached, or that of the partition.
    #[error("no broker can be reached: {0}")]
    Unreachable(String),
    /// The next batch of records is larger than the request allows.
    #[error(
        "partition {partition}: at offset {offset} or soon after is a batch of records of more than {limit} bytes"
    )]
    RecordTooLarge {
        /// The partition.
        partition: i32,
        /// The first offset that was not read: the batch begins there or, after a gap, later.
        offset: i64,
        /// The limit in bytes.
        limit: u32,
    },
    /// The budget of bytes is spent.
    #[error("the budget of bytes is spent")]
    BudgetSpent,
    /// The sink, or who asked, has enough.
    #[error("the reading was stopped")]
    Stopped,
    /// What the broker or the client library says.
    #[error("{code}: {message}")]
    Rejected {
        /// The protocol's name of the error; with a leading underscore where it is the client library's own.
        code: String,
        /// Its words.
        message: String,
    },
}

impl From<TopicError> for Incomplete {
    fn from(error: TopicError) -> Self {
        match error {
            TopicError::UnknownTopic => Self::TopicNotFound,
            TopicError::NotAuthorized(message) => Self::NotAuthorized(message),
            TopicError::Unreachable(message) => Self::Unreachable(message),
            TopicError::Timeout(message) => Self::Timeout(message),
            TopicError::Rejected { code, message } => Self::Rejected { code, message },
            TopicError::AlreadyExists => Self::Rejected {
                code: "TOPIC_ALREADY_EXISTS".to_owned(),
                message: error.to_string(),
            },
        }
    }
}

impl From<Error> for Incomplete {
    fn from(error: Error) -> Self {
        TopicError::from(error).into()
    }
}
