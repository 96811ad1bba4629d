//! One reading of one group's topics, judged while it runs.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::ControlFlow;
use std::sync::Arc;

use jiff::Timestamp;

use super::super::validate::Sampling;
use super::found::Found;
use crate::api::MisplacedKey;
use crate::kafka::{
    ConnectionSettings, Extent, Incomplete, Progress, Sample, SampleRequest, SampledRecord, Sink,
    sample,
};
use crate::keys::{KeyScheme, PartitionCount};
use crate::layout::hex;
use crate::plan::About;
use crate::verify::{FingerprintKey, Growth, Judge, MAX_KEYS, Record, Topic};

/// How many misplaced keys of a topic are shown, if they may be; the schema bounds it.
const KEYS_SHOWN: usize = 5;
/// The longest part of one that is shown, in bytes.
const LONGEST_KEY: usize = 64;
/// Each topic of a group may have so many distinct keys remembered, however many topics there are.
const LEAST_KEYS: usize = 1_000;

/// What is to be read for a group.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::controller) struct Wish {
    /// The cluster, by its id: one group of a cluster is read at a time, whichever way leads there.
    pub(in crate::controller) cluster_id: String,
    /// The way to it.
    pub(in crate::controller) settings: ConnectionSettings,
    /// The topics.
    pub(in crate::controller) topics: Vec<Asked>,
    /// How they are sampled.
    pub(in crate::controller) sampling: Sampling,
}

/// A topic to read.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::controller) struct Asked {
    /// As it is.
    pub(in crate::controller) about: About,
    /// The declared scheme.
    pub(in crate::controller) scheme: Option<KeyScheme>,
    /// Its last growth.
    pub(in crate::controller) growth: Option<Growth>,
}

impl Wish {
    pub(super) fn about(&self) -> Vec<About> {
        self.topics
            .iter()
            .map(|topic| topic.about.clone())
            .collect()
    }

    /// Whether a reading for the other one would find the same.
    pub(super) fn finds_the_same(&self, other: &Self) -> bool {
        let interval = self.sampling.interval;
        let other = Wish {
            sampling: Sampling {
                interval,
                ..other.sampling
            },
            ..other.clone()
        };
        *self == other
    }
}

/// What came of a reading.
pub(super) struct Outcome {
    /// The bytes of keys and values that were read.
    pub(super) bytes: u64,
    /// It ended because its allowance was spent.
    pub(super) cut_short: bool,
    pub(super) result: Result<Found, NotRead>,
}

/// Why a reading found nothing.
pub(super) enum NotRead {
    /// The topics are not what they were when it was asked for.
    Changed,
    /// For this reason not all records could be read; what is known nevertheless.
    Failed(Found),
}

/// Reads at most `allowance` bytes of keys and values.
pub(super) async fn read(wish: &Wish, allowance: u64, secret: FingerprintKey) -> Outcome {
    let progress = Arc::new(Progress::default());
    let names = wish.topics.iter().map(|topic| topic.about.topic.clone());
    let mut request = SampleRequest::new(names, Extent::Newest(wish.sampling.records));
    request.budget = Some(allowance);
    let Some(judging) = Judging::new(wish, secret) else {
        return Outcome::nothing(NotRead::Changed);
    };
    let read = sample(&wish.settings, request, Arc::clone(&progress), judging).await;
    let (sample, judging) = match read {
        Ok(read) => read,
        Err(error) => {
            let found = Found::nothing(Timestamp::now(), wish.about(), &error.into());
            return Outcome::nothing(NotRead::Failed(found));
        }
    };
    let unread = unread(&sample);
    let cut_short = unread
        .iter()
        .any(|(_, why)| matches!(why, Incomplete::BudgetSpent));
    let result = if wish.topics.iter().any(|asked| changed(asked, &sample)) {
        Err(NotRead::Changed)
    } else {
        let report = judging.judge.report();
        let found = Found::of(
            Timestamp::now(),
            wish.about(),
            &report,
            &unread,
            judging.misplaced,
        );
        if unread.is_empty() || found.is_conclusive() {
            Ok(found)
        } else {
            Err(NotRead::Failed(found))
        }
    };
    Outcome {
        bytes: progress.bytes(),
        cut_short,
        result,
    }
}

impl Outcome {
    fn nothing(why: NotRead) -> Self {
        Outcome {
            bytes: 0,
            cut_short: false,
            result: Err(why),
        }
    }
}

fn unread(sample: &Sample) -> Vec<(String, Incomplete)> {
    let topics = sample.topics.iter();
    topics
        .filter_map(|(name, topic)| Some((name.clone(), topic.incomplete()?.clone())))
        .collect()
}

