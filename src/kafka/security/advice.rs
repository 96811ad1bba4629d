//! What to do about connections that fail, out of what the client library says of them. Its words are those of
//! librdkafka 2.12 with OpenSSL 3.

use super::super::context::Cause;
use super::{Sasl, Security};

/// What of the settings the advice depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Shape {
    tls: Option<TlsShape>,
    mechanism: Option<&'static str>,
    /// A name or password ends with a line break, as one that was written with `echo` does.
    line_break: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TlsShape {
    own_ca: bool,
    identity: bool,
}

impl Shape {
    pub(in super::super) fn of(security: &Security) -> Self {
        let tls = security.tls.as_ref();
        let sasl = security.sasl.as_ref();
        let login = sasl.and_then(Sasl::login);
        Self {
            tls: tls.map(|tls| TlsShape {
                own_ca: tls.ca.is_some(),
                identity: tls.identity.is_some(),
            }),
            mechanism: sasl.map(Sasl::mechanism),
            line_break: login.is_some_and(|login| {
                [&login.username, &login.password]
                    .iter()
                    .any(|secret| secret.expose().ends_with(b"\n"))
            }),
        }
    }
}

/// The library's words without what changes with each attempt, and without its advice, which names settings that only
/// it has.
pub(in super::super) fn plain_words(reason: &str) -> String {
    let mut words = reason;
    for end in [
        " (after ",
        ": broker certificate could not be verified",
        ": client SSL authentication might",
    ] {
        if let Some(at) = words.find(end) {
            words = &words[..at];
        }
    }
    words.trim().to_owned()
}

/// Whether a connection was cut because of the client's certificate, which the library takes for any loss: with TLS 1.3
/// the client is done before the broker has looked at it.
pub(in super::super) fn is_refused_handshake(reason: &str) -> bool {
    reason.contains("SSL alert number")
        || reason.contains("tlsv13 alert")
        || reason.contains("tlsv1 alert")
}

/// Whether the client refused the broker's certificate.
pub(in super::super) fn is_untrusted(reason: &str) -> bool {
    reason.contains("certificate verify failed")
}

/// What to do.
pub(in super::super) fn advice(cause: Cause, reason: &str, shape: Shape) -> Option<&'static str> {
    let has = |part: fn(TlsShape) -> bool| shape.tls.is_some_and(part);
    match cause {
        Cause::Authentication => authentication(reason, shape),
        Cause::Certificate if is_refused_handshake(reason) => Some(if has(|tls| tls.identity) {
            "the broker refuses the client certificate: is it expired, and is its CA in the listener's truststore?"
        } else {
            "does the listener want a client certificate? None is set"
        }),
        Cause::Certificate if is_untrusted(reason) => Some(if has(|tls| tls.own_ca) {
            "the broker's certificate is not accepted: is the CA that of this listener, is the certificate expired, and is \
             it for the host that is connected to?"
        } else {
            "the broker's certificate is not accepted, and no CA is set: is it signed by one of the system's CAs, is it \
             expired, and is it for the host that is connected to?"
        }),
        Cause::Certificate => {
            Some("do the listener and the client share a TLS version (1.2 or 1.3) and a cipher?")
        }
        Cause::Connection if shape.tls.is_some() && reason.contains("SSL_HANDSHAKE") => {
            Some("does the listener speak TLS? It hung up during the handshake")
        }
        Cause::Loss => Some(match (shape.tls.is_some(), shape.mechanism) {
            (false, None) => {
                "connections fail or are closed at once; is the address right, and does the listener want TLS or a login?"
            }
            (false, Some(_)) => {
                "connections fail or are closed at once; is the address right, and does the listener want TLS?"
            }
            (true, None) => {
                "connections fail or are closed at once; is the address right, and does the listener want a login?"
            }
            (true, Some(_)) => "connections fail or are closed at once; is the address right?",
        }),
        Cause::Connection if reason.contains("resolve") => {
            Some("is the name right, and can it be resolved from here?")
        }
        Cause::Connection if reason.contains("Connection refused") => {
            Some("is the address right, and is the broker up?")
        }
        Cause::Connection => None,
        Cause::Silence => Some(
            "is the broker overloaded, or does something on the way drop packets? The time that a request may take can be set",
        ),
    }
}

fn authentication(reason: &str, shape: Shape) -> Option<&'static str> {
    if reason.contains("Request not valid in current SASL state") {
        return Some("this listener takes no login: leave out sasl, or use a listener with SASL");
    }
    if reason.contains("Unsupported SASL mechanism") {
        return Some("set sasl.mechanism to one that this listener takes");
    }
    match shape.mechanism? {
        _ if shape.line_break => Some(
            "check user name and password: one of them ends with a line break, which belongs to it and is seldom meant",
        ),
        "OAUTHBEARER" => Some(
            "the broker rejects the token: compare its issuer, audience and scope, and the keys at the JWKS endpoint, \
             with what the listener expects",
        ),
        "PLAIN" => Some("check user name and password"),
        _ => Some("check user name and password, and that the user has one for this mechanism"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Login, Secret, Tls};
    use super::*;

    #[test]
    fn what_changes_and_what_only_the_library_knows_is_left_out() {
        let reason = "ssl://a:1/bootstrap: SSL handshake failed: certificate verify failed: broker certificate could not be \
                      verified, verify that ssl.ca.location is set (after 6ms in state SSL_HANDSHAKE)";
        let words = plain_words(reason);
        assert_eq!(
            words,
            "ssl://a:1/bootstrap: SSL handshake failed: certificate verify failed"
        );
        let words = plain_words(
            "Connect to a:1 failed: refused (after 0ms in state CONNECT, 1 identical error(s) suppressed)",
        );
        assert_eq!(words, "Connect to a:1 failed: refused");
    }

    #[test]
    fn advice_follows_what_is_set() {
        let login = |password: &str| {
            Some(Sasl::ScramSha256(Login {
                username: Secret::new("anna"),
                password: Secret::new(password),
            }))
        };
        let advice = |cause, reason: &str, security: Security| {
            advice(cause, reason, Shape::of(&security)).unwrap_or_default()
        };
        let with = |tls: bool, sasl| Security {
            tls: tls.then(Tls::default),
            sasl,
        };
        let refused = "Authentication failed";
        let said = advice(Cause::Authentication, refused, with(true, login("x")));
        assert!(said.contains("has one for this mechanism"), "{said}");
        let said = advice(Cause::Authentication, refused, with(true, login("x\n")));
        assert!(said.contains("line break"), "{said}");
        let said = advice(
            Cause::Authentication,
            "Unsupported SASL mechanism",
            with(true, login("x")),
        );
        assert!(said.contains("set sasl.mechanism"), "{said}");
        let alert = "SSL alert number 42";
        let said = advice(Cause::Certificate, alert, with(true, None));
        assert!(said.contains("None is set"), "{said}");
        let said = advice(Cause::Loss, "1/1 brokers are down", with(true, None));
        assert!(said.contains("want a login"), "{said}");
        let said = advice(Cause::Loss, "1/1 brokers are down", with(false, login("x")));
        assert!(said.contains("want TLS?"), "{said}");
    }
}
