//! On what was measured, in one line: nothing that names a host or a folder.

use std::path::Path;
use std::process::Command;
use std::{fs, thread};

use jiff::Timestamp;

pub(crate) fn describe(data: &str) -> String {
    let day = Timestamp::now().strftime("%Y-%m-%d");
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let memory = memory_gib().map_or_else(String::new, |gib| format!(", {gib:.0} GiB"));
    let load = load().map_or_else(String::new, |load| format!(" with a load of {load} before"));
    format!(
        "{day}, {cores} cores{memory}{load}, Kafka {} on Java {} with {data}, Kubernetes {}, operator {}",
        pinned("kafka/pom.xml", "<kafka.version>", "<"),
        java(),
        pinned("controlplane/go.mod", "k8s.io/kubernetes v", "\n"),
        env!("CARGO_PKG_VERSION"),
    )
}

/// How busy the machine was with other things in the last minute: figures of a busy one mean little.
fn load() -> Option<String> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    load.split_whitespace().next().map(ToOwned::to_owned)
}

fn memory_gib() -> Option<f64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let kib: u32 = info
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()?;
    Some(f64::from(kib) / 1024.0 / 1024.0)
}

/// A version where the set-up of the tests pins it.
fn pinned(file: &str, before: &str, after: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/env")
        .join(file);
    fs::read_to_string(path)
        .ok()
        .and_then(|text| {
            let (_, rest) = text.split_once(before)?;
            let (version, _) = rest.split_once(after)?;
            version.split_whitespace().next().map(ToOwned::to_owned)
        })
        .unwrap_or_else(|| "of an unknown version".to_owned())
}

fn java() -> String {
    Command::new("java")
        .arg("-version")
        .output()
        .ok()
        .and_then(|output| {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            said.split('"').nth(1).map(ToOwned::to_owned)
        })
        .unwrap_or_else(|| "of an unknown version".to_owned())
}
