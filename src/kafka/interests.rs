//! Which group wants to know which topics, found both ways.

use std::collections::{BTreeMap, BTreeSet};

/// What a group wants to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interest {
    /// The group's topics.
    pub topics: BTreeSet<String>,
    /// Those of them whose config it wants to know.
    pub configs: BTreeSet<String>,
    /// Those of them whose ALTER lock it wants to know.
    pub locks: BTreeSet<String>,
}

/// The interests of all groups on one cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct Interests {
    groups: BTreeMap<String, Interest>,
    /// The groups that name a topic.
    topics: BTreeMap<String, BTreeSet<String>>,
    /// The topics whose config at least one of them wants to know. With each poll it is asked for each topic.
    configs: BTreeSet<String>,
}

impl Interests {
    /// Sets or replaces a group's interest. Returns the topics that nobody names any more; `None` if nothing
    /// changed.
    pub(super) fn set(&mut self, group: &str, interest: Interest) -> Option<Vec<String>> {
        if self.groups.get(group) == Some(&interest) {
            return None;
        }
        for topic in &interest.topics {
            self.topics
                .entry(topic.clone())
                .or_default()
                .insert(group.to_owned());
        }
        let new = interest.topics.clone();
        self.configs.extend(interest.configs.iter().cloned());
        let old = self
            .groups
            .insert(group.to_owned(), interest)
            .unwrap_or_default();
        let orphans = self.release(group, old.topics.difference(&new));
        self.release_configs(&old);
        Some(orphans)
    }

    /// Drops a group's interest. Returns the topics that nobody names any more.
    pub(super) fn remove(&mut self, group: &str) -> Vec<String> {
        let old = self.groups.remove(group).unwrap_or_default();
        let orphans = self.release(group, old.topics.iter());
        self.release_configs(&old);
        orphans
    }

    /// Drops the configs that only an interest that ended wanted.
    fn release_configs(&mut self, old: &Interest) {
        for topic in &old.configs {
            let groups = self.topics.get(topic).into_iter().flatten();
            let wanted = groups
                .filter_map(|group| self.groups.get(group))
                .any(|interest| interest.configs.contains(topic));
            if !wanted {
                self.configs.remove(topic);
            }
        }
    }

    fn release<'a>(
        &mut self,
        group: &str,
        topics: impl Iterator<Item = &'a String>,
    ) -> Vec<String> {
        let mut orphans = Vec::new();
        for topic in topics {
            if let Some(groups) = self.topics.get_mut(topic) {
                groups.remove(group);
                if groups.is_empty() {
                    self.topics.remove(topic);
                    orphans.push(topic.clone());
                }
            }
        }
        orphans
    }

    /// Whether a group wants to know anything.
    pub(super) fn has(&self, group: &str) -> bool {
        self.groups.contains_key(group)
    }

    pub(super) fn get(&self, group: &str) -> Option<&Interest> {
        self.groups.get(group)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// How many groups there are.
    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// All groups.
    pub(super) fn groups(&self) -> BTreeSet<String> {
        self.groups.keys().cloned().collect()
    }

    /// The groups that name one of the topics.
    pub(super) fn groups_of<'a>(
        &self,
        topics: impl IntoIterator<Item = &'a String>,
    ) -> BTreeSet<String> {
        topics
            .into_iter()
            .filter_map(|topic| self.topics.get(topic))
            .flatten()
            .cloned()
            .collect()
    }

    /// Whether a group names the topic.
    pub(super) fn names(&self, topic: &str) -> bool {
        self.topics.contains_key(topic)
    }

    /// All topics whose lock a group wants to know.
    pub(super) fn locks(&self) -> BTreeSet<String> {
        let groups = self.groups.values();
        groups
            .flat_map(|interest| interest.locks.iter().cloned())
            .collect()
    }

    /// All topics that a group names.
    pub(super) fn topics(&self) -> impl Iterator<Item = &String> {
        self.topics.keys()
    }

    /// Whether a group that names the topic wants to know its config.
    pub(super) fn wants_config(&self, topic: &str) -> bool {
        self.configs.contains(topic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn interest(topics: &[&str], configs: &[&str]) -> Interest {
        Interest {
            topics: names(topics),
            configs: names(configs),
            locks: BTreeSet::new(),
        }
    }

    #[test]
    fn topics_live_as_long_as_a_group_names_them() {
        let mut interests = Interests::default();
        assert_eq!(interests.set("g", interest(&["a", "b"], &[])), Some(vec![]));
        assert_eq!(
            interests.set("h", interest(&["b", "c"], &["c"])),
            Some(vec![])
        );
        assert_eq!(interests.set("g", interest(&["a", "b"], &[])), None);
        assert_eq!(interests.groups_of(&names(&["b", "x"])), names(&["g", "h"]));
        assert!(interests.wants_config("c") && !interests.wants_config("b"));
        assert_eq!(
            interests.set("g", interest(&["b"], &[])),
            Some(vec!["a".to_owned()])
        );
        assert_eq!(interests.remove("h"), ["c"]);
        assert!(!interests.wants_config("c"));
        assert!(interests.names("b") && !interests.names("c"));
        assert_eq!(interests.remove("h"), Vec::<String>::new());
        assert_eq!(interests.remove("g"), ["b"]);
        assert!(interests.is_empty() && interests.topics().next().is_none());
    }
}
