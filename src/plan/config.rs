//! Declared topic config: what differs from the live values, and what would drop records.

use std::collections::{BTreeMap, BTreeSet};

use super::counts::is_empty;
use super::decision::{Decision, Input, Stage};
use super::group::{Group, Topic};
use super::memory::Memory;
use super::observed::TopicState;

/// What has to be done about one topic's config.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigDiff {
    /// Keys to set: declared and different, and safe or consented to.
    pub set: BTreeMap<String, String>,
    /// Keys that would drop records, as (key, live value, declared value).
    pub held_back: Vec<(String, String, String)>,
    /// Keys of `set` that a consent to data loss allowed.
    pub consented: BTreeSet<String>,
}

impl ConfigDiff {
    /// Whether the live config is the declared one.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.held_back.is_empty()
    }
}

/// What the config of each topic needs, and which consents to data loss are used up.
pub(super) fn compare(input: &Input<'_>, decision: &mut Decision) {
    if decision.other_cluster.is_some() {
        return;
    }
    let Decision { memory, topics, .. } = decision;
    for judged in topics {
        let Stage::Live(live) = &judged.stage else {
            continue;
        };
        judged.config = diff(input.group, memory, &judged.topic, live);
        // Used when it is seen to hold, so that a crash right after the request cannot leave the consent unused.
        if let (Some(diff), Some((topic, keys))) = (&judged.config, &input.group.data_loss)
            && *topic == judged.topic.name
        {
            let declared = keys
                .iter()
                .filter(|key| judged.topic.config.contains_key(*key));
            let held_back: BTreeSet<&String> = diff.held_back.iter().map(|(key, ..)| key).collect();
            let applied =
                declared.filter(|key| !diff.set.contains_key(*key) && !held_back.contains(key));
            memory
                .spent_data_loss
                .extend(applied.map(|key| (topic.clone(), key.clone())));
        }
    }
}

/// Compares the declared config of a topic with the live one. `None` while the live config is not known.
fn diff(group: &Group, memory: &Memory, topic: &Topic, live: &TopicState) -> Option<ConfigDiff> {
    if topic.config.is_empty() {
        return Some(ConfigDiff::default());
    }
    let values = live.config.as_ref()?;
    let remembered = memory.topics.get(&topic.name);
    let created =
        remembered.is_some_and(|memory| memory.created && memory.id.as_ref() == Some(&live.id));
    let may_drop = !is_empty(memory, &topic.name, live) && !created;
    let mut diff = ConfigDiff::default();
    for (key, wanted) in &topic.config {
        let seen = values.get(key).map_or("", String::as_str);
        if same_value(key, wanted, seen) {
            continue;
        }
        if may_drop && drops_records(key, seen, wanted) {
            if accepted(group, memory, &topic.name, key) {
                diff.consented.insert(key.clone());
            } else {
                diff.held_back
                    .push((key.clone(), seen.to_owned(), wanted.clone()));
                continue;
            }
        }
        diff.set.insert(key.clone(), wanted.clone());
    }
    Some(diff)
}

fn accepted(group: &Group, memory: &Memory, topic: &str, key: &str) -> bool {
    group
        .data_loss
        .as_ref()
        .is_some_and(|(named, keys)| named == topic && keys.contains(key))
        && !memory
            .spent_data_loss
            .contains(&(topic.to_owned(), key.to_owned()))
}

/// A consent to data loss is used once: its mark stays as long as the spec carries it, so that taking it out and
/// putting it in again is a new consent.
pub(super) fn keep_spent_data_loss(group: &Group, memory: &mut Memory) {
    memory.spent_data_loss.retain(|(topic, key)| {
        group
            .data_loss
            .as_ref()
            .is_some_and(|(named, keys)| named == topic && keys.contains(key))
    });
}

/// Whether two spellings mean the same value. Kafka prints numbers and booleans its own way, and lists in the order
/// in which they were set.
fn same_value(key: &str, a: &str, b: &str) -> bool {
    let (a, b) = (a.trim(), b.trim());
    if a == b {
        return true;
    }
    if let (Ok(a), Ok(b)) = (a.parse::<i64>(), b.parse::<i64>()) {
        return a == b;
    }
    // Whole and decimal spellings of one ratio ("0.5", "0.50"): the bits are equal when the values are.
    if let (Ok(a), Ok(b)) = (a.parse::<f64>(), b.parse::<f64>()) {
        return a.is_finite() && b.is_finite() && a.to_bits() == b.to_bits();
    }
    if a.eq_ignore_ascii_case(b) && matches!(a.to_ascii_lowercase().as_str(), "true" | "false") {
        return true;
    }
    is_list(key) && list(a) == list(b)
}

fn is_list(key: &str) -> bool {
    matches!(
        key,
        "cleanup.policy"
            | "leader.replication.throttled.replicas"
            | "follower.replication.throttled.replicas"
    )
}

fn list(value: &str) -> BTreeSet<&str> {
    value
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .collect()
}

/// Whether setting `key` from `seen` to `wanted` lets Kafka drop records that it keeps now: a shorter retention (in
/// time or bytes), or a cleanup policy with a way of cleaning that it did not have.
fn drops_records(key: &str, seen: &str, wanted: &str) -> bool {
    match key {
        "retention.ms" | "retention.bytes" => match (limit(seen), limit(wanted)) {
            (Some(seen), Some(wanted)) => wanted < seen,
            // What is kept now is not known.
            (None, Some(_)) => true,
            // A value that is no number is for the broker to refuse.
            (_, None) => false,
        },
        "cleanup.policy" => !list(wanted).is_subset(&list(seen)),
        _ => false,
    }
}

/// A retention limit; every negative number means "without limit".
fn limit(value: &str) -> Option<i64> {
    value
        .trim()
        .parse::<i64>()
        .ok()
        .map(|limit| if limit < 0 { i64::MAX } else { limit })
}
