//! `copartition-operator reconcile`: the same core without Kubernetes, run as a pipeline runs it.

use std::io::Write;
use std::net::TcpListener;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::env::process::{Process, guarded};
use crate::env::{Env, free_port, text, unique};
use crate::group::{condition, consent, spec, topic_status};
use crate::scene::{names, writes};

/// More than the ten seconds for which an answer is waited for, and far less than a minute.
const GIVEN_UP_WITHIN: Duration = Duration::from_secs(30);

/// A group as a file has it.
fn group(name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "copartition.dev/v1alpha1",
        "kind": "CoPartitionedTopicGroup",
        "metadata": {"name": name, "namespace": "trading"},
        "spec": spec,
    })
}

/// `copartition-operator ARGS` with `input` on its standard input.
fn run(args: &[&str], input: &str) -> Output {
    let mut child = guarded(env!("CARGO_BIN_EXE_copartition-operator"))
        .args(args)
        // It must not even look for a Kubernetes.
        .env("KUBECONFIG", "/nowhere")
        .env("RUST_LOG", "info")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cannot run the binary");
    let mut stdin = child.stdin.take().expect("a pipe");
    // One that ends without reading closes the pipe; its exit code is what the test looks at.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("cannot read what it says")
}

/// Runs on these groups, checks the exit code, and returns what was printed as JSON.
fn reconcile(groups: &[&Value], args: &[&str], code: i32) -> Value {
    let input: Vec<String> = groups.iter().map(ToString::to_string).collect();
    let mut all = vec!["reconcile", "-f", "-", "-o", "json"];
    all.extend(args);
    let output = run(&all, &input.join("\n---\n"));
    assert_eq!(output.status.code(), Some(code), "{}", text(&output));
    let printed: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output)));
    assert_eq!(printed["exitCode"], code, "{printed}");
    printed
}

/// As [`reconcile`], of a single group; returns what is said of that.
fn reconcile_one(group: &Value, args: &[&str], code: i32) -> Value {
    let printed = reconcile(&[group], args, code);
    assert_eq!(printed["groups"].as_array().map(Vec::len), Some(1));
    printed["groups"][0].clone()
}

/// The plan as `action topic outcome`.
fn plan(group: &Value) -> Vec<String> {
    let steps = group["plan"].as_array().expect("a plan").iter();
    let word = |step: &Value, field: &str| step[field].as_str().expect("a word").to_owned();
    steps
        .map(|step| {
            ["action", "topic", "outcome"]
                .map(|field| word(step, field))
                .join(" ")
        })
        .collect()
}

fn message(group: &Value, kind: &str) -> String {
    let condition = condition(group, kind);
    condition["message"].as_str().unwrap_or_default().to_owned()
}

pub(crate) fn missing_topics_are_created_and_a_second_run_writes_nothing(env: &Env) {
    let [a, b] = names(["once", "once"]);
    let mut spec = spec(&env.kafka.bootstrap(), 6, &[&a, &b]);
    spec["topics"][0]["config"] = json!({"cleanup.policy": "compact"});
    let group = group("orders", &spec);
    let done = reconcile_one(&group, &[], 0);
    assert_eq!(
        plan(&done),
        [format!("Create {a} Done"), format!("Create {b} Done")]
    );
    assert_eq!(done["verdict"], "Aligned");
    assert_eq!(env.kafka.partitions(&a), Some(6));
    assert_eq!(env.kafka.partitions(&b), Some(6));
    assert_eq!(env.kafka.topic_config(&a)["cleanup.policy"], "compact");
    let before = [&a, &b].map(|topic| writes(&env.kafka, topic).len());
    assert_eq!(before, [1, 1]);

    let done = reconcile_one(&group, &[], 0);
    assert_eq!(done["plan"], json!([]));
    assert_eq!(topic_status(&done, &a)["partitions"], 6);
    let after = [&a, &b].map(|topic| writes(&env.kafka, topic).len());
    assert_eq!(after, before, "the second run wrote to Kafka");
}

