//! Step 6 of a pass: what is said of a group, in each of the ways in which a pass can end.

use std::time::Duration;

use jiff::Timestamp;
use kube::Resource;
use kube::api::Api;
use kube::core::DynamicObject;
use kube::runtime::controller::Action;

use super::connections::Refusal;
use super::error::Error;
use super::reconcile::{Pass, SAFETY_NET, Settled, WatchedGroup};
use super::validate::Valid;
use super::verification::Found;
use super::{events, status};
use crate::api::{CoPartitionedTopicGroup, GroupStatus, PAUSED_ANNOTATION};
use crate::kafka::{self, Cluster, Health};
use crate::plan::{
    Condition, ConditionType, Decision, Proofs, Reason, Report, State, explain_auto_created,
    may_be_auto_created, refused, report_with,
};

/// Says of a wrong count where it probably comes from. Kafka is asked for its default only then, and every ten minutes at
/// most.
pub(super) async fn explain(said: &mut Report, decision: &Decision, cluster: &Cluster) {
    if may_be_auto_created(decision)
        && let Some(default) = cluster.default_partitions().await
    {
        explain_auto_created(said, decision, default);
    }
}

impl Pass {
    /// Step 6: one status write, if it differs, and Events for what changed.
    pub(super) async fn report(
        &self,
        valid: &Valid,
        cluster: &Cluster,
        settled: &Settled,
    ) -> Result<Action, Error> {
        let proof = self.proof(valid, &settled.decision);
        let placement = self.placement(valid, &settled.decision);
        let mut said = report_with(
            &valid.group,
            &settled.decision,
            &settled.outcomes,
            Proofs {
                records: proof.as_ref().map(|proof| &proof.evidence),
                consumers: placement.as_ref(),
            },
        );
        explain(&mut said, &settled.decision, cluster).await;
        let reachable = reachable(&settled.decision.cluster_id);
        let mut new = status::status(
            &said,
            reachable,
            self.subject.generation,
            valid.group.observe,
            self.old.as_ref(),
            Timestamp::now(),
        );
        new.verification = proof.map(Found::status);
        if let Some(left) = self.turn(cluster, &new) {
            return Ok(Action::requeue(left));
        }
        if let Some(refusal) = &settled.decision.refusal
            && refusal.reason == Reason::ManagedByOther
            && let Some(again) = self.leave_to_its_owner(&new).await
        {
            return Ok(again);
        }
        for judged in &settled.decision.topics {
            if let (Some(was), Some(live)) = (&judged.replaced, judged.live()) {
                events::topic_replaced(
                    &self.context,
                    &self.object,
                    &judged.topic.name,
                    was,
                    &live.id,
                )
                .await;
            }
        }
        if !self.locked_again.is_empty() {
            events::locked_again(&self.context, &self.object, &self.locked_again).await;
        }
        self.publish(new).await?;
        Ok(Action::requeue(jittered(settled.again, &self.subject.uid)))
    }

    /// Step 6 for a group that is not accepted: what was known before stays readable.
    pub(super) async fn refuse(&self, refusal: &Refusal) -> Result<Action, Error> {
        let old = match &self.old {
            Some(old) => old.clone(),
            None => self.live_status().await?,
        };
        let paused = self
            .object
            .meta()
            .annotations
            .as_ref()
            .and_then(|all| all.get(PAUSED_ANNOTATION))
            .is_some_and(|value| value == "true");
        let said = refused(refusal.reason, State::False, &refusal.message, paused);
        let new = status::status(
            &said,
            not_asked(refusal.reason),
            self.subject.generation,
            false,
            Some(&old),
            Timestamp::now(),
        );
        self.context.kafka.forget(&self.subject.key());
        self.context.verifier.forget(&self.subject.key());
        self.context.placement.forget(&self.subject.key());
        let new = GroupStatus {
            conditions: new.conditions,
            observed_generation: new.observed_generation,
            ..old.clone()
        };
        self.publish_against(&old, new).await?;
        Ok(Action::await_change())
    }

    /// Step 6 while Kafka does not answer: the verdicts on this generation stand.
    pub(super) async fn report_silence(
        &self,
        valid: &Valid,
        cluster: &Cluster,
    ) -> Result<Action, Error> {
        self.context.verifier.suspend(&self.subject.key());
        self.context.placement.suspend(&self.subject.key());
        self.context.connections.suspect(&self.subject.key());
        let health = cluster.health();
        let old = self.old.clone().unwrap_or_default();
        let (reason, words) = silence(&health);
        let message = format!(
            "wanted an answer from {}, seen: {}. Check the address, the network and the brokers. Verdicts are those of the \
             last answer; it is tried again and heals by itself",
            valid.settings.bootstrap_servers.join(", "),
            reason.doc().trim_end_matches('.').replacen(
                |_: char| true,
                &reason.doc()[..1].to_lowercase(),
                1
            )
        );
        let reachable =
            Condition::new(ConditionType::KafkaReachable, State::False, reason, message);
        let new = status::kept(
            &old,
            &reachable,
            self.subject.generation,
            valid.group.observe,
            &status::paused(valid.group.paused),
            Timestamp::now(),
        );
        if let Some(left) = self.turn(cluster, &new) {
            return Ok(Action::requeue(left));
        }
        if new != old {
            // The broker's words carry addresses and times that change with each try: they go to the log, not into the
            // status, or each try would write it.
            tracing::warn!(cluster = cluster.id(), group = %self.subject.key(), reason = reason.as_str(), error = %words, "Kafka does not answer");
        }
        self.publish(new).await?;
        Ok(Action::requeue(jittered(SAFETY_NET, &self.subject.uid)))
    }

