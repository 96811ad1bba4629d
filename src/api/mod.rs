//! The custom resources as users write and read them: types, conditions, reasons and the generated CRDs.
//!
//! Only shapes live here. What a field *means* is decided elsewhere: `controller::validate` turns a
//! spec into the validated [`crate::plan::Group`], and [`crate::plan`] decides on that alone.

mod claim;
mod connection;
mod crd;
mod group;
mod schema;
mod status;

pub use claim::*;
pub use connection::*;
pub use crd::{crds, to_yaml};
pub use group::*;
pub use schema::{is_label, problems};
pub use status::*;

/// The API group of all resources.
pub const API_GROUP: &str = "copartition.dev";

/// The annotation that pauses a group: while it is `"true"`, nothing is written to Kafka.
pub const PAUSED_ANNOTATION: &str = "copartition.dev/paused";

/// The annotation with the ids (topic ids, cluster ids, kube-system uids) that a user has accepted; comma-separated.
pub const ACKNOWLEDGE_ANNOTATION: &str = "copartition.dev/acknowledge";

/// The annotation of a claim with the ids of clusters whose locks can't be undone and are to be forgotten; comma-separated.
/// What `kubectl copartition claims --forget` sets; the operator takes it away with its next write.
pub const FORGET_ANNOTATION: &str = "copartition.dev/forget-locks";

/// The label of claims that admission policies are bound to.
pub const GUARD_LABEL: &str = "copartition.dev/guard";
