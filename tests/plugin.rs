//! `kubectl copartition` as a process of its own, and on groups that live in a cluster.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::env::process::guarded;
use crate::env::{ControlPlane, Env, text, unique};
use crate::scene::{Scene, names};

const PLUGIN: &str = env!("CARGO_BIN_EXE_kubectl-copartition");

/// The plugin with the cluster's kubeconfig.
pub(crate) fn plugin(kube: &ControlPlane, args: &[&str]) -> Command {
    let mut command = guarded(PLUGIN);
    command
        .args(args)
        .env("KUBECONFIG", kube.kubeconfig())
        .env_remove("NO_COLOR")
        .stdin(Stdio::null());
    command
}

pub(crate) fn run(kube: &ControlPlane, args: &[&str]) -> Output {
    plugin(kube, args).output().expect("cannot run the plugin")
}

/// What is printed as JSON by a command that ends with this code.
fn json_of(kube: &ControlPlane, args: &[&str], code: i32) -> Value {
    let output = run(kube, &[args, &["-o", "json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{}", text(&output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&output)))
}

/// The line on standard error of a command that fails, with nothing on standard output.
fn refusal(mut command: Command) -> String {
    let output = command.output().expect("cannot run the plugin");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert_eq!(output.stdout, b"", "{}", text(&output));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

pub(crate) fn a_live_group_is_laid_out_at_its_live_count(env: &Env) {
    let scene = Scene::new(env, "plugin");
    let [a, b] = names(["plugin", "plugin"]);
    // Unset: only the status knows the count.
    env.kafka.create_topic(&a, 6);
    env.kafka.create_topic(&b, 6);
    let group = scene.group("market-data");
    group.apply(&scene.spec(None, &[&a, &b]));
    group.wait_ready();
    let args = ["layout", "market-data", "-n", &scene.namespace];
    let seen = json_of(&env.kube, &args, 0);
    assert_eq!(seen["group"], format!("{}/market-data", scene.namespace));
    assert_eq!(seen["topics"], json!([a, b]));
    assert_eq!(
        (&seen["scheme"], &seen["partitions"]),
        (&json!("utf8/murmur2"), &json!(6))
    );
    assert_eq!(
        seen["keys"][0],
        json!({"key": "BBCA", "bytes": "42424341", "hash": "c9ecb712", "partition": 0})
    );
    assert_eq!(seen["total"], 10);
    // It says what the operator says.
    let layout = group.get()["status"]["layout"].clone();
    assert_eq!(seen["keysPerPartition"], layout["keysPerPartition"]);
    assert_eq!(seen["keys"], layout["keys"]);
    let explained = json_of(
        &env.kube,
        &[
            "explain",
            "BBCA",
            "--group",
            "market-data",
            "-n",
            &scene.namespace,
        ],
        0,
    );
    assert_eq!(
        (
            &explained["partitions"],
            &explained["schemes"][0]["partition"]
        ),
        (&json!(6), &json!(0))
    );
}

pub(crate) fn a_growth_of_a_live_group_is_foretold(env: &Env) {
    let scene = Scene::new(env, "plugin");
    let [a] = names(["plugin"]);
    let group = scene.group("market-data");
    group.apply(&scene.spec(6, &[&a]));
    group.wait_ready();
    let args = ["plan", "market-data", "-n", &scene.namespace, "--to"];
    let seen = json_of(&env.kube, &[&args[..], &["8"]].concat(), 0);
    let layout = &seen["layouts"][0];
    assert_eq!(
        (&layout["from"], &layout["movedShare"]["percent"]),
        (&json!(6), &json!("75 %"))
    );
    assert_eq!(
        layout["keys"][0],
        json!({"key": "BBCA", "before": 0, "after": 2, "moves": true})
    );
    assert_eq!(seen["keySchemesAligned"]["reason"], "SameScheme");
    let said = refusal(plugin(
        &env.kube,
        &[&args[..], &["4", "--offline"]].concat(),
    ));
    assert!(said.contains("Kafka cannot shrink a topic"), "{said}");
    let seen = json_of(&env.kube, &[&args[..], &["4"]].concat(), 2);
    assert_eq!(seen["partitionsAligned"]["reason"], "PartitionDrift");
}

/// kubectl finds plugins, and what completes them, on PATH.
pub(crate) fn kubectl_runs_and_completes_the_plugin(env: &Env) {
    let folder = env.root().join(unique("path"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let script = run(&env.kube, &["completion", "kubectl"]).stdout;
    let completer = folder.join("kubectl_complete-copartition");
    std::fs::write(&completer, script).expect("a script");
    executable(&completer);
    std::os::unix::fs::symlink(PLUGIN, folder.join("kubectl-copartition")).expect("a link");
    let kubectl = |args: &[&str]| {
        let path = std::env::var("PATH").unwrap_or_default();
        let output = env
            .kube
            .kubectl_command(args)
            .env("PATH", format!("{}:{path}", folder.display()))
            .output()
            .expect("cannot run kubectl");
        assert!(output.status.success(), "{}", text(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let said = kubectl(&["copartition", "explain", "100:48069", "--partitions", "12"]);
    assert!(said.starts_with("key        100:48069\n"), "{said}");
    let said = kubectl(&["__complete", "copartition", "lay"]);
    assert!(said.starts_with("layout\n"), "{said}");
    let said = kubectl(&["__complete", "copartition", "layout", "--client", "sar"]);
    assert!(said.starts_with("sarama\n"), "{said}");
}

fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
}

pub(crate) fn a_group_that_cannot_be_read_is_one_clear_line(env: &Env) {
    let namespace = env.namespace("plugin");
    let args = ["layout", "no-such", "-n", &namespace];
    let said = refusal(plugin(&env.kube, &args));
    let wanted = format!("there is no CoPartitionedTopicGroup no-such in namespace {namespace};");
    assert!(said.contains(&wanted), "{said}");
    let mut nobody = plugin(&env.kube, &args);
    nobody.env("KUBECONFIG", of_nobody(env, &namespace));
    let said = refusal(nobody);
    assert!(
        said.contains(&format!(
            "you may not get copartitionedtopicgroups in namespace {namespace}"
        )),
        "{said}"
    );
    let mut nowhere = plugin(&env.kube, &args);
    nowhere
        .env("KUBECONFIG", "/nowhere/config")
        .env_remove("KUBERNETES_SERVICE_HOST");
    let said = refusal(nowhere);
    assert!(
        said.contains("/nowhere/config") && said.contains("use -f FILE"),
        "{said}"
    );
    let said = refusal(plugin(
        &env.kube,
        &[&args[..], &["--context", "other"]].concat(),
    ));
    assert!(said.contains("other"), "{said}");
    let mut closed = plugin(&env.kube, &args);
    let config = env.root().join(unique("closed"));
    std::fs::write(&config, closed_port()).expect("a kubeconfig");
    closed.env("KUBECONFIG", &config);
    let said = refusal(closed);
    assert!(
        said.contains(&format!("reading {namespace}/no-such: ")),
        "{said}"
    );
}

/// A kubeconfig of a service account that may do nothing. Not the operator's user, to whom another test grants a role.
pub(crate) fn of_nobody(env: &Env, namespace: &str) -> PathBuf {
    let kube = &env.kube;
    kube.kubectl_ok(&["create", "serviceaccount", "nobody", "-n", namespace]);
    let token = kube.kubectl_ok(&["create", "token", "nobody", "-n", namespace]);
    let admin = std::fs::read_to_string(kube.kubeconfig()).expect("a kubeconfig");
    let mut config: Value = serde_yaml::from_str(&admin).expect("a kubeconfig");
    config["users"][0]["user"] = json!({"token": token.trim()});
    let path = env.root().join(unique("nobody"));
    std::fs::write(&path, config.to_string()).expect("a kubeconfig");
    path
}

/// A kubeconfig of an API server where nobody answers.
fn closed_port() -> String {
    let port = crate::env::free_port();
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "a",
        "clusters": [{"name": "a", "cluster": {"server": format!("http://127.0.0.1:{port}")}}],
        "users": [{"name": "a", "user": {}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
    })
    .to_string()
}

pub(crate) fn nothing_is_printed_of_bad_keys_and_a_closed_pipe_is_no_error(env: &Env) {
    let args = [
        "layout",
        "--partitioner",
        "murmur2",
        "--encoding",
        "int32",
        "--partitions",
        "6",
        "-o",
        "csv",
        "--keys-file",
        "-",
    ];
    let start = || {
        plugin(&env.kube, &args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("cannot run the plugin")
    };
    let good = "1\n".repeat(1_000_000);
    let mut child = start();
    let mut stdin = child.stdin.take().expect("a pipe");
    // It stops reading at the bad key.
    let _ = stdin.write_all(format!("{good}abc\n{good}").as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("cannot read what it says");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout.len(), 0);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.starts_with("kubectl copartition: stdin line 1000001: key \"abc\" has no int32"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");

    let mut child = start();
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(good.as_bytes()).expect("it reads all");
    drop(stdin);
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut first = [0; 26];
    stdout.read_exact(&mut first).expect("it prints");
    assert_eq!(&first, b"key,bytes,hash,partition\n1");
    drop(stdout);
    let output = child.wait_with_output().expect("cannot read what it says");
    assert_eq!(
        (output.status.code(), &output.stderr[..]),
        (Some(0), &b""[..])
    );
}
