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
//! And `admission`: what the policies of ring 2 cost a write of another operator's topic, beside many claims.
//!
//! One table at the end, beside the past run's figures. Times are those at which the watch delivered a state. Requests are
//! counted in the API server's audit log and in the broker's request log, CPU time and memory are the kernel's.

// A benchmark that can't go on has to stop with a message; `unwrap` stays forbidden, because it has none.
#![allow(clippy::expect_used)]

mod admission;
mod apply;
mod bare;
mod board;
mod broker;
mod drift;
// What the tests need of their servers; the benchmark does not use all of it.
#[allow(dead_code, unused_imports)]
#[path = "../../tests/env/mod.rs"]
mod env;
mod groups;
mod growth;
#[allow(dead_code)]
#[path = "../../tests/policies/kinds.rs"]
mod kinds;
mod limits;
mod machine;
mod mixed;
mod process;
mod requests;
mod restart;
#[allow(dead_code)]
#[path = "../../tests/rights.rs"]
mod rights;
#[allow(dead_code)]
#[path = "../../tests/seen.rs"]
mod seen;
mod settings;
mod somebody;
mod stage;
mod steady;
mod table;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use broker::Folders;
use settings::{Settings, Size};
use stage::Stage;
use table::{Rows, Table};

/// Behind all sizes.
const MIXED_LAST: usize = 1_000_000;
/// And behind those.
const ADMISSION_LAST: usize = 2_000_000;

fn main() -> ExitCode {
    let outcome = Bench::prepare(Settings::parse()).and_then(Bench::run);
    let failures = outcome.unwrap_or_else(|error| vec![error]);
    for failure in &failures {
        eprintln!("bench: {failure}");
    }
    if failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// One run of everything that was asked for.
struct Bench {
    settings: Settings,
    folders: Folders,
    table: Table,
    failures: Vec<String>,
    began: Instant,
}

impl Bench {
    fn prepare(settings: Settings) -> Result<Self, String> {
        Ok(Self {
            folders: Folders::create(&settings.data),
            table: Table::read(&settings.out)?,
            settings,
            failures: Vec::new(),
            began: Instant::now(),
        })
    }

    /// What fails stops the rest of its own size only. Returns all failures.
    fn run(mut self) -> Result<Vec<String>, String> {
        for size in self.settings.sizes() {
            self.section(&size.setting(), size.groups, |bench, rows| {
                bench.scenarios(size, rows)
            })?;
        }
        if let Some(size) = self.settings.mixed() {
            self.section(
                &mixed::setting(size),
                MIXED_LAST + size.groups,
                |bench, rows| {
                    limits::check(size)?;
                    mixed::measure(&mut Stage::start(&bench.folders, size), rows)
                },
            )?;
        }
        for claims in self.settings.admission() {
            self.section(
                &admission::setting(claims),
                ADMISSION_LAST + claims,
                |bench, rows| admission::measure(&bench.folders, claims, rows),
            )?;
        }
        println!("\n{}", self.table.markdown());
        Ok(self.failures)
    }

    /// Measures one section of the table and writes it at once, also if not all of it could be measured.
    fn section(
        &mut self,
        setting: &str,
        order: usize,
        measure: impl FnOnce(&Self, &mut Rows) -> Result<(), String>,
    ) -> Result<(), String> {
        self.say(setting);
        let mut measured = machine::describe(self.folders.describe());
        let mut rows = Rows::default();
        if let Err(failure) = measure(self, &mut rows) {
            eprintln!("{setting}: {failure}");
            let reason = failure.lines().next().unwrap_or_default();
            measured = format!("{measured}; **incomplete**: {reason}");
            self.failures.push(format!("{setting}: {failure}"));
        }
        self.table.put(order, setting, &measured, rows);
        self.table.write(&self.settings.out)
    }

    /// All scenarios of one size, in the order in which they leave each other alone.
    fn scenarios(&self, size: Size, rows: &mut Rows) -> Result<(), String> {
        limits::check(size)?;
        self.say("bare reference");
        let bare = bare::measure(&self.folders, size)?;
        self.say("servers");
        let mut stage = Stage::start(&self.folders, size);
        self.say("apply");
        apply::measure(&mut stage, bare.create, rows)?;
        self.say("steady");
        steady::measure(&mut stage, self.settings.steady(), rows);
        self.say("restart");
        restart::measure(&mut stage, rows)?;
        let mut partitions = size.partitions;
        if let (Some(grown), Some(bare)) = (size.grown(), bare.grow) {
            self.say("growth");
            growth::measure(&mut stage, grown, bare, rows)?;
            partitions = grown;
        }
        self.say("drift");
        drift::measure(&mut stage, partitions, self.settings.samples, rows)?;
        rows.add(
            "memory: most resident since the restart",
            stage.process().peak(),
            "MiB",
        );
        Ok(())
    }

    fn say(&self, what: &str) {
        println!("[{:>5} s] {what}", self.began.elapsed().as_secs());
    }
}
