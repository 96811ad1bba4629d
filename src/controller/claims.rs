//! Claims: the durable memory of each group, who holds which topic, and the write that makes both true.
//!
//! ```text
//! CoPartitionClaim watch ──> Claims (cache, holders) <── reserve ── reconcile
//!                                     │                               │
//!                                     └── seen ── wait until the ── write
//!                                                 watch returns it
//! ```
//! A topic counts as held once the claim that lists it came back through the watch and no other claim listed it
//! earlier (`holders` keeps the order). Of two operators that write at the same moment, one sees the other's claim
//! first and takes its own back. After a restart the order is: topics that were seen first, then (since, uid).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, PostParams, Preconditions};
use tokio::sync::watch;

pub(super) use super::claim_cache::ClaimEvent;
use super::claim_cache::State;
use super::gate::{Gate, GateError};
use super::marks::merged;
use super::memory::{Subject, holds, to_claim};
use crate::api::{
    AclLock, Alias, ClaimSpec, CoPartitionClaim, FORGET_ANNOTATION, GUARD_LABEL, GrowthMark,
};
use crate::plan::Memory;

/// How long a written claim may take to come back through the watch.
const COMES_BACK_WITHIN: Duration = Duration::from_secs(10);

/// All claims of the Kubernetes cluster, as the watch shows them.
pub(super) struct Claims {
    api: Api<CoPartitionClaim>,
    gate: Arc<Gate>,
    state: Mutex<State>,
    /// Counts up with each event, so that a writer can wait for its own.
    version: watch::Sender<u64>,
}

/// Why a claim could not be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum ClaimError {
    /// The API server refused, could not be reached or asked, or did not answer.
    #[error("writing the claim {name}: {source}")]
    Write {
        /// The claim.
        name: String,
        /// What was said.
        #[source]
        source: Box<GateError>,
    },
    /// It was written and did not come back in time.
    #[error("the claim {name} was written and did not come back through the watch within {}s", COMES_BACK_WITHIN.as_secs())]
    NotSeen {
        /// The claim.
        name: String,
    },
}

/// What a claim says beside the memory of its group: what admission policies go by, and the way to undo its locks.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// The names under which other operators know the cluster.
    pub(super) aliases: Vec<Alias>,
    /// The topics to which policies deny other counts even if they are only referenced.
    pub(super) guarded: BTreeSet<String>,
    /// The count that referenced topics may have besides their own: the one that the group waits for.
    pub(super) awaited: Option<i32>,
    /// The `KafkaConnection`; none for a connection that the group writes out.
    pub(super) connection: Option<String>,
    /// The cluster to which it leads: another one than the claim's, as long as nobody has acknowledged that.
    pub(super) leads_to: String,
}

impl Told {
    fn write(&self, spec: &mut ClaimSpec, base: Option<&ClaimSpec>) {
        // Names of another cluster would guard the wrong one.
        let elsewhere = spec
            .cluster_id
            .as_ref()
            .is_some_and(|id| *id != self.leads_to);
        spec.aliases = match base {
            Some(base) if elsewhere => base.aliases.clone(),
            _ => self.aliases.clone(),
        };
        for lock in &mut spec.locks {
            // The way there now: an earlier one may go.
            if self.connection.is_some() && lock.cluster_id == self.leads_to {
                lock.connection.clone_from(&self.connection);
            }
        }
        for topic in &mut spec.references {
            topic.guarded = self.guarded.contains(&topic.name);
            // The first one is what is remembered, so a topic that was never seen gets none.
            if let (Some(awaited), [live]) = (self.awaited, topic.counts.as_slice())
                && awaited > *live
            {
                topic.counts.push(awaited);
            }
        }
    }
}

impl Claims {
    /// An empty cache that writes through `gate`.
    pub(super) fn new(api: Api<CoPartitionClaim>, gate: Arc<Gate>) -> Self {
        Claims {
            api,
            gate,
            state: Mutex::default(),
            version: watch::Sender::new(0),
        }
    }

    /// Whether all claims were read once. Nothing is written to Kafka before.
    pub(super) fn synced(&self) -> bool {
        self.lock().synced
    }

    /// Waits until all claims were read once.
    pub(super) async fn wait_synced(&self) {
        let mut version = self.version.subscribe();
        while !self.synced() {
            if version.changed().await.is_err() {
                return;
            }
        }
    }

