//! The consumer of a reading: its limits, and the requests that it makes beside fetching.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rdkafka::client::ClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::{Offset, TopicPartitionList};

use super::super::context::Context;
use super::super::error::Error;
use super::super::ffi::{Consumed, ConsumerQueue, Failure, Handle, Limits, code, set_token};
use super::super::handle::{self, unusable};
use super::super::security::Sasl;
use super::super::settings::ConnectionSettings;
use super::super::token::{OwnToken, Token};

/// Without the name of a group the library assigns no partitions. Nobody joins it, so it never comes to be.
const GROUP: &str = "copartition-operator-sample";
/// What one answer of a broker holds at most, one batch apart.
const FETCH: u32 = 4 << 20;
/// What one partition gets of it.
const FETCH_PARTITION: u32 = 1 << 20;
/// Fetched and not yet looked at, in KiB. A fetch is sent while less is queued, so that memory is bounded by
/// this, one [`FETCH`] per broker, and one largest batch with its uncompressed records.
const QUEUED: u32 = 8 << 10;
/// Fetched ahead of each partition, in records.
const AHEAD: u32 = 10_000;
/// Room in an answer for what is said of each partition.
const FRAMING: u32 = 1 << 20;
/// The range of [`SampleRequest::largest_batch`](super::SampleRequest::largest_batch).
const BATCHES: (u32, u32) = (1 << 20, 512 << 20);
/// No request is sent with less time than this.
const LEAST: Duration = Duration::from_millis(100);

pub(super) struct Session {
    consumer: BaseConsumer<Context>,
    settings: ConnectionSettings,
    tokens: Option<OwnToken>,
    /// The token that the consumer has.
    given: RefCell<Option<Token>>,
    largest: u32,
    /// The brokers as the last probe saw them, the one to ask first at the front.
    brokers: RefCell<VecDeque<i32>>,
}

impl Session {
    pub(super) fn open(settings: &ConnectionSettings, largest: u32) -> Result<Self, Error> {
        let settings = settings.normalised();
        if settings.bootstrap_servers.is_empty() {
            return Err(unusable("no bootstrap server is given"));
        }
        let largest = largest.clamp(BATCHES.0, BATCHES.1);
        let consumer = create(&settings, largest, Context::new(&settings.security))?;
        let tokens = settings.security.sasl.as_ref().and_then(Sasl::tokens);
        let tokens = tokens.map(|source| OwnToken::new(source.clone(), settings.request_timeout));
        let session = Self {
            consumer,
            settings,
            tokens,
            given: RefCell::default(),
            largest,
            brokers: RefCell::default(),
        };
        session.log_in()?;
        Ok(session)
    }

    /// Gives the consumer a token, if it needs one and has not this one.
    fn log_in(&self) -> Result<(), Error> {
        let Some(token) = self.token()? else {
            return Ok(());
        };
        let mut given = self.given.borrow_mut();
        if given.as_ref() != Some(&token) {
            set_token(Handle::of(&self.consumer), &token).map_err(|failure| self.error(failure))?;
            *given = Some(token);
        }
        Ok(())
    }

    fn token(&self) -> Result<Option<Token>, Error> {
        let token = self.tokens.as_ref().map(OwnToken::token).transpose();
        token.map_err(Error::AuthenticationFailed)
    }

    /// To be called while records are read: keeps the login fresh. A failure shows when it matters.
    pub(super) fn keep_logged_in(&self) {
        let due = self
            .tokens
            .as_ref()
            .is_some_and(|tokens| !tokens.is_fresh());
        if due && let Err(error) = self.log_in() {
            tracing::debug!(%error, "the token of a reading could not be renewed");
        }
    }

    /// A new consumer in place of one whose connection broke: the library tells the same trouble of one
    /// connection only once in 30 seconds.
    pub(super) fn renew(&mut self) -> Result<(), Error> {
        let context = self.consumer.context().as_ref().clone();
        self.consumer = create(&self.settings, self.largest, context)?;
        self.given.take();
        self.log_in()
    }

    pub(super) fn largest_batch(&self) -> u32 {
        self.largest
    }

    /// How long one request may take.
    pub(super) fn timeout(&self) -> Duration {
        self.settings.request_timeout
    }

    fn limits(&self, deadline: Instant) -> Limits {
        let left = deadline.saturating_duration_since(Instant::now());
        Limits {
            timeout: left.clamp(LEAST, self.timeout()),
            broker: None,
        }
    }

    /// Whether anybody answers; if not, why.
    pub(super) fn probe(&self, deadline: Instant) -> Result<(), Error> {
        let context = self.consumer.context().as_ref().clone();
        let limits = self.limits(deadline);
        let token = self.token()?;
        let brokers = handle::probe(&self.settings, context, token.as_ref(), limits.timeout)
            .map_err(|failure| self.error(failure))?;
        *self.brokers.borrow_mut() = brokers.into();
        Ok(())
    }

