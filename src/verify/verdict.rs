//! From what was gathered of a topic to a verdict on it.

use super::evidence::{OnPartition, Records, Seen};
use super::fit::{Among, Fit, Way};
use super::limits::{AT_LEAST, LOG10_CHANCE, MIN_KEYS, MIN_RECORDS, TOLERATED, share, too_many};
use super::signs::{self, Foreign, SeenEncoding};
use crate::keys::{KeyScheme, PartitionCount, Partitioner};

/// What the records of a topic say about its keys.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The records lie where the declared scheme puts them, but for strays.
    Fits {
        /// The decimal logarithm of the chance that they would under a scheme that was not used: 0 or below.
        log10_chance: f64,
    },
    /// They do not, or their keys are not of the declared encoding. At least one of the two is there.
    SchemeMismatch {
        /// The keys whose bytes show another encoding than the declared one, if there are such.
        encoding: Option<Foreign>,
        /// What explains where the records lie, if the declared partitioner does not.
        partitioner: Option<Explanation>,
    },
    /// Keys lie on several partitions at one count, and no mixture of the declared scheme with a known one explains it.
    /// Where no formula is declared no mixture is looked for.
    NonDeterministic,
    /// Records have no key.
    Unkeyed,
    /// What was seen fits so far, with fewer distinct keys than [`MIN_KEYS`].
    TooFewKeys,
    /// There are no records that could be judged.
    NoRecords,
    /// All records fall between the marks of a growth.
    Settling,
    /// No scheme is declared.
    SchemeNotDeclared {
        /// The known partitioners that explain where the records lie.
        fits: Vec<Partitioner>,
    },
    /// The declared partitioner is a custom one.
    NotProvable {
        /// The known partitioners that explain where the records lie.
        fits: Vec<Partitioner>,
    },
}

/// What explains where records lie that do not lie where the declared partitioner puts them.
#[derive(Clone, Debug, PartialEq)]
pub enum Explanation {
    /// All were placed by another known partitioner. Several are named if they fit alike.
    Other {
        /// Those that fit, in the order of the documentation; never empty.
        partitioners: Vec<Partitioner>,
        /// The decimal logarithm of the chance that one fits without having been used.
        log10_chance: f64,
    },
    /// The declared partitioner placed them at a lower count than the topic has.
    FewerPartitions {
        /// The count.
        count: PartitionCount,
    },
    /// Some were placed by the declared partitioner, and the rest by another one, or at a lower count.
    Mixture {
        /// Who placed the rest.
        with: MixedWith,
        /// The share of records that lie where the declared scheme puts them, 0 to 1. One key in as many as there are
        /// partitions is among them by chance.
        declared: f64,
        /// The share of records that only the other one explains, 0 to 1.
        other: f64,
    },
    /// The producer hashes windowed keys with their windows, unlike Kafka Streams.
    WindowHashed,
    /// No known partitioner explains it, nor a mixture of the declared one with another.
    NoneFits,
    /// There are too few distinct keys to tell which partitioner placed them.
    TooFewToTell,
}

/// The other producer of a mixture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MixedWith {
    /// One that uses another partitioner. Several are named if they fit alike.
    Partitioners(Vec<Partitioner>),
    /// One that uses the declared partitioner at a lower count.
    Count(PartitionCount),
}

/// How many distinct keys were what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// Those that are remembered.
    pub distinct: u64,
    /// There are more, which were counted by their records only.
    pub more: bool,
    /// Those with a record where the declared scheme does not put it.
    pub misplaced: u64,
    /// Those with several records.
    pub repeated: u64,
    /// Those that were seen on several partitions at one count.
    pub on_several: u64,
}

/// What the judge says of one topic.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicReport {
    /// Its name.
    pub topic: String,
    /// The scheme that is declared for it.
    pub scheme: Option<KeyScheme>,
    /// Its partition count now.
    pub count: PartitionCount,
    /// Its records.
    pub records: Records,
    /// Its distinct keys.
    pub keys: Keys,
    /// The records that were placed at the count of now, from partition 0 on; partitions after the last one with a
    /// record are not listed.
    pub per_partition: Vec<OnPartition>,
    /// The verdict.
    pub verdict: Verdict,
}

impl TopicReport {
    /// The share of records with a key, as far as the declared scheme tells their partition, that lie on it: 0 to 1;
    /// `None` without such records.
    pub fn share_placed(&self) -> Option<f64> {
        let Records {
            placed, misplaced, ..
        } = self.records;
        (placed > 0).then(|| share(placed - misplaced, placed))
    }

    /// The share of judged records without a key, 0 to 1.
    pub fn share_unkeyed(&self) -> f64 {
        share(self.records.unkeyed, self.judged())
    }

    /// How many records were judged.
    pub fn judged(&self) -> u64 {
        judged(&self.records)
    }
}

fn judged(records: &Records) -> u64 {
    records.read - records.left_out - records.outside
}