pub(crate) fn a_dry_run_says_what_it_would_do_and_writes_nothing(env: &Env) {
    let [a, b, c] = names(["dry", "dry", "dry"]);
    env.kafka.create_topic(&b, 3);
    let mut spec = spec(&env.kafka.bootstrap(), 4, &[&a, &b, &c]);
    spec["topics"][1]["config"] = json!({"max.message.bytes": "1000"});
    env.kafka.create_topic(&c, 4);
    let group = group("orders", &spec);
    let said = reconcile_one(&group, &["--dry-run"], 0);
    let wanted = [
        format!("Create {a} WouldBeDone"),
        format!("Grow {b} WouldBeDone"),
        format!("Configure {b} WouldBeDone"),
    ];
    assert_eq!(plan(&said), wanted);
    let grow = &said["plan"][1];
    assert_eq!([&grow["fromPartitions"], &grow["toPartitions"]], [3, 4]);
    let change = &said["plan"][2]["changes"][0];
    assert_eq!(
        [&change["key"], &change["to"]],
        ["max.message.bytes", "1000"]
    );
    assert_eq!(change["from"], "1048588", "the broker's default");
    // As it would be: with the new counts, and without an id for what does not exist.
    assert_eq!(topic_status(&said, &b)["partitions"], 4);
    assert_eq!(topic_status(&said, &a)["topicId"], Value::Null);
    assert_eq!(said["layout"]["partitions"], 4);
    assert_eq!(env.kafka.partitions(&a), None);
    assert_eq!(env.kafka.partitions(&b), Some(3));
    for topic in [&a, &b, &c] {
        assert_eq!(writes(&env.kafka, topic), [], "written to {topic}");
    }

    let output = run(&["reconcile", "-f", "-", "--dry-run"], &group.to_string());
    let said = text(&output);
    for part in [
        "trading/orders: would be aligned".to_owned(),
        format!("create {a} with 4 partitions, replication factor 1: would be done"),
        format!("grow {b} from 3 to 4 partitions: would be done"),
        format!("set on {b} max.message.bytes from 1048588 to 1000: would be done"),
        "dry run, nothing was written".to_owned(),
        "exit code 0".to_owned(),
    ] {
        assert!(said.contains(&part), "no {part:?} in {said}");
    }
    assert!(!said.contains('\u{1b}'), "not for a terminal: {said}");
}

pub(crate) fn a_dry_run_finds_what_kafka_would_refuse(env: &Env) {
    let [a, b] = names(["dry", "dry"]);
    env.kafka.create_topic(&b, 4);
    let mut spec = spec(&env.kafka.bootstrap(), 4, &[&a, &b]);
    spec["replicationFactor"] = json!(3);
    spec["topics"][1]["config"] = json!({"segment.ms": "soon"});
    let group = group("orders", &spec);
    let said = reconcile_one(&group, &["--dry-run"], 1);
    let wanted = [
        format!("Create {a} Rejected"),
        format!("Configure {b} Rejected"),
    ];
    assert_eq!(plan(&said), wanted);
    let words = said["plan"][0]["message"].as_str().expect("Kafka's words");
    assert!(words.contains("INVALID_REPLICATION_FACTOR"), "{words}");
    assert_eq!(
        condition(&said, "PartitionsAligned")["reason"],
        "CreateRejected"
    );
    assert_eq!(
        condition(&said, "TopicConfigsApplied")["reason"],
        "Rejected"
    );
    for kind in ["PartitionsAligned", "TopicConfigsApplied"] {
        let said = message(&said, kind);
        assert!(said.ends_with("; then run again"), "{said}");
    }
    assert_eq!(env.kafka.partitions(&a), None);

    // The same without the word, when it is meant.
    let done = reconcile_one(&group, &[], 1);
    assert_eq!(plan(&done), wanted);
    assert_eq!(env.kafka.partitions(&a), None);
}

