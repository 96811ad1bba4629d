//! The table. Each row was seen by running the client or by reading its source; what could be verified by neither is not
//! here, and [`LEFT_OUT`] names it.

use super::Evidence::{Read, Run};
use super::Versions::{All, Before, From};
use super::{Client, Evidence, Keys, Setting, Versions};
use crate::keys::KeyRule;
use crate::keys::KeyRule::{First, Hashed, Refused, Spread};
use crate::keys::Partitioner::{
    self, Crc32, Crc32SpreadEmpty, Fnv1aAbs, Fnv1aPositive, Fnv1aUnsigned, JavaStringHashAbs,
    JavaStringHashPositive, KafkaNodeKeyed, KafkajsLegacy, Murmur2, Murmur2Unsigned, Xxhash32,
};

type Names = &'static [&'static str];

const fn placed(
    names: Names,
    versions: Versions,
    partitioner: Partitioner,
    null: KeyRule,
    evidence: Evidence,
) -> Setting {
    Setting {
        names,
        versions,
        keys: Keys::Placed(partitioner),
        null,
        evidence,
    }
}

const fn placed_but_empty(
    names: Names,
    versions: Versions,
    partitioner: Partitioner,
    null: KeyRule,
    evidence: Evidence,
) -> Setting {
    Setting {
        names,
        versions,
        keys: Keys::PlacedButEmpty(partitioner),
        null,
        evidence,
    }
}

const fn ignored(
    names: Names,
    versions: Versions,
    how: &'static str,
    evidence: Evidence,
) -> Setting {
    Setting {
        names,
        versions,
        keys: Keys::Ignored(how),
        null: Spread,
        evidence,
    }
}

const fn unverified(names: Names, versions: Versions, why: &'static str) -> Setting {
    Setting {
        names,
        versions,
        keys: Keys::Unverified(why),
        null: Spread,
        evidence: Read,
    }
}

/// The settings of librdkafka, which its bindings pass through.
macro_rules! librdkafka {
    ($evidence:expr $(, $more:expr)*) => {
        &[
            placed(
                &["default", "consistent_random"],
                All,
                Crc32SpreadEmpty,
                Spread,
                $evidence,
            ),
            placed(&["consistent"], All, Crc32, First, $evidence),
            placed(&["murmur2"], All, Murmur2, Hashed, $evidence),
            placed(&["murmur2_random"], All, Murmur2, Spread, $evidence),
            placed(&["fnv1a"], All, Fnv1aAbs, Hashed, $evidence),
            placed(&["fnv1a_random"], All, Fnv1aAbs, Spread, $evidence),
            ignored(
                &["random"],
                All,
                "each record goes to a random partition",
                $evidence,
            ),
            $($more,)*
        ]
    };
}

/// The settings of Java's producer, which what is built on it passes through.
macro_rules! java {
    ($evidence:expr) => {
        &[
            placed(
                &["default", "DefaultPartitioner", "BuiltInPartitioner"],
                All,
                Murmur2,
                Spread,
                $evidence,
            ),
            ignored(
                &["partitioner.ignore.keys"],
                All,
                "partitioner.ignore.keys=true fills one partition after the other",
                Read,
            ),
            ignored(
                &["RoundRobinPartitioner"],
                All,
                "each record goes to the next partition",
                Read,
            ),
            ignored(
                &["UniformStickyPartitioner"],
                All,
                "it fills one partition after the other",
                Read,
            ),
        ]
    };
}

