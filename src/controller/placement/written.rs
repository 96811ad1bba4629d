//! What a pass has to do with consumer groups: it says which are to be read, and takes what was found.

use super::super::reconcile::Pass;
use super::super::status;
use super::super::validate::Valid;
use super::Wish;
use crate::api::GroupStatus;
use crate::placement::{Asked, Counted};
use crate::plan::{ConditionType, Decision, PlacementEvidence, Reason, countable};

impl Pass {
    /// What readings of consumer groups agree on, and which are to be read from now on.
    pub(in crate::controller) fn placement(
        &self,
        valid: &Valid,
        decision: &Decision,
    ) -> Option<PlacementEvidence> {
        let key = self.subject.key();
        let watcher = &self.context.placement;
        let asked = &valid.group.consumer_groups;
        if asked.is_empty() {
            watcher.forget(&key);
            return None;
        }
        let about = countable(decision);
        if decision.refusal.is_some() || about.is_empty() {
            watcher.suspend(&key);
            return None;
        }
        let wish = Wish {
            settings: valid.settings.clone(),
            about,
            asked: asked.clone(),
        };
        let old = self.old.as_ref();
        let written = old.and_then(|old| of_status(old, self.subject.generation, asked));
        watcher.want(&key, wish, written);
        watcher.found(&key)
    }
}

/// What a status says, if it is of this generation and says anything of consumer groups.
pub(super) fn of_status(
    status: &GroupStatus,
    generation: Option<i64>,
    asked: &[Asked],
) -> Option<PlacementEvidence> {
    let condition = status::find(status, ConditionType::ConsumersColocated)?;
    if condition.observed_generation != generation {
        return None;
    }
    let reason = Reason::ALL
        .iter()
        .find(|reason| reason.as_str() == condition.reason)
        .filter(|reason| !matches!(reason, Reason::Pending | Reason::Off | Reason::NotPermitted))?;
    let about = status.topics.iter().filter_map(|topic| {
        Some(Counted {
            name: topic.name.clone(),
            partitions: topic.partitions?,
        })
    });
    Some(PlacementEvidence {
        about: about.collect(),
        asked: asked.to_vec(),
        state: status::parse(&condition.status),
        reason: *reason,
        message: condition.message.clone(),
        gist: condition.message.clone(),
    })
}
