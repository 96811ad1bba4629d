//! Which rights the groups of a connection need and its principal lacks.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::super::context::Context;
use super::Uses;
use crate::kafka::{
    self, CLUSTER_PERMISSIONS, Cluster, ConnectionSettings, GROUP_PERMISSION, Operation, Use,
};

/// How often rights are looked at again: they change seldom, and nobody says when.
const AGAIN: Duration = Duration::from_secs(300);
/// The most missing rights that a status lists; the schema bounds it.
const MOST_MISSING: usize = 100;

/// What was found of the rights of one connection.
#[derive(Default)]
pub(super) struct Rights(Option<Found>);

struct Found {
    read_at: Instant,
    uses: Uses,
    missing: Vec<String>,
}

impl Rights {
    /// The rights that are missing, as far as they can be read. Topics that are not there, or may not even be seen, tell
    /// nothing.
    pub(super) async fn missing(
        &mut self,
        context: &Context,
        name: &str,
        settings: &ConnectionSettings,
        cluster: &Cluster,
    ) -> Option<Vec<String>> {
        let on_topics = self.on_topics(context, name, cluster).await?;
        let hidden = context.placement.hidden(settings).into_iter();
        let on_groups = hidden.map(|group| format!("{GROUP_PERMISSION} on group {group}"));
        Some(shortened(on_topics.into_iter().chain(on_groups).collect()))
    }

    /// Those on topics and on the cluster.
    async fn on_topics(
        &mut self,
        context: &Context,
        name: &str,
        cluster: &Cluster,
    ) -> Option<Vec<String>> {
        let uses = context.connections.uses(name);
        if let Some(found) = &self.0
            && found.uses == uses
            && found.read_at.elapsed() < AGAIN
        {
            return Some(found.missing.clone());
        }
        let topics: Vec<String> = uses.keys().cloned().collect();
        let granted = match cluster.client().authorized_operations(&topics).await {
            Ok(granted) => granted,
            Err(error) => {
                tracing::debug!(connection = name, %error, "the rights on topics cannot be read");
                return None;
            }
        };
        let mut missing = on_cluster(cluster, &uses).await;
        let locked = locked(context, name);
        for (topic, uses) in &uses {
            let Some(Ok(granted)) = granted.get(topic) else {
                continue;
            };
            let uses: Vec<Use> = uses.iter().copied().collect();
            let lacking = kafka::missing(granted, &uses).into_iter();
            let lacking = lacking.filter(|operation| match operation {
                // Whether the principal may create it is of no interest: it is there.
                Operation::Create => false,
                Operation::Alter => !locked.contains(topic),
                _ => true,
            });
            missing.extend(lacking.map(|operation| format!("{operation} on topic {topic}")));
        }
        self.0 = Some(Found {
            read_at: Instant::now(),
            uses,
            missing: missing.clone(),
        });
        Some(missing)
    }
}

/// As many as a status may list.
fn shortened(mut missing: Vec<String>) -> Vec<String> {
    let more = missing.len().saturating_sub(MOST_MISSING);
    if more > 0 {
        missing.truncate(MOST_MISSING - 1);
        missing.push(format!("and {} more", more + 1));
    }
    missing
}

/// The topics that are locked by the connection. What our own lock denies is not missing: it is lifted when it is needed.
fn locked(context: &Context, name: &str) -> BTreeSet<String> {
    let claims = context.claims.all();
    let locks = claims.iter().flat_map(|claim| &claim.spec.locks);
    let ours = locks.filter(|lock| lock.connection.as_deref() == Some(name));
    ours.map(|lock| lock.topic.clone()).collect()
}

/// The rights on the cluster that locks need and the principal lacks; none if they can't be read.
async fn on_cluster(cluster: &Cluster, uses: &Uses) -> Vec<String> {
    if !uses.values().any(|uses| uses.contains(&Use::Lock)) {
        return Vec::new();
    }
    match cluster.client().authorized_cluster_operations().await {
        Ok(granted) => CLUSTER_PERMISSIONS
            .iter()
            .filter(|needed| needed.required && !granted.contains(&needed.operation))
            .map(|needed| format!("{} on the cluster", needed.operation))
            .collect(),
        Err(error) => {
            tracing::debug!(%error, "the rights on the cluster cannot be read");
            Vec::new()
        }
    }
}
