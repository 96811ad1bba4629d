use std::collections::BTreeSet;

use super::*;
use crate::keys::unsupported::fold;

fn partitioner(client: &str, version: Option<&str>, setting: Option<&str>) -> Partitioner {
    match producer(client, version, setting) {
        Ok(producer) => producer.partitioner,
        Err(error) => panic!("{client} {version:?} {setting:?}: {error}"),
    }
}

fn refusal(client: &str, version: Option<&str>, setting: Option<&str>) -> String {
    let outcome = producer(client, version, setting);
    outcome.expect_err("it is refused").to_string()
}

#[test]
fn every_client_of_the_api_is_known() {
    let known: Vec<&str> = ALL.iter().map(|client| client.name).collect();
    for name in [
        "java",
        "kafka-streams",
        "kafka-connect",
        "ksqldb",
        "librdkafka",
        "confluent-python",
        "confluent-go",
        "confluent-dotnet",
        "confluent-javascript",
        "node-rdkafka",
        "rust-rdkafka",
        "rdkafka-ruby",
        "kafkajs",
        "sarama",
        "kafka-go",
        "franz-go",
        "kafka-python",
        "aiokafka",
        "ruby-kafka",
        "platformatic-kafka",
        "kafka-node",
        "spring-cloud-stream",
        "flink",
        "debezium",
        "redpanda-connect",
        "cockroachdb",
        "goka",
    ] {
        assert!(known.contains(&name), "{name}");
    }
    let distinct: BTreeSet<_> = known.iter().collect();
    assert_eq!(distinct.len(), known.len());
}

#[test]
fn each_setting_is_found_by_each_of_its_names_and_by_no_other() {
    for client in ALL {
        assert!(
            client.settings.iter().any(Setting::is_default),
            "{}",
            client.name
        );
        let mut names = BTreeSet::new();
        for setting in client.settings {
            for name in setting.names {
                assert!(!fold(name).is_empty());
                // One name may stand for several things in versions that do not overlap.
                let version = match setting.versions {
                    Versions::All => None,
                    Versions::Before([major, minor, patch]) => match (major, minor, patch) {
                        (0, minor, 0) => Some(format!("0.{}.9", minor - 1)),
                        (major, 0, 0) => Some(format!("{}.99", major - 1)),
                        (major, minor, patch) => Some(format!("{major}.{minor}.{}", patch - 1)),
                    },
                    Versions::From([major, minor, patch])
                    | Versions::Between([major, minor, patch], _) => {
                        Some(format!("{major}.{minor}.{patch}"))
                    }
                };
                let found = producer(client.name, version.as_deref(), Some(name));
                match (&setting.keys, found) {
                    (Keys::Placed(wanted), Ok(found)) => {
                        assert_eq!(found.partitioner, *wanted, "{} {name}", client.name);
                        assert!(!found.spreads_empty);
                        assert_eq!(found.null, setting.null);
                    }
                    (Keys::PlacedButEmpty(wanted), Ok(found)) => {
                        assert_eq!(found.partitioner, *wanted, "{} {name}", client.name);
                        assert!(found.spreads_empty);
                    }
                    (Keys::Ignored(_), Err(ProducerError::IgnoresKeys { .. }))
                    | (Keys::Unverified(_), Err(ProducerError::Unverified { .. })) => {}
                    (_, other) => panic!("{} {name} {version:?}: {other:?}", client.name),
                }
                if setting.versions == Versions::All {
                    assert!(names.insert(fold(name)), "{} has {name} twice", client.name);
                }
            }
        }
    }
}

