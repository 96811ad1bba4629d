//! What the documents take for granted, as real objects: a clone of the repository with what was built, tools on PATH, a Kafka with an
//! authorizer, a Kubernetes API server, and the group `market-data` with an operator. No tests here.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::blocks::Block;
use super::bound::{Used, Value};
use crate::env::process::guarded;
use crate::env::secure::Listener;
use crate::env::{
    ControlPlane, Env, Operator, OperatorOptions, SecureKafka, copy, free_port, part, script, text,
    tool, unique,
};
use crate::group::{Group, TICKERS};

/// The namespace that documents speak of.
const NAMESPACE: &str = "trading";

/// Kafka's own tools, by the names that its distribution gives them.
const KAFKA_TOOLS: [(&str, &str); 3] = [
    ("kafka-acls.sh", "org.apache.kafka.tools.AclCommand"),
    ("kafka-topics.sh", "org.apache.kafka.tools.TopicCommand"),
    ("kafka-configs.sh", "kafka.admin.ConfigCommand"),
];

/// What a reader's clone holds of the repository.
const CLONE: [&str; 8] = [
    "Cargo.toml",
    "Dockerfile",
    "Makefile",
    "README.md",
    "charts",
    "crds",
    "docs",
    "examples",
];

/// Fields are dropped in their order: the operator before the API server.
pub(super) struct Stage<'a> {
    operator: Option<Operator>,
    pub(super) plane: ControlPlane,
    kafka: &'a SecureKafka,
    /// The clone.
    pub(super) folder: PathBuf,
    bin: PathBuf,
    home: PathBuf,
    pub(super) used: Used,
}

