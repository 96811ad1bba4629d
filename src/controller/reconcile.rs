//! One pass over one group, in its six steps: dereference, validate, observe, act, report.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use kube::Resource;
use kube::api::Api;
use kube::core::{DeserializeGuard, DynamicObject};
use kube::runtime::controller::Action;

use super::act::{Basis, act};
use super::claims::ClaimError;
use super::context::{API_TIMEOUT, Context};
use super::events;
use super::marks;
use super::memory::{Subject, from_claim, from_status};
use super::status;
use super::validate::{Valid, validate};
use crate::api::{ClaimSpec, CoPartitionedTopicGroup, GroupStatus, GrowthMark, PAUSED_ANNOTATION};
use crate::kafka::{self, Cluster, ConnectionSettings, Health, Interest};
use crate::plan::{
    Actions, Condition, ConditionType, Decision, Failure, Group, Grow, Memory, Outcomes, Reason,
    State, View, refused, report,
};

/// A group as the watch delivers it: one that cannot be parsed stops nothing else.
pub(super) type WatchedGroup = DeserializeGuard<CoPartitionedTopicGroup>;

/// How often a group is looked at without any cause, as a safety net. A pass over a converged group asks nobody.
const SAFETY_NET: Duration = Duration::from_secs(600);
/// How many times one pass decides and acts before it leaves the rest to the next one.
const ROUNDS: usize = 4;
/// When a pass is repeated that left something open.
const SOON: Duration = Duration::from_secs(1);
/// Why a pass failed. It is tried again with growing pauses.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// A claim.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// A status.
    #[error("writing the status of {group}: {source}")]
    Status {
        /// The group.
        group: String,
        /// What was said.
        #[source]
        source: Box<kube::Error>,
    },
    /// No answer in time.
    #[error("the API server did not answer within {}s while {what}", API_TIMEOUT.as_secs())]
    Slow {
        /// What was asked.
        what: String,
    },
    /// A Kafka client could not be made.
    #[error("connecting to Kafka for {group}: {source}")]
    Connect {
        /// The group.
        group: String,
        /// What was said.
        #[source]
        source: kafka::Error,
    },
}

impl Error {
    /// A bounded word for metrics.
    pub(super) fn category(&self) -> &'static str {
        match self {
            Error::Claim(_) => "Claim",
            Error::Status { .. } => "Status",
            Error::Slow { .. } => "Slow",
            Error::Connect { .. } => "Connect",
        }
    }
}

/// One pass over one group, as the runtime wants it: boxed, since the compiler cannot follow the lifetimes of a future
/// of this size through the runtime's types.
pub(super) fn reconcile(
    object: Arc<WatchedGroup>,
    context: Arc<Context>,
) -> BoxFuture<'static, Result<Action, Error>> {
    pass(object, context).boxed()
}

/// One pass over one group.
async fn pass(object: Arc<WatchedGroup>, context: Arc<Context>) -> Result<Action, Error> {
    context.claims.wait_synced().boxed().await;
    let pass = Pass::dereference(object, context);
    let valid = match pass.validate() {
        Ok(valid) => valid,
        Err(refusal) => return pass.refuse(&refusal).boxed().await,
    };
    let (cluster, view) = match pass.observe(&valid)? {
        Observed::Answer(cluster, view) => (cluster, view),
        Observed::NotYet => return Ok(Action::await_change()),
        Observed::Silence(health) => return pass.report_silence(&valid, &health).boxed().await,
    };
    let Some(settled) = pass.decide_and_act(&valid, &cluster, view).boxed().await? else {
        return Ok(Action::await_change());
    };
    let action = pass.report(&valid, &settled).boxed().await?;
    pass.context.metrics.pass("Ok");
    pass.context.setbacks.forget(&pass.subject.key());
    Ok(action)
}

/// What one pass looks at.
struct Pass {
    context: Arc<Context>,
    subject: Subject,
    object: Arc<WatchedGroup>,
    memory: Memory,
    old: Option<GroupStatus>,
}

/// What Kafka showed.
enum Observed {
    Answer(Arc<Cluster>, View),
    /// It was not asked long enough to say anything.
    NotYet,
    /// It does not answer.
    Silence(Health),
}

/// What a pass came to.
struct Settled {
    decision: Decision,
    outcomes: Outcomes,
    again: Duration,
}

