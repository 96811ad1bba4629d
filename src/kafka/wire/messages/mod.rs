//! The messages that are sent and read: fields and versions are those of the schemas that Kafka's clients library carries
//! (`common/message/*.json` of 4.3). Of each API the flexible versions are spoken; brokers have them since Kafka 2.4.

mod cluster;
mod groups;
mod session;
mod streams;

use std::ops::RangeInclusive;

use super::super::metrics::Api;
use super::codec::{Malformed, Reader, Writer};

pub(in crate::kafka) use cluster::{Metadata, Node};
pub(in crate::kafka) use groups::{
    ClassicGroup, ClassicMember, ConsumerGroupDescribe, ConsumerGroupDescribed, DescribeGroups,
    ListGroups, Listed,
};
pub(in crate::kafka) use session::{
    ApiVersions, Authenticated, SaslAuthenticate, SaslHandshake, Versions,
};
pub(in crate::kafka) use streams::{StreamsGroupDescribe, StreamsGroupDescribed};

/// A request, and how its answer is read.
pub(in crate::kafka) trait Request {
    /// The number of the API.
    const KEY: i16;
    /// How it is counted.
    const API: Api;
    /// The versions that are spoken.
    const VERSIONS: RangeInclusive<i16>;
    /// Whether the header of the request has tagged fields, as that of each flexible version has.
    const HEADER_TAGS: bool = true;
    /// Whether the header of the answer has.
    const ANSWER_TAGS: bool = true;
    type Answer;

    fn write(&self, version: i16, writer: &mut Writer);
    fn read(version: i16, reader: &mut Reader<'_>) -> Result<Self::Answer, Malformed>;
}

/// An error code of the protocol with the broker's words, as far as it gives any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::kafka) struct Code {
    pub(in crate::kafka) number: i16,
    pub(in crate::kafka) message: Option<String>,
}

/// The codes that are told apart (Kafka's `Errors`).
pub(in crate::kafka) mod code {
    pub(in crate::kafka) const NONE: i16 = 0;
    pub(in crate::kafka) const COORDINATOR_LOAD_IN_PROGRESS: i16 = 14;
    pub(in crate::kafka) const COORDINATOR_NOT_AVAILABLE: i16 = 15;
    pub(in crate::kafka) const NOT_COORDINATOR: i16 = 16;
    pub(in crate::kafka) const TOPIC_AUTHORIZATION_FAILED: i16 = 29;
    pub(in crate::kafka) const GROUP_AUTHORIZATION_FAILED: i16 = 30;
    pub(in crate::kafka) const CLUSTER_AUTHORIZATION_FAILED: i16 = 31;
    pub(in crate::kafka) const UNSUPPORTED_SASL_MECHANISM: i16 = 33;
    pub(in crate::kafka) const ILLEGAL_SASL_STATE: i16 = 34;
    pub(in crate::kafka) const UNSUPPORTED_VERSION: i16 = 35;
    pub(in crate::kafka) const SASL_AUTHENTICATION_FAILED: i16 = 58;
    pub(in crate::kafka) const GROUP_ID_NOT_FOUND: i16 = 69;
}

impl Code {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            number: reader.i16()?,
            message: reader.nullable_string()?,
        })
    }

    /// A code without words.
    fn bare(number: i16) -> Self {
        Self {
            number,
            message: None,
        }
    }

    /// The protocol's name of the error.
    pub(in crate::kafka) fn name(&self) -> String {
        let known = match self.number {
            code::NONE => "NONE",
            code::COORDINATOR_LOAD_IN_PROGRESS => "COORDINATOR_LOAD_IN_PROGRESS",
            code::COORDINATOR_NOT_AVAILABLE => "COORDINATOR_NOT_AVAILABLE",
            code::NOT_COORDINATOR => "NOT_COORDINATOR",
            code::TOPIC_AUTHORIZATION_FAILED => "TOPIC_AUTHORIZATION_FAILED",
            code::GROUP_AUTHORIZATION_FAILED => "GROUP_AUTHORIZATION_FAILED",
            code::CLUSTER_AUTHORIZATION_FAILED => "CLUSTER_AUTHORIZATION_FAILED",
            code::UNSUPPORTED_SASL_MECHANISM => "UNSUPPORTED_SASL_MECHANISM",
            code::ILLEGAL_SASL_STATE => "ILLEGAL_SASL_STATE",
            code::UNSUPPORTED_VERSION => "UNSUPPORTED_VERSION",
            code::SASL_AUTHENTICATION_FAILED => "SASL_AUTHENTICATION_FAILED",
            code::GROUP_ID_NOT_FOUND => "GROUP_ID_NOT_FOUND",
            number => return format!("ERROR_{number}"),
        };
        known.to_owned()
    }

    /// The broker's words, else the name.
    pub(in crate::kafka) fn words(&self) -> String {
        match &self.message {
            Some(message) if !message.is_empty() => message.clone(),
            _ => self.name(),
        }
    }
}

#[cfg(test)]
mod tests;
