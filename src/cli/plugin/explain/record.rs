//! What leads a key to its partition, under every scheme.

use serde::Serialize;

use super::super::subject::Subject;
use crate::keys::clients::{Client, Keys, Setting, users};
use crate::keys::{EncodeError, Encoding, KeyScheme, PartitionCount, Partitioner, Placement};
use crate::layout::{hashed_part, hex, redis_slot};

/// One key.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) key: String,
    pub(super) encoding: String,
    pub(super) bytes: String,
    pub(super) length: usize,
    pub(super) partitions: i32,
    pub(super) schemes: Vec<Scheme>,
    pub(super) redis: Redis,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seen: Option<i32>,
    /// The partitioners that put the key where it was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) explained_by: Option<Vec<&'static str>>,
}

/// One partitioner.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Scheme {
    pub(super) partitioner: &'static str,
    pub(super) hash: Option<String>,
    pub(super) hash_name: &'static str,
    pub(super) reduction: &'static str,
    pub(super) partition: Option<i32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) spread: bool,
    /// Why it cannot place this key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) not_applicable: Option<String>,
    /// Clients that use it by default.
    pub(super) default_of: Vec<String>,
    /// Clients that can be configured to use it, and how.
    pub(super) configured_in: Vec<String>,
    /// The topics of the group that declare it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) topics: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) explains: bool,
}

/// A Redis Cluster.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Redis {
    pub(super) slot: u16,
    pub(super) hashed_part: String,
}

impl Record {
    pub(super) fn of(
        key: &str,
        encoding: Encoding,
        count: PartitionCount,
        seen: Option<i32>,
        group: Option<&Subject>,
    ) -> Result<Self, EncodeError> {
        let bytes = encoding.encode(key)?;
        let schemes: Vec<Scheme> = Partitioner::COMPUTED
            .iter()
            .filter_map(|partitioner| Scheme::of(partitioner, encoding, &bytes, count))
            .map(|scheme| Scheme {
                explains: scheme.partition.is_some() && scheme.partition == seen,
                topics: topics(group, scheme.partitioner),
                ..scheme
            })
            .collect();
        let explained = schemes.iter().filter(|scheme| scheme.explains);
        let part = hashed_part(key.as_bytes());
        Ok(Self {
            key: key.to_owned(),
            encoding: encoding.to_string(),
            bytes: hex(&bytes),
            length: bytes.len(),
            partitions: count.get(),
            explained_by: seen.map(|_| explained.map(|scheme| scheme.partitioner).collect()),
            schemes,
            redis: Redis {
                slot: redis_slot(key.as_bytes()),
                // Braces are ASCII, so a part of a text is a text.
                hashed_part: String::from_utf8_lossy(part).into_owned(),
            },
            seen,
        })
    }
}

impl Scheme {
    fn of(
        partitioner: &Partitioner,
        encoding: Encoding,
        bytes: &[u8],
        count: PartitionCount,
    ) -> Option<Self> {
        let formula = partitioner.formula()?;
        let refused = KeyScheme::of(encoding, partitioner.clone()).err();
        let placement = match refused {
            None => formula.partition(Some(bytes), count),
            Some(_) => Placement::Unknown,
        };
        let named = |wanted: bool| {
            users(partitioner)
                .filter(|(_, setting)| setting.is_default() == wanted)
                .map(|(client, setting)| label(client, setting, bytes))
                .collect()
        };
        Some(Self {
            partitioner: partitioner.name(),
            hash: formula
                .hash
                .of(bytes)
                .filter(|_| refused.is_none())
                .map(|hash| format!("{hash:08x}")),
            hash_name: formula.hash.name(),
            reduction: formula.reduction.formula(),
            partition: match placement {
                Placement::At(partition) => Some(partition),
                Placement::Spread | Placement::Unknown => None,
            },
            spread: placement == Placement::Spread,
            not_applicable: refused.map(|refused| refused.to_string()),
            default_of: named(true),
            configured_in: named(false),
            topics: Vec::new(),
            explains: false,
        })
    }
}

/// `kafkajs < 2.0`, `librdkafka consistent`.
fn label(client: &Client, setting: &Setting, bytes: &[u8]) -> String {
    let mut text = client.name.to_owned();
    if !setting.is_default() {
        text = format!("{text} {}", setting.names[0]);
    }
    let versions = setting.versions.to_string();
    if versions != "all" {
        text = format!("{text} {versions}");
    }
    if bytes.is_empty() && matches!(setting.keys, Keys::PlacedButEmpty(_)) {
        text.push_str(" (which spreads an empty key)");
    }
    text
}

fn topics(group: Option<&Subject>, partitioner: &str) -> Vec<String> {
    let layouts = group.iter().flat_map(|group| &group.layouts);
    layouts
        .filter(|layout| layout.scheme.partitioner.name() == partitioner)
        .flat_map(|layout| layout.writers.iter().cloned())
        .collect()
}
