//! The same core without Kubernetes: some groups, one run, no claim.
//!
//! ```text
//! groups ─> validate ─> observe all ─> who holds what ─> each: decide, act, look again ... ─> report
//! ```
//! Nothing is remembered between runs but what a group's own status says. A dry run asks Kafka about each action
//! (`validate_only`), and decides again on what Kafka would show.

mod pass;
mod step;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, StreamExt};

use self::pass::Pass;
pub use self::step::{Action, Change, Step, StepOutcome};
use crate::api::{CoPartitionedTopicGroup, GroupStatus};
use crate::kafka::{
    ClientProperties, Clusters, ConnectionSettings, Metrics, PollSettings, WriteGuard,
};
use crate::plan::{Exit, Reason};

/// Half of it lies between two looks that believe a topic missing which a status remembers.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How a run goes.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Ask Kafka whether it would do, and write nothing.
    pub dry_run: bool,
    /// How long the whole run may take.
    pub timeout: Duration,
    /// How to connect, where a group does not say so without Kubernetes.
    pub properties: Option<ClientProperties>,
}

/// What became of one group.
#[derive(Clone, Debug)]
pub struct Done {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// `host:port` of some brokers of its cluster; none if the spec is not valid.
    pub bootstrap_servers: Vec<String>,
    /// What was done, or in a dry run would be, in order.
    pub plan: Vec<Step>,
    /// As the operator would write it. In a dry run it is the one after the plan.
    pub status: GroupStatus,
    /// What it came to.
    pub exit: Exit,
    /// The reason of the condition that decides.
    pub reason: Reason,
    /// What that condition says.
    pub message: String,
    /// The run ended before the group was finished; why, and what is left.
    pub cut_off: Option<String>,
}

/// Works on all groups, and ends with one outcome for each, in their order: when all are finished, when the time is up
/// or when `stop` is ready, whichever comes first. Must be called in a Tokio runtime. No two groups may have the same
/// namespace and name.
pub async fn run(
    groups: Vec<CoPartitionedTopicGroup>,
    settings: &Settings,
    stop: impl Future<Output = ()>,
) -> Vec<Done> {
    let poll = PollSettings {
        interval: POLL_INTERVAL,
        // A request waits for an answer as long as it may. Nobody waits here for a second verdict.
        misses: 1,
        ..PollSettings::default()
    };
    let kafka = Clusters::new(poll, Arc::new(Metrics::default()), WriteGuard::default());
    // A request has to end before the run does: it knows why nobody answers.
    let request_timeout =
        ConnectionSettings::DEFAULT_REQUEST_TIMEOUT.min((settings.timeout / 4).saturating_mul(3));
    let mut passes: Vec<Pass> = groups
        .into_iter()
        .map(|group| Pass::begin(group, &kafka, settings.properties.as_ref(), request_timeout))
        .collect();
    let cut_off = tokio::select! {
        () = work(&mut passes, settings.dry_run) => None,
        () = tokio::time::sleep(settings.timeout) => Some((Reason::Timeout, format!(
            "not finished within {:?}; what is left is done by the next run, or give it more time with --timeout",
            settings.timeout
        ))),
        () = stop => Some((
            Reason::Pending,
            "stopped by a signal before it was finished; what is left is done by the next run".to_owned(),
        )),
    };
    passes
        .into_iter()
        .map(|pass| pass.end(cut_off.as_ref()))
        .collect()
}

async fn work(passes: &mut [Pass], dry_run: bool) {
    stream::iter(passes.iter_mut())
        .for_each_concurrent(None, Pass::observe)
        .await;
    let conflicts = conflicts(passes);
    stream::iter(passes.iter_mut().zip(conflicts))
        // All at once, so that what they ask for becomes few requests.
        .for_each_concurrent(None, |(pass, conflicts)| pass.work(conflicts, dry_run))
        .await;
}

/// The topics of each group that an earlier one of the same run manages on the same cluster. As with claims, a group
/// takes all its topics or none.
fn conflicts(passes: &[Pass]) -> Vec<BTreeMap<String, String>> {
    let mut holders: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut all = Vec::new();
    for pass in passes {
        let managed = pass.managed();
        let contested: BTreeMap<String, String> = managed
            .iter()
            .filter_map(|held| Some((held.1.clone(), holders.get(held)?.clone())))
            .collect();
        if contested.is_empty() {
            holders.extend(managed.into_iter().map(|held| (held, pass.key())));
        }
        all.push(contested);
    }
    all
}
