//! What the servers said of a growth, for people.

use std::io::{self, Write};

use super::super::super::columns::columns;
use super::super::super::terminal::{Red, printable};
use super::Live;
use crate::controller::{Foreseen, Foresight};
use crate::plan::{Coverage, State};

/// The topics, and the verdict.
pub(in crate::cli::plugin::plan) fn head(
    out: &mut dyn Write,
    live: &Live,
    colour: bool,
) -> io::Result<()> {
    let foresight = &live.foresight;
    let wanted = foresight
        .target
        .map_or_else(|| "?".to_owned(), |it| it.to_string());
    let rows: Vec<[String; 5]> = foresight
        .topics
        .iter()
        .map(|topic| row(topic, &wanted, foresight))
        .collect();
    writeln!(out, "Kafka cluster {}\n", printable(&foresight.cluster_id))?;
    columns(
        out,
        ["TOPIC", "SEEN", "WANTED", "RECORDS WRITTEN", "GROWS"],
        &rows,
    )?;
    let now = &foresight.now;
    let line = format!(
        "PartitionsAligned: {} ({}), {}",
        now.state.as_str(),
        now.reason.as_str(),
        printable(&now.message)
    );
    writeln!(
        out,
        "\n{}\n",
        Red(line, colour && now.state == State::False)
    )
}

fn row(topic: &Foreseen, wanted: &str, foresight: &Foresight) -> [String; 5] {
    let records = match (topic.records, topic.written) {
        (Some(false), _) => "none".to_owned(),
        (_, Some(written)) => written.to_string(),
        (Some(true), None) => "some".to_owned(),
        (None, None) => "?".to_owned(),
    };
    let grows = match (&topic.coverage, topic.partitions) {
        (None, None) => "does not exist",
        (None, Some(seen)) if Some(seen) == foresight.target => "no need",
        (None, Some(_)) => "no",
        (Some(_), _) if !topic.managed => "by its owner",
        (Some(_), _) if topic.grows && topic.records == Some(false) => "yes, it is empty",
        (Some(_), _) if topic.grows => "yes, by the consent",
        (Some(Coverage::Covered), _) => "not now",
        (Some(Coverage::Absent), _) if topic.records == Some(false) => "not now",
        (Some(Coverage::Absent), _) => "not without consent",
        (Some(Coverage::Spent), _) => "no, the consent was used before",
        (Some(Coverage::OtherId), _) => "no, the consent lists other topic ids",
    };
    [
        topic.name.clone(),
        topic
            .partitions
            .map_or_else(|| "-".to_owned(), |it| it.to_string()),
        wanted.to_owned(),
        records,
        grows.to_owned(),
    ]
}

/// What breaks, what is refused, and what to paste.
pub(in crate::cli::plugin::plan) fn tail(
    out: &mut dyn Write,
    live: &Live,
    colour: bool,
) -> io::Result<()> {
    let foresight = &live.foresight;
    for found in &foresight.breaks {
        let message = printable(&found.message);
        let line = format!("breaks ({}): {message}", found.kind);
        writeln!(out, "\n{}", Red(line, colour))?;
        writeln!(out, "  to do: {}", printable(&found.remedy))?;
        for name in &found.found {
            writeln!(out, "  - {}", printable(name))?;
        }
    }
    for (topic, words) in &foresight.refused {
        let line = format!("Kafka would refuse {topic}: {}", printable(words));
        writeln!(out, "\n{}", Red(line, colour))?;
    }
    if let Some(words) = &live.denied {
        let line = format!("Kubernetes would refuse it: {}", printable(words));
        writeln!(out, "\n{}", Red(line, colour))?;
    }
    for unread in &foresight.unread {
        writeln!(out, "\nnot known: {}", printable(unread))?;
    }
    for (at, proposal) in foresight.consents.iter().enumerate() {
        let what = match at {
            0 => "To accept all this, and let the topics grow:",
            _ => "Then, in a commit of its own:",
        };
        writeln!(
            out,
            "\n{what}\n\nspec:\n  partitions: {}\n  acceptKeyMovement:\n    topics: [{}]\n    fromPartitions: {}\n    toPartitions: {}",
            proposal.to,
            proposal.topics.join(", "),
            proposal.from,
            proposal.to
        )?;
        if !proposal.topic_ids.is_empty() {
            writeln!(out, "    topicIds: [{}]", proposal.topic_ids.join(", "))?;
        }
    }
    Ok(())
}
