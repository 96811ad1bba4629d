//! What a verdict says to people: what was wanted, what was seen, what to do. Counts, schemes and partitions only.

use std::fmt;

use super::limits::{MIN_KEYS, share};
use super::signs::{Foreign, SeenEncoding};
use super::verdict::{Explanation, MixedWith, TopicReport, Verdict};
use crate::keys::clients;
use crate::keys::{Partitioner, Window};

/// A share of something, for people: never 0 % or 100 % of what is not none or all.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.1 {
        "below 0.1 %".to_owned()
    } else if percent > 99.9 && percent < 100.0 {
        "above 99.9 %".to_owned()
    } else {
        format!("{percent:.1} %")
    }
}

/// Partitioners with the clients that use them.
fn listed(partitioners: &[Partitioner]) -> String {
    let named = partitioners.iter().map(|partitioner| {
        let users = users(partitioner);
        if users.is_empty() {
            partitioner.to_string()
        } else {
            format!("{partitioner} ({})", users.join(", "))
        }
    });
    named.collect::<Vec<String>>().join(" or ")
}

/// Some clients that use a partitioner, those first that do so unless they are configured.
fn users(partitioner: &Partitioner) -> Vec<String> {
    let mut users: Vec<(bool, String)> = clients::users(partitioner)
        .map(|(client, setting)| {
            let default = setting.is_default();
            let how = if default { "default" } else { setting.names[0] };
            (!default, format!("{} {how}", client.name))
        })
        .collect();
    // Stable, so that clients stay in the order of the documentation.
    users.sort_by_key(|(configured, _)| *configured);
    users
        .into_iter()
        .map(|(_, user)| user)
        .take(SHOWN)
        .collect()
}

/// How many clients are named for one partitioner.
const SHOWN: usize = 3;

/// The chance as a power of ten, for people.
fn chance(log10: f64) -> String {
    let zeros = -log10.ceil();
    if zeros < 1.0 {
        "as under any scheme".to_owned()
    } else {
        format!("by chance once in 10^{zeros:.0}")
    }
}

impl fmt::Display for TopicReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, keys, .. } = self;
        let at_least = if keys.more { "more than " } else { "" };
        let distinct = format!("{at_least}{} distinct keys", keys.distinct);
        match &self.verdict {
            Verdict::Fits { log10_chance } => {
                write!(
                    f,
                    "{} of {} records with {distinct} lie where {} puts them, {}",
                    percent(self.share_placed().unwrap_or(1.0)),
                    records.placed,
                    self.declared(),
                    chance(*log10_chance)
                )
            }
            Verdict::SchemeMismatch {
                encoding,
                partitioner,
            } => {
                if let Some(encoding) = encoding {
                    self.encoding(f, encoding)?;
                }
                if encoding.is_some() && partitioner.is_some() {
                    f.write_str(". ")?;
                }
                if let Some(explanation) = partitioner {
                    write!(
                        f,
                        "{} of {} records with {distinct} do not lie where {} puts them at {} partitions: ",
                        percent(share(records.misplaced, records.placed)),
                        records.placed,
                        self.declared(),
                        self.count
                    )?;
                    explained(f, explanation)?;
                }
                Ok(())
            }
            Verdict::NonDeterministic => write!(
                f,
                "{} of {} keys with several records lie on several partitions: a producer spreads records in turn, at random or by \
                 load, or sets partitions itself, or several place one key differently. Let all place records by their keys, with one partitioner",
                keys.on_several, keys.repeated
            ),
            Verdict::Unkeyed => write!(
                f,
                "{} of {} records have no key, so that they lie on any partition. Let the producer set keys",
                percent(self.share_unkeyed()),
                self.judged()
            ),
            Verdict::TooFewKeys => write!(
                f,
                "{distinct} fit {} so far ({} of {} records misplaced); it takes {MIN_KEYS} to prove it",
                self.declared(),
                records.misplaced,
                records.placed
            ),
            Verdict::NoRecords if records.outside > 0 => write!(
                f,
                "all {} records lie on partitions beyond {}: the topic was grown meanwhile",
                records.outside, self.count
            ),
            Verdict::NoRecords => f.write_str("there are no records to be judged"),
            Verdict::Settling => write!(
                f,
                "all {} records fall into the time of a growth, when producers may or may not have known of it",
                records.left_out
            ),
            Verdict::SchemeNotDeclared { fits } => {
                f.write_str("no key scheme is declared. Set spec.keyScheme")?;
                fitting(f, fits, &distinct)
            }
            Verdict::NotProvable { fits } => {
                write!(
                    f,
                    "the formula of {} is not known here, so nothing can be proven",
                    self.declared()
                )?;
                fitting(f, fits, &distinct)
            }
        }
    }
}

