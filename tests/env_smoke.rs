//! The test environment itself: that its servers are real, can be broken and mended, and leave nothing behind.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;
use std::{env, fs};

use crate::env::process::{Process, guarded};
use crate::env::{ControlPlane, Env, KafkaCluster, KafkaOptions, Root, text, unique, wait_for};

const SOON: Duration = Duration::from_secs(20);
const TOPICS: &str = "org.apache.kafka.tools.TopicCommand";

pub(crate) fn kafka_answers_and_logs_requests(env: &Env) {
    let topic = unique("by-tool");
    env.kafka.tool_ok(
        TOPICS,
        &["--create", "--topic", &topic, "--partitions", "3"],
    );
    env.kafka
        .tool_ok(TOPICS, &["--alter", "--topic", &topic, "--partitions", "5"]);
    let described = env
        .kafka
        .tool_ok(TOPICS, &["--describe", "--topic", &topic]);
    assert!(described.contains("PartitionCount: 5"), "{described}");

    // Once, although the broker passes it on to the controller, which logs it as well.
    let grown = wait_for("the request in the log", SOON, || {
        let mut requests = env.kafka.requests("CREATE_PARTITIONS", "adminclient");
        requests.retain(|r| r.entry["request"]["topics"][0]["name"] == topic);
        if requests.len() == 1 {
            Ok(requests.remove(0))
        } else {
            Err(format!("{requests:?}"))
        }
    });
    assert_eq!((grown.node, grown.api.as_str()), (1, "CREATE_PARTITIONS"));
    assert_eq!(grown.entry["request"]["topics"][0]["count"], 5);

    let refused = env
        .kafka
        .tool(TOPICS, &["--alter", "--topic", &topic, "--partitions", "4"]);
    assert!(!refused.status.success(), "{}", text(&refused));
}

pub(crate) fn own_client_creates_grows_writes_and_deletes(env: &Env) {
    let topic = unique("by-client");
    env.kafka.create_topic(&topic, 6);
    env.kafka
        .produce(&topic, &[("BBCA", "1"), ("ANTM", "2"), ("BBRI", "3")]);
    // Where Java's producer puts these keys: two on partition 0, one on partition 1.
    let ends: Vec<_> = env.kafka.end_offsets(&topic).into_values().collect();
    assert_eq!(ends, [2, 1, 0, 0, 0, 0]);
    env.kafka.grow_topic(&topic, 8);
    env.kafka.delete_topic(&topic);
    assert_eq!(env.kafka.partitions(&topic), None);
}

pub(crate) fn a_restarted_node_keeps_its_topics(env: &Env) {
    let mut kafka = KafkaCluster::start(env.root(), 1, KafkaOptions::default());
    let topic = unique("kept");
    kafka.create_topic(&topic, 2);
    let before = kafka.pids();
    kafka.kill(1);
    assert!(!before.into_iter().any(exists), "the node still runs");
    kafka.restart(1);
    assert_eq!(kafka.partitions(&topic), Some(2));
}

pub(crate) fn three_nodes_survive_the_loss_of_one(env: &Env) {
    let properties = vec![
        "num.partitions=7".to_owned(),
        "broker.rack=rack-@NODE@".to_owned(),
    ];
    let mut kafka = KafkaCluster::start(
        env.root(),
        3,
        KafkaOptions {
            properties,
            ..KafkaOptions::default()
        },
    );
    let topic = unique("replicated");
    let create = ["--create", "--topic", &topic, "--replication-factor", "3"];
    kafka.tool_ok(TOPICS, &create);
    kafka.wait_for_partitions(&topic, 7);
    kafka.kill(3);
    kafka.produce(&topic, &[("key", "value")]);
    assert_eq!(kafka.end_offsets(&topic).into_values().sum::<i64>(), 1);
    kafka.restart(3);
    assert_eq!(kafka.pids().len(), 3);
}

pub(crate) fn a_paused_node_answers_again(env: &Env) {
    let mut kafka = KafkaCluster::start(env.root(), 1, KafkaOptions::default());
    kafka.pause(1);
    let pid = kafka.pids()[0];
    wait_for("the node to be stopped", SOON, || match state(pid) {
        Some('T') => Ok(()),
        other => Err(format!("state {other:?}")),
    });
    kafka.resume(1);
    kafka.create_topic(&unique("after-pause"), 1);
}

pub(crate) fn audit_counts_requests(env: &Env) {
    let namespace = env.namespace("audit");
    env.kube
        .kubectl_ok(&["-n", &namespace, "create", "configmap", "counted"]);
    let yaml = "{apiVersion: v1, kind: ConfigMap, metadata: {name: applied}}";
    let output = env
        .kube
        .kubectl_with_input(&["-n", &namespace, "apply", "-f", "-"], yaml);
    assert!(output.status.success(), "{}", text(&output));
    let creates = env.kube.audit(|event| {
        event["verb"] == "create"
            && event["objectRef"]["resource"] == "configmaps"
            && event["objectRef"]["namespace"] == namespace.as_str()
            && event["userAgent"]
                .as_str()
                .is_some_and(|agent| agent.starts_with("kubectl/"))
    });
    let names: Vec<_> = creates
        .iter()
        .map(|event| event["objectRef"]["name"].as_str())
        .collect();
    assert_eq!(names, [Some("counted"), Some("applied")]);
    let seen = env
        .kube
        .get_json(&["-n", &namespace, "configmap", "counted"]);
    assert_eq!(seen["metadata"]["name"], "counted");
}

