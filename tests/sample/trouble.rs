//! What hinders a reading: it is named, nothing is made up, and everything else is read.

use std::ops::ControlFlow;
use std::time::Duration;

use copartition::kafka::{
    Cancel, ConnectionSettings, Error, Extent, Incomplete, Progress, SampledRecord, sample_blocking,
};

use super::{DEADLINE, Writer, read, read_into, request, settings};
use crate::env::{Env, KafkaCluster, KafkaOptions, free_port, unique, wait_for};

/// More than a reader fetches ahead, so that it has not read it when the first record comes.
pub(super) fn write_much(kafka: &KafkaCluster, topic: &str) {
    let writer = Writer::new(kafka, &[]);
    let value = vec![7; 500_000];
    for _ in 0..100 {
        writer.send((topic, 0), Some(b"k"), Some(&value), None);
    }
    writer.flush();
}

pub(crate) fn a_topic_that_is_missing_or_deleted_meanwhile_stops_no_other(env: &Env) {
    let [gone, ghost, other] = ["gone", "ghost", "other"].map(unique);
    env.kafka.create_topic(&gone, 1);
    env.kafka.create_topic(&other, 1);
    write_much(&env.kafka, &gone);
    Writer::new(&env.kafka, &[]).write((&other, 0), 10);
    let mut deleted = false;
    let mut sink = |record: &SampledRecord<'_>| {
        if record.topic == gone && !deleted {
            env.kafka.delete_topic(&gone);
            deleted = true;
        }
        ControlFlow::Continue(())
    };
    let names = [&*gone, &*ghost, &*other, "", "not/a/name"];
    let everything = request(&names, Extent::Everything);
    let sample = read_into(&settings(&env.kafka), &everything, &mut sink);
    assert_eq!(sample.topics[&other].incomplete(), None);
    assert_eq!(sample.topics[&other].partitions[&0].records, 10);
    let reason = |topic: &str| sample.topics[topic].incomplete();
    assert_eq!(reason(&gone), Some(&Incomplete::TopicDeleted));
    assert_eq!(reason(&ghost), Some(&Incomplete::TopicNotFound));
    let read = &sample.topics[&gone].partitions[&0];
    assert!(read.records > 0 && read.next < read.end, "{read:?}");
    for bad in ["", "not/a/name"] {
        let code = match reason(bad) {
            Some(Incomplete::Rejected { code, .. }) => code,
            other => panic!("{bad}: {other:?}"),
        };
        assert_eq!(code, "INVALID_TOPIC_EXCEPTION");
    }
}

/// The offsets of the new topic are none of the old one's.
pub(crate) fn a_topic_that_is_replaced_meanwhile_is_not_taken_for_the_old_one(env: &Env) {
    let topic = unique("replaced");
    env.kafka.create_topic(&topic, 1);
    write_much(&env.kafka, &topic);
    let mut replaced = false;
    let mut sink = |_: &SampledRecord<'_>| {
        if !replaced {
            env.kafka.delete_topic(&topic);
            env.kafka.create_topic(&topic, 1);
            write_much(&env.kafka, &topic);
            replaced = true;
        }
        ControlFlow::Continue(())
    };
    let everything = request(&[&topic], Extent::Everything);
    let sample = read_into(&settings(&env.kafka), &everything, &mut sink);
    let reason = sample.topics[&topic].incomplete();
    assert_eq!(reason, Some(&Incomplete::TopicDeleted), "{sample:?}");
}

