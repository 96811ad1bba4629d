//! What the client library says on the side: errors and logs of connections.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};

use super::security::{Security, Shape, advice, is_refused_handshake, plain_words};

/// Why connections fail, as far as the error callback tells. Ordered: the more telling cause is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    /// Connections do not last, and nothing tells why.
    Loss,
    /// Connected, and no answer.
    Silence,
    /// Name not resolved, connection refused or cut.
    Connection,
    /// The TLS handshake failed.
    Certificate,
    /// The credentials were refused.
    Authentication,
}

/// The last complaint of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) cause: Cause,
    /// For people: what was said, and what to do.
    pub(super) reason: String,
    /// What was said, in the library's or the broker's words.
    pub(super) said: String,
}

/// After this long a complaint gives way to a less telling one.
const STALE: Duration = Duration::from_secs(30);
/// The longest reason kept, in bytes.
const LONGEST_REASON: usize = 700;

/// Keeps the last trouble of a client's connections. A request that cannot be delivered only times out; why
/// (wrong password, untrusted certificate, refused connection) is said through the error callback alone, and
/// that one fires only while the main queue is polled. Clones share what they learn.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    last: Arc<Mutex<Option<(Trouble, Instant)>>>,
    /// Whether any request was ever answered.
    ever_answered: Arc<AtomicBool>,
    shape: Shape,
}

impl Context {
    /// The context of connections that are secured like this.
    pub(super) fn new(security: &Security) -> Self {
        Self {
            shape: Shape::of(security),
            ..Self::default()
        }
    }

    /// More is known of the last trouble than was said of it.
    pub(super) fn explain(&self, words: &str) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((trouble, _)) = last.as_mut() {
            trouble.reason = bounded(format!("{}: {words}", trouble.said));
        }
    }

    /// The trouble since the last answered request.
    pub(super) fn trouble(&self) -> Option<Trouble> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().map(|(trouble, _)| trouble.clone())
    }

    /// A request was answered: earlier troubles are over.
    pub(super) fn answered(&self) {
        self.ever_answered.store(true, Ordering::Relaxed);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn note(&self, trouble: Trouble, now: Instant) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let keep = last.as_ref().is_some_and(|(old, since)| {
            let stale = now.duration_since(*since) >= STALE && trouble.cause != Cause::Loss;
            old.cause > trouble.cause && !stale
        });
        if !keep {
            *last = Some((trouble, now));
        }
    }
}

/// Which cause an error callback tells of; `None` for what says nothing about connections.
fn cause_of(code: RDKafkaErrorCode, reason: &str) -> Option<Cause> {
    match code {
        RDKafkaErrorCode::Authentication | RDKafkaErrorCode::SaslAuthenticationFailed => {
            Some(Cause::Authentication)
        }
        RDKafkaErrorCode::SSL => Some(Cause::Certificate),
        RDKafkaErrorCode::BrokerTransportFailure if is_refused_handshake(reason) => {
            Some(Cause::Certificate)
        }
        RDKafkaErrorCode::OperationTimedOut | RDKafkaErrorCode::RequestTimedOut => {
            Some(Cause::Silence)
        }
        // A connection that was accepted and then never answered the first request ends as a transport
        // failure too; its reason names the request that timed out.
        RDKafkaErrorCode::BrokerTransportFailure if reason.contains("timed out") => {
            Some(Cause::Silence)
        }
        RDKafkaErrorCode::BrokerTransportFailure
        | RDKafkaErrorCode::Resolve
        | RDKafkaErrorCode::UnknownBroker => Some(Cause::Connection),
        // "1/1 brokers are down" follows the callback that names the reason, if one does.
        RDKafkaErrorCode::AllBrokersDown => Some(Cause::Loss),
        _ => None,
    }
}

fn bounded(mut reason: String) -> String {
    if reason.len() > LONGEST_REASON {
        let end = (0..=LONGEST_REASON)
            .rev()
            .find(|&at| reason.is_char_boundary(at));
        reason.truncate(end.unwrap_or(0));
    }
    reason
}

impl ClientContext for Context {
    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(%error, reason, "the Kafka client reports an error");
        let Some(cause) = error
            .rdkafka_error_code()
            .and_then(|code| cause_of(code, reason))
        else {
            return;
        };
        if cause == Cause::Loss && self.ever_answered.load(Ordering::Relaxed) {
            // The address and the protocol are right, so this tells nothing.
            return;
        }
        let said = bounded(plain_words(reason));
        let reason = match advice(cause, reason, self.shape) {
            Some(advice) => bounded(format!("{said}: {advice}")),
            None => said.clone(),
        };
        let trouble = Trouble {
            cause,
            reason,
            said,
        };
        self.note(trouble, Instant::now());
    }

    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        // What matters of these comes as an error too; the log is for whoever turns it on.
        tracing::debug!(?level, facility, message, "the Kafka client logs");
    }
}

impl ConsumerContext for Context {}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(cause: Cause) -> Trouble {
        Trouble {
            cause,
            reason: format!("{cause:?}"),
            said: String::new(),
        }
    }

    #[test]
    fn the_more_telling_cause_is_kept_until_it_is_stale() {
        let context = Context::default();
        let start = Instant::now();
        context.note(trouble(Cause::Connection), start);
        context.note(trouble(Cause::Authentication), start);
        context.note(trouble(Cause::Connection), start);
        assert_eq!(context.trouble(), Some(trouble(Cause::Authentication)));
        context.note(trouble(Cause::Connection), start + STALE);
        context.note(trouble(Cause::Loss), start + 3 * STALE);
        assert_eq!(context.trouble(), Some(trouble(Cause::Connection)));
        context.answered();
        assert_eq!(context.trouble(), None);
    }

    #[test]
    fn causes_of_callbacks() {
        use RDKafkaErrorCode as Code;
        let refused = "Connect to ipv4#127.0.0.1:1 failed: Connection refused";
        assert_eq!(
            cause_of(Code::BrokerTransportFailure, refused),
            Some(Cause::Connection)
        );
        let mute = "1 request(s) timed out: disconnect (after 10000ms in state UP)";
        assert_eq!(
            cause_of(Code::BrokerTransportFailure, mute),
            Some(Cause::Silence)
        );
        let down = cause_of(Code::AllBrokersDown, "1/1 brokers are down");
        assert_eq!(down, Some(Cause::Loss));
        assert_eq!(cause_of(Code::UnknownTopicOrPartition, "x"), None);
        assert_eq!(cause_of(Code::SSL, "x"), Some(Cause::Certificate));
    }

    #[test]
    fn lost_connections_tell_something_only_before_the_first_answer() {
        let context = Context::default();
        let down = || KafkaError::Global(RDKafkaErrorCode::AllBrokersDown);
        context.error(down(), "1/1 brokers are down");
        let trouble = context.trouble().unwrap();
        assert_eq!(trouble.cause, Cause::Loss);
        assert!(
            trouble.reason.contains("TLS or a login"),
            "{}",
            trouble.reason
        );
        context.answered();
        context.error(down(), "1/1 brokers are down");
        assert_eq!(context.trouble(), None);
    }

    #[test]
    fn an_endless_reason_is_cut_between_characters() {
        let context = Context::default();
        let error = KafkaError::Global(RDKafkaErrorCode::Resolve);
        context.error(error, &"ä".repeat(600));
        assert_eq!(
            context.trouble().map(|trouble| trouble.reason.len()),
            Some(700)
        );
    }
}
