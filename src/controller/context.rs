//! What all passes of one term share.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kube::Client;
use kube::runtime::events::Recorder;

use super::claims::Claims;
use super::connections::Connections;
use super::discovery::Discovery;
use super::gate::Gate;
use super::metrics::Metrics;
use super::placement::Watcher;
use super::verification::Verifier;
use crate::api::GroupStatus;
use crate::kafka::Clusters;
use crate::plan::{Actions, Outcomes, Owner};

/// What all passes of one term share.
pub(super) struct Context {
    /// The Kubernetes API.
    pub(super) client: Client,
    /// How the Kubernetes API is asked.
    pub(super) gate: Arc<Gate>,
    /// This installation in this Kubernetes cluster.
    pub(super) me: Owner,
    /// Installations whose claims this one takes over.
    pub(super) take_over: BTreeSet<String>,
    /// How long producers may take to notice a growth.
    pub(super) settling_window: Duration,
    /// The Kafka clusters.
    pub(super) kafka: Clusters,
    /// The ways to the Kafka clusters.
    pub(super) connections: Connections,
    /// What records say.
    pub(super) verifier: Verifier,
    /// What consumer groups do.
    pub(super) placement: Watcher,
    /// Which topics applications read together.
    pub(super) discovery: Discovery,
    /// The claims.
    pub(super) claims: Claims,
    /// Publishes Events.
    pub(super) recorder: Recorder,
    /// Counters.
    pub(super) metrics: Metrics,
    /// What Kafka refused, and when it is tried again.
    pub(super) attempts: Attempts,
    /// Passes that failed on the API server.
    pub(super) setbacks: Setbacks,
    /// Statuses that were written and may not have come back through the watch.
    pub(super) published: Published,
    /// Groups of other installations whose last change those did not answer yet.
    pub(super) neglected: Neglected,
}

impl Context {
    /// Forgets a group that is gone.
    pub(super) fn forget(&self, group: &str) {
        self.kafka.forget(group);
        self.verifier.forget(group);
        self.placement.forget(group);
        self.connections.forget(group);
        self.attempts.forget(group);
        self.setbacks.forget(group);
        self.published.forget(group);
        self.neglected.forget(group);
    }
}

/// Failed attempts by group, so that a refused action is not sent with every pass, and what Kafka said stays in the
/// status until then. Bounded by the number of groups.
#[derive(Default)]
pub(super) struct Attempts(Mutex<HashMap<String, Attempt>>);

struct Attempt {
    actions: Actions,
    outcomes: Outcomes,
    failures: u32,
    next: Instant,
}

/// The first pause after a failed attempt; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// The longest pause after a pass that failed on the API server, which usually is back within seconds.
const LONGEST_SETBACK: Duration = Duration::from_secs(60);

impl Attempts {
    /// What came of the same actions last time, if it is too early to try them again, and the time left.
    pub(super) fn pending(&self, group: &str, actions: &Actions) -> Option<(Outcomes, Duration)> {
        let attempts = self.lock();
        let last = attempts
            .get(group)
            .filter(|last| last.actions == *actions)?;
        let left = last.next.checked_duration_since(Instant::now())?;
        Some((last.outcomes.clone(), left))
    }

    /// Notes that some actions failed, as far as they are still to be done. Returns the pause before the next attempt.
    pub(super) fn note(&self, group: &str, actions: &Actions, outcomes: &Outcomes) -> Duration {
        let mut attempts = self.lock();
        let same = attempts.get(group).filter(|last| last.actions == *actions);
        let failures = same.map_or(0, |last| last.failures);
        let pause = paused(failures, LONGEST_PAUSE);
        let attempt = Attempt {
            actions: actions.clone(),
            outcomes: outcomes.clone(),
            failures: failures + 1,
            next: Instant::now() + pause,
        };
        attempts.insert(group.to_owned(), attempt);
        pause
    }

