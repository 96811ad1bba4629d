//! Which version of Kafka a connection's brokers run: asked when the connection is new or changed, and now and then.

use std::time::{Duration, Instant};

use crate::kafka::{Cluster, ConnectionSettings};

/// How often brokers are asked again: they are upgraded seldom, and nobody says when.
const AGAIN: Duration = Duration::from_secs(3600);
/// How soon, if they did not tell.
const SOON: Duration = Duration::from_secs(60);

struct Asked {
    settings: ConnectionSettings,
    due: Instant,
    version: Option<String>,
}

/// What is known of one connection's brokers.
#[derive(Default)]
pub(super) struct Version(Option<Asked>);

impl Version {
    /// The version, where it is known; `last` is what was known before this process.
    pub(super) async fn of(
        &mut self,
        name: &str,
        settings: &ConnectionSettings,
        cluster: &Cluster,
        last: Option<String>,
    ) -> Option<String> {
        let now = Instant::now();
        let known = self.0.as_ref();
        if let Some(known) = known.filter(|it| it.settings == *settings && now < it.due) {
            return known.version.clone();
        }
        let last = known.map_or(last, |known| known.version.clone());
        let (version, pause) = match cluster.client().broker_version().await {
            Ok(version) => (version, AGAIN),
            Err(error) => {
                tracing::debug!(connection = name, %error, "the brokers' version cannot be read");
                (last, SOON)
            }
        };
        self.0 = Some(Asked {
            settings: settings.clone(),
            due: now + pause,
            version: version.clone(),
        });
        version
    }
}
