//! What each topic is to its group, before counts are compared.

use super::decide::deleted;
use super::decision::{Decision, Input, Stage, Standing, TopicDecision};
use super::group::{Group, Topic};
use super::locks::LockStanding;
use super::memory::{Memory, TopicMemory};
use super::observed::{Records, TopicReading, View};

/// Whether a topic has to be looked at once more before anything is decided: it was not read yet, or it is missing for
/// the first time, and was there before. What was seen of it last then no longer stands, and one miss is no proof.
pub(super) fn unconfirmed(topic: &Topic, memory: &Memory, view: &View) -> bool {
    let Some(seen) = view.topics.get(&topic.name) else {
        return true;
    };
    let recorded = memory
        .topics
        .get(&topic.name)
        .is_some_and(|memory| memory.id.is_some());
    match seen.reading {
        TopicReading::Missing => recorded && seen.misses < 2,
        TopicReading::Present(_) => seen.misses > 0,
        TopicReading::NotAuthorized | TopicReading::Failed(_) => false,
    }
}

/// What the topic is, and the adoption of its id.
pub(super) fn identify(topic: &Topic, input: &Input<'_>, decision: &mut Decision) -> TopicDecision {
    let mut judged = TopicDecision {
        topic: topic.clone(),
        stage: Stage::Absent,
        standing: Standing::Unjudged,
        accepted: None,
        drifted: false,
        replaced: None,
        lock: LockStanding::NotWanted,
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
        Some(id) if topic.managed && !group.acknowledged.contains(&deleted(id)) && !elsewhere => {
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
