//! The judge of consumer assignments: whether same-numbered partitions of co-partitioned topics sit on one member.
//!
//! Equal counts and equal key schemes put a key on the same-numbered partition of each topic; that one process reads both is
//! a matter of the consumer group's assignor. Pure: what brokers say of a group is translated into [`ConsumerGroup`]
//! before it is judged.
//!
//! ```text
//! ConsumerGroup ──┐                        ┌─ Verdict of each group ─┐
//! Asked, Unread ──┼─ judge(): who reads ───┤                         ├─ Report: outcome, reason, message, gist
//! Counted topics ─┘  which partition       └─ groups that read apart ┘
//! ```
//!
//! A verdict is about now, but people act on what it will be: partitions that lie together under an assignor that does not keep
//! them so, or because there is one member, are [`Reason::ColocatedByChance`].
//!
//! **Texts that stay.** Ids, clients and hosts of members change with each restart, and a status that names them would be
//! written
//! anew each time. So a report has a message, which names them, and a gist, which is the same without them: who keeps a
//! message as long as its gist holds writes only when something else is the case, and names the members of the first time.

mod asked;
mod assignor;
mod judge;
mod model;
mod needed;
mod owners;
mod report;
mod said;
pub mod topology;
mod verdict;

#[cfg(test)]
mod tests;

pub use asked::{Asked, Counted, Unread, Why};
pub use judge::judge;
pub use model::{ConsumerGroup, Member, Phase, Protocol, SubTopology, Task, TopicPartitions};
pub use needed::{Needed, needed};
pub use report::{Apart, GroupReport, Outcome, Reason, Report};
pub use verdict::{Habit, Seat, Split, Verdict};
