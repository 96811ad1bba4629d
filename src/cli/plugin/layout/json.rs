//! A layout as one JSON object, with one key a line.

use std::io::{self, Write};

use super::super::document::{List, json_fields as fields};
use super::super::subject::{Placed, Subject};
use super::record::{Beside, Head, Row, Tail};
use super::{Form, Outcome};

/// The keys of each layout so far.
pub(super) struct Json {
    keys: Vec<List>,
}

impl Json {
    pub(super) fn new(subject: &Subject, spools: usize) -> Self {
        let keys = subject.layouts.iter().map(|_| List::json(spools));
        Self {
            keys: keys.collect(),
        }
    }
}

impl Form for Json {
    fn row(&mut self, key: &str, placed: &[Placed<'_>]) -> io::Result<()> {
        for (list, placed) in self.keys.iter_mut().zip(placed) {
            list.push(&Row::of(key, placed))?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: &Outcome<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (at, of) = outcome.place;
        out.write_all(b"{")?;
        let mut before = "\n";
        for (layout, keys) in self.keys.into_iter().enumerate() {
            match layout {
                0 => {}
                1 => out.write_all(b",\n  \"otherLayouts\": [{\n")?,
                _ => out.write_all(b"}, {\n")?,
            }
            fields(out, before, &Head::of(outcome.subject, layout))?;
            if !outcome.summary {
                keys.print(out)?;
            }
            fields(out, ",\n", &Tail::of(&outcome.tallies[layout]))?;
            if let Some(beside) = Beside::of(outcome.subject, outcome.differing)
                && layout == 0
            {
                fields(out, ",\n", &beside)?;
            }
            before = "";
        }
        if outcome.tallies.len() > 1 {
            out.write_all(b"}]")?;
        }
        let comma = if at + 1 < of { "," } else { "" };
        writeln!(out, "\n}}{comma}")
    }
}
