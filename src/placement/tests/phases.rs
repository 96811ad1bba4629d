//! Groups of which nothing can be told, and why.

use super::*;

fn in_phase(phase: Phase) -> (Outcome, Reason) {
    let mut group = colocated("range");
    group.phase = phase;
    says(&group)
}

#[test]
fn only_a_stable_group_is_judged() {
    for (phase, reason) in [
        (Phase::Rebalancing, Reason::Rebalancing),
        (Phase::Empty, Reason::GroupEmpty),
        (Phase::Missing, Reason::GroupMissing),
        (Phase::NotReady("no words".to_owned()), Reason::NotReady),
        (Phase::Other("Odd".to_owned()), Reason::UnsupportedGroup),
    ] {
        assert_eq!(
            in_phase(phase.clone()),
            (Outcome::Unproven, reason),
            "{phase:?}"
        );
    }
}

#[test]
fn an_unknown_kind_is_active_whatever_it_says() {
    for phase in [Phase::Empty, Phase::Stable, Phase::Missing] {
        let mut group = colocated("range");
        group.protocol = Protocol::Other("share".to_owned());
        group.phase = phase;
        assert_eq!(says(&group), (Outcome::Unproven, Reason::UnsupportedGroup));
        let message = judged(&group).message();
        assert!(message.contains("of the kind share"), "{message}");
        assert!(message.contains("counts as active"), "{message}");
    }
}

#[test]
fn who_is_asked_for_and_not_found_is_missing() {
    let counts = topics(&[("a", 4), ("b", 4)]);
    let missing = (Outcome::Unproven, Reason::GroupMissing);
    assert_eq!(judge(&counts, &ids(&["app"]), &[], &[]).says(), missing);
    let both = judge(&counts, &ids(&["app", "b"]), &[colocated("range")], &[]);
    assert_eq!(both.says(), missing);
    assert!(both.message().contains("consumer group b does not exist"));
    let prefix = [Asked::Prefix("tra".to_owned())];
    let report = judge(&counts, &prefix, &[colocated("range")], &[]);
    assert_eq!(report.says(), missing);
    assert!(report.message().contains("begin with tra: none is there"));
    assert_eq!(judge(&counts, &[], &[], &[]).says(), missing);
}

#[test]
fn what_could_not_be_read_is_not_missing() {
    let counts = topics(&[("a", 4), ("b", 4)]);
    for (why, reason) in [
        (Why::NotAuthorized, Reason::GroupNotAuthorized),
        (Why::Unsupported, Reason::UnsupportedGroup),
        (Why::Failed, Reason::ReadIncomplete),
    ] {
        let unread = |of: Asked| Unread {
            of,
            why,
            words: "its words".to_owned(),
        };
        let one = Asked::Id("app".to_owned());
        let report = judge(&counts, &ids(&["app"]), &[], &[unread(one.clone())]);
        assert_eq!(report.says(), (Outcome::Unproven, reason));
        assert!(report.message().ends_with(": its words"));
        // One group of a prefix could be described and another not.
        let prefix = Asked::Prefix("a".to_owned());
        for of in [one, prefix.clone()] {
            let report = judge(&counts, std::slice::from_ref(&prefix), &[], &[unread(of)]);
            assert_eq!(report.says(), (Outcome::Unproven, reason));
            assert_eq!(report.groups.len(), 1);
        }
        // And what is split is split, whatever else could not be read.
        let other = unread(Asked::Id("b".to_owned()));
        let report = judge(&counts, &ids(&["app", "b"]), &[split("range")], &[other]);
        assert_eq!(report.says(), SPLIT);
    }
}

#[test]
fn a_silent_group_over_unequal_counts_is_told_why_that_may_be() {
    let counts = topics(&[("a", 4), ("b", 3), ("c", 4)]);
    let mut empty = colocated("range");
    empty.phase = Phase::Empty;
    for groups in [&[empty][..], &[]] {
        let message = judge(&counts, &ids(&["app"]), groups, &[]).message();
        assert!(
            message.contains("a (4) and b (3) have different"),
            "{message}"
        );
    }
}
