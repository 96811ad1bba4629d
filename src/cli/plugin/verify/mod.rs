//! `verify`: whether the records of topics lie where the declared scheme puts them.

mod checkpoint;
mod html;
mod interrupt;
mod progress;
mod proof;
mod record;
mod subject;
mod table;

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use jiff::{SignedDuration, Timestamp};

use super::document::{self, document};
use super::source::{Bare, Where};
use super::terminal::{Io, print};
use crate::kafka::{Cancel, Extent};
use record::Proof;
use subject::Subject;

const HELP: &str = "\
Examples:
  kubectl copartition verify market-data -n trading
  kubectl copartition verify -f group.yaml --records 10000
  kubectl copartition verify --bootstrap kafka:9092 --topic orders --topic payments --client java
  kubectl copartition verify --bootstrap kafka:9092 --topic orders --partitioner murmur2 --since 2h -o json
  kubectl copartition verify market-data -n trading --full --timeout 1h --checkpoint verify.state

Records are read without joining a consumer group and without committing anything; values are not looked at, and no key is
printed. Of a live group whose topics the operator has grown, records from before the growth are judged at the count of
their time, by the marks in its CoPartitionClaim. With -f and --bootstrap all are judged at the count of now: of a topic
that has grown, read those --since then.

Exit codes:
  0  nothing speaks against it; whether it is proven is said
  1  wrong usage, or not all could be read
  2  records do not lie where the declared scheme puts them, lie there by no scheme, or have no key";

/// The arguments.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct Verify {
    /// A CoPartitionedTopicGroup: of the cluster, or with -f of the file
    #[arg(value_name = "NAME", help_heading = "What to look at")]
    name: Option<String>,
    #[command(flatten)]
    place: Where,
    /// host:port of brokers, without a group; repeat it or separate with commas
    #[arg(
        long,
        value_name = "HOST:PORT",
        value_delimiter = ',',
        conflicts_with_all = ["name", "file"],
        requires = "topics",
        help_heading = "What to look at"
    )]
    bootstrap: Vec<String>,
    /// A topic, without a group; repeat it for several, which are then compared with each other
    #[arg(
        long = "topic",
        value_name = "TOPIC",
        requires = "bootstrap",
        help_heading = "What to look at"
    )]
    topics: Vec<String>,
    #[command(flatten)]
    bare: Bare,
    /// A properties file of Kafka's own tools (security.protocol, sasl.jaas.config, ssl.truststore.location ...): how to
    /// connect, also to the Kafka of a group
    #[arg(long, value_name = "FILE", help_heading = "What to look at")]
    command_config: Option<PathBuf>,
    /// How many of the newest records of each partition
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1000,
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = "What to read"
    )]
    records: u64,
    /// All records
    #[arg(long, conflicts_with_all = ["records", "since"], help_heading = "What to read")]
    full: bool,
    /// With --full: a file that keeps what was read if that ends early, by --timeout, Ctrl-C or a Kafka that is gone, and
    /// from which the same command then goes on
    #[arg(
        long,
        value_name = "FILE",
        requires = "full",
        help_heading = "What to read"
    )]
    checkpoint: Option<PathBuf>,
    /// Records since then: 90m, 2h, or a time such as 2026-11-30T08:00:00Z
    #[arg(
        long,
        value_name = "WHEN",
        value_parser = since,
        conflicts_with = "records",
        help_heading = "What to read"
    )]
    since: Option<Timestamp>,
    /// How long the reading may take
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "60s",
        value_parser = crate::cli::duration,
        help_heading = "What to read"
    )]
    timeout: Duration,
    /// How it is printed
    #[arg(short, long, default_value = "table", help_heading = "Output")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// Columns for people
    Table,
    /// One JSON object
    Json,
    /// One YAML document
    Yaml,
    /// One page for a browser or a printer, with nothing beside it
    Html,
}

fn since(text: &str) -> Result<Timestamp, String> {
    if let Ok(ago) = text.parse::<SignedDuration>() {
        return Timestamp::now()
            .checked_sub(ago)
            .map_err(|error| error.to_string());
    }
    text.parse().map_err(|_| {
        format!("{text:?} is neither a duration such as 2h nor a time such as 2026-11-30T08:00:00Z")
    })
}

/// Reads, judges, prints, and returns the exit code.
///
/// # Errors
/// One line for the user.
pub(super) fn run(arguments: &Verify, io: &mut Io<'_>) -> Result<u8, String> {
    let subjects = Subject::all(arguments, io)?;
    let cancel = Cancel::default();
    if arguments.checkpoint.is_some() {
        if subjects.len() > 1 {
            return Err("a checkpoint is of one group: name one".to_owned());
        }
        interrupt::listen(&cancel)?;
    }
    let mut verified = Vec::new();
    for subject in &subjects {
        verified.push(proof::verify(arguments, subject, &cancel)?);
    }
    print(io.stdout, |out| {
        arguments.output.write(out, &verified, io.colour)
    })?;
    if let Some(path) = &arguments.checkpoint
        && verified.iter().all(Proof::is_complete)
    {
        checkpoint::remove(path)?;
    }
    Ok(verified.iter().map(Proof::exit_code).max().unwrap_or(0))
}

impl Output {
    fn write(self, out: &mut dyn Write, verified: &[Proof], colour: bool) -> io::Result<()> {
        let form = match self {
            Self::Table => {
                return verified
                    .iter()
                    .try_for_each(|one| table::write(out, one, colour));
            }
            Self::Html => return html::write(out, verified),
            Self::Json => document::Output::Json,
            Self::Yaml => document::Output::Yaml,
        };
        // As the other commands: one object for one group, a list for several.
        match verified {
            [one] => document(out, form, one)?,
            several => document(out, form, &HashMap::from([("groups", several)]))?,
        };
        Ok(())
    }
}

impl Verify {
    /// What is read, in words.
    fn read(&self) -> String {
        match (self.full, self.since) {
            (true, _) => "all records".to_owned(),
            (false, Some(since)) => format!("the records since {since}"),
            (false, None) => format!("the newest {} records of each partition", self.records),
        }
    }

    fn extent(&self) -> Extent {
        match self.since {
            _ if self.full => Extent::Everything,
            Some(since) => Extent::Since(since.as_millisecond()),
            None => Extent::Newest(self.records),
        }
    }
}

#[cfg(test)]
mod tests;
