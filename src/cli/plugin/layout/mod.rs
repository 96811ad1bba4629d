//! `layout`: on which partition each key lies.

mod csv;
mod html;
mod json;
mod record;
mod table;
mod yaml;

use std::io::{self, Read, Write};

use clap::{Args, ValueEnum};

use super::keys::{Keys, one_stdin};
use super::lines::Stop;
use super::source::Source;
use super::subject::{Placed, Subject};
use super::terminal::{Io, print};
use crate::keys::PartitionCount;
use crate::keys::{Placement, PlacingLoop};
use crate::layout::Tally;

/// The most partitions that are counted, over all layouts: 8 bytes each.
const MOST_PARTITIONS: i64 = 10_000_000;

const HELP: &str = "\
Examples:
  kubectl copartition layout market-data -n trading
  kubectl copartition layout -f group.yaml --key BBCA --key ANTM
  kubectl copartition layout -f group.yaml -o html > layout.html
  kubectl copartition layout --partitioner murmur2 --partitions 12 --keys-file keys.txt --summary
  kubectl copartition layout --client librdkafka --encoding int64 --partitions 12 --keys-file - -o csv

A keys file has one key a line; only \\n ends a line, and an empty line is the empty key.
A key that is spread has no partition of its own: its records go anywhere.

Exit codes:
  0  fine
  1  wrong usage, bad input, or something could not be read; then nothing is on standard output
  2  the topics of the group place some of these keys differently";

/// The arguments.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct Layout {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    keys: Keys,
    /// Only how many keys lie on each partition
    #[arg(long, help_heading = "Output")]
    summary: bool,
    /// How it is printed
    #[arg(short, long, default_value = "table", help_heading = "Output")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// Columns for people
    Table,
    /// One YAML document a group
    Yaml,
    /// Comma-separated values with a header
    Csv,
    /// One JSON object
    Json,
    /// One page for a browser or a printer, with nothing beside it
    Html,
}

/// One form of the output, of one subject.
trait Form {
    /// Takes a key, with its place in each layout.
    fn row(&mut self, key: &str, placed: &[Placed<'_>]) -> io::Result<()>;

    /// Prints all.
    fn finish(self: Box<Self>, outcome: &Outcome<'_>, out: &mut dyn Write) -> io::Result<()>;
}

/// What was counted of one subject.
struct Outcome<'a> {
    subject: &'a Subject,
    /// One a layout.
    tallies: Vec<Tally>,
    /// How many keys lie on different partitions.
    differing: u64,
    /// Rows are not shown.
    summary: bool,
    /// Its place among all subjects, and their number.
    place: (usize, usize),
}

impl Outcome<'_> {
    /// The partitions of the layout that has the most.
    fn most_partitions(&self) -> i32 {
        let each = self.tallies.iter().map(Tally::partitions);
        each.max().unwrap_or(0)
    }
}

/// Runs, prints, and returns the exit code.
///
/// # Errors
/// One line for the user.
pub(super) fn run(arguments: &Layout, io: &mut Io<'_>) -> Result<u8, String> {
    one_stdin(arguments.source.place.file.as_ref(), &arguments.keys)?;
    let subjects = arguments.source.subjects(io.stdin)?;
    let layouts = subjects.iter().flat_map(|subject| &subject.layouts);
    bounded(layouts.map(|layout| layout.count))?;
    if !arguments.keys.are_given() && subjects.iter().all(|it| it.sample_keys().is_empty()) {
        return Err(
            "no keys: give --keys-file FILE, --keys-file - for standard input, or --key KEY"
                .to_owned(),
        );
    }
    let mut outcomes: Vec<Outcome<'_>> = subjects
        .iter()
        .enumerate()
        .map(|(at, subject)| Outcome {
            subject,
            tallies: subject
                .layouts
                .iter()
                .map(|it| Tally::new(it.count))
                .collect(),
            differing: 0,
            summary: arguments.summary,
            place: (at, subjects.len()),
        })
        .collect();
    let spools: usize = subjects.iter().map(|subject| subject.layouts.len()).sum();
    let mut forms: Vec<Box<dyn Form>> = subjects
        .iter()
        .map(|subject| arguments.output.form(subject, spools, io.colour))
        .collect();
    if arguments.summary {
        count(&arguments.keys, io.stdin, &subjects, &mut outcomes)?;
    } else {
        list(
            &arguments.keys,
            io.stdin,
            &subjects,
            &mut outcomes,
            &mut forms,
        )?;
    }
    let differ = |outcome: &Outcome<'_>| outcome.differing > 0 || outcome.subject.hashes_a_window();
    let differ = outcomes.iter().any(differ);
    print(io.stdout, |out| {
        let several = subjects.len() > 1;
        if several && arguments.output == Output::Json {
            out.write_all(b"{\"groups\": [\n")?;
        }
        for (form, outcome) in forms.into_iter().zip(&outcomes) {
            form.finish(outcome, out)?;
        }
        if several && arguments.output == Output::Json {
            out.write_all(b"]}\n")?;
        }
        Ok(())
    })?;
    Ok(if differ { 2 } else { 0 })
}

impl Output {
    fn form(self, subject: &Subject, spools: usize, colour: bool) -> Box<dyn Form> {
        match self {
            Self::Table => Box::new(table::Table::new(subject, spools, colour)),
            Self::Yaml => Box::new(yaml::Yaml::new(subject, spools)),
            Self::Csv => Box::new(csv::Csv::new(subject, spools)),
            Self::Json => Box::new(json::Json::new(subject, spools)),
            Self::Html => Box::new(html::Html::new()),
        }
    }
}

/// Refuses counts whose tallies would not fit into memory.
pub(super) fn bounded(counts: impl Iterator<Item = PartitionCount>) -> Result<(), String> {
    let all: i64 = counts.map(|count| i64::from(count.get())).sum();
    if all > MOST_PARTITIONS {
        return Err(format!(
            "{all} partitions are too many to count keys on, at most {MOST_PARTITIONS}; `explain` places one key on any number"
        ));
    }
    Ok(())
}

/// Counts keys whose bytes are their text's own.
struct Count<'a> {
    keys: &'a Keys,
    stdin: &'a mut dyn Read,
    tally: &'a mut Tally,
}