#[test]
fn the_clients_own_names_are_accepted() {
    for (client, version, setting, wanted) in [
        ("java", None, None, Partitioner::Murmur2),
        (
            "librdkafka",
            Some("2.3.0"),
            Some("murmur2_random"),
            Partitioner::Murmur2,
        ),
        (
            "librdkafka",
            Some("0.11.4"),
            Some("murmur2_random"),
            Partitioner::Murmur2Unsigned,
        ),
        (
            "confluent-dotnet",
            None,
            Some("Partitioner.Murmur2Random"),
            Partitioner::Murmur2,
        ),
        (
            "kafka-go",
            None,
            Some("&kafka.CRC32Balancer{}"),
            Partitioner::Crc32SpreadEmpty,
        ),
        (
            "kafka-go",
            None,
            Some("kafka.CRC32Balancer{Consistent: true}"),
            Partitioner::Crc32,
        ),
        (
            "kafka-go",
            None,
            Some("ReferenceHash"),
            Partitioner::Fnv1aPositive,
        ),
        (
            "kafka-go",
            Some("v0.4.51"),
            Some("&kafka.Hash{}"),
            Partitioner::Fnv1aAbs,
        ),
        (
            "sarama",
            None,
            Some("sarama.NewMurmur2Partitioner"),
            Partitioner::Murmur2,
        ),
        (
            "franz-go",
            None,
            Some("kgo.StickyKeyPartitioner(nil)"),
            Partitioner::Murmur2,
        ),
        (
            "java",
            None,
            Some("org.apache.kafka.clients.producer.internals.DefaultPartitioner"),
            Partitioner::Murmur2,
        ),
        ("kafkajs", Some("1"), None, Partitioner::KafkajsLegacy),
        (
            "kafkajs",
            Some("2.2.4"),
            Some("Partitioners.LegacyPartitioner"),
            Partitioner::KafkajsLegacy,
        ),
        ("kafka-node", None, Some("3"), Partitioner::KafkaNodeKeyed),
        (
            "kafka-go",
            None,
            Some("custom:by-region"),
            Partitioner::Custom("by-region".to_owned()),
        ),
    ] {
        assert_eq!(
            partitioner(client, version, setting),
            wanted,
            "{client} {setting:?}"
        );
    }
}

#[test]
fn what_cannot_be_used_is_refused_with_the_reason() {
    for (client, version, setting, says) in [
        (
            "kafkaj",
            None,
            None,
            "client \"kafkaj\" is not known; use java, ",
        ),
        (
            "kafka-go",
            None,
            Some("Hsah"),
            "kafka-go has no partitioner \"Hsah\"; use default, Hash,",
        ),
        (
            "kafkajs",
            None,
            None,
            "what kafkajs does changed (< 2.0: kafkajs_legacy, >= 2.0: murmur2); declare its version",
        ),
        (
            "kafkajs",
            Some("two"),
            None,
            "version \"two\" of kafkajs is not a number",
        ),
        (
            "kafkajs",
            Some("1.16"),
            Some("LegacyPartitioner"),
            "in versions >= 2.0: kafkajs_legacy only",
        ),
        (
            "kafka-go",
            None,
            None,
            "kafka-go does not place records by key: without a Balancer",
        ),
        ("kafka-go", None, None, "; configure Hash, ReferenceHash,"),
        (
            "flink",
            None,
            Some("fixed"),
            "flink fixed does not place records by key: each parallel instance",
        ),
        (
            "java",
            None,
            Some("RoundRobinPartitioner"),
            "does not place records by key",
        ),
        (
            "ruby-kafka",
            None,
            Some(":murmur2"),
            "where ruby-kafka :murmur2 puts keys is not known",
        ),
        ("java", None, Some("custom:"), "java has no partitioner"),
    ] {
        let said = refusal(client, version, setting);
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn a_version_is_read_as_people_write_it() {
    for version in ["2", "v2", "2.0", "2.2.4", "2.2.4-beta.1", "2.x"] {
        assert_eq!(
            partitioner("kafkajs", Some(version), None),
            Partitioner::Murmur2,
            "{version}"
        );
    }
}

#[test]
fn only_streams_hashes_the_key_inside_a_window() {
    for client in ALL {
        let inside = producer(client.name, None, None).is_ok_and(|found| found.hashes_key_inside);
        assert_eq!(
            inside,
            ["kafka-streams", "ksqldb"].contains(&client.name),
            "{}",
            client.name
        );
    }
}

#[test]
fn a_client_is_told_how_to_use_a_partitioner() {
    assert_eq!(
        setting_for("librdkafka", &Partitioner::Murmur2),
        Some("murmur2_random")
    );
    assert_eq!(
        setting_for("kafkajs", &Partitioner::KafkajsLegacy),
        Some("LegacyPartitioner")
    );
    assert_eq!(setting_for("kafka-python", &Partitioner::Crc32), None);
}
