//! The servers of one run: a fresh Kafka, a fresh API server, the operator as its users run it, and a watch.

use std::thread;
use std::time::{Duration, Instant};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::runtime::Runtime;

use crate::board::{Board, Seen};
use crate::broker::{Broker, Folders};
use crate::env::{ControlPlane, KafkaCluster, Operator, OperatorOptions};
use crate::groups::{self, Manifest, NAMESPACE};
use crate::process::Pid;
use crate::requests::RequestLogs;
use crate::seen;
use crate::settings::Size;

/// The operator's default, said here because the tests' operators poll more often.
pub(crate) const POLL_INTERVAL: &str = "5s";
pub(crate) const POLL_SECONDS: f64 = 5.0;

/// Of the operator's log, for the message of a failure.
const LAST_LINES: usize = 20;

/// The operator ends before the servers do.
pub(crate) struct Stage {
    pub(crate) size: Size,
    pub(crate) board: Board,
    pub(crate) client: Client,
    pub(crate) operator: Operator,
    pub(crate) logs: RequestLogs,
    pub(crate) kube: ControlPlane,
    broker: Broker,
    // The last field: the client's tasks live in it.
    pub(crate) runtime: Runtime,
}

impl Stage {
    pub(crate) fn start(folders: &Folders, size: Size) -> Self {
        let (broker, kube) = thread::scope(|scope| {
            let broker = scope.spawn(|| Broker::start(folders));
            let kube = ControlPlane::start(folders.servers());
            kube.install_crds();
            kube.kubectl_ok(&["create", "namespace", NAMESPACE]);
            (broker.join().expect("Kafka did not start"), kube)
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        let client = runtime.block_on(client(&kube));
        let board = runtime.block_on(async { Board::start(client.clone()) });
        let logs = RequestLogs::new(&kube, &broker.kafka);
        let operator = operator(&kube);
        Self {
            size,
            board,
            client,
            operator,
            logs,
            kube,
            broker,
            runtime,
        }
    }

    pub(crate) fn kafka(&self) -> &KafkaCluster {
        &self.broker.kafka
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
        let bootstrap = self.kafka().bootstrap();
        (0..self.size.groups)
            .map(|n| groups::manifest(n, &bootstrap, self.size.partitions))
            .collect()
    }

    /// The names of all groups.
    pub(crate) fn names(&self) -> Vec<String> {
        (0..self.size.groups).map(groups::name).collect()
    }

    /// As [`Board::wait`]; also ends if the operator does.
    pub(crate) async fn wait(
        &self,
        what: &str,
        names: &[String],
        deadline: Duration,
        fits: impl Fn(&Seen) -> Option<Instant>,
    ) -> Result<Instant, String> {
        tokio::select! {
            outcome = self.board.wait(what, names, deadline, fits) => outcome,
            () = ended(self.process()) => {
                let log = self.operator.log();
                let lines: Vec<&str> = log.lines().collect();
                let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
                Err(format!("waiting for {what}, the operator has ended; its log ends:\n{last}"))
            }
        }
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

async fn ended(process: Pid) {
    while process.runs() {
        tokio::time::sleep(Duration::from_millis(500)).await;
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
pub(crate) async fn client(kube: &ControlPlane) -> Client {
    let kubeconfig = Kubeconfig::read_from(kube.kubeconfig()).expect("the kubeconfig of admin");
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .expect("the kubeconfig of admin");
    Client::try_from(config).expect("a client")
}
