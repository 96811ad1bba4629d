//! `verify`: whether the records of topics lie where the declared scheme puts them.

mod progress;
mod record;
mod table;

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::ControlFlow;
use std::time::Duration;

use clap::Args;
use jiff::{SignedDuration, Timestamp};

use super::document::{Output, document};
use super::source::{Bare, Where};
use super::subject::declared;
use super::terminal::{Io, print};
use crate::api::CoPartitionedTopicGroup;
use crate::kafka::{
    Cancel, ConnectionSettings, Extent, Incomplete, Progress, Sample, SampleRequest, SampledRecord,
    sample_blocking,
};
use crate::keys::{KeyScheme, PartitionCount};
use crate::verify::{FingerprintKey, Judge, Record, Topic};
use record::Proof;

const HELP: &str = "\
Examples:
  kubectl copartition verify market-data -n trading
  kubectl copartition verify -f group.yaml --records 10000
  kubectl copartition verify --bootstrap kafka:9092 --topic orders --topic payments --client java
  kubectl copartition verify --bootstrap kafka:9092 --topic orders --partitioner murmur2 --since 2h -o json

Records are read without joining a consumer group and without committing anything; values are not looked at, and no key is
printed. They are judged at the partition count of now: of a topic that has grown, read those --since then.

Exit codes:
  0  nothing speaks against it; whether it is proven is said
  1  wrong usage, or not all could be read
  2  records do not lie where the declared scheme puts them, lie there by no scheme, or have no key";

/// The arguments.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct Verify {
    /// A CoPartitionedTopicGroup: of the cluster, or with -f of the file
    #[arg(value_name = "NAME", help_heading = "What to look at")]
    name: Option<String>,
    #[command(flatten)]
    place: Where,
    /// host:port of brokers, without a group; repeat it or separate with commas
    #[arg(
        long,
        value_name = "HOST:PORT",
        value_delimiter = ',',
        conflicts_with_all = ["name", "file"],
        requires = "topics",
        help_heading = "What to look at"
    )]
    bootstrap: Vec<String>,
    /// A topic, without a group; repeat it for several, which are then compared with each other
    #[arg(
        long = "topic",
        value_name = "TOPIC",
        requires = "bootstrap",
        help_heading = "What to look at"
    )]
    topics: Vec<String>,
    #[command(flatten)]
    bare: Bare,
    /// How many of the newest records of each partition
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1000,
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = "What to read"
    )]
    records: u64,
    /// All records
    #[arg(long, conflicts_with_all = ["records", "since"], help_heading = "What to read")]
    full: bool,
    /// Records since then: 90m, 2h, or a time such as 2026-11-30T08:00:00Z
    #[arg(
        long,
        value_name = "WHEN",
        value_parser = since,
        conflicts_with = "records",
        help_heading = "What to read"
    )]
    since: Option<Timestamp>,
    /// How long the reading may take
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "60s",
        value_parser = crate::cli::duration,
        help_heading = "What to read"
    )]
    timeout: Duration,
    /// How it is printed
    #[arg(short, long, default_value = "table", help_heading = "Output")]
    output: Output,
}

fn since(text: &str) -> Result<Timestamp, String> {
    if let Ok(ago) = text.parse::<SignedDuration>() {
        return Timestamp::now()
            .checked_sub(ago)
            .map_err(|error| error.to_string());
    }
    text.parse().map_err(|_| {
        format!("{text:?} is neither a duration such as 2h nor a time such as 2026-11-30T08:00:00Z")
    })
}

/// Topics that are looked at together.
struct Subject {
    /// Namespace and name of the group, if it is one.
    group: Option<String>,
    settings: ConnectionSettings,
    topics: Vec<(String, Option<KeyScheme>)>,
}

/// Reads, judges, prints, and returns the exit code.
///
/// # Errors
/// One line for the user.
pub(super) fn run(arguments: &Verify, io: &mut Io<'_>) -> Result<u8, String> {
    let subjects = arguments.subjects(io)?;
    let mut verified = Vec::new();
    for subject in &subjects {
        verified.push(verify(arguments, subject)?);
    }
    print(io.stdout, |out| {
        // As the other commands: one object for one group, a list for several.
        match &verified[..] {
            [one] if document(out, arguments.output, one)? => Ok(()),
            several if arguments.output != Output::Table => {
                let groups = HashMap::from([("groups", several)]);
                document(out, arguments.output, &groups).map(|_| ())
            }
            several => several
                .iter()
                .try_for_each(|one| table::write(out, one, io.colour)),
        }
    })?;
    Ok(verified.iter().map(Proof::exit_code).max().unwrap_or(0))
}

