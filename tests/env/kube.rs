//! A Kubernetes control plane: etcd, the API server, and the controllers that empty namespaces and collect garbage.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::process::{Process, guarded};
use super::{free_port, part, script, text, unique, wait_for};

/// How long the API server may take to be ready. It takes 4 s on an idle machine with two cores.
const START: Duration = Duration::from_secs(120);

/// Killed, and its data removed, when dropped.
pub(crate) struct ControlPlane {
    dir: PathBuf,
    port: u16,
    etcd_port: u16,
    apiserver: Process,
    /// Fields are dropped in their order: what depends on another server goes before it.
    manager: Option<Process>,
    etcd: Process,
}

impl ControlPlane {
    /// Starts all parts with their data under `root`, and waits until the API server is ready.
    pub(crate) fn start(root: &Path) -> Self {
        let dir = root.join(unique("kube"));
        fs::create_dir_all(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
        let (etcd_port, peer_port, port) = (free_port(), free_port(), free_port());
        let mut command = guarded(script("etcd"));
        command
            .arg(dir.join("etcd"))
            .args([etcd_port.to_string(), peer_port.to_string()]);
        let etcd = Process::start("etcd", command, &dir.join("etcd.log"));
        let apiserver = launch_apiserver(&dir, port, etcd_port);
        let mut plane = Self {
            dir,
            port,
            etcd_port,
            apiserver,
            manager: None,
            etcd,
        };
        plane.wait_until_ready();
        let mut command = guarded(script("controller-manager"));
        command.arg(plane.kubeconfig());
        plane.manager = Some(Process::start(
            "controller manager",
            command,
            &plane.dir.join("controller-manager.log"),
        ));
        plane
    }

    /// Installs the project's own resource definitions and waits until they are served.
    pub(crate) fn install_crds(&self) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crds");
        let files = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        if files
            .filter_map(Result::ok)
            .all(|f| f.path().extension().is_none_or(|e| e != "yaml"))
        {
            return;
        }
        self.define(&folder);
    }

    /// The same with those of other tools, which documents and the chart use.
    pub(crate) fn install_definitions(&self) {
        self.define(part("definitions"));
    }

    fn define(&self, folder: &Path) {
        let folder = folder.to_string_lossy();
        self.kubectl_ok(&["apply", "--server-side", "-f", &folder]);
        self.kubectl_ok(&[
            "wait",
            "--for=condition=Established",
            "--timeout=60s",
            "-f",
            &folder,
        ]);
    }

