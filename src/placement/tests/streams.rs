//! Kafka Streams: sub-topologies, processes, and applications that do not run.

use super::*;

fn streams(subs: Vec<SubTopology>, members: Vec<Member>) -> ConsumerGroup {
    ConsumerGroup {
        protocol: Protocol::Streams,
        assignor: None,
        sub_topologies: subs,
        ..group("", members)
    }
}

#[test]
fn one_sub_topology_keeps_topics_together() {
    let members = colocated("").members;
    let alone = vec![member("m1", &[("a", &[0, 1, 2, 3]), ("b", &[0, 1, 2, 3])])];
    for members in [members, alone] {
        let group = streams(vec![sub("0", &["a", "b"])], members);
        assert_eq!(says(&group), TOGETHER);
    }
}

#[test]
fn two_sub_topologies_are_separate_even_in_one_process() {
    let subs = vec![sub("0", &["a"]), sub("1", &["b"])];
    let together = streams(subs.clone(), colocated("").members);
    assert_eq!(says(&together), SEPARATE);
    let message = judged(&together).message();
    for part in [
        "a in sub-topology 0 and b in sub-topology 1",
        "only by chance",
        "one state store",
    ] {
        assert!(message.contains(part), "no {part:?} in {message}");
    }
    let parted = streams(subs, split("").members);
    assert_eq!(says(&parted), SEPARATE);
    let message = judged(&parted).message();
    assert!(message.contains("different processes now"), "{message}");
}

#[test]
fn classic_streams_are_known_by_their_sub_topologies_too() {
    let mut group = split("stream");
    group.sub_topologies = vec![sub("0", &["a"]), sub("1", &["b"])];
    assert_eq!(says(&group), SEPARATE);
    let mut group = colocated("stream");
    group.sub_topologies = vec![sub("0", &["b", "a", "c"])];
    assert_eq!(says(&group), TOGETHER);
    // Where the tasks tell nothing, assignments do.
    assert_eq!(says(&split("stream")), SPLIT);
    let message = judged(&split("stream")).message();
    assert!(message.contains("one state store"), "{message}");
}

#[test]
fn threads_of_one_process_are_one() {
    let mut group = streams(Vec::new(), split("").members);
    assert_eq!(says(&group), SPLIT);
    for member in &mut group.members {
        member.process = Some("p".to_owned());
    }
    assert_eq!(says(&group), TOGETHER);
}

#[test]
fn what_streams_repartitions_itself_is_said_to_be_right() {
    let mut second = sub("1", &["b"]);
    second.repartition_topics = vec!["app-a-repartition".to_owned()];
    let group = streams(vec![sub("0", &["a"]), second], colocated("").members);
    let message = judged(&group).message();
    assert!(
        message.contains("by way of app-a-repartition is right"),
        "{message}"
    );
}

#[test]
fn a_topic_that_is_not_read_is_no_sub_topology() {
    let members = vec![member("m1", &[("a", &[0, 1, 2, 3])])];
    let group = streams(vec![sub("0", &["a"]), sub("1", &["c"])], members);
    assert_eq!(says(&group), (Outcome::Unproven, Reason::TopicsUnread));
}

#[test]
fn an_application_over_unequal_counts_is_named_with_its_pair() {
    let counts = topics(&[("a", 4), ("b", 3), ("c", 2)]);
    let cannot_run = (Outcome::Refuted, Reason::UnequalCounts);
    for phase in [Phase::Empty, Phase::NotReady("NotReady".to_owned())] {
        let mut group = streams(vec![sub("0", &["c"]), sub("1", &["a", "b"])], Vec::new());
        group.phase = phase;
        let report = judge(&counts, &ids(&["app"]), &[group.clone()], &[]);
        assert_eq!(report.says(), cannot_run);
        let message = report.message();
        assert!(
            message.contains("sub-topology 1 reads a (4) and b (3)"),
            "{message}"
        );
        // Unequal counts in different sub-topologies stop nobody.
        group.sub_topologies = vec![sub("0", &["c"]), sub("1", &["a"])];
        let report = judge(&counts, &ids(&["app"]), &[group], &[]);
        assert_eq!(report.says().0, Outcome::Unproven);
    }
}
