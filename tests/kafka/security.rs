//! Encryption and login, on a broker that has a listener for each way.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use copartition::kafka::{
    Client, ConnectionSettings, Error, Identity, Login, Sasl, Secret, Security, Tls, WriteGuard,
};

use super::{runtime, settings};
use crate::env::pki::{self, Authority};
use crate::env::secure::{Listener, password};
use crate::env::{Env, SecureKafka};

/// Long enough for a handshake on a busy machine, short enough for tests that wait for none.
const TIMEOUT: Duration = Duration::from_secs(4);

pub(super) fn login(user: &str, password: &str) -> Login {
    Login {
        username: Secret::new(user),
        password: Secret::new(password),
    }
}

pub(super) fn identity(of: &pki::Identity) -> Identity {
    Identity {
        certificates: of.certificate.clone().into_bytes(),
        key: Secret::new(of.key.as_str()),
    }
}

/// Encrypted, trusting one CA.
pub(super) fn trusting(authority: &Authority) -> Tls {
    Tls {
        ca: Some(authority.certificate().into_bytes()),
        identity: None,
    }
}

pub(super) fn secured(
    secure: &SecureKafka,
    listener: Listener,
    sasl: Option<Sasl>,
) -> ConnectionSettings {
    settings(&secure.address(listener))
        .with_request_timeout(TIMEOUT)
        .with_security(Security {
            tls: Some(trusting(&secure.authority)),
            sasl,
        })
}

/// The id of the cluster, asked for on a connection of its own.
pub(super) fn ask(settings: &ConnectionSettings) -> Result<String, Error> {
    runtime().block_on(async {
        let client = Client::connect(settings, Arc::default(), &WriteGuard::default())?;
        client.cluster_id().await
    })
}

/// Asks with each of the settings at the same time, since a refusal takes as long as a request may.
fn ask_all(cases: &[ConnectionSettings]) -> Vec<Result<String, Error>> {
    ask_all_by(ask, cases)
}

/// As [`ask_all`], with another question.
pub(super) fn ask_all_by(
    ask: fn(&ConnectionSettings) -> Result<String, Error>,
    cases: &[ConnectionSettings],
) -> Vec<Result<String, Error>> {
    thread::scope(|scope| {
        let asked: Vec<_> = cases
            .iter()
            .map(|settings| scope.spawn(move || ask(settings)))
            .collect();
        let joined = asked.into_iter().map(thread::ScopedJoinHandle::join);
        joined.map(|answer| answer.expect("an answer")).collect()
    })
}

/// Settings, the kind of error that they lead to, and words that it must have.
pub(super) type Refusal = (
    &'static str,
    ConnectionSettings,
    &'static str,
    &'static [&'static str],
);

pub(super) fn all_refused(cases: Vec<Refusal>) {
    all_refused_by(ask, cases);
}

/// As [`all_refused`], with another question.
pub(super) fn all_refused_by(
    ask: fn(&ConnectionSettings) -> Result<String, Error>,
    cases: Vec<Refusal>,
) {
    let settings: Vec<_> = cases
        .iter()
        .map(|(_, settings, ..)| settings.clone())
        .collect();
    let answers = ask_all_by(ask, &settings);
    for ((what, _, kind, words), answer) in cases.into_iter().zip(answers) {
        let error = match answer {
            Err(error) => error,
            Ok(id) => panic!("{what}: {id} answers"),
        };
        let said = error.to_string();
        assert_eq!(error.kind(), kind, "{what}: {said}");
        for word in words {
            assert!(said.contains(word), "{what}: {said}");
        }
        assert!(!said.contains("-secret"), "{what}: {said}");
        // They would change with each attempt, and a status with them.
        assert!(!said.contains("(after "), "{what}: {said}");
    }
}

pub(super) fn with_identity(
    mut settings: ConnectionSettings,
    of: &pki::Identity,
) -> ConnectionSettings {
    if let Some(tls) = &mut settings.security.tls {
        tls.identity = Some(identity(of));
    }
    settings
}

pub(super) fn without_tls(mut settings: ConnectionSettings) -> ConnectionSettings {
    settings.security.tls = None;
    settings
}

pub(super) fn with_ca(
    mut settings: ConnectionSettings,
    ca: Option<&Authority>,
) -> ConnectionSettings {
    settings.security.tls = Some(ca.map_or_else(Tls::default, trusting));
    settings
}

pub(super) type Mechanism = fn(Login) -> Sasl;
pub(super) const MECHANISMS: [Mechanism; 3] = [Sasl::Plain, Sasl::ScramSha256, Sasl::ScramSha512];

pub(super) fn anna() -> Login {
    login("anna", &password("anna"))
}

pub(crate) fn each_mechanism_logs_in(env: &Env) {
    let secure = env.secure();
    let mut cases: Vec<_> = MECHANISMS
        .iter()
        .map(|mechanism| secured(secure, Listener::Login, Some(mechanism(anna()))))
        .collect();
    let client = secure.authority.issue("client", &[]);
    let mutual = secured(secure, Listener::Mutual, None);
    cases.push(with_identity(mutual, &client));
    // What else is in the text of a certificate does not matter.
    let mut commented = secured(secure, Listener::Encrypted, None);
    if let Some(tls) = &mut commented.security.tls {
        let ca = secure.authority.certificate();
        tls.ca = Some(format!("# Größe\n{ca}\nnothing\n").into_bytes());
    }
    cases.push(commented);
    for (settings, answer) in cases.iter().zip(ask_all(&cases)) {
        assert_eq!(answer.as_deref(), Ok(secure.kafka.id()), "{settings:?}");
    }
}

