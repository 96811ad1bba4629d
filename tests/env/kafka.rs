//! A Kafka cluster of one or more nodes, each both broker and controller.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use serde_json::Value;

use super::process::{Process, guarded};
use super::{free_port, script, text, unique, wait_for};

/// How long a node may take to answer. It takes 4 s on an idle machine with two cores.
const START: Duration = Duration::from_secs(120);

/// What differs from the defaults in `tests/env/kafka-node`.
#[derive(Default)]
pub(crate) struct KafkaOptions {
    /// Lines of `server.properties`, for all nodes. In them stand `@NODE@` for the node's id, `@CLIENT@`, `@CONTROLLER@`
    /// and `@EXTRA@` for its ports (the last one is for a listener of the test's own), `@DIR@` for its data folder.
    pub(crate) properties: Vec<String>,
    /// The JVM's options in place of the default ones, for brokers that need a larger heap.
    pub(crate) jvm: Option<String>,
    /// More arguments for the formatting of a new node's storage. None may hold a space.
    pub(crate) format: Vec<String>,
}

/// One request that a broker has answered, as its request log has it.
#[derive(Debug)]
pub(crate) struct LoggedRequest {
    /// The node's id.
    pub(crate) node: usize,
    /// Kafka's name of the request, such as `CREATE_PARTITIONS`.
    pub(crate) api: String,
    pub(crate) client_id: String,
    /// The whole entry: `request`, `response`, `principal`, `listener` and more.
    pub(crate) entry: Value,
}

/// Killed, and its data removed, when dropped. Nodes are named by their id: 1, 2, 3.
pub(crate) struct KafkaCluster {
    dir: PathBuf,
    id: String,
    properties: Vec<String>,
    jvm: Option<String>,
    format: Vec<String>,
    nodes: Vec<Node>,
}

struct Node {
    client: u16,
    controller: u16,
    extra: u16,
    process: Option<Process>,
}

impl KafkaCluster {
    /// Starts `nodes` nodes with their data under `root`, and waits until each of them answers and knows all others.
    pub(crate) fn start(root: &Path, nodes: usize, options: KafkaOptions) -> Self {
        let nodes: Vec<_> = (0..nodes)
            .map(|_| Node {
                client: free_port(),
                controller: free_port(),
                extra: free_port(),
                process: None,
            })
            .collect();
        // A UUID in Kafka's spelling, which is 22 characters of base64; the port makes it this cluster's own.
        let id = format!("copartitionTest{:06}A", nodes[0].client);
        let mut cluster = Self {
            dir: root.join(unique("kafka")),
            id,
            properties: options.properties,
            jvm: options.jvm,
            format: options.format,
            nodes,
        };
        for id in cluster.ids() {
            cluster.write_properties(id);
            cluster.launch(id);
        }
        for id in cluster.ids() {
            cluster.wait_until_ready(id);
        }
        cluster
    }

    /// For `bootstrap.servers`: all nodes.
    pub(crate) fn bootstrap(&self) -> String {
        self.addresses(|node| node.client)
    }

    /// As [`Self::bootstrap`], with the ports that `@EXTRA@` stands for in the options.
    pub(crate) fn extra_bootstrap(&self) -> String {
        self.addresses(|node| node.extra)
    }

    /// The cluster id, as clients see it.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Kills a node outright, as a crash would.
    pub(crate) fn kill(&mut self, node: usize) {
        self.nodes[node - 1].process = None;
    }

    /// Starts a node again with its data (killing it first if it runs), and waits until it answers.
    pub(crate) fn restart(&mut self, node: usize) {
        self.kill(node);
        self.launch(node);
        self.wait_until_ready(node);
    }

    /// Stops a node's process without ending it: its connections stay open, and nothing answers.
    pub(crate) fn pause(&mut self, node: usize) {
        self.process(node).signal("STOP");
    }

    pub(crate) fn resume(&mut self, node: usize) {
        self.process(node).signal("CONT");
    }

    /// Runs one of Kafka's own command-line tools, such as `org.apache.kafka.tools.TopicCommand`, against this cluster.
    pub(crate) fn tool(&self, class: &str, args: &[&str]) -> Output {
        self.tool_with_input(class, args, "")
    }

    /// As [`Self::tool`], with `input` on its standard input.
    pub(crate) fn tool_with_input(&self, class: &str, args: &[&str], input: &str) -> Output {
        let mut child = guarded(script("kafka-tool"))
            .args([class, "--bootstrap-server", &self.bootstrap()])
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("cannot run tests/env/kafka-tool");
        // A tool that ends without reading everything closes the pipe; its exit status then says why.
        let _ = child
            .stdin
            .take()
            .map(|mut stdin| stdin.write_all(input.as_bytes()));
        child
            .wait_with_output()
            .expect("cannot read what Kafka's tool says")
    }

    /// As [`Self::tool`], and gives what it printed; panics if it fails.
    pub(crate) fn tool_ok(&self, class: &str, args: &[&str]) -> String {
        let output = self.tool(class, args);
        assert!(
            output.status.success(),
            "{class} {args:?} failed:\n{}",
            text(&output)
        );
        text(&output)
    }

