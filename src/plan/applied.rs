//! `TopicConfigsApplied`: what is said of the declared topic config.

use super::checks::{Context, Finding, TRIED_AGAIN};
use super::conditions::{Reason, State};
use super::config::ConfigDiff;
use super::decision::TopicDecision;
use super::report::Failure;

pub(super) fn topic_configs_applied(context: Context<'_>) -> Finding {
    let declared = || {
        context
            .decision
            .topics
            .iter()
            .filter(|judged| !judged.topic.config.is_empty())
    };
    let failures: Vec<(&TopicDecision, &Failure)> = declared()
        .filter_map(|judged| {
            context
                .outcomes
                .configs
                .get(&judged.topic.name)
                .map(|failure| (judged, failure))
        })
        .collect();
    for (judged, failure) in &failures {
        let (reason, words) = match failure {
            Failure::Rejected(words) => (Reason::Rejected, words),
            Failure::NotAuthorized(words) => (Reason::NotAuthorized, words),
            Failure::Unsure(_) => continue,
        };
        let wanted = judged.config.as_ref().map(pairs).unwrap_or_default();
        return Finding {
            state: State::False,
            reason,
            message: format!(
                "{}: wanted {wanted}, Kafka refused: {words}. Correct the value or the permission{TRIED_AGAIN}",
                judged.topic.name
            ),
        };
    }
    let held_back: Vec<String> = declared().filter_map(held_back).collect();
    if !held_back.is_empty() {
        return Finding {
            state: State::False,
            reason: Reason::WouldDropData,
            message: held_back.join("; "),
        };
    }
    let differing: Vec<String> = declared()
        .filter_map(|judged| {
            let diff = judged.config.as_ref().filter(|diff| !diff.is_empty())?;
            Some(format!("{}: wanted {}", judged.topic.name, pairs(diff)))
        })
        .collect();
    if !differing.is_empty() {
        let written = !context.decision.actions.configs.is_empty();
        let (state, reason, why) = if written {
            (State::Unknown, Reason::Pending, "being set")
        } else {
            (
                State::False,
                Reason::Observed,
                "it differs and is not the operator's to set now",
            )
        };
        return Finding {
            state,
            reason,
            message: format!("{}; {why}", differing.join("; ")),
        };
    }
    if let Some(judged) = declared().find(|judged| judged.config.is_none()) {
        return Finding {
            state: State::Unknown,
            reason: Reason::Pending,
            message: format!("{}: its config is not known yet", judged.topic.name),
        };
    }
    let message = if declared().next().is_some() {
        "the declared config holds"
    } else {
        "no config is declared"
    };
    Finding {
        state: State::True,
        reason: Reason::Applied,
        message: message.to_owned(),
    }
}

fn held_back(judged: &TopicDecision) -> Option<String> {
    // Of a topic that is not the operator's to write, nothing would be dropped: its config just differs.
    let diff = judged
        .config
        .as_ref()
        .filter(|diff| judged.topic.managed && !diff.held_back.is_empty())?;
    let changes: Vec<String> = diff
        .held_back
        .iter()
        .map(|(key, seen, wanted)| format!("{key}: wanted {wanted}, seen {seen}"))
        .collect();
    let keys: Vec<&str> = diff
        .held_back
        .iter()
        .map(|(key, ..)| key.as_str())
        .collect();
    Some(format!(
        "{}: {}; this would drop records of a topic that the operator did not create. To accept that, set spec.acceptDataLoss: {{topic: {}, keys: [{}]}} \
         (take an older one out first: each counts once)",
        judged.topic.name,
        changes.join(", "),
        judged.topic.name,
        keys.join(", ")
    ))
}

/// Everything that differs, as declared.
fn pairs(diff: &ConfigDiff) -> String {
    let held_back = diff.held_back.iter().map(|(key, _, wanted)| (key, wanted));
    diff.set
        .iter()
        .chain(held_back)
        .map(|(key, value)| format!("{key}={value}"))
        .collect::<Vec<_>>()
        .join(", ")
}
