//! A layout as one page that needs nothing beside itself: no script, no font, no picture from elsewhere.

mod cells;

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::super::page::{self, Escaped};
use super::super::subject::{Placed, Subject};
use super::super::terminal::{counted, cut, ranges};
use super::{Form, Outcome, differ};
use crate::keys::Placement;
use crate::layout::Tally;

const STYLE: &str = include_str!("style.css");
/// The most keys that are listed, so that a browser can show the page.
const MOST_KEYS: usize = 2_000;
/// The most partitions that are shown, for the same reason.
const MOST_ROWS: usize = 2_000;
/// The most letters of a key that are shown.
const WIDEST: usize = 200;
/// As long as there are few topics each has its own column; else those that are alike share one.
const MOST_TOPICS: usize = 4;

/// The keys so far, as far as they are listed.
pub(super) struct Html {
    keys: Vec<Key>,
    /// Which keys lie where, by layout and place.
    at: BTreeMap<(usize, Placement), Vec<usize>>,
}

struct Key {
    text: String,
    differs: bool,
}

/// A column of the table: a topic, or all topics that are alike.
struct Column {
    name: String,
    layout: usize,
}

impl Html {
    pub(super) fn new() -> Self {
        Self {
            keys: Vec::new(),
            at: BTreeMap::new(),
        }
    }
}

impl Form for Html {
    fn row(&mut self, key: &str, placed: &[Placed<'_>]) -> io::Result<()> {
        if self.keys.len() == MOST_KEYS {
            return Ok(());
        }
        for (layout, placed) in placed.iter().enumerate() {
            let here = self.at.entry((layout, placed.placement)).or_default();
            here.push(self.keys.len());
        }
        self.keys.push(Key {
            text: cut(key, WIDEST).into_owned(),
            differs: differ(placed),
        });
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: &Outcome<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (at, of) = outcome.place;
        let subject = outcome.subject;
        let scheme = subject.layouts[0].scheme.to_string();
        let name = subject.name().unwrap_or(&scheme);
        if at == 0 {
            let title = if of == 1 { name } else { "several groups" };
            let title = format!("Where the keys of {title} lie");
            page::open(out, &title, "Where keys lie", STYLE)?;
        }
        writeln!(out, "<h2>{}</h2>", Escaped(name))?;
        self.summary(outcome, out)?;
        let rows = rows(outcome);
        self.table(outcome, &columns(subject), &rows, out)?;
        if at + 1 == of {
            page::close(out)?;
        }
        Ok(())
    }
}

impl Html {
    fn summary(&self, outcome: &Outcome<'_>, out: &mut dyn Write) -> io::Result<()> {
        let all = outcome.tallies[0].keys();
        let layouts = &outcome.subject.layouts;
        let several = layouts.iter().map(|it| it.writers.len()).sum::<usize>() > 1;
        let keys = counted(all, "key");
        match outcome.differing {
            0 if several => writeln!(
                out,
                "<p class=\"verdict\">{keys}, each on the same partition of every topic.</p>"
            )?,
            0 => writeln!(out, "<p class=\"verdict\">{keys}.</p>")?,
            differing => writeln!(
                out,
                "<p class=\"verdict odd\"><strong>{differing} of {keys} on different partitions.</strong> \
                 They are marked with \u{2260}.</p>"
            )?,
        }
        for left_out in &outcome.subject.left_out {
            let (writer, why) = (Escaped(&left_out.writer), left_out.why);
            writeln!(out, "<p class=\"faint\">{writer} is not shown: {why}.</p>")?;
        }
        let listed = u64::try_from(self.keys.len()).unwrap_or(u64::MAX);
        if listed < all && !outcome.summary {
            let text = format!("The first {listed} of {keys} are listed; the counts are of all.");
            writeln!(out, "<p class=\"faint\">{text}</p>")?;
        }
        Ok(())
    }
}

/// What is said of a layout below its name.
fn facts(tally: &Tally, scheme: &str) -> String {
    let partitions = counted(u64::from(tally.partitions().unsigned_abs()), "partition");
    let mut parts = vec![format!("{scheme}, {partitions}")];
    parts.extend(tally.skew().map(|skew| format!("skew {skew}")));
    if tally.empty().next().is_some() {
        parts.push(format!("empty: {}", ranges(tally.empty(), 10)));
    }
    parts.join("; ")
}

fn columns(subject: &Subject) -> Vec<Column> {
    let topics: usize = subject
        .layouts
        .iter()
        .map(|layout| layout.writers.len())
        .sum();
    let mut columns = Vec::new();
    for (at, layout) in subject.layouts.iter().enumerate() {
        let names = match &layout.writers[..] {
            [] => vec!["Keys".to_owned()],
            writers if topics <= MOST_TOPICS => writers.to_vec(),
            _ => vec![layout.names()],
        };
        columns.extend(names.into_iter().map(|name| Column { name, layout: at }));
    }
    columns
}

/// The partitions that are shown: all, or if there are too many, the first that hold keys.
fn rows(outcome: &Outcome<'_>) -> Vec<i32> {
    let most = outcome.most_partitions();
    let holds_keys = |at: &i32| {
        let index = usize::try_from(*at).unwrap_or(usize::MAX);
        let mut counts = outcome.tallies.iter().map(Tally::per_partition);
        counts.any(|counts| counts.get(index).is_some_and(|keys| *keys > 0))
    };
    if usize::try_from(most).is_ok_and(|most| most <= MOST_ROWS) {
        return (0..most).collect();
    }
    (0..most).filter(holds_keys).take(MOST_ROWS).collect()
}

#[cfg(test)]
mod tests;
