//! Bearer tokens: where they come from, and who keeps them fresh.
//!
//! The client library asks for tokens by a callback that blocks the thread which serves its events, and that some of its
//! handles never call. So it is never asked: a task of the connection fetches tokens in time ([`Keeper`]), and each
//! request first gives its handle the newest one.

mod endpoint;
mod file;
mod jwt;
mod keeper;
mod msk;
mod own;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::security::{Secret, TokenSource};

pub(super) use keeper::Keeper;
pub use msk::region_of_msk;
pub(super) use own::OwnToken;

/// The largest token, and the largest answer of an endpoint, in bytes.
const LARGEST: usize = 64 << 10;
/// A token that ends sooner is not used any more: the broker's clock may be ahead.
const LEAST: Duration = Duration::from_millis(500);

/// A token, ready to be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) value: Secret,
    /// The subject, which librdkafka wants to know for its log only.
    pub(super) principal: String,
    pub(super) expires: SystemTime,
}

impl Token {
    /// A token as text: a JWT, or anything that ends after `lifetime`.
    fn new(text: &str, lifetime: Option<Duration>, now: SystemTime) -> Result<Self, String> {
        let text = text.trim();
        // What the client library and RFC 7628 take.
        if text.is_empty() || !text.chars().all(|c| c.is_ascii_graphic()) {
            return Err(
                "what came is no token: it is empty or holds other characters than tokens have"
                    .to_owned(),
            );
        }
        let claims = jwt::claims(text);
        let lifetime = lifetime.and_then(|lifetime| now.checked_add(lifetime));
        let expires = match (claims.expires, lifetime) {
            (Some(one), Some(other)) => one.min(other),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => {
                return Err("the token does not tell when it expires: it is no JWT with exp, and there is no expires_in".to_owned());
            }
        };
        if expires <= now + LEAST {
            return Err(format!(
                "the token that came is expired, or ends within {} ms: is it renewed, and do the clocks agree?",
                LEAST.as_millis()
            ));
        }
        Ok(Self {
            value: Secret::new(text),
            principal: claims.subject.unwrap_or_else(|| "unknown".to_owned()),
            expires,
        })
    }

    pub(super) fn is_valid(&self, now: SystemTime) -> bool {
        self.expires > now + LEAST
    }

    /// When it expires, in milliseconds since 1970.
    pub(super) fn expires_ms(&self) -> i64 {
        let since = self.expires.duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    /// How long to wait before the next one is fetched: four fifths of its lifetime, and a file is looked at twice a
    /// minute, since its owner replaces it at a time of his own.
    fn renew_in(&self, source: &TokenSource, now: SystemTime) -> Duration {
        let left = self.expires.duration_since(now).unwrap_or_default();
        let most = match source {
            TokenSource::File(_) => file::LOOK,
            TokenSource::Endpoint(_) | TokenSource::AwsMsk { .. } => Duration::from_secs(86_400),
        };
        (left * 4 / 5).min(most)
    }
}

/// Fetches a token for requests that may take `timeout`. The error is for people: what was asked, what came, what to do; nothing of any secret.
async fn fetch(source: &TokenSource, timeout: Duration) -> Result<Token, String> {
    // Less than a request that waits for the token may take, so that it can tell why there is none.
    let timeout = timeout / 2;
    let (from, fetched) = match source {
        TokenSource::File(path) => {
            let read = tokio::time::timeout(timeout, file::fetch(path.clone()));
            (format!("the file {}", path.display()), read.await)
        }
        TokenSource::Endpoint(endpoint) => {
            let asked = tokio::time::timeout(timeout, endpoint::fetch(endpoint));
            (endpoint.url.clone(), asked.await)
        }
        TokenSource::AwsMsk { region } => {
            let signed = tokio::time::timeout(timeout, msk::fetch(region));
            ("the AWS identity of this process".to_owned(), signed.await)
        }
    };
    let token = fetched.unwrap_or_else(|_| {
        Err(format!(
            "no answer within {timeout:?}: is it up, and may it be reached?"
        ))
    });
    token.map_err(|words| format!("no token from {from}: {words}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jwt(claims: &str) -> String {
        let encoded = data_encoding::BASE64URL_NOPAD.encode(claims.as_bytes());
        format!("e30.{encoded}.c2ln")
    }

    const NOW: u64 = 1_800_000_000;

    fn new(text: &str, lifetime: Option<u64>) -> Result<Token, String> {
        let now = UNIX_EPOCH + Duration::from_secs(NOW);
        Token::new(text, lifetime.map(Duration::from_secs), now)
    }

    #[test]
    fn the_earlier_end_counts() {
        let text = jwt(&format!(r#"{{"sub":"operator","exp":{}}}"#, NOW + 100));
        let token = new(&format!(" {text}\n"), None).unwrap();
        assert_eq!(token.value, Secret::new(text.as_str()));
        assert_eq!(token.principal, "operator");
        assert_eq!(token.expires_ms(), i64::try_from(NOW + 100).unwrap() * 1000);
        assert_eq!(
            new(&text, Some(50)).unwrap().expires_ms() / 1000,
            i64::try_from(NOW + 50).unwrap()
        );
        assert_eq!(new(&text, Some(500)).unwrap(), token);
        assert!(new("opaque", Some(50)).is_ok());
        assert!(new("opaque", None).unwrap_err().contains("when it expires"));
    }

    #[test]
    fn what_is_no_usable_token_is_refused_unseen() {
        for text in ["", " \n", "two words", "nul\0", "grün"] {
            let words = new(text, Some(50)).unwrap_err();
            assert!(words.contains("is no token"), "{words}");
        }
        let old = jwt(&format!(r#"{{"exp":{NOW}}}"#));
        assert!(new(&old, None).unwrap_err().contains("is expired"));
        assert!(!format!("{:?}", new("geheim", Some(50))).contains("geheim"));
    }

    #[test]
    fn it_is_renewed_in_time() {
        let now = UNIX_EPOCH + Duration::from_secs(NOW);
        let hour = new("opaque", Some(3600)).unwrap();
        let file = TokenSource::File("token".into());
        let endpoint = TokenSource::Endpoint(endpoint::tests::any());
        assert_eq!(hour.renew_in(&endpoint, now), Duration::from_secs(2880));
        assert_eq!(hour.renew_in(&file, now), file::LOOK);
        let short = new("opaque", Some(10)).unwrap();
        assert_eq!(short.renew_in(&file, now), Duration::from_secs(8));
    }
}
