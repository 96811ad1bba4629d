//! Growths that are held back because they would move keys, or part them.

use super::breaks::is_compacted;
use super::checks::{Context, Finding, each, found};
use super::conditions::{Reason, State};
use super::consent::Coverage;
use super::decision::{Stage, Standing, TopicDecision};
use super::observed::{Records, TopicState};
use super::remedy::{consent_text, movement};

fn blocked(judged: &TopicDecision) -> Option<(&TopicState, &Coverage)> {
    match (&judged.stage, &judged.standing) {
        (
            Stage::Live(live),
            Standing::Below {
                covered: false,
                coverage,
            },
        ) if judged.topic.managed => Some((live, coverage)),
        _ => None,
    }
}

/// A consent says that keys may move together. It comes before the one who asks for a consent, which would be given in vain.
pub(super) fn growth_parts_keys(context: Context<'_>) -> Option<Finding> {
    let decision = context.decision;
    let (words, from, target) = (
        decision.parts_keys.as_ref()?,
        decision.agreed()?,
        decision.target?,
    );
    found(
        State::False,
        Reason::GrowthBlocked,
        &[format!(
            "wanted {target} partitions, seen {from}, where the key schemes of all topics agree, and the topics hold records; at {target} they \
             do not: {words}. The growth would part keys that meet now, so nothing grows, whatever was consented to; or want a count at \
             which the schemes agree"
        )],
    )
}

pub(super) fn growth_blocked(context: Context<'_>) -> Option<Finding> {
    let decision = context.decision;
    let target = decision.target?;
    let blocked: Vec<_> = decision
        .topics
        .iter()
        .filter_map(|judged| blocked(judged).map(|(live, coverage)| (judged, live, coverage)))
        .collect();
    let unreadable = |live: &TopicState| matches!(live.records, Records::Unreadable(_));
    if blocked.iter().all(|(_, live, _)| unreadable(live)) {
        return None;
    }
    let from = blocked
        .iter()
        .map(|(_, live, _)| live.partitions)
        .min()
        .unwrap_or_default();
    let mut parts: Vec<String> = blocked
        .iter()
        .map(|(judged, live, coverage)| part(judged, live, coverage, target))
        .collect();
    parts.push(movement(context.group, from, target));
    parts.push(format!(
        "nothing is changed without consent; to accept, set spec.{}",
        consent_text(decision, from, target)
    ));
    parts.push("kubectl copartition plan shows what else it would break".to_owned());
    found(State::False, Reason::GrowthBlocked, &parts)
}

fn part(judged: &TopicDecision, live: &TopicState, coverage: &Coverage, target: i32) -> String {
    let name = &judged.topic.name;
    let records = match &live.records {
        Records::Unreadable(words) => {
            format!("whether it holds records could not be read ({words})")
        }
        Records::None | Records::Some => "it holds records".to_owned(),
    };
    let consent = match coverage {
        Coverage::Spent => format!(
            "; the consent {} -> {target} was used before and counts again only with the live topicIds",
            live.partitions
        ),
        Coverage::OtherId => format!(
            "; the consent lists other topic ids than the live one, {}",
            live.id
        ),
        Coverage::Absent | Coverage::Covered => String::new(),
    };
    let compacted = if holds_compacted(live) {
        "; it is compacted, so old values of keys that move stay behind on their old partition for ever"
    } else {
        ""
    };
    format!(
        "{name}: wanted {target} partitions, seen {}, and {records}{consent}{compacted}",
        live.partitions
    )
}

fn holds_compacted(live: &TopicState) -> bool {
    live.config
        .as_ref()
        .and_then(|config| config.get("cleanup.policy"))
        .is_some_and(|policy| is_compacted(policy))
}

pub(super) fn offsets_unreadable(context: Context<'_>) -> Option<Finding> {
    let target = context.decision.target?;
    found(
        State::Unknown,
        Reason::OffsetsUnreadable,
        &each(context, |judged| {
            let (live, _) = blocked(judged)?;
            let Records::Unreadable(words) = &live.records else {
                return None;
            };
            Some(format!(
                "{}: wanted {target} partitions, seen {}, and whether it holds records could not be read ({words}); it is not grown until that is \
                 known, or until you set spec.{}",
                judged.topic.name,
                live.partitions,
                consent_text(context.decision, live.partitions, target)
            ))
        }),
    )
}