pub(crate) fn a_deleted_namespace_goes(env: &Env) {
    let namespace = env.namespace("short-lived");
    env.kube.apply_ok(&format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a, namespace: {namespace}}}}}"
    ));
    // Waits until the namespace is gone, which takes a controller that empties it.
    env.kube
        .kubectl_ok(&["delete", "namespace", &namespace, "--timeout=60s"]);
}

pub(crate) fn the_operator_user_may_do_nothing(env: &Env) {
    let kubeconfig = env.kube.kubeconfig_for_operator();
    let output = env.kube.kubectl(&[
        "--kubeconfig",
        &kubeconfig.to_string_lossy(),
        "get",
        "namespaces",
    ]);
    let said = text(&output);
    assert!(
        said.contains(r#"User "operator" cannot list resource "namespaces""#),
        "{said}"
    );
}

pub(crate) fn a_restarted_api_server_keeps_its_objects(env: &Env) {
    let mut kube = ControlPlane::start(env.root());
    kube.install_crds();
    kube.kubectl_ok(&["create", "namespace", "kept"]);
    kube.kill_apiserver();
    assert!(
        !kube.kubectl(&["get", "namespace", "kept"]).status.success(),
        "a killed API server answers"
    );
    kube.restart_apiserver();
    kube.kubectl_ok(&["get", "namespace", "kept"]);

    kube.pause_apiserver();
    let paused = kube.kubectl(&["get", "namespace", "kept", "--request-timeout=1s"]);
    assert!(!paused.status.success(), "a paused API server answers");
    kube.resume_apiserver();
    kube.kubectl_ok(&["get", "namespace", "kept"]);
}

pub(crate) fn nothing_is_left_behind(_env: &Env) {
    let root = Root::create();
    let path = root.path().to_owned();
    let kafka = KafkaCluster::start(&path, 1, KafkaOptions::default());
    let kube = ControlPlane::start(&path);
    let pids = [kafka.pids(), kube.pids()].concat();
    assert_eq!(pids.len(), 4);
    assert!(pids.iter().copied().all(exists));
    drop((kafka, kube));
    assert!(
        !pids.into_iter().any(exists),
        "a server has outlived its owner"
    );
    drop(root);
    assert!(!path.exists(), "{} is left", path.display());
}

/// Set for a child of the test below.
const TO_BE_KILLED: &str = "COPARTITION_TEST_RUN_TO_BE_KILLED";

pub(crate) fn a_killed_run_leaves_no_process(_env: &Env) {
    let mut run = Command::new(env::current_exe().expect("the path of this program"))
        .env(TO_BE_KILLED, "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("cannot start this program again");
    let mut line = String::new();
    let stdout = run.stdout.take().expect("its output is a pipe");
    BufReader::new(stdout)
        .read_line(&mut line)
        .expect("cannot read its output");
    let child: u32 = line
        .trim()
        .parse()
        .unwrap_or_else(|e| panic!("not a pid: {line:?}: {e}"));
    assert!(exists(child), "its child does not run");
    run.kill()
        .and_then(|()| run.wait())
        .expect("cannot kill it");
    wait_for("its child to be gone", SOON, || {
        if exists(child) {
            Err(format!("{child} runs"))
        } else {
            Ok(())
        }
    });
}

pub(crate) fn is_a_run_to_be_killed() -> bool {
    env::var_os(TO_BE_KILLED).is_some()
}

/// Starts a child on a thread that ends, as tests do, says its pid, and waits to be killed.
pub(crate) fn run_to_be_killed() -> ExitCode {
    let start = || {
        let mut command = guarded("sleep");
        command.arg("300");
        Process::start("sleep", command, Path::new("/dev/null"))
    };
    let child = thread::spawn(start)
        .join()
        .expect("the child did not start");
    // Until it is `sleep`, it may not have asked for its death yet. And did its life hang on that thread, which has
    // ended, it would never become it.
    wait_for("the child to be itself", SOON, || {
        let name =
            fs::read_to_string(format!("/proc/{}/comm", child.pid())).map_err(|e| e.to_string())?;
        if name.trim() == "sleep" {
            Ok(())
        } else {
            Err(name)
        }
    });
    println!("{}", child.pid());
    let forever = Duration::from_secs(u64::from(u32::MAX));
    thread::park_timeout(forever);
    ExitCode::FAILURE
}

fn exists(pid: u32) -> bool {
    // A zombie has ended; whoever is its parent only has not asked for its status yet.
    state(pid).is_some_and(|state| state != 'Z')
}

/// The state letter of a process, from its line in /proc: the first one after the name in parentheses.
fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}
