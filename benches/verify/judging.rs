//! The reader of `verify`, with a judge and without.

use std::ops::ControlFlow;
use std::time::Duration;

use copartition::kafka::{
    Cancel, ConnectionSettings, Extent, Progress, SampleRequest, SampledRecord, sample_blocking,
};
use copartition::keys::{KeyScheme, PartitionCount};
use copartition::verify::{FingerprintKey, Judge, Outcome, Record, Topic};

/// Reads all, and drops it.
pub(crate) fn read(bootstrap: &str, topic: &str) -> u64 {
    let mut seen = 0;
    each(bootstrap, topic, |_| seen += 1);
    seen
}

/// Reads all and judges it, up to the report.
pub(crate) fn judge(bootstrap: &str, topic: &str) -> u64 {
    let told = Topic {
        name: topic.to_owned(),
        scheme: Some(KeyScheme::parse("utf8", "murmur2").expect("a scheme")),
        count: PartitionCount::new(super::PARTITIONS).expect("a count"),
        growth: None,
    };
    let mut judge = Judge::new(vec![told], FingerprintKey(*b"of no importance"));
    each(bootstrap, topic, |record| {
        judge.add(Record {
            topic: 0,
            partition: record.partition,
            offset: record.offset,
            key: record.key,
        });
    });
    let report = judge.report();
    assert_eq!(report.outcome(), Outcome::Verified, "{}", report.message());
    judge.records()
}

fn each(bootstrap: &str, topic: &str, mut take: impl FnMut(&SampledRecord<'_>)) {
    let settings = ConnectionSettings::new([bootstrap]);
    let mut request = SampleRequest::new([topic], Extent::Everything);
    request.deadline = Duration::from_secs(600);
    let mut sink = |record: &SampledRecord<'_>| {
        take(record);
        ControlFlow::Continue(())
    };
    let sample = sample_blocking(
        &settings,
        &request,
        &Progress::default(),
        &Cancel::default(),
        &mut sink,
    );
    let sample = sample.expect("an answer");
    assert!(sample.is_complete(), "{sample:?}");
}