    /// The claim of that name.
    pub(super) fn get(&self, name: &str) -> Option<Arc<CoPartitionClaim>> {
        self.lock().claims.get(name).cloned()
    }

    /// The clusters whose locks somebody wants the claim to forget.
    pub(super) fn forgotten(&self, name: &str) -> BTreeSet<String> {
        self.get(name)
            .map(|claim| forgotten(&claim))
            .unwrap_or_default()
    }

    /// All claims.
    pub(super) fn all(&self) -> Vec<Arc<CoPartitionClaim>> {
        self.lock().claims.values().cloned().collect()
    }

    /// What this process knows of the claim: what it wrote itself, else what the watch shows.
    pub(super) fn known(&self, name: &str, installation: &str) -> Option<ClaimSpec> {
        let state = self.lock();
        let shown = state.claims.get(name);
        match shown {
            // Another installation took over: its word counts.
            Some(shown) if shown.spec.installation != installation => Some(shown.spec.clone()),
            _ => state
                .written
                .get(name)
                .cloned()
                .or_else(|| shown.map(|shown| shown.spec.clone())),
        }
    }

    /// Takes in an event of the watch. Returns the groups whose claims or conflicts it may concern, as (namespace, name).
    pub(super) fn apply(&self, event: ClaimEvent) -> BTreeSet<(String, String)> {
        let touched = self.lock().apply(event);
        self.version.send_modify(|version| *version += 1);
        touched
    }

    /// The topics of `topics` that another claim holds on the cluster, each with that group as `namespace/name`.
    pub(super) fn conflicts(
        &self,
        claim: &str,
        cluster_id: &str,
        topics: &[String],
    ) -> BTreeMap<String, String> {
        let mut state = self.lock();
        state.conflicts(claim, cluster_id, topics)
    }

    /// Makes the claim say what `memory` says, with `marks` in place of older ones of the same topics: reserves the
    /// topics, writes, and waits until the watch returns it. Returns the conflicts instead if another group holds one
    /// of them; then nothing is written, or it is taken back.
    ///
    /// # Errors
    /// [`ClaimError`]; the reservation of topics that the claim does not list yet is given back.
    pub(super) async fn record(
        &self,
        subject: &Subject,
        memory: &Memory,
        told: &Told,
        marks: Vec<GrowthMark>,
    ) -> Result<BTreeMap<String, String>, ClaimError> {
        let name = subject.claim_name();
        let (spec, current, added) = {
            let mut state = self.lock();
            let current = state.claims.get(&name).cloned();
            let base = state
                .written
                .get(&name)
                .or(current.as_ref().map(|claim| &claim.spec));
            let mut spec = to_claim(subject, memory, base, jiff::Timestamp::now());
            told.write(&mut spec, base);
            spec.growth_marks = merged(&spec.growth_marks, marks, |topic| {
                memory.topics.contains_key(topic)
            });
            if current.as_ref().is_some_and(|claim| claim.spec == spec) {
                state.written.insert(name, spec);
                return Ok(BTreeMap::new());
            }
            let mut added = None;
            if let Some(cluster_id) = &spec.cluster_id {
                // What the claim lists already is not asked for again: it keeps what it held.
                let listed = current
                    .as_ref()
                    .map(|claim| holds(&claim.spec))
                    .unwrap_or_default();
                let topics: Vec<String> = holds(&spec)
                    .difference(&listed)
                    .map(|(_, topic)| topic.clone())
                    .collect();
                let conflicts = state.conflicts(&name, cluster_id, &topics);
                if !conflicts.is_empty() {
                    return Ok(conflicts);
                }
                state.holders.reserve(&name, cluster_id, &topics);
                added = Some((cluster_id.clone(), topics));
            }
            (spec, current, added)
        };
        let result = self.write(&name, &spec, current.as_deref()).await;
        if let Err(error) = result {
            self.lock().holders.give_back(&name);
            return Err(error);
        }
        let Some((cluster_id, topics)) = added else {
            return Ok(BTreeMap::new());
        };
        let conflicts = self.conflicts(&name, &cluster_id, &topics);
        if !conflicts.is_empty() {
            self.take_back(&name, current.as_deref()).await?;
        }
        Ok(conflicts)
    }

    /// Makes the claim of a group that is gone list only these locks.
    ///
    /// # Errors
    /// [`ClaimError`].
    pub(super) async fn keep_locks(
        &self,
        claim: &CoPartitionClaim,
        locks: Vec<AclLock>,
    ) -> Result<(), ClaimError> {
        let spec = ClaimSpec {
            locks,
            ..claim.spec.clone()
        };
        self.write(&claim.name_any(), &spec, Some(claim)).await
    }

