//! `alterLock: Deny` on real brokers with Kafka's own authorizer: what it keeps off, how the operator grows under it, and
//! that no other ACL is ever touched.

use std::sync::Arc;

use copartition::kafka::{Client, ConnectionSettings, WriteGuard};
use serde_json::{Value, json};

use crate::env::process::guarded;
use crate::env::secure::{Listener, acls, password};
use crate::env::{
    ControlPlane, Env, KafkaCluster, KafkaOptions, Operator, OperatorOptions, SecureKafka, script,
    text, unique, wait_for,
};
use crate::group::{DEADLINE, Group, consent, spec, topic_status};

/// A namespace with an operator that logs in as `locker`, who may edit ACLs and is no super user.
struct Guarded<'a> {
    kube: &'a ControlPlane,
    secure: &'a SecureKafka,
    namespace: String,
    /// The name of the KafkaConnection, and what names of topics begin with.
    prefix: String,
    operator: Option<Operator>,
}

impl<'a> Guarded<'a> {
    fn new(env: &'a Env) -> Self {
        let (secure, prefix) = (env.secure(), unique("guarded"));
        for operation in ["Create", "Alter", "AlterConfigs"] {
            secure.allow(&["locker", "hurried"], operation, &prefix);
        }
        secure.allow_on_cluster("locker", &["Alter", "DescribeConfigs"]);
        Self::on(&env.kube, secure, prefix)
    }

    /// The same in a Kubernetes of its own.
    fn on(kube: &'a ControlPlane, secure: &'a SecureKafka, prefix: String) -> Self {
        let namespace = unique("guarded");
        kube.kubectl_ok(&["create", "namespace", &namespace]);
        let mut scene = Self {
            kube,
            secure,
            namespace,
            operator: None,
            prefix,
        };
        connect(kube, &scene.prefix, &scene.namespace, &scene.way());
        let ca = json!({"ca.crt": secure.authority.certificate()});
        scene.object("ConfigMap", "kafka-ca", &json!({"data": ca}));
        let login = json!({"user": "locker", "password": password("locker")});
        scene.object("Secret", "locker", &json!({"stringData": login}));
        scene.start();
        scene
    }

    /// As `locker`.
    fn way(&self) -> Value {
        json!({
            "bootstrapServers": [self.secure.address(Listener::Login)],
            "tls": {"caRef": {"kind": "ConfigMap", "name": "kafka-ca", "key": "ca.crt"}},
            "sasl": {
                "mechanism": "PLAIN",
                "usernameRef": {"name": "locker", "key": "user"},
                "passwordRef": {"name": "locker", "key": "password"},
            },
        })
    }

    fn object(&self, kind: &str, name: &str, more: &Value) {
        let mut object = json!({
            "apiVersion": "v1",
            "kind": kind,
            "metadata": {"name": name, "namespace": self.namespace},
        });
        let fields = object.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("fields").clone());
        self.kube.apply_ok(&object.to_string());
    }

    /// Starts the operator, or another one. Locks are looked at every six seconds.
    fn start(&mut self) {
        self.operator = Some(start(self.kube, &self.namespace));
    }

    fn kill(&mut self) {
        self.operator = None;
    }

    fn topics<const N: usize>(&self, names: [&str; N]) -> [String; N] {
        names.map(|name| format!("{}.{name}", self.prefix))
    }

    fn group(&self, name: &str) -> Group<'a> {
        Group::new(self.kube, &self.namespace, name)
    }

    fn spec(&self, partitions: i32, topics: &[&str]) -> Value {
        locked_spec(&self.prefix, partitions, topics)
    }

    /// All ACLs on the topics of this scene.
    fn acls(&self) -> Vec<String> {
        self.secure.acls(&self.prefix)
    }

    fn wait_for_acls(&self, what: &str, wanted: &[String]) {
        wait_for(what, DEADLINE, || match self.acls() {
            now if now == wanted => Ok(()),
            now => Err(format!("{now:#?}")),
        });
    }

    /// The lock of a topic, set or taken away with Kafka's own tool.
    fn by_hand(&self, verb: &str, topic: &str) {
        let mut args = vec![verb, "--topic", topic, "--operation", "Alter"];
        args.extend(["--deny-principal", "User:*"]);
        if verb == "--remove" {
            args.push("--force");
        }
        let tool = "org.apache.kafka.tools.AclCommand";
        self.secure.kafka.tool_ok(tool, &args);
    }

    /// How many requests for ACLs of this kind the operator's binary has sent.
    fn asked(&self, api: &str) -> usize {
        self.secure.kafka.flush_request_log();
        let requests = self.secure.kafka.requests(api, "copartition-operator");
        let ours = requests
            .iter()
            .filter(|logged| logged.entry["request"].to_string().contains(&self.prefix));
        ours.count()
    }
}

