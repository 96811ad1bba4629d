//! What the watch of the claims shows, and what this process wrote.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kube::ResourceExt;

use super::holders::Holders;
use super::memory::holds;
use crate::api::{ClaimSpec, CoPartitionClaim};

/// One event of the claim watch.
pub(super) enum ClaimEvent {
    /// A listing begins.
    Listing,
    /// A claim of the listing.
    Listed(CoPartitionClaim),
    /// The listing is complete.
    ListingDone,
    /// A claim changed.
    Changed(CoPartitionClaim),
    /// A claim is gone.
    Gone(CoPartitionClaim),
}

/// All claims, as the watch shows them.
#[derive(Default)]
pub(super) struct State {
    pub(super) synced: bool,
    listing: Option<Vec<CoPartitionClaim>>,
    pub(super) claims: HashMap<String, Arc<CoPartitionClaim>>,
    /// What this process wrote last, by claim: it outranks an edit by hand.
    pub(super) written: HashMap<String, ClaimSpec>,
    pub(super) holders: Holders,
}

impl State {
    /// Takes in an event of the watch. Returns the groups that it may concern.
    pub(super) fn apply(&mut self, event: ClaimEvent) -> BTreeSet<(String, String)> {
        match event {
            ClaimEvent::Listing => {
                self.listing = Some(Vec::new());
                BTreeSet::new()
            }
            ClaimEvent::Listed(claim) => {
                self.listing.get_or_insert_default().push(claim);
                BTreeSet::new()
            }
            ClaimEvent::ListingDone => self.replace_all(),
            ClaimEvent::Changed(claim) => self.put(claim),
            ClaimEvent::Gone(claim) => self.remove(&claim.name_any()),
        }
    }

    fn replace_all(&mut self) -> BTreeSet<(String, String)> {
        let mut listed = self.listing.take().unwrap_or_default();
        let names: BTreeSet<String> = listed.iter().map(ResourceExt::name_any).collect();
        let gone: Vec<String> = self
            .claims
            .keys()
            .filter(|name| !names.contains(*name))
            .cloned()
            .collect();
        let mut touched: BTreeSet<(String, String)> =
            gone.iter().flat_map(|name| self.remove(name)).collect();
        // A listing is sorted by name. What came to it last was written last.
        listed.sort_by_key(|claim| {
            claim
                .resource_version()
                .and_then(|version| version.parse::<u64>().ok())
        });
        for claim in listed {
            touched.extend(self.put(claim));
        }
        if !self.synced {
            self.order_by_age();
        }
        self.synced = true;
        touched
    }

    /// After a start nobody knows in which order claims came. Who was seen with the topic held it; else (since, uid)
    /// decides, the same in every process.
    fn order_by_age(&mut self) {
        let State {
            holders, claims, ..
        } = self;
        holders.order_by(|(_, topic), claim| {
            let claim = claims.get(claim);
            let held = claim
                .and_then(|claim| claim.spec.holds.iter().find(|held| held.name == *topic))
                .map(|held| (held.topic_id.is_none(), held.since.0));
            (held, claim.and_then(|claim| claim.uid()))
        });
    }

    fn put(&mut self, claim: CoPartitionClaim) -> BTreeSet<(String, String)> {
        let name = claim.name_any();
        let mut touched = BTreeSet::from([group_of(&claim)]);
        let before = self
            .claims
            .get(&name)
            .map(|claim| holds(&claim.spec))
            .unwrap_or_default();
        let after = holds(&claim.spec);
        for topic in before.difference(&after) {
            touched.extend(self.release(&name, topic));
        }
        for topic in after {
            self.holders.list(&name, topic);
        }
        self.claims.insert(name, Arc::new(claim));
        touched
    }

    fn remove(&mut self, name: &str) -> BTreeSet<(String, String)> {
        let Some(claim) = self.claims.remove(name) else {
            return BTreeSet::new();
        };
        let mut touched = BTreeSet::from([group_of(&claim)]);
        for topic in holds(&claim.spec) {
            touched.extend(self.release(name, &topic));
        }
        touched
    }

    /// Takes the claim out of a topic's queue; the others that list it move up, and who waits may try again.
    fn release(&mut self, name: &str, topic: &(String, String)) -> BTreeSet<(String, String)> {
        let told = self.holders.release(name, topic);
        told.iter()
            .filter_map(|claim| claim.split_once('.'))
            .map(|(namespace, group)| (namespace.to_owned(), group.to_owned()))
            .collect()
    }

    /// The contested topics, each with the group that holds it.
    pub(super) fn conflicts(
        &mut self,
        claim: &str,
        cluster_id: &str,
        topics: &[String],
    ) -> BTreeMap<String, String> {
        let conflicts = self.holders.conflicts(claim, cluster_id, topics);
        conflicts
            .into_iter()
            .map(|(topic, holder)| (topic, holder.replacen('.', "/", 1)))
            .collect()
    }
}

fn group_of(claim: &CoPartitionClaim) -> (String, String) {
    (
        claim.spec.group.namespace.clone(),
        claim.spec.group.name.clone(),
    )
}
