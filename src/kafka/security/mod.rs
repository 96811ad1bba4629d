//! How connections are secured: encryption, and who the client says that it is.

mod advice;
mod config;
mod inspect;
mod pem;
mod secret;
mod tls;

use std::fmt;
use std::path::PathBuf;

use super::error::Error;

pub(super) use advice::{Shape, advice, is_refused_handshake, is_untrusted, plain_words};
pub(super) use config::apply;
pub(super) use inspect::{roots, why_refused};
pub use secret::Secret;
pub(super) use tls::{client_config, refused_certificate, refused_handshake};

/// How connections to one cluster are secured. The default is neither encrypted nor logged in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Security {
    /// Encryption; `None` sends everything, passwords too, in the clear.
    pub tls: Option<Tls>,
    /// Login; `None` leaves it to the client certificate, if there is one.
    pub sasl: Option<Sasl>,
}

impl Security {
    /// Whether connections can be opened with this, as far as that shows without one: certificates and keys are of the
    /// right kind, names and passwords are text. Fails with [`Error::Rejected`], whose message names the part and
    /// shows nothing of it.
    pub fn check(&self) -> Result<(), Error> {
        apply(&mut rdkafka::ClientConfig::new(), self)
    }
}

/// Encryption. The broker's certificate and the host name in it are always verified.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tls {
    /// The certificates (PEM) that sign the brokers'; `None` takes those of the system.
    pub ca: Option<Vec<u8>>,
    /// What the client shows of itself, where listeners ask for it.
    pub identity: Option<Identity>,
}

impl fmt::Debug for Tls {
    /// Without the certificates, which are long rows of numbers here.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("own_ca", &self.ca.is_some())
            .field(
                "identity",
                &self.identity.as_ref().map(|identity| &identity.key),
            )
            .finish()
    }
}

/// A client's certificate with its key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// The client's certificate (PEM) first, then those that lead to its CA.
    pub certificates: Vec<u8>,
    /// Its private key (PEM, not encrypted).
    pub key: Secret,
}

/// How the client logs in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sasl {
    /// RFC 4616: the broker sees the password.
    Plain(Login),
    /// RFC 5802 and RFC 7677.
    ScramSha256(Login),
    /// RFC 5802 with SHA-512.
    ScramSha512(Login),
    /// RFC 7628.
    OauthBearer(TokenSource),
}

/// A user and a password.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Login {
    /// The user's name: not secret by itself, but it comes out of a Secret.
    pub username: Secret,
    /// The password.
    pub password: Secret,
}

/// Where bearer tokens come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TokenSource {
    /// A file that somebody else keeps fresh, such as a projected service account token. It is read again every half
    /// minute.
    File(PathBuf),
    /// An endpoint that issues tokens.
    Endpoint(TokenEndpoint),
    /// The process signs them itself with its AWS identity, for Amazon MSK. Needs the cargo feature `aws-msk-iam`.
    AwsMsk {
        /// The cluster's AWS region.
        region: String,
    },
}

/// A token endpoint, asked with the grant `client_credentials` (RFC 6749, section 4.4).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenEndpoint {
    /// Its `https` (or `http`) address.
    pub url: String,
    /// The client's id there.
    pub client_id: Secret,
    /// The client's secret there.
    pub client_secret: Secret,
    /// The scope to ask for.
    pub scope: Option<String>,
    /// The certificates (PEM) that sign the endpoint's; `None` takes those of the system.
    pub ca: Option<Vec<u8>>,
}

impl Sasl {
    /// The mechanism's registered name.
    pub fn mechanism(&self) -> &'static str {
        match self {
            Self::Plain(_) => "PLAIN",
            Self::ScramSha256(_) => "SCRAM-SHA-256",
            Self::ScramSha512(_) => "SCRAM-SHA-512",
            Self::OauthBearer(_) => "OAUTHBEARER",
        }
    }

    /// Where its tokens come from.
    pub(super) fn tokens(&self) -> Option<&TokenSource> {
        match self {
            Self::OauthBearer(source) => Some(source),
            _ => None,
        }
    }

    pub(super) fn login(&self) -> Option<&Login> {
        match self {
            Self::Plain(login) | Self::ScramSha256(login) | Self::ScramSha512(login) => Some(login),
            Self::OauthBearer(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_show_no_secret() {
        let secret = |text: &str| Secret::new(text);
        let login = Login {
            username: secret("anna-geheim"),
            password: secret("wort-geheim"),
        };
        let endpoint = TokenEndpoint {
            url: "https://idp/token".to_owned(),
            client_id: secret("id-geheim"),
            client_secret: secret("secret-geheim"),
            scope: None,
            ca: None,
        };
        let identity = Identity {
            certificates: Vec::new(),
            key: secret("key-geheim"),
        };
        for sasl in [
            Sasl::Plain(login.clone()),
            Sasl::ScramSha256(login.clone()),
            Sasl::ScramSha512(login),
            Sasl::OauthBearer(TokenSource::Endpoint(endpoint)),
        ] {
            let security = Security {
                tls: Some(Tls {
                    ca: None,
                    identity: Some(identity.clone()),
                }),
                sasl: Some(sasl),
            };
            let settings = crate::kafka::ConnectionSettings::new(["a:1"]).with_security(security);
            let shown = format!("{settings:?} {settings:#?}");
            assert!(shown.contains("(secret)"), "{shown}");
            assert!(!shown.contains("geheim"), "{shown}");
        }
    }
}