impl Pass {
    /// Step 1: what the group refers to, here its memory. It is all in caches.
    fn dereference(object: Arc<WatchedGroup>, context: Arc<Context>) -> Self {
        let subject = Subject::of(object.meta());
        let old = object
            .0
            .as_ref()
            .ok()
            .and_then(|group| group.status.clone());
        let claim = context
            .claims
            .known(&subject.claim_name(), &context.me.installation);
        let memory = match (&claim, &old) {
            (Some(claim), _) => from_claim(claim),
            (None, Some(status)) => from_status(status),
            (None, None) => Memory::default(),
        };
        Pass {
            context,
            subject,
            object,
            memory,
            old,
        }
    }

    /// Step 2: the spec as a [`Group`], or why it cannot be one.
    fn validate(&self) -> Result<Valid, String> {
        match &self.object.0 {
            Ok(group) => validate(
                &group.spec,
                group
                    .metadata
                    .annotations
                    .as_ref()
                    .unwrap_or(&BTreeMap::new()),
            )
            .map_err(|problems| problems.join("; ")),
            Err(invalid) => Err(format!(
                "the resource does not fit this version of the operator: {}; correct it or update the CRD",
                invalid.error
            )),
        }
    }

    /// Step 3: the group's part of the cluster's snapshot.
    fn observe(&self, valid: &Valid) -> Result<Observed, Error> {
        let key = self.subject.key();
        let settings = ConnectionSettings::new(valid.bootstrap_servers.iter().cloned());
        let cluster = self
            .context
            .kafka
            .cluster(&settings)
            .map_err(|source| Error::Connect {
                group: key.clone(),
                source,
            })?;
        self.context.kafka.use_only(&key, &settings);
        cluster.set_interest(&key, self.interest(&valid.group));
        let health = cluster.health();
        Ok(match cluster.view(&key) {
            _ if !health.reachable && !health.pending => Observed::Silence(health),
            Some(view) => Observed::Answer(cluster, view),
            None => Observed::NotYet,
        })
    }

    /// Which topics are watched, and the config of which: declared config is compared, and of topics that would have
    /// to grow it is said whether they are compacted.
    fn interest(&self, group: &Group) -> Interest {
        let behind = |name: &str| {
            let seen = self
                .old
                .as_ref()
                .and_then(|old| old.topics.iter().find(|topic| topic.name == name));
            seen.and_then(|topic| topic.partitions)
                .is_some_and(|seen| Some(seen) < group.partitions)
        };
        Interest {
            topics: group
                .topics
                .iter()
                .map(|topic| topic.name.clone())
                .collect(),
            configs: group
                .topics
                .iter()
                .filter(|topic| !topic.config.is_empty() || (topic.managed && behind(&topic.name)))
                .map(|topic| topic.name.clone())
                .collect(),
        }
    }

