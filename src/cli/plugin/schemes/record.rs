//! What is known of clients as JSON and YAML show it.

use serde::Serialize;

use crate::keys::clients::{Client, Keys, LEFT_OUT, Setting};
use crate::keys::{Encoding, Partitioner};

/// All of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    clients: Vec<ClientRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partitioners: Option<Vec<PartitionerRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encodings: Option<Vec<&'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<Vec<LeftOutRecord>>,
}

#[derive(Serialize)]
struct ClientRecord {
    name: &'static str,
    what: &'static str,
    settings: Vec<SettingRecord>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SettingRecord {
    names: &'static [&'static str],
    versions: String,
    partitioner: Option<String>,
    empty_key: Option<String>,
    no_key: Option<String>,
    /// Why a group with this setting is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'static str>,
    known_by: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PartitionerRecord {
    name: &'static str,
    hash: &'static str,
    reduction: &'static str,
    empty_key: String,
    no_key: String,
}

#[derive(Serialize)]
struct LeftOutRecord {
    what: &'static str,
    reason: &'static str,
}

impl Record {
    /// Of some clients, and if they are all, of the rest too.
    pub(super) fn of(clients: &[&'static Client], all: bool) -> Self {
        let left_out = LEFT_OUT
            .iter()
            .map(|&(what, reason)| LeftOutRecord { what, reason });
        Self {
            clients: clients.iter().map(|it| ClientRecord::of(it)).collect(),
            partitioners: all.then(partitioners),
            encodings: all.then(|| Encoding::names().collect()),
            left_out: all.then(|| left_out.collect()),
        }
    }
}

impl ClientRecord {
    fn of(client: &'static Client) -> Self {
        Self {
            name: client.name,
            what: client.what,
            settings: client.settings.iter().map(SettingRecord::of).collect(),
        }
    }
}

impl SettingRecord {
    fn of(setting: &'static Setting) -> Self {
        let null = setting.partitioner().map(|_| setting.null);
        Self {
            names: setting.names,
            versions: setting.versions.to_string(),
            partitioner: setting.partitioner().map(ToString::to_string),
            empty_key: setting.empty().map(|rule| rule.to_string()),
            no_key: null.map(|rule| rule.to_string()),
            refused: match setting.keys {
                Keys::Ignored(reason) | Keys::Unverified(reason) => Some(reason),
                Keys::Placed(_) | Keys::PlacedButEmpty(_) => None,
            },
            known_by: setting.evidence.as_str(),
        }
    }
}

fn partitioners() -> Vec<PartitionerRecord> {
    let all = Partitioner::COMPUTED.iter();
    all.filter_map(|partitioner| {
        let formula = partitioner.formula()?;
        Some(PartitionerRecord {
            name: partitioner.name(),
            hash: formula.hash.name(),
            reduction: formula.reduction.formula(),
            empty_key: formula.empty.to_string(),
            no_key: formula.null.to_string(),
        })
    })
    .collect()
}
