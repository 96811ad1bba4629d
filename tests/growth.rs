//! Growth against real servers: what it takes to add partitions to a topic, and that nothing less does.

use serde_json::{Value, json};

use crate::env::{Env, text, wait_for};
use crate::group::{DEADLINE, Group, condition, consent, topic_status};
use crate::scene::{Scene, named, names};

/// A group at 6 whose topics the operator has created, and that it has seen holding records.
fn ready_with_records<'a>(scene: &Scene<'a>, topics: &[&str]) -> Group<'a> {
    let group = scene.group("market-data");
    group.apply(&scene.spec(6, topics));
    group.wait_ready();
    for topic in topics {
        scene.produce(topic);
    }
    group.wait_until("holdsRecords is true", |status| {
        status["holdsRecords"] == true
    });
    group
}

/// The spec with another count and, if given, a consent.
fn to(mut spec: Value, partitions: i32, consent: Option<Value>) -> Value {
    spec["partitions"] = json!(partitions);
    if let Some(consent) = consent {
        spec["acceptKeyMovement"] = consent;
    }
    spec
}

/// The live id of a topic, as the status has it.
fn topic_id(group: &Group<'_>, topic: &str) -> String {
    let entry = topic_status(&group.status(), topic);
    let id = entry["topicId"].as_str();
    id.unwrap_or_else(|| panic!("no id: {entry}")).to_owned()
}

pub(crate) fn a_consent_grows_all_topics_in_one_request_and_is_spent(env: &Env) {
    let scene = Scene::new(env, "grow");
    let [a, b] = names(["updates", "notes"]);
    let group = ready_with_records(&scene, &[&a, &b]);
    group.apply(&to(
        scene.spec(6, &[&a, &b]),
        8,
        Some(consent(&[&a, &b], 6, 8)),
    ));
    group.wait_ready();
    assert_eq!(
        (env.kafka.partitions(&a), env.kafka.partitions(&b)),
        (Some(8), Some(8))
    );
    let growths = scene.growths(&a);
    assert_eq!(growths.len(), 1, "{growths:?}");
    let mut topics = named(&growths[0]);
    topics.sort_unstable();
    let mut wanted = [a.as_str(), b.as_str()];
    wanted.sort_unstable();
    assert_eq!(topics, wanted);
    assert_eq!(scene.growths(&b), growths, "the same request");

    let claim = group.claim().expect("a claim");
    for topic in [&a, &b] {
        let spent = json!({"topic": topic, "from": 6, "to": 8, "topicId": topic_id(&group, topic)});
        let list = &claim["spec"]["spentConsents"];
        assert!(
            list.as_array().is_some_and(|list| list.contains(&spent)),
            "{spent} is not in {list}"
        );
        // What lies below these end offsets was placed at the old count.
        let marks = claim["spec"]["growthMarks"].as_array().cloned();
        let mut marks = marks.unwrap_or_default();
        marks.retain(|mark| mark["topic"] == *topic);
        assert_eq!(marks.len(), 1, "{marks:?}");
        assert_eq!((&marks[0]["from"], &marks[0]["to"]), (&json!(6), &json!(8)));
        let before = marks[0]["before"].as_str().unwrap_or_default();
        let ends = before
            .split(',')
            .flat_map(|end| i64::from_str_radix(end, 36));
        let ends: Vec<i64> = ends.collect();
        assert_eq!(ends.len(), 6, "{before}");
        assert!(ends.iter().sum::<i64>() > 0, "{before}");
        assert!(marks[0]["after"].is_null(), "it has not settled yet");
    }
    assert_eq!(group.status()["recordedPartitions"], 8);
}

