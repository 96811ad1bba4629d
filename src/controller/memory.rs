//! From a claim (or, without one, from a status) to the memory that decisions use, and back.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};

use super::marks::micros;
use crate::api::{
    AclLock, ClaimSpec, ClaimedTopic, GroupRef, GroupStatus, GrowthIntent, Management,
    SpentConsent, SpentDataLoss,
};
use crate::plan::{Intent, Lock, Memory, Owner, Spent, TopicMemory};

/// The most consents that a claim remembers; the schema bounds it.
const MOST_SPENT: usize = 1000;

/// The group that a pass is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    /// Its namespace.
    pub(super) namespace: String,
    /// Its name.
    pub(super) name: String,
    /// Its uid.
    pub(super) uid: String,
    /// Its generation.
    pub(super) generation: Option<i64>,
    /// The resourceVersion that the pass has seen.
    pub(super) resource_version: Option<String>,
}

impl Subject {
    /// The subject that an object's metadata describes.
    pub(super) fn of(metadata: &ObjectMeta) -> Self {
        Subject {
            namespace: metadata.namespace.clone().unwrap_or_default(),
            name: metadata.name.clone().unwrap_or_default(),
            uid: metadata.uid.clone().unwrap_or_default(),
            generation: metadata.generation,
            resource_version: metadata.resource_version.clone(),
        }
    }

    /// `namespace/name`: how messages, logs and the Kafka side call it.
    pub(super) fn key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// The name of its claim.
    pub(super) fn claim_name(&self) -> String {
        claim_name(&self.namespace, &self.name)
    }
}

/// The name of a group's claim. A namespace has no dot, so the first dot parts the two.
pub(crate) fn claim_name(namespace: &str, name: &str) -> String {
    format!("{namespace}.{name}")
}

/// The held topics of a claim as (cluster id, topic).
pub(super) fn holds(claim: &ClaimSpec) -> BTreeSet<(String, String)> {
    let Some(cluster_id) = &claim.cluster_id else {
        return BTreeSet::new();
    };
    claim
        .holds
        .iter()
        .map(|topic| (cluster_id.clone(), topic.name.clone()))
        .collect()
}

/// The memory that a claim holds.
pub(super) fn from_claim(claim: &ClaimSpec) -> Memory {
    let topic = |managed: bool| {
        move |topic: &ClaimedTopic| {
            let memory = TopicMemory {
                managed,
                id: topic.topic_id.clone(),
                count: topic.counts.first().copied(),
                created: topic.created,
                holds_records: topic.holds_records,
            };
            (topic.name.clone(), memory)
        }
    };
    Memory {
        owner: Some(Owner {
            installation: claim.installation.clone(),
            kube_system_uid: claim.kube_system_uid.clone(),
        }),
        cluster_id: claim.cluster_id.clone(),
        recorded: claim.recorded_partitions,
        topics: claim
            .references
            .iter()
            .map(topic(false))
            .chain(claim.holds.iter().map(topic(true)))
            .collect(),
        intents: claim
            .intents
            .iter()
            .map(|intent| Intent {
                topic: intent.topic.clone(),
                id: intent.topic_id.clone(),
                from: intent.from,
                to: intent.to,
                consented: intent.consented,
            })
            .collect(),
        spent: claim
            .spent_consents
            .iter()
            .map(|spent| Spent {
                topic: spent.topic.clone(),
                from: spent.from,
                to: spent.to,
                id: spent.topic_id.clone(),
            })
            .collect(),
        spent_data_loss: claim
            .spent_data_loss
            .iter()
            .map(|spent| (spent.topic.clone(), spent.key.clone()))
            .collect(),
        locks: claim
            .locks
            .iter()
            .map(|lock| Lock {
                topic: lock.topic.clone(),
                cluster_id: lock.cluster_id.clone(),
            })
            .collect(),
    }
}

/// The memory of a group whose claim is gone, as far as its status remembers: stricter than none.
pub(super) fn from_status(status: &GroupStatus) -> Memory {
    Memory {
        owner: None,
        cluster_id: status.cluster_id.clone(),
        recorded: status.recorded_partitions,
        topics: status
            .topics
            .iter()
            .filter(|topic| topic.topic_id.is_some())
            .map(|topic| {
                let memory = TopicMemory {
                    managed: topic.management != Some(Management::Referenced),
                    id: topic.topic_id.clone(),
                    count: status.recorded_partitions.or(topic.partitions),
                    created: false,
                    holds_records: false,
                };
                (topic.name.clone(), memory)
            })
            .collect(),
        ..Memory::default()
    }
}