fn connect(kube: &ControlPlane, name: &str, namespace: &str, way: &Value) {
    let all = json!([{"pattern": ".*"}]);
    let rule = json!({"namespaces": {"names": [namespace]}, "manage": all});
    let mut spec = json!({"timeouts": {"request": "5s"}, "rules": [rule]});
    let fields = spec.as_object_mut().expect("an object");
    fields.extend(way.as_object().expect("fields").clone());
    kube.apply_ok(
        &json!({
            "apiVersion": "copartition.dev/v1alpha1",
            "kind": "KafkaConnection",
            "metadata": {"name": name},
            "spec": spec,
        })
        .to_string(),
    );
}

fn start(kube: &ControlPlane, namespace: &str) -> Operator {
    let options = OperatorOptions {
        namespaces: vec![namespace.to_owned()],
        args: vec!["--claim-retention".to_owned(), "1s".to_owned()],
        ..OperatorOptions::default()
    };
    Operator::start(kube, options)
}

fn locked_spec(connection: &str, partitions: i32, topics: &[&str]) -> Value {
    let mut spec = spec("", partitions, topics);
    spec["kafka"] = json!({"connectionRef": {"name": connection}});
    spec["alterLock"] = json!("Deny");
    spec
}

/// As Kafka's tool lists the lock of a topic.
fn lock(topic: &str) -> String {
    format!(
        "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name={topic}, patternType=LITERAL)`: \
         (principal=User:*, host=*, operation=ALTER, permissionType=DENY)"
    )
}

/// ACLs, with the locks of these topics among them.
pub(crate) fn with_locks(before: &[String], topics: &[&str]) -> Vec<String> {
    let locks = topics.iter().map(|topic| lock(topic));
    let mut all: Vec<String> = before.iter().cloned().chain(locks).collect();
    all.sort();
    all
}

/// The topics of the locks in a claim.
fn remembered(group: &Group<'_>) -> Vec<String> {
    let claim = group.claim().expect("a claim");
    let locks = claim["spec"]["locks"].as_array().cloned();
    let locks = locks.unwrap_or_default();
    let topics = locks.iter().filter_map(|lock| lock["topic"].as_str());
    topics.map(ToOwned::to_owned).collect()
}

fn wait_collected(group: &Group<'_>) {
    wait_for("the claim to be collected", DEADLINE, || {
        match group.claim() {
            None => Ok(()),
            Some(claim) => Err(claim.to_string()),
        }
    });
}

