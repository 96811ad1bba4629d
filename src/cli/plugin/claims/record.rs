//! Claims, for programs.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::api::{ClaimedTopic, CoPartitionClaim};

/// The cluster that each `KafkaConnection` leads to, as far as it ever led anywhere.
pub(in crate::cli::plugin) type Clusters = BTreeMap<String, Option<String>>;

/// What is printed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    /// By namespace and name.
    pub(super) claims: Vec<Holder>,
}

/// The claim of one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Holder {
    /// The name of the resource.
    pub(super) claim: String,
    pub(super) namespace: String,
    pub(super) group: String,
    /// The installation of the operator that wrote it.
    pub(super) installation: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cluster_id: Option<String>,
    /// The count that all topics had when they were last seen aligned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recorded_partitions: Option<i32>,
    /// Managed topics: held by this group alone.
    pub(super) holds: Vec<Entry>,
    /// Referenced topics.
    pub(super) references: Vec<Entry>,
    pub(super) locks: Vec<Lock>,
}

/// One topic of a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pub(super) topic: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) topic_id: Option<String>,
    /// The counts that it may have: two while it grows.
    pub(super) counts: Vec<i32>,
    /// Since when, in RFC 3339.
    pub(super) since: String,
}

/// An ALTER lock that the operator set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Lock {
    pub(super) topic: String,
    pub(super) cluster_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) connection: Option<String>,
    /// No connection leads to its cluster any more; absent if connections could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) orphaned: Option<bool>,
}

impl Record {
    /// All claims; without `clusters` nothing is said of orphans.
    pub(super) fn of(claims: &[CoPartitionClaim], clusters: Option<&Clusters>) -> Self {
        let mut claims: Vec<Holder> = claims.iter().map(|it| Holder::of(it, clusters)).collect();
        claims.sort_by(|a, b| (&a.namespace, &a.group).cmp(&(&b.namespace, &b.group)));
        Record { claims }
    }

    /// Keeps what is of this namespace, and of a topic who has it.
    pub(super) fn keep(&mut self, namespace: Option<&str>, topic: Option<&str>) {
        self.claims
            .retain(|claim| namespace.is_none_or(|wanted| claim.namespace == wanted));
        let Some(topic) = topic else { return };
        for claim in &mut self.claims {
            claim.holds.retain(|held| held.topic == topic);
            claim.references.retain(|held| held.topic == topic);
            claim.locks.retain(|lock| lock.topic == topic);
        }
        self.claims.retain(|claim| {
            !(claim.holds.is_empty() && claim.references.is_empty() && claim.locks.is_empty())
        });
    }
}

impl Holder {
    fn of(claim: &CoPartitionClaim, clusters: Option<&Clusters>) -> Self {
        let spec = &claim.spec;
        let topics = |list: &[ClaimedTopic]| -> Vec<Entry> {
            let topics = list.iter().map(|topic| Entry {
                topic: topic.name.clone(),
                topic_id: topic.topic_id.clone(),
                counts: topic.counts.clone(),
                since: topic.since.0.to_string(),
            });
            topics.collect()
        };
        let orphaned = |connection: Option<&String>, cluster_id: &String| {
            let leads = connection.and_then(|name| clusters?.get(name).cloned().flatten());
            clusters.map(|_| leads.as_ref() != Some(cluster_id))
        };
        Holder {
            claim: claim.metadata.name.clone().unwrap_or_default(),
            namespace: spec.group.namespace.clone(),
            group: spec.group.name.clone(),
            installation: spec.installation.clone(),
            cluster_id: spec.cluster_id.clone(),
            recorded_partitions: spec.recorded_partitions,
            holds: topics(&spec.holds),
            references: topics(&spec.references),
            locks: spec
                .locks
                .iter()
                .map(|lock| Lock {
                    topic: lock.topic.clone(),
                    cluster_id: lock.cluster_id.clone(),
                    connection: lock.connection.clone(),
                    orphaned: orphaned(lock.connection.as_ref(), &lock.cluster_id),
                })
                .collect(),
        }
    }
}
