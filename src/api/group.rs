//! `CoPartitionedTopicGroup`: the topics that have to stay co-partitioned.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GroupStatus, InlineConnection, LocalRef};

/// The topics of one group have one partition count and one key scheme.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "copartition.dev",
    version = "v1alpha1",
    kind = "CoPartitionedTopicGroup",
    plural = "copartitionedtopicgroups",
    singular = "copartitionedtopicgroup",
    shortname = "cptg",
    category = "kafka",
    namespaced,
    status = "GroupStatus",
    derive = "PartialEq",
    doc = "Kafka topics that have to stay co-partitioned: the same key lies on the same-numbered partition of each.",
    printcolumn(
        name = "Partitions",
        type_ = "integer",
        json_path = ".status.recordedPartitions",
        description = "The partition count last seen on all topics."
    ),
    printcolumn(
        name = "Topics",
        type_ = "string",
        json_path = ".status.topicsAligned",
        description = "How many topics have the group's count, of how many."
    ),
    printcolumn(
        name = "Aligned",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"PartitionsAligned\")].status",
        description = "Every topic exists with the group's count."
    ),
    printcolumn(
        name = "Configs",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"TopicConfigsApplied\")].status",
        description = "The declared config holds."
    ),
    printcolumn(
        name = "Verified",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"KeysVerified\")].status",
        description = "Sampled records lie where the declared scheme puts them."
    ),
    printcolumn(
        name = "Colocated",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"ConsumersColocated\")].status",
        description = "Same-numbered partitions sit on one consumer."
    ),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status",
        description = "Accepted, aligned, and no scheme mismatch."
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].reason",
        description = "Why it is or is not ready."
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct GroupSpec {
    /// The Kafka cluster: exactly one of `connectionRef` and `inline`.
    #[schemars(extend("x-kubernetes-map-type" = "atomic", "x-kubernetes-validations" = [{
        "rule": "has(self.connectionRef) != has(self.inline)",
        "message": "give exactly one of kafka.connectionRef and kafka.inline"
    }]))]
    pub kafka: KafkaRef,

    /// Enforce (the default) creates, grows and configures topics; Observe only reports and never writes to Kafka.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,

    /// The partition count of every topic of the group. Unset: the count that the existing topics agree on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 20_000))]
    pub partitions: Option<i32>,

    /// The replication factor of topics that the operator creates; unset: the broker's default. A difference on an
    /// existing topic is reported, never changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000))]
    pub replication_factor: Option<i16>,

    /// How every producer of the group turns a key into a partition. Unset: only counts are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_scheme: Option<KeySchemeSpec>,

    /// The topics of the group.
    #[schemars(length(min = 1, max = 100), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub topics: Vec<TopicSpec>,

    /// Keys whose layout is computed into the status.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), inner(length(max = 256)), extend("x-kubernetes-list-type" = "atomic"))]
    pub sample_keys: Vec<String>,

    /// The consent that keys may move: the named topics may grow from exactly `fromPartitions` to exactly
    /// `toPartitions`. It is used once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-map-type" = "atomic"))]
    pub accept_key_movement: Option<AcceptKeyMovement>,

    /// The consent that a declared config may drop records of an adopted topic. It is used once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-map-type" = "atomic"))]
    pub accept_data_loss: Option<AcceptDataLoss>,

    /// Deny: hold a DENY ALTER ACL on the topics, so that nobody but super users can change their partition counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alter_lock: Option<AlterLock>,

    /// Check sampled records against the declared scheme; present means on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,

    /// Consumer groups whose assignments are watched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), extend("x-kubernetes-list-type" = "atomic"))]
    pub consumer_groups: Vec<ConsumerGroupRef>,

    /// Redis Cluster keys that are derived from the same logical key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redis: Option<Redis>,
}

/// Which Kafka cluster a group lives on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KafkaRef {
    /// A `KafkaConnection` of the platform team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_ref: Option<LocalRef>,
    /// The connection written out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inline: Option<InlineConnection>,
}

/// Whether the operator writes to Kafka: `Enforce` (the default) creates, grows and configures Managed topics, `Observe` only
/// reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Mode {
    /// Create, grow and configure Managed topics.
    #[default]
    Enforce,
    /// Report only.
    Observe,
}

/// A key scheme as it is declared: how a logical key becomes bytes, and how the bytes choose a partition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "(self.partitioner == 'custom') == has(self.name)",
    "message": "give a name exactly if the partitioner is custom: custom partitioners are compared by it"
}]))]
pub struct KeySchemeSpec {
    /// How a logical key becomes bytes: `utf8`, `int16`, `int32`, `int64`, `float64`, `uuid` (as text), `uuid_bytes`, `hex`, `base64`,
    /// `json`, `json_string`, `avro_string` or `avro_long`; `confluent:ID:ENCODING` with a registry's schema id in the key,
    /// `confluent_header:ENCODING` with the id in a header, `windowed:ENCODING` and `session_windowed:ENCODING` for windows of
    /// Kafka Streams.
    #[schemars(length(min = 1, max = 63))]
    pub encoding: String,
    /// How the bytes choose a partition: `murmur2` (Java's default), `murmur2_unsigned`, `crc32`, `crc32_spread_empty` (librdkafka's
    /// default), `fnv1a_abs` (sarama's default), `fnv1a_positive`, `fnv1a_unsigned`, `kafkajs_legacy`, `java_string_hash_abs`,
    /// `java_string_hash_positive`, `kafka_node_keyed`, `xxhash32` or `custom`.
    #[schemars(length(min = 1, max = 63))]
    pub partitioner: String,
    /// The name of a `custom` partitioner; custom partitioners are compared by this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
}

