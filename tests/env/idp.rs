//! An identity provider of the tests' own: a token endpoint (client credentials) and the keys to verify its tokens with.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::{BASE64, BASE64URL_NOPAD};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use super::pki::Identity;

pub(crate) const ISSUER: &str = "https://idp.example";
pub(crate) const AUDIENCE: &str = "kafka";
/// The only client, which is the subject of its tokens too. What has to be encoded in its secret is part of the test.
pub(crate) const CLIENT: (&str, &str) = ("operator", "ge:heim%+secret");

/// Serves until the process ends.
pub(crate) struct IdentityProvider {
    shared: Arc<Shared>,
    plain: u16,
    encrypted: u16,
}

struct Shared {
    key: SigningKey,
    /// How many tokens were issued, by scope.
    issued: Mutex<BTreeMap<String, u32>>,
}

/// A key that tokens are signed with.
pub(crate) struct SigningKey(EcdsaKeyPair);

impl SigningKey {
    pub(crate) fn new() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let key = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).expect("a key");
        Self(key)
    }

    /// A JWT (ES256) for the subject.
    pub(crate) fn token(&self, subject: &str, audience: &str, lifetime: Duration) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = since.expect("a time after 1970").as_secs();
        let claims = json!({
            "iss": ISSUER, "aud": audience, "sub": subject, "scope": "kafka", "iat": now,
            "exp": now + lifetime.as_secs(), "jti": NEXT.fetch_add(1, Ordering::Relaxed).to_string(),
        });
        let header = json!({"alg": "ES256", "typ": "JWT", "kid": "one"});
        let encode = |part: &serde_json::Value| BASE64URL_NOPAD.encode(part.to_string().as_bytes());
        let signed = format!("{}.{}", encode(&header), encode(&claims));
        let signature = self.0.sign(&SystemRandom::new(), signed.as_bytes());
        let signature = signature.expect("a signature");
        format!("{signed}.{}", BASE64URL_NOPAD.encode(signature.as_ref()))
    }

    fn public(&self) -> serde_json::Value {
        // An uncompressed point: 4, x, y.
        let point = self.0.public_key().as_ref();
        let encode = |part: &[u8]| BASE64URL_NOPAD.encode(part);
        json!({"keys": [{
            "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "one",
            "x": encode(&point[1..33]), "y": encode(&point[33..65]),
        }]})
    }
}

impl IdentityProvider {
    /// Starts it, with this certificate on its encrypted port.
    pub(crate) fn start(identity: &Identity) -> Self {
        let shared = Arc::new(Shared {
            key: SigningKey::new(),
            issued: Mutex::default(),
        });
        let plain = listen(Arc::clone(&shared), |shared, mut stream| {
            serve(shared, &mut stream)
        });
        let config = Arc::new(tls(identity));
        let encrypted = listen(Arc::clone(&shared), move |shared, stream| {
            let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
            serve(shared, &mut StreamOwned::new(connection, stream))
        });
        Self {
            shared,
            plain,
            encrypted,
        }
    }

    /// Where the keys are.
    pub(crate) fn jwks(&self) -> String {
        format!("http://127.0.0.1:{}/jwks", self.plain)
    }

    /// The address of an endpoint: `token`, or what [`serve`] knows.
    pub(crate) fn endpoint(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}/{path}", self.encrypted)
    }

    pub(crate) fn key(&self) -> &SigningKey {
        &self.shared.key
    }

    /// How many tokens were issued for a scope.
    pub(crate) fn issued(&self, scope: &str) -> u32 {
        let issued = self
            .shared
            .issued
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        issued.get(scope).copied().unwrap_or_default()
    }
}

fn tls(identity: &Identity) -> ServerConfig {
    let chain = CertificateDer::pem_slice_iter(identity.certificate.as_bytes());
    let chain = chain.collect::<Result<Vec<_>, _>>().expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).expect("a key");
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("protocol versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a certificate with its key")
}

fn listen(
    shared: Arc<Shared>,
    serve: impl Fn(&Shared, TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            let (shared, serve) = (Arc::clone(&shared), Arc::clone(&serve));
            // A client that hangs up is no matter of ours.
            thread::spawn(move || drop(serve(&shared, stream)));
        }
    });
    port
}

/// Answers one request.
fn serve(shared: &Shared, stream: &mut (impl Read + Write)) -> std::io::Result<()> {
    let mut reader = BufReader::new(&mut *stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let header = |name: &str| {
        lines.iter().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name)
                .then(|| value.trim().to_owned())
        })
    };
    let length = header("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let form: BTreeMap<String, String> = form_urlencoded::parse(&body).into_owned().collect();
    let path = lines
        .first()
        .and_then(|line| line.split(' ').nth(1))
        .unwrap_or_default();
    let (status, answer) = match path {
        "/jwks" => ("200 OK", shared.key.public().to_string()),
        "/token" => issue(shared, &form, header("authorization").as_deref(), 3600),
        // Long enough to use a token, and short enough to see several.
        "/short" => issue(shared, &form, header("authorization").as_deref(), 4),
        "/moved" => ("302 Found\r\nLocation: /token", String::new()),
        "/broken" => ("200 OK", "{\"access_token\": 5}".to_owned()),
        "/large" => ("200 OK", " ".repeat(1 << 20)),
        "/silent" => {
            // Until the client hangs up.
            reader.read_to_end(&mut Vec::new())?;
            return Ok(());
        }
        _ => ("404 Not Found", String::new()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
        answer.len()
    )?;
    stream.flush()
}

fn issue(
    shared: &Shared,
    form: &BTreeMap<String, String>,
    authorization: Option<&str>,
    lifetime: u64,
) -> (&'static str, String) {
    let of = |name: &str| form.get(name).map(String::as_str);
    if of("grant_type") != Some("client_credentials") {
        let answer = json!({"error": "unsupported_grant_type"});
        return ("400 Bad Request", answer.to_string());
    }
    if authorization
        .and_then(client)
        .as_ref()
        .map(|(id, secret)| (id.as_str(), secret.as_str()))
        != Some(CLIENT)
    {
        let answer =
            json!({"error": "invalid_client", "error_description": format!("{authorization:?}")});
        return ("401 Unauthorized", answer.to_string());
    }
    let scope = of("scope").unwrap_or_default();
    let mut issued = shared.issued.lock().unwrap_or_else(PoisonError::into_inner);
    *issued.entry(scope.to_owned()).or_default() += 1;
    drop(issued);
    let token = shared
        .key
        .token(CLIENT.0, AUDIENCE, Duration::from_secs(lifetime));
    let answer = json!({"access_token": token, "token_type": "Bearer", "expires_in": lifetime});
    ("200 OK", answer.to_string())
}

/// The id and the secret of HTTP Basic, each encoded as in forms (RFC 6749, section 2.3.1).
fn client(authorization: &str) -> Option<(String, String)> {
    let pair = BASE64
        .decode(authorization.strip_prefix("Basic ")?.as_bytes())
        .ok()?;
    let pair = String::from_utf8(pair).ok()?;
    let (id, secret) = pair.split_once(':')?;
    let decode = |part: &str| {
        let decoded = form_urlencoded::parse(part.as_bytes()).next();
        decoded.map(|(text, _)| text.into_owned())
    };
    Some((decode(id)?, decode(secret)?))
}
