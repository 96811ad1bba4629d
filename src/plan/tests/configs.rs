//! Declared topic config: what is set, what is held back because it would drop records, and what is said.

use super::*;

fn applied(world: &World) -> (State, Reason) {
    let condition = world.condition(ConditionType::TopicConfigsApplied);
    (condition.state, condition.reason)
}

/// What is set on the topic `a` next.
fn set(world: &World) -> Vec<(String, String)> {
    let configs = world.decide().actions.configs;
    let alters = configs.into_iter().filter(|alter| alter.topic == "a");
    alters.flat_map(|alter| alter.set).collect()
}

fn pair(key: &str, value: &str) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

/// A topic that was adopted holding records.
fn adopted() -> World {
    settled(6, &["a"])
}

#[test]
fn only_declared_keys_that_differ_are_set() {
    let mut world = adopted();
    world
        .config("a", "min.insync.replicas", "2")
        .config("a", "retention.bytes", "-1")
        .live_config("a", "segment.ms", "5");
    assert_eq!(set(&world), [pair("min.insync.replicas", "2")]);
    assert_eq!(applied(&world), (State::Unknown, Reason::Pending));
    world.passes();
    assert_eq!(applied(&world), (State::True, Reason::Applied));
    let config = world.live("a").config.clone().unwrap();
    assert_eq!(config["segment.ms"], "5", "not declared, not touched");
}

#[test]
fn a_key_that_leaves_the_spec_is_left_as_it_is() {
    let mut world = adopted();
    world.config("a", "min.insync.replicas", "2").passes();
    world.group.topics[0].config.clear();
    world.rests();
    assert_eq!(applied(&world), (State::True, Reason::Applied));
    world.says(
        ConditionType::TopicConfigsApplied,
        &["no config is declared"],
    );
}

#[test]
fn other_spellings_of_one_value_are_no_difference() {
    for (key, live, declared, same) in [
        ("retention.ms", "604800000", " 604800000", true),
        ("retention.ms", "604800000", "0604800000", true),
        ("retention.ms", "604800000", "604800001", false),
        ("cleanup.policy", "compact,delete", "delete, compact", true),
        ("cleanup.policy", "delete", "delete,", true),
        ("unclean.leader.election.enable", "false", "FALSE", true),
        ("unclean.leader.election.enable", "false", "true", false),
        ("min.cleanable.dirty.ratio", "0.5", "0.50", true),
        ("min.cleanable.dirty.ratio", "0.5", ".5", true),
        ("min.cleanable.dirty.ratio", "0.5", "0.51", false),
        ("compression.type", "lz4", "LZ4", false),
        ("compression.type", "a,b", "b,a", false),
        ("x", "nan", "NaN", false),
    ] {
        let mut world = group(6);
        world.manages("a").has("a", 6, EMPTY);
        world.live_config("a", key, live).config("a", key, declared);
        let found = set(&world);
        assert_eq!(
            found.is_empty(),
            same,
            "{key}: {live} {declared}: {found:?}"
        );
    }
}

#[test]
fn a_key_that_the_broker_does_not_show_is_set() {
    let mut world = adopted();
    world.config("a", "no.such.key", "1");
    assert_eq!(set(&world), [pair("no.such.key", "1")]);
}

/// What may drop records that an adopted topic holds, as (key, live, declared).
const DROPPING: [(&str, &str, &str); 9] = [
    ("retention.ms", "604800000", "604799999"),
    ("retention.ms", "-1", "604800000"),
    ("retention.bytes", "-1", "1000"),
    ("retention.bytes", "1000", "999"),
    ("cleanup.policy", "compact", "delete"),
    ("cleanup.policy", "compact", "compact,delete"),
    ("cleanup.policy", "delete", "compact"),
    ("cleanup.policy", "delete", "delete,compact"),
    ("retention.ms", "not shown", "1000"),
];

#[test]
fn config_that_would_drop_records_of_an_adopted_topic_is_held_back() {
    for (key, live, declared) in DROPPING {
        let mut world = adopted();
        world.live_config("a", key, live).config("a", key, declared);
        world.rests();
        assert_eq!(applied(&world), (State::False, Reason::WouldDropData));
        world.says(
            ConditionType::TopicConfigsApplied,
            &[
                &format!("a: {key}: wanted {declared}, seen {live}"),
                &format!("spec.acceptDataLoss: {{topic: a, keys: [{key}]}}"),
            ],
        );
    }
}

#[test]
fn config_that_keeps_more_is_set_at_once() {
    for (key, live, declared) in [
        ("retention.ms", "1000", "1001"),
        ("retention.ms", "1000", "-1"),
        ("retention.bytes", "1000", "-1"),
        ("cleanup.policy", "compact,delete", "compact"),
        ("cleanup.policy", "compact,delete", "delete"),
        ("retention.ms", "1000", "soon"),
        ("min.insync.replicas", "2", "1"),
    ] {
        let mut world = adopted();
        world.live_config("a", key, live).config("a", key, declared);
        assert_eq!(set(&world), [pair(key, declared)], "{key} {live}");
    }
}

#[test]
fn one_dangerous_key_does_not_hold_the_others_back() {
    let mut world = adopted();
    world
        .config("a", "retention.ms", "1")
        .config("a", "min.insync.replicas", "2");
    assert_eq!(set(&world), [pair("min.insync.replicas", "2")]);
    world.passes();
    assert_eq!(applied(&world), (State::False, Reason::WouldDropData));
}