    /// One request that every broker can answer; if one does not, another one is asked. Left to the library it would go
    /// to the controller, which may be the one that is down.
    pub(super) fn ask_any<T>(
        &self,
        deadline: Instant,
        request: impl Fn(Handle<'_>, Limits) -> Result<T, Failure>,
    ) -> Result<T, Error> {
        let several = self.brokers.borrow().len() > 1;
        let attempts = if several { 2 } else { 1 };
        let mut answer = Err(Error::stopping());
        for _ in 0..attempts {
            let limits = self.limits(deadline);
            let limits = Limits {
                timeout: (limits.timeout / attempts).max(LEAST),
                broker: self.brokers.borrow().front().copied(),
            };
            answer =
                request(Handle::of(&self.consumer), limits).map_err(|failure| self.error(failure));
            if !matches!(answer, Err(Error::Timeout(_) | Error::Unreachable(_))) {
                break;
            }
            let mut brokers = self.brokers.borrow_mut();
            if !brokers.is_empty() {
                brokers.rotate_left(1);
            }
        }
        answer
    }

    /// One request, which waits for its answer until the deadline, but not longer than any request may.
    pub(super) fn ask<T>(
        &self,
        deadline: Instant,
        request: impl FnOnce(Handle<'_>, Limits) -> Result<T, Failure>,
    ) -> Result<T, Error> {
        let answer = request(Handle::of(&self.consumer), self.limits(deadline));
        answer.map_err(|failure| self.error(failure))
    }

    /// Earlier troubles are over.
    pub(super) fn answered(&self) {
        self.consumer.context().answered();
    }

    /// What a failure means, with what connections last complained of.
    pub(super) fn error(&self, failure: Failure) -> Error {
        Error::of(failure, self.consumer.context().trouble())
    }

    /// Why nothing comes: the last complaint, or `Timeout` with these words.
    pub(super) fn silence(&self, words: String) -> Error {
        self.error(Failure {
            message: words,
            ..Failure::unanswered()
        })
    }

    /// Reads just these partitions, each from its offset.
    pub(super) fn assign<'t>(
        &self,
        partitions: impl Iterator<Item = (&'t str, i32, i64)>,
    ) -> Result<(), Error> {
        let mut list = TopicPartitionList::new();
        for (topic, partition, offset) in partitions {
            list.add_partition_offset(topic, partition, Offset::Offset(offset))
                .map_err(|error| refused(&error))?;
        }
        self.consumer.assign(&list).map_err(|error| refused(&error))
    }

    /// Fetches no more of a partition. It is of no consequence if that fails: what comes is not looked at.
    pub(super) fn pause(&self, topic: &str, partition: i32) {
        let mut list = TopicPartitionList::new();
        list.add_partition(topic, partition);
        if let Err(error) = self.consumer.pause(&list) {
            tracing::debug!(%error, topic, partition, "a partition that is done is still fetched");
        }
    }

    pub(super) fn queue(&self) -> Result<ConsumerQueue<'_>, Error> {
        ConsumerQueue::of(Handle::of(&self.consumer)).map_err(|failure| self.error(failure))
    }

    /// Waits, and listens to what connections complain of.
    pub(super) fn wait(&self, pause: Duration) -> Result<(), Error> {
        let queue = self.queue()?;
        let end = Instant::now() + pause;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            if let Some(polled) = queue.poll(left)
                && let Consumed::Client(failure) = polled.read()
            {
                self.complain(&failure);
            }
        }
    }

    /// Remembers an error of the client as a whole. True if an answer was too large to be received.
    pub(super) fn complain(&self, failure: &Failure) -> bool {
        const CONNECTIONS: [RDKafkaErrorCode; 9] = [
            RDKafkaErrorCode::Authentication,
            RDKafkaErrorCode::SaslAuthenticationFailed,
            RDKafkaErrorCode::SSL,
            RDKafkaErrorCode::OperationTimedOut,
            RDKafkaErrorCode::RequestTimedOut,
            RDKafkaErrorCode::BrokerTransportFailure,
            RDKafkaErrorCode::Resolve,
            RDKafkaErrorCode::UnknownBroker,
            RDKafkaErrorCode::AllBrokersDown,
        ];
        let known = CONNECTIONS
            .into_iter()
            .find(|known| *known as i32 == failure.code);
        if let Some(known) = known {
            let context = self.consumer.context();
            context.error(KafkaError::Global(known), &failure.message);
        } else {
            // Of a missing permission on the group, for one, which is never joined.
            tracing::debug!(%failure.name, failure.message, "the Kafka client reports an error");
        }
        failure.code == code::BAD_ANSWER && failure.message.contains("receive.message.max.bytes")
    }
}

fn create(
    settings: &ConnectionSettings,
    largest: u32,
    context: Context,
) -> Result<BaseConsumer<Context>, Error> {
    let mut config = handle::config(settings)?;
    config
        .set("group.id", GROUP)
        .set("enable.auto.commit", "false")
        .set("enable.auto.offset.store", "false")
        .set("isolation.level", "read_committed")
        .set("auto.offset.reset", "error")
        .set("enable.partition.eof", "true")
        .set("check.crcs", "true")
        .set("fetch.max.bytes", FETCH.to_string())
        .set("fetch.message.max.bytes", FETCH_PARTITION.to_string())
        .set("queued.max.messages.kbytes", QUEUED.to_string())
        .set("queued.min.messages", AHEAD.to_string())
        .set(
            "receive.message.max.bytes",
            (largest.max(FETCH) + FRAMING).to_string(),
        )
        // The end of a partition is told with an empty answer, and a full queue is looked at again: both soon.
        .set("fetch.wait.max.ms", "50")
        .set("fetch.queue.backoff.ms", "20");
    config
        .create_with_context(context)
        .map_err(|error| unusable(&error.to_string()))
}

fn refused(error: &KafkaError) -> Error {
    Error::Rejected {
        code: "_ASSIGN".to_owned(),
        message: error.to_string(),
    }
}
