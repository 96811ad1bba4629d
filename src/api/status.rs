//! The status of a `CoPartitionedTopicGroup`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Management;

/// What is known of a group. It is computed anew on each pass from the spec, the claim and what is seen on Kafka.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupStatus {
    /// The generation that this status speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The Kafka cluster's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub cluster_id: Option<String>,
    /// The count that all topics had when they were last seen aligned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_partitions: Option<i32>,
    /// False only while every end offset of every topic is 0 on the same topic ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds_records: Option<bool>,
    /// How many topics have the group's count, of how many; for example `2/3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16))]
    pub topics_aligned: Option<String>,
    /// One entry a topic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub topics: Vec<TopicStatus>,
    /// Where the sample keys lie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<LayoutStatus>,
    /// What the records of the topics said; only with `spec.verification`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<VerificationStatus>,
    /// The conditions; docs/reference/conditions.md lists their types and reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// What is known of one topic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopicStatus {
    /// The topic's name.
    #[schemars(length(max = 249))]
    pub name: String,
    /// Managed or Referenced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub management: Option<Management>,
    /// Kafka's id of the topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub topic_id: Option<String>,
    /// The live partition count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partitions: Option<i32>,
    /// The live replication factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replication_factor: Option<i16>,
    /// The verdict on this topic alone.
    #[schemars(length(max = 63))]
    pub verdict: String,
    /// What is wrong and what to do, where something is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub message: Option<String>,
}

/// Where the sample keys lie.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LayoutStatus {
    /// The key scheme, as `encoding/partitioner`.
    #[schemars(length(max = 128))]
    pub scheme: String,
    /// The partition count that the layout was computed at.
    pub partitions: i32,
    /// One row a sample key.
    #[serde(default)]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub keys: Vec<LayoutKey>,
    /// How many sample keys lie on each partition, from partition 0 on; capped at 100 partitions.
    #[serde(default)]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub keys_per_partition: Vec<i32>,
    /// The partitions without a sample key; the first 100 of them.
    // Always written, as the next one is: a merge patch would keep what is left out.
    #[serde(default)]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub empty_partitions: Vec<i32>,
    /// The sample keys of the fullest partition over an even share: `1.00` is even.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub skew: Option<String>,
}

/// Where one key lies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LayoutKey {
    /// The logical key.
    #[schemars(length(max = 256))]
    pub key: String,
    /// The bytes that are hashed, in hexadecimal.
    // The most that an encoding makes of 256 characters: as a JSON string each outside the basic plane takes 12 bytes.
    #[schemars(length(max = 8192))]
    pub bytes: String,
    /// Their hash of 32 bits, in hexadecimal; absent if the partitioner has none for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 8))]
    pub hash: Option<String>,
    /// The partition; absent for a key that the partitioner spreads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<i32>,
}

/// What the records of the topics said when they were last read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerificationStatus {
    /// When they were read. While the verdict stays the same it is written at most every ten minutes.
    pub last_verified_time: Time,
    /// One entry for each topic that was read.
    #[serde(default)]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub topics: Vec<VerifiedTopic>,
}

/// What the records of one topic said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedTopic {
    /// The topic's name.
    #[schemars(length(max = 249))]
    pub name: String,
    /// The id that it had.
    #[schemars(length(max = 64))]
    pub topic_id: String,
    /// The partition count that it had.
    pub partitions: i32,
    /// The scheme that was declared for it, as `encoding/partitioner`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 400))]
    pub scheme: Option<String>,
    /// The verdict on this topic alone: a reason of KeysVerified.
    #[schemars(length(max = 63))]
    pub reason: String,
    /// How many records were judged.
    pub records: i64,
    /// How many distinct keys they have, as far as keys were told apart.
    pub distinct_keys: i64,
    /// The share of keyed records that lie on the partition of the declared scheme, rounded down: `1.000` is all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 8))]
    pub share_placed: Option<String>,
    /// The share of records without a key, rounded up: `0.000` is none of them.
    #[schemars(length(max = 8))]
    pub share_unkeyed: String,
    /// Some keys that lie elsewhere; only with `revealKeys`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 5), extend("x-kubernetes-list-type" = "atomic"))]
    pub misplaced_keys: Vec<MisplacedKey>,
}

/// A key that lies elsewhere than the declared scheme says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MisplacedKey {
    /// The key's bytes as text, or in hexadecimal after `0x` where they are none; cut after 64 bytes.
    #[schemars(length(max = 256))]
    pub key: String,
    /// Where a record of it was seen.
    pub partition: i32,
    /// Where the declared scheme puts it.
    pub predicted: i32,
}
