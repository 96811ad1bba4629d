//! What `topology` prints for people.

use std::io::{self, Write};

use super::super::columns::columns;
use super::super::terminal::{Red, printable};
use super::record::{Asked, Read, Record};

pub(super) fn write(out: &mut dyn Write, record: &Record, colour: bool) -> io::Result<()> {
    let rows: Vec<[String; 2]> = record
        .sub_topologies
        .iter()
        .map(|sub| [printable(&sub.id).into_owned(), listed(&sub.reads)])
        .collect();
    columns(out, ["SUB-TOPOLOGY", "READS"], &rows)?;
    together(out, record)?;
    sharing(out, record)?;
    if !record.global_topics.is_empty() {
        let topics = record.global_topics.join(", ");
        writeln!(
            out,
            "\nGlobal: {} (every instance reads all of it; nothing has to be co-partitioned with it)",
            printable(&topics)
        )?;
    }
    let mut made = record
        .sub_topologies
        .iter()
        .map(|it| &it.reads.repartition_topics);
    if made.any(|made| !made.is_empty()) {
        writeln!(
            out,
            "\n* made by Kafka Streams, with the application's id before the name and as many partitions as it takes"
        )?;
    }
    match &record.asked {
        Some(asked) => judged(out, record, asked, colour),
        None => Ok(()),
    }
}

fn together(out: &mut dyn Write, record: &Record) -> io::Result<()> {
    let sets = record.sub_topologies.iter().flat_map(|sub| {
        let sets = sub.co_partitioned.iter();
        sets.map(move |set| (&sub.id, set))
    });
    let mut any = false;
    for (id, set) in sets {
        if !std::mem::replace(&mut any, true) {
            writeln!(
                out,
                "\nMust be co-partitioned, since their records meet in a store:"
            )?;
        }
        let s = if set.stores.len() == 1 { "" } else { "s" };
        writeln!(
            out,
            "  {} (sub-topology {}, store{s} {})",
            listed(&set.reads),
            printable(id),
            printable(&set.stores.join(", "))
        )?;
    }
    if !any {
        writeln!(
            out,
            "\nNothing must be co-partitioned: no two topics meet in a store"
        )?;
    }
    Ok(())
}

/// Sub-topologies of several topics none of which meet.
fn sharing(out: &mut dyn Write, record: &Record) -> io::Result<()> {
    let sharing = record.sub_topologies.iter().filter(|sub| {
        let Read {
            topics, patterns, ..
        } = &sub.reads;
        sub.co_partitioned.is_empty() && topics.len() + patterns.len() > 1
    });
    for (at, sub) in sharing.enumerate() {
        if at == 0 {
            writeln!(
                out,
                "\nRead by one task, but met in no store that is described:"
            )?;
        }
        let id = printable(&sub.id);
        writeln!(out, "  {} (sub-topology {id})", listed(&sub.reads))?;
    }
    Ok(())
}

fn judged(out: &mut dyn Write, record: &Record, asked: &Asked, colour: bool) -> io::Result<()> {
    let names = asked.topics.join(" and ");
    if !asked.together {
        let by = asked
            .topics
            .iter()
            .map(|topic| format!("{topic} by {}", record.readers(topic)));
        let by: Vec<String> = by.collect();
        let line = format!(
            "{names} are not read by one sub-topology: {}. Their tasks go where they like. Join them, or connect one state store to the \
             processors of both",
            by.join(", ")
        );
        return writeln!(out, "\n{}", Red(printable(&line), colour));
    }
    let by = asked.sub_topology.as_deref().map_or_else(
        || "by every instance".to_owned(),
        |id| format!("by sub-topology {id}"),
    );
    let meet = if asked.meet {
        ", where their records meet: they must be co-partitioned"
    } else {
        ""
    };
    writeln!(
        out,
        "\n{}",
        printable(&format!("{names} are read {by}{meet}"))
    )
}

fn listed(read: &Read) -> String {
    let topics = read.topics.iter().cloned();
    let patterns = read.patterns.iter().map(|it| format!("/{it}/"));
    let made = read.repartition_topics.iter().map(|it| format!("{it}*"));
    let all: Vec<String> = topics.chain(patterns).chain(made).collect();
    printable(&all.join(", ")).into_owned()
}
