//! What a growth moves, for people.

use std::io::{self, Write};

use super::super::columns::{Line, Streamed, columns};
use super::super::subject::Subject;
use super::super::terminal::{Red, cell, counted, printable};
use super::{Form, Moved, Outcome, Step, live};
use crate::keys::PartitionCount;
use crate::layout::moved_share;
use crate::plan::State;

/// The longest key that is shown whole.
const WIDEST: usize = 48;

/// The rows of each layout so far.
pub(super) struct Table {
    rows: Vec<Streamed>,
    colour: bool,
}

impl Table {
    pub(super) fn new(subject: &Subject, spools: usize, colour: bool) -> Self {
        let heads = || ["KEY", "BEFORE", "AFTER"].map(str::to_owned).to_vec();
        let rows = subject.layouts.iter();
        Self {
            rows: rows
                .map(|_| Streamed::new(heads(), spools, colour))
                .collect(),
            colour,
        }
    }
}

impl Form for Table {
    fn row(&mut self, layout: usize, row: &Moved<'_>) -> io::Result<()> {
        let key = cell(row.key, WIDEST);
        let place = |at: Option<i32>| at.map_or_else(|| "spread".to_owned(), |at| at.to_string());
        self.rows[layout].push(Line {
            cells: vec![key, place(row.before), place(row.after)],
            note: row.moves.then_some("moves"),
        })
    }

    fn finish(self: Box<Self>, outcome: &Outcome<'_>, out: &mut dyn Write) -> io::Result<()> {
        if outcome.place.0 > 0 {
            writeln!(out)?;
        }
        if let Some(name) = outcome.subject.name() {
            writeln!(out, "{name}")?;
        }
        if let Some(live) = outcome.live {
            live::head(out, live, self.colour)?;
        }
        for left_out in &outcome.subject.left_out {
            writeln!(out, "{}: not shown, {}", left_out.writer, left_out.why)?;
        }
        for (rows, step) in self.rows.into_iter().zip(&outcome.steps) {
            let share = moved_share(step.layout.count, step.to);
            let names = match step.layout.names() {
                names if names.is_empty() => names,
                names => format!("{names}: "),
            };
            let scheme = &step.layout.scheme;
            if share.is_zero() {
                writeln!(
                    out,
                    "{names}{scheme} on {} partitions already: nothing moves",
                    step.to
                )?;
            } else {
                let from = step.layout.count;
                writeln!(
                    out,
                    "{names}{scheme} from {from} to {} partitions moves {share} of all keys",
                    step.to
                )?;
            }
            if step.before.keys() > 0 {
                if !outcome.summary {
                    writeln!(out)?;
                    rows.print(out)?;
                }
                tallies(out, step)?;
            }
            writeln!(out)?;
        }
        if let Some((state, reason, message)) = &outcome.schemes {
            let (state, bad) = (state.as_str(), *state == State::False);
            let said = format!(
                "KeySchemesAligned at {}: {state} ({}), {}",
                outcome.to.map_or(0, PartitionCount::get),
                reason.as_str(),
                printable(message)
            );
            writeln!(out, "{}", Red(said, self.colour && bad))?;
        }
        if let Some(live) = outcome.live {
            live::tail(out, live, self.colour)?;
        }
        Ok(())
    }
}

fn tallies(out: &mut dyn Write, step: &Step<'_>) -> io::Result<()> {
    let (before, after) = (step.before.per_partition(), step.after.per_partition());
    let rows: Vec<[String; 3]> = (0..after.len())
        .map(|at| {
            let number = |keys: Option<&u64>| keys.map_or_else(|| "-".to_owned(), u64::to_string);
            [
                at.to_string(),
                number(before.get(at)),
                number(after.get(at)),
            ]
        })
        .collect();
    writeln!(out)?;
    columns(out, ["PARTITION", "KEYS BEFORE", "KEYS AFTER"], &rows)?;
    let keys = counted(step.before.keys(), "key");
    let verb = if step.moved == 1 { "moves" } else { "move" };
    writeln!(
        out,
        "{} of {keys} {verb}; spread: {}",
        step.moved,
        step.before.spread()
    )
}
