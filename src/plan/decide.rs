//! The decision of one pass.

use std::collections::BTreeSet;

use super::actions::plan;
use super::conditions::Reason;
use super::config;
use super::consent;
use super::counts::{compare_counts, parts_keys, target};
use super::decision::{Actions, Decision, Input, Refusal, Stage};
use super::identify::{identify, unconfirmed};
use super::locks;
use super::memory::{Spent, TopicMemory};

/// Decides what to remember, what to do and what to say.
pub fn decide(input: &Input<'_>) -> Decision {
    let mut decision = Decision {
        undecided: false,
        refusal: foreign(input).or_else(|| conflict(input)),
        other_cluster: None,
        cluster_id: input.view.cluster_id.clone(),
        memory: input.memory.clone(),
        actions: Actions::default(),
        topics: Vec::new(),
        target: None,
        frozen: false,
        parts_keys: None,
        locks_failure: locks::failure(input),
    };
    if decision
        .refusal
        .as_ref()
        .is_some_and(|refusal| refusal.reason != Reason::TopicConflict)
    {
        return decision;
    }
    recall_cluster(input, &mut decision);
    recall_topics(input, &mut decision);
    if input
        .group
        .topics
        .iter()
        .any(|topic| unconfirmed(topic, &decision.memory, input.view))
    {
        decision.undecided = true;
        decision.memory = input.memory.clone();
        return decision;
    }
    for topic in &input.group.topics {
        let judged = identify(topic, input, &mut decision);
        decision.topics.push(judged);
    }
    read_back(input, &mut decision);
    decision.target = target(input.group, &decision);
    compare_counts(input, &mut decision);
    decision.parts_keys = parts_keys(input.group, &decision);
    record(input, &mut decision);
    config::compare(input, &mut decision);
    decision.actions = plan(input, &mut decision);
    locks::plan(input, &mut decision);
    decision
}

/// A claim that another installation or another Kubernetes cluster wrote is not acted on.
fn foreign(input: &Input<'_>) -> Option<Refusal> {
    let owner = input.memory.owner.as_ref()?;
    if owner.kube_system_uid != input.me.kube_system_uid
        && !input.group.acknowledged.contains(&owner.kube_system_uid)
    {
        return Some(Refusal {
            reason: Reason::ForeignMemory,
            message: format!(
                "the claim of this group was written in another Kubernetes cluster (kube-system uid {}), as after restoring a backup; \
                 to go on with its memory here, annotate the group with {}",
                owner.kube_system_uid,
                acknowledge(&owner.kube_system_uid)
            ),
        });
    }
    let ours = owner.installation == input.me.installation
        || input.take_over.contains(&owner.installation);
    (!ours).then(|| Refusal {
        reason: Reason::ManagedByOther,
        message: format!(
            "the claim of this group belongs to the installation {:?}, this one is {:?}; let only one installation watch the namespace, or start this one with --take-over-from={}",
            owner.installation, input.me.installation, owner.installation
        ),
    })
}

/// A topic is held by one group; a second one that manages it writes nothing.
fn conflict(input: &Input<'_>) -> Option<Refusal> {
    let contested: Vec<String> = input
        .group
        .managed()
        .filter_map(|topic| {
            input
                .conflicts
                .get(&topic.name)
                .map(|holder| format!("{} is held by the group {holder}", topic.name))
        })
        .collect();
    (!contested.is_empty()).then(|| Refusal {
        reason: Reason::TopicConflict,
        message: format!(
            "{}; remove the topic from one of the groups, or declare it here with management: Referenced",
            contested.join("; ")
        ),
    })
}

/// What acknowledges that the topic with this id was deleted. It is not the id alone: that one accepts a topic which was
/// created again, and left in the annotation it must not let a later deletion pass unseen.
pub(super) fn deleted(id: &str) -> String {
    format!("deleted:{id}")
}

/// The annotation that acknowledges an id, as it is printed in messages.
pub(super) fn acknowledge(id: &str) -> String {
    format!("copartition.dev/acknowledge: \"{id}\"")
}

/// A new group that waits for a contested topic claims nothing, so its memory does not begin yet.
fn begins_later(decision: &Decision) -> bool {
    decision.refusal.is_some() && decision.memory.cluster_id.is_none()
}

fn recall_cluster(input: &Input<'_>, decision: &mut Decision) {
    let live = &input.view.cluster_id;
    match &decision.memory.cluster_id {
        Some(recorded) if recorded != live => {
            if input.group.acknowledged.contains(live) {
                decision.memory.on_new_cluster(live);
            } else {
                decision.other_cluster = Some(recorded.clone());
                decision.frozen = true;
            }
        }
        Some(_) => {}
        None if begins_later(decision) => return,
        None => decision.memory.cluster_id = Some(live.clone()),
    }
    decision.memory.owner = Some(input.me.clone());
}

