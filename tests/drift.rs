//! Drift: what somebody else does to the topics of a group. It is reported soon, nothing is made worse, and a commit
//! or an acknowledgement is the way out.

use serde_json::json;

use crate::env::{Env, KafkaCluster, KafkaOptions, unique, wait_for};
use crate::group::{DEADLINE, Group, condition, consent, spec};
use crate::seen::{TOPICS, Watch, events, kafka_writes, operator, polls, wait_polls};

/// Long enough that polls can be counted between two looks of a test.
const SLOW: [&str; 2] = ["--poll-interval", "2s"];

/// One word on one topic of a group.
fn verdict(group: &Group<'_>, topic: &str) -> String {
    let status = group.status();
    let topics = status["topics"].as_array().cloned().unwrap_or_default();
    let of = topics.iter().find(|seen| seen["name"] == topic);
    of.and_then(|seen| seen["verdict"].as_str())
        .unwrap_or_default()
        .to_owned()
}

/// The id under which the claim remembers a Managed topic.
fn recorded_id(group: &Group<'_>, topic: &str) -> String {
    let claim = group.claim().expect("the group has a claim");
    let holds = claim["spec"]["holds"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let held = holds.iter().find(|held| held["name"] == topic);
    held.and_then(|held| held["topicId"].as_str())
        .unwrap_or_else(|| panic!("no id of {topic} in {claim}"))
        .to_owned()
}

pub(crate) fn drift_by_kafkas_own_tool_shows_within_two_polls_and_is_told_once(env: &Env) {
    let namespace = env.namespace("drift-seen");
    let (a, b) = (unique("drift-seen"), unique("drift-seen"));
    let operator = operator(env, &namespace, &SLOW);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&a, &b]));
    group.wait_ready();

    let alter = ["--alter", "--topic", &a, "--partitions", "5"];
    env.kafka.tool_ok(TOPICS, &alter);
    // The poll under way now may have looked before the change, so the second one that ends from here on has seen it
    // for sure. The verdict is there before the third ends.
    let before = polls(&operator);
    wait_for("the drift in the status", DEADLINE, || {
        let now = polls(&operator);
        let seen = verdict(&group, &a);
        assert!(
            seen == "Drifted" || now < before + 3,
            "{} polls after the change, {a} is {seen}",
            now - before
        );
        if seen == "Drifted" { Ok(()) } else { Err(seen) }
    });
    let message = group.wait_for("PartitionsAligned", "False", "PartitionDrift");
    let said = format!("{a}: expected 3 partitions, seen 5");
    assert!(message.contains(&said), "{message}");
    assert_eq!(verdict(&group, &b), "Aligned");
    group.wait_for("Ready", "False", "PartitionDrift");
    group.wait_for("Stalled", "True", "ActionNeeded");

    let version = group.resource_version();
    wait_polls(&operator, 2);
    assert_eq!(
        group.resource_version(),
        version,
        "a pass wrote the same again"
    );
    let told = events(&env.kube, &namespace);
    let drift = ("Warning".to_owned(), "PartitionDrift".to_owned(), 1);
    assert_eq!(told, [drift]);
}

pub(crate) fn a_drifted_group_is_frozen_but_for_its_config_until_a_commit_takes_the_new_count(
    env: &Env,
) {
    let namespace = env.namespace("drift-frozen");
    let topics = [unique("frozen"), unique("frozen"), unique("frozen")];
    let [a, b, missing] = [&*topics[0], &*topics[1], &*topics[2]];
    let operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[a, b]));
    group.wait_ready();
    env.kafka.produce(b, &[("BBCA", "1")]);
    env.kafka.grow_topic(a, 5);
    group.wait_for("PartitionsAligned", "False", "PartitionDrift");

    let mut more = spec(&env.kafka.bootstrap(), 3, &[a, b, missing]);
    more["topics"][1]["config"] = json!({"retention.ms": "700000000"});
    group.apply(&more);
    group.wait_for("TopicConfigsApplied", "True", "Applied");
    let message = group.wait_for("PartitionsAligned", "False", "PartitionDrift");
    wait_polls(&operator, 2);
    assert_eq!(
        env.kafka.partitions(missing),
        None,
        "a frozen group created it"
    );
    assert_eq!(env.kafka.partitions(b), Some(3));
    assert_eq!(verdict(&group, missing), "Missing");
    assert_eq!(kafka_writes(&env.kafka, &[missing]), [""; 0]);
    assert_eq!(
        kafka_writes(&env.kafka, &[b]),
        ["CREATE_TOPICS", "INCREMENTAL_ALTER_CONFIGS"]
    );

    // What the message says is what helps.
    let way_out = format!(
        "set spec.partitions: 5 with acceptKeyMovement: {{topics: [{b}], fromPartitions: 3, toPartitions: 5}}"
    );
    assert!(message.contains(&way_out), "{message}");
    more["partitions"] = json!(5);
    more["acceptKeyMovement"] = consent(&[b], 3, 5);
    group.apply(&more);
    group.wait_ready();
    for topic in [a, b, missing] {
        assert_eq!(env.kafka.partitions(topic), Some(5), "{topic}");
    }
}

