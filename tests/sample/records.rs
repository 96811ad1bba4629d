//! Which records are given.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Duration;

use copartition::kafka::{Extent, Incomplete, Positions, SampledRecord};
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::producer::Producer;

use super::{DEADLINE, Given, Writer, offsets, read, read_into, request, settings};
use crate::env::{Env, KafkaCluster, KafkaOptions, unique, wait_for};

pub(crate) fn the_newest_records_of_each_partition_are_given(env: &Env) {
    let (topic, other) = (unique("newest"), unique("other"));
    env.kafka.create_topic(&topic, 3);
    env.kafka.create_topic(&other, 1);
    let writer = Writer::new(&env.kafka, &[]);
    writer.write((&topic, 0), 10);
    writer.write((&topic, 1), 2);
    writer.write((&other, 0), 1);
    let (sample, given) = read(&env.kafka, &request(&[&topic, &other], Extent::Newest(3)));
    assert!(sample.is_complete(), "{sample:?}");
    let expected = BTreeMap::from([(0, vec![7, 8, 9]), (1, vec![0, 1])]);
    assert_eq!(offsets(&given, &topic), expected);
    assert_eq!(offsets(&given, &other), BTreeMap::from([(0, vec![0])]));
    let keys: Vec<_> = given
        .iter()
        .filter(|record| record.topic == topic && record.partition == 0)
        .map(|record| record.key.clone().expect("a key"))
        .collect();
    assert_eq!(keys, [b"key-7", b"key-8", b"key-9"]);
    let partitions = &sample.topics[&topic].partitions;
    let seen = |number| {
        let seen = &partitions[&number];
        (seen.from, seen.end, seen.next, seen.records)
    };
    assert_eq!(seen(0), (7, 10, 10, 3));
    assert_eq!(seen(1), (0, 2, 2, 2));
    assert_eq!(seen(2), (0, 0, 0, 0));
    assert_eq!(sample.bytes(), 6 * ("key-0value".len() as u64));
}

pub(crate) fn missing_empty_and_other_keys_and_tombstones_are_told_apart(env: &Env) {
    type Bytes<'a> = Option<&'a [u8]>;
    let topic = unique("keys");
    env.kafka.create_topic(&topic, 1);
    let writer = Writer::new(&env.kafka, &[]);
    let written: [(Bytes<'_>, Bytes<'_>); 6] = [
        (None, Some(b"v")),
        (Some(b""), Some(b"v")),
        (Some(b"\x00\xff"), Some(b"v")),
        (Some(b"k"), None),
        (Some(b"k"), Some(b"")),
        (None, None),
    ];
    for (key, value) in written {
        writer.send((&topic, 0), key, value, Some(1_700_000_000_000));
    }
    writer.flush();
    let (_, given) = read(&env.kafka, &request(&[&topic], Extent::Everything));
    let expected: Vec<Given> = (0..)
        .zip(written)
        .map(|(offset, (key, value))| Given {
            topic: topic.clone(),
            partition: 0,
            offset,
            timestamp: Some(1_700_000_000_000),
            key: key.map(<[u8]>::to_vec),
            tombstone: value.is_none(),
        })
        .collect();
    assert_eq!(given, expected);
}

pub(crate) fn records_of_every_codec_are_read(env: &Env) {
    let codecs = ["none", "gzip", "snappy", "lz4", "zstd"];
    let topics = codecs.map(unique);
    for (codec, topic) in codecs.iter().zip(&topics) {
        env.kafka.create_topic(topic, 1);
        let config = [("compression.type", *codec), ("linger.ms", "50")];
        Writer::new(&env.kafka, &config).write((topic, 0), 100);
    }
    let names: Vec<&str> = topics.iter().map(String::as_str).collect();
    let (sample, given) = read(&env.kafka, &request(&names, Extent::Newest(50)));
    assert!(sample.is_complete(), "{sample:?}");
    for topic in &topics {
        let expected: Vec<i64> = (50..100).collect();
        assert_eq!(offsets(&given, topic), BTreeMap::from([(0, expected)]));
    }
}