impl Seen<'_> {
    pub(super) fn report(&self) -> TopicReport {
        let keys = self.count_keys();
        TopicReport {
            topic: self.topic.name.clone(),
            scheme: self.topic.scheme.clone(),
            count: self.topic.count,
            records: self.records,
            keys,
            per_partition: self.per_partition.clone(),
            verdict: self.verdict(&keys),
        }
    }

    fn count_keys(&self) -> Keys {
        let mut keys = Keys {
            more: self.evidence.keys.more,
            ..Keys::default()
        };
        for key in &self.keys {
            keys.distinct += 1;
            keys.misplaced += u64::from(key.misplaced > 0);
            keys.repeated += u64::from(key.records > 1);
            keys.on_several += u64::from(self.is_several(key));
        }
        keys
    }

    /// Whether a key lies on several partitions though it should not. Who places by a formula that is not known may
    /// spread empty keys.
    fn is_several(&self, key: &super::key::Key) -> bool {
        key.is_on_several() && !(key.is_empty() && self.topic.formula().is_none())
    }

    fn verdict(&self, keys: &Keys) -> Verdict {
        let records = &self.records;
        let unkeyed = too_many(records.unkeyed, judged(records));
        let keyed = judged(records) - records.unkeyed;
        if keyed == 0 && records.unkeyed > 0 {
            return Verdict::Unkeyed;
        }
        if keyed == 0 && records.left_out > 0 {
            return Verdict::Settling;
        }
        if keyed == 0 {
            return Verdict::NoRecords;
        }
        let declared = self.topic.scheme.as_ref();
        let signs = self.keys.iter().map(|key| key.signs());
        let encoding = declared.and_then(|scheme| signs::seen(&signs, scheme.encoding));
        let undetermined = self.is_undetermined(keys);
        let partitioner = self
            .is_misplaced(keys)
            .then(|| self.explanation(keys, encoding.as_ref()))
            .flatten();
        let unexplained = matches!(
            partitioner,
            Some(Explanation::NoneFits | Explanation::TooFewToTell)
        );
        if undetermined && (unexplained || self.topic.formula().is_none()) {
            return Verdict::NonDeterministic;
        }
        if encoding.is_some() || partitioner.is_some() {
            return Verdict::SchemeMismatch {
                encoding,
                partitioner,
            };
        }
        if unkeyed {
            return Verdict::Unkeyed;
        }
        let fits = || self.fitting(Among::All).map_or_else(Vec::new, |it| it.0);
        match declared {
            None => Verdict::SchemeNotDeclared { fits: fits() },
            Some(scheme) if scheme.partitioner.formula().is_none() => {
                Verdict::NotProvable { fits: fits() }
            }
            // On a single partition there is nothing to prove.
            Some(_) if keys.distinct < MIN_KEYS && self.topic.count.get() > 1 => {
                Verdict::TooFewKeys
            }
            Some(_) => Verdict::Fits {
                log10_chance: self
                    .declared_fit(Among::All)
                    .log10_chance(self.least_count(), 1.0),
            },
        }
    }

    fn declared_fit(&self, among: Among) -> Fit {
        let formula = self.topic.formula();
        formula.map_or_else(Fit::default, |it| self.fit(Way::Formula(it), among))
    }

    /// Whether keys lie on several partitions, by more than strays.
    fn is_undetermined(&self, keys: &Keys) -> bool {
        let several = || self.keys.iter().filter(|key| self.is_several(key));
        let off_main: u64 = several().map(|key| key.off_main()).sum();
        let all: u64 = self.keys.iter().map(|key| key.records).sum();
        too_many(off_main, all) && (keys.on_several >= AT_LEAST || off_main >= MIN_RECORDS)
    }

    /// Whether records do not lie where the declared scheme puts them, by more than strays.
    fn is_misplaced(&self, keys: &Keys) -> bool {
        let Records {
            placed, misplaced, ..
        } = self.records;
        let by_records = too_many(misplaced, placed);
        if keys.distinct < MIN_KEYS {
            return by_records && (keys.misplaced >= AT_LEAST || misplaced >= MIN_RECORDS);
        }
        // One hot key must not hide that all others are wrong, so every key counts alike too.
        let each = self.keys.iter();
        let sum: f64 = each.map(|key| share(key.misplaced, key.records)).sum();
        let by_keys = sum > TOLERATED * share(keys.distinct, 1);
        by_records || by_keys && keys.misplaced >= AT_LEAST
    }

    /// What explains misplaced records; `None` if the encoding alone does.
    fn explanation(&self, keys: &Keys, encoding: Option<&Foreign>) -> Option<Explanation> {
        let scheme = self.topic.scheme.as_ref()?;
        let formula = self.topic.formula()?;
        if let Some(SeenEncoding::Windowed(window)) = encoding.map(|foreign| &foreign.encoding)
            && scheme.partitioner == Partitioner::Murmur2
            && self.fit(Way::Inside(formula, *window), Among::All).holds()
        {
            return None;
        }
        if share(self.whole_fits, self.records.placed) >= 1.0 - TOLERATED {
            return Some(Explanation::WindowHashed);
        }
        let other = self.fitting(Among::All);
        let lower = self.lower_count(Among::All);
        let explained = match (other, lower) {
            (Some((partitioners, log10_chance)), lower)
                if lower.is_none_or(|(_, chance)| log10_chance <= chance) =>
            {
                Some(Explanation::Other {
                    partitioners,
                    log10_chance,
                })
            }
            (_, Some((count, _))) => Some(Explanation::FewerPartitions { count }),
            _ => self.mixture(),
        };
        Some(explained.unwrap_or_else(|| {
            let enough = Fit::of_keys(keys.misplaced).log10_chance(self.least_count(), 12.0);
            if enough < LOG10_CHANCE {
                Explanation::NoneFits
            } else {
                Explanation::TooFewToTell
            }
        }))
    }

    fn mixture(&self) -> Option<Explanation> {
        let formula = self.topic.formula()?;
        let (with, way) = if let Some((partitioners, _)) = self.fitting(Among::Misplaced) {
            let other = partitioners.first()?.formula()?;
            (MixedWith::Partitioners(partitioners), Way::Formula(other))
        } else {
            let (count, _) = self.lower_count(Among::Misplaced)?;
            (MixedWith::Count(count), Way::Count(formula, count))
        };
        let all = self.declared_fit(Among::All);
        Some(Explanation::Mixture {
            with,
            declared: share(
                self.records.placed - self.records.misplaced,
                self.records.placed,
            ),
            other: self.fit(way, Among::Misplaced).records_right() / all.records(),
        })
    }
}
