//! What somebody else does to Kafka while the operator runs, and what a look past the operator shows there.

use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewPartitions};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};

use crate::env::KafkaCluster;

const DEADLINE: Duration = Duration::from_secs(60);

/// A client that is not the operator's.
pub(crate) struct Somebody {
    config: ClientConfig,
    admin: AdminClient<DefaultClientContext>,
}

impl Somebody {
    pub(crate) fn of(kafka: &KafkaCluster) -> Result<Self, String> {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", kafka.bootstrap())
            .set("client.id", "somebody");
        let admin = config.create().map_err(|e| e.to_string())?;
        Ok(Self { config, admin })
    }

    /// Adds partitions to one topic.
    pub(crate) async fn grow(&self, topic: &str, partitions: usize) -> Result<(), String> {
        let new = [NewPartitions::new(topic, partitions)];
        let results = self
            .admin
            .create_partitions(&new, &AdminOptions::new())
            .await;
        match results.as_deref() {
            Ok([Ok(_)]) => Ok(()),
            other => Err(format!("growing {topic} to {partitions}: {other:?}")),
        }
    }

    /// Writes one record to each topic.
    pub(crate) fn write_to_each(&self, topics: impl Iterator<Item = String>) -> Result<(), String> {
        let producer: BaseProducer = self.config.create().map_err(|e| e.to_string())?;
        for topic in topics {
            let record = BaseRecord::to(&topic).key("BBCA").payload("1");
            producer
                .send(record)
                .map_err(|(e, _)| format!("writing to {topic}: {e}"))?;
            producer.poll(Duration::ZERO);
        }
        producer.flush(DEADLINE).map_err(|e| e.to_string())
    }

    /// How many topics have exactly so many partitions.
    pub(crate) fn topics_with(&self, partitions: usize) -> Result<usize, String> {
        let consumer: BaseConsumer = self.config.create().map_err(|e| e.to_string())?;
        let metadata = consumer
            .fetch_metadata(None, DEADLINE)
            .map_err(|e| e.to_string())?;
        let topics = metadata.topics().iter();
        Ok(topics
            // Kafka's own topics are not counted.
            .filter(|topic| !topic.name().starts_with("__"))
            .filter(|topic| topic.partitions().len() == partitions)
            .count())
    }

    /// Fails unless so many topics have exactly so many partitions: what the operator says is not taken on trust.
    pub(crate) fn check(&self, topics: usize, partitions: usize) -> Result<(), String> {
        match self.topics_with(partitions)? {
            seen if seen == topics => Ok(()),
            seen => Err(format!(
                "Kafka shows {seen} topics with {partitions} partitions, not {topics}, though all groups are Ready"
            )),
        }
    }
}
