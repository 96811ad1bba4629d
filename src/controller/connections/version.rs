//! Which version of Kafka each connection's brokers run: asked when a connection is new or changed, and now and then.

use std::collections::HashMap;
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

/// What is known, by connection. Bounded by the number of connections.
#[derive(Default)]
pub(super) struct Versions(HashMap<String, Asked>);

impl Versions {
    /// Forgets all connections but these.
    pub(super) fn retain(&mut self, stays: impl Fn(&str) -> bool) {
        self.0.retain(|name, _| stays(name));
    }

    /// The version, where it is known; `last` is what was known before this process.
    pub(super) async fn of(
        &mut self,
        name: &str,
        settings: &ConnectionSettings,
        cluster: &Cluster,
        last: Option<String>,
    ) -> Option<String> {
        let now = Instant::now();
        let known = self.0.get(name);
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
        let asked = Asked {
            settings: settings.clone(),
            due: now + pause,
            version: version.clone(),
        };
        self.0.insert(name.to_owned(), asked);
        version
    }
}
