//! What somebody may commit to go on, and what it would move: the parts that messages share.

use std::collections::BTreeSet;
use std::fmt;

use super::checks::Context;
use super::decision::{Decision, Standing, TopicDecision};
use super::group::Group;
use super::observed::TopicId;
use crate::keys::PartitionCount;
use crate::layout;

/// How many moved sample keys a message lists.
const SHOWN: usize = 10;

/// The Managed topics that have this count now.
fn managed_at(decision: &Decision, count: i32) -> impl Iterator<Item = &TopicDecision> {
    decision.topics.iter().filter(move |judged| {
        judged.topic.managed && judged.live().is_some_and(|live| live.partitions == count)
    })
}

/// A consent as it is to be written into a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The topics, in the order of the spec.
    pub topics: Vec<String>,
    /// Their live count.
    pub from: i32,
    /// The wanted count.
    pub to: i32,
    /// Their live ids, in the same order, if these numbers were used up before; else none.
    pub topic_ids: Vec<TopicId>,
}

/// `acceptKeyMovement: {topics: [a, b], fromPartitions: 6, toPartitions: 8}`.
impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "acceptKeyMovement: {{topics: [{}], fromPartitions: {}, toPartitions: {}",
            self.topics.join(", "),
            self.from,
            self.to
        )?;
        if !self.topic_ids.is_empty() {
            write!(f, ", topicIds: [{}]", self.topic_ids.join(", "))?;
        }
        f.write_str("}")
    }
}

/// The consents without which some Managed topics do not grow: one for each live count, lowest first. A spec holds one at a
/// time.
pub fn proposals(decision: &Decision) -> Vec<Proposal> {
    let Some(to) = decision.target else {
        return Vec::new();
    };
    let uncovered = decision.topics.iter().filter_map(|judged| {
        let blocked = matches!(judged.standing, Standing::Below { covered: false, .. });
        (judged.topic.managed && blocked).then(|| judged.live().map(|live| live.partitions))?
    });
    let counts: BTreeSet<i32> = uncovered.collect();
    counts
        .into_iter()
        .map(|from| proposal(decision, from, to))
        .collect()
}

/// The consent that lets all Managed topics of one live count grow. Where one of them used these numbers up before, it
/// has to carry the live ids, and then of all of them: a consent with ids speaks of no other topic.
fn proposal(decision: &Decision, from: i32, to: i32) -> Proposal {
    let names: Vec<String> = managed_at(decision, from)
        .map(|judged| judged.topic.name.clone())
        .collect();
    let used = decision
        .memory
        .spent
        .iter()
        .any(|spent| spent.from == from && spent.to == to && names.contains(&spent.topic));
    let ids = managed_at(decision, from)
        .filter(|_| used)
        .filter_map(|judged| judged.live().map(|live| live.id.clone()));
    Proposal {
        topic_ids: ids.collect(),
        topics: names,
        from,
        to,
    }
}

pub(super) fn consent_text(decision: &Decision, from: i32, to: i32) -> String {
    proposal(decision, from, to).to_string()
}

/// What a growth moves: the exact share of the key space, and the sample keys one by one.
pub fn movement(group: &Group, from: i32, to: i32) -> String {
    let (Some(from_count), Some(to_count)) = (PartitionCount::new(from), PartitionCount::new(to))
    else {
        return String::new();
    };
    let schemes = || {
        group
            .topics
            .iter()
            .filter_map(|topic| topic.scheme.as_ref())
    };
    // The share holds for what takes a hash modulo the count, and that is what an undeclared scheme most likely does.
    if schemes().any(|scheme| scheme.partitioner.formula().is_none()) {
        return format!("{from} -> {to} moves what a custom partitioner decides");
    }
    let share = format!(
        "{from} -> {to} moves {} of the key space",
        layout::moved_share(from_count, to_count)
    );
    let scheme = schemes().find(|scheme| scheme.is_computed());
    let Some(scheme) = scheme.filter(|_| !group.sample_keys.is_empty()) else {
        return share;
    };
    // A key that the encoding cannot represent is refused with the spec, so there is nothing to report of it here.
    let Ok(moves) = layout::moves(scheme, &group.sample_keys, from_count, to_count) else {
        return share;
    };
    let shown: Vec<String> = moves.iter().take(SHOWN).map(ToString::to_string).collect();
    let list = if shown.is_empty() {
        String::new()
    } else {
        format!(": {}", shown.join(", "))
    };
    let rest = if moves.len() > SHOWN {
        format!(" and {} more", moves.len() - SHOWN)
    } else {
        String::new()
    };
    format!(
        "{share}, {} of {} sample keys{list}{rest}",
        moves.len(),
        group.sample_keys.len()
    )
}

/// The consent for one live count, and what it moves.
pub(super) fn consent_and_movement(context: Context<'_>, from: i32, to: i32) -> String {
    format!(
        "{} ({})",
        consent_text(context.decision, from, to),
        movement(context.group, from, to)
    )
}
