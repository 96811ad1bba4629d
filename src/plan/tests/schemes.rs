//! `KeySchemesAligned` and `SlotsAligned` in the conditions of a group.

use super::*;
use crate::keys::clients;
use crate::plan::report;

/// Two topics at a count, with these schemes.
fn pair(count: i32, schemes: [&str; 2]) -> World {
    let mut world = settled(count, &["a", "b"]);
    declare(&mut world, schemes);
    world
}

fn declare(world: &mut World, schemes: [&str; 2]) {
    for (topic, text) in world.group.topics.iter_mut().zip(schemes) {
        let (encoding, partitioner) = text.split_once('/').unwrap();
        topic.scheme = Some(KeyScheme::parse(encoding, partitioner).unwrap());
    }
}

fn verdict(world: &World) -> (State, Reason) {
    let condition = world.condition(ConditionType::KeySchemesAligned);
    (condition.state, condition.reason)
}

fn says(world: &World, parts: &[&str]) {
    world.says(ConditionType::KeySchemesAligned, parts);
}

#[test]
fn a_mismatch_names_topics_keys_and_partitions() {
    let mut world = pair(6, ["utf8/murmur2", "utf8/crc32_spread_empty"]);
    world.group.sample_keys = vec!["BBCA".to_owned(), "TLKM".to_owned()];
    assert_eq!(verdict(&world), (State::False, Reason::PartitionerMismatch));
    says(
        &world,
        &[
            "a (utf8/murmur2) and b (utf8/crc32_spread_empty) place keys differently at 6 partitions: BBCA 0 against 2, TLKM 5 against 0",
            "Let all producers use one partitioner",
        ],
    );
    let ready = world.condition(ConditionType::Ready);
    assert_eq!(
        (ready.state, ready.reason),
        (State::False, Reason::PartitionerMismatch)
    );
}

#[test]
fn an_encoding_mismatch_shows_what_a_key_becomes() {
    let world = pair(6, ["int32/murmur2", "int64/murmur2"]);
    assert_eq!(verdict(&world), (State::False, Reason::EncodingMismatch));
    says(
        &world,
        &["turn one key into different bytes at 6 partitions: 1000 "],
    );
}

#[test]
fn equal_at_a_power_of_two_is_aligned_and_says_what_would_break_it() {
    let world = pair(8, ["utf8/murmur2", "utf8/murmur2_unsigned"]);
    assert_eq!(verdict(&world), (State::True, Reason::EquivalentSchemes));
    says(
        &world,
        &["alike at 8 partitions", "growing to 9 would break it"],
    );
    let world = pair(6, ["utf8/murmur2", "utf8/murmur2_unsigned"]);
    assert_eq!(verdict(&world), (State::False, Reason::PartitionerMismatch));
    // 2 is a power of two, and 3 is not.
    let world = pair(1, ["utf8/murmur2", "utf8/murmur2_unsigned"]);
    says(&world, &["growing to 3 would break it"]);
}

#[test]
fn a_wanted_growth_is_judged_too() {
    let mut world = pair(8, ["utf8/murmur2", "utf8/murmur2_unsigned"]);
    world.wants(12);
    assert_eq!(verdict(&world), (State::True, Reason::EquivalentSchemes));
    says(
        &world,
        &[
            "At 12 partitions, which the group wants: PartitionerMismatch, a (utf8/murmur2) and b",
            "at 12 partitions: 10",
        ],
    );
    declare(&mut world, ["utf8/murmur2", "utf8/murmur2"]);
    let said = world.condition(ConditionType::KeySchemesAligned).message;
    assert!(!said.contains("12"), "{said}");
}

