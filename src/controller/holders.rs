//! Who holds which topic, and who waits for it.
//!
//! A topic is held by the claim that the watch showed first with it. The API server shows all claims to every operator
//! in the same order, so all operators agree, whichever of them wrote first. A reservation keeps a topic apart between
//! the groups of this process until the claim comes back through the watch.

use std::collections::{BTreeMap, BTreeSet};

/// A topic of a cluster: (cluster id, name).
pub(super) type Held = (String, String);

/// Who holds which topic. Claims are known by their names.
#[derive(Debug, Default)]
pub(super) struct Holders(BTreeMap<Held, Queue>);

#[derive(Debug, Default)]
struct Queue {
    /// The claims that list the topic, in the order of the watch: the first one holds it.
    listed: Vec<String>,
    /// The claim that is being written with it.
    reserved: Option<String>,
    /// The claims of groups that were told that another one holds it.
    waiting: BTreeSet<String>,
}

impl Queue {
    fn holder(&self) -> Option<&String> {
        self.listed.first().or(self.reserved.as_ref())
    }

    /// Who may find the topic free now.
    fn take_waiting(&mut self) -> BTreeSet<String> {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.extend(self.listed.iter().cloned());
        waiting
    }
}

impl Holders {
    /// The topics of `topics` that another claim holds on the cluster, each with that claim. The group is told of them
    /// when they come free.
    pub(super) fn conflicts(
        &mut self,
        claim: &str,
        cluster_id: &str,
        topics: &[String],
    ) -> BTreeMap<String, String> {
        let mut conflicts = BTreeMap::new();
        for topic in topics {
            let Some(queue) = self.0.get_mut(&(cluster_id.to_owned(), topic.clone())) else {
                continue;
            };
            match queue.holder() {
                Some(holder) if holder != claim => {
                    conflicts.insert(topic.clone(), holder.clone());
                    queue.waiting.insert(claim.to_owned());
                }
                _ => {
                    queue.waiting.remove(claim);
                }
            }
        }
        conflicts
    }

    /// Keeps topics, which nobody may hold, for a claim that is about to be written.
    pub(super) fn reserve(&mut self, claim: &str, cluster_id: &str, topics: &[String]) {
        for topic in topics {
            let queue = self.0.entry((cluster_id.to_owned(), topic.clone()));
            queue.or_default().reserved = Some(claim.to_owned());
        }
    }

    /// Gives back what was kept for a claim and not written.
    pub(super) fn give_back(&mut self, claim: &str) {
        self.0.retain(|_, queue| {
            if queue.reserved.as_deref() == Some(claim) {
                queue.reserved = None;
            }
            queue.holder().is_some()
        });
    }

    /// The watch shows that the claim lists the topic.
    pub(super) fn list(&mut self, claim: &str, topic: Held) {
        let queue = self.0.entry(topic).or_default();
        if queue.reserved.as_deref() == Some(claim) {
            queue.reserved = None;
        }
        if !queue.listed.iter().any(|listed| listed == claim) {
            queue.listed.push(claim.to_owned());
        }
    }

    /// The watch shows that the claim does not list the topic any more. Returns who may find it free now.
    pub(super) fn release(&mut self, claim: &str, topic: &Held) -> BTreeSet<String> {
        let Some(queue) = self.0.get_mut(topic) else {
            return BTreeSet::new();
        };
        queue.listed.retain(|listed| listed != claim);
        let waiting = queue.take_waiting();
        if queue.holder().is_none() {
            self.0.remove(topic);
        }
        waiting
    }

    /// Puts the claims of each topic in order where the watch cannot tell it: after a start.
    pub(super) fn order_by<K: Ord>(&mut self, key: impl Fn(&Held, &str) -> K) {
        for (topic, queue) in &mut self.0 {
            queue.listed.sort_by_key(|claim| key(topic, claim));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic() -> Held {
        ("cluster".to_owned(), "t".to_owned())
    }

    fn holder(holders: &mut Holders, claim: &str) -> Option<String> {
        let conflicts = holders.conflicts(claim, "cluster", &["t".to_owned()]);
        conflicts.into_values().next()
    }

    #[test]
    fn the_order_of_the_watch_outranks_a_reservation() {
        let mut holders = Holders::default();
        holders.reserve("ours", "cluster", &["t".to_owned()]);
        assert_eq!(holder(&mut holders, "other").as_deref(), Some("ours"));
        // Another operator's claim comes through the watch before ours does.
        holders.list("theirs", topic());
        holders.list("ours", topic());
        assert_eq!(holder(&mut holders, "ours").as_deref(), Some("theirs"));
        assert_eq!(holder(&mut holders, "theirs"), None);
    }

    #[test]
    fn whoever_waits_is_told_once_the_topic_is_free() {
        let mut holders = Holders::default();
        holders.list("first", topic());
        assert_eq!(holder(&mut holders, "second").as_deref(), Some("first"));
        let told = holders.release("first", &topic());
        assert_eq!(told, BTreeSet::from(["second".to_owned()]));
        assert_eq!(holder(&mut holders, "second"), None);
        assert!(holders.0.is_empty());
    }

    #[test]
    fn a_reservation_that_came_to_nothing_frees_the_topic() {
        let mut holders = Holders::default();
        holders.reserve("first", "cluster", &["t".to_owned()]);
        holders.give_back("first");
        assert_eq!(holder(&mut holders, "second"), None);
        assert!(holders.0.is_empty());
    }
}
