//! Everything that talks to Kafka.

mod changes;
mod chunk;
mod client;
mod cluster;
mod connection;
mod context;
mod error;
mod ffi;
mod gather;
mod health;
mod interests;
mod metrics;
mod model;
mod offsets;
mod poll;
mod read;
mod registry;
mod settings;
mod snapshot;
mod writes;

pub use client::{Client, PerTopic};
pub use cluster::{Cluster, PollSettings};
pub use error::{Error, TopicError};
pub use health::Health;
pub use interests::Interest;
pub use metrics::Metrics;
pub use model::{ConfigChange, Growth, NewTopic, TopicDescription};
pub use registry::Clusters;
pub use settings::ConnectionSettings;
pub use writes::Outcomes;
