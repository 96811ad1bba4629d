//! How the Kubernetes API is asked: so many requests at once, each with a timeout, and writes only while this replica
//! leads.

use std::time::Duration;

use tokio::sync::Semaphore;

use super::lease::Term;
use super::metrics::Metrics;

/// The longest time that one request to the API server may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Requests under way at once. More of them do not make an API server faster, and leave less of it to others.
const CONCURRENT: usize = 32;

/// Why a request to the Kubernetes API brought nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum GateError {
    /// Another replica may be leading, so it was not sent.
    #[error("not sent, because this replica does not lead any more")]
    NotLeading,
    /// No answer in time. A write may have happened.
    #[error("the API server did not answer within {}s", TIMEOUT.as_secs())]
    Slow,
    /// What the API server or the connection to it said.
    #[error("{}", words(.0))]
    Kube(#[from] kube::Error),
}

impl GateError {
    /// The HTTP status that the API server answered.
    pub(super) fn code(&self) -> Option<u16> {
        match self {
            GateError::Kube(kube::Error::Api(answer)) => Some(answer.code),
            _ => None,
        }
    }

    /// A bounded word for metrics.
    fn kind(&self) -> &'static str {
        match self {
            GateError::NotLeading => "NotLeading",
            GateError::Slow => "Timeout",
            GateError::Kube(_) => match self.code() {
                Some(403) => "Forbidden",
                Some(404) => "NotFound",
                Some(409) => "Conflict",
                Some(422) => "Invalid",
                Some(429) => "TooManyRequests",
                Some(500..) => "ServerError",
                Some(_) => "Rejected",
                None => "Unreachable",
            },
        }
    }
}

/// The way to the Kubernetes API during one term.
pub(super) struct Gate {
    term: Term,
    permits: Semaphore,
    metrics: Metrics,
}

impl Gate {
    /// A gate that is open for writes while `term` lasts.
    pub(super) fn new(term: Term, metrics: Metrics) -> Self {
        Gate {
            term,
            metrics,
            permits: Semaphore::new(CONCURRENT),
        }
    }

    /// Sends a request that changes nothing.
    pub(super) async fn read<T>(
        &self,
        request: impl Future<Output = Result<T, kube::Error>>,
    ) -> Result<T, GateError> {
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await;
        self.counted("read", send(request).await)
    }

    /// Sends a write if this replica leads when its turn comes.
    pub(super) async fn write<T>(
        &self,
        request: impl Future<Output = Result<T, kube::Error>>,
    ) -> Result<T, GateError> {
        let _permit = self.permits.acquire().await;
        if !self.term.holds() {
            return Err(GateError::NotLeading);
        }
        self.counted("write", send(request).await)
    }

    fn counted<T>(&self, kind: &'static str, answer: Result<T, GateError>) -> Result<T, GateError> {
        let outcome = answer.as_ref().map_or_else(GateError::kind, |_| "Ok");
        self.metrics.asked(kind, outcome);
        answer
    }
}

/// What the API server said, in its own words where it said anything: kube adds all fields of the answer to them.
pub(super) fn words(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(answer) if !answer.message.is_empty() => answer.message.clone(),
        kube::Error::Service(cause) => format!("the API server cannot be reached: {cause}"),
        kube::Error::HyperError(cause) => {
            format!("the connection to the API server broke: {cause}")
        }
        error => error.to_string(),
    }
}

async fn send<T>(request: impl Future<Output = Result<T, kube::Error>>) -> Result<T, GateError> {
    match tokio::time::timeout(TIMEOUT, request).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(GateError::Slow),
    }
}
