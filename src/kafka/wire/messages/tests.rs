//! Own codecs against those of a crate: what one writes the other one reads.

use std::collections::BTreeMap;

use kafka_protocol::messages as theirs;
use kafka_protocol::protocol::{Decodable, Encodable, StrBytes};
use proptest::prelude::*;

use super::*;

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn written<Q: Request>(request: &Q, version: i16) -> Vec<u8> {
    let mut writer = Writer::default();
    request.write(version, &mut writer);
    writer.into_bytes()
}

/// What their codec reads of a request of ours, to the last byte.
fn read_by_theirs<T: Decodable, Q: Request>(request: &Q, version: i16) -> T {
    let written = written(request, version);
    let mut bytes = &written[..];
    let read = T::decode(&mut bytes, version).unwrap();
    assert!(bytes.is_empty(), "{} bytes are left", bytes.len());
    read
}

/// What our codec reads of an answer of theirs.
fn read_by_ours<Q: Request>(answer: &impl Encodable, version: i16) -> Q::Answer {
    let mut bytes = Vec::new();
    answer.encode(&mut bytes, version).unwrap();
    let mut reader = Reader::new(&bytes);
    let read = Q::read(version, &mut reader).unwrap();
    // Cut off anywhere it is malformed, and nothing else happens.
    for end in 0..bytes.len() {
        let _ = Q::read(version, &mut Reader::new(&bytes[..end]));
    }
    read
}

#[test]
fn versions_and_features() {
    let asked: theirs::ApiVersionsRequest = read_by_theirs(&ApiVersions, 3);
    assert_eq!(
        asked.client_software_name.to_string(),
        "copartition-operator"
    );
    let api = theirs::api_versions_response::ApiVersion::default()
        .with_api_key(89)
        .with_min_version(0)
        .with_max_version(1);
    let supported = theirs::api_versions_response::SupportedFeatureKey::default()
        .with_name(text("metadata.version"))
        .with_min_version(7)
        .with_max_version(30);
    let finalized = theirs::api_versions_response::FinalizedFeatureKey::default()
        .with_name(text("metadata.version"))
        .with_min_version_level(7)
        .with_max_version_level(27);
    let answer = theirs::ApiVersionsResponse::default()
        .with_api_keys(vec![api])
        .with_supported_features(vec![supported])
        .with_finalized_features_epoch(9)
        .with_finalized_features(vec![finalized]);
    let read = read_by_ours::<ApiVersions>(&answer, 3).unwrap();
    assert_eq!(read.apis, BTreeMap::from([(89, (0, 1))]));
    let name = "metadata.version".to_owned();
    assert_eq!(read.supported, BTreeMap::from([(name.clone(), (7, 30))]));
    assert_eq!(read.finalized, BTreeMap::from([(name, 27)]));
    // A broker that does not speak version 3 answers in version 0.
    let refused = [0, 35, 0, 0, 0, 0];
    let read = ApiVersions::read(3, &mut Reader::new(&refused)).unwrap();
    assert_eq!(read.unwrap_err().name(), "UNSUPPORTED_VERSION");
}

#[test]
fn logins() {
    let asked: theirs::SaslHandshakeRequest = read_by_theirs(&SaslHandshake("PLAIN"), 1);
    assert_eq!(asked.mechanism.to_string(), "PLAIN");
    let answer = theirs::SaslHandshakeResponse::default()
        .with_error_code(33)
        .with_mechanisms(vec![text("A"), text("B")]);
    let (code, mechanisms) = read_by_ours::<SaslHandshake>(&answer, 1);
    assert_eq!((code.number, mechanisms.join(" ")), (33, "A B".to_owned()));
    let asked: theirs::SaslAuthenticateRequest = read_by_theirs(&SaslAuthenticate(&[0, 1, 2]), 2);
    assert_eq!(&asked.auth_bytes[..], [0, 1, 2]);
    let answer = theirs::SaslAuthenticateResponse::default()
        .with_error_message(Some(text("no")))
        .with_auth_bytes(vec![3].into())
        .with_session_lifetime_ms(5000);
    let read = read_by_ours::<SaslAuthenticate<'_>>(&answer, 2);
    assert_eq!(read.bytes, [3]);
    assert_eq!(read.lifetime, Some(std::time::Duration::from_secs(5)));
    assert_eq!(read.code.words(), "no");
}

#[test]
fn brokers() {
    let asked: theirs::MetadataRequest = read_by_theirs(&Metadata, 9);
    assert_eq!(asked.topics, Some(Vec::new()), "no topic, not all of them");
    assert!(!asked.allow_auto_topic_creation);
    let broker = theirs::metadata_response::MetadataResponseBroker::default()
        .with_host(text("kafka"))
        .with_port(9092);
    let answer = theirs::MetadataResponse::default().with_brokers(vec![broker]);
    let node = Node {
        host: "kafka".to_owned(),
        port: 9092,
    };
    assert_eq!(read_by_ours::<Metadata>(&answer, 9), [node]);
}

