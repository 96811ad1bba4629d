//! A Kubernetes operator that makes co-partitioning of Kafka topics a declared, enforced and proven property.
//!
//! ```text
//! api         the custom resources
//! keys        key -> bytes -> partition                            pure
//! layout      layouts, movement under growth, scheme comparison    pure
//! plan        (group, memory, view) -> plan -> conditions          pure
//! verify      the judge of sampled records                          pure
//! placement   the judge of consumer assignments                     pure
//! kafka       everything that talks to Kafka
//! controller  watches, the six steps of a pass, claims, status; one run without Kubernetes
//! cli         the command lines of the operator and of the kubectl plugin
//! ```
//! The pure folders know no Kubernetes, Kafka client, runtime, clock or environment; a test holds that.

pub mod api;
pub mod cli;
pub mod controller;
pub mod kafka;
pub mod keys;
pub mod layout;
pub mod placement;
pub mod plan;
pub mod verify;

#[cfg(test)]
mod architecture;
#[cfg(test)]
mod readme;
