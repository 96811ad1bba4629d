//! A layout as a YAML document.

use std::io::{self, Write};

use super::super::document::{List, yaml_block as block};
use super::super::subject::{Placed, Subject};
use super::record::{Beside, Head, Row, Tail};
use super::{Form, Outcome};

/// The keys of each layout so far, each as it stands in the document.
pub(super) struct Yaml {
    keys: Vec<List>,
}

impl Yaml {
    pub(super) fn new(subject: &Subject, spools: usize) -> Self {
        let indents = (0..subject.layouts.len()).map(indent);
        Self {
            keys: indents.map(|indent| List::yaml(indent, spools)).collect(),
        }
    }
}

impl Form for Yaml {
    fn row(&mut self, key: &str, placed: &[Placed<'_>]) -> io::Result<()> {
        for (list, placed) in self.keys.iter_mut().zip(placed) {
            list.push(&Row::of(key, placed))?;
        }
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
                keys.print(out)?;
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
