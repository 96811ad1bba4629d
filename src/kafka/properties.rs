//! The properties file of Kafka's own tools (`--command-config`), as far as it says how a connection is made.
//!
//! Keys and their meaning are those of Kafka's clients (`SaslConfigs`, `SslConfigs` and `CommonClientConfigs` in
//! kafka-clients), with PEM stores (KIP-651) only, and those of librdkafka for the same things (CONFIGURATION.md).

use std::collections::BTreeMap;
use std::path::Path;

use super::security::{Identity, Login, Sasl, Secret, Security, Tls};

/// What a properties file says of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientProperties {
    /// `bootstrap.servers`, where it is given.
    pub bootstrap_servers: Vec<String>,
    /// Encryption and login.
    pub security: Security,
}

impl ClientProperties {
    /// Reads a file, and those that it names.
    ///
    /// # Errors
    /// One sentence that names the key and shows no secret.
    pub fn read(path: &Path) -> Result<Self, String> {
        let open = |path: &Path| {
            std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let text = open(path)?;
        Self::parse(&text, &open).map_err(|problem| format!("{}: {problem}", path.display()))
    }

    fn parse(text: &[u8], open: &dyn Fn(&Path) -> Result<Vec<u8>, String>) -> Result<Self, String> {
        let given = java_properties::read(text)
            .map_err(|error| format!("this is no properties file: {error}"))?;
        let given = Given {
            keys: given.into_iter().collect(),
            open,
        };
        given.check_keys()?;
        let protocol = given.get("security.protocol").unwrap_or("PLAINTEXT");
        let (encrypted, login) = match protocol.to_ascii_uppercase().as_str() {
            "PLAINTEXT" => (false, false),
            "SSL" => (true, false),
            "SASL_PLAINTEXT" => (false, true),
            "SASL_SSL" => (true, true),
            _ => {
                return Err(format!(
                    "security.protocol: wanted PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL, seen {protocol}"
                ));
            }
        };
        let servers = given.get("bootstrap.servers").unwrap_or_default();
        Ok(ClientProperties {
            bootstrap_servers: servers
                .split(',')
                .map(|server| server.trim().to_owned())
                .filter(|server| !server.is_empty())
                .collect(),
            security: Security {
                tls: encrypted.then(|| given.tls()).transpose()?,
                sasl: login.then(|| given.sasl()).transpose()?,
            },
        })
    }
}

struct Given<'a> {
    keys: BTreeMap<String, String>,
    open: &'a dyn Fn(&Path) -> Result<Vec<u8>, String>,
}

/// The keys of security that are understood. Others of these families would change what the file means.
const KNOWN: [&str; 21] = [
    "security.protocol",
    "sasl.mechanism",
    "sasl.mechanisms",
    "sasl.jaas.config",
    "sasl.username",
    "sasl.password",
    "ssl.truststore.type",
    "ssl.truststore.location",
    "ssl.truststore.certificates",
    "ssl.ca.location",
    "ssl.ca.pem",
    "ssl.keystore.type",
    "ssl.keystore.location",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.certificate.location",
    "ssl.certificate.pem",
    "ssl.key.location",
    "ssl.key.pem",
    "ssl.enabled.protocols",
    "ssl.protocol",
];

