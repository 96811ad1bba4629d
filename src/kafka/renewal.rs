//! Renewed credentials: a cluster goes over from its earlier connection to a new one once that answers.
//!
//! ```text
//!  earlier connection ──▶ serves everything ──┐
//!  new connection ─────▶ is tried ──answers───┴─▶ serves everything; the earlier one is closed
//!                            └──fails: tried again with each poll, until the earlier one fails as well,
//!                               or for so long that the failure has to show
//! ```

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::client::Client;
use super::error::Error;

/// The connection of a cluster, and the one before it while the new one has not answered.
#[derive(Debug)]
pub(super) struct Link {
    /// For the log.
    servers: String,
    own: Client,
    before: Mutex<Option<Before>>,
}

#[derive(Debug)]
struct Before {
    client: Client,
    /// Until then it is used, as long as it answers and the new one does not.
    until: Instant,
    /// Why the new one does not.
    failure: Option<Error>,
}

impl Link {
    /// A connection, and the one that it shall take the place of within `patience`.
    pub(super) fn new(
        servers: &[String],
        own: Client,
        before: Option<Client>,
        patience: Duration,
    ) -> Self {
        let before = before.map(|client| Before {
            client,
            until: Instant::now() + patience,
            failure: None,
        });
        Self {
            servers: servers.join(","),
            own,
            before: Mutex::new(before),
        }
    }

    /// The connection to use now.
    pub(super) fn client(&self) -> Client {
        let before = self.lock();
        before
            .as_ref()
            .map_or(&self.own, |before| &before.client)
            .clone()
    }

    /// Why the new connection does not answer, while the earlier one is in use.
    pub(super) fn failure(&self) -> Option<Error> {
        self.lock().as_ref()?.failure.clone()
    }

    /// Tries the new connection, if it is not in use yet.
    pub(super) async fn try_own(&self) {
        if !self.is_in_renewal() {
            return;
        }
        let answer = self.own.cluster_id().await;
        let mut before = self.lock();
        match (answer, before.as_mut()) {
            (_, None) => {}
            (Ok(_), Some(_)) => {
                tracing::info!(
                    servers = self.servers,
                    "a Kafka cluster answers to renewed credentials"
                );
                *before = None;
            }
            (Err(error), Some(Before { until, .. })) if Instant::now() >= *until => {
                tracing::warn!(%error, servers = self.servers, "a Kafka cluster does not answer to renewed credentials, which are used from now on");
                *before = None;
            }
            (Err(error), Some(before)) => before.failure = Some(error),
        }
    }

    /// Whether the earlier connection is in use.
    pub(super) fn is_in_renewal(&self) -> bool {
        self.lock().is_some()
    }

    /// The earlier connection failed: the new one is used from now on.
    pub(super) fn give_up_before(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Before>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