pub(crate) fn only_committed_records_are_given_and_none_is_waited_for(env: &Env) {
    let topic = unique("transactions");
    env.kafka.create_topic(&topic, 1);
    let writer = Writer::new(&env.kafka, &[("transactional.id", &unique("writer"))]);
    writer.0.init_transactions(DEADLINE).expect("transactions");
    let begin = |count| {
        writer.0.begin_transaction().expect("a transaction");
        writer.write((&topic, 0), count);
    };
    let commit = || writer.0.commit_transaction(DEADLINE).expect("a commit");
    let abort = || writer.0.abort_transaction(DEADLINE).expect("an abort");
    // Offsets 0 to 2, and the marker 3; 4 to 8 and the marker 9.
    begin(3);
    commit();
    begin(5);
    abort();
    let everything = request(&[&topic], Extent::Everything);
    let (sample, given) = read(&env.kafka, &everything);
    assert!(sample.is_complete(), "{sample:?}");
    let expected = BTreeMap::from([(0, vec![0, 1, 2])]);
    assert_eq!(offsets(&given, &topic), expected);
    assert_eq!(sample.topics[&topic].partitions[&0].next, 10);
    // Nothing but aborted records and a marker.
    let (sample, given) = read(&env.kafka, &request(&[&topic], Extent::Newest(4)));
    assert!(sample.is_complete() && given.is_empty(), "{sample:?}");
    begin(2);
    let (sample, given) = read(&env.kafka, &everything);
    assert!(sample.is_complete(), "{sample:?}");
    assert_eq!(offsets(&given, &topic), expected);
    assert_eq!(sample.topics[&topic].partitions[&0].end, 10);
    commit();
    let (_, given) = read(&env.kafka, &everything);
    assert_eq!(offsets(&given, &topic)[&0], [0, 1, 2, 10, 11]);
}

pub(crate) fn gaps_of_compaction_are_not_waited_for(env: &Env) {
    let properties = vec!["log.cleaner.backoff.ms=200".to_owned()];
    let options = KafkaOptions {
        properties,
        ..KafkaOptions::default()
    };
    let kafka = KafkaCluster::start(env.root(), 1, options);
    let topic = unique("compacted");
    let config = [
        ("cleanup.policy", "compact"),
        ("segment.ms", "100"),
        ("min.cleanable.dirty.ratio", "0.01"),
        ("max.compaction.lag.ms", "100"),
    ];
    kafka.create_topic_with(&topic, 1, &config);
    let writer = Writer::new(&kafka, &[]);
    let everything = request(&[&topic], Extent::Everything);
    for _ in 0..5 {
        writer.write((&topic, 0), 20);
    }
    writer.send((&topic, 0), Some(b"key-0"), None, None);
    // Only a segment that is not the last one is compacted, and the next record begins a new one.
    let full = wait_for("records to be compacted", DEADLINE, || {
        writer.send((&topic, 0), Some(b"again"), Some(b"v"), None);
        writer.flush();
        let (sample, given) = read(&kafka, &everything);
        assert!(sample.is_complete(), "{sample:?}");
        let seen = offsets(&given, &topic).remove(&0).unwrap_or_default();
        let first = given.first().map_or(0, |record| record.offset);
        if first > 50 {
            Ok(given)
        } else {
            Err(format!("{} records from {first} on", seen.len()))
        }
    });
    let deleted = full
        .iter()
        .any(|record| record.key.as_deref() == Some(b"key-0") && record.tombstone);
    assert!(deleted, "{full:?}");
    let end = kafka.end_offsets(&topic)[&0];
    for count in [1, 30, 1000] {
        let (sample, given) = read(&kafka, &request(&[&topic], Extent::Newest(count)));
        assert!(sample.is_complete(), "{sample:?}");
        let first = sample.topics[&topic].partitions[&0].from;
        assert_eq!(first, end.saturating_sub(count.cast_signed()).max(0));
        assert!(given.iter().all(|record| record.offset >= first));
        assert!(!given.is_empty());
    }
}

pub(crate) fn records_since_a_time_are_given(env: &Env) {
    let topic = unique("since");
    env.kafka.create_topic(&topic, 3);
    let writer = Writer::new(&env.kafka, &[]);
    for minute in 0..10 {
        let time = 1_700_000_000_000 + minute * 60_000;
        writer.send((&topic, 0), Some(b"k"), Some(b"v"), Some(time));
        writer.send((&topic, 1), Some(b"k"), Some(b"v"), Some(time - 3_600_000));
    }
    writer.flush();
    let since = Extent::Since(1_700_000_000_000 + 7 * 60_000 - 1);
    let (sample, given) = read(&env.kafka, &request(&[&topic], since));
    assert!(sample.is_complete(), "{sample:?}");
    assert_eq!(
        offsets(&given, &topic),
        BTreeMap::from([(0, vec![7, 8, 9])])
    );
    assert_eq!(sample.topics[&topic].partitions[&1].from, 10);
}

