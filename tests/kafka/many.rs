//! Requests about many topics, and for many callers.

use copartition::kafka::{TopicDescription, TopicError};
use futures::future::join_all;

use super::client::{growth, refusal};
use super::{Bench, SOON, new_topic};
use crate::env::{Env, unique, wait_for};

pub(crate) fn one_request_creates_and_one_describes_hundreds(env: &Env) {
    let bench = Bench::new(&env.kafka.bootstrap());
    let prefix = unique("many");
    let topics: Vec<_> = (0..300)
        .map(|n| new_topic(&format!("{prefix}.{n}"), 1))
        .collect();
    let outcomes = bench.wait(bench.client.create_topics(&topics, false));
    assert_eq!(outcomes.len(), 300);
    assert!(outcomes.values().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(bench.metrics.requests("CreateTopics", "Ok"), 1);
    let asked: Vec<_> = topics.iter().map(|topic| topic.name.clone()).collect();
    let mut looks = 0;
    wait_for("300 new topics to show", SOON, || {
        looks += 1;
        let described = bench
            .wait(bench.client.describe_topics(&asked))
            .expect("an answer");
        assert_eq!(described.len(), 300);
        let ready = |seen: &&Result<TopicDescription, TopicError>| {
            seen.as_ref().is_ok_and(|seen| seen.leaderless == 0)
        };
        match described.values().filter(ready).count() {
            300 => Ok(()),
            count => Err(format!("{count}")),
        }
    });
    assert_eq!(bench.metrics.requests("DescribeTopics", "Ok"), looks);
    let asked: Vec<_> = asked.into_iter().map(|topic| (topic, 1)).collect();
    // A broker shows a partition as its own before it leads it.
    wait_for("300 new topics to be led", SOON, || {
        let ends = bench
            .wait(bench.client.end_offsets(&asked))
            .expect("an answer");
        assert_eq!(ends.len(), 300);
        match ends.values().find(|ends| **ends != Ok(vec![0])) {
            Some(other) => Err(format!("{other:?}")),
            None => Ok(()),
        }
    });
}

pub(crate) fn an_oversized_topic_fails_alone(env: &Env) {
    let bench = Bench::new(&env.kafka.bootstrap());
    let [small, huge, other] = ["small", "huge", "other"].map(unique);
    let asked = [
        new_topic(&small, 2),
        new_topic(&huge, 10_001),
        new_topic(&other, 2),
    ];
    let outcomes = bench.wait(bench.client.create_topics(&asked, false));
    let (code, words) = refusal(&outcomes[&huge]);
    assert_eq!(code, "POLICY_VIOLATION");
    assert!(
        words.contains("Excessively large number of partitions"),
        "{words}"
    );
    assert_eq!((&outcomes[&small], &outcomes[&other]), (&Ok(()), &Ok(())));
    bench.see(&small, 2);
    bench.see(&other, 2);
    // Sent, it would fail and leave 10,002 partitions behind.
    let asked = [growth(&small, 4), growth(&other, 10_001)];
    let grown = bench.wait(bench.client.create_partitions(&asked, false));
    assert_eq!(grown[&small], Ok(()));
    assert_eq!(refusal(&grown[&other]).0, "_INVALID_PARTITIONS");
    bench.see(&small, 4);
    assert_eq!(bench.see(&other, 2).partitions, 2);
    assert_eq!(bench.describe(&huge), Err(TopicError::UnknownTopic));
}

pub(crate) fn calls_at_the_same_time_share_requests(env: &Env) {
    let bench = Bench::new(&env.kafka.bootstrap());
    let prefix = unique("together");
    let twice = format!("{prefix}.twice");
    let mut calls: Vec<_> = (0..100)
        .map(|n| vec![new_topic(&format!("{prefix}.{n}"), 1)])
        .collect();
    calls.push(vec![new_topic(&twice, 1)]);
    calls.push(vec![new_topic(&twice, 2)]);
    let calls: Vec<_> = bench.wait(join_all(
        calls
            .iter()
            .map(|call| bench.client.create_topics(call, false)),
    ));
    assert!(
        calls[..101]
            .iter()
            .all(|call| call.len() == 1 && call.values().all(Result::is_ok)),
        "{calls:?}"
    );
    // Two wishes for one topic are never one request, which would drop one of them silently.
    assert_eq!(calls[101][&twice], Err(TopicError::AlreadyExists));
    let requests = bench.metrics.requests("CreateTopics", "Ok");
    assert!(requests <= 20, "{requests} requests for 102 calls");
}
