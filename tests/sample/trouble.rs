//! What hinders a reading: it is named, nothing is made up, and everything else is read.

use std::io::Read;
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use copartition::kafka::{
    Cancel, ConnectionSettings, Error, Extent, Incomplete, Progress, SampledRecord, Sink, sample,
    sample_blocking,
};

use super::{DEADLINE, Writer, read, read_into, request, settings};
use crate::env::{Env, KafkaCluster, KafkaOptions, free_port, unique, wait_for};

/// More than a reader fetches ahead, so that it has not read it when the first record comes.
fn write_much(kafka: &KafkaCluster, topic: &str) {
    let writer = Writer::new(kafka, &[]);
    let value = vec![7; 500_000];
    for _ in 0..100 {
        writer.send((topic, 0), Some(b"k"), Some(&value), None);
    }
    writer.flush();
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
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

/// A server that accepts and never answers shows when a consumer has let go of its sockets.
pub(crate) fn a_dropped_reading_lets_go_of_its_thread_and_sockets(env: &Env) {
    let server = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = server.local_addr().expect("an address").to_string();
    let silent = ConnectionSettings::new([address]).with_request_timeout(Duration::from_secs(1));
    let topic = unique("dropped");
    env.kafka.create_topic(&topic, 1);
    write_much(&env.kafka, &topic);
    let runtime = runtime();
    let asked = request(&[&topic], Extent::Everything);
    let accepted = std::thread::spawn(move || server.accept().expect("a connection").0);
    // Dropped before any answer, and in the middle of the records.
    for settings in [silent, settings(&env.kafka)] {
        let alive = Arc::new(());
        let (first, seen) = mpsc::channel();
        let (release, dropped) = mpsc::channel::<()>();
        let held = Arc::clone(&alive);
        let sink = move |record: &SampledRecord<'_>| {
            let _ = (&held, first.send(record.offset));
            // Until the other end is dropped.
            let _ = dropped.recv();
            ControlFlow::Continue(())
        };
        let on_kafka = settings.bootstrap_servers[0] == env.kafka.bootstrap();
        runtime.block_on(async {
            let reading = sample(&settings, asked.clone(), Arc::default(), sink);
            let begun = async {
                while on_kafka && seen.try_recv().is_err() {
                    tokio::task::yield_now().await;
                }
                while !on_kafka && !accepted.is_finished() {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                answer = reading => panic!("it ended by itself: {:?}", answer.map(|read| read.0)),
                () = begun => {}
            }
        });
        drop(release);
        // The sink goes with the thread, after the consumer.
        wait_for(
            "the reading's thread to end",
            DEADLINE,
            || match Arc::strong_count(&alive) {
                1 => Ok(()),
                count => Err(format!("{count} holders")),
            },
        );
        assert_eq!(seen.iter().count(), 0, "it read on");
    }
    let mut socket = accepted.join().expect("a socket");
    socket.set_read_timeout(Some(DEADLINE)).expect("a timeout");
    let mut rest = Vec::new();
    socket
        .read_to_end(&mut rest)
        .expect("the end of the stream");
}

struct Count(u64);

impl Sink for Count {
    fn take(&mut self, _: &SampledRecord<'_>) -> ControlFlow<()> {
        self.0 += 1;
        ControlFlow::Continue(())
    }
}

pub(crate) fn a_reading_gives_its_sink_back(env: &Env) {
    let topic = unique("async");
    env.kafka.create_topic(&topic, 1);
    Writer::new(&env.kafka, &[]).write((&topic, 0), 10);
    let asked = request(&[&topic], Extent::Everything);
    let answer = runtime().block_on(sample(
        &settings(&env.kafka),
        asked,
        Arc::default(),
        Count(0),
    ));
    let (read, count) = answer.expect("an answer");
    assert!(read.is_complete());
    assert_eq!(count.0, 10);
}
