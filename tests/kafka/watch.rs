//! A cluster as groups see it, for tests that are not async.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use copartition::kafka::{
    Cluster, Clusters, ConnectionSettings, Health, Interest, Metrics, PollSettings, WriteGuard,
};
use copartition::plan::{TopicReading, TopicState, TopicView};
use tokio::runtime::Runtime;

use super::{SOON, new_topic, runtime};
use crate::env::{KafkaCluster, wait_for};

/// A registry of clusters with one cluster in use.
pub(super) struct Watch {
    pub(super) runtime: Runtime,
    pub(super) metrics: Arc<Metrics>,
    pub(super) clusters: Clusters,
    pub(super) connection: ConnectionSettings,
    pub(super) cluster: Arc<Cluster>,
}

pub(super) fn every(interval: Duration) -> PollSettings {
    PollSettings {
        interval,
        ..PollSettings::default()
    }
}

pub(super) const OFTEN: Duration = Duration::from_millis(300);
/// Longer than any test: nothing is seen by polling, only by what asks for it.
pub(super) const NEVER: Duration = Duration::from_secs(3600);

impl Watch {
    pub(super) fn new(connection: ConnectionSettings, polls: PollSettings) -> Self {
        let runtime = runtime();
        let metrics = Arc::new(Metrics::default());
        let clusters = Clusters::new(polls, Arc::clone(&metrics), WriteGuard::default());
        let cluster = {
            let _context = runtime.enter();
            clusters.cluster(&connection).expect("a cluster")
        };
        Self {
            runtime,
            metrics,
            clusters,
            connection,
            cluster,
        }
    }

    pub(super) fn name(&self, group: &str, topics: &[&str], configs: &[&str]) {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        self.cluster.set_interest(
            group,
            Interest {
                topics: set(topics),
                configs: set(configs),
                ..Interest::default()
            },
        );
    }

    pub(super) fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// The groups announced until `group` is among them.
    pub(super) fn announced(&self, group: &str) -> BTreeSet<String> {
        let mut groups = BTreeSet::new();
        let next = async {
            while !groups.contains(group) {
                groups.extend(self.clusters.next_changed().await);
            }
        };
        self.wait(async {
            tokio::time::timeout(SOON, next)
                .await
                .expect("an announcement");
        });
        groups
    }

    /// What is announced within a while.
    pub(super) fn announced_within(&self, while_: Duration) -> Vec<String> {
        let next = self.clusters.next_changed();
        self.wait(async { tokio::time::timeout(while_, next).await.unwrap_or_default() })
    }

    pub(super) fn topic(&self, group: &str, topic: &str) -> Option<TopicView> {
        self.cluster.view(group)?.topics.remove(topic)
    }

    pub(super) fn state(&self, group: &str, topic: &str) -> Result<TopicState, String> {
        match self.topic(group, topic) {
            Some(TopicView {
                reading: TopicReading::Present(state),
                misses: 0,
            }) => Ok(state),
            other => Err(format!("{other:?}")),
        }
    }

    /// Waits until the cluster's health is as wanted.
    pub(super) fn health(&self, what: &str, wanted: impl Fn(&Health) -> bool) -> Health {
        wait_for(&format!("the cluster: {what}"), 2 * SOON, || {
            let health = self.cluster.health();
            if wanted(&health) {
                Ok(health)
            } else {
                Err(format!("{health:?}"))
            }
        })
    }

    /// Waits until a topic's state is as wanted.
    pub(super) fn see(
        &self,
        group: &str,
        topic: &str,
        what: &str,
        wanted: impl Fn(&TopicState) -> bool,
    ) -> TopicState {
        wait_for(&format!("{topic} {what}"), SOON, || {
            let state = self.state(group, topic)?;
            if wanted(&state) {
                Ok(state)
            } else {
                Err(format!("{state:?}"))
            }
        })
    }

    pub(super) fn create(&self, topic: &str, partitions: i32) {
        let outcomes = self.wait(
            self.cluster
                .client()
                .create_topics(&[new_topic(topic, partitions)], false),
        );
        assert_eq!(outcomes[topic], Ok(()));
    }

    /// Creates a topic as somebody else would, and waits until its partitions are led.
    pub(super) fn foreign_topic(&self, kafka: &KafkaCluster, topic: &str, partitions: usize) {
        kafka.create_topic(topic, partitions);
        let asked = [(
            topic.to_owned(),
            i32::try_from(partitions).expect("a partition count"),
        )];
        wait_for(&format!("{topic} to be led"), SOON, || {
            let ends = self
                .wait(self.cluster.client().end_offsets(&asked))
                .expect("an answer");
            if ends[topic].is_ok() {
                Ok(())
            } else {
                Err(format!("{ends:?}"))
            }
        });
    }
}
