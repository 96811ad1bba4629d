//! What can go wrong, in the terms that conditions are written in.

use super::context::{Cause, Trouble};
use super::ffi::{Failure, code};
use super::permissions::{self, Operation};

/// Why a whole request failed. The text is the client library's or the broker's own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No broker could be connected to.
    #[error("no broker can be reached: {0}")]
    Unreachable(String),
    /// The brokers refuse the credentials, or there is no token to log in with.
    #[error("the login failed: {0}")]
    AuthenticationFailed(String),
    /// The TLS handshake failed.
    #[error("the TLS handshake failed: {0}")]
    CertificateRejected(String),
    /// The principal may not ask this of the cluster.
    #[error("not authorized: {0}")]
    NotAuthorized(String),
    /// A broker was connected to, or may have been, and did not answer in time. A write may have happened.
    #[error("no answer in time: {0}")]
    Timeout(String),
    /// The broker, or the client library before it, refused the request.
    #[error("{code}: {message}")]
    Rejected {
        /// The protocol's name of the error, such as `POLICY_VIOLATION`; with a leading underscore where the
        /// client library itself refused.
        code: String,
        /// The refusing side's own words.
        message: String,
    },
}

/// Why one topic's part of a request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopicError {
    /// The broker answered `UNKNOWN_TOPIC_OR_PARTITION` to a question for this very name.
    #[error("the topic does not exist")]
    UnknownTopic,
    /// A topic of this name exists.
    #[error("the topic exists already")]
    AlreadyExists,
    /// The principal may not do this to the topic (or, for a description, may not know whether it exists). The text
    /// names the operation and the topic.
    #[error("not authorized: {0}")]
    NotAuthorized(String),
    /// The broker refused. With `UNKNOWN_SERVER_ERROR` it failed in the middle, so that a write may have taken
    /// effect.
    #[error("{code}: {message}")]
    Rejected {
        /// The protocol's name of the error, such as `INVALID_REPLICATION_FACTOR`; with a leading underscore
        /// where the request was not sent at all.
        code: String,
        /// The broker's own words.
        message: String,
    },
    /// The request could not be delivered or its answer was lost: read again to learn the outcome.
    #[error("no broker can be reached: {0}")]
    Unreachable(String),
    /// No answer in time: the outcome is unknown, read again.
    #[error("no answer in time: {0}")]
    Timeout(String),
}

impl Error {
    /// The runtime is being shut down, so that nobody answers.
    pub(super) fn stopping() -> Self {
        Self::Timeout("the operator is shutting down".to_owned())
    }

    /// The kind of error without its text: what decides whether a verdict changed.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "Unreachable",
            Self::AuthenticationFailed(_) => "AuthenticationFailed",
            Self::CertificateRejected(_) => "CertificateRejected",
            Self::NotAuthorized(_) => "NotAuthorized",
            Self::Timeout(_) => "Timeout",
            Self::Rejected { .. } => "Rejected",
        }
    }

    /// A whole-request failure, read together with what the connection last complained of: a request that
    /// cannot be delivered just times out, the reason comes through the error callback only.
    pub(super) fn of(failure: Failure, trouble: Option<Trouble>) -> Self {
        let Failure {
            code,
            name,
            message,
        } = failure;
        if code::is_undelivered(code) {
            return Self::of_silence(message, trouble);
        }
        match code {
            code::AUTHENTICATION | code::SASL_AUTHENTICATION_FAILED => {
                Self::AuthenticationFailed(message)
            }
            code::SSL => Self::CertificateRejected(message),
            code::REQUEST_TIMED_OUT => Self::Timeout(message),
            _ if code::is_unauthorized(code) => Self::NotAuthorized(message),
            _ => Self::Rejected {
                code: name,
                message,
            },
        }
    }

    fn of_silence(message: String, trouble: Option<Trouble>) -> Self {
        let Some(Trouble { cause, reason, .. }) = trouble else {
            return Self::Timeout(message);
        };
        match cause {
            Cause::Authentication => Self::AuthenticationFailed(reason),
            Cause::Certificate => Self::CertificateRejected(reason),
            Cause::Connection | Cause::Loss => Self::Unreachable(reason),
            Cause::Silence => Self::Timeout(reason),
        }
    }
}

