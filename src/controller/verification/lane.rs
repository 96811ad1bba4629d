//! Whose records of one cluster are read next, and how many bytes that may take. No IO and no clock.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The time in which the budget of a cluster may be spent.
const WINDOW: Duration = Duration::from_secs(60);
/// After this long, what a group took counts half.
const HALF_LIFE: Duration = Duration::from_secs(600);

/// The groups of one cluster whose records are read, one after the other.
///
/// Of those that are due, the one that took the fewest bytes lately is next, so that a group with large records never
/// keeps the others waiting. What is read in a minute stays within the budget: a reading gets what is left of it, and one
/// that this did not suffice for begins again with a whole one.
#[derive(Debug)]
pub(super) struct Lane {
    budget: u64,
    window: Instant,
    spent: u64,
    /// Whether this minute's whole budget was given to a group that needs that.
    whole: bool,
    busy: bool,
    jobs: BTreeMap<String, Job>,
}

#[derive(Debug)]
struct Job {
    due: Instant,
    /// It takes more than was left of a minute's budget.
    large: bool,
    taken: u64,
    taken_at: Instant,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Read the records of this group.
    Read {
        group: String,
        /// How many bytes it may take.
        allowance: u64,
    },
    /// Nothing before this moment.
    At(Instant),
    /// Nothing before something else happens.
    Nothing,
}

impl Lane {
    /// A lane that reads at most `budget` bytes a minute, 1 or more.
    pub(super) fn new(budget: u64, now: Instant) -> Self {
        Lane {
            budget: budget.max(1),
            window: now,
            spent: 0,
            whole: false,
            busy: false,
            jobs: BTreeMap::new(),
        }
    }

    /// Says when a group is to be read next.
    pub(super) fn set_due(&mut self, group: &str, due: Instant, now: Instant) {
        let job = self.jobs.entry(group.to_owned()).or_insert(Job {
            due,
            large: false,
            taken: 0,
            taken_at: now,
        });
        job.due = due;
    }

    /// Reads a group no more.
    pub(super) fn remove(&mut self, group: &str) {
        self.jobs.remove(group);
    }

    /// Whether there is nothing to read, and nothing being read.
    pub(super) fn is_idle(&self) -> bool {
        self.jobs.is_empty() && !self.busy
    }

    /// What to do now. A reading that is handed out keeps the lane busy until [`Lane::ended`].
    pub(super) fn next(&mut self, now: Instant) -> Next {
        if self.busy {
            return Next::Nothing;
        }
        if now.saturating_duration_since(self.window) >= WINDOW {
            self.window = now;
            self.spent = 0;
            self.whole = !self.whole && self.jobs.values().any(|job| job.large && job.due <= now);
        }
        let due = |job: &Job| job.due <= now;
        // Every other minute begins with a group that needs all of it: with neither side first it would find no whole
        // budget, or leave none.
        let large = self.whole && self.spent == 0;
        let able = self
            .jobs
            .iter()
            .filter(|(_, job)| due(job) && (large || !job.large))
            .min_by_key(|(_, job)| (!job.large, job.lately(now), job.due));
        let left = self.budget.saturating_sub(self.spent);
        if let Some((group, _)) = able.filter(|_| left > 0) {
            self.busy = true;
            return Next::Read {
                group: group.clone(),
                allowance: left,
            };
        }
        let window = self.window + WINDOW;
        let first = self
            .jobs
            .values()
            .map(|job| if due(job) { window } else { job.due })
            .min();
        first.map_or(Next::Nothing, Next::At)
    }

    /// Says that a reading took so many bytes. True if it is to be repeated with a whole budget, because `cut_short`
    /// by a smaller one; else it is for [`Lane::set_due`] to say when the group is read again.
    pub(super) fn ended(
        &mut self,
        group: &str,
        allowance: u64,
        bytes: u64,
        cut_short: bool,
        now: Instant,
    ) -> bool {
        self.busy = false;
        self.spent = self.spent.saturating_add(bytes);
        let large = cut_short && allowance < self.budget;
        if let Some(job) = self.jobs.get_mut(group) {
            job.taken = job.lately(now).saturating_add(bytes);
            job.taken_at = now;
            job.large = large;
        }
        large
    }
}

