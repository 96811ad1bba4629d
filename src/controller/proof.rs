//! What a pass has to do with records: it says what is to be read, and takes what was found.

use super::marks;
use super::reconcile::Pass;
use super::validate::Valid;
use super::verification::{Asked, Found, Wish};
use crate::keys::PartitionCount;
use crate::plan::{About, Decision, readable};

impl Pass {
    /// What records say of the topics as they are, and what is to be read from now on.
    pub(super) fn proof(&self, valid: &Valid, decision: &Decision) -> Option<Found> {
        let key = self.subject.key();
        let verifier = &self.context.verifier;
        let Some(sampling) = valid.sampling else {
            verifier.forget(&key);
            return None;
        };
        let written = self.old.as_ref().and_then(Found::of_status);
        let topics = readable(decision);
        if decision.refusal.is_some() || topics.is_empty() {
            verifier.suspend(&key);
        } else {
            let wish = Wish {
                cluster_id: decision.cluster_id.clone(),
                settings: valid.settings.clone(),
                topics: self.asked(valid, topics),
                sampling,
            };
            verifier.want(&key, wish, written.as_ref());
        }
        let found = Found::to_show(written, verifier.found(&key), |evidence| {
            evidence.speaks_of(decision)
        })?;
        Some(if sampling.reveal_keys {
            found
        } else {
            found.without_keys()
        })
    }

    fn asked(&self, valid: &Valid, topics: Vec<About>) -> Vec<Asked> {
        let claim = self.claim();
        let marks = claim.as_ref().map(|claim| claim.growth_marks.as_slice());
        let asked = |about: About| {
            let mark = marks
                .unwrap_or_default()
                .iter()
                .find(|mark| mark.topic == about.topic);
            let count = PartitionCount::new(about.partitions);
            Asked {
                growth: mark.and_then(|mark| marks::growth(mark, &about.id, count?)),
                scheme: valid
                    .group
                    .topic(&about.topic)
                    .and_then(|topic| topic.scheme.clone()),
                about,
            }
        };
        topics.into_iter().map(asked).collect()
    }
}
