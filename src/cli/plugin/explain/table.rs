//! The explanation for people.

use std::io::{self, Write};

use super::super::columns::{Line, Streamed};
use super::super::terminal::cell;
use super::record::{Record, Scheme};

/// The longest bytes that are shown whole.
const WIDEST: usize = 96;
/// How many settings of clients are named; `schemes` and the other forms have all.
const NAMED: usize = 4;

pub(super) fn write(out: &mut dyn Write, record: &Record, colour: bool) -> io::Result<()> {
    let shown = |text: &str| cell(text, WIDEST);
    writeln!(out, "key        {}", shown(&record.key))?;
    let s = if record.length == 1 { "" } else { "s" };
    writeln!(
        out,
        "bytes      {} ({} byte{s} as {})",
        shown(&record.bytes),
        record.length,
        record.encoding
    )?;
    let part = if record.redis.hashed_part == record.key {
        "the whole key".to_owned()
    } else {
        format!("{}, the hash tag", shown(&record.redis.hashed_part))
    };
    writeln!(out, "redis      slot {} of {part}\n", record.redis.slot)?;
    schemes(out, record, colour)?;
    used_by(out, &record.schemes)?;
    if let (Some(seen), Some(by)) = (record.seen, &record.explained_by) {
        match &by[..] {
            [] => writeln!(
                out,
                "\npartition {seen}: no known scheme puts this key there at {} partitions as {}. Perhaps it was encoded otherwise \
                 (--encoding), written before the topic grew (--partitions), or placed by a partitioner of somebody's own",
                record.partitions, record.encoding
            )?,
            by => writeln!(out, "\npartition {seen} is explained by {}", by.join(", "))?,
        }
    }
    Ok(())
}

fn schemes(out: &mut dyn Write, record: &Record, colour: bool) -> io::Result<()> {
    let head = format!("PARTITION OF {}", record.partitions);
    let mut heads = ["PARTITIONER", "HASH", "VALUE", "REDUCTION", &head]
        .map(str::to_owned)
        .to_vec();
    let of_group = record
        .schemes
        .iter()
        .any(|scheme| !scheme.topics.is_empty());
    heads.extend(of_group.then(|| "TOPICS".to_owned()));
    let mut table = Streamed::new(heads, 1, colour);
    for scheme in &record.schemes {
        let hash = scheme.hash.as_deref().unwrap_or("-");
        let place = match scheme.partition {
            Some(partition) => partition.to_string(),
            None if scheme.spread => "spread".to_owned(),
            None => "not for these keys".to_owned(),
        };
        let cells = [
            scheme.partitioner,
            scheme.hash_name,
            hash,
            scheme.reduction,
            &place,
        ];
        let mut cells = cells.map(str::to_owned).to_vec();
        cells.push(scheme.topics.join(", "));
        table.push(Line {
            cells,
            note: scheme.explains.then_some("<- seen"),
        })?;
    }
    table.print(out)
}

/// Who uses which partitioner: first those that do so by default.
fn used_by(out: &mut dyn Write, schemes: &[Scheme]) -> io::Result<()> {
    let rows: Vec<[String; 3]> = schemes
        .iter()
        .map(|scheme| {
            let mut configured = scheme.configured_in.clone();
            let more = configured.len().saturating_sub(NAMED);
            if more > 1 {
                configured.truncate(NAMED);
                configured.push(format!("and {more} more"));
            }
            let configured = configured.join(", ");
            let partitioner = scheme.partitioner.to_owned();
            [partitioner, scheme.default_of.join(", "), configured]
        })
        .collect();
    writeln!(out)?;
    // Long lists stay on lines of their own, so that the terminal need not be wide.
    for [partitioner, default_of, configured] in rows {
        writeln!(out, "{partitioner}")?;
        if !default_of.is_empty() {
            writeln!(out, "  default of {default_of}")?;
        }
        if !configured.is_empty() {
            writeln!(out, "  if configured: {configured}")?;
        }
    }
    Ok(())
}
