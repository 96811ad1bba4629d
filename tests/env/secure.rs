//! One broker with a listener for each way to secure a connection, and an authorizer that allows nothing by itself.

use std::fs;
use std::path::{Path, PathBuf};

use super::idp::{AUDIENCE, ISSUER, IdentityProvider};
use super::pki::{Authority, Identity};
use super::{KafkaCluster, KafkaOptions, free_port, unique};

/// A listener of the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listener {
    /// SASL_SSL with PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512.
    Login,
    /// SSL; clients must show a certificate.
    Mutual,
    /// SSL with a certificate whose time is over.
    Expired,
    /// SSL with a certificate for another host.
    OtherHost,
    /// SSL with a certificate that stays as it is.
    Encrypted,
    /// SSL with a certificate that one test replaces.
    Rotating,
    /// SASL_SSL with OAUTHBEARER; a login lasts as long as its token.
    Bearer,
}

impl Listener {
    const ALL: [(Self, &str, &str); 7] = [
        (Self::Login, "LOGIN", "SASL_SSL"),
        (Self::Mutual, "MUTUAL", "SSL"),
        (Self::Expired, "EXPIRED", "SSL"),
        (Self::OtherHost, "OTHERHOST", "SSL"),
        (Self::Encrypted, "ENCRYPTED", "SSL"),
        (Self::Rotating, "ROTATING", "SSL"),
        (Self::Bearer, "BEARER", "SASL_SSL"),
    ];
}

/// The users of PLAIN; each has its name with `-secret` as its password.
pub(crate) const USERS: [&str; 12] = [
    "anna",
    "full",
    "no-create",
    "no-alter",
    "no-alter-configs",
    "no-read",
    "observer",
    "no-describe",
    "no-describe-configs",
    "stranger",
    "locker",
    "hurried",
];
/// The users of SCRAM, with the same passwords.
const SCRAM_USERS: [&str; 2] = ["anna", "rotated"];

/// As in `tests/env/kafka-node`.
const JVM: &str = "-Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1";

/// Anonymous clients are super users, so that tests can prepare things on the listener without any security.
pub(crate) struct SecureKafka {
    pub(crate) kafka: KafkaCluster,
    /// Signs what the broker shows, and what it accepts of clients.
    pub(crate) authority: Authority,
    /// Issues the tokens that the broker accepts.
    pub(crate) idp: IdentityProvider,
    dir: PathBuf,
    ports: Vec<(Listener, u16)>,
}

impl SecureKafka {
    pub(crate) fn start(root: &Path) -> Self {
        let authority = Authority::new("Tests' own CA");
        let dir = root.join(unique("secure"));
        fs::create_dir_all(&dir).expect("a folder for certificates");
        let write = |name: &str, text: &str| write(&dir, name, text);
        let ports: Vec<(Listener, u16)> = Listener::ALL
            .iter()
            .map(|(listener, ..)| (*listener, free_port()))
            .collect();
        let trusted = write("ca.pem", &authority.certificate());
        let mut properties = listeners(&ports);
        for (listener, name, _) in Listener::ALL {
            let identity = match listener {
                Listener::Expired => authority.issue_expired("broker", &["127.0.0.1"]),
                Listener::OtherHost => authority.issue("broker", &["elsewhere.example"]),
                _ => authority.issue("broker", &["127.0.0.1"]),
            };
            let file = write(&format!("{name}.pem"), &keystore(&identity));
            let prefix = format!("listener.name.{}", name.to_lowercase());
            properties.extend([
                format!("{prefix}.ssl.keystore.type=PEM"),
                format!("{prefix}.ssl.keystore.location={file}"),
                format!("{prefix}.ssl.truststore.type=PEM"),
                format!("{prefix}.ssl.truststore.location={trusted}"),
            ]);
        }
        properties.push("listener.name.mutual.ssl.client.auth=required".to_owned());
        let users: Vec<String> = USERS
            .iter()
            .map(|user| format!("user_{user}=\"{}\"", password(user)))
            .collect();
        let module = "org.apache.kafka.common.security";
        properties.extend([
            "listener.name.login.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512".to_owned(),
            format!(
                "listener.name.login.plain.sasl.jaas.config={module}.plain.PlainLoginModule required {};",
                users.join(" ")
            ),
            format!(
                "listener.name.login.scram-sha-256.sasl.jaas.config={module}.scram.ScramLoginModule required;"
            ),
            format!(
                "listener.name.login.scram-sha-512.sasl.jaas.config={module}.scram.ScramLoginModule required;"
            ),
            "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer".to_owned(),
            "super.users=User:ANONYMOUS".to_owned(),
        ]);
        let idp = IdentityProvider::start(&authority.issue("idp", &["127.0.0.1"]));
        let bearer = "listener.name.bearer.oauthbearer";
        properties.extend([
            "listener.name.bearer.sasl.enabled.mechanisms=OAUTHBEARER".to_owned(),
            format!("{bearer}.sasl.jaas.config={module}.oauthbearer.OAuthBearerLoginModule required;"),
            format!("{bearer}.sasl.server.callback.handler.class={module}.oauthbearer.OAuthBearerValidatorCallbackHandler"),
            format!("{bearer}.connections.max.reauth.ms=3600000"),
            format!("sasl.oauthbearer.jwks.endpoint.url={}", idp.jwks()),
            format!("sasl.oauthbearer.expected.audience={AUDIENCE}"),
            format!("sasl.oauthbearer.expected.issuer={ISSUER}"),
        ]);
        // Addresses that brokers fetch keys from must be allowed on their command line.
        let allowed = format!(
            "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={}",
            idp.jwks()
        );
        let options = KafkaOptions {
            properties,
            jvm: Some(format!("{JVM} {allowed}")),
            format: scram_users(),
        };
        Self {
            kafka: KafkaCluster::start(root, 1, options),
            authority,
            idp,
            dir,
            ports,
        }
    }

