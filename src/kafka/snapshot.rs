//! The last reading of every named topic of one cluster, and how a new reading changes it. Pure: time comes in
//! with the readings.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::model::TopicDescription;
use crate::plan::{Records, TopicId, TopicReading, TopicState, TopicView, View};

/// What one reading tells of a config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ConfigSeen {
    /// It was not asked for.
    NotAsked,
    /// All effective values.
    Read(BTreeMap<String, String>),
    /// The broker will not tell.
    Unreadable,
    /// No usable answer this time; what was read before still stands.
    Failed,
}

/// What one reading tells of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Present {
        description: TopicDescription,
        /// `None`: not asked for.
        records: Option<Records>,
        config: ConfigSeen,
    },
    Missing,
    NotAuthorized,
    Failed(String),
}

/// One reading of some topics.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// Counts up with the start of each reading: what started earlier is older, whenever it ends.
    pub(super) stamp: u64,
    /// The number of the poll during which it was made.
    pub(super) poll: u64,
    /// When it was made.
    pub(super) at: Instant,
    pub(super) cluster_id: String,
    pub(super) topics: BTreeMap<String, Seen>,
}

/// What a merged reading changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changed {
    /// Another cluster than before answers: everything changed.
    pub(super) cluster: bool,
    /// Topics whose view changed.
    pub(super) topics: BTreeSet<String>,
}

/// A change of our own that readings may not show yet.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Expected {
    until: Instant,
    /// At least so many partitions.
    partitions: i32,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    view: Option<TopicView>,
    stamp: u64,
    /// How many readings in a row said that the topic is missing.
    missed: InARow,
    /// How many readings in a row told nothing of it.
    untold: InARow,
    /// How many readings in a row did not tell whether it holds records.
    unreadable: InARow,
    /// The id under which the topic is known to hold records. End offsets never fall, so this is for ever.
    holds_records: Option<TopicId>,
    /// The poll in which offsets were last read for the present id.
    offsets_read: Option<u64>,
    /// The poll in which the config was last read (or refused), for the present id.
    config_read: Option<u64>,
    /// Whether the config was asked for at all, for the present id.
    config_tried: bool,
    expected: Option<Expected>,
}

/// Counts readings of one kind that follow each other, as far as they are apart: several within a moment may all stem
/// from one broker that lags behind.
#[derive(Clone, Debug, Default)]
struct InARow {
    count: u32,
    last: Option<Instant>,
}

impl InARow {
    fn count(&mut self, at: Instant, gap: Duration) -> u32 {
        let near = |last: Instant| at.saturating_duration_since(last) < gap;
        if !self.last.is_some_and(near) {
            self.count = self.count.saturating_add(1);
            self.last = Some(at);
        }
        self.count
    }
}

/// When readings that say nothing good of a topic are believed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubt {
    /// Two readings count as two only if so far apart.
    pub(super) gap: Duration,
    /// So many in a row must fail to tell anything of a topic before what was read earlier no longer stands.
    pub(super) misses: u32,
}

/// The last reading of every named topic of one cluster.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    cluster_id: Option<String>,
    cluster_stamp: u64,
    topics: BTreeMap<String, Entry>,
    doubt: Doubt,
}

impl Snapshot {
    pub(super) fn new(doubt: Doubt) -> Self {
        Self {
            cluster_id: None,
            cluster_stamp: 0,
            topics: BTreeMap::new(),
            doubt,
        }
    }

    /// Takes in a reading. Parts that are older than what is known already are ignored.
    pub(super) fn merge(&mut self, reading: Reading) -> Changed {
        let mut changed = Changed::default();
        if self.cluster_id.as_ref() != Some(&reading.cluster_id) {
            if reading.stamp < self.cluster_stamp {
                return changed;
            }
            // Nothing that was read on another cluster says anything about this one.
            changed.cluster = self.cluster_id.is_some();
            changed.topics.extend(self.topics.keys().cloned());
            for entry in self.topics.values_mut() {
                *entry = Entry {
                    expected: entry.expected.take(),
                    ..Entry::default()
                };
            }
            self.cluster_id = Some(reading.cluster_id);
        }
        self.cluster_stamp = self.cluster_stamp.max(reading.stamp);
        for (topic, seen) in reading.topics {
            let entry = self.topics.entry(topic.clone()).or_default();
            if reading.stamp < entry.stamp {
                continue;
            }
            entry.stamp = reading.stamp;
            if entry.merge(seen, reading.at, reading.poll, self.doubt) {
                changed.topics.insert(topic);
            }
        }
        changed
    }

    /// The cluster that answered last.
    pub(super) fn cluster_id(&self) -> Option<&String> {
        self.cluster_id.as_ref()
    }

