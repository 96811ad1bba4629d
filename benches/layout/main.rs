//! `make bench-layout`: how much CPU time and memory `kubectl copartition layout --summary` takes for millions of keys,
//! against the same loop in Java with `Utils.murmur2` and in KafkaJS. All are run on the same file, one after the other,
//! several times; what is compared is the least CPU time of each. Prints a table, and writes it where `--out` says.

// A benchmark that can't go on has to stop with a message; `unwrap` stays forbidden, because it has none.
#![allow(clippy::expect_used)]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use tempfile::TempDir;

const PARTITIONS: &str = "6";
const ROUNDS: usize = 3;
/// USER_HZ: what /proc counts CPU time in. It is 100 on every architecture that Linux has today.
const TICKS_PER_SECOND: f64 = 100.0;

/// What one run took.
struct Run {
    cpu: f64,
    wall: Duration,
    /// Most resident memory, in MiB.
    peak: f64,
    /// How many keys each partition got.
    counts: Vec<u64>,
}

fn main() {
    let mut keys: u32 = 10_000_000;
    let mut out: Option<PathBuf> = None;
    let mut args = env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            // cargo bench adds it.
            "--bench" => {}
            "--keys" => keys = args.next().and_then(|n| n.parse().ok()).expect("--keys N"),
            "--out" => out = Some(args.next().expect("--out FILE").into()),
            other => panic!("unknown argument {other}"),
        }
    }
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("keys.txt");
    write_keys(&file, keys);
    let table = table(&measure(folder.path(), &file), keys);
    print!("{table}");
    if let Some(out) = out {
        fs::write(&out, table).expect("writing the table");
    }
}

fn write_keys(file: &Path, keys: u32) {
    let mut writer = BufWriter::new(File::create(file).expect("the keys file"));
    for key in 0..keys {
        writeln!(writer, "user-{key}").expect("writing keys");
    }
    writer.flush().expect("writing keys");
}

/// Each contestant's least CPU time and most memory, in the order of the table.
fn measure(folder: &Path, file: &Path) -> Vec<(&'static str, Run)> {
    let parts = parts();
    let part = |name: &str| -> &str {
        let line = parts
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_else(|| panic!("tests/env/parts does not tell {name}"))
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/layout");
    let jars = format!("{}/*", part("kafka"));
    let classes = folder.join("classes");
    let javac = Command::new("javac")
        .args(["-cp", &jars, "-d"])
        .arg(&classes)
        .arg(here.join("Murmur2.java"))
        .status();
    assert!(javac.is_ok_and(|status| status.success()), "javac failed");

    let ours = |keys_file: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-copartition"));
        command.args(["layout", "--partitioner", "murmur2", "--encoding", "utf8"]);
        command.args([
            "--partitions",
            PARTITIONS,
            "--summary",
            "-o",
            "csv",
            "--keys-file",
        ]);
        command.arg(keys_file);
        command
    };
    let mut java = Command::new("java");
    java.arg("-cp").arg(format!("{}:{jars}", classes.display()));
    java.arg("Murmur2").arg(file).arg(PARTITIONS);
    let mut kafkajs = Command::new("node");
    kafkajs.arg(here.join("murmur2.cjs")).arg(file);
    kafkajs.args([PARTITIONS, part("clients-node")]);

    let mut contestants = [
        ("layout --summary, from a file", ours(file), false),
        ("layout --summary, from a pipe", ours(Path::new("-")), true),
        ("Java, Utils.murmur2", java, false),
        ("KafkaJS, its murmur2", kafkajs, false),
    ];
    let mut best: Vec<(&str, Run)> = Vec::new();
    for round in 0..ROUNDS {
        for (at, (name, command, piped)) in contestants.iter_mut().enumerate() {
            let run = run(command, piped.then_some(file));
            if round == 0 {
                best.push((*name, run));
                continue;
            }
            let kept = &mut best[at].1;
            assert_eq!(
                kept.counts, run.counts,
                "{name} counts differently each time"
            );
            kept.cpu = kept.cpu.min(run.cpu);
            kept.wall = kept.wall.min(run.wall);
            kept.peak = kept.peak.max(run.peak);
        }
    }
    for (name, run) in &best {
        assert_eq!(run.counts, best[0].1.counts, "{name} places keys elsewhere");
    }
    best
}

