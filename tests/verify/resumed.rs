//! A reading that ended early, and the next one that goes on from its checkpoint.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use serde_json::Value;

use super::{KEYS, command, condition, keys, parsed, producer, run, verified, write};
use crate::env::process::Process;
use crate::env::{Env, KafkaCluster, KafkaOptions, text, unique, wait_for};
use crate::group::DEADLINE;

fn java(kafka: &KafkaCluster) -> BaseProducer {
    let config = [
        ("partitioner", "murmur2_random"),
        ("message.max.bytes", "40000000"),
        ("queue.buffering.max.messages", "1000000"),
    ];
    producer(kafka, &config)
}

fn checkpoint(env: &Env) -> PathBuf {
    env.root().join(unique("checkpoint"))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What is said of a single topic, but for its name.
fn of_topic(seen: &Value) -> Value {
    let mut topic = seen["topics"][0].clone();
    topic["topic"] = Value::Null;
    topic
}

/// A batch that is too large ends the reading of its partition. Once it is gone, the next run reads the rest, and says what
/// one says that reads all at once: records that were deleted in between are still counted.
pub(crate) fn a_reading_that_ended_early_goes_on_from_its_checkpoint(env: &Env) {
    let [topic, other] = ["early", "whole"].map(unique);
    let config = [("max.message.bytes", "40000000")];
    env.kafka.create_topic_with(&topic, 3, &config);
    env.kafka.create_topic(&other, 3);
    let java = java(&env.kafka);
    for topic in [&topic, &other] {
        write(&java, topic, keys(0..KEYS).map(Some));
    }
    let large = vec![7; 20_000_000];
    let record = BaseRecord::<str, [u8]>::to(&topic)
        .partition(0)
        .payload(&large);
    java.send(record).map_err(|(e, _)| e).expect("a record");
    java.flush(DEADLINE).expect("cannot write");
    let after = env.kafka.end_offsets(&topic)[&0];
    // Some keys of the first ones again, and new ones.
    for topic in [&topic, &other] {
        write(&java, topic, keys(KEYS / 2..2 * KEYS).map(Some));
    }

    let file = checkpoint(env);
    let path = file.to_string_lossy();
    let args = ["--topic", &topic, "--client", "java", "--full"];
    let args = [&args[..], &["--checkpoint", &path, "-o", "json"]].concat();
    let first = run(env, &args);
    let seen = parsed(&first, 1);
    assert_eq!(condition(&seen).0, "Unknown", "{seen}");
    let why = seen["incomplete"][0]["why"].as_str().unwrap_or_default();
    assert!(why.contains("16777216 bytes"), "{seen}");
    assert!(
        said(&first).contains(&format!("is kept in {path}")),
        "{}",
        text(&first)
    );
    let kept = fs::read_to_string(&file).expect("a checkpoint");
    assert!(!kept.contains("user-"));
    let mode = fs::metadata(&file)
        .expect("a checkpoint")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);

    // Nothing is counted twice as long as it can't go on.
    let again = run(env, &args);
    assert_eq!(of_topic(&parsed(&again, 1)), of_topic(&seen));
    let records = seen["topics"][0]["records"].to_string();
    let going_on = format!("going on after the {records} records of {path}");
    assert!(said(&again).contains(&going_on), "{}", text(&again));

    env.kafka.delete_records(&topic, 0, after);
    let last = parsed(&run(env, &args), 0);
    assert_eq!(condition(&last), ("True", "KeysFit"), "{last}");
    let whole = verified(env, &["--topic", &other, "--client", "java", "--full"], 0);
    assert_eq!(of_topic(&last), of_topic(&whole));
    assert_eq!(whole["topics"][0]["records"], KEYS * 5 / 2, "{whole}");
    assert!(!file.exists(), "it is of no use any more");
}

