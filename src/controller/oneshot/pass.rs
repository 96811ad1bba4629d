//! One group of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::super::act::{Acted, Basis, act, log, rehearse};
use super::super::memory::{Subject, from_status};
use super::super::report::{not_asked, reachable, silence};
use super::super::status;
use super::super::validate::{Valid, validate, without_kubernetes};
use super::Done;
use super::step::{Step, begun, finish};
use crate::api::{CoPartitionedTopicGroup, GroupStatus};
use crate::kafka::{self, ClientProperties, Cluster, Clusters, Health, Interest};
use crate::plan::{
    Actions, Condition, ConditionType, Decision, Exit, LocksView, Memory, Outcomes, Owner, Reason,
    Report, State, TRIED_AGAIN, TopicReading, View, explain_auto_created, may_be_auto_created,
    predict, refused, report, summarise,
};

/// The pause between two looks for what is awaited.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How many times a group is acted on before the rest is left to the next run: somebody else is at work on it.
const ROUNDS: usize = 8;
/// How long a part that could not be read is asked for again before that is the verdict.
const READABLE_WITHIN: Duration = Duration::from_secs(5);

/// One group of a run, and how far it has come: whatever ends the run finds it here.
pub(super) struct Pass {
    subject: Subject,
    valid: Result<Valid, String>,
    cluster: Option<Arc<Cluster>>,
    /// Why Kafka does not answer.
    silent: Option<(Reason, String)>,
    old: Option<GroupStatus>,
    memory: Memory,
    /// A run has no installation and no claim: it is nobody to the operators.
    me: Owner,
    steps: Vec<Step>,
    /// The last decision, and what failed before it.
    last: Option<(Decision, Outcomes)>,
    finished: bool,
    /// The brokers' default count, where it explains something.
    default_partitions: Option<i32>,
}

impl Pass {
    /// Validates, and says what is to be read.
    pub(super) fn begin(
        group: CoPartitionedTopicGroup,
        kafka: &Clusters,
        properties: Option<&ClientProperties>,
        request_timeout: Duration,
    ) -> Self {
        let mut pass = Self {
            subject: Subject::of(&group.metadata),
            valid: valid(&group, properties, request_timeout),
            cluster: None,
            silent: None,
            memory: group.status.as_ref().map(from_status).unwrap_or_default(),
            old: group.status,
            me: Owner {
                installation: String::new(),
                kube_system_uid: String::new(),
            },
            steps: Vec::new(),
            last: None,
            finished: false,
            default_partitions: None,
        };
        let connected = pass.valid.as_ref().ok().map(|valid| {
            let topics: BTreeSet<String> = valid.names().into_iter().collect();
            let interest = Interest {
                configs: topics.clone(),
                topics,
                ..Interest::default()
            };
            let cluster = kafka.cluster(&valid.settings)?;
            cluster.set_interest(&pass.key(), interest);
            Ok::<_, kafka::Error>(cluster)
        });
        match connected {
            Some(Ok(cluster)) => pass.cluster = Some(cluster),
            Some(Err(error)) => {
                pass.silent = Some((Reason::Unreachable, error.to_string()));
                pass.finished = true;
            }
            None => pass.finished = true,
        }
        pass
    }

    /// `namespace/name`.
    pub(super) fn key(&self) -> String {
        self.subject.key()
    }

