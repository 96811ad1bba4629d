//! Counters of what is asked of Kafka.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use super::error::Error;

/// A Kafka API that the operator uses: the `api` label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// The protocol's own names.
#[allow(clippy::enum_variant_names)]
pub(super) enum Api {
    DescribeCluster,
    DescribeTopics,
    ListOffsets,
    DescribeConfigs,
    CreateTopics,
    CreatePartitions,
    IncrementalAlterConfigs,
    ApiVersions,
    SaslHandshake,
    SaslAuthenticate,
    Metadata,
    ListGroups,
    DescribeGroups,
    ConsumerGroupDescribe,
    StreamsGroupDescribe,
    OffsetFetch,
    DescribeAcls,
    CreateAcls,
    DeleteAcls,
}

impl Api {
    /// The protocol's name of it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::DescribeCluster => "DescribeCluster",
            Self::DescribeTopics => "DescribeTopics",
            Self::ListOffsets => "ListOffsets",
            Self::DescribeConfigs => "DescribeConfigs",
            Self::CreateTopics => "CreateTopics",
            Self::CreatePartitions => "CreatePartitions",
            Self::IncrementalAlterConfigs => "IncrementalAlterConfigs",
            Self::ApiVersions => "ApiVersions",
            Self::SaslHandshake => "SaslHandshake",
            Self::SaslAuthenticate => "SaslAuthenticate",
            Self::Metadata => "Metadata",
            Self::ListGroups => "ListGroups",
            Self::DescribeGroups => "DescribeGroups",
            Self::ConsumerGroupDescribe => "ConsumerGroupDescribe",
            Self::StreamsGroupDescribe => "StreamsGroupDescribe",
            Self::OffsetFetch => "OffsetFetch",
            Self::DescribeAcls => "DescribeAcls",
            Self::CreateAcls => "CreateAcls",
            Self::DeleteAcls => "DeleteAcls",
        }
    }
}

/// The labels of `kafka_requests`; both sets of values are bounded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    api: &'static str,
    outcome: &'static str,
}

/// Counters of what is asked of Kafka, shared by all clusters.
#[derive(Debug, Default)]
pub struct Metrics {
    requests: Family<Labels, Counter>,
    polls: Family<PollLabels, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PollLabels {
    outcome: &'static str,
}

impl Metrics {
    /// Registers the counters: `kafka_requests` by `api` and `outcome` (`Ok` or the kind of [`Error`]), and
    /// `kafka_polls` by `outcome`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "kafka_requests",
            "Requests to Kafka brokers by API and outcome",
            self.requests.clone(),
        );
        registry.register(
            "kafka_polls",
            "Snapshots of a Kafka cluster's named topics by outcome",
            self.polls.clone(),
        );
    }

    pub(super) fn request<T>(&self, api: Api, result: &Result<T, Error>) {
        let labels = Labels {
            api: api.name(),
            outcome: outcome(result),
        };
        self.requests.get_or_create(&labels).inc();
    }

    pub(super) fn poll<T>(&self, result: &Result<T, Error>) {
        self.polls
            .get_or_create(&PollLabels {
                outcome: outcome(result),
            })
            .inc();
    }

    /// How many requests were made in all, for tests and benchmarks.
    pub fn requests(&self, api: &str, outcome: &str) -> u64 {
        let known = [
            Api::DescribeCluster,
            Api::DescribeTopics,
            Api::ListOffsets,
            Api::DescribeConfigs,
            Api::CreateTopics,
            Api::CreatePartitions,
            Api::IncrementalAlterConfigs,
            Api::ApiVersions,
            Api::SaslHandshake,
            Api::SaslAuthenticate,
            Api::Metadata,
            Api::ListGroups,
            Api::DescribeGroups,
            Api::ConsumerGroupDescribe,
            Api::StreamsGroupDescribe,
            Api::OffsetFetch,
            Api::DescribeAcls,
            Api::CreateAcls,
            Api::DeleteAcls,
        ];
        let outcomes = [
            "Ok",
            "Unreachable",
            "AuthenticationFailed",
            "CertificateRejected",
            "NotAuthorized",
            "Timeout",
            "Rejected",
        ];
        let api = known.into_iter().map(Api::name).find(|name| *name == api);
        let outcome = outcomes.into_iter().find(|name| *name == outcome);
        let (Some(api), Some(outcome)) = (api, outcome) else {
            return 0;
        };
        self.requests
            .get(&Labels { api, outcome })
            .map_or(0, |counter| counter.get())
    }
}

fn outcome<T>(result: &Result<T, Error>) -> &'static str {
    result.as_ref().map_or_else(Error::kind, |_| "Ok")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_api_and_outcome() {
        let metrics = Metrics::default();
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        metrics.request(Api::CreateTopics, &Ok(()));
        metrics.request(Api::CreateTopics, &Ok(()));
        metrics.request::<()>(Api::ListOffsets, &Err(Error::Timeout("x".to_owned())));
        assert_eq!(metrics.requests("CreateTopics", "Ok"), 2);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        assert!(text.contains("kafka_requests_total{api=\"CreateTopics\",outcome=\"Ok\"} 2"));
        assert!(text.contains("kafka_requests_total{api=\"ListOffsets\",outcome=\"Timeout\"} 1"));
    }
}