impl Job {
    fn lately(&self, now: Instant) -> u64 {
        let halvings = now.saturating_duration_since(self.taken_at).as_secs() / HALF_LIFE.as_secs();
        u32::try_from(halvings)
            .ok()
            .and_then(|halvings| self.taken.checked_shr(halvings))
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    struct Clock(Lane, Instant);

    impl Clock {
        fn new(budget: u64) -> Self {
            let now = Instant::now();
            Clock(Lane::new(budget, now), now)
        }

        fn due(&mut self, group: &str) {
            let now = self.1;
            self.0.set_due(group, now, now);
        }

        fn next(&mut self) -> Option<(String, u64)> {
            match self.0.next(self.1) {
                Next::Read { group, allowance } => Some((group, allowance)),
                Next::At(_) | Next::Nothing => None,
            }
        }

        /// Reads whoever is next, who takes so many bytes.
        fn reads(&mut self, group: &str, bytes: u64) {
            let (next, allowance) = self.next().expect("somebody is due");
            assert_eq!(next, group);
            let taken = bytes.min(allowance);
            let again = self
                .0
                .ended(group, allowance, taken, bytes > allowance, self.1);
            assert!(!again, "{group} took {taken} of {bytes}");
            self.0.remove(group);
        }
    }

    #[test]
    fn one_at_a_time_and_each_when_it_is_due() {
        let mut clock = Clock::new(100);
        let start = clock.1;
        assert_eq!(clock.0.next(start), Next::Nothing);
        clock.0.set_due("a", start + 5 * SECOND, start);
        clock.0.set_due("b", start + 9 * SECOND, start);
        assert_eq!(clock.0.next(start), Next::At(start + 5 * SECOND));
        clock.1 = start + 9 * SECOND;
        assert_eq!(clock.next(), Some(("a".to_owned(), 100)));
        assert_eq!(clock.next(), None, "it is busy");
        assert!(!clock.0.ended("a", 100, 10, false, clock.1));
        clock.0.set_due("a", start + 20 * SECOND, clock.1);
        assert_eq!(clock.next(), Some(("b".to_owned(), 90)));
        assert!(!clock.0.ended("b", 90, 0, false, clock.1));
        clock.0.remove("b");
        assert!(!clock.0.is_idle());
        clock.0.remove("a");
        assert!(clock.0.is_idle());
    }

    #[test]
    fn a_minute_takes_no_more_than_its_budget() {
        let mut clock = Clock::new(100);
        for group in ["a", "b", "c"] {
            clock.due(group);
        }
        clock.reads("a", 60);
        clock.reads("b", 40);
        assert_eq!(clock.0.next(clock.1), Next::At(clock.1 + WINDOW));
        clock.1 += WINDOW;
        clock.reads("c", 100);
    }

    #[test]
    fn who_needs_more_than_is_left_begins_again_with_a_whole_budget() {
        let mut clock = Clock::new(100);
        clock.due("a");
        clock.due("large");
        clock.reads("a", 30);
        let (group, allowance) = clock.next().expect("somebody is due");
        assert_eq!((group.as_str(), allowance), ("large", 70));
        assert!(clock.0.ended("large", 70, 70, true, clock.1));
        clock.1 += WINDOW;
        clock.due("a");
        // It would be behind the other one for what it took, and wait for ever.
        clock.reads("large", 100);
        clock.1 += WINDOW;
        clock.reads("a", 1);
        // A whole budget that does not suffice is all that there is.
        clock.due("huge");
        clock.1 += WINDOW;
        let (_, allowance) = clock.next().expect("somebody is due");
        assert!(!clock.0.ended("huge", allowance, 100, true, clock.1));
    }

    #[test]
    fn who_took_little_lately_goes_first() {
        let mut clock = Clock::new(1000);
        for (group, bytes) in [("greedy", 900), ("small", 10)] {
            let now = clock.1;
            clock.0.set_due(group, now, now);
            let (next, allowance) = clock.next().expect("it is due");
            assert_eq!(next, group);
            assert!(!clock.0.ended(group, allowance, bytes, false, now));
            clock.0.set_due(group, now + 70 * SECOND, now);
        }
        clock.1 += 70 * SECOND;
        assert_eq!(clock.next().map(|it| it.0), Some("small".to_owned()));
        // After a while it is forgotten.
        let job = &clock.0.jobs["greedy"];
        assert_eq!(job.lately(job.taken_at + HALF_LIFE), 450);
        assert_eq!(job.lately(job.taken_at + 100 * HALF_LIFE), 0);
    }

    #[test]
    fn nobody_waits_longer_than_a_round() {
        // Ten groups of which three take all that they get: each is read again and again.
        let mut clock = Clock::new(100);
        let names: Vec<String> = (0..10).map(|number| format!("g{number}")).collect();
        let mut read = BTreeMap::<String, u32>::new();
        for name in &names {
            clock.due(name);
        }
        for _ in 0..600 {
            match clock.0.next(clock.1) {
                Next::Read { group, allowance } => {
                    let greedy = ["g0", "g1", "g2"].contains(&group.as_str());
                    let bytes = if greedy { allowance } else { 5 };
                    let now = clock.1;
                    let again = clock.0.ended(&group, allowance, bytes, greedy, now);
                    *read.entry(group.clone()).or_default() += u32::from(!again);
                    clock.0.set_due(&group, now + 10 * SECOND, now);
                }
                Next::At(at) => clock.1 = at,
                Next::Nothing => panic!("there is always somebody"),
            }
        }
        for name in &names {
            assert!(read[name] >= 10, "{name}: {read:?}");
        }
    }
}
