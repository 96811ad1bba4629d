//! Whether the declared schemes of a group's topics, and those of their producers, map every key alike.

mod examples;
mod pair;

use std::collections::BTreeMap;
use std::fmt;

use crate::keys::clients::Producer;
use crate::keys::{Encoding, KeyRule, KeyScheme, PartitionCount, Placement};
use pair::{Judgement, Side};

/// A topic with what is declared of its keys.
#[derive(Clone, Copy, Debug)]
pub struct Declared<'a> {
    /// The topic's name.
    pub topic: &'a str,
    /// Its scheme: its own, or the group's.
    pub scheme: Option<&'a KeyScheme>,
    /// The clients that write it, as far as those are declared. Where the topic declares no scheme, they are taken to
    /// encode keys as the rest of the group does.
    pub producers: &'a [Producer],
}

/// Who places keys by a scheme: what the topic declares, or one of its producers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Writer {
    /// The topic's name.
    pub topic: String,
    /// The producer's label; `None` is the declaration itself.
    pub producer: Option<String>,
    /// The scheme.
    pub scheme: KeyScheme,
    /// Empty keys are spread.
    pub spreads_empty: bool,
}

impl Writer {
    fn side(&self) -> Side<'_> {
        Side {
            scheme: &self.scheme,
            spreads_empty: self.spreads_empty,
        }
    }
}

/// `orders (utf8/murmur2)`, or `librdkafka consistent on orders (utf8/crc32)`.
impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(producer) = &self.producer {
            write!(f, "{producer} on ")?;
        }
        write!(f, "{} ({})", self.topic, self.scheme)
    }
}

/// Two writers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The first one by topic and producer.
    pub a: Writer,
    /// The other one.
    pub b: Writer,
}

/// A key that two schemes place differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The logical key.
    pub key: String,
    /// Where the first scheme puts it.
    pub a: Placement,
    /// Where the second one does.
    pub b: Placement,
}

/// `BBCA 0 against 2`; an empty key is said in words, and one with control characters stands escaped in quotes.
impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.as_str() {
            "" => f.write_str("the empty key")?,
            key if key.contains(char::is_control) => write!(f, "{key:?}")?,
            key => f.write_str(key)?,
        }
        write!(f, " {} against {}", self.a, self.b)
    }
}

/// What limits a statement that two different schemes are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The empty key is hashed by one and spread by the other.
    NotEmptyKeys,
    /// It holds at this partition count and not at every one: growth can break it.
    AtThisCount,
    /// It holds as long as Kafka Streams itself writes the windowed keys, hashing the key inside only.
    WrittenByStreams,
}

/// Why two schemes can't be compared by calculation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unprovable {
    /// A custom partitioner has no formula here.
    Custom,
    /// A schema id is part of the keys, and the ids differ or are not declared.
    SchemaIds,
    /// The two encodings have the same bytes for some ways to write a key and not for others.
    Encodings,
    /// It depends on the partition count, which is not known.
    CountUnknown,
}

/// What the declared schemes of some topics say together. It speaks of declarations only: whether producers
/// keep to them is for the judge of sampled records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemesVerdict {
    /// Every topic declares this scheme, and every declared producer keeps to it.
    Same(KeyScheme),
    /// Schemes differ in name, and yet map every key alike, within these limits.
    Equivalent {
        /// Two that differ.
        pair: Pair,
        /// The limits of all such pairs; never empty.
        limits: Vec<Limit>,
    },
    /// These topics, sorted by name, declare none, and those that do agree. Empty only if no topic was given.
    NotDeclared {
        /// The names of the topics without a scheme.
        topics: Vec<String>,
    },
    /// Calculation can't tell.
    NotProvable {
        /// Two of which it can't; the same twice if one scheme alone is in the way.
        pair: Pair,
        /// Why.
        why: Unprovable,
    },
    /// Two writers use partitioners that map keys differently, and perhaps different encodings too.
    PartitionerMismatch {
        /// The two.
        pair: Pair,
        /// Keys that show it.
        examples: Vec<Example>,
    },
    /// A producer of windowed keys hashes the window too, unlike Kafka Streams: one key inside then has many partitions.
    WindowHashed {
        /// What the topic declares, and the producer.
        pair: Pair,
    },
    /// Two writers use the same partitioner on different bytes.
    EncodingMismatch {
        /// The two.
        pair: Pair,
        /// Keys that show it; empty if no text is a key of both encodings.
        examples: Vec<Example>,
    },
}

