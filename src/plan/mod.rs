//! The decisions: (group, memory, view) -> plan, and (plan, outcomes) -> conditions. Pure: no IO, no clock.
//!
//! ```text
//! Group  (what the spec wants)      ┐
//! Memory (what the claim remembers) ├─ decide ─> Decision { memory, actions, topics } ─┐
//! View   (what Kafka shows)         ┘                                                  ├─ report ─> Report
//!                                       Outcomes (what Kafka said to the actions) ─────┘
//! ```
//!
//! A pass decides, writes the decision's memory to the claim, acts, looks again and decides again; the last decision is
//! reported. So every transition that must survive a crash (a growth read back, a consent spent, a topic adopted)
//! happens in [`decide()`] and nowhere else, on what is seen, not on what was sent.

mod actions;
mod applied;
mod auto_created;
mod blocked;
mod breaks;
mod checks;
mod conditions;
mod config;
mod consent;
mod consumers_colocated;
mod counts;
mod decide;
mod decision;
mod drift;
mod exit;
mod group;
mod identify;
mod key_schemes;
mod keys_verified;
mod locked;
mod locks;
mod memory;
mod observed;
mod predict;
mod remedy;
mod report;
mod slots;
mod summary;
#[cfg(test)]
mod tests;
mod verdict;
mod vocabulary;

pub use actions::confirmed;
pub use auto_created::{explain_auto_created, may_be_auto_created};
pub use breaks::{Break, BreakKind, Growing, Surroundings, breaks};
pub use checks::TRIED_AGAIN;
pub use conditions::{Condition, ConditionType, Reason, State};
pub use config::ConfigDiff;
pub use consent::Coverage;
pub use consumers_colocated::{PlacementEvidence, confirmed as confirmed_placement, countable};
pub use counts::awaited_of_referenced;
pub use decide::decide;
pub use decision::{
    Actions, Alter, Create, Decision, Grow, Input, Refusal, Stage, Standing, TopicDecision,
};
pub use exit::{Exit, exit_table};
pub use group::{Consent, Group, Topic};
pub use key_schemes::key_schemes_at;
pub use keys_verified::{About, Evidence, readable};
pub use locks::{LockStanding, forget};
pub use memory::{Intent, Lock, Memory, Owner, Spent, TopicMemory};
pub use observed::{
    LockSeen, LocksFailure, LocksView, Records, TopicId, TopicReading, TopicState, TopicView, View,
};
pub use predict::predict;
pub use remedy::{Proposal, movement, proposals};
pub use report::{
    Failure, Layout, Outcomes, Proofs, Report, TopicReport, refused, report, report_with,
};
pub use summary::summarise;
pub use verdict::Verdict;
pub use vocabulary::{Entry, VOCABULARY, conditions_table};