    /// The views of topics, without those that were not read yet.
    pub(super) fn views(&self, topics: &BTreeSet<String>) -> BTreeMap<String, TopicView> {
        topics
            .iter()
            .filter_map(|topic| {
                let view = self.topics.get(topic)?.view.clone()?;
                Some((topic.clone(), view))
            })
            .collect()
    }

    /// The view of topics once all of them, and the configs wanted of those that exist, were read.
    pub(super) fn view(
        &self,
        topics: &BTreeSet<String>,
        configs: &BTreeSet<String>,
    ) -> Option<View> {
        let cluster_id = self.cluster_id.clone()?;
        if topics
            .iter()
            .any(|topic| self.is_unread(topic, configs.contains(topic)))
        {
            return None;
        }
        Some(View {
            cluster_id,
            topics: self.views(topics),
        })
    }

    /// Whether a topic, or its config where that is wanted, was never read.
    pub(super) fn is_unread(&self, topic: &str, with_config: bool) -> bool {
        self.topics
            .get(topic)
            .is_none_or(|entry| entry.is_unread(with_config))
    }

    /// Whether a change of our own to a topic does not show yet, and still may.
    pub(super) fn is_awaited(&self, topic: &str, now: Instant) -> bool {
        self.topics
            .get(topic)
            .is_some_and(|entry| entry.is_awaited(now))
    }

    /// Whether a topic should be read again before the next poll: it was never read, a change of our own does not show
    /// yet, or the last reading told nothing of it (or not whether it holds records) and an earlier one stands.
    pub(super) fn is_due(&self, topic: &str, with_config: bool, now: Instant) -> bool {
        self.topics.get(topic).is_none_or(|entry| {
            entry.is_unread(with_config) || entry.is_awaited(now) || entry.is_doubted()
        })
    }

    /// Announces a change of our own: the topic shall have at least so many partitions. Until a reading
    /// shows it, or the deadline passes, "missing" is not believed.
    pub(super) fn expect(&mut self, topic: &str, partitions: i32, until: Instant) {
        let entry = self.topics.entry(topic.to_owned()).or_default();
        let met = entry.view.as_ref().and_then(present).is_some_and(|state| {
            // The same view may stem from before a deletion, so for a new topic only a new reading counts.
            partitions > 0 && state.partitions >= partitions
        });
        if !met {
            entry.expected = Some(Expected { until, partitions });
        }
    }

    /// Whether the topic is known to hold records under this id.
    pub(super) fn holds_records(&self, topic: &str, id: &TopicId) -> bool {
        self.topics
            .get(topic)
            .is_some_and(|entry| entry.holds_records.as_ref() == Some(id))
    }

    /// The poll in which the topic's end offsets were last read under this id; `None`: never.
    pub(super) fn offsets_read(&self, topic: &str, id: &TopicId) -> Option<u64> {
        let entry = self.topics.get(topic)?;
        let state = entry.view.as_ref().and_then(present)?;
        entry.offsets_read.filter(|_| state.id == *id)
    }

    /// The poll in which the topic's config was last read under this id; `None`: never.
    pub(super) fn config_read(&self, topic: &str, id: &TopicId) -> Option<u64> {
        let entry = self.topics.get(topic)?;
        let state = entry.view.as_ref().and_then(present)?;
        entry.config_read.filter(|_| state.id == *id)
    }

    /// Forgets topics that nobody names any more.
    pub(super) fn forget(&mut self, topics: &[String]) {
        for topic in topics {
            self.topics.remove(topic);
        }
    }
}

fn present(view: &TopicView) -> Option<&TopicState> {
    match &view.reading {
        TopicReading::Present(state) => Some(state),
        _ => None,
    }
}

impl Entry {
    fn is_unread(&self, with_config: bool) -> bool {
        match &self.view {
            None => true,
            Some(view) => with_config && present(view).is_some() && !self.config_tried,
        }
    }

    fn is_awaited(&self, now: Instant) -> bool {
        let expected = self.expected.as_ref();
        expected.is_some_and(|expected| now < expected.until)
    }

    fn is_doubted(&self) -> bool {
        let doubted = |view: &TopicView| view.misses > 0 && self.missed.count == 0;
        self.view.as_ref().is_some_and(doubted)
    }

    /// Takes in what a reading tells; whether the view changed.
    fn merge(&mut self, seen: Seen, at: Instant, poll: u64, doubt: Doubt) -> bool {
        let view = match seen {
            Seen::Present {
                description,
                records,
                config,
            } => Some(self.present(description, records, config, at, poll, doubt)),
            Seen::Missing => self.missing(at, doubt),
            Seen::NotAuthorized if self.view.is_none() => Some(TopicView {
                reading: TopicReading::NotAuthorized,
                misses: 0,
            }),
            Seen::NotAuthorized => self.untold(TopicReading::NotAuthorized, at, doubt),
            Seen::Failed(reason) => self.untold(TopicReading::Failed(reason), at, doubt),
        };
        let changed = view != self.view;
        self.view = view;
        changed
    }