/// The claim that says what `memory` says. Times and fields that the memory does not know are kept from `base`.
pub(super) fn to_claim(
    subject: &Subject,
    memory: &Memory,
    base: Option<&ClaimSpec>,
    now: Timestamp,
) -> ClaimSpec {
    let since: BTreeMap<&str, &MicroTime> = base
        .filter(|base| base.cluster_id == memory.cluster_id)
        .map(|base| {
            base.holds
                .iter()
                .chain(&base.references)
                .map(|topic| (topic.name.as_str(), &topic.since))
                .collect()
        })
        .unwrap_or_default();
    let topics = |managed: bool| {
        let claimed = memory
            .topics
            .iter()
            .filter(move |(_, topic)| topic.managed == managed);
        claimed
            .map(|(name, topic)| ClaimedTopic {
                name: name.clone(),
                topic_id: topic.id.clone(),
                counts: counts(memory, name, topic),
                created: topic.created,
                holds_records: topic.holds_records,
                guarded: false,
                since: since
                    .get(name.as_str())
                    .map_or_else(|| MicroTime(micros(now)), |since| (*since).clone()),
            })
            .collect()
    };
    let owner = memory.owner.clone();
    ClaimSpec {
        installation: owner
            .as_ref()
            .map(|owner| owner.installation.clone())
            .unwrap_or_default(),
        kube_system_uid: owner.map(|owner| owner.kube_system_uid).unwrap_or_default(),
        group: GroupRef {
            namespace: subject.namespace.clone(),
            name: subject.name.clone(),
            uid: subject.uid.clone(),
        },
        cluster_id: memory.cluster_id.clone(),
        aliases: base.map(|base| base.aliases.clone()).unwrap_or_default(),
        recorded_partitions: memory.recorded,
        holds: topics(true),
        references: topics(false),
        intents: memory
            .intents
            .iter()
            .map(|intent| GrowthIntent {
                topic: intent.topic.clone(),
                topic_id: intent.id.clone(),
                from: intent.from,
                to: intent.to,
                consented: intent.consented,
            })
            .collect(),
        spent_consents: spent(memory),
        spent_data_loss: memory
            .spent_data_loss
            .iter()
            .map(|(topic, key)| SpentDataLoss {
                topic: topic.clone(),
                key: key.clone(),
            })
            .collect(),
        growth_marks: base
            .map(|base| base.growth_marks.clone())
            .unwrap_or_default(),
        locks: locks(memory, base),
    }
}

/// The locks, each with the connection by which it was set, as far as that was known before.
fn locks(memory: &Memory, base: Option<&ClaimSpec>) -> Vec<AclLock> {
    let known = |lock: &Lock| {
        let mut before = base.into_iter().flat_map(|base| &base.locks);
        let same = |it: &&AclLock| it.topic == lock.topic && it.cluster_id == lock.cluster_id;
        before.find(same)?.connection.clone()
    };
    let locks = memory.locks.iter();
    locks
        .map(|lock| AclLock {
            topic: lock.topic.clone(),
            cluster_id: lock.cluster_id.clone(),
            connection: known(lock),
        })
        .collect()
}

/// The accepted count, and while the topic grows also the one to come.
fn counts(memory: &Memory, name: &str, topic: &TopicMemory) -> Vec<i32> {
    let growing = memory
        .intents
        .iter()
        .find(|intent| intent.topic == name && Some(&intent.id) == topic.id.as_ref());
    topic
        .count
        .into_iter()
        .chain(growing.map(|intent| intent.to))
        .collect()
}