impl Verify {
    fn subjects(&self, io: &mut Io<'_>) -> Result<Vec<Subject>, String> {
        if !self.bootstrap.is_empty() {
            let scheme = self.bare.scheme()?.map(|(scheme, _)| scheme);
            if scheme.is_none() && self.bare.encoding.is_some() {
                return Err(
                    "--encoding says little alone; give --partitioner or --client too".to_owned(),
                );
            }
            let topics = self.topics.iter();
            return Ok(vec![Subject {
                group: None,
                settings: ConnectionSettings::new(self.bootstrap.clone()),
                topics: topics
                    .map(|topic| (topic.clone(), scheme.clone()))
                    .collect(),
            }]);
        }
        if self.name.is_none() && self.place.file.is_none() {
            return Err(
                "nothing to look at: name a group, or give -f FILE, or --bootstrap with --topic; --help has examples"
                    .to_owned(),
            );
        }
        let groups = self.place.groups(self.name.as_deref(), io.stdin)?;
        groups.iter().map(of_group).collect()
    }

    fn extent(&self) -> Extent {
        match self.since {
            _ if self.full => Extent::Everything,
            Some(since) => Extent::Since(since.as_millisecond()),
            None => Extent::Newest(self.records),
        }
    }
}

fn of_group(resource: &CoPartitionedTopicGroup) -> Result<Subject, String> {
    let (name, group) = declared(resource)?;
    let inline = resource.spec.kafka.inline.as_ref();
    let Some(inline) = inline.filter(|it| it.tls.is_none() && it.sasl.is_none()) else {
        return Err(format!(
            "{name}: this version reads through kafka.inline without tls and sasl only; give --bootstrap and --topic"
        ));
    };
    let topics = group.topics.into_iter();
    Ok(Subject {
        settings: ConnectionSettings::new(inline.bootstrap_servers.clone()),
        topics: topics.map(|topic| (topic.name, topic.scheme)).collect(),
        group: Some(name),
    })
}

fn verify(arguments: &Verify, subject: &Subject) -> Result<Proof, String> {
    let names = || subject.topics.iter().map(|(name, _)| name.clone());
    let failed = |error: &dyn std::fmt::Display| {
        format!("{}: {error}", subject.settings.bootstrap_servers.join(","))
    };
    // The counts first: what they are decides where a key belongs.
    let mut look = SampleRequest::new(names(), Extent::Newest(0));
    look.deadline = arguments.timeout;
    let seen = read(&subject.settings, &look, &mut |_| ()).map_err(|error| failed(&error))?;
    let mut judged = Vec::new();
    let mut unread: Vec<(String, Incomplete)> = Vec::new();
    for (name, scheme) in &subject.topics {
        match count_of(&seen, name) {
            Ok(count) => judged.push(Topic {
                name: name.clone(),
                scheme: scheme.clone(),
                count,
                growth: None,
            }),
            Err(incomplete) => unread.push((name.clone(), incomplete)),
        }
    }
    let numbers: HashMap<String, usize> = judged
        .iter()
        .enumerate()
        .map(|(at, topic)| (topic.name.clone(), at))
        .collect();
    let mut request = SampleRequest::new(numbers.keys().cloned(), arguments.extent());
    request.deadline = arguments.timeout;
    let mut judge = Judge::new(judged, secret());
    let sample = if numbers.is_empty() {
        Sample::default()
    } else {
        read(&subject.settings, &request, &mut |record| {
            if let Some(topic) = numbers.get(record.topic) {
                judge.add(Record {
                    topic: *topic,
                    partition: record.partition,
                    offset: record.offset,
                    key: record.key,
                });
            }
        })
        .map_err(|error| failed(&error))?
    };
    unread.extend(
        sample
            .topics
            .iter()
            .filter_map(|(name, topic)| Some((name.clone(), topic.incomplete()?.clone()))),
    );
    Ok(Proof::of(subject.group.clone(), &judge.report(), unread))
}

fn read(
    settings: &ConnectionSettings,
    request: &SampleRequest,
    take: &mut dyn FnMut(&SampledRecord<'_>),
) -> Result<Sample, crate::kafka::Error> {
    let progress = Progress::default();
    progress::shown(&progress, || {
        let mut sink = |record: &SampledRecord<'_>| {
            take(record);
            ControlFlow::Continue(())
        };
        sample_blocking(settings, request, &progress, &Cancel::default(), &mut sink)
    })
}

fn count_of(sample: &Sample, topic: &str) -> Result<PartitionCount, Incomplete> {
    let topic = sample.topics.get(topic);
    let count = topic.and_then(|topic| i32::try_from(topic.partitions.len()).ok());
    match (count.and_then(PartitionCount::new), topic) {
        (Some(count), _) => Ok(count),
        (None, Some(topic)) => Err(topic.failure.clone().unwrap_or(Incomplete::TopicNotFound)),
        (None, None) => Err(Incomplete::TopicNotFound),
    }
}

/// Two hashers that the standard library keys anew for each process.
fn secret() -> FingerprintKey {
    let word = || RandomState::new().build_hasher().finish().to_ne_bytes();
    let mut secret = [0; 16];
    secret[..8].copy_from_slice(&word());
    secret[8..].copy_from_slice(&word());
    FingerprintKey(secret)
}

#[cfg(test)]
mod tests;
