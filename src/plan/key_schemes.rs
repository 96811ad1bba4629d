//! `KeySchemesAligned`: what the declared schemes say at the count that the topics have, and at the one they shall have.

use super::checks::Finding;
use super::conditions::{Reason, State};
use super::decision::Decision;
use super::group::Group;
use super::report::Layout;
use crate::keys::{Encoding, KeyScheme, PartitionCount, Partitioner, clients};
use crate::layout::{self, Declared, Example, Limit, Pair, SchemesVerdict, Unprovable, Writer};

/// The verdict on the key schemes.
pub(super) fn key_schemes_aligned(group: &Group, decision: &Decision) -> Finding {
    let target = decision.target.and_then(PartitionCount::new);
    let count = live_count(decision).or(target);
    let mut finding = finding(group, &compare(group, count), count);
    if let Some(target) = target.filter(|target| Some(*target) != count) {
        let then = self::finding(group, &compare(group, Some(target)), Some(target));
        if (then.state, then.reason) != (finding.state, finding.reason) {
            finding.message = format!(
                "{}. At {target} partitions, which the group wants: {}, {}",
                finding.message, then.reason, then.message
            );
        }
    }
    finding
}

/// What `key_schemes_aligned` would say of a group at a partition count that it need not have.
pub fn key_schemes_at(group: &Group, count: PartitionCount) -> (State, Reason, String) {
    let count = Some(count);
    let finding = finding(group, &compare(group, count), count);
    (finding.state, finding.reason, finding.message)
}

/// What is wrong at `to` partitions with schemes that map every key alike at `from`: a growth would part keys that meet
/// now.
pub(super) fn parted(group: &Group, from: i32, to: i32) -> Option<String> {
    let at = |count| Some(key_schemes_at(group, PartitionCount::new(count)?));
    let (now, ..) = at(from)?;
    let (then, _, words) = at(to)?;
    (now == State::True && then == State::False).then_some(words)
}

/// The layout of the sample keys, if all topics have one that can be computed.
pub(super) fn key_layout(group: &Group, decision: &Decision) -> Option<Layout> {
    if group.sample_keys.is_empty() {
        return None;
    }
    let count = live_count(decision)?;
    let scheme = match compare(group, Some(count)) {
        SchemesVerdict::Same(scheme) => scheme,
        SchemesVerdict::Equivalent { pair, .. } => pair.a.scheme,
        _ => return None,
    };
    scheme
        .is_computed()
        .then(|| layout::Table::of(&scheme, &group.sample_keys, count).ok())
        .flatten()
}

/// The count on which all topics agree, else the recorded one.
fn live_count(decision: &Decision) -> Option<PartitionCount> {
    PartitionCount::new(decision.agreed().or(decision.memory.recorded)?)
}

fn compare(group: &Group, count: Option<PartitionCount>) -> SchemesVerdict {
    layout::compare(&declared(group), count, &group.sample_keys)
}

fn declared(group: &Group) -> Vec<Declared<'_>> {
    let topics = group.topics.iter();
    topics
        .map(|topic| Declared {
            topic: &topic.name,
            scheme: topic.scheme.as_ref(),
            producers: &topic.producers,
        })
        .collect()
}

fn finding(group: &Group, verdict: &SchemesVerdict, count: Option<PartitionCount>) -> Finding {
    let at = count.map_or_else(String::new, |count| format!(" at {count} partitions"));
    let (state, reason, message) = match verdict {
        SchemesVerdict::Same(scheme) => (State::True, Reason::SameScheme, same(group, scheme)),
        SchemesVerdict::Equivalent { pair, limits } => (
            State::True,
            Reason::EquivalentSchemes,
            format!(
                "{} and {} map every key alike{at}{}",
                pair.a,
                pair.b,
                said(group, limits, count)
            ),
        ),
        SchemesVerdict::NotDeclared { topics } => (
            State::Unknown,
            Reason::SchemeNotDeclared,
            format!(
                "no key scheme is declared for {}: only counts are compared. Set spec.keyScheme",
                topics.join(", ")
            ),
        ),
        SchemesVerdict::NotProvable { pair, why } => {
            (State::Unknown, Reason::NotProvable, unprovable(pair, *why))
        }
        SchemesVerdict::PartitionerMismatch { pair, examples } => (
            State::False,
            Reason::PartitionerMismatch,
            format!(
                "{} and {} place keys differently{at}{}. Let all producers use one partitioner{}",
                pair.a,
                pair.b,
                listed(examples),
                how(pair)
            ),
        ),
        SchemesVerdict::WindowHashed { pair } => (
            State::False,
            Reason::PartitionerMismatch,
            format!(
                "the keys of {} are windowed and placed by the key inside, which only Kafka Streams does; {} hashes the window too, so that \
                 one key lies on many partitions. Let Kafka Streams write the topic",
                pair.a, pair.b
            ),
        ),
        SchemesVerdict::EncodingMismatch { pair, examples } => (
            State::False,
            Reason::EncodingMismatch,
            format!(
                "{} and {} turn one key into different bytes{at}{}. Let all producers use one encoding",
                pair.a,
                pair.b,
                listed(examples)
            ),
        ),
    };
    Finding {
        state,
        reason,
        message,
    }
}

