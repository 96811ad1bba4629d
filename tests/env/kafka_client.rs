//! What a test does to Kafka itself, without starting a JVM for it: topics and records of "somebody else".

use std::collections::BTreeMap;
use std::time::Duration;

use rdkafka::admin::{
    AdminClient, AdminOptions, AlterConfig, ConfigSource, NewPartitions, NewTopic,
    ResourceSpecifier, TopicReplication,
};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{ClientConfig, Offset, TopicPartitionList, config::FromClientConfig};

use super::{KafkaCluster, unique, wait_for};

/// The client id of everything here, so that a count of requests can leave it out.
const CLIENT_ID: &str = "test-client";
/// Also when a node was just killed: its partitions get another leader first.
const DEADLINE: Duration = Duration::from_secs(60);

impl KafkaCluster {
    /// Creates a topic with one replica and waits until metadata shows it.
    pub(crate) fn create_topic(&self, topic: &str, partitions: usize) {
        self.create_topic_with(topic, partitions, &[]);
    }

    /// As [`Self::create_topic`], with config.
    pub(crate) fn create_topic_with(
        &self,
        topic: &str,
        partitions: usize,
        config: &[(&str, &str)],
    ) {
        let count = i32::try_from(partitions).expect("a partition count");
        let admin: AdminClient<DefaultClientContext> = self.client();
        let mut new = NewTopic::new(topic, count, TopicReplication::Fixed(1));
        new.config.extend_from_slice(config);
        let new = [new];
        let results = run(admin.create_topics(&new, &AdminOptions::new())).expect("CreateTopics");
        assert!(
            results.iter().all(Result::is_ok),
            "cannot create the topic {topic}: {results:?}"
        );
        self.wait_for_partitions(topic, partitions);
    }

    /// Adds partitions to a topic, as a person with a tool would, and waits until metadata shows them.
    pub(crate) fn grow_topic(&self, topic: &str, partitions: usize) {
        let admin: AdminClient<DefaultClientContext> = self.client();
        let new = [NewPartitions::new(topic, partitions)];
        let results =
            run(admin.create_partitions(&new, &AdminOptions::new())).expect("CreatePartitions");
        assert!(
            results.iter().all(Result::is_ok),
            "cannot grow the topic {topic}: {results:?}"
        );
        self.wait_for_partitions(topic, partitions);
    }

    /// Deletes a topic and waits until metadata has lost it.
    pub(crate) fn delete_topic(&self, topic: &str) {
        let admin: AdminClient<DefaultClientContext> = self.client();
        let results =
            run(admin.delete_topics(&[topic], &AdminOptions::new())).expect("DeleteTopics");
        assert!(
            results.iter().all(Result::is_ok),
            "cannot delete the topic {topic}: {results:?}"
        );
        wait_for(&format!("the topic {topic} to be gone"), DEADLINE, || {
            self.partitions(topic)
                .map_or(Ok(()), |count| Err(format!("{count} partitions")))
        });
    }

    /// Moves the beginning of a partition, as retention does.
    pub(crate) fn delete_records(&self, topic: &str, partition: i32, before: i64) {
        let admin: AdminClient<DefaultClientContext> = self.client();
        let mut offsets = TopicPartitionList::new();
        offsets
            .add_partition_offset(topic, partition, Offset::Offset(before))
            .expect("an offset");
        let result =
            run(admin.delete_records(&offsets, &AdminOptions::new())).expect("DeleteRecords");
        for element in result.elements() {
            element.error().expect("the records are deleted");
        }
    }

    /// The config that is set on a topic itself; defaults are left out.
    pub(crate) fn topic_config(&self, topic: &str) -> BTreeMap<String, String> {
        let admin: AdminClient<DefaultClientContext> = self.client();
        let asked = [ResourceSpecifier::Topic(topic)];
        let answers =
            run(admin.describe_configs(&asked, &AdminOptions::new())).expect("DescribeConfigs");
        let entries = answers.into_iter().flat_map(|answer| {
            answer
                .unwrap_or_else(|e| panic!("cannot read the config of {topic}: {e}"))
                .entries
        });
        entries
            .filter(|entry| entry.source == ConfigSource::DynamicTopic)
            .map(|entry| (entry.name, entry.value.unwrap_or_default()))
            .collect()
    }

    /// Sets config on a topic, as a person with a tool would. What was set on it before goes.
    pub(crate) fn set_topic_config(&self, topic: &str, config: &[(&str, &str)]) {
        let admin: AdminClient<DefaultClientContext> = self.client();
        let new = config.iter().fold(
            AlterConfig::new(ResourceSpecifier::Topic(topic)),
            |new, (key, value)| new.set(key, value),
        );
        let results = run(admin.alter_configs(&[new], &AdminOptions::new())).expect("AlterConfigs");
        assert!(
            results.iter().all(Result::is_ok),
            "cannot set the config of {topic}: {results:?}"
        );
    }