/// On a Kafka of its own, whose log says when the reading has begun.
pub(crate) fn an_interrupted_reading_keeps_where_it_was(env: &Env) {
    const RECORDS: usize = 200_000;
    let kafka = KafkaCluster::start(env.root(), 1, KafkaOptions::default());
    let topic = unique("interrupted");
    kafka.create_topic(&topic, 6);
    write(
        &java(&kafka),
        &topic,
        (0..RECORDS).map(|it| Some(format!("user-{}", it % 50_000))),
    );
    let file = checkpoint(env);
    let path = file.to_string_lossy().into_owned();
    let bootstrap = kafka.bootstrap();
    let args = [
        "--bootstrap",
        &bootstrap,
        "--topic",
        &topic,
        "--client",
        "java",
        "--full",
    ];
    let kept = [&args[..], &["--checkpoint", &path, "-o", "json"]].concat();
    let mut last = None;
    wait_for("a reading to be interrupted on its way", DEADLINE, || {
        interrupt(&kafka, &kept, env.root())?;
        assert!(file.exists());
        let resumed = command(&kept).output().expect("the plugin");
        let before = going_on(&said(&resumed));
        assert!(before < RECORDS, "{before}");
        last = Some(resumed);
        if before > 0 {
            Ok(())
        } else {
            Err("interrupted before the first record was judged".to_owned())
        }
    });
    let last = parsed(&last.expect("a resumed reading"), 0);
    let whole = command(&[&args[..], &["-o", "json"]].concat()).output();
    let whole = parsed(&whole.expect("the plugin"), 0);
    assert_eq!(last, whole);
    assert_eq!(whole["topics"][0]["records"], RECORDS);
    assert!(!file.exists());
}

/// Begins a reading and interrupts it. Fails if that was too early or too late; then the file is gone.
fn interrupt(kafka: &KafkaCluster, args: &[&str], folder: &Path) -> Result<(), String> {
    let fetches = || kafka.requests("FETCH", "copartition-operator").len();
    let before = fetches();
    let name = unique("reading");
    let log = folder.join(format!("{name}.log"));
    let mut process = Process::start(&name, command(args), &log);
    wait_for("a record to be fetched", DEADLINE, || {
        if fetches() > before || process.ended().is_some() {
            Ok(())
        } else {
            Err("none yet".to_owned())
        }
    });
    if process.ended().is_some() {
        return Err("it was done already".to_owned());
    }
    process.signal("INT");
    let status = process.wait(DEADLINE);
    let log = process.log();
    if status.code() == Some(0) {
        return Err("it was done before the signal".to_owned());
    }
    assert_eq!(status.code(), Some(1), "{log}");
    assert!(log.contains("the reading was stopped"), "{log}");
    assert!(log.contains("run the same command again to go on"), "{log}");
    Ok(())
}

fn going_on(said: &str) -> usize {
    let words = said.split("going on after the ").nth(1).unwrap_or_default();
    let number = words.split(' ').next().unwrap_or_default();
    number.parse().unwrap_or_else(|_| panic!("{said}"))
}

pub(crate) fn a_checkpoint_of_other_topics_is_refused(env: &Env) {
    let topic = unique("refused");
    let config = [("max.message.bytes", "40000000")];
    env.kafka.create_topic_with(&topic, 3, &config);
    let java = java(&env.kafka);
    write(&java, &topic, keys(0..KEYS).map(Some));
    let large = vec![7; 20_000_000];
    let record = BaseRecord::<str, [u8]>::to(&topic)
        .partition(0)
        .payload(&large);
    java.send(record).map_err(|(e, _)| e).expect("a record");
    java.flush(DEADLINE).expect("cannot write");
    let file = checkpoint(env);
    let path = file.to_string_lossy();
    let of = |args: &[&str]| {
        let full = ["--full", "--checkpoint", &path];
        run(env, &[&full, args].concat())
    };
    let output = of(&["--topic", &topic, "--client", "java"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let kept = fs::read(&file).expect("a checkpoint");
    let refused = |args: &[&str], wanted: &str| {
        let output = of(args);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        assert!(said.contains(wanted) && said.contains(&*path), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert_eq!(output.stdout, b"", "{}", text(&output));
        assert_eq!(fs::read(&file).expect("it is left alone"), kept);
    };
    refused(
        &["--topic", &topic],
        "is declared as nothing now, it was as utf8/murmur2",
    );
    let other = unique("other");
    env.kafka.create_topic(&other, 3);
    let both = ["--topic", &topic, "--topic", &other, "--client", "java"];
    refused(&both, "it is of other topics");
    env.kafka.grow_topic(&topic, 4);
    refused(
        &["--topic", &topic, "--client", "java"],
        "has 4 partitions now, it had 3",
    );
    env.kafka.delete_topic(&topic);
    let output = of(&["--topic", &topic, "--client", "java"]);
    assert!(
        said(&output).contains("all topics have to be there"),
        "{}",
        text(&output)
    );
    env.kafka.create_topic(&topic, 3);
    refused(
        &["--topic", &topic, "--client", "java"],
        "was deleted and created anew since",
    );
    fs::write(&file, &kept[..kept.len() / 2]).expect("a file");
    let output = of(&["--topic", &topic, "--client", "java"]);
    assert!(
        said(&output).contains("this checkpoint is damaged"),
        "{}",
        text(&output)
    );
}
