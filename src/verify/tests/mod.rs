//! Records made from the key schemes, and what the judge says of them.

mod cases;
mod edges;
mod encodings;
mod properties;
mod resumed;
mod seeded;
mod texts;

use super::*;
use crate::keys::{Encoding, KeyScheme, PartitionCount, Partitioner, Placement};

pub(super) const SECRET: FingerprintKey = FingerprintKey(*b"of no importance");

pub(super) fn at(n: i32) -> PartitionCount {
    PartitionCount::new(n).unwrap()
}

/// A topic with a scheme as it prints; "-" declares none.
pub(super) fn topic(scheme: &str, n: i32) -> Topic {
    Topic {
        name: "orders".to_owned(),
        scheme: scheme
            .split_once('/')
            .map(|(encoding, partitioner)| KeyScheme::parse(encoding, partitioner).unwrap()),
        count: at(n),
        growth: None,
    }
}

/// A topic's records: partition, offset, key.
#[derive(Clone, Debug, Default)]
pub(super) struct Log(pub(super) Vec<(i32, i64, Option<Vec<u8>>)>);

impl Log {
    pub(super) fn put(&mut self, partition: i32, key: &[u8]) {
        self.0.push((partition, 0, Some(key.to_vec())));
    }

    /// One record where a partitioner puts its key.
    pub(super) fn write(&mut self, key: &[u8], partitioner: &Partitioner, n: i32) {
        match partitioner.partition(Some(key), at(n)) {
            Placement::At(partition) => self.put(partition, key),
            other => panic!("{partitioner} puts {key:?} {other}"),
        }
    }

    pub(super) fn report(&self, topic: Topic) -> TopicReport {
        group(vec![topic], &[self]).topics.remove(0)
    }
}

pub(super) fn group(topics: Vec<Topic>, logs: &[&Log]) -> GroupReport {
    let mut judge = Judge::new(topics, SECRET);
    for (topic, log) in logs.iter().enumerate() {
        for (partition, offset, key) in &log.0 {
            judge.add(Record {
                topic,
                partition: *partition,
                offset: *offset,
                key: key.as_deref(),
            });
        }
    }
    judge.report()
}

/// The bytes of `key-0`, `key-1`, ... under an encoding of text.
pub(super) fn keys(count: usize, encoding: &str) -> Vec<Vec<u8>> {
    let encoding = Encoding::parse(encoding).unwrap();
    let encode = |at| encoding.encode(&format!("key-{at}")).unwrap().into_owned();
    (0..count).map(encode).collect()
}

/// A record for each key where a partitioner puts it.
pub(super) fn written(keys: &[Vec<u8>], partitioner: &Partitioner, n: i32) -> Log {
    let mut log = Log::default();
    for key in keys {
        log.write(key, partitioner, n);
    }
    log
}
