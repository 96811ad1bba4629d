//! Counters of the controller. Labels are bounded: no names of groups or topics.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::kafka::Error;
use crate::plan::Reason;

/// Counters of the controller.
#[derive(Clone, Debug)]
pub(super) struct Metrics {
    passes: Family<PassLabels, Counter>,
    durations: Histogram,
    requests: Family<RequestLabels, Counter>,
    status_writes: Counter,
    readings: Family<ReadingLabels, Counter>,
    read_bytes: Counter,
    orphaned_locks: Gauge,
    group_readings: Family<PassLabels, Counter>,
    placements: Family<ReadingLabels, Counter>,
}

/// The bounds of the duration of a pass, in seconds: one that asks nobody takes under a millisecond, one that creates or
/// grows topics waits for Kafka, at most through a few of its timeouts.
const BOUNDS: [f64; 9] = [0.001, 0.01, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0];

impl Default for Metrics {
    fn default() -> Self {
        Metrics {
            passes: Family::default(),
            durations: Histogram::new(BOUNDS),
            requests: Family::default(),
            status_writes: Counter::default(),
            readings: Family::default(),
            read_bytes: Counter::default(),
            orphaned_locks: Gauge::default(),
            group_readings: Family::default(),
            placements: Family::default(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    kind: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReadingLabels {
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PassLabels {
    outcome: &'static str,
}

impl Metrics {
    /// Registers the counters: `reconciles` by `outcome` (`Ok` or the kind of error), `reconcile_duration_seconds`,
    /// `kubernetes_requests` by `kind` and `outcome`, `status_writes`, and what records were read: `verifications` by
    /// `reason` and `verification_bytes`; of consumer groups `consumer_group_readings` by `outcome` and `placements` by
    /// `reason`; and the gauge `orphaned_locks`.
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("reconciles", "Passes over a group", self.passes.clone());
        registry.register_with_unit(
            "reconcile_duration",
            "What a pass over a group took, the waits for Kafka and the API server included",
            Unit::Seconds,
            self.durations.clone(),
        );
        registry.register(
            "kubernetes_requests",
            "Requests to the API server but watches and the Lease, by kind and outcome",
            self.requests.clone(),
        );
        registry.register(
            "status_writes",
            "Writes of a group's status to the API server",
            self.status_writes.clone(),
        );
        registry.register(
            "verifications",
            "Readings of a group's records by the reason of KeysVerified that they led to",
            self.readings.clone(),
        );
        registry.register(
            "verification_bytes",
            "Bytes of keys and values that were read to verify records",
            self.read_bytes.clone(),
        );
        registry.register(
            "orphaned_locks",
            "ALTER locks in claims that no KafkaConnection leads to any more",
            self.orphaned_locks.clone(),
        );
        registry.register(
            "consumer_group_readings",
            "Readings of all consumer groups that are asked for on one connection",
            self.group_readings.clone(),
        );
        registry.register(
            "placements",
            "Changes of the verdict on a group's consumers by the reason of ConsumersColocated",
            self.placements.clone(),
        );
    }

    /// Counts a pass.
    pub(super) fn pass(&self, outcome: &'static str) {
        self.passes.get_or_create(&PassLabels { outcome }).inc();
    }

    /// Counts what a pass took.
    pub(super) fn took(&self, time: Duration) {
        self.durations.observe(time.as_secs_f64());
    }

    /// Counts a request to the API server.
    pub(super) fn asked(&self, kind: &'static str, outcome: &'static str) {
        let labels = RequestLabels { kind, outcome };
        self.requests.get_or_create(&labels).inc();
    }

    /// Counts a status write.
    pub(super) fn status_written(&self) {
        self.status_writes.inc();
    }

    /// Notes how many ALTER locks can't be undone.
    pub(super) fn orphaned_locks(&self, locks: usize) {
        self.orphaned_locks
            .set(i64::try_from(locks).unwrap_or(i64::MAX));
    }

    /// Counts what a reading of records took.
    pub(super) fn read(&self, bytes: u64) {
        self.read_bytes.inc_by(bytes);
    }

    /// Counts a reading of consumer groups.
    pub(super) fn groups_read<T>(&self, read: &Result<T, Error>) {
        let outcome = read.as_ref().map_or_else(Error::kind, |_| "Ok");
        let labels = PassLabels { outcome };
        self.group_readings.get_or_create(&labels).inc();
    }

    /// Counts a changed verdict on consumers.
    pub(super) fn placed(&self, reason: Reason) {
        let reason = reason.as_str();
        let labels = ReadingLabels { reason };
        self.placements.get_or_create(&labels).inc();
    }

    /// Counts what a reading of records led to.
    pub(super) fn verdict(&self, reason: Reason) {
        let reason = reason.as_str();
        self.readings.get_or_create(&ReadingLabels { reason }).inc();
    }
}
