//! Where each partition begins and ends.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::super::chunk;
use super::super::client::refuse_name;
use super::super::error::{Error, TopicError};
use super::super::ffi::{self, Failure, Which, code};
use super::super::permissions::Operation;
use super::ledger::{Key, Ledger};
use super::request::{Extent, Incomplete, SampleRequest};
use super::session::Session;

/// The topics that may be read a moment later, by index, with what stands in the way: partitions without a leader, or
/// one that does not answer.
pub(super) type Later = BTreeMap<usize, Incomplete>;

/// Looks up topics and enters their partitions into the ledger; what can't be read, it ends there. Fails only if the
/// topics cannot be described at all.
pub(super) fn look_up(
    session: &Session,
    ledger: &mut Ledger<'_>,
    topics: impl Iterator<Item = usize>,
    request: &SampleRequest,
    deadline: Instant,
) -> Result<Later, Error> {
    let mut later = Later::new();
    let mut partitions: Vec<Key> = Vec::new();
    let mut askable = Vec::new();
    for topic in topics {
        match refuse_name(ledger.name(topic)) {
            Some(refusal) => ledger.fail(topic, &refusal.into()),
            None => askable.push(topic),
        }
    }
    for chunk in chunk::by_weight(askable, chunk::DESCRIBE_LIMIT, |_| 1) {
        let names: Vec<String> = chunk
            .iter()
            .map(|topic| ledger.name(*topic).to_owned())
            .collect();
        let described = session.ask_any(deadline, |handle, limits| {
            ffi::describe_topics(handle, limits, &names)
        })?;
        let mut described: BTreeMap<String, _> = described.into_iter().collect();
        for topic in chunk {
            let name = ledger.name(topic).to_owned();
            let found = match described.remove(&name) {
                Some(found) => found.map_err(|failure| not_described(failure, &name)),
                None => Err(TopicError::left_out().into()),
            };
            match found {
                Err(reason) => ledger.fail(topic, &reason),
                Ok(found) => {
                    let resumed = request.resume.0.get(&name);
                    if resumed.is_some_and(|resumed| resumed.id != found.id) {
                        ledger.fail(topic, &Incomplete::TopicDeleted);
                        continue;
                    }
                    ledger.set_id(topic, found.id);
                    if found.leaderless > 0 {
                        let message = format!(
                            "{} of {} partitions have no leader",
                            found.leaderless, found.partitions
                        );
                        let code = "LEADER_NOT_AVAILABLE".to_owned();
                        later.insert(topic, Incomplete::Rejected { code, message });
                    } else {
                        partitions.extend((0..found.partitions).map(|number| (topic, number)));
                    }
                }
            }
        }
    }
    enter(session, ledger, &partitions, request, deadline, &mut later);
    Ok(later)
}

fn not_described(failure: Failure, topic: &str) -> Incomplete {
    TopicError::of(failure)
        .during(Operation::Describe, topic)
        .into()
}

/// Enters the partitions of the topics of which all offsets are known.
fn enter(
    session: &Session,
    ledger: &mut Ledger<'_>,
    partitions: &[Key],
    request: &SampleRequest,
    deadline: Instant,
    later: &mut Later,
) {
    let mut failed = BTreeMap::new();
    let mut ask = |ledger: &Ledger<'_>, which| {
        let (found, errors) = offsets(session, ledger, partitions, which, deadline);
        failed.extend(errors);
        found
    };
    let low = ask(ledger, Which::Earliest);
    let end = ask(ledger, Which::LatestCommitted);
    let since = match request.extent {
        Extent::Since(milliseconds) => ask(ledger, Which::Since(milliseconds)),
        Extent::Newest(_) | Extent::Everything => BTreeMap::new(),
    };
    for key in partitions {
        let (Some(low), Some(end)) = (low.get(key).copied(), end.get(key).copied()) else {
            continue;
        };
        if failed.contains_key(&key.0) {
            continue;
        }
        let resumed = request.resume.0.get(ledger.name(key.0));
        let resumed = resumed.and_then(|resumed| resumed.next.get(&key.1));
        let from = match (resumed, request.extent) {
            (Some(next), _) => *next,
            (None, Extent::Everything) => low,
            (None, Extent::Newest(count)) => {
                end.saturating_sub(i64::try_from(count).unwrap_or(i64::MAX))
            }
            // No record of that time or later.
            (None, Extent::Since(_)) => match since.get(key) {
                Some(offset) if *offset >= 0 => *offset,
                _ => end,
            },
        };
        ledger.add(*key, from.max(low), end);
    }
    for (topic, (reason, again)) in failed {
        if again {
            later.insert(topic, reason);
        } else {
            ledger.fail(topic, &reason);
        }
    }
}

