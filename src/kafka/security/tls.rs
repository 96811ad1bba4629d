//! The settings of connections that do not go through the client library.

use std::io;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::super::error::Error;
use super::super::handle::unusable;
use super::inspect::{certificate_error, roots, words};
use super::{Tls, pem};

/// The TLS library's settings. Reads the system's certificates, if those are to be trusted: not for a thread of the runtime.
pub(in super::super) fn client_config(tls: &Tls) -> Result<ClientConfig, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error.to_string()))?
        .with_root_certificates(roots(tls.ca.as_deref()));
    let Some(identity) = &tls.identity else {
        return Ok(config.with_no_client_auth());
    };
    let chain = pem::certificates("the client certificate", &identity.certificates)
        .map_err(|words| unusable(&words))?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain.as_bytes()).collect();
    let chain = chain.map_err(|_| unusable("the client certificate cannot be read"))?;
    let key = pem::private_key("the client key", identity.key.expose())
        .map_err(|words| unusable(&words))?;
    // The library's words might tell of the key.
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
        .map_err(|_| unusable("the client key cannot be read"))?;
    config
        .with_client_auth_cert(chain, key)
        .map_err(|_| unusable("the client key is not of a kind that can be used, or not that of the client certificate"))
}

/// Why the certificate of a host was refused, with what to do; `None` if the error is another one.
pub(in super::super) fn refused_certificate(host: &str, error: &io::Error) -> Option<String> {
    certificate_error(error).map(|error| words(host, error))
}

/// The alert by which the other side ended the handshake; `None` if the error is another one.
pub(in super::super) fn refused_handshake(error: &io::Error) -> Option<String> {
    match error.get_ref()?.downcast_ref::<rustls::Error>()? {
        rustls::Error::AlertReceived(alert) => {
            Some(format!("the broker ended the TLS handshake ({alert:?})"))
        }
        _ => None,
    }
}
