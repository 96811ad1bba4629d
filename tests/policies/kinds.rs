//! The topics of other operators, as far as a policy looks at them: where each kind writes the topic's name, the count
//! and the cluster. The definitions here say no more than that; the operators' own have these fields in the same places.

use serde_json::{Value, json};

/// A kind of resource that stands for a Kafka topic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// The policy's file, without `.yaml`.
    pub(crate) file: &'static str,
    /// What the claim's alias calls the operator.
    pub(crate) alias: &'static str,
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) camel: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) namespaced: bool,
    /// A Crossplane `Topic` of a namespace may name a `ProviderConfig` of that namespace.
    pub(crate) own_config: bool,
}

const fn kind(
    file: &'static str,
    alias: &'static str,
    group: &'static str,
    camel: &'static str,
) -> Kind {
    Kind {
        file,
        alias,
        group,
        version: "v1alpha1",
        camel,
        plural: if camel.len() == "Topic".len() {
            "topics"
        } else {
            "kafkatopics"
        },
        namespaced: true,
        own_config: false,
    }
}

pub(crate) const STRIMZI: Kind = Kind {
    version: "v1",
    ..kind("strimzi", "Strimzi", "kafka.strimzi.io", "KafkaTopic")
};

pub(crate) const KINDS: [Kind; 7] = [
    STRIMZI,
    Kind {
        version: "v1alpha2",
        ..kind("redpanda", "Redpanda", "cluster.redpanda.com", "Topic")
    },
    Kind {
        version: "v1beta1",
        ..kind(
            "confluent",
            "Confluent",
            "platform.confluent.io",
            "KafkaTopic",
        )
    },
    kind(
        "koperator",
        "Koperator",
        "kafka.banzaicloud.io",
        "KafkaTopic",
    ),
    Kind {
        namespaced: false,
        ..kind(
            "crossplane",
            "Crossplane",
            "topic.kafka.crossplane.io",
            "Topic",
        )
    },
    kind(
        "crossplane",
        "Crossplane",
        "topic.kafka.m.crossplane.io",
        "Topic",
    ),
    Kind {
        own_config: true,
        ..kind(
            "crossplane",
            "Crossplane",
            "topic.kafka.m.crossplane.io",
            "Topic",
        )
    },
];

/// What a resource says of its topic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Says<'a> {
    /// The resource's own name.
    pub(crate) name: &'a str,
    pub(crate) namespace: &'a str,
    /// The topic's name; None where it is the resource's.
    pub(crate) topic: Option<&'a str>,
    pub(crate) count: i32,
    pub(crate) cluster: &'a str,
}

impl Kind {
    pub(crate) fn definition(&self) -> Value {
        let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{}.{}", self.plural, self.group)},
            "spec": {
                "group": self.group,
                "scope": if self.namespaced { "Namespaced" } else { "Cluster" },
                "names": {
                    "kind": self.camel,
                    "plural": self.plural,
                    "singular": self.camel.to_lowercase(),
                },
                "versions": [{
                    "name": self.version,
                    "served": true,
                    "storage": true,
                    "schema": {"openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": open},
                    }},
                }],
            },
        })
    }

    /// The name by which kubectl finds it.
    pub(crate) fn resource(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    pub(crate) fn manifest(&self, says: Says<'_>) -> Value {
        let mut object = json!({
            "apiVersion": format!("{}/{}", self.group, self.version),
            "kind": self.camel,
            "metadata": {"name": says.name},
        });
        if self.namespaced {
            object["metadata"]["namespace"] = json!(says.namespace);
        }
        match self.alias {
            "Strimzi" => {
                object["metadata"]["labels"] = json!({"strimzi.io/cluster": says.cluster});
                object["spec"] = json!({"partitions": says.count, "replicas": 1});
                if let Some(topic) = says.topic {
                    object["spec"]["topicName"] = json!(topic);
                }
            }
            "Redpanda" => {
                object["spec"] = json!({
                    "cluster": {"clusterRef": {"name": says.cluster}}, "partitions": says.count,
                });
                if let Some(topic) = says.topic {
                    object["spec"]["overwriteTopicName"] = json!(topic);
                }
            }
            "Confluent" => {
                object["spec"] = json!({
                    "kafkaClusterRef": {"name": says.cluster}, "partitionCount": says.count, "replicas": 1,
                });
                if let Some(topic) = says.topic {
                    object["spec"]["name"] = json!(topic);
                }
            }
            "Koperator" => {
                object["spec"] = json!({
                    "clusterRef": {"name": says.cluster}, "name": says.topic.unwrap_or(says.name),
                    "partitions": says.count, "replicationFactor": 1,
                });
            }
            _ => {
                object["spec"] = json!({
                    "forProvider": {"partitions": says.count, "replicationFactor": 1},
                    "providerConfigRef": {"name": says.cluster},
                });
                if self.group.contains(".m.") {
                    let kind = if self.own_config {
                        "ProviderConfig"
                    } else {
                        "ClusterProviderConfig"
                    };
                    object["spec"]["providerConfigRef"]["kind"] = json!(kind);
                }
                if let Some(topic) = says.topic {
                    object["metadata"]["annotations"] =
                        json!({"crossplane.io/external-name": topic});
                }
            }
        }
        object
    }

    /// The alias by which a claim says that `cluster`, which lives in `namespace`, is the group's.
    pub(crate) fn alias(&self, cluster: &str, namespace: &str) -> Value {
        let mut alias = json!({"kind": self.alias, "name": cluster});
        let whole_cluster = self.alias == "Crossplane" && !self.own_config;
        if !whole_cluster {
            alias["namespace"] = json!(namespace);
        }
        alias
    }
}
