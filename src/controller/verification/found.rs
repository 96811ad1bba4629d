//! What a reading found, and how it stands in the status.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::super::status;
use crate::api::{GroupStatus, MisplacedKey, VerificationStatus, VerifiedTopic};
use crate::kafka::Incomplete;
use crate::plan::{About, ConditionType, Evidence, Reason, State};
use crate::verify::{GroupReport, TopicReport};

/// So long a written verdict stands before one that says the same is written: what a reading counts differs each time.
const QUIET: Duration = Duration::from_secs(600);
/// How many topics that were not read a message names.
const SHOWN: usize = 3;

/// What a reading found.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::controller) struct Found {
    /// When, in whole seconds, as Kubernetes keeps it.
    pub(super) at: Timestamp,
    /// What it says.
    pub(in crate::controller) evidence: Evidence,
    topics: Vec<VerifiedTopic>,
}

impl Found {
    /// What the judge says, of topics of which some were perhaps not read to their end.
    pub(super) fn of(
        at: Timestamp,
        about: Vec<About>,
        report: &GroupReport,
        unread: &[(String, Incomplete)],
        misplaced: Vec<Vec<MisplacedKey>>,
    ) -> Self {
        let judged = about.iter().zip(&report.topics).zip(misplaced);
        let topics = judged
            .map(|((about, report), misplaced)| verified(about, report, misplaced))
            .collect();
        let mut state = State::from(report.outcome());
        let mut reason = Reason::from(report.reason());
        let mut message = report.message();
        if !unread.is_empty() {
            let missing = said(unread);
            // Records in the wrong place are wrong whatever else there is; all else needs all of them.
            if state == State::False {
                message = format!("{message}; {missing}");
            } else {
                state = State::Unknown;
                reason = reason_of(unread);
                message = missing;
            }
        }
        Found {
            at: whole(at),
            evidence: Evidence {
                about,
                state,
                reason,
                message,
            },
            topics,
        }
    }

    /// That nothing could be read.
    pub(super) fn nothing(at: Timestamp, about: Vec<About>, why: &Incomplete) -> Self {
        Found {
            at: whole(at),
            evidence: Evidence {
                about,
                state: State::Unknown,
                reason: reason_of(&[(String::new(), why.clone())]),
                message: format!("no records could be read: {why}; it is tried again"),
            },
            topics: Vec::new(),
        }
    }

    /// What a status says, if it says anything of records.
    pub(in crate::controller) fn of_status(status: &GroupStatus) -> Option<Self> {
        let shown = status.verification.as_ref()?;
        let condition = status::find(status, ConditionType::KeysVerified)?;
        let reason = Reason::ALL
            .iter()
            .find(|reason| reason.as_str() == condition.reason)
            .filter(|reason| !matches!(reason, Reason::Pending | Reason::Off))?;
        let about = shown.topics.iter().map(|topic| About {
            topic: topic.name.clone(),
            id: topic.topic_id.clone(),
            partitions: topic.partitions,
            scheme: topic.scheme.clone(),
        });
        Some(Found {
            at: shown.last_verified_time.0,
            evidence: Evidence {
                about: about.collect(),
                state: status::parse(&condition.status),
                reason: *reason,
                message: condition.message.clone(),
            },
            topics: shown.topics.clone(),
        })
    }

    /// Which of what was written and what was found last is to be written, of what `speaks_of` the topics as they are.
    pub(in crate::controller) fn to_show(
        written: Option<Self>,
        found: Option<Self>,
        speaks_of: impl Fn(&Evidence) -> bool,
    ) -> Option<Self> {
        let speaks = |found: &Found| speaks_of(&found.evidence);
        let (written, found) = (written.filter(speaks), found.filter(speaks));
        match (written, found) {
            (Some(written), Some(found)) if written.stands_beside(&found) => Some(written),
            (written, found) => found.or(written),
        }
    }

    fn stands_beside(&self, newer: &Self) -> bool {
        let age = Duration::try_from(newer.at.duration_since(self.at)).unwrap_or_default();
        let verdicts = |found: &Self| -> Vec<(String, bool)> {
            let topics = found.topics.iter();
            topics
                .map(|topic| (topic.reason.clone(), topic.misplaced_keys.is_empty()))
                .collect()
        };
        age < QUIET
            && (self.evidence.state, self.evidence.reason)
                == (newer.evidence.state, newer.evidence.reason)
            && verdicts(self) == verdicts(newer)
    }

    /// Without the keys that a reading found while they could be shown.
    pub(in crate::controller) fn without_keys(mut self) -> Self {
        for topic in &mut self.topics {
            topic.misplaced_keys.clear();
        }
        self
    }

    /// As it stands in the status.
    pub(in crate::controller) fn status(self) -> VerificationStatus {
        VerificationStatus {
            last_verified_time: Time(self.at),
            topics: self.topics,
        }
    }

