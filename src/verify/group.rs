//! From the reports of the topics to one word on the group.

use std::cmp::Reverse;
use std::fmt::{self, Write as _};

use super::between::Between;
use super::verdict::{TopicReport, Verdict};

/// What the judge says of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupReport {
    /// Its topics, in the order in which the judge was given them.
    pub topics: Vec<TopicReport>,
    /// The pairs of topics that share keys.
    pub between: Vec<Between>,
}

/// The status of the condition `KeysVerified`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// True: all topics were proven.
    Verified,
    /// Unknown: nothing speaks against it, but not all could be proven.
    Unproven,
    /// False: records show that it does not hold.
    Refuted,
}

/// The reason of the condition `KeysVerified`, from the worst to the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Records do not lie where the declared scheme puts them, or have another encoding.
    SchemeMismatch,
    /// Keys lie on several partitions.
    NonDeterministic,
    /// Records have no key.
    Unkeyed,
    /// A topic declares no scheme.
    SchemeNotDeclared,
    /// A topic declares a custom partitioner.
    NotProvable,
    /// A topic has records of the time of a growth only.
    Settling,
    /// A topic has no records.
    NoRecords,
    /// A topic has too few distinct keys to prove anything.
    TooFewKeys,
    /// All topics fit.
    KeysFit,
}

impl Reason {
    /// The status that goes with it.
    pub fn outcome(self) -> Outcome {
        match self {
            Self::SchemeMismatch | Self::NonDeterministic | Self::Unkeyed => Outcome::Refuted,
            Self::SchemeNotDeclared
            | Self::NotProvable
            | Self::Settling
            | Self::NoRecords
            | Self::TooFewKeys => Outcome::Unproven,
            Self::KeysFit => Outcome::Verified,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Verdict {
    /// The reason that it is for a group.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Fits { .. } => Reason::KeysFit,
            Self::SchemeMismatch { .. } => Reason::SchemeMismatch,
            Self::NonDeterministic => Reason::NonDeterministic,
            Self::Unkeyed => Reason::Unkeyed,
            Self::TooFewKeys => Reason::TooFewKeys,
            Self::NoRecords => Reason::NoRecords,
            Self::Settling => Reason::Settling,
            Self::SchemeNotDeclared { .. } => Reason::SchemeNotDeclared,
            Self::NotProvable { .. } => Reason::NotProvable,
        }
    }
}

impl GroupReport {
    /// The worst reason of all topics and pairs. A group without topics has no records.
    pub fn reason(&self) -> Reason {
        let topics = self.topics.iter().map(|topic| topic.verdict.reason());
        let apart = self.between.iter().any(Between::is_apart);
        let apart = apart.then_some(Reason::SchemeMismatch);
        topics.chain(apart).min().unwrap_or(Reason::NoRecords)
    }

    /// The status that goes with the reason.
    pub fn outcome(&self) -> Outcome {
        self.reason().outcome()
    }

    /// What holds and what does not, for people: topic, wanted, seen, what to do. It names no key.
    pub fn message(&self) -> String {
        let reason = self.reason();
        if self.topics.is_empty() {
            return "there are no topics".to_owned();
        }
        let worst = self
            .topics
            .iter()
            .filter(|it| it.verdict.reason() == reason);
        let mut said: Vec<String> = worst
            .map(|topic| format!("{}: {topic}", topic.topic))
            .collect();
        if reason == Reason::KeysFit {
            let mut said = vec![self.proven()];
            said.extend(
                self.between
                    .iter()
                    .min_by_key(|it| Reverse(it.shared))
                    .map(|it| self.pair(it)),
            );
            return said.join("; ");
        }
        let apart = self.between.iter().filter(|it| it.is_apart());
        said.extend(apart.map(|it| self.pair(it)));
        let more = said.len().saturating_sub(SHOWN);
        said.truncate(SHOWN);
        let mut said = said.join("; ");
        if more > 0 {
            // Writing to a String cannot fail.
            let _ = write!(said, "; and {more} more");
        }
        said
    }

    fn proven(&self) -> String {
        let least = self.topics.iter().map(|topic| topic.keys.distinct).min();
        let judged: u64 = self.topics.iter().map(TopicReport::judged).sum();
        format!(
            "{judged} records of {} topics lie where the declared schemes put them, with {} distinct keys or more in each",
            self.topics.len(),
            least.unwrap_or_default()
        )
    }

    fn pair(&self, pair: &Between) -> String {
        let name = |at: usize| self.topics.get(at).map_or("", |topic| topic.topic.as_str());
        let (a, b) = (name(pair.a), name(pair.b));
        if pair.is_apart() {
            format!(
                "{} of {} keys that {a} and {b} share lie on different partition numbers: let both be written with one \
                 partitioner",
                pair.apart, pair.shared
            )
        } else {
            format!(
                "{} keys that {a} and {b} share lie on equal partition numbers",
                pair.shared
            )
        }
    }
}

/// How many topics and pairs a message is about.
const SHOWN: usize = 3;
