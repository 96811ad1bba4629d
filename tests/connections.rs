//! `KafkaConnection`: the way of groups to a real broker with TLS and a login, and what its rules allow them.

use copartition::kafka::{Use, least};
use serde_json::{Value, json};

use crate::env::process::guarded;
use crate::env::secure::{Listener, password};
use crate::env::{Env, Operator, OperatorOptions, SecureKafka, text, unique, wait_for};
use crate::group::{DEADLINE, Group, condition, spec};
use crate::kafka::release;
use crate::scene::names;
use crate::seen;

/// A namespace with an operator of its own, whose Secrets lie there too, and a connection.
struct Place<'a> {
    env: &'a Env,
    namespace: String,
    connection: String,
    operator: Operator,
}

impl<'a> Place<'a> {
    fn new(env: &'a Env, prefix: &str) -> Self {
        Self::with(env, prefix, &[])
    }

    fn with(env: &'a Env, prefix: &str, args: &[&str]) -> Self {
        let namespace = env.namespace(prefix);
        let operator = seen::operator(env, &namespace, args);
        Place {
            env,
            connection: unique(prefix),
            namespace,
            operator,
        }
    }

    /// One whose operator may read everything: what the role of the example leaves to who wants it.
    fn admin(env: &'a Env, prefix: &str) -> Self {
        let namespace = env.namespace(prefix);
        let options = OperatorOptions {
            namespaces: vec![namespace.clone()],
            ..OperatorOptions::default()
        };
        Place {
            env,
            connection: unique(prefix),
            operator: Operator::start(&env.kube, options),
            namespace,
        }
    }

    /// Applies the connection with this spec.
    fn connect(&self, spec: &Value) {
        self.env.kube.apply_ok(
            &json!({
                "apiVersion": "copartition.dev/v1alpha1",
                "kind": "KafkaConnection",
                "metadata": {"name": self.connection},
                "spec": spec,
            })
            .to_string(),
        );
    }

    fn secret(&self, name: &str, data: &Value) {
        self.object("Secret", name, &json!({"stringData": data}));
    }

    fn object(&self, kind: &str, name: &str, more: &Value) {
        let mut object = json!({
            "apiVersion": "v1",
            "kind": kind,
            "metadata": {"name": name, "namespace": self.namespace},
        });
        let fields = object.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("fields").clone());
        self.env.kube.apply_ok(&object.to_string());
    }

    /// What anna needs to log in with SCRAM-SHA-512 on the broker's listener.
    fn anna(&self, kafka: &SecureKafka) -> Value {
        allow_anna(kafka);
        self.login(kafka, "anna", "SCRAM-SHA-512")
    }

    fn login(&self, kafka: &SecureKafka, user: &str, mechanism: &str) -> Value {
        let ca = json!({"data": {"ca.crt": kafka.authority.certificate()}});
        self.object("ConfigMap", "kafka-ca", &ca);
        self.secret("anna", &json!({"user": user, "password": password(user)}));
        json!({
            "bootstrapServers": [kafka.address(Listener::Login)],
            "tls": {"caRef": {"kind": "ConfigMap", "name": "kafka-ca", "key": "ca.crt"}},
            "sasl": {
                "mechanism": mechanism,
                "usernameRef": {"name": "anna", "key": "user"},
                "passwordRef": {"name": "anna", "key": "password"},
            },
            "timeouts": {"request": "5s"},
            "rules": [self.everything()],
        })
    }

    /// A rule that allows this namespace everything.
    fn everything(&self) -> Value {
        let all = json!([{"pattern": ".*"}]);
        json!({"namespaces": {"names": [self.namespace]}, "manage": all, "sample": all})
    }

    fn group(&self, name: &str) -> Group<'a> {
        Group::new(&self.env.kube, &self.namespace, name)
    }

    /// A spec that goes by the connection.
    fn spec(&self, topics: &[&str]) -> Value {
        let mut spec = spec("", 6, topics);
        spec["kafka"] = json!({"connectionRef": {"name": self.connection}});
        spec
    }

    fn status(&self) -> Value {
        let connection = self
            .env
            .kube
            .get_json(&["kafkaconnection", &self.connection]);
        connection["status"].clone()
    }

    /// Waits until a condition of the connection has this status and reason.
    fn wait_for(&self, kind: &str, status: &str, reason: &str) -> String {
        let what = format!("{kind}={status}/{reason} of {}", self.connection);
        wait_for(&what, DEADLINE, || {
            let live = self.status();
            let found = condition(&live, kind);
            if found["status"] == status && found["reason"] == reason {
                Ok(found["message"].as_str().unwrap_or_default().to_owned())
            } else {
                Err(live.to_string())
            }
        })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let _ = self.env.kube.kubectl(&[
            "delete",
            "kafkaconnection",
            &self.connection,
            "--ignore-not-found",
        ]);
    }
}

