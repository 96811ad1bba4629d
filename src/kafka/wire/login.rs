//! The login of one connection: the mechanisms' messages, each wrapped into a request of its own (KIP-152).

use std::time::Duration;

use zeroize::Zeroizing;

use super::super::context::Cause;
use super::super::error::Error;
use super::super::security::{Login, Sasl, Security, Shape, advice};
use super::super::token::Keeper;
use super::Failure;
use super::broker::Broker;
use super::messages::{Authenticated, Code, SaslAuthenticate, SaslHandshake, code};
use super::scram::{Hash, Scram};

/// Logs in. Returns for how long that holds; `None`: for ever.
pub(super) async fn log_in(
    broker: &mut Broker,
    security: &Security,
    sasl: &Sasl,
    tokens: Option<&Keeper>,
) -> Result<Option<Duration>, Failure> {
    let (answer, mechanisms) = broker.call(&SaslHandshake(sasl.mechanism())).await?;
    if answer.number == code::UNSUPPORTED_SASL_MECHANISM {
        let words = format!(
            "Unsupported SASL mechanism {}: this listener takes {}",
            sasl.mechanism(),
            mechanisms.join(", ")
        );
        return Err(refused(security, &words));
    }
    check(security, &answer)?;
    let last = match sasl {
        Sasl::Plain(login) => say(broker, security, &plain(login)).await?,
        Sasl::ScramSha256(login) => scram(broker, security, Hash::Sha256, login).await?,
        Sasl::ScramSha512(login) => scram(broker, security, Hash::Sha512, login).await?,
        Sasl::OauthBearer(_) => bearer(broker, security, tokens).await?,
    };
    Ok(last.lifetime)
}

/// One message and the answer to it.
async fn say(
    broker: &mut Broker,
    security: &Security,
    message: &[u8],
) -> Result<Authenticated, Failure> {
    let answer = broker.call(&SaslAuthenticate(message)).await?;
    check(security, &answer.code)?;
    Ok(answer)
}

/// RFC 4616.
fn plain(login: &Login) -> Zeroizing<Vec<u8>> {
    let parts = [b"", login.username.expose(), login.password.expose()];
    Zeroizing::new(parts.join(&0))
}

async fn scram(
    broker: &mut Broker,
    security: &Security,
    hash: Hash,
    login: &Login,
) -> Result<Authenticated, Failure> {
    let scram = Scram::new(hash, login).map_err(|words| refused(security, &words))?;
    let challenge = say(broker, security, &scram.first()).await?.bytes;
    // It takes milliseconds by design.
    let computed = tokio::task::spawn_blocking(move || scram.last(&challenge)).await;
    let (last, proof) = computed
        .map_err(|_| Error::stopping())?
        .map_err(|words| refused(security, &words))?;
    let answer = say(broker, security, &last).await?;
    proof
        .check(&answer.bytes)
        .map_err(|words| refused(security, &words))?;
    Ok(answer)
}

/// RFC 7628: a broker that refuses says so in a message of its own, and goes on once it is answered.
async fn bearer(
    broker: &mut Broker,
    security: &Security,
    tokens: Option<&Keeper>,
) -> Result<Authenticated, Failure> {
    let none = || Error::AuthenticationFailed("nobody fetches tokens for this login".to_owned());
    let tokens = tokens.ok_or_else(none)?;
    let token = tokens.token().await.map_err(Error::AuthenticationFailed)?;
    let message = [b"n,,\x01auth=Bearer ", token.value.expose(), b"\x01\x01"].concat();
    let answer = say(broker, security, &Zeroizing::new(message)).await;
    let answer = match answer {
        Ok(answer) if answer.bytes.is_empty() => return Ok(answer),
        Ok(_) => say(broker, security, b"\x01").await,
        Err(error) => Err(error),
    };
    tokens.refused();
    match answer {
        Ok(_) => Err(refused(security, "the broker refuses the token")),
        Err(error) => Err(error),
    }
}

fn check(security: &Security, answer: &Code) -> Result<(), Failure> {
    match answer.number {
        code::NONE => Ok(()),
        code::ILLEGAL_SASL_STATE => {
            Err(refused(security, "Request not valid in current SASL state"))
        }
        _ => Err(refused(security, &answer.words())),
    }
}

/// The broker's words with what to do about them.
fn refused(security: &Security, words: &str) -> Failure {
    let words = match advice(Cause::Authentication, words, Shape::of(security)) {
        Some(advice) => format!("{words}: {advice}"),
        None => words.to_owned(),
    };
    Failure::Failed(Error::AuthenticationFailed(words))
}
