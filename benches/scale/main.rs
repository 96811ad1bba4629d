//! `make bench`: the operator's figures at scale, on a real Kafka and a real Kubernetes API server.
//!
//! Each size runs on fresh servers. First the bare reference, on a broker of its own: the same topics, created and grown
//! by Kafka's own admin client. Then the operator:
//!
//! - `apply`: all groups are applied, 32 at the same time, until a watch has shown all of them Ready;
//! - `steady`: nothing changes, and the operator shall do next to nothing;
//! - `restart`: it is stopped and started again, until a pass over each group has come to a verdict;
//! - `growth`: all groups from 6 to 8 partitions, with consent, over topics that hold records;
//! - `drift`: somebody adds a partition to one topic, until the watch shows it; while all else is idle, and while other
//!   groups change.
//!
//! And `mixed`: of many groups some are invalid, some at a dead cluster, some collide, and all others become Ready.
//!
//! One table at the end, beside the past run's figures. Times are those at which the watch delivered a state. Requests are
//! counted in the API server's audit log and in the broker's request log, CPU time and memory are the kernel's.

// A benchmark that can't go on has to stop with a message; `unwrap` stays forbidden, because it has none.
#![allow(clippy::expect_used)]

mod apply;
mod bare;
mod board;
mod drift;
// What the tests need of their servers; the benchmark does not use all of it.
#[allow(dead_code, unused_imports)]
#[path = "../../tests/env/mod.rs"]
mod env;
mod groups;
mod growth;
mod limits;
mod machine;
mod mixed;
mod process;
mod requests;
mod restart;
#[allow(dead_code)]
#[path = "../../tests/seen.rs"]
mod seen;
mod settings;
mod somebody;
mod stage;
mod steady;
mod table;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use env::Root;
use settings::{Settings, Size};
use stage::Stage;
use table::{Rows, Table};

/// Behind all sizes.
const MIXED_LAST: usize = 1_000_000;

fn main() -> ExitCode {
    match run(&Settings::parse()) {
        Ok(failures) if failures.is_empty() => ExitCode::SUCCESS,
        Ok(failures) => {
            for failure in failures {
                eprintln!("bench: {failure}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs everything that was asked for; what fails stops the rest of its own size only.
fn run(settings: &Settings) -> Result<Vec<String>, String> {
    let root = Root::create();
    let began = Instant::now();
    let say = |what: &str| println!("[{:>5} s] {what}", began.elapsed().as_secs());
    let mut table = Table::read(&settings.out)?;
    let mut failures = Vec::new();
    for size in settings.sizes() {
        let setting = size.setting();
        say(&setting);
        let mut rows = Rows::default();
        let outcome = measure(root.path(), size, settings, &mut rows, &say);
        finish(
            &mut table,
            &setting,
            size.groups,
            rows,
            outcome,
            settings,
            &mut failures,
        )?;
    }
    if let Some(size) = settings.mixed() {
        let setting = format!("mixed: {}", size.setting());
        say(&setting);
        let mut rows = Rows::default();
        let outcome = limits::check(size)
            .and_then(|()| mixed::measure(&mut Stage::start(root.path(), size), &mut rows));
        finish(
            &mut table,
            &setting,
            MIXED_LAST + size.groups,
            rows,
            outcome,
            settings,
            &mut failures,
        )?;
    }
    println!("\n{}", table.markdown());
    Ok(failures)
}

/// All scenarios of one size, in the order in which they leave each other alone.
fn measure(
    root: &Path,
    size: Size,
    settings: &Settings,
    rows: &mut Rows,
    say: &dyn Fn(&str),
) -> Result<(), String> {
    limits::check(size)?;
    say("bare reference");
    let bare = bare::measure(root, size)?;
    say("servers");
    let mut stage = Stage::start(root, size);
    say("apply");
    apply::measure(&mut stage, bare, rows)?;
    say("steady");
    steady::measure(&mut stage, settings.steady(), rows);
    say("restart");
    restart::measure(&mut stage, rows)?;
    let mut partitions = size.partitions;
    if let (Some(grown), Some(bare)) = (size.grown(), bare.grow) {
        say("growth");
        growth::measure(&mut stage, grown, bare, rows)?;
        partitions = grown;
    }
    say("drift");
    drift::measure(&mut stage, partitions, rows)
}

/// Puts what was measured into the table, also if not all of it could be.
fn finish(
    table: &mut Table,
    setting: &str,
    order: usize,
    rows: Rows,
    outcome: Result<(), String>,
    settings: &Settings,
    failures: &mut Vec<String>,
) -> Result<(), String> {
    let mut measured = machine::describe();
    if let Err(failure) = outcome {
        eprintln!("{setting}: {failure}");
        measured += "; **incomplete: it failed**";
        failures.push(format!("{setting}: {failure}"));
    }
    table.put(order, setting, &measured, rows);
    table.write(&settings.out)
}
