//! Reading and judging.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::ControlFlow;

use super::Verify;
use super::progress;
use super::record::Proof;
use super::subject::Subject;
use crate::kafka::{
    Cancel, ConnectionSettings, Extent, Incomplete, Progress, Sample, SampleRequest, SampledRecord,
    sample_blocking,
};
use crate::keys::PartitionCount;
use crate::verify::{FingerprintKey, Judge, Record, Topic};

/// Reads the topics of a subject and judges them.
///
/// # Errors
/// One line for the user.
pub(super) fn verify(arguments: &Verify, subject: &Subject) -> Result<Proof, String> {
    let names = || subject.topics.iter().map(|(name, _)| name.clone());
    let failed = |error: &dyn std::fmt::Display| {
        format!("{}: {error}", subject.settings.bootstrap_servers.join(","))
    };
    // The counts first: what they are decides where a key belongs.
    let mut look = SampleRequest::new(names(), Extent::Newest(0));
    look.deadline = arguments.timeout;
    let seen = read(&subject.settings, &look, &mut |_| ()).map_err(|error| failed(&error))?;
    // After the counts: a growth is marked before it is done, so that one that shows has its marks.
    let growths = subject.growths();
    let mut judged = Vec::new();
    let mut unread: Vec<(String, Incomplete)> = Vec::new();
    for (name, scheme) in &subject.topics {
        match count_of(&seen, name) {
            Ok(count) => judged.push(Topic {
                name: name.clone(),
                scheme: scheme.clone(),
                count,
                growth: growths.of(name, &seen, count),
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
