//! A layout as a YAML document.

use std::io::{self, Write};

use serde::Serialize;

use super::super::spool::Spool;
use super::super::subject::{Placed, Subject};
use super::record::{Beside, Head, Row, Tail};
use super::{Form, Outcome};

/// The keys of each layout so far, each as it stands in the document.
pub(super) struct Yaml {
    keys: Vec<Spool>,
    is_empty: bool,
}

impl Yaml {
    pub(super) fn new(subject: &Subject, spools: usize) -> Self {
        Self {
            keys: subject
                .layouts
                .iter()
                .map(|_| Spool::one_of(spools))
                .collect(),
            is_empty: true,
        }
    }
}

impl Form for Yaml {
    fn row(&mut self, key: &str, placed: &[Placed<'_>]) -> io::Result<()> {
        for (at, (spool, placed)) in self.keys.iter_mut().zip(placed).enumerate() {
            block(spool, &[Row::of(key, placed)], indent(at), indent(at))?;
        }
        self.is_empty = false;
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: &Outcome<'_>, out: &mut dyn Write) -> io::Result<()> {
        if outcome.place.0 > 0 {
            out.write_all(b"---\n")?;
        }
        for (layout, keys) in self.keys.into_iter().enumerate() {
            if layout == 1 {
                out.write_all(b"otherLayouts:\n")?;
            }
            let indent = indent(layout);
            let first = if layout == 0 { "" } else { "- " };
            block(out, &Head::of(outcome.subject, layout), first, indent)?;
            if !outcome.summary {
                let none = if self.is_empty { " []" } else { "" };
                writeln!(out, "{indent}keys:{none}")?;
                keys.copy_to(out)?;
            }
            block(out, &Tail::of(&outcome.tallies[layout]), indent, indent)?;
            if let Some(beside) = Beside::of(outcome.subject, outcome.differing)
                && layout == 0
            {
                block(out, &beside, indent, indent)?;
            }
        }
        Ok(())
    }
}

/// All but the first layout are items of a list.
fn indent(layout: usize) -> &'static str {
    if layout == 0 { "" } else { "  " }
}

/// A value, with something before its first line and before the others.
fn block(out: &mut dyn Write, value: &impl Serialize, first: &str, others: &str) -> io::Result<()> {
    let text = serde_yaml::to_string(value).map_err(io::Error::other)?;
    let mut before = first;
    for line in text.split_inclusive('\n') {
        // An empty line of a text in a block stays empty.
        let before = if line == "\n" {
            ""
        } else {
            std::mem::replace(&mut before, others)
        };
        write!(out, "{before}{line}")?;
    }
    Ok(())
}