impl TopicReport {
    fn declared(&self) -> String {
        let scheme = self.scheme.as_ref();
        scheme.map_or_else(|| "no scheme".to_owned(), ToString::to_string)
    }

    fn encoding(&self, f: &mut fmt::Formatter<'_>, foreign: &Foreign) -> fmt::Result {
        let declared = self.scheme.as_ref().map(|scheme| scheme.encoding);
        let declared = declared.map_or_else(String::new, |it| it.to_string());
        let Foreign { encoding, keys } = foreign;
        write!(
            f,
            "{declared} is declared, but {keys} of {} distinct keys are {encoding}. ",
            self.keys.distinct
        )?;
        match encoding {
            SeenEncoding::SchemaIds { ids } if ids.len() > 1 => f.write_str(
                "One key has as many partitions as it has ids: let all producers use one key schema, or let the serializer put the id into a header",
            ),
            SeenEncoding::SchemaIds { ids } => {
                let id = ids.first().copied().unwrap_or_default();
                write!(f, "Declare confluent:{id}:ENCODING, or let the producers use the declared encoding")
            }
            SeenEncoding::Windowed(Window::Time) => {
                f.write_str("Declare windowed:ENCODING, or let the producers write the key alone")
            }
            SeenEncoding::Windowed(Window::Session) => f.write_str(
                "Declare session_windowed:ENCODING, or let the producers write the key alone",
            ),
            _ => f.write_str("Declare what they are, or let the producers use the declared encoding"),
        }
    }
}

fn fitting(f: &mut fmt::Formatter<'_>, fits: &[Partitioner], distinct: &str) -> fmt::Result {
    if fits.is_empty() {
        write!(f, ". No known partitioner can be told from {distinct}")
    } else {
        write!(f, ". {distinct} fit {}", listed(fits))
    }
}

fn explained(f: &mut fmt::Formatter<'_>, explanation: &Explanation) -> fmt::Result {
    match explanation {
        Explanation::Other {
            partitioners,
            log10_chance,
        } => write!(
            f,
            "all of them fit {}, {}. Configure the producer, or declare that",
            listed(partitioners),
            chance(*log10_chance)
        ),
        Explanation::FewerPartitions { count } if count.get() == 1 => f.write_str(
            "all of them lie on partition 0. The producer writes to it alone, or takes the topic for one of a single partition",
        ),
        Explanation::FewerPartitions { count } => write!(
            f,
            "the same scheme at {count} partitions fits them all. Either they are older than a growth that is not known here, or the \
             producer takes that for the count: restart it, or let it ask the cluster"
        ),
        Explanation::Mixture {
            with,
            declared,
            other,
        } => {
            let (with, advice) = match with {
                MixedWith::Partitioners(partitioners) => (
                    listed(partitioners),
                    "Two producers disagree: let them use one partitioner",
                ),
                MixedWith::Count(count) => (
                    format!("the same scheme at {count} partitions"),
                    "Either those are older than a growth that is not known here, or a producer takes that for the count: restart it",
                ),
            };
            write!(
                f,
                "{} fit the declared scheme, and another {} fit {with}. {advice}",
                percent(*declared),
                percent(*other)
            )
        }
        Explanation::WindowHashed => f.write_str(
            "the producer hashes the window with the key, unlike Kafka Streams. Let Kafka Streams write the topic",
        ),
        Explanation::NoneFits => f.write_str(
            "no known partitioner fits, nor a mixture of the declared one with another. The producer has a partitioner of its own, \
             spreads records, or sets partitions itself",
        ),
        Explanation::TooFewToTell => {
            f.write_str("too few distinct keys to tell which partitioner fits")
        }
    }
}