    /// Forgets a group.
    pub(super) fn forget(&self, group: &str) {
        self.lock().remove(group);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Attempt>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The last status that was written of each group and that the watch did not show yet. Bounded by the number of groups.
///
/// Something else (a claim, a poll) can bring the next pass before the watch shows the write: it would then see the old
/// object, write the same status again, and get a conflict for an answer.
#[derive(Default)]
pub(super) struct Published(Mutex<HashMap<String, Write>>);

struct Write {
    /// The states of the object before the write, by resourceVersion: what the watch may still show.
    before: Vec<String>,
    /// The resourceVersion that the write got.
    got: String,
    status: GroupStatus,
}

/// The most states of one object that are remembered; a watch that is further behind costs a conflict.
const MOST_BEHIND: usize = 16;

impl Published {
    /// Notes a write on the state `on` of the object, which then got the resourceVersion `got`.
    pub(super) fn note(&self, group: &str, on: &str, got: &str, status: GroupStatus) {
        let mut published = self.lock();
        let last = published.remove(group).filter(|last| last.got == on);
        let mut before = last.map(|last| last.before).unwrap_or_default();
        before.push(on.to_owned());
        let behind = before.len().saturating_sub(MOST_BEHIND);
        before.drain(..behind);
        let write = Write {
            before,
            got: got.to_owned(),
            status,
        };
        published.insert(group.to_owned(), write);
    }

    /// The status that was written since the object was in this state, and its resourceVersion.
    pub(super) fn since(&self, group: &str, shown: &str) -> Option<(GroupStatus, String)> {
        let mut published = self.lock();
        let write = published.get(group)?;
        if write.before.iter().any(|before| before == shown) {
            return Some((write.status.clone(), write.got.clone()));
        }
        // The watch caught up, or somebody else wrote since: what was written is history.
        published.remove(group);
        None
    }

    /// Forgets a group.
    pub(super) fn forget(&self, group: &str) {
        self.lock().remove(group);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Write>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Since when a change of a group goes unanswered by the installation that manages it. Bounded by the number of groups.
#[derive(Default)]
pub(super) struct Neglected(Mutex<HashMap<String, (Option<i64>, Instant)>>);

/// How long another installation may take to answer a change before this one says whose group it is.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

impl Neglected {
    /// Notes that this generation is unanswered. Returns the time that is left for an answer, and whether it was noted for
    /// the first time.
    pub(super) fn note(&self, group: &str, generation: Option<i64>) -> (Duration, bool) {
        let mut neglected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let entry = neglected.entry(group.to_owned());
        let since = entry.or_insert((None, now));
        let first = since.0 != generation;
        if first {
            *since = (generation, now);
        }
        (ANSWERS_WITHIN.saturating_sub(since.1.elapsed()), first)
    }

    /// Forgets a group.
    pub(super) fn forget(&self, group: &str) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(group);
    }
}

/// Failed passes in a row by group. Bounded by the number of groups.
#[derive(Default)]
pub(super) struct Setbacks(Mutex<HashMap<String, u32>>);

impl Setbacks {
    /// Counts a failed pass. Returns the pause before the next one.
    pub(super) fn note(&self, group: &str) -> Duration {
        let mut setbacks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let failures = setbacks.entry(group.to_owned()).or_default();
        *failures = failures.saturating_add(1);
        paused(*failures - 1, LONGEST_SETBACK)
    }

    /// Forgets a group, as after a pass that went well.
    pub(super) fn forget(&self, group: &str) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(group);
    }
}

/// A pause that doubles with each failure.
fn paused(failures: u32, longest: Duration) -> Duration {
    FIRST_PAUSE
        .saturating_mul(1 << failures.min(16))
        .min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_known_until_the_watch_shows_it() {
        let published = Published::default();
        let status = |count| GroupStatus {
            recorded_partitions: Some(count),
            ..GroupStatus::default()
        };
        let since = |shown| {
            published
                .since("g", shown)
                .map(|(status, got)| (status.recorded_partitions, got))
        };
        assert_eq!(since("1"), None);
        published.note("g", "1", "2", status(6));
        published.note("g", "2", "3", status(8));
        for behind in ["1", "2"] {
            assert_eq!(since(behind), Some((Some(8), "3".to_owned())));
        }
        assert_eq!(since("3"), None, "the watch caught up");
        // Somebody else changed the object in between: what it was before is history.
        published.note("g", "7", "8", status(9));
        assert_eq!(since("7"), Some((Some(9), "8".to_owned())));
        assert_eq!(since("2"), None);
    }
}
