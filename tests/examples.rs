//! The examples, run as their READMEs say, and what is said of them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use copartition::kafka::ConnectionSettings;
use copartition::placement::{Asked, ConsumerGroup, Counted, Outcome, Phase, Reason, judge};
use serde_json::{Value, json};

use crate::env::process::{Process, guarded};
use crate::env::{Env, part, text, unique, wait_for};
use crate::groups::{Reader, by_id};

/// JVMs that join share two cores with servers.
const DEADLINE: Duration = Duration::from_secs(120);

fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(path)
}

/// The KafkaJS example beside the packages that the set-up installed, of the version that it pins.
fn kafkajs(env: &Env) -> PathBuf {
    let folder = env.root().join(unique("example-kafkajs"));
    fs::create_dir(&folder).expect("a folder for the example");
    for file in ["consumer.mjs", "range.mjs", "package.json"] {
        let from = example("kafkajs").join(file);
        fs::copy(&from, folder.join(file)).unwrap_or_else(|e| panic!("{}: {e}", from.display()));
    }
    let modules = part("clients-node").join("node_modules");
    symlink(&modules, folder.join("node_modules")).expect("a link to the packages");
    let version = |path: &Path, at: &str| {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let json: Value = serde_json::from_str(&text).expect("JSON");
        json.pointer(at).cloned()
    };
    assert_eq!(
        version(&folder.join("package.json"), "/dependencies/kafkajs"),
        version(&modules.join("kafkajs/package.json"), "/version"),
    );
    folder
}