pub(crate) fn a_refused_login_is_named(env: &Env) {
    let secure = env.secure();
    let with = |listener, sasl| secured(secure, listener, Some(sasl));
    let refused = "AuthenticationFailed";
    let mut cases: Vec<Refusal> = Vec::new();
    for mechanism in MECHANISMS {
        let wrong = mechanism(login("anna", "wrong-secret"));
        let words = &["uthentication failed", "check user name and password"];
        cases.push((
            "wrong password",
            with(Listener::Login, wrong),
            refused,
            words,
        ));
        let unknown = mechanism(login("nobody", "wrong-secret"));
        cases.push((
            "unknown user",
            with(Listener::Login, unknown),
            refused,
            words,
        ));
    }
    let broken = Sasl::Plain(login("anna", "anna-secret\n"));
    cases.push((
        "line break",
        with(Listener::Login, broken),
        refused,
        &["ends with a line break"],
    ));
    cases.push((
        "wrong mechanism",
        with(Listener::Bearer, Sasl::Plain(anna())),
        refused,
        &[
            "OAUTHBEARER",
            "set sasl.mechanism to one that this listener takes",
        ],
    ));
    cases.push((
        "a listener without login",
        with(Listener::Encrypted, Sasl::Plain(anna())),
        refused,
        &["takes no login"],
    ));
    all_refused(cases);
}

pub(crate) fn a_refused_certificate_is_named(env: &Env) {
    let secure = env.secure();
    let stranger = Authority::new("Nobody's CA");
    let to = |listener| secured(secure, listener, None);
    let refused = "CertificateRejected";
    let identity_of = |identity| with_identity(to(Listener::Mutual), identity);
    all_refused(vec![
        (
            "expired",
            to(Listener::Expired),
            refused,
            &["expired at 2021-01-01T00:00:00Z: renew it"],
        ),
        (
            "other host",
            to(Listener::OtherHost),
            refused,
            &["not for the host 127.0.0.1 but for", "elsewhere.example"],
        ),
        (
            "unknown CA",
            with_ca(to(Listener::Encrypted), Some(&stranger)),
            refused,
            &["not signed by a trusted CA"],
        ),
        (
            "the system's CAs",
            with_ca(to(Listener::Encrypted), None),
            refused,
            &["not signed by a trusted CA"],
        ),
        (
            "no client certificate",
            to(Listener::Mutual),
            refused,
            &["does the listener want a client certificate? None is set"],
        ),
        (
            "untrusted client certificate",
            identity_of(&stranger.issue("client", &[])),
            refused,
            &["the broker refuses the client certificate"],
        ),
        (
            "expired client certificate",
            identity_of(&secure.authority.issue_expired("client", &[])),
            refused,
            &["the broker refuses the client certificate: is it expired"],
        ),
    ]);
}

pub(crate) fn the_wrong_protocol_is_hinted_at(env: &Env) {
    let secure = env.secure();
    let plain = Some(Sasl::Plain(anna()));
    let to = |listener, sasl: &Option<Sasl>| secured(secure, listener, sasl.clone());
    let at_plaintext = |sasl: &Option<Sasl>| ConnectionSettings {
        bootstrap_servers: vec![secure.kafka.bootstrap()],
        ..to(Listener::Login, sasl)
    };
    let hint: &[&str] = &["does the listener want TLS"];
    let speaks: &[&str] = &["does the listener speak TLS"];
    let away = "Unreachable";
    all_refused(vec![
        (
            "plaintext on TLS",
            without_tls(to(Listener::Encrypted, &None)),
            away,
            hint,
        ),
        (
            "login without TLS",
            without_tls(to(Listener::Login, &plain)),
            away,
            hint,
        ),
        (
            "TLS without login",
            to(Listener::Login, &None),
            away,
            &["does the listener want a login?"],
        ),
        ("TLS on plaintext", at_plaintext(&None), away, speaks),
        (
            "TLS and login on plaintext",
            at_plaintext(&plain),
            away,
            speaks,
        ),
        (
            "login on plaintext",
            without_tls(at_plaintext(&plain)),
            "AuthenticationFailed",
            &["takes no login"],
        ),
    ]);
}

pub(crate) fn unusable_credentials_are_refused_before_anything_is_sent(env: &Env) {
    let secure = env.secure();
    let good = secure.authority.issue("client", &[]);
    let refused = "Rejected";
    let with = |certificate: &str, key: &str| {
        let identity = pki::Identity {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
        };
        with_identity(secured(secure, Listener::Mutual, None), &identity)
    };
    let other = secure.authority.issue("other", &[]);
    let encrypted = good.key.replace("PRIVATE", "ENCRYPTED PRIVATE");
    all_refused(vec![
        (
            "swapped",
            with(&good.key, &good.certificate),
            refused,
            &["part 1 of the client certificate is a", "only certificates"],
        ),
        (
            "key of another",
            with(&good.certificate, &other.key),
            refused,
            &["key values mismatch"],
        ),
        (
            "encrypted",
            with(&good.certificate, &encrypted),
            refused,
            &["is encrypted"],
        ),
    ]);
}