pub(crate) fn a_spent_consent_authorises_nothing_until_it_names_the_live_ids(env: &Env) {
    let scene = Scene::new(env, "spent");
    let [a, b] = names(["updates", "notes"]);
    let group = ready_with_records(&scene, &[&a, &b]);
    let consented = to(scene.spec(6, &[&a, &b]), 8, Some(consent(&[&a, &b], 6, 8)));
    group.apply(&consented);
    group.wait_ready();

    env.kafka.delete_topic(&a);
    scene.topic_with_records(&a, 6);
    let message = group.wait_for("PartitionsAligned", "False", "TopicRecreated");
    // As a user would: what the message prints.
    let id = message.split("copartition.dev/acknowledge: \"").nth(1);
    let id = id.and_then(|rest| rest.split('"').next());
    let id = id.unwrap_or_else(|| panic!("no id to acknowledge in {message}"));
    let recorded = topic_id(&group, &a);
    assert_ne!(id, recorded, "the status remembers the topic that is gone");
    group.acknowledge(id);
    let message = group.wait_for("PartitionsAligned", "False", "GrowthBlocked");
    assert!(message.contains(&format!("topicIds: [{id}]")), "{message}");
    scene.look_again();
    assert_eq!(
        env.kafka.partitions(&a),
        Some(6),
        "only the first growth was consented to"
    );

    let mut again = consented.clone();
    again["acceptKeyMovement"]["topicIds"] = json!([id]);
    group.apply(&again);
    group.wait_ready();
    assert_eq!(env.kafka.partitions(&a), Some(8));
}

pub(crate) fn a_consent_is_spent_as_well_when_somebody_else_did_the_growth(env: &Env) {
    let scene = Scene::new(env, "others");
    let [topic] = names(["updates"]);
    scene.topic_with_records(&topic, 8);
    let group = scene.group("market-data");
    group.apply(&to(
        scene.spec(6, &[&topic]),
        8,
        Some(consent(&[&topic], 6, 8)),
    ));
    group.wait_ready();
    let id = topic_id(&group, &topic);
    assert_eq!(
        group.claim().expect("a claim")["spec"]["spentConsents"],
        json!([{"topic": topic, "from": 6, "to": 8, "topicId": id}])
    );
    assert_eq!(scene.writes(&topic), []);
}

pub(crate) fn a_refusal_says_what_would_move_and_what_to_write(env: &Env) {
    let scene = Scene::new(env, "blocked");
    let [a, b] = names(["updates", "notes"]);
    scene.topic_with_records(&a, 6);
    scene.topic_with_records(&b, 6);
    let group = scene.group("market-data");
    // At creation there is no status for the API server's rules to compare with.
    group.apply(&scene.spec(8, &[&a, &b]));
    let message = group.wait_for("PartitionsAligned", "False", "GrowthBlocked");
    for part in [
        format!("{a}: wanted 8 partitions, seen 6"),
        format!("acceptKeyMovement: {{topics: [{a}, {b}], fromPartitions: 6, toPartitions: 8}}"),
        "75 %".to_owned(),
        "BBCA 0 -> 2".to_owned(),
    ] {
        assert!(message.contains(&part), "{part:?} is not in {message}");
    }
    group.wait_for("Ready", "False", "GrowthBlocked");
    group.wait_for("Stalled", "True", "ActionNeeded");
    scene.assert_never_writes(&[&a, &b]);
}

pub(crate) fn a_refusal_mentions_a_compacted_topic(env: &Env) {
    let scene = Scene::new(env, "compacted");
    let [a, b] = names(["state", "notes"]);
    env.kafka
        .create_topic_with(&a, 6, &[("cleanup.policy", "compact")]);
    scene.produce(&a);
    scene.topic_with_records(&b, 6);
    let group = scene.group("market-data");
    group.apply(&scene.spec(8, &[&a, &b]));
    wait_for(
        "the refusal to say that a topic is compacted",
        DEADLINE,
        || {
            let message = group.wait_for("PartitionsAligned", "False", "GrowthBlocked");
            let parts: Vec<_> = message.split("; ").collect();
            let compacted = parts
                .iter()
                .position(|part| part.starts_with("it is compacted"));
            // It follows the part that names the topic.
            match compacted.map(|at| parts[at - 1].starts_with(&format!("{a}:"))) {
                Some(true) if message.matches("compacted").count() == 1 => Ok(()),
                _ => Err(message),
            }
        },
    );
}

