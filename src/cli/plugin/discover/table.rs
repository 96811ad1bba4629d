//! The sets for people.

use std::io::{self, Write};

use super::super::columns::columns;
use super::super::terminal::{Red, cell, printable};
use super::record::{Record, Set};

pub(super) fn write(out: &mut dyn Write, record: &Record, colour: bool) -> io::Result<()> {
    if record.sets.is_empty() {
        return writeln!(
            out,
            "No running Kafka Streams application reads several topics in one sub-topology"
        );
    }
    let rows: Vec<[String; 4]> = record.sets.iter().map(row).collect();
    columns(
        out,
        ["TOPICS", "PARTITIONS", "NEEDED BY", "COVERED BY"],
        &rows,
    )?;
    for set in &record.sets {
        for line in problems(set) {
            writeln!(out, "\n{}", Red(printable(&line), colour))?;
        }
    }
    Ok(())
}

fn row(set: &Set) -> [String; 4] {
    let topics: Vec<&str> = set.topics.iter().map(|it| it.name.as_str()).collect();
    let counts = set.topics.iter().map(|topic| {
        topic
            .partitions
            .map_or_else(|| "?".to_owned(), |it| it.to_string())
    });
    let counts: Vec<String> = counts.collect();
    let by = set.needed_by.iter().map(|by| {
        let stopped = if by.running { "" } else { " (no members)" };
        format!("{}{stopped}", cell(&by.application, 60))
    });
    let mut by: Vec<String> = by.collect();
    by.dedup();
    [
        cell(&topics.join(", "), 100),
        set.partitions
            .map_or_else(|| counts.join(", "), |it| it.to_string()),
        by.join(", "),
        set.covered_by.clone().unwrap_or_else(|| "-".to_owned()),
    ]
}

fn problems(set: &Set) -> Vec<String> {
    let names: Vec<&str> = set.topics.iter().map(|it| it.name.as_str()).collect();
    let names = names.join(", ");
    let unread = set.topics.iter().filter_map(|topic| {
        let problem = topic.problem.as_ref()?;
        Some(format!("{}: {problem}", topic.name))
    });
    let mut said: Vec<String> = unread.collect();
    if set.partitions.is_none() && said.is_empty() {
        let counts = set.topics.iter().map(|topic| {
            format!(
                "{} has {}",
                topic.name,
                topic.partitions.unwrap_or_default()
            )
        });
        let counts: Vec<String> = counts.collect();
        said.push(format!(
            "{names} are read together and have unequal counts: {}. Grow the smaller ones; a group with mode: Observe says what that moves",
            counts.join(", ")
        ));
    }
    if set.wants_manifest() {
        said.push(format!(
            "{names} are read together and no group covers them: -o manifests prints one"
        ));
    }
    said
}