impl Given<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        let value = self.keys.get(key)?.trim();
        (!value.is_empty()).then_some(value)
    }

    fn check_keys(&self) -> Result<(), String> {
        for (key, value) in &self.keys {
            if key == "ssl.endpoint.identification.algorithm" {
                if !value.trim().eq_ignore_ascii_case("https") {
                    return Err(format!(
                        "{key}: the broker's host name is always verified; leave this out, and let the certificate name the host"
                    ));
                }
                continue;
            }
            let security = ["ssl.", "sasl.", "security."]
                .iter()
                .any(|family| key.starts_with(family));
            if security && !KNOWN.contains(&key.as_str()) {
                return Err(format!(
                    "{key} is not understood here; known are {}",
                    KNOWN.join(", ")
                ));
            }
        }
        Ok(())
    }

    fn tls(&self) -> Result<Tls, String> {
        for store in ["ssl.truststore", "ssl.keystore"] {
            let kind = self.get(&format!("{store}.type")).unwrap_or("JKS");
            let used = self.get(&format!("{store}.location")).is_some();
            if used && !kind.eq_ignore_ascii_case("PEM") {
                return Err(format!(
                    "{store}.location: wanted a PEM file and {store}.type=PEM, seen {kind}. keytool -importkeystore -deststoretype PKCS12 and openssl pkcs12 \
                     make PEM of it"
                ));
            }
        }
        let ca = self.pem(
            &["ssl.truststore.certificates", "ssl.ca.pem"],
            &["ssl.truststore.location", "ssl.ca.location"],
        )?;
        let store = self.pem(&[], &["ssl.keystore.location"])?;
        let certificates = self.pem(
            &["ssl.keystore.certificate.chain", "ssl.certificate.pem"],
            &["ssl.certificate.location"],
        )?;
        let key = self.pem(&["ssl.keystore.key", "ssl.key.pem"], &["ssl.key.location"])?;
        let identity = match (store, certificates, key) {
            (None, None, None) => None,
            // One file with both, as Kafka's PEM stores are.
            (Some(store), None, None) => Some(Identity {
                certificates: blocks(&store, |label| label == "CERTIFICATE"),
                key: Secret::new(blocks(&store, |label| label.ends_with("PRIVATE KEY"))),
            }),
            (None, Some(certificates), Some(key)) => Some(Identity {
                certificates,
                key: Secret::new(key),
            }),
            _ => {
                return Err(
                    "ssl: give the client's certificate and its key, either in one ssl.keystore.location or one key for each"
                        .to_owned(),
                );
            }
        };
        Ok(Tls { ca, identity })
    }

    /// The first that is given, in the file itself or in one that it names.
    fn pem(&self, texts: &[&str], files: &[&str]) -> Result<Option<Vec<u8>>, String> {
        for key in texts {
            if let Some(text) = self.get(key) {
                return Ok(Some(text.as_bytes().to_vec()));
            }
        }
        for key in files {
            if let Some(path) = self.get(key) {
                let read = (self.open)(Path::new(path));
                return read.map(Some).map_err(|error| format!("{key}: {error}"));
            }
        }
        Ok(None)
    }

    fn sasl(&self) -> Result<Sasl, String> {
        let mechanism = self
            .get("sasl.mechanism")
            .or_else(|| self.get("sasl.mechanisms"))
            .unwrap_or("GSSAPI");
        let make = match mechanism.to_ascii_uppercase().as_str() {
            "PLAIN" => Sasl::Plain,
            "SCRAM-SHA-256" => Sasl::ScramSha256,
            "SCRAM-SHA-512" => Sasl::ScramSha512,
            _ => {
                return Err(format!(
                    "sasl.mechanism: wanted PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512, seen {mechanism}"
                ));
            }
        };
        let jaas = self.get("sasl.jaas.config").map(jaas).unwrap_or_default();
        let part = |name: &str| {
            let own = self.get(&format!("sasl.{name}"));
            own.map(ToOwned::to_owned)
                .or_else(|| jaas.get(name).cloned())
        };
        match (part("username"), part("password")) {
            (Some(username), Some(password)) => Ok(make(Login {
                username: Secret::new(username),
                password: Secret::new(password),
            })),
            _ => Err(
                "sasl.jaas.config: wanted a login module with username=\"...\" and password=\"...\", as in \
                 org.apache.kafka.common.security.scram.ScramLoginModule required username=\"u\" password=\"p\";"
                    .to_owned(),
            ),
        }
    }
}

/// The options of a JAAS entry: `Module required name="value" other=value;`.
fn jaas(entry: &str) -> BTreeMap<String, String> {
    let mut options = BTreeMap::new();
    let mut rest = entry;
    while let Some((before, after)) = rest.split_once('=') {
        let name = before.rsplit(char::is_whitespace).next().unwrap_or(before);
        let after = after.trim_start();
        let (value, left) = if let Some(quoted) = after.strip_prefix('"') {
            unquoted(quoted)
        } else {
            let end = after.find(|c: char| c.is_whitespace() || c == ';');
            let (value, left) = after.split_at(end.unwrap_or(after.len()));
            (value.to_owned(), left)
        };
        options.insert(name.to_owned(), value);
        rest = left;
    }
    options
}

/// What stands before the closing quote, and what comes after it.
fn unquoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            letter => value.push(letter),
        }
    }
    (value, "")
}

