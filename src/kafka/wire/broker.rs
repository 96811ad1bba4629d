//! One connection to one broker: requests go out and answers come back, one at a time.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::super::context::Cause;
use super::super::error::Error;
use super::super::handle::CLIENT_ID;
use super::super::security::{Shape, advice, refused_certificate, refused_handshake};
use super::codec::{Reader, Writer};
use super::messages::{ApiVersions, Node, Request, Versions, code};
use super::{Failure, Way, login};

/// The largest answer that is read, in bytes. A group of a thousand members of Kafka Streams takes a few megabytes.
const LARGEST: usize = 16 << 20;

trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for T {}

/// A connection that is ready for requests. A call that is dropped halfway leaves it out of step: it must be dropped too.
pub(super) struct Broker {
    way: Arc<Way>,
    stream: Box<dyn Stream>,
    versions: Versions,
    /// The number of the last request.
    sent: i32,
    /// The login ends then.
    until: Option<Instant>,
}

impl Broker {
    /// Connects, asks what is spoken, and logs in.
    pub(super) async fn connect(way: &Arc<Way>, node: &Node) -> Result<Self, Failure> {
        let stream = open(way, node).await?;
        let mut broker = Self {
            way: Arc::clone(way),
            stream,
            versions: Versions::default(),
            sent: 0,
            until: None,
        };
        // The one request that may be made before it is known what is spoken.
        let versions = broker.send(&ApiVersions, 3).await;
        let versions = match versions {
            Err(Failure::TooLarge | Failure::Malformed) => {
                return Err(Failure::Failed(Error::Unreachable(format!(
                    "{}:{} answers, but not as a Kafka broker does: is the address right, and does the listener want TLS?",
                    node.host, node.port
                ))));
            }
            Err(Failure::Lost(words)) => {
                let advice = advice(Cause::Loss, &words, Shape::of(&way.security));
                return Err(Failure::Failed(Error::Unreachable(format!(
                    "{}:{}: {words}: {}",
                    node.host,
                    node.port,
                    advice.unwrap_or_default()
                ))));
            }
            versions => versions?,
        };
        broker.versions = versions.map_err(|answer| match answer.number {
            code::UNSUPPORTED_VERSION => Failure::Unsupported("ApiVersions"),
            _ => Failure::Failed(Error::Rejected {
                code: answer.name(),
                message: answer.words(),
            }),
        })?;
        if let Some(sasl) = &way.security.sasl {
            let lifetime =
                login::log_in(&mut broker, &way.security, sasl, way.tokens.as_deref()).await?;
            // Some time before the broker hangs up (KIP-368).
            broker.until = lifetime.map(|lifetime| Instant::now() + lifetime * 4 / 5);
        }
        Ok(broker)
    }

