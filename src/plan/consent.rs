//! Consents: when one covers a growth, and when it is spent.

use super::group::Group;
use super::memory::{Memory, Spent};
use super::observed::TopicState;

/// How a consent relates to the growth of one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// The consent names the topic with exactly its live and wanted count.
    Covered,
    /// No consent names it so.
    Absent,
    /// The consent names it, but was used before; it counts again only with the live topic id.
    Spent,
    /// The consent lists topic ids, and the live one is not among them.
    OtherId,
}

/// Whether the spec's consent covers growing `topic` from its live count to `to`.
pub(super) fn coverage(
    group: &Group,
    memory: &Memory,
    topic: &str,
    live: &TopicState,
    to: i32,
) -> Coverage {
    let Some(consent) = &group.consent else {
        return Coverage::Absent;
    };
    if !consent.topics.contains(topic) || consent.from != live.partitions || consent.to != to {
        return Coverage::Absent;
    }
    let names_id = consent.topic_ids.contains(&live.id);
    if !consent.topic_ids.is_empty() && !names_id {
        return Coverage::OtherId;
    }
    let used = memory
        .spent
        .iter()
        .any(|spent| spent.topic == topic && spent.from == live.partitions && spent.to == to);
    // Used, or perhaps used, for a topic of this name: again only by the live id. For a topic that was grown by it, that
    // allows nothing more, since its count never comes back.
    if used && !names_id {
        Coverage::Spent
    } else {
        Coverage::Covered
    }
}

/// Marks the consent as spent for each named topic that stands at `toPartitions`: by our growth, by somebody
/// else's, or because it was so when it was adopted; in Observe and as Referenced too, since both may change. What is
/// left in Git then authorises nothing later.
pub(super) fn spend(group: &Group, memory: &mut Memory, topic: &str, live: &TopicState) {
    let Some(consent) = &group.consent else {
        return;
    };
    if consent.topics.contains(topic) && live.partitions == consent.to && consent.from < consent.to
    {
        memory.spent.insert(Spent {
            topic: topic.to_owned(),
            from: consent.from,
            to: consent.to,
            id: live.id.clone(),
        });
    }
}
