//! When a cluster counts as out of reach, and when to try again.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use super::error::Error;

/// How a cluster answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// False once several polls in a row failed ([`PollSettings::misses`](super::PollSettings)), whether or
    /// not the cluster ever answered before. One answer makes it true again.
    pub reachable: bool,
    /// Why the last poll failed; `None` when it was answered.
    pub error: Option<Error>,
    /// No answer yet, and not yet given up.
    pub pending: bool,
    /// Why nobody answers to credentials that were renewed, while the earlier ones are in use still.
    pub renewal: Option<Error>,
}

/// The longest pause between two tries.
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);

/// The time that is kept between the groups of one cluster that all have the same to say: 50 of them a second.
const APART: Duration = Duration::from_millis(20);
/// The longest time over which they are spread.
const LONGEST_SPREAD: Duration = Duration::from_secs(60);

/// When it is a group's turn, counted from the moment at which all of so many learned the same: the same each time.
pub(super) fn turn(group: &str, groups: usize) -> Duration {
    let groups = u32::try_from(groups).unwrap_or(u32::MAX);
    let spread = APART.saturating_mul(groups).min(LONGEST_SPREAD);
    let mut hasher = DefaultHasher::new();
    group.hash(&mut hasher);
    let thousandth = u32::try_from(hasher.finish() % 1000).unwrap_or(0);
    spread * thousandth / 1000
}

/// Counts polls that failed.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    misses: u32,
    failures: u32,
    answered: bool,
    error: Option<Error>,
}

/// The part of [`Health`] that groups are told of when it changes: neither a single failed poll nor the text
/// of an error is a verdict.
pub(super) type Verdict = (bool, bool, Option<&'static str>);

impl Tally {
    pub(super) fn new(misses: u32) -> Self {
        Self {
            misses: misses.max(1),
            failures: 0,
            answered: false,
            error: None,
        }
    }

    pub(super) fn answered(&mut self) {
        (self.failures, self.answered, self.error) = (0, true, None);
    }

    pub(super) fn failed(&mut self, error: Error) {
        self.failures = self.failures.saturating_add(1);
        self.error = Some(error);
    }

    pub(super) fn is_failing(&self) -> bool {
        self.failures > 0
    }

    pub(super) fn health(&self) -> Health {
        let reachable = self.failures < self.misses;
        Health {
            reachable,
            error: self.error.clone(),
            pending: !self.answered && reachable,
            renewal: None,
        }
    }

    pub(super) fn verdict(&self) -> Verdict {
        let Health {
            reachable,
            error,
            pending,
            ..
        } = self.health();
        (
            reachable,
            pending,
            error.filter(|_| !reachable).map(|error| error.kind()),
        )
    }

    /// The pause between the starts of two polls: the interval, and once the cluster is given up twice the
    /// one before, up to 30 s, less up to a tenth, so that operators do not knock in step.
    pub(super) fn pause(&self, interval: Duration, seed: impl Hash) -> Duration {
        let Some(beyond) = self.failures.checked_sub(self.misses) else {
            return interval;
        };
        let doubled = interval.saturating_mul(2_u32.saturating_pow(beyond.min(16) + 1));
        let pause = doubled.min(LONGEST_BACKOFF).max(interval);
        let mut hasher = DefaultHasher::new();
        (seed, self.failures).hash(&mut hasher);
        let percent = u32::try_from(hasher.finish() % 10).unwrap_or(0);
        pause * (100 - percent) / 100
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error() -> Error {
        Error::Unreachable("refused".to_owned())
    }

    #[test]
    fn one_failed_poll_is_no_verdict() {
        let mut tally = Tally::new(3);
        assert_eq!(
            tally.health(),
            Health {
                reachable: true,
                error: None,
                pending: true,
                renewal: None,
            }
        );
        tally.answered();
        let fine = tally.verdict();
        tally.failed(error());
        tally.failed(error());
        assert_eq!(tally.verdict(), fine);
        assert_eq!(tally.health().error, Some(error()));
        tally.failed(error());
        assert_eq!(tally.verdict(), (false, false, Some("Unreachable")));
        tally.answered();
        assert_eq!(tally.verdict(), fine);
        assert_eq!(tally.health().error, None);
    }

    #[test]
    fn a_cluster_that_never_answers_is_given_up_too() {
        let mut tally = Tally::new(2);
        tally.failed(error());
        assert!(tally.health().pending && tally.health().reachable);
        tally.failed(error());
        assert!(!tally.health().pending && !tally.health().reachable);
    }

    #[test]
    fn many_groups_take_turns_and_a_single_one_need_not_wait() {
        assert!(turn("one", 1) <= APART);
        let turns = |groups: usize| -> Vec<Duration> {
            (0..groups)
                .map(|group| turn(&format!("ns/group-{group}"), groups))
                .collect()
        };
        for (groups, spread) in [(1_000, 20), (10_000, 60)] {
            let turns = turns(groups);
            let tenth = Duration::from_secs(spread) / 10;
            for part in 0..10 {
                let within = tenth * part..tenth * (part + 1);
                let share = turns.iter().filter(|turn| within.contains(*turn)).count();
                assert!(
                    share > groups / 20 && share < groups / 5,
                    "{share} of {groups} in {within:?}"
                );
            }
        }
    }

    #[test]
    fn the_pause_grows_to_half_a_minute() {
        let interval = Duration::from_secs(5);
        let mut tally = Tally::new(3);
        let mut pauses = Vec::new();
        for _ in 0..40 {
            tally.failed(error());
            pauses.push(tally.pause(interval, "seed"));
        }
        assert_eq!(pauses[..2], [interval, interval]);
        let near = |pause: Duration, secs| {
            pause <= Duration::from_secs(secs) && pause * 10 > Duration::from_secs(secs * 9)
        };
        assert!(near(pauses[2], 10) && near(pauses[3], 20));
        assert!(
            pauses[4..].iter().all(|pause| near(*pause, 30)),
            "{pauses:?}"
        );
        let slow = Duration::from_secs(60);
        assert!(near(tally.pause(slow, "seed"), 60));
    }
}
