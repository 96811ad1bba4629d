//! Groups of the classic protocol and of KIP-848.

use std::ops::RangeInclusive;

use super::super::super::metrics::Api;
use super::super::codec::{Malformed, Reader, Writer};
use super::{Code, Request};
use crate::placement::TopicPartitions;

/// Which groups does the broker coordinate?
pub(in crate::kafka) struct ListGroups;

/// A group in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::kafka) struct Listed {
    pub(in crate::kafka) id: String,
    /// `consumer`, `connect`, `share`; empty if its members never said.
    pub(in crate::kafka) protocol_type: String,
    /// Since version 4 (Kafka 2.6), else empty.
    pub(in crate::kafka) state: String,
    /// Since version 5 (Kafka 3.8), else empty.
    pub(in crate::kafka) kind: String,
}

impl Request for ListGroups {
    const KEY: i16 = 16;
    const API: Api = Api::ListGroups;
    const VERSIONS: RangeInclusive<i16> = 3..=5;
    type Answer = (Code, Vec<Listed>);

    fn write(&self, version: i16, writer: &mut Writer) {
        // In all states, of all types.
        for _ in 3..version {
            writer.strings(&[]);
        }
        writer.tags();
    }

    fn read(version: i16, reader: &mut Reader<'_>) -> Result<Self::Answer, Malformed> {
        reader.i32()?;
        let code = Code::bare(reader.i16()?);
        let groups = reader.array(|group| {
            let mut since = |least| match version {
                _ if version < least => Ok(String::new()),
                _ => group.string(),
            };
            let listed = Listed {
                id: since(3)?,
                protocol_type: since(3)?,
                state: since(4)?,
                kind: since(5)?,
            };
            group.tags()?;
            Ok(listed)
        })?;
        Ok((code, groups))
    }
}

/// What are these groups of the classic protocol doing?
pub(in crate::kafka) struct DescribeGroups<'a>(pub(in crate::kafka) &'a [String]);

/// A group of the classic protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::kafka) struct ClassicGroup {
    pub(in crate::kafka) code: Code,
    pub(in crate::kafka) id: String,
    pub(in crate::kafka) state: String,
    pub(in crate::kafka) protocol_type: String,
    /// The assignor's name, while the group is stable.
    pub(in crate::kafka) protocol: String,
    pub(in crate::kafka) members: Vec<ClassicMember>,
}

/// One of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::kafka) struct ClassicMember {
    pub(in crate::kafka) id: String,
    pub(in crate::kafka) client_id: String,
    pub(in crate::kafka) host: String,
    /// What it subscribed to, in the format of its own kind.
    pub(in crate::kafka) metadata: Vec<u8>,
    /// What it was given, likewise.
    pub(in crate::kafka) assignment: Vec<u8>,
}

impl Request for DescribeGroups<'_> {
    const KEY: i16 = 15;
    const API: Api = Api::DescribeGroups;
    /// Before version 6 (Kafka 4.0) a group that is not there, or of another kind, is `Dead`.
    const VERSIONS: RangeInclusive<i16> = 5..=6;
    type Answer = Vec<ClassicGroup>;

    fn write(&self, _version: i16, writer: &mut Writer) {
        writer.strings(self.0);
        writer.bool(false);
        writer.tags();
    }

    fn read(version: i16, reader: &mut Reader<'_>) -> Result<Self::Answer, Malformed> {
        reader.i32()?;
        reader.array(|group| {
            let number = group.i16()?;
            let message = match version {
                ..6 => None,
                _ => group.nullable_string()?,
            };
            let read = ClassicGroup {
                code: Code { number, message },
                id: group.string()?,
                state: group.string()?,
                protocol_type: group.string()?,
                protocol: group.string()?,
                members: group.array(classic_member)?,
            };
            group.i32()?;
            group.tags()?;
            Ok(read)
        })
    }
}

fn classic_member(member: &mut Reader<'_>) -> Result<ClassicMember, Malformed> {
    let id = member.string()?;
    member.nullable_string()?;
    let read = ClassicMember {
        id,
        client_id: member.string()?,
        host: member.string()?,
        metadata: member.bytes()?.unwrap_or_default().to_vec(),
        assignment: member.bytes()?.unwrap_or_default().to_vec(),
    };
    member.tags()?;
    Ok(read)
}

/// What are these groups of KIP-848 doing?
pub(in crate::kafka) struct ConsumerGroupDescribe<'a>(pub(in crate::kafka) &'a [String]);

/// A group of KIP-848.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::kafka) struct ConsumerGroupDescribed {
    pub(in crate::kafka) code: Code,
    pub(in crate::kafka) id: String,
    pub(in crate::kafka) state: String,
    pub(in crate::kafka) assignor: String,
    pub(in crate::kafka) members: Vec<ConsumerMember>,
}

/// One of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::kafka) struct ConsumerMember {
    pub(in crate::kafka) id: String,
    pub(in crate::kafka) client_id: String,
    pub(in crate::kafka) host: String,
    pub(in crate::kafka) assigned: Vec<TopicPartitions>,
}

impl Request for ConsumerGroupDescribe<'_> {
    const KEY: i16 = 69;
    const API: Api = Api::ConsumerGroupDescribe;
    const VERSIONS: RangeInclusive<i16> = 0..=0;
    type Answer = Vec<ConsumerGroupDescribed>;

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
            let read = ConsumerGroupDescribed {
                code,
                id,
                state,
                assignor: group.string()?,
                members: group.array(consumer_member)?,
            };
            group.i32()?;
            group.tags()?;
            Ok(read)
        })
    }
}

fn consumer_member(member: &mut Reader<'_>) -> Result<ConsumerMember, Malformed> {
    let id = member.string()?;
    // Its instance, its rack, its epoch.
    member.nullable_string()?;
    member.nullable_string()?;
    member.i32()?;
    let (client_id, host) = (member.string()?, member.string()?);
    // What it subscribed to, by name and by pattern.
    member.array(Reader::string)?;
    member.nullable_string()?;
    let assigned = assignment(member)?;
    // What it is to have once the others have let go of it.
    assignment(member)?;
    member.tags()?;
    Ok(ConsumerMember {
        id,
        client_id,
        host,
        assigned,
    })
}

fn assignment(reader: &mut Reader<'_>) -> Result<Vec<TopicPartitions>, Malformed> {
    let topics = reader.array(|topic| {
        topic.take(16)?;
        let name = topic.string()?;
        let mut partitions = topic.array(Reader::i32)?;
        topic.tags()?;
        partitions.sort_unstable();
        Ok(TopicPartitions {
            topic: name,
            partitions,
        })
    })?;
    reader.tags()?;
    Ok(topics)
}
