//! The exhaustive model check: every order of every event within a bound, found by `stateright`.
//!
//! A state is a Kafka, the groups' specs, claims and statuses, and how far each group's pass has come. A pass is cut into
//! the steps between which the real one can be interrupted:
//!
//! ```text
//! Poll ─> Begin ─> WriteClaim ─> [Confirm] ─> Act ─> Report
//!  view    spec,    refused if    still the    Kafka   status
//!          memory   it changed    holder?      answers
//! ```
//! Between any two of them anything may happen, so what a pass read is stale, or was never seen at all; and any of them
//! may be the last one (`Crash`). Reading again right before a growth and the growth itself are one step: Kafka offers
//! nothing that would make them one, and what happens in those milliseconds is beyond any planner.
//!
//! Operator steps are free. What people, other programs and faults do is counted ([`Budget`]), which is what makes the
//! number of states finite; within the budget every order and every choice is tried. docs/model.md has the figures.

mod operator;
mod people;
mod promises;
mod state;

use stateright::{Checker, Model, Property};

use super::rules::Rule;
use super::*;
use people::Event;
use state::{Budget, Moment};

/// Where the histories begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// With every Kafka and every count in the spec.
    Everywhere,
    /// Where most happens.
    Few,
}

/// A shape of the world to explore.
#[derive(Clone, Debug)]
struct Shape {
    /// For each topic, whether the groups manage it.
    topics: Vec<bool>,
    groups: usize,
    from: Start,
    budget: Budget,
}

const PAIR: ([bool; 2], usize) = ([true, true], 1);
const REFERENCED: ([bool; 2], usize) = ([true, false], 1);
const RIVALS: ([bool; 1], usize) = ([true], 2);

const ALL_RULES: [(Rule, &str); 11] = [
    (Rule::Words, "what is said is so"),
    (Rule::Frozen, "nothing moves while somebody has to decide"),
    (Rule::Creation, "only what is missing is created"),
    (Rule::Growth, "only what was decided grows"),
    (Rule::Consent, "records move only by a matching consent"),
    (Rule::Equal, "equal stays equal"),
    (Rule::Deletion, "nothing is deleted"),
    (Rule::Rest, "what is converged rests"),
    (Rule::Loser, "the loser of a claim writes nothing"),
    (Rule::Memory, "lost memory makes nothing laxer"),
    (Rule::Keys, "a key scheme moves no partition"),
];

impl Model for Shape {
    type State = Moment;
    type Action = Event;

    fn init_states(&self) -> Vec<Moment> {
        self.beginnings()
    }

    fn actions(&self, state: &Moment, events: &mut Vec<Event>) {
        // What breaks a rule ends there: the way to it is what is wanted.
        if state.broken.is_none() {
            self.may_happen(state, events);
        }
    }

    fn next_state(&self, last: &Moment, event: Event) -> Option<Moment> {
        let mut next = last.clone();
        let outcome = next.happens(self, &event);
        if let Err((rule, seen)) = outcome {
            eprintln!("{rule:?} is broken by {event:?}: {seen}");
            next.broken = Some(rule);
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all = vec![
            // Without these a model in which nothing happens would pass.
            Property::sometimes(
                "a group grows by consent",
                |shape: &Shape, state: &Moment| {
                    let used = state.groups.iter().any(|group| !group.used.is_empty());
                    used || shape.budget.edits == 0
                },
            ),
            Property::sometimes("a topic stands at 4", |_, state: &Moment| {
                let mut topics = state.kafka.iter().filter_map(|slot| slot.live.as_ref());
                topics.any(|live| live.count == 4)
            }),
        ];
        // A property is a plain function, so each rule needs its own.
        macro_rules! never {
            ($($at:literal)+) => {
                $(all.push(Property::always(ALL_RULES[$at].1, |_, state: &Moment| {
                    state.broken != Some(ALL_RULES[$at].0)
                }));)+
            };
        }
        never!(0 1 2 3 4 5 6 7 8 9 10);
        all
    }
}

/// Explores all of it; fails with the way to a state that breaks a rule. The numbers of states and of steps between them
/// are part of the test: others would mean that something else can happen than before.
fn explore<const N: usize>(
    (topics, groups): ([bool; N], usize),
    from: Start,
    budget: [u8; 3],
    size: [usize; 2],
) {
    let shape = Shape {
        topics: topics.to_vec(),
        groups,
        from,
        budget: Budget::new(budget),
    };
    let checker = shape.checker().threads(2).spawn_dfs().join();
    checker.assert_properties();
    let found = [checker.unique_state_count(), checker.state_count()];
    assert_eq!(found, size, "states and steps between them");
}

#[test]
fn two_topics_edits_and_faults() {
    explore(PAIR, Start::Everywhere, [1, 0, 1], [178_688, 446_399]);
}

#[test]
fn two_topics_strangers_and_faults() {
    explore(PAIR, Start::Everywhere, [0, 1, 1], [161_583, 374_581]);
}

#[test]
fn a_topic_and_a_referenced_one() {
    explore(REFERENCED, Start::Everywhere, [1, 0, 1], [187_243, 550_569]);
}

#[test]
fn two_groups_edits_and_faults() {
    explore(RIVALS, Start::Few, [1, 0, 1], [90_522, 275_442]);
}

#[test]
fn two_groups_strangers_and_faults() {
    explore(RIVALS, Start::Few, [0, 1, 1], [57_528, 172_748]);
}

/// Minutes each; `make model`.
mod larger {
    use super::*;

    #[test]
    #[ignore = "minutes"]
    fn two_topics_edits_and_strangers() {
        explore(PAIR, Start::Everywhere, [1, 1, 0], [2_105_107, 4_891_131]);
    }

    #[test]
    #[ignore = "minutes"]
    fn two_topics_all_at_once() {
        explore(PAIR, Start::Few, [1, 1, 1], [536_372, 1_322_520]);
    }

    #[test]
    #[ignore = "minutes"]
    fn two_groups_edits_and_strangers() {
        explore(RIVALS, Start::Few, [1, 1, 0], [1_033_914, 2_998_782]);
    }
}
