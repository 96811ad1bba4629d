//! What assignors do with same-numbered partitions of several topics, and what to use instead.

use super::model::{ConsumerGroup, Protocol};
use super::verdict::Habit;

/// The name by which `KafkaJS` tells the coordinator of its only own assigner.
const KAFKAJS: &str = "RoundRobinAssigner";

/// Whether a group's assignor keeps same-numbered partitions of topics with equal counts together.
///
/// `range` does it topic by topic, with members in one order (Kafka's own, librdkafka, kafka-python, franz-go, kafka-go, and sarama; of
/// the last, 1.31 orders them differently for each topic, 1.38 does not). The others balance the number of partitions and know no topics.
pub(super) fn habit(group: &ConsumerGroup) -> Habit {
    if is_streams(group) {
        return Habit::Keeps;
    }
    match group.assignor.as_deref() {
        Some("range") => Habit::Keeps,
        Some("roundrobin" | "sticky" | "cooperative-sticky" | "uniform" | "rack-affinity") => {
            Habit::Parts
        }
        Some(name) if name == KAFKAJS => Habit::Parts,
        _ => Habit::Unknown,
    }
}

/// Whether it is a Kafka Streams application, whose tasks take the same partition of all topics of a sub-topology.
pub(super) fn is_streams(group: &ConsumerGroup) -> bool {
    group.protocol == Protocol::Streams
        || !group.sub_topologies.is_empty()
        || group.assignor.as_deref() == Some("stream")
}

/// What to do about an assignor that parts them, as a sentence.
pub(super) fn remedy(group: &ConsumerGroup) -> &'static str {
    if is_streams(group) {
        return "Read the topics in one sub-topology: join them, or connect one state store to the processors of both";
    }
    match (&group.protocol, group.assignor.as_deref()) {
        (_, Some("range")) => {
            "range keeps them together only if every member subscribes to all of these topics and orders members alike for each (sarama \
             1.31 does not, 1.38 does)"
        }
        (_, Some(name)) if name == KAFKAJS => {
            "KafkaJS has no other assigner of its own: give partitionAssigners one that deals out partition numbers, as in examples/kafkajs"
        }
        (Protocol::Consumer, _) => "Set group.remote.assignor=range on all members",
        (_, Some("cooperative-sticky")) => {
            "Use partition.assignment.strategy=range on all members; in a rolling change list both first"
        }
        (_, Some("roundrobin" | "sticky")) => {
            "Use partition.assignment.strategy=range on all members, or what the client calls it; in a rolling change list both first"
        }
        _ => "Use range, or an assignor that gives one member the same partition of all topics",
    }
}

/// The assignor in words.
pub(super) fn name(group: &ConsumerGroup) -> &str {
    match group.assignor.as_deref() {
        Some(name) if !name.is_empty() => name,
        _ if is_streams(group) => "Kafka Streams",
        _ => "an assignor that the coordinator does not name",
    }
}
