//! `Locked` as a list of small checks: the first that finds something names the reason.

use super::checks::{Context, Finding, TRIED_AGAIN, each, found};
use super::conditions::{Reason, State};
use super::decision::TopicDecision;
use super::locks::{LockStanding, unwanted};
use super::observed::LocksFailure;
use super::report::Failure;

type Check = fn(Context<'_>) -> Option<Finding>;

/// What somebody has to clear up comes first, what heals by itself last.
const CHECKS: &[Check] = &[
    off, elsewhere, not_told, refused, foreign, open, missing, unseen, no_topic, super_user,
];

/// The verdict on the ALTER locks.
pub(super) fn locked(context: Context<'_>) -> Finding {
    let found = CHECKS.iter().find_map(|check| check(context));
    let mut found = found.unwrap_or_else(|| Finding {
        state: State::True,
        reason: Reason::Locked,
        message: format!(
            "nobody but super users may ALTER the {} Managed topics; the operator lifts the lock around its own growth",
            standing(context).count()
        ),
    });
    let left = left_behind(context);
    if !left.is_empty() {
        found.message = format!("{}; {}", found.message, left.join("; "));
    }
    found
}

fn standing(context: Context<'_>) -> impl Iterator<Item = &TopicDecision> {
    let topics = context.decision.topics.iter();
    topics.filter(|judged| judged.lock != LockStanding::NotWanted)
}

fn names(context: Context<'_>, of: impl Fn(LockStanding) -> bool) -> Vec<String> {
    each(context, |judged| {
        of(judged.lock).then(|| judged.topic.name.clone())
    })
}

fn off(context: Context<'_>) -> Option<Finding> {
    let why = match () {
        () if !context.group.alter_lock => "not asked for",
        () if context.group.observe => {
            "alterLock is for mode: Enforce; a group that observes locks nothing"
        }
        () if standing(context).next().is_none() => {
            "no topic is Managed, and alterLock is for those only"
        }
        () => return None,
    };
    found(State::False, Reason::Off, &[why.to_owned()])
}

fn elsewhere(context: Context<'_>) -> Option<Finding> {
    context.decision.other_cluster.as_ref()?;
    found(
        State::Unknown,
        Reason::Pending,
        &["the connection leads to another cluster, on which nothing is locked before it is acknowledged".to_owned()],
    )
}

fn not_told(context: Context<'_>) -> Option<Finding> {
    let (state, reason, message) = match context.decision.locks_failure.as_ref()? {
        LocksFailure::NotAuthorized(words) => (
            State::False,
            Reason::NotAuthorized,
            format!("wanted the ALTER lock, and Kafka does not tell which ACLs stand: {words}"),
        ),
        LocksFailure::NoAuthorizer(words) => (
            State::False,
            Reason::NoAuthorizer,
            format!(
                "wanted the ALTER lock, and Kafka knows no ACLs: {words} Set an authorizer on the brokers, or leave alterLock out"
            ),
        ),
        LocksFailure::Other(words) => (
            State::Unknown,
            Reason::Pending,
            format!("which ACLs stand could not be read: {words}"),
        ),
    };
    found(state, reason, &[message])
}

fn refused(context: Context<'_>) -> Option<Finding> {
    let failures = &context.outcomes.locks;
    let open = |judged: &TopicDecision| !matches!(judged.lock, LockStanding::Stands { .. });
    let (judged, failure) = standing(context)
        .filter(|judged| open(judged))
        .find_map(|judged| Some((judged, failures.get(&judged.topic.name)?)))?;
    let name = &judged.topic.name;
    let (reason, words) = match failure {
        Failure::NotAuthorized(words) => (
            Reason::NotAuthorized,
            format!("{name}: wanted the ALTER lock, Kafka refused to set it: {words}"),
        ),
        Failure::Rejected(words) => (
            Reason::Rejected,
            format!("{name}: wanted the ALTER lock, Kafka refused to set it: {words}"),
        ),
        Failure::Unsure(words) => (
            Reason::Spreading,
            format!("{name}: the ALTER lock is being set (last answer: {words})"),
        ),
    };
    found(State::False, reason, &[format!("{words}{TRIED_AGAIN}")])
}

fn foreign(context: Context<'_>) -> Option<Finding> {
    let names = names(context, |lock| lock == LockStanding::Foreign);
    let first = names.first()?;
    let all = names.join(", ");
    found(
        State::False,
        Reason::ForeignDeny,
        &[format!(
            "{all}: an ACL that the operator did not set (or of which its memory is lost) denies ALTER to User:*. It is not the operator's to take \
             away, so it can't grow these topics unless it is a super user. Let the operator set its own: kafka-acls.sh --remove --topic {first} \
             --deny-principal 'User:*' --operation Alter"
        )],
    )
}

fn open(context: Context<'_>) -> Option<Finding> {
    let names = names(context, |lock| lock == LockStanding::Open);
    let all = (!names.is_empty()).then(|| names.join(", "))?;
    found(
        State::False,
        Reason::DefaultAllowUnknown,
        &[format!(
            "{all}: no ACL matches, and it is not known that the brokers deny then; where they allow (allow.everyone.if.no.acl.found=true), the \
             first ACL of a topic hides it from everybody. Give the topics ACLs for those who use them, or state allowEveryoneIfNoAclFound: false in \
             the KafkaConnection if that is so"
        )],
    )
}

fn missing(context: Context<'_>) -> Option<Finding> {
    let all = names(context, |lock| matches!(lock, LockStanding::Missing { .. }));
    if all.is_empty() {
        return None;
    }
    let lifted = names(context, |lock| {
        lock == LockStanding::Missing { again: true }
    });
    let (reason, message) = match () {
        () if context.group.paused => (
            Reason::Paused,
            format!(
                "{}: the ALTER lock is not there, and is set once the pause annotation is gone",
                all.join(", ")
            ),
        ),
        () if !lifted.is_empty() => (
            Reason::Lifted,
            format!(
                "{}: the ALTER lock is not there now, and is put back",
                lifted.join(", ")
            ),
        ),
        () => (
            Reason::Spreading,
            format!("{}: the ALTER lock is being set", all.join(", ")),
        ),
    };
    found(State::False, reason, &[message])
}

fn unseen(context: Context<'_>) -> Option<Finding> {
    let names = names(context, |lock| lock == LockStanding::Unseen);
    let all = (!names.is_empty()).then(|| names.join(", "))?;
    found(
        State::Unknown,
        Reason::Pending,
        &[format!("{all}: which ACLs stand was not read yet")],
    )
}

fn no_topic(context: Context<'_>) -> Option<Finding> {
    let names = names(context, |lock| lock == LockStanding::NoTopic);
    let all = (!names.is_empty()).then(|| names.join(", "))?;
    found(
        State::Unknown,
        Reason::Pending,
        &[format!(
            "{all}: locked once the topic is there and accepted"
        )],
    )
}

fn super_user(context: Context<'_>) -> Option<Finding> {
    let felt = |lock| {
        lock != LockStanding::Stands {
            may_alter: Some(true),
        }
    };
    standing(context).any(|judged| !felt(judged.lock)).then(|| Finding {
        state: State::True,
        reason: Reason::SuperUser,
        message: format!(
            "the ALTER lock stands on the {} Managed topics. It does not bind super users, and the operator's principal is one: whoever else is can \
             still grow them",
            standing(context).count()
        ),
    })
}

/// Locks that are to be taken away, and are not yet.
fn left_behind(context: Context<'_>) -> Vec<String> {
    let decision = context.decision;
    if decision.refusal.is_some() || decision.other_cluster.is_some() {
        return Vec::new();
    }
    let unlocks = unwanted(decision).into_iter();
    let said = unlocks.map(|lock| {
        let place = if lock.cluster_id == decision.cluster_id {
            String::new()
        } else {
            format!(" on the cluster {}", lock.cluster_id)
        };
        let why = match context.outcomes.unlocks.get(&lock) {
            Some(
                Failure::Rejected(words) | Failure::NotAuthorized(words) | Failure::Unsure(words),
            ) => {
                format!("can't be undone: {words}")
            }
            None if context.group.paused => {
                "is undone once the pause annotation is gone".to_owned()
            }
            None => "is being undone".to_owned(),
        };
        format!("the ALTER lock of {}{place} {why}", lock.topic)
    });
    said.collect()
}