/// Whether another topic was read than was meant, or it grew meanwhile.
fn changed(asked: &Asked, sample: &Sample) -> bool {
    let About {
        topic,
        id,
        partitions,
        ..
    } = &asked.about;
    let Some(read) = sample.topics.get(topic) else {
        return true;
    };
    let gone = matches!(
        read.failure,
        Some(Incomplete::TopicDeleted | Incomplete::TopicNotFound)
    );
    let other_id = read.id.as_ref().is_some_and(|read| read != id);
    let other_count = !read.partitions.is_empty()
        && i32::try_from(read.partitions.len()).ok() != Some(*partitions);
    gone || other_id || other_count
}

/// Hands records to the judge.
struct Judging {
    judge: Judge,
    numbers: HashMap<String, usize>,
    reveal: bool,
    misplaced: Vec<Vec<MisplacedKey>>,
}

impl Judging {
    /// `None` if a topic has no partitions.
    fn new(wish: &Wish, secret: FingerprintKey) -> Option<Self> {
        let topics: Option<Vec<Topic>> = wish.topics.iter().map(topic).collect();
        let topics = topics?;
        let numbers = topics.iter().enumerate();
        let numbers = numbers
            .map(|(at, topic)| (topic.name.clone(), at))
            .collect();
        let count = topics.len();
        let keys = (MAX_KEYS / count.max(1)).max(LEAST_KEYS);
        Some(Judging {
            judge: Judge::with_max_keys(topics, secret, keys),
            numbers,
            reveal: wish.sampling.reveal_keys,
            misplaced: vec![Vec::new(); count],
        })
    }
}

fn topic(asked: &Asked) -> Option<Topic> {
    Some(Topic {
        name: asked.about.topic.clone(),
        scheme: asked.scheme.clone(),
        count: PartitionCount::new(asked.about.partitions)?,
        growth: asked.growth.clone(),
    })
}

impl Sink for Judging {
    fn take(&mut self, record: &SampledRecord<'_>) -> ControlFlow<()> {
        if let Some(topic) = self.numbers.get(record.topic) {
            let predicted = self.judge.add(Record {
                topic: *topic,
                partition: record.partition,
                offset: record.offset,
                key: record.key,
            });
            if self.reveal
                && let (Some(predicted), Some(key)) = (predicted, record.key)
                && let Some(shown) = self.misplaced.get_mut(*topic)
            {
                show(shown, key, record.partition, predicted);
            }
        }
        ControlFlow::Continue(())
    }
}

fn show(shown: &mut Vec<MisplacedKey>, key: &[u8], partition: i32, predicted: i32) {
    if shown.len() >= KEYS_SHOWN {
        return;
    }
    let misplaced = MisplacedKey {
        key: legible(key),
        partition,
        predicted,
    };
    if !shown.contains(&misplaced) {
        shown.push(misplaced);
    }
}

fn legible(key: &[u8]) -> String {
    let text = std::str::from_utf8(key)
        .ok()
        .filter(|text| !text.chars().any(char::is_control));
    match text {
        Some(text) => {
            let end = (0..=text.len().min(LONGEST_KEY))
                .rev()
                .find(|&at| text.is_char_boundary(at));
            text[..end.unwrap_or(0)].to_owned()
        }
        None => format!("0x{}", hex(&key[..key.len().min(LONGEST_KEY)])),
    }
}

/// The secret of this process' fingerprints: of two hashers that the standard library keys anew for each process.
pub(crate) fn fingerprint_key() -> FingerprintKey {
    let word = || RandomState::new().build_hasher().finish().to_ne_bytes();
    let mut secret = [0; 16];
    secret[..8].copy_from_slice(&word());
    secret[8..].copy_from_slice(&word());
    FingerprintKey(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_shown_as_text_where_they_are_text() {
        assert_eq!(legible(b"BBCA"), "BBCA");
        assert_eq!(legible("ä".repeat(40).as_bytes()), "ä".repeat(32));
        assert_eq!(legible(&[0, 0, 0, 0, 7]), "0x0000000007");
        assert_eq!(legible(&[0xff; 100]).len(), 2 + 128);
    }

    #[test]
    fn a_few_keys_are_enough() {
        let mut shown = Vec::new();
        for number in 0..20_u8 {
            show(&mut shown, &[b'a' + number / 2], 1, 2);
        }
        assert_eq!(shown.len(), KEYS_SHOWN);
        assert_eq!(shown[1].key, "b");
    }
}
