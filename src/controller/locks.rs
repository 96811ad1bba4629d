//! ALTER locks: lifted around a growth, set, and taken away.
//!
//! The claim lists a lock before it is set and until it was taken away, so whatever is cut off here is completed by the next
//! pass, of whichever replica.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::act::{Acted, failure, requests};
use super::context::Context;
use crate::api::AclLock;
use crate::kafka::{Cluster, TopicError};
use crate::plan::{Actions, Failure, Lock, LocksView, Memory, Outcomes};

/// How long a lock that was lifted may still be felt before the growth is given up until the next pass. The controller is the
/// one that has to know, and it is the one that was told; but with several, another one may have taken over.
const LIFTED_WITHIN: Duration = Duration::from_secs(5);
/// How long a lock that was set may take to show at the broker that is asked.
const SHOWS_WITHIN: Duration = Duration::from_secs(5);
/// How long our own principal may still feel free after that, before it is taken for a super user.
const FELT_WITHIN: Duration = Duration::from_secs(2);
/// The pause between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often a lock that was lifted is put back before it is left to the next pass.
const TRIES: u32 = 3;

/// Lifts locks of ours that stand in the way of a growth of ours. Whether one does is asked of Kafka: a super user feels
/// none, and then none is lifted. Returns the topics whose locks are to be put back.
pub(super) async fn lift(
    cluster: &Cluster,
    actions: &Actions,
    memory: &Memory,
    outcomes: &mut Outcomes,
) -> Vec<String> {
    let ours: BTreeSet<String> = actions
        .growths
        .iter()
        .filter(|grow| memory.has_locked(&grow.topic))
        .map(|grow| grow.topic.clone())
        .collect();
    let denied = denied(cluster, actions, &ours).await;
    if denied.is_empty() {
        return Vec::new();
    }
    let mut lifted = Vec::new();
    for (topic, outcome) in cluster.client().unlock(&denied).await {
        if let Err(error) = &outcome {
            let words = format!("its ALTER lock could not be lifted: {error}");
            let failed = match failure(error.clone()) {
                Failure::Rejected(_) => Failure::Rejected(words),
                Failure::NotAuthorized(_) => Failure::NotAuthorized(words),
                Failure::Unsure(_) => Failure::Unsure(words),
            };
            outcomes.growths.insert(topic.clone(), failed);
        }
        // One whose answer was lost may be lifted all the same.
        if !matches!(outcome, Err(TopicError::NotAuthorized(_))) {
            lifted.push(topic);
        }
    }
    let waiting: BTreeSet<String> = lifted
        .iter()
        .filter(|topic| !outcomes.growths.contains_key(*topic))
        .cloned()
        .collect();
    let start = Instant::now();
    loop {
        let felt = self::denied(cluster, actions, &waiting).await;
        if felt.is_empty() {
            break;
        }
        if start.elapsed() >= LIFTED_WITHIN {
            let words = "its ALTER lock was lifted, and Kafka still denies it; perhaps not every broker knows of that yet, or the principal lacks ALTER";
            let unsure = |topic| (topic, Failure::Unsure(words.to_owned()));
            outcomes.growths.extend(felt.into_iter().map(unsure));
            break;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    lifted
}

/// Those of the topics whose growth Kafka denies us.
async fn denied(cluster: &Cluster, actions: &Actions, topics: &BTreeSet<String>) -> Vec<String> {
    let growths = actions.growths.iter();
    let growths: Vec<_> = growths
        .filter(|grow| topics.contains(&grow.topic))
        .cloned()
        .collect();
    let asked = requests(&growths);
    let answers = cluster.client().create_partitions(&asked, true).await;
    answers
        .into_iter()
        .filter(|(_, answer)| matches!(answer, Err(TopicError::NotAuthorized(_))))
        .map(|(topic, _)| topic)
        .collect()
}

/// Sets locks, and waits until they show.
pub(super) async fn set(cluster: &Cluster, topics: &[String], outcomes: &mut Outcomes) {
    let mut left = topics.to_vec();
    let mut set = BTreeSet::new();
    for attempt in 1..=TRIES {
        if left.is_empty() {
            break;
        }
        let answers = cluster.client().lock(&left).await;
        left.clear();
        for (topic, answer) in answers {
            match answer.map_err(failure) {
                Ok(()) => {
                    set.insert(topic);
                }
                Err(Failure::Unsure(_)) if attempt < TRIES => left.push(topic),
                Err(failed) => {
                    outcomes.locks.insert(topic, failed);
                }
            }
        }
    }
    for topic in wait_until_shown(cluster, &set).await {
        let words = "Kafka took it, and the broker that was asked does not show it yet";
        let unsure = Failure::Unsure(words.to_owned());
        outcomes.locks.insert(topic, unsure);
    }
}

/// Waits until locks stand and are felt. Returns those that do not show in time.
async fn wait_until_shown(cluster: &Cluster, topics: &BTreeSet<String>) -> Vec<String> {
    if topics.is_empty() {
        return Vec::new();
    }
    let start = Instant::now();
    loop {
        let LocksView::Seen { topics: seen, .. } = cluster.read_locks(topics).await else {
            // What was set may not be seen; the next pass says why.
            return Vec::new();
        };
        let shows = |topic: &&String| seen.get(*topic).is_some_and(|seen| seen.stands);
        let hidden: Vec<String> = topics.iter().filter(|it| !shows(it)).cloned().collect();
        let felt = seen.values().all(|seen| seen.may_alter != Some(true));
        let waited = start.elapsed();
        if waited >= SHOWS_WITHIN || hidden.is_empty() && (felt || waited >= FELT_WITHIN) {
            return hidden;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Takes away the locks on the group's own cluster that are not wanted.
pub(super) async fn undo(cluster: &Cluster, actions: &Actions, acted: &mut Acted) {
    let Some(here) = cluster.id() else { return };
    let unlocks = actions.unlocks.iter();
    let topics: Vec<String> = unlocks
        .filter(|lock| lock.cluster_id == here)
        .map(|lock| lock.topic.clone())
        .collect();
    for (topic, outcome) in cluster.client().unlock(&topics).await {
        note(&topic, &here, outcome.map_err(failure), acted);
    }
}

/// Takes away locks on clusters that the group has left, as far as its connections of then still lead there.
pub(super) async fn undo_elsewhere(
    context: &Context,
    here: &str,
    actions: &Actions,
    known: &[AclLock],
    acted: &mut Acted,
) {
    let wanted = actions.unlocks.iter();
    let elsewhere: Vec<AclLock> = wanted
        .filter(|lock| lock.cluster_id != here)
        .map(|lock| {
            let same = |it: &&AclLock| it.topic == lock.topic && it.cluster_id == lock.cluster_id;
            AclLock {
                topic: lock.topic.clone(),
                cluster_id: lock.cluster_id.clone(),
                connection: known.iter().find(same).and_then(|it| it.connection.clone()),
            }
        })
        .collect();
    for (lock, outcome) in undo_by_connection(context, &elsewhere).await {
        note(&lock.topic, &lock.cluster_id, outcome, acted);
    }
}

fn note(topic: &str, cluster_id: &str, outcome: Result<(), Failure>, acted: &mut Acted) {
    let lock = Lock {
        topic: topic.to_owned(),
        cluster_id: cluster_id.to_owned(),
    };
    match outcome {
        Ok(()) => acted.unlocked.push(lock),
        Err(failed) => {
            acted.outcomes.unlocks.insert(lock, failed);
        }
    }
}

/// Takes locks away by the connections by which they were set.
pub(super) async fn undo_by_connection(
    context: &Context,
    locks: &[AclLock],
) -> Vec<(AclLock, Result<(), Failure>)> {
    let mut places: BTreeMap<(Option<&String>, &String), Vec<&AclLock>> = BTreeMap::new();
    for lock in locks {
        let place = (lock.connection.as_ref(), &lock.cluster_id);
        places.entry(place).or_default().push(lock);
    }
    let mut all = Vec::new();
    for ((connection, cluster_id), locks) in places {
        let cluster = match connection {
            Some(connection) => reach(context, connection, cluster_id).await,
            None => Err(Failure::Rejected(
                "it is not known which KafkaConnection led there".to_owned(),
            )),
        };
        let outcomes = match &cluster {
            Ok(cluster) => {
                let topics: Vec<String> = locks.iter().map(|lock| lock.topic.clone()).collect();
                Ok(cluster.client().unlock(&topics).await)
            }
            Err(failed) => Err(failed.clone()),
        };
        for lock in locks {
            let outcome = match &outcomes {
                Ok(outcomes) => outcomes.get(&lock.topic).map_or_else(
                    || Err(Failure::Unsure("no answer".to_owned())),
                    |outcome| outcome.clone().map_err(failure),
                ),
                Err(failed) => Err(failed.clone()),
            };
            all.push((lock.clone(), outcome));
        }
    }
    all
}

/// The cluster, if the connection still leads there.
async fn reach(
    context: &Context,
    connection: &str,
    cluster_id: &str,
) -> Result<std::sync::Arc<Cluster>, Failure> {
    let settings = context.connections.settings_of(connection).await;
    let settings = settings.map_err(Failure::Rejected)?;
    let cluster = context.kafka.cluster(&settings);
    let cluster = cluster.map_err(|error| Failure::Rejected(error.to_string()))?;
    match cluster.client().cluster_id().await {
        Ok(live) if live == cluster_id => Ok(cluster),
        Ok(live) => Err(Failure::Rejected(format!(
            "the KafkaConnection {connection} leads to the cluster {live} now"
        ))),
        Err(error) => Err(Failure::Unsure(error.to_string())),
    }
}
