//! What `topology` prints for programs.

use serde::Serialize;

use crate::placement::topology::{Part, Shared, Sources, Topology};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) sub_topologies: Vec<SubTopology>,
    pub(super) global_topics: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) asked: Option<Asked>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SubTopology {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) reads: Read,
    pub(super) co_partitioned: Vec<Set>,
}

/// Topics that are read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Read {
    pub(super) topics: Vec<String>,
    pub(super) patterns: Vec<String>,
    pub(super) repartition_topics: Vec<String>,
}

/// Topics that must be co-partitioned, and why.
#[derive(Debug, Serialize)]
pub(super) struct Set {
    #[serde(flatten)]
    pub(super) reads: Read,
    pub(super) stores: Vec<String>,
}

/// The answer to `--topics`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asked {
    pub(super) topics: Vec<String>,
    /// Whether one sub-topology reads them all, those of global stores aside.
    pub(super) together: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sub_topology: Option<String>,
    /// Whether their records meet in a store, so that they must be co-partitioned.
    pub(super) meet: bool,
}

impl Record {
    /// # Errors
    /// A topic that is asked for and not read.
    pub(super) fn of(topology: &Topology, asked: &[String]) -> Result<Self, String> {
        let asked = if asked.is_empty() {
            None
        } else {
            Some(Asked::of(topology, asked)?)
        };
        Ok(Self {
            sub_topologies: topology.parts.iter().map(SubTopology::of).collect(),
            global_topics: topology.global_topics.clone(),
            asked,
        })
    }
}

impl SubTopology {
    fn of(part: &Part) -> Self {
        let set = |shared: &Shared| Set {
            reads: Read::of(&shared.sources),
            stores: shared.stores.clone(),
        };
        Self {
            id: part.id.clone(),
            reads: Read::of(&part.reads),
            co_partitioned: part.shared.iter().map(set).collect(),
        }
    }
}

impl Read {
    fn of(sources: &Sources) -> Self {
        Self {
            topics: sources.topics.clone(),
            patterns: sources.patterns.clone(),
            repartition_topics: sources.repartition_topics.clone(),
        }
    }

    fn has(&self, topic: &String) -> bool {
        self.topics.contains(topic)
    }
}

impl Asked {
    fn of(topology: &Topology, topics: &[String]) -> Result<Self, String> {
        let read = |sources: &Sources, topic: &String| sources.topics.contains(topic);
        for topic in topics {
            let known = topology.global_topics.contains(topic)
                || topology.parts.iter().any(|part| read(&part.reads, topic));
            if !known {
                let patterns = topology
                    .parts
                    .iter()
                    .any(|it| !it.reads.patterns.is_empty());
                let hint = if patterns {
                    ", at least not by name: which topics its patterns fit is not looked at"
                } else {
                    ""
                };
                return Err(format!("{topic} is not read by this application{hint}"));
            }
        }
        let local = |topic: &&String| !topology.global_topics.contains(*topic);
        let all = |sources: &Sources| topics.iter().filter(local).all(|it| read(sources, it));
        let part = topology.parts.iter().find(|part| all(&part.reads));
        let several = topics.iter().filter(local).count() > 1;
        let meet = part.is_some_and(|it| it.shared.iter().any(|it| all(&it.sources)));
        Ok(Self {
            topics: topics.to_vec(),
            together: part.is_some() || !topics.iter().any(|topic| local(&topic)),
            sub_topology: part.map(|part| part.id.clone()),
            meet: meet && several,
        })
    }
}

impl Record {
    /// The sub-topologies that read a topic, in words.
    pub(super) fn readers(&self, topic: &String) -> String {
        if self.global_topics.contains(topic) {
            return "all".to_owned();
        }
        let readers = self.sub_topologies.iter().filter(|it| it.reads.has(topic));
        let ids: Vec<&str> = readers.map(|it| it.id.as_str()).collect();
        ids.join(" and ")
    }
}