    /// Where a listener is to be reached.
    pub(crate) fn address(&self, listener: Listener) -> String {
        let port = self.ports.iter().find(|(of, _)| *of == listener);
        format!("127.0.0.1:{}", port.expect("a port for each listener").1)
    }

    /// Gives a listener another certificate, which its new connections get.
    pub(crate) fn replace_certificate(&self, listener: Listener, identity: &Identity) {
        let (_, name, _) = Listener::ALL
            .iter()
            .find(|(of, ..)| *of == listener)
            .expect("a name for each listener");
        let file = write(&self.dir, &unique("replaced"), &keystore(identity));
        let key = format!(
            "listener.name.{}.ssl.keystore.location",
            name.to_lowercase()
        );
        let change = format!("{key}={file}");
        let args = ["--alter", "--entity-type", "brokers", "--entity-name", "1"];
        let args = [&args[..], &["--add-config", &change]].concat();
        self.kafka.tool_ok("kafka.admin.ConfigCommand", &args);
    }

    /// Allows users an operation on the topics whose names begin with a prefix.
    pub(crate) fn allow(&self, users: &[&str], operation: &str, prefix: &str) {
        let principals: Vec<String> = users.iter().map(|user| format!("User:{user}")).collect();
        let mut args = vec!["--add", "--resource-pattern-type", "prefixed"];
        args.extend(["--topic", prefix, "--operation", operation]);
        for principal in &principals {
            args.extend(["--allow-principal", principal]);
        }
        self.kafka
            .tool_ok("org.apache.kafka.tools.AclCommand", &args);
    }

    /// Allows a user operations on the cluster itself.
    pub(crate) fn allow_on_cluster(&self, user: &str, operations: &[&str]) {
        let principal = format!("User:{user}");
        let mut args = vec!["--add", "--cluster", "--allow-principal", &principal];
        args.extend(operations.iter().flat_map(|it| ["--operation", *it]));
        self.kafka
            .tool_ok("org.apache.kafka.tools.AclCommand", &args);
    }

    /// Lets a user describe a consumer group.
    pub(crate) fn allow_group(&self, user: &str, group: &str) {
        let principal = format!("User:{user}");
        let args = ["--add", "--group", group, "--operation", "Describe"];
        let args = [&args[..], &["--allow-principal", &principal]].concat();
        self.kafka
            .tool_ok("org.apache.kafka.tools.AclCommand", &args);
    }

    /// All ACLs on topics by their names and prefixes that begin so, sorted: as Kafka's own tool lists them.
    pub(crate) fn acls(&self, prefix: &str) -> Vec<String> {
        acls(&self.kafka, prefix)
    }

    /// Gives a user of SCRAM another password.
    pub(crate) fn replace_password(&self, user: &str, password: &str) {
        let change = format!("SCRAM-SHA-512=[iterations=4096,password={password}]");
        let args = ["--alter", "--entity-type", "users", "--entity-name", user];
        let args = [&args[..], &["--add-config", &change]].concat();
        self.kafka.tool_ok("kafka.admin.ConfigCommand", &args);
    }
}

/// As [`SecureKafka::acls`], of any broker with an authorizer.
pub(crate) fn acls(kafka: &KafkaCluster, prefix: &str) -> Vec<String> {
    let listed = kafka.tool_ok("org.apache.kafka.tools.AclCommand", &["--list"]);
    let mut all = Vec::new();
    let mut resource = None;
    for line in listed.lines().map(str::trim) {
        if line.starts_with("Current ACLs for resource") {
            resource = line
                .contains(&format!("resourceType=TOPIC, name={prefix}"))
                .then_some(line);
        } else if let Some(resource) = resource.filter(|_| line.starts_with('(')) {
            all.push(format!("{resource} {line}"));
        }
    }
    all.sort();
    all
}

/// The password of a user.
pub(crate) fn password(user: &str) -> String {
    format!("{user}-secret")
}

fn write(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    fs::write(&path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    path.display().to_string()
}

fn keystore(identity: &Identity) -> String {
    format!("{}{}", identity.key, identity.certificate)
}

fn listeners(ports: &[(Listener, u16)]) -> Vec<String> {
    let named = |of: Listener| Listener::ALL.iter().find(|(listener, ..)| *listener == of);
    let own: Vec<String> = ports
        .iter()
        .filter_map(|(listener, port)| Some(format!("{}://127.0.0.1:{port}", named(*listener)?.1)))
        .collect();
    let own = own.join(",");
    let protocols: Vec<String> = Listener::ALL
        .iter()
        .map(|(_, name, protocol)| format!("{name}:{protocol}"))
        .collect();
    vec![
        format!(
            "listeners=PLAINTEXT://127.0.0.1:@CLIENT@,CONTROLLER://127.0.0.1:@CONTROLLER@,{own}"
        ),
        format!("advertised.listeners=PLAINTEXT://127.0.0.1:@CLIENT@,{own}"),
        format!(
            "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,{}",
            protocols.join(",")
        ),
        "inter.broker.listener.name=PLAINTEXT".to_owned(),
    ]
}

fn scram_users() -> Vec<String> {
    let of = |user: &&str| {
        ["SCRAM-SHA-256", "SCRAM-SHA-512"].map(|mechanism| {
            let password = password(user);
            [
                "--add-scram".to_owned(),
                format!("{mechanism}=[name={user},password={password}]"),
            ]
        })
    };
    SCRAM_USERS.iter().flat_map(of).flatten().collect()
}
