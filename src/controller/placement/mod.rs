//! Consumer groups in the background: whose assignments are read when, and what two readings agreed on.
//!
//! ```text
//!  pass ── want(Wish) ──▶ Watcher ── one Lane a connection ──▶ reading of all its consumer groups ──▶ judge of each group
//!    ▲                                                                                                  │
//!    └────────────── found(group), after the group was announced, if a verdict changed ◀────────────────┘
//! ```
//! One reading serves all groups of a connection, so that its requests do not grow with their number. A pass only says
//! what it would like to be read and takes what was found; readings never keep it waiting.

mod reading;
mod written;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::sync::Notify;

use super::metrics::Metrics;
use crate::kafka::{Clusters, ConnectionSettings, Error, FoundGroups, GroupReader};
use crate::plan::{PlacementEvidence, confirmed_placement};
pub(super) use reading::Wish;
use reading::{hidden, nothing, of, wanted};

/// Readings of all connections at once; most of their time they wait.
const READERS: usize = 32;
/// Polls from one reading to the next.
const EVERY: u32 = 6;
/// Polls until the reading that is to confirm another one.
const CONFIRM: u32 = 2;
/// So many readings of a connection in a row must fail before that says anything.
const MISSES: u32 = 3;

/// Reads and judges the assignments of consumer groups for all groups that want it.
pub(super) struct Watcher {
    every: Duration,
    confirm: Duration,
    metrics: Metrics,
    state: Mutex<State>,
    woken: Notify,
}

/// Bounded by the number of groups.
#[derive(Default)]
struct State {
    lanes: BTreeMap<ConnectionSettings, Lane>,
    groups: HashMap<String, Known>,
    running: usize,
}

/// A connection by which consumer groups are read.
struct Lane {
    /// Who wants that.
    groups: BTreeSet<String>,
    due: Instant,
    /// A reading is under way, which has the reader.
    runs: bool,
    reader: Option<GroupReader>,
    /// Readings in a row that failed.
    failures: u32,
    /// The consumer groups that may not be described.
    hidden: Vec<String>,
}

struct Known {
    wish: Wish,
    /// It is in its lane.
    waits: bool,
    /// What the last reading said.
    before: Option<PlacementEvidence>,
    /// What readings agreed on.
    standing: Option<PlacementEvidence>,
}

/// A reading to begin.
struct Start {
    settings: ConnectionSettings,
    wishes: BTreeMap<String, Wish>,
    reader: GroupReader,
}

/// What came of it.
type Read = Result<FoundGroups, Error>;

impl Watcher {
    /// A watcher whose readings follow each other at some polls' distance.
    pub(super) fn new(poll: Duration, metrics: Metrics) -> Self {
        Watcher {
            every: poll * EVERY,
            confirm: poll * CONFIRM,
            metrics,
            state: Mutex::default(),
            woken: Notify::new(),
        }
    }

    /// Says which consumer groups are to be read for a group from now on. `written` is what its status says of them. Cheap if
    /// nothing changed.
    pub(super) fn want(&self, group: &str, wish: Wish, written: Option<PlacementEvidence>) {
        let now = Instant::now();
        let mut state = self.lock();
        let known = state.groups.get(group);
        if known.is_some_and(|known| known.waits && known.wish == wish) {
            return;
        }
        state.leave(group);
        let old = state.groups.remove(group);
        let (before, standing) = match old {
            Some(old) => (old.before, old.standing),
            None => (None, written),
        };
        let lane = state.lanes.entry(wish.settings.clone());
        let lane = lane.or_insert_with(|| Lane {
            groups: BTreeSet::new(),
            due: now,
            runs: false,
            reader: None,
            failures: 0,
            hidden: Vec::new(),
        });
        lane.groups.insert(group.to_owned());
        lane.due = lane.due.min(now + self.confirm);
        let known = Known {
            wish,
            waits: true,
            before,
            standing,
        };
        state.groups.insert(group.to_owned(), known);
        drop(state);
        self.woken.notify_one();
    }

    /// Reads nothing for a group until it is wanted again; what was found stands.
    pub(super) fn suspend(&self, group: &str) {
        let mut state = self.lock();
        state.leave(group);
        if let Some(known) = state.groups.get_mut(group) {
            known.waits = false;
        }
    }

    /// Forgets a group.
    pub(super) fn forget(&self, group: &str) {
        let mut state = self.lock();
        state.leave(group);
        state.groups.remove(group);
    }

    /// What readings agreed on.
    pub(super) fn found(&self, group: &str) -> Option<PlacementEvidence> {
        self.lock().groups.get(group)?.standing.clone()
    }