/// What a wait wants to know: whether it is over, and what was seen.
fn told(over: bool, seen: String) -> Result<(), String> {
    if over { Ok(()) } else { Err(seen) }
}

/// What the operator needs on all topics, and no more: every test here runs it with the least set of rights.
fn allow_anna(kafka: &SecureKafka) {
    let needed = [Use::Manage, Use::Sample].into_iter().flat_map(least);
    let operations: Vec<String> = needed
        .flat_map(|operation| ["--operation".to_owned(), operation.tool_name()])
        .collect();
    let mut args = vec!["--add", "--topic", "*", "--allow-principal", "User:anna"];
    args.extend(operations.iter().map(String::as_str));
    kafka
        .kafka
        .tool_ok("org.apache.kafka.tools.AclCommand", &args);
}

pub(crate) fn a_group_works_through_a_connection_and_no_secret_shows(env: &Env) {
    let kafka = env.secure();
    let place = Place::new(env, "secured");
    let mut connection = place.anna(kafka);
    connection["aliases"] =
        json!([{"kind": "Strimzi", "namespace": "kafka", "name": place.connection}]);
    place.connect(&connection);
    let [topic] = names(["updates"]);
    let group = place.group("market-data");
    let mut asked = place.spec(&[&topic]);
    asked["verification"] = json!({});
    group.apply(&asked);
    group.wait_ready();
    let message = place.wait_for("Ready", "True", "Reachable");
    assert!(message.contains(kafka.kafka.id()), "{message}");
    assert_eq!(place.status()["clusterId"], kafka.kafka.id());
    assert_eq!(place.status()["brokerVersion"], release());
    assert_eq!(place.status()["missingPermissions"], Value::Null);
    group.wait_for("KeysVerified", "Unknown", "NoRecords");
    assert_eq!(kafka.kafka.partitions(&topic), Some(6));
    asked["partitions"] = json!(8);
    group.apply(&asked);
    group.wait_ready();
    assert_eq!(kafka.kafka.partitions(&topic), Some(8));
    // What admission policies go by.
    let claim = group.claim().expect("a claim");
    assert_eq!(claim["spec"]["aliases"], connection["aliases"], "{claim}");
    assert_eq!(claim["metadata"]["labels"]["copartition.dev/guard"], "true");

    let kube = &env.kube;
    let events = kube.kubectl_ok(&["get", "events", "-n", &place.namespace, "-o", "yaml"]);
    for (what, text) in [
        ("events", events),
        ("log", place.operator.log()),
        ("metrics", place.operator.metrics()),
        ("connection", place.status().to_string()),
        ("group", group.get().to_string()),
        ("claim", claim.to_string()),
    ] {
        assert!(
            !text.contains(&password("anna")),
            "the password is in the {what}"
        );
        assert!(
            !text.contains("BEGIN CERTIFICATE"),
            "the CA is in the {what}"
        );
    }
}

