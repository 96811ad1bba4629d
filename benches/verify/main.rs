//! `make bench-verify`: how fast records are read and judged, against a bare client that reads the same topic with the
//! same settings and only counts. They take turns, several times, and what is compared is the best rate of each. Then
//! the command itself reads the topic with `--full`: its rate, and the most memory that it took.

// A benchmark that can't go on has to stop with a message; `unwrap` stays forbidden, because it has none.
#![allow(clippy::expect_used)]

mod bare;
mod command;
// What the tests need of their servers; the benchmark does not use all of it.
#[allow(dead_code, unused_imports)]
#[path = "../../tests/env/mod.rs"]
mod env;
mod judging;
#[allow(dead_code)]
#[path = "../scale/machine.rs"]
mod machine;
mod table;

use std::time::{Duration, Instant};

use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};

use env::{KafkaCluster, KafkaOptions, Root, unique, wait_for};
use table::{Measured, Readers};

const PARTITIONS: i32 = 6;
/// Of one value, in bytes: a small event, so that the time of a record is not that of its bytes.
const VALUE: usize = 100;
const ROUNDS: usize = 5;
/// Many records a key, and none twice.
const KEYS_IN_A_MILLION: [u64; 2] = [100_000, 1_000_000];
/// For anything but the measured reading.
const DEADLINE: Duration = Duration::from_secs(300);

fn main() {
    let mut records: u64 = 1_000_000;
    let mut out: Option<std::path::PathBuf> = None;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            // cargo bench adds it.
            "--bench" => {}
            "--records" => {
                let given = args.next().and_then(|n| n.parse().ok());
                records = given.expect("--records N");
            }
            "--out" => out = Some(args.next().expect("--out FILE").into()),
            other => panic!("unknown argument {other}"),
        }
    }
    let machine = machine::describe("its data on disk");
    let root = Root::create();
    let kafka = KafkaCluster::start(root.path(), 1, KafkaOptions::default());
    let measured: Vec<Measured> = KEYS_IN_A_MILLION
        .iter()
        .map(|keys| {
            let keys = (keys * records / 1_000_000).max(1);
            let topic = written(&kafka, records, keys);
            let measured = measure(&kafka, &topic, records, keys);
            kafka.delete_topic(&topic);
            measured
        })
        .collect();
    let table = table::table(&measured, &machine);
    print!("{table}");
    if let Some(out) = out {
        std::fs::write(out, table).expect("writing the table");
    }
}

/// A new topic of records that lie where murmur2 puts them.
fn written(kafka: &KafkaCluster, records: u64, keys: u64) -> String {
    let topic = unique("bench-verify");
    kafka.create_topic(&topic, usize::try_from(PARTITIONS).expect("a count"));
    let producer: BaseProducer = ClientConfig::new()
        .set("bootstrap.servers", kafka.bootstrap())
        .set("allow.auto.create.topics", "false")
        .set("partitioner", "murmur2_random")
        .set("queue.buffering.max.messages", "10000000")
        .set("linger.ms", "50")
        .create()
        .expect("a producer");
    let value = [b'x'; VALUE];
    for number in 0..records {
        let key = format!("user-{}", number % keys);
        let mut record = BaseRecord::to(&topic).key(&key).payload(&value[..]);
        loop {
            match producer.send(record) {
                Ok(()) => break,
                // Its queue is full of what is not sent yet.
                Err((_, back)) => {
                    record = back;
                    producer.poll(Duration::from_millis(10));
                }
            }
        }
        if number % 1_000 == 0 {
            producer.poll(Duration::ZERO);
        }
    }
    producer.flush(DEADLINE).expect("cannot write");
    wait_for("the records to be there", DEADLINE, || {
        let there: i64 = kafka.end_offsets(&topic).values().sum();
        if there == i64::try_from(records).unwrap_or(i64::MAX) {
            Ok(())
        } else {
            Err(format!("{there} of {records}"))
        }
    });
    topic
}

fn measure(kafka: &KafkaCluster, topic: &str, records: u64, keys: u64) -> Measured {
    let bootstrap = kafka.bootstrap();
    let mut best = Readers::default();
    for round in 0..=ROUNDS {
        let times = Readers {
            bare: timed(|| bare::read(&bootstrap, topic, PARTITIONS), records),
            reading: timed(|| judging::read(&bootstrap, topic), records),
            judging: timed(|| judging::judge(&bootstrap, topic), records),
        };
        // The first one fills the page cache.
        if round > 0 {
            println!("{keys} keys, round {round}: {times}");
            best = best.least(&times);
        }
    }
    Measured {
        records,
        keys,
        best,
        command: (0..ROUNDS)
            .map(|_| command::run(&bootstrap, topic, records))
            .collect(),
    }
}

/// How long it takes in seconds to read all records.
fn timed(read: impl FnOnce() -> u64, records: u64) -> f64 {
    let began = Instant::now();
    let seen = read();
    let took = began.elapsed().as_secs_f64();
    assert_eq!(seen, records, "not all was read");
    took
}