pub(crate) fn a_growth_needs_its_consent_here_too(env: &Env) {
    let [a, b] = names(["grown", "grown"]);
    let mut spec = spec(&env.kafka.bootstrap(), 6, &[&a, &b]);
    reconcile_one(&group("orders", &spec), &[], 0);
    env.kafka.produce(&a, &[("BBCA", "1")]);
    spec["partitions"] = json!(8);
    for args in [&[][..], &["--dry-run"]] {
        let said = reconcile_one(&group("orders", &spec), args, 2);
        assert_eq!(
            [&said["verdict"], &said["reason"]],
            ["Blocked", "GrowthBlocked"]
        );
        assert_eq!(said["plan"], json!([]), "equal stays equal");
        let wanted = format!(
            "set spec.acceptKeyMovement: {{topics: [{a}, {b}], fromPartitions: 6, toPartitions: 8}}"
        );
        let said = said["message"].as_str().expect("a message").to_owned();
        assert!(said.contains(&wanted), "{said}");
    }
    assert_eq!(env.kafka.partitions(&a), Some(6));

    spec["acceptKeyMovement"] = consent(&[&a, &b], 6, 8);
    let said = reconcile_one(&group("orders", &spec), &["--dry-run"], 0);
    let wanted = [
        format!("Grow {a} WouldBeDone"),
        format!("Grow {b} WouldBeDone"),
    ];
    assert_eq!(plan(&said), wanted);
    let moves = said["plan"][0]["movement"].as_str().expect("what moves");
    assert!(moves.contains("75 % of the key space"), "{moves}");
    assert_eq!(said["plan"][1]["movement"], Value::Null, "it is empty");
    let done = reconcile_one(&group("orders", &spec), &[], 0);
    assert_eq!(
        plan(&done),
        [format!("Grow {a} Done"), format!("Grow {b} Done")]
    );
    for topic in [&a, &b] {
        assert_eq!(env.kafka.partitions(topic), Some(8));
    }
    let before = writes(&env.kafka, &a).len();
    reconcile_one(&group("orders", &spec), &[], 0);
    assert_eq!(writes(&env.kafka, &a).len(), before);
}

pub(crate) fn a_growth_cut_off_between_two_topics_is_completed_by_the_next_run(env: &Env) {
    let [a, b] = names(["cut", "cut"]);
    let mut spec = spec(&env.kafka.bootstrap(), 4, &[&a, &b]);
    spec["acceptKeyMovement"] = consent(&[&a, &b], 3, 4);
    for topic in [&a, &b] {
        env.kafka.create_topic(topic, 3);
        env.kafka.produce(topic, &[("BBCA", "1")]);
    }
    env.kafka.grow_topic(&a, 4);
    let done = reconcile_one(&group("orders", &spec), &[], 0);
    assert_eq!(plan(&done), [format!("Grow {b} Done")]);
    assert_eq!(env.kafka.partitions(&b), Some(4));
}

pub(crate) fn declared_config_is_set_and_what_would_drop_records_is_not(env: &Env) {
    let [a] = names(["config"]);
    env.kafka.create_topic(&a, 3);
    env.kafka.produce(&a, &[("BBCA", "1")]);
    let mut spec = spec(&env.kafka.bootstrap(), 3, &[&a]);
    spec["topics"][0]["config"] = json!({"retention.ms": "1000", "max.message.bytes": "1000"});
    let done = reconcile_one(&group("orders", &spec), &[], 2);
    assert_eq!(plan(&done), [format!("Configure {a} Done")]);
    assert_eq!(
        [&done["verdict"], &done["reason"]],
        ["Blocked", "WouldDropData"]
    );
    assert_eq!(
        condition(&done, "Ready")["status"],
        "True",
        "config does not gate it"
    );
    let config = env.kafka.topic_config(&a);
    assert_eq!(
        config.get("max.message.bytes").map(String::as_str),
        Some("1000")
    );
    assert_eq!(config.get("retention.ms"), None);

    spec["acceptDataLoss"] = json!({"topic": a, "keys": ["retention.ms"]});
    let done = reconcile_one(&group("orders", &spec), &[], 0);
    assert_eq!(plan(&done), [format!("Configure {a} Done")]);
    assert_eq!(env.kafka.topic_config(&a)["retention.ms"], "1000");
}

