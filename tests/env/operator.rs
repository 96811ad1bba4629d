//! The operator's own binary, run as a user runs it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;
use std::{env, thread};

use super::process::{Process, guarded};
use super::{ControlPlane, free_port, unique, wait_for};

const START: Duration = Duration::from_secs(60);
const STOP: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(crate) struct OperatorOptions {
    /// The namespaces to watch: a test names its own, so that operators of other tests leave it alone.
    pub(crate) namespaces: Vec<String>,
    /// More arguments after `run`; one given here wins over the same one below.
    pub(crate) args: Vec<String>,
    /// As whom to talk to the API server; admin if unset.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// What it logs, unless RUST_LOG says so; tests want to read more than users do.
    pub(crate) log: Option<&'static str>,
}

/// Killed when dropped; its log is printed if the test is failing.
pub(crate) struct Operator {
    process: Process,
    port: u16,
}

impl Operator {
    /// Starts the operator and waits until it says that it is ready.
    pub(crate) fn start(kube: &ControlPlane, options: OperatorOptions) -> Self {
        let mut operator = Self::launch(kube, options);
        operator.wait_until_ready();
        operator
    }

    /// Starts the operator and does not wait: for tests of a start that can't succeed yet.
    pub(crate) fn launch(kube: &ControlPlane, options: OperatorOptions) -> Self {
        let name = unique("operator");
        let port = free_port();
        let mut command = guarded(env!("CARGO_BIN_EXE_copartition-operator"));
        command
            .arg("run")
            .args(["--listen", &format!("127.0.0.1:{port}")]);
        for namespace in &options.namespaces {
            command.args(["--watch-namespace", namespace]);
        }
        // A Lease for each test. Under its own name an operator that a test starts again need not wait for it.
        let given = |flag: &str| options.args.iter().any(|arg| arg.starts_with(flag));
        let own = options.namespaces.first();
        let own = own.and_then(|namespaces| namespaces.split(',').next());
        let defaults = [
            ("--poll-interval", Some("500ms")),
            ("--inline-connections", Some("*")),
            ("--installation", Some("tests")),
            ("--lease-namespace", own),
            ("--identity", own),
        ];
        for (flag, value) in defaults {
            if let Some(value) = value.filter(|_| !given(flag)) {
                command.args([flag, value]);
            }
        }
        let kubeconfig = options.kubeconfig.unwrap_or_else(|| kube.kubeconfig());
        command
            .args(&options.args)
            .env("KUBECONFIG", kubeconfig)
            .env("RUST_BACKTRACE", "1");
        if env::var_os("RUST_LOG").is_none() {
            command.env("RUST_LOG", options.log.unwrap_or("info,copartition=debug"));
        }
        let process = Process::start(&name, command, &kube.dir().join(format!("{name}.log")));
        Self { process, port }
    }

    /// Waits until `/readyz` says 200.
    pub(crate) fn wait_until_ready(&mut self) {
        wait_for("the operator to be ready", START, || {
            self.process.assert_running();
            match self.try_get("/readyz")? {
                (200, _) => Ok(()),
                (status, body) => Err(format!("/readyz: {status} {body}")),
            }
        });
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Kills it outright, as a crash would.
    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    /// Stops it in its tracks, as a machine without a moment to spare would, until [`Self::resume`].
    pub(crate) fn pause(&mut self) {
        self.process.signal("STOP");
    }

    /// Lets a paused one go on.
    pub(crate) fn resume(&mut self) {
        self.process.signal("CONT");
    }

    /// Asks it to stop, as Kubernetes does, and waits until it has.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        self.process.signal("TERM");
        self.wait()
    }

    /// Waits until it ends by itself.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.process.wait(STOP)
    }

    /// The body of `/metrics`.
    pub(crate) fn metrics(&self) -> String {
        let (status, body) = self.get("/metrics");
        assert_eq!(status, 200, "/metrics: {body}");
        body
    }

    /// The status and the body of an HTTP GET; panics if there is no answer.
    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        self.try_get(path)
            .unwrap_or_else(|e| panic!("the operator does not answer on {path}: {e}"))
    }

    /// Everything it has logged so far.
    pub(crate) fn log(&self) -> String {
        self.process.log()
    }

    /// As [`Self::get`], for an operator that may not listen yet. HTTP/1.0, whose answers come in one piece and end with the connection: no client library is needed.
    pub(crate) fn try_get(&self, path: &str) -> Result<(u16, String), String> {
        self.try_get_as(path, "application/openmetrics-text")
    }

    /// As [`Self::try_get`], for another kind of page.
    pub(crate) fn try_get_as(&self, path: &str, accept: &str) -> Result<(u16, String), String> {
        let mut answer = String::new();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(|e| e.to_string())?;
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .and_then(|()| {
                write!(
                    stream,
                    "GET {path} HTTP/1.0\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n"
                )
            })
            .and_then(|()| stream.read_to_string(&mut answer))
            .map_err(|e| e.to_string())?;
        let (head, body) = answer
            .split_once("\r\n\r\n")
            .ok_or_else(|| format!("no HTTP answer: {answer:?}"))?;
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Ok((
            status.ok_or_else(|| format!("no HTTP status: {head:?}"))?,
            body.to_owned(),
        ))
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the operator's log ends:\n{}", self.process.log_tail());
        }
    }
}
