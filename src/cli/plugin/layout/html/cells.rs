//! The table of the page. It keeps its roles where a narrow screen shows rows below each other.

use std::io::{self, Write};

use super::super::super::page::{Escaped, bar};
use super::super::super::terminal::counted;
use super::super::Outcome;
use super::{Column, Html, facts};
use crate::keys::Placement;
use crate::layout::Tally;

impl Html {
    pub(super) fn table(
        &self,
        outcome: &Outcome<'_>,
        columns: &[Column],
        rows: &[i32],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        out.write_all(b"<table role=\"table\">\n")?;
        let most = outcome.most_partitions();
        if i32::try_from(rows.len()).is_ok_and(|shown| shown < most) {
            let shown = rows.len();
            writeln!(
                out,
                "<caption>{shown} of {most} partitions: the first that hold keys</caption>"
            )?;
        }
        out.write_all(b"<thead role=\"rowgroup\"><tr role=\"row\"><th role=\"columnheader\" scope=\"col\" class=\"number\">Partition</th>")?;
        for column in columns {
            let layout = &outcome.subject.layouts[column.layout];
            let facts = facts(&outcome.tallies[column.layout], &layout.scheme.to_string());
            write!(
                out,
                "<th role=\"columnheader\" scope=\"col\">{}<small>{}</small></th>",
                Escaped(&column.name),
                Escaped(&facts)
            )?;
        }
        out.write_all(b"</tr></thead>\n<tbody role=\"rowgroup\">\n")?;
        let counts = outcome.tallies.iter().flat_map(Tally::per_partition);
        let fullest = counts.copied().max().unwrap_or(0).max(1);
        for row in rows {
            write!(
                out,
                "<tr role=\"row\"><th role=\"rowheader\" scope=\"row\">{row}</th>"
            )?;
            for column in columns {
                let at = usize::try_from(*row).unwrap_or(usize::MAX);
                let keys = outcome.tallies[column.layout].per_partition().get(at);
                open(out, column)?;
                match keys {
                    None => out.write_all(b"<span class=\"none\">no such partition</span>")?,
                    Some(0) => out.write_all(b"<span class=\"none\">no key</span>")?,
                    Some(keys) => {
                        count(out, *keys)?;
                        bar(out, "", *keys, fullest)?;
                        self.list(out, column.layout, Placement::At(*row))?;
                    }
                }
                out.write_all(b"</td>")?;
            }
            out.write_all(b"</tr>\n")?;
        }
        if outcome.tallies.iter().any(|tally| tally.spread() > 0) {
            self.spread(outcome, columns, out)?;
        }
        out.write_all(b"</tbody>\n</table>\n")
    }

    /// The keys without a partition of their own.
    fn spread(
        &self,
        outcome: &Outcome<'_>,
        columns: &[Column],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        out.write_all(b"<tr role=\"row\"><th role=\"rowheader\" scope=\"row\" class=\"spread\">Spread over all</th>")?;
        for column in columns {
            open(out, column)?;
            match outcome.tallies[column.layout].spread() {
                0 => out.write_all(b"<span class=\"none\">no key</span>")?,
                keys => {
                    count(out, keys)?;
                    self.list(out, column.layout, Placement::Spread)?;
                }
            }
            out.write_all(b"</td>")?;
        }
        out.write_all(b"</tr>\n")
    }

    fn list(&self, out: &mut dyn Write, layout: usize, at: Placement) -> io::Result<()> {
        let Some(here) = self.at.get(&(layout, at)) else {
            return Ok(());
        };
        // Lists without marks are none to some screen readers, unless they say so.
        out.write_all(b"<ul role=\"list\">")?;
        for key in here.iter().filter_map(|key| self.keys.get(*key)) {
            let (class, mark) = if key.differs {
                (" class=\"odd\"", "\u{2260} ")
            } else {
                ("", "")
            };
            write!(out, "<li{class}>{mark}")?;
            match &key.text[..] {
                "" => out.write_all(b"<em>empty key</em></li>")?,
                text => write!(out, "<bdi>{}</bdi></li>", Escaped(text))?,
            }
        }
        out.write_all(b"</ul>")
    }
}

fn open(out: &mut dyn Write, column: &Column) -> io::Result<()> {
    write!(
        out,
        "<td role=\"cell\" data-topic=\"{}\">",
        Escaped(&column.name)
    )
}

fn count(out: &mut dyn Write, keys: u64) -> io::Result<()> {
    write!(out, "<span class=\"count\">{}</span>", counted(keys, "key"))
}
