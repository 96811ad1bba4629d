//! The real Helm with this project's chart, and the operator as the installed Deployment starts it. No tests here.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use serde_json::{Value, json};

use crate::env::process::guarded;
use crate::env::{ControlPlane, Operator, OperatorOptions, text, tool, unique};
use crate::rights::manifests;

/// The namespace that the chart is installed in.
pub(super) const SYSTEM: &str = "copartition-system";
/// The release's name.
pub(super) const RELEASE: &str = "copartition-operator";
/// The user that the operator is at the API server.
pub(super) const ACCOUNT: &str = "system:serviceaccount:copartition-system:copartition-operator";

/// The chart's folder.
pub(super) fn chart() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("charts/copartition-operator")
}

/// Helm without a cluster, and without what the user's own keeps on this machine.
fn command(home: &Path, args: &[&str]) -> Command {
    let mut command = guarded(tool("helm"));
    for name in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
        command.env(name, home.join("helm"));
    }
    command.env("KUBECONFIG", "/dev/null").args(args);
    command
}

/// What Helm says without a cluster.
pub(super) fn offline(args: &[&str]) -> Output {
    let home = env::temp_dir();
    command(&home, args).output().expect("cannot run helm")
}

/// What the chart renders with these `--set` values.
pub(crate) fn render(values: &[&str]) -> Vec<Value> {
    let path = chart();
    let mut args = vec![
        "template",
        RELEASE,
        path.to_str().expect("a path"),
        "-n",
        SYSTEM,
    ];
    for value in values {
        args.extend(["--set", value]);
    }
    let output = offline(&args);
    assert!(output.status.success(), "{}", text(&output));
    manifests(&String::from_utf8_lossy(&output.stdout))
}

/// Helm on one API server.
pub(super) struct Helm<'a>(pub(super) &'a ControlPlane);

impl Helm<'_> {
    pub(super) fn try_run(&self, args: &[&str]) -> Output {
        let mut command = command(self.0.dir(), args);
        command.env("KUBECONFIG", self.0.kubeconfig());
        command.output().expect("cannot run helm")
    }

    /// Runs it in the chart's namespace; panics if it fails.
    pub(super) fn run(&self, args: &[&str]) -> String {
        let output = self.try_run(&[args, &["-n", SYSTEM]].concat());
        assert!(output.status.success(), "helm {args:?}: {}", text(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Installs or upgrades from this folder with these values.
    pub(super) fn try_put(&self, verb: &str, chart: &Path, values: &Value) -> Output {
        let file = self.0.dir().join(format!("{}.yaml", unique("values")));
        fs::write(&file, values.to_string()).expect("the values");
        let (chart, file) = (chart.to_string_lossy(), file.to_string_lossy());
        let mut args = vec![verb, RELEASE, &chart, "-f", &file, "-n", SYSTEM];
        if verb == "install" {
            args.push("--create-namespace");
        }
        self.try_run(&args)
    }

    /// The same, and waits until the definitions are served.
    pub(super) fn put(&self, verb: &str, chart: &Path, values: &Value) -> String {
        let output = self.try_put(verb, chart, values);
        assert!(output.status.success(), "helm {verb}: {}", text(&output));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        self.0.kubectl_ok(&[
            "wait",
            "--for=condition=Established",
            "--timeout=60s",
            "crd/copartitionedtopicgroups.copartition.dev",
            "crd/copartitionclaims.copartition.dev",
            "crd/kafkaconnections.copartition.dev",
        ]);
        said
    }

    /// The Deployment that Helm has installed.
    pub(super) fn deployment(&self) -> Value {
        self.0.get_json(&["deployment", RELEASE, "-n", SYSTEM])
    }

    /// Starts the operator with the arguments of the installed Deployment and a token of its service account.
    pub(super) fn operator(&self) -> Operator {
        let deployment = self.deployment();
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        let args = container["args"].as_array().expect("arguments");
        let args: Vec<String> = args
            .iter()
            .filter_map(|arg| arg.as_str().map(ToOwned::to_owned))
            // Each test has a port of its own.
            .filter(|arg| arg != "run" && !arg.starts_with("--listen="))
            .collect();
        let options = OperatorOptions {
            args,
            kubeconfig: Some(self.kubeconfig()),
            ..OperatorOptions::default()
        };
        Operator::start(self.0, options)
    }

    /// A kubeconfig with what a pod would have: a token of the service account, and its namespace.
    fn kubeconfig(&self) -> PathBuf {
        let token = self
            .0
            .kubectl_ok(&["create", "token", RELEASE, "-n", SYSTEM]);
        let admin = fs::read_to_string(self.0.kubeconfig()).expect("a kubeconfig");
        let mut config: Value = serde_yaml::from_str(&admin).expect("YAML");
        config["users"][0]["user"] = json!({"token": token.trim()});
        config["contexts"][0]["context"]["namespace"] = json!(SYSTEM);
        let path = self.0.dir().join(format!("{}.yaml", unique("account")));
        fs::write(&path, config.to_string()).expect("a kubeconfig");
        path
    }
}
