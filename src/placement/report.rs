//! From the verdicts on consumer groups to one word on all of them.

use std::fmt;

use super::asked::{Asked, Counted, Why};
use super::verdict::{Habit, Verdict};

/// What the judge says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The groups, by id.
    pub groups: Vec<GroupReport>,
    /// Topics that are read by different groups and by none together.
    pub apart: Option<Apart>,
}

/// The verdict on one group, or on a prefix by which none was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupReport {
    /// Which.
    pub of: Asked,
    /// Whether it was asked for by its id, and not only found by a prefix. What was only found counts for less: a prefix also
    /// finds groups that are left over or read something else.
    pub named: bool,
    /// The verdict.
    pub verdict: Verdict,
}

/// Two topics that two groups read, each one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apart {
    /// A topic and a group that reads it.
    pub a: (String, String),
    /// Another one and a group that reads that.
    pub b: (String, String),
}

/// The status of the condition `ConsumersColocated`, from the worst to the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// False.
    Refuted,
    /// Unknown.
    Unproven,
    /// True.
    Colocated,
}

/// The reason of the condition `ConsumersColocated`; of two with the same outcome the first is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Same-numbered partitions are read by two members.
    SplitMembers,
    /// Kafka Streams reads the topics in different sub-topologies.
    SeparateSubTopologies,
    /// Different consumer groups read the topics.
    SeparateGroups,
    /// A group reads topics of unequal counts.
    UnequalCounts,
    /// A kind of group, or a way to its broker, that is not known here.
    UnsupportedGroup,
    /// The principal may not describe it.
    GroupNotAuthorized,
    /// It could not be read.
    ReadIncomplete,
    /// Members come or go.
    Rebalancing,
    /// A Kafka Streams application cannot run.
    NotReady,
    /// It does not exist.
    GroupMissing,
    /// It has no members.
    GroupEmpty,
    /// Some topics or partitions are not read.
    TopicsUnread,
    /// Together, but not by the assignor.
    ColocatedByChance,
    /// Together.
    Colocated,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Verdict {
    /// What it means for the condition.
    pub fn says(&self) -> (Outcome, Reason) {
        use Outcome::{Colocated, Refuted, Unproven};
        match self {
            Self::Colocated { habit, alone, .. } => match habit {
                Habit::Parts => (Colocated, Reason::ColocatedByChance),
                Habit::Unknown if *alone => (Colocated, Reason::ColocatedByChance),
                Habit::Keeps | Habit::Unknown => (Colocated, Reason::Colocated),
            },
            Self::Split(_) => (Refuted, Reason::SplitMembers),
            Self::SeparateSubTopologies { .. } => (Refuted, Reason::SeparateSubTopologies),
            Self::CannotRun { .. } => (Refuted, Reason::UnequalCounts),
            Self::UnequalCounts { .. } => (Unproven, Reason::UnequalCounts),
            Self::Partial { .. } => (Unproven, Reason::TopicsUnread),
            Self::NotReady(_) => (Unproven, Reason::NotReady),
            Self::Empty { .. } => (Unproven, Reason::GroupEmpty),
            Self::Missing { .. } => (Unproven, Reason::GroupMissing),
            Self::Rebalancing => (Unproven, Reason::Rebalancing),
            Self::Unsupported(_) | Self::Unread(Why::Unsupported, _) => {
                (Unproven, Reason::UnsupportedGroup)
            }
            Self::Unread(Why::NotAuthorized, _) => (Unproven, Reason::GroupNotAuthorized),
            Self::Unread(Why::Failed, _) => (Unproven, Reason::ReadIncomplete),
        }
    }

    fn is_whole(&self) -> bool {
        !matches!(self, Self::Partial { .. } | Self::Empty { .. })
    }

    fn reads(&self) -> &[String] {
        match self {
            Self::Partial { reads, .. } => reads,
            _ => &[],
        }
    }
}

impl Report {
    pub(super) fn new(topics: &[Counted], mut groups: Vec<GroupReport>) -> Self {
        // By a prefix one also finds what is left over and who reads something else, beside the one that is meant.
        let whole = groups.iter().any(|group| group.verdict.is_whole());
        let reading = groups.iter().any(|group| !group.verdict.reads().is_empty());
        if whole {
            groups.retain(|group| group.named || group.verdict.is_whole());
        } else if reading {
            groups.retain(|group| group.named || !group.verdict.reads().is_empty());
        }
        let apart = apart(topics, &groups);
        Self { groups, apart }
    }

    /// The status and its reason: the worst of all groups.
    pub fn says(&self) -> (Outcome, Reason) {
        if self.apart.is_some() {
            return (Outcome::Refuted, Reason::SeparateGroups);
        }
        let says = self.groups.iter().map(|group| group.verdict.says());
        says.min()
            .unwrap_or((Outcome::Unproven, Reason::GroupMissing))
    }
}

/// Two topics that groups read, and none of them both. It is only told where all groups are known to read a part.
fn apart(topics: &[Counted], groups: &[GroupReport]) -> Option<Apart> {
    let readers = |topic: &str| -> Vec<&GroupReport> {
        let reads = |group: &&GroupReport| group.verdict.reads().iter().any(|it| it == topic);
        groups.iter().filter(reads).collect()
    };
    if groups.iter().any(|group| group.verdict.reads().is_empty()) {
        return None;
    }
    let read: Vec<(&str, Vec<&GroupReport>)> = topics
        .iter()
        .map(|topic| (topic.name.as_str(), readers(&topic.name)))
        .filter(|(_, readers)| !readers.is_empty())
        .collect();
    let id = |readers: &[&GroupReport]| match readers.first().map(|group| &group.of) {
        Some(Asked::Id(id)) => id.clone(),
        _ => String::new(),
    };
    read.iter().enumerate().find_map(|(at, a)| {
        let alone = |b: &&(&str, Vec<&GroupReport>)| b.1.iter().all(|group| !a.1.contains(group));
        let b = read.iter().skip(at + 1).find(alone)?;
        Some(Apart {
            a: (a.0.to_owned(), id(&a.1)),
            b: (b.0.to_owned(), id(&b.1)),
        })
    })
}
