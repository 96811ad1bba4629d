//! Consumer groups of real members that do nothing but join, hundreds of them by two connections: a member whose session may
//! last half an hour needs neither a heartbeat nor its connection.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use kafka_protocol::messages::consumer_protocol_assignment::TopicPartition;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    ConsumerProtocolAssignment, ConsumerProtocolSubscription, FindCoordinatorRequest,
    FindCoordinatorResponse, GroupId, JoinGroupRequest, JoinGroupResponse, RequestHeader,
    ResponseHeader, SyncGroupRequest, SyncGroupResponse, TopicName,
};
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion, Request, StrBytes};

use crate::env::wait_for;

/// The longest that brokers allow by default.
const SESSION_MS: i32 = 1_800_000;
/// The last versions before members have to join twice, and before flexible ones.
const JOIN: i16 = 3;
const SYNC: i16 = 1;
const FIND: i16 = 1;
const DEADLINE: Duration = Duration::from_secs(60);

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// A message of consumers, with its version in front.
fn versioned(message: &impl Encodable) -> Vec<u8> {
    let mut bytes = 0_i16.to_be_bytes().to_vec();
    message.encode(&mut bytes, 0).expect("a message");
    bytes
}

struct Connection(TcpStream);

impl Connection {
    fn open(bootstrap: &str) -> Self {
        Self(TcpStream::connect(bootstrap).expect("a broker"))
    }

    fn send<Q: Request + HeaderVersion>(&mut self, request: &Q, version: i16) {
        let header = RequestHeader::default()
            .with_request_api_key(Q::KEY)
            .with_request_api_version(version)
            .with_client_id(Some(text("joiner")));
        let mut body = Vec::new();
        header
            .encode(&mut body, Q::header_version(version))
            .expect("a header");
        request.encode(&mut body, version).expect("a request");
        let length = i32::try_from(body.len()).expect("a small request");
        // In one piece: of two the second one would wait for the first to be acknowledged.
        let message = [&length.to_be_bytes()[..], &body].concat();
        self.0.write_all(&message).expect("sent");
    }

    fn receive<A: Decodable + HeaderVersion>(&mut self, version: i16) -> A {
        let mut length = [0; 4];
        self.0.read_exact(&mut length).expect("an answer");
        let length = usize::try_from(i32::from_be_bytes(length)).expect("a length");
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).expect("an answer");
        let mut body = &body[..];
        ResponseHeader::decode(&mut body, A::header_version(version)).expect("a header");
        A::decode(&mut body, version).expect("an answer")
    }
}

fn join(group: &str, member: &StrBytes, topics: &[&str]) -> JoinGroupRequest {
    let subscribed = ConsumerProtocolSubscription::default()
        .with_topics(topics.iter().map(|topic| text(topic)).collect());
    let protocol = JoinGroupRequestProtocol::default()
        .with_name(text("range"))
        .with_metadata(versioned(&subscribed).into());
    JoinGroupRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_session_timeout_ms(SESSION_MS)
        .with_rebalance_timeout_ms(SESSION_MS)
        .with_member_id(member.clone())
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![protocol])
}

/// Two members join each of these groups and are given one partition each of the topics.
pub(crate) fn join_in_pairs(bootstrap: &str, groups: &[String], topics: &[&str]) {
    let [mut one, mut other] = [bootstrap, bootstrap].map(Connection::open);
    for group in groups {
        // The first one is alone, and has to join again once the other one is there. A broker that never had a group sets
        // itself up when it is asked who coordinates one.
        let alone = wait_for("a coordinator", DEADLINE, || {
            let who = FindCoordinatorRequest::default().with_key(text(group));
            one.send(&who, FIND);
            let _: FindCoordinatorResponse = one.receive(FIND);
            one.send(&join(group, &StrBytes::default(), topics), JOIN);
            let alone: JoinGroupResponse = one.receive(JOIN);
            match alone.error_code {
                0 => Ok(alone),
                error => Err(format!("{group}: error {error}")),
            }
        });
        let synced = sync(&mut one, group, &alone, &[], topics);
        assert_eq!(synced, 0, "{group}: the first one");
        other.send(&join(group, &StrBytes::default(), topics), JOIN);
        // Whether the other one was taken in is not known until it is: who joins too early is asked again.
        let (first, second) = loop {
            one.send(&join(group, &alone.member_id, topics), JOIN);
            let first: JoinGroupResponse = one.receive(JOIN);
            assert_eq!(first.error_code, 0, "{group}: {first:?}");
            if first.members.len() == 2 {
                break (first, other.receive::<JoinGroupResponse>(JOIN));
            }
            // The other one may have come meanwhile.
            let _ = sync(&mut one, group, &first, &[], topics);
        };
        let members = [&first, &second].map(|joined| joined.member_id.clone());
        let synced = sync(&mut one, group, &first, &members, topics);
        assert_eq!(synced, 0, "{group}: the leader");
        let synced = sync(&mut other, group, &second, &[], topics);
        assert_eq!(synced, 0, "{group}: the other one");
    }
}

/// Takes what the leader gives; the leader gives the n-th member partition n. Returns the broker's error code.
fn sync(
    connection: &mut Connection,
    group: &str,
    joined: &JoinGroupResponse,
    members: &[StrBytes],
    topics: &[&str],
) -> i16 {
    let given = |(partition, member): (i32, &StrBytes)| {
        let topics = topics.iter().map(|topic| {
            TopicPartition::default()
                .with_topic(TopicName(text(topic)))
                .with_partitions(vec![partition])
        });
        let assignment =
            ConsumerProtocolAssignment::default().with_assigned_partitions(topics.collect());
        SyncGroupRequestAssignment::default()
            .with_member_id(member.clone())
            .with_assignment(versioned(&assignment).into())
    };
    let request = SyncGroupRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_generation_id(joined.generation_id)
        .with_member_id(joined.member_id.clone())
        .with_assignments((0..).zip(members).map(given).collect());
    connection.send(&request, SYNC);
    let answer: SyncGroupResponse = connection.receive(SYNC);
    answer.error_code
}
