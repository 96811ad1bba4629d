//! One cluster as many groups share it: one connection, one snapshot, one poller.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use super::changes::Changes;
use super::client::{Client, PerTopic};
use super::defaults::Defaults;
use super::error::Error;
use super::gather::Gather;
use super::guard::WriteGuard;
use super::health::{Health, Tally, turn};
use super::interests::{Interest, Interests};
use super::locks::{self, LockBook};
use super::metrics::Metrics;
use super::model::Growth;
use super::poll;
use super::read::{self, Question, Wanted};
use super::renewal::Link;
use super::settings::ConnectionSettings;
use super::snapshot::{Changed, Doubt, Reading, Snapshot};
use crate::plan::{LocksView, View};

/// How clusters are polled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollSettings {
    /// From the start of one poll to the start of the next; 5 s by default. A poll that takes longer delays
    /// the next one, none is made up for.
    pub interval: Duration,
    /// So many polls in a row must fail before a cluster counts as unreachable; 3 by default, at least 1.
    pub misses: u32,
    /// Configs are read with every so many polls; 6 by default, at least 1.
    pub config_every: u32,
    /// ALTER locks are looked at with every so many polls, where groups want to know them; 12 by default, at least 1.
    pub locks_every: u32,
    /// How long earlier credentials stay in use while nobody answers to those that took their place; 1 min by default.
    pub renewal_patience: Duration,
}

impl Default for PollSettings {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(5),
            misses: 3,
            config_every: 6,
            locks_every: 12,
            renewal_patience: Duration::from_secs(60),
        }
    }
}

/// How long a change of our own may stay invisible before a reading without it is believed. A single broker on
/// a busy machine was seen to take more than half a minute to show a thousand new topics.
const VISIBLE_WITHIN: Duration = Duration::from_secs(120);
/// So many readings in a row must tell nothing of a topic before what was read of it earlier no longer stands.
const TOPIC_MISSES: u32 = 3;
/// How long a fresh reading waits for such a change to show.
const REREAD_PATIENCE: Duration = Duration::from_secs(5);

/// What the poller, fresh readings and the groups' questions share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) link: Link,
    pub(super) settings: PollSettings,
    /// Tells the poller that there is something to read before the next poll.
    pub(super) wake: Notify,
    pub(super) seed: u64,
    metrics: Arc<Metrics>,
    changes: Arc<Changes>,
    stamps: AtomicU64,
    /// The poller's look at locks is under way.
    pub(super) looks_at_locks: AtomicBool,
    state: Mutex<State>,
    /// Counts the readings that were taken in.
    readings: watch::Sender<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) interests: Interests,
    pub(super) snapshot: Snapshot,
    pub(super) locks: LockBook,
    pub(super) tally: Tally,
    /// How many polls were started.
    pub(super) polls: u64,
    /// When the last answered poll was started; at first, when the cluster was first asked for.
    read_at: Instant,
    /// When it last turned out that the cluster is out of reach, or answers again.
    turned_at: Option<Instant>,
}

/// One Kafka cluster, shared by all groups on it. Dropping it ends its poller.
#[derive(Debug)]
pub struct Cluster {
    shared: Arc<Shared>,
    poller: JoinHandle<()>,
    rereads: Gather<Question, Result<View, Error>>,
    ends: Gather<Vec<(String, i32)>, EndOffsets>,
    defaults: Defaults,
    locks: Gather<BTreeSet<String>, ()>,
}

/// The end offsets of topics, by partition.
type EndOffsets = Result<PerTopic<Vec<i64>>, Error>;

impl Drop for Cluster {
    fn drop(&mut self) {
        self.poller.abort();
    }
}

