//! The servers that the tests run against: a real Kafka, a real Kubernetes API server, and the operator's own binary.
//!
//! One [`Env`] is shared by all tests and started once, so a test takes a namespace and topic names of its own. What
//! stops or pauses a server needs `&mut`, which the shared one never gives: such a test starts a server for itself.

pub(crate) mod idp;
mod kafka;
mod kafka_client;
mod kube;
mod operator;
pub(crate) mod pki;
mod ports;
pub(crate) mod process;
mod root;
pub(crate) mod secure;
mod wait;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, thread};

pub(crate) use kafka::{KafkaCluster, KafkaOptions, LoggedRequest};
pub(crate) use kube::ControlPlane;
pub(crate) use operator::{Operator, OperatorOptions};
pub(crate) use ports::free_port;
pub(crate) use root::Root;
pub(crate) use secure::SecureKafka;
pub(crate) use wait::wait_for;

/// What all tests share.
pub(crate) struct Env {
    /// One node, without authentication.
    pub(crate) kafka: KafkaCluster,
    /// With the project's own resource definitions installed.
    pub(crate) kube: ControlPlane,
    secure: OnceLock<SecureKafka>,
    // The last field, so that its folder goes when no server writes into it any more.
    root: Root,
}

impl Env {
    /// Starts all servers at the same time.
    pub(crate) fn start() -> Self {
        let root = Root::create();
        let (kafka, kube) = thread::scope(|scope| {
            let kafka =
                scope.spawn(|| KafkaCluster::start(root.path(), 1, KafkaOptions::default()));
            let kube = ControlPlane::start(root.path());
            kube.install_crds();
            (kafka.join(), kube)
        });
        Self {
            kafka: kafka.expect("Kafka did not start"),
            kube,
            secure: OnceLock::new(),
            root,
        }
    }

    /// One node with authentication and authorization, started by the first test that needs it.
    pub(crate) fn secure(&self) -> &SecureKafka {
        self.secure.get_or_init(|| SecureKafka::start(self.root()))
    }

    /// A folder that is removed when the tests end: the `root` for a server that a test starts for itself.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Creates a namespace that no other test uses.
    pub(crate) fn namespace(&self, prefix: &str) -> String {
        let name = unique(prefix);
        self.kube.kubectl_ok(&["create", "namespace", &name]);
        name
    }
}

/// A name that no other test uses: for topics, consumer groups and the like.
pub(crate) fn unique(prefix: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    format!("{prefix}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Both streams of a program that has ended, for messages and searches.
pub(crate) fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Copies a file, or a folder with all that is in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    let wrong = |error| -> ! { panic!("{}: {error}", from.display()) };
    if !from.is_dir() {
        fs::copy(from, to).unwrap_or_else(|error| wrong(error));
        return;
    }
    fs::create_dir_all(to).unwrap_or_else(|error| wrong(error));
    for entry in fs::read_dir(from).unwrap_or_else(|error| wrong(error)) {
        let entry = entry.unwrap_or_else(|error| wrong(error));
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

/// One of the scripts in this folder.
pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/env")
        .join(name)
}

/// Where a tool that looks at the chart is: `helm`, `promtool` or `judge`.
pub(crate) fn tool(name: &str) -> PathBuf {
    part("tools").join(name)
}

/// Where `make setup` has put a part (`controlplane`, `kafka`, `clients-node`). The script knows; nothing here repeats how.
pub(crate) fn part(name: &str) -> &'static Path {
    static PARTS: OnceLock<HashMap<String, PathBuf>> = OnceLock::new();
    let parts = PARTS.get_or_init(|| {
        let output = Command::new(script("parts"))
            .output()
            .expect("cannot run tests/env/parts");
        assert!(output.status.success(), "{}", text(&output).trim());
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, path)| (name.to_owned(), path.into()))
            .collect()
    });
    &parts[name]
}
