//! The decision of one pass.

use std::collections::{BTreeMap, BTreeSet};

use super::conditions::Reason;
use super::config::{self, ConfigDiff};
use super::consent::{self, Coverage};
use super::group::{Group, Topic};
use super::memory::{Intent, Memory, Owner, TopicMemory};
use super::observed::{Records, TopicId, TopicReading, TopicState, View};

/// Everything that a decision rests on.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What the spec wants.
    pub group: &'a Group,
    /// What the claim remembers.
    pub memory: &'a Memory,
    /// What Kafka shows.
    pub view: &'a View,
    /// This installation in this Kubernetes cluster.
    pub me: &'a Owner,
    /// Topics that another group holds, and that group as `namespace/name`.
    pub conflicts: &'a BTreeMap<String, String>,
}

/// Why nothing may be done for a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The reason of Accepted=False.
    pub reason: Reason,
    /// Topic, wanted, seen, what to do.
    pub message: String,
}

/// What a topic is to its group, before counts are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It cannot be described; whether for lack of a permission, and the broker's words.
    Unread {
        /// The principal lacks DESCRIBE.
        denied: bool,
        /// The broker's words, if any.
        words: String,
    },
    /// It does not exist and no memory says that it should.
    Absent,
    /// It was recorded under this id and is gone.
    Deleted {
        /// The recorded id.
        id: TopicId,
    },
    /// It exists under another id than the recorded one.
    Recreated {
        /// The recorded id.
        was: TopicId,
        /// The live topic.
        live: TopicState,
    },
    /// It exists.
    Live(TopicState),
}

/// How a live topic's count stands to the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is no target, or the topic is not there to compare.
    Unjudged,
    /// It has the group's count.
    AtTarget,
    /// It has more: Kafka cannot take partitions away.
    Above,
    /// It has fewer.
    Below {
        /// May it grow: it is empty, or a consent covers it.
        covered: bool,
        /// What the consent says.
        coverage: Coverage,
        /// Its count is not the accepted one: somebody else changed it.
        drifted: bool,
    },
}

/// The decision on one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicDecision {
    /// The topic as declared.
    pub topic: Topic,
    /// What it is.
    pub stage: Stage,
    /// How its count stands.
    pub standing: Standing,
    /// The count that was accepted for it before this pass.
    pub accepted: Option<i32>,
    /// A Referenced topic that has another id than last time; the id before.
    pub replaced: Option<TopicId>,
    /// What its config needs; `None` while the live config is not known or not to be compared.
    pub config: Option<ConfigDiff>,
}

impl TopicDecision {
    /// The live topic, whatever its id.
    pub fn live(&self) -> Option<&TopicState> {
        match &self.stage {
            Stage::Live(live) | Stage::Recreated { live, .. } => Some(live),
            _ => None,
        }
    }

    fn settled(&self) -> Option<&TopicState> {
        match &self.stage {
            Stage::Live(live) => Some(live),
            _ => None,
        }
    }
}

/// A topic to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Create {
    /// Its name.
    pub topic: String,
    /// Its partition count.
    pub partitions: i32,
    /// Its replication factor; `None` is the broker's default.
    pub replication_factor: Option<i16>,
    /// Its config.
    pub config: BTreeMap<String, String>,
}

/// A topic to grow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grow {
    /// Its name.
    pub topic: String,
    /// The id that was judged.
    pub id: TopicId,
    /// The count that was judged.
    pub from: i32,
    /// The count to reach.
    pub to: i32,
}

/// Config keys to set on a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alter {
    /// Its name.
    pub topic: String,
    /// The id that was judged.
    pub id: TopicId,
    /// The keys with their values.
    pub set: BTreeMap<String, String>,
}

/// What shall be written to Kafka. There is no action that deletes a topic or lowers a count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    /// Topics to create.
    pub creates: Vec<Create>,
    /// Topics to grow, all in one request.
    pub growths: Vec<Grow>,
    /// Config to set.
    pub configs: Vec<Alter>,
}

impl Actions {
    /// Whether Kafka is left alone.
    pub fn is_empty(&self) -> bool {
        self.creates.is_empty() && self.growths.is_empty() && self.configs.is_empty()
    }
}

