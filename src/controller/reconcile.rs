//! One pass over one group, in its six steps: dereference, validate, observe, decide, act, report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use kube::Resource;
use kube::core::DeserializeGuard;
use kube::runtime::controller::Action;

use super::act::{Basis, act, log};
use super::claims::Told;
use super::connections::{Link, LinkError, Refusal};
use super::context::Context;
use super::error::Error;
use super::locks;
use super::marks;
use super::memory::{Subject, from_claim, from_status};
use super::validate::{Valid, validate};
use crate::api::{ClaimSpec, CoPartitionedTopicGroup, GroupSpec, GroupStatus, GrowthMark};
use crate::kafka::{Cluster, Interest};
use crate::plan::{
    Actions, Decision, Group, Grow, LockStanding, LocksView, Memory, Outcomes, Reason, View,
    awaited_of_referenced, forget,
};

/// A group as the watch delivers it: one that cannot be parsed stops nothing else.
pub(super) type WatchedGroup = DeserializeGuard<CoPartitionedTopicGroup>;

/// How often a group is looked at without any cause, as a safety net. A pass over a converged group asks nobody.
pub(super) const SAFETY_NET: Duration = Duration::from_secs(600);
/// How many times one pass decides and acts before it leaves the rest to the next one.
const ROUNDS: usize = 4;
/// When a pass is repeated that left something open.
const SOON: Duration = Duration::from_secs(1);
/// One pass over one group, as the runtime wants it: boxed, since the compiler cannot follow the lifetimes of a future
/// of this size through the runtime's types.
pub(super) fn reconcile(
    object: Arc<WatchedGroup>,
    context: Arc<Context>,
) -> BoxFuture<'static, Result<Action, Error>> {
    timed(object, context).boxed()
}

/// One pass, and what it took.
async fn timed(object: Arc<WatchedGroup>, context: Arc<Context>) -> Result<Action, Error> {
    let began = Instant::now();
    let metrics = context.metrics.clone();
    let outcome = pass(object, context).await;
    metrics.took(began.elapsed());
    outcome
}

/// One pass over one group.
async fn pass(object: Arc<WatchedGroup>, context: Arc<Context>) -> Result<Action, Error> {
    context.claims.wait_synced().boxed().await;
    context.connections.wait_synced().boxed().await;
    // 1. Dereference.
    let mut pass = Pass::dereference(object, context).boxed().await?;
    // 2. Validate.
    let valid = match pass.validate() {
        Ok(valid) => valid,
        Err(refusal) => return pass.refuse(&refusal).boxed().await,
    };
    // 3. Observe.
    let (cluster, mut view) = match pass.observe(&valid)? {
        Observed::Answer(cluster, view) => (cluster, view),
        Observed::NotYet => return Ok(Action::await_change()),
        Observed::Silence(cluster) => return pass.report_silence(&valid, &cluster).boxed().await,
    };
    pass.observe_locks(&valid.group, &cluster).boxed().await;
    let mut outcomes = Outcomes::default();
    let mut round = 0;
    let settled = loop {
        // 4. Decide. One miss of a recorded topic is no verdict: the next look brings the next pass.
        let conflicts = pass.conflicts(&valid.group, &view);
        let decision = pass.basis(&valid.group, &conflicts).decide(&view);
        if decision.undecided {
            return Ok(Action::await_change());
        }
        round += 1;
        let held = pass
            .remember(&valid.group, &cluster, &decision)
            .boxed()
            .await?;
        if !held && round < ROUNDS {
            continue;
        }
        if let Some((outcomes, again)) = pass.rest(&decision, &outcomes, round) {
            break Settled {
                decision,
                outcomes,
                again,
            };
        }
        // 5. Act, and look again.
        outcomes = pass
            .act(&valid.group, &conflicts, &cluster, &decision)
            .boxed()
            .await?;
        match cluster.view(&pass.subject.key()) {
            Some(fresh) => view = fresh,
            // Created, and no broker shows it yet: the poll will.
            None => {
                break Settled {
                    decision,
                    outcomes,
                    again: SOON,
                };
            }
        }
    };
    // 6. Report.
    let action = pass.report(&valid, &cluster, &settled).boxed().await?;
    pass.context.metrics.pass("Ok");
    pass.context.setbacks.forget(&pass.subject.key());
    Ok(action)
}

