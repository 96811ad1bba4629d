//! One reading: which requests it takes, and what their answers amount to.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::chunk;
use super::client::{Client, PerTopic};
use super::cluster::{Shared, State};
use super::error::{Error, TopicError};
use super::model::TopicDescription;
use super::snapshot::{ConfigSeen, Reading, Seen};
use crate::plan::Records;

/// At least so many partitions of topics known to be empty are looked at again with each poll, the longest
/// unseen first: one request. Bounds what many empty topics cost.
const EMPTY_PARTITIONS: usize = chunk::OFFSET_LIMIT;
/// Topics known to be empty are looked at again within so many polls, however many there are. A growth never rests on
/// that: offsets are read anew right before it.
const EMPTY_EVERY: u64 = 24;

/// What to read.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    topics: BTreeSet<String>,
    parts: Parts,
}

#[derive(Clone, Debug)]
enum Parts {
    /// Offsets and configs that were never read, or long ago.
    Due,
    /// The offsets and the configs of just these.
    Fresh {
        offsets: BTreeSet<String>,
        configs: BTreeSet<String>,
    },
}

/// A question for a fresh reading.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) topics: BTreeSet<String>,
    pub(super) with_offsets: bool,
    pub(super) with_configs: bool,
}

impl Wanted {
    /// A fresh reading for all questions.
    pub(super) fn fresh(questions: &[Question]) -> Self {
        let of = |asked: fn(&Question) -> bool| -> BTreeSet<String> {
            let asking = questions.iter().filter(|question| asked(question));
            asking
                .flat_map(|question| &question.topics)
                .cloned()
                .collect()
        };
        Self {
            topics: of(|_| true),
            parts: Parts::Fresh {
                offsets: of(|question| question.with_offsets),
                configs: of(|question| question.with_configs),
            },
        }
    }

    /// A poll's reading of topics.
    pub(super) fn due(topics: BTreeSet<String>) -> Self {
        Self {
            topics,
            parts: Parts::Due,
        }
    }

    pub(super) fn topics(&self) -> &BTreeSet<String> {
        &self.topics
    }
}

/// Reads topics. Fails only if the cluster or the topics cannot be described at all; offsets and configs
/// that cannot be read are part of the reading.
pub(super) async fn read(shared: &Shared, wanted: &Wanted) -> Result<Reading, Error> {
    let stamp = shared.stamp();
    let names: Vec<String> = wanted.topics.iter().cloned().collect();
    // One for all requests: it may be replaced meanwhile.
    let client = shared.link.client();
    let (cluster_id, described) = client.look(&names).await?;
    let at = Instant::now();
    let (poll, offsets, configs) = {
        let state = shared.lock();
        // What was read on another cluster counts as never read.
        let known = Known {
            state: &state,
            same_cluster: state.snapshot.cluster_id() == Some(&cluster_id),
            every: u64::from(shared.settings.config_every.max(1)),
        };
        let present = described
            .iter()
            .filter_map(|(topic, found)| Some((topic, found.as_ref().ok()?)));
        let present: Vec<(&String, &TopicDescription)> = present.collect();
        (
            state.polls,
            known.offsets_to_read(&present, &wanted.parts),
            known.configs_to_read(&present, &wanted.parts),
        )
    };
    let offsets = read_offsets(&client, &offsets, &described).await;
    let configs = read_configs(&client, &configs).await;
    Ok(Reading {
        stamp,
        poll,
        at,
        cluster_id,
        topics: seen(described, offsets, configs),
    })
}

/// What was read before, as far as it tells what to read now.
struct Known<'a> {
    state: &'a State,
    same_cluster: bool,
    /// Configs are read once in so many polls.
    every: u64,
}

impl Known<'_> {
    /// The topics whose end offsets are to be read, with their partition count.
    fn offsets_to_read(
        &self,
        present: &[(&String, &TopicDescription)],
        parts: &Parts,
    ) -> Vec<(String, i32)> {
        let mut first = Vec::new();
        let mut again = Vec::new();
        for (topic, description) in present {
            let asked = ((*topic).clone(), description.partitions);
            if self.same_cluster && self.state.snapshot.holds_records(topic, &description.id) {
                continue;
            }
            match parts {
                Parts::Fresh { offsets, .. } if !offsets.contains(*topic) => {}
                Parts::Fresh { .. } => first.push(asked),
                Parts::Due => match self.offsets_read(topic, description) {
                    Some(poll) => again.push((poll, asked)),
                    None => first.push(asked),
                },
            }
        }
        first.extend(longest_unseen(again, EMPTY_EVERY));
        first
    }

    fn offsets_read(&self, topic: &str, description: &TopicDescription) -> Option<u64> {
        let read = self.state.snapshot.offsets_read(topic, &description.id);
        read.filter(|_| self.same_cluster)
    }

    /// The topics whose config is to be read.
    fn configs_to_read(
        &self,
        present: &[(&String, &TopicDescription)],
        parts: &Parts,
    ) -> Vec<String> {
        let wanted = |topic: &String, description: &TopicDescription| match parts {
            Parts::Fresh { configs, .. } => configs.contains(topic),
            Parts::Due => {
                let read = self.state.snapshot.config_read(topic, &description.id);
                let read = read.filter(|_| self.same_cluster);
                read.is_none_or(|poll| self.state.polls >= poll + self.every)
                    && self.state.interests.wants_config(topic)
            }
        };
        let wanted = present
            .iter()
            .filter(|(topic, description)| wanted(topic, description));
        wanted.map(|(topic, _)| (*topic).clone()).collect()
    }
}