/// All spent consents; beyond the schema's bound those of topics that left the group go first.
fn spent(memory: &Memory) -> Vec<SpentConsent> {
    let (present, gone): (Vec<&Spent>, Vec<&Spent>) = memory
        .spent
        .iter()
        .partition(|spent| memory.topics.contains_key(&spent.topic));
    let mut kept: Vec<SpentConsent> = present
        .into_iter()
        .chain(gone)
        .take(MOST_SPENT)
        .map(|spent| SpentConsent {
            topic: spent.topic.clone(),
            from: spent.from,
            to: spent.to,
            topic_id: spent.id.clone(),
        })
        .collect();
    kept.sort();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{GrowthMark, TopicStatus};

    fn subject() -> Subject {
        Subject {
            namespace: "trading".to_owned(),
            name: "market.data".to_owned(),
            uid: "u1".to_owned(),
            generation: Some(1),
            resource_version: None,
        }
    }

    fn memory() -> Memory {
        let topic = |managed, count| TopicMemory {
            managed,
            id: Some("id".to_owned()),
            count: Some(count),
            created: managed,
            holds_records: managed,
        };
        Memory {
            owner: Some(Owner {
                installation: "default".to_owned(),
                kube_system_uid: "k".to_owned(),
            }),
            cluster_id: Some("c".to_owned()),
            recorded: Some(6),
            topics: BTreeMap::from([
                ("a".to_owned(), topic(true, 6)),
                ("b".to_owned(), topic(false, 8)),
            ]),
            intents: vec![Intent {
                topic: "a".to_owned(),
                id: "id".to_owned(),
                from: 6,
                to: 8,
                consented: true,
            }],
            spent: BTreeSet::from([Spent {
                topic: "a".to_owned(),
                from: 3,
                to: 6,
                id: "id".to_owned(),
            }]),
            spent_data_loss: BTreeSet::from([("a".to_owned(), "retention.ms".to_owned())]),
            locks: BTreeSet::from([Lock {
                topic: "a".to_owned(),
                cluster_id: "c".to_owned(),
            }]),
        }
    }

    #[test]
    fn a_claim_gives_back_the_memory_that_it_was_made_from() {
        let claim = to_claim(&subject(), &memory(), None, Timestamp::UNIX_EPOCH);
        assert_eq!(from_claim(&claim), memory());
        assert_eq!(claim.holds[0].counts, [6, 8], "both counts while it grows");
    }

    #[test]
    fn a_claim_keeps_the_times_and_what_the_memory_does_not_know() {
        let mut first = to_claim(&subject(), &memory(), None, Timestamp::UNIX_EPOCH);
        first.locks[0].connection = Some("prod".to_owned());
        first.growth_marks = vec![GrowthMark {
            topic: "a".to_owned(),
            topic_id: "id".to_owned(),
            from: 6,
            to: 8,
            grown_at: MicroTime(Timestamp::UNIX_EPOCH),
            before: "1,2".to_owned(),
            after: None,
        }];
        let later = Timestamp::from_second(1_000).unwrap();
        assert_eq!(to_claim(&subject(), &memory(), Some(&first), later), first);

        let mut moved = memory();
        moved.cluster_id = Some("another".to_owned());
        let second = to_claim(&subject(), &moved, Some(&first), later);
        assert_eq!(
            second.holds[0].since.0, later,
            "held on the new cluster from now on"
        );
    }

    #[test]
    fn too_many_spent_consents_lose_those_of_topics_that_left() {
        let mut memory = memory();
        for from in 1..=1_500 {
            memory.spent.insert(Spent {
                topic: "gone".to_owned(),
                from,
                to: from + 1,
                id: "id".to_owned(),
            });
        }
        let claim = to_claim(&subject(), &memory, None, Timestamp::UNIX_EPOCH);
        assert_eq!(claim.spent_consents.len(), 1_000);
        assert!(claim.spent_consents.iter().any(|spent| spent.topic == "a"));
    }

    #[test]
    fn without_a_claim_the_status_remembers_counts_and_ids() {
        let status = GroupStatus {
            cluster_id: Some("c".to_owned()),
            recorded_partitions: Some(6),
            topics: vec![TopicStatus {
                name: "a".to_owned(),
                topic_id: Some("id".to_owned()),
                partitions: Some(8),
                verdict: "Drifted".to_owned(),
                ..TopicStatus::default()
            }],
            ..GroupStatus::default()
        };
        let memory = from_status(&status);
        assert_eq!(memory.owner, None);
        // The count that was accepted, not the one that drifted.
        assert_eq!(memory.topics["a"].count, Some(6));
        assert!(
            !memory.topics["a"].created,
            "so that a config is applied with care"
        );
    }

    #[test]
    fn a_claim_is_named_after_its_group() {
        assert_eq!(subject().claim_name(), "trading.market.data");
        assert_eq!(subject().key(), "trading/market.data");
    }
}
