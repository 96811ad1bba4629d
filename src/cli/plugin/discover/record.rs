//! The sets with what is to be said of each.

use serde::Serialize;

use super::cluster::{Declared, Group};
use super::read::Seen;
use crate::placement::Needed;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) cluster_id: String,
    pub(super) sets: Vec<Set>,
}

/// Topics that are read together.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Set {
    pub(super) topics: Vec<Topic>,
    pub(super) needed_by: Vec<By>,
    /// The count that all of them have.
    pub(super) partitions: Option<i32>,
    /// The group that has them all, as `namespace/name`.
    pub(super) covered_by: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Topic {
    pub(super) name: String,
    pub(super) partitions: Option<i32>,
    /// Why there is no count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
    /// Who else owns it, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) owner: Option<String>,
    /// Whether a manifest may have it managed.
    #[serde(skip)]
    pub(super) free: bool,
}

/// An application that needs the set.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct By {
    pub(super) application: String,
    pub(super) sub_topology: String,
    /// Whether it has members.
    pub(super) running: bool,
}

impl Record {
    /// `declared` is `None` where Kubernetes could not be asked.
    pub(super) fn of(seen: &Seen, declared: Option<&Declared>) -> Self {
        Self {
            cluster_id: seen.cluster_id.clone(),
            sets: seen
                .sets
                .iter()
                .map(|set| Set::of(set, seen, declared))
                .collect(),
        }
    }
}

impl Set {
    fn of(set: &Needed, seen: &Seen, declared: Option<&Declared>) -> Self {
        // One that was never seen on any cluster may be meant for this one.
        let here = |group: &&Group| {
            group
                .cluster_id
                .as_ref()
                .is_none_or(|it| *it == seen.cluster_id)
        };
        let groups: Vec<&Group> = declared
            .map(|it| it.groups.iter().filter(here).collect())
            .unwrap_or_default();
        let has_all = |group: &&&Group| set.topics.iter().all(|it| group.topics.contains(it));
        let topics: Vec<Topic> = set
            .topics
            .iter()
            .map(|name| Topic::of(name, seen, declared, &groups))
            .collect();
        let first = topics.first().and_then(|topic| topic.partitions);
        let equal = topics.iter().all(|topic| topic.partitions == first);
        let by = set.by.iter().map(|(application, sub_topology)| By {
            application: application.clone(),
            sub_topology: sub_topology.clone(),
            running: !seen.stopped.contains(application),
        });
        Self {
            needed_by: by.collect(),
            partitions: first.filter(|_| equal),
            covered_by: groups.iter().find(has_all).map(|group| group.name.clone()),
            topics,
        }
    }

    /// Whether there is nothing to do about it.
    pub(super) fn is_fine(&self) -> bool {
        self.covered_by.is_some() && self.partitions.is_some()
    }

    /// Whether a manifest can be written for it as it is.
    pub(super) fn wants_manifest(&self) -> bool {
        self.covered_by.is_none() && self.partitions.is_some()
    }
}

impl Topic {
    fn of(name: &String, seen: &Seen, declared: Option<&Declared>, groups: &[&Group]) -> Self {
        let count = seen.counts.get(name);
        let holder = groups.iter().find(|group| group.managed.contains(name));
        let holder = holder.map(|group| format!("CoPartitionedTopicGroup {}", group.name));
        let owner = holder.or_else(|| declared?.owned.get(name).cloned());
        Self {
            name: name.clone(),
            partitions: count.and_then(|it| it.as_ref().ok().copied()),
            problem: count.and_then(|it| it.as_ref().err().cloned()),
            free: declared.is_some() && owner.is_none(),
            owner,
        }
    }
}
