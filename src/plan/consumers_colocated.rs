//! `ConsumersColocated`: what the assignments of consumer groups said when they were last read.

use super::checks::Finding;
use super::conditions::{Reason, State};
use super::decision::Decision;
use super::group::Group;
use crate::placement::{self, Asked, Counted, Outcome};

/// What one reading of consumer groups said, and of which topics. It speaks of nothing else: with another count, topic or
/// consumer group they have to be read anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementEvidence {
    /// The topics as they were, in the order of the spec.
    pub about: Vec<Counted>,
    /// The consumer groups that were asked for.
    pub asked: Vec<Asked>,
    /// What it says.
    pub state: State,
    /// Why.
    pub reason: Reason,
    /// For people. It begins with the gist of the reading that it is of.
    pub message: String,
    /// What of the message does not change while the verdict is the same. Of evidence that a status was read back into it is
    /// the message: only the gist of the newer of two readings is asked for.
    pub gist: String,
}

/// The topics of a group that consumer groups can be judged by: those that exist and are the ones that were accepted.
pub fn countable(decision: &Decision) -> Vec<Counted> {
    let counted = decision.topics.iter().filter_map(|judged| {
        Some(Counted {
            name: judged.topic.name.clone(),
            partitions: judged.settled()?.partitions,
        })
    });
    counted.collect()
}

impl PlacementEvidence {
    /// What the judge said.
    pub fn new(about: Vec<Counted>, asked: Vec<Asked>, said: &placement::Report) -> Self {
        let (outcome, reason) = said.says();
        Self {
            about,
            asked,
            state: outcome.into(),
            reason: reason.into(),
            message: said.message(),
            gist: said.gist(),
        }
    }

    /// Whether it speaks of the topics as they are, and of the consumer groups that are asked for.
    pub fn speaks_of(&self, group: &Group, decision: &Decision) -> bool {
        self.asked == group.consumer_groups && self.about == countable(decision)
    }

    fn is_about_the_same(&self, other: &Self) -> bool {
        self.asked == other.asked && self.about == other.about
    }

    /// Whether a newer reading says what this one says, members aside.
    fn holds(&self, now: &Self) -> bool {
        self.state == now.state && self.reason == now.reason && self.message.starts_with(&now.gist)
    }

    /// That readings do not agree.
    fn unsettled(now: &Self) -> Self {
        let message =
            "the assignments differ from reading to reading: members come and go all the time";
        Self {
            state: State::Unknown,
            reason: Reason::Rebalancing,
            message: message.to_owned(),
            gist: message.to_owned(),
            ..now.clone()
        }
    }
}

/// What is to be said after a reading: `standing` is what was said so far, `before` the reading before this one.
///
/// A verdict holds for two readings. One that differs alone changes nothing, since a rebalance may have passed by; while two
/// that differ from what stands do not agree with each other, nothing is known. As long as the verdict is the same, what stands is
/// kept as it is: it names the members of the time when that was first seen, and nothing is written because they restart.
/// `None` until there are two readings that agree.
pub fn confirmed(
    standing: Option<&PlacementEvidence>,
    before: Option<&PlacementEvidence>,
    now: &PlacementEvidence,
) -> Option<PlacementEvidence> {
    let standing = standing.filter(|it| it.is_about_the_same(now));
    let before = before.filter(|it| it.is_about_the_same(now));
    if standing.is_some_and(|it| it.holds(now)) {
        return standing.cloned();
    }
    let Some(before) = before else {
        return standing.cloned();
    };
    if standing.is_some_and(|it| it.holds(before)) {
        return standing.cloned();
    }
    if before.state == now.state {
        return Some(now.clone());
    }
    let standing = standing?;
    if [before.state, now.state].contains(&standing.state) {
        return Some(standing.clone());
    }
    Some(PlacementEvidence::unsettled(now))
}

/// The verdict of the assignments.
pub(super) fn consumers_colocated(
    group: &Group,
    decision: &Decision,
    evidence: Option<&PlacementEvidence>,
) -> Finding {
    let open = |reason, message: &str| Finding {
        state: State::Unknown,
        reason,
        message: message.to_owned(),
    };
    if group.consumer_groups.is_empty() {
        return open(Reason::Off, "not asked for");
    }
    if decision.refusal.is_some() {
        return open(
            Reason::Pending,
            "no consumer groups are read while Accepted is False",
        );
    }
    let speaking = evidence.filter(|it| it.speaks_of(group, decision));
    let unsettled: Vec<&str> = decision
        .topics
        .iter()
        .filter(|judged| judged.settled().is_none())
        .map(|judged| judged.topic.name.as_str())
        .collect();
    // What is split is split, whatever else there is.
    if !unsettled.is_empty() && speaking.is_none_or(|it| it.state != State::False) {
        return Finding {
            state: State::Unknown,
            reason: Reason::ReadIncomplete,
            message: format!(
                "not judged without {}: see PartitionsAligned",
                unsettled.join(", ")
            ),
        };
    }
    match (speaking, evidence) {
        (Some(evidence), _) => Finding {
            state: evidence.state,
            reason: evidence.reason,
            message: evidence.message.clone(),
        },
        (None, Some(_)) => open(
            Reason::Pending,
            "a topic, a count or spec.consumerGroups changed since consumer groups were read; they are read anew",
        ),
        (None, None) => open(
            Reason::Pending,
            "consumer groups were not read twice yet with the same result",
        ),
    }
}

impl From<placement::Reason> for Reason {
    fn from(reason: placement::Reason) -> Self {
        match reason {
            placement::Reason::SplitMembers => Reason::SplitMembers,
            placement::Reason::SeparateSubTopologies => Reason::SeparateSubTopologies,
            placement::Reason::SeparateGroups => Reason::SeparateGroups,
            placement::Reason::UnequalCounts => Reason::UnequalCounts,
            placement::Reason::UnsupportedGroup => Reason::UnsupportedGroup,
            placement::Reason::GroupNotAuthorized => Reason::GroupNotAuthorized,
            placement::Reason::ReadIncomplete => Reason::ReadIncomplete,
            placement::Reason::Rebalancing => Reason::Rebalancing,
            placement::Reason::NotReady => Reason::NotReady,
            placement::Reason::GroupMissing => Reason::GroupMissing,
            placement::Reason::GroupEmpty => Reason::GroupEmpty,
            placement::Reason::TopicsUnread => Reason::TopicsUnread,
            placement::Reason::ColocatedByChance => Reason::ColocatedByChance,
            placement::Reason::Colocated => Reason::Colocated,
        }
    }
}

impl From<Outcome> for State {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Colocated => State::True,
            Outcome::Refuted => State::False,
            Outcome::Unproven => State::Unknown,
        }
    }
}
