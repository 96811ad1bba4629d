//! Who is there.

use std::ops::RangeInclusive;

use super::super::super::metrics::Api;
use super::super::codec::{Malformed, Reader, Writer};
use super::Request;

/// Where a broker listens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::kafka) struct Node {
    pub(in crate::kafka) host: String,
    pub(in crate::kafka) port: u16,
}

impl Node {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let host = reader.string()?;
        // -1 where there is none.
        let port = u16::try_from(reader.i32()?).unwrap_or(0);
        Ok(Self { host, port })
    }
}

/// Which brokers are there? No topic is asked for.
pub(in crate::kafka) struct Metadata;

impl Request for Metadata {
    const KEY: i16 = 3;
    const API: Api = Api::Metadata;
    const VERSIONS: RangeInclusive<i16> = 9..=9;
    type Answer = Vec<Node>;

    fn write(&self, _version: i16, writer: &mut Writer) {
        writer.strings(&[]);
        // No creation, nobody's rights.
        writer.bool(false);
        writer.bool(false);
        writer.bool(false);
        writer.tags();
    }

    fn read(_version: i16, reader: &mut Reader<'_>) -> Result<Self::Answer, Malformed> {
        reader.i32()?;
        reader.array(|broker| {
            broker.i32()?;
            let node = Node::read(broker)?;
            broker.nullable_string()?;
            broker.tags()?;
            Ok(node)
        })
    }
}
