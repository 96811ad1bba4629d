//! Kubernetes Events: on change only.

use kube::Resource;
use kube::runtime::events::{Event, EventType};

use super::context::Context;
use super::gate::GateError;
use super::memory::Subject;
use super::reconcile::WatchedGroup;
use super::status::find;
use crate::api::GroupStatus;
use crate::plan::{ConditionType, Reason, Verdict};

/// The longest note; the API bounds it at 1 kB.
const LONGEST_NOTE: usize = 1000;

/// As many topics are named in one line of the log.
const MOST_LOGGED: usize = 10;

/// The conditions whose changes are worth an Event.
const TOLD: [ConditionType; 8] = [
    ConditionType::Accepted,
    ConditionType::KafkaReachable,
    ConditionType::PartitionsAligned,
    ConditionType::KeySchemesAligned,
    ConditionType::TopicConfigsApplied,
    ConditionType::KeysVerified,
    ConditionType::ConsumersColocated,
    ConditionType::Locked,
];

/// Publishes an Event for each condition that became False (or False for another reason), for each that recovered, and
/// for a proof from records.
pub(super) async fn changes(
    context: &Context,
    object: &WatchedGroup,
    old: &GroupStatus,
    new: &GroupStatus,
) {
    for kind in TOLD {
        let Some(now) = find(new, kind) else { continue };
        // What nobody asks for any more is no news.
        if now.reason == Reason::Off.as_str() {
            continue;
        }
        let before = find(old, kind);
        let type_ = match (
            before.map(|before| (before.status.as_str(), before.reason.as_str())),
            now.status.as_str(),
        ) {
            (Some(("False", reason)), "False") if reason == now.reason => continue,
            (_, "False") => EventType::Warning,
            (Some(("False", _)), "True") => EventType::Normal,
            // Between False and True the proof may have been open for hours. Consumers are open with each of their restarts,
            // which is no news.
            (Some(("Unknown", _)), "True") if kind == ConditionType::KeysVerified => {
                EventType::Normal
            }
            _ => continue,
        };
        // Without the message, which may show keys to who may read the group.
        let group = Subject::of(object.meta()).key();
        let topics = concerned(new, kind);
        tracing::info!(cluster = new.cluster_id, group, condition = %kind, status = now.status, reason = now.reason, topics, "a verdict changed");
        publish(
            context,
            object,
            type_,
            &now.reason,
            kind.as_str(),
            &now.message,
        )
        .await;
    }
}

/// The topics that keep a condition from being True, as far as the status tells them apart.
fn concerned(status: &GroupStatus, kind: ConditionType) -> Option<String> {
    let names: Vec<&str> = match kind {
        ConditionType::PartitionsAligned => {
            let aligned = Verdict::Aligned.as_str();
            let others = status.topics.iter().filter(|of| of.verdict != aligned);
            others.map(|of| of.name.as_str()).collect()
        }
        ConditionType::KeysVerified => {
            let read = status.verification.iter().flat_map(|read| &read.topics);
            let fits = Reason::KeysFit.as_str();
            read.filter(|of| of.reason != fits)
                .map(|of| of.name.as_str())
                .collect()
        }
        _ => Vec::new(),
    };
    let text = names[..names.len().min(MOST_LOGGED)].join(",");
    match names.len().saturating_sub(MOST_LOGGED) {
        0 if text.is_empty() => None,
        0 => Some(text),
        more => Some(format!("{text} and {more} more")),
    }
}

/// Publishes that a topic has another id than last time, and that this is accepted: it is Referenced, or was acknowledged.
pub(super) async fn topic_replaced(
    context: &Context,
    object: &WatchedGroup,
    topic: &str,
    was: &str,
    is: &str,
) {
    let note = format!(
        "{topic} was deleted and created again: id {was} before, {is} now; from here on it is judged as the new one"
    );
    publish(
        context,
        object,
        EventType::Normal,
        "TopicReplaced",
        "PartitionsAligned",
        &note,
    )
    .await;
}

/// Publishes that the ALTER locks of topics were missing, and that they were put back.
pub(super) async fn locked_again(context: &Context, object: &WatchedGroup, topics: &[String]) {
    let note = format!(
        "{}: the ALTER lock was not there any more, and was put back; somebody removed it, or the operator was interrupted in a growth",
        topics.join(", ")
    );
    let (type_, reason) = (EventType::Warning, "LockRestored");
    publish(context, object, type_, reason, "Locked", &note).await;
}

/// Publishes that another installation manages the group.
pub(super) async fn managed_by_other(context: &Context, object: &WatchedGroup, message: &str) {
    let type_ = EventType::Warning;
    publish(
        context,
        object,
        type_,
        "ManagedByOther",
        "Accepted",
        message,
    )
    .await;
}

async fn publish(
    context: &Context,
    object: &WatchedGroup,
    type_: EventType,
    reason: &str,
    action: &str,
    note: &str,
) {
    let event = Event {
        type_,
        reason: reason.to_owned(),
        note: Some(note.chars().take(LONGEST_NOTE).collect()),
        action: action.to_owned(),
        secondary: None,
    };
    // An Event is a courtesy: the status says the same, so a failure is logged and not repeated.
    let reference = object.object_ref(&());
    let publish = context.recorder.publish(&event, &reference);
    match context.gate.write(publish).await {
        // Who leads now publishes it.
        Ok(()) | Err(GateError::NotLeading) => {}
        Err(error) => tracing::warn!(reason, %error, "an Event could not be published"),
    }
}