/// Of topics that were empty when last looked at (in the given poll), those to look at again: as many
/// partitions as it takes to see each in `every` polls, but at least [`EMPTY_PARTITIONS`].
fn longest_unseen(mut topics: Vec<(u64, (String, i32))>, every: u64) -> Vec<(String, i32)> {
    topics.sort();
    let partitions = |count: i32| usize::try_from(count).unwrap_or(0);
    let all: usize = topics
        .iter()
        .map(|(_, (_, count))| partitions(*count))
        .sum();
    let share = all.div_ceil(usize::try_from(every).unwrap_or(1).max(1));
    let mut left = share.max(EMPTY_PARTITIONS);
    let mut chosen = Vec::new();
    for (_, (topic, count)) in topics {
        if left == 0 {
            break;
        }
        left = left.saturating_sub(partitions(count));
        chosen.push((topic, count));
    }
    chosen
}

async fn read_offsets(
    client: &Client,
    topics: &[(String, i32)],
    described: &PerTopic<TopicDescription>,
) -> BTreeMap<String, Records> {
    let described = topics
        .iter()
        .filter_map(|(topic, _)| described.get_key_value(topic));
    let described = described
        .map(|(topic, found)| (topic.clone(), found.clone()))
        .collect();
    let ends = client.end_offsets_of(described).await;
    ends.into_iter()
        .map(|(topic, ends)| (topic, records(ends)))
        .collect()
}

fn records(ends: Result<Vec<i64>, TopicError>) -> Records {
    match ends {
        Ok(ends) if ends.iter().all(|end| *end == 0) => Records::None,
        Ok(_) => Records::Some,
        Err(error) => Records::Unreadable(error.to_string()),
    }
}

async fn read_configs(client: &Client, topics: &[String]) -> BTreeMap<String, ConfigSeen> {
    if topics.is_empty() {
        return BTreeMap::new();
    }
    let answer: PerTopic<BTreeMap<String, String>> = match client.describe_configs(topics).await {
        Ok(answer) => answer,
        Err(error) => {
            let failed = |topic: &String| (topic.clone(), Err(error.clone().into()));
            topics.iter().map(failed).collect()
        }
    };
    answer
        .into_iter()
        .map(|(topic, config)| (topic, config_seen(config)))
        .collect()
}

fn config_seen(config: Result<BTreeMap<String, String>, TopicError>) -> ConfigSeen {
    match config {
        Ok(config) => ConfigSeen::Read(config),
        Err(TopicError::NotAuthorized(_)) => ConfigSeen::Unreadable,
        // Also "unknown topic": the broker that answers may not know a new topic yet.
        Err(_) => ConfigSeen::Failed,
    }
}

fn seen(
    described: PerTopic<TopicDescription>,
    mut offsets: BTreeMap<String, Records>,
    mut configs: BTreeMap<String, ConfigSeen>,
) -> BTreeMap<String, Seen> {
    let mut of = |topic: &String, found: Result<TopicDescription, TopicError>| match found {
        Ok(description) => Seen::Present {
            description,
            records: offsets.remove(topic),
            config: configs.remove(topic).unwrap_or(ConfigSeen::NotAsked),
        },
        Err(TopicError::UnknownTopic) => Seen::Missing,
        Err(TopicError::NotAuthorized(_)) => Seen::NotAuthorized,
        Err(error) => Seen::Failed(error.to_string()),
    };
    described
        .into_iter()
        .map(|(topic, found)| {
            let seen = of(&topic, found);
            (topic, seen)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_empty_topics_are_looked_at_with_each_poll() {
        let topics = (0..80).map(|n| (1, (format!("t{n}"), 6))).collect();
        assert_eq!(longest_unseen(topics, 24).len(), 80);
    }

    #[test]
    fn many_empty_topics_take_turns_the_longest_unseen_first() {
        let topics = (0..4_000)
            .map(|n| (u64::from(n % 4 != 0), (format!("t{n}"), 6)))
            .collect();
        let chosen = longest_unseen(topics, 6);
        assert_eq!(chosen.len(), 667);
        assert!(
            chosen
                .iter()
                .all(|(topic, _)| topic[1..].parse::<u32>().unwrap() % 4 == 0)
        );
    }

    #[test]
    fn what_offsets_say_of_records() {
        assert_eq!(records(Ok(vec![0, 0])), Records::None);
        assert_eq!(records(Ok(vec![0, 1])), Records::Some);
        let unreadable = records(Err(TopicError::Timeout("x".to_owned())));
        assert!(matches!(unreadable, Records::Unreadable(reason) if reason.contains('x')));
    }
}
