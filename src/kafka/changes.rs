//! Which groups' part of a snapshot changed since somebody last asked.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// A set of groups to look at. Bounded by the number of groups, and a slow reader loses nothing: however
/// often a group changes meanwhile, it is in the set once.
#[derive(Debug, Default)]
pub(super) struct Changes {
    groups: Mutex<BTreeSet<String>>,
    notify: Notify,
}

impl Changes {
    pub(super) fn announce(&self, changed: impl IntoIterator<Item = String>) {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        groups.extend(changed);
        if !groups.is_empty() {
            self.notify.notify_one();
        }
    }

    pub(super) fn forget(&self, group: &str) {
        self.groups
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(group);
    }

    /// Waits until there is a group, and takes all there are. A call that is dropped takes nothing.
    pub(super) async fn next(&self) -> Vec<String> {
        loop {
            let taken =
                std::mem::take(&mut *self.groups.lock().unwrap_or_else(PoisonError::into_inner));
            if !taken.is_empty() {
                return taken.into_iter().collect();
            }
            self.notify.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn each_group_comes_once_however_often_it_changed() {
        let changes = Changes::default();
        changes.announce(["b".to_owned(), "a".to_owned()]);
        changes.announce(["a".to_owned()]);
        changes.announce([]);
        assert_eq!(changes.next().await, ["a", "b"]);
        let quiet = tokio::time::timeout(Duration::from_millis(20), changes.next()).await;
        assert!(quiet.is_err(), "{quiet:?}");
        changes.announce(["c".to_owned(), "d".to_owned()]);
        changes.forget("d");
        assert_eq!(changes.next().await, ["c"]);
    }
}