pub(crate) fn a_broker_that_falls_silent_or_dies_meanwhile_is_named(env: &Env) {
    let mut kafka = KafkaCluster::start(env.root(), 1, KafkaOptions::default());
    let topic = unique("cut-off");
    kafka.create_topic(&topic, 1);
    write_much(&kafka, &topic);
    let settings = settings(&kafka);
    let mut asked = request(&[&topic], Extent::Everything);
    asked.deadline = Duration::from_secs(3);
    let mut seen = 0;
    let mut sink = |_: &SampledRecord<'_>| {
        if seen == 0 {
            kafka.pause(1);
        }
        seen += 1;
        ControlFlow::Continue(())
    };
    let silent = read_into(&settings, &asked, &mut sink);
    kafka.resume(1);
    let reason = silent.topics[&topic].incomplete();
    assert!(matches!(reason, Some(Incomplete::Timeout(_))), "{silent:?}");
    // What was read is kept, and the rest is read from there.
    asked.resume = silent.positions();
    assert_eq!(silent.records(), seen);
    assert!((1..100).contains(&seen), "{seen}");
    asked.deadline = DEADLINE;
    let mut again = 0;
    let mut sink = |_: &SampledRecord<'_>| {
        if again == 0 {
            kafka.kill(1);
        }
        again += 1;
        ControlFlow::Continue(())
    };
    let quick = settings.with_request_timeout(Duration::from_secs(1));
    let dead = read_into(&quick, &asked, &mut sink);
    let reason = dead.topics[&topic].incomplete();
    let Some(Incomplete::Unreachable(words)) = reason else {
        panic!("{dead:?}");
    };
    assert!(!words.is_empty());
    assert!(seen + again < 100, "{again}");
}

pub(crate) fn nobody_at_the_address_is_an_error_of_the_whole(_env: &Env) {
    let settings = ConnectionSettings::new([format!("127.0.0.1:{}", free_port())])
        .with_request_timeout(Duration::from_secs(1));
    let mut sink = |_: &SampledRecord<'_>| ControlFlow::Continue(());
    let asked = request(&["a"], Extent::Everything);
    let (progress, cancel) = (Progress::default(), Cancel::default());
    let answer = sample_blocking(&settings, &asked, &progress, &cancel, &mut sink);
    assert!(matches!(answer, Err(Error::Unreachable(_))), "{answer:?}");
}

pub(crate) fn a_missing_permission_is_named(env: &Env) {
    let properties = vec![
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer".to_owned(),
        "allow.everyone.if.no.acl.found=true".to_owned(),
    ];
    let options = KafkaOptions {
        properties,
        ..KafkaOptions::default()
    };
    let kafka = KafkaCluster::start(env.root(), 1, options);
    let [hidden, closed, open] = ["hidden", "closed", "open"].map(unique);
    let writer = Writer::new(&kafka, &[]);
    for topic in [&hidden, &closed, &open] {
        kafka.create_topic(topic, 2);
        writer.write((topic, 0), 10);
    }
    let acl = |resource: &str, name: &str, user: &str, operation: &str| {
        let principal = ["--allow-principal", user, "--operation", operation];
        let args = [&["--add", resource, name], &principal[..]].concat();
        kafka.tool_ok("org.apache.kafka.tools.AclCommand", &args);
    };
    acl("--topic", &hidden, "User:alice", "All");
    acl("--topic", &closed, "User:*", "Describe");
    // Nor is any group's permission needed.
    acl("--group", "*", "User:alice", "All");
    let asked = request(&[&hidden, &closed, &open], Extent::Everything);
    let sample = wait_for("both topics to be refused", DEADLINE, || {
        let (sample, _) = read(&kafka, &asked);
        let refused = |topic: &String| {
            let reason = sample.topics[topic].incomplete();
            matches!(reason, Some(Incomplete::NotAuthorized(_)))
        };
        if refused(&hidden) && refused(&closed) {
            Ok(sample)
        } else {
            Err(format!("{sample:?}"))
        }
    });
    let words = |topic: &String| {
        sample.topics[topic]
            .incomplete()
            .expect("a reason")
            .to_string()
    };
    assert!(words(&closed).contains(&format!("READ on topic {closed}")));
    assert!(words(&hidden).contains(&format!("DESCRIBE on topic {hidden}")));
    assert_eq!(sample.topics[&open].incomplete(), None);
    assert_eq!(sample.records(), 10);
}