/// Where the servers and client libraries of the tests lie.
fn parts() -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/env/parts");
    let output = Command::new(script).output().expect("tests/env/parts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn run(command: &mut Command, piped: Option<&Path>) -> Run {
    // The writer's CPU time is not the reader's: it is waited for by a shell, whose children do not count here.
    let stdin = piped.map_or_else(Stdio::null, |file| {
        Stdio::from(File::open(file).expect("the keys file"))
    });
    let feeder = piped.map(|_| {
        let mut cat = Command::new("cat")
            .stdin(stdin)
            .stdout(Stdio::piped())
            .spawn()
            .expect("cat");
        let pipe = cat.stdout.take().expect("its output");
        (cat, pipe)
    });
    let (cat, stdin) = match feeder {
        Some((cat, pipe)) => (Some(cat), Stdio::from(pipe)),
        None => (None, Stdio::null()),
    };
    let (before, began) = (children_cpu(), Instant::now());
    let mut child = command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let watched = thread::spawn({
        let status = format!("/proc/{}/status", child.id());
        move || {
            let mut peak = 0.0;
            while let Some(now) = fs::read_to_string(&status)
                .ok()
                .and_then(|text| high_water(&text))
            {
                peak = now;
                thread::sleep(Duration::from_millis(5));
            }
            peak
        }
    });
    let mut said = String::new();
    let mut stdout = child.stdout.take().expect("its output");
    stdout.read_to_string(&mut said).expect("its output");
    let status = child.wait().expect("it ends");
    let (cpu, wall) = (children_cpu() - before, began.elapsed());
    if let Some(mut cat) = cat {
        cat.wait().expect("cat ends");
    }
    assert!(status.success(), "{command:?} failed");
    Run {
        cpu,
        wall,
        peak: watched.join().expect("watching it"),
        counts: counts(&said),
    }
}

/// CPU time of all children that were waited for so far, in seconds.
fn children_cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("/proc");
    // The second field is the name in parentheses, which may hold anything; cutime and cstime are fields 16 and 17.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields = after_name.split_whitespace().skip(13).take(2);
    let ticks: u32 = fields.map(|field| field.parse::<u32>().unwrap_or(0)).sum();
    f64::from(ticks) / TICKS_PER_SECOND
}

/// Most resident memory so far, in MiB; `None` of a process that has ended.
fn high_water(status: &str) -> Option<f64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u32 = line.split_whitespace().next()?.parse().ok()?;
    Some(f64::from(kib) / 1024.0)
}

/// The last number of each line, in order; a heading has none.
fn counts(said: &str) -> Vec<u64> {
    let last = |line: &str| line.rsplit(',').next()?.trim().parse().ok();
    said.lines().filter_map(last).collect()
}

fn table(runs: &[(&'static str, Run)], keys: u32) -> String {
    let cpu = |name: &str| {
        let found = runs.iter().find(|(known, _)| known.starts_with(name));
        found.map_or(f64::NAN, |(_, run)| run.cpu)
    };
    let (java, kafkajs) = (cpu("Java"), cpu("KafkaJS"));
    let mut table = format!(
        "# Layouts of millions of keys\n\nWritten by `make bench-layout`. \
         {keys} keys `user-0` to `user-{}`, utf8/murmur2 at {PARTITIONS} partitions; least CPU time and time of {ROUNDS} runs each, most memory.\n\n\
         | | CPU s | s | MiB | CPU against Java | against KafkaJS |\n|---|---|---|---|---|---|\n",
        keys.saturating_sub(1)
    );
    for (name, run) in runs {
        // Writing to a String cannot fail.
        let _ = writeln!(
            table,
            "| {name} | {:.2} | {:.2} | {:.0} | {:.3} | {:.4} |",
            run.cpu,
            run.wall.as_secs_f64(),
            run.peak,
            run.cpu / java,
            run.cpu / kafkajs
        );
    }
    table
}
