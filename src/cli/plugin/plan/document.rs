//! What a growth moves, as JSON and YAML.

use std::io::{self, Write};

use serde::Serialize;

use super::super::document::{List, json_fields, yaml_block};
use super::super::subject::Subject;
use super::live::Record;
use super::{Form, Moved, Outcome, Step};
use crate::keys::PartitionCount;
use crate::layout::moved_share;

/// The keys of each layout so far.
pub(super) struct Document {
    keys: Vec<List>,
    is_json: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a str>,
    to: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_schemes_aligned: Option<Verdict<'a>>,
    #[serde(flatten)]
    live: Option<Record<'a>>,
}

#[derive(Serialize)]
struct Verdict<'a> {
    status: &'static str,
    reason: &'static str,
    message: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LayoutHead<'a> {
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    topics: &'a [String],
    scheme: String,
    from: i32,
    to: i32,
    moved_share: ShareRecord,
}

/// An exact share of all keys.
#[derive(Serialize)]
struct ShareRecord {
    percent: String,
    numerator: u64,
    denominator: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LayoutTail<'a> {
    moved: u64,
    total: u64,
    spread: u64,
    keys_per_partition_before: &'a [u64],
    keys_per_partition_after: &'a [u64],
}

impl Document {
    pub(super) fn json(subject: &Subject, spools: usize) -> Self {
        Self {
            keys: subject.layouts.iter().map(|_| List::json(spools)).collect(),
            is_json: true,
        }
    }

    pub(super) fn yaml(subject: &Subject, spools: usize) -> Self {
        Self {
            keys: subject
                .layouts
                .iter()
                .map(|_| List::yaml("  ", spools))
                .collect(),
            is_json: false,
        }
    }
}

impl Form for Document {
    fn row(&mut self, layout: usize, row: &Moved<'_>) -> io::Result<()> {
        self.keys[layout].push(row)
    }

    fn finish(self: Box<Self>, outcome: &Outcome<'_>, out: &mut dyn Write) -> io::Result<()> {
        let head = Head::of(outcome);
        let (at, of) = outcome.place;
        if self.is_json {
            json_fields(out, "{\n", &head)?;
            out.write_all(b",\n  \"layouts\": [")?;
        } else {
            if at > 0 {
                out.write_all(b"---\n")?;
            }
            yaml_block(out, &head, "", "")?;
            // A group may declare no scheme at all.
            let none = outcome.steps.is_empty();
            out.write_all(if none {
                b"layouts: []\n"
            } else {
                b"layouts:\n"
            })?;
        }
        for (layout, (keys, step)) in self.keys.into_iter().zip(&outcome.steps).enumerate() {
            let (head, tail) = (LayoutHead::of(step), LayoutTail::of(step));
            if self.is_json {
                json_fields(out, if layout == 0 { "{\n" } else { ", {\n" }, &head)?;
                if !outcome.summary {
                    keys.print(out)?;
                }
                json_fields(out, ",\n", &tail)?;
                out.write_all(b"\n  }")?;
            } else {
                yaml_block(out, &head, "- ", "  ")?;
                if !outcome.summary {
                    keys.print(out)?;
                }
                yaml_block(out, &tail, "  ", "  ")?;
            }
        }
        if self.is_json {
            let comma = if at + 1 < of { "," } else { "" };
            writeln!(out, "]\n}}{comma}")?;
        }
        Ok(())
    }
}

impl<'a> Head<'a> {
    fn of(outcome: &'a Outcome<'_>) -> Self {
        let schemes = outcome.schemes.as_ref();
        Self {
            group: outcome.subject.name(),
            to: outcome.to.map(PartitionCount::get),
            key_schemes_aligned: schemes.map(|(state, reason, message)| Verdict {
                status: state.as_str(),
                reason: reason.as_str(),
                message,
            }),
            live: outcome.live.map(Record::of),
        }
    }
}

impl<'a> LayoutHead<'a> {
    fn of(step: &'a Step<'_>) -> Self {
        let share = moved_share(step.layout.count, step.to);
        Self {
            topics: &step.layout.writers,
            scheme: step.layout.scheme.to_string(),
            from: step.layout.count.get(),
            to: step.to.get(),
            moved_share: ShareRecord {
                percent: share.to_string(),
                numerator: share.numerator(),
                denominator: share.denominator(),
            },
        }
    }
}

impl<'a> LayoutTail<'a> {
    fn of(step: &'a Step<'_>) -> Self {
        Self {
            moved: step.moved,
            total: step.before.keys(),
            spread: step.before.spread(),
            keys_per_partition_before: step.before.per_partition(),
            keys_per_partition_after: step.after.per_partition(),
        }
    }
}