    /// What to do about a group that another installation manages: two that write one status in turn would never end. An
    /// Event says so at once; the status does if the other one does not answer a change of the spec, because it is gone.
    async fn leave_to_its_owner(&self, new: &GroupStatus) -> Option<Action> {
        let is_ours = |status: &GroupStatus| {
            status::find(status, ConditionType::Accepted)
                .is_some_and(|last| last.reason == Reason::ManagedByOther.as_str())
        };
        let old = self.old.as_ref();
        if old.is_some_and(is_ours) {
            return None;
        }
        let answered = old.is_some_and(|old| {
            old.observed_generation.is_some() && old.observed_generation == self.subject.generation
        });
        let neglected = &self.context.neglected;
        let (left, first) = neglected.note(&self.subject.key(), self.subject.generation);
        if first && let Some(accepted) = status::find(new, ConditionType::Accepted) {
            events::managed_by_other(&self.context, &self.object, &accepted.message).await;
        }
        match answered {
            true => Some(Action::requeue(jittered(SAFETY_NET, &self.subject.uid))),
            false if !left.is_zero() => Some(Action::requeue(left)),
            false => None,
        }
    }

    /// How much longer the new status should wait, because all groups of the cluster have the same to say.
    fn turn(&self, cluster: &Cluster, new: &GroupStatus) -> Option<Duration> {
        if !self.only_reachability_changes(new) {
            return None;
        }
        cluster.turn(&self.subject.key())
    }

    /// Whether the new status says no more than that Kafka is out of reach, or answers again.
    fn only_reachability_changes(&self, new: &GroupStatus) -> bool {
        let Some(old) = &self.old else { return false };
        let rest = |status: &GroupStatus| GroupStatus {
            conditions: status
                .conditions
                .iter()
                .filter(|condition| condition.type_ != ConditionType::KafkaReachable.as_str())
                .cloned()
                .collect(),
            ..status.clone()
        };
        old != new && rest(old) == rest(new)
    }

    async fn publish(&self, new: GroupStatus) -> Result<(), Error> {
        let old = self.old.clone().unwrap_or_default();
        self.publish_against(&old, new).await
    }

    async fn publish_against(&self, old: &GroupStatus, new: GroupStatus) -> Result<(), Error> {
        if *old == new {
            return Ok(());
        }
        let group = self.subject.key();
        let api: Api<WatchedGroup> =
            Api::namespaced(self.context.client.clone(), &self.subject.namespace);
        let write = status::write(
            &api,
            &self.subject.name,
            self.subject.resource_version.as_deref(),
            &new,
        );
        let written = match self.context.gate.write(write).await {
            // The object changed or went meanwhile: the watch brings the next pass.
            Err(error) if matches!(error.code(), Some(404 | 409)) => return Ok(()),
            written => written.map_err(|source| Error::Status {
                what: "writing the status",
                group: group.clone(),
                source: Box::new(source),
            })?,
        };
        let on = self.subject.resource_version.as_deref();
        if let (Some(on), Some(got)) = (on, written.meta().resource_version.as_deref()) {
            self.context.published.note(&group, on, got, new.clone());
        }
        self.context.metrics.status_written();
        events::changes(&self.context, &self.object, old, &new).await;
        Ok(())
    }

    /// The status of a resource that could not be parsed.
    async fn live_status(&self) -> Result<GroupStatus, Error> {
        let resource = kube::api::ApiResource::erase::<CoPartitionedTopicGroup>(&());
        let api: Api<DynamicObject> = Api::namespaced_with(
            self.context.client.clone(),
            &self.subject.namespace,
            &resource,
        );
        let read = self.context.gate.read(api.get_opt(&self.subject.name));
        let live = read.await.map_err(|source| Error::Status {
            what: "reading the status",
            group: self.subject.key(),
            source: Box::new(source),
        })?;
        let status = live.and_then(|live| live.data.get("status").cloned());
        Ok(status
            .and_then(|status| serde_json::from_value(status).ok())
            .unwrap_or_default())
    }
}

/// What is said of a cluster that answers.
pub(super) fn reachable(cluster_id: &str) -> Condition {
    Condition::new(
        ConditionType::KafkaReachable,
        State::True,
        Reason::Reachable,
        format!("the cluster {cluster_id} answers"),
    )
}

/// What is said of the cluster of a group that is not valid.
pub(super) fn not_asked(because: Reason) -> Condition {
    Condition::new(
        ConditionType::KafkaReachable,
        State::Unknown,
        Reason::Pending,
        format!("not asked while Accepted is False ({because})"),
    )
}

/// Why a cluster does not answer, and the words of who said so.
pub(super) fn silence(health: &Health) -> (Reason, String) {
    match &health.error {
        Some(kafka::Error::AuthenticationFailed(words)) => {
            (Reason::AuthenticationFailed, words.clone())
        }
        Some(kafka::Error::CertificateRejected(words)) => {
            (Reason::CertificateRejected, words.clone())
        }
        Some(kafka::Error::NotAuthorized(words)) => (Reason::NotAuthorized, words.clone()),
        Some(kafka::Error::Timeout(words)) => (Reason::Timeout, words.clone()),
        Some(error) => (Reason::Unreachable, error.to_string()),
        None => (Reason::Unreachable, "no answer".to_owned()),
    }
}

/// Spreads requeues over a tenth of their time, the same for one group each time, so that many groups do not come back
/// at once.
fn jittered(time: Duration, uid: &str) -> Duration {
    let spread = uid.bytes().fold(0_u32, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u32::from(byte))
    }) % 100;
    time + time * spread / 1000
}