pub(crate) fn whoever_is_no_super_user_adds_no_partition(env: &Env) {
    let scene = Guarded::new(env);
    let before = scene.acls();
    let [one, two] = scene.topics(["one", "two"]);
    let group = scene.group("market-data");
    group.apply(&scene.spec(6, &[&one, &two]));
    let said = group.wait_for("Locked", "True", "Locked");
    assert!(said.contains("nobody but super users"), "{said}");
    group.wait_ready();
    assert_eq!(scene.acls(), with_locks(&before, &[&one, &two]));
    assert_eq!(remembered(&group), [one.clone(), two.clone()]);

    // Somebody in a hurry, who has ALTER on these topics.
    let kafka = &scene.secure.kafka;
    let properties = format!("{}/hurried.properties", env.root().display());
    let ca = format!("{}/hurried-ca.pem", env.root().display());
    std::fs::write(&ca, scene.secure.authority.certificate()).expect("a CA");
    let login = format!(
        "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nssl.truststore.type=PEM\nssl.truststore.location={ca}\n\
         sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username=\"hurried\" password=\"{}\";\n",
        password("hurried")
    );
    std::fs::write(&properties, login).expect("properties");
    let address = scene.secure.address(Listener::Login);
    let attack = |client: &str, topic: &str| {
        let mut command = match client {
            "kafka-topics.sh" => {
                let mut command = guarded(script("kafka-tool"));
                command.args([
                    "org.apache.kafka.tools.TopicCommand",
                    "--bootstrap-server",
                    &address,
                ]);
                command.args(["--command-config", &properties, "--alter", "--topic", topic]);
                command.args(["--partitions", "8"]);
                command
            }
            client => {
                let mut command = guarded(script("../clients/alter"));
                command.args([client, &address, &properties, topic, "8"]);
                command
            }
        };
        command.output().expect("it runs")
    };
    for client in ["kafka-topics.sh", "java", "kafkajs"] {
        let output = attack(client, &one);
        let said = text(&output);
        assert!(!output.status.success(), "{client}: {said}");
        let denied = ["authoriz", "AUTHORIZATION"]
            .iter()
            .any(|it| said.contains(it));
        assert!(denied, "{client}: {said}");
        assert_eq!(kafka.partitions(&one), Some(6), "{client}");
    }
    // A super user is not held up; that is seen and said, and the lock stays.
    kafka.grow_topic(&one, 8);
    group.wait_for("PartitionsAligned", "False", "PartitionDrift");
    group.wait_for("Locked", "True", "Locked");
    assert_eq!(scene.acls(), with_locks(&before, &[&one, &two]));

    // With the group goes its lock, and nothing else.
    group.delete();
    wait_collected(&group);
    assert_eq!(scene.acls(), before);
    let grown = attack("kafkajs", &two);
    assert!(grown.status.success(), "{}", text(&grown));
    assert_eq!(kafka.partitions(&two), Some(8));
}

pub(crate) fn a_growth_lifts_the_lock_and_puts_it_back(env: &Env) {
    let scene = Guarded::new(env);
    let before = scene.acls();
    let [one, two, new] = scene.topics(["one", "two", "new"]);
    let group = scene.group("market-data");
    let mut wanted = scene.spec(3, &[&one, &two]);
    group.apply(&wanted);
    group.wait_for("Locked", "True", "Locked");
    for topic in [&one, &two] {
        scene.secure.kafka.produce(topic, &[("BBCA", "1")]);
    }
    assert_eq!(scene.asked("DELETE_ACLS"), 0);
    wanted["partitions"] = json!(4);
    wanted["acceptKeyMovement"] = consent(&[&one, &two], 3, 4);
    group.apply(&wanted);
    group.wait_ready();
    group.wait_for("Locked", "True", "Locked");
    for topic in [&one, &two] {
        assert_eq!(scene.secure.kafka.partitions(topic), Some(4));
    }
    assert_eq!(scene.acls(), with_locks(&before, &[&one, &two]));
    assert_eq!(scene.asked("DELETE_ACLS"), 1, "both at once");
    // One for the first locks, one to put them back.
    assert_eq!(scene.asked("CREATE_ACLS"), 2);

    // A topic that is created is locked too; one that leaves is not any more, and then it is released.
    let topics = json!([{"name": one}, {"name": new}]);
    wanted["topics"] = topics;
    wanted
        .as_object_mut()
        .expect("a spec")
        .remove("acceptKeyMovement");
    group.apply(&wanted);
    group.wait_ready();
    group.wait_for("Locked", "True", "Locked");
    scene.wait_for_acls(
        "the lock of the new topic only",
        &with_locks(&before, &[&one, &new]),
    );
    assert_eq!(topic_status(&group.status(), &new)["partitions"], 4);

    // Deleted and created again with another count: the records hold it, and the lock stands.
    group.delete();
    let mut other = wanted.clone();
    other["partitions"] = json!(5);
    group.apply(&other);
    group.wait_for("PartitionsAligned", "False", "GrowthBlocked");
    group.wait_for("Locked", "True", "Locked");
    scene.wait_for_acls("both locks", &with_locks(&before, &[&one, &new]));
    group.delete();
    wait_collected(&group);
    assert_eq!(scene.acls(), before);
    group.apply(&wanted);
    group.wait_ready();
    group.wait_for("Locked", "True", "Locked");

    // Nothing more is written, however often it is looked at.
    let (version, claim) = (group.resource_version(), group.claim());
    let writes = || scene.asked("CREATE_ACLS") + scene.asked("DELETE_ACLS");
    let written = writes();
    let looks = || {
        scene
            .secure
            .kafka
            .requests("DESCRIBE_ACLS", "copartition-operator")
            .len()
    };
    let begin = looks();
    wait_for("two more looks at the locks", DEADLINE, || {
        match looks() - begin {
            0..2 => Err(String::new()),
            _ => Ok(()),
        }
    });
    assert_eq!(writes(), written);
    assert_eq!((group.resource_version(), group.claim()), (version, claim));

    wanted["mode"] = json!("Observe");
    group.apply(&wanted);
    group.wait_for("Locked", "False", "Off");
    scene.wait_for_acls("no lock", &before);
    wait_for("the topics to be released", DEADLINE, || {
        let claim = group.claim().expect("a claim")["spec"].clone();
        match (&claim["holds"], &claim["locks"]) {
            (Value::Null, Value::Null) => Ok(()),
            _ => Err(claim.to_string()),
        }
    });
}

