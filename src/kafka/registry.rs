//! All clusters in use.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::changes::Changes;
use super::client::Client;
use super::cluster::{Cluster, PollSettings};
use super::error::Error;
use super::guard::WriteGuard;
use super::metrics::Metrics;
use super::settings::ConnectionSettings;

/// All clusters in use: one [`Cluster`] for each distinct connection.
#[derive(Debug)]
pub struct Clusters {
    settings: PollSettings,
    metrics: Arc<Metrics>,
    guard: WriteGuard,
    changes: Arc<Changes>,
    by_connection: Mutex<BTreeMap<ConnectionSettings, Arc<Cluster>>>,
}

impl Clusters {
    /// No cluster yet. What is written to any of them is written only while `guard` allows it.
    pub fn new(settings: PollSettings, metrics: Arc<Metrics>, guard: WriteGuard) -> Self {
        Self {
            settings,
            metrics,
            guard,
            changes: Arc::default(),
            by_connection: Mutex::default(),
        }
    }

    /// The cluster behind a connection; connects to it if nobody did. Must be called in a Tokio runtime.
    /// Fails if the settings are unusable, not if the cluster is out of reach.
    pub fn cluster(&self, connection: &ConnectionSettings) -> Result<Arc<Cluster>, Error> {
        let connection = connection.normalised();
        self.find(&mut self.lock(), connection, None)
    }

    /// As [`Clusters::cluster`], for a group whose credentials may have been renewed: if it is interested in a cluster
    /// with the same servers so far, the new one begins with what that one knows, and uses its connection until it gets
    /// an answer itself, for at most [`PollSettings::renewal_patience`]. So the group sees no gap. Other groups of the
    /// earlier connection stay with it until they ask for the new one themselves.
    ///
    /// To be followed by [`Cluster::set_interest`] and [`Clusters::use_only`], as always.
    pub fn cluster_for(
        &self,
        group: &str,
        connection: &ConnectionSettings,
    ) -> Result<Arc<Cluster>, Error> {
        let connection = connection.normalised();
        let mut clusters = self.lock();
        if let Some(cluster) = clusters.get(&connection) {
            return Ok(Arc::clone(cluster));
        }
        let before = clusters.iter().find(|(settings, cluster)| {
            settings.bootstrap_servers == connection.bootstrap_servers && cluster.serves(group)
        });
        let before = before.map(|(_, cluster)| Arc::clone(cluster));
        self.find(&mut clusters, connection, before.as_deref())
    }

    /// The connection to a cluster that is in use, for readings beside the snapshot; `None` if it is not.
    pub fn client_of(&self, connection: &ConnectionSettings) -> Option<Client> {
        let clusters = self.lock();
        Some(clusters.get(&connection.normalised())?.client())
    }

    fn find(
        &self,
        clusters: &mut BTreeMap<ConnectionSettings, Arc<Cluster>>,
        connection: ConnectionSettings,
        before: Option<&Cluster>,
    ) -> Result<Arc<Cluster>, Error> {
        if let Some(cluster) = clusters.get(&connection) {
            return Ok(Arc::clone(cluster));
        }
        let cluster = Arc::new(Cluster::start(
            &connection,
            before,
            self.settings.clone(),
            Arc::clone(&self.metrics),
            &self.guard,
            Arc::clone(&self.changes),
        )?);
        clusters.insert(connection, Arc::clone(&cluster));
        Ok(cluster)
    }

    /// Drops a group's interest everywhere. A cluster that no group is interested in and nobody holds is
    /// disconnected; if somebody holds it still, the next call of this or [`Clusters::use_only`] does it.
    pub fn forget(&self, group: &str) {
        let mut clusters = self.lock();
        for cluster in clusters.values() {
            cluster.drop_interest(group);
        }
        self.changes.forget(group);
        sweep(&mut clusters);
    }

    /// Drops a group's interest in all clusters but this one.
    pub fn use_only(&self, group: &str, connection: &ConnectionSettings) {
        let connection = connection.normalised();
        let mut clusters = self.lock();
        for (other, cluster) in clusters.iter() {
            if *other != connection {
                cluster.drop_interest(group);
            }
        }
        sweep(&mut clusters);
    }

    /// Waits until a group's part of a snapshot, or the verdict on its cluster, changed; takes all such
    /// groups. Nothing is lost when the call is dropped.
    pub async fn next_changed(&self) -> Vec<String> {
        self.changes.next().await
    }

    /// The clusters in use, for metrics.
    pub fn all(&self) -> Vec<(ConnectionSettings, Arc<Cluster>)> {
        self.lock()
            .iter()
            .map(|(key, cluster)| (key.clone(), Arc::clone(cluster)))
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ConnectionSettings, Arc<Cluster>>> {
        self.by_connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Disconnects idle clusters. One that somebody holds may be about to get an interest, so it stays; under the
/// registry's lock, nobody can get hold of one that only the registry has.
fn sweep(clusters: &mut BTreeMap<ConnectionSettings, Arc<Cluster>>) {
    clusters.retain(|_, cluster| Arc::strong_count(cluster) > 1 || !cluster.is_idle());
}
