//! A layout as JSON and YAML show it.

use serde::Serialize;

use super::super::subject::{Layout, Placed, Subject};
use crate::keys::Placement;
use crate::layout::{Tally, hex};

/// What comes before the keys.
#[derive(Serialize)]
pub(super) struct Head<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    topics: &'a [String],
    scheme: String,
    partitions: i32,
}

/// One key.
#[derive(Serialize)]
pub(super) struct Row<'a> {
    key: &'a str,
    bytes: String,
    hash: Option<String>,
    partition: Option<i32>,
    /// A key that is spread has no partition.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    spread: bool,
}

/// What comes after the keys.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tail<'a> {
    keys_per_partition: &'a [u64],
    empty_partitions: Vec<i32>,
    skew: Option<String>,
    spread: u64,
    total: u64,
}

/// What is said of a group beside its layouts, with the first of them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Beside<'a> {
    differing: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_calculated: Vec<NotCalculated<'a>>,
}

#[derive(Serialize)]
struct NotCalculated<'a> {
    topic: &'a str,
    reason: &'a str,
}

impl<'a> Head<'a> {
    /// Of the layout at that place.
    pub(super) fn of(subject: &'a Subject, at: usize) -> Self {
        let layout: &Layout = &subject.layouts[at];
        Self {
            group: subject.name().filter(|_| at == 0),
            topics: &layout.writers,
            scheme: layout.scheme.to_string(),
            partitions: layout.count.get(),
        }
    }
}

impl<'a> Row<'a> {
    pub(super) fn of(key: &'a str, placed: &Placed<'_>) -> Self {
        Self {
            key,
            bytes: hex(&placed.bytes),
            hash: placed.hash.map(|hash| format!("{hash:08x}")),
            partition: match placed.placement {
                Placement::At(partition) => Some(partition),
                Placement::Spread | Placement::Unknown => None,
            },
            spread: placed.placement == Placement::Spread,
        }
    }
}

impl<'a> Tail<'a> {
    pub(super) fn of(tally: &'a Tally) -> Self {
        Self {
            keys_per_partition: tally.per_partition(),
            empty_partitions: tally.empty().collect(),
            skew: tally.skew().map(|skew| skew.to_string()),
            spread: tally.spread(),
            total: tally.keys(),
        }
    }
}

impl<'a> Beside<'a> {
    /// Nothing for a bare scheme.
    pub(super) fn of(subject: &'a Subject, differing: u64) -> Option<Self> {
        let left_out = subject.left_out.iter().map(|left_out| NotCalculated {
            topic: &left_out.writer,
            reason: left_out.why,
        });
        subject.name().map(|_| Self {
            differing,
            not_calculated: left_out.collect(),
        })
    }
}
