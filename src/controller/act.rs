//! Step 5, act: the actions of a decision are carried out, one outcome a topic. Nothing here deletes a topic.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::kafka::{Cluster, ConfigChange, Growth, NewTopic, TopicError};
use crate::plan::{
    Actions, Decision, Failure, Group, Grow, Input, Memory, Outcomes, Owner, View, decide,
};

/// How long written changes may take to show in the metadata of the broker that is asked. A broker that creates a
/// thousand topics at once takes tens of seconds.
const SHOWS_WITHIN: Duration = Duration::from_secs(60);

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
    create(cluster, actions, &mut acted).await;
    let grown = grow(cluster, names, actions, basis, &mut acted).await;
    configure(cluster, actions, &mut acted).await;
    wait_until_shown(cluster, actions, &acted.created, &grown).await;
    if acted.created.len() < actions.creates.len() || grown.len() < actions.growths.len() {
        // Somebody else was faster, or Kafka refused: what was decided on is not what is there. Should it not be readable
        // now, the next poll reads it.
        let _ = cluster.reread(names, true, false).await;
    }
    acted
}

async fn create(cluster: &Cluster, actions: &Actions, acted: &mut Acted) {
    if actions.creates.is_empty() {
        return;
    }
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
    for (topic, outcome) in cluster.client().create_topics(&topics, false).await {
        match outcome {
            Ok(()) => acted.created.push(topic),
            // Somebody was faster: the next look adopts it as it is.
            Err(TopicError::AlreadyExists) => {}
            Err(error) => {
                acted.outcomes.creates.insert(topic, failure(error));
            }
        }
    }
    cluster.expect_topics(&acted.created);
}

/// Grows in one request what is still to be grown. Returns what was asked for.
async fn grow(
    cluster: &Cluster,
    names: &[String],
    actions: &Actions,
    basis: Basis<'_>,
    acted: &mut Acted,
) -> Vec<Grow> {
    if actions.growths.is_empty() {
        return Vec::new();
    }
    let validated = cluster
        .client()
        .create_partitions(&requests(&actions.growths), true)
        .await;
    for (topic, outcome) in validated {
        if let Err(error) = outcome {
            acted.outcomes.growths.insert(topic, failure(error));
        }
    }
    // Equal stays equal: what would be refused for one topic is not done to the others with its count.
    let held_back: BTreeSet<i32> = actions
        .growths
        .iter()
        .filter(|grow| acted.outcomes.growths.contains_key(&grow.topic))
        .map(|grow| grow.from)
        .collect();
    let mut growths: Vec<Grow> = actions
        .growths
        .iter()
        .filter(|grow| !held_back.contains(&grow.from))
        .cloned()
        .collect();
    if growths.is_empty() {
        return growths;
    }
    match cluster.reread(names, true, false).await {
        Ok(view) => {
            let still = basis.decide(&view).actions.growths;
            // All of them or none: what changed meanwhile is decided anew in the next round.
            if !growths.iter().all(|grow| still.contains(grow)) {
                growths.clear();
                return growths;
            }
        }
        Err(error) => {
            for grow in &growths {
                acted
                    .outcomes
                    .growths
                    .insert(grow.topic.clone(), Failure::Unsure(error.to_string()));
            }
            growths.clear();
            return growths;
        }
    }
    for (topic, outcome) in cluster
        .client()
        .create_partitions(&requests(&growths), false)
        .await
    {
        if let Err(error) = outcome {
            acted.outcomes.growths.insert(topic, failure(error));
        }
    }
    growths.retain(|grow| !acted.outcomes.growths.contains_key(&grow.topic));
    cluster.expect_growth(&requests(&growths));
    growths
}

fn requests(growths: &[Grow]) -> Vec<Growth> {
    growths
        .iter()
        .map(|grow| Growth {
            topic: grow.topic.clone(),
            to: grow.to,
        })
        .collect()
}

async fn configure(cluster: &Cluster, actions: &Actions, acted: &mut Acted) {
    if actions.configs.is_empty() {
        return;
    }
    let changes: Vec<ConfigChange> = actions
        .configs
        .iter()
        .map(|alter| ConfigChange {
            topic: alter.topic.clone(),
            set: alter.set.clone(),
        })
        .collect();
    for (topic, outcome) in cluster.client().alter_configs(&changes).await {
        if let Err(error) = outcome {
            acted.outcomes.configs.insert(topic, failure(error));
        }
    }
}

/// Any broker may be asked, and it learns of a change a little later than the controller that made it.
async fn wait_until_shown(
    cluster: &Cluster,
    actions: &Actions,
    created: &[String],
    grown: &[Grow],
) {
    let grown = grown.iter().map(|grow| grow.topic.clone());
    let changed: Vec<String> = created.iter().cloned().chain(grown).collect();
    cluster.shown(&changed, SHOWS_WITHIN).await;
    let configured: Vec<String> = actions
        .configs
        .iter()
        .map(|alter| alter.topic.clone())
        .collect();
    if !configured.is_empty() {
        // What cannot be read now, the next poll reads.
        let _ = cluster.reread(&configured, false, true).await;
    }
}

fn failure(error: TopicError) -> Failure {
    match error {
        TopicError::NotAuthorized(words) => Failure::NotAuthorized(words),
        TopicError::Unreachable(words) | TopicError::Timeout(words) => Failure::Unsure(words),
        error @ (TopicError::UnknownTopic
        | TopicError::AlreadyExists
        | TopicError::Rejected { .. }) => Failure::Rejected(error.to_string()),
    }
}

/// Logs what came of the actions of a group.
pub(super) fn log(group: &str, actions: &Actions, outcomes: &Outcomes) {
    for create in &actions.creates {
        said(
            group,
            &create.topic,
            "create",
            create.partitions,
            outcomes.creates.get(&create.topic),
        );
    }
    for grow in &actions.growths {
        said(
            group,
            &grow.topic,
            "grow",
            grow.to,
            outcomes.growths.get(&grow.topic),
        );
    }
    for alter in &actions.configs {
        let keys: Vec<&str> = alter.set.keys().map(String::as_str).collect();
        said(
            group,
            &alter.topic,
            "configure",
            keys.join(","),
            outcomes.configs.get(&alter.topic),
        );
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