pub(crate) fn drift_a_pause_and_an_observer_are_somebodys_to_decide(env: &Env) {
    let [a, b] = names(["decide", "decide"]);
    let spec = spec(&env.kafka.bootstrap(), 3, &[&a, &b]);
    let mut paused = group("orders", &spec);
    paused["metadata"]["annotations"] = json!({"copartition.dev/paused": "true"});
    let said = reconcile_one(&paused, &[], 2);
    assert_eq!(said["reason"], "TopicMissing");
    let mut observed = group("orders", &spec);
    observed["spec"]["mode"] = json!("Observe");
    let said = reconcile_one(&observed, &[], 2);
    assert_eq!(said["reason"], "TopicMissing");
    let mut referenced = group("orders", &spec);
    referenced["spec"]["topics"][0]["management"] = json!("Referenced");
    env.kafka.create_topic(&a, 2);
    let said = reconcile_one(&referenced, &[], 2);
    assert_eq!(said["reason"], "WaitingForReferenced");
    env.kafka.grow_topic(&a, 4);
    let said = reconcile_one(&group("orders", &spec), &[], 2);
    assert_eq!(said["reason"], "PartitionDrift");
    let said = said["message"].as_str().expect("a message");
    assert!(said.contains("expected 3 partitions, seen 4"), "{said}");
    assert!(said.contains("set spec.partitions: 4"), "{said}");
    for topic in [&a, &b] {
        assert_eq!(writes(&env.kafka, topic), [], "written to {topic}");
    }
}

pub(crate) fn a_status_in_the_file_is_remembered(env: &Env) {
    let [a, b] = names(["known", "known"]);
    let spec = spec(&env.kafka.bootstrap(), 3, &[&a, &b]);
    let mut known = group("orders", &spec);
    let done = reconcile_one(&known, &[], 0);
    let id = topic_status(&done, &a)["topicId"].clone();
    // What is printed has the fields of a status, so one run can remember another.
    known["status"] = json!({
        "clusterId": done["clusterId"],
        "recordedPartitions": done["recordedPartitions"],
        "topics": done["topics"],
    });
    env.kafka.delete_topic(&a);
    let said = reconcile_one(&known, &[], 2);
    assert_eq!(said["reason"], "TopicDeleted");
    assert_eq!(env.kafka.partitions(&a), None);

    env.kafka.create_topic(&a, 3);
    let said = reconcile_one(&known, &[], 2);
    assert_eq!(said["reason"], "TopicRecreated");
    assert!(
        said["message"]
            .as_str()
            .is_some_and(|said| said.contains(id.as_str().expect("an id")))
    );
    // Without the memory it is the topic that is there.
    let done = reconcile_one(&group("orders", &spec), &[], 0);
    let new = topic_status(&done, &a)["topicId"].clone();
    assert_ne!(new, id);
    known["metadata"]["annotations"] = json!({"copartition.dev/acknowledge": new});
    reconcile_one(&known, &[], 0);

    known["status"]["clusterId"] = json!("another");
    let said = reconcile_one(&known, &[], 2);
    assert_eq!(said["reason"], "ClusterChanged");
}

pub(crate) fn every_group_is_done_and_the_worst_exit_code_counts(env: &Env) {
    let bootstrap = env.kafka.bootstrap();
    let [a, b, c] = names(["many", "many", "many"]);
    env.kafka.create_topic(&b, 5);
    let fine = group("fine", &spec(&bootstrap, 3, &[&a]));
    let drifted = group("drifted", &spec(&bootstrap, 3, &[&b]));
    let invalid = group("invalid", &spec(&bootstrap, 0, &["x"]));
    let last = group("last", &spec(&bootstrap, 2, &[&c]));
    let verdicts = |printed: &Value| -> Vec<String> {
        let groups = printed["groups"].as_array().expect("groups").iter();
        groups
            .map(|group| format!("{} {}", group["name"], group["exitCode"]))
            .collect()
    };
    let printed = reconcile(&[&drifted, &fine], &["--dry-run"], 2);
    assert_eq!(verdicts(&printed), ["\"drifted\" 2", "\"fine\" 0"]);
    let printed = reconcile(&[&invalid, &fine, &drifted, &last], &[], 1);
    let wanted = ["\"invalid\" 1", "\"fine\" 0", "\"drifted\" 2", "\"last\" 0"];
    assert_eq!(verdicts(&printed), wanted);
    assert_eq!(env.kafka.partitions(&a), Some(3));
    assert_eq!(env.kafka.partitions(&c), Some(2));

    // From files as well.
    let dir = tempfile::tempdir_in(env.root()).expect("a folder");
    let paths = ["one.json", "two.json"].map(|name| dir.path().join(name));
    for (path, group) in paths.iter().zip([&fine, &last]) {
        std::fs::write(path, group.to_string()).expect("a file");
    }
    let [one, two] = paths.each_ref().map(|path| path.to_str().expect("a path"));
    let folder = dir.path().to_str().expect("a path");
    for args in [&["-f", one, "--filename", two][..], &["-f", folder]] {
        let mut all = vec!["reconcile"];
        all.extend(args);
        let output = run(&all, "");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        assert!(text(&output).contains("2 aligned"), "{}", text(&output));
    }
}

