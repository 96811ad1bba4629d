//! Counters of the controller. Labels are bounded: no names of groups or topics.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Counters of the controller.
#[derive(Clone, Debug, Default)]
pub(super) struct Metrics {
    passes: Family<PassLabels, Counter>,
    status_writes: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PassLabels {
    outcome: &'static str,
}

impl Metrics {
    /// Registers the counters: `reconciles` by `outcome` (`Ok` or the kind of error) and `status_writes`.
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("reconciles", "Passes over a group", self.passes.clone());
        registry.register(
            "status_writes",
            "Writes of a group's status to the API server",
            self.status_writes.clone(),
        );
    }

    /// Counts a pass.
    pub(super) fn pass(&self, outcome: &'static str) {
        self.passes.get_or_create(&PassLabels { outcome }).inc();
    }

    /// Counts a status write.
    pub(super) fn status_written(&self) {
        self.status_writes.inc();
    }
}
