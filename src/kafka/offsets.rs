//! End offsets of whole topics, put together from those of their partitions.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::chunk;
use super::client::{Client, PerTopic};
use super::error::TopicError;
use super::ffi::{self, Failure, Limits, PartitionOffset, Which, code};
use super::metrics::Api;
use super::model::TopicDescription;
use super::permissions::Operation;

/// The pause before topics are asked for again whose leaders had just moved, or did not know yet that they lead;
/// doubles.
const PAUSE: Duration = Duration::from_millis(100);
/// How often they are asked for again.
const RETRIES: usize = 3;

/// Reads the end offsets of partitions 0 to n-1 of the topics asked for, which must have been described just
/// now.
///
/// Why that: librdkafka takes leaders and partition counts from a cache that descriptions fill. Where the cache
/// lacks something, its first look for leaders runs on the calling thread while its own thread may finish
/// the same operation, and frees it (seen as a crash with 2.12.1: `pthread_mutex_lock` of a null pointer in
/// `rd_kafka_topic_partition_list_query_leaders_async_worker`). So only what the cache has is asked for.
pub(super) async fn read(
    client: &Client,
    mut asked: BTreeMap<String, i32>,
    mut described: PerTopic<TopicDescription>,
) -> PerTopic<Vec<i64>> {
    let deadline = Instant::now() + client.connection().timeout();
    let mut answers = PerTopic::new();
    let mut pause = PAUSE;
    for attempt in 0..=RETRIES {
        asked.retain(|topic, count| match led(*count, described.remove(topic)) {
            Ok(()) => true,
            Err(error) => {
                answers.insert(topic.clone(), Err(error));
                false
            }
        });
        let found = ask(client, &asked, deadline).await;
        let stale = |found: &Result<Vec<i64>, Failure>| matches!(found, Err(failure) if code::is_stale_metadata(failure.code));
        asked.retain(|topic, _| found.get(topic).is_some_and(stale));
        answers.extend(found.into_iter().map(|(topic, end)| {
            let refused = |failure| TopicError::of(failure).during(Operation::Describe, &topic);
            let end = end.map_err(refused);
            (topic, end)
        }));
        if asked.is_empty() || attempt == RETRIES {
            break;
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
        let names: Vec<String> = asked.keys().cloned().collect();
        match client.describe_topics(&names).await {
            Ok(again) => described = again,
            Err(_) => break,
        }
    }
    answers
}

/// Whether all partitions asked for have a leader to ask.
fn led(
    count: i32,
    described: Option<Result<TopicDescription, TopicError>>,
) -> Result<(), TopicError> {
    let described = described.unwrap_or_else(|| Err(TopicError::left_out()))?;
    let refuse = |code: &str, message| {
        Err(TopicError::Rejected {
            code: code.to_owned(),
            message,
        })
    };
    if described.leaderless > 0 {
        let TopicDescription {
            leaderless,
            partitions,
            ..
        } = described;
        let message = format!("{leaderless} of {partitions} partitions have no leader");
        return refuse("LEADER_NOT_AVAILABLE", message);
    }
    if described.partitions < count {
        let message = format!(
            "the topic has {} partitions, not {count}",
            described.partitions
        );
        return refuse("INVALID_PARTITIONS", message);
    }
    Ok(())
}

/// Asks once for all partitions, in chunks.
async fn ask(
    client: &Client,
    topics: &BTreeMap<String, i32>,
    deadline: Instant,
) -> BTreeMap<String, Result<Vec<i64>, Failure>> {
    let partitions = topics
        .iter()
        .flat_map(|(topic, count)| (0..*count).map(move |partition| (topic.clone(), partition)))
        .collect();
    let mut found: Vec<PartitionOffset> = Vec::new();
    for chunk in chunk::by_weight(partitions, chunk::OFFSET_LIMIT, |_| 1) {
        // To each partition's leader: which broker that is, the library finds out.
        let timeout = deadline.saturating_duration_since(Instant::now());
        let limits = Limits {
            timeout,
            broker: None,
        };
        let asked = chunk.clone();
        let request = move |handle: ffi::Handle<'_>, limits| match ffi::list_offsets(
            handle,
            limits,
            &asked,
            Which::Latest,
        ) {
            Err(failure) if code::is_undelivered(failure.code) => Err(failure),
            answer => Ok(answer),
        };
        match client
            .connection()
            .ask(Api::ListOffsets, limits, request)
            .await
        {
            Ok(Ok(offsets)) => found.extend(offsets),
            Ok(Err(failure)) => found.extend(
                chunk
                    .into_iter()
                    .map(|(topic, partition)| (topic, partition, Err(failure.clone()))),
            ),
            // What was not asked for is without an answer too: each further request might wait as long.
            Err(_) => break,
        }
    }
    by_topic(topics, found)
}

/// Gathers partitions into topics: an error, or a partition without an answer, is the topic's.
fn by_topic(
    topics: &BTreeMap<String, i32>,
    found: Vec<PartitionOffset>,
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
    fn only_led_partitions_are_asked_for() {
        let described = |partitions, leaderless| {
            let id = "id".to_owned();
            Some(Ok(TopicDescription {
                id,
                partitions,
                replication_factor: 1,
                leaderless,
            }))
        };
        assert_eq!(led(6, described(6, 0)), Ok(()));
        assert_eq!(led(6, described(8, 0)), Ok(()));
        assert!(matches!(
            led(8, described(6, 0)),
            Err(TopicError::Rejected { .. })
        ));
        let refused = led(6, described(6, 2)).unwrap_err().to_string();
        assert_eq!(
            refused,
            "LEADER_NOT_AVAILABLE: 2 of 6 partitions have no leader"
        );
        assert_eq!(
            led(1, Some(Err(TopicError::UnknownTopic))),
            Err(TopicError::UnknownTopic)
        );
        assert!(led(1, None).is_err());
    }

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
