//! What every pass shares.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use kube::Client;
use kube::runtime::events::Recorder;

use super::claims::Claims;
use super::metrics::Metrics;
use crate::kafka::Clusters;
use crate::plan::{Actions, Outcomes, Owner};

/// The longest time that one request to the API server may take.
pub(super) const API_TIMEOUT: Duration = Duration::from_secs(30);

/// What every pass shares.
pub(super) struct Context {
    /// The Kubernetes API.
    pub(super) client: Client,
    /// This installation in this Kubernetes cluster.
    pub(super) me: Owner,
    /// Installations whose claims this one takes over.
    pub(super) take_over: BTreeSet<String>,
    /// The Kafka clusters.
    pub(super) kafka: Clusters,
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
