//! What is seen of ALTER locks: the ACLs on the topics whose lock somebody wants to know, and whether the principal feels
//! them. One look serves all groups of a cluster: two requests, and one more for each three hundred topics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::client::{Client, PerTopic, WithoutAcl};
use super::cluster::Shared;
use super::error::Error;
use super::model::{AclPattern, TopicAcl};
use super::permissions::Operation;
use crate::plan::{LockSeen, LocksFailure, LocksView};

/// How long it stands what the brokers' config tells: it changes with a restart of brokers, and rarely.
const CONFIG_AGE: Duration = Duration::from_secs(600);

/// What brokers without an authorizer answer to a request for ACLs, where the library lets it through.
const NO_AUTHORIZER: &str = "SECURITY_DISABLED";

/// What was seen so far. Bounded by the topics that groups name.
#[derive(Clone, Debug, Default)]
pub(super) struct LockBook {
    /// By topic, with the stamp of the reading: one that began earlier does not replace it.
    topics: BTreeMap<String, (u64, LockSeen)>,
    /// Why the last look told nothing.
    failure: Option<LocksFailure>,
    /// Whether brokers deny what no ACL matches, and when they were asked.
    denies: Option<(bool, Instant)>,
    /// The poll with which all were looked at last.
    looked: Option<u64>,
}

/// What one look saw.
#[derive(Debug)]
struct Look {
    topics: BTreeMap<String, LockSeen>,
    /// What the brokers' config tells, where it was asked for.
    denies: Option<bool>,
}

impl LockBook {
    /// What is known of these topics.
    pub(super) fn view(&self, topics: &BTreeSet<String>) -> LocksView {
        if let Some(failure) = &self.failure {
            return LocksView::Failed(failure.clone());
        }
        let seen: BTreeMap<String, LockSeen> = topics
            .iter()
            .filter_map(|topic| Some((topic.clone(), self.topics.get(topic)?.1)))
            .collect();
        if seen.len() < topics.len() {
            return LocksView::Unread;
        }
        LocksView::Seen {
            denies_by_default: self.denies.map(|(denies, _)| denies),
            topics: seen,
        }
    }

    /// Whether all are to be looked at with this poll, given how many lie between two looks.
    pub(super) fn is_due(&self, poll: u64, every: u32) -> bool {
        self.looked
            .is_none_or(|looked| poll >= looked + u64::from(every.max(1)))
    }

    /// Takes in a look. Returns the topics of which it changes anything; all of these if it tells why nothing is known.
    fn merge(
        &mut self,
        stamp: u64,
        asked: &BTreeSet<String>,
        look: Result<Look, LocksFailure>,
    ) -> BTreeSet<String> {
        match look {
            Ok(look) => {
                let mut changed = BTreeSet::new();
                if self.failure.take().is_some() {
                    changed.clone_from(asked);
                }
                if let Some(denies) = look.denies {
                    if self.denies.is_none_or(|(before, _)| before != denies) {
                        changed.clone_from(asked);
                    }
                    self.denies = Some((denies, Instant::now()));
                }
                for (topic, seen) in look.topics {
                    let known = self.topics.get(&topic);
                    if known.is_some_and(|(newer, _)| *newer > stamp) {
                        continue;
                    }
                    if known.is_none_or(|(_, before)| *before != seen) {
                        changed.insert(topic.clone());
                    }
                    self.topics.insert(topic, (stamp, seen));
                }
                changed
            }
            // What was seen stands while nobody answers.
            Err(LocksFailure::Other(_)) if !self.topics.is_empty() => BTreeSet::new(),
            Err(failure) => {
                let news = self.failure.as_ref() != Some(&failure);
                self.failure = Some(failure);
                if news { asked.clone() } else { BTreeSet::new() }
            }
        }
    }

