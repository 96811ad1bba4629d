//! Why a pass failed.

use super::claims::ClaimError;
use super::context::API_TIMEOUT;
use crate::kafka;

/// Why a pass failed. It is tried again with growing pauses.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// A claim.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// A status.
    #[error("writing the status of {group}: {source}")]
    Status {
        /// The group.
        group: String,
        /// What was said.
        #[source]
        source: Box<kube::Error>,
    },
    /// No answer in time.
    #[error("the API server did not answer within {}s while {what}", API_TIMEOUT.as_secs())]
    Slow {
        /// What was asked.
        what: String,
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
            Error::Slow { .. } => "Slow",
            Error::Connect { .. } => "Connect",
        }
    }
}