/// The decision of one pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// A recorded topic was missing only once so far: no verdict changes before the next look.
    pub undecided: bool,
    /// Why the group is not accepted, if so.
    pub refusal: Option<Refusal>,
    /// The recorded cluster, if the live one is another and was not acknowledged.
    pub other_cluster: Option<String>,
    /// The live cluster.
    pub cluster_id: String,
    /// What the claim shall say before anything is written to Kafka.
    pub memory: Memory,
    /// What shall be written to Kafka.
    pub actions: Actions,
    /// The topics in the order of the spec.
    pub topics: Vec<TopicDecision>,
    /// The count that all topics shall have, where it is known.
    pub target: Option<i32>,
    /// Nothing is created or grown until somebody acts.
    pub frozen: bool,
}

impl Decision {
    /// The count that all topics have, if they all exist and agree.
    pub fn agreed(&self) -> Option<i32> {
        let mut counts = self
            .topics
            .iter()
            .map(|topic| topic.live().map(|live| live.partitions));
        let first = counts.next()??;
        counts.all(|count| count == Some(first)).then_some(first)
    }

    /// Whether every topic is there, as itself, with the target count.
    pub fn aligned(&self) -> bool {
        self.other_cluster.is_none()
            && !self.topics.is_empty()
            && self
                .topics
                .iter()
                .all(|topic| topic.standing == Standing::AtTarget)
    }
}

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
    decision.target = target(input.group, &decision);
    compare_counts(input, &mut decision);
    record(input, &mut decision);
    compare_configs(input, &mut decision);
    decision.actions = plan(input, &mut decision);
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
    (owner.installation != input.me.installation).then(|| Refusal {
        reason: Reason::ManagedByOther,
        message: format!(
            "the claim of this group belongs to the installation {:?}, this one is {:?}; let only one installation watch the namespace",
            owner.installation, input.me.installation
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

/// The annotation that acknowledges an id, as it is printed in messages.
pub(super) fn acknowledge(id: &str) -> String {
    format!("copartition.dev/acknowledge: \"{id}\"")
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
        // A group that waits for its topics claims nothing, so its memory does not begin yet.
        None if decision.refusal.is_some() => {}
        None => decision.memory.cluster_id = Some(live.clone()),
    }
    decision.memory.owner = Some(input.me.clone());
}

/// Which topics are remembered: those of the spec. A new group takes all its Managed topics or none; one that adds
/// a contested topic keeps what it held.
fn recall_topics(input: &Input<'_>, decision: &mut Decision) {
    let wanted: BTreeSet<&str> = input
        .group
        .topics
        .iter()
        .map(|topic| topic.name.as_str())
        .collect();
    let held_back = decision.refusal.is_some() || decision.other_cluster.is_some();
    decision
        .memory
        .topics
        .retain(|name, _| wanted.contains(name.as_str()));
    decision
        .memory
        .intents
        .retain(|intent| wanted.contains(intent.topic.as_str()));
    for topic in &input.group.topics {
        match decision.memory.topics.get_mut(&topic.name) {
            Some(memory) if memory.managed == topic.managed => {}
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

/// A topic that was recorded and is missing for the first time: not believed before a second look.
fn unconfirmed(topic: &Topic, memory: &Memory, view: &View) -> bool {
    let recorded = memory
        .topics
        .get(&topic.name)
        .is_some_and(|memory| memory.id.is_some());
    let Some(seen) = view.topics.get(&topic.name) else {
        return true;
    };
    recorded && seen.reading == TopicReading::Missing && seen.misses < 2
}

/// What the topic is, and the adoption of its id.
fn identify(topic: &Topic, input: &Input<'_>, decision: &mut Decision) -> TopicDecision {
    let mut judged = TopicDecision {
        topic: topic.clone(),
        stage: Stage::Absent,
        standing: Standing::Unjudged,
        accepted: None,
        replaced: None,
        config: None,
    };
    let elsewhere = decision.other_cluster.is_some();
    let mut unclaimed = TopicMemory::default();
    let memory = decision
        .memory
        .topics
        .get_mut(&topic.name)
        .unwrap_or(&mut unclaimed);
    let reading = input.view.topics.get(&topic.name).map(|seen| &seen.reading);
    judged.stage = match reading {
        None => Stage::Unread {
            denied: false,
            words: "not read yet".to_owned(),
        },
        Some(TopicReading::NotAuthorized) => Stage::Unread {
            denied: true,
            words: String::new(),
        },
        Some(TopicReading::Failed(words)) => Stage::Unread {
            denied: false,
            words: words.clone(),
        },
        Some(TopicReading::Missing) => missing(topic, input.group, memory, elsewhere),
        Some(TopicReading::Present(live)) if elsewhere => Stage::Live(live.clone()),
        Some(TopicReading::Present(live)) => {
            let known = memory.id.as_ref().is_none_or(|id| *id == live.id);
            if !known && topic.managed && !input.group.acknowledged.contains(&live.id) {
                Stage::Recreated {
                    was: memory.id.clone().unwrap_or_default(),
                    live: live.clone(),
                }
            } else {
                if !known {
                    judged.replaced = memory.id.take();
                }
                if memory.id.is_none() {
                    // `created` is set between the creation and the first look, and must outlive the adoption.
                    let created = memory.created && judged.replaced.is_none();
                    *memory = TopicMemory {
                        managed: memory.managed,
                        id: Some(live.id.clone()),
                        count: Some(live.partitions),
                        created,
                        holds_records: false,
                    };
                }
                memory.holds_records |= live.records == Records::Some;
                Stage::Live(live.clone())
            }
        }
    };
    judged.accepted = memory.count;
    judged
}

fn missing(topic: &Topic, group: &Group, memory: &mut TopicMemory, elsewhere: bool) -> Stage {
    match &memory.id {
        Some(id) if topic.managed && !group.acknowledged.contains(id) && !elsewhere => {
            Stage::Deleted { id: id.clone() }
        }
        Some(_) if !elsewhere => {
            // Acknowledged, or not ours: a topic of that name is seen for the first time when it comes.
            *memory = TopicMemory {
                managed: memory.managed,
                ..TopicMemory::default()
            };
            Stage::Absent
        }
        _ => Stage::Absent,
    }
}

/// The count that all topics shall have: the declared one, else the recorded one, else the one that all existing
/// topics share.
fn target(group: &Group, decision: &Decision) -> Option<i32> {
    if group.partitions.is_some() {
        return group.partitions;
    }
    if decision.memory.recorded.is_some() {
        return decision.memory.recorded;
    }
    if decision
        .topics
        .iter()
        .any(|topic| matches!(topic.stage, Stage::Unread { .. }))
    {
        return None;
    }
    let counts: BTreeSet<i32> = decision
        .topics
        .iter()
        .filter_map(|topic| topic.live().map(|live| live.partitions))
        .collect();
    (counts.len() == 1)
        .then(|| counts.first().copied())
        .flatten()
}

fn compare_counts(input: &Input<'_>, decision: &mut Decision) {
    let Some(target) = decision.target else {
        return;
    };
    let memory = &decision.memory;
    for judged in &mut decision.topics {
        let Some(live) = judged.settled() else {
            continue;
        };
        let standing = match live.partitions {
            count if count == target => Standing::AtTarget,
            count if count > target => Standing::Above,
            count => {
                let coverage =
                    consent::coverage(input.group, memory, &judged.topic.name, live, target);
                let remembered = memory.topics.get(&judged.topic.name);
                let empty = live.records == Records::None
                    && !remembered.is_some_and(|memory| memory.holds_records);
                let moved = judged.accepted.is_some_and(|accepted| accepted != count);
                let covered = coverage == Coverage::Covered || empty;
                Standing::Below {
                    covered,
                    drifted: moved && !covered,
                    coverage,
                }
            }
        };
        judged.standing = standing;
    }
    decision.frozen |= decision.topics.iter().any(|judged| {
        matches!(
            judged.stage,
            Stage::Deleted { .. } | Stage::Recreated { .. }
        ) || matches!(
            judged.standing,
            Standing::Above | Standing::Below { drifted: true, .. }
        )
    });
}

/// What this look adds to the memory: growths that are read back, consents that are spent, the aligned count.
fn record(input: &Input<'_>, decision: &mut Decision) {
    if decision.other_cluster.is_some() || decision.refusal.is_some() {
        return;
    }
    let aligned = decision.aligned();
    let memory = &mut decision.memory;
    for judged in &decision.topics {
        let Stage::Live(live) = &judged.stage else {
            continue;
        };
        let Some(remembered) = memory.topics.get_mut(&judged.topic.name) else {
            continue;
        };
        let grown = memory.intents.iter().any(|intent| {
            intent.topic == judged.topic.name
                && intent.id == live.id
                && intent.to == live.partitions
        });
        if grown || aligned || !judged.topic.managed {
            remembered.count = Some(live.partitions);
        }
        if judged.topic.managed {
            consent::spend(input.group, memory, &judged.topic.name, live);
        }
    }
    memory.intents.clear();
    if aligned {
        memory.recorded = decision.target;
    }
    config::keep_spent_data_loss(input.group, memory);
}

fn compare_configs(input: &Input<'_>, decision: &mut Decision) {
    if decision.other_cluster.is_some() {
        return;
    }
    let Decision { memory, topics, .. } = decision;
    for judged in topics {
        let Stage::Live(live) = &judged.stage else {
            continue;
        };
        judged.config = config::diff(input.group, memory, &judged.topic, live);
        // Used when it is seen to hold, so that a crash right after the request cannot leave the consent unused.
        if let (Some(diff), Some((topic, keys))) = (&judged.config, &input.group.data_loss)
            && *topic == judged.topic.name
            && judged.topic.managed
        {
            let declared = keys
                .iter()
                .filter(|key| judged.topic.config.contains_key(*key));
            let held_back: BTreeSet<&String> = diff.held_back.iter().map(|(key, ..)| key).collect();
            let applied =
                declared.filter(|key| !diff.set.contains_key(*key) && !held_back.contains(key));
            memory
                .spent_data_loss
                .extend(applied.map(|key| (topic.clone(), key.clone())));
        }
    }
}

/// The actions. Whatever speaks against writing leaves them empty.
fn plan(input: &Input<'_>, decision: &mut Decision) -> Actions {
    let mut actions = Actions::default();
    if input.group.observe
        || input.group.paused
        || decision.refusal.is_some()
        || decision.other_cluster.is_some()
    {
        return actions;
    }
    for judged in decision.topics.iter().filter(|judged| judged.topic.managed) {
        if let (Stage::Live(live), Some(diff)) = (&judged.stage, &judged.config)
            && !diff.set.is_empty()
        {
            actions.configs.push(Alter {
                topic: judged.topic.name.clone(),
                id: live.id.clone(),
                set: diff.set.clone(),
            });
        }
    }
    // A topic that cannot be read may have any count; what is created or grown beside it could not be taken back.
    let unread = decision
        .topics
        .iter()
        .any(|judged| matches!(judged.stage, Stage::Unread { .. }));
    let (Some(target), false, false) = (decision.target, decision.frozen, unread) else {
        return actions;
    };
    for judged in decision
        .topics
        .iter()
        .filter(|judged| judged.topic.managed && judged.stage == Stage::Absent)
    {
        actions.creates.push(Create {
            topic: judged.topic.name.clone(),
            partitions: target,
            replication_factor: input.group.replication_factor,
            config: judged.topic.config.clone(),
        });
    }
    actions.growths = growths(decision, target);
    decision.memory.intents = actions
        .growths
        .iter()
        .map(|grow| Intent {
            topic: grow.topic.clone(),
            id: grow.id.clone(),
            from: grow.from,
            to: grow.to,
            consented: input.group.consent.as_ref().is_some_and(|consent| {
                consent.topics.contains(&grow.topic)
                    && consent.from == grow.from
                    && consent.to == grow.to
            }),
        })
        .collect();
    actions
}

/// The topics that grow now. Equal stays equal: of the Managed topics with one live count, all grow or none. And
/// the operator is last: every Referenced topic has to show the target first.
fn growths(decision: &Decision, target: i32) -> Vec<Grow> {
    let waiting = decision
        .topics
        .iter()
        .any(|judged| !judged.topic.managed && judged.standing != Standing::AtTarget);
    if waiting {
        return Vec::new();
    }
    let below = || {
        decision
            .topics
            .iter()
            .filter(|judged| judged.topic.managed)
            .filter_map(|judged| match (&judged.stage, &judged.standing) {
                (Stage::Live(live), Standing::Below { covered, .. }) => {
                    Some((judged, live, *covered))
                }
                _ => None,
            })
    };
    let uncovered: BTreeSet<i32> = below()
        .filter(|(_, _, covered)| !covered)
        .map(|(_, live, _)| live.partitions)
        .collect();
    below()
        .filter(|(_, live, _)| !uncovered.contains(&live.partitions))
        .map(|(judged, live, _)| Grow {
            topic: judged.topic.name.clone(),
            id: live.id.clone(),
            from: live.partitions,
            to: target,
        })
        .collect()
}