/// What one pass looks at.
pub(super) struct Pass {
    pub(super) context: Arc<Context>,
    pub(super) subject: Subject,
    pub(super) object: Arc<WatchedGroup>,
    /// What the claim says by now.
    memory: Memory,
    /// The actions that were carried out last.
    acted: Option<Actions>,
    /// What Kafka shows of ALTER locks.
    locks: LocksView,
    /// Topics whose lock was missing and was put back.
    pub(super) locked_again: Vec<String>,
    /// The status that the pass began with.
    pub(super) old: Option<GroupStatus>,
    /// The way to the group's cluster.
    link: Result<Link, Refusal>,
}

/// What Kafka showed.
enum Observed {
    Answer(Arc<Cluster>, View),
    /// It was not asked long enough to say anything.
    NotYet,
    /// It does not answer.
    Silence(Arc<Cluster>),
}

/// What a pass came to.
pub(super) struct Settled {
    pub(super) decision: Decision,
    pub(super) outcomes: Outcomes,
    /// When to look again without any cause.
    pub(super) again: Duration,
}

/// The way to a group's cluster, or why there is none.
async fn link(
    context: &Context,
    subject: &Subject,
    spec: &GroupSpec,
) -> Result<Result<Link, Refusal>, Error> {
    let group = subject.key();
    let connections = &context.connections;
    let link = connections.link(&group, &subject.namespace, &spec.kafka);
    match link.await {
        Ok(link) => Ok(Ok(link)),
        Err(LinkError::Refused(refusal)) => Ok(Err(refusal)),
        Err(LinkError::Api(source)) => Err(Error::Status {
            what: "reading what the connection refers to",
            group,
            source: Box::new(source),
        }),
    }
}

/// The topics whose locks are of interest.
fn lockable(group: &Group) -> BTreeSet<String> {
    let managed = group.managed().filter(|_| group.alter_lock);
    managed.map(|topic| topic.name.clone()).collect()
}

impl Pass {
    /// Step 1: what the group refers to: its memory and its connection. Once it was looked up it is all in caches.
    async fn dereference(object: Arc<WatchedGroup>, context: Arc<Context>) -> Result<Self, Error> {
        let mut subject = Subject::of(object.meta());
        let mut old = object
            .0
            .as_ref()
            .ok()
            .and_then(|group| group.status.clone());
        let shown = subject.resource_version.as_deref().unwrap_or_default();
        if let Some((status, since)) = context.published.since(&subject.key(), shown) {
            old = Some(status);
            subject.resource_version = Some(since);
        }
        let claim = context
            .claims
            .known(&subject.claim_name(), &context.me.installation);
        let memory = match (&claim, &old) {
            (Some(claim), _) => from_claim(claim),
            (None, Some(status)) => from_status(status),
            (None, None) => Memory::default(),
        };
        let link = match &object.0 {
            Ok(group) => link(&context, &subject, &group.spec).await?,
            Err(invalid) => Err(Refusal {
                reason: Reason::InvalidSpec,
                message: format!(
                    "the resource does not fit this version of the operator: {}; correct it or update the CRD",
                    invalid.error
                ),
            }),
        };
        Ok(Pass {
            context,
            subject,
            object,
            memory,
            acted: None,
            locks: LocksView::Unread,
            locked_again: Vec::new(),
            old,
            link,
        })
    }

