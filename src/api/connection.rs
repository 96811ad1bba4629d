//! `KafkaConnection`, and the connection that a group may write out itself.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};

use super::ConsumerGroupRef;

/// A reference by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocalRef {
    /// The name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// A connection written into a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineConnection {
    /// `host:port` of some brokers; the others are found through them.
    #[schemars(length(min = 1, max = 20), inner(length(min = 1, max = 300)), extend("x-kubernetes-list-type" = "atomic"))]
    pub bootstrap_servers: Vec<String>,
    /// Encrypt the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Log in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sasl: Option<Sasl>,
}

/// One key of a Secret or ConfigMap.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyRef {
    /// Secret (the default) or ConfigMap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<KeyRefKind>,
    /// The object's name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The key in the object's data.
    #[schemars(length(min = 1, max = 253))]
    pub key: String,
}

/// What holds the key: a `Secret` (the default) or a `ConfigMap`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum KeyRefKind {
    /// A Secret.
    #[default]
    Secret,
    /// A ConfigMap.
    ConfigMap,
}

/// TLS settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tls {
    /// The CA certificates (PEM) that sign the brokers' certificates; unset: the system's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_ref: Option<KeyRef>,
    /// The client's certificate chain (PEM), for mutual TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_ref: Option<KeyRef>,
    /// The client's private key (PEM), for mutual TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_ref: Option<KeyRef>,
}

/// SASL settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sasl {
    /// How to log in.
    pub mechanism: SaslMechanism,
    /// The user name, for PLAIN and SCRAM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username_ref: Option<KeyRef>,
    /// The password, for PLAIN and SCRAM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_ref: Option<KeyRef>,
    /// Where OAUTHBEARER tokens come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth: Option<Oauth>,
}

/// SASL mechanisms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SaslMechanism {
    /// User name and password in the clear: use it with TLS.
    #[default]
    #[serde(rename = "PLAIN")]
    Plain,
    /// RFC 5802 with SHA-256.
    #[serde(rename = "SCRAM-SHA-256")]
    ScramSha256,
    /// RFC 5802 with SHA-512.
    #[serde(rename = "SCRAM-SHA-512")]
    ScramSha512,
    /// Bearer tokens (RFC 7628).
    #[serde(rename = "OAUTHBEARER")]
    OauthBearer,
    /// AWS MSK's signed requests.
    #[serde(rename = "AWS_MSK_IAM")]
    AwsMskIam,
}

/// Where bearer tokens come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Oauth {
    /// A file in the operator's container that holds the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub token_file: Option<String>,
    /// An OIDC token endpoint (client credentials).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub token_endpoint: Option<String>,
    /// The client id at the endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id_ref: Option<KeyRef>,
    /// The client secret at the endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret_ref: Option<KeyRef>,
    /// The CA certificates (PEM) that sign the endpoint's certificate; unset: the system's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_ref: Option<KeyRef>,
    /// The scope to ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub scope: Option<String>,
}

/// A Kafka cluster and who may do what on it through the operator.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "copartition.dev",
    version = "v1alpha1",
    kind = "KafkaConnection",
    plural = "kafkaconnections",
    singular = "kafkaconnection",
    category = "kafka",
    status = "ConnectionStatus",
    derive = "PartialEq",
    doc = "A Kafka cluster that groups refer to, and the rules which namespaces may do what on it.",
    printcolumn(
        name = "Reachable",
        type_ = "string",
        description = "Whether Kafka answers.",
        json_path = ".status.conditions[?(@.type==\"KafkaReachable\")].status"
    ),
    printcolumn(
        name = "Cluster",
        type_ = "string",
        description = "The id of the Kafka cluster.",
        json_path = ".status.clusterId"
    ),
    printcolumn(
        name = "Version",
        type_ = "string",
        description = "The brokers' version, as far as their protocol tells.",
        json_path = ".status.brokerVersion"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "has(self.bootstrapServers) != has(self.strimzi)",
    "message": "give exactly one of bootstrapServers and strimzi"
}]))]
pub struct ConnectionSpec {
    /// `host:port` of some brokers; the others are found through them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 20), inner(length(min = 1, max = 300)), extend("x-kubernetes-list-type" = "atomic"))]
    pub bootstrap_servers: Option<Vec<String>>,
    /// Take address, CA and user from a Strimzi cluster instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strimzi: Option<StrimziRef>,
    /// Encrypt the connection; Secrets are the operator's namespace's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Log in; Secrets are the operator's namespace's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sasl: Option<Sasl>,
    /// Timeouts of requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<Timeouts>,
    /// The broker's setting `allow.everyone.if.no.acl.found`, which brokers never tell; state it to allow `alterLock`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_everyone_if_no_acl_found: Option<bool>,
    /// Who may do what. Without a rule nothing is allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200), extend("x-kubernetes-list-type" = "atomic"))]
    pub rules: Vec<AccessRule>,
    /// The names under which other operators know this cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20), extend("x-kubernetes-list-type" = "atomic"))]
    pub aliases: Vec<Alias>,
}

