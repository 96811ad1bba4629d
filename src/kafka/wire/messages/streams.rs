//! Groups of Kafka Streams (KIP-1071).

use std::ops::RangeInclusive;

use super::super::super::metrics::Api;
use super::super::codec::{Malformed, Reader, Writer};
use super::{Code, Request};
use crate::placement::{SubTopology, Task};

/// What are these groups of Kafka Streams doing?
pub(in crate::kafka) struct StreamsGroupDescribe<'a>(pub(in crate::kafka) &'a [String]);

/// A group of Kafka Streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::kafka) struct StreamsGroupDescribed {
    pub(in crate::kafka) code: Code,
    pub(in crate::kafka) id: String,
    pub(in crate::kafka) state: String,
    pub(in crate::kafka) sub_topologies: Vec<SubTopology>,
    pub(in crate::kafka) members: Vec<StreamsMember>,
}

/// One of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::kafka) struct StreamsMember {
    pub(in crate::kafka) id: String,
    pub(in crate::kafka) client_id: String,
    pub(in crate::kafka) host: String,
    pub(in crate::kafka) process: String,
    /// Its active tasks.
    pub(in crate::kafka) tasks: Vec<Task>,
}

impl Request for StreamsGroupDescribe<'_> {
    const KEY: i16 = 89;
    const API: Api = Api::StreamsGroupDescribe;
    const VERSIONS: RangeInclusive<i16> = 0..=0;
    type Answer = Vec<StreamsGroupDescribed>;

    fn write(&self, _version: i16, writer: &mut Writer) {
        writer.strings(self.0);
        writer.bool(false);
        writer.tags();
    }

    fn read(_version: i16, reader: &mut Reader<'_>) -> Result<Self::Answer, Malformed> {
        reader.i32()?;
        reader.array(|group| {
            let code = Code::read(group)?;
            let (id, state) = (group.string()?, group.string()?);
            group.i32()?;
            group.i32()?;
            let read = StreamsGroupDescribed {
                code,
                id,
                state,
                sub_topologies: nullable(group, topology)?.unwrap_or_default(),
                members: group.array(member)?,
            };
            group.i32()?;
            group.tags()?;
            Ok(read)
        })
    }
}

/// A structure that may be left out: a byte below 0 stands for it then.
fn nullable<'a, T>(
    reader: &mut Reader<'a>,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, Malformed>,
) -> Result<Option<T>, Malformed> {
    (reader.i8()? >= 0).then(|| read(reader)).transpose()
}

fn topology(reader: &mut Reader<'_>) -> Result<Vec<SubTopology>, Malformed> {
    reader.i32()?;
    let parts = reader.array(|part| {
        let id = part.string()?;
        let source_topics = part.array(Reader::string)?;
        // The repartition topics that it writes to; who reads them names them too.
        part.array(Reader::string)?;
        let changelog_topics = part.array(topic)?;
        let repartition_topics = part.array(topic)?;
        part.tags()?;
        Ok(SubTopology {
            id,
            source_topics,
            repartition_topics,
            changelog_topics,
        })
    })?;
    reader.tags()?;
    Ok(parts)
}

/// The name of an internal topic.
fn topic(reader: &mut Reader<'_>) -> Result<String, Malformed> {
    let name = reader.string()?;
    reader.i32()?;
    reader.i16()?;
    reader.array(pair)?;
    reader.tags()?;
    Ok(name)
}

fn pair(reader: &mut Reader<'_>) -> Result<(), Malformed> {
    reader.string()?;
    reader.string()?;
    reader.tags()
}

fn member(member: &mut Reader<'_>) -> Result<StreamsMember, Malformed> {
    let id = member.string()?;
    // Its epoch, its instance, its rack.
    member.i32()?;
    member.nullable_string()?;
    member.nullable_string()?;
    let (client_id, host) = (member.string()?, member.string()?);
    member.i32()?;
    let process = member.string()?;
    // Where it can be queried, its tags, how far its tasks are.
    nullable(member, |endpoint| {
        endpoint.string()?;
        endpoint.i16()?;
        endpoint.tags()
    })?;
    member.array(pair)?;
    member.array(offset)?;
    member.array(offset)?;
    let tasks = assignment(member)?;
    // What it is to have once the others have let go of it.
    assignment(member)?;
    member.bool()?;
    member.tags()?;
    Ok(StreamsMember {
        id,
        client_id,
        host,
        process,
        tasks,
    })
}

fn offset(reader: &mut Reader<'_>) -> Result<(), Malformed> {
    reader.string()?;
    reader.i32()?;
    reader.i64()?;
    reader.tags()
}

/// The active tasks of an assignment.
fn assignment(reader: &mut Reader<'_>) -> Result<Vec<Task>, Malformed> {
    let active = reader.array(tasks)?;
    // Standby and warm-up.
    reader.array(tasks)?;
    reader.array(tasks)?;
    reader.tags()?;
    let mut active: Vec<Task> = active.into_iter().flatten().collect();
    active.sort_unstable();
    Ok(active)
}

fn tasks(reader: &mut Reader<'_>) -> Result<Vec<Task>, Malformed> {
    let sub_topology = reader.string()?;
    let partitions = reader.array(Reader::i32)?;
    reader.tags()?;
    let task = |partition| Task {
        sub_topology: sub_topology.clone(),
        partition,
    };
    Ok(partitions.into_iter().map(task).collect())
}