fn same(group: &Group, scheme: &KeyScheme) -> String {
    let topics = group.topics.len();
    let producers: usize = group.topics.iter().map(|topic| topic.producers.len()).sum();
    let producers = match producers {
        0 => String::new(),
        1 => " and the declared producer keeps to it".to_owned(),
        some => format!(" and the {some} declared producers keep to it"),
    };
    format!(
        "all {topics} topics declare {scheme}, which maps every key alike at any count{producers}"
    )
}

fn said(group: &Group, limits: &[Limit], count: Option<PartitionCount>) -> String {
    limits
        .iter()
        .map(|limit| match limit {
            Limit::NotEmptyKeys => {
                ", but for empty keys, which not all of them hash".to_owned()
            }
            Limit::AtThisCount => match breaking(group, count) {
                Some(count) => format!(
                    ". It does not hold at every count: growing to {count} would break it. Let all producers use one scheme before that"
                ),
                None => ". It does not hold at every count".to_owned(),
            },
            Limit::WrittenByStreams => {
                ", as long as Kafka Streams itself writes the windowed keys".to_owned()
            }
        })
        .collect()
}

/// The next higher count at which it would no longer hold.
fn breaking(group: &Group, count: Option<PartitionCount>) -> Option<PartitionCount> {
    // Counts that divide 2^31, and those up to 2, are the ones at which different reductions agree: never three in a row.
    let count = count?.get();
    (1..=3)
        .filter_map(|more| PartitionCount::new(count.checked_add(more)?))
        .find(|count| {
            !matches!(
                compare(group, Some(*count)),
                SchemesVerdict::Same(_) | SchemesVerdict::Equivalent { .. }
            )
        })
}

fn unprovable(pair: &Pair, why: Unprovable) -> String {
    let Pair { a, b } = pair;
    match why {
        Unprovable::Custom => {
            let custom = |writer: &&Writer| writer.scheme.partitioner.formula().is_none();
            let own = [a, b].into_iter().find(custom).unwrap_or(a);
            let named = if a.scheme.partitioner == b.scheme.partitioner {
                "; all that was compared declare the same name"
            } else {
                "; another partitioner is declared as well"
            };
            format!(
                "{own}: the formula of a custom partitioner is not known here, so nothing can be calculated{named}"
            )
        }
        Unprovable::SchemaIds if a == b => format!(
            "{a}: the registry's schema id is part of the key, and no id is declared. If all topics carry one id, declare it in the encoding \
             (confluent:ID:{})",
            a.scheme.encoding.plain.name()
        ),
        Unprovable::SchemaIds => format!(
            "{a} and {b}: a registry's schema id is part of the key, so one key has the same bytes only under equal ids, and those are not \
             declared as equal. Let the topics share one key schema, or let the serializer put the id into a header (confluent_header:...)"
        ),
        Unprovable::Encodings => format!(
            "{a} and {b}: the bytes are equal only if the producer of {} writes keys exactly as {} does. Declare one encoding for both \
             if it does",
            text_side(a, b).topic,
            other_side(a, b).scheme.encoding
        ),
        Unprovable::CountUnknown => format!(
            "{a} and {b} map keys alike at some partition counts only, and the count is not known yet"
        ),
    }
}

/// The one of two whose keys are any text.
fn text_side<'a>(a: &'a Writer, b: &'a Writer) -> &'a Writer {
    if a.scheme.encoding.hashed() == Encoding::UTF8 {
        a
    } else {
        b
    }
}

fn other_side<'a>(a: &'a Writer, b: &'a Writer) -> &'a Writer {
    if text_side(a, b) == a { b } else { a }
}

fn listed(examples: &[Example]) -> String {
    if examples.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = examples.iter().map(ToString::to_string).collect();
    format!(": {}", shown.join(", "))
}

/// How a producer of the pair would be configured to follow the other side, where its client can.
fn how(pair: &Pair) -> String {
    let advice = |own: &Writer, other: &Partitioner| {
        let client = own.producer.as_ref()?.split(' ').next()?;
        let setting = clients::setting_for(client, other)?;
        Some(format!("; in {client} that is {setting}"))
    };
    advice(&pair.b, &pair.a.scheme.partitioner)
        .or_else(|| advice(&pair.a, &pair.b.scheme.partitioner))
        .unwrap_or_default()
}