    fn present(
        &mut self,
        description: TopicDescription,
        records: Option<Records>,
        config: ConfigSeen,
        at: Instant,
        poll: u64,
        doubt: Doubt,
    ) -> TopicView {
        (self.missed, self.untold) = (InARow::default(), InARow::default());
        let id = &description.id;
        let is_same = |state: &TopicState| state.id == *id;
        let was_there = self.view.as_ref().and_then(present).is_some_and(is_same);
        if !was_there {
            self.unreadable = InARow::default();
        }
        let doubted = match &records {
            // What is known for ever needs no reading.
            _ if self.holds_records.as_ref() == Some(id) => false,
            None => !was_there || self.offsets_read.is_none(),
            Some(Records::Unreadable(_)) => self.unreadable.count(at, doubt.gap) < doubt.misses,
            Some(_) => {
                self.unreadable = InARow::default();
                false
            }
        };
        let records = records.filter(|_| !doubted);
        let state = self.state(description, records, config, poll);
        if self
            .expected
            .as_ref()
            .is_some_and(|wanted| state.partitions >= wanted.partitions)
        {
            self.expected = None;
        }
        TopicView {
            reading: TopicReading::Present(state),
            misses: u8::from(doubted),
        }
    }

    /// A reading that tells nothing of the topic: the last one that did stands until several in a row do not. Nothing is
    /// decided on it meanwhile.
    fn untold(&mut self, reading: TopicReading, at: Instant, doubt: Doubt) -> Option<TopicView> {
        let doubted = self.untold.count(at, doubt.gap) < doubt.misses;
        match &self.view {
            None if doubted => None,
            Some(TopicView {
                reading: last @ (TopicReading::Present(_) | TopicReading::Missing),
                ..
            }) if doubted => Some(TopicView {
                reading: last.clone(),
                misses: 1,
            }),
            _ => Some(TopicView { reading, misses: 0 }),
        }
    }

    fn state(
        &mut self,
        description: TopicDescription,
        records: Option<Records>,
        config: ConfigSeen,
        poll: u64,
    ) -> TopicState {
        let before = self
            .view
            .as_ref()
            .and_then(present)
            .filter(|state| state.id == description.id)
            .map(|state| {
                (
                    state.partitions,
                    state.records.clone(),
                    state.config.clone(),
                )
            });
        let is_new = before.is_none();
        let (partitions, known_records, known_config) = before.unwrap_or_else(|| {
            let unread = Records::Unreadable("the end offsets were not read yet".to_owned());
            (0, unread, None)
        });
        if is_new {
            (self.offsets_read, self.config_read, self.config_tried) = (None, None, false);
        }
        if records == Some(Records::Some) {
            self.holds_records = Some(description.id.clone());
        }
        if records.is_some() {
            self.offsets_read = Some(poll);
        }
        let records = if self.holds_records.as_ref() == Some(&description.id) {
            Records::Some
        } else {
            records.unwrap_or(known_records)
        };
        self.config_tried |= config != ConfigSeen::NotAsked;
        let config = match config {
            ConfigSeen::Read(config) => {
                self.config_read = Some(poll);
                Some(config)
            }
            ConfigSeen::Unreadable => {
                self.config_read = Some(poll);
                None
            }
            // A failed one is asked for again with the next poll, but does not hold back the view for longer.
            ConfigSeen::NotAsked | ConfigSeen::Failed => known_config,
        };
        TopicState {
            // A topic never loses partitions under one id, so a lower count is an answer from the past.
            partitions: description.partitions.max(partitions),
            id: description.id,
            replication_factor: description.replication_factor,
            records,
            config,
        }
    }

    fn missing(&mut self, at: Instant, doubt: Doubt) -> Option<TopicView> {
        if self
            .expected
            .as_ref()
            .is_some_and(|expected| at < expected.until)
        {
            return self.view.clone();
        }
        self.expected = None;
        self.untold = InARow::default();
        let misses = self.missed.count(at, doubt.gap).min(2);
        let reading = match &self.view {
            Some(view) if misses == 1 && present(view).is_some() => view.reading.clone(),
            _ => TopicReading::Missing,
        };
        Some(TopicView {
            reading,
            misses: u8::try_from(misses).unwrap_or(2),
        })
    }
}

#[cfg(test)]
mod tests;