    /// A kubeconfig of user `admin`, who may do everything.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.dir.join("apiserver/kubeconfig")
    }

    /// A kubeconfig of user `operator`, who may do only what RBAC grants: at first, nothing.
    pub(crate) fn kubeconfig_for_operator(&self) -> PathBuf {
        self.dir.join("apiserver/kubeconfig-operator")
    }

    /// Runs `kubectl` as admin.
    pub(crate) fn kubectl(&self, args: &[&str]) -> Output {
        self.kubectl_command(args)
            .output()
            .expect("cannot run kubectl")
    }

    /// Runs `kubectl` as admin and gives its standard output; panics if it fails.
    pub(crate) fn kubectl_ok(&self, args: &[&str]) -> String {
        let output = self.kubectl(args);
        assert!(
            output.status.success(),
            "kubectl {args:?} failed:\n{}",
            text(&output)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// What `kubectl get ARGS -o json` gives.
    pub(crate) fn get_json(&self, args: &[&str]) -> Value {
        let args = [&["get"], args, &["-o", "json"]].concat();
        let json = self.kubectl_ok(&args);
        serde_json::from_str(&json)
            .unwrap_or_else(|e| panic!("kubectl {args:?} printed no JSON: {e}\n{json}"))
    }

    /// `kubectl apply` of a manifest.
    pub(crate) fn apply(&self, yaml: &str) -> Output {
        self.kubectl_with_input(&["apply", "-f", "-"], yaml)
    }

    /// `kubectl apply` of a manifest; panics if it is refused.
    pub(crate) fn apply_ok(&self, yaml: &str) {
        let output = self.apply(yaml);
        assert!(
            output.status.success(),
            "kubectl apply failed:\n{}\nof\n{yaml}",
            text(&output)
        );
    }

    /// Runs `kubectl` as admin with `input` on its standard input.
    pub(crate) fn kubectl_with_input(&self, args: &[&str], input: &str) -> Output {
        let mut child = self
            .kubectl_command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("cannot run kubectl");
        // If it ends without reading everything, its exit status says why.
        let _ = child
            .stdin
            .take()
            .map(|mut stdin| stdin.write_all(input.as_bytes()));
        child
            .wait_with_output()
            .expect("cannot read what kubectl says")
    }

    /// As [`Self::kubectl_with_input`]; panics if it fails.
    pub(crate) fn kubectl_with_input_ok(&self, args: &[&str], input: &str) {
        let output = self.kubectl_with_input(args, input);
        assert!(
            output.status.success(),
            "kubectl {args:?} failed:\n{}",
            text(&output)
        );
    }

    /// Starts a `kubectl` as admin that goes on by itself, such as a watch; what it prints is the process's log.
    pub(crate) fn kubectl_running(&self, args: &[&str]) -> Process {
        let log = self.dir.join(format!("{}.log", unique("kubectl")));
        Process::start("kubectl", self.kubectl_command(args), &log)
    }

    /// The finished requests that `pick` chooses from the audit log, oldest first: one event per request, at level
    /// `Metadata` (`user.username`, `verb`, `objectRef.resource`, `userAgent`, `responseStatus.code` and so on).
    /// A watch counts twice, with `stage` `ResponseStarted` and, when it ends, `ResponseComplete`.
    pub(crate) fn audit(&self, pick: impl Fn(&Value) -> bool) -> Vec<Value> {
        let log = fs::read_to_string(self.audit_path()).unwrap_or_default();
        // The last line may still be being written.
        log.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter(pick)
            .collect()
    }

    /// The file that [`Self::audit`] reads.
    pub(crate) fn audit_path(&self) -> PathBuf {
        self.dir.join("apiserver/audit.log")
    }

    /// Kills the API server outright; etcd keeps the data.
    pub(crate) fn kill_apiserver(&mut self) {
        self.apiserver.kill();
    }

    /// Starts the API server again (killing it first if it runs) and waits until it is ready.
    pub(crate) fn restart_apiserver(&mut self) {
        self.apiserver.kill();
        self.apiserver = launch_apiserver(&self.dir, self.port, self.etcd_port);
        self.wait_until_ready();
    }

    /// Stops the API server's process without ending it: connections stay open, and nothing answers.
    pub(crate) fn pause_apiserver(&mut self) {
        self.apiserver.signal("STOP");
    }

    pub(crate) fn resume_apiserver(&mut self) {
        self.apiserver.signal("CONT");
    }

    /// The pids of all parts.
    pub(crate) fn pids(&self) -> Vec<u32> {
        [
            Some(&self.apiserver),
            self.manager.as_ref(),
            Some(&self.etcd),
        ]
        .into_iter()
        .flatten()
        .map(Process::pid)
        .collect()
    }

    /// Where its logs are.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// `kubectl` as admin, for a test that has more to say about the process.
    pub(crate) fn kubectl_command(&self, args: &[&str]) -> Command {
        let mut command = guarded(part("controlplane").join("kubectl"));
        // Its cache of what the API server serves would otherwise be shared with the user's own kubectl.
        command
            .env("KUBECONFIG", self.kubeconfig())
            .env("KUBECACHEDIR", self.dir.join("kubectl-cache"))
            .args(args);
        command
    }

    fn wait_until_ready(&mut self) {
        wait_for("the API server to be ready", START, || {
            self.apiserver.assert_running();
            self.etcd.assert_running();
            let output = self.kubectl(&["get", "--raw", "/readyz", "--request-timeout=5s"]);
            if output.status.success() {
                Ok(())
            } else {
                Err(text(&output))
            }
        });
    }
}

fn launch_apiserver(dir: &Path, port: u16, etcd_port: u16) -> Process {
    let mut command = guarded(script("apiserver"));
    command
        .arg(dir.join("apiserver"))
        .args([port.to_string(), etcd_port.to_string()]);
    Process::start("API server", command, &dir.join("apiserver.log"))
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        self.apiserver.kill();
        self.manager = None;
        self.etcd.kill();
        // The folder of the whole run goes at the end in any case; this only keeps a long run small.
        if std::env::var_os("COPARTITION_TEST_KEEP").is_none() {
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}