/// Kafka Streams with the example's class, which Java compiles as it starts it.
fn streams() -> Command {
    let [kafka, java] = [part("kafka"), part("clients-java")];
    let jars = format!("{}/lib/*:{}/*", java.display(), kafka.display());
    let mut command = guarded("java");
    command
        .args(["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
        .args([
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
            "-cp",
            &jars,
        ])
        .arg(example("kafka-streams/src/main/java/Placement.java"));
    command
}

/// Waits until all members are there and have what they were given.
fn joined(reader: &mut Reader, id: &str, members: usize, processes: &[Process]) -> ConsumerGroup {
    let what = format!("{members} members of {id}");
    wait_for(&what, DEADLINE, || {
        let found = reader.read(&by_id(&[id])).groups.remove(id);
        let group = found.expect("an answer for each id");
        let group = group.map_err(|error| error.to_string())?;
        let given = group.members.iter().all(|it| !it.assigned.is_empty());
        if group.phase == Phase::Stable && group.members.len() == members && given {
            return Ok(group);
        }
        let logs: Vec<String> = processes.iter().map(Process::log_tail).collect();
        Err(format!("{group:?}; {logs:?}"))
    })
}

fn judged(group: &ConsumerGroup, topics: [(&str, i32); 2]) -> (Outcome, Reason, String) {
    let counted = topics.map(|(name, partitions)| Counted {
        name: name.to_owned(),
        partitions,
    });
    let asked = [Asked::Id(group.id.clone())];
    let report = judge(&counted, &asked, std::slice::from_ref(group), &[]);
    let (outcome, reason) = report.says();
    (outcome, reason, report.message())
}

fn reader(env: &Env) -> Reader {
    Reader::new(&ConnectionSettings::new(env.kafka.bootstrap().split(',')))
}

/// Two topics of five partitions: round-robin over both in one row gives equal numbers to different members.
pub(crate) fn the_assigner_for_kafkajs_keeps_equal_numbers_together(env: &Env) {
    let [a, b] = [unique("js-updates"), unique("js-notifications")];
    for topic in [&a, &b] {
        env.kafka.create_topic(topic, 5);
    }
    let folder = kafkajs(env);
    let mut reader = reader(env);
    let mut members = |assigner: &str| {
        let group = unique(assigner);
        let processes = [1, 2].map(|number| {
            let mut command = guarded("node");
            command.current_dir(&folder).args([
                "consumer.mjs",
                &env.kafka.bootstrap(),
                &group,
                assigner,
                &a,
                &b,
            ]);
            let name = format!("{group}-{number}");
            Process::start(&name, command, &env.root().join(format!("{name}.log")))
        });
        joined(&mut reader, &group, 2, &processes)
    };
    let topics = [(a.as_str(), 5), (b.as_str(), 5)];
    let (outcome, reason, said) = judged(&members("roundrobin"), topics);
    assert_eq!(
        (outcome, reason),
        (Outcome::Refuted, Reason::SplitMembers),
        "{said}"
    );
    for part in ["RoundRobinAssigner", "examples/kafkajs", "127.0.0.1"] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    let (outcome, reason, said) = judged(&members("range"), topics);
    assert_eq!(
        (outcome, reason),
        (Outcome::Colocated, Reason::Colocated),
        "{said}"
    );
}

pub(crate) fn the_topologies_of_kafka_streams_tell_before_they_run(env: &Env) {
    for (shape, code, meet) in [
        ("separate", 2, false),
        ("shared", 0, true),
        ("joined", 0, true),
    ] {
        let described = streams()
            .args([shape, "describe"])
            .output()
            .expect("java runs");
        let file = env.root().join(unique("topology"));
        fs::write(&file, &described.stdout).expect("a file for the topology");
        let seen = guarded(env!("CARGO_BIN_EXE_kubectl-copartition"))
            .arg("topology")
            .arg(&file)
            .args(["-o", "json", "--topics", "market-updates,notifications"])
            .output()
            .expect("the plugin runs");
        assert_eq!(seen.status.code(), Some(code), "{shape}: {seen:?}");
        let record: Value = serde_json::from_slice(&seen.stdout).expect("JSON");
        assert_eq!(record["asked"]["meet"], meet, "{record}");
    }
}

pub(crate) fn a_shared_store_joins_the_sub_topologies_of_kafka_streams(env: &Env) {
    let [a, b, c] = [
        unique("ks-updates"),
        unique("ks-notifications"),
        unique("ks-fewer"),
    ];
    for (topic, partitions) in [(&a, 4), (&b, 4), (&c, 3)] {
        env.kafka.create_topic(topic, partitions);
    }
    let start = |shape: &str, topics: [&str; 2]| {
        let id = unique(shape);
        let state = env.root().join(format!("{id}-state"));
        let mut command = streams();
        command
            .args([shape, &env.kafka.bootstrap(), &id])
            .args(topics)
            .arg("group.protocol=streams")
            .arg(format!("state.dir={}", state.display()));
        let log = env.root().join(format!("{id}.log"));
        (Process::start(&id, command, &log), id)
    };
    let (separate, separate_id) = start("separate", [&a, &b]);
    let (shared, shared_id) = start("shared", [&a, &b]);
    let (unequal, unequal_id) = start("joined", [&a, &c]);
    let processes = [separate, shared, unequal];
    let mut reader = reader(env);
    let topics = [(a.as_str(), 4), (b.as_str(), 4)];

    let group = joined(&mut reader, &separate_id, 1, &processes);
    let (outcome, reason, said) = judged(&group, topics);
    assert_eq!(
        (outcome, reason),
        (Outcome::Refuted, Reason::SeparateSubTopologies),
        "{said}"
    );
    assert!(
        said.contains("only by chance"),
        "one process has both: {said}"
    );

    let group = joined(&mut reader, &shared_id, 1, &processes);
    let (outcome, reason, said) = judged(&group, topics);
    assert_eq!(
        (outcome, reason),
        (Outcome::Colocated, Reason::Colocated),
        "{said}"
    );

    discovered(env, &shared_id, [&a, &b]);

    // A join of unequal counts stops by itself, and is named with its pair.
    let pair = format!("reads {a} (4) and {c} (3)");
    wait_for("the pair of topics", DEADLINE, || {
        let found = reader
            .read(&by_id(&[&unequal_id]))
            .groups
            .remove(&unequal_id);
        let group = found.expect("an answer for each id");
        let group = group.map_err(|error| error.to_string())?;
        let (outcome, reason, said) = judged(&group, [(a.as_str(), 4), (c.as_str(), 3)]);
        let told = (outcome, reason) == (Outcome::Refuted, Reason::UnequalCounts);
        let log = processes[2].log_tail();
        (told && said.contains(&pair))
            .then_some(())
            .ok_or(format!("{said}; {log}"))
    });
    let seen = discover(env, &["--prefix", &unequal_id, "-o", "json"], 2);
    let set = &seen["sets"][0];
    assert_eq!(set["partitions"], Value::Null, "{seen}");
    assert_eq!(set["neededBy"][0]["running"], false, "{seen}");
}

fn discover(env: &Env, args: &[&str], code: i32) -> Value {
    let text = discover_text(env, args, code);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn discover_text(env: &Env, args: &[&str], code: i32) -> String {
    let output = guarded(env!("CARGO_BIN_EXE_kubectl-copartition"))
        .args(["discover", "--bootstrap-server", &env.kafka.bootstrap()])
        .args(args)
        .env("KUBECONFIG", env.kube.kubeconfig())
        .output()
        .expect("the plugin runs");
    assert_eq!(output.status.code(), Some(code), "{}", text(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What an application needs is found, and covered by the manifest that is printed for it.
fn discovered(env: &Env, application: &str, topics: [&str; 2]) {
    let namespace = env.namespace("discovered");
    let args = ["--prefix", application, "-n", &namespace, "-o"];
    let with = |form| [&args[..], &[form]].concat();
    let seen = discover(env, &with("json"), 2);
    let set = &seen["sets"][0];
    let found: Vec<&str> = set["topics"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|topic| topic["name"].as_str())
        .collect();
    let mut expected = topics;
    expected.sort_unstable();
    assert_eq!(found, expected, "{seen}");
    assert_eq!(
        (&set["partitions"], &set["coveredBy"]),
        (&json!(4), &Value::Null),
        "{seen}"
    );

    let manifest = env.root().join(unique("discovered.yaml"));
    let printed = discover_text(env, &with("manifests"), 2);
    fs::write(&manifest, &printed).expect("a file for the manifest");
    env.kube.kubectl_ok(&[
        "apply",
        "--validate=strict",
        "-f",
        &manifest.to_string_lossy(),
    ]);
    let seen = discover(env, &with("json"), 0);
    let covered = &seen["sets"][0]["coveredBy"];
    let group = covered.as_str().unwrap_or_default();
    assert!(group.starts_with(&format!("{namespace}/shared-")), "{seen}");
    assert!(!discover_text(env, &with("manifests"), 0).contains("kind:"));
}