pub(crate) fn two_groups_of_a_run_cannot_manage_one_topic(env: &Env) {
    let [a, b] = names(["shared", "shared"]);
    let first = group("first", &spec(&env.kafka.bootstrap(), 3, &[&a]));
    let second = group("second", &spec(&env.kafka.bootstrap(), 4, &[&a, &b]));
    let printed = reconcile(&[&first, &second], &[], 1);
    let said = &printed["groups"][1];
    assert_eq!(said["reason"], "TopicConflict");
    let said = said["message"].as_str().expect("a message");
    assert!(said.contains("trading/first"), "{said}");
    assert_eq!(env.kafka.partitions(&a), Some(3));
    assert_eq!(env.kafka.partitions(&b), None);
}

pub(crate) fn what_cannot_be_read_is_named_and_nothing_is_asked(env: &Env) {
    let [a] = names(["unread"]);
    let good = group("orders", &spec(&env.kafka.bootstrap(), 3, &[&a]));
    let typo = good.to_string().replace("\"partitions\"", "\"partitons\"");
    let large = format!("a: {}", "x".repeat(5 << 20));
    for (input, wanted) in [
        (
            typo.as_str(),
            "spec.partitons: unknown field; did you mean partitions?",
        ),
        ("a: [1,\nb: 2\n", "flow sequence at line 1 column 4"),
        (
            "kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n",
            "seen ConfigMap x (apiVersion v1)",
        ),
        ("", "no CoPartitionedTopicGroup"),
        (large.as_str(), "more than 4 MiB"),
    ] {
        let output = run(&["reconcile", "-f", "-"], input);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(wanted), "no {wanted:?} in {said}");
    }
    let output = run(&["reconcile", "-f", "/nowhere/group.yaml"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output).contains("/nowhere/group.yaml"),
        "{}",
        text(&output)
    );
    assert_eq!(env.kafka.partitions(&a), None);
}

pub(crate) fn an_address_where_nobody_answers_is_given_up_in_time(env: &Env) {
    let [a] = names(["reached"]);
    let closed = format!("127.0.0.1:{}", free_port());
    let dead = group("dead", &spec(&closed, 3, &["x"]));
    let fine = group("fine", &spec(&env.kafka.bootstrap(), 3, &[&a]));
    let start = Instant::now();
    let printed = reconcile(&[&dead, &fine], &[], 1);
    assert!(start.elapsed() < GIVEN_UP_WITHIN, "{:?}", start.elapsed());
    let said = &printed["groups"][0];
    assert_eq!(
        [&said["verdict"], &said["reason"]],
        ["Failed", "Unreachable"]
    );
    let said = said["message"].as_str().expect("a message");
    assert!(
        said.contains(&closed) && said.contains("Check the address"),
        "{said}"
    );
    assert_eq!(
        printed["groups"][1]["exitCode"], 0,
        "one cluster hinders no other"
    );

    // One that takes the connection and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("an address").to_string();
    let group = group("silent", &spec(&address, 3, &["x"]));
    let said = reconcile_one(&group, &["--timeout", "3s"], 1);
    assert_eq!(condition(&said, "KafkaReachable")["status"], "False");
    let said = said["message"].as_str().expect("a message");
    assert!(said.contains(&address), "{said}");
}

