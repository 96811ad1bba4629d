//! The connection to one cluster: librdkafka's handle, the thread that serves it, and how a blocking request
//! becomes an async one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, Consumer};
use tokio::sync::Semaphore;

use super::context::Context;
use super::error::Error;
use super::ffi::{self, Failure, Handle, Limits, code};
use super::handle::{config, probe, unusable};
use super::metrics::{Api, Metrics};
use super::nodes::Nodes;
use super::security::Sasl;
use super::settings::ConnectionSettings;
use super::token::{Keeper, Token};
use super::wire::Wire;

/// Requests of one connection under way at once. Each waits on a thread of Tokio's blocking pool (512), so
/// that a hundred silent clusters leave room for the others.
const CONCURRENT: usize = 4;
/// How long the polling thread sleeps at most before it looks whether the connection is still used.
const POLL: Duration = Duration::from_millis(500);
/// A request is not sent with less time than this: it would hardly be answered, and `ListOffsets` must not time
/// out while it is being sent, for the reason given in `offsets`.
const LEAST: Duration = Duration::from_millis(100);

/// The connection to one cluster.
///
/// The handle is a consumer without a group: unlike a producer or admin handle, it never makes a broker
/// create a topic by asking about it.
pub(super) struct Connection {
    consumer: Arc<BaseConsumer<Context>>,
    /// For probes. Not as the library's settings, which would hold the secrets once more.
    settings: Arc<ConnectionSettings>,
    permits: Arc<Semaphore>,
    timeout: Duration,
    metrics: Arc<Metrics>,
    nodes: Arc<Mutex<Nodes>>,
    /// The last request was not answered.
    silent: Arc<AtomicBool>,
    /// Where its bearer tokens come from, if it logs in with such.
    tokens: Option<Arc<Keeper>>,
    /// The token that the handle has.
    given: Arc<Mutex<Option<Token>>>,
    /// Connections for what the library cannot ask.
    wire: Wire,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Connection {
    pub(super) fn open(
        settings: &ConnectionSettings,
        metrics: Arc<Metrics>,
    ) -> Result<Self, Error> {
        let settings = settings.normalised();
        if settings.bootstrap_servers.is_empty() {
            return Err(unusable("no bootstrap server is given"));
        }
        let consumer: BaseConsumer<Context> = config(&settings)?
            .create_with_context(Context::new(&settings.security))
            .map_err(|error| unusable(&error.to_string()))?;
        let sources = settings
            .security
            .sasl
            .as_ref()
            .and_then(Sasl::tokens)
            .cloned();
        let consumer = Arc::new(consumer);
        let polled = Arc::clone(&consumer);
        std::thread::Builder::new()
            .name("kafka-poll".to_owned())
            .spawn(move || poll(&polled))
            .map_err(|error| unusable(&format!("no thread to poll: {error}")))?;
        let tokens = sources.map(|source| Keeper::start(source, settings.request_timeout));
        let tokens = tokens.map(Arc::new);
        let settings = Arc::new(settings);
        Ok(Self {
            consumer,
            permits: Arc::new(Semaphore::new(CONCURRENT)),
            timeout: settings.request_timeout,
            wire: Wire::new(Arc::clone(&settings), tokens.clone(), Arc::clone(&metrics)),
            tokens,
            given: Arc::default(),
            settings,
            metrics,
            nodes: Arc::default(),
            // Until the first answer nobody knows better.
            silent: Arc::new(AtomicBool::new(true)),
        })
    }

    /// How long one request may take.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Connections for what the client library cannot ask.
    pub(super) fn wire(&self) -> &Wire {
        &self.wire
    }

    /// The next request is sent only after a look whether there are brokers at all.
    pub(super) fn doubt(&self) {
        self.silent.store(true, Ordering::Relaxed);
    }

    /// The brokers, as one of them last told.
    pub(super) fn brokers(&self) -> Vec<i32> {
        let nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.all().to_vec()
    }

    /// Runs a request that only reads and that every broker can answer. If one broker does not, another one
    /// is asked within the same time.
    pub(super) async fn ask_any<T: Send + 'static>(
        &self,
        api: Api,
        request: impl Fn(Handle<'_>, Limits) -> Result<T, Failure> + Clone + Send + 'static,
    ) -> Result<T, Error> {
        let (broker, others) = {
            let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
            (nodes.current(Instant::now()), nodes.has_others())
        };
        let timeout = if others {
            self.timeout / 2
        } else {
            self.timeout
        };
        let answer = self
            .ask(api, Limits { timeout, broker }, request.clone())
            .await;
        if !matches!(answer, Err(Error::Timeout(_) | Error::Unreachable(_))) {
            return answer;
        }
        let broker = {
            let now = Instant::now();
            let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
            nodes.silent(broker, now);
            nodes.current(now)
        };
        if !others {
            return answer;
        }
        self.ask(api, Limits { timeout, broker }, request).await
    }

    /// Runs one blocking request on Tokio's blocking pool. A caller that gives up does not end the request.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        api: Api,
        limits: Limits,
        request: impl FnOnce(Handle<'_>, Limits) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Error> {
        let result = self.ask_uncounted(limits, request).await;
        self.metrics.request(api, &result);
        result
    }

    async fn ask_uncounted<T: Send + 'static>(
        &self,
        limits: Limits,
        request: impl FnOnce(Handle<'_>, Limits) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Error> {
        let start = Instant::now();
        let permit = Arc::clone(&self.permits).acquire_owned();
        let Ok(Ok(permit)) = tokio::time::timeout(limits.timeout, permit).await else {
            let busy = "earlier requests are still waiting for an answer";
            return Err(Error::Timeout(busy.to_owned()));
        };
        let token = match &self.tokens {
            None => None,
            Some(tokens) => {
                let left = limits.timeout.saturating_sub(start.elapsed());
                let token = tokio::time::timeout(left, tokens.token()).await;
                let token = token.unwrap_or_else(|_| Err("no token came in time".to_owned()));
                Some(token.map_err(Error::AuthenticationFailed)?)
            }
        };
        let left = limits.timeout.saturating_sub(start.elapsed());
        if left < LEAST {
            return Err(Error::Timeout("no time is left to ask".to_owned()));
        }
        let limits = Limits {
            timeout: left,
            ..limits
        };
        let consumer = Arc::clone(&self.consumer);
        let settings = Arc::clone(&self.settings);
        let silent = Arc::clone(&self.silent);
        let given = Arc::clone(&self.given);
        let nodes = Arc::clone(&self.nodes);
        let answer = tokio::task::spawn_blocking(move || {
            // The permit goes with the request, so that an abandoned one still counts.
            let _permit = permit;
            let answer = token
                .as_ref()
                .map_or(Ok(()), |token| renew(&given, Handle::of(&consumer), token))
                .and_then(|()| {
                    let probe = || {
                        let context = consumer.context().as_ref().clone();
                        let brokers = probe(&settings, context, token.as_ref(), limits.timeout)?;
                        let mut nodes = nodes.lock().unwrap_or_else(PoisonError::into_inner);
                        nodes.know(brokers);
                        Ok(())
                    };
                    unless_silent(&silent, probe, &consumer, limits, request)
                });
            (answer, consumer.context().trouble())
        })
        .await;
        match answer {
            Ok((Ok(answer), _)) => {
                self.consumer.context().answered();
                Ok(answer)
            }
            Ok((Err(failure), trouble)) => {
                let error = Error::of(failure, trouble);
                if let (Error::AuthenticationFailed(_), Some(tokens)) = (&error, &self.tokens) {
                    tokens.refused();
                }
                Err(error)
            }
            Err(stopped) => Err(Error::Timeout(format!(
                "the request was abandoned: {stopped}"
            ))),
        }
    }
}

/// Gives the handle a token, unless it has this one.
fn renew(given: &Mutex<Option<Token>>, handle: Handle<'_>, token: &Token) -> Result<(), Failure> {
    let mut given = given.lock().unwrap_or_else(PoisonError::into_inner);
    if given.as_ref() != Some(token) {
        ffi::set_token(handle, token)?;
        *given = Some(token.clone());
    }
    Ok(())
}

/// Sends a request; while the last one was not answered, only once a broker answers at all.
fn unless_silent<T>(
    silent: &AtomicBool,
    probe: impl FnOnce() -> Result<(), Failure>,
    consumer: &BaseConsumer<Context>,
    limits: Limits,
    request: impl FnOnce(Handle<'_>, Limits) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let start = Instant::now();
    if silent.load(Ordering::Relaxed) {
        probe()?;
    }
    let left = limits.timeout.saturating_sub(start.elapsed());
    if left < LEAST {
        return Err(Failure::unanswered());
    }
    let limits = Limits {
        timeout: left,
        ..limits
    };
    let answer = request(Handle::of(consumer), limits);
    let unanswered = matches!(&answer, Err(failure) if code::is_undelivered(failure.code));
    silent.store(unanswered, Ordering::Relaxed);
    answer
}

/// Serves the handle's main queue until nobody but this thread holds it. Errors reach the context only
/// through this, and an unpolled queue grows for ever. This thread is always the last holder, so it is here
/// that the handle is destroyed, which waits for its broker threads.
fn poll(consumer: &Arc<BaseConsumer<Context>>) {
    while Arc::strong_count(consumer) > 1 {
        // Nothing is subscribed to: whatever comes out was already told to the context.
        let _ = consumer.poll(POLL);
    }
}
