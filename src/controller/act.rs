//! Step 5, act: the actions of a decision are carried out, one outcome a topic. Nothing here deletes a topic.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::locks;
use crate::kafka::{self, Cluster, ConfigChange, Growth, NewTopic, TopicError};
use crate::plan::{
    Actions, Alter, Decision, Failure, Group, Grow, Input, Lock, LocksView, Memory, Outcomes,
    Owner, View, confirmed, decide,
};

/// How long written changes may take to show in the metadata of the broker that is asked. A broker that creates a
/// thousand topics at once takes tens of seconds.
const SHOWS_WITHIN: Duration = Duration::from_secs(60);
/// How long set config may take to show. Without it the same change would only be sent once more.
const CONFIG_SHOWS_WITHIN: Duration = Duration::from_secs(3);
/// The pause between two looks for it.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How the log calls an ALTER lock.
const LOCK: &str = "DENY ALTER";

/// What a decision rests on besides the view, so that it can be made again on a fresh one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Basis<'a> {
    /// What the spec wants.
    pub(super) group: &'a Group,
    /// What the claim says by now.
    pub(super) memory: &'a Memory,
    /// This installation.
    pub(super) me: &'a Owner,
    /// Installations whose claims this one takes over.
    pub(super) take_over: &'a BTreeSet<String>,
    /// Topics that another group holds.
    pub(super) conflicts: &'a BTreeMap<String, String>,
    /// What Kafka shows of ALTER locks.
    pub(super) locks: &'a LocksView,
}

impl Basis<'_> {
    /// The decision on a view.
    pub(super) fn decide(&self, view: &View) -> Decision {
        decide(&Input {
            group: self.group,
            memory: self.memory,
            view,
            me: self.me,
            take_over: self.take_over,
            conflicts: self.conflicts,
            locks: self.locks,
        })
    }
}

/// What came of some actions.
#[derive(Debug, Default)]
pub(super) struct Acted {
    /// What failed.
    pub(super) outcomes: Outcomes,
    /// Topics that were created by this call, and not by anybody else.
    pub(super) created: Vec<String>,
    /// Growths that were carried out; the others were held back or failed.
    pub(super) grown: Vec<Grow>,
    /// Topics whose locks were lifted for a growth, and put back.
    pub(super) lifted: Vec<String>,
    /// Locks that were taken away for good.
    pub(super) unlocked: Vec<Lock>,
}

/// Carries out `actions` on the topics `names`. `basis` decides again on a fresh view: a growth goes out only if it
/// is still decided the same right before the request, since nothing takes it back.
pub(super) async fn act(
    cluster: &Cluster,
    names: &[String],
    actions: &Actions,
    basis: Basis<'_>,
) -> Acted {
    let mut acted = Acted::default();
    locks::undo(cluster, actions, &mut acted).await;
    create(cluster, actions, &mut acted).await;
    acted.lifted = locks::lift(cluster, actions, basis.memory, &mut acted.outcomes).await;
    acted.grown = grow(cluster, names, actions, basis, &mut acted.outcomes).await;
    locks::set(cluster, &acted.lifted, &mut acted.outcomes).await;
    configure(cluster, actions, &mut acted).await;
    locks::set(cluster, &actions.locks, &mut acted.outcomes).await;
    wait_until_shown(cluster, names, actions, &acted, basis).await;
    if acted.created.len() < actions.creates.len() || acted.grown.len() < actions.growths.len() {
        // Somebody else was faster, or Kafka refused: what was decided on is not what is there. Should it not be readable
        // now, the next poll reads it.
        let _ = cluster.reread(names, true, false).await;
    }
    acted
}

/// Asks Kafka about each of `actions` whether it would do; nothing is changed.
pub(super) async fn rehearse(cluster: &Cluster, actions: &Actions) -> Acted {
    let mut acted = Acted::default();
    create_topics(cluster, actions, true, &mut acted).await;
    acted.grown = permitted(cluster, &actions.growths, &mut acted.outcomes).await;
    let checked = cluster.client().check_configs(&changes(actions)).await;
    note(checked, &mut acted.outcomes.configs);
    acted
}

