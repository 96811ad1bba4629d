//! From what a connection declares, and the objects that it refers to, to the settings of a client.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use jiff::SignedDuration;

use super::lookup::{Absent, Kind, Lookups, Object};
use super::{LinkError, Refusal};
use crate::api::{self, ConnectionSpec, KeyRef, KeyRefKind, SaslMechanism, StrimziRef};
use crate::kafka::{
    ConnectionSettings, Error, Identity, Login, Sasl, Secret, Security, Tls, TokenEndpoint,
    TokenSource, region_of_msk,
};
use crate::plan::Reason;

/// Reads what one user's connection refers to, and notes which objects that were.
pub(super) struct Resolver<'a> {
    pub(super) lookups: &'a Lookups,
    /// Who hears of changes.
    pub(super) user: &'a str,
    /// Where Secrets and ConfigMaps are looked for.
    pub(super) namespace: &'a str,
    /// How messages call the connection.
    pub(super) place: String,
    pub(super) used: BTreeSet<Object>,
}

impl Resolver<'_> {
    /// The settings of a `KafkaConnection`.
    pub(super) async fn connection(
        &mut self,
        spec: &ConnectionSpec,
    ) -> Result<ConnectionSettings, LinkError> {
        let settings = if let Some(strimzi) = &spec.strimzi {
            self.strimzi(strimzi, spec).await?
        } else {
            let servers = spec.bootstrap_servers.clone().unwrap_or_default();
            let security = self
                .security(spec.tls.as_ref(), spec.sasl.as_ref(), &servers)
                .await?;
            ConnectionSettings::new(servers).with_security(security)
        };
        let request = spec.timeouts.as_ref().and_then(|it| it.request.as_deref());
        let settings = match request {
            None => settings,
            Some(text) => settings.with_request_timeout(self.timeout(text)?),
        };
        self.checked(settings)
    }

    /// Encryption and login as they are declared, with what they refer to.
    pub(super) async fn security(
        &mut self,
        tls: Option<&api::Tls>,
        sasl: Option<&api::Sasl>,
        servers: &[String],
    ) -> Result<Security, LinkError> {
        let tls = match tls {
            None => None,
            Some(tls) => Some(self.tls(tls).await?),
        };
        let sasl = match sasl {
            None => None,
            Some(sasl) => Some(self.sasl(sasl, servers, tls.is_some()).await?),
        };
        Ok(Security { tls, sasl })
    }

    /// The settings, if the client library can use them.
    pub(super) fn checked(
        &self,
        settings: ConnectionSettings,
    ) -> Result<ConnectionSettings, LinkError> {
        match settings.security.check() {
            Ok(()) => Ok(settings),
            Err(Error::Rejected { message, .. }) => Err(self.invalid(&message)),
            Err(error) => Err(self.invalid(&error.to_string())),
        }
    }

    async fn tls(&mut self, tls: &api::Tls) -> Result<Tls, LinkError> {
        let ca = match &tls.ca_ref {
            None => None,
            Some(reference) => Some(self.value("tls.caRef", reference).await?.expose().to_vec()),
        };
        let identity = match (&tls.certificate_ref, &tls.key_ref) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some(Identity {
                certificates: self
                    .value("tls.certificateRef", certificate)
                    .await?
                    .expose()
                    .to_vec(),
                key: self.value("tls.keyRef", key).await?,
            }),
            _ => {
                return Err(
                    self.invalid("tls: give certificateRef and keyRef both, or none of them")
                );
            }
        };
        Ok(Tls { ca, identity })
    }

    async fn sasl(
        &mut self,
        sasl: &api::Sasl,
        servers: &[String],
        tls: bool,
    ) -> Result<Sasl, LinkError> {
        Ok(match sasl.mechanism {
            SaslMechanism::Plain => Sasl::Plain(self.login(sasl).await?),
            SaslMechanism::ScramSha256 => Sasl::ScramSha256(self.login(sasl).await?),
            SaslMechanism::ScramSha512 => Sasl::ScramSha512(self.login(sasl).await?),
            SaslMechanism::OauthBearer => Sasl::OauthBearer(self.tokens(sasl).await?),
            SaslMechanism::AwsMskIam => Sasl::OauthBearer(self.msk(servers, tls)?),
        })
    }

    /// The login of Amazon MSK, by the operator's own AWS identity: its brokers take the signature as a bearer token.
    fn msk(&self, servers: &[String], tls: bool) -> Result<TokenSource, LinkError> {
        if !cfg!(feature = "aws-msk-iam") {
            return Err(self.invalid(
                "sasl.mechanism: AWS_MSK_IAM needs an operator that is built with the cargo feature aws-msk-iam; use one, or SCRAM-SHA-512 or a client certificate, which MSK offers too",
            ));
        }
        if !tls {
            return Err(
                self.invalid("sasl.mechanism: AWS_MSK_IAM is offered with TLS only; add tls: {}")
            );
        }
        let region = region_of_msk(servers).or_else(|| std::env::var("AWS_REGION").ok());
        let region = region.ok_or_else(|| {
            self.invalid(&format!(
                "sasl.mechanism: AWS_MSK_IAM needs the cluster's region: wanted bootstrap servers under kafka.REGION.amazonaws.com or AWS_REGION in the operator's environment, seen {}",
                servers.join(", ")
            ))
        })?;
        Ok(TokenSource::AwsMsk { region })
    }

    async fn login(&mut self, sasl: &api::Sasl) -> Result<Login, LinkError> {
        let (Some(username), Some(password)) = (&sasl.username_ref, &sasl.password_ref) else {
            return Err(self.invalid("sasl: PLAIN and SCRAM need usernameRef and passwordRef"));
        };
        Ok(Login {
            username: self.value("sasl.usernameRef", username).await?,
            password: self.value("sasl.passwordRef", password).await?,
        })
    }

    async fn tokens(&mut self, sasl: &api::Sasl) -> Result<TokenSource, LinkError> {
        let oauth = sasl.oauth.clone().unwrap_or_default();
        match (oauth.token_file, oauth.token_endpoint) {
            (Some(file), None) => Ok(TokenSource::File(PathBuf::from(file))),
            (None, Some(url)) => {
                let (Some(id), Some(secret)) = (&oauth.client_id_ref, &oauth.client_secret_ref)
                else {
                    return Err(self.invalid(
                        "sasl.oauth: a tokenEndpoint needs clientIdRef and clientSecretRef",
                    ));
                };
                let ca = match &oauth.ca_ref {
                    None => None,
                    Some(reference) => Some(
                        self.value("sasl.oauth.caRef", reference)
                            .await?
                            .expose()
                            .to_vec(),
                    ),
                };
                Ok(TokenSource::Endpoint(TokenEndpoint {
                    url,
                    client_id: self.value("sasl.oauth.clientIdRef", id).await?,
                    client_secret: self.value("sasl.oauth.clientSecretRef", secret).await?,
                    scope: oauth.scope,
                    ca,
                }))
            }
            _ => Err(self.invalid(
                "sasl.oauth: OAUTHBEARER needs exactly one of tokenFile and tokenEndpoint",
            )),
        }
    }

    /// Address and CA of a Strimzi cluster, and the credentials of one of its users.
    async fn strimzi(
        &mut self,
        strimzi: &StrimziRef,
        spec: &ConnectionSpec,
    ) -> Result<ConnectionSettings, LinkError> {
        if spec.tls.is_some() || spec.sasl.is_some() {
            return Err(self.invalid(
                "strimzi: address, CA and login come from Strimzi; leave tls and sasl out",
            ));
        }
        let object = |kind, name: String| Object {
            kind,
            namespace: strimzi.namespace.clone(),
            name,
        };
        let kafka = object(Kind::StrimziKafka, strimzi.name.clone());
        let listener = strimzi.listener.as_str();
        let values = match self.read(&kafka).await? {
            Ok(values) => values,
            Err(absent) => return Err(self.missing("strimzi", &kafka, &absent)),
        };
        let value = |key: &str| values.get(&format!("{listener}.{key}"));
        let text = |key: &str| {
            let value = value(key).and_then(|value| std::str::from_utf8(value.expose()).ok());
            value.map(ToOwned::to_owned)
        };
        let Some(servers) = text("bootstrapServers") else {
            return Err(self.not_there(&format!(
                "{kafka} has no listener {listener} in its status; wanted one of this name, with bootstrapServers. Is it ready?"
            )));
        };
        let encrypted = text("tls").is_some();
        let ca = match value("certificates") {
            Some(certificates) => Some(certificates.expose().to_vec()),
            None if encrypted => {
                let reference = KeyRef {
                    kind: None,
                    name: format!("{}-cluster-ca-cert", strimzi.name),
                    key: "ca.crt".to_owned(),
                };
                let secret = object(Kind::Secret, reference.name.clone());
                let ca = self.value_of("strimzi", &secret, &reference.key).await?;
                Some(ca.expose().to_vec())
            }
            None => None,
        };
        let mut security = Security {
            tls: (encrypted || ca.is_some()).then_some(Tls { ca, identity: None }),
            sasl: None,
        };
        if let Some(user) = &strimzi.user {
            let secret = object(Kind::Secret, user.clone());
            match text("authentication").as_deref() {
                Some("scram-sha-512") => {
                    security.sasl = Some(Sasl::ScramSha512(Login {
                        username: Secret::new(user.as_str()),
                        password: self.value_of("strimzi.user", &secret, "password").await?,
                    }));
                }
                Some("tls") => {
                    let identity = Identity {
                        certificates: self
                            .value_of("strimzi.user", &secret, "user.crt")
                            .await?
                            .expose()
                            .to_vec(),
                        key: self.value_of("strimzi.user", &secret, "user.key").await?,
                    };
                    security.tls.get_or_insert_default().identity = Some(identity);
                }
                other => {
                    return Err(self.invalid(&format!(
                        "strimzi.user: wanted a listener {listener} with authentication scram-sha-512 or tls, seen {}",
                        other.unwrap_or("none")
                    )));
                }
            }
        }
        let servers = servers.split(',').map(str::to_owned);
        Ok(ConnectionSettings::new(servers).with_security(security))
    }

    async fn value(&mut self, field: &str, reference: &KeyRef) -> Result<Secret, LinkError> {
        let object = Object {
            kind: match reference.kind.unwrap_or_default() {
                KeyRefKind::Secret => Kind::Secret,
                KeyRefKind::ConfigMap => Kind::ConfigMap,
            },
            namespace: self.namespace.to_owned(),
            name: reference.name.clone(),
        };
        self.value_of(field, &object, &reference.key).await
    }

    async fn value_of(
        &mut self,
        field: &str,
        object: &Object,
        key: &str,
    ) -> Result<Secret, LinkError> {
        let values = match self.read(object).await? {
            Ok(values) => values,
            Err(absent) => return Err(self.missing(field, object, &absent)),
        };
        if let Some(value) = values.get(key) {
            return Ok(value.clone());
        }
        let keys: Vec<&str> = values.keys().map(String::as_str).collect();
        let seen = if keys.is_empty() {
            "none".to_owned()
        } else {
            keys.join(", ")
        };
        Err(self.not_there(&format!(
            "{field}: wanted the key {key} in {object}, seen {seen}"
        )))
    }

    async fn read(
        &mut self,
        object: &Object,
    ) -> Result<Result<super::lookup::Values, Absent>, LinkError> {
        self.used.insert(object.clone());
        self.lookups
            .get(object, self.user)
            .await
            .map_err(LinkError::Api)
    }

    fn timeout(&self, text: &str) -> Result<Duration, LinkError> {
        let range = Duration::from_secs(1)..=Duration::from_secs(300);
        let parsed = text.parse::<SignedDuration>().ok();
        let parsed = parsed.and_then(|parsed| Duration::try_from(parsed).ok());
        parsed
            .filter(|timeout| range.contains(timeout))
            .ok_or_else(|| {
                self.invalid(&format!(
                    "timeouts.request: wanted a time from 1s to 5m, such as 30s, seen {text:?}"
                ))
            })
    }

    fn invalid(&self, message: &str) -> LinkError {
        self.refusal(Reason::InvalidSpec, message)
    }

    fn not_there(&self, message: &str) -> LinkError {
        self.refusal(Reason::SecretNotFound, message)
    }

    fn missing(&self, field: &str, object: &Object, absent: &Absent) -> LinkError {
        self.not_there(&match absent {
            Absent::NotFound => format!("{field}: wanted {object}, seen none of that name; create it, it is looked for every few seconds"),
            Absent::Forbidden(words) => format!("{field}: the operator may not read {object}: {words}. Grant its service account get on it by name"),
        })
    }

    fn refusal(&self, reason: Reason, message: &str) -> LinkError {
        LinkError::Refused(Refusal {
            reason,
            message: format!("{}: {message}", self.place),
        })
    }
}
