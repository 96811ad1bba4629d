//! How to reach one Kafka cluster.

use std::time::Duration;

use super::security::Security;

/// How to reach one Kafka cluster. Two equal settings share one connection and one snapshot, so the type is
/// also the registry's key: build it with [`ConnectionSettings::new`], which makes spellings equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionSettings {
    /// `host:port` of the brokers to ask first; any one that answers is enough.
    pub bootstrap_servers: Vec<String>,
    /// How long one request may take, waiting for a connection included. Whole milliseconds, 1 s to 5 min.
    pub request_timeout: Duration,
    /// Encryption and login.
    pub security: Security,
}

impl ConnectionSettings {
    /// The request timeout where nothing else is asked for.
    pub const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
    const SHORTEST: Duration = Duration::from_secs(1);
    const LONGEST: Duration = Duration::from_secs(300);

    /// Settings with the default timeout, without encryption and login.
    pub fn new<S: Into<String>>(bootstrap_servers: impl IntoIterator<Item = S>) -> Self {
        let settings = Self {
            bootstrap_servers: bootstrap_servers.into_iter().map(Into::into).collect(),
            request_timeout: Self::DEFAULT_REQUEST_TIMEOUT,
            security: Security::default(),
        };
        settings.normalised()
    }

    /// The same settings with another request timeout; kept within 1 s and 5 min.
    #[must_use]
    pub fn with_request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout;
        self.normalised()
    }

    /// The same settings with encryption and login.
    #[must_use]
    pub fn with_security(mut self, security: Security) -> Self {
        self.security = security;
        self
    }

    /// The one spelling of equal settings: servers trimmed, without empty ones, sorted, each once; the
    /// timeout within its range.
    #[must_use]
    pub fn normalised(&self) -> Self {
        let mut servers: Vec<String> = self
            .bootstrap_servers
            .iter()
            .map(|server| server.trim().to_owned())
            .filter(|server| !server.is_empty())
            .collect();
        servers.sort();
        servers.dedup();
        Self {
            bootstrap_servers: servers,
            request_timeout: self.request_timeout.clamp(Self::SHORTEST, Self::LONGEST),
            security: self.security.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::security::{Login, Sasl, Secret};
    use super::*;

    #[test]
    fn spellings_of_one_cluster_are_one_key() {
        let one = ConnectionSettings::new(["b:1", " a:1", "b:1", ""]);
        assert_eq!(one, ConnectionSettings::new(["a:1", "b:1"]));
        assert_eq!(one.bootstrap_servers, ["a:1", "b:1"]);
    }

    #[test]
    fn other_credentials_are_another_key() {
        let with = |password: &str| {
            let login = Login {
                username: Secret::new("anna"),
                password: Secret::new(password),
            };
            ConnectionSettings::new(["a:1"]).with_security(Security {
                tls: None,
                sasl: Some(Sasl::Plain(login)),
            })
        };
        let keys = BTreeSet::from([with("one"), with("two"), with("one")]);
        assert_eq!(keys.len(), 2);
        assert!(!keys.contains(&ConnectionSettings::new(["a:1"])));
    }

    #[test]
    fn a_timeout_stays_within_its_range() {
        let settings = ConnectionSettings::new(["a:1"]);
        assert_eq!(settings.request_timeout, Duration::from_secs(10));
        let short = settings.clone().with_request_timeout(Duration::ZERO);
        assert_eq!(short.request_timeout, Duration::from_secs(1));
        let long = settings.with_request_timeout(Duration::from_secs(9999));
        assert_eq!(long.request_timeout, Duration::from_secs(300));
    }
}
