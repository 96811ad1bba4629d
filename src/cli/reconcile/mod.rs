//! `copartition-operator reconcile`: one run without Kubernetes, for pipelines and for people.

pub(super) mod input;
mod record;
mod text;
mod yaml;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use self::input::{Entry, read};
use self::record::{GroupRecord, Record};
use super::{LogFormat, duration, logs, runtime};
use crate::controller::oneshot::{self, Done, Settings};
use crate::controller::stop_signal;
use crate::kafka::ClientProperties;

/// What `--help` says below the options.
const HELP: &str = "\
Exit codes (the worst of all groups counts: 1 before 2 before 0; docs/reference/conditions.md lists every reason):
  0  aligned; with --dry-run: it is, or the plan would make it so
  2  blocked or drifted: somebody has to decide, and the message says what to commit
  1  anything else: not valid, not reachable, refused by Kafka, not authorized, out of time, wrong usage

It takes no claim and remembers nothing between runs but what a `status` in the file says. Where an operator
manages the same topics, use --dry-run.";

/// The arguments.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct Reconcile {
    /// A file with CoPartitionedTopicGroups, a folder of them, or - for standard input; repeat it for several.
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Say what would be done, ask Kafka whether it would do, and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// How the outcome is printed to standard output; everything else goes to standard error.
    #[arg(short, long, default_value = "text")]
    output: Output,
    /// A properties file of Kafka's own tools (security.protocol, sasl.jaas.config, ssl.truststore.location ...): how to
    /// connect to the clusters of all groups.
    #[arg(long, value_name = "FILE")]
    command_config: Option<PathBuf>,
    /// How long the whole run may take, for example 60s or 5m.
    #[arg(long, default_value = "60s", value_parser = duration)]
    timeout: Duration,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Output {
    /// For people.
    Text,
    /// One JSON document.
    Json,
    /// The same as YAML.
    Yaml,
}

/// Runs, prints, and returns the exit code.
///
/// # Errors
/// If the run cannot begin or its outcome cannot be printed.
pub(super) fn reconcile(arguments: &Reconcile) -> Result<u8, String> {
    // What goes wrong is part of the outcome; the client library's own complaints would only repeat it.
    logs("off", LogFormat::Text);
    let mut entries = read(&arguments.files, io::stdin().lock());
    let groups: Vec<_> = entries
        .iter_mut()
        .filter_map(|entry| entry.group.as_ref().ok().cloned())
        .collect();
    let settings = Settings {
        dry_run: arguments.dry_run,
        timeout: arguments.timeout,
        properties: arguments
            .command_config
            .as_deref()
            .map(ClientProperties::read)
            .transpose()?,
    };
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        let stop =
            stop_signal().map_err(|error| format!("installing the signal handlers: {error}"))?;
        Ok::<_, String>(oneshot::run(groups, &settings, stop).await)
    })?;
    let record = Record::new(arguments.dry_run, records(entries, done));
    let printed = print(&record, arguments.output);
    // Requests that are still waited for end with their own timeouts; nobody waits for them here.
    runtime.shutdown_background();
    printed?;
    Ok(record.exit_code)
}

/// One record an entry, in their order.
fn records(entries: Vec<Entry>, done: Vec<Done>) -> Vec<GroupRecord> {
    let mut done = done.into_iter();
    entries
        .into_iter()
        .filter_map(|entry| match entry.group {
            Ok(_) => done.next().map(|done| GroupRecord::of(entry.source, done)),
            Err(problem) => Some(GroupRecord::of_problem(
                entry.source,
                entry.namespace,
                entry.name,
                problem,
            )),
        })
        .collect()
}

fn print(record: &Record, output: Output) -> Result<(), String> {
    let text = match output {
        Output::Text => text::text(record),
        Output::Json => {
            serde_json::to_string_pretty(record).map_err(|error| error.to_string())? + "\n"
        }
        Output::Yaml => serde_yaml::to_string(record).map_err(|error| error.to_string())?,
    };
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        // Whoever reads has seen enough, as with `| head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| format!("writing to standard output: {error}")),
    }
}
