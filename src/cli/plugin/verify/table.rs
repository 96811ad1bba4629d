//! What was verified, for people.

use std::io::{self, Write};

use super::super::columns::columns;
use super::super::terminal::{Red, counted, printable};
use super::record::{Judged, Proof};

/// The most partitions that are listed.
const MOST: usize = 200;

pub(super) fn write(out: &mut dyn Write, verified: &Proof, colour: bool) -> io::Result<()> {
    if let Some(group) = &verified.group {
        writeln!(out, "{group}")?;
    }
    let rows: Vec<[String; 7]> = verified.topics.iter().map(row).collect();
    columns(
        out,
        [
            "TOPIC",
            "SCHEME",
            "PARTITIONS",
            "RECORDS",
            "KEYS",
            "MISPLACED",
            "VERDICT",
        ],
        &rows,
    )?;
    for topic in &verified.topics {
        writeln!(out, "\n{}: {}", topic.topic, printable(&topic.message))?;
        if topic.left_out > 0 && topic.left_out < topic.records {
            let records = counted(topic.left_out, "record");
            writeln!(out, "{records} of the time of its growth left out")?;
        }
        partitions(out, topic)?;
    }
    for pair in &verified.between {
        writeln!(
            out,
            "\n{} and {} share {} keys; {} of them lie on different partition numbers",
            pair.a, pair.b, pair.shared, pair.apart
        )?;
    }
    for unread in &verified.incomplete {
        let line = format!(
            "{}: not read to the end: {}",
            unread.topic,
            printable(&unread.why)
        );
        writeln!(out, "\n{}", Red(line, colour))?;
    }
    let condition = &verified.keys_verified;
    let line = format!("KeysVerified {} ({})", condition.status, condition.reason);
    let stands_out = colour && condition.status == "False";
    writeln!(out, "\n{}", Red(line, stands_out))
}

fn row(topic: &Judged) -> [String; 7] {
    let more = if topic.more_keys { "more than " } else { "" };
    [
        topic.topic.clone(),
        topic.scheme.clone().unwrap_or_else(|| "-".to_owned()),
        topic.partitions.to_string(),
        topic.records.to_string(),
        format!("{more}{}", topic.distinct_keys),
        topic.misplaced.to_string(),
        topic.reason.clone(),
    ]
}

/// Where records lie against where they belong; only if that differs.
fn partitions(out: &mut dyn Write, topic: &Judged) -> io::Result<()> {
    let differs = topic.per_partition.iter().any(|it| it.seen != it.predicted);
    if !differs {
        return Ok(());
    }
    let listed = topic.per_partition.iter().take(MOST).enumerate();
    let rows: Vec<[String; 3]> = listed
        .map(|(at, it)| {
            [
                at.to_string(),
                it.predicted.to_string(),
                it.seen.to_string(),
            ]
        })
        .collect();
    columns(out, ["PARTITION", "PREDICTED", "SEEN"], &rows)
}
