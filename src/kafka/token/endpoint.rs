//! Tokens of an endpoint, by client credentials (RFC 6749, section 4.4).

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::super::security::{Secret, TokenEndpoint, roots};
use super::{LARGEST, Token};

/// Asks once. The connection is closed with the answer: the next one is due after minutes. Redirects are not followed,
/// since they would lead the client's secret elsewhere.
pub(super) async fn fetch(endpoint: &TokenEndpoint) -> Result<Token, String> {
    let request = request(endpoint)?;
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .map_err(|error| error.to_string())?
    .with_root_certificates(roots(endpoint.ca.as_deref()))
    .with_no_client_auth();
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .build();
    let client = Client::builder(TokioExecutor::new()).build::<_, Full<Bytes>>(connector);
    let response = client.request(request).await.map_err(|error| {
        format!(
            "it can't be reached: {}: check the address and its CA",
            root_cause(&error)
        )
    })?;
    let status = response.status();
    let body = Limited::new(response.into_body(), LARGEST).collect().await;
    let body =
        body.map_err(|_| format!("its answer breaks off, or is larger than {LARGEST} bytes"))?;
    let body = Zeroizing::new(body.to_bytes().to_vec());
    if status != StatusCode::OK {
        return Err(refusal(status, &body));
    }
    token(&body)
}

fn request(endpoint: &TokenEndpoint) -> Result<Request<Full<Bytes>>, String> {
    let uri: Uri = endpoint
        .url
        .parse()
        .map_err(|_| "the address is none: it should be as https://host/path".to_owned())?;
    if !matches!(uri.scheme_str(), Some("https" | "http")) || uri.host().is_none() {
        return Err("the address should begin with https:// and name a host".to_owned());
    }
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("grant_type", "client_credentials");
    if let Some(scope) = &endpoint.scope {
        form.append_pair("scope", scope);
    }
    let mut authorization =
        HeaderValue::try_from(basic(&endpoint.client_id, &endpoint.client_secret).as_str())
            .map_err(|error| error.to_string())?;
    authorization.set_sensitive(true);
    Request::builder()
        .method(Method::POST)
        .uri(uri)
        .header(AUTHORIZATION, authorization)
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(ACCEPT, "application/json")
        .body(Full::from(form.finish()))
        .map_err(|error| error.to_string())
}

/// HTTP Basic, with both parts encoded as in forms (RFC 6749, section 2.3.1).
fn basic(id: &Secret, secret: &Secret) -> Zeroizing<String> {
    let encode = |part: &Secret| -> Zeroizing<String> {
        Zeroizing::new(form_urlencoded::byte_serialize(part.expose()).collect())
    };
    let pair = Zeroizing::new(format!("{}:{}", *encode(id), *encode(secret)));
    let encoded = Zeroizing::new(data_encoding::BASE64.encode(pair.as_bytes()));
    Zeroizing::new(format!("Basic {}", *encoded))
}

/// What lies at the bottom of an error, such as `Connection refused`.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

/// A refusal in the endpoint's code (section 5.2); its description may repeat what it was sent.
fn refusal(status: StatusCode, body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
    }
    let code = serde_json::from_slice::<Refusal>(body).ok();
    let known = code.filter(|refusal| {
        let plain = |c: char| c.is_ascii_lowercase() || c == '_';
        refusal.error.len() <= 64 && refusal.error.chars().all(plain)
    });
    let code = known.map_or_else(String::new, |refusal| format!(" ({})", refusal.error));
    let what = match status {
        StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "check client id, client secret and scope"
        }
        StatusCode::NOT_FOUND => "check the address",
        _ if status.is_redirection() => {
            "redirects are not followed: set the address that it leads to"
        }
        _ => "it is tried again",
    };
    format!("it answers {}{code}: {what}", status.as_u16())
}

fn token(body: &[u8]) -> Result<Token, String> {
    #[derive(Deserialize)]
    struct Answer {
        access_token: Zeroizing<String>,
        /// Seconds.
        expires_in: Option<f64>,
    }
    // Its own words would repeat parts of the answer.
    let answer: Answer = serde_json::from_slice(body)
        .map_err(|_| "its answer is no JSON object with an access_token".to_owned())?;
    let lifetime = answer
        .expires_in
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    Token::new(&answer.access_token, lifetime, SystemTime::now())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn any() -> TokenEndpoint {
        TokenEndpoint {
            url: "https://idp.example/token".to_owned(),
            client_id: Secret::new("o p"),
            client_secret: Secret::new("a:b%"),
            scope: Some("kafka write".to_owned()),
            ca: None,
        }
    }

    #[test]
    fn credentials_are_encoded_as_the_standard_says() {
        let request = request(&any()).unwrap();
        let expected = data_encoding::BASE64.encode(b"o+p:a%3Ab%25");
        assert_eq!(
            request.headers()[AUTHORIZATION],
            format!("Basic {expected}")
        );
        assert!(!format!("{request:?}").contains(&expected));
    }

    #[test]
    fn an_address_that_is_none_is_named() {
        for url in ["", "idp.example/token", "ftp://idp.example", "https://"] {
            let endpoint = TokenEndpoint {
                url: url.to_owned(),
                ..any()
            };
            assert!(
                request(&endpoint).unwrap_err().contains("https://"),
                "{url}"
            );
        }
    }

    #[test]
    fn a_refusal_repeats_nothing_but_its_code() {
        let body = br#"{"error":"invalid_client","error_description":"geheim"}"#;
        let words = refusal(StatusCode::UNAUTHORIZED, body);
        assert_eq!(
            words,
            "it answers 401 (invalid_client): check client id, client secret and scope"
        );
        let odd = refusal(StatusCode::BAD_GATEWAY, br#"{"error":"Geheim"}"#);
        assert_eq!(odd, "it answers 502: it is tried again");
    }

    #[test]
    fn an_answer_without_a_token_is_refused_unseen() {
        let words = token(br#"{"access_token": 5, "x": "geheim"}"#).unwrap_err();
        assert_eq!(words, "its answer is no JSON object with an access_token");
        assert!(token(br#"{"access_token":"opaque","expires_in":300}"#).is_ok());
    }
}
