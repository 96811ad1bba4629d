//! Reading and judging.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use super::super::terminal::counted;
use super::Verify;
use super::checkpoint::{self, Course};
use super::progress;
use super::record::Proof;
use super::subject::Subject;
use crate::controller::verification::fingerprint_key;
use crate::kafka::{
    Cancel, Extent, Incomplete, Progress, Sample, SampleRequest, SampledRecord, TopicSample,
    sample_blocking,
};
use crate::keys::PartitionCount;
use crate::plan::TopicId;
use crate::verify::{MAX_KEYS, Record, Topic};

/// How many keys are remembered of all topics together: 200 MB of them.
pub(super) const MOST_KEYS: usize = 1_000_000;
/// How many of each topic, however many topics there are.
const LEAST_KEYS: usize = 1_000;

/// Reads the topics of a subject and judges them.
///
/// # Errors
/// One line for the user.
pub(super) fn verify(
    arguments: &Verify,
    subject: &Subject,
    cancel: &Cancel,
) -> Result<Proof, String> {
    let checkpoint = arguments.checkpoint.as_deref();
    let kept = match checkpoint {
        Some(path) => checkpoint::load(path)?,
        None => None,
    };
    let reading = Reading {
        arguments,
        subject,
        cancel,
    };
    let (topics, mut unread) = reading.topics()?;
    let mut course = match (checkpoint, unread.first(), kept) {
        (Some(_), Some((_, why @ Incomplete::Stopped)), _) => return Err(why.to_string()),
        // Its records would be missing from what is kept, or be judged without its.
        (Some(_), Some((topic, why)), _) => {
            return Err(format!(
                "{topic}: {why}; with --checkpoint all topics have to be there"
            ));
        }
        (Some(path), None, Some(kept)) => {
            let course = Course::resume(topics, kept, path)?;
            eprintln!(
                "kubectl copartition: going on after the {} of {}",
                counted(course.judge.records(), "record"),
                path.display()
            );
            course
        }
        _ => {
            let most = MOST_KEYS.checked_div(topics.len()).unwrap_or(MOST_KEYS);
            Course::new(topics, fingerprint_key(), most.clamp(LEAST_KEYS, MAX_KEYS))
        }
    };
    let sample = reading.read(&mut course)?;
    let incomplete = |(name, topic): (&String, &TopicSample)| {
        let why = topic.incomplete()?;
        Some((name.clone(), why.clone()))
    };
    unread.extend(sample.topics.iter().filter_map(incomplete));
    if let Some(path) = checkpoint.filter(|_| !unread.is_empty()) {
        course.advance(sample.positions());
        keep(&course, path, &unread);
    }
    Ok(Proof::of(
        subject.group.clone(),
        arguments.read(),
        &course.judge.report(),
        unread,
    ))
}

/// Keeps what was read, and says so. The report is there anyway.
fn keep(course: &Course, path: &Path, unread: &[(String, Incomplete)]) {
    // Records of two topics of one name may be mixed in it, and the rest of the first will never come.
    let gone = |(_, why): &(String, Incomplete)| *why == Incomplete::TopicDeleted;
    if unread.iter().any(gone) {
        return;
    }
    match course.keep(path) {
        Ok(()) => eprintln!(
            "kubectl copartition: what was read is kept in {}; run the same command again to go on",
            path.display()
        ),
        Err(error) => eprintln!("kubectl copartition: what was read is not kept: {error}"),
    }
}

struct Reading<'a> {
    arguments: &'a Verify,
    subject: &'a Subject,
    cancel: &'a Cancel,
}

/// Topics with their ids, and those that cannot be read.
type Looked = (Vec<(Topic, TopicId)>, Vec<(String, Incomplete)>);

impl Reading<'_> {
    /// What is to be judged. The counts come first: what they are decides where a key belongs.
    fn topics(&self) -> Result<Looked, String> {
        let names = self.subject.topics.iter().map(|(name, _)| name.clone());
        let look = SampleRequest::new(names, Extent::Newest(0));
        let seen = self.sample(look, &mut |_| ())?;
        // After the counts: a growth is marked before it is done, so that one that shows has its marks.
        let growths = self.subject.growths();
        let mut topics = Vec::new();
        let mut unread = Vec::new();
        for (name, scheme) in &self.subject.topics {
            match described(&seen, name) {
                Ok((count, id)) => {
                    let growth = growths.of(name, &id, count);
                    let topic = Topic {
                        name: name.clone(),
                        scheme: scheme.clone(),
                        count,
                        growth,
                    };
                    topics.push((topic, id));
                }
                Err(incomplete) => unread.push((name.clone(), incomplete)),
            }
        }
        Ok((topics, unread))
    }

    /// Reads on and judges.
    fn read(&self, course: &mut Course) -> Result<Sample, String> {
        let numbers: HashMap<String, usize> =
            course.topics().map(ToOwned::to_owned).zip(0..).collect();
        if numbers.is_empty() {
            return Ok(Sample::default());
        }
        let mut request = SampleRequest::new(numbers.keys().cloned(), self.arguments.extent());
        request.resume = course.positions.clone();
        let judge = &mut course.judge;
        self.sample(request, &mut |record| {
            if let Some(topic) = numbers.get(record.topic) {
                judge.add(Record {
                    topic: *topic,
                    partition: record.partition,
                    offset: record.offset,
                    key: record.key,
                });
            }
        })
    }

    fn sample(
        &self,
        mut request: SampleRequest,
        take: &mut dyn FnMut(&SampledRecord<'_>),
    ) -> Result<Sample, String> {
        request.deadline = self.arguments.timeout;
        let settings = &self.subject.settings;
        let progress = Progress::default();
        let read = progress::shown(&progress, || {
            let mut sink = |record: &SampledRecord<'_>| {
                take(record);
                ControlFlow::Continue(())
            };
            sample_blocking(settings, &request, &progress, self.cancel, &mut sink)
        });
        read.map_err(|error| format!("{}: {error}", settings.bootstrap_servers.join(",")))
    }
}

fn described(sample: &Sample, topic: &str) -> Result<(PartitionCount, TopicId), Incomplete> {
    let topic = sample.topics.get(topic).ok_or(Incomplete::TopicNotFound)?;
    let count = i32::try_from(topic.partitions.len()).ok();
    match (count.and_then(PartitionCount::new), &topic.id) {
        (Some(count), Some(id)) => Ok((count, id.clone())),
        _ => Err(topic.failure.clone().unwrap_or(Incomplete::TopicNotFound)),
    }
}