pub(crate) fn what_no_rule_allows_is_refused_and_what_stood_is_kept(env: &Env) {
    let kafka = env.secure();
    let place = Place::new(env, "rules");
    let [mine, theirs] = names(["mine", "theirs"]);
    let mut connection = place.anna(kafka);
    let rule =
        |manage: Value| json!({"namespaces": {"names": [place.namespace]}, "manage": manage});
    connection["rules"] = json!([rule(json!([{"name": mine}]))]);
    place.connect(&connection);
    kafka.kafka.create_topic(&theirs, 3);
    let standing = place.group("standing");
    standing.apply(&place.spec(&[&mine]));
    standing.wait_ready();

    // Other topics, other uses.
    let other = place.group("other");
    other.apply(&place.spec(&[&theirs]));
    let message = other.wait_for("Accepted", "False", "NotPermitted");
    let may_not = format!("may not manage {theirs}");
    for part in [may_not.as_str(), &place.connection, "ask the platform team"] {
        assert!(message.contains(part), "no {part} in {message}");
    }
    other.wait_for("PartitionsAligned", "Unknown", "NotPermitted");
    other.wait_for("Stalled", "True", "ActionNeeded");
    let status = other.status();
    assert_eq!(
        status["topics"],
        Value::Null,
        "nothing is read for it: {status}"
    );
    assert_eq!(other.claim(), None);
    assert_eq!(kafka.kafka.partitions(&theirs), Some(3));
    let mut sampled = place.spec(&[&mine]);
    sampled["verification"] = json!({});
    standing.apply(&sampled);
    let message = standing.wait_for("Accepted", "False", "NotPermitted");
    assert!(
        message.contains(&format!("may not sample {mine}")),
        "{message}"
    );

    // One that stood before keeps its claim, and heals with the rule.
    let claim = standing.claim().expect("it keeps its claim");
    assert_eq!(claim["spec"]["holds"][0]["name"], mine.as_str());
    let mut all = rule(json!([{"name": mine}, {"prefix": "theirs"}]));
    all["sample"] = json!([{"name": mine}]);
    connection["rules"] = json!([all]);
    place.connect(&connection);
    standing.wait_ready();
    // The topic is there with another count: that is for the group's author now.
    other.wait_for("Accepted", "True", "Accepted");
    connection.as_object_mut().expect("a spec").remove("rules");
    place.connect(&connection);
    other.wait_for("Accepted", "False", "NotPermitted");
    standing.wait_for("PartitionsAligned", "Unknown", "NotPermitted");
}

pub(crate) fn consumer_groups_need_a_rule_and_a_right(env: &Env) {
    let kafka = env.secure();
    let place = Place::new(env, "consumers");
    let [topic] = names(["mine"]);
    let app = unique("app");
    let mut connection = place.anna(kafka);
    place.connect(&connection);
    let group = place.group("watched");
    let mut asked = place.spec(&[&topic]);
    asked["consumerGroups"] = json!([{"groupId": app}]);
    group.apply(&asked);
    let message = group.wait_for("Accepted", "False", "NotPermitted");
    let words = format!("may not read the consumer groups {app}");
    assert!(message.contains(&words), "{message}");

    let mut rule = place.everything();
    rule["consumerGroups"] = json!([{"groupId": app}]);
    connection["rules"] = json!([rule]);
    place.connect(&connection);
    group.wait_ready();
    let message = group.wait_for("ConsumersColocated", "Unknown", "GroupNotAuthorized");
    assert!(message.contains("DESCRIBE"), "{message}");
    assert!(message.contains(&app), "{message}");
    let missing = |listed: Value| {
        wait_for("the missing rights", DEADLINE, || {
            let status = place.status();
            told(status["missingPermissions"] == listed, status.to_string())
        });
    };
    missing(json!([format!("DESCRIBE on group {app}")]));
    kafka.allow_group("anna", &app);
    group.wait_for("ConsumersColocated", "Unknown", "GroupMissing");
    missing(Value::Null);
}

