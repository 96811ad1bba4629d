//! Kafka's protocol itself, for what the client library cannot ask: groups of Kafka Streams, the types of groups, features
//! of brokers. A few requests that only read; everything else goes through the library.
//!
//! ```text
//! Wire (how to connect) ─▶ Session (some connections of one reader) ─▶ Broker (one connection)
//!                                                                        ├─ login ─ scram
//!                                                                        └─ messages ─ codec
//! ```
//! The messages are written and read here, not by a crate: those that there are allocate as much as a length in an
//! answer claims (and lack the groups of Kafka Streams). Tests hold them to what such a crate writes.

mod broker;
mod codec;
mod login;
mod messages;
mod scram;
mod session;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;

use super::error::Error;
use super::metrics::Metrics;
use super::security::{self, Security};
use super::settings::ConnectionSettings;
use super::token::Keeper;

pub(super) use codec::{Malformed, Reader};
pub(super) use messages::{
    ClassicGroup, ClassicMember, Code, ConsumerGroupDescribe, ConsumerGroupDescribed,
    DescribeGroups, ListGroups, Listed, Metadata, Node, StreamsGroupDescribe,
    StreamsGroupDescribed, Versions, code,
};
pub(super) use session::Session;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// As every request can.
    Failed(Error),
    /// The connection broke, for this reason.
    Lost(String),
    /// The broker does not have this API in a version that is spoken here.
    Unsupported(&'static str),
    /// The answer is larger than what is read.
    TooLarge,
    /// The answer is not what it should be.
    Malformed,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Malformed> for Failure {
    fn from(Malformed: Malformed) -> Self {
        Self::Malformed
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let rejected = |code: &str, message: String| Self::Rejected {
            code: code.to_owned(),
            message,
        };
        match failure {
            Failure::Failed(error) => error,
            Failure::Lost(words) => Self::Unreachable(words),
            Failure::Unsupported(api) => rejected(
                "UNSUPPORTED_VERSION",
                format!("the broker does not have {api} in a version that is spoken here"),
            ),
            Failure::TooLarge => rejected(
                "_MSG_SIZE_TOO_LARGE",
                "the broker's answer is larger than what is read".to_owned(),
            ),
            Failure::Malformed => {
                rejected("_BAD_MSG", "the broker's answer cannot be read".to_owned())
            }
        }
    }
}

/// How connections to one cluster are made. No Debug: it holds secrets.
struct Way {
    security: Security,
    tls: Option<Arc<rustls::ClientConfig>>,
    tokens: Option<Arc<Keeper>>,
    timeout: Duration,
    metrics: Arc<Metrics>,
}

/// Connections to one cluster, to be made when they are needed.
pub(super) struct Wire {
    settings: Arc<ConnectionSettings>,
    tokens: Option<Arc<Keeper>>,
    metrics: Arc<Metrics>,
    way: OnceCell<Arc<Way>>,
}

impl Wire {
    pub(super) fn new(
        settings: Arc<ConnectionSettings>,
        tokens: Option<Arc<Keeper>>,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self {
            settings,
            tokens,
            metrics,
            way: OnceCell::new(),
        }
    }

    /// A session without any connection yet.
    pub(super) async fn session(&self) -> Result<Session, Error> {
        let way = self.way.get_or_try_init(|| self.prepare()).await?;
        Ok(Session::new(
            Arc::clone(way),
            &self.settings.bootstrap_servers,
        ))
    }

    async fn prepare(&self) -> Result<Arc<Way>, Error> {
        let security = self.settings.security.clone();
        let tls = match security.tls.clone() {
            None => None,
            // The system's certificates are many files.
            Some(tls) => {
                let made = tokio::task::spawn_blocking(move || security::client_config(&tls));
                Some(Arc::new(made.await.map_err(|_| Error::stopping())??))
            }
        };
        Ok(Arc::new(Way {
            security,
            tls,
            tokens: self.tokens.clone(),
            timeout: self.settings.request_timeout,
            metrics: Arc::clone(&self.metrics),
        }))
    }
}

#[cfg(test)]
mod tests;
