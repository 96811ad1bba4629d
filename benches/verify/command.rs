//! The command as a process.

use std::fs;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What one run took.
pub(crate) struct Run {
    /// From its start to its end, in seconds.
    pub(crate) seconds: f64,
    /// Most resident memory, in MiB.
    pub(crate) peak: f64,
}

pub(crate) fn run(bootstrap: &str, topic: &str, records: u64) -> Run {
    let began = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-copartition"))
        .args(["verify", "--bootstrap", bootstrap, "--topic", topic])
        .args([
            "--client",
            "java",
            "--full",
            "--timeout",
            "10m",
            "-o",
            "json",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let status = format!("/proc/{}/status", child.id());
    let watched = thread::spawn(move || {
        let mut peak = 0.0;
        while let Some(now) = high_water(&status) {
            peak = now;
            thread::sleep(Duration::from_millis(5));
        }
        peak
    });
    let mut said = String::new();
    let mut stdout = child.stdout.take().expect("its output");
    stdout.read_to_string(&mut said).expect("its output");
    let status = child.wait().expect("it ends");
    let seconds = began.elapsed().as_secs_f64();
    let read = format!("\"records\": {records},");
    assert!(status.success() && said.contains(&read), "{said}");
    Run {
        seconds,
        peak: watched.join().expect("watching it"),
    }
}

/// Most resident memory so far, in MiB; `None` of a process that has ended.
fn high_water(status: &str) -> Option<f64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u32 = line.split_whitespace().next()?.parse().ok()?;
    Some(f64::from(kib) / 1024.0)
}