pub(crate) fn missing_rights_are_listed(env: &Env) {
    let kafka = env.secure();
    let place = Place::new(env, "rights");
    place.connect(&place.login(kafka, "no-alter", "PLAIN"));
    let [topic] = names(["rights"]);
    for operation in ["Create", "AlterConfigs", "Read"] {
        kafka.allow(&["no-alter"], operation, "rights");
    }
    let group = place.group("market-data");
    let mut asked = place.spec(&[&topic]);
    group.apply(&asked);
    group.wait_ready();
    let missing = json!([format!("ALTER on topic {topic}")]);
    wait_for("the missing right", DEADLINE, || {
        let status = place.status();
        told(status["missingPermissions"] == missing, status.to_string())
    });
    asked["partitions"] = json!(8);
    group.apply(&asked);
    let message = group.wait_for("PartitionsAligned", "False", "GrowthRejected");
    for part in ["ALTER", topic.as_str()] {
        assert!(message.contains(part), "no {part} in {message}");
    }
}

pub(crate) fn namespaces_may_be_named_by_label(env: &Env) {
    let kafka = env.secure();
    let place = Place::admin(env, "labels");
    let mut connection = place.anna(kafka);
    connection["rules"] = json!([{
        "namespaces": {"selector": {"matchLabels": {"team": "trading"}}},
        "manage": [{"pattern": "[a-z0-9-]+"}],
    }]);
    place.connect(&connection);
    let [topic] = names(["labelled"]);
    let group = place.group("market-data");
    group.apply(&place.spec(&[&topic]));
    group.wait_for("Accepted", "False", "NotPermitted");
    env.kube
        .kubectl_ok(&["label", "namespace", &place.namespace, "team=trading"]);
    // Labels are looked at every half minute: an edit of the connection does not wait for that.
    wait_for("the label to be seen", 3 * DEADLINE, || {
        let status = group.status();
        told(
            condition(&status, "Ready")["status"] == "True",
            status.to_string(),
        )
    });
}

pub(crate) fn what_is_missing_is_named_and_taken_up_when_it_comes(env: &Env) {
    let kafka = env.secure();
    let place = Place::new(env, "missing");
    let [topic] = names(["updates"]);
    let group = place.group("market-data");
    group.apply(&place.spec(&[&topic]));
    let message = group.wait_for("Accepted", "False", "ConnectionNotFound");
    assert!(message.contains(&place.connection), "{message}");
    let connection = place.anna(kafka);
    env.kube
        .kubectl_ok(&["delete", "secret", "anna", "-n", &place.namespace]);
    place.connect(&connection);
    let message = group.wait_for("Accepted", "False", "SecretNotFound");
    let named = format!("sasl.usernameRef: wanted Secret {}/anna", place.namespace);
    assert!(message.contains(&named), "{message}");
    place.wait_for("Ready", "False", "SecretNotFound");
    place.secret("anna", &json!({"user": "anna", "passwort": "x"}));
    let message = place.wait_for("Ready", "False", "SecretNotFound");
    wait_for("the key to be named", DEADLINE, || {
        let message = place.wait_for("Ready", "False", "SecretNotFound");
        let named = "wanted the key password in Secret";
        told(
            message.contains(named) && message.contains("seen passwort, user"),
            message,
        )
    });
    assert!(!message.contains(&password("anna")), "{message}");
    place.secret(
        "anna",
        &json!({"user": "anna", "password": password("anna")}),
    );
    group.wait_ready();
    place.wait_for("Ready", "True", "Reachable");
    // It goes again: the group keeps what it has.
    let claim = group.claim().expect("a claim");
    env.kube
        .kubectl_ok(&["delete", "kafkaconnection", &place.connection]);
    group.wait_for("Accepted", "False", "ConnectionNotFound");
    assert_eq!(group.claim().expect("a claim")["spec"], claim["spec"]);
    place.connect(&connection);
    group.wait_ready();
    // What this binary is not built for is as if it were not there.
    let mut msk = connection.clone();
    msk["sasl"] = json!({"mechanism": "AWS_MSK_IAM"});
    place.connect(&msk);
    let message = place.wait_for("Accepted", "False", "InvalidSpec");
    assert!(
        message.contains("built with the cargo feature aws-msk-iam"),
        "{message}"
    );
    assert_eq!(group.claim().expect("a claim")["spec"], claim["spec"]);
}

