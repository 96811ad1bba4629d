//! What a watch on the groups has shown so far, and when.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use copartition::api::CoPartitionedTopicGroup;
use futures::StreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt};
use tokio::task::JoinHandle;

use crate::groups::NAMESPACE;

/// How often a wait looks. The times are those of the events themselves.
const LOOK: Duration = Duration::from_millis(20);
/// How many groups a message names.
const NAMED: usize = 5;

/// Shared by the watch's task and those who wait.
pub(crate) struct Board {
    groups: Arc<Mutex<BTreeMap<String, Seen>>>,
    watch: JoinHandle<()>,
}

/// The last state of a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    generation: i64,
    conditions: BTreeMap<String, Condition>,
}

#[derive(Clone, Debug)]
struct Condition {
    status: String,
    reason: String,
    generation: Option<i64>,
    /// When the watch first showed it so.
    since: Instant,
}

impl Seen {
    /// Since when a condition has this status and reason for the live spec; an empty reason stands for any.
    pub(crate) fn since(&self, kind: &str, status: &str, reason: &str) -> Option<Instant> {
        let seen = self.conditions.get(kind)?;
        let fits = seen.status == status
            && (reason.is_empty() || seen.reason == reason)
            && seen.generation == Some(self.generation);
        fits.then_some(seen.since)
    }

    /// Since when the group is Ready.
    pub(crate) fn ready(&self) -> Option<Instant> {
        self.since("Ready", "True", "")
    }

    fn of(group: &CoPartitionedTopicGroup, before: Option<&Self>, now: Instant) -> Self {
        let conditions = group.status.iter().flat_map(|status| &status.conditions);
        let conditions = conditions.map(|new| {
            let old = before.and_then(|before| before.conditions.get(&new.type_));
            let same = old.filter(|old| {
                old.status == new.status
                    && old.reason == new.reason
                    && old.generation == new.observed_generation
            });
            let condition = Condition {
                status: new.status.clone(),
                reason: new.reason.clone(),
                generation: new.observed_generation,
                since: same.map_or(now, |same| same.since),
            };
            (new.type_.clone(), condition)
        });
        Self {
            generation: group.metadata.generation.unwrap_or_default(),
            conditions: conditions.collect(),
        }
    }

    /// The conditions that say how it stands, in a few words.
    fn describe(&self) -> String {
        let words = ["Ready", "Accepted", "KafkaReachable", "PartitionsAligned"].map(|kind| {
            self.conditions.get(kind).map_or_else(
                || format!("no {kind}"),
                |seen| {
                    let current = seen.generation == Some(self.generation);
                    let late = if current { "" } else { " of an older spec" };
                    format!("{kind}={}/{}{late}", seen.status, seen.reason)
                },
            )
        });
        words.join(" ")
    }
}

impl Board {
    /// Starts the watch; it ends with the board.
    pub(crate) fn start(client: Client) -> Self {
        let groups = Arc::<Mutex<BTreeMap<String, Seen>>>::default();
        let watch = tokio::spawn(follow(client, groups.clone()));
        Self { groups, watch }
    }

    /// Waits until all these groups fit, and gives when the last one began to. `fits` says since when one does.
    pub(crate) async fn wait(
        &self,
        what: &str,
        names: &[String],
        deadline: Duration,
        fits: impl Fn(&Seen) -> Option<Instant>,
    ) -> Result<Instant, String> {
        let began = Instant::now();
        loop {
            let last = {
                let groups = self.lock();
                let since = names.iter().map(|name| groups.get(name).and_then(&fits));
                since.collect::<Option<Vec<_>>>()
            };
            if let Some(last) = last {
                return last
                    .into_iter()
                    .max()
                    .ok_or_else(|| format!("{what}: no group to wait for"));
            }
            if began.elapsed() > deadline {
                return Err(self.missing(what, names, deadline, fits));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// How many of these groups fit now.
    pub(crate) fn count(&self, names: &[String], fits: impl Fn(&Seen) -> Option<Instant>) -> usize {
        let groups = self.lock();
        let fit = |name: &&String| groups.get(*name).and_then(&fits).is_some();
        names.iter().filter(fit).count()
    }

    fn missing(
        &self,
        what: &str,
        names: &[String],
        deadline: Duration,
        fits: impl Fn(&Seen) -> Option<Instant>,
    ) -> String {
        let groups = self.lock();
        let missing: Vec<&String> = names
            .iter()
            .filter(|name| groups.get(*name).and_then(&fits).is_none())
            .collect();
        let first = missing.iter().take(NAMED).map(|name| {
            let state = groups
                .get(*name)
                .map_or_else(|| "not seen".to_owned(), Seen::describe);
            format!("\n  {name}: {state}")
        });
        format!(
            "waited {deadline:?} for {what}; {} of {} groups are not there, the first:{}",
            missing.len(),
            names.len(),
            first.collect::<String>()
        )
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Seen>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

async fn follow(client: Client, groups: Arc<Mutex<BTreeMap<String, Seen>>>) {
    let api: Api<CoPartitionedTopicGroup> = Api::namespaced(client, NAMESPACE);
    let mut events = Box::pin(watcher(api, watcher::Config::default()));
    while let Some(event) = events.next().await {
        let now = Instant::now();
        match event {
            Ok(Event::Apply(group) | Event::InitApply(group)) => {
                let mut groups = groups.lock().unwrap_or_else(PoisonError::into_inner);
                let name = group.name_any();
                let seen = Seen::of(&group, groups.get(&name), now);
                groups.insert(name, seen);
            }
            Ok(_) => {}
            Err(error) => {
                eprintln!("watching the groups: {error}; tried again");
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        }
    }
}
