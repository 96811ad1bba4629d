//! The reading itself, which blocks.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::super::error::Error;
use super::super::ffi::{Consumed, Failure, code};
use super::super::settings::ConnectionSettings;
use super::ledger::{Key, Ledger};
use super::ranges::{self, Later};
use super::request::{Cancel, Incomplete, Progress, Sample, SampleRequest, SampledRecord, Sink};
use super::session::Session;

/// How long the reader waits for an event before it looks at its deadline and whether it was cancelled.
const SLICE: Duration = Duration::from_millis(100);
/// After so long without a record it looks whether its topics and brokers are still there, and again after as long.
const QUIET: Duration = Duration::from_secs(1);
/// After so many request timeouts without a record, what is open is given up: long enough for another replica to be
/// elected in place of a leader that died.
const PATIENCE: u32 = 3;
/// The first pause before topics that were not ready are looked up again; doubles.
const PAUSE: Duration = Duration::from_millis(100);

/// Reads records and gives them to the sink, on the calling thread. Joins no group and commits nothing.
///
/// Fails only if the settings are unusable, or if no broker answers at the beginning. Whatever happens later is part of
/// the sample, per topic and partition.
pub fn sample_blocking(
    settings: &ConnectionSettings,
    request: &SampleRequest,
    progress: &Progress,
    cancel: &Cancel,
    sink: &mut dyn Sink,
) -> Result<Sample, Error> {
    let now = Instant::now();
    let day = Duration::from_secs(86_400);
    let deadline = now.checked_add(request.deadline).unwrap_or(now + 365 * day);
    let session = Session::open(settings, request.largest_batch)?;
    session.probe(deadline)?;
    let topics = request.topics.iter().cloned();
    let mut reader = Reader {
        patience: session.timeout() * PATIENCE,
        session,
        ledger: Ledger::new(topics, progress),
        request,
        deadline,
        cancel,
        sink,
        quiet_since: now,
        missed: BTreeSet::new(),
    };
    reader.run()?;
    Ok(reader.ledger.into_sample())
}

pub(super) struct Reader<'a> {
    pub(super) session: Session,
    pub(super) ledger: Ledger<'a>,
    request: &'a SampleRequest,
    pub(super) deadline: Instant,
    pub(super) cancel: &'a Cancel,
    sink: &'a mut dyn Sink,
    patience: Duration,
    /// When something of a partition came last.
    quiet_since: Instant,
    /// Topics that a broker did not know at the last look.
    pub(super) missed: BTreeSet<usize>,
}

/// How the reading of some partitions went.
enum Went {
    /// Each is done or given up; these lost the records at which they stood and are to be read from where they begin now.
    Through(Vec<Key>),
    /// A batch of one of them is too large.
    TooLarge,
}

