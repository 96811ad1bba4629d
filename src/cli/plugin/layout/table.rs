//! A layout as columns for people.

use std::io::{self, Write};

use super::super::spool::Spool;
use super::super::subject::{Placed, Subject};
use super::super::terminal::{Red, counted, cut, printable, ranges};
use super::{Form, Outcome, differ};
use crate::layout::{Tally, hex};

/// Columns are as wide as the first rows need them, so that later ones need not be kept.
const MEASURED: usize = 1000;
/// The longest key and bytes that are shown whole; the other forms show all.
const WIDEST: usize = 48;
/// The longest bar.
const BAR: u64 = 40;

/// The rows so far.
pub(super) struct Table {
    /// The first ones, not yet written.
    first: Vec<Line>,
    rest: Spool,
    columns: Columns,
    colour: bool,
}

/// What the columns are, and how wide.
struct Columns {
    heads: Vec<String>,
    widths: Vec<usize>,
    /// All layouts see the same bytes, so that they are shown.
    bytes: bool,
    /// And the same hash.
    hash: bool,
}

struct Line {
    cells: Vec<String>,
    differs: bool,
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
            first: Vec::new(),
            rest: Spool::one_of(spools),
            columns: Columns {
                widths: heads.iter().map(|head| head.chars().count()).collect(),
                heads,
                bytes,
                hash,
            },
            colour,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let first = std::mem::take(&mut self.first);
        for line in &first {
            self.columns.write(&mut self.rest, line, self.colour)?;
        }
        Ok(())
    }
}

impl Columns {
    fn line(&self, key: &str, placed: &[Placed<'_>]) -> Line {
        let shown = |text: &str| match text {
            "" => "\"\"".to_owned(),
            text => cut(&printable(text), WIDEST).into_owned(),
        };
        let mut cells = vec![shown(key)];
        // Half of what fits, and one more byte for the mark that it was cut.
        let bytes = &placed[0].bytes;
        let begin = &bytes[..bytes.len().min(WIDEST / 2 + 1)];
        cells.extend(self.bytes.then(|| shown(&hex(begin))));
        let hash = placed[0].hash;
        let hash = || hash.map_or_else(|| "-".to_owned(), |hash| format!("{hash:08x}"));
        cells.extend(self.hash.then(hash));
        cells.extend(placed.iter().map(|placed| placed.placement.to_string()));
        Line {
            cells,
            differs: differ(placed),
        }
    }

    fn measure(&mut self, line: &Line) {
        for (width, cell) in self.widths.iter_mut().zip(&line.cells) {
            *width = (*width).max(cell.chars().count());
        }
    }

    fn write(&self, out: &mut dyn Write, line: &Line, colour: bool) -> io::Result<()> {
        let mut text = String::new();
        for (cell, width) in line.cells.iter().zip(&self.widths) {
            text.push_str(cell);
            let padding = (width + 2).saturating_sub(cell.chars().count());
            text.extend(std::iter::repeat_n(' ', padding));
        }
        let text = text.trim_end();
        if line.differs {
            writeln!(out, "{}", Red(format!("{text}  <- differs"), colour))
        } else {
            writeln!(out, "{text}")
        }
    }
}

impl Form for Table {
    fn row(&mut self, key: &str, placed: &[Placed<'_>]) -> io::Result<()> {
        let line = self.columns.line(key, placed);
        if self.first.len() < MEASURED && !self.columns.widths.is_empty() {
            self.columns.measure(&line);
            self.first.push(line);
            return Ok(());
        }
        self.flush()?;
        self.columns.write(&mut self.rest, &line, self.colour)
    }

    fn finish(mut self: Box<Self>, outcome: &Outcome<'_>, out: &mut dyn Write) -> io::Result<()> {
        if outcome.place.0 > 0 {
            writeln!(out)?;
        }
        self.flush()?;
        heading(out, outcome.subject)?;
        if !outcome.summary {
            let heads = Line {
                cells: self.columns.heads.clone(),
                differs: false,
            };
            self.columns.write(out, &heads, false)?;
            self.rest.copy_to(out)?;
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