/// Which topics are remembered: those of the spec. A new group takes all its Managed topics or none; one that adds
/// a contested topic keeps what it held. What is locked is held until the lock is undone: else another group could lock the
/// topic, and see its lock taken away as this one's.
fn recall_topics(input: &Input<'_>, decision: &mut Decision) {
    if begins_later(decision) {
        return;
    }
    let wanted: BTreeSet<&str> = input
        .group
        .topics
        .iter()
        .map(|topic| topic.name.as_str())
        .collect();
    let held_back = decision.refusal.is_some() || decision.other_cluster.is_some();
    let locked: BTreeSet<String> = {
        let memory = &decision.memory;
        let held = memory.topics.iter().filter(|(_, topic)| topic.managed);
        let names = held.map(|(name, _)| name.clone());
        names.filter(|name| memory.has_locked(name)).collect()
    };
    decision
        .memory
        .topics
        .retain(|name, _| wanted.contains(name.as_str()) || locked.contains(name));
    decision
        .memory
        .drop_intents(|intent| !wanted.contains(intent.topic.as_str()));
    for topic in &input.group.topics {
        match decision.memory.topics.get_mut(&topic.name) {
            Some(memory) if memory.managed == topic.managed || locked.contains(&topic.name) => {}
            Some(memory) if !topic.managed || !held_back => memory.managed = topic.managed,
            None if !topic.managed || !held_back => {
                decision.memory.topics.insert(
                    topic.name.clone(),
                    TopicMemory {
                        managed: topic.managed,
                        ..TopicMemory::default()
                    },
                );
            }
            _ => {}
        }
    }
}

/// Growths that show are read back before counts are compared: only an intent makes a topic at the target progress
/// and not drift. Consents are spent on the same look, the one of the intent too, in case it left the spec meanwhile.
fn read_back(input: &Input<'_>, decision: &mut Decision) {
    if decision.other_cluster.is_some() {
        return;
    }
    let memory = &mut decision.memory;
    for judged in &mut decision.topics {
        let Stage::Live(live) = &judged.stage else {
            continue;
        };
        let name = &judged.topic.name;
        let Some(remembered) = memory.topics.get_mut(name) else {
            continue;
        };
        let grown = memory.intents.iter().find(|intent| {
            intent.topic == *name && intent.id == live.id && intent.to == live.partitions
        });
        if let Some(intent) = grown {
            remembered.count = Some(live.partitions);
            judged.accepted = Some(live.partitions);
            if intent.consented {
                memory.spent.insert(Spent::of(intent));
            }
        }
        // Somebody grew it further before ours was read back: what was decided may have been carried out before that.
        let overtaken = memory.intents.iter().filter(|intent| {
            intent.topic == *name
                && intent.id == live.id
                && intent.to < live.partitions
                && intent.consented
        });
        memory
            .spent
            .extend(overtaken.map(Spent::of).collect::<Vec<_>>());
        consent::spend(input.group, memory, name, live);
    }
    let topics = &decision.topics;
    memory.drop_intents(|intent| {
        topics
            .iter()
            .filter(|judged| judged.topic.name == intent.topic)
            .any(|judged| match &judged.stage {
                Stage::Unread { .. } => false,
                Stage::Live(live) => live.id != intent.id,
                Stage::Absent | Stage::Deleted { .. } | Stage::Recreated { .. } => true,
            })
    });
}

/// What this look adds to the memory once all topics were judged.
fn record(input: &Input<'_>, decision: &mut Decision) {
    if decision.other_cluster.is_some() || decision.refusal.is_some() {
        return;
    }
    let aligned = decision.aligned();
    let memory = &mut decision.memory;
    let mut unread = BTreeSet::new();
    for judged in &decision.topics {
        let name = &judged.topic.name;
        match &judged.stage {
            Stage::Live(live) => {
                if let Some(remembered) = memory.topics.get_mut(name)
                    && (aligned || !judged.topic.managed)
                {
                    remembered.count = Some(live.partitions);
                }
            }
            Stage::Unread { .. } => {
                unread.insert(name);
            }
            Stage::Absent | Stage::Deleted { .. } | Stage::Recreated { .. } => {}
        }
    }
    // An intent may still show when its topic can be read again. All others are planned again, or no longer wanted.
    memory
        .intents
        .retain(|intent| unread.contains(&intent.topic));
    if aligned {
        memory.recorded = decision.target;
    }
    config::keep_spent_data_loss(input.group, memory);
}