impl TopicError {
    /// The answer to a request does not name a topic that was asked about.
    pub(super) fn left_out() -> Self {
        Self::Timeout("the broker's answer leaves this topic out".to_owned())
    }

    /// The same failure, which names the operation if that was refused.
    pub(super) fn during(self, operation: Operation, topic: &str) -> Self {
        self.said(|words| permissions::denied(operation, topic, words))
    }

    /// The same failure; if it is one for lack of a permission, in the words that `denied` makes of the broker's.
    pub(super) fn said(self, denied: impl FnOnce(&str) -> String) -> Self {
        match self {
            Self::NotAuthorized(words) => Self::NotAuthorized(denied(&words)),
            other => other,
        }
    }

    /// One topic's failure inside an answered request.
    pub(super) fn of(failure: Failure) -> Self {
        let Failure {
            code,
            name,
            message,
        } = failure;
        match code {
            code::UNKNOWN_TOPIC_OR_PARTITION => Self::UnknownTopic,
            code::TOPIC_ALREADY_EXISTS => Self::AlreadyExists,
            code::REQUEST_TIMED_OUT => Self::Timeout(message),
            _ if code::is_undelivered(code) => Self::Timeout(message),
            _ if code::is_unauthorized(code) => Self::NotAuthorized(message),
            _ => Self::Rejected {
                code: name,
                message,
            },
        }
    }
}

impl From<Error> for TopicError {
    /// What the failure of the whole request means for each topic in it.
    fn from(error: Error) -> Self {
        match error {
            Error::Unreachable(reason)
            | Error::AuthenticationFailed(reason)
            | Error::CertificateRejected(reason) => Self::Unreachable(reason),
            Error::NotAuthorized(reason) => Self::NotAuthorized(reason),
            Error::Timeout(reason) => Self::Timeout(reason),
            Error::Rejected { code, message } => Self::Rejected { code, message },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: i32) -> Failure {
        Failure {
            code,
            name: "NAME".to_owned(),
            message: "words".to_owned(),
        }
    }

    fn trouble(cause: Cause) -> Trouble {
        Trouble {
            cause,
            reason: "reason".to_owned(),
            said: String::new(),
        }
    }

    #[test]
    fn silence_is_named_after_what_the_connection_complained_of() {
        let of = |cause| Error::of(failure(code::TIMED_OUT), Some(trouble(cause)));
        let reason = "reason".to_owned();
        assert_eq!(
            of(Cause::Authentication),
            Error::AuthenticationFailed(reason.clone())
        );
        assert_eq!(
            of(Cause::Certificate),
            Error::CertificateRejected(reason.clone())
        );
        assert_eq!(of(Cause::Connection), Error::Unreachable(reason.clone()));
        assert_eq!(of(Cause::Loss), Error::Unreachable(reason.clone()));
        assert_eq!(of(Cause::Silence), Error::Timeout(reason));
        let mute = Error::of(failure(code::TIMED_OUT), None);
        assert_eq!(mute, Error::Timeout("words".to_owned()));
    }

    #[test]
    fn a_brokers_answer_keeps_its_code_and_words() {
        let refused = Error::of(failure(44), Some(trouble(Cause::Connection)));
        let rejected = Error::Rejected {
            code: "NAME".to_owned(),
            message: "words".to_owned(),
        };
        assert_eq!(refused, rejected);
        assert_eq!(
            TopicError::of(failure(38)),
            TopicError::Rejected {
                code: "NAME".to_owned(),
                message: "words".to_owned()
            }
        );
        assert_eq!(
            TopicError::of(failure(code::UNKNOWN_TOPIC_OR_PARTITION)),
            TopicError::UnknownTopic
        );
        assert_eq!(
            TopicError::of(failure(code::TOPIC_ALREADY_EXISTS)),
            TopicError::AlreadyExists
        );
        assert_eq!(
            TopicError::of(failure(29)),
            TopicError::NotAuthorized("words".to_owned())
        );
    }
}
