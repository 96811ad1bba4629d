//! `plan`: what a growth moves, and what else it would do to a group that lives.

mod document;
mod live;
mod table;

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;

use self::live::{Asking, Live};
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
  kubectl copartition plan -f group.yaml --live -o json
  kubectl copartition plan -f group.yaml --bootstrap-server kafka:9092
  kubectl copartition plan -f group.yaml --to 12 --keys-file keys.txt --summary
  kubectl copartition plan --partitioner murmur2 --partitions 6 --to 12 --key BBCA

The share is exact for all keys that there can be; the keys that are given are counted one by one.
Of a live group, and of a file with --live, --bootstrap-server or --command-config, Kafka is asked: which counts there are,
what the growth breaks (compacted topics, internal topics of Kafka Streams, consumer groups without offsets), and whether it
would refuse. Nothing is written. The consent that is missing is printed, to be pasted into the spec.

Exit codes:
  0  fine: nothing is in the way of the count that is wanted
  1  wrong usage, bad input, or something could not be read; then nothing is on standard output
  2  it would not go through as it stands: a consent is missing, a topic drifted, Kafka or Kubernetes would refuse; or the
     topics of the group would place some key differently at the new count";

/// The arguments.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct Plan {
    #[command(flatten)]
    source: Source,
    /// The partition count to grow to; where Kafka is asked, without it that of the spec
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    to: Option<PartitionCount>,
    #[command(flatten)]
    asking: Asking,
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
    /// The new count, where it is known.
    to: Option<PartitionCount>,
    /// What the servers said, if they were asked.
    live: Option<&'a Live>,
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
    let planned = planned(arguments, io)?;
    let subjects: Vec<Subject> = planned.iter().map(|it| it.subject.clone()).collect();
    let layouts = || subjects.iter().flat_map(|subject| &subject.layouts);
    let mut outcomes = Vec::new();
    for (at, planned) in planned.iter().enumerate() {
        let Planned { subject, to, live } = planned;
        let steps = subject.layouts.iter();
        let steps = steps.filter_map(|layout| Some(Step::new(layout, (*to)?)));
        outcomes.push(Outcome {
            subject,
            to: *to,
            live: live.as_ref(),
            steps: steps.collect(),
            schemes: (subject.group.as_ref())
                .and_then(|(_, group)| Some(key_schemes_at(group, (*to)?))),
            summary: arguments.summary,
            place: (at, subjects.len()),
        });
    }
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
    let fine = |outcome: &Outcome<'_>| {
        let state = outcome.schemes.as_ref().map(|(state, ..)| *state);
        state != Some(State::False) && !outcome.live.is_some_and(Live::is_blocked)
    };
    Ok(if outcomes.iter().all(fine) { 0 } else { 2 })
}

/// One thing to plan for.
struct Planned {
    subject: Subject,
    to: Option<PartitionCount>,
    live: Option<Live>,
}

/// All that the arguments name, with what the servers say of it if they are asked.
fn planned(arguments: &Plan, io: &mut Io<'_>) -> Result<Vec<Planned>, String> {
    let Plan {
        source, asking, to, ..
    } = arguments;
    if !asking.is_asked(source) {
        let subjects = source.subjects(io.stdin)?;
        let to = to.ok_or("give the count to grow to with --to N".to_owned())?;
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
        let subjects = subjects.into_iter();
        return Ok(subjects
            .map(|subject| Planned {
                subject,
                to: Some(to),
                live: None,
            })
            .collect());
    }
    let mut all = Vec::new();
    for (group, live) in asking.ask(source, *to, io.stdin)? {
        let to = live.foresight.target.and_then(PartitionCount::new);
        let mut subject = Subject::of_live(&group)?;
        // What has more is drift, which the verdict tells; there is no way back to lay out.
        subject
            .layouts
            .retain(|layout| to.is_some_and(|to| layout.count <= to));
        bounded(
            subject
                .layouts
                .iter()
                .flat_map(|layout| [Some(layout.count), to].into_iter().flatten()),
        )?;
        all.push(Planned {
            subject,
            to,
            live: Some(live),
        });
    }
    Ok(all)
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
