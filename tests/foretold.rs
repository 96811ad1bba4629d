//! `kubectl copartition plan` against real servers: what is known of a growth before anybody consents to it.

use std::process::Output;

use serde_json::{Value, json};

use crate::env::{Env, text, unique};
use crate::group::{Group, consent};
use crate::plugin::{plugin, run};
use crate::scene::{Scene, names};

/// Two topics at 6 with records, one of them compacted, which a consumer group has read; and what Kafka Streams would have made
/// for the application that the group declares.
struct Grown<'a> {
    scene: Scene<'a>,
    group: Group<'a>,
    updates: String,
    notes: String,
    reader: String,
    application: String,
    internal: String,
}

fn grown(env: &Env) -> Grown<'_> {
    let scene = Scene::new(env, "plan");
    let [updates, notes] = names(["updates", "notes"]);
    env.kafka
        .create_topic_with(&updates, 6, &[("cleanup.policy", "compact")]);
    env.kafka.create_topic(&notes, 6);
    scene.produce(&updates);
    scene.produce(&notes);
    let reader = unique("reader");
    env.kafka.commit(&reader, &updates, 0, 1);
    let application = unique("app");
    let internal = format!("{application}-totals-store-changelog");
    env.kafka.create_topic(&internal, 6);
    // Of a part of the topology that reads something else.
    env.kafka
        .create_topic(&format!("{application}-other-repartition"), 3);
    let group = scene.group("market-data");
    let mut spec = scene.spec(6, &[&updates, &notes]);
    spec["consumerGroups"] = json!([{"groupId": application}]);
    group.apply(&spec);
    group.wait_ready();
    group.wait_until("holdsRecords is true", |status| {
        status["holdsRecords"] == true
    });
    Grown {
        scene,
        group,
        updates,
        notes,
        reader,
        application,
        internal,
    }
}

fn printed(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(output)))
}

fn kinds(seen: &Value) -> Vec<&str> {
    let breaks = seen["breaks"].as_array().into_iter().flatten();
    breaks.filter_map(|it| it["kind"].as_str()).collect()
}

/// What `-f -` is given.
fn manifest(grown: &Grown<'_>, change: impl FnOnce(&mut Value)) -> String {
    let mut spec = grown.scene.spec(8, &[&grown.updates, &grown.notes]);
    change(&mut spec);
    grown.group.manifest(&spec)
}

/// `plan -f FILE ARGS -o json`, which ends with this code.
fn of_file(env: &Env, manifest: &str, args: &[&str], code: i32) -> Value {
    let path = env.root().join(unique("manifest"));
    std::fs::write(&path, manifest).expect("a manifest");
    let path = path.to_string_lossy();
    let output = run(
        &env.kube,
        &[&["plan", "-f", &path, "-o", "json"], args].concat(),
    );
    assert_eq!(output.status.code(), Some(code), "{}", text(&output));
    printed(&output)
}