/// All clients, by family.
pub static ALL: &[Client] = &[
    Client {
        name: "java",
        what: "Apache Kafka's own producer, and all that is built on it",
        settings: java!(Run),
    },
    Client {
        name: "kafka-streams",
        what: "Kafka Streams; windowed keys by the key inside",
        settings: java!(Run),
    },
    Client {
        name: "kafka-connect",
        what: "source connectors, over the key converter's bytes",
        settings: java!(Read),
    },
    Client {
        name: "ksqldb",
        what: "ksqlDB; windowed keys by the key inside",
        settings: &[placed(&["default"], All, Murmur2, Spread, Read)],
    },
    Client {
        name: "debezium",
        what: "Debezium's connectors",
        settings: &[
            placed(&["default"], All, Murmur2, Spread, Read),
            placed(
                &["PartitionRouting java", "PartitionRouting"],
                From([2, 3, 0]),
                JavaStringHashPositive,
                Refused,
                Run,
            ),
            unverified(
                &["PartitionRouting murmur", "ComputePartition"],
                All,
                "its hash could not be compared with recorded partitions",
            ),
        ],
    },
    Client {
        name: "flink",
        what: "Apache Flink's Kafka connector",
        settings: &[
            placed(&["default", "KafkaSink"], All, Murmur2, Spread, Read),
            ignored(
                &["fixed", "FlinkFixedPartitioner"],
                All,
                "each parallel instance of the sink writes to one partition",
                Read,
            ),
            ignored(
                &["round-robin"],
                All,
                "it is accepted for records without a key only",
                Read,
            ),
        ],
    },
    Client {
        name: "spring-cloud-stream",
        what: "Spring Cloud Stream's Kafka binder",
        settings: &[
            placed(&["default"], All, Murmur2, Spread, Read),
            placed(
                &["partition-key-expression", "partition-key-extractor-name"],
                All,
                JavaStringHashAbs,
                Refused,
                Run,
            ),
        ],
    },
    Client {
        name: "librdkafka",
        what: "the C library, and bindings of it that are not listed: kcat, php-rdkafka, Vector, Fluent Bit",
        settings: &[
            ignored(
                &["default"],
                Before([0, 9, 1]),
                "each record goes to a random partition",
                Read,
            ),
            placed(
                &["default", "consistent_random"],
                From([0, 9, 1]),
                Crc32SpreadEmpty,
                Spread,
                Run,
            ),
            placed(&["consistent"], All, Crc32, First, Run),
            placed(
                &["murmur2"],
                Before([0, 11, 5]),
                Murmur2Unsigned,
                Hashed,
                Read,
            ),
            placed(&["murmur2"], From([0, 11, 5]), Murmur2, Hashed, Run),
            placed(
                &["murmur2_random"],
                Before([0, 11, 5]),
                Murmur2Unsigned,
                Spread,
                Read,
            ),
            placed(&["murmur2_random"], From([0, 11, 5]), Murmur2, Spread, Run),
            placed(&["fnv1a"], From([1, 4, 0]), Fnv1aAbs, Hashed, Run),
            placed(&["fnv1a_random"], From([1, 4, 0]), Fnv1aAbs, Spread, Run),
            ignored(
                &["random"],
                All,
                "each record goes to a random partition",
                Run,
            ),
        ],
    },
    Client {
        name: "confluent-python",
        what: "confluent-kafka for Python, on librdkafka",
        settings: librdkafka!(Run),
    },
    Client {
        name: "confluent-go",
        what: "confluent-kafka-go, on librdkafka, with PartitionAny",
        settings: librdkafka!(Read),
    },
    Client {
        name: "confluent-dotnet",
        what: "Confluent.Kafka for .NET, on librdkafka",
        settings: librdkafka!(Read),
    },
    Client {
        name: "confluent-javascript",
        what: "@confluentinc/kafka-javascript, on librdkafka",
        settings: librdkafka!(
            Read,
            placed(&["kafkaJS block", "kafkajs"], All, Murmur2, Spread, Read)
        ),
    },
    Client {
        name: "node-rdkafka",
        what: "node-rdkafka, on librdkafka",
        settings: librdkafka!(Read),
    },
    Client {
        name: "rust-rdkafka",
        what: "the crate rdkafka, on librdkafka",
        settings: librdkafka!(Run),
    },
    Client {
        name: "rdkafka-ruby",
        what: "rdkafka-ruby with karafka and waterdrop, on librdkafka, by `key:`",
        settings: librdkafka!(
            Read,
            unverified(
                &["partition_key"],
                All,
                "it hashes as many bytes as the key has characters, so only a part of a key that is not ASCII",
            )
        ),
    },
    Client {
        name: "kafkajs",
        what: "KafkaJS",
        settings: &[
            placed(
                &["default", "DefaultPartitioner"],
                Before([2, 0, 0]),
                KafkajsLegacy,
                Spread,
                Run,
            ),
            placed(
                &["default", "DefaultPartitioner"],
                From([2, 0, 0]),
                Murmur2,
                Spread,
                Run,
            ),
            placed(
                &["LegacyPartitioner"],
                From([2, 0, 0]),
                KafkajsLegacy,
                Spread,
                Run,
            ),
            placed(&["JavaCompatiblePartitioner"], All, Murmur2, Spread, Run),
        ],
    },
    Client {
        name: "platformatic-kafka",
        what: "@platformatic/kafka, with serializers",
        settings: &[
            placed(&["default"], All, Murmur2Unsigned, Spread, Run),
            placed(
                &["defaultPartitioner"],
                From([1, 33, 0]),
                Murmur2Unsigned,
                First,
                Run,
            ),
            placed(
                &["compatibilityPartitioner"],
                From([1, 33, 0]),
                Murmur2,
                First,
                Run,
            ),
        ],
    },
    Client {
        name: "kafka-node",
        what: "kafka-node, by `partitionerType`",
        settings: &[
            ignored(
                &["default", "partitionerType 0"],
                All,
                "Producer writes to the first partition, HighLevelProducer in turn",
                Run,
            ),
            placed(
                &["partitionerType 3", "keyed", "3", "ProducerStream"],
                All,
                KafkaNodeKeyed,
                Hashed,
                Run,
            ),
            ignored(
                &[
                    "partitionerType 1",
                    "partitionerType 2",
                    "random",
                    "cyclic",
                    "1",
                    "2",
                ],
                All,
                "records go to partitions at random or in turn",
                Read,
            ),
        ],
    },
    Client {
        name: "sarama",
        what: "IBM/sarama",
        settings: &[
            placed(
                &["default", "NewHashPartitioner"],
                All,
                Fnv1aAbs,
                Spread,
                Run,
            ),
            placed(
                &[
                    "NewReferenceHashPartitioner",
                    "NewCustomPartitioner(WithAbsFirst())",
                ],
                All,
                Fnv1aPositive,
                Spread,
                Run,
            ),
            placed(
                &["NewConsistentCRCHashPartitioner"],
                All,
                Crc32,
                Spread,
                Run,
            ),
            placed(&["NewMurmur2Partitioner"], All, Murmur2, Spread, Run),
            placed(
                &["NewCustomPartitioner(WithHashUnsigned())"],
                All,
                Fnv1aUnsigned,
                Spread,
                Read,
            ),
            ignored(
                &[
                    "NewRandomPartitioner",
                    "NewRoundRobinPartitioner",
                    "NewManualPartitioner",
                ],
                All,
                "records go to partitions at random, in turn, or as the program says",
                Read,
            ),
        ],
    },
    Client {
        name: "kafka-go",
        what: "segmentio/kafka-go, by the Writer's Balancer",
        settings: &[
            ignored(
                &["default", "RoundRobin"],
                All,
                "without a Balancer each record goes to the next partition",
                Run,
            ),
            placed(&["Hash"], Before([0, 3, 1]), Fnv1aUnsigned, Spread, Read),
            placed(&["Hash"], From([0, 3, 1]), Fnv1aAbs, Spread, Run),
            placed(&["ReferenceHash"], All, Fnv1aPositive, Spread, Run),
            placed(&["CRC32Balancer"], All, Crc32SpreadEmpty, Spread, Run),
            placed(&["CRC32Balancer{Consistent: true}"], All, Crc32, First, Run),
            placed(&["Murmur2Balancer"], All, Murmur2, Spread, Run),
            placed(
                &["Murmur2Balancer{Consistent: true}"],
                All,
                Murmur2,
                Hashed,
                Run,
            ),
            ignored(
                &["LeastBytes"],
                All,
                "each record goes to the partition with the fewest bytes",
                Read,
            ),
        ],
    },
    Client {
        name: "franz-go",
        what: "twmb/franz-go on 64-bit machines, by RecordPartitioner",
        settings: &[
            placed(
                &[
                    "default",
                    "UniformBytesPartitioner",
                    "StickyKeyPartitioner(nil)",
                    "StickyKeyPartitioner",
                ],
                All,
                Murmur2,
                Spread,
                Run,
            ),
            placed(
                &[
                    "StickyKeyPartitioner(KafkaHasher(fnv32a))",
                    "KafkaHasher(fnv32a)",
                    "KafkaHasher(fnv1a)",
                ],
                All,
                Fnv1aPositive,
                Spread,
                Run,
            ),
            placed(
                &[
                    "StickyKeyPartitioner(SaramaHasher(fnv32a))",
                    "SaramaHasher(fnv32a)",
                    "SaramaHasher(fnv1a)",
                ],
                All,
                Fnv1aUnsigned,
                Spread,
                Run,
            ),
            placed(
                &[
                    "StickyKeyPartitioner(SaramaHasher(crc32))",
                    "SaramaHasher(crc32)",
                    "SaramaHasher(crc32.ChecksumIEEE)",
                ],
                All,
                Crc32,
                Spread,
                Run,
            ),
            placed(
                &[
                    "StickyKeyPartitioner(SaramaCompatHasher(fnv32a))",
                    "SaramaCompatHasher(fnv32a)",
                    "SaramaCompatHasher(fnv1a)",
                ],
                From([1, 16, 0]),
                Fnv1aAbs,
                Spread,
                Run,
            ),
            ignored(
                &[
                    "RoundRobinPartitioner",
                    "StickyPartitioner",
                    "LeastBackupPartitioner",
                    "ManualPartitioner",
                ],
                All,
                "records go to partitions in turn, by load, or as the program says",
                Read,
            ),
        ],
    },
    Client {
        name: "goka",
        what: "lovoo/goka, whose hasher replaces any partitioner of its Sarama config",
        settings: &[placed(
            &["default", "DefaultHasher", "fnv.New32a"],
            All,
            Fnv1aAbs,
            Spread,
            Read,
        )],
    },
    Client {
        name: "redpanda-connect",
        what: "Redpanda Connect (Benthos); its outputs kafka and redpanda differ",
        settings: &[
            placed_but_empty(
                &["kafka: fnv1a_hash", "default", "kafka", "fnv1a_hash"],
                All,
                Fnv1aAbs,
                Spread,
                Read,
            ),
            placed_but_empty(&["kafka: murmur2_hash"], All, Murmur2, Spread, Read),
            placed(
                &[
                    "redpanda: murmur2_hash",
                    "redpanda",
                    "kafka_franz",
                    "kafka_franz: murmur2_hash",
                ],
                All,
                Murmur2,
                Spread,
                Read,
            ),
            ignored(
                &["round_robin", "random", "least_backup", "manual"],
                All,
                "records go to partitions in turn, at random, by load, or as the configuration says",
                Read,
            ),
        ],
    },
    Client {
        name: "cockroachdb",
        what: "CockroachDB's changefeeds",
        settings: &[
            placed(&["default", "fnv-1a"], All, Fnv1aAbs, Hashed, Read),
            placed(&["murmur2"], From([25, 2, 12]), Murmur2, Hashed, Read),
        ],
    },
    Client {
        name: "kafka-python",
        what: "kafka-python",
        settings: &[
            placed(
                &["default", "DefaultPartitioner"],
                All,
                Murmur2,
                Spread,
                Run,
            ),
            placed(
                &["StickyPartitioner"],
                From([3, 0, 0]),
                Murmur2,
                Spread,
                Run,
            ),
            unverified(
                &["Murmur2Partitioner", "HashedPartitioner", "KeyedProducer"],
                Before([2, 0, 0]),
                "it counts only the partitions that are available at the moment, or hashes differently in each process",
            ),
        ],
    },
    Client {
        name: "aiokafka",
        what: "aiokafka",
        settings: &[placed(
            &["default", "DefaultPartitioner"],
            All,
            Murmur2,
            Spread,
            Run,
        )],
    },
    Client {
        name: "ruby-kafka",
        what: "ruby-kafka",
        settings: &[
            placed(
                &["default", "crc32", "hash_function: :crc32"],
                All,
                Crc32,
                Spread,
                Run,
            ),
            unverified(
                &["murmur2", "hash_function: :murmur2"],
                From([1, 4, 0]),
                "the gem behind it reads the last bytes of a key as signed on some processors, so keys that are not ASCII may differ from Java's",
            ),
        ],
    },
    Client {
        name: "kafka-rust",
        what: "the crate kafka",
        settings: &[
            unverified(&["default"], Before([0, 6, 0]), "it used another hash"),
            placed(
                &["default", "DefaultPartitioner"],
                From([0, 6, 0]),
                Xxhash32,
                Spread,
                Run,
            ),
        ],
    },
];

/// What is in use and not in the table, because where it puts keys could not be verified, with the reason.
pub static LEFT_OUT: &[(&str, &str)] = &[
    (
        "the Scala producer before Kafka 1.0",
        "its source was not read",
    ),
    ("Pulsar's Kafka protocol (KoP)", "not studied"),
    (
        "kafka-python before 2.0 with KeyedProducer or Murmur2Partitioner",
        "not a function of the key and the count",
    ),
    (
        "Debezium's PartitionRouting with murmur or several fields, and ComputePartition",
        "no recorded partitions to compare with",
    ),
    (
        "ruby-kafka with :murmur2",
        "differs from Java's on some processors for keys that are not ASCII",
    ),
    (
        "rdkafka-ruby with partition_key:",
        "hashes only a part of keys that are not ASCII",
    ),
    ("the crate kafka before 0.6", "another hash"),
    (
        "Spring Cloud Stream with partition keys that are no text",
        "the hash is the object's own",
    ),
];
