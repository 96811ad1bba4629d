//! What `src/kafka` does to real brokers, and what it makes of their answers and their silence.

mod bearer;
mod client;
mod cluster;
mod fifty;
mod locks;
mod many;
mod outage;
mod permissions;
mod renewal;
mod security;
mod watch;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use copartition::kafka::{
    Client, ConnectionSettings, Metrics, NewTopic, TopicDescription, TopicError, WriteGuard,
};
use tokio::runtime::Runtime;

use crate::env::wait_for;

pub(crate) use bearer::*;
pub(crate) use client::*;
pub(crate) use cluster::*;
pub(crate) use fifty::*;
pub(crate) use locks::*;
pub(crate) use many::*;
pub(crate) use outage::*;
pub(crate) use permissions::*;
pub(crate) use renewal::*;
pub(crate) use security::*;
pub(crate) use wire::*;

/// Generous, as a broker on a busy machine takes long to lead new partitions.
const SOON: Duration = Duration::from_secs(60);

/// A client with a runtime of its own, for tests that are not async.
struct Bench {
    runtime: Runtime,
    metrics: Arc<Metrics>,
    client: Client,
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
}

/// The settings for `bootstrap.servers` as the environment writes them.
fn settings(bootstrap: &str) -> ConnectionSettings {
    ConnectionSettings::new(bootstrap.split(','))
}

fn new_topic(name: &str, partitions: i32) -> NewTopic {
    NewTopic {
        name: name.to_owned(),
        partitions,
        replication_factor: None,
        config: BTreeMap::new(),
    }
}

fn pairs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

impl Bench {
    fn new(bootstrap: &str) -> Self {
        Self::with(&settings(bootstrap))
    }

    fn with(settings: &ConnectionSettings) -> Self {
        let runtime = runtime();
        let metrics = Arc::new(Metrics::default());
        let client = {
            let _context = runtime.enter();
            Client::connect(settings, Arc::clone(&metrics), &WriteGuard::default())
                .expect("a client")
        };
        Self {
            runtime,
            metrics,
            client,
        }
    }

    fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    fn describe(&self, topic: &str) -> Result<TopicDescription, TopicError> {
        let mut described = self
            .wait(self.client.describe_topics(&names(&[topic])))
            .expect("an answer");
        described.remove(topic).expect("an answer for the topic")
    }

    /// Creates a topic and waits until it shows.
    fn create(&self, topic: &NewTopic) -> TopicDescription {
        let outcomes = self.wait(
            self.client
                .create_topics(std::slice::from_ref(topic), false),
        );
        assert_eq!(outcomes[&topic.name], Ok(()));
        self.see(&topic.name, topic.partitions)
    }

    /// Waits until a topic shows with this many partitions, all with a leader.
    fn see(&self, topic: &str, partitions: i32) -> TopicDescription {
        wait_for(
            &format!("{topic} with {partitions} partitions"),
            SOON,
            || match self.describe(topic) {
                Ok(seen) if seen.partitions == partitions && seen.leaderless == 0 => Ok(seen),
                other => Err(format!("{other:?}")),
            },
        )
    }

    fn config(&self, topic: &str) -> Result<BTreeMap<String, String>, TopicError> {
        let mut configs = self
            .wait(self.client.describe_configs(&names(&[topic])))
            .expect("an answer");
        configs.remove(topic).expect("an answer for the topic")
    }

    fn ends(&self, topic: &str, partitions: i32) -> Result<Vec<i64>, TopicError> {
        let asked = [(topic.to_owned(), partitions)];
        let mut ends = self
            .wait(self.client.end_offsets(&asked))
            .expect("an answer");
        ends.remove(topic).expect("an answer for the topic")
    }
}
