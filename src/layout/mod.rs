//! Layouts: which key lies on which partition, what moves when a topic grows, and whether the declared schemes
//! of several topics map keys alike.
//!
//! This folder is pure: it computes from what it is given and names nothing of Kafka or Kubernetes.

mod movement;
mod schemes;
mod table;

pub use movement::{Move, Share, moved_share, moves};
pub use schemes::{SchemesVerdict, TopicScheme, compare};
pub use table::{Row, Table, hex};
