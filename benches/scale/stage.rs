//! The servers of one run: a fresh Kafka, a fresh API server, the operator as its users run it, and a watch.

use std::path::Path;
use std::thread;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::runtime::Runtime;

use crate::board::Board;
use crate::env::{ControlPlane, KafkaCluster, KafkaOptions, Operator, OperatorOptions};
use crate::groups::{self, Manifest, NAMESPACE};
use crate::process::Pid;
use crate::requests::RequestLogs;
use crate::seen;
use crate::settings::Size;

/// The operator's default, said here because the tests' operators poll more often.
pub(crate) const POLL_INTERVAL: &str = "5s";
pub(crate) const POLL_SECONDS: f64 = 5.0;

/// 12,000 partitions need more than the heap of the tests' brokers; the collector and the compiler are theirs.
const BROKER_JVM: &str = "-Xms512m -Xmx3g -XX:+UseSerialGC -XX:TieredStopAtLevel=1";

/// The operator ends before the servers do.
pub(crate) struct Stage {
    pub(crate) size: Size,
    pub(crate) board: Board,
    pub(crate) client: Client,
    pub(crate) operator: Operator,
    pub(crate) logs: RequestLogs,
    pub(crate) kube: ControlPlane,
    pub(crate) kafka: KafkaCluster,
    // The last field: the client's tasks live in it.
    pub(crate) runtime: Runtime,
}

/// A Kafka as every part of a run gets it: empty.
pub(crate) fn kafka(root: &Path) -> KafkaCluster {
    let options = KafkaOptions {
        jvm: Some(BROKER_JVM),
        ..KafkaOptions::default()
    };
    KafkaCluster::start(root, 1, options)
}

impl Stage {
    pub(crate) fn start(root: &Path, size: Size) -> Self {
        let (kafka, kube) = thread::scope(|scope| {
            let kafka = scope.spawn(|| kafka(root));
            let kube = ControlPlane::start(root);
            kube.install_crds();
            kube.kubectl_ok(&["create", "namespace", NAMESPACE]);
            (kafka.join().expect("Kafka did not start"), kube)
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        let client = runtime.block_on(client(&kube));
        let board = runtime.block_on(async { Board::start(client.clone()) });
        let logs = RequestLogs::new(&kube, &kafka);
        let operator = operator(&kube);
        Self {
            size,
            board,
            client,
            operator,
            logs,
            kube,
            kafka,
            runtime,
        }
    }

    /// The operator's process.
    pub(crate) fn process(&self) -> Pid {
        Pid(self.operator.pid())
    }

    /// Stops the operator as Kubernetes does, and starts it again.
    pub(crate) fn stop_operator(&mut self) -> Result<(), String> {
        let status = self.operator.stop();
        if status.success() {
            Ok(())
        } else {
            Err(format!("the operator ended with {status}"))
        }
    }

    /// All groups as they are first applied.
    pub(crate) fn manifests(&self) -> Vec<Manifest> {
        let bootstrap = self.kafka.bootstrap();
        (0..self.size.groups)
            .map(|n| groups::manifest(n, &bootstrap, self.size.partitions))
            .collect()
    }

    /// The names of all groups.
    pub(crate) fn names(&self) -> Vec<String> {
        (0..self.size.groups).map(groups::name).collect()
    }

    /// Waits until so many more polls of Kafka have ended.
    pub(crate) fn wait_polls(&self, more: u64) {
        seen::wait_polls(&self.operator, more);
    }

    /// A counter of the operator's metrics page; the sum over those that begin so.
    pub(crate) fn counted(&self, beginning: &str) -> u64 {
        seen::counted(&self.operator, beginning)
    }
}

/// Starts the operator for all namespaces, as the user and with the role of the example.
pub(crate) fn launch(kube: &ControlPlane) -> Operator {
    let options = OperatorOptions {
        namespaces: Vec::new(),
        log: Some("info"),
        ..seen::options(kube, "", &["--poll-interval", POLL_INTERVAL])
    };
    Operator::launch(kube, options)
}

fn operator(kube: &ControlPlane) -> Operator {
    let mut operator = launch(kube);
    operator.wait_until_ready();
    operator
}

/// A client as admin, who may do everything.
async fn client(kube: &ControlPlane) -> Client {
    let kubeconfig = Kubeconfig::read_from(kube.kubeconfig()).expect("the kubeconfig of admin");
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .expect("the kubeconfig of admin");
    Client::try_from(config).expect("a client")
}