#[test]
fn a_growth_that_would_part_keys_is_blocked_whatever_was_consented() {
    let mut world = pair(8, ["utf8/murmur2", "utf8/murmur2_unsigned"]);
    world.wants(12).consent(&["a", "b"], 8, 12);
    world.rests();
    world.stands(Reason::GrowthBlocked);
    world.says(
        ConditionType::PartitionsAligned,
        &[
            "wanted 12 partitions, seen 8",
            "at 12 they do not: a (utf8/murmur2) and b (utf8/murmur2_unsigned) place keys differently at 12 partitions",
            "whatever was consented to",
        ],
    );
    // Without a consent it does not ask for one.
    world.group.consent = None;
    let said = world.condition(ConditionType::PartitionsAligned).message;
    assert!(!said.contains("acceptKeyMovement"), "{said}");
    // At another power of two they agree.
    world.wants(16).consent(&["a", "b"], 8, 16);
    assert_eq!(growths(&world.acts()), [("a", 8, 16), ("b", 8, 16)]);
    world.passes();
    world.is_aligned();
    // What is not aligned can't be parted, and a growth that has begun is completed.
    world.wants(24).consent(&["a", "b"], 16, 24).grown("a", 24);
    assert_eq!(growths(&world.acts()), [("b", 16, 24)]);
}

#[test]
fn empty_topics_grow_to_any_count() {
    let mut world = pair(8, ["utf8/murmur2", "utf8/murmur2_unsigned"]);
    world.wants(12).holds("a", EMPTY).holds("b", EMPTY);
    for memory in world.memory.topics.values_mut() {
        memory.holds_records = false;
    }
    assert_eq!(growths(&world.acts()), [("a", 8, 12), ("b", 8, 12)]);
}

#[test]
fn before_there_is_a_count_the_wanted_one_is_judged() {
    let mut world = group(6);
    world.manages("a").manages("b");
    declare(&mut world, ["utf8/murmur2", "utf8/murmur2_unsigned"]);
    assert_eq!(verdict(&world), (State::False, Reason::PartitionerMismatch));
}

#[test]
fn what_cannot_be_calculated_does_not_gate_ready() {
    for (schemes, part) in [
        (
            ["utf8/custom:x", "utf8/custom:x"],
            "all that was compared declare the same name",
        ),
        (
            ["utf8/custom:x", "utf8/murmur2"],
            "another partitioner is declared as well",
        ),
        (
            [
                "confluent:avro_string/murmur2",
                "confluent:avro_string/murmur2",
            ],
            "(confluent:ID:avro_string)",
        ),
        (
            [
                "confluent:1:avro_string/murmur2",
                "confluent:2:avro_string/murmur2",
            ],
            "only under equal ids",
        ),
        (
            ["uuid/murmur2", "utf8/murmur2"],
            "the producer of b writes keys exactly as uuid does",
        ),
    ] {
        let mut world = pair(6, schemes);
        world.group.sample_keys = vec!["550e8400-e29b-41d4-a716-446655440000".to_owned()];
        assert_eq!(
            verdict(&world),
            (State::Unknown, Reason::NotProvable),
            "{schemes:?}"
        );
        says(&world, &[part]);
        assert_eq!(world.condition(ConditionType::Ready).state, State::True);
        assert_eq!(world.report().layout, None);
    }
}

#[test]
fn nothing_is_said_of_keys_whose_movement_cannot_be_calculated() {
    let movement = |schemes, keys: &[&str]| {
        let mut world = pair(6, schemes);
        world.group.sample_keys = keys.iter().map(|key| (*key).to_owned()).collect();
        crate::plan::movement(&world.group, 6, 8)
    };
    assert_eq!(
        movement(["utf8/custom:x", "utf8/murmur2"], &["BBCA"]),
        "6 -> 8 moves what a custom partitioner decides"
    );
    let framed = "confluent:avro_string/murmur2";
    assert_eq!(
        movement([framed, framed], &["BBCA"]),
        "6 -> 8 moves 75 % of the key space"
    );
    let framed = "confluent:2:avro_string/murmur2";
    assert_eq!(
        movement([framed, framed], &["BBCA"]),
        "6 -> 8 moves 75 % of the key space, 1 of 1 sample keys: BBCA 1 -> 7"
    );
}