    /// Whether it says more than that it cannot be told.
    pub(super) fn is_conclusive(&self) -> bool {
        self.evidence.state != State::Unknown
    }
}

fn whole(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

fn verified(about: &About, report: &TopicReport, misplaced: Vec<MisplacedKey>) -> VerifiedTopic {
    let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    VerifiedTopic {
        name: about.topic.clone(),
        topic_id: about.id.clone(),
        partitions: about.partitions,
        scheme: about.scheme.clone(),
        reason: report.verdict.reason().to_string(),
        records: count(report.judged()),
        distinct_keys: count(report.keys.distinct),
        share_placed: report
            .share_placed()
            .map(|share| thousandths(share, f64::floor)),
        share_unkeyed: thousandths(report.share_unkeyed(), f64::ceil),
        misplaced_keys: misplaced,
    }
}

/// Rounded so that one record in ten thousand still shows.
fn thousandths(share: f64, round: fn(f64) -> f64) -> String {
    format!("{:.3}", round(share * 1000.0) / 1000.0)
}

fn reason_of(unread: &[(String, Incomplete)]) -> Reason {
    let denied = |why: &Incomplete| matches!(why, Incomplete::NotAuthorized(_));
    if unread.iter().any(|(_, why)| denied(why)) {
        Reason::TopicNotAuthorized
    } else {
        Reason::ReadIncomplete
    }
}

fn said(unread: &[(String, Incomplete)]) -> String {
    let mut said: Vec<String> = unread
        .iter()
        .take(SHOWN)
        .map(|(topic, why)| format!("{topic}: {why}{}", remedy(why)))
        .collect();
    let more = unread.len().saturating_sub(SHOWN);
    if more > 0 {
        said.push(format!("and {more} more"));
    }
    format!("not all records could be read: {}", said.join("; "))
}

fn remedy(why: &Incomplete) -> &'static str {
    match why {
        Incomplete::NotAuthorized(_) => ". Grant the operator READ and DESCRIBE on the topic",
        Incomplete::BudgetSpent => {
            " of this operator (--verification-budget). Ask for fewer records (verification.recordsPerPartition), or raise it"
        }
        Incomplete::RecordTooLarge { .. } => {
            ". Ask for fewer records (verification.recordsPerPartition), or see to it that producers send smaller batches"
        }
        _ => "; it is tried again",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_to_the_worse_side() {
        assert_eq!(thousandths(1.0, f64::floor), "1.000");
        assert_eq!(thousandths(0.9999, f64::floor), "0.999");
        assert_eq!(thousandths(0.0001, f64::ceil), "0.001");
        assert_eq!(thousandths(0.0, f64::ceil), "0.000");
    }

    fn found(second: i64, reason: Reason, state: State) -> Found {
        let mut found = Found::nothing(
            Timestamp::from_second(second).unwrap(),
            Vec::new(),
            &Incomplete::Stopped,
        );
        found.evidence.reason = reason;
        found.evidence.state = state;
        found
    }

    #[test]
    fn the_same_verdict_is_written_every_ten_minutes_at_most() {
        let shown = |written: &Found, found: &Found| {
            Found::to_show(Some(written.clone()), Some(found.clone()), |_| true)
        };
        let fits = |second| found(second, Reason::KeysFit, State::True);
        assert_eq!(shown(&fits(0), &fits(599)), Some(fits(0)));
        assert_eq!(shown(&fits(0), &fits(600)), Some(fits(600)));
        let other = found(5, Reason::Unkeyed, State::False);
        assert_eq!(shown(&fits(0), &other), Some(other));
        let old = |speaks: bool| Found::to_show(Some(fits(0)), None, |_| speaks);
        assert_eq!(old(true), Some(fits(0)));
        assert_eq!(old(false), None);
    }

    #[test]
    fn what_was_not_read_proves_nothing() {
        let empty = GroupReport {
            topics: Vec::new(),
            between: Vec::new(),
        };
        let unread = |why| {
            let at = Timestamp::from_second(0).unwrap();
            let unread = [("orders".to_owned(), why)];
            Found::of(at, Vec::new(), &empty, &unread, Vec::new()).evidence
        };
        let denied = unread(Incomplete::NotAuthorized("no READ".to_owned()));
        assert_eq!(
            (denied.state, denied.reason),
            (State::Unknown, Reason::TopicNotAuthorized)
        );
        assert!(
            denied
                .message
                .contains("orders: not authorized: no READ. Grant")
        );
        let spent = unread(Incomplete::BudgetSpent);
        assert_eq!(
            (spent.state, spent.reason),
            (State::Unknown, Reason::ReadIncomplete)
        );
        assert!(
            spent.message.contains("recordsPerPartition"),
            "{}",
            spent.message
        );
    }
}
