//! Groups for what no group covers, as they would be written by hand.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::super::terminal::printable;
use super::Discover;
use super::record::{Record, Set};

/// The most topics, and consumer groups, that a group may name.
const MOST_TOPICS: usize = 100;
const MOST_CONSUMERS: usize = 50;

pub(super) fn write(out: &mut dyn Write, record: &Record, arguments: &Discover) -> io::Result<()> {
    let mut names = BTreeSet::new();
    for set in &record.sets {
        let topics: Vec<&str> = set.topics.iter().map(|it| it.name.as_str()).collect();
        let topics = topics.join(", ");
        if !set.wants_manifest() {
            if set.covered_by.is_none() {
                let line =
                    format!("# No group for {topics}: their counts are unequal or not known.");
                writeln!(out, "{}", printable(&line))?;
            }
            continue;
        }
        if set.topics.len() > MOST_TOPICS {
            let line =
                format!("# No group for {topics}: it may have at most {MOST_TOPICS} topics.");
            writeln!(out, "{}", printable(&line))?;
            continue;
        }
        writeln!(out, "---")?;
        for by in &set.needed_by {
            let line = format!(
                "# Read together by {}, sub-topology {}.",
                by.application, by.sub_topology
            );
            writeln!(out, "{}", printable(&line))?;
        }
        for topic in &set.topics {
            if let Some(owner) = &topic.owner {
                let line = format!("# {} belongs to {owner}, so it is Referenced.", topic.name);
                writeln!(out, "{}", printable(&line))?;
            }
        }
        let group = group(set, &unused(set, &mut names), arguments);
        let text = serde_yaml::to_string(&group).map_err(io::Error::other)?;
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// A resource for the topics as they are: nothing is created or grown by it.
pub(super) fn group(set: &Set, name: &str, arguments: &Discover) -> Value {
    let topics: Vec<Value> = set
        .topics
        .iter()
        .map(|topic| {
            if topic.free {
                json!({"name": topic.name})
            } else {
                json!({"name": topic.name, "management": "Referenced"})
            }
        })
        .collect();
    let applications: BTreeSet<&str> = set
        .needed_by
        .iter()
        .map(|by| by.application.as_str())
        .collect();
    let consumers = applications.into_iter().take(MOST_CONSUMERS);
    let consumers: Vec<Value> = consumers.map(|id| json!({"groupId": id})).collect();
    let kafka = match &arguments.connection {
        Some(connection) => json!({"connectionRef": {"name": connection}}),
        None => json!({"inline": {"bootstrapServers": arguments.bootstrap}}),
    };
    let mut metadata = json!({"name": name});
    if let Some(namespace) = &arguments.namespace {
        metadata["namespace"] = json!(namespace);
    }
    json!({
        "apiVersion": "copartition.dev/v1alpha1",
        "kind": "CoPartitionedTopicGroup",
        "metadata": metadata,
        "spec": {
            "kafka": kafka,
            "partitions": set.partitions,
            "topics": topics,
            "consumerGroups": consumers,
        },
    })
}

/// A name after the first application, in letters that Kubernetes takes, which no other has yet.
fn unused(set: &Set, names: &mut BTreeSet<String>) -> String {
    let application = set
        .needed_by
        .first()
        .map_or("", |by| by.application.as_str());
    let letters = application.chars().map(|letter| {
        let letter = letter.to_ascii_lowercase();
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '-'
        }
    });
    // Room for a number.
    let name: String = letters.take(50).collect();
    let name = match name.trim_matches('-') {
        "" => "discovered",
        name => name,
    };
    let mut candidates = (2_u64..).map(|number| format!("{name}-{number}"));
    let mut unused = name.to_owned();
    while !names.insert(unused.clone()) {
        unused = candidates.next().unwrap_or_default();
    }
    unused
}