/// Compares the schemes that topics declare, and those of their producers, at a partition count; `None` if that is not
/// known. `keys` are the first to be looked at for examples of a mismatch.
///
/// Topics are looked at by name, so that the verdict does not change when the list is reordered. A mismatch
/// outweighs a missing declaration: it stands whatever the missing ones turn out to be.
pub fn compare(
    topics: &[Declared<'_>],
    count: Option<PartitionCount>,
    keys: &[String],
) -> SchemesVerdict {
    if let Some(pair) = window_hashed(topics) {
        return SchemesVerdict::WindowHashed { pair };
    }
    let writers = writers(topics);
    let mut limits: Option<(Pair, Vec<Limit>)> = None;
    let mut unprovable = None;
    let pairs = writers.iter().enumerate();
    let pairs = pairs.flat_map(|(at, a)| writers[at + 1..].iter().map(move |b| (a, b)));
    // Also each with itself: a custom partitioner can't be computed however many declare it.
    for (a, b) in pairs.chain(writers.iter().map(|a| (a, a))) {
        let pair = || Pair {
            a: a.clone(),
            b: b.clone(),
        };
        let examples = || examples::find(&a.scheme, &b.scheme, count, keys);
        match pair::judge(a.side(), b.side(), count) {
            Judgement::Alike(more) if more.is_empty() => {}
            Judgement::Alike(more) => {
                let (_, all) = limits.get_or_insert_with(|| (pair(), Vec::new()));
                all.extend(more);
            }
            Judgement::Unprovable(why) => {
                unprovable.get_or_insert_with(|| SchemesVerdict::NotProvable { pair: pair(), why });
            }
            Judgement::Partitioners => {
                return SchemesVerdict::PartitionerMismatch {
                    pair: pair(),
                    examples: examples(),
                };
            }
            Judgement::Encodings => {
                return SchemesVerdict::EncodingMismatch {
                    pair: pair(),
                    examples: examples(),
                };
            }
        }
    }
    if let Some(missing) = not_declared(topics) {
        return missing;
    }
    match (unprovable, limits, writers.into_iter().next()) {
        (Some(unprovable), _, _) => unprovable,
        (None, Some((pair, mut limits)), _) => {
            limits.sort_unstable();
            limits.dedup();
            SchemesVerdict::Equivalent { pair, limits }
        }
        (None, None, Some(writer)) => SchemesVerdict::Same(writer.scheme),
        (None, None, None) => SchemesVerdict::NotDeclared { topics: Vec::new() },
    }
}

fn window_hashed(topics: &[Declared<'_>]) -> Option<Pair> {
    topics.iter().find_map(|topic| {
        let scheme = topic.scheme.filter(|it| it.encoding.window.is_some())?;
        let producer = topic.producers.iter().find(|it| !it.hashes_key_inside)?;
        let writer = |label: Option<&str>, partitioner| Writer {
            topic: topic.topic.to_owned(),
            producer: label.map(ToOwned::to_owned),
            scheme: KeyScheme {
                encoding: scheme.encoding,
                partitioner,
            },
            spreads_empty: false,
        };
        Some(Pair {
            a: writer(None, scheme.partitioner.clone()),
            b: writer(Some(&producer.label), producer.partitioner.clone()),
        })
    })
}

/// The first writer of each distinct way to place keys, by topic and producer.
fn writers(topics: &[Declared<'_>]) -> Vec<Writer> {
    let declared = topics.iter().filter_map(|topic| topic.scheme);
    let usual = declared.map(|scheme| scheme.encoding.hashed()).min();
    let mut first: BTreeMap<(KeyScheme, bool), (&str, Option<&str>)> = BTreeMap::new();
    for topic in topics {
        let encoding = topic.scheme.map(|scheme| scheme.encoding).or(usual);
        let declared = topic
            .scheme
            .map(|scheme| (scheme.clone(), spreads_empty(scheme), None));
        let producers = topic.producers.iter().filter_map(|producer| {
            let encoding = encoding.unwrap_or(Encoding::UTF8);
            let partitioner = producer.partitioner.clone();
            // What does not go together was refused if it is declared; what is only taken to be so says nothing.
            let scheme = match topic.scheme {
                Some(_) => KeyScheme {
                    encoding,
                    partitioner,
                },
                None => KeyScheme::of(encoding, partitioner).ok()?,
            };
            let spreads = producer.spreads_empty || spreads_empty(&scheme);
            Some((scheme, spreads, Some(producer.label.as_str())))
        });
        for (scheme, spreads, producer) in declared.into_iter().chain(producers) {
            let who = (topic.topic, producer);
            first
                .entry((scheme, spreads))
                .and_modify(|earlier| *earlier = (*earlier).min(who))
                .or_insert(who);
        }
    }
    let mut writers: Vec<Writer> = first
        .into_iter()
        .map(|((scheme, spreads_empty), (topic, producer))| Writer {
            topic: topic.to_owned(),
            producer: producer.map(ToOwned::to_owned),
            scheme,
            spreads_empty,
        })
        .collect();
    writers.sort_unstable();
    // Of custom partitioners nothing is said but whether there is another one, so two are enough; their names are free,
    // and thousands of them would be compared in pairs.
    let mut custom = 0;
    writers.retain(|writer| {
        custom += usize::from(writer.scheme.partitioner.formula().is_none());
        writer.scheme.partitioner.formula().is_some() || custom <= 2
    });
    writers
}

fn spreads_empty(scheme: &KeyScheme) -> bool {
    let formula = scheme.partitioner.formula();
    formula.is_some_and(|formula| formula.empty == KeyRule::Spread)
}

fn not_declared(topics: &[Declared<'_>]) -> Option<SchemesVerdict> {
    let mut missing: Vec<String> = topics
        .iter()
        .filter(|topic| topic.scheme.is_none())
        .map(|topic| topic.topic.to_owned())
        .collect();
    missing.sort_unstable();
    (!missing.is_empty()).then_some(SchemesVerdict::NotDeclared { topics: missing })
}

#[cfg(test)]
mod tests;