    /// What the brokers' config tells, unless that is too long ago.
    fn denies(&self, now: Instant) -> Option<bool> {
        let (denies, at) = self.denies?;
        (now.saturating_duration_since(at) < CONFIG_AGE).then_some(denies)
    }
}

/// Looks at all locks that somebody wants to know, if that is due. It holds up no poll: ACLs are asked for on the side, one
/// look at a time.
pub(super) fn poll(shared: &Arc<Shared>) {
    let topics = {
        let mut state = shared.lock();
        let (polls, every) = (state.polls, shared.settings.locks_every);
        if !state.locks.is_due(polls, every) || shared.looks_at_locks.load(Ordering::Relaxed) {
            return;
        }
        let topics = state.interests.locks();
        // Of topics that nobody names any more nothing is kept.
        state.locks.topics.retain(|topic, _| topics.contains(topic));
        state.locks.looked = Some(polls);
        if topics.is_empty() {
            return;
        }
        topics
    };
    shared.looks_at_locks.store(true, Ordering::Relaxed);
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        look(&shared, &topics).await;
        shared.looks_at_locks.store(false, Ordering::Relaxed);
    });
}

/// Looks at the locks of these topics, and announces what that changes.
pub(super) async fn look(shared: &Shared, topics: &BTreeSet<String>) {
    let stamp = shared.stamp();
    let known = shared.lock().locks.denies(Instant::now());
    let found = read(&shared.link.client(), topics, known).await;
    let found = found.map_err(failure);
    let mut state = shared.lock();
    let changed = state.locks.merge(stamp, topics, found);
    let groups = state.interests.groups_of(&changed);
    drop(state);
    shared.announce(groups);
}

async fn read(
    client: &Client,
    topics: &BTreeSet<String>,
    known: Option<bool>,
) -> Result<Look, Error> {
    // Who knows that nothing is open by default needs no other ACLs, of which a cluster may have very many.
    let only_locks = known == Some(true);
    let acls = client.topic_acls(only_locks).await?;
    let names: Vec<String> = topics.iter().cloned().collect();
    let operations = client.authorized_operations(&names).await?;
    let seen = seen(topics, &acls, &operations);
    let bare = seen.values().any(|seen| !seen.other_acls);
    let denies = match known {
        None if bare => match client.without_acl().await {
            Ok(WithoutAcl::NoAuthorizer) => {
                return Err(Error::Rejected {
                    code: NO_AUTHORIZER.to_owned(),
                    message: "the config of its brokers names no authorizer.class.name.".to_owned(),
                });
            }
            Ok(denies) => Some(denies == WithoutAcl::Denied),
            // That does not change by itself, so it is not asked again with each look.
            Err(Error::NotAuthorized(_)) => Some(false),
            Err(error) => {
                tracing::debug!(%error, "the config of the brokers could not be read");
                None
            }
        },
        _ => None,
    };
    Ok(Look {
        topics: seen,
        denies,
    })
}

fn seen(
    topics: &BTreeSet<String>,
    acls: &[TopicAcl],
    operations: &PerTopic<BTreeSet<Operation>>,
) -> BTreeMap<String, LockSeen> {
    let locked: BTreeSet<&str> = acls
        .iter()
        .filter(|acl| acl.locks)
        .map(|acl| acl.name.as_str())
        .collect();
    let (literal, prefixed): (Vec<&TopicAcl>, Vec<&TopicAcl>) = acls
        .iter()
        .filter(|acl| !acl.locks)
        .partition(|acl| acl.pattern == AclPattern::Literal);
    let literal: BTreeSet<&str> = literal.iter().map(|acl| acl.name.as_str()).collect();
    let prefixes: BTreeSet<&str> = prefixed.iter().map(|acl| acl.name.as_str()).collect();
    let of = |topic: &String| {
        // Sorted, a prefix of the topic stands before it; the number of distinct prefixes is small.
        let by_prefix = || prefixes.iter().any(|prefix| topic.starts_with(prefix));
        LockSeen {
            stands: locked.contains(topic.as_str()),
            other_acls: literal.contains(topic.as_str()) || literal.contains("*") || by_prefix(),
            may_alter: match operations.get(topic) {
                Some(Ok(operations)) => Some(operations.contains(&Operation::Alter)),
                _ => None,
            },
        }
    };
    topics.iter().map(|it| (it.clone(), of(it))).collect()
}