#[test]
fn producers_are_held_to_what_their_topic_declares() {
    let mut world = pair(6, ["utf8/murmur2", "utf8/murmur2"]);
    let producer = |client, version, setting| clients::producer(client, version, setting).unwrap();
    world.group.topics[0].producers = vec![producer("java", None, None)];
    world.group.topics[1].producers = vec![producer("librdkafka", None, Some("murmur2_random"))];
    assert_eq!(verdict(&world), (State::True, Reason::SameScheme));
    says(&world, &["the 2 declared producers keep to it"]);
    world.group.topics[1].producers = vec![producer("librdkafka", None, None)];
    assert_eq!(verdict(&world), (State::False, Reason::PartitionerMismatch));
    says(
        &world,
        &[
            "librdkafka on b (utf8/crc32_spread_empty)",
            "; in librdkafka that is murmur2_random",
        ],
    );
    world.group.topics[1].producers = vec![producer("kafkajs", Some("1.16"), None)];
    says(
        &world,
        &[
            "kafkajs 1.16 on b (utf8/kafkajs_legacy)",
            "; in kafkajs that is JavaCompatiblePartitioner",
        ],
    );
}

#[test]
fn windowed_keys_belong_to_streams() {
    let mut world = pair(6, ["utf8/murmur2", "windowed:utf8/murmur2"]);
    assert_eq!(verdict(&world), (State::True, Reason::EquivalentSchemes));
    says(
        &world,
        &["as long as Kafka Streams itself writes the windowed keys"],
    );
    world.group.topics[1].producers = vec![clients::producer("java", None, None).unwrap()];
    assert_eq!(verdict(&world), (State::False, Reason::PartitionerMismatch));
    says(
        &world,
        &["java on b (windowed:utf8/murmur2) hashes the window too"],
    );
}

#[test]
fn equivalent_schemes_have_a_layout() {
    let mut world = pair(6, ["utf8/crc32", "utf8/crc32_spread_empty"]);
    world.group.sample_keys = vec!["BBCA".to_owned()];
    let layout = world.report().layout.unwrap();
    assert_eq!(layout.scheme.to_string(), "utf8/crc32");
    says(&world, &["but for empty keys"]);
}

#[test]
fn redis_templates_are_judged_beside_the_topics() {
    let mut world = settled(6, &["a"]);
    let verdict = |world: &World| {
        let condition = world.condition(ConditionType::SlotsAligned);
        (condition.state, condition.reason)
    };
    assert_eq!(verdict(&world), (State::Unknown, Reason::Off));
    for (templates, state, reason) in [
        (["market:{%s}", "notif:{%s}"], State::True, Reason::SameSlot),
        (["{m}:%s", "{m}:n:%s"], State::True, Reason::SameSlot),
        (
            ["market:{%s}", "notif:%s"],
            State::False,
            Reason::UntaggedTemplate,
        ),
        (
            ["market:{%s}", "notif:{n%s}"],
            State::False,
            Reason::TagMismatch,
        ),
    ] {
        world.group.redis_templates = templates.map(str::to_owned).into();
        assert_eq!(verdict(&world), (state, reason), "{templates:?}");
        assert_eq!(world.condition(ConditionType::Ready).state, State::True);
    }
    world.group.redis_templates = vec!["a:{%s}".to_owned(), "b:{%s}".to_owned()];
    world.group.sample_keys = vec![String::new()];
    assert_eq!(verdict(&world), (State::False, Reason::TagMismatch));
    world.says(
        ConditionType::SlotsAligned,
        &["the sample key \"\" lies in two slots, a:{%s} in slot"],
    );
    // A group that is not accepted is not judged, whatever it asks for.
    let refused = report::refused(Reason::InvalidSpec, State::False, "x", false);
    let slots = refused
        .conditions
        .iter()
        .find(|it| it.kind == ConditionType::SlotsAligned);
    assert_eq!(slots.map(|it| it.reason), Some(Reason::Pending));
}
