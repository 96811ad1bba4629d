//! Text in columns.

use std::io::{self, Write};

use super::spool::Spool;
use super::terminal::Red;

/// Prints rows under their heads, each column as wide as it must be.
pub(super) fn columns<const N: usize>(
    out: &mut dyn Write,
    heads: [&str; N],
    rows: &[[String; N]],
) -> io::Result<()> {
    let widths: Vec<usize> = (0..N)
        .map(|at| {
            let cells = rows.iter().map(|row| row[at].chars().count());
            cells.max().unwrap_or(0).max(heads[at].chars().count())
        })
        .collect();
    let heads = heads.map(str::to_owned);
    for row in std::iter::once(&heads).chain(rows) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&padded(cell, width + 2));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// A text with spaces behind it.
pub(super) fn padded(text: &str, width: usize) -> String {
    let padding = width.saturating_sub(text.chars().count());
    let mut padded = text.to_owned();
    padded.extend(std::iter::repeat_n(' ', padding));
    padded
}

/// Columns are as wide as the first rows need them, so that later ones need not be kept.
const MEASURED: usize = 1000;

/// A table of any length. It is kept until it is whole, and not in memory.
pub(super) struct Streamed {
    heads: Vec<String>,
    widths: Vec<usize>,
    /// The first rows, until they have been measured.
    first: Option<Vec<Line>>,
    rest: Spool,
    colour: bool,
}

/// One row.
pub(super) struct Line {
    pub(super) cells: Vec<String>,
    /// What is said at its end of a row that stands out, which is red where there are colours.
    pub(super) note: Option<&'static str>,
}

impl Streamed {
    pub(super) fn new(heads: Vec<String>, spools: usize, colour: bool) -> Self {
        Self {
            widths: heads.iter().map(|head| head.chars().count()).collect(),
            heads,
            first: Some(Vec::new()),
            rest: Spool::one_of(spools),
            colour,
        }
    }

    pub(super) fn push(&mut self, line: Line) -> io::Result<()> {
        let Some(first) = &mut self.first else {
            return write(&mut self.rest, &line, &self.widths, self.colour);
        };
        for (width, cell) in self.widths.iter_mut().zip(&line.cells) {
            *width = (*width).max(cell.chars().count());
        }
        first.push(line);
        if first.len() == MEASURED {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        for line in self.first.take().unwrap_or_default() {
            write(&mut self.rest, &line, &self.widths, self.colour)?;
        }
        Ok(())
    }

    /// Prints the heads and all rows.
    pub(super) fn print(mut self, out: &mut dyn Write) -> io::Result<()> {
        self.flush()?;
        let heads = Line {
            cells: self.heads,
            note: None,
        };
        write(out, &heads, &self.widths, false)?;
        self.rest.copy_to(out)
    }
}

fn write(out: &mut dyn Write, line: &Line, widths: &[usize], colour: bool) -> io::Result<()> {
    let mut text = String::new();
    for (cell, width) in line.cells.iter().zip(widths) {
        text.push_str(&padded(cell, width + 2));
    }
    let text = text.trim_end();
    match line.note {
        Some(note) => writeln!(out, "{}", Red(format!("{text}  {note}"), colour)),
        None => writeln!(out, "{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_order_and_the_width_of_the_first_ones() {
        let mut table = Streamed::new(vec!["A".to_owned(), "B".to_owned()], 1, false);
        let rows = MEASURED + 5;
        for at in 0..rows {
            let cells = vec![at.to_string(), "x".to_owned()];
            let note = (at == 1).then_some("<- here");
            table.push(Line { cells, note }).unwrap();
        }
        let mut printed = Vec::new();
        table.print(&mut printed).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        let lines: Vec<&str> = printed.lines().collect();
        assert_eq!(lines[..3], ["A    B", "0    x", "1    x  <- here"]);
        assert_eq!(lines.len(), rows + 1);
        // One digit more than was measured takes a space.
        assert_eq!(lines[rows], format!("{} x", rows - 1));
    }
}