fn failure(error: Error) -> LocksFailure {
    match error {
        Error::NotAuthorized(words) => LocksFailure::NotAuthorized(words),
        Error::Rejected { code, message } if code == NO_AUTHORIZER => {
            LocksFailure::NoAuthorizer(message)
        }
        other => LocksFailure::Other(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acl(pattern: AclPattern, name: &str, locks: bool) -> TopicAcl {
        TopicAcl {
            pattern,
            name: name.to_owned(),
            locks,
        }
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn an_acl_matches_by_name_by_prefix_or_all_topics() {
        use AclPattern::{Literal, Prefixed};
        let of = |acls: &[TopicAcl]| seen(&names(&["orders"]), acls, &PerTopic::new())["orders"];
        assert_eq!(of(&[]), LockSeen::default());
        assert_eq!(of(&[acl(Literal, "order", false)]), LockSeen::default());
        assert_eq!(of(&[acl(Prefixed, "orders-", false)]), LockSeen::default());
        for (pattern, name) in [
            (Literal, "orders"),
            (Literal, "*"),
            (Prefixed, "ord"),
            (Prefixed, "orders"),
        ] {
            let found = of(&[acl(pattern, name, false)]);
            assert!(found.other_acls && !found.stands, "{pattern:?} {name}");
        }
        // A lock alone is no other ACL.
        let found = of(&[acl(Literal, "orders", true)]);
        assert!(found.stands && !found.other_acls);
        let found = of(&[acl(Literal, "orders", true), acl(Literal, "*", false)]);
        assert!(found.stands && found.other_acls);
    }

    #[test]
    fn an_older_look_does_not_replace_a_newer_one() {
        let mut book = LockBook::default();
        let all = names(&["a"]);
        let look = |stands| {
            let seen = LockSeen {
                stands,
                ..LockSeen::default()
            };
            Ok(Look {
                topics: BTreeMap::from([("a".to_owned(), seen)]),
                denies: None,
            })
        };
        assert_eq!(book.view(&all), LocksView::Unread);
        assert_eq!(book.merge(2, &all, look(true)), all);
        assert_eq!(book.merge(1, &all, look(false)), names(&[]));
        assert_eq!(book.merge(3, &all, look(true)), names(&[]));
        let LocksView::Seen { topics, .. } = book.view(&all) else {
            panic!("it was seen");
        };
        assert!(topics["a"].stands);
        assert_eq!(book.view(&names(&["a", "b"])), LocksView::Unread);
    }

    #[test]
    fn a_lost_right_is_told_and_a_silent_broker_is_not() {
        let mut book = LockBook::default();
        let all = names(&["a"]);
        let silent = || Err(LocksFailure::Other("no answer".to_owned()));
        assert_eq!(book.merge(1, &all, silent()), all);
        let look = Look {
            topics: BTreeMap::from([("a".to_owned(), LockSeen::default())]),
            denies: Some(true),
        };
        assert_eq!(book.merge(2, &all, Ok(look)), all);
        assert_eq!(book.merge(3, &all, silent()), names(&[]));
        assert!(matches!(
            book.view(&all),
            LocksView::Seen {
                denies_by_default: Some(true),
                ..
            }
        ));
        let lost = || Err(LocksFailure::NotAuthorized("DESCRIBE".to_owned()));
        assert_eq!(book.merge(4, &all, lost()), all);
        assert_eq!(book.merge(5, &all, lost()), names(&[]), "told once");
        assert!(matches!(book.view(&all), LocksView::Failed(_)));
    }
}
