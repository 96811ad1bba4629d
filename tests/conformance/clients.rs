//! The clients, their settings, and the scheme of each: the table that a key scheme in a resource relies on.

use super::setting::{Client, Keys, Setting};

/// All of them.
pub(super) const ALL: [&Client; 16] = [
    &JAVA,
    &KAFKA_STREAMS,
    &SPRING_CLOUD_STREAM,
    &DEBEZIUM,
    &LIBRDKAFKA,
    &CONFLUENT_KAFKA,
    &KAFKA_PYTHON,
    &AIOKAFKA,
    &KAFKAJS,
    &KAFKAJS_1,
    &PLATFORMATIC,
    &KAFKA_NODE,
    &SARAMA,
    &KAFKA_GO,
    &FRANZ_GO,
    &KAFKA_RUST,
];

type Known = (&'static str, [u32; 3]);

const fn client(name: &'static str, known_as: Known, settings: &'static [Setting]) -> Client {
    Client {
        name,
        known_as,
        keys: Keys::Bytes,
        settings,
    }
}

const fn text_client(name: &'static str, known_as: Known, settings: &'static [Setting]) -> Client {
    Client {
        name,
        known_as,
        keys: Keys::Text,
        settings,
    }
}

pub(super) const JAVA: Client = client(
    "java",
    ("java", [4, 3, 1]),
    &[Setting::of("default", "murmur2").sticky()],
);

/// A windowed key goes where the key alone would, and the window is appended: its start, and of a session its end as well.
pub(super) const KAFKA_STREAMS: Client = client(
    "kafka-streams",
    ("kafka-streams", [4, 3, 1]),
    &[
        Setting::of("time windows", "murmur2").with_window(8),
        Setting::of("session windows", "murmur2").with_window(16),
    ],
);

pub(super) const SPRING_CLOUD_STREAM: Client = text_client(
    "spring-cloud-stream",
    ("spring-cloud-stream", [4, 2, 1]),
    &[Setting::of(
        "partition-key-expression",
        "java_string_hash_abs",
    )],
);

pub(super) const DEBEZIUM: Client = text_client(
    "debezium",
    ("debezium", [3, 4, 2]),
    &[Setting::of("PartitionRouting", "java_string_hash_positive")],
);

/// In this process, with sticky partitions turned off, so that what is spread can be seen to be.
pub(super) const LIBRDKAFKA: Client = client(
    "librdkafka",
    ("librdkafka", [2, 12, 1]),
    &[
        Setting::without_keys("random"),
        Setting::of("consistent", "crc32"),
        Setting::of("consistent_random", "crc32_spread_empty"),
        Setting::of("murmur2", "murmur2"),
        Setting::of("murmur2_random", "murmur2"),
        Setting::of("fnv1a", "fnv1a_abs"),
        Setting::of("fnv1a_random", "fnv1a_abs"),
    ],
);

/// With sticky partitions turned off wherever a partitioner is set.
pub(super) const CONFLUENT_KAFKA: Client = client(
    "confluent-kafka",
    ("confluent-python", [2, 16, 1]),
    &[
        Setting::of("default", "crc32_spread_empty").sticky(),
        Setting::without_keys("random"),
        Setting::of("consistent", "crc32"),
        Setting::of("consistent_random", "crc32_spread_empty"),
        Setting::of("murmur2", "murmur2"),
        Setting::of("murmur2_random", "murmur2"),
        Setting::of("fnv1a", "fnv1a_abs"),
        Setting::of("fnv1a_random", "fnv1a_abs"),
    ],
);

pub(super) const KAFKA_PYTHON: Client = client(
    "kafka-python",
    ("kafka-python", [3, 0, 12]),
    &[
        Setting::of("default", "murmur2"),
        Setting::of("StickyPartitioner", "murmur2").sticky(),
    ],
);

pub(super) const AIOKAFKA: Client = client(
    "aiokafka",
    ("aiokafka", [0, 14, 0]),
    &[Setting::of("default", "murmur2")],
);

pub(super) const KAFKAJS: Client = client(
    "kafkajs",
    ("kafkajs", [2, 2, 4]),
    &[
        Setting::of("default", "murmur2"),
        Setting::of("JavaCompatiblePartitioner", "murmur2"),
        Setting::of("LegacyPartitioner", "kafkajs_legacy"),
    ],
);

pub(super) const KAFKAJS_1: Client = client(
    "kafkajs-1",
    ("kafkajs", [1, 16, 0]),
    &[Setting::of("default", "kafkajs_legacy")],
);

pub(super) const PLATFORMATIC: Client = client(
    "platformatic",
    ("platformatic-kafka", [1, 35, 0]),
    &[
        Setting::of("default", "murmur2_unsigned"),
        Setting::of("defaultPartitioner", "murmur2_unsigned"),
        Setting::of("compatibilityPartitioner", "murmur2"),
    ],
);

pub(super) const KAFKA_NODE: Client = text_client(
    "kafka-node",
    ("kafka-node", [5, 0, 0]),
    &[Setting::of("partitionerType 3", "kafka_node_keyed")],
);

pub(super) const SARAMA: Client = client(
    "sarama",
    ("sarama", [1, 61, 1]),
    &[
        Setting::of("default", "fnv1a_abs"),
        Setting::of("NewHashPartitioner", "fnv1a_abs"),
        Setting::of("NewReferenceHashPartitioner", "fnv1a_positive"),
        Setting::of("NewConsistentCRCHashPartitioner", "crc32"),
        Setting::of("NewMurmur2Partitioner", "murmur2"),
    ],
);

/// With nothing configured it takes turns and looks at no key.
pub(super) const KAFKA_GO: Client = client(
    "kafka-go",
    ("kafka-go", [0, 4, 51]),
    &[
        Setting::without_keys("default"),
        Setting::of("Hash", "fnv1a_abs"),
        Setting::of("ReferenceHash", "fnv1a_positive"),
        Setting::of("CRC32Balancer", "crc32_spread_empty"),
        Setting::of("CRC32Balancer{Consistent: true}", "crc32"),
        Setting::of("Murmur2Balancer", "murmur2"),
        Setting::of("Murmur2Balancer{Consistent: true}", "murmur2"),
    ],
);

/// Its `SaramaHasher` is not what sarama does; `SaramaCompatHasher` is.
pub(super) const FRANZ_GO: Client = client(
    "franz-go",
    ("franz-go", [1, 22, 3]),
    &[
        Setting::of("default", "murmur2").sticky(),
        Setting::of("StickyKeyPartitioner(nil)", "murmur2").sticky(),
        Setting::of("KafkaHasher(fnv32a)", "fnv1a_positive").sticky(),
        Setting::of("SaramaHasher(fnv32a)", "fnv1a_unsigned").sticky(),
        Setting::of("SaramaHasher(crc32)", "crc32").sticky(),
        Setting::of("SaramaCompatHasher(fnv32a)", "fnv1a_abs").sticky(),
    ],
);

/// It can place keys and not send them: `tests/clients/rust` says why.
pub(super) const KAFKA_RUST: Client = client(
    "kafka-rust",
    ("kafka-rust", [0, 10, 0]),
    &[Setting::of("default", "xxhash32").drops_empty()],
);