#[test]
fn lists_of_groups() {
    for version in ListGroups::VERSIONS {
        let asked: theirs::ListGroupsRequest = read_by_theirs(&ListGroups, version);
        assert!(asked.states_filter.is_empty() && asked.types_filter.is_empty());
        let group = theirs::list_groups_response::ListedGroup::default()
            .with_group_id(theirs::GroupId(text("g")))
            .with_protocol_type(text("consumer"))
            .with_group_state(text(if version < 4 { "" } else { "Stable" }))
            .with_group_type(text(if version < 5 { "" } else { "streams" }));
        let answer = theirs::ListGroupsResponse::default().with_groups(vec![group]);
        let (code, groups) = read_by_ours::<ListGroups>(&answer, version);
        assert_eq!(code.number, code::NONE);
        let expected = Listed {
            id: "g".to_owned(),
            protocol_type: "consumer".to_owned(),
            state: if version < 4 { "" } else { "Stable" }.to_owned(),
            kind: if version < 5 { "" } else { "streams" }.to_owned(),
        };
        assert_eq!(groups, [expected], "{version}");
    }
}

#[test]
fn groups_of_the_classic_protocol() {
    let groups = ["g".to_owned()];
    for version in DescribeGroups::VERSIONS {
        let asked: theirs::DescribeGroupsRequest =
            read_by_theirs(&DescribeGroups(&groups), version);
        assert_eq!(asked.groups, [theirs::GroupId(text("g"))]);
        let member = theirs::describe_groups_response::DescribedGroupMember::default()
            .with_member_id(text("m"))
            .with_group_instance_id(Some(text("i")))
            .with_client_id(text("c"))
            .with_client_host(text("/1.2.3.4"))
            .with_member_metadata(vec![1].into())
            .with_member_assignment(vec![2, 3].into());
        let group = theirs::describe_groups_response::DescribedGroup::default()
            .with_group_id(theirs::GroupId(text("g")))
            .with_group_state(text("Stable"))
            .with_protocol_type(text("consumer"))
            .with_protocol_data(text("range"))
            .with_members(vec![member]);
        let answer = theirs::DescribeGroupsResponse::default().with_groups(vec![group]);
        let read = read_by_ours::<DescribeGroups<'_>>(&answer, version);
        let expected = ClassicGroup {
            code: Code::bare(0),
            id: "g".to_owned(),
            state: "Stable".to_owned(),
            protocol_type: "consumer".to_owned(),
            protocol: "range".to_owned(),
            members: vec![ClassicMember {
                id: "m".to_owned(),
                client_id: "c".to_owned(),
                host: "/1.2.3.4".to_owned(),
                metadata: vec![1],
                assignment: vec![2, 3],
            }],
        };
        assert_eq!(read, [expected], "{version}");
    }
}

#[test]
fn groups_of_the_new_protocol() {
    use theirs::consumer_group_describe_response::{
        Assignment, DescribedGroup, Member, TopicPartitions as Assigned,
    };
    let groups = ["g".to_owned()];
    let asked: theirs::ConsumerGroupDescribeRequest =
        read_by_theirs(&ConsumerGroupDescribe(&groups), 0);
    assert_eq!(asked.group_ids, [theirs::GroupId(text("g"))]);
    let assigned = |partitions: Vec<i32>| {
        let topic = Assigned::default()
            .with_topic_name(theirs::TopicName(text("t")))
            .with_partitions(partitions);
        Assignment::default().with_topic_partitions(vec![topic])
    };
    let member = Member::default()
        .with_member_id(text("m"))
        .with_rack_id(Some(text("r")))
        .with_client_id(text("c"))
        .with_client_host(text("/1.2.3.4"))
        .with_subscribed_topic_names(vec![theirs::TopicName(text("t"))])
        .with_assignment(assigned(vec![2, 1]))
        .with_target_assignment(assigned(vec![3]));
    let group = DescribedGroup::default()
        .with_group_id(theirs::GroupId(text("g")))
        .with_group_state(text("Stable"))
        .with_assignor_name(text("uniform"))
        .with_members(vec![member]);
    let answer = theirs::ConsumerGroupDescribeResponse::default().with_groups(vec![group]);
    let read = read_by_ours::<ConsumerGroupDescribe<'_>>(&answer, 0);
    assert_eq!(read[0].assignor, "uniform");
    assert_eq!(read[0].members[0].host, "/1.2.3.4");
    let assigned = &read[0].members[0].assigned;
    assert_eq!(
        (assigned[0].topic.as_str(), &assigned[0].partitions[..]),
        ("t", &[1, 2][..])
    );
}

proptest! {
    /// Whatever comes, it is read or it is malformed. Bytes below 10 are common, so that it gets far.
    #[test]
    fn nothing_makes_it_panic(
        bytes in prop::collection::vec(prop_oneof![0..10_u8, any::<u8>()], 0..300),
    ) {
        let _ = ApiVersions::read(3, &mut Reader::new(&bytes));
        let _ = SaslHandshake::read(1, &mut Reader::new(&bytes));
        let _ = SaslAuthenticate::read(2, &mut Reader::new(&bytes));
        let _ = Metadata::read(9, &mut Reader::new(&bytes));
        for version in ListGroups::VERSIONS {
            let _ = ListGroups::read(version, &mut Reader::new(&bytes));
        }
        for version in DescribeGroups::VERSIONS {
            let _ = DescribeGroups::read(version, &mut Reader::new(&bytes));
        }
        let _ = ConsumerGroupDescribe::read(0, &mut Reader::new(&bytes));
        let _ = StreamsGroupDescribe::read(0, &mut Reader::new(&bytes));
    }
}