pub(crate) fn a_record_that_is_too_large_holds_up_its_partition_only(env: &Env) {
    let (topic, other) = (unique("large"), unique("other"));
    env.kafka
        .create_topic_with(&topic, 4, &[("max.message.bytes", "60000000")]);
    env.kafka.create_topic(&other, 1);
    let writer = Writer::new(&env.kafka, &[("message.max.bytes", "60000000")]);
    for partition in 0..4 {
        writer.write((&topic, partition), 3);
    }
    let large = vec![7; 50_000_000];
    for partition in [0, 2] {
        writer.send((&topic, partition), Some(b"large"), Some(&large), None);
        writer.write((&topic, partition), 3);
    }
    writer.write((&other, 0), 5);
    let mut asked = request(&[&topic, &other], Extent::Everything);
    let (sample, given) = read(&env.kafka, &asked);
    assert_eq!(sample.topics[&other].incomplete(), None);
    let partitions = &sample.topics[&topic].partitions;
    for number in [0, 2] {
        let expected = Incomplete::RecordTooLarge {
            partition: number,
            offset: 3,
            limit: 16 << 20,
        };
        assert_eq!(partitions[&number].incomplete, Some(expected));
        assert_eq!(partitions[&number].records, 3);
    }
    for number in [1, 3] {
        assert_eq!(partitions[&number].incomplete, None);
    }
    assert_eq!(given.len(), 4 * 3 + 5);
    // Who allows as much reads on.
    asked.largest_batch = 64 << 20;
    asked.resume = sample.positions();
    let (sample, given) = read(&env.kafka, &asked);
    assert!(sample.is_complete(), "{sample:?}");
    assert_eq!(given.len(), 2 * 4);
}

/// What is read is behind the log's new beginning, also for a reader that was before it.
pub(crate) fn records_that_retention_takes_meanwhile_are_skipped(env: &Env) {
    let topic = unique("shortened");
    env.kafka.create_topic(&topic, 1);
    write_much(&env.kafka, &topic);
    let mut seen = Vec::new();
    let mut sink = |record: &SampledRecord<'_>| {
        if seen.is_empty() {
            env.kafka.delete_records(&topic, 0, 90);
        }
        seen.push(record.offset);
        ControlFlow::Continue(())
    };
    let everything = request(&[&topic], Extent::Everything);
    let sample = read_into(&settings(&env.kafka), &everything, &mut sink);
    assert!(sample.is_complete(), "{sample:?}");
    assert_eq!(seen[0], 0);
    assert!(seen.len() < 100, "nothing was taken from it");
    assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
    assert!(seen.ends_with(&(90..100).collect::<Vec<i64>>()), "{seen:?}");
}

/// Replicas are single, so that what a dead node leads has no leader.
pub(crate) fn a_partition_without_a_leader_stops_no_other_topic(env: &Env) {
    let mut kafka = KafkaCluster::start(env.root(), 3, KafkaOptions::default());
    // One partition on each node, and all on nodes that live.
    let (spread, narrow) = (unique("spread"), unique("narrow"));
    kafka.create_topic(&spread, 3);
    let writer = Writer::new(&kafka, &[]);
    for partition in 0..3 {
        writer.write((&spread, partition), 5);
    }
    kafka.kill(3);
    // The nodes that live take it over; until the death of the third is noticed, it may be placed there too.
    let quick = settings(&kafka).with_request_timeout(Duration::from_secs(2));
    let bare = request(&[&spread], Extent::Everything);
    wait_for("the leader to be gone", DEADLINE, || {
        let mut sink = |_: &SampledRecord<'_>| ControlFlow::Continue(());
        match read_into(&quick, &bare, &mut sink).topics[&spread].incomplete() {
            // In the words of the description, or of the broker that was asked for offsets.
            Some(Incomplete::Rejected { code, .. }) if code == "LEADER_NOT_AVAILABLE" => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    kafka.create_topic(&narrow, 2);
    writer.write((&narrow, 0), 5);
    let both = request(&[&spread, &narrow], Extent::Everything);
    let mut sink = |_: &SampledRecord<'_>| ControlFlow::Continue(());
    let sample = read_into(&quick, &both, &mut sink);
    assert_eq!(sample.topics[&narrow].incomplete(), None, "{sample:?}");
    assert_eq!(sample.topics[&narrow].partitions[&0].records, 5);
    assert!(sample.topics[&spread].incomplete().is_some());
    kafka.restart(3);
    wait_for("all to be read", DEADLINE, || {
        let (sample, given) = read(&kafka, &both);
        if sample.is_complete() {
            assert_eq!(given.len(), 20);
            return Ok(());
        }
        Err(format!("{sample:?}"))
    });
}
