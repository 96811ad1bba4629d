//! Which topics a Kafka Streams application reads together, from the text that `Topology#describe()` prints.
//!
//! Topics of one sub-topology have their same-numbered partitions read by one task. That matters to those whose records meet in a
//! state store (joins, aggregations of merged streams, processors with a common store): they have to be co-partitioned. Others
//! only share the task. Topics of different sub-topologies meet nowhere but in topics.
//!
//! The text was the same of Kafka Streams 3.9.1 and 4.3.1 (`texts/`); their named topologies (internal, 3.x) differ in the first line.

mod parse;
mod shared;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use parse::Malformed;

use parse::{Kind, SubTopology};

/// An application's topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Its sub-topologies, in the order of the text.
    pub parts: Vec<Part>,
    /// Topics of global stores. Every instance reads all of their partitions, so nothing has to be co-partitioned with them.
    pub global_topics: Vec<String>,
}

/// A sub-topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its id: `0`, of a named topology `name/0`.
    pub id: String,
    /// What it reads.
    pub reads: Sources,
    /// What of it meets in stores.
    pub shared: Vec<Shared>,
}

/// Sources that a sub-topology reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Topics, by name.
    pub topics: Vec<String>,
    /// Patterns of topics, as Java writes them.
    pub patterns: Vec<String>,
    /// Topics that Kafka Streams makes itself, with as many partitions as those that they meet have. Without the application's id.
    pub repartition_topics: Vec<String>,
}

/// Sources whose records meet in stores, so that they have to be co-partitioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The sources: two topics or more, or a pattern, which may stand for several.
    pub sources: Sources,
    /// The stores.
    pub stores: Vec<String>,
}

impl Sources {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.topics.len() + self.patterns.len() + self.repartition_topics.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Topology {
    /// Reads the text of `Topology#describe()`. Lines before it, such as those of a log, are left out.
    ///
    /// # Errors
    /// The first line that is no part of such a text.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let subs = parse::parse(text)?;
        let internal = internal(&subs);
        let global = subs.iter().filter(|sub| sub.global);
        let global_topics = global.flat_map(|sub| sources(sub, &internal).topics);
        let parts = subs.iter().filter(|sub| !sub.global).map(|sub| Part {
            id: sub.id.clone(),
            reads: sources(sub, &internal),
            shared: shared::shared(sub, &internal),
        });
        Ok(Self {
            global_topics: global_topics.collect(),
            parts: parts.collect(),
        })
    }
}

/// The topics that Kafka Streams makes to send records from one sub-topology to another: it writes them and gives them such names.
fn internal(subs: &[SubTopology]) -> BTreeSet<&str> {
    let nodes = subs.iter().flat_map(|sub| &sub.nodes);
    let written = nodes.filter_map(|node| match &node.kind {
        Kind::Sink { topic } => topic.as_deref(),
        _ => None,
    });
    let foreign_key = |topic: &str| {
        topic.ends_with("-topic")
            && (topic.contains("-SUBSCRIPTION-REGISTRATION-")
                || topic.contains("-SUBSCRIPTION-RESPONSE-"))
    };
    written
        .filter(|topic| topic.ends_with("-repartition") || foreign_key(topic))
        .collect()
}

fn sources(sub: &SubTopology, internal: &BTreeSet<&str>) -> Sources {
    let mut found = Sources::default();
    for node in &sub.nodes {
        found.take(&node.kind, internal);
    }
    found
}

impl Sources {
    fn take(&mut self, kind: &Kind, internal: &BTreeSet<&str>) {
        match kind {
            Kind::Topics(topics) => {
                for topic in topics {
                    if internal.contains(topic.as_str()) {
                        self.repartition_topics.push(topic.clone());
                    } else {
                        self.topics.push(topic.clone());
                    }
                }
            }
            Kind::Pattern(pattern) => self.patterns.push(pattern.clone()),
            Kind::Processor { .. } | Kind::Sink { .. } => {}
        }
    }
}
