//! Which known scheme explains where the keys of a topic lie, and how sure that is.

use super::evidence::Seen;
use super::key::{Key, Place};
use super::limits::{LOG10_CHANCE, MIXTURE, TOLERATED};
use super::topic::{Era, Topic};
use crate::keys::{Formula, PartitionCount, Partitioner, Placement, Window};

/// A way to place keys.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// By a formula at the topic's own counts.
    Formula(Formula),
    /// By a formula at a count that a producer has from elsewhere.
    Count(Formula, PartitionCount),
    /// By the key inside a window.
    Inside(Formula, Window),
}

impl Way {
    fn place(self, key: &Key, topic: &Topic, era: Era) -> Placement {
        match self {
            Self::Formula(formula) => key.place(formula, topic.count_in(era)),
            Self::Count(formula, count) => key.place(formula, count),
            Self::Inside(formula, window) => key.place_inside(window, formula, topic.count_in(era)),
        }
    }
}

/// How well a way fits some keys. Every key counts once, however many records it has, split among them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fit {
    /// The keys that the way does not spread.
    keys: f64,
    /// How many of them lie elsewhere.
    missed: f64,
    /// Their records.
    records: f64,
    /// How many of those lie elsewhere.
    records_missed: f64,
}

impl Fit {
    /// A perfect fit of so many keys.
    pub(super) fn of_keys(keys: u64) -> Self {
        Self {
            keys: number(keys),
            ..Self::default()
        }
    }

    /// How many records it was asked of.
    pub(super) fn records(&self) -> f64 {
        self.records
    }

    /// How many of them it explains.
    pub(super) fn records_right(&self) -> f64 {
        self.records - self.records_missed
    }

    /// Whether it explains all but the tolerated share.
    pub(super) fn holds(&self) -> bool {
        self.keys > 0.0
            && self.missed <= TOLERATED * self.keys
            && self.records_missed <= TOLERATED * self.records
    }

    fn explains_the_rest(&self) -> bool {
        self.keys > 0.0 && self.missed <= (1.0 - MIXTURE) * self.keys
    }

    /// The decimal logarithm of the chance that a way which nobody used fits so many keys, if `ways` are tried and each
    /// key has one of `partitions` to lie on. 0 means certain.
    pub(super) fn log10_chance(&self, partitions: i32, ways: f64) -> f64 {
        // How many ways there are to choose the missed ones times the chance of the rest.
        let missed = self.missed.ceil();
        let mut log = ways.log10() - (self.keys - missed) * f64::from(partitions).log10();
        let mut at = 0.0;
        while at < missed {
            log += ((self.keys - at) / (at + 1.0)).log10();
            at += 1.0;
        }
        log.min(0.0)
    }
}

// Counts of records beyond 2^52 would lose a digit that nobody looks at.
#[allow(clippy::cast_precision_loss)]
fn number(count: u64) -> f64 {
    count as f64
}

/// The records that a way has to explain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Among {
    /// All.
    All,
    /// Those that the declared scheme does not.
    Misplaced,
}