pub(crate) fn empty_topics_grow_without_consent(env: &Env) {
    let scene = Scene::new(env, "empty");
    let [a, b] = names(["updates", "notes"]);
    let group = scene.group("market-data");
    group.apply(&scene.spec(6, &[&a, &b]));
    group.wait_ready();
    group.wait_until("holdsRecords is false", |status| {
        status["holdsRecords"] == false
    });
    group.apply(&scene.spec(8, &[&a, &b]));
    group.wait_ready();
    assert_eq!(
        (env.kafka.partitions(&a), env.kafka.partitions(&b)),
        (Some(8), Some(8))
    );
}

pub(crate) fn a_topic_with_records_does_not_grow_by_a_forced_replacement(env: &Env) {
    let scene = Scene::new(env, "force");
    let [a, b] = names(["updates", "notes"]);
    let group = ready_with_records(&scene, &[&a, &b]);
    let uid = group.get()["metadata"]["uid"].clone();
    let output = group.replace_force(&scene.spec(8, &[&a, &b]));
    assert!(output.status.success(), "{}", text(&output));
    assert_ne!(group.get()["metadata"]["uid"], uid, "it is another object");
    group.wait_for("PartitionsAligned", "False", "GrowthBlocked");
    scene.assert_never_grows(&[&a, &b]);
}

pub(crate) fn a_topic_with_records_does_not_grow_by_a_new_group_of_the_same_name(env: &Env) {
    let scene = Scene::new(env, "anew");
    let [a, b] = names(["updates", "notes"]);
    let group = ready_with_records(&scene, &[&a, &b]);
    group.delete();
    group.apply(&scene.spec(8, &[&a, &b]));
    group.wait_for("PartitionsAligned", "False", "GrowthBlocked");
    scene.assert_never_grows(&[&a, &b]);
}

pub(crate) fn a_forced_replacement_keeps_a_spent_consent_spent(env: &Env) {
    let scene = Scene::new(env, "spent-force");
    let [a, b] = names(["updates", "notes"]);
    let group = ready_with_records(&scene, &[&a, &b]);
    let consented = to(scene.spec(6, &[&a, &b]), 8, Some(consent(&[&a, &b], 6, 8)));
    group.apply(&consented);
    group.wait_ready();
    let spent = group.claim().expect("a claim")["spec"]["spentConsents"].clone();
    let output = group.replace_force(&consented);
    assert!(output.status.success(), "{}", text(&output));
    group.wait_ready();
    assert_eq!(spent.as_array().map(Vec::len), Some(2), "{spent}");
    assert_eq!(
        group.claim().expect("a claim")["spec"]["spentConsents"],
        spent
    );
}

pub(crate) fn a_consent_that_leaves_a_topic_out_grows_none(env: &Env) {
    let scene = Scene::new(env, "partial");
    let [a, b] = names(["updates", "notes"]);
    scene.topic_with_records(&a, 6);
    scene.topic_with_records(&b, 6);
    let group = scene.group("market-data");
    group.apply(&to(scene.spec(6, &[&a, &b]), 8, Some(consent(&[&a], 6, 8))));
    let message = group.wait_for("PartitionsAligned", "False", "GrowthBlocked");
    assert!(message.contains(&b), "{message}");
    scene.assert_never_grows(&[&a, &b]);
    group.apply(&to(
        scene.spec(6, &[&a, &b]),
        8,
        Some(consent(&[&a, &b], 6, 8)),
    ));
    group.wait_ready();
    assert_eq!(scene.growths(&a).len(), 1);
}

pub(crate) fn a_consent_with_other_numbers_grows_nothing(env: &Env) {
    let scene = Scene::new(env, "numbers");
    let [a, b] = names(["updates", "notes"]);
    scene.topic_with_records(&a, 6);
    scene.topic_with_records(&b, 6);
    let group = scene.group("market-data");
    for (from, to_count) in [(5, 8), (6, 9)] {
        group.apply(&to(
            scene.spec(6, &[&a, &b]),
            8,
            Some(consent(&[&a, &b], from, to_count)),
        ));
        group.wait_for("PartitionsAligned", "False", "GrowthBlocked");
        scene.assert_never_grows(&[&a, &b]);
    }
}

