//! Why a pass failed.

use super::claims::ClaimError;
use super::gate::GateError;
use crate::kafka;

/// Why a pass failed. It is tried again with growing pauses.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// A claim.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// A status.
    #[error("{what} of {group}: {source}")]
    Status {
        /// What was tried.
        what: &'static str,
        /// The group.
        group: String,
        /// What was said.
        #[source]
        source: Box<GateError>,
    },
    /// A Kafka client could not be made.
    #[error("connecting to Kafka for {group}: {source}")]
    Connect {
        /// The group.
        group: String,
        /// What was said.
        #[source]
        source: kafka::Error,
    },
}

impl Error {
    /// A bounded word for metrics.
    pub(super) fn category(&self) -> &'static str {
        match self {
            Error::Claim(_) => "Claim",
            Error::Status { .. } => "Status",
            Error::Connect { .. } => "Connect",
        }
    }

    /// Whether it says no more than that another replica leads now.
    pub(super) fn is_deposed(&self) -> bool {
        let (Error::Claim(ClaimError::Write { source, .. }) | Error::Status { source, .. }) = self
        else {
            return false;
        };
        matches!(**source, GateError::NotLeading)
    }
}
