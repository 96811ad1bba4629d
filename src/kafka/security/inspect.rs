//! Why a broker's certificate is refused. The client library says only that it is, so the handshake is made once more,
//! by a library that tells; nothing but the words for people depends on it.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, ClientConnection, Error, RootCertStore};

use super::Tls;

/// Why the certificate of the broker that `reason` is about (`ssl://host:port/...`) is refused; `None` if that can't be
/// told within the time.
pub(in super::super) fn why_refused(tls: &Tls, reason: &str, timeout: Duration) -> Option<String> {
    let (_, rest) = reason.split_once("ssl://")?;
    let address = rest.split(['/', ':', ' ']).next().and_then(|host| {
        let port = rest.strip_prefix(host)?.strip_prefix(':')?;
        let digits = port
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(port.len());
        Some((host, port[..digits].parse::<u16>().ok()?))
    });
    let (host, port) = address?;
    let refused = refusal(tls, host, port, timeout)?;
    Some(words(host, refused))
}

/// Certificates to trust: those given as PEM, or the system's.
pub(in super::super) fn roots(ca: Option<&[u8]>) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    match ca {
        Some(pem) => {
            roots.add_parsable_certificates(
                CertificateDer::pem_slice_iter(pem).filter_map(Result::ok),
            );
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    roots
}

fn refusal(tls: &Tls, host: &str, port: u16, timeout: Duration) -> Option<CertificateError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(
        Arc::new(roots(tls.ca.as_deref())),
        Arc::clone(&provider),
    );
    // No roots at all is how a CA without a usable certificate shows.
    let Ok(verifier) = verifier.build() else {
        return Some(CertificateError::UnknownIssuer);
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .ok()?
        .with_webpki_verifier(verifier)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).ok()?;
    let mut connection = ClientConnection::new(Arc::new(config), name).ok()?;
    let address = (host, port).to_socket_addrs().ok()?.next()?;
    let mut stream = TcpStream::connect_timeout(&address, timeout).ok()?;
    stream.set_read_timeout(Some(timeout)).ok()?;
    stream.set_write_timeout(Some(timeout)).ok()?;
    handshake(&mut connection, &mut stream)
}

fn handshake(
    connection: &mut ClientConnection,
    stream: &mut (impl Read + Write),
) -> Option<CertificateError> {
    while connection.is_handshaking() {
        if let Err(error) = connection.complete_io(stream) {
            return certificate_error(&error);
        }
    }
    None
}

pub(super) fn certificate_error(error: &io::Error) -> Option<CertificateError> {
    match error.get_ref()?.downcast_ref::<Error>()? {
        Error::InvalidCertificate(error) => Some(error.clone()),
        _ => None,
    }
}

pub(super) fn words(host: &str, refused: CertificateError) -> String {
    match refused {
        CertificateError::Expired => "the broker's certificate is expired: renew it".to_owned(),
        CertificateError::ExpiredContext { not_after, .. } => {
            format!(
                "the broker's certificate expired at {}: renew it",
                time(not_after)
            )
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the broker's certificate is not valid yet: compare the clocks".to_owned()
        }
        CertificateError::UnknownIssuer => {
            "the broker's certificate is not signed by a trusted CA: set the CA of this listener"
                .to_owned()
        }
        CertificateError::NotValidForName => {
            format!(
                "the broker's certificate is not for the host {host}: use a name that it is for, or issue it for this one"
            )
        }
        CertificateError::NotValidForNameContext { presented, .. } => format!(
            "the broker's certificate is not for the host {host} but for {}: use one of these names, or issue it for \
             this one",
            if presented.is_empty() {
                "none".to_owned()
            } else {
                presented.join(", ")
            }
        ),
        other => format!("the broker's certificate is refused: {other}"),
    }
}

fn time(time: UnixTime) -> String {
    i64::try_from(time.as_secs())
        .ok()
        .and_then(|seconds| jiff::Timestamp::from_second(seconds).ok())
        .map_or_else(|| "an unknown time".to_owned(), |time| time.to_string())
}