impl Seen<'_> {
    /// How well a way fits.
    pub(super) fn fit(&self, way: Way, among: Among) -> Fit {
        self.fit_of(way, among, self.keys.iter().copied(), f64::INFINITY)
    }

    /// Ends early once it misses more keys than `most`.
    fn fit_of<'a>(
        &'a self,
        way: Way,
        among: Among,
        keys: impl Iterator<Item = &'a Key>,
        most: f64,
    ) -> Fit {
        let declared = self.topic.formula();
        let mut fit = Fit::default();
        for key in keys {
            // What the declared scheme explains is left out of the rest.
            let counts = |place: &&Place| {
                among == Among::All
                    || declared.is_none_or(|formula| {
                        key.place(formula, self.topic.count_in(place.era))
                            != Placement::At(place.partition)
                    })
            };
            let all = match among {
                Among::All => key.records,
                Among::Misplaced => key.misplaced,
            };
            if all == 0 {
                continue;
            }
            let (mut right, mut spread) = (0, 0);
            for place in key.places().iter().filter(counts) {
                match way.place(key, &self.topic, place.era) {
                    Placement::At(partition) if partition == place.partition => {
                        right += place.records;
                    }
                    Placement::Spread => spread += place.records,
                    Placement::At(_) | Placement::Unknown => {}
                }
            }
            if spread > 0 {
                continue;
            }
            let missed = all.saturating_sub(right);
            fit.keys += 1.0;
            fit.missed += number(missed) / number(all);
            fit.records += number(all);
            fit.records_missed += number(missed);
            if fit.missed > most {
                break;
            }
        }
        fit
    }

    /// The lowest partition count at which records were placed.
    pub(super) fn least_count(&self) -> i32 {
        let from = self.topic.growth.as_ref().map(|growth| growth.from.get());
        from.unwrap_or(i32::MAX).min(self.topic.count.get())
    }

    /// The known partitioners but the declared one that explain where all keys lie, and the chance of the best of them.
    pub(super) fn fitting(&self, among: Among) -> Option<(Vec<Partitioner>, f64)> {
        let declared = self.topic.scheme.as_ref().map(|it| &it.partitioner);
        let ways = 12.0;
        let mut found = Vec::new();
        let mut least = 0.0_f64;
        for partitioner in Partitioner::COMPUTED {
            let Some(formula) = partitioner
                .formula()
                .filter(|_| declared != Some(&partitioner))
            else {
                continue;
            };
            let fit = self.fit(Way::Formula(formula), among);
            let explains = match among {
                Among::All => fit.holds(),
                Among::Misplaced => fit.explains_the_rest(),
            };
            let chance = fit.log10_chance(self.least_count(), ways);
            if explains && chance < LOG10_CHANCE {
                least = least.min(chance);
                found.push(partitioner);
            }
        }
        (!found.is_empty()).then_some((found, least))
    }

    /// The lower partition count at which the declared partitioner explains the keys, and how sure that is.
    pub(super) fn lower_count(&self, among: Among) -> Option<(PartitionCount, f64)> {
        let formula = self.topic.formula()?;
        let count = self.topic.count.get();
        let keys: Vec<&Key> = self
            .keys
            .iter()
            .copied()
            .filter(|key| among == Among::All || key.misplaced > 0)
            .collect();
        let tolerated = match among {
            Among::All => TOLERATED,
            Among::Misplaced => 1.0 - MIXTURE,
        };
        let all = number(u64::try_from(keys.len()).unwrap_or(u64::MAX));
        let mut best: Option<(PartitionCount, f64)> = None;
        for lower in (1..count.min(MAX_LOWER)).filter_map(PartitionCount::new) {
            let way = Way::Count(formula, lower);
            // Some keys are enough to rule out nearly all counts.
            let some = &keys[..keys.len().min(RULE_OUT)];
            let half = number(u64::try_from(some.len()).unwrap_or(u64::MAX)) / 2.0;
            if self.fit_of(way, among, some.iter().copied(), half).missed > half {
                continue;
            }
            let fit = self.fit_of(way, among, keys.iter().copied(), tolerated * all);
            let explains = match among {
                Among::All => fit.holds(),
                Among::Misplaced => fit.explains_the_rest(),
            };
            // On one partition lies what somebody put there: of all that could have been, it is one.
            let places = if lower.get() == 1 { count } else { lower.get() };
            let chance = fit.log10_chance(places, f64::from(count));
            if explains && chance < best.map_or(LOG10_CHANCE, |(_, chance)| chance) {
                best = Some((lower, chance));
            }
        }
        best
    }
}

/// The lower counts that are tried.
const MAX_LOWER: i32 = 10_000;

/// How many keys each of them is tried on first.
const RULE_OUT: usize = 64;