/// A Strimzi `Kafka` resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StrimziRef {
    /// Its namespace.
    #[schemars(length(min = 1, max = 63))]
    pub namespace: String,
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The name of the listener to use.
    #[schemars(length(min = 1, max = 63))]
    pub listener: String,
    /// The `KafkaUser` to log in as.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub user: Option<String>,
}

/// Timeouts of requests to Kafka.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Timeouts {
    /// The longest time that one request may take, for example `30s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 16), regex(pattern = r"^([0-9]+(ms|s|m|h))+$"))]
    pub request: Option<String>,
}

/// What the groups of some namespaces may do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessRule {
    /// The namespaces.
    pub namespaces: NamespaceMatch,
    /// Topics that they may create, grow and configure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub manage: Vec<NameMatch>,
    /// Topics that they may reference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub reference: Vec<NameMatch>,
    /// What the admission policies do about another operator's resource that would give one of the topics under `reference`
    /// another count than a group of these namespaces expects: Warn (the default) or Deny.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_guard: Option<ReferenceGuard>,
    /// Topics whose records may be sampled for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub sample: Vec<NameMatch>,
    /// Consumer groups that they may watch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub consumer_groups: Vec<ConsumerGroupRef>,
}

/// How admission policies guard a referenced topic: `Warn` (the default) tells its owner, who decides; `Deny` keeps its count
/// until the group wants another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ReferenceGuard {
    /// Its owner is warned, and decides.
    #[default]
    Warn,
    /// It keeps its count until the group wants another one.
    Deny,
}

/// Namespaces by name, by label, or both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamespaceMatch {
    /// By name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 500), inner(length(min = 1, max = 63)), extend("x-kubernetes-list-type" = "atomic"))]
    pub names: Vec<String>,
    /// By label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
}

/// Topic names: exactly one of the three.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "[has(self.name), has(self.prefix), has(self.pattern)].filter(x, x).size() == 1",
    "message": "give exactly one of name, prefix and pattern"
}]))]
pub struct NameMatch {
    /// One name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 249))]
    pub name: Option<String>,
    /// The beginning of the names.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 249))]
    pub prefix: Option<String>,
    /// A regular expression for the whole name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub pattern: Option<String>,
}

/// The name of a cluster in another operator's words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Alias {
    /// The other operator.
    pub kind: AliasKind,
    /// The namespace of its cluster resource, where that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
    /// The name of its cluster resource.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// Other operators that know Kafka clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum AliasKind {
    /// Strimzi's `Kafka`.
    #[default]
    Strimzi,
    /// Redpanda's `Redpanda`.
    Redpanda,
    /// Confluent for Kubernetes' `Kafka`.
    Confluent,
    /// Koperator's `KafkaCluster`.
    Koperator,
    /// Crossplane's `ProviderConfig`.
    Crossplane,
}

/// What is known of a connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionStatus {
    /// The generation that this status speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The cluster's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub cluster_id: Option<String>,
    /// The brokers' version, as far as their protocol tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub broker_version: Option<String>,
    /// Kafka permissions that the operator lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), inner(length(max = 512)), extend("x-kubernetes-list-type" = "atomic"))]
    pub missing_permissions: Vec<String>,
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}
