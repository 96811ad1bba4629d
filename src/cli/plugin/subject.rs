//! A group, or a bare scheme, as a set of layouts: one for each distinct way in which keys are placed.

use std::borrow::Cow;
use std::fmt;

use crate::api::CoPartitionedTopicGroup;
use crate::controller;
use crate::keys::{EncodeError, Encoding, Formula, KeyRule, KeyScheme, PartitionCount, Placement};
use crate::plan::Group;

/// One thing to look at.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    /// Namespace and name, and what the group declares; none for a bare scheme.
    pub(super) group: Option<(String, Group)>,
    /// The distinct ways to place keys, in the order of the topics; at least one.
    pub(super) layouts: Vec<Layout>,
    /// Topics of which nothing can be calculated, and why.
    pub(super) left_out: Vec<LeftOut>,
}

/// One way to place keys.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The topics, and the producers that do not keep to what their topic declares.
    pub(super) writers: Vec<String>,
    /// How keys are placed.
    pub(super) scheme: KeyScheme,
    /// On how many partitions.
    pub(super) count: PartitionCount,
    /// The scheme's formula, with what a client makes of empty keys.
    pub(super) formula: Formula,
}

/// Who places keys: a topic as it is declared, or one of its producers.
#[derive(Clone, Copy)]
struct Writer<'a> {
    topic: &'a str,
    producer: Option<&'a str>,
}

impl<'a> Writer<'a> {
    fn of(topic: &'a str) -> Self {
        Self {
            topic,
            producer: None,
        }
    }
}

/// `notes`, or `librdkafka consistent on notes`.
impl fmt::Display for Writer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(producer) = self.producer {
            write!(f, "{producer} on ")?;
        }
        f.write_str(self.topic)
    }
}

/// A topic that is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub(super) writer: String,
    pub(super) why: &'static str,
}

/// Where one key lies in one layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placed<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    pub(super) hash: Option<u32>,
    pub(super) placement: Placement,
}

impl Layout {
    /// The bytes that are hashed are the key's text, by the partitioner's own rules.
    pub(super) fn hashes_text(&self) -> bool {
        self.scheme.encoding.hashed() == Encoding::UTF8
            && self.scheme.partitioner.formula() == Some(self.formula)
    }

    /// Where a key lies.
    #[inline]
    pub(super) fn placement(&self, key: &str) -> Result<Placement, EncodeError> {
        let bytes = self.scheme.encoding.encode(key)?;
        Ok(self.formula.partition(Some(&bytes), self.count))
    }

    /// The same with what leads there.
    pub(super) fn place<'a>(&self, key: &'a str) -> Result<Placed<'a>, EncodeError> {
        let bytes = self.scheme.encoding.encode(key)?;
        Ok(Placed {
            hash: self.formula.hash.of(&bytes),
            placement: self.formula.partition(Some(&bytes), self.count),
            bytes,
        })
    }

    /// Whether the topic itself is declared so.
    fn has(&self, topic: &str) -> bool {
        self.writers.iter().any(|writer| writer == topic)
    }

    /// The writers in one text.
    pub(super) fn names(&self) -> String {
        self.writers.join(", ")
    }
}

const NOT_COUNTED: &str = "its partition count is not known";
const NOT_DECLARED: &str = "no key scheme is declared";
const CUSTOM: &str = "a custom partitioner has no formula here";
const SCHEMA_ID: &str = "the schema id is part of the key and not declared; write confluent:ID:E";
const NOT_TEXT: &str = "its partitioner hashes text, and keys of this encoding are none";
const WINDOW: &str = "its producer hashes the window too, unlike Kafka Streams";

impl Subject {
    /// A scheme without a group.
    pub(super) fn bare(
        scheme: &KeyScheme,
        spreads_empty: bool,
        count: PartitionCount,
    ) -> Result<Self, String> {
        let mut subject = Self {
            group: None,
            layouts: Vec::new(),
            left_out: Vec::new(),
        };
        subject.add(None, scheme, spreads_empty, count);
        match subject.left_out.first() {
            None => Ok(subject),
            Some(left_out) => Err(format!("{scheme} cannot be calculated: {}", left_out.why)),
        }
    }

    /// The layouts of a group; `given` goes before its own counts.
    pub(super) fn of_group(
        resource: &CoPartitionedTopicGroup,
        given: Option<PartitionCount>,
    ) -> Result<Self, String> {
        let (name, group) = declared(resource)?;
        let counted = |topic: &str| given.or_else(|| count_of(resource, topic));
        let mut topics = group.topics.iter();
        if let Some(topic) = topics.find(|topic| counted(&topic.name).is_none()) {
            return Err(format!(
                "{name}: the partition count of {} is not known: neither status nor spec.partitions has it; give --partitions N",
                topic.name
            ));
        }
        let subject = Self::laid_out(name.clone(), group, counted);
        if subject.layouts.is_empty() {
            let why: Vec<String> = subject
                .left_out
                .iter()
                .map(|left_out| format!("{}: {}", left_out.writer, left_out.why))
                .collect();
            return Err(format!(
                "{name}: nothing to calculate: {}; set spec.keyScheme, or lay keys out with --partitioner and --partitions",
                why.join("; ")
            ));
        }
        Ok(subject)
    }

