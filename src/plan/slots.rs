//! `SlotsAligned`: whether the Redis keys of one logical key share a slot.

use super::checks::Finding;
use super::conditions::{Reason, State};
use super::group::Group;
use crate::layout::{InSlot, SlotsVerdict, judge_slots};

/// The verdict on the key templates.
pub(super) fn slots_aligned(group: &Group) -> Finding {
    let templates = &group.redis_templates;
    if templates.is_empty() {
        return Finding {
            state: State::Unknown,
            reason: Reason::Off,
            message: "not asked for".to_owned(),
        };
    }
    let (state, reason, message) = match judge_slots(templates, &group.sample_keys) {
        SlotsVerdict::Same => (
            State::True,
            Reason::SameSlot,
            format!(
                "the Redis keys of all {} templates share the slot of their logical key, but for empty keys and keys with braces",
                templates.len()
            ),
        ),
        SlotsVerdict::OneForAll { tag } => (
            State::True,
            Reason::SameSlot,
            format!(
                "all Redis keys of all templates lie in one slot, since the tag {{{tag}}} does not hold the logical key: one Redis node \
                 carries them all. Write {{%s}} for a slot by key"
            ),
        ),
        SlotsVerdict::Untagged { template } => (
            State::False,
            Reason::UntaggedTemplate,
            format!(
                "{template} has no hash tag, so Redis hashes the whole key and puts it into another slot than the other templates do. Put braces \
                 around what they share: {{%s}}"
            ),
        ),
        SlotsVerdict::Mismatch { a, b } => (
            State::False,
            Reason::TagMismatch,
            format!(
                "{a} and {b} have different hash tags, so one logical key lies in two slots. Put the same text between the first braces of both"
            ),
        ),
        SlotsVerdict::KeyBreaks { key, a, b } => (
            State::False,
            Reason::TagMismatch,
            format!(
                "the sample key {key:?} lies in two slots, {} and {}: an empty key or a brace in the key changes what Redis takes for the hash \
                 tag. Use keys without braces",
                InSlot(&a),
                InSlot(&b)
            ),
        ),
    };
    Finding {
        state,
        reason,
        message,
    }
}