    /// Undoes a write that another operator's claim came before: back to what the claim said, or away with a new one.
    async fn take_back(
        &self,
        name: &str,
        before: Option<&CoPartitionClaim>,
    ) -> Result<(), ClaimError> {
        let Some(written) = self.get(name) else {
            return Ok(());
        };
        if let Some(before) = before {
            return self.write(name, &before.spec, Some(&written)).await;
        }
        let exactly = DeleteParams {
            preconditions: Some(Preconditions {
                uid: written.uid(),
                resource_version: written.resource_version(),
            }),
            ..DeleteParams::default()
        };
        self.forget(name);
        let deleted = self.gate.write(self.api.delete(name, &exactly)).await;
        deleted.map(drop).map_err(|source| failed(name, source))
    }

    async fn write(
        &self,
        name: &str,
        spec: &ClaimSpec,
        current: Option<&CoPartitionClaim>,
    ) -> Result<(), ClaimError> {
        let mut claim = CoPartitionClaim::new(name, spec.clone());
        claim.metadata.labels = Some(labels(spec));
        let params = PostParams {
            field_manager: Some("copartition-operator".to_owned()),
            ..PostParams::default()
        };
        let version = self.version.subscribe();
        let written = async {
            match current {
                None => self.api.create(&params, &claim).await,
                Some(current) => {
                    claim
                        .metadata
                        .resource_version
                        .clone_from(&current.metadata.resource_version);
                    self.api.replace(name, &params, &claim).await
                }
            }
        };
        let written = self.gate.write(written.boxed()).await;
        written.map_err(|source| failed(name, source))?;
        self.lock().written.insert(name.to_owned(), spec.clone());
        tokio::time::timeout(COMES_BACK_WITHIN, self.comes_back(name, spec, version))
            .await
            .map_err(|_| ClaimError::NotSeen {
                name: name.to_owned(),
            })
    }

    /// Waits until the watch shows what was written.
    async fn comes_back(&self, name: &str, spec: &ClaimSpec, mut version: watch::Receiver<u64>) {
        while self.get(name).is_none_or(|claim| claim.spec != *spec) {
            if version.changed().await.is_err() {
                return;
            }
        }
    }

    /// Drops what this process remembers of a claim that it deleted.
    pub(super) fn forget(&self, name: &str) {
        self.lock().written.remove(name);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held leaves at worst a conflict that the next event corrects.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The clusters whose locks somebody wants a claim to forget.
pub(super) fn forgotten(claim: &CoPartitionClaim) -> BTreeSet<String> {
    let ids = claim.annotations().get(FORGET_ANNOTATION);
    let ids = ids.map_or("", String::as_str).split(',').map(str::trim);
    ids.filter(|id| !id.is_empty())
        .map(ToOwned::to_owned)
        .collect()
}

/// Admission policies bind to claims with the label [`GUARD_LABEL`] only: what they cost grows with the claims that they
/// are given, and without an alias they have nothing to guard.
fn labels(spec: &ClaimSpec) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::from([(
        "app.kubernetes.io/managed-by".to_owned(),
        "copartition-operator".to_owned(),
    )]);
    if !spec.aliases.is_empty() {
        labels.insert(GUARD_LABEL.to_owned(), "true".to_owned());
    }
    labels
}

fn failed(name: &str, source: GateError) -> ClaimError {
    ClaimError::Write {
        name: name.to_owned(),
        source: Box::new(source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::AliasKind;

    #[test]
    fn a_claim_keeps_the_names_of_its_own_cluster() {
        let alias = |name: &str| Alias {
            kind: AliasKind::Strimzi,
            namespace: None,
            name: name.to_owned(),
        };
        let claim = |cluster: &str, name: &str| ClaimSpec {
            cluster_id: Some(cluster.to_owned()),
            aliases: vec![alias(name)],
            ..ClaimSpec::default()
        };
        let told = Told {
            aliases: vec![alias("new")],
            leads_to: "B".to_owned(),
            ..Told::default()
        };
        let written = |cluster: &str| {
            let mut spec = claim(cluster, "");
            told.write(&mut spec, Some(&claim(cluster, "old")));
            spec.aliases
        };
        assert_eq!(written("A"), [alias("old")]);
        assert_eq!(written("B"), [alias("new")]);
    }
}