type Offsets = BTreeMap<Key, i64>;
/// Why a topic has no offsets, and whether it may have some a moment later.
type Failed = BTreeMap<usize, (Incomplete, bool)>;

fn offsets(
    session: &Session,
    ledger: &Ledger<'_>,
    partitions: &[Key],
    which: Which,
    deadline: Instant,
) -> (Offsets, Failed) {
    let mut found = Offsets::new();
    let mut failed = Failed::new();
    for chunk in chunk::by_weight(partitions.to_vec(), chunk::OFFSET_LIMIT, |_| 1) {
        let names: BTreeMap<String, usize> = chunk
            .iter()
            .map(|(topic, _)| (ledger.name(*topic).to_owned(), *topic))
            .collect();
        let asked: Vec<(String, i32)> = chunk
            .iter()
            .map(|(topic, number)| (ledger.name(*topic).to_owned(), *number))
            .collect();
        let answer = session.ask(deadline, |handle, limits| {
            ffi::list_offsets(handle, limits, &asked, which)
        });
        let mut missing: BTreeSet<Key> = chunk.into_iter().collect();
        match answer {
            Err(error) => {
                let reason = Incomplete::from(error);
                for (topic, _) in &missing {
                    failed.insert(*topic, (reason.clone(), true));
                }
                continue;
            }
            Ok(answer) => {
                for (name, number, offset) in answer {
                    let Some(topic) = names.get(&name).copied() else {
                        continue;
                    };
                    missing.remove(&(topic, number));
                    match offset {
                        Ok(offset) => {
                            found.insert((topic, number), offset);
                        }
                        Err(failure) => {
                            failed.insert(topic, no_offset(session, failure, &name, number));
                        }
                    }
                }
            }
        }
        for (topic, _) in missing {
            failed.insert(topic, (TopicError::left_out().into(), true));
        }
    }
    (found, failed)
}

fn no_offset(session: &Session, failure: Failure, topic: &str, number: i32) -> (Incomplete, bool) {
    let again = code::is_stale_metadata(failure.code) || code::is_undelivered(failure.code);
    if code::is_undelivered(failure.code) {
        let words = format!("partition {number}: no answer for its offsets");
        return (session.silence(words).into(), again);
    }
    let reason = match TopicError::of(failure) {
        TopicError::NotAuthorized(words) => {
            Incomplete::NotAuthorized(format!("DESCRIBE on topic {topic}: {words}"))
        }
        error => error.into(),
    };
    (reason, again)
}

/// The offset at which a partition begins now.
pub(super) fn beginning(
    session: &Session,
    topic: &str,
    number: i32,
    deadline: Instant,
) -> Result<i64, Incomplete> {
    // Described first, for the reason given in `offsets`.
    let names = [topic.to_owned()];
    session.ask_any(deadline, |handle, limits| {
        ffi::describe_topics(handle, limits, &names)
    })?;
    let asked = [(topic.to_owned(), number)];
    let mut answer = session.ask(deadline, |handle, limits| {
        ffi::list_offsets(handle, limits, &asked, Which::Earliest)
    })?;
    match answer.pop() {
        Some((_, _, Ok(offset))) => Ok(offset),
        Some((_, _, Err(failure))) => Err(no_offset(session, failure, topic, number).0),
        None => Err(TopicError::left_out().into()),
    }
}