pub(crate) fn a_wrong_password_is_named_and_a_new_one_taken_up(env: &Env) {
    let kafka = env.secure();
    let place = Place::new(env, "password");
    let connection = place.anna(kafka);
    place.connect(&connection);
    let [topic] = names(["updates"]);
    let group = place.group("market-data");
    group.apply(&place.spec(&[&topic]));
    group.wait_ready();
    place.secret("anna", &json!({"user": "anna", "password": "wrong-word"}));
    // It is seen within half a minute, and the earlier connection serves for a minute more: a Secret may well be
    // changed before the broker.
    wait_for("the wrong password to be named", 4 * DEADLINE, || {
        let status = place.status();
        let found = condition(&status, "KafkaReachable");
        told(
            found["reason"] == "AuthenticationFailed",
            status.to_string(),
        )
    });
    group.wait_for("KafkaReachable", "False", "AuthenticationFailed");
    // An outage alone does not flip it.
    assert_eq!(condition(&group.status(), "Ready")["status"], "True");
    place.secret(
        "anna",
        &json!({"user": "anna", "password": password("anna")}),
    );
    group.wait_for("KafkaReachable", "True", "Reachable");
    place.wait_for("Ready", "True", "Reachable");
    let log = place.operator.log();
    assert!(!log.contains("wrong-word"), "{log}");
    let ca = json!({"data": {"ca.crt": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}});
    place.object("ConfigMap", "kafka-ca", &ca);
    let message = place.wait_for("Accepted", "False", "InvalidSpec");
    assert!(message.contains("part 1 of the CA"), "{message}");
}

pub(crate) fn inline_connections_need_permission_and_their_own_secrets(env: &Env) {
    let kafka = env.secure();
    let address = kafka.address(Listener::Login);
    let inline = |servers: Value, kind: &str| {
        json!({"inline": {
            "bootstrapServers": servers,
            "tls": {"caRef": {"kind": kind, "name": "kafka-ca", "key": "ca.crt"}},
            "sasl": {
                "mechanism": "PLAIN",
                "usernameRef": {"name": "anna", "key": "user"},
                "passwordRef": {"name": "anna", "key": "password"},
            },
        }})
    };
    let place = Place::with(env, "inline", &["--inline-connections", &address]);
    place.anna(kafka);
    let [topic] = names(["updates"]);
    let group = place.group("market-data");
    let mut asked = place.spec(&[&topic]);
    for (servers, named) in [
        (
            json!(["127.0.0.1:1"]),
            "127.0.0.1:1 is not among the addresses",
        ),
        (
            json!([address, "169.254.169.254:80"]),
            "169.254.169.254:80 is not among",
        ),
    ] {
        asked["kafka"] = inline(servers, "ConfigMap");
        group.apply(&asked);
        let message = group.wait_for("Accepted", "False", "NotPermitted");
        assert!(message.contains(named), "{message}");
    }
    asked["kafka"] = inline(json!([address]), "ConfigMap");
    asked["kafka"]["inline"]["sasl"] = json!({
        "mechanism": "OAUTHBEARER",
        "oauth": {"tokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token"},
    });
    group.apply(&asked);
    let message = group.wait_for("Accepted", "False", "NotPermitted");
    assert!(message.contains("token file"), "{message}");
    asked["kafka"]["inline"]["sasl"] = json!({"mechanism": "AWS_MSK_IAM"});
    group.apply(&asked);
    wait_for(
        "the operator's own identity to be refused",
        DEADLINE,
        || {
            let message = group.wait_for("Accepted", "False", "NotPermitted");
            told(message.contains("the operator's AWS identity"), message)
        },
    );
    asked["kafka"] = inline(json!([address]), "ConfigMap");
    group.apply(&asked);
    group.wait_ready();

    // This installation allows another address only.
    let off = Place::with(
        env,
        "off",
        &["--inline-connections", "nowhere.example:9092"],
    );
    let refused = off.group("market-data");
    refused.apply(&spec(&env.kafka.bootstrap(), 6, &[&topic]));
    let message = refused.wait_for("Accepted", "False", "NotPermitted");
    assert!(message.contains("--inline-connections"), "{message}");
}