pub(crate) fn a_crash_while_a_lock_is_lifted_leaves_it_put_back(env: &Env) {
    let mut scene = Guarded::new(env);
    let before = scene.acls();
    let [one, two] = scene.topics(["one", "two"]);
    let group = scene.group("market-data");
    let mut wanted = scene.spec(3, &[&one, &two]);
    group.apply(&wanted);
    group.wait_for("Locked", "True", "Locked");
    for topic in [&one, &two] {
        scene.secure.kafka.produce(topic, &[("BBCA", "1")]);
    }
    scene.kill();
    // As after a crash between the growth of one topic and putting the locks back.
    wanted["partitions"] = json!(4);
    wanted["acceptKeyMovement"] = consent(&[&one, &two], 3, 4);
    group.apply(&wanted);
    let mut claim = group.claim().expect("a claim");
    let mut intents = Vec::new();
    for held in claim["spec"]["holds"].as_array_mut().expect("holds") {
        held["counts"] = json!([3, 4]);
        intents.push(json!({
            "topic": held["name"], "topicId": held["topicId"], "from": 3, "to": 4, "consented": true,
        }));
    }
    claim["spec"]["intents"] = json!(intents);
    let replace = ["replace", "-f", "-"];
    env.kube.kubectl_with_input_ok(&replace, &claim.to_string());
    scene.by_hand("--remove", &one);
    scene.by_hand("--remove", &two);
    scene.secure.kafka.grow_topic(&one, 4);
    scene.start();
    group.wait_ready();
    group.wait_for("Locked", "True", "Locked");
    assert_eq!(scene.secure.kafka.partitions(&two), Some(4));
    assert_eq!(scene.acls(), with_locks(&before, &[&one, &two]));

    // Somebody takes one away: it comes back, and an Event says so.
    scene.by_hand("--remove", &two);
    scene.wait_for_acls("the lock again", &with_locks(&before, &[&one, &two]));
    wait_for("the Event", DEADLINE, || {
        let args = ["events", "-n", &scene.namespace];
        let events = env.kube.get_json(&args)["items"].clone();
        let all = events.as_array().into_iter().flatten();
        let mut restored = all.filter(|event| event["reason"] == "LockRestored");
        if restored.any(|event| event["message"].to_string().contains(&two)) {
            Ok(())
        } else {
            Err(events.to_string())
        }
    });
    group.wait_for("Locked", "True", "Locked");
}

