//! Layouts: which key lies on which partition, what moves when a topic grows, and whether the declared schemes
//! of several topics map keys alike, and Redis Cluster slots.
//!
//! This folder is pure: it computes from what it is given and names nothing of Kafka or Kubernetes.

mod movement;
mod redis;
mod schemes;
mod table;
mod tally;

pub use movement::{Move, Share, moved_share, moves};
pub use redis::{
    InSlot, PLACEHOLDER, SlotsVerdict, hashed_part, judge_slots, redis_slot, rendered,
};
pub use schemes::{Declared, Example, Limit, Pair, SchemesVerdict, Unprovable, Writer, compare};
pub use table::{Row, Table, hex};
pub use tally::{Skew, Tally};
