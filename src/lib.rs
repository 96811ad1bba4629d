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

/// The version, and with it the commit, if the build was told one (`COPARTITION_COMMIT`): nothing asks Git, so the same
/// source gives the same binary with and without it.
pub fn version() -> &'static str {
    static VERSION: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| match commit() {
        "" => env!("CARGO_PKG_VERSION").to_owned(),
        commit => format!("{} ({commit})", env!("CARGO_PKG_VERSION")),
    });
    &VERSION
}

/// The commit that this was built from; empty if the build was not told.
pub fn commit() -> &'static str {
    option_env!("COPARTITION_COMMIT").unwrap_or_default()
}

#[cfg(test)]
mod architecture;
#[cfg(test)]
mod documents;
