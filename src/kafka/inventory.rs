//! What there is around the topics of a group: for a look at the whole cluster that somebody asks for, never for the
//! operator's own passes, which ask for named topics only.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use futures::stream::{self, StreamExt};

use super::client::Client;
use super::error::Error;
use super::ffi::{self, Limits};
use super::metrics::Api;

/// The most consumer groups whose offsets are asked for: each is one request to its coordinator.
pub const MOST_GROUPS: usize = 1_000;
/// How many of these requests wait at the same time.
const AT_ONCE: usize = 8;

/// Which consumer groups have committed offsets on which topics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readers {
    /// The ids of the groups, by topic.
    pub by_topic: BTreeMap<String, BTreeSet<String>>,
    /// What could not be read, one sentence each; empty if all was.
    pub unread: Vec<String>,
}

impl Client {
    /// All topics that the principal may describe, with their partition counts. A topic that it may not describe is
    /// absent, so absence proves nothing.
    ///
    /// # Errors
    /// [`Error`] if no broker answers.
    pub async fn all_topics(&self) -> Result<BTreeMap<String, i32>, Error> {
        self.connection()
            .ask_any(Api::Metadata, ffi::all_topics)
            .await
    }

    /// Which groups have committed offsets on these topics, of all groups that the principal may describe and of `named`
    /// ones. At most [`MOST_GROUPS`] are asked, the named ones first, and none after `deadline`.
    pub async fn readers(
        &self,
        topics: &BTreeSet<String>,
        named: &BTreeSet<String>,
        deadline: Instant,
    ) -> Readers {
        let mut readers = Readers::default();
        let mut ids: Vec<String> = named.iter().cloned().collect();
        match self
            .connection()
            .ask_any(Api::ListGroups, ffi::group_ids)
            .await
        {
            Ok((all, complete)) => {
                let others: BTreeSet<String> =
                    all.into_iter().filter(|id| !named.contains(id)).collect();
                ids.extend(others);
                if !complete {
                    readers.unread.push(
                        "not every broker listed its consumer groups, so some may be missing here"
                            .to_owned(),
                    );
                }
            }
            Err(error) => readers
                .unread
                .push(format!("the consumer groups could not be listed: {error}")),
        }
        if ids.len() > MOST_GROUPS {
            readers.unread.push(format!(
                "there are {} consumer groups, and {MOST_GROUPS} were looked at",
                ids.len()
            ));
            ids.truncate(MOST_GROUPS);
        }
        let mut answers = stream::iter(ids)
            .map(|id| async move {
                let found = self.committed(&id, deadline).await;
                (id, found)
            })
            .buffer_unordered(AT_ONCE);
        let mut failed: BTreeMap<String, String> = BTreeMap::new();
        while let Some((id, found)) = answers.next().await {
            match found {
                Ok(found) => {
                    for topic in found.intersection(topics) {
                        let groups = readers.by_topic.entry(topic.clone()).or_default();
                        groups.insert(id.clone());
                    }
                }
                Err(error) => {
                    failed.insert(id, error.to_string());
                }
            }
        }
        if let Some((id, why)) = failed.iter().next() {
            readers.unread.push(format!(
                "the offsets of {} consumer groups could not be read, of {id} for one: {why}",
                failed.len()
            ));
        }
        readers
    }

    /// The topics on which a group has committed offsets.
    async fn committed(&self, group: &str, deadline: Instant) -> Result<BTreeSet<String>, Error> {
        let left = deadline.saturating_duration_since(Instant::now());
        let limits = Limits {
            timeout: left.min(self.connection().timeout()),
            broker: None,
        };
        let id = group.to_owned();
        let request = move |handle: ffi::Handle<'_>, limits| ffi::committed(handle, limits, &id);
        let found = self
            .connection()
            .ask(Api::OffsetFetch, limits, request)
            .await?;
        Ok(found.into_iter().map(|(topic, ..)| topic).collect())
    }
}
