//! Where the real client libraries put keys, against what `copartition::keys` says of them.
//!
//! Each client sends the same keys, by each of its partitioners, to topics of several partition counts on a real Kafka;
//! then the records are read back. `make conformance` does it with all clients and counts. Of those, `make test` keeps
//! the ones that need nothing more than Kafka and this program: Java, and librdkafka with its seven partitioners.
//! Other tests let clients write through [`send_by`].
//!
//! Not here are ruby-kafka (CRC-32, as several others) and goka (sarama's partitioner over FNV-1a). Four clients choose
//! by their real code and let another send: kafka-node and the crate `kafka`, since Kafka has dropped what they
//! speak, and Spring's and Debezium's classes, which know nothing of what sends.

mod clients;
mod evidence;
mod keys;
mod landed;
mod librdkafka;
mod mismatches;
mod setting;

use std::fs;
use std::time::{Duration, Instant};

use copartition::keys::{KeyRule, Partitioner};

use crate::env::process::{Process, guarded};
use crate::env::{Env, script, unique};

pub(crate) use evidence::the_table_of_clients_says_what_runs_here;
pub(crate) use keys::Key;
pub(crate) use landed::Topics;
use mismatches::mismatches;
use setting::{Client, Keys, Setting, Wanted};

/// One partition, the smallest even and odd counts, primes, powers of two, the usual 6 and 12, and a large one.
const COUNTS: [i32; 9] = [1, 2, 3, 5, 6, 7, 8, 12, 100];
/// Enough to tell the schemes apart, and cheap.
const FEW: [i32; 3] = [3, 6, 12];
/// The JVMs compile as they run, and share two cores with servers.
const DEADLINE: Duration = Duration::from_secs(300);

pub(crate) fn java_puts_keys_where_murmur2_says(env: &Env) {
    check(env, &clients::JAVA, &FEW);
}

pub(crate) fn librdkafka_puts_keys_where_its_seven_schemes_say(env: &Env) {
    check(env, &clients::LIBRDKAFKA, &FEW);
}

/// Each kind of disagreement is seen: a comparison that finds nothing would pass all of the above.
pub(crate) fn a_client_of_another_scheme_is_found_out(env: &Env) {
    let found = |name, window, wanted: (Partitioner, KeyRule)| {
        let setting = Setting::of(name, "").with_window(window);
        let wanted = Wanted::by(wanted.0, wanted.1);
        compare(env, &clients::LIBRDKAFKA, &setting, &wanted, &FEW)
    };
    let count = |found: &[String], what: &str| {
        let lines = found.iter().filter(|line| line.contains(what));
        lines.count()
    };

    // It hashes with CRC-32, and pins null keys.
    let (lines, records) = found("consistent", 0, (Partitioner::Murmur2, KeyRule::Spread));
    assert!(
        count(&lines, "wanted partition") > records / 2,
        "{lines:#?}"
    );
    assert!(
        count(&lines, "key null: wanted it spread") > 0,
        "{lines:#?}"
    );

    // It spreads null keys, and nothing else differs.
    let (lines, _) = found("murmur2_random", 0, (Partitioner::Murmur2, KeyRule::Hashed));
    let of_null = count(&lines, "key null: wanted partition");
    assert!(of_null > 0 && of_null == lines.len(), "{lines:#?}");

    // It appends no window; null keys have none to be cut off.
    let (lines, records) = found("murmur2", 8, (Partitioner::Murmur2, KeyRule::Hashed));
    assert!(count(&lines, "arrived as") > records / 2, "{lines:#?}");
}

/// The trials of `make conformance`, one a client.
macro_rules! all_counts {
    ($($test:ident: $client:ident,)+) => {
        $(pub(crate) fn $test(env: &Env) {
            check(env, &clients::$client, &COUNTS);
        })+
    };
}

all_counts! {
    java: JAVA,
    kafka_streams: KAFKA_STREAMS,
    spring_cloud_stream: SPRING_CLOUD_STREAM,
    debezium: DEBEZIUM,
    librdkafka: LIBRDKAFKA,
    confluent_kafka: CONFLUENT_KAFKA,
    kafka_python: KAFKA_PYTHON,
    aiokafka: AIOKAFKA,
    kafkajs: KAFKAJS,
    kafkajs_1: KAFKAJS_1,
    platformatic: PLATFORMATIC,
    kafka_node: KAFKA_NODE,
    sarama: SARAMA,
    kafka_go: KAFKA_GO,
    franz_go: FRANZ_GO,
    kafka_rust: KAFKA_RUST,
}

/// Fails with all that differs, over all of a client's settings.
fn check(env: &Env, client: &Client, counts: &[i32]) {
    let mut found = Vec::new();
    for setting in client.settings {
        let began = Instant::now();
        let wanted = Wanted::of(client, setting);
        let (mut differing, records) = compare(env, client, setting, &wanted, counts);
        // The figures of a full run; the few of every day say nothing as long as they agree.
        if counts.len() > FEW.len() {
            println!(
                "{} {:?} as {}: {records} records, {} differ, {:.1} s",
                client.name,
                setting.name,
                setting.partitioner.unwrap_or("no scheme"),
                differing.len(),
                began.elapsed().as_secs_f64()
            );
        }
        found.append(&mut differing);
    }
    assert!(
        found.is_empty(),
        "{} records differ from copartition::keys:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// What differs, and how many records were compared.
fn compare(
    env: &Env,
    client: &Client,
    setting: &Setting,
    wanted: &Wanted,
    counts: &[i32],
) -> (Vec<String>, usize) {
    let keys = keys::all(client.keys == Keys::Text, wanted.null != KeyRule::Refused);
    let topics = Topics::create(&env.kafka, counts);
    send(env, client, setting, &topics, &keys);
    let records = topics.read();
    topics.delete();
    let found = mismatches(client, setting, wanted, counts, &keys, &records);
    (found, records.len())
}

/// Sends each key to each topic, with its position as the record's value.
fn send(env: &Env, client: &Client, setting: &Setting, topics: &Topics<'_>, keys: &[Key]) {
    let names: Vec<&str> = topics.names().collect();
    if client.name == clients::LIBRDKAFKA.name {
        librdkafka::send(&env.kafka.bootstrap(), setting.name, &names, keys);
    } else {
        send_by(env, client.name, setting.name, &names, keys);
    }
}

/// Lets a client of `tests/clients/run` send each key to each topic, with its position as the record's value.
pub(crate) fn send_by(env: &Env, client: &str, setting: &str, topics: &[&str], keys: &[Key]) {
    let run = unique(client);
    let input = env.root().join(format!("{run}.keys"));
    let lines: String = keys.iter().map(keys::line).collect();
    let stdin = fs::write(&input, lines).and_then(|()| fs::File::open(&input));
    let mut command = guarded(script("../clients/run"));
    command
        .args([client, &env.kafka.bootstrap(), setting])
        .args(topics)
        .stdin(stdin.expect("cannot write the keys"));
    let mut process = Process::start(&run, command, &env.root().join(format!("{run}.log")));
    let status = process.wait(DEADLINE);
    assert!(
        status.success(),
        "{client} {setting:?} did not send the keys ({status}):\n{}",
        process.log_tail()
    );
}
