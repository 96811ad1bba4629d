//! What people read, and what of it stays.

use super::*;

#[test]
fn a_split_is_told_with_its_members_and_a_way_out() {
    let said = judged(&split("RoundRobinAssigner")).message();
    for part in [
        "consumer group app: same-numbered partitions are read by different members, under RoundRobinAssigner",
        "partition 1 of a is read by m1 (client) on 10.0.0.2, and of b by m22 (client) on 10.0.0.3",
        "2 of 4 partition numbers",
        "examples/kafkajs",
    ] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    let said = judged(&split("cooperative-sticky")).message();
    assert!(
        said.contains("partition.assignment.strategy=range"),
        "{said}"
    );
    let mut consumer = split("uniform");
    consumer.protocol = Protocol::Consumer;
    let said = judged(&consumer).message();
    assert!(said.contains("group.remote.assignor=range"), "{said}");
    let said = judged(&split("range")).message();
    assert!(said.contains("subscribes to all"), "{said}");
}

#[test]
fn a_restart_changes_members_and_not_the_gist() {
    let before = judged(&split("sticky"));
    let mut restarted = split("sticky");
    for member in &mut restarted.members {
        member.id.push_str("-again");
        member.client_id.push('2');
        member.host = "/10.9.9.9".to_owned();
    }
    restarted.members[0].assigned[1].partitions = vec![3, 2];
    restarted.members[1].assigned[1].partitions = vec![0, 1];
    let after = judged(&restarted);
    assert_ne!(before.message(), after.message());
    assert_eq!(before.gist(), after.gist());
    assert!(before.message().starts_with(&before.gist()));
    // Another assignor is another verdict, and so is another way to be right.
    assert_ne!(before.gist(), judged(&split("roundrobin")).gist());
    assert_ne!(before.gist(), judged(&colocated("sticky")).gist());
}

#[test]
fn a_client_id_that_the_member_id_begins_with_is_not_repeated() {
    let mut group = split("range");
    group.members[0].id = "client-17b3".to_owned();
    let said = judged(&group).message();
    assert!(said.contains("by client-17b3 on 10.0.0.2"), "{said}");
}

#[test]
fn nothing_from_outside_takes_over_a_terminal_or_a_status() {
    let mut group = split("range");
    group.members[0].id = "\u{1b}[2J\r\n".to_owned();
    group.members[0].client_id = "x".repeat(10_000);
    let said = judged(&group).message();
    assert!(!said.contains(char::is_control), "{said:?}");
    assert!(said.len() < 1_000, "{}", said.len());
}