pub(crate) fn a_growth_is_foretold_with_all_that_it_breaks_and_the_consent_to_paste(env: &Env) {
    let grown = grown(env);
    let (updates, notes) = (&grown.updates, &grown.notes);
    let namespace = grown.scene.namespace.clone();
    let plan = ["plan", "market-data", "-n", &namespace, "--to", "8"];
    let output = run(&env.kube, &[&plan[..], &["-o", "json"]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    let seen = printed(&output);
    assert_eq!(seen["blocked"], true);
    assert_eq!(
        (&seen["to"], &seen["clusterId"]),
        (&json!(8), &json!(env.kafka.id()))
    );
    assert_eq!(seen["partitionsAligned"]["reason"], "GrowthBlocked");
    let topic = &seen["topics"][0];
    assert_eq!(
        [
            &topic["name"],
            &topic["partitions"],
            &topic["holdsRecords"],
            &topic["recordsWritten"]
        ],
        [&json!(updates), &json!(6), &json!(true), &json!(10)]
    );
    assert_eq!(
        (&topic["grows"], &topic["consent"]),
        (&json!(false), &json!("Absent"))
    );
    assert_eq!(seen["layouts"][0]["movedShare"]["percent"], "75 %");
    assert_eq!(
        kinds(&seen),
        [
            "CompactedTopic",
            "StreamsInternalTopics",
            "ConsumersAtLatest"
        ]
    );
    assert_eq!(seen["breaks"][0]["topics"], json!([updates]));
    assert_eq!(seen["breaks"][1]["found"], json!([grown.internal]));
    assert_eq!(seen["breaks"][2]["found"], json!([grown.reader]));
    assert_eq!(seen["consents"], json!([consent(&[updates, notes], 6, 8)]));
    assert_eq!(
        (&seen["refusals"], &seen["notRead"]),
        (&json!([]), &json!([]))
    );
    assert_eq!(env.kafka.partitions(updates), Some(6), "it only looks");

    // For people, with what they paste.
    let output = run(&env.kube, &plan);
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.contains("not without consent"), "{table}");
    let (_, paste) = table
        .split_once("\nspec:\n")
        .unwrap_or_else(|| panic!("{table}"));
    let paste: Value = serde_yaml::from_str(paste).expect("YAML");
    let patch = json!({"spec": paste}).to_string();
    let output = grown
        .group
        .kubectl("patch", &["--type=merge", "-p", &patch]);
    assert!(output.status.success(), "{}", text(&output));
    grown.group.wait_ready();
    assert_eq!(env.kafka.partitions(updates), Some(8));

    // Once it is done there is nothing more to tell.
    let output = run(
        &env.kube,
        &["plan", "market-data", "-n", &namespace, "-o", "json"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let seen = printed(&output);
    assert_eq!(
        (&seen["breaks"], &seen["consents"]),
        (&json!([]), &json!([]))
    );
    assert_eq!(seen["partitionsAlignedThen"]["reason"], "Aligned");

    // The same numbers again, on another topic of that name, need its id.
    env.kafka.delete_topic(notes);
    grown.scene.topic_with_records(notes, 6);
    grown
        .group
        .wait_for("PartitionsAligned", "False", "TopicRecreated");
    let described = run(
        &env.kube,
        &["plan", "market-data", "-n", &namespace, "-o", "json"],
    );
    let id = printed(&described)["topics"][1]["topicId"].clone();
    grown.group.acknowledge(
        id.as_str()
            .unwrap_or_else(|| panic!("{}", text(&described))),
    );
    grown
        .group
        .wait_for("PartitionsAligned", "False", "GrowthBlocked");
    let output = run(
        &env.kube,
        &["plan", "market-data", "-n", &namespace, "-o", "json"],
    );
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    let seen = printed(&output);
    assert_eq!(seen["topics"][1]["consent"], "Spent");
    let mut wanted = consent(&[notes], 6, 8);
    wanted["topicIds"] = json!([id]);
    assert_eq!(seen["consents"], json!([wanted]));
}

pub(crate) fn a_pull_request_is_judged_against_the_live_group(env: &Env) {
    let grown = grown(env);
    let (updates, notes) = (&grown.updates, &grown.notes);
    let (application, internal) = (&grown.application, &grown.internal);
    let with_groups = |spec: &mut Value| {
        spec["consumerGroups"] = json!([{"groupId": application}]);
        spec["acceptKeyMovement"] = consent(&[updates, notes], 6, 8);
    };

    let bare = of_file(env, &manifest(&grown, |_| ()), &["--live"], 2);
    assert_eq!(bare["consents"], json!([consent(&[updates, notes], 6, 8)]));
    assert_eq!(bare["refusals"], json!([]), "with it, it would be taken");
    let bootstrap = env.kafka.bootstrap();
    let args = ["--bootstrap-server", &bootstrap];
    let seen = of_file(env, &manifest(&grown, with_groups), &args, 0);
    assert_eq!(seen["topics"][0]["grows"], true);
    assert_eq!(
        kinds(&seen),
        [
            "CompactedTopic",
            "StreamsInternalTopics",
            "ConsumersAtLatest"
        ]
    );
    assert_eq!(seen["breaks"][1]["found"], json!([internal]));
    // By a prefix, too, which needs no group that runs.
    let seen = of_file(
        env,
        &manifest(&grown, |spec| {
            spec["consumerGroups"] = json!([{"prefix": application}]);
        }),
        &args,
        2,
    );
    assert_eq!(seen["breaks"][1]["found"], json!([internal]));

    let lower = of_file(
        env,
        &manifest(&grown, |spec| spec["partitions"] = json!(5)),
        &["--live"],
        2,
    );
    assert_eq!(lower["partitionsAligned"]["reason"], "PartitionDrift");
    assert_eq!(lower["refusals"][0]["by"], "Kubernetes");
    let said = lower["refusals"][0]["message"].to_string();
    assert!(said.contains("Kafka cannot remove partitions"), "{said}");

    // Brokers refuse more than 10,000 partitions at once, whoever consents.
    let many = of_file(
        env,
        &manifest(&grown, |spec| {
            spec["partitions"] = json!(10_001);
            spec["topics"] = json!([{"name": updates}]);
            spec["sampleKeys"] = json!([]);
        }),
        &args,
        2,
    );
    assert_eq!(many["refusals"][0]["by"], "Kafka");
    assert_eq!(many["refusals"][0]["topic"], json!(updates));
    assert_eq!(env.kafka.partitions(updates), Some(6), "it only looks");
}

pub(crate) fn a_plan_that_cannot_ask_says_how_it_could(env: &Env) {
    let namespace = env.namespace("plan");
    let group = Group::new(&env.kube, &namespace, "market-data");
    let mut spec = crate::group::spec(&env.kafka.bootstrap(), 6, &["a"]);
    spec["kafka"] = json!({"connectionRef": {"name": unique("nowhere")}});
    group.apply(&spec);
    let refused = |args: &[&str]| {
        let all = [&["plan", "market-data", "-n", &namespace], args].concat();
        let output = plugin(&env.kube, &all).output().expect("it runs");
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        assert!(output.stdout.is_empty(), "{}", text(&output));
        text(&output)
    };
    let said = refused(&[]);
    assert!(
        said.contains("KafkaConnection nowhere") && said.contains("--bootstrap-server"),
        "{said}"
    );
    let said = refused(&["--offline"]);
    assert!(
        said.contains("give the count to grow to with --to N"),
        "{said}"
    );
    let said = refused(&["--to", "8", "--partitions", "6"]);
    assert!(said.contains("--partitions"), "{said}");
    let nobody = format!("127.0.0.1:{}", crate::env::free_port());
    let said = refused(&["--bootstrap-server", &nobody, "--timeout", "5s"]);
    assert!(said.contains("Kafka does not answer"), "{said}");
    let output = run(
        &env.kube,
        &[
            "plan",
            "market-data",
            "-n",
            &namespace,
            "--offline",
            "--to",
            "8",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}