impl<'a> Stage<'a> {
    /// With tools and servers, and nothing of this project in Kubernetes yet.
    pub(super) fn bare(env: &'a Env) -> Self {
        let root = env.root().join(unique("documents"));
        let [folder, bin, home] = ["clone", "bin", "home"].map(|name| root.join(name));
        for path in [
            &folder.join("target/release"),
            &bin,
            &home.join(".local/bin"),
        ] {
            fs::create_dir_all(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        }
        for name in CLONE {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
            copy(&from, &folder.join(name));
        }
        let stage = Self {
            operator: None,
            plane: ControlPlane::start(env.root()),
            kafka: env.secure(),
            folder,
            bin,
            home,
            used: Used::default(),
        };
        stage.tools();
        stage
    }

    fn tools(&self) {
        let operator = Path::new(env!("CARGO_BIN_EXE_copartition-operator"));
        let plugin = Path::new(env!("CARGO_BIN_EXE_kubectl-copartition"));
        let release = self.folder.join("target/release");
        for (from, folder) in [
            (operator, &self.bin),
            (plugin, &self.bin),
            (operator, &release),
            (plugin, &release),
            (&part("controlplane").join("kubectl"), &self.bin),
            (&tool("helm"), &self.bin),
            (&tool("promtool"), &self.bin),
        ] {
            let name = from.file_name().expect("a file");
            symlink(from, folder.join(name)).expect("a link to a tool");
        }
        // Without a home of its own, a tool would look for the cache of servers in the reader's.
        let cache = part("kafka").ancestors().nth(2).expect("a cache");
        let run = script("kafka-tool");
        for (name, class) in KAFKA_TOOLS {
            let line = format!("exec {} {class} \"$@\"", run.display());
            let line = format!("export COPARTITION_CACHE='{}'\n{line}", cache.display());
            self.program(name, &line);
        }
        // Kafka Streams' example without Maven, whose plugins would come from the network.
        let jars = format!(
            "{}/lib/*:{}/*",
            part("clients-java").display(),
            part("kafka").display()
        );
        self.program(
            "mvn",
            &format!(
                "for last; do :; done; read -r -a words <<< \"${{last#-Dexec.args=}}\"\n\
                 exec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=error \
                 -cp '{jars}' src/main/java/Placement.java \"${{words[@]}}\""
            ),
        );
        let modules = part("clients-node").join("node_modules");
        let link = self.folder.join("examples/kafkajs/node_modules");
        // The reader's own, if there is one.
        let _ = fs::remove_dir_all(&link);
        symlink(modules, link).expect("a link");
    }

    fn program(&self, name: &str, body: &str) {
        let path = self.bin.join(name);
        fs::write(&path, format!("#!/usr/bin/env bash\n{body}\n")).expect("a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    /// Takes away what a page about installing has installed, for the next one.
    pub(super) fn clean(&self) {
        let script = "helm uninstall -n copartition-system copartition-operator --ignore-not-found\n\
             kubectl delete --ignore-not-found --wait=false -f charts/install.yaml -f examples/rbac.yaml\n\
             kubectl delete crd --all\n\
             kubectl wait --for=delete --timeout=60s namespace/copartition-system";
        self.run(script).unwrap_or_else(|said| panic!("{said}"));
    }

    /// With everything that documents assume to be there; `example` is the manifest of market-data.
    pub(super) fn furnish(&mut self, example: &Block) {
        self.plane.install_crds();
        self.plane.install_definitions();
        for name in [NAMESPACE, "argocd", "flux-system", "kafka"] {
            self.plane.kubectl_ok(&["create", "namespace", name]);
        }
        self.plane
            .kubectl_ok(&["create", "configmap", "argocd-cm", "-n", "argocd"]);
        self.operator = Some(Operator::start(
            &self.plane,
            OperatorOptions {
                namespaces: vec![NAMESPACE.to_owned()],
                ..OperatorOptions::default()
            },
        ));
        let manifest = self.bind(&example.text);
        self.plane.apply_ok(&manifest);
        let group = Group::new(&self.plane, NAMESPACE, "market-data");
        group.wait_ready();
        let kafka = &self.kafka.kafka;
        let tickers = TICKERS.map(|key| (key, "1"));
        for topic in ["market-updates", "notifications"] {
            kafka.produce(topic, &tickers);
        }
        group.wait_until("holdsRecords is true", |status| {
            status["holdsRecords"] == true
        });
        // Enough keys for a proof.
        let keys: Vec<String> = (0..100).map(|it| format!("key-{it}")).collect();
        let records: Vec<_> = keys.iter().map(|key| (key.as_str(), "1")).collect();
        for topic in ["a", "b"] {
            kafka.create_topic(topic, 6);
            kafka.produce(topic, &records);
        }
        let topology = "Topologies:\n   Sub-topology: 0\n    Source: of-orders (topics: [orders])\n      --> join\n    \
            Source: of-payments (topics: [payments])\n      --> join\n    Processor: join (stores: [open])\n      \
            --> none\n      <-- of-orders, of-payments\n\n";
        for (name, text) in [
            ("group.yaml", manifest.as_str()),
            ("topics/group.yaml", manifest.as_str()),
            ("keys.txt", keys.join("\n").as_str()),
            ("topology.txt", topology),
            ("client.properties", "security.protocol=PLAINTEXT\n"),
        ] {
            let path = self.folder.join(name);
            let made = fs::create_dir_all(path.parent().unwrap_or(&path));
            made.and_then(|()| fs::write(&path, text))
                .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        }
    }

    /// A text with this scene's names in place of the placeholders.
    pub(super) fn bind(&mut self, text: &str) -> String {
        let (kafka, login) = (self.bootstrap(), self.kafka.address(Listener::Login));
        self.used.bind(text, |value| match value {
            Value::Kafka => kafka.clone(),
            Value::Login => login.clone(),
            Value::Text(text) => text.to_owned(),
        })
    }

    fn bootstrap(&self) -> String {
        self.kafka.kafka.bootstrap()
    }

    /// Where a reader of a document types its commands: beside an example's own README, else in the clone.
    pub(super) fn folder_of(&self, file: &str) -> PathBuf {
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        if folder.starts_with("examples") {
            self.folder.join(folder)
        } else {
            self.folder.clone()
        }
    }

    /// Bash with a script, as a reader's shell would run it. It is ended after two minutes.
    pub(super) fn command(&self, script: &str, folder: &Path) -> Command {
        let mut command = guarded("timeout");
        command.args(["--kill-after=5", "120", "bash", "-c", script]);
        self.surround(&mut command, folder);
        command
    }

    /// The same in the clone: what it prints if it ends with 0, else that as the error.
    pub(super) fn run(&self, script: &str) -> Result<String, String> {
        let output = self.command(script, &self.folder).output();
        let output = output.expect("cannot run bash");
        let said = text(&output);
        if output.status.success() {
            Ok(said)
        } else {
            Err(said)
        }
    }

    /// The same for a command that lasts, which is the process itself, so that it gets signals.
    pub(super) fn lasting(&self, command: &str, folder: &Path) -> Command {
        let mut shell = guarded("bash");
        shell.args(["-c", command]);
        self.surround(&mut shell, folder);
        shell.env("LISTEN", format!("127.0.0.1:{}", free_port()));
        shell
    }

    fn surround(&self, command: &mut Command, folder: &Path) {
        let path = std::env::var("PATH").unwrap_or_default();
        let local = self.home.join(".local/bin");
        command
            .current_dir(folder)
            .env(
                "PATH",
                format!("{}:{}:{path}", self.bin.display(), local.display()),
            )
            .env("HOME", &self.home)
            .env("KAFKA", self.bootstrap())
            .env("KUBECONFIG", self.plane.kubeconfig())
            .env("NO_COLOR", "1")
            .env_remove("RUST_LOG");
        for name in [
            "HELM_CACHE_HOME",
            "HELM_CONFIG_HOME",
            "HELM_DATA_HOME",
            "XDG_CACHE_HOME",
        ] {
            command.env_remove(name);
        }
    }

    /// A live object, or a part of one, as what a reader would edit.
    pub(super) fn live(&self) -> serde_json::Value {
        let group = Group::new(&self.plane, NAMESPACE, "market-data").get();
        json!({
            "apiVersion": group["apiVersion"], "kind": group["kind"],
            "metadata": {"name": "market-data", "namespace": NAMESPACE},
            "spec": group["spec"],
        })
    }
}