impl Cluster {
    /// Connects and starts polling; must be called in a Tokio runtime. What the cluster `before` knows and is asked for is
    /// taken over, and its connection is in use until the new one answers.
    pub(super) fn start(
        connection: &ConnectionSettings,
        before: Option<&Self>,
        settings: PollSettings,
        metrics: Arc<Metrics>,
        guard: &WriteGuard,
        changes: Arc<Changes>,
    ) -> Result<Self, Error> {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (connection, std::process::id()).hash(&mut hasher);
        let own = Client::connect(connection, Arc::clone(&metrics), guard)?;
        let earlier = before.map(|before| before.shared.link.client());
        let stamps = before.map_or(0, |before| before.shared.stamps.load(Ordering::Relaxed));
        let state = before.map(|before| before.shared.lock().clone());
        let shared = Arc::new(Shared {
            link: Link::new(
                &connection.bootstrap_servers,
                own,
                earlier,
                settings.renewal_patience,
            ),
            wake: Notify::new(),
            seed: hasher.finish(),
            metrics,
            changes,
            stamps: AtomicU64::new(stamps),
            looks_at_locks: AtomicBool::new(false),
            state: Mutex::new(state.unwrap_or_else(|| State::new(&settings))),
            readings: watch::Sender::new(0),
            settings,
        });
        let poller = tokio::spawn(poll::run(Arc::clone(&shared)));
        let reader = Arc::clone(&shared);
        let rereads = Gather::start(move |questions| reread(Arc::clone(&reader), questions));
        let reader = Arc::clone(&shared);
        let ends = Gather::start(move |asked| end_offsets(Arc::clone(&reader), asked));
        let reader = Arc::clone(&shared);
        let locks = Gather::start(move |asked| look_at_locks(Arc::clone(&reader), asked));
        Ok(Self {
            shared,
            poller,
            rereads,
            ends,
            defaults: Defaults::default(),
            locks,
        })
    }

    /// Says what a group wants to know from now on. Cheap when nothing changed; what is new is read at once,
    /// not with the next poll.
    pub fn set_interest(&self, group: &str, interest: Interest) {
        let mut state = self.shared.lock();
        let Some(orphans) = state.interests.set(group, interest) else {
            return;
        };
        state.snapshot.forget(&orphans);
        drop(state);
        self.shared.wake.notify_one();
    }

    /// Drops what a group wanted to know.
    pub(super) fn drop_interest(&self, group: &str) {
        let mut state = self.shared.lock();
        let orphans = state.interests.remove(group);
        state.snapshot.forget(&orphans);
    }

    /// Whether a group wants to know anything.
    pub(super) fn serves(&self, group: &str) -> bool {
        self.shared.lock().interests.has(group)
    }

    /// Whether no group wants to know anything.
    pub(super) fn is_idle(&self) -> bool {
        self.shared.lock().interests.is_empty()
    }

    /// A group's topics as last read. `None` until the cluster's id, all topics of the group and the configs
    /// that it wants were read at least once.
    pub fn view(&self, group: &str) -> Option<View> {
        let state = self.shared.lock();
        let interest = state.interests.get(group)?;
        state.snapshot.view(&interest.topics, &interest.configs)
    }

    /// What was last seen of the locks of topics.
    pub fn locks(&self, topics: &BTreeSet<String>) -> LocksView {
        self.shared.lock().locks.view(topics)
    }

    /// Looks at the locks of topics anew: to be called before the first decision on them, and after writes. Groups that ask
    /// at nearly the same time are answered together. Which broker is asked is chance, and each learns of a change in its
    /// own time.
    pub async fn read_locks(&self, topics: &BTreeSet<String>) -> LocksView {
        // No answer only if the runtime is being shut down: then what was seen before is as good as any.
        let _ = self.locks.ask(topics.clone()).await;
        self.locks(topics)
    }

    /// How the cluster answers.
    pub fn health(&self) -> Health {
        Health {
            renewal: self.shared.link.failure(),
            ..self.shared.lock().tally.health()
        }
    }

    /// How much longer a group should wait before it says that the cluster is out of reach, or answers again; `None` once
    /// it is its turn. All groups learn of that at the same moment, and would all write their status at once.
    pub fn turn(&self, group: &str) -> Option<Duration> {
        let state = self.shared.lock();
        let due = state.turned_at? + turn(group, state.interests.len());
        due.checked_duration_since(Instant::now())
            .filter(|left| !left.is_zero())
    }

    /// The connection, for writes and for readings that do not belong to the snapshot. To be asked for anew each time, since
    /// credentials may be renewed.
    pub fn client(&self) -> Client {
        self.shared.link.client()
    }

