//! A namespace with an operator that watches it alone, and what that operator did to Kafka. No tests here.

use serde_json::Value;

use crate::env::{Env, KafkaCluster, Operator, OperatorOptions, unique, wait_for};
use crate::group::{self, DEADLINE, Group};

/// The operator ends with the scene.
pub(crate) struct Scene<'a> {
    pub(crate) env: &'a Env,
    pub(crate) namespace: String,
    pub(crate) operator: Operator,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(env: &'a Env, prefix: &str) -> Self {
        Self::in_namespace(env, env.namespace(prefix))
    }

    /// Another operator in a namespace whose first one has ended.
    pub(crate) fn in_namespace(env: &'a Env, namespace: String) -> Self {
        let options = OperatorOptions {
            namespaces: vec![namespace.clone()],
            ..OperatorOptions::default()
        };
        Self {
            env,
            operator: Operator::start(&env.kube, options),
            namespace,
        }
    }

    /// A group of this namespace.
    pub(crate) fn group(&self, name: &str) -> Group<'a> {
        Group::new(&self.env.kube, &self.namespace, name)
    }

    /// See [`group::spec`].
    pub(crate) fn spec(&self, partitions: impl Into<Option<i32>>, topics: &[&str]) -> Value {
        group::spec(&self.env.kafka.bootstrap(), partitions, topics)
    }

    /// A topic of somebody else's that holds one record a ticker.
    pub(crate) fn topic_with_records(&self, topic: &str, partitions: usize) {
        self.env.kafka.create_topic(topic, partitions);
        self.produce(topic);
    }

    /// One record a ticker.
    pub(crate) fn produce(&self, topic: &str) {
        let records: Vec<_> = group::TICKERS.iter().map(|key| (*key, "1")).collect();
        self.env.kafka.produce(topic, &records);
    }

    /// Waits until the operator has looked at Kafka three more times: what it means to do, it has done by then.
    pub(crate) fn look_again(&self) {
        let from = self.polls();
        wait_for("three more polls", DEADLINE, || match self.polls() - from {
            0..3 => Err(self.operator.metrics()),
            _ => Ok(()),
        });
    }

    fn polls(&self) -> u64 {
        let metrics = self.operator.metrics();
        metrics
            .lines()
            .find_map(|line| line.strip_prefix("copartition_kafka_polls_total{outcome=\"Ok\"} "))
            .map_or(0, |count| count.parse().expect("a counter"))
    }

    /// What the operator has asked Kafka to change on a topic, each as the API's name and the request. Requests that
    /// only validate are left out.
    pub(crate) fn writes(&self, topic: &str) -> Vec<(String, Value)> {
        writes(&self.env.kafka, topic)
    }

    /// Fails if the operator has written to one of these topics, now and after more looks at Kafka.
    pub(crate) fn assert_never_writes(&self, topics: &[&str]) {
        self.look_again();
        for topic in topics {
            assert_eq!(self.writes(topic), [], "written to {topic}");
        }
    }

    /// Fails if the operator has tried to grow one of these topics, now and after more looks at Kafka.
    pub(crate) fn assert_never_grows(&self, topics: &[&str]) {
        self.look_again();
        for topic in topics {
            let growths = self.growths(topic);
            assert_eq!(growths, Vec::<Value>::new(), "{topic} was grown");
        }
    }

    /// The requests that added partitions to a topic.
    pub(crate) fn growths(&self, topic: &str) -> Vec<Value> {
        self.writes(topic)
            .into_iter()
            .filter(|(api, _)| api == "CREATE_PARTITIONS")
            .map(|(_, request)| request)
            .collect()
    }
}

/// What the operator's binary has asked Kafka to change on a topic, each as the API's name and the request. Requests that
/// only validate are left out.
pub(crate) fn writes(kafka: &KafkaCluster, topic: &str) -> Vec<(String, Value)> {
    kafka.flush_request_log();
    [
        "CREATE_TOPICS",
        "CREATE_PARTITIONS",
        "INCREMENTAL_ALTER_CONFIGS",
    ]
    .iter()
    .flat_map(|api| kafka.requests(api, "copartition-operator"))
    .map(|logged| (logged.api, logged.entry["request"].clone()))
    .filter(|(_, request)| request["validateOnly"] != true)
    .filter(|(_, request)| named(request).contains(&topic))
    .collect()
}

/// The topics that a logged request names.
pub(crate) fn named(request: &Value) -> Vec<&str> {
    let items = |list: &str| request[list].as_array().into_iter().flatten();
    items("topics")
        .filter_map(|item| item["name"].as_str())
        .chain(items("resources").filter_map(|item| item["resourceName"].as_str()))
        .collect()
}

/// Topic names that no other test uses.
pub(crate) fn names<const N: usize>(prefixes: [&str; N]) -> [String; N] {
    prefixes.map(unique)
}