    /// Waits until the group's part of the snapshot is complete, or its cluster is given up.
    pub(super) async fn observe(&mut self) {
        let Some(cluster) = self.cluster.clone() else {
            return;
        };
        while cluster.view(&self.key()).is_none() {
            let health = cluster.health();
            if !health.reachable {
                self.give_up(&health);
                return;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn give_up(&mut self, health: &Health) {
        self.silent = Some(silence(health));
        self.finished = true;
    }

    /// The topics that the group manages, with their cluster. To be called when it was observed.
    pub(super) fn managed(&self) -> Vec<(String, String)> {
        let view = self.cluster.as_ref().and_then(|it| it.view(&self.key()));
        let (Some(view), Ok(valid)) = (view, &self.valid) else {
            return Vec::new();
        };
        valid
            .group
            .managed()
            .map(|topic| (view.cluster_id.clone(), topic.name.clone()))
            .collect()
    }

    /// Decides, acts and looks again, until nothing is left to do or something failed.
    pub(super) async fn work(&mut self, conflicts: BTreeMap<String, String>, dry_run: bool) {
        let (Some(cluster), Ok(valid)) = (self.cluster.clone(), self.valid.clone()) else {
            return;
        };
        if self.finished {
            return;
        }
        let readable_until = Instant::now() + READABLE_WITHIN;
        let mut foretold: Option<View> = None;
        let mut awaited: BTreeMap<String, i32> = BTreeMap::new();
        let mut outcomes = Outcomes::default();
        let mut rounds = 0;
        loop {
            let view = match foretold.take() {
                Some(view) => view,
                None => self.look(&cluster, &awaited).await,
            };
            let decision = self.basis(&valid, &conflicts).decide(&view);
            if decision.undecided {
                // The next poll confirms or denies that a topic is gone.
                tokio::time::sleep(LOOK_EVERY).await;
                continue;
            }
            self.memory.clone_from(&decision.memory);
            let nothing_to_do = decision.actions.is_empty();
            let spent = !outcomes.is_empty() || rounds >= ROUNDS;
            if nothing_to_do {
                outcomes = Outcomes::default();
            }
            self.last = Some((decision.clone(), outcomes.clone()));
            // What a dry run foretold is not to be read anew.
            let may_reread = (!dry_run || rounds == 0) && Instant::now() < readable_until;
            if nothing_to_do && may_reread && self.is_unread(&valid) {
                tokio::time::sleep(LOOK_EVERY * 10).await;
                // What failed again shows in the snapshot, which is all that the next look needs.
                let _ = cluster.reread(&valid.names(), true, true).await;
                continue;
            }
            if nothing_to_do || spent {
                break;
            }
            rounds += 1;
            let begin = self.steps.len();
            self.steps.extend(begun(&valid.group, &decision));
            let acted = if dry_run {
                rehearse(&cluster, &decision.actions).await
            } else {
                let basis = self.basis(&valid, &conflicts);
                let acted = act(&cluster, &valid.names(), &decision.actions, basis).await;
                log(
                    (&cluster.id().unwrap_or_default(), &self.key()),
                    &decision.actions,
                    &acted,
                );
                acted
            };
            finish(&mut self.steps[begin..], &acted, dry_run);
            for topic in &acted.created {
                self.memory.mark_created(topic);
            }
            if dry_run {
                foretold = Some(predict(&view, &carried_out(decision.actions, &acted)));
            } else {
                awaited.extend(acted.created.into_iter().map(|topic| (topic, 1)));
                let grown = acted.grown.into_iter();
                awaited.extend(grown.map(|grow| (grow.topic, grow.to)));
            }
            outcomes = acted.outcomes;
        }
        if let Some((decision, _)) = &self.last
            && may_be_auto_created(decision)
        {
            self.default_partitions = cluster.default_partitions().await;
        }
        self.finished = true;
    }

    /// The snapshot, once it shows what this run did: at least so many partitions of these topics. Before that, the same
    /// would be asked for once more, and refused.
    async fn look(&self, cluster: &Cluster, awaited: &BTreeMap<String, i32>) -> View {
        loop {
            if let Some(view) = cluster.view(&self.key()) {
                let behind = |(topic, count): (&String, &i32)| match view.topics.get(topic) {
                    Some(seen) => match &seen.reading {
                        TopicReading::Present(live) => live.partitions < *count,
                        TopicReading::Missing => true,
                        TopicReading::NotAuthorized | TopicReading::Failed(_) => false,
                    },
                    None => true,
                };
                if !awaited.iter().any(behind) {
                    return view;
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn basis<'a>(&'a self, valid: &'a Valid, conflicts: &'a BTreeMap<String, String>) -> Basis<'a> {
        const NOBODY: &BTreeSet<String> = &BTreeSet::new();
        Basis {
            group: &valid.group,
            memory: &self.memory,
            me: &self.me,
            take_over: NOBODY,
            conflicts,
            locks: &LocksView::Unread,
        }
    }

    /// Whether a verdict is open because something could not be read.
    fn is_unread(&self, valid: &Valid) -> bool {
        let open = |condition: &Condition| {
            let kind = condition.kind;
            condition.state == State::Unknown
                && matches!(
                    condition.reason,
                    Reason::Pending | Reason::OffsetsUnreadable | Reason::TopicNotAuthorized
                )
                && (kind == ConditionType::PartitionsAligned
                    || kind == ConditionType::TopicConfigsApplied)
        };
        self.last.as_ref().is_some_and(|(decision, outcomes)| {
            let report = report(&valid.group, decision, outcomes);
            report.conditions.iter().any(open)
        })
    }

    /// Says what became of the group. `cut_off` is why the run ended, if it did not by itself.
    pub(super) fn end(self, cut_off: Option<&(Reason, String)>) -> Done {
        let (said, reachable) = self.said();
        let (observe, paused, servers) = match &self.valid {
            Ok(valid) => (
                valid.group.observe,
                valid.group.paused,
                valid.settings.bootstrap_servers.clone(),
            ),
            Err(_) => (false, false, Vec::new()),
        };
        let cut_off = cut_off.filter(|_| !self.finished).map(|(reason, why)| {
            let answered = self.last.is_some()
                || (self.cluster.as_ref()).is_some_and(|it| it.view(&self.key()).is_some());
            let unanswered = if answered {
                String::new()
            } else {
                format!("; {} had not answered", servers.join(", "))
            };
            (*reason, format!("{why}{unanswered}"))
        });
        let mut conditions = said.conditions.clone();
        conditions.push(reachable.clone());
        let (exit, blamed) = Exit::of(&conditions, paused);
        let ready = summarise(&conditions, observe).into_iter().next();
        let (reason, message) = match (&cut_off, blamed.or(ready.as_ref())) {
            (Some((reason, why)), _) => (*reason, why.clone()),
            (None, Some(condition)) => (condition.reason, condition.message.clone()),
            (None, None) => (Reason::Pending, String::new()),
        };
        Done {
            bootstrap_servers: servers,
            plan: self.steps,
            status: status::status(
                &said,
                reachable,
                self.subject.generation,
                observe,
                self.old.as_ref(),
                Timestamp::now(),
            ),
            exit: if cut_off.is_some() {
                Exit::Failed
            } else {
                exit
            },
            reason,
            message,
            cut_off: cut_off.map(|(_, why)| why),
            namespace: self.subject.namespace,
            name: self.subject.name,
        }
    }

    /// The report, and KafkaReachable.
    fn said(&self) -> (Report, Condition) {
        let kind = ConditionType::KafkaReachable;
        let valid = match &self.valid {
            Ok(valid) => valid,
            Err(problem) => {
                return (
                    refused(Reason::InvalidSpec, State::False, problem, false),
                    not_asked(Reason::InvalidSpec),
                );
            }
        };
        let Some((decision, outcomes)) = &self.last else {
            let said = refused(
                Reason::ClusterUnknown,
                State::Unknown,
                "Kafka did not answer, so nothing was judged",
                valid.group.paused,
            );
            let reachable = match &self.silent {
                Some((reason, words)) => Condition::new(
                    kind,
                    State::False,
                    *reason,
                    format!(
                        "wanted an answer from {}, seen: {words}. Check the address, the network and the brokers",
                        valid.settings.bootstrap_servers.join(", ")
                    ),
                ),
                None => Condition::new(
                    kind,
                    State::Unknown,
                    Reason::Pending,
                    "the run ended before it was judged",
                ),
            };
            return (said, reachable);
        };
        let mut said = report(&valid.group, decision, outcomes);
        if let Some(default) = self.default_partitions {
            explain_auto_created(&mut said, decision, default);
        }
        for condition in &mut said.conditions {
            condition.message = condition.message.replace(TRIED_AGAIN, "; then run again");
        }
        for topic in &mut said.topics {
            // A dry run foretells topics that have no id yet, and whose replication factor the broker chooses.
            topic.id = topic.id.take().filter(|id| !id.is_empty());
            topic.replication_factor = topic.replication_factor.filter(|factor| *factor > 0);
        }
        (said, reachable(&decision.cluster_id))
    }
}

/// The actions that a rehearsal found nothing against.
fn carried_out(actions: Actions, acted: &Acted) -> Actions {
    Actions {
        creates: actions
            .creates
            .into_iter()
            .filter(|create| acted.created.contains(&create.topic))
            .collect(),
        growths: acted.grown.clone(),
        configs: actions
            .configs
            .into_iter()
            .filter(|alter| !acted.outcomes.configs.contains_key(&alter.topic))
            .collect(),
        ..Actions::default()
    }
}

/// The spec and the way to its cluster, which a run has to find without Kubernetes.
fn valid(
    group: &CoPartitionedTopicGroup,
    properties: Option<&ClientProperties>,
    request_timeout: Duration,
) -> Result<Valid, String> {
    let annotations = group.metadata.annotations.clone().unwrap_or_default();
    let settings = without_kubernetes(&group.spec.kafka, properties);
    match (validate(&group.spec, &annotations), settings) {
        (Ok(mut declared), Ok(settings)) => {
            // A lock is remembered before it is set, and a run like this has no memory.
            declared.group.alter_lock = false;
            Ok(declared.on(settings.with_request_timeout(request_timeout)))
        }
        (declared, settings) => {
            let problems = [declared.err(), settings.err()];
            Err(problems
                .into_iter()
                .flatten()
                .flatten()
                .collect::<Vec<_>>()
                .join("; "))
        }
    }
}