pub(crate) fn managed_topics_grow_after_the_owner_grew_the_referenced_one(env: &Env) {
    let scene = Scene::new(env, "owner");
    let [mine, theirs] = names(["updates", "payments"]);
    scene.topic_with_records(&theirs, 6);
    let mut spec = scene.spec(6, &[&mine, &theirs]);
    spec["topics"][1]["management"] = json!("Referenced");
    let group = scene.group("market-data");
    group.apply(&spec);
    group.wait_ready();
    scene.produce(&mine);
    group.apply(&to(spec, 8, Some(consent(&[&mine], 6, 8))));
    let message = group.wait_for("PartitionsAligned", "False", "WaitingForReferenced");
    assert!(
        message.contains(&format!("{theirs}: wanted 8 partitions, seen 6")),
        "{message}"
    );
    group.wait_for("Reconciling", "True", "InProgress");
    scene.assert_never_grows(&[&mine, &theirs]);
    env.kafka.grow_topic(&theirs, 8);
    group.wait_ready();
    assert_eq!(env.kafka.partitions(&mine), Some(8));
    assert_eq!(scene.writes(&theirs), []);
}

pub(crate) fn topics_with_different_counts_take_a_commit_each(env: &Env) {
    let scene = Scene::new(env, "commits");
    let [a, b, c] = names(["updates", "notes", "trades"]);
    scene.topic_with_records(&a, 8);
    scene.topic_with_records(&b, 6);
    scene.topic_with_records(&c, 5);
    let group = scene.group("market-data");
    let spec = scene.spec(8, &[&a, &b, &c]);
    group.apply(&to(spec.clone(), 8, Some(consent(&[&b], 6, 8))));
    wait_for(
        "the topic that the consent names to grow",
        DEADLINE,
        || match env.kafka.partitions(&b) {
            Some(8) => Ok(()),
            other => Err(format!("{other:?}: {}", group.status())),
        },
    );
    let message = group.wait_for("PartitionsAligned", "False", "GrowthBlocked");
    assert!(
        message.contains(&format!(
            "acceptKeyMovement: {{topics: [{c}], fromPartitions: 5, toPartitions: 8}}"
        )),
        "{message}"
    );
    scene.assert_never_grows(&[&a, &c]);
    group.apply(&to(spec, 8, Some(consent(&[&c], 5, 8))));
    group.wait_ready();
    assert_eq!(env.kafka.partitions(&c), Some(8));
    assert_eq!(scene.growths(&b).len(), 1);
}

pub(crate) fn the_api_server_refuses_a_rise_that_the_operator_would_refuse(env: &Env) {
    let scene = Scene::new(env, "denied");
    let [a, b] = names(["updates", "notes"]);
    let group = ready_with_records(&scene, &[&a, &b]);
    let before = group.get()["spec"].clone();
    let output = group.try_apply(&scene.spec(8, &[&a, &b]));
    assert!(!output.status.success());
    assert!(
        text(&output).contains("acceptKeyMovement"),
        "{}",
        text(&output)
    );
    assert_eq!(group.get()["spec"], before);
    assert_eq!(condition(&group.status(), "Ready")["status"], "True");
}

pub(crate) fn a_rise_that_was_made_while_observing_needs_the_consent_afterwards(env: &Env) {
    let scene = Scene::new(env, "observed");
    let [a, b] = names(["updates", "notes"]);
    let group = ready_with_records(&scene, &[&a, &b]);
    let mut spec = scene.spec(8, &[&a, &b]);
    spec["mode"] = json!("Observe");
    group.apply(&spec);
    group.wait_for("PartitionsAligned", "False", "PartitionDrift");
    spec["mode"] = json!("Enforce");
    group.apply(&spec);
    let message = group.wait_for("Ready", "False", "GrowthBlocked");
    assert!(message.contains("acceptKeyMovement"), "{message}");
    scene.assert_never_grows(&[&a, &b]);
}