/// Without ALTER of its own, the operator lifts locks in vain and waits a moment: time enough to kill it right there.
pub(crate) fn an_operator_that_is_killed_while_locks_are_lifted_puts_them_back(env: &Env) {
    let mut scene = Guarded::new(env);
    // Else it would see the topic by its ALTER only.
    scene.secure.allow(&["locker"], "Describe", &scene.prefix);
    let before = scene.acls();
    let [one] = scene.topics(["one"]);
    let group = scene.group("market-data");
    let mut wanted = scene.spec(3, &[&one]);
    group.apply(&wanted);
    group.wait_for("Locked", "True", "Locked");
    let kafka = &scene.secure.kafka;
    let own_right = |verb: &str| {
        let mut args = vec![verb, "--resource-pattern-type", "prefixed"];
        args.extend(["--topic", &scene.prefix, "--allow-principal", "User:locker"]);
        args.extend(["--operation", "Alter"]);
        if verb == "--remove" {
            args.push("--force");
        }
        kafka.tool_ok("org.apache.kafka.tools.AclCommand", &args);
    };
    own_right("--remove");
    // Quicker than Kafka's tool.
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let client = {
        let _context = runtime.enter();
        let settings = ConnectionSettings::new([kafka.bootstrap()]);
        Client::connect(&settings, Arc::default(), &WriteGuard::default()).expect("a client")
    };
    let is_locked = || {
        let acls = runtime
            .block_on(client.topic_acls(true))
            .expect("an answer");
        acls.iter().any(|acl| acl.name == one)
    };
    assert!(is_locked());
    wanted["partitions"] = json!(4);
    group.apply(&wanted);
    wait_for("the lock to be lifted", DEADLINE, || {
        if is_locked() {
            Err(String::new())
        } else {
            Ok(())
        }
    });
    scene.operator = None;
    assert!(!is_locked(), "killed in between");
    assert_eq!(remembered(&group), [one.as_str()]);
    scene.secure.allow(&["locker"], "Alter", &scene.prefix);
    scene.start();
    group.wait_ready();
    group.wait_for("Locked", "True", "Locked");
    assert_eq!(scene.secure.kafka.partitions(&one), Some(4));
    assert_eq!(scene.acls(), with_locks(&before, &[&one]));
}

pub(crate) fn a_deny_of_somebody_else_is_never_touched(env: &Env) {
    let scene = Guarded::new(env);
    let [one, two] = scene.topics(["one", "two"]);
    scene.by_hand("--add", &one);
    let before = scene.acls();
    let group = scene.group("market-data");
    let mut wanted = scene.spec(3, &[&one, &two]);
    group.apply(&wanted);
    let said = group.wait_for("Locked", "False", "ForeignDeny");
    assert!(said.contains(&one) && !said.contains(&two), "{said}");
    group.wait_ready();
    assert_eq!(remembered(&group), [two.as_str()]);
    scene.wait_for_acls("the other lock", &with_locks(&before, &[&two]));
    // Empty topics may grow, but not this one: what others deny is not lifted.
    wanted["partitions"] = json!(4);
    group.apply(&wanted);
    let said = group.wait_for("PartitionsAligned", "False", "GrowthRejected");
    assert!(said.contains(&format!("ALTER on topic {one}")), "{said}");
    scene.wait_for_acls("both", &with_locks(&before, &[&two]));
    assert_eq!(
        scene.secure.kafka.partitions(&two),
        Some(3),
        "equal stays equal"
    );
    // Asked for no more, ours goes and theirs stays.
    wanted["alterLock"] = json!("None");
    group.apply(&wanted);
    group.wait_for("Locked", "False", "Off");
    scene.wait_for_acls("only theirs", &before);
    group.delete();
    wait_collected(&group);
    assert_eq!(scene.acls(), before);
}