    /// As [`Subject::of_group`], of a group of which there is more to say: it may have no layouts.
    pub(super) fn of_live(resource: &CoPartitionedTopicGroup) -> Result<Self, String> {
        let (name, group) = declared(resource)?;
        Ok(Self::laid_out(name, group, |topic| {
            count_of(resource, topic)
        }))
    }

    fn laid_out(
        name: String,
        group: Group,
        counted: impl Fn(&str) -> Option<PartitionCount>,
    ) -> Self {
        let mut subject = Self {
            group: None,
            layouts: Vec::new(),
            left_out: Vec::new(),
        };
        let declared = group
            .topics
            .iter()
            .filter_map(|topic| topic.scheme.as_ref());
        let usual = declared.map(|scheme| scheme.encoding).min();
        for topic in &group.topics {
            let Some(count) = counted(&topic.name) else {
                subject.leave_out(topic.name.clone(), NOT_COUNTED);
                continue;
            };
            let encoding = topic.scheme.as_ref().map(|scheme| scheme.encoding);
            let encoding = encoding.or(usual).unwrap_or(Encoding::UTF8);
            if let Some(scheme) = &topic.scheme {
                subject.add(Some(Writer::of(&topic.name)), scheme, false, count);
            } else if topic.producers.is_empty() {
                subject.leave_out(topic.name.clone(), NOT_DECLARED);
            }
            for producer in &topic.producers {
                let writer = Writer {
                    producer: Some(&producer.label),
                    ..Writer::of(&topic.name)
                };
                if encoding.window.is_some() && !producer.hashes_key_inside {
                    subject.leave_out(writer.to_string(), WINDOW);
                    continue;
                }
                let Ok(scheme) = KeyScheme::of(encoding, producer.partitioner.clone()) else {
                    subject.leave_out(writer.to_string(), NOT_TEXT);
                    continue;
                };
                subject.add(Some(writer), &scheme, producer.spreads_empty, count);
            }
        }
        subject.group = Some((name, group));
        subject
    }

    fn leave_out(&mut self, writer: String, why: &'static str) {
        self.left_out.push(LeftOut { writer, why });
    }

    /// Adds a writer: to the layout that places keys alike, or with a new one. A bare scheme has none.
    fn add(
        &mut self,
        writer: Option<Writer<'_>>,
        scheme: &KeyScheme,
        spreads_empty: bool,
        count: PartitionCount,
    ) {
        let name = writer.map(|writer| writer.to_string());
        let why = match scheme.partitioner.formula() {
            None => CUSTOM,
            Some(_) if !scheme.encoding.is_computed() => SCHEMA_ID,
            Some(mut formula) => {
                if spreads_empty {
                    formula.empty = KeyRule::Spread;
                }
                let same = self.layouts.iter_mut().find(|layout| {
                    layout.scheme == *scheme && layout.count == count && layout.formula == formula
                });
                match (same, writer) {
                    // A producer that keeps to what its topic declares needs no mention.
                    (Some(layout), Some(writer)) if layout.has(writer.topic) => {}
                    (Some(layout), _) => layout.writers.extend(name),
                    (None, _) => self.layouts.push(Layout {
                        writers: name.into_iter().collect(),
                        scheme: scheme.clone(),
                        count,
                        formula,
                    }),
                }
                return;
            }
        };
        self.leave_out(name.unwrap_or_default(), why);
    }

    /// A producer hashes the windows of keys too: what it writes lies elsewhere, and cannot be shown for a key alone.
    pub(super) fn hashes_a_window(&self) -> bool {
        self.left_out.iter().any(|left_out| left_out.why == WINDOW)
    }

    /// The keys that the group itself names.
    pub(super) fn sample_keys(&self) -> &[String] {
        match &self.group {
            Some((_, group)) => &group.sample_keys,
            None => &[],
        }
    }

    /// Namespace and name.
    pub(super) fn name(&self) -> Option<&str> {
        self.group.as_ref().map(|(name, _)| name.as_str())
    }
}

/// Namespace and name of a group, and what it declares.
///
/// # Errors
/// One line for the user.
pub(super) fn declared(resource: &CoPartitionedTopicGroup) -> Result<(String, Group), String> {
    let metadata = &resource.metadata;
    let name = format!(
        "{}/{}",
        metadata.namespace.as_deref().unwrap_or("default"),
        metadata.name.as_deref().unwrap_or_default()
    );
    match controller::declared(&resource.spec) {
        Ok(group) => Ok((name, group)),
        Err(problems) => Err(format!("{name}: {}", problems.join("; "))),
    }
}

/// The count of a topic: live if the operator saw it, else recorded, else declared.
fn count_of(resource: &CoPartitionedTopicGroup, topic: &str) -> Option<PartitionCount> {
    let status = resource.status.as_ref();
    let live = status.and_then(|status| {
        let mut topics = status.topics.iter();
        topics.find(|seen| seen.name == topic)?.partitions
    });
    let recorded = || status.and_then(|status| status.recorded_partitions);
    live.or_else(recorded)
        .or(resource.spec.partitions)
        .and_then(PartitionCount::new)
}