    /// Step 2: the spec as a [`Group`] that may use its connection, or why it cannot be one.
    fn validate(&self) -> Result<Valid, Refusal> {
        let Ok(group) = &self.object.0 else {
            return Err(self.link.clone().err().unwrap_or_else(|| Refusal {
                reason: Reason::InvalidSpec,
                message: String::new(),
            }));
        };
        let none = BTreeMap::new();
        let annotations = group.metadata.annotations.as_ref().unwrap_or(&none);
        let mut declared = validate(&group.spec, annotations).map_err(|problems| Refusal {
            reason: Reason::InvalidSpec,
            message: problems.join("; "),
        })?;
        let forgotten = self.context.claims.forgotten(&self.subject.claim_name());
        let forgotten = forgotten.iter().map(|cluster| forget(cluster));
        declared.group.acknowledged.extend(forgotten);
        let link = self.link.as_ref().map_err(Clone::clone)?;
        link.refuse(&self.subject.namespace, &group.spec)?;
        let connections = &self.context.connections;
        connections.note(&self.subject.key(), declared.uses());
        Ok(declared.on(link.settings.clone()))
    }

    /// Step 3: the group's part of the cluster's snapshot.
    fn observe(&self, valid: &Valid) -> Result<Observed, Error> {
        let key = self.subject.key();
        let settings = &valid.settings;
        let cluster = self
            .context
            .kafka
            .cluster_for(&key, settings)
            .map_err(|source| Error::Connect {
                group: key.clone(),
                source,
            })?;
        self.context.kafka.use_only(&key, settings);
        cluster.set_interest(&key, self.interest(&valid.group));
        let health = cluster.health();
        Ok(match cluster.view(&key) {
            _ if !health.reachable && !health.pending => Observed::Silence(cluster),
            Some(view) => Observed::Answer(cluster, view),
            None => Observed::NotYet,
        })
    }

    /// Step 3, of ALTER locks: what was last seen of them, or a first look.
    async fn observe_locks(&mut self, group: &Group, cluster: &Cluster) {
        let topics = lockable(group);
        let mut seen = LocksView::Unread;
        if !topics.is_empty() {
            seen = cluster.locks(&topics);
            if seen == LocksView::Unread {
                seen = cluster.read_locks(&topics).await;
            }
        }
        self.see_locks(seen);
    }