impl Reader<'_> {
    fn run(&mut self) -> Result<(), Error> {
        let all = 0..self.request.topics.len();
        let later = ranges::look_up(
            &self.session,
            &mut self.ledger,
            all,
            self.request,
            self.deadline,
        )?;
        self.session.answered();
        self.read_open();
        self.read_later(later);
        self.verify();
        Ok(())
    }

    /// Reads what is open. Whatever goes wrong, nothing is open after it.
    fn read_open(&mut self) {
        let mut groups = vec![self.ledger.all_open()];
        while let Some(mut group) = groups.pop() {
            group.retain(|key| self.ledger.next(*key).is_some());
            if group.is_empty() {
                continue;
            }
            let went = self.read_group(&group).and_then(|went| {
                if matches!(went, Went::TooLarge) {
                    self.session.renew()?;
                }
                Ok(went)
            });
            match went {
                Ok(Went::Through(again)) => groups.push(again),
                Ok(Went::TooLarge) => {
                    group.retain(|key| self.ledger.next(*key).is_some());
                    if let [key] = group[..] {
                        let reason = Incomplete::RecordTooLarge {
                            partition: key.1,
                            offset: self.ledger.next(key).unwrap_or_default(),
                            limit: self.session.largest_batch(),
                        };
                        self.ledger.close(key, Some(reason));
                    } else {
                        let half = group.split_off(group.len() / 2);
                        groups.extend([half, group]);
                    }
                }
                Err(error) => self.ledger.close_all(&error.into()),
            }
        }
    }

    /// Reads partitions until each is done or given up.
    fn read_group(&mut self, group: &[Key]) -> Result<Went, Error> {
        self.assign(group)?;
        let mut again = Vec::new();
        let mut done = 0;
        self.quiet_since = Instant::now();
        let mut looked = Instant::now();
        loop {
            if let Some(reason) = self.ended() {
                self.ledger.close_all(&reason);
            }
            // What is done stays so: each partition is looked at once, not with each event.
            while let Some(key) = group.get(done) {
                if self.ledger.next(*key).is_some() && !again.contains(key) {
                    break;
                }
                done += 1;
            }
            if done == group.len() {
                return Ok(Went::Through(again));
            }
            self.session.keep_logged_in();
            match self.take_some()? {
                Some(Event::TooLarge) => return Ok(Went::TooLarge),
                Some(Event::Failed(key, failure)) => {
                    let anew = self.failed(key, failure);
                    again.extend(anew.then_some(key));
                }
                None => {}
            }
            let quiet = self.quiet_since.elapsed();
            if quiet >= self.patience {
                let words = format!("nothing came for {} s", quiet.as_secs());
                let reason: Incomplete = self.session.silence(words).into();
                for key in group {
                    self.ledger.close(*key, Some(reason.clone()));
                }
            } else if quiet >= QUIET && looked.elapsed() >= QUIET {
                self.look();
                looked = Instant::now();
            }
        }
    }

    fn assign(&self, group: &[Key]) -> Result<(), Error> {
        let ledger = &self.ledger;
        let partitions = group.iter().filter_map(|key| {
            let next = ledger.next(*key)?;
            Some((ledger.name(key.0), key.1, next))
        });
        self.session.assign(partitions)
    }

    /// Why the reading as a whole has to end now.
    fn ended(&self) -> Option<Incomplete> {
        let spent = |budget| self.ledger.bytes() >= budget;
        if self.cancel.is_cancelled() {
            return Some(Incomplete::Stopped);
        }
        if self.request.budget.is_some_and(spent) {
            return Some(Incomplete::BudgetSpent);
        }
        if Instant::now() < self.deadline {
            return None;
        }
        let words = format!("the deadline of {:?} has passed", self.request.deadline);
        Some(if self.quiet_since.elapsed() >= QUIET {
            self.session.silence(words).into()
        } else {
            Incomplete::Timeout(words)
        })
    }

    /// Takes events as long as records come one after the other; ends with the first other one, with a partition that
    /// is done, with the budget, or when none came for a moment.
    fn take_some(&mut self) -> Result<Option<Event>, Error> {
        /// So many records between two looks at all else.
        const RUN: usize = 256;
        let queue = self.session.queue()?;
        let ledger = &mut self.ledger;
        for _ in 0..RUN {
            let Some(polled) = queue.poll(SLICE) else {
                return Ok(None);
            };
            match polled.read() {
                Consumed::Record {
                    topic,
                    partition,
                    offset,
                    timestamp,
                    key: bytes,
                    value,
                } => {
                    let Some(index) = ledger.find(topic) else {
                        continue;
                    };
                    let key = (index, partition);
                    self.quiet_since = Instant::now();
                    let mut stop = false;
                    if ledger.wants(key, offset) {
                        let record = SampledRecord {
                            topic,
                            partition,
                            offset,
                            timestamp,
                            key: bytes,
                            tombstone: value.is_none(),
                        };
                        stop = self.sink.take(&record).is_break();
                        let size = bytes.map_or(0, <[u8]>::len) + value.unwrap_or(0);
                        ledger.count(key, u64::try_from(size).unwrap_or(u64::MAX));
                    }
                    let done = ledger.pass(key, offset);
                    if done {
                        self.session.pause(topic, partition);
                    }
                    if stop {
                        ledger.close_all(&Incomplete::Stopped);
                    }
                    let spent = |budget| ledger.bytes() >= budget;
                    let over = self.cancel.is_cancelled()
                        || self.quiet_since >= self.deadline
                        || self.request.budget.is_some_and(spent);
                    if done || stop || over {
                        return Ok(None);
                    }
                }
                Consumed::Partition {
                    topic,
                    partition,
                    failure,
                } => {
                    let Some(index) = ledger.find(&topic) else {
                        continue;
                    };
                    if failure.code == code::PARTITION_EOF {
                        self.quiet_since = Instant::now();
                    }
                    return Ok(Some(Event::Failed((index, partition), failure)));
                }
                Consumed::Client(failure) => {
                    if self.session.complain(&failure) {
                        return Ok(Some(Event::TooLarge));
                    }
                }
                Consumed::Other => {}
            }
        }
        Ok(None)
    }

    /// Topics that were not ready at first, after all others, for as long as one request may take.
    fn read_later(&mut self, mut later: Later) {
        let end = Instant::now() + self.session.timeout();
        let mut pause = PAUSE;
        while !later.is_empty() && Instant::now() < end && self.ended().is_none() {
            let looked = self.session.wait(pause).and_then(|()| {
                ranges::look_up(
                    &self.session,
                    &mut self.ledger,
                    later.keys().copied(),
                    self.request,
                    self.deadline,
                )
            });
            match looked {
                Ok(still) => later = still,
                Err(error) => {
                    let reason: Incomplete = error.into();
                    for old in later.values_mut() {
                        old.clone_from(&reason);
                    }
                }
            }
            pause *= 2;
            self.read_open();
        }
        for (topic, reason) in later {
            let reason = self.ended().unwrap_or(reason);
            self.ledger.fail(topic, &reason);
        }
    }
}

/// What a reader has to act on, besides records.
enum Event {
    TooLarge,
    Failed(Key, Failure),
}
