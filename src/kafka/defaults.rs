//! What brokers give a topic that is created without saying how: read only where it explains something.

use std::time::{Duration, Instant};

use super::client::Client;
use super::error::Error;
use super::ffi::{self, Handle, Limits};
use super::metrics::Api;

/// How long an answer counts.
const FRESH: Duration = Duration::from_secs(600);
/// How long after a question without an answer it is asked again.
const AGAIN: Duration = Duration::from_secs(60);

/// `num.partitions` as it was last read. It changes with a restart of the brokers at most, and what is said with it must not
/// come and go with each answer that is late: so the last one stands.
#[derive(Debug, Default)]
pub(super) struct Defaults(tokio::sync::Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    partitions: Option<i32>,
    ask_at: Option<Instant>,
}

impl Defaults {
    /// The default count; `None` if the principal may not see it or nobody answered yet. Whoever asks meanwhile waits for the
    /// one request.
    pub(super) async fn partitions(&self, client: &Client) -> Option<i32> {
        let mut known = self.0.lock().await;
        if known.ask_at.is_none_or(|at| Instant::now() >= at) {
            let answer = client.default_partitions().await;
            let pause = if answer.is_ok() { FRESH } else { AGAIN };
            known.ask_at = Some(Instant::now() + pause);
            match answer {
                Ok(partitions) => known.partitions = Some(partitions),
                Err(error) => {
                    tracing::debug!(%error, "the brokers' default partition count is not known");
                }
            }
        }
        known.partitions
    }
}

impl Client {
    /// The partition count of topics that clients create by asking for them: `num.partitions` of one broker. It needs
    /// `DESCRIBE_CONFIGS` on the cluster.
    ///
    /// # Errors
    /// [`Error`], of a missing permission too.
    async fn default_partitions(&self) -> Result<i32, Error> {
        let request = |handle: Handle<'_>, limits: Limits| {
            let brokers = ffi::probe(handle, limits.timeout)?;
            let first = brokers.first().copied().unwrap_or_default();
            let config = ffi::describe_broker_config(handle, limits, first)?;
            let value = config.get("num.partitions").and_then(Option::as_deref);
            value
                .and_then(|value| value.trim().parse().ok())
                .ok_or_else(ffi::Failure::unanswered)
        };
        let limits = Limits {
            timeout: self.connection().timeout(),
            broker: None,
        };
        self.connection()
            .ask(Api::DescribeConfigs, limits, request)
            .await
    }
}
