//! The ALTER locks of a group: which to set, which to take away, which stay.
//!
//! A lock is remembered before it is set, and forgotten only when Kafka has taken it away. So what stands and is not
//! remembered is somebody else's: a `DENY` carries no name of who set it, and a lost claim makes the operator stricter.

use std::collections::BTreeSet;

use super::decision::{Decision, Input, Stage, TopicDecision};
use super::memory::Lock;
use super::observed::{LockSeen, LocksFailure, LocksView};

/// The most locks that a claim remembers, over all clusters; the schema bounds it. A group has at most 100 topics, so that
/// is four clusters in a row whose locks could not be undone.
const MOST_LOCKS: usize = 400;

/// What the lock of a topic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockStanding {
    /// The group does not ask for it, or not for this topic.
    NotWanted,
    /// It was not looked at yet, or Kafka does not tell.
    Unseen,
    /// The topic is not there, or not as the one that was accepted.
    NoTopic,
    /// A lock stands that we did not set.
    Foreign,
    /// The topic's first ACL would hide it from everybody, as far as is known.
    Open,
    /// It has to be set; whether it was set before.
    Missing {
        /// It was set before, or was about to be.
        again: bool,
    },
    /// Ours stands; whether our principal may ALTER the topic all the same, where the broker tells.
    Stands {
        /// As brokers tell. Only a super user may, once all brokers know of the lock.
        may_alter: Option<bool>,
    },
}

/// What acknowledges that the locks on a cluster that is gone are to be forgotten.
pub fn forget(cluster_id: &str) -> String {
    format!("forget:{cluster_id}")
}

/// Why Kafka does not tell which locks stand.
pub(super) fn failure(input: &Input<'_>) -> Option<LocksFailure> {
    match input.locks {
        LocksView::Failed(failure) => Some(failure.clone()),
        LocksView::Unread | LocksView::Seen { .. } => None,
    }
}

/// Judges the locks, and adds what is to be done to the actions.
pub(super) fn plan(input: &Input<'_>, decision: &mut Decision) {
    for at in 0..decision.topics.len() {
        decision.topics[at].lock = standing(input, decision, &decision.topics[at]);
    }
    if decision.refusal.is_some() || decision.other_cluster.is_some() {
        return;
    }
    let unwanted = unwanted(decision);
    // Here they can be undone: the wish may be left over from a time in which nobody got here.
    let here = decision.cluster_id.clone();
    let forgotten = |lock: &Lock| {
        let wished = input.group.acknowledged.contains(&forget(&lock.cluster_id));
        wished && lock.cluster_id != here
    };
    let memory = &mut decision.memory;
    memory
        .locks
        .retain(|lock| !(unwanted.contains(lock) && forgotten(lock)));
    if input.group.paused {
        return;
    }
    decision.actions.unlocks = unwanted
        .into_iter()
        .filter(|lock| memory.locks.contains(lock))
        .collect();
    for judged in &decision.topics {
        let LockStanding::Missing { again } = judged.lock else {
            continue;
        };
        if again || memory.locks.len() < MOST_LOCKS {
            memory.locks.insert(Lock {
                topic: judged.topic.name.clone(),
                cluster_id: decision.cluster_id.clone(),
            });
            decision.actions.locks.push(judged.topic.name.clone());
        }
    }
}

/// Locks of ours that are to be taken away: on other clusters, of topics that are not to be locked (any more), and those
/// that would hide a topic from everybody.
pub(super) fn unwanted(decision: &Decision) -> BTreeSet<Lock> {
    let stays = |lock: &Lock| {
        let mut topics = decision.topics.iter();
        let judged = topics.find(|judged| judged.topic.name == lock.topic);
        lock.cluster_id == decision.cluster_id
            && judged.is_some_and(|judged| {
                !matches!(judged.lock, LockStanding::NotWanted | LockStanding::Open)
            })
    };
    let locks = decision.memory.locks.iter();
    locks.filter(|lock| !stays(lock)).cloned().collect()
}

fn standing(input: &Input<'_>, decision: &Decision, judged: &TopicDecision) -> LockStanding {
    let name = &judged.topic.name;
    if !input.group.alter_lock || !judged.topic.managed {
        return LockStanding::NotWanted;
    }
    let LocksView::Seen {
        denies_by_default,
        topics,
    } = input.locks
    else {
        return LockStanding::Unseen;
    };
    let Some(LockSeen {
        stands,
        other_acls,
        may_alter,
    }) = topics.get(name).copied()
    else {
        return LockStanding::Unseen;
    };
    let ours = decision.memory.locks.contains(&Lock {
        topic: name.clone(),
        cluster_id: decision.cluster_id.clone(),
    });
    let bare = !other_acls && *denies_by_default != Some(true);
    match (ours, stands) {
        (false, true) => LockStanding::Foreign,
        // Not knowing is no reason to undo what was set knowingly, nor to set it.
        (true, true) if bare && denies_by_default.is_some() => LockStanding::Open,
        (true, true) => LockStanding::Stands { may_alter },
        (_, false) if !matches!(judged.stage, Stage::Live(_)) => LockStanding::NoTopic,
        (_, false) if bare && denies_by_default.is_none() => LockStanding::Unseen,
        (_, false) if bare => LockStanding::Open,
        (again, false) => LockStanding::Missing { again },
    }
}