    /// Reads topics anew, past the snapshot and into it, and returns their views: to be called right before
    /// a growth and after writes. Waits up to 5 s for announced changes of our own to show
    /// ([`Cluster::expect_topics`], [`Cluster::expect_growth`]); a topic that still does not show is as it
    /// was before, or not in the view at all.
    ///
    /// As in the snapshot, the first miss of a topic that existed keeps its last state, with `misses` at 1.
    pub async fn reread(
        &self,
        topics: &[String],
        with_offsets: bool,
        with_configs: bool,
    ) -> Result<View, Error> {
        let asked: BTreeSet<String> = topics.iter().cloned().collect();
        let ask = |topics: BTreeSet<String>| async {
            let question = Question {
                topics,
                with_offsets,
                with_configs,
            };
            let answer = self.rereads.ask(question).await;
            answer.ok_or_else(Error::stopping)?
        };
        let patience = Instant::now() + REREAD_PATIENCE;
        let mut pause = Duration::from_millis(20);
        let mut view = ask(asked.clone()).await?;
        loop {
            let now = Instant::now();
            let mut awaited = asked.clone();
            {
                let state = self.shared.lock();
                awaited.retain(|topic| state.snapshot.is_awaited(topic, now));
            }
            if awaited.is_empty() || now >= patience {
                return Ok(view);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(500));
            let again = ask(awaited).await?;
            if again.cluster_id == view.cluster_id {
                view.topics.extend(again.topics);
            } else {
                view = ask(asked.clone()).await?;
            }
        }
    }

    /// The end offsets of partitions 0 to n-1 of topics, as [`Client::end_offsets`] reads them; groups that ask at nearly
    /// the same time are answered together.
    pub async fn end_offsets(&self, topics: &[(String, i32)]) -> Result<PerTopic<Vec<i64>>, Error> {
        let answer = self.ends.ask(topics.to_vec()).await;
        answer.ok_or_else(Error::stopping)?
    }

    /// The partition count that the brokers give a topic which a client creates by asking for it (`num.partitions`), as it was
    /// read in the last ten minutes; `None` if that is not known, for lack of `DESCRIBE_CONFIGS` on the cluster for one.
    pub async fn default_partitions(&self) -> Option<i32> {
        self.defaults.partitions(&self.client()).await
    }

    /// Waits until the snapshot shows the changes of our own to these topics that were announced
    /// ([`Cluster::expect_topics`], [`Cluster::expect_growth`]) and whether they hold records, or `patience` is over. It asks
    /// nothing itself: the poller looks for the changes of all groups together.
    pub async fn shown(&self, topics: &[String], patience: Duration) {
        let mut readings = self.shared.readings.subscribe();
        let all_shown = async {
            loop {
                let now = Instant::now();
                let awaited = {
                    let state = self.shared.lock();
                    topics
                        .iter()
                        .any(|topic| state.snapshot.is_due(topic, false, now))
                };
                if !awaited || readings.changed().await.is_err() {
                    return;
                }
            }
        };
        // Not shown in time is for the caller to see in the view.
        let _ = tokio::time::timeout(patience, all_shown).await;
    }

    /// Says that topics were just created by us. Until a reading shows them, or for two minutes, a reading without
    /// them counts as nothing: brokers learn of a change one after the other.
    pub fn expect_topics(&self, topics: &[String]) {
        self.expect(topics.iter().map(|topic| (topic.as_str(), 0)));
    }

    /// Says that topics were just grown by us, so that the new count is looked for at once.
    pub fn expect_growth(&self, growths: &[Growth]) {
        self.expect(
            growths
                .iter()
                .map(|growth| (growth.topic.as_str(), growth.to)),
        );
    }

    fn expect<'a>(&self, changes: impl Iterator<Item = (&'a str, i32)>) {
        let until = Instant::now() + VISIBLE_WITHIN;
        let mut state = self.shared.lock();
        for (topic, partitions) in changes {
            if state.interests.names(topic) {
                state.snapshot.expect(topic, partitions, until);
            }
        }
        drop(state);
        self.shared.wake.notify_one();
    }

    /// The cluster's id, once it has told it.
    pub fn id(&self) -> Option<String> {
        self.shared.lock().snapshot.cluster_id().cloned()
    }

    /// How long ago the last answered poll was started.
    pub fn snapshot_age(&self) -> Duration {
        self.shared.lock().read_at.elapsed()
    }

    /// How many polls were started.
    pub fn polls(&self) -> u64 {
        self.shared.lock().polls
    }
}

/// Answers questions for a fresh reading with one.
async fn reread(shared: Arc<Shared>, questions: Vec<Question>) -> Vec<Result<View, Error>> {
    let wanted = Wanted::fresh(&questions);
    let reading = read::read(&shared, &wanted).await;
    let view = reading.map(|reading| shared.merge(reading, wanted.topics()));
    let part = |question: Question| {
        let view = view.as_ref().map_err(Clone::clone)?;
        let topics = question.topics.into_iter();
        let topics = topics.filter_map(|topic| {
            let view = view.topics.get(&topic)?.clone();
            Some((topic, view))
        });
        Ok(View {
            cluster_id: view.cluster_id.clone(),
            topics: topics.collect(),
        })
    };
    questions.into_iter().map(part).collect()
}