    /// The consumer groups that a connection's principal may not describe, as far as they were read.
    pub(super) fn hidden(&self, settings: &ConnectionSettings) -> Vec<String> {
        let state = self.lock();
        let lane = state.lanes.get(settings);
        lane.map(|lane| lane.hidden.clone()).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The readings to begin now, and when to look again.
    fn next(&self, now: Instant) -> (Vec<Start>, Option<Instant>) {
        let mut state = self.lock();
        let State {
            lanes,
            groups,
            running,
        } = &mut *state;
        let (mut starts, mut again) = (Vec::new(), None::<Instant>);
        for (settings, lane) in lanes.iter_mut().filter(|(_, lane)| !lane.runs) {
            if lane.due > now {
                again = Some(again.map_or(lane.due, |again| again.min(lane.due)));
                continue;
            }
            if *running >= READERS {
                // Whoever ends looks again.
                break;
            }
            let wish = |group: &String| Some((group.clone(), groups.get(group)?.wish.clone()));
            *running += 1;
            lane.runs = true;
            starts.push(Start {
                settings: settings.clone(),
                wishes: lane.groups.iter().filter_map(wish).collect(),
                reader: lane.reader.take().unwrap_or_default(),
            });
        }
        (starts, again)
    }

    /// Takes in what came of a reading. Returns the groups that should look at it.
    fn ended(&self, start: Start, read: &Read, now: Instant) -> Vec<String> {
        self.metrics.groups_read(read);
        let mut state = self.lock();
        let State {
            lanes,
            groups,
            running,
        } = &mut *state;
        *running -= 1;
        let Some(lane) = lanes.get_mut(&start.settings) else {
            return Vec::new();
        };
        lane.runs = false;
        lane.reader = Some(start.reader);
        match read {
            Ok(found) => {
                lane.failures = 0;
                lane.hidden = hidden(found);
            }
            Err(_) => lane.failures = lane.failures.saturating_add(1),
        }
        if lane.groups.is_empty() {
            lanes.remove(&start.settings);
            return Vec::new();
        }
        let (mut told, mut confirmed) = (Vec::new(), true);
        for group in &lane.groups {
            let Some(known) = groups.get_mut(group) else {
                continue;
            };
            // What is wanted changed meanwhile.
            if start.wishes.get(group) != Some(&known.wish) {
                confirmed = false;
                continue;
            }
            let evidence = match read {
                Ok(found) => of(&known.wish, found),
                Err(error) if lane.failures >= MISSES => nothing(&known.wish, error),
                Err(_) => {
                    confirmed = false;
                    continue;
                }
            };
            let (changed, holds) = known.take(evidence);
            confirmed &= holds;
            if changed {
                if let Some(standing) = &known.standing {
                    self.metrics.placed(standing.reason);
                }
                told.push(group.clone());
            }
        }
        lane.due = now + if confirmed { self.every } else { self.confirm };
        told
    }
}

impl State {
    /// Takes a group out of its lane. A lane that nobody is in is closed, once it does not read.
    fn leave(&mut self, group: &str) {
        self.lanes.retain(|_, lane| {
            lane.groups.remove(group);
            lane.runs || !lane.groups.is_empty()
        });
    }
}

impl Known {
    /// Takes in what a reading says: whether that changes what is said, and whether that is what it said.
    fn take(&mut self, now: PlacementEvidence) -> (bool, bool) {
        let next = confirmed_placement(self.standing.as_ref(), self.before.as_ref(), &now);
        let holds = next
            .as_ref()
            .is_some_and(|next| (next.state, next.reason) == (now.state, now.reason));
        let changed = next != self.standing;
        self.standing = next;
        self.before = Some(now);
        (changed, holds)
    }
}

/// Reads for as long as it is polled, and announces each group of which something else is known.
pub(super) async fn run<F: Future<Output = ()>>(
    watcher: &Watcher,
    clusters: &Clusters,
    announce: impl Fn(String) -> F,
) {
    let mut running = FuturesUnordered::new();
    loop {
        let (starts, again) = watcher.next(Instant::now());
        for mut start in starts {
            let spread = watcher.every / 2;
            running.push(async move {
                let wanted = wanted(start.wishes.values());
                let read = match clusters.client_of(&start.settings) {
                    Some(client) => start.reader.read(&client, &wanted, spread).await,
                    // Nobody uses this connection any more, or not yet.
                    None => Err(Error::Unreachable(
                        "the connection is not in use".to_owned(),
                    )),
                };
                (start, read)
            });
        }
        let pause = async {
            match again {
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some((start, read)) = running.next() => {
                for group in watcher.ended(start, &read, Instant::now()) {
                    announce(group).await;
                }
            }
            () = watcher.woken.notified() => {}
            () = pause => {}
        }
    }
}

#[cfg(test)]
mod tests;
