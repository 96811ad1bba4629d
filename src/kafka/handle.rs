//! How the client library's handles are set up, and the one that only looks whether anybody answers.

use std::time::{Duration, Instant};

use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::consumer::{BaseConsumer, Consumer};

use super::context::{Cause, Context};
use super::error::Error;
use super::ffi::{self, Failure, Handle};
use super::security;
use super::settings::ConnectionSettings;
use super::token::Token;

/// Sent to the brokers with each request; shows in their logs and quotas.
pub(super) const CLIENT_ID: &str = "copartition-operator";
/// So many events of a probe are looked at; each attempt to connect makes a line of the log and an error.
const PROBE_EVENTS: usize = 100;
/// How long finding out why a certificate is refused may take at least, beyond the time of the request: for a broker
/// that was just seen to answer.
const EXPLAIN: Duration = Duration::from_millis(500);
/// How long the library remembers topics that were described: longer than it takes to ask for their offsets
/// next (`offsets` says why that matters), and not for long once nobody names them.
const CACHE_AGE: Duration = Duration::from_secs(60);

/// What every handle of a cluster has in common.
pub(super) fn config(settings: &ConnectionSettings) -> Result<ClientConfig, Error> {
    let milliseconds = |duration: Duration| duration.as_millis().to_string();
    let mut config = ClientConfig::new();
    config
        .set_log_level(RDKafkaLogLevel::Warning)
        .set("bootstrap.servers", settings.bootstrap_servers.join(","))
        .set("client.id", CLIENT_ID)
        .set("allow.auto.create.topics", "false")
        .set("socket.timeout.ms", milliseconds(settings.request_timeout))
        // Less than the request may take, so that a request can tell why it failed. The library's least is 1 s.
        .set(
            "socket.connection.setup.timeout.ms",
            milliseconds((settings.request_timeout / 2).max(Duration::from_secs(1))),
        )
        // Look for a broker that came back every two seconds, not every ten.
        .set("reconnect.backoff.max.ms", "2000")
        .set("metadata.max.age.ms", milliseconds(CACHE_AGE))
        // How long writes may wait for a controller that died; the library asks for news no more often.
        .set("topic.metadata.refresh.interval.ms", "10000");
    security::apply(&mut config, &settings.security)?;
    Ok(config)
}

/// A handle that cannot be made.
pub(super) fn unusable(message: &str) -> Error {
    Error::Rejected {
        code: "_INVALID_ARG".to_owned(),
        message: message.to_owned(),
    }
}

/// Whether any broker answers, and which there are ([`ffi::probe`] says why that is asked). On a handle of its own: the library asks for a topic
/// that was named once again every second, for as long as the handle lives.
pub(super) fn probe(
    settings: &ConnectionSettings,
    context: Context,
    token: Option<&Token>,
    timeout: Duration,
) -> Result<Vec<i32>, Failure> {
    let start = Instant::now();
    let probe: BaseConsumer<Context> = config(settings)
        .map_err(|error| Failure::invalid(error.to_string()))?
        .create_with_context(context)
        .map_err(|error| Failure::invalid(error.to_string()))?;
    if let Some(token) = token {
        ffi::set_token(Handle::of(&probe), token)?;
    }
    let answer = ffi::probe(Handle::of(&probe), timeout);
    // Why nobody answers is told through its queue. A poll that meets a line of the log looks like one of an empty
    // queue, so the end can't be seen.
    for _ in 0..PROBE_EVENTS {
        let _ = probe.poll(Duration::ZERO);
    }
    if answer.is_err() {
        explain(
            settings,
            probe.context(),
            timeout.saturating_sub(start.elapsed()),
        );
    }
    answer
}

/// Finds out why a certificate is refused.
fn explain(settings: &ConnectionSettings, context: &Context, left: Duration) {
    let Some(tls) = &settings.security.tls else {
        return;
    };
    if let Some(trouble) = context.trouble()
        && trouble.cause == Cause::Certificate
        && security::is_untrusted(&trouble.said)
        && let Some(why) = security::why_refused(tls, &trouble.said, left.max(EXPLAIN))
    {
        context.explain(&why);
    }
}