/// Answers questions for end offsets with one reading. A topic belongs to one group, so that it is asked for once.
async fn end_offsets(shared: Arc<Shared>, asked: Vec<Vec<(String, i32)>>) -> Vec<EndOffsets> {
    let found = shared.link.client().end_offsets(&asked.concat()).await;
    let part = |topics: Vec<(String, i32)>| {
        let found = found.as_ref().map_err(Clone::clone)?;
        let topics = topics.into_iter();
        let topics = topics.filter_map(|(topic, _)| found.get_key_value(&topic));
        Ok(topics
            .map(|(topic, ends)| (topic.clone(), ends.clone()))
            .collect())
    };
    asked.into_iter().map(part).collect()
}

/// Looks at locks for all who ask.
async fn look_at_locks(shared: Arc<Shared>, asked: Vec<BTreeSet<String>>) -> Vec<()> {
    let topics: BTreeSet<String> = asked.iter().flatten().cloned().collect();
    locks::look(&shared, &topics).await;
    asked.iter().map(|_| ()).collect()
}

impl Shared {
    /// Says that something of these groups changed.
    pub(super) fn announce(&self, groups: BTreeSet<String>) {
        self.changes.announce(groups);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stamp of a reading that starts now.
    pub(super) fn stamp(&self) -> u64 {
        self.stamps.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Takes in a reading, announces what it changed, and returns the views of some topics.
    pub(super) fn merge(&self, reading: Reading, topics: &BTreeSet<String>) -> View {
        let mut state = self.lock();
        let healed = state.judge(Tally::answered);
        let cluster_id = reading.cluster_id.clone();
        // A fresh reading may name topics that no group does (any more).
        let named = reading.topics.keys();
        let orphans: Vec<String> = named
            .filter(|topic| !state.interests.names(topic))
            .cloned()
            .collect();
        let changed = state.snapshot.merge(reading);
        let view = View {
            cluster_id: state.snapshot.cluster_id().cloned().unwrap_or(cluster_id),
            topics: state.snapshot.views(topics),
        };
        state.snapshot.forget(&orphans);
        self.changes.announce(state.touched(&changed, healed));
        drop(state);
        self.readings.send_modify(|readings| *readings += 1);
        view
    }

    /// Takes in the outcome of a poll that started at `start`.
    pub(super) fn polled(&self, start: Instant, outcome: Result<Reading, Error>) {
        self.metrics.poll(&outcome);
        match outcome {
            Ok(reading) => {
                self.merge(reading, &BTreeSet::new());
                self.lock().read_at = start;
            }
            Err(error) => self.failed(error),
        }
    }

    /// Takes in that the cluster did not answer.
    pub(super) fn failed(&self, error: Error) {
        let mut state = self.lock();
        let cluster = state.snapshot.cluster_id();
        tracing::debug!(cluster, %error, "a Kafka cluster did not answer");
        let turned = state.judge(|tally| tally.failed(error));
        self.changes
            .announce(state.touched(&Changed::default(), turned));
    }
}

impl State {
    fn new(settings: &PollSettings) -> Self {
        Self {
            interests: Interests::default(),
            snapshot: Snapshot::new(Doubt {
                gap: settings.interval / 2,
                misses: TOPIC_MISSES,
            }),
            locks: LockBook::default(),
            tally: Tally::new(settings.misses),
            polls: 0,
            read_at: Instant::now(),
            turned_at: None,
        }
    }

    /// Takes in how a poll went. Whether that changes the verdict on the cluster.
    fn judge(&mut self, went: impl FnOnce(&mut Tally)) -> bool {
        let before = self.tally.verdict();
        went(&mut self.tally);
        let turned = self.tally.verdict() != before;
        if turned {
            self.turned_at = Some(Instant::now());
        }
        turned
    }

    /// What must be read before the next poll.
    pub(super) fn unread(&self, now: Instant) -> BTreeSet<String> {
        let unread = |topic: &&String| {
            let with_config = self.interests.wants_config(topic);
            self.snapshot.is_due(topic, with_config, now)
        };
        self.interests.topics().filter(unread).cloned().collect()
    }

    /// The groups whose part of the snapshot, or whose view of the cluster, changed.
    fn touched(&self, changed: &Changed, all: bool) -> BTreeSet<String> {
        if all || changed.cluster {
            self.interests.groups()
        } else {
            self.interests.groups_of(&changed.topics)
        }
    }
}