    /// Steps 4 and 5, until there is nothing left to do: remember, act, look again. `None` if a recorded topic
    /// is missing for the first time: one look is no verdict.
    async fn decide_and_act(
        &self,
        valid: &Valid,
        cluster: &Cluster,
        mut view: View,
    ) -> Result<Option<Settled>, Error> {
        let group = &valid.group;
        let key = self.subject.key();
        let names: Vec<String> = group
            .topics
            .iter()
            .map(|topic| topic.name.clone())
            .collect();
        let managed: Vec<String> = group.managed().map(|topic| topic.name.clone()).collect();
        let mut memory = self.memory.clone();
        let mut outcomes = Outcomes::default();
        for round in 1.. {
            let conflicts = self.context.claims.conflicts(
                &self.subject.claim_name(),
                &view.cluster_id,
                &managed,
            );
            let basis = Basis {
                group,
                memory: &memory,
                me: &self.context.me,
                take_over: &self.context.take_over,
                conflicts: &conflicts,
            };
            let decision = basis.decide(&view);
            if decision.undecided {
                return Ok(None);
            }
            let marks = self.marks(cluster, &decision).await;
            // The claim says it before Kafka is written to. A topic that another group took meanwhile is a conflict,
            // which the next round sees.
            if self.remembers(&decision)
                && !self
                    .context
                    .claims
                    .record(&self.subject, &decision.memory, marks)
                    .await?
                    .is_empty()
                && round < ROUNDS
            {
                continue;
            }
            let basis = Basis {
                memory: &decision.memory,
                ..basis
            };
            if decision.actions.is_empty() {
                self.context.attempts.forget(&key);
                let again = self
                    .next_mark()
                    .map_or(SAFETY_NET, |due| SAFETY_NET.min(due));
                return Ok(Some(Settled {
                    decision,
                    outcomes: Outcomes::default(),
                    again,
                }));
            }
            if !outcomes.is_empty() {
                let again = self
                    .context
                    .attempts
                    .note(&key, &decision.actions, &outcomes);
                return Ok(Some(Settled {
                    decision,
                    outcomes,
                    again,
                }));
            }
            if let Some((last, left)) = self.context.attempts.pending(&key, &decision.actions) {
                return Ok(Some(Settled {
                    decision,
                    outcomes: last,
                    again: left,
                }));
            }
            if round >= ROUNDS {
                return Ok(Some(Settled {
                    decision,
                    outcomes,
                    again: SOON,
                }));
            }
            let acted = act(cluster, &names, &decision.actions, basis).await;
            self.log(&decision.actions, &acted.outcomes);
            memory.clone_from(&decision.memory);
            acted
                .created
                .iter()
                .for_each(|topic| memory.mark_created(topic));
            outcomes = acted.outcomes;
            let Some(fresh) = cluster.view(&key) else {
                // Created, and no broker shows it yet: the poll will. The claim says that it is ours.
                self.context
                    .claims
                    .record(&self.subject, &memory, Vec::new())
                    .await?;
                return Ok(Some(Settled {
                    decision,
                    outcomes,
                    again: SOON,
                }));
            };
            view = fresh;
        }
        Ok(None)
    }

    /// The growth marks that the claim shall take in now: the first ones of growths that were just decided, the second
    /// ones of growths that have settled.
    async fn marks(&self, cluster: &Cluster, decision: &Decision) -> Vec<GrowthMark> {
        let claim = self.claim();
        let known = claim
            .as_ref()
            .map(|claim| claim.growth_marks.as_slice())
            .unwrap_or_default();
        let marked = |grow: &Grow| {
            known.iter().any(|mark| {
                mark.topic == grow.topic && mark.topic_id == grow.id && mark.to == grow.to
            })
        };
        let unmarked: Vec<Grow> = decision
            .actions
            .growths
            .iter()
            .filter(|grow| !marked(grow))
            .cloned()
            .collect();
        let now = Timestamp::now();
        let mut marks = marks::settled(cluster, known, now).await;
        marks.extend(marks::before(cluster, &unmarked, now).await);
        marks
    }

    /// The time until the next growth has settled.
    fn next_mark(&self) -> Option<Duration> {
        self.claim()
            .and_then(|claim| marks::next_due(&claim.growth_marks, Timestamp::now()))
    }

    fn claim(&self) -> Option<ClaimSpec> {
        self.context
            .claims
            .known(&self.subject.claim_name(), &self.context.me.installation)
    }

    /// Whether the claim shall say what was decided. A claim that is not ours is left alone, and a new group that waits
    /// for a contested topic claims nothing.
    fn remembers(&self, decision: &Decision) -> bool {
        match decision.refusal.as_ref().map(|refusal| refusal.reason) {
            None => true,
            Some(Reason::TopicConflict) => self.memory.owner.is_some(),
            Some(_) => false,
        }
    }

    /// Step 6: one status write, if it differs, and Events for what changed.
    async fn report(&self, valid: &Valid, settled: &Settled) -> Result<Action, Error> {
        let said = report(&valid.group, &settled.decision, &settled.outcomes);
        let reachable = Condition::new(
            ConditionType::KafkaReachable,
            State::True,
            Reason::Reachable,
            format!("the cluster {} answers", settled.decision.cluster_id),
        );
        let new = status::status(
            &said,
            reachable,
            self.subject.generation,
            valid.group.observe,
            self.old.as_ref(),
            Timestamp::now(),
        );
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
        self.publish(new).await?;
        Ok(Action::requeue(jittered(settled.again, &self.subject.uid)))
    }

