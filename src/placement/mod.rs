//! The judge of consumer assignments: whether same-numbered partitions of co-partitioned topics sit on one member.
//!
//! Equal counts and equal key schemes put a key on the same-numbered partition of each topic; that one process reads both is
//! a matter of the consumer group's assignor. Pure: what brokers say of a group is translated into [`ConsumerGroup`]
//! before it is judged.

mod model;

pub use model::{ConsumerGroup, Member, Phase, Protocol, SubTopology, Task, TopicPartitions};
