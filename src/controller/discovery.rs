//! Which topics running Kafka Streams applications read together, on each Kafka cluster, and whether groups cover them: for
//! `/metrics` only. `kubectl copartition discover` names them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::stream::{self, StreamExt};

use super::context::Context;
use crate::api::ClaimSpec;
use crate::kafka::{Cluster, Error, GroupReader, WantedGroups};
use crate::placement::{ConsumerGroup, Needed, needed};

/// Polls from one look to the next: applications change what they read when they are deployed.
const EVERY: u32 = 60;
/// Clusters that are looked at at the same time.
const AT_ONCE: usize = 8;

/// How a set of topics that are read together stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Standing {
    /// One group has them all.
    pub(super) covered: bool,
    /// They have one partition count; `None` if that of some is not known.
    pub(super) equal: Option<bool>,
}

/// How many sets stand how, by the cluster's id. Bounded by the clusters in use.
type Counts = BTreeMap<String, BTreeMap<Standing, usize>>;

/// What the last looks found.
#[derive(Default)]
pub(super) struct Discovery(Mutex<Counts>);

impl Discovery {
    /// How many sets stand how, by cluster.
    pub(super) fn counts(&self) -> Counts {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.clone()
    }

    fn replace(&self, counts: Counts) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = counts;
    }
}

/// Looks now and then, for as long as it is polled.
pub(super) async fn run(context: Arc<Context>, poll: Duration) {
    let every = poll * EVERY;
    loop {
        tokio::time::sleep(every).await;
        // Several connections may lead to one cluster, and each principal sees groups of its own.
        let mut clusters: BTreeMap<String, Vec<Arc<Cluster>>> = BTreeMap::new();
        for (_, cluster) in context.kafka.all() {
            if let Some(id) = cluster.id() {
                clusters.entry(id).or_default().push(cluster);
            }
        }
        let looks: Vec<_> = clusters
            .into_iter()
            .map(|(id, ways)| look(&context, id, ways, every / 4))
            .collect();
        let looks = stream::iter(looks).buffer_unordered(AT_ONCE);
        context.discovery.replace(looks.collect().await);
    }
}

/// Looks at one cluster. What cannot be read is as it was seen last.
async fn look(
    context: &Context,
    id: String,
    ways: Vec<Arc<Cluster>>,
    spread: Duration,
) -> (String, BTreeMap<Standing, usize>) {
    let (mut groups, mut read) = (BTreeMap::new(), false);
    for cluster in &ways {
        match read_groups(cluster, spread).await {
            Ok(found) => {
                read = true;
                groups.extend(found);
            }
            Err(error) => {
                tracing::debug!(cluster = id, %error, "the consumer groups cannot be read");
            }
        }
    }
    if !read {
        let last = context.discovery.counts().remove(&id);
        return (id, last.unwrap_or_default());
    }
    let groups: Vec<ConsumerGroup> = groups.into_values().collect();
    let sets = needed(&groups);
    let counts = partitions(&sets, &ways).await;
    let claims = context.claims.all();
    let claims = claims.iter().map(|claim| &claim.spec);
    let here: Vec<&ClaimSpec> = claims
        .filter(|claim| claim.cluster_id.as_ref() == Some(&id))
        .collect();
    let mut standings = BTreeMap::new();
    for set in &sets {
        *standings.entry(standing(set, &here, &counts)).or_default() += 1;
    }
    (id, standings)
}

/// All groups that the connection's principal may see.
async fn read_groups(
    cluster: &Cluster,
    spread: Duration,
) -> Result<BTreeMap<String, ConsumerGroup>, Error> {
    let all = WantedGroups {
        ids: BTreeSet::new(),
        // Everything begins with nothing.
        prefixes: BTreeSet::from([String::new()]),
    };
    let found = GroupReader::default()
        .read(&cluster.client(), &all, spread)
        .await?;
    let groups = found.groups.into_iter();
    Ok(groups
        .filter_map(|(id, group)| Some((id, group.ok()?)))
        .collect())
}

/// The partition counts of the topics, as far as some principal may see them.
async fn partitions(sets: &[Needed], ways: &[Arc<Cluster>]) -> BTreeMap<String, i32> {
    let names: BTreeSet<&String> = sets.iter().flat_map(|set| &set.topics).collect();
    let names: Vec<String> = names.into_iter().cloned().collect();
    let mut counts = BTreeMap::new();
    if names.is_empty() {
        return counts;
    }
    for cluster in ways {
        if let Ok(described) = cluster.client().describe_topics(&names).await {
            let seen = described.into_iter();
            counts.extend(seen.filter_map(|(name, it)| Some((name, it.ok()?.partitions))));
        }
    }
    counts
}

fn standing(set: &Needed, claims: &[&ClaimSpec], counts: &BTreeMap<String, i32>) -> Standing {
    let covers = |claim: &&ClaimSpec| {
        let has = |name: &String| {
            let mut claimed = claim.holds.iter().chain(&claim.references);
            claimed.any(|topic| topic.name == *name)
        };
        set.topics.iter().all(has)
    };
    let seen: Option<BTreeSet<&i32>> = set.topics.iter().map(|name| counts.get(name)).collect();
    Standing {
        covered: claims.iter().any(covers),
        equal: seen.map(|counts| counts.len() == 1),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;

    use super::*;
    use crate::api::ClaimedTopic;

    #[test]
    fn a_set_is_covered_by_one_group_that_has_all_of_it() {
        let topic = |name: &str| ClaimedTopic {
            name: name.to_owned(),
            topic_id: None,
            counts: Vec::new(),
            created: false,
            holds_records: false,
            guarded: false,
            since: MicroTime(jiff::Timestamp::UNIX_EPOCH),
        };
        let claim = |holds: &[&str], references: &[&str]| ClaimSpec {
            holds: holds.iter().map(|name| topic(name)).collect(),
            references: references.iter().map(|name| topic(name)).collect(),
            ..ClaimSpec::default()
        };
        let set = Needed {
            topics: vec!["a".to_owned(), "b".to_owned()],
            by: Vec::new(),
        };
        let counts = |a: i32, b: Option<i32>| {
            let b = b.map(|b| ("b".to_owned(), b));
            [("a".to_owned(), a)].into_iter().chain(b).collect()
        };
        let both = claim(&["a", "x"], &["b"]);
        let (one, other) = (claim(&["a"], &[]), claim(&["b"], &[]));
        for (claims, counts, covered, equal) in [
            (vec![&one, &both], counts(3, Some(3)), true, Some(true)),
            (vec![&one, &other], counts(3, Some(4)), false, Some(false)),
            (vec![], counts(3, None), false, None),
        ] {
            assert_eq!(
                standing(&set, &claims, &counts),
                Standing { covered, equal }
            );
        }
    }
}