    /// Step 6 for a group that is not accepted: what was known before stays readable.
    async fn refuse(&self, problem: &str) -> Result<Action, Error> {
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
        let said = refused(Reason::InvalidSpec, State::False, problem, paused);
        let reachable = Condition::new(
            ConditionType::KafkaReachable,
            State::Unknown,
            Reason::Pending,
            "not asked while Accepted is False (InvalidSpec)",
        );
        let new = status::status(
            &said,
            reachable,
            self.subject.generation,
            false,
            Some(&old),
            Timestamp::now(),
        );
        self.context.kafka.forget(&self.subject.key());
        let new = GroupStatus {
            conditions: new.conditions,
            observed_generation: new.observed_generation,
            ..old.clone()
        };
        self.publish_against(&old, new).await?;
        Ok(Action::await_change())
    }

    /// Step 6 while Kafka does not answer: the verdicts on this generation stand.
    async fn report_silence(&self, valid: &Valid, health: &Health) -> Result<Action, Error> {
        let old = self.old.clone().unwrap_or_default();
        let (reason, words) = match &health.error {
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
        };
        // The broker's words carry addresses and times that change with each try: they go to the log, not into the
        // status, or each try would write it.
        tracing::warn!(group = %self.subject.key(), reason = reason.as_str(), error = %words, "Kafka does not answer");
        let message = format!(
            "wanted an answer from {}, seen: {}. Check the address, the network and the brokers. Verdicts are those of the \
             last answer; it is tried again and heals by itself",
            valid.bootstrap_servers.join(", "),
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
        self.publish(new).await?;
        Ok(Action::requeue(jittered(SAFETY_NET, &self.subject.uid)))
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
        let written = tokio::time::timeout(API_TIMEOUT, write)
            .await
            .map_err(|_| Error::Slow {
                what: format!("writing the status of {group}"),
            })?;
        match written {
            // The object changed or went meanwhile: the watch brings the next pass.
            Err(kube::Error::Api(answer)) if answer.code == 409 || answer.code == 404 => {
                return Ok(());
            }
            other => other.map_err(|source| Error::Status {
                group,
                source: Box::new(source),
            })?,
        }
        self.context.metrics.status_written();
        events::changes(&self.context, &self.object, old, &new).await;
        Ok(())
    }

    /// The status of a resource that could not be parsed.
    async fn live_status(&self) -> Result<GroupStatus, Error> {
        let group = self.subject.key();
        let what = || format!("reading {group}");
        let resource = kube::api::ApiResource::erase::<CoPartitionedTopicGroup>(&());
        let api: Api<DynamicObject> = Api::namespaced_with(
            self.context.client.clone(),
            &self.subject.namespace,
            &resource,
        );
        let read = tokio::time::timeout(API_TIMEOUT, api.get_opt(&self.subject.name))
            .await
            .map_err(|_| Error::Slow { what: what() })?;
        let live = read.map_err(|source| Error::Status {
            group: group.clone(),
            source: Box::new(source),
        })?;
        let status = live.and_then(|live| live.data.get("status").cloned());
        Ok(status
            .and_then(|status| serde_json::from_value(status).ok())
            .unwrap_or_default())
    }

    fn log(&self, actions: &Actions, outcomes: &Outcomes) {
        let group = self.subject.key();
        for create in &actions.creates {
            said(
                &group,
                &create.topic,
                "create",
                create.partitions,
                outcomes.creates.get(&create.topic),
            );
        }
        for grow in &actions.growths {
            said(
                &group,
                &grow.topic,
                "grow",
                grow.to,
                outcomes.growths.get(&grow.topic),
            );
        }
        for alter in &actions.configs {
            let keys: Vec<&str> = alter.set.keys().map(String::as_str).collect();
            said(
                &group,
                &alter.topic,
                "configure",
                keys.join(","),
                outcomes.configs.get(&alter.topic),
            );
        }
    }
}

/// Logs what came of one action on one topic.
fn said(
    group: &str,
    topic: &str,
    action: &str,
    wanted: impl std::fmt::Display,
    failure: Option<&Failure>,
) {
    match failure {
        None => tracing::info!(group, topic, action, %wanted, "written to Kafka"),
        Some(Failure::Rejected(words) | Failure::NotAuthorized(words) | Failure::Unsure(words)) => {
            tracing::warn!(group, topic, action, %wanted, answer = %words, "Kafka did not do it");
        }
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