/// Of two Kubernetes clusters on one Kafka, neither takes away what the other one has locked.
pub(crate) fn two_operators_leave_each_others_locks_alone(env: &Env) {
    let plane = ControlPlane::start(env.root());
    plane.install_crds();
    let scene = Guarded::new(env);
    let before = scene.acls();
    let [topic] = scene.topics(["one"]);
    let first = scene.group("first");
    first.apply(&scene.spec(3, &[&topic]));
    first.wait_for("Locked", "True", "Locked");
    let locked = with_locks(&before, &[&topic]);
    assert_eq!(scene.acls(), locked);
    let other = Guarded::on(&plane, scene.secure, scene.prefix.clone());
    let second = other.group("second");
    let mut wanted = other.spec(3, &[&topic]);
    second.apply(&wanted);
    second.wait_for("Locked", "False", "ForeignDeny");
    second.wait_ready();
    // The topic is empty, so that only the lock stands in the way.
    wanted["partitions"] = json!(5);
    second.apply(&wanted);
    second.wait_for("PartitionsAligned", "False", "GrowthRejected");
    assert_eq!(scene.secure.kafka.partitions(&topic), Some(3));
    wanted["partitions"] = json!(3);
    wanted["alterLock"] = json!("None");
    second.apply(&wanted);
    second.wait_for("Locked", "False", "Off");
    assert_eq!(scene.acls(), locked);
    first.wait_for("Locked", "True", "Locked");
    // Once the first one has let go, the other one sets its own, and takes that one away again.
    wanted["alterLock"] = json!("Deny");
    second.apply(&wanted);
    second.wait_for("Locked", "False", "ForeignDeny");
    first.delete();
    second.wait_for("Locked", "True", "Locked");
    assert_eq!(scene.acls(), locked);
    assert_eq!(remembered(&second), [topic.as_str()]);
    second.delete();
    scene.wait_for_acls("no lock is left behind", &before);
}

/// The trap: where brokers let everybody near topics without ACLs, the first one hides the topic from all.
pub(crate) fn no_topic_gets_its_first_acl_where_that_would_hide_it(env: &Env) {
    let options = KafkaOptions {
        properties: vec![
            "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer"
                .to_owned(),
            "allow.everyone.if.no.acl.found=true".to_owned(),
        ],
        ..KafkaOptions::default()
    };
    let kafka = KafkaCluster::start(env.root(), 1, options);
    let namespace = env.namespace("open");
    let (connection, prefix) = (unique("open"), unique("open"));
    connect(
        &env.kube,
        &connection,
        &namespace,
        &json!({"bootstrapServers": [kafka.bootstrap()]}),
    );
    let _operator = start(&env.kube, &namespace);
    let topic = format!("{prefix}.one");
    let group = Group::new(&env.kube, &namespace, "market-data");
    group.apply(&locked_spec(&connection, 3, &[&topic]));
    let said = group.wait_for("Locked", "False", "DefaultAllowUnknown");
    assert!(said.contains("allowEveryoneIfNoAclFound"), "{said}");
    group.wait_ready();
    assert_eq!(acls(&kafka, &prefix), Vec::<String>::new());
    // Once an ACL matches, the lock hides nothing that was open.
    let tool = |verb: &str| {
        let mut args = vec![
            verb,
            "--resource-pattern-type",
            "prefixed",
            "--topic",
            &prefix,
        ];
        args.extend(["--allow-principal", "User:ANONYMOUS", "--operation", "All"]);
        if verb == "--remove" {
            args.push("--force");
        }
        kafka.tool_ok("org.apache.kafka.tools.AclCommand", &args);
    };
    tool("--add");
    group.wait_for("Locked", "True", "Locked");
    assert_eq!(kafka.partitions(&topic), Some(3));
    assert_eq!(acls(&kafka, &prefix).len(), 2);
    // It must not stay behind as the only one.
    tool("--remove");
    group.wait_for("Locked", "False", "DefaultAllowUnknown");
    assert_eq!(acls(&kafka, &prefix), Vec::<String>::new());
    assert_eq!(kafka.partitions(&topic), Some(3), "open again");
    group.wait_ready();
}