pub(crate) fn a_strimzi_cluster_gives_address_ca_and_user(env: &Env) {
    let kafka = env.secure();
    install_strimzi(env);
    let place = Place::admin(env, "strimzi");
    place.anna(kafka);
    place.secret("anna", &json!({"password": password("anna")}));
    let resource = |status: Value| {
        let object = json!({
            "apiVersion": "kafka.strimzi.io/v1",
            "kind": "Kafka",
            "metadata": {"name": "my-cluster", "namespace": place.namespace},
            "spec": {"kafka": {"listeners": [
                {"name": "tls", "tls": true, "authentication": {"type": "scram-sha-512"}},
            ]}},
            "status": status,
        });
        env.kube.apply_ok(&object.to_string());
    };
    resource(json!({}));
    place.connect(&json!({
        "strimzi": {"namespace": place.namespace, "name": "my-cluster", "listener": "tls", "user": "anna"},
        "rules": [place.everything()],
    }));
    let [topic] = names(["updates"]);
    let group = place.group("market-data");
    group.apply(&place.spec(&[&topic]));
    let message = group.wait_for("Accepted", "False", "SecretNotFound");
    assert!(
        message.contains("has no listener tls in its status"),
        "{message}"
    );
    resource(json!({"listeners": [{
        "name": "tls",
        "bootstrapServers": kafka.address(Listener::Login),
        "certificates": [kafka.authority.certificate()],
    }]}));
    // It was there, so it is looked at again every half minute.
    wait_for("the listener to be seen", 3 * DEADLINE, || {
        let status = group.status();
        told(
            condition(&status, "Ready")["status"] == "True",
            status.to_string(),
        )
    });
    let claim = group.claim().expect("a claim");
    let own = json!([{"kind": "Strimzi", "namespace": place.namespace, "name": "my-cluster"}]);
    assert_eq!(claim["spec"]["aliases"], own);
}

/// The part of Strimzi's definition that matters here.
fn install_strimzi(env: &Env) {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "kafkas.kafka.strimzi.io"},
        "spec": {
            "group": "kafka.strimzi.io",
            "names": {"kind": "Kafka", "plural": "kafkas", "singular": "kafka"},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": open, "status": open},
                }},
            }],
        },
    });
    env.kube.apply_ok(&definition.to_string());
    let wait = ["wait", "--for=condition=Established", "--timeout=60s"];
    let established = env
        .kube
        .kubectl(&[&wait[..], &["crd/kafkas.kafka.strimzi.io"]].concat());
    assert!(established.status.success(), "{}", text(&established));
}

