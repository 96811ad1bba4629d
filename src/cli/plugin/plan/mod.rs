//! `plan`: what a growth moves.

mod document;
mod table;

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;

use super::document::Output;
use super::keys::{Keys, one_stdin};
use super::layout::bounded;
use super::lines::Stop;
use super::source::{Source, count};
use super::subject::{Layout, Subject};
use super::terminal::{Io, print};
use crate::keys::{EncodeError, PartitionCount, Placement};
use crate::layout::Tally;
use crate::plan::{Reason, State, key_schemes_at};

const HELP: &str = "\
Examples:
  kubectl copartition plan market-data -n trading --to 12
  kubectl copartition plan -f group.yaml --to 12 --keys-file keys.txt --summary
  kubectl copartition plan --partitioner murmur2 --partitions 6 --to 12 --key BBCA

The share is exact for all keys that there can be; the keys that are given are counted one by one.

Exit codes:
  0  fine
  1  wrong usage, bad input, or something could not be read; then nothing is on standard output
  2  the topics of the group would place some key differently at the new count";

/// The arguments.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct Plan {
    #[command(flatten)]
    source: Source,
    /// The partition count to grow to
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    to: PartitionCount,
    #[command(flatten)]
    keys: Keys,
    /// Only how many keys lie on each partition
    #[arg(long, help_heading = "Output")]
    summary: bool,
    /// How it is printed
    #[arg(short, long, default_value = "table", help_heading = "Output")]
    output: Output,
}

/// Where one key lies before and after.
#[derive(Clone, Debug, Serialize)]
struct Moved<'a> {
    key: &'a str,
    before: Option<i32>,
    after: Option<i32>,
    moves: bool,
    /// It has no partition, before or after.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    spread: bool,
}

/// One layout at both counts.
struct Step<'a> {
    layout: &'a Layout,
    to: PartitionCount,
    before: Tally,
    after: Tally,
    moved: u64,
}

/// One form of the output, of one subject.
trait Form {
    /// Takes a key of one of the layouts.
    fn row(&mut self, layout: usize, row: &Moved<'_>) -> io::Result<()>;

    /// Prints all.
    fn finish(self: Box<Self>, outcome: &Outcome<'_>, out: &mut dyn Write) -> io::Result<()>;
}

/// What was counted of one subject.
struct Outcome<'a> {
    subject: &'a Subject,
    to: PartitionCount,
    steps: Vec<Step<'a>>,
    /// What KeySchemesAligned says at the new count; of a group only.
    schemes: Option<(State, Reason, String)>,
    summary: bool,
    /// Its place among all subjects, and their number.
    place: (usize, usize),
}

/// Runs, prints, and returns the exit code.
///
/// # Errors
/// One line for the user.
pub(super) fn run(arguments: &Plan, io: &mut Io<'_>) -> Result<u8, String> {
    one_stdin(arguments.source.place.file.as_ref(), &arguments.keys)?;
    let subjects = arguments.source.subjects(io.stdin)?;
    let to = arguments.to;
    let layouts = || subjects.iter().flat_map(|subject| &subject.layouts);
    for layout in layouts() {
        if layout.count > to {
            let topics = match layout.names() {
                names if names.is_empty() => "there are".to_owned(),
                names => format!("{names}: there are"),
            };
            return Err(format!(
                "Kafka cannot shrink a topic: {topics} {} partitions, and --to asks for {to}; ask for more",
                layout.count
            ));
        }
    }
    bounded(layouts().flat_map(|layout| [layout.count, to]))?;
    let mut outcomes: Vec<Outcome<'_>> = subjects
        .iter()
        .enumerate()
        .map(|(at, subject)| Outcome {
            subject,
            to,
            steps: subject
                .layouts
                .iter()
                .map(|layout| Step::new(layout, to))
                .collect(),
            schemes: subject
                .group
                .as_ref()
                .map(|(_, group)| key_schemes_at(group, to)),
            summary: arguments.summary,
            place: (at, subjects.len()),
        })
        .collect();
    let spools = layouts().count();
    let mut forms: Vec<Box<dyn Form>> = subjects
        .iter()
        .map(|subject| -> Box<dyn Form> {
            match arguments.output {
                Output::Table => Box::new(table::Table::new(subject, spools, io.colour)),
                Output::Json => Box::new(document::Document::json(subject, spools)),
                Output::Yaml => Box::new(document::Document::yaml(subject, spools)),
            }
        })
        .collect();
    arguments.keys.for_each(io.stdin, &subjects, |at, key| {
        for (layout, step) in outcomes[at].steps.iter_mut().enumerate() {
            let row = step.take(key)?;
            if !arguments.summary {
                forms[at].row(layout, &row).map_err(Stop::Output)?;
            }
        }
        Ok(())
    })?;
    print(io.stdout, |out| {
        let several = subjects.len() > 1 && arguments.output == Output::Json;
        if several {
            out.write_all(b"{\"groups\": [\n")?;
        }
        for (form, outcome) in forms.into_iter().zip(&outcomes) {
            form.finish(outcome, out)?;
        }
        if several {
            out.write_all(b"]}\n")?;
        }
        Ok(())
    })?;
    let aligned = |outcome: &Outcome<'_>| {
        let state = outcome.schemes.as_ref().map(|(state, ..)| *state);
        state != Some(State::False)
    };
    Ok(if outcomes.iter().all(aligned) { 0 } else { 2 })
}

impl<'a> Step<'a> {
    fn new(layout: &'a Layout, to: PartitionCount) -> Self {
        Self {
            layout,
            to,
            before: Tally::new(layout.count),
            after: Tally::new(to),
            moved: 0,
        }
    }

    fn take<'k>(&mut self, key: &'k str) -> Result<Moved<'k>, EncodeError> {
        let bytes = self.layout.scheme.encoding.encode(key)?;
        let at = |count| self.layout.formula.partition(Some(&bytes), count);
        let (before, after) = (at(self.layout.count), at(self.to));
        self.before.add(before);
        self.after.add(after);
        let moves = before != after;
        self.moved += u64::from(moves);
        Ok(Moved {
            key,
            before: number(before),
            after: number(after),
            moves,
            spread: before == Placement::Spread,
        })
    }
}

fn number(placement: Placement) -> Option<i32> {
    match placement {
        Placement::At(partition) => Some(partition),
        Placement::Spread | Placement::Unknown => None,
    }
}

#[cfg(test)]
mod tests;
