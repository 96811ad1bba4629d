//! Everything that talks to Kafka; the only place that names the client library.
//!
//! ```text
//!  group ── Interest ──▶ Cluster ◀── one per ConnectionSettings, kept by Clusters
//!    ▲                     │
//!    │ view, health        │ poll, every 5 s: who answers, all named topics, and now and then
//!    │                     ▼                  end offsets (until there are records) and configs
//!    ├── Snapshot ◀─── Reading ◀─── Client ──▶ brokers
//!    │                     ▲
//!    │ reread              │ fill, at once: what was never read, and own changes that do not show yet
//!    ▼                     │
//!  Clusters::next_changed: the groups whose part of a snapshot changed
//! ```
//!
//! **Reading** is shared. All groups of one cluster have one connection and one snapshot, which a poller keeps
//! ([`Cluster`]); a group says what it wants to know and hears when that changes. What must not be old (right
//! before a growth, right after a write) is read anew by [`Cluster::reread`], past the snapshot and into it.
//! Brokers learn of a change one after the other, so a reading is believed by rules: a topic is missing
//! only when two readings say so, a partition count never falls under one topic id, records once seen stay
//! seen, an own change is awaited.
//!
//! **Renewed credentials** are another connection, which takes over snapshot and interests of the one before it and
//! closes it once it answers itself ([`Clusters::cluster_for`]).
//!
//! **Writing** is one outcome per topic ([`Client`]): calls at nearly the same time become one request,
//! chunks keep requests below what `KRaft` takes, and what is refused as a whole is halved until the bad
//! topic stands alone. Nothing here deletes anything.
//!
//! **ALTER locks** ([`Client::lock`]) are the only ACLs that are written. Which of them stand is looked at now and then, for
//! all groups of a cluster at once, and only where a group wants to know.
//!
//! **Sampling** ([`sample()`]) reads records themselves, on a handle and a thread of its own, and joins no group.
//!
//! **Consumer groups** ([`GroupReader`]) are read by Kafka's protocol itself, on own connections: the library knows only some kinds
//! of them. So is the brokers' version.
//!
//! **Waiting** never blocks the runtime. librdkafka's calls block, so each runs on Tokio's blocking pool with
//! a timeout, a few at a time per cluster; one thread per cluster serves the library's own events, from
//! which it is learned why nobody answers. All `unsafe` code is in `ffi`.

mod changes;
mod chunk;
mod client;
mod cluster;
mod connection;
mod context;
mod defaults;
mod error;
mod ffi;
mod gather;
mod groups;
mod guard;
mod handle;
mod health;
mod interests;
mod inventory;
mod locks;
mod metrics;
mod model;
mod nodes;
mod offsets;
mod permissions;
mod poll;
mod properties;
mod read;
mod registry;
mod renewal;
mod sample;
mod security;
mod settings;
mod snapshot;
mod token;
mod version;
mod wire;
mod writes;

pub use client::{Client, PerTopic, WithoutAcl};
pub use cluster::{Cluster, PollSettings};
pub use error::{Error, TopicError};
pub use groups::{FoundGroups, GroupError, GroupReader, WantedGroups};
pub use guard::WriteGuard;
pub use health::Health;
pub use interests::Interest;
pub use inventory::{MOST_GROUPS, Readers};
pub use metrics::Metrics;
pub use model::{AclPattern, ConfigChange, Growth, Lock, NewTopic, TopicAcl, TopicDescription};
pub use permissions::{
    CLUSTER_PERMISSIONS, ClusterPermission, GROUP_PERMISSION, Operation, PERMISSIONS, Permission,
    Use, cluster_permissions_table, least, missing, permissions_table,
};
pub use properties::ClientProperties;
pub use registry::Clusters;
pub use sample::{
    Cancel, Extent, Incomplete, PartitionSample, Positions, Progress, Sample, SampleRequest,
    SampledRecord, Sink, TopicPositions, TopicSample, sample, sample_blocking,
};
pub use security::{Identity, Login, Sasl, Secret, Security, Tls, TokenEndpoint, TokenSource};
pub use settings::ConnectionSettings;
pub use token::region_of_msk;
pub use writes::Outcomes;