pub(crate) fn a_spent_budget_is_resumed_without_a_record_lost_or_twice(env: &Env) {
    let topic = unique("resumed");
    env.kafka.create_topic(&topic, 3);
    let writer = Writer::new(&env.kafka, &[]);
    for partition in 0..3 {
        writer.write((&topic, partition), 50);
    }
    let mut asked = request(&[&topic], Extent::Everything);
    asked.budget = Some(200);
    let mut seen = BTreeSet::new();
    let mut rounds = 0;
    loop {
        rounds += 1;
        let (sample, given) = read(&env.kafka, &asked);
        for record in given {
            let place = (record.partition, record.offset);
            assert!(seen.insert(place), "{place:?} twice");
        }
        // As it is kept between two runs.
        let kept = serde_json::to_string(&sample.positions()).expect("JSON");
        asked.resume = serde_json::from_str::<Positions>(&kept).expect("positions");
        match sample.topics[&topic].incomplete() {
            None => break,
            Some(reason) => assert_eq!(*reason, Incomplete::BudgetSpent),
        }
        assert!((200..=211).contains(&sample.bytes()), "{}", sample.bytes());
    }
    assert_eq!(seen.len(), 150);
    assert!(rounds > 5, "{rounds}");
    writer.write((&topic, 1), 1);
    let (sample, given) = read(&env.kafka, &asked);
    assert!(sample.is_complete());
    assert_eq!(offsets(&given, &topic), BTreeMap::from([(1, vec![50])]));
    // Positions of another topic of this name are none.
    for positions in asked.resume.0.values_mut() {
        "AAAAAAAAAAAAAAAAAAAAAQ".clone_into(&mut positions.id);
    }
    let (sample, given) = read(&env.kafka, &asked);
    let reason = sample.topics[&topic].incomplete();
    assert_eq!(reason, Some(&Incomplete::TopicDeleted));
    assert!(given.is_empty());
}

pub(crate) fn what_arrives_during_the_reading_is_not_waited_for(env: &Env) {
    let topic = unique("growing");
    env.kafka.create_topic(&topic, 1);
    let writer = Writer::new(&env.kafka, &[]);
    writer.write((&topic, 0), 10);
    let mut seen = Vec::new();
    let mut sink = |record: &SampledRecord<'_>| {
        writer.write((&topic, 0), 5);
        seen.push(record.offset);
        ControlFlow::Continue(())
    };
    let everything = request(&[&topic], Extent::Everything);
    let sample = read_into(&settings(&env.kafka), &everything, &mut sink);
    assert!(sample.is_complete(), "{sample:?}");
    assert_eq!(seen, (0..10).collect::<Vec<i64>>());
    assert_eq!(env.kafka.end_offsets(&topic)[&0], 60);
}

pub(crate) fn a_sink_can_end_the_reading(env: &Env) {
    let topic = unique("enough");
    env.kafka.create_topic(&topic, 2);
    let writer = Writer::new(&env.kafka, &[]);
    writer.write((&topic, 0), 10);
    writer.write((&topic, 1), 10);
    let mut seen = 0;
    let mut sink = |_: &SampledRecord<'_>| {
        seen += 1;
        if seen == 3 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let everything = request(&[&topic], Extent::Everything);
    let sample = read_into(&settings(&env.kafka), &everything, &mut sink);
    assert_eq!(sample.records(), 3);
    let reason = sample.topics[&topic].incomplete();
    assert_eq!(reason, Some(&Incomplete::Stopped));
    assert_eq!(seen, 3);
}

pub(crate) fn no_group_comes_of_it_and_nothing_is_committed(env: &Env) {
    let kafka = KafkaCluster::start(env.root(), 1, KafkaOptions::default());
    let topic = unique("untouched");
    kafka.create_topic(&topic, 2);
    Writer::new(&kafka, &[]).write((&topic, 0), 10);
    let (sample, _) = read(&kafka, &request(&[&topic], Extent::Everything));
    assert!(sample.is_complete(), "{sample:?}");
    kafka.flush_request_log();
    let requests = |api: &str| kafka.requests(api, "copartition-operator").len();
    assert!(requests("FETCH") > 0, "the log has what is looked for");
    for api in [
        "JOIN_GROUP",
        "CONSUMER_GROUP_HEARTBEAT",
        "OFFSET_COMMIT",
        "PRODUCE",
        "CREATE_TOPICS",
    ] {
        assert_eq!(requests(api), 0, "{api}");
    }
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", kafka.bootstrap())
        .create()
        .expect("a consumer");
    let groups = consumer
        .fetch_group_list(None, Duration::from_secs(30))
        .expect("groups");
    assert!(groups.groups().is_empty());
}
