//! A layout as comma-separated values: one row a key and layout. The first columns are the same whatever is looked at.

use std::io::{self, Write};

use super::super::spool::Spool;
use super::super::subject::{Placed, Subject};
use super::{Form, Outcome};
use crate::layout::hex;

/// The rows so far.
pub(super) struct Csv {
    rows: csv::Writer<Spool>,
    /// The last two columns of each layout: the group and its topics.
    owners: Vec<Option<[String; 2]>>,
}

impl Csv {
    pub(super) fn new(subject: &Subject, spools: usize) -> Self {
        let owners = subject.layouts.iter().map(|layout| {
            let group = subject.name()?.to_owned();
            Some([group, layout.names()])
        });
        Self {
            rows: csv::Writer::from_writer(Spool::one_of(spools)),
            owners: owners.collect(),
        }
    }
}

impl Form for Csv {
    fn row(&mut self, key: &str, placed: &[Placed<'_>]) -> io::Result<()> {
        for (placed, owner) in placed.iter().zip(&self.owners) {
            let hash = placed.hash.map(|hash| format!("{hash:08x}"));
            let fields = [
                key,
                &hex(&placed.bytes),
                hash.as_deref().unwrap_or_default(),
                &placed.placement.to_string(),
            ];
            write(&mut self.rows, &fields, owner.as_ref())?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: &Outcome<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Self { rows, owners } = *self;
        let mut head = csv::Writer::from_writer(&mut *out);
        let names: &[&str] = if outcome.summary {
            &["partition", "keys"]
        } else {
            &["key", "bytes", "hash", "partition"]
        };
        if outcome.place.0 == 0 {
            let owner = ["group".to_owned(), "topics".to_owned()];
            write(&mut head, names, owners[0].as_ref().map(|_| &owner))?;
        }
        if outcome.summary {
            for (tally, owner) in outcome.tallies.iter().zip(&owners) {
                let owner = owner.as_ref();
                for (partition, keys) in tally.per_partition().iter().enumerate() {
                    let fields = [&partition.to_string()[..], &keys.to_string()];
                    write(&mut head, &fields, owner)?;
                }
                if tally.spread() > 0 {
                    write(&mut head, &["spread", &tally.spread().to_string()], owner)?;
                }
            }
        }
        head.flush()?;
        drop(head);
        let rows = rows
            .into_inner()
            .map_err(|error| io::Error::other(error.to_string()))?;
        rows.copy_to(out)
    }
}

fn write<W: Write>(
    out: &mut csv::Writer<W>,
    fields: &[&str],
    owner: Option<&[String; 2]>,
) -> io::Result<()> {
    let owner = owner.into_iter().flatten().map(String::as_str);
    out.write_record(fields.iter().copied().chain(owner))
        .map_err(io::Error::from)
}