    /// Takes in what was seen of locks. What the connection states of the brokers' setting outdoes what they tell.
    fn see_locks(&mut self, mut seen: LocksView) {
        let stated = self.link.as_ref().ok().and_then(|link| link.allow_everyone);
        if let (
            Some(allows),
            LocksView::Seen {
                denies_by_default, ..
            },
        ) = (stated, &mut seen)
        {
            *denies_by_default = Some(!allows);
        }
        self.locks = seen;
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
            locks: lockable(group),
        }
    }

    /// The Managed topics that another group holds.
    fn conflicts(&self, group: &Group, view: &View) -> BTreeMap<String, String> {
        let managed: Vec<String> = group.managed().map(|topic| topic.name.clone()).collect();
        let claim = self.subject.claim_name();
        self.context
            .claims
            .conflicts(&claim, &view.cluster_id, &managed)
    }

    /// What a decision rests on besides the view.
    fn basis<'a>(&'a self, group: &'a Group, conflicts: &'a BTreeMap<String, String>) -> Basis<'a> {
        Basis {
            group,
            memory: &self.memory,
            me: &self.context.me,
            take_over: &self.context.take_over,
            conflicts,
            locks: &self.locks,
        }
    }

    /// Makes the claim say what was decided, before Kafka is written to. False if another group took one of the topics
    /// meanwhile: the next decision sees the conflict.
    async fn remember(
        &mut self,
        group: &Group,
        cluster: &Cluster,
        decision: &Decision,
    ) -> Result<bool, Error> {
        if self.remembers(decision) {
            let marks = self.marks(cluster, decision).await;
            let claims = &self.context.claims;
            let conflicts = claims
                .record(
                    &self.subject,
                    &decision.memory,
                    &self.told(group, decision),
                    marks,
                )
                .await?;
            if !conflicts.is_empty() {
                return Ok(false);
            }
        }
        self.memory.clone_from(&decision.memory);
        Ok(true)
    }

    /// Whether there is nothing to do now: what is to be said of the last actions, and when to look again.
    fn rest(
        &self,
        decision: &Decision,
        outcomes: &Outcomes,
        round: usize,
    ) -> Option<(Outcomes, Duration)> {
        let key = self.subject.key();
        let attempts = &self.context.attempts;
        if decision.actions.is_empty() {
            attempts.forget(&key);
            let again = self
                .next_mark()
                .map_or(SAFETY_NET, |due| SAFETY_NET.min(due));
            return Some((Outcomes::default(), again));
        }
        // What was done and is decided once more does not show, or Kafka spells it in a way of its own: sending it again and
        // again would not help.
        let again = self.acted.as_ref() == Some(&decision.actions);
        if !outcomes.is_empty() || again {
            return Some((
                outcomes.clone(),
                attempts.note(&key, &decision.actions, outcomes),
            ));
        }
        let pending = attempts.pending(&key, &decision.actions);
        pending.or_else(|| (round >= ROUNDS).then(|| (Outcomes::default(), SOON)))
    }

    /// Step 5: carries out the actions. The claim knows at once which topics are the operator's own creations.
    async fn act(
        &mut self,
        group: &Group,
        conflicts: &BTreeMap<String, String>,
        cluster: &Cluster,
        decision: &Decision,
    ) -> Result<Outcomes, Error> {
        let names: Vec<String> = group
            .topics
            .iter()
            .map(|topic| topic.name.clone())
            .collect();
        let mut acted = act(
            cluster,
            &names,
            &decision.actions,
            self.basis(group, conflicts),
        )
        .await;
        let known = self.claim().map(|claim| claim.locks).unwrap_or_default();
        let here = &decision.cluster_id;
        locks::undo_elsewhere(&self.context, here, &decision.actions, &known, &mut acted).await;
        let at = (&*cluster.id().unwrap_or_default(), &*self.subject.key());
        log(at, &decision.actions, &acted);
        self.acted = Some(decision.actions.clone());
        for topic in &acted.created {
            self.memory.mark_created(topic);
        }
        for lock in &acted.unlocked {
            self.memory.mark_unlocked(lock);
        }
        let again = decision.topics.iter().filter(|judged| {
            judged.lock == LockStanding::Missing { again: true }
                && !acted.outcomes.locks.contains_key(&judged.topic.name)
        });
        self.locked_again
            .extend(again.map(|judged| judged.topic.name.clone()));
        self.see_locks(cluster.locks(&lockable(group)));
        if cluster.view(&self.subject.key()).is_none() {
            self.context
                .claims
                .record(
                    &self.subject,
                    &self.memory,
                    &self.told(group, decision),
                    Vec::new(),
                )
                .await?;
        }
        Ok(acted.outcomes)
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
        let mut marks = marks::settled(cluster, known, self.context.settling_window, now).await;
        marks.extend(marks::noticed(&self.memory, decision, known, now));
        marks.extend(marks::before(cluster, &unmarked, now).await);
        marks
    }

    /// The time until the next growth has settled.
    fn next_mark(&self) -> Option<Duration> {
        let window = self.context.settling_window;
        self.claim()
            .and_then(|claim| marks::next_due(&claim.growth_marks, window, Timestamp::now()))
    }

    /// What the claim says beside the memory.
    fn told(&self, group: &Group, decision: &Decision) -> Told {
        let Ok(link) = &self.link else {
            return Told::default();
        };
        Told {
            aliases: link.aliases.clone(),
            guarded: link.guarded(&self.subject.namespace, &group.topics),
            awaited: awaited_of_referenced(decision),
            connection: link.connection.clone(),
            leads_to: decision.cluster_id.clone(),
        }
    }

    pub(super) fn claim(&self) -> Option<ClaimSpec> {
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
}
