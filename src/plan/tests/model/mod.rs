//! Model checks: random groups, random people, and an operator that may crash at any point, on a Kafka that is told
//! apart from what was seen of it. What must never happen is checked on every decision, by rules that are written down
//! once more and not taken from the code. [`exhaustive`] tries everything within bounds; the histories here are random, and
//! longer. `PROPTEST_CASES` sets how many worlds are tried, if it is more than [`HISTORIES`].

mod exhaustive;
mod locks;
mod rules;
mod run;

use proptest::prelude::*;

use super::*;
use run::Model;

const HISTORIES: u32 = 10_000;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Clone, Debug)]
enum Event {
    /// The spec declares another count; 0: none.
    Wants(i32),
    /// The spec carries this consent.
    Consents(Vec<bool>, i32, i32, Ids),
    /// The spec carries a consent for the live count of the first of these topics, and to the declared count.
    ConsentsToLive(Vec<bool>, Ids),
    ConsentsToNothing,
    FollowsTheMessage,
    Leaves(usize),
    Joins(usize, bool),
    Observes(bool),
    Pauses(bool),
    /// All ids that there are at the moment.
    Acknowledges(usize),
    Grows(usize, i32),
    Produces(usize),
    /// Whether its end offsets can be read.
    Offsets(usize, bool),
    /// Whether it can be described.
    Describes(usize, bool),
    Deletes(usize),
    Recreates(usize, i32, bool),
    /// Recreated where the consent in the spec begins, holding records, and acknowledged.
    StartsOver(usize),
    Moves(bool),
    AcknowledgesCluster,
    Passes(Crash),
}

#[derive(Clone, Copy, Debug)]
enum Ids {
    None,
    Live,
    Other,
}

#[derive(Clone, Copy, Debug)]
enum Crash {
    Never,
    BeforeTheMemory,
    AfterActions(usize),
}

fn topic() -> impl Strategy<Value = usize> {
    0..NAMES.len()
}

fn count() -> impl Strategy<Value = i32> {
    1..=4_i32
}

fn named() -> impl Strategy<Value = Vec<bool>> {
    prop::collection::vec(prop::bool::weighted(0.7), NAMES.len())
}

fn ids() -> impl Strategy<Value = Ids> {
    prop_oneof![6 => Just(Ids::None), 2 => Just(Ids::Live), 1 => Just(Ids::Other)]
}

fn crash() -> impl Strategy<Value = Crash> {
    prop_oneof![
        3 => Just(Crash::Never),
        1 => Just(Crash::BeforeTheMemory),
        2 => (0..3_usize).prop_map(Crash::AfterActions),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        30 => crash().prop_map(Event::Passes),
        6 => (0..=4_i32).prop_map(Event::Wants),
        2 => (named(), count(), count(), ids()).prop_map(|(t, f, to, i)| Event::Consents(t, f, to, i)),
        6 => (named(), ids()).prop_map(|(t, i)| Event::ConsentsToLive(t, i)),
        1 => Just(Event::ConsentsToNothing),
        5 => Just(Event::FollowsTheMessage),
        1 => topic().prop_map(Event::Leaves),
        2 => (topic(), prop::bool::weighted(0.8)).prop_map(|(t, m)| Event::Joins(t, m)),
        1 => prop::bool::weighted(0.3).prop_map(Event::Observes),
        1 => prop::bool::weighted(0.3).prop_map(Event::Pauses),
        3 => topic().prop_map(Event::Acknowledges),
        4 => (topic(), count()).prop_map(|(t, c)| Event::Grows(t, c)),
        4 => topic().prop_map(Event::Produces),
        1 => (topic(), prop::bool::weighted(0.6)).prop_map(|(t, c)| Event::Offsets(t, c)),
        1 => (topic(), prop::bool::weighted(0.7)).prop_map(|(t, c)| Event::Describes(t, c)),
        2 => topic().prop_map(Event::Deletes),
        3 => (topic(), count(), any::<bool>()).prop_map(|(t, c, f)| Event::Recreates(t, c, f)),
        4 => topic().prop_map(Event::StartsOver),
        1 => any::<bool>().prop_map(Event::Moves),
        1 => Just(Event::AcknowledgesCluster),
    ]
}

fn model() -> impl Strategy<Value = Model> {
    let topics = prop::collection::vec(
        (prop::bool::weighted(0.85), 0..=4_i32, any::<bool>()),
        1..=4,
    );
    (0..=4_i32, topics).prop_map(|(partitions, topics)| Model::new(partitions, &topics))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(HISTORIES),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_event_and_no_crash_makes_the_operator_do_what_it_must_not(
        mut model in model(),
        events in prop::collection::vec(event(), 0..60),
    ) {
        for event in &events {
            model.happens(event);
        }
        model.settles();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happened: a group that reads its messages and does what they say gets aligned.
    #[test]
    fn from_every_state_the_messages_lead_to_alignment(
        mut model in model(),
        events in prop::collection::vec(event(), 0..25),
    ) {
        for event in &events {
            model.happens(event);
        }
        model.happens(&Event::Observes(false));
        model.happens(&Event::Pauses(false));
        model.hidden.clear();
        if model.world.group.topics.is_empty() {
            model.world.manages("a");
        }
        for commit in 0.. {
            model.settles();
            if model.aligned() {
                break;
            }
            assert!(commit < 12, "no way out: {} {model:#?}", model.world.condition(ConditionType::PartitionsAligned).message);
            model.world.follows_the_message();
        }
    }
}
