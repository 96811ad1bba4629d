//! A layout as one JSON object, with one key a line.

use std::io::{self, Write};

use serde::Serialize;

use super::super::spool::Spool;
use super::super::subject::{Placed, Subject};
use super::record::{Beside, Head, Row, Tail};
use super::{Form, Outcome};

/// The keys of each layout so far.
pub(super) struct Json {
    keys: Vec<Spool>,
    is_first: bool,
}

impl Json {
    pub(super) fn new(subject: &Subject, spools: usize) -> Self {
        Self {
            keys: subject
                .layouts
                .iter()
                .map(|_| Spool::one_of(spools))
                .collect(),
            is_first: true,
        }
    }
}

impl Form for Json {
    fn row(&mut self, key: &str, placed: &[Placed<'_>]) -> io::Result<()> {
        for (spool, placed) in self.keys.iter_mut().zip(placed) {
            spool.write_all(if self.is_first { b"\n    " } else { b",\n    " })?;
            serde_json::to_writer(&mut *spool, &Row::of(key, placed))?;
        }
        self.is_first = false;
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
                out.write_all(b",\n  \"keys\": [")?;
                keys.copy_to(out)?;
                out.write_all(b"\n  ]")?;
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

/// The fields of a record without the braces around them. They keep their order, which a map would not.
fn fields(out: &mut dyn Write, before: &str, record: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(record)?;
    let inner = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    write!(out, "{before}  {}", inner.unwrap_or_default())
}