pub(crate) fn drift_on_a_referenced_topic_is_reported_and_its_siblings_stay(env: &Env) {
    let namespace = env.namespace("drift-referenced");
    let (theirs, ours) = (unique("theirs"), unique("ours"));
    env.kafka.create_topic(&theirs, 3);
    let operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    let mut wanted = spec(&env.kafka.bootstrap(), 3, &[&theirs, &ours]);
    wanted["topics"][0]["management"] = json!("Referenced");
    group.apply(&wanted);
    group.wait_ready();

    env.kafka.grow_topic(&theirs, 4);
    let message = group.wait_for("PartitionsAligned", "False", "PartitionDrift");
    let said = format!("{theirs}: expected 3 partitions, seen 4");
    assert!(message.contains(&said), "{message}");
    wait_polls(&operator, 2);
    assert_eq!(env.kafka.partitions(&ours), Some(3));

    // Its owner's count is the group's from now on: spec and consent say so.
    env.kafka.produce(&ours, &[("BBCA", "1")]);
    wanted["partitions"] = json!(4);
    wanted["acceptKeyMovement"] = consent(&[&ours], 3, 4);
    group.apply(&wanted);
    group.wait_ready();
    assert_eq!(env.kafka.partitions(&ours), Some(4));
    assert_eq!(kafka_writes(&env.kafka, &[&theirs]), [""; 0]);
}

pub(crate) fn a_deleted_topic_is_believed_at_the_second_look_and_created_only_when_acknowledged(
    env: &Env,
) {
    let namespace = env.namespace("deleted");
    let (gone, kept) = (unique("gone"), unique("kept"));
    let operator = operator(env, &namespace, &SLOW);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&gone, &kept]));
    group.wait_ready();
    let id = recorded_id(&group, &gone);

    let before = polls(&operator);
    env.kafka.delete_topic(&gone);
    let looks = wait_for("the deletion in the status", DEADLINE, || {
        match verdict(&group, &gone) {
            seen if seen == "Deleted" => Ok(polls(&operator) - before),
            seen => Err(seen),
        }
    });
    assert!(looks >= 2, "believed after {looks} looks");
    let message = group.wait_for("PartitionsAligned", "False", "TopicDeleted");
    let way_out = format!("copartition.dev/acknowledge: \"deleted:{id}\"");
    assert!(
        message.contains(&gone) && message.contains(&way_out),
        "{message}"
    );
    group.wait_for("Stalled", "True", "ActionNeeded");

    wait_polls(&operator, 2);
    assert_eq!(env.kafka.partitions(&gone), None, "it was created anew");
    group.acknowledge(&format!("deleted:{id}"));
    group.wait_ready();
    assert_eq!(env.kafka.partitions(&gone), Some(3));
    assert_ne!(recorded_id(&group, &gone), id);
}

pub(crate) fn a_deleted_topic_may_be_taken_out_of_the_spec(env: &Env) {
    let namespace = env.namespace("taken-out");
    let (gone, kept) = (unique("gone"), unique("kept"));
    let operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&gone, &kept]));
    group.wait_ready();
    env.kafka.delete_topic(&gone);
    group.wait_for("PartitionsAligned", "False", "TopicDeleted");

    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&kept]));
    group.wait_ready();
    // It is forgotten with the line in the spec: put back there, it is a topic like any new one.
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&gone, &kept]));
    group.wait_ready();
    assert_eq!(env.kafka.partitions(&gone), Some(3));
    drop(operator);
}

pub(crate) fn a_recreated_topic_is_adopted_only_when_its_new_id_is_acknowledged(env: &Env) {
    let namespace = env.namespace("recreated");
    let (swapped, kept, missing) = (unique("swapped"), unique("kept"), unique("missing"));
    let operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&swapped, &kept]));
    group.wait_ready();
    let was = recorded_id(&group, &swapped);

    env.kafka.delete_topic(&swapped);
    env.kafka.create_topic(&swapped, 3);
    group.wait_for("PartitionsAligned", "False", "TopicRecreated");
    let mut wanted = spec(&env.kafka.bootstrap(), 3, &[&swapped, &kept, &missing]);
    wanted["topics"][0]["config"] = json!({"retention.ms": "700000000"});
    group.apply(&wanted);
    let message = group.wait_for("PartitionsAligned", "False", "TopicRecreated");
    let ids = format!("recorded id {was}, seen id ");
    let is = message
        .split_once(&ids)
        .and_then(|(_, rest)| rest.split(' ').next());
    let is = is.unwrap_or_else(|| panic!("no ids in {message}"));
    assert_ne!(is, was);
    wait_polls(&operator, 2);
    assert_eq!(
        kafka_writes(&env.kafka, &[&swapped, &missing]),
        ["CREATE_TOPICS"]
    );

    group.acknowledge(is);
    group.wait_ready();
    group.wait_for("TopicConfigsApplied", "True", "Applied");
    assert_eq!(recorded_id(&group, &swapped), is);
    assert_eq!(env.kafka.partitions(&missing), Some(3));
}