    /// Whether the login still holds.
    pub(super) fn is_fresh(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// What the broker speaks.
    pub(super) fn versions(&self) -> &Versions {
        &self.versions
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn call<Q: Request>(&mut self, request: &Q) -> Result<Q::Answer, Failure> {
        let (least, most) = (*Q::VERSIONS.start(), *Q::VERSIONS.end());
        let spoken = self.versions.apis.get(&Q::KEY);
        let version = spoken
            .map(|(from, to)| (least.max(*from), most.min(*to)))
            .filter(|(from, to)| from <= to)
            .map(|(_, to)| to);
        let version = version.ok_or(Failure::Unsupported(Q::API.name()))?;
        self.send(request, version).await
    }

    async fn send<Q: Request>(&mut self, request: &Q, version: i16) -> Result<Q::Answer, Failure> {
        let answer = self.exchange(request, version).await;
        let counted = match &answer {
            Ok(_) => Ok(()),
            Err(failure) => Err(Error::from(failure.clone())),
        };
        self.way.metrics.request(Q::API, &counted);
        answer
    }

    async fn exchange<Q: Request>(
        &mut self,
        request: &Q,
        version: i16,
    ) -> Result<Q::Answer, Failure> {
        self.sent = self.sent.wrapping_add(1);
        let mut body = Writer::default();
        body.i16(Q::KEY);
        body.i16(version);
        body.i32(self.sent);
        body.old_string(CLIENT_ID);
        if Q::HEADER_TAGS {
            body.tags();
        }
        request.write(version, &mut body);
        // It may hold a password.
        let body = zeroize::Zeroizing::new(body.into_bytes());
        let length = i32::try_from(body.len()).map_err(|_| Failure::TooLarge)?;
        if let Err(error) = transmit(&mut *self.stream, length, &body).await {
            // With TLS 1.3 a client certificate is refused after the handshake, and the broker may have hung up by now: what
            // it said before that is still there to be read.
            return match receive(&mut *self.stream, &self.way).await {
                Err(refused @ Failure::Failed(_)) => Err(refused),
                _ => Err(lost(&self.way, &error)),
            };
        }
        let answer = receive(&mut *self.stream, &self.way).await?;
        let mut reader = Reader::new(&answer);
        if reader.i32()? != self.sent {
            return Err(Failure::Malformed);
        }
        if Q::ANSWER_TAGS {
            reader.tags()?;
        }
        Ok(Q::read(version, &mut reader)?)
    }
}

async fn transmit(stream: &mut dyn Stream, length: i32, body: &[u8]) -> io::Result<()> {
    stream.write_all(&length.to_be_bytes()).await?;
    stream.write_all(body).await?;
    stream.flush().await
}

/// Reads one answer. Memory is taken as bytes arrive, whatever the length in front of them claims.
async fn receive(stream: &mut dyn Stream, way: &Way) -> Result<Vec<u8>, Failure> {
    let mut length = [0; 4];
    stream
        .read_exact(&mut length)
        .await
        .map_err(|error| lost(way, &error))?;
    let length = usize::try_from(i32::from_be_bytes(length)).map_err(|_| Failure::Malformed)?;
    if length > LARGEST {
        return Err(Failure::TooLarge);
    }
    let mut answer = Vec::new();
    stream
        .take(length as u64)
        .read_to_end(&mut answer)
        .await
        .map_err(|error| lost(way, &error))?;
    if answer.len() < length {
        return Err(lost(way, &io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(answer)
}

async fn open(way: &Way, node: &Node) -> Result<Box<dyn Stream>, Failure> {
    let Node { host, port } = node;
    let connected = TcpStream::connect((host.as_str(), *port)).await;
    let stream = connected.map_err(|error| {
        Failure::Failed(Error::Unreachable(format!(
            "cannot connect to {host}:{port}: {error}"
        )))
    })?;
    let _ = stream.set_nodelay(true);
    let Some(tls) = &way.tls else {
        return Ok(Box::new(stream));
    };
    let name = ServerName::try_from(host.clone()).map_err(|_| {
        Failure::Failed(Error::CertificateRejected(format!(
            "{host} is no name that a certificate can be for"
        )))
    })?;
    let connector = TlsConnector::from(Arc::clone(tls));
    let stream = connector.connect(name, stream).await.map_err(|error| {
        if let Some(words) = refused_certificate(host, &error) {
            return Failure::Failed(Error::CertificateRejected(words));
        }
        match lost(way, &error) {
            Failure::Lost(words) => Failure::Failed(Error::Unreachable(format!(
                "no TLS handshake with {host}:{port}: {words}; does the listener speak TLS, of version 1.2 or 1.3?"
            ))),
            refused => refused,
        }
    })?;
    Ok(Box::new(stream))
}

/// A connection that broke.
fn lost(way: &Way, error: &io::Error) -> Failure {
    if let Some(alert) = refused_handshake(error) {
        let advice = advice(
            Cause::Certificate,
            "SSL alert number",
            Shape::of(&way.security),
        );
        let words = format!("{alert}: {}", advice.unwrap_or_default());
        return Failure::Failed(Error::CertificateRejected(words));
    }
    Failure::Lost(match error.kind() {
        io::ErrorKind::UnexpectedEof => "the broker closed the connection".to_owned(),
        _ => error.to_string(),
    })
}
