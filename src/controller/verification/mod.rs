//! Proof from records in the background: which group's records are read when, and what was found last.
//!
//! ```text
//!  pass ── want(Wish) ──▶ Verifier ── one Lane a cluster ──▶ reading (sample + judge) ──▶ Found
//!    ▲                                                                                     │
//!    └───────────── found(group), after the group was announced ◀──────────────────────────┘
//! ```
//! Readings run beside the passes, each on a connection and a thread of its own, so that they never keep the polls of a
//! cluster or a pass waiting. A pass only says what it would like to be read and takes what was found.

mod found;
mod lane;
mod reading;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use tokio::sync::Notify;

use super::metrics::Metrics;
use crate::verify::FingerprintKey;
pub(super) use found::Found;
use lane::{Lane, Next};
pub(crate) use reading::fingerprint_key;
pub(super) use reading::{Asked, Wish};
use reading::{NotRead, Outcome};

/// Readings of all clusters at once; each holds one connection to each broker, and tens of megabytes at worst.
const READERS: usize = 8;
/// The pause after a reading that said nothing for certain; it doubles with each up to the interval.
const FIRST_PAUSE: Duration = Duration::from_secs(30);
/// The pause before topics that changed are read again.
const SOON: Duration = Duration::from_secs(2);
/// So many readings in a row must fail before what was found earlier no longer stands.
const MISSES: u32 = 3;

/// Reads and judges records for all groups that want it.
pub(super) struct Verifier {
    /// How many bytes of keys and values are read of one cluster in a minute.
    budget: u64,
    secret: FingerprintKey,
    metrics: Metrics,
    state: Mutex<State>,
    woken: Notify,
}

/// Bounded by the number of groups.
#[derive(Default)]
struct State {
    /// By cluster id.
    lanes: BTreeMap<String, Lane>,
    groups: HashMap<String, Known>,
    running: usize,
}

struct Known {
    wish: Wish,
    /// It is in its lane.
    waits: bool,
    /// What is wanted changed since the last reading.
    edited: bool,
    found: Option<Found>,
    /// Readings in a row that failed.
    failures: u32,
    /// Readings in a row that said nothing for certain.
    open: u32,
}

/// A reading to begin.
struct Start {
    group: String,
    wish: Wish,
    allowance: u64,
}

impl Verifier {
    /// A verifier that reads at most `budget` bytes of a cluster in a minute.
    pub(super) fn new(budget: u64, metrics: Metrics) -> Self {
        Verifier {
            budget,
            secret: fingerprint_key(),
            metrics,
            state: Mutex::default(),
            woken: Notify::new(),
        }
    }

    /// Says what is to be read for a group from now on. `written` is what its status says. Cheap if nothing changed.
    pub(super) fn want(&self, group: &str, wish: Wish, written: Option<&Found>) {
        let now = Instant::now();
        let mut state = self.lock();
        let old = state.groups.remove(group);
        if let Some(old) = old
            .as_ref()
            .filter(|old| old.wish.cluster_id != wish.cluster_id)
            && let Some(lane) = state.lanes.get_mut(&old.wish.cluster_id)
        {
            lane.remove(group);
        }
        let known = match old {
            Some(old) if old.waits && old.wish == wish => {
                state.groups.insert(group.to_owned(), old);
                return;
            }
            Some(old) if old.wish.finds_the_same(&wish) => Known {
                wish,
                waits: true,
                ..old
            },
            old => Known {
                wish,
                waits: true,
                edited: old.is_some(),
                found: old.and_then(|old| old.found),
                failures: 0,
                open: 0,
            },
        };
        let due = known.due(written, now);
        let lane = state.lanes.entry(known.wish.cluster_id.clone());
        let lane = lane.or_insert_with(|| Lane::new(self.budget, now));
        lane.set_due(group, due, now);
        state.groups.insert(group.to_owned(), known);
        drop(state);
        self.woken.notify_one();
    }

    /// Reads nothing for a group until it is wanted again; what was found stands.
    pub(super) fn suspend(&self, group: &str) {
        let mut state = self.lock();
        if let Some(known) = state.groups.get_mut(group) {
            known.waits = false;
            let cluster = known.wish.cluster_id.clone();
            if let Some(lane) = state.lanes.get_mut(&cluster) {
                lane.remove(group);
            }
        }
    }

    /// Forgets a group.
    pub(super) fn forget(&self, group: &str) {
        self.suspend(group);
        let mut state = self.lock();
        state.groups.remove(group);
        state.lanes.retain(|_, lane| !lane.is_idle());
    }

