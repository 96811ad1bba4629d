//! `CoPartitionClaim`: the operator's durable memory of a group, and the inventory of held topics.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Alias;

/// One per group, written by the operator only. Edits by hand are overwritten.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "copartition.dev",
    version = "v1alpha1",
    kind = "CoPartitionClaim",
    plural = "copartitionclaims",
    singular = "copartitionclaim",
    category = "kafka",
    derive = "PartialEq",
    doc = "The operator's memory of one CoPartitionedTopicGroup: which topics it holds and what was seen and done. Written by the operator only.",
    printcolumn(
        name = "Namespace",
        type_ = "string",
        description = "The group's namespace.",
        json_path = ".spec.group.namespace"
    ),
    printcolumn(
        name = "Group",
        type_ = "string",
        description = "The group's name.",
        json_path = ".spec.group.name"
    ),
    printcolumn(
        name = "Cluster",
        type_ = "string",
        description = "The id of the Kafka cluster.",
        json_path = ".spec.clusterId"
    ),
    printcolumn(
        name = "Partitions",
        type_ = "integer",
        description = "The partition count last seen on all topics.",
        json_path = ".spec.recordedPartitions"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct ClaimSpec {
    /// The installation of the operator that wrote it.
    #[schemars(length(max = 253))]
    pub installation: String,
    /// The uid of the kube-system namespace: which Kubernetes cluster wrote it.
    #[schemars(length(max = 64))]
    pub kube_system_uid: String,
    /// The group.
    pub group: GroupRef,
    /// The Kafka cluster's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub cluster_id: Option<String>,
    /// The cluster's names in other operators' words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20), extend("x-kubernetes-list-type" = "atomic"))]
    pub aliases: Vec<Alias>,
    /// The count that all topics had when they were last seen aligned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_partitions: Option<i32>,
    /// Managed topics: held exclusively.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub holds: Vec<ClaimedTopic>,
    /// Referenced topics: shared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub references: Vec<ClaimedTopic>,
    /// Growths that were decided and not yet read back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub intents: Vec<GrowthIntent>,
    /// Consents that were used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000), extend("x-kubernetes-list-type" = "atomic"))]
    pub spent_consents: Vec<SpentConsent>,
    /// Consents to data loss that were used and still stand in the spec.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), extend("x-kubernetes-list-type" = "atomic"))]
    pub spent_data_loss: Vec<SpentDataLoss>,
    /// End offsets around the last growth of each topic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub growth_marks: Vec<GrowthMark>,
    /// ALTER locks that the operator set, or is about to set, and did not take away. Those on another cluster than `clusterId`
    /// wait to be undone there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 400), extend("x-kubernetes-list-type" = "atomic"))]
    pub locks: Vec<AclLock>,
}

/// The group that a claim belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupRef {
    /// Its namespace.
    #[schemars(length(max = 63))]
    pub namespace: String,
    /// Its name.
    #[schemars(length(max = 253))]
    pub name: String,
    /// Its uid.
    #[schemars(length(max = 64))]
    pub uid: String,
}

/// One topic of a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimedTopic {
    /// The topic's name.
    #[schemars(length(max = 249))]
    pub name: String,
    /// The id under which it was last accepted; absent before it was first seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub topic_id: Option<String>,
    /// The counts that it may have: one, or two while it grows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 2), extend("x-kubernetes-list-type" = "atomic"))]
    pub counts: Vec<i32>,
    /// Whether the operator created it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub created: bool,
    /// Whether it was seen holding records under this id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub holds_records: bool,
    /// Whether admission policies deny it other counts, although it is only referenced: the connection says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guarded: bool,
    /// Since when it is claimed.
    pub since: MicroTime,
}

/// A growth that was decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrowthIntent {
    /// The topic.
    #[schemars(length(max = 249))]
    pub topic: String,
    /// Its id.
    #[schemars(length(max = 64))]
    pub topic_id: String,
    /// The count before.
    pub from: i32,
    /// The count after.
    pub to: i32,
    /// Whether the spec's consent named it; it is then spent when the growth is read back.
    #[serde(default)]
    pub consented: bool,
}

/// A used consent.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SpentConsent {
    /// The topic.
    #[schemars(length(max = 249))]
    pub topic: String,
    /// The count before.
    pub from: i32,
    /// The count after.
    pub to: i32,
    /// The id that the topic had.
    #[schemars(length(max = 64))]
    pub topic_id: String,
}

/// A used consent to data loss.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SpentDataLoss {
    /// The topic.
    #[schemars(length(max = 249))]
    pub topic: String,
    /// The config key.
    #[schemars(length(max = 253))]
    pub key: String,
}

/// End offsets around a growth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrowthMark {
    /// The topic.
    #[schemars(length(max = 249))]
    pub topic: String,
    /// Its id.
    #[schemars(length(max = 64))]
    pub topic_id: String,
    /// The count before.
    pub from: i32,
    /// The count after.
    pub to: i32,
    /// When the growth was asked for.
    pub grown_at: MicroTime,
    /// End offsets right before the growth, one a partition in base 36, comma-separated.
    #[schemars(length(max = 280_000))]
    pub before: String,
    /// End offsets at the end of the settling window; absent until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 280_000))]
    pub after: Option<String>,
}

/// A DENY ALTER ACL that the operator set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AclLock {
    /// The topic.
    #[schemars(length(max = 249))]
    pub topic: String,
    /// The cluster on which it was set.
    #[schemars(length(max = 253))]
    pub cluster_id: String,
    /// The `KafkaConnection` that led there, and by which it is undone when the group is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub connection: Option<String>,
}
