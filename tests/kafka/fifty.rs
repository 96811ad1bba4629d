//! What many connections to one broker cost. Figures, so no test: run them one by one, each in a process of its own, with
//! `--ignored --nocapture`.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use copartition::kafka::{
    Clusters, ConnectionSettings, Interest, Metrics, PollSettings, Sasl, WriteGuard,
};

use super::security::{login, secured};
use super::{SOON, runtime, settings};
use crate::env::secure::{Listener, password};
use crate::env::{Env, unique, wait_for};

const CONNECTIONS: u64 = 50;

/// What this process has at the moment.
struct Usage {
    threads: i64,
    resident: i64,
    /// Milliseconds of CPU so far.
    cpu: i64,
}

fn usage() -> Usage {
    let status = fs::read_to_string("/proc/self/status").expect("the kernel's account");
    let number = |name: &str| -> i64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let value = line.and_then(|line| line.split_whitespace().next());
        value
            .and_then(|value| value.parse().ok())
            .expect("a number")
    };
    let stat = fs::read_to_string("/proc/self/stat").expect("the kernel's account");
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    // Fields 14 and 15, in hundredths of a second; the second one ended at the parenthesis.
    let ticks: i64 = fields[11..13]
        .iter()
        .filter_map(|field| field.parse::<i64>().ok())
        .sum();
    Usage {
        threads: number("Threads:"),
        resident: number("VmRSS:"),
        cpu: ticks * 10,
    }
}

/// Established connections from here to a port.
fn connections(address: &str) -> usize {
    let port: u16 = address
        .rsplit(':')
        .next()
        .and_then(|port| port.parse().ok())
        .expect("a port");
    let table = fs::read_to_string("/proc/net/tcp").expect("the kernel's table");
    let remote = format!(":{port:04X} 01");
    table.lines().filter(|row| row.contains(&remote)).count()
}

fn measure(what: &str, topic: &str, settings: &ConnectionSettings) {
    let address = settings.bootstrap_servers[0].clone();
    let runtime = runtime();
    let polls = PollSettings::default();
    let clusters = Clusters::new(polls, Arc::new(Metrics::default()), WriteGuard::default());
    let (before, open) = (usage(), connections(&address));
    let all: Vec<_> = {
        let _context = runtime.enter();
        // Another timeout makes another connection.
        let timeouts = (0..CONNECTIONS).map(|n| Duration::from_millis(10_000 + n));
        let each = timeouts.map(|timeout| settings.clone().with_request_timeout(timeout));
        each.map(|settings| clusters.cluster(&settings).expect("a cluster"))
            .collect()
    };
    let interest = Interest {
        topics: BTreeSet::from([topic.to_owned()]),
        ..Interest::default()
    };
    for cluster in &all {
        cluster.set_interest("g", interest.clone());
    }
    let polled = |times: u64| {
        wait_for("all to poll", 4 * SOON, || {
            let done = all.iter().filter(|cluster| cluster.polls() >= times);
            match done.count() {
                50 => Ok(()),
                count => Err(format!("{count}")),
            }
        });
    };
    wait_for("all to be read", 4 * SOON, || {
        let read = all.iter().filter(|cluster| cluster.view("g").is_some());
        match read.count() {
            50 => Ok(()),
            count => Err(format!("{count}")),
        }
    });
    polled(2);
    let settled = usage();
    polled(8);
    let after = usage();
    println!(
        "{what}: {} threads, {} KiB resident, {} connections at the broker; {} ms of CPU to begin, {} ms for the next 6 polls \
         (30 s)",
        after.threads - before.threads,
        after.resident - before.resident,
        connections(&address) - open,
        settled.cpu - before.cpu,
        after.cpu - settled.cpu,
    );
}

/// A topic that `anna` may describe.
fn topic(env: &Env) -> String {
    let topic = unique("fifty");
    env.secure().kafka.create_topic(&topic, 6);
    env.secure().allow(&["anna"], "Describe", &topic);
    topic
}

pub(crate) fn fifty_plaintext_connections(env: &Env) {
    let plaintext = settings(&env.secure().kafka.bootstrap());
    measure("plaintext", &topic(env), &plaintext);
}

pub(crate) fn fifty_encrypted_connections(env: &Env) {
    let encrypted = secured(env.secure(), Listener::Encrypted, None);
    measure("TLS", &topic(env), &encrypted);
}

pub(crate) fn fifty_connections_with_login(env: &Env) {
    let scram = Sasl::ScramSha512(login("anna", &password("anna")));
    let logged_in = secured(env.secure(), Listener::Login, Some(scram));
    measure("TLS and SCRAM-SHA-512", &topic(env), &logged_in);
}