async fn create(cluster: &Cluster, actions: &Actions, acted: &mut Acted) {
    create_topics(cluster, actions, false, acted).await;
    if !acted.created.is_empty() {
        cluster.expect_topics(&acted.created);
    }
}

async fn create_topics(
    cluster: &Cluster,
    actions: &Actions,
    validate_only: bool,
    acted: &mut Acted,
) {
    let topics: Vec<NewTopic> = actions
        .creates
        .iter()
        .map(|create| NewTopic {
            name: create.topic.clone(),
            partitions: create.partitions,
            replication_factor: create.replication_factor,
            config: create.config.clone(),
        })
        .collect();
    let created = cluster.client().create_topics(&topics, validate_only).await;
    for (topic, outcome) in created {
        match outcome {
            Ok(()) => acted.created.push(topic),
            // Somebody was faster: the next look adopts it as it is.
            Err(TopicError::AlreadyExists) => {}
            Err(error) => {
                acted.outcomes.creates.insert(topic, failure(error));
            }
        }
    }
}

/// Grows in one request what is still to be grown. Returns what was grown.
async fn grow(
    cluster: &Cluster,
    names: &[String],
    actions: &Actions,
    basis: Basis<'_>,
    outcomes: &mut Outcomes,
) -> Vec<Grow> {
    let mut growths = permitted(cluster, &actions.growths, outcomes).await;
    if growths.is_empty() {
        return growths;
    }
    match cluster.reread(names, true, false).await {
        Ok(view) => {
            // What changed meanwhile is decided anew in the next round.
            growths = confirmed(&growths, &basis.decide(&view).actions.growths);
            if growths.is_empty() {
                return growths;
            }
        }
        Err(error) => {
            for grow in &growths {
                let unsure = Failure::Unsure(error.to_string());
                outcomes.growths.insert(grow.topic.clone(), unsure);
            }
            growths.clear();
            return growths;
        }
    }
    let grown = cluster
        .client()
        .create_partitions(&requests(&growths), false)
        .await;
    note(grown, &mut outcomes.growths);
    growths.retain(|grow| !outcomes.growths.contains_key(&grow.topic));
    cluster.expect_growth(&requests(&growths));
    growths
}

/// The growths that Kafka would carry out, as far as it can tell before.
async fn permitted(cluster: &Cluster, growths: &[Grow], outcomes: &mut Outcomes) -> Vec<Grow> {
    let validated = cluster
        .client()
        .create_partitions(&requests(growths), true)
        .await;
    note(validated, &mut outcomes.growths);
    // Equal stays equal: what would be refused for one topic is not done to the others with its count.
    let held_back: BTreeSet<i32> = growths
        .iter()
        .filter(|grow| outcomes.growths.contains_key(&grow.topic))
        .map(|grow| grow.from)
        .collect();
    growths
        .iter()
        .filter(|grow| !held_back.contains(&grow.from))
        .cloned()
        .collect()
}

pub(super) fn requests(growths: &[Grow]) -> Vec<Growth> {
    growths
        .iter()
        .map(|grow| Growth {
            topic: grow.topic.clone(),
            to: grow.to,
        })
        .collect()
}

async fn configure(cluster: &Cluster, actions: &Actions, acted: &mut Acted) {
    let altered = cluster.client().alter_configs(&changes(actions)).await;
    note(altered, &mut acted.outcomes.configs);
}

fn changes(actions: &Actions) -> Vec<ConfigChange> {
    actions
        .configs
        .iter()
        .map(|alter| ConfigChange {
            topic: alter.topic.clone(),
            set: alter.set.clone(),
        })
        .collect()
}

/// Keeps what failed, unless something is said of the topic already.
fn note(outcomes: kafka::Outcomes, failures: &mut BTreeMap<String, Failure>) {
    for (topic, outcome) in outcomes {
        if let Err(error) = outcome {
            failures.entry(topic).or_insert_with(|| failure(error));
        }
    }
}