pub(crate) fn a_lock_that_cannot_be_undone_is_shown_until_it_is_forgotten(env: &Env) {
    let scene = Guarded::new(env);
    let before = scene.acls();
    let [one, two] = scene.topics(["one", "two"]);
    let (first, second) = (scene.group("first"), scene.group("second"));
    first.apply(&scene.spec(1, &[&one]));
    second.apply(&scene.spec(1, &[&two]));
    for group in [&first, &second] {
        group.wait_for("Locked", "True", "Locked");
    }
    // Its connection goes, and then the group: nobody can get there any more.
    let connection = env.kube.get_json(&["kafkaconnection", &scene.prefix]);
    env.kube
        .kubectl_ok(&["delete", "kafkaconnection", &scene.prefix]);
    first.wait_for("Accepted", "False", "ConnectionNotFound");
    second.wait_for("Accepted", "False", "ConnectionNotFound");
    assert_eq!(
        scene.acls(),
        with_locks(&before, &[&one, &two]),
        "they stay"
    );
    first.delete();
    second.delete();
    let operator = scene.operator.as_ref().expect("it runs");
    wait_for("the metric", DEADLINE, || {
        let metrics = operator.metrics();
        let mut lines = metrics.lines();
        if lines.any(|line| line == "copartition_orphaned_locks 2") {
            Ok(())
        } else {
            Err(metrics)
        }
    });
    wait_for("an attempt to undo them", DEADLINE, || {
        let log = operator.log();
        match log
            .matches("of a group that is gone could not be undone")
            .count()
        {
            0..2 => Err(log),
            _ => Ok(()),
        }
    });
    let claims = |args: &[&str]| {
        let mut command = guarded(env!("CARGO_BIN_EXE_kubectl-copartition"));
        command.arg("claims").args(args);
        command.env("KUBECONFIG", env.kube.kubeconfig());
        command.output().expect("the plugin runs")
    };
    let shown = claims(&["--topic", &one]);
    let table = text(&shown);
    assert!(
        shown.status.success() && table.contains("Orphaned"),
        "{table}"
    );
    assert!(
        table.contains("first") && !table.contains("second"),
        "{table}"
    );
    let json = claims(&["--topic", &one, "-o", "json"]);
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let lock_shown = &json["claims"][0]["locks"][0];
    assert_eq!(lock_shown["topic"], *one, "{json}");
    assert_eq!(lock_shown["orphaned"], true, "{json}");

    // Who forgets it is told what to remove by hand.
    let name = format!("{}/first", scene.namespace);
    let asked = claims(&["--forget", &name]);
    assert!(!asked.status.success(), "{}", text(&asked));
    assert!(
        first.claim().is_some(),
        "not without --yes where nobody can be asked"
    );
    let forgotten = claims(&["--forget", &name, "--yes"]);
    let said = text(&forgotten);
    assert!(forgotten.status.success(), "{said}");
    assert!(
        said.contains("kafka-acls.sh") && said.contains(&one),
        "{said}"
    );
    wait_collected(&first);
    assert_eq!(scene.acls(), with_locks(&before, &[&one, &two]));

    // The connection comes back: what is still remembered is undone.
    env.kube.apply_ok(
        &json!({
            "apiVersion": connection["apiVersion"], "kind": connection["kind"],
            "metadata": {"name": scene.prefix}, "spec": connection["spec"],
        })
        .to_string(),
    );
    wait_collected(&second);
    assert_eq!(scene.acls(), with_locks(&before, &[&one]));
    scene.by_hand("--remove", &one);
}