    /// The requests of one kind that clients whose id begins with `client_id_prefix` have sent to any node, oldest first
    /// per node; an empty `api` means all kinds. A broker logs a request just after it has sent the answer: so wait for
    /// a number that should be reached, and for "none" wait for a later request first.
    pub(crate) fn requests(&self, api: &str, client_id_prefix: &str) -> Vec<LoggedRequest> {
        let mut requests: Vec<_> = self
            .ids()
            .flat_map(|node| logged_requests(node, &self.log(node), &[api, client_id_prefix]))
            .collect();
        requests.retain(|r| {
            (api.is_empty() || r.api == api) && r.client_id.starts_with(client_id_prefix)
        });
        requests
    }

    /// What a node has written, since its first start.
    pub(crate) fn log(&self, node: usize) -> String {
        fs::read(self.log_path(node)).map_or_else(
            |_| String::new(),
            |log| String::from_utf8_lossy(&log).into_owned(),
        )
    }

    /// The pids of the nodes that run.
    pub(crate) fn pids(&self) -> Vec<u32> {
        self.nodes
            .iter()
            .filter_map(|node| node.process.as_ref().map(Process::pid))
            .collect()
    }

    fn ids(&self) -> impl Iterator<Item = usize> + use<> {
        1..=self.nodes.len()
    }

    fn addresses(&self, port: impl Fn(&Node) -> u16) -> String {
        self.nodes
            .iter()
            .map(|node| format!("127.0.0.1:{}", port(node)))
            .collect::<Vec<_>>()
            .join(",")
    }

    fn process(&mut self, node: usize) -> &mut Process {
        self.nodes[node - 1]
            .process
            .as_mut()
            .unwrap_or_else(|| panic!("node {node} does not run"))
    }

    /// The file that a node writes its log to.
    pub(crate) fn log_path(&self, node: usize) -> PathBuf {
        self.dir.join(format!("node-{node}.log"))
    }

    fn properties_path(&self, node: usize) -> PathBuf {
        self.dir.join(format!("node-{node}.properties"))
    }

    fn write_properties(&self, node: usize) {
        let ports = &self.nodes[node - 1];
        let lines = self
            .properties
            .join("\n")
            .replace("@NODE@", &node.to_string())
            .replace("@CLIENT@", &ports.client.to_string())
            .replace("@CONTROLLER@", &ports.controller.to_string())
            .replace("@EXTRA@", &ports.extra.to_string())
            .replace("@DIR@", &self.dir.to_string_lossy());
        let path = self.properties_path(node);
        fs::create_dir_all(&self.dir)
            .and_then(|()| fs::write(&path, lines + "\n"))
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }

    fn launch(&mut self, node: usize) {
        let ports: Vec<_> = self
            .nodes
            .iter()
            .map(|n| format!("{},{}", n.client, n.controller))
            .collect();
        let mut command = guarded(script("kafka-node"));
        command
            .arg(self.dir.join(format!("node-{node}")))
            .args([&node.to_string(), &ports.join(","), &self.id])
            .arg(self.properties_path(node));
        if let Some(jvm) = &self.jvm {
            command.env("KAFKA_NODE_JVM_OPTS", jvm);
        }
        command.env("KAFKA_NODE_FORMAT_OPTS", self.format.join(" "));
        let process = Process::start(&format!("kafka node {node}"), command, &self.log_path(node));
        self.nodes[node - 1].process = Some(process);
    }

    fn wait_until_ready(&mut self, node: usize) {
        let running = self.pids().len();
        let address = format!("127.0.0.1:{}", self.nodes[node - 1].client);
        let consumer: BaseConsumer = ClientConfig::new()
            .set("bootstrap.servers", &address)
            .set("client.id", "test-env")
            .set("reconnect.backoff.max.ms", "250")
            .create()
            .expect("cannot make a Kafka client");
        let process = self.process(node);
        wait_for(
            &format!("node {node} at {address} to answer"),
            START,
            || {
                process.assert_running();
                let metadata = consumer
                    .fetch_metadata(None, Duration::from_secs(1))
                    .map_err(|e| e.to_string())?;
                let brokers = metadata.brokers().len();
                if brokers < running {
                    Err(format!("it knows {brokers} of {running} nodes"))
                } else {
                    Ok(())
                }
            },
        );
    }
}

impl Drop for KafkaCluster {
    fn drop(&mut self) {
        self.nodes.clear();
        // The folder of the whole run goes at the end in any case; this only keeps a long run small.
        if std::env::var_os("COPARTITION_TEST_KEEP").is_none() {
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

fn logged_requests(node: usize, log: &str, with: &[&str]) -> Vec<LoggedRequest> {
    log.lines()
        // Parsing is slow, and a long run has many lines.
        .filter(|line| with.iter().all(|word| line.contains(word)))
        .filter_map(|line| line.split_once("kafka.request.logger - Completed request:"))
        // The last line may still be being written.
        .filter_map(|(_, json)| serde_json::from_str::<Value>(json).ok())
        // What a broker passes on to the controller is not another request of the client's.
        .filter(|entry| entry["listener"] != "CONTROLLER")
        .map(|entry| LoggedRequest {
            node,
            api: entry["requestHeader"]["requestApiKeyName"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            client_id: entry["requestHeader"]["clientId"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            entry,
        })
        .collect()
}
