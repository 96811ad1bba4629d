//! From the brokers' words on a group to those of the judge.

use std::collections::BTreeMap;

use super::super::wire::{
    ClassicGroup, ClassicMember, ConsumerGroupDescribed, Listed, Malformed, Reader,
    StreamsGroupDescribed, code,
};
use super::streams::{Shown, process, tasks};
use super::{GroupError, bare, refused};
use crate::placement::{
    ConsumerGroup, Member, Phase, Protocol, SubTopology, Task, TopicPartitions,
};

/// The assignor of Kafka Streams on the classic protocol.
const STREAMS: &str = "stream";

/// A group of the classic protocol, and how a broker lists it.
pub(super) fn classic(
    group: ClassicGroup,
    listed: Option<&Listed>,
) -> Result<ConsumerGroup, GroupError> {
    // Of another kind since it was listed, or gone: the next reading tells.
    if group.code.number != code::NONE {
        return Err(refused(&group.code, &group.id));
    }
    let phase = match group.state.as_str() {
        "Stable" => Phase::Stable,
        "PreparingRebalance" | "CompletingRebalance" => Phase::Rebalancing,
        "Empty" => Phase::Empty,
        "Dead" => {
            // Listed just now, and dead as a classic one: either it went, or it is of a kind that this broker does not list.
            let kind = listed.map_or("", |listed| listed.kind.as_str());
            let state = listed.map_or("Dead", |listed| listed.state.as_str());
            let phase = Phase::Other(state.to_owned());
            return Ok(match kind {
                "" => bare(&group.id, Protocol::Other("unknown".to_owned()), phase),
                _ => bare(&group.id, Protocol::Classic, phase),
            });
        }
        other => Phase::Other(other.to_owned()),
    };
    let mut shown = Shown::default();
    let mut members = Vec::new();
    for member in &group.members {
        members.push(classic_member(&group, member, &mut shown)?);
    }
    let assignor = Some(group.protocol).filter(|name| !name.is_empty());
    Ok(ConsumerGroup {
        assignor,
        members,
        sub_topologies: shown.sub_topologies(&group.id),
        ..bare(&group.id, Protocol::Classic, phase)
    })
}

fn classic_member(
    group: &ClassicGroup,
    member: &ClassicMember,
    shown: &mut Shown,
) -> Result<Member, GroupError> {
    let unreadable = || {
        GroupError::Unsupported(format!(
            "what its members were given is not in a format that is known here (assignor {})",
            group.protocol
        ))
    };
    let (assigned, user_data) = assignment(&member.assignment).map_err(|_| unreadable())?;
    let mut read = Member {
        id: member.id.clone(),
        client_id: member.client_id.clone(),
        host: member.host.clone(),
        process: None,
        assigned,
        tasks: Vec::new(),
    };
    if group.protocol == STREAMS {
        let partitions = read.assigned.iter().map(|topic| topic.partitions.len());
        let partitions = partitions.sum();
        // Without its sub-topologies an application would be judged by where its partitions are now.
        let tasks = match tasks(user_data, partitions) {
            Some(tasks) => tasks,
            None if partitions == 0 => Vec::new(),
            None => return Err(unreadable()),
        };
        shown.add(&read.assigned, &tasks);
        read.tasks = tasks;
        read.tasks.sort();
        read.tasks.dedup();
        read.process = subscription(&member.metadata).ok().and_then(process);
    }
    Ok(read)
}

/// Partitions by topic, both ascending, and the user data, of an assignment (`ConsumerProtocolAssignment.json`, all
/// versions). An empty one is that of a member that waits for its first.
fn assignment(bytes: &[u8]) -> Result<(Vec<TopicPartitions>, &[u8]), Malformed> {
    if bytes.is_empty() {
        return Ok((Vec::new(), &[]));
    }
    let mut reader = Reader::new(bytes);
    reader.i16()?;
    let topics =
        reader.old_array(|topic| Ok((topic.old_string()?, topic.old_array(Reader::i32)?)))?;
    let user_data = reader.old_bytes()?;
    Ok((by_topic(topics), user_data))
}

/// The user data of a subscription (`ConsumerProtocolSubscription.json`, all versions).
fn subscription(bytes: &[u8]) -> Result<&[u8], Malformed> {
    let mut reader = Reader::new(bytes);
    reader.i16()?;
    reader.old_array(Reader::old_string)?;
    reader.old_bytes()
}

fn by_topic(parts: impl IntoIterator<Item = (String, Vec<i32>)>) -> Vec<TopicPartitions> {
    let mut topics: BTreeMap<String, Vec<i32>> = BTreeMap::new();
    for (topic, partitions) in parts {
        topics.entry(topic).or_default().extend(partitions);
    }
    let sorted = |(topic, mut partitions): (String, Vec<i32>)| {
        partitions.sort_unstable();
        partitions.dedup();
        TopicPartitions { topic, partitions }
    };
    topics.into_iter().map(sorted).collect()
}

/// A group of KIP-848.
pub(super) fn consumer(group: ConsumerGroupDescribed) -> Result<ConsumerGroup, GroupError> {
    if group.code.number != code::NONE {
        return Err(refused(&group.code, &group.id));
    }
    let members = group.members.into_iter().map(|member| Member {
        id: member.id,
        client_id: member.client_id,
        host: member.host,
        process: None,
        assigned: by_topic(
            member
                .assigned
                .into_iter()
                .map(|topic| (topic.topic, topic.partitions)),
        ),
        tasks: Vec::new(),
    });
    Ok(ConsumerGroup {
        assignor: Some(group.assignor).filter(|name| !name.is_empty()),
        members: members.collect(),
        ..bare(&group.id, Protocol::Consumer, by_coordinator(&group.state))
    })
}

/// A group of Kafka Streams (KIP-1071).
pub(super) fn streams(group: StreamsGroupDescribed) -> Result<ConsumerGroup, GroupError> {
    if group.code.number != code::NONE {
        return Err(refused(&group.code, &group.id));
    }
    let parts = group.sub_topologies;
    let members = group.members.into_iter().map(|member| Member {
        id: member.id,
        client_id: member.client_id,
        host: member.host,
        process: Some(member.process).filter(|process| !process.is_empty()),
        assigned: read_by(&member.tasks, &parts),
        tasks: member.tasks,
    });
    let members = members.collect();
    Ok(ConsumerGroup {
        members,
        sub_topologies: parts,
        ..bare(&group.id, Protocol::Streams, by_coordinator(&group.state))
    })
}

/// What tasks read: the partition with their number of each topic of their sub-topology.
fn read_by(tasks: &[Task], parts: &[SubTopology]) -> Vec<TopicPartitions> {
    by_topic(tasks.iter().flat_map(|task| {
        let part = parts.iter().find(|part| part.id == task.sub_topology);
        let topics = part.into_iter().flat_map(|part| {
            let repartition = part.repartition_topics.iter();
            part.source_topics.iter().chain(repartition)
        });
        topics.map(|topic| (topic.clone(), vec![task.partition]))
    }))
}

/// The states of groups that the coordinator assigns itself.
fn by_coordinator(state: &str) -> Phase {
    match state {
        "Stable" => Phase::Stable,
        "Assigning" | "Reconciling" => Phase::Rebalancing,
        "Empty" => Phase::Empty,
        "NotReady" => Phase::NotReady("its coordinator calls it NotReady".to_owned()),
        other => Phase::Other(other.to_owned()),
    }
}
