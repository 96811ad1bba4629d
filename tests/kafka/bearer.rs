//! Bearer tokens: out of files and from an endpoint, good and bad ones.

use std::fs;
use std::path::Path;
use std::time::Duration;

use copartition::kafka::{ConnectionSettings, Sasl, Secret, TokenEndpoint, TokenSource};

use super::security::{Refusal, all_refused, ask, secured};
use super::watch::{OFTEN, Watch, every};
use crate::env::idp::{AUDIENCE, CLIENT, SigningKey};
use crate::env::secure::Listener;
use crate::env::{Env, SecureKafka, unique, wait_for};

const HOUR: Duration = Duration::from_secs(3600);

fn from_file(secure: &SecureKafka, path: &Path) -> ConnectionSettings {
    let source = TokenSource::File(path.to_owned());
    secured(secure, Listener::Bearer, Some(Sasl::OauthBearer(source)))
}

pub(super) fn endpoint(secure: &SecureKafka, path: &str, scope: &str) -> TokenEndpoint {
    TokenEndpoint {
        url: secure.idp.endpoint(path),
        client_id: Secret::new(CLIENT.0),
        client_secret: Secret::new(CLIENT.1),
        scope: Some(scope.to_owned()),
        ca: Some(secure.authority.certificate().into_bytes()),
    }
}

pub(super) fn from_endpoint(secure: &SecureKafka, endpoint: TokenEndpoint) -> ConnectionSettings {
    let source = TokenSource::Endpoint(endpoint);
    secured(secure, Listener::Bearer, Some(Sasl::OauthBearer(source)))
}

pub(crate) fn a_token_logs_in(env: &Env) {
    let secure = env.secure();
    let path = env.root().join(unique("token"));
    let token = secure.idp.key().token("anna", AUDIENCE, HOUR);
    fs::write(&path, format!("{token}\n")).expect("a file");
    assert_eq!(
        ask(&from_file(secure, &path)).as_deref(),
        Ok(secure.kafka.id())
    );
    let scope = unique("scope");
    let settings = from_endpoint(secure, endpoint(secure, "token", &scope));
    assert_eq!(ask(&settings).as_deref(), Ok(secure.kafka.id()));
    assert_eq!(secure.idp.issued(&scope), 1);
}

/// The broker ends each login with its token.
pub(crate) fn tokens_are_renewed_before_they_end(env: &Env) {
    let secure = env.secure();
    let scope = unique("scope");
    let settings = from_endpoint(secure, endpoint(secure, "short", &scope));
    let watch = Watch::new(settings, every(OFTEN));
    watch.name("g", &["any"], &[]);
    wait_for("five tokens", Duration::from_secs(60), || {
        let health = watch.cluster.health();
        assert!(health.error.is_none(), "{health:?}");
        match secure.idp.issued(&scope) {
            5.. => Ok(()),
            count => Err(format!("{count}")),
        }
    });
    let polls = watch.cluster.polls();
    wait_for("another poll", Duration::from_secs(60), || {
        let health = watch.cluster.health();
        assert!(health.error.is_none(), "{health:?}");
        let now = watch.cluster.polls();
        if now > polls + 2 {
            Ok(())
        } else {
            Err(format!("{now} polls"))
        }
    });
}

pub(crate) fn a_token_that_is_refused_or_missing_is_named(env: &Env) {
    let secure = env.secure();
    let file = |token: &str| {
        let path = env.root().join(unique("token"));
        fs::write(&path, token).expect("a file");
        from_file(secure, &path)
    };
    let foreign = SigningKey::new().token("anna", AUDIENCE, HOUR);
    let elsewhere = secure.idp.key().token("anna", "elsewhere", HOUR);
    let over = secure.idp.key().token("anna", AUDIENCE, Duration::ZERO);
    let at = |path: &str| endpoint(secure, path, "refused");
    let kind = "AuthenticationFailed";
    let rejects: &[&str] = &["the broker rejects the token"];
    let mut untrusting = at("token");
    untrusting.ca = None;
    let cases: Vec<Refusal> = vec![
        ("signed by another", file(&foreign), kind, rejects),
        ("for another audience", file(&elsewhere), kind, rejects),
        ("expired", file(&over), kind, &["expired, or ends within"]),
        (
            "no token",
            file("two words"),
            kind,
            &["no token from the file", "is no token"],
        ),
        (
            "no file",
            from_file(secure, Path::new("/nowhere/token")),
            kind,
            &["no token from the file /nowhere/token", "mounted"],
        ),
        (
            "wrong secret",
            from_endpoint(
                secure,
                TokenEndpoint {
                    client_secret: Secret::new("wrong-secret"),
                    ..at("token")
                },
            ),
            kind,
            &["401 (invalid_client): check client id, client secret"],
        ),
        (
            "unknown CA",
            from_endpoint(secure, untrusting),
            kind,
            &["UnknownIssuer", "its CA"],
        ),
        (
            "no endpoint",
            from_endpoint(secure, at("none")),
            kind,
            &["404: check the address"],
        ),
        (
            "a redirect",
            from_endpoint(secure, at("moved")),
            kind,
            &["redirects are not followed"],
        ),
        (
            "no token in it",
            from_endpoint(secure, at("broken")),
            kind,
            &["no JSON object with an access_token"],
        ),
        (
            "endless",
            from_endpoint(secure, at("large")),
            kind,
            &["larger than"],
        ),
        (
            "silent",
            from_endpoint(secure, at("silent")),
            kind,
            &["no answer within 2s"],
        ),
        (
            "nobody there",
            from_endpoint(
                secure,
                TokenEndpoint {
                    url: format!("https://127.0.0.1:{}/token", crate::env::free_port()),
                    ..at("token")
                },
            ),
            kind,
            &["Connection refused"],
        ),
    ];
    all_refused(cases);
    assert_eq!(secure.idp.issued("refused"), 0);
}