    /// How many partitions a topic has; `None` if there is no such topic.
    pub(crate) fn partitions(&self, topic: &str) -> Option<usize> {
        let consumer: BaseConsumer = self.client();
        // All topics: asking for one by its name would create it where brokers are set to do so.
        let metadata = consumer
            .fetch_metadata(None, DEADLINE)
            .expect("Kafka does not answer");
        metadata
            .topics()
            .iter()
            .find(|t| t.name() == topic)
            .map(|t| t.partitions().len())
    }

    /// Waits until metadata shows a topic with this many partitions.
    pub(crate) fn wait_for_partitions(&self, topic: &str, partitions: usize) {
        wait_for(
            &format!("{partitions} partitions of {topic}"),
            DEADLINE,
            || match self.partitions(topic) {
                Some(count) if count == partitions => Ok(()),
                other => Err(format!("{other:?}")),
            },
        );
    }

    /// Writes (key, value) records where Java's producer would put them, and waits until the broker has them.
    pub(crate) fn produce(&self, topic: &str, records: &[(&str, &str)]) {
        let records = records.iter().map(|(key, value)| (topic, *key, *value));
        self.produce_all(records);
    }

    /// As [`Self::produce`], for (topic, key, value).
    pub(crate) fn produce_all<'a>(
        &self,
        records: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>,
    ) {
        let mut config = self.config();
        let producer: BaseProducer = config
            .set("partitioner", "murmur2_random")
            .set("allow.auto.create.topics", "false")
            .create()
            .expect("a producer");
        for (topic, key, value) in records {
            let record = BaseRecord::to(topic).key(key).payload(value);
            producer
                .send(record)
                .unwrap_or_else(|(e, _)| panic!("cannot write to {topic}: {e}"));
        }
        producer
            .flush(DEADLINE)
            .unwrap_or_else(|e| panic!("cannot write: {e}"));
    }

    /// Writes a record to a topic that does not exist, as an application does that begins too early: the client asks for
    /// the topic, and the broker makes it.
    pub(crate) fn produce_unasked(&self, topic: &str) {
        let mut config = self.config();
        let producer: BaseProducer = config
            .set("allow.auto.create.topics", "true")
            .create()
            .expect("a producer");
        let record = BaseRecord::to(topic).key("BBCA").payload("1");
        producer
            .send(record)
            .unwrap_or_else(|(e, _)| panic!("cannot write to {topic}: {e}"));
        producer
            .flush(DEADLINE)
            .unwrap_or_else(|e| panic!("cannot write: {e}"));
    }

    /// Commits an offset of one partition for a consumer group that has no member.
    pub(crate) fn commit(&self, group: &str, topic: &str, partition: i32, offset: i64) {
        let mut config = self.config();
        let consumer: BaseConsumer = config
            .set("group.id", group)
            .set("enable.auto.commit", "false")
            .create()
            .expect("a consumer");
        let mut offsets = TopicPartitionList::new();
        offsets
            .add_partition_offset(topic, partition, Offset::Offset(offset))
            .expect("an offset");
        // The coordinator may still be making its own topic.
        wait_for(&format!("{group} to commit"), DEADLINE, || {
            consumer
                .commit(&offsets, CommitMode::Sync)
                .map_err(|e| e.to_string())
        });
    }

    /// The end offset of each partition of a topic.
    pub(crate) fn end_offsets(&self, topic: &str) -> BTreeMap<i32, i64> {
        self.try_end_offsets(topic)
            .unwrap_or_else(|problem| panic!("{problem}"))
    }

    /// As [`Self::end_offsets`], for partitions that may have no leader yet.
    pub(crate) fn try_end_offsets(&self, topic: &str) -> Result<BTreeMap<i32, i64>, String> {
        let consumer: BaseConsumer = self.client();
        let count = self
            .partitions(topic)
            .unwrap_or_else(|| panic!("there is no topic {topic}"));
        (0..i32::try_from(count).expect("a partition count"))
            .map(|partition| {
                let offsets = consumer.fetch_watermarks(topic, partition, DEADLINE);
                offsets
                    .map(|(_, end)| (partition, end))
                    .map_err(|e| format!("{topic}/{partition}: {e}"))
            })
            .collect()
    }

    /// Waits until the broker has logged a request of now: then all that were answered before are in its log as well.
    pub(crate) fn flush_request_log(&self) {
        let mark = unique("mark");
        let mut config = self.config();
        let consumer: BaseConsumer = config
            .set("client.id", &mark)
            .create()
            .expect("cannot make a Kafka client");
        // A topic that does not exist keeps the answer, which is logged too, small.
        consumer
            .fetch_metadata(Some(&mark), DEADLINE)
            .expect("Kafka does not answer");
        wait_for("the request log to be written", DEADLINE, || {
            if self.requests("METADATA", &mark).is_empty() {
                Err("not yet".to_owned())
            } else {
                Ok(())
            }
        });
    }

    fn config(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", self.bootstrap())
            .set("client.id", CLIENT_ID);
        config
    }

    fn client<T: FromClientConfig>(&self) -> T {
        self.config().create().expect("cannot make a Kafka client")
    }
}

fn run<T>(calls: impl Future<Output = Result<T, KafkaError>>) -> Result<T, KafkaError> {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime")
        .block_on(calls)
}
