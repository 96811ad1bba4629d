//! The operator: watches, the reconcile steps, claims, status writing, health and metrics.
//!
//! ```text
//! groups watch ──┐
//! claims watch ──┼─> Controller ─> reconcile (six steps) ─> claim, Kafka, status
//! Kafka polls  ──┘
//! ```
//! There is no watch on Kafka: the poller of each cluster announces the groups whose part of its snapshot changed.
//! A pass over a converged group reads caches only, so it may run as often as anything announces it. Records (`verification`) and
//! consumer groups (`placement`) are read beside the passes, which take what was found.

mod act;
mod claim_cache;
mod claims;
mod classic;
mod collect;
mod connections;
mod context;
mod discovery;
mod error;
mod events;
mod foresight;
mod gate;
mod gauges;
mod holders;
mod http;
mod lease;
mod locks;
pub(crate) mod marks;
pub(crate) mod memory;
mod metrics;
pub mod oneshot;
mod placement;
mod proof;
mod reconcile;
mod report;
mod run;
mod status;
mod term;
mod validate;
pub(crate) mod verification;

pub use connections::AllowedAddress;
pub use foresight::{Foreseen, Foresight, foresee};
pub use run::{Error, Settings, run, stop_signal};
pub use validate::{declared, without_kubernetes};
