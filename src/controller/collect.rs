//! Claims of groups that are gone. A claim outlives its group for a while, so that `kubectl replace --force` or a
//! restored backup inherits the memory; then it is collected, and the topics are free again. No topic is touched.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kube::api::{Api, DeleteParams, Preconditions};
use kube::runtime::reflector::Store;
use kube::{Resource, ResourceExt};

use super::context::Context;
use super::memory::Subject;
use super::reconcile::WatchedGroup;
use crate::api::{CoPartitionClaim, CoPartitionedTopicGroup};

/// Collects claims whose group is gone, and forgets such groups on the Kafka side.
pub(super) struct Collector {
    pub(super) context: Arc<Context>,
    /// The watched groups, each with the namespace that its watch is bound to (`None`: all).
    pub(super) stores: Vec<(Option<String>, Store<WatchedGroup>)>,
    /// How long a claim outlives its group.
    pub(super) retention: Duration,
    /// Since when each claim is without a group, as seen by this process.
    pub(super) orphans: HashMap<String, Instant>,
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
        let groups: Api<CoPartitionedTopicGroup> =
            Api::namespaced(self.context.client.clone(), &claim.spec.group.namespace);
        let gate = &self.context.gate;
        let group = groups.get_metadata_opt(&claim.spec.group.name);
        match gate.read(group).await {
            Ok(None) => {}
            Ok(Some(_)) => return,
            Err(error) => {
                tracing::warn!(claim = %name, %error, "whether its group is gone could not be read");
                return;
            }
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
            }
            Err(error) => tracing::warn!(claim = %name, %error, "it could not be collected"),
        }
    }
}
