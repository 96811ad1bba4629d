//! End offsets of whole topics, put together from those of their partitions.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::chunk;
use super::client::{PerTopic, refuse_name};
use super::connection::{CACHE_AGE, Connection};
use super::error::{Error, TopicError};
use super::ffi::{self, EndOffset, Failure, Limits, code};
use super::metrics::Api;

/// When to ask again after the library's cache was wrong about a topic, or a new leader did not know yet that it
/// is one; doubles.
const PAUSE: Duration = CACHE_AGE.saturating_mul(2);
/// How often topics are asked for again that the cache was wrong about.
const RETRIES: usize = 3;

/// See [`Client::end_offsets`](super::Client::end_offsets).
pub(super) async fn read(
    connection: &Connection,
    topics: &[(String, i32)],
) -> Result<PerTopic<Vec<i64>>, Error> {
    let deadline = Instant::now() + connection.timeout();
    let mut answers = PerTopic::new();
    let mut asked: BTreeMap<String, i32> = BTreeMap::new();
    for (topic, partitions) in topics {
        match refuse_name(topic) {
            Some(refusal) => {
                answers.insert(topic.clone(), Err(refusal));
            }
            None => {
                asked.insert(topic.clone(), *partitions);
            }
        }
    }
    let mut pause = PAUSE;
    for attempt in 0..=RETRIES {
        let mut found = ask(connection, &asked, deadline).await?;
        let stale: Vec<String> = if attempt < RETRIES {
            asked
                .keys()
                .filter(|topic| is_stale(found.get(*topic)))
                .cloned()
                .collect()
        } else {
            Vec::new()
        };
        asked.retain(|topic, _| stale.contains(topic));
        found.retain(|topic, _| !stale.contains(topic));
        let found = found
            .into_iter()
            .map(|(topic, end)| (topic, end.map_err(TopicError::of)));
        answers.extend(found);
        if stale.is_empty() {
            break;
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    Ok(answers)
}

fn is_stale(found: Option<&Result<Vec<i64>, Failure>>) -> bool {
    matches!(found, Some(Err(failure)) if code::is_stale_metadata(failure.code))
}

/// Asks once for all partitions, in chunks. A request without an answer is an error of the whole only if it
/// is the first one; later its topics, and those not asked for yet, are the ones without an answer.
async fn ask(
    connection: &Connection,
    topics: &BTreeMap<String, i32>,
    deadline: Instant,
) -> Result<BTreeMap<String, Result<Vec<i64>, Failure>>, Error> {
    let partitions = topics
        .iter()
        .flat_map(|(topic, count)| (0..*count).map(move |partition| (topic.clone(), partition)))
        .collect();
    let mut found: Vec<EndOffset> = Vec::new();
    for chunk in chunk::by_weight(partitions, chunk::OFFSET_LIMIT, |_| 1) {
        // To each partition's leader: which broker that is, the library finds out.
        let limits = Limits {
            timeout: deadline.saturating_duration_since(Instant::now()),
            broker: None,
        };
        let asked = chunk.clone();
        let answer = connection
            .ask(
                Api::ListOffsets,
                limits,
                move |handle, limits| match ffi::list_latest_offsets(handle, limits, &asked) {
                    Err(failure) if code::is_undelivered(failure.code) => Err(failure),
                    answer => Ok(answer),
                },
            )
            .await;
        match answer {
            Ok(Ok(offsets)) => found.extend(offsets),
            // Such as "no leaders found", when none of the partitions has one.
            Ok(Err(failure)) => found.extend(
                chunk
                    .into_iter()
                    .map(|(topic, partition)| (topic, partition, Err(failure.clone()))),
            ),
            Err(error) if found.is_empty() => return Err(error),
            Err(_) => break,
        }
    }
    Ok(by_topic(topics, found))
}

/// Gathers partitions into topics: an error, or a partition without an answer, is the topic's.
fn by_topic(
    topics: &BTreeMap<String, i32>,
    found: Vec<EndOffset>,
) -> BTreeMap<String, Result<Vec<i64>, Failure>> {
    let mut ends: BTreeMap<String, BTreeMap<i32, i64>> = BTreeMap::new();
    let mut failures: BTreeMap<String, Failure> = BTreeMap::new();
    for (topic, partition, end) in found {
        match end {
            Ok(end) => {
                ends.entry(topic).or_default().insert(partition, end);
            }
            Err(failure) => {
                failures.entry(topic).or_insert(failure);
            }
        }
    }
    let mut of_topic = |topic: &String, count: i32| {
        if let Some(failure) = failures.remove(topic) {
            return Err(failure);
        }
        let ends: Vec<i64> = ends
            .remove(topic)
            .unwrap_or_default()
            .into_values()
            .collect();
        if i32::try_from(ends.len()) == Ok(count) {
            Ok(ends)
        } else {
            Err(Failure::unanswered())
        }
    };
    topics
        .iter()
        .map(|(topic, count)| (topic.clone(), of_topic(topic, *count)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_has_offsets_only_if_all_its_partitions_have() {
        let topics = [("a", 2), ("b", 2), ("c", 2), ("d", 0)];
        let topics = topics
            .map(|(topic, count)| (topic.to_owned(), count))
            .into();
        let failure = Failure {
            code: 5,
            name: "X".to_owned(),
            message: "no leader".to_owned(),
        };
        let found = vec![
            ("a".to_owned(), 1, Ok(7)),
            ("a".to_owned(), 0, Ok(0)),
            ("b".to_owned(), 0, Ok(1)),
            ("c".to_owned(), 0, Ok(1)),
            ("c".to_owned(), 1, Err(failure.clone())),
        ];
        let answers = by_topic(&topics, found);
        assert_eq!(answers["a"], Ok(vec![0, 7]));
        assert_eq!(answers["b"], Err(Failure::unanswered()));
        assert_eq!(answers["c"], Err(failure));
        assert_eq!(answers["d"], Ok(vec![]));
    }
}