pub(crate) fn a_lock_needs_a_connection_and_its_rights(env: &Env) {
    let scene = Guarded::new(env);
    let [one] = scene.topics(["one"]);
    let group = scene.group("inline");
    let mut inline = spec(&env.kafka.bootstrap(), 1, &[&one]);
    inline["alterLock"] = json!("Deny");
    group.apply(&inline);
    let said = group.wait_for("Accepted", "False", "InvalidSpec");
    assert!(
        said.contains("alterLock: Deny needs kafka.connectionRef"),
        "{said}"
    );
    // Without an authorizer, and on a cluster whose principal may not see ACLs, all else goes on.
    let open = unique("no-authorizer");
    connect(
        &env.kube,
        &open,
        &scene.namespace,
        &json!({"bootstrapServers": [env.kafka.bootstrap()]}),
    );
    group.apply(&locked_spec(&open, 1, &[&one]));
    group.wait_for("Locked", "False", "NoAuthorizer");
    group.wait_ready();

    // Who may not edit ACLs is told which right is missing, in both places; all else goes on.
    let before = scene.acls();
    let [two, three] = scene.topics(["two", "three"]);
    let powerless = unique("powerless");
    let login = json!({"user": "hurried", "password": password("hurried")});
    scene.object("Secret", "hurried", &json!({"stringData": login}));
    let mut way = scene.way();
    for field in ["usernameRef", "passwordRef"] {
        way["sasl"][field]["name"] = json!("hurried");
    }
    connect(&env.kube, &powerless, &scene.namespace, &way);
    let group = scene.group("powerless");
    group.apply(&locked_spec(&powerless, 1, &[&two]));
    let said = group.wait_for("Locked", "False", "NotAuthorized");
    assert!(said.contains("DESCRIBE on the cluster"), "{said}");
    group.wait_ready();
    let missing = |connection: &str, wanted: &[&str]| {
        wait_for("the missing rights", DEADLINE, || {
            let live = env.kube.get_json(&["kafkaconnection", connection]);
            let missing = &live["status"]["missingPermissions"];
            let missing: Vec<&str> = missing
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            if missing == wanted {
                Ok(())
            } else {
                Err(live["status"].to_string())
            }
        });
    };
    missing(
        &powerless,
        &["ALTER on the cluster", "DESCRIBE on the cluster"],
    );
    assert_eq!(scene.acls(), before);

    // A super user feels no lock, and lifts none.
    let mighty = unique("mighty");
    connect(
        &env.kube,
        &mighty,
        &scene.namespace,
        &json!({"bootstrapServers": [scene.secure.kafka.bootstrap()]}),
    );
    let group = scene.group("mighty");
    let mut wanted = locked_spec(&mighty, 1, &[&three]);
    group.apply(&wanted);
    let said = group.wait_for("Locked", "True", "SuperUser");
    assert!(said.contains("does not bind super users"), "{said}");
    wanted["partitions"] = json!(2);
    group.apply(&wanted);
    group.wait_ready();
    group.wait_for("Locked", "True", "SuperUser");
    assert_eq!(scene.secure.kafka.partitions(&three), Some(2));
    assert_eq!(scene.asked("DELETE_ACLS"), 0);
    assert_eq!(scene.acls(), with_locks(&before, &[&three]));
    missing(&mighty, &[]);
}

pub(crate) fn locks_on_a_cluster_that_was_left_are_undone_there(env: &Env) {
    let scene = Guarded::new(env);
    let before = scene.acls();
    let [one] = scene.topics(["one"]);
    let group = scene.group("market-data");
    let mut wanted = scene.spec(1, &[&one]);
    group.apply(&wanted);
    group.wait_for("Locked", "True", "Locked");
    // The group moves to another cluster; nothing is undone before that is acknowledged.
    let elsewhere = unique("elsewhere");
    let way = json!({"bootstrapServers": [env.kafka.bootstrap()]});
    connect(&env.kube, &elsewhere, &scene.namespace, &way);
    wanted["kafka"] = json!({"connectionRef": {"name": elsewhere}});
    group.apply(&wanted);
    group.wait_for("PartitionsAligned", "False", "ClusterChanged");
    assert_eq!(scene.acls(), with_locks(&before, &[&one]));
    group.acknowledge(env.kafka.id());
    group.wait_ready();
    scene.wait_for_acls("no lock is left behind", &before);
    wait_for("the claim to forget it", DEADLINE, || {
        if remembered(&group).is_empty() {
            Ok(())
        } else {
            Err(group.claim().unwrap_or_default().to_string())
        }
    });
    group.wait_for("Locked", "False", "NoAuthorizer");
}
