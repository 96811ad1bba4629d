//! A layout as columns for people.

use std::io::{self, Write};

use super::super::columns::{Line, Streamed};
use super::super::subject::{Placed, Subject};
use super::super::terminal::{Red, cell, counted, cut, ranges};
use super::{Form, Outcome, differ};
use crate::layout::{Tally, hex};

/// The longest key and bytes that are shown whole; the other forms show all.
const WIDEST: usize = 48;
/// The longest bar.
const BAR: u64 = 40;

/// The rows so far.
pub(super) struct Table {
    rows: Streamed,
    /// All layouts see the same bytes, so that they are shown.
    bytes: bool,
    /// And the same hash.
    hash: bool,
    colour: bool,
}

impl Table {
    pub(super) fn new(subject: &Subject, spools: usize, colour: bool) -> Self {
        let layouts = &subject.layouts;
        let bytes = layouts
            .iter()
            .all(|it| it.scheme.encoding == layouts[0].scheme.encoding);
        let hash = bytes
            && layouts
                .iter()
                .all(|it| it.formula.hash == layouts[0].formula.hash);
        let mut heads = vec!["KEY".to_owned()];
        heads.extend(bytes.then(|| "BYTES".to_owned()));
        heads.extend(hash.then(|| "HASH".to_owned()));
        match &layouts[..] {
            [_] => heads.push("PARTITION".to_owned()),
            several => heads.extend(
                several
                    .iter()
                    .map(|it| cut(&it.names(), WIDEST).into_owned()),
            ),
        }
        Self {
            rows: Streamed::new(heads, spools, colour),
            bytes,
            hash,
            colour,
        }
    }
}

impl Form for Table {
    fn row(&mut self, key: &str, placed: &[Placed<'_>]) -> io::Result<()> {
        let mut cells = vec![cell(key, WIDEST)];
        // Half of what fits, and one more byte for the mark that it was cut.
        let bytes = &placed[0].bytes;
        let begin = &bytes[..bytes.len().min(WIDEST / 2 + 1)];
        cells.extend(self.bytes.then(|| cell(&hex(begin), WIDEST)));
        let hash = placed[0].hash;
        let hash = || hash.map_or_else(|| "-".to_owned(), |hash| format!("{hash:08x}"));
        cells.extend(self.hash.then(hash));
        cells.extend(placed.iter().map(|placed| placed.placement.to_string()));
        self.rows.push(Line {
            cells,
            note: differ(placed).then_some("<- differs"),
        })
    }

    fn finish(self: Box<Self>, outcome: &Outcome<'_>, out: &mut dyn Write) -> io::Result<()> {
        if outcome.place.0 > 0 {
            writeln!(out)?;
        }
        heading(out, outcome.subject)?;
        if !outcome.summary {
            self.rows.print(out)?;
            writeln!(out)?;
        }
        let several = outcome.tallies.len() > 1;
        for (layout, tally) in outcome.subject.layouts.iter().zip(&outcome.tallies) {
            if several {
                writeln!(out, "{}:", layout.names())?;
            }
            chart(out, tally)?;
            if several {
                writeln!(out)?;
            }
        }
        if several {
            let said = match outcome.differing {
                0 => "these keys lie on the same partitions in all of them".to_owned(),
                differing => format!(
                    "{} of {} on different partitions",
                    differing,
                    counted(outcome.tallies[0].keys(), "key")
                ),
            };
            writeln!(out, "{}", Red(said, self.colour && outcome.differing > 0))?;
        }
        Ok(())
    }
}

/// What is looked at.
fn heading(out: &mut dyn Write, subject: &Subject) -> io::Result<()> {
    if let Some(name) = subject.name() {
        writeln!(out, "{name}")?;
    }
    for layout in &subject.layouts {
        let partitions = counted(u64::from(layout.count.get().unsigned_abs()), "partition");
        let names = match &layout.writers[..] {
            [] => String::new(),
            _ => format!("{}: ", layout.names()),
        };
        writeln!(out, "{names}{} on {partitions}", layout.scheme)?;
    }
    for left_out in &subject.left_out {
        writeln!(out, "{}: not shown, {}", left_out.writer, left_out.why)?;
    }
    writeln!(out)
}

/// How many keys lie on each partition, as bars.
fn chart(out: &mut dyn Write, tally: &Tally) -> io::Result<()> {
    let most = tally.per_partition().iter().copied().max().unwrap_or(0);
    let width = most.to_string().len().max("KEYS".len());
    writeln!(out, "PARTITION  {:>width$}", "KEYS")?;
    for (partition, keys) in tally.per_partition().iter().enumerate() {
        // At least one mark for what is there, so that a bar of none is an empty partition.
        let bar = match *keys {
            keys if most <= BAR => keys,
            0 => 0,
            keys => (keys * BAR / most).max(1),
        };
        let bar = "#".repeat(usize::try_from(bar).unwrap_or(0));
        let line = format!("{partition:>9}  {keys:>width$}  {bar}");
        writeln!(out, "{}", line.trim_end())?;
    }
    let empty = match tally.empty().count() {
        0 => "none".to_owned(),
        _ => ranges(tally.empty(), 20),
    };
    let mut parts = vec![
        counted(tally.keys(), "key"),
        format!("empty partitions: {empty}"),
    ];
    parts.extend(tally.skew().map(|skew| format!("skew {skew}")));
    parts.push(format!("spread: {}", tally.spread()));
    writeln!(out, "{}", parts.join("; "))
}