/// Any broker may be asked, and it learns of a change a little later than the controller that made it.
async fn wait_until_shown(
    cluster: &Cluster,
    names: &[String],
    actions: &Actions,
    acted: &Acted,
    basis: Basis<'_>,
) {
    let grown = acted.grown.iter().map(|grow| grow.topic.clone());
    let changed: Vec<String> = acted.created.iter().cloned().chain(grown).collect();
    cluster.shown(&changed, SHOWS_WITHIN).await;
    let altered: Vec<&Alter> = actions
        .configs
        .iter()
        .filter(|alter| !acted.outcomes.configs.contains_key(&alter.topic))
        .collect();
    if altered.is_empty() {
        return;
    }
    let start = Instant::now();
    loop {
        // What is planned again does not show yet, or Kafka spells the value in a way of its own.
        if let Ok(view) = cluster.reread(names, false, true).await
            && !planned_again(&altered, &basis.decide(&view).actions.configs)
        {
            return;
        }
        if start.elapsed() >= CONFIG_SHOWS_WITHIN {
            return;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn planned_again(altered: &[&Alter], planned: &[Alter]) -> bool {
    altered.iter().any(|done| {
        planned.iter().any(|alter| {
            alter.topic == done.topic && alter.set.keys().any(|key| done.set.contains_key(key))
        })
    })
}

pub(super) fn failure(error: TopicError) -> Failure {
    match error {
        TopicError::NotAuthorized(words) => Failure::NotAuthorized(words),
        TopicError::Unreachable(words) | TopicError::Timeout(words) => Failure::Unsure(words),
        error @ (TopicError::UnknownTopic
        | TopicError::AlreadyExists
        | TopicError::Rejected { .. }) => Failure::Rejected(error.to_string()),
    }
}

/// Logs what came of the actions of a group.
pub(super) fn log(at: (&str, &str), actions: &Actions, acted: &Acted) {
    let outcomes = &acted.outcomes;
    for create in &actions.creates {
        said(
            at,
            &create.topic,
            "create",
            create.partitions,
            outcomes.creates.get(&create.topic),
        );
    }
    for grow in &actions.growths {
        said(
            at,
            &grow.topic,
            "grow",
            grow.to,
            outcomes.growths.get(&grow.topic),
        );
    }
    for alter in &actions.configs {
        let keys: Vec<&str> = alter.set.keys().map(String::as_str).collect();
        said(
            at,
            &alter.topic,
            "configure",
            keys.join(","),
            outcomes.configs.get(&alter.topic),
        );
    }
    for topic in &acted.lifted {
        said(at, topic, "lift for the growth", LOCK, None);
    }
    log_locks(at, actions, outcomes);
}

/// Logs what came of the locks of a group.
fn log_locks(at: (&str, &str), actions: &Actions, outcomes: &Outcomes) {
    for topic in &actions.locks {
        said(at, topic, "lock", LOCK, outcomes.locks.get(topic));
    }
    let unasked = outcomes.locks.iter();
    for (topic, failure) in unasked.filter(|(topic, _)| !actions.locks.contains(topic)) {
        said(at, topic, "lock again", LOCK, Some(failure));
    }
    for unlock in &actions.unlocks {
        let failure = outcomes.unlocks.get(unlock);
        said(at, &unlock.topic, "unlock", LOCK, failure);
    }
}

/// Logs what came of one action on one topic.
fn said(
    (cluster, group): (&str, &str),
    topic: &str,
    action: &str,
    wanted: impl std::fmt::Display,
    failure: Option<&Failure>,
) {
    match failure {
        None => tracing::info!(cluster, group, topic, action, %wanted, "written to Kafka"),
        Some(Failure::Rejected(words) | Failure::NotAuthorized(words) | Failure::Unsure(words)) => {
            tracing::warn!(cluster, group, topic, action, %wanted, answer = %words, "Kafka did not do it");
        }
    }
}