    /// What was found last.
    pub(super) fn found(&self, group: &str) -> Option<Found> {
        self.lock().groups.get(group)?.found.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The readings to begin now, and when to look again.
    fn next(&self, now: Instant) -> (Vec<Start>, Option<Instant>) {
        let mut state = self.lock();
        let state = &mut *state;
        let (mut starts, mut again) = (Vec::new(), None::<Instant>);
        for lane in state.lanes.values_mut() {
            if state.running >= READERS {
                // Whoever ends looks again.
                break;
            }
            match lane.next(now) {
                Next::Read { group, allowance } => {
                    let Some(known) = state.groups.get(&group) else {
                        lane.ended(&group, allowance, 0, false, now);
                        lane.remove(&group);
                        continue;
                    };
                    state.running += 1;
                    starts.push(Start {
                        wish: known.wish.clone(),
                        group,
                        allowance,
                    });
                }
                Next::At(at) => again = Some(again.map_or(at, |again| again.min(at))),
                Next::Nothing => {}
            }
        }
        (starts, again)
    }

    /// Takes in what came of a reading. True if the group should look at it.
    fn ended(&self, start: &Start, outcome: Outcome, now: Instant) -> bool {
        self.metrics.read(outcome.bytes);
        let mut state = self.lock();
        let state = &mut *state;
        state.running -= 1;
        let Some(lane) = state.lanes.get_mut(&start.wish.cluster_id) else {
            return false;
        };
        let group = start.group.as_str();
        let repeat = lane.ended(
            group,
            start.allowance,
            outcome.bytes,
            outcome.cut_short,
            now,
        );
        let known = state
            .groups
            .get_mut(group)
            .filter(|known| known.waits && known.wish.cluster_id == start.wish.cluster_id);
        let Some(known) = known else {
            lane.remove(group);
            return false;
        };
        if !known.wish.finds_the_same(&start.wish) {
            // Something else is wanted meanwhile, and due already.
            return false;
        }
        if repeat {
            lane.set_due(group, now, now);
            return false;
        }
        let (told, pause) = known.take(outcome.result);
        lane.set_due(group, now + pause, now);
        if told && let Some(found) = &known.found {
            self.metrics.verdict(found.evidence.reason);
        }
        told
    }
}

impl Known {
    /// When it is to be read: at once, unless something conclusive is known.
    fn due(&self, written: Option<&Found>, now: Instant) -> Instant {
        let about = self.wish.about();
        let known = self.found.as_ref().or(written);
        let stands = |it: &&Found| it.is_conclusive() && it.evidence.about == about;
        let Some(known) = known.filter(stands).filter(|_| !self.edited) else {
            return now;
        };
        let age = Timestamp::now().duration_since(known.at);
        let age = Duration::try_from(age).unwrap_or_default();
        now + self.wish.sampling.interval.saturating_sub(age)
    }

    /// Takes in a result: whether the group should look at it, and the pause before the next reading.
    fn take(&mut self, result: Result<Found, NotRead>) -> (bool, Duration) {
        self.edited = false;
        let interval = self.wish.sampling.interval;
        let growing = |times: u32| FIRST_PAUSE.saturating_mul(1 << times.min(16)).min(interval);
        match result {
            Ok(found) => {
                self.failures = 0;
                self.open = if found.is_conclusive() {
                    0
                } else {
                    self.open + 1
                };
                let pause = match self.open {
                    0 => interval,
                    times => growing(times - 1),
                };
                self.found = Some(found);
                (true, pause)
            }
            Err(NotRead::Changed) => (false, SOON.min(interval)),
            Err(NotRead::Failed(found)) => {
                self.failures += 1;
                let about = &found.evidence.about;
                let stands = self
                    .found
                    .as_ref()
                    .is_some_and(|old| old.is_conclusive() && old.evidence.about == *about);
                let told = !stands || self.failures >= MISSES;
                if told {
                    self.found = Some(found);
                }
                (told, growing(self.failures - 1))
            }
        }
    }
}

/// Reads for as long as it is polled, and announces each group of which something was found.
pub(super) async fn run<F: Future<Output = ()>>(
    verifier: &Verifier,
    announce: impl Fn(String) -> F,
) {
    let mut running = FuturesUnordered::new();
    loop {
        let (starts, again) = verifier.next(Instant::now());
        for start in starts {
            let secret = verifier.secret;
            running.push(async move {
                let outcome = reading::read(&start.wish, start.allowance, secret).await;
                (start, outcome)
            });
        }
        let pause = async {
            match again {
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some((start, outcome)) = running.next() => {
                if verifier.ended(&start, outcome, Instant::now()) {
                    announce(start.group).await;
                }
            }
            () = verifier.woken.notified() => {}
            () = pause => {}
        }
    }
}

#[cfg(test)]
mod tests;
