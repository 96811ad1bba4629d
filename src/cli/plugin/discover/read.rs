//! What Kafka tells: the sets that applications need, and their topics' counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::kafka::{
    Client, ConnectionSettings, Error, GroupReader, Metrics, TopicError, WantedGroups, WriteGuard,
};
use crate::placement::{ConsumerGroup, Needed, Phase, needed};

/// What was read of a cluster.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) cluster_id: String,
    pub(super) sets: Vec<Needed>,
    /// Applications without members.
    pub(super) stopped: BTreeSet<String>,
    /// The counts of the topics of all sets, or why there is none.
    pub(super) counts: BTreeMap<String, Result<i32, String>>,
    /// What could not be read, in words.
    pub(super) unread: Vec<String>,
}

/// Reads consumer groups and the topics that they need.
///
/// # Errors
/// One line for the user.
pub(super) fn read(
    settings: &ConnectionSettings,
    prefixes: &[String],
    timeout: Duration,
) -> Result<Seen, String> {
    let runtime = crate::cli::runtime()?;
    let reading = runtime.block_on(async {
        match tokio::time::timeout(timeout, look(settings, prefixes)).await {
            Ok(seen) => seen.map_err(|error| error.to_string()),
            Err(_) => Err(format!(
                "Kafka took longer than {} s; give it more with --timeout, or ask for less with --prefix",
                timeout.as_secs()
            )),
        }
    });
    // A request that nobody waits for any more does not hold the process up.
    runtime.shutdown_background();
    reading
}

async fn look(settings: &ConnectionSettings, prefixes: &[String]) -> Result<Seen, Error> {
    let client = Client::connect(
        settings,
        Arc::new(Metrics::default()),
        &WriteGuard::default(),
    )?;
    let wanted = WantedGroups {
        ids: BTreeSet::new(),
        // Everything begins with nothing.
        prefixes: if prefixes.is_empty() {
            BTreeSet::from([String::new()])
        } else {
            prefixes.iter().cloned().collect()
        },
    };
    let mut reader = GroupReader::default();
    let found = reader.read(&client, &wanted, Duration::ZERO).await?;
    let mut groups: Vec<ConsumerGroup> = Vec::new();
    let mut unread: Vec<String> = Vec::new();
    for (id, group) in found.groups {
        match group {
            Ok(group) => groups.push(group),
            Err(error) => unread.push(format!("consumer group {id}: {error}")),
        }
    }
    for (prefix, why) in found.unlisted {
        let which = if prefix.is_empty() {
            "some consumer groups".to_owned()
        } else {
            format!("some consumer groups that begin with {prefix}")
        };
        unread.push(format!("{which} were not read: {why}"));
    }
    let sets = needed(&groups);
    let names: BTreeSet<String> = sets.iter().flat_map(|set| set.topics.clone()).collect();
    let names: Vec<String> = names.into_iter().collect();
    let described = client.describe_topics(&names).await?;
    let counts = described.into_iter().map(|(topic, described)| {
        let count = described.map(|it| it.partitions);
        (topic, count.map_err(|error: TopicError| error.to_string()))
    });
    let silent =
        |group: &&ConsumerGroup| !matches!(group.phase, Phase::Stable | Phase::Rebalancing);
    Ok(Seen {
        cluster_id: client.cluster_id().await?,
        stopped: groups
            .iter()
            .filter(silent)
            .map(|it| it.id.clone())
            .collect(),
        counts: counts.collect(),
        sets,
        unread,
    })
}