impl PlacingLoop for Count<'_> {
    type Output = Result<(), String>;

    fn run(self, place: impl Fn(&[u8]) -> Placement) -> Self::Output {
        self.keys.each(self.stdin, |key| {
            self.tally.add(place(key.as_bytes()));
            Ok(())
        })
    }
}

/// Counts keys: the loop that millions of them go through.
fn count(
    keys: &Keys,
    stdin: &mut dyn Read,
    subjects: &[Subject],
    outcomes: &mut [Outcome<'_>],
) -> Result<(), String> {
    if let ([subject], [outcome], true) = (subjects, &mut *outcomes, keys.are_given())
        && let ([layout], [tally]) = (&subject.layouts[..], &mut outcome.tallies[..])
    {
        if layout.hashes_text() {
            let count = Count { keys, stdin, tally };
            return layout.scheme.partitioner.specialised(layout.count, count);
        }
        return keys.each(stdin, |key| {
            tally.add(layout.placement(key)?);
            Ok(())
        });
    }
    keys.for_each(stdin, subjects, |at, key| {
        let outcome = &mut outcomes[at];
        let mut first = None;
        let mut differs = false;
        for (layout, tally) in subjects[at].layouts.iter().zip(&mut outcome.tallies) {
            let placement = layout.placement(key)?;
            tally.add(placement);
            differs |= *first.get_or_insert(placement) != placement;
        }
        outcome.differing += u64::from(differs);
        Ok(())
    })
}

/// Counts keys and hands each to the output.
fn list(
    keys: &Keys,
    stdin: &mut dyn Read,
    subjects: &[Subject],
    outcomes: &mut [Outcome<'_>],
    forms: &mut [Box<dyn Form>],
) -> Result<(), String> {
    keys.for_each(stdin, subjects, |at, key| {
        let outcome = &mut outcomes[at];
        let placed: Vec<Placed<'_>> = subjects[at]
            .layouts
            .iter()
            .map(|layout| layout.place(key))
            .collect::<Result<_, _>>()?;
        for (placed, tally) in placed.iter().zip(&mut outcome.tallies) {
            tally.add(placed.placement);
        }
        outcome.differing += u64::from(differ(&placed));
        forms[at].row(key, &placed).map_err(Stop::Output)
    })
}

/// Whether a key lies on different partitions.
fn differ(placed: &[Placed<'_>]) -> bool {
    placed
        .windows(2)
        .any(|pair| pair[0].placement != pair[1].placement)
}

#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod tests;
