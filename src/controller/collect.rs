//! Claims of groups that are gone. A claim outlives its group for a while, so that `kubectl replace --force` or a
//! restored backup inherits the memory; then its ALTER locks are undone, it is collected, and the topics are free again.
//! Of a topic nothing else is touched.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kube::api::{Api, DeleteParams, Preconditions};
use kube::runtime::reflector::Store;
use kube::{Resource, ResourceExt};

use super::claims::forgotten;
use super::context::Context;
use super::locks::undo_by_connection;
use super::memory::Subject;
use super::reconcile::WatchedGroup;
use crate::api::{AclLock, CoPartitionClaim, CoPartitionedTopicGroup};
use crate::plan::Failure;

/// The pause after locks could not be undone; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Collects claims whose group is gone, and forgets such groups on the Kafka side.
pub(super) struct Collector {
    pub(super) context: Arc<Context>,
    /// The watched groups, each with the namespace that its watch is bound to (`None`: all).
    pub(super) stores: Vec<(Option<String>, Store<WatchedGroup>)>,
    /// How long a claim outlives its group.
    pub(super) retention: Duration,
    /// Since when each claim is without a group, as seen by this process.
    pub(super) orphans: HashMap<String, Instant>,
    /// Claims whose locks could not be undone: how often that was tried, and when it is tried again.
    pub(super) later: HashMap<String, (u32, Instant)>,
    /// The groups that were there at the last look.
    pub(super) known: HashSet<String>,
}

impl Collector {
    /// One look.
    pub(super) async fn look(&mut self) {
        let present: HashSet<String> = self
            .stores
            .iter()
            .flat_map(|(_, store)| store.state())
            .map(|group| Subject::of(group.meta()).key())
            .collect();
        for gone in self.known.difference(&present) {
            self.context.forget(gone);
        }
        let claims: Vec<Arc<CoPartitionClaim>> = self
            .context
            .claims
            .all()
            .into_iter()
            .filter(|claim| self.is_ours(claim))
            .collect();
        self.orphans
            .retain(|name, _| claims.iter().any(|claim| claim.name_any() == *name));
        let orphans = &self.orphans;
        self.later.retain(|name, _| orphans.contains_key(name));
        self.count_orphaned_locks(&claims);
        for claim in claims {
            let group = &claim.spec.group;
            if present.contains(&format!("{}/{}", group.namespace, group.name)) {
                self.orphans.remove(&claim.name_any());
                continue;
            }
            let since = *self
                .orphans
                .entry(claim.name_any())
                .or_insert_with(Instant::now);
            if since.elapsed() >= self.retention {
                self.collect(&claim).await;
            }
        }
        self.known = present;
    }

    /// Ours: written by this installation in this Kubernetes cluster, for a namespace that it watches.
    fn is_ours(&self, claim: &CoPartitionClaim) -> bool {
        let me = &self.context.me;
        claim.spec.installation == me.installation
            && claim.spec.kube_system_uid == me.kube_system_uid
            && self.stores.iter().any(|(namespace, _)| {
                namespace
                    .as_ref()
                    .is_none_or(|namespace| *namespace == claim.spec.group.namespace)
            })
    }

    /// Deletes the claim if the API server itself says that the group does not exist.
    async fn collect(&mut self, claim: &CoPartitionClaim) {
        let name = claim.name_any();
        if let Some((_, next)) = self.later.get(&name)
            && forgotten(claim).is_empty()
            && *next > Instant::now()
        {
            return;
        }
        let groups: Api<CoPartitionedTopicGroup> =
            Api::namespaced(self.context.client.clone(), &claim.spec.group.namespace);
        let gate = Arc::clone(&self.context.gate);
        let group = groups.get_metadata_opt(&claim.spec.group.name);
        match gate.read(group).await {
            Ok(None) => {}
            Ok(Some(_)) => return,
            Err(error) => {
                tracing::warn!(claim = %name, %error, "whether its group is gone could not be read");
                return;
            }
        }
        if !self.undo_locks(claim).await {
            return;
        }
        let claims: Api<CoPartitionClaim> = Api::all(self.context.client.clone());
        let exactly = DeleteParams {
            preconditions: Some(Preconditions {
                uid: claim.uid(),
                resource_version: claim.resource_version(),
            }),
            ..DeleteParams::default()
        };
        match gate.write(claims.delete(&name, &exactly)).await {
            Ok(_) => {
                tracing::info!(claim = %name, "collected: its group is gone");
                self.context.claims.forget(&name);
                self.orphans.remove(&name);
                self.later.remove(&name);
            }
            Err(error) => tracing::warn!(claim = %name, %error, "it could not be collected"),
        }
    }

    /// Takes away the locks of a claim whose group is gone. True if none is left: none that stands, or that could not be
    /// undone and was to be forgotten.
    async fn undo_locks(&mut self, claim: &CoPartitionClaim) -> bool {
        let locks = &claim.spec.locks;
        if locks.is_empty() {
            return true;
        }
        let name = claim.name_any();
        let mut left = Vec::new();
        for (lock, outcome) in undo_by_connection(&self.context, locks).await {
            let (topic, cluster) = (&lock.topic, &lock.cluster_id);
            match outcome {
                Ok(()) => {
                    tracing::info!(claim = %name, topic, cluster, "the ALTER lock is undone: its group is gone");
                }
                Err(_) if forgotten(claim).contains(cluster) => {
                    tracing::warn!(claim = %name, topic, cluster, "the ALTER lock is forgotten, as was asked for");
                }
                Err(
                    Failure::Rejected(words)
                    | Failure::NotAuthorized(words)
                    | Failure::Unsure(words),
                ) => {
                    tracing::warn!(claim = %name, topic, cluster, answer = %words, "the ALTER lock of a group that is gone could not be undone");
                    left.push(lock);
                }
            }
        }
        if left.is_empty() {
            return true;
        }
        let (tries, next) = self
            .later
            .entry(name.clone())
            .or_insert((0, Instant::now()));
        *next = Instant::now()
            + FIRST_PAUSE
                .saturating_mul(1 << (*tries).min(16))
                .min(LONGEST_PAUSE);
        *tries = tries.saturating_add(1);
        if left.len() < locks.len()
            && let Err(error) = self.context.claims.keep_locks(claim, left).await
        {
            tracing::warn!(claim = %name, %error, "which locks are left could not be noted");
        }
        false
    }

    /// Counts the locks that no connection leads to any more.
    fn count_orphaned_locks(&self, claims: &[Arc<CoPartitionClaim>]) {
        let leads = |lock: &AclLock| {
            let connection = lock.connection.as_deref();
            let cluster = connection.and_then(|name| self.context.connections.cluster_of(name));
            cluster.as_ref() == Some(&lock.cluster_id)
        };
        let locks = claims.iter().flat_map(|claim| &claim.spec.locks);
        let orphaned = locks.filter(|lock| !leads(lock)).count();
        self.context.metrics.orphaned_locks(orphaned);
    }
}
