//! The protocol as it is spoken here, without the client library, on a broker that has a listener for each way.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use copartition::kafka::{
    Client, ConnectionSettings, Error, Sasl, Security, TokenSource, WriteGuard,
};

use super::security::{
    MECHANISMS, all_refused_by, anna, ask_all_by, login, secured, trusting, with_ca, with_identity,
    without_tls,
};
use super::{runtime, settings};
use crate::env::idp::AUDIENCE;
use crate::env::pki::Authority;
use crate::env::secure::Listener;
use crate::env::{Env, unique};

/// What the brokers say of their version.
fn version(settings: &ConnectionSettings) -> Result<String, Error> {
    runtime().block_on(async {
        let client = Client::connect(settings, Arc::default(), &WriteGuard::default())?;
        let version = client.broker_version().await?;
        Ok(version.unwrap_or_default())
    })
}

/// The version under test, as it is shown: `4.3` for 4.3.1.
pub(crate) fn release() -> String {
    let version = std::env::var("COPARTITION_KAFKA_VERSION");
    let version = version.unwrap_or_else(|_| "4.3.1".to_owned());
    version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".")
}

pub(crate) fn own_connections_learn_the_version_behind_every_login(env: &Env) {
    let secure = env.secure();
    let mut cases: Vec<_> = MECHANISMS
        .iter()
        .map(|mechanism| secured(secure, Listener::Login, Some(mechanism(anna()))))
        .collect();
    let client = secure.authority.issue("client", &[]);
    let mutual = secured(secure, Listener::Mutual, None);
    cases.push(with_identity(mutual, &client));
    cases.push(secured(secure, Listener::Encrypted, None));
    let path = env.root().join(unique("token"));
    let token = secure
        .idp
        .key()
        .token("anna", AUDIENCE, Duration::from_secs(3600));
    fs::write(&path, token).expect("a file");
    let bearer = Sasl::OauthBearer(TokenSource::File(path));
    cases.push(secured(secure, Listener::Bearer, Some(bearer)));
    cases.push(settings(&secure.kafka.bootstrap()));
    // Any one that answers is enough.
    cases.push(settings(&format!(
        "127.0.0.1:1,{}",
        secure.kafka.bootstrap()
    )));
    for (settings, answer) in cases.iter().zip(ask_all_by(version, &cases)) {
        assert_eq!(answer.as_deref(), Ok(release().as_str()), "{settings:?}");
    }
}

pub(crate) fn own_connections_name_what_is_refused(env: &Env) {
    let secure = env.secure();
    let with = |listener, sasl| secured(secure, listener, Some(sasl));
    let to = |listener| secured(secure, listener, None);
    let refused = "AuthenticationFailed";
    let untrusted = "CertificateRejected";
    let mut cases: Vec<super::security::Refusal> = Vec::new();
    for mechanism in MECHANISMS {
        let words = &["uthentication failed", "check user name and password"];
        let wrong = mechanism(login("anna", "wrong-secret"));
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
    let path = env.root().join(unique("token"));
    let token = secure
        .idp
        .key()
        .token("anna", "elsewhere", Duration::from_secs(3600));
    fs::write(&path, token).expect("a file");
    let bearer = Sasl::OauthBearer(TokenSource::File(path));
    let stranger = Authority::new("Nobody's CA");
    let plaintext = ConnectionSettings {
        security: Security {
            tls: Some(trusting(&secure.authority)),
            sasl: None,
        },
        ..settings(&secure.kafka.bootstrap())
    };
    cases.extend([
        (
            "wrong mechanism",
            with(Listener::Bearer, Sasl::Plain(anna())),
            refused,
            &[
                "takes OAUTHBEARER",
                "set sasl.mechanism to one that this listener takes",
            ][..],
        ),
        (
            "a token for somebody else",
            with(Listener::Bearer, bearer),
            refused,
            &["the broker rejects the token"],
        ),
        (
            "a listener without login",
            with(Listener::Encrypted, Sasl::Plain(anna())),
            refused,
            &["takes no login"],
        ),
        (
            "expired",
            to(Listener::Expired),
            untrusted,
            &["expired at 2021-01-01T00:00:00Z: renew it"],
        ),
        (
            "other host",
            to(Listener::OtherHost),
            untrusted,
            &["not for the host 127.0.0.1 but for", "elsewhere.example"],
        ),
        (
            "unknown CA",
            with_ca(to(Listener::Encrypted), Some(&stranger)),
            untrusted,
            &["not signed by a trusted CA"],
        ),
        (
            "no client certificate",
            to(Listener::Mutual),
            untrusted,
            &["does the listener want a client certificate? None is set"],
        ),
        (
            "untrusted client certificate",
            with_identity(to(Listener::Mutual), &stranger.issue("client", &[])),
            untrusted,
            &["the broker refuses the client certificate"],
        ),
        (
            "plaintext on TLS",
            without_tls(to(Listener::Encrypted)),
            "Unreachable",
            &["does the listener want TLS"],
        ),
        (
            "TLS on plaintext",
            plaintext,
            "Unreachable",
            &["does the listener speak TLS"],
        ),
    ]);
    all_refused_by(version, cases);
}