pub(crate) fn a_signal_ends_it_at_once_and_it_says_what_is_left(env: &Env) {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("an address").to_string();
    let dir = tempfile::tempdir_in(env.root()).expect("a folder");
    let file = dir.path().join("group.json");
    let input = group("silent", &spec(&address, 3, &["x"])).to_string();
    std::fs::write(&file, input).expect("a file");
    let mut command = guarded(env!("CARGO_BIN_EXE_copartition-operator"));
    command
        .args(["reconcile", "--timeout", "1h", "-f"])
        .arg(&file);
    let name = unique("reconcile");
    let mut process = Process::start(&name, command, &dir.path().join("log"));
    // It has something to wait for as soon as it connects.
    let _connection = silent.accept().expect("a connection");
    let start = Instant::now();
    process.signal("TERM");
    let status = process.wait(GIVEN_UP_WITHIN);
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
    let said = process.log();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("trading/silent: failed"), "{said}");
    assert!(said.contains("stopped by a signal"), "{said}");
    assert!(
        said.contains(&format!("{address} had not answered")),
        "{said}"
    );
}

pub(crate) fn wrong_usage_is_never_taken_for_a_verdict(_: &Env) {
    for args in [
        &["reconcile"][..],
        &["reconcile", "-f"],
        &["reconcile", "-f", "x", "--timeout", "soon"],
        &["reconcile", "-f", "x", "--timeout", "0s"],
        &["reconcile", "-f", "x", "-o", "xml"],
        &["reconcile", "-f", "x", "--dryrun"],
        &["reconcille", "-f", "x"],
        &[],
    ] {
        let output = run(args, "");
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", text(&output));
        assert_eq!(output.stdout, b"", "{args:?}");
        assert_ne!(output.stderr, b"", "{args:?}");
    }
    for args in [
        &["reconcile", "--help"][..],
        &["--version"],
        &["help", "reconcile"],
    ] {
        let output = run(args, "");
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output));
    }
    let help = text(&run(&["reconcile", "--help"], ""));
    assert!(help.contains("2  blocked or drifted"), "{help}");
}

pub(crate) fn the_json_is_as_documented_and_alone_on_standard_output(env: &Env) {
    let [a] = names(["json"]);
    let input = group("orders", &spec(&env.kafka.bootstrap(), 3, &[&a])).to_string();
    let output = |args: &[&str]| {
        let mut all = vec!["reconcile", "-f", "-"];
        all.extend(args);
        run(&all, &input)
    };
    let out = output(&["--dry-run", "-o", "json"]);
    let printed: Value = serde_json::from_slice(&out.stdout).expect("JSON and nothing else");
    let keys = |value: &Value| -> Vec<String> {
        let object = value.as_object().expect("an object");
        object.keys().cloned().collect()
    };
    assert_eq!(keys(&printed), ["dryRun", "exitCode", "groups"]);
    let group = &printed["groups"][0];
    let wanted = [
        "bootstrapServers",
        "clusterId",
        "conditions",
        "exitCode",
        "holdsRecords",
        "layout",
        "message",
        "name",
        "namespace",
        "plan",
        "reason",
        "recordedPartitions",
        "source",
        "topics",
        "verdict",
    ];
    assert_eq!(keys(group), wanted);
    let wanted = [
        "action",
        "config",
        "message",
        "outcome",
        "partitions",
        "replicationFactor",
        "topic",
    ];
    assert_eq!(keys(&group["plan"][0]), wanted);
    assert_eq!(
        keys(&group["conditions"][0]),
        ["message", "reason", "status", "type"]
    );
    let yaml = output(&["--dry-run", "-o", "yaml"]).stdout;
    let yaml: Value = serde_yaml::from_slice(&yaml).expect("YAML");
    assert_eq!(yaml, printed);

    let out = output(&["-o", "json"]);
    let logs = String::from_utf8_lossy(&out.stderr);
    assert!(logs.contains("written to Kafka"), "{logs}");
    let printed: Value = serde_json::from_slice(&out.stdout).expect("JSON and nothing else");
    assert_eq!(printed["exitCode"], 0);
}
