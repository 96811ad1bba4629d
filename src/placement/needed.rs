//! Which topics running Kafka Streams applications read together.

use std::collections::BTreeMap;

use super::model::ConsumerGroup;

/// Topics that must be co-partitioned, since tasks read the same partition of several of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// The topics, by name.
    pub topics: Vec<String>,
    /// The applications with the sub-topology that reads some of them together.
    pub by: Vec<(String, String)>,
}

/// The sets that these groups need: the source topics of each sub-topology that has several, topics aside that Kafka Streams makes
/// itself. Sets that share a topic are one, for a topic that two of them hold to one count holds all of them to it.
pub fn needed(groups: &[ConsumerGroup]) -> Vec<Needed> {
    let mut sets: Vec<Needed> = Vec::new();
    let mut at: BTreeMap<&str, usize> = BTreeMap::new();
    for group in groups {
        let several = group.sub_topologies.iter().filter(|sub| {
            let first = sub.source_topics.first();
            sub.source_topics.iter().any(|topic| Some(topic) != first)
        });
        for sub in several {
            let number = sets.len();
            let mut new = Needed {
                topics: Vec::new(),
                by: vec![(group.id.clone(), sub.id.clone())],
            };
            for topic in &sub.source_topics {
                match at.insert(topic, number) {
                    // Its set goes into this one, and leaves an empty one behind.
                    Some(old) if old != number => {
                        let old = &mut sets[old];
                        new.topics.append(&mut old.topics);
                        new.by.append(&mut old.by);
                    }
                    Some(_) => {}
                    None => new.topics.push(topic.clone()),
                }
            }
            for set in at.values_mut() {
                if sets.get(*set).is_some_and(|it| it.topics.is_empty()) {
                    *set = number;
                }
            }
            new.topics.sort();
            new.by.sort();
            sets.push(new);
        }
    }
    sets.retain(|set| !set.topics.is_empty());
    sets.sort_by(|a, b| a.topics.cmp(&b.topics));
    sets
}