#[test]
fn nothing_is_held_back_of_an_empty_topic() {
    for (key, live, declared) in DROPPING {
        let mut world = group(6);
        world.manages("a").has("a", 6, EMPTY);
        world.live_config("a", key, live).config("a", key, declared);
        assert_eq!(set(&world), [pair(key, declared)]);
    }
}

#[test]
fn a_topic_that_may_hold_records_is_not_empty() {
    let mut world = group(6);
    world.manages("a").has("a", 6, unreadable());
    world.config("a", "retention.ms", "1");
    assert_eq!(set(&world), []);
    // Nor is one that held some under this id.
    let mut world = adopted();
    world.holds("a", EMPTY).config("a", "retention.ms", "1");
    assert_eq!(set(&world), []);
}

#[test]
fn nothing_is_held_back_of_a_topic_that_the_operator_created() {
    let mut world = group(6);
    world
        .manages("a")
        .config("a", "retention.ms", "1000")
        .passes();
    world.holds("a", FULL).passes();
    world.config("a", "retention.ms", "1");
    assert_eq!(set(&world), [pair("retention.ms", "1")]);
    // But of one that somebody else made in its place.
    world.has("a", 6, FULL);
    let id = world.id("a");
    world.acknowledges(&id).passes();
    assert_eq!(applied(&world), (State::False, Reason::WouldDropData));
}

#[test]
fn a_consent_to_data_loss_counts_for_its_topic_and_keys_alone() {
    let mut world = adopted();
    world
        .config("a", "retention.ms", "1")
        .config("a", "retention.bytes", "1")
        .accepts_loss("a", &["retention.ms"]);
    assert_eq!(set(&world), [pair("retention.ms", "1")]);
    world.accepts_loss("b", &["retention.ms", "retention.bytes"]);
    assert_eq!(set(&world), []);
}

#[test]
fn a_consent_to_data_loss_counts_once() {
    let mut world = adopted();
    world
        .config("a", "retention.ms", "1000")
        .accepts_loss("a", &["retention.ms"])
        .passes();
    assert_eq!(applied(&world), (State::True, Reason::Applied));
    // Somebody sets it back: to shorten it again is another loss.
    world.live_config("a", "retention.ms", "604800000");
    assert_eq!(set(&world), []);
    assert_eq!(applied(&world), (State::False, Reason::WouldDropData));
    world.says(
        ConditionType::TopicConfigsApplied,
        &["take an older one out first"],
    );
    // Taken out and put in again, it is a new one.
    world.group.data_loss = None;
    world.passes();
    assert!(world.memory.spent_data_loss.is_empty());
    world.accepts_loss("a", &["retention.ms"]);
    assert_eq!(set(&world), [pair("retention.ms", "1000")]);
}

#[test]
fn a_consent_to_data_loss_is_used_when_it_is_seen_to_hold() {
    let mut world = adopted();
    world
        .config("a", "retention.ms", "1000")
        .accepts_loss("a", &["retention.ms"]);
    world.looks();
    assert!(world.memory.spent_data_loss.is_empty());
    assert_eq!(set(&world), [pair("retention.ms", "1000")], "after a crash");
    world.acts();
    world.looks();
    assert_eq!(world.memory.spent_data_loss.len(), 1);
}

#[test]
fn a_consent_to_data_loss_is_used_too_when_somebody_else_set_the_config() {
    let mut world = adopted();
    world
        .observes()
        .config("a", "retention.ms", "1000")
        .accepts_loss("a", &["retention.ms"])
        .live_config("a", "retention.ms", "1000")
        .passes();
    world
        .live_config("a", "retention.ms", "604800000")
        .enforces();
    assert_eq!(set(&world), []);
}

#[test]
fn config_that_the_broker_refuses_is_said_in_its_words() {
    let mut world = adopted();
    world.config("a", "min.insync.replicas", "two");
    for (failure, reason) in [
        (
            Failure::Rejected("not a number".to_owned()),
            Reason::Rejected,
        ),
        (
            Failure::NotAuthorized("not a number".to_owned()),
            Reason::NotAuthorized,
        ),
    ] {
        world.outcomes.configs.insert("a".to_owned(), failure);
        assert_eq!(applied(&world), (State::False, reason));
        world.says(
            ConditionType::TopicConfigsApplied,
            &[
                "a: wanted min.insync.replicas=two",
                "not a number",
                "Correct the value",
            ],
        );
    }
    world.is_aligned();
    let unsure = Failure::Unsure("timed out".to_owned());
    world.outcomes.configs.insert("a".to_owned(), unsure);
    assert_eq!(applied(&world), (State::Unknown, Reason::Pending));
}

#[test]
fn config_is_only_observed_in_observe_and_while_paused() {
    let mut world = adopted();
    world.config("a", "min.insync.replicas", "2");
    world.group.paused = true;
    assert_eq!(applied(&world), (State::False, Reason::Observed));
    world.group.paused = false;
    // Nothing would be dropped by a group that never writes.
    world.observes().config("a", "retention.ms", "1");
    assert_eq!(applied(&world), (State::False, Reason::Observed));
    world.says(
        ConditionType::TopicConfigsApplied,
        &[
            "a: wanted min.insync.replicas=2, retention.ms=1",
            "not the operator's to set",
        ],
    );
}

#[test]
fn config_that_is_not_known_yet_is_not_called_applied() {
    let mut world = adopted();
    world.config("a", "min.insync.replicas", "1");
    world.live("a").config = None;
    world.rests();
    assert_eq!(applied(&world), (State::Unknown, Reason::Pending));
    world.deleted("a");
    assert_eq!(applied(&world), (State::Unknown, Reason::Pending));
}
