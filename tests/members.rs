//! Members of consumer groups: real clients, many in one process of their own.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::env::process::{Process, guarded};
use crate::env::{Env, script, unique, wait_for};

/// A JVM that is starting shares two cores with servers.
const DEADLINE: Duration = Duration::from_secs(120);

/// A process that members of consumer groups live in.
pub(crate) struct Members(Process);

impl Members {
    /// A JVM for Kafka's own clients, with no member yet.
    pub(crate) fn java(env: &Env) -> Self {
        let run = script("../clients/run");
        let mut command = guarded(run);
        command
            .args(["members", &env.kafka.bootstrap()])
            .args(["-", "-"])
            .stdin(Stdio::piped());
        let log = env.root().join(format!("{}.log", unique("members")));
        Self::start("members", command, &log)
    }

    fn start(name: &str, command: std::process::Command, log: &Path) -> Self {
        Self(Process::start(name, command, log))
    }

    /// A consumer joins: `assignor` is the client's own short name, or the coordinator's.
    pub(crate) fn consumer(
        &mut self,
        name: &str,
        group: &str,
        protocol: &str,
        assignor: &str,
        topics: &[&str],
    ) {
        let topics = topics.join(",");
        self.say(&format!(
            "consumer {name} {group} {protocol} {assignor} {topics}"
        ));
    }

    /// An application of Kafka Streams starts: `shape` is `join`, `apart` or `shared`.
    pub(crate) fn streams(
        &mut self,
        name: &str,
        application: &str,
        protocol: &str,
        shape: &str,
        topics: [&str; 2],
    ) {
        let topics = topics.join(",");
        self.say(&format!(
            "streams {name} {application} {protocol} {shape} {topics}"
        ));
    }

    /// A member leaves.
    pub(crate) fn close(&mut self, name: &str) {
        self.say(&format!("close {name}"));
        self.said(&format!("{name} closed"));
    }

    /// Waits until the process has written this.
    pub(crate) fn said(&mut self, words: &str) {
        wait_for(words, DEADLINE, || {
            self.0.assert_running();
            let log = self.0.log();
            log.contains(words)
                .then_some(())
                .ok_or_else(|| self.0.log_tail())
        });
    }

    /// What the process wrote last, for the message of a failure.
    pub(crate) fn log_tail(&self) -> String {
        self.0.log_tail()
    }

    fn say(&mut self, line: &str) {
        self.0.say(line);
    }
}