/// Without Kubernetes: the file that Kafka's own tools take.
pub(crate) fn a_pipeline_takes_the_properties_of_kafkas_tools(env: &Env) {
    let kafka = env.secure();
    allow_anna(kafka);
    let [topic] = names(["pipeline"]);
    let file = |name: &str, text: &str| {
        let path = env.root().join(unique(name));
        std::fs::write(&path, text).expect("cannot write a file");
        path.display().to_string()
    };
    let ca = file("ca.pem", &kafka.authority.certificate());
    let address = kafka.address(Listener::Login);
    let properties = |password: &str| {
        format!(
            "bootstrap.servers={address}\nsecurity.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-256\n\
             sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n  username=\"anna\" password=\"{password}\";\n\
             ssl.truststore.type=PEM\nssl.truststore.location={ca}\n"
        )
    };
    let good = file("client.properties", &properties(&password("anna")));
    let mut asked = spec("", 6, &[&topic]);
    asked["kafka"] = json!({"connectionRef": {"name": "prod"}});
    let group = json!({
        "apiVersion": "copartition.dev/v1alpha1",
        "kind": "CoPartitionedTopicGroup",
        "metadata": {"name": "market-data", "namespace": "trading"},
        "spec": asked,
    });
    let manifest = file("group.json", &group.to_string());
    let reconcile = |more: &[&str]| {
        let mut command = guarded(env!("CARGO_BIN_EXE_copartition-operator"));
        command.args(["reconcile", "-f", &manifest]).args(more);
        command.output().expect("cannot run the operator")
    };
    // Kafka's own tool takes it.
    let mut tool = guarded(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/env/kafka-tool"));
    tool.args(["org.apache.kafka.tools.TopicCommand", "--list"])
        .args(["--bootstrap-server", &address, "--command-config", &good]);
    let listed = tool.output().expect("cannot run Kafka's tool");
    assert!(listed.status.success(), "{}", text(&listed));
    let without = reconcile(&[]);
    assert_eq!(without.status.code(), Some(1), "{}", text(&without));
    assert!(
        text(&without).contains("--command-config"),
        "{}",
        text(&without)
    );
    let wrong = file("wrong.properties", &properties("geheimes-wort"));
    let refused = reconcile(&["--command-config", &wrong]);
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused));
    assert!(
        text(&refused).contains("AuthenticationFailed"),
        "{}",
        text(&refused)
    );
    assert!(
        !text(&refused).contains("geheimes-wort"),
        "{}",
        text(&refused)
    );
    let done = reconcile(&["--command-config", &good]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    assert_eq!(kafka.kafka.partitions(&topic), Some(6));

    let mut verify = guarded(env!("CARGO_BIN_EXE_kubectl-copartition"));
    verify.args(["verify", "-f", &manifest, "--command-config", &good]);
    let verified = verify.output().expect("cannot run the plugin");
    assert_eq!(verified.status.code(), Some(0), "{}", text(&verified));
    assert!(text(&verified).contains("NoRecords"), "{}", text(&verified));
}

/// The Secret is changed, then the broker: the earlier connection serves until then, and is gone after a minute.
pub(crate) fn a_rotated_password_is_no_outage(env: &Env) {
    let kafka = env.secure();
    let user = unique("rita");
    kafka.replace_password(&user, &password(&user));
    for operation in ["Create", "Alter", "AlterConfigs"] {
        kafka.allow(&[&user], operation, "rotation");
    }
    let place = Place::new(env, "rotation");
    place.connect(&place.login(kafka, &user, "SCRAM-SHA-512"));
    let [topic] = names(["rotation"]);
    let group = place.group("market-data");
    let mut asked = place.spec(&[&topic]);
    group.apply(&asked);
    group.wait_ready();
    let since = || condition(&group.status(), "KafkaReachable")["lastTransitionTime"].clone();
    let before = since();
    place.secret("anna", &json!({"user": user, "password": "second-word"}));
    seen::wait_polls(&place.operator, 10);
    kafka.replace_password(&user, "second-word");
    // Half a minute until the Secret is read again, and a minute more: what answers after that is the new connection.
    for _ in 0..4 {
        seen::wait_polls(&place.operator, 60);
    }
    group.wait_for("KafkaReachable", "True", "Reachable");
    assert_eq!(since(), before, "{}", group.status());
    asked["partitions"] = json!(8);
    group.apply(&asked);
    group.wait_ready();
    assert_eq!(kafka.kafka.partitions(&topic), Some(8));
}
