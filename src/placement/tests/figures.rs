//! What a judgement costs; `docs/scale.md` has the figures.

use super::*;

/// Ten thousand members of a group that reads two topics of ten thousand partitions, the most that a group may have.
fn large(split: bool) -> (Vec<Counted>, ConsumerGroup) {
    let number = 10_000;
    let members = (0..number).map(|at| {
        let other = if split { number - 1 - at } else { at };
        member(&format!("member-{at:05}"), &[("a", &[at]), ("b", &[other])])
    });
    let counted = topics(&[("a", number), ("b", number)]);
    (counted, group("range", members.collect()))
}

#[test]
fn ten_thousand_members_are_judged() {
    for (parted, expected) in [(false, TOGETHER), (true, SPLIT)] {
        let (counted, group) = large(parted);
        assert_eq!(
            judge(&counted, &ids(&["app"]), &[group], &[]).says(),
            expected
        );
    }
}
