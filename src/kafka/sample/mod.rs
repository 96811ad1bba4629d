//! Records of topics, read without joining a group and without committing anything.
//!
//! ```text
//!  SampleRequest ─▶ where each partition begins and ends ─▶ groups of partitions ─▶ records ─▶ Sink
//!                   (ends are those of now)                 │        ▲
//!                                    a batch is too large:  └─ halves┘
//! ```
//! All partitions are read at once by one consumer. What arrives after its beginning is not waited for: a
//! partition ends at the last stable offset of that moment, and is done when a record at or after its last offset
//! comes, or when the broker says that there is nothing more; never by a number of records, because compaction,
//! aborted transactions and control records leave gaps. The buffers of the client library are bounded by
//! [`session`]; one batch that exceeds them breaks the connection for all partitions of its broker, so their group
//! is halved until the bad partition stands alone.
//!
//! One topic's failure stops no other topic, and a partition that was not read to its end says so.

mod ledger;
mod ranges;
mod reader;
mod request;
mod session;
mod thread;
mod troubles;

pub use reader::sample_blocking;
pub use request::{
    Cancel, Extent, Incomplete, PartitionSample, Positions, Progress, Sample, SampleRequest,
    SampledRecord, Sink, TopicPositions, TopicSample,
};
pub use thread::sample;
