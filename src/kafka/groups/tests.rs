//! Descriptions as brokers give them, and what becomes of them.

use kafka_protocol::messages::consumer_protocol_assignment::TopicPartition;
use kafka_protocol::messages::{
    ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicName,
};
use kafka_protocol::protocol::{Encodable, StrBytes};

use super::super::wire::{ClassicGroup, ClassicMember, Listed, StreamsGroupDescribed};
use super::*;
use crate::placement::{SubTopology, TopicPartitions};

fn encoded(message: &impl Encodable, version: i16) -> Vec<u8> {
    // The version stands in front of what it is the version of.
    let mut bytes = version.to_be_bytes().to_vec();
    message.encode(&mut bytes, version).unwrap();
    bytes
}

fn name(text: &'static str) -> TopicName {
    TopicName(StrBytes::from_static_str(text))
}

fn assignment(topics: &[(&'static str, &[i32])], user_data: &[u8]) -> Vec<u8> {
    let topics = topics.iter().map(|(topic, partitions)| {
        TopicPartition::default()
            .with_topic(name(topic))
            .with_partitions(partitions.to_vec())
    });
    let message = ConsumerProtocolAssignment::default()
        .with_assigned_partitions(topics.collect())
        .with_user_data(Some(user_data.to_vec().into()));
    encoded(&message, 1)
}

fn classic(state: &str, protocol: &str, members: Vec<ClassicMember>) -> ClassicGroup {
    ClassicGroup {
        code: Code::default(),
        id: "app".to_owned(),
        state: state.to_owned(),
        protocol_type: "consumer".to_owned(),
        protocol: protocol.to_owned(),
        members,
    }
}

fn member(metadata: Vec<u8>, assignment: Vec<u8>) -> ClassicMember {
    ClassicMember {
        id: "m".to_owned(),
        client_id: "c".to_owned(),
        host: "/1.2.3.4".to_owned(),
        metadata,
        assignment,
    }
}

fn listed(state: &str, kind: &str) -> Listed {
    Listed {
        id: "app".to_owned(),
        protocol_type: "consumer".to_owned(),
        state: state.to_owned(),
        kind: kind.to_owned(),
    }
}

fn partitions(topic: &str, partitions: &[i32]) -> TopicPartitions {
    TopicPartitions {
        topic: topic.to_owned(),
        partitions: partitions.to_vec(),
    }
}

#[test]
fn a_classic_group_has_members_with_partitions() {
    let given = assignment(&[("b", &[2, 0]), ("a", &[1])], &[]);
    let group = classic(
        "Stable",
        "range",
        vec![member(Vec::new(), given), member(Vec::new(), Vec::new())],
    );
    let read = translate::classic(group, None).unwrap();
    assert_eq!(
        (read.protocol, read.phase),
        (Protocol::Classic, Phase::Stable)
    );
    assert_eq!(read.assignor.as_deref(), Some("range"));
    let expected = [partitions("a", &[1]), partitions("b", &[0, 2])];
    assert_eq!(read.members[0].assigned, expected);
    assert!(read.members[1].assigned.is_empty());
}

#[test]
fn kafka_streams_on_the_classic_protocol_shows_its_sub_topologies() {
    let mut info: Vec<u8> = [11, 11, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0]
        .iter()
        .flat_map(|part: &i32| part.to_be_bytes())
        .collect();
    info.extend([0; 20]);
    // In the order of topics and partitions: left 0, other 0, right 0.
    let given = assignment(&[("right", &[0]), ("left", &[0]), ("other", &[0])], &info);
    let mut user_data = [11_i32.to_be_bytes(), 11_i32.to_be_bytes()].concat();
    user_data.extend([7; 16]);
    let subscribed = ConsumerProtocolSubscription::default()
        .with_topics(vec![StrBytes::from_static_str("left")])
        .with_user_data(Some(user_data.into()));
    let group = classic(
        "Stable",
        "stream",
        vec![member(encoded(&subscribed, 1), given)],
    );
    let read = translate::classic(group, None).unwrap();
    assert!(
        read.members[0]
            .process
            .as_ref()
            .unwrap()
            .starts_with("0707")
    );
    let tasks: Vec<_> = read.members[0]
        .tasks
        .iter()
        .map(|task| (task.sub_topology.as_str(), task.partition))
        .collect();
    assert_eq!(tasks, [("0", 0), ("1", 0)]);
    let sources: Vec<_> = read
        .sub_topologies
        .iter()
        .map(|part| part.source_topics.join(" "))
        .collect();
    assert_eq!(sources, ["left right", "other"]);
}

#[test]
fn a_live_group_of_another_kind_is_never_dead() {
    // A broker that lists no kinds, of a group that is in use.
    let read = translate::classic(classic("Dead", "", Vec::new()), Some(&listed("Stable", "")));
    let read = read.unwrap();
    assert_eq!(read.protocol, Protocol::Other("unknown".to_owned()));
    assert_eq!(read.phase, Phase::Other("Stable".to_owned()));
    // Since Kafka 4.0 it is an error.
    let mut group = classic("", "", Vec::new());
    group.code.number = code::GROUP_ID_NOT_FOUND;
    assert!(translate::classic(group, None).is_err());
}

#[test]
fn what_is_not_of_consumers_is_unsupported() {
    let group = classic("Stable", "odd", vec![member(Vec::new(), vec![0, 1, 2])]);
    let refused = translate::classic(group, None);
    assert!(matches!(refused, Err(GroupError::Unsupported(words)) if words.contains("odd")));
    // Kafka Streams without the tasks.
    let given = assignment(&[("left", &[0])], &[]);
    let group = classic("Stable", "stream", vec![member(Vec::new(), given)]);
    let refused = translate::classic(group, None);
    assert!(matches!(refused, Err(GroupError::Unsupported(_))));
    let other = translate::classic(classic("Unheard", "", Vec::new()), None).unwrap();
    assert_eq!(other.phase, Phase::Other("Unheard".to_owned()));
}

#[test]
fn a_stopped_application_still_names_its_topics() {
    let part = SubTopology {
        id: "0".to_owned(),
        source_topics: vec!["left".to_owned(), "right".to_owned()],
        repartition_topics: Vec::new(),
        changelog_topics: Vec::new(),
    };
    let group = |state: &str| StreamsGroupDescribed {
        code: Code::default(),
        id: "app".to_owned(),
        state: state.to_owned(),
        sub_topologies: vec![part.clone()],
        members: Vec::new(),
    };
    let empty = translate::streams(group("Empty")).unwrap();
    assert_eq!(empty.phase, Phase::Empty);
    assert_eq!(empty.sub_topologies[0], part);
    let not_ready = translate::streams(group("NotReady")).unwrap();
    assert!(matches!(not_ready.phase, Phase::NotReady(_)));
}

#[test]
fn a_missing_right_is_named() {
    let code = Code {
        number: code::GROUP_AUTHORIZATION_FAILED,
        message: None,
    };
    let said = refused(&code, "app").to_string();
    assert!(said.contains("DESCRIBE on the group app"), "{said}");
}
