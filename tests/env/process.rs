//! Child processes that cannot outlive the test process, and signals to them.
//!
//! Each child asks the kernel to be killed when its parent dies (`setpriv --pdeathsig`), so even a test process that is
//! killed outright leaves no server behind. The kernel means the parent *thread*, and tests run on threads that end:
//! so one thread that never ends starts all children that are to live on.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{LazyLock, mpsc};
use std::thread;
use std::time::Duration;

use super::wait::wait_for;

type Job = (Command, mpsc::Sender<io::Result<Child>>);

static SPAWNER: LazyLock<mpsc::Sender<Job>> = LazyLock::new(|| {
    let (jobs, queue) = mpsc::channel::<Job>();
    thread::spawn(move || {
        for (mut command, reply) in queue {
            // The caller waits for the answer, so it is gone only if it panicked; then nobody needs the child.
            let _ = reply.send(command.spawn());
        }
    });
    jobs
});

/// A command whose process dies with the thread that starts it.
pub(crate) fn guarded(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args(["--pdeathsig", "KILL", "--"])
        .arg(program)
        .stdin(Stdio::null());
    command
}

/// A running child, killed and reaped when dropped.
pub(crate) struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `command` (made by [`guarded`]) with its output appended to `log`.
    pub(crate) fn start(name: &str, mut command: Command, log: &Path) -> Self {
        let open = || {
            File::options()
                .create(true)
                .append(true)
                .open(log)
                .unwrap_or_else(|e| panic!("{}: {e}", log.display()))
        };
        command.stdout(open()).stderr(open());
        let (reply, answer) = mpsc::channel();
        SPAWNER
            .send((command, reply))
            .expect("the thread that starts children has ended");
        let child = answer
            .recv()
            .expect("the thread that starts children has ended")
            .unwrap_or_else(|e| panic!("cannot start {name}: {e}"));
        Self {
            name: name.to_owned(),
            child,
            log: log.to_owned(),
        }
    }

    /// Writes a line to its standard input, which its command has piped.
    pub(crate) fn say(&mut self, line: &str) {
        let input = self.child.stdin.as_mut();
        let input = input.unwrap_or_else(|| panic!("{} has no standard input", self.name));
        writeln!(input, "{line}").unwrap_or_else(|e| panic!("{} does not listen: {e}", self.name));
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The exit status, if it has ended.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child
            .try_wait()
            .unwrap_or_else(|e| panic!("cannot ask for the state of {}: {e}", self.name))
    }

    /// Sends a signal by its name (`TERM`, `STOP`, `CONT`). Fails if the process has ended, as its pid may be another's.
    pub(crate) fn signal(&mut self, name: &str) {
        if let Some(status) = self.ended() {
            panic!(
                "{} has ended ({status}), so it can't get SIG{name}; its log ends:\n{}",
                self.name,
                self.log_tail()
            );
        }
        // The shell's own `kill`: slim systems have no program of that name, and calling the kernel would need unsafe code.
        let status = Command::new("sh")
            .args(["-c", r#"kill -s "$0" "$1""#, name, &self.pid().to_string()])
            .status()
            .expect("cannot run sh");
        assert!(status.success(), "cannot send SIG{name} to {}", self.name);
    }

    pub(crate) fn kill(&mut self) {
        // Both fail only if it is gone already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for the process to end by itself.
    pub(crate) fn wait(&mut self, deadline: Duration) -> ExitStatus {
        let name = self.name.clone();
        wait_for(&format!("{name} to end"), deadline, || {
            self.ended().ok_or_else(|| "it runs".to_owned())
        })
    }

    /// Everything it has written so far.
    pub(crate) fn log(&self) -> String {
        fs::read(&self.log).map_or_else(
            |e| format!("({}: {e})", self.log.display()),
            |b| String::from_utf8_lossy(&b).into_owned(),
        )
    }

    /// The last lines of its log, for the message of a failure.
    pub(crate) fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }

    /// Fails with the end of the log if the process has ended: for waits for it to answer.
    pub(crate) fn assert_running(&mut self) {
        if let Some(status) = self.ended() {
            panic!(
                "{} has ended ({status}); its log ends:\n{}",
                self.name,
                self.log_tail()
            );
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