pub(crate) fn new_topics_are_never_called_missing_or_deleted(env: &Env) {
    // Three nodes learn of a creation one after the other, and any of them may be asked.
    let kafka = KafkaCluster::start(env.root(), 3, KafkaOptions::default());
    let namespace = env.namespace("new-topics");
    let topics: Vec<String> = (0..30).map(|_| unique("new")).collect();
    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
    let operator = operator(env, &namespace, &[]);
    let watch = Watch::start(&env.kube, &namespace);
    let group = Group::new(&env.kube, &namespace, "many");
    let mut wanted = spec(&kafka.bootstrap(), 6, &topics);
    wanted["replicationFactor"] = json!(3);
    wanted["kafka"]["inline"]["bootstrapServers"] =
        json!(kafka.bootstrap().split(',').collect::<Vec<_>>());
    group.apply(&wanted);
    group.wait_ready();
    wait_polls(&operator, 6);
    group.wait_ready();

    let seen = wait_for("the last state in the watch", DEADLINE, || {
        let seen = watch.conditions();
        if seen.contains("Ready=True/Aligned") {
            Ok(seen)
        } else {
            Err(format!("{seen:?}"))
        }
    });
    let wrong: Vec<&String> = seen
        .iter()
        .filter(|c| {
            c.contains("=False/Topic") || c.starts_with("Ready=False") || c.contains("Drift")
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:?} of {seen:?}");
    assert_eq!(events(&env.kube, &namespace), []);
}

pub(crate) fn another_cluster_under_the_address_is_left_alone_until_it_is_acknowledged(env: &Env) {
    let other = KafkaCluster::start(env.root(), 1, KafkaOptions::default());
    let namespace = env.namespace("cluster-changed");
    let (a, b) = (unique("moved"), unique("moved"));
    let operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    let mut wanted = spec(&env.kafka.bootstrap(), 3, &[&a, &b]);
    group.apply(&wanted);
    group.wait_ready();
    env.kafka.produce(&a, &[("BBCA", "1")]);
    wanted["partitions"] = json!(4);
    wanted["acceptKeyMovement"] = consent(&[&a, &b], 3, 4);
    group.apply(&wanted);
    group.wait_ready();
    let spent = group.claim().expect("a claim")["spec"]["spentConsents"].clone();
    assert_eq!(spent.as_array().map(Vec::len), Some(2), "{spent}");

    wanted["kafka"] = spec(&other.bootstrap(), 4, &[])["kafka"].clone();
    group.apply(&wanted);
    let message = group.wait_for("PartitionsAligned", "False", "ClusterChanged");
    for part in [env.kafka.id(), other.id(), "copartition.dev/acknowledge"] {
        assert!(message.contains(part), "{message}");
    }
    group.wait_for("Stalled", "True", "ActionNeeded");
    wait_polls(&operator, 2);
    assert_eq!(kafka_writes(&other, &[&a, &b]), [""; 0]);
    let claim = group.claim().expect("a claim")["spec"].clone();
    assert_eq!(claim["clusterId"], env.kafka.id());
    assert_eq!(claim["recordedPartitions"], 4);

    group.acknowledge(other.id());
    group.wait_ready();
    assert_eq!(other.partitions(&a), Some(4));
    assert_eq!(other.partitions(&b), Some(4));
    let claim = group.claim().expect("a claim")["spec"].clone();
    assert_eq!(claim["clusterId"], other.id());
    assert_eq!(
        claim["spentConsents"].as_array().map(Vec::len),
        Some(4),
        "{claim}"
    );
    assert_eq!(claim["holds"][0]["holdsRecords"], json!(null), "{claim}");
    // The topics on the old cluster are nobody's business any more, and still there.
    assert_eq!(env.kafka.partitions(&a), Some(4));
}

pub(crate) fn the_same_cluster_under_another_address_is_no_event(env: &Env) {
    let namespace = env.namespace("same-cluster");
    let topic = unique("same");
    let operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&topic]));
    group.wait_ready();
    let claim = group.claim();
    let watch = Watch::start(&env.kube, &namespace);

    let address = env.kafka.bootstrap().replace("127.0.0.1", "localhost");
    group.apply(&spec(&address, 3, &[&topic]));
    group.wait_ready();
    wait_polls(&operator, 2);
    assert_eq!(group.claim(), claim, "the claim was written");
    assert_eq!(kafka_writes(&env.kafka, &[&topic]), ["CREATE_TOPICS"]);
    let seen = watch.conditions();
    let unready: Vec<&String> = seen
        .iter()
        .filter(|c| c.starts_with("Ready=") && *c != "Ready=True/Aligned")
        .collect();
    assert!(unready.is_empty(), "{seen:?}");
    assert!(condition(&group.status(), "Ready")["status"] == "True");
    assert_eq!(events(&env.kube, &namespace), []);
}