/// The PEM blocks of some kinds.
fn blocks(pem: &[u8], wanted: impl Fn(&str) -> bool) -> Vec<u8> {
    let text = String::from_utf8_lossy(pem);
    let mut found = String::new();
    let mut inside = false;
    for line in text.lines() {
        let label = line
            .strip_prefix("-----BEGIN ")
            .and_then(|rest| rest.strip_suffix("-----"));
        inside |= label.is_some_and(&wanted);
        if inside {
            found.push_str(line);
            found.push('\n');
        }
        inside &= !line.starts_with("-----END ");
    }
    found.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ClientProperties, String> {
        ClientProperties::parse(text.as_bytes(), &|path| {
            match path.to_str() {
            Some("ca.pem") => Ok(b"CA".to_vec()),
            Some("both.pem") => Ok(
                b"-----BEGIN PRIVATE KEY-----\nK\n-----END PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----\nC\n-----END CERTIFICATE-----\n"
                    .to_vec(),
            ),
            _ => Err("no such file".to_owned()),
        }
        })
    }

    fn login(username: &str, password: &str) -> Login {
        Login {
            username: Secret::new(username),
            password: Secret::new(password),
        }
    }

    #[test]
    fn a_file_of_kafkas_tools_is_understood() {
        let properties = parse(
            "# for kafka-topics.sh\n\
             bootstrap.servers=a:9093, b:9093\n\
             security.protocol=SASL_SSL\n\
             sasl.mechanism=SCRAM-SHA-512\n\
             sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n    username=\"anna\" password=\"a=\\\\\"b; c\";\n\
             ssl.truststore.type=PEM\n\
             ssl.truststore.location=ca.pem\n\
             acks=all\n",
        )
        .unwrap();
        assert_eq!(properties.bootstrap_servers, ["a:9093", "b:9093"]);
        let wanted = Security {
            tls: Some(Tls {
                ca: Some(b"CA".to_vec()),
                identity: None,
            }),
            sasl: Some(Sasl::ScramSha512(login("anna", "a=\"b; c"))),
        };
        assert_eq!(properties.security, wanted);
    }

    #[test]
    fn librdkafkas_names_are_understood() {
        let properties = parse(
            "security.protocol=sasl_plaintext\nsasl.mechanisms=PLAIN\nsasl.username=u\nsasl.password=p\n",
        )
        .unwrap();
        let sasl = Some(Sasl::Plain(login("u", "p")));
        assert_eq!(properties.security, Security { tls: None, sasl });
        assert_eq!(parse("").unwrap(), ClientProperties::default());
    }

    #[test]
    fn a_key_store_holds_both() {
        let tls =
            parse("security.protocol=SSL\nssl.keystore.type=PEM\nssl.keystore.location=both.pem")
                .unwrap()
                .security
                .tls
                .unwrap();
        let identity = tls.identity.unwrap();
        let block = |label: &str, inside: &str| {
            format!("-----BEGIN {label}-----\n{inside}\n-----END {label}-----\n").into_bytes()
        };
        assert_eq!(identity.certificates, block("CERTIFICATE", "C"));
        assert_eq!(identity.key.expose(), block("PRIVATE KEY", "K"));
    }

    #[test]
    fn what_would_be_misunderstood_is_named() {
        for (text, named) in [
            ("security.protocol=TLS", "security.protocol: wanted"),
            ("security.protocol=SASL_SSL", "sasl.mechanism: wanted PLAIN"),
            (
                "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=x required username=\"u\";",
                "sasl.jaas.config: wanted",
            ),
            (
                "security.protocol=SSL\nssl.truststore.location=a.jks",
                "ssl.truststore.type=PEM, seen JKS",
            ),
            (
                "security.protocol=SSL\nssl.ca.location=gone.pem",
                "ssl.ca.location: no such file",
            ),
            (
                "security.protocol=SSL\nssl.key.location=ca.pem",
                "certificate and its key",
            ),
            ("ssl.endpoint.identification.algorithm=", "always verified"),
            ("sasl.kerberos.service.name=kafka", "is not understood here"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
        let error = parse("sasl.login.class=x\nsasl.password=geheim").unwrap_err();
        assert!(!error.contains("geheim"), "{error}");
    }
}