/// One topic of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopicSpec {
    /// The topic's name in Kafka.
    #[schemars(length(min = 1, max = 249), regex(pattern = r"^[a-zA-Z0-9._-]+$"), extend("x-kubernetes-validations" = [
        {"rule": "self != '.' && self != '..'", "message": "Kafka does not allow the topic names '.' and '..'"},
        {"rule": "!self.startsWith('__')", "message": "names that begin with '__' are Kafka's own; name another topic"}
    ]))]
    pub name: String,

    /// Managed (the default) or Referenced: owned elsewhere, checked and never written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub management: Option<Management>,

    /// Topic config to hold, as strings; keys that are not listed are left alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 50, "additionalProperties" = {"type": "string", "maxLength": 4096}))]
    pub config: BTreeMap<String, String>,

    /// The key scheme of this topic, where it differs from the group's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_scheme: Option<KeySchemeSpec>,

    /// The clients that write this topic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20), extend("x-kubernetes-list-type" = "atomic"))]
    pub producers: Vec<Producer>,
}

/// Who owns the topic: `Managed` (the default) the group, so the operator creates, grows and configures it; `Referenced`
/// somebody else (Strimzi, Terraform, another group), so it is checked and never written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Management {
    /// The group: created, grown and configured by the operator.
    #[default]
    Managed,
    /// Somebody else (Strimzi, Terraform, another group): checked, never written.
    Referenced,
}

/// A client that writes a topic, by its name and its own names of settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Producer {
    /// The client library, for example `java`, `librdkafka`, `kafkajs`; docs/reference/key-schemes.md lists all. One that does not place records by key is
    /// refused.
    #[schemars(length(min = 1, max = 63))]
    pub client: String,
    /// The library's version, where its default changed over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub version: Option<String>,
    /// The client's own name of its partitioner setting, where it is not the default: `murmur2_random`, `ReferenceHash`;
    /// `custom:NAME` for one of your own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub partitioner: Option<String>,
}

/// A consent to one growth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcceptKeyMovement {
    /// The topics that may grow.
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 249)), extend("x-kubernetes-list-type" = "atomic"))]
    pub topics: Vec<String>,
    /// The count that these topics have now.
    #[schemars(range(min = 1, max = 20_000))]
    pub from_partitions: i32,
    /// The count that they shall have: `spec.partitions`.
    #[schemars(range(min = 1, max = 20_000))]
    pub to_partitions: i32,
    /// The topics' live ids. Needed only to use numbers again that were used before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), inner(length(min = 1, max = 64)), extend("x-kubernetes-list-type" = "atomic"))]
    pub topic_ids: Vec<String>,
}

/// A consent to config that drops records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcceptDataLoss {
    /// The topic.
    #[schemars(length(min = 1, max = 249))]
    pub topic: String,
    /// The config keys whose declared values may be applied although they drop records.
    #[schemars(length(min = 1, max = 50), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "atomic"))]
    pub keys: Vec<String>,
}

/// `Deny`: the operator holds an ACL on every Managed topic that denies ALTER to everybody, and lifts it for its own growths.
/// `None` (the default): it holds none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum AlterLock {
    /// Hold one on every Managed topic.
    Deny,
    /// Hold none (the default).
    #[default]
    None,
}

/// How records are sampled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// Time between two samples, for example `1h`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 16), regex(pattern = r"^([0-9]+(ms|s|m|h))+$"))]
    pub interval: Option<String>,
    /// The newest records that are read of each partition.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub records_per_partition: Option<i32>,
    /// Whether sampled keys may appear in the status; they can be personal data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reveal_keys: Option<bool>,
}

/// A consumer group, by its id or by a prefix of ids: exactly one of the two.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "has(self.groupId) != has(self.prefix)",
    "message": "give exactly one of groupId and prefix"
}]))]
pub struct ConsumerGroupRef {
    /// One consumer group's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 249))]
    pub group_id: Option<String>,
    /// The beginning of the ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 249))]
    pub prefix: Option<String>,
}

/// Redis Cluster keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Redis {
    /// Key templates; `%s` stands for the logical key, for example `market:{%s}`.
    #[schemars(length(min = 1, max = 50), inner(length(min = 1, max = 256)), extend("x-kubernetes-list-type" = "atomic"))]
    pub key_templates: Vec<String>,
}
