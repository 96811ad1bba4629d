//! `KeysVerified`: what the records of the group's topics said when they were last read.

use super::checks::Finding;
use super::conditions::{Reason, State};
use super::decision::{Decision, TopicDecision};
use super::group::Group;
use super::observed::TopicId;
use crate::verify;

/// What records said, and of which topics. It speaks of nothing else: a topic with another id, count or declared scheme
/// has to be read anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The topics that were read, as they were, in the order of the spec.
    pub about: Vec<About>,
    /// What it says.
    pub state: State,
    /// Why.
    pub reason: Reason,
    /// For people.
    pub message: String,
}

/// A topic as its records were judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Its name.
    pub topic: String,
    /// Its id.
    pub id: TopicId,
    /// Its partition count.
    pub partitions: i32,
    /// The scheme that was declared for it, as `encoding/partitioner`.
    pub scheme: Option<String>,
}

/// The topics of a group whose records can be read now: those that exist and are the ones that were accepted.
pub fn readable(decision: &Decision) -> Vec<About> {
    decision.topics.iter().filter_map(about).collect()
}

fn about(judged: &TopicDecision) -> Option<About> {
    let live = judged.settled()?;
    Some(About {
        topic: judged.topic.name.clone(),
        id: live.id.clone(),
        partitions: live.partitions,
        scheme: judged.topic.scheme.as_ref().map(ToString::to_string),
    })
}

impl Evidence {
    /// Whether it speaks of the topics as they are.
    pub fn speaks_of(&self, decision: &Decision) -> bool {
        self.about == readable(decision)
    }
}

/// The verdict of the records.
pub(super) fn keys_verified(
    group: &Group,
    decision: &Decision,
    evidence: Option<&Evidence>,
) -> Finding {
    let open = |reason, message: &str| Finding {
        state: State::Unknown,
        reason,
        message: message.to_owned(),
    };
    if !group.verification {
        return open(Reason::Off, "not asked for");
    }
    if decision.refusal.is_some() {
        return open(
            Reason::Pending,
            "no records are read while Accepted is False",
        );
    }
    let unreadable: Vec<&str> = decision
        .topics
        .iter()
        .filter(|judged| judged.settled().is_none())
        .map(|judged| judged.topic.name.as_str())
        .collect();
    let refuted = evidence.filter(|it| it.state == State::False && it.speaks_of(decision));
    if !unreadable.is_empty() && refuted.is_none() {
        return Finding {
            state: State::Unknown,
            reason: Reason::ReadIncomplete,
            message: format!(
                "no records can be read of {}: see PartitionsAligned",
                unreadable.join(", ")
            ),
        };
    }
    match evidence {
        Some(evidence) if evidence.speaks_of(decision) => Finding {
            state: evidence.state,
            reason: evidence.reason,
            message: evidence.message.clone(),
        },
        Some(_) => open(
            Reason::Pending,
            "a topic, a count or a declared scheme changed since records were read; they are read anew",
        ),
        None => open(Reason::Pending, "no records were read yet"),
    }
}

impl From<verify::Reason> for Reason {
    fn from(reason: verify::Reason) -> Self {
        match reason {
            verify::Reason::SchemeMismatch => Reason::SchemeMismatch,
            verify::Reason::NonDeterministic => Reason::NonDeterministic,
            verify::Reason::Unkeyed => Reason::Unkeyed,
            verify::Reason::SchemeNotDeclared => Reason::SchemeNotDeclared,
            verify::Reason::NotProvable => Reason::NotProvable,
            verify::Reason::Settling => Reason::Settling,
            verify::Reason::NoRecords => Reason::NoRecords,
            verify::Reason::TooFewKeys => Reason::TooFewKeys,
            verify::Reason::KeysFit => Reason::KeysFit,
        }
    }
}

impl From<verify::Outcome> for State {
    fn from(outcome: verify::Outcome) -> Self {
        match outcome {
            verify::Outcome::Verified => State::True,
            verify::Outcome::Refuted => State::False,
            verify::Outcome::Unproven => State::Unknown,
        }
    }
}
