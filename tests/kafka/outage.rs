//! Brokers that do not answer: what one request, and what a cluster's groups, learn of it.

use std::collections::BTreeSet;
use std::io::Read;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use copartition::kafka::{Client, Error, Health, PollSettings, TopicError, WriteGuard};
use copartition::plan::{Records, TopicReading};

use super::watch::{OFTEN, Watch, every};
use super::{SOON, names, new_topic, runtime, settings};
use crate::env::{Env, KafkaCluster, KafkaOptions, free_port, unique, wait_for};

pub(crate) fn a_closed_port_is_unreachable_in_time_and_blocks_nothing(_env: &Env) {
    // One thread for everything: a request that blocked it would stop the clock as well.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let port = free_port();
    let settings =
        settings(&format!("127.0.0.1:{port}")).with_request_timeout(Duration::from_secs(2));
    let (answer, took, ticks) = runtime.block_on(async {
        let client =
            Client::connect(&settings, Arc::default(), &WriteGuard::default()).expect("a client");
        let start = Instant::now();
        let mut clock = tokio::time::interval(Duration::from_millis(20));
        let mut ticks = 0;
        let request = client.cluster_id();
        tokio::pin!(request);
        loop {
            tokio::select! {
                answer = &mut request => break (answer, start.elapsed(), ticks),
                _ = clock.tick() => ticks += 1,
            }
        }
    });
    let Err(Error::Unreachable(reason)) = answer else {
        panic!("{answer:?}")
    };
    assert!(
        reason.contains("Connection refused") && reason.contains("is the broker up?"),
        "{reason}"
    );
    assert!(
        ticks > 50,
        "the runtime stood still: {ticks} ticks in {took:?}"
    );
}

pub(crate) fn a_name_that_does_not_resolve_is_unreachable(_env: &Env) {
    let runtime = runtime();
    let settings =
        settings("no-such-host.invalid:9092").with_request_timeout(Duration::from_secs(1));
    let answer = runtime.block_on(async {
        let client =
            Client::connect(&settings, Arc::default(), &WriteGuard::default()).expect("a client");
        client.create_topics(&[new_topic("a", 1)], false).await
    });
    let Err(TopicError::Unreachable(reason)) = &answer["a"] else {
        panic!("{answer:?}")
    };
    assert!(reason.contains("resolve"), "{reason}");
}

/// All that librdkafka tells then is that connections do not last.
pub(crate) fn a_listener_that_wants_a_login_is_unreachable_with_a_hint(env: &Env) {
    let properties = [
        "listeners=PLAINTEXT://127.0.0.1:@CLIENT@,CONTROLLER://127.0.0.1:@CONTROLLER@,SASL_PLAINTEXT://127.0.0.1:@EXTRA@",
        "advertised.listeners=PLAINTEXT://127.0.0.1:@CLIENT@,SASL_PLAINTEXT://127.0.0.1:@EXTRA@",
        "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "inter.broker.listener.name=PLAINTEXT",
        "sasl.enabled.mechanisms=PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_admin=\"admin\";",
    ];
    let properties = properties.map(str::to_owned).to_vec();
    let kafka = KafkaCluster::start(
        env.root(),
        1,
        KafkaOptions {
            properties,
            ..KafkaOptions::default()
        },
    );
    let settings = settings(&kafka.extra_bootstrap()).with_request_timeout(Duration::from_secs(3));
    let runtime = runtime();
    let answer = runtime.block_on(async {
        let client =
            Client::connect(&settings, Arc::default(), &WriteGuard::default()).expect("a client");
        client.cluster_id().await
    });
    let Err(Error::Unreachable(reason)) = answer else {
        panic!("{answer:?}")
    };
    assert!(reason.contains("want TLS or a login"), "{reason}");
}

pub(crate) fn settings_without_a_server_are_refused(_env: &Env) {
    let runtime = runtime();
    let _context = runtime.enter();
    let answer = Client::connect(&settings(" "), Arc::default(), &WriteGuard::default());
    assert!(matches!(answer, Err(Error::Rejected { .. })), "{answer:?}");
}

/// A server that accepts and never answers shows when each client's threads have let go of their sockets.
pub(crate) fn dropped_clients_disconnect_without_blocking(_env: &Env) {
    let server = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = server.local_addr().expect("an address").to_string();
    let settings = settings(&address).with_request_timeout(Duration::from_secs(2));
    let runtime = runtime();
    let metrics = Arc::default();
    let mut clients = Vec::new();
    let mut sockets = Vec::new();
    for _ in 0..20 {
        let _context = runtime.enter();
        let client = Client::connect(&settings, Arc::clone(&metrics), &WriteGuard::default())
            .expect("a client");
        let asking = client.clone();
        // The client connects only when it is asked something; nobody waits for the answer.
        drop(runtime.spawn(async move { asking.cluster_id().await }));
        clients.push(client);
        let (socket, _) = server.accept().expect("a connection");
        socket.set_read_timeout(Some(SOON)).expect("a timeout");
        sockets.push(socket);
    }
    let start = Instant::now();
    runtime.block_on(async { drop(clients) });
    assert!(
        start.elapsed() < Duration::from_millis(200),
        "{:?}",
        start.elapsed()
    );
    drop(runtime);
    for mut socket in sockets {
        // The first request, and then the end.
        let mut read = Vec::new();
        socket
            .read_to_end(&mut read)
            .expect("the client to disconnect");
    }
}

pub(crate) fn a_silent_broker_is_a_verdict_only_after_three_polls_and_heals(env: &Env) {
    let mut kafka = KafkaCluster::start(env.root(), 1, KafkaOptions::default());
    let topic = unique("kept");
    kafka.create_topic(&topic, 2);
    let connection = settings(&kafka.bootstrap()).with_request_timeout(Duration::from_secs(2));
    let watch = Watch::new(connection, every(Duration::from_millis(500)));
    watch.name("g", &[&topic], &[]);
    watch.announced("g");
    let view = watch.cluster.view("g");
    assert!(view.is_some());
    let well = |health: &Health| health.reachable && !health.pending && health.error.is_none();
    watch.health("is well", well);

    kafka.pause(1);
    let polls = watch.cluster.polls();
    let first = watch.health("fails", |health| health.error.is_some());
    assert!(first.reachable, "one failed poll is no verdict: {first:?}");
    assert_eq!(watch.announced("g"), BTreeSet::from(["g".to_owned()]));
    let silent = watch.health("is given up", |health| !health.reachable);
    assert!(
        matches!(silent.error, Some(Error::Timeout(_))),
        "{silent:?}"
    );
    assert!(watch.cluster.polls() >= polls + 2);
    assert_eq!(watch.cluster.view("g"), view, "what was read stays");
    assert!(watch.cluster.snapshot_age() > Duration::from_secs(4));
    let answer = watch.wait(watch.cluster.reread(&names(&[&topic]), false, false));
    assert!(matches!(answer, Err(Error::Timeout(_))), "{answer:?}");
    kafka.resume(1);
    assert_eq!(watch.announced("g"), BTreeSet::from(["g".to_owned()]));
    watch.health("is well", well);
    assert_eq!(watch.cluster.view("g"), view);

    kafka.kill(1);
    let gone = watch.health("is given up", |health| !health.reachable);
    assert!(
        matches!(gone.error, Some(Error::Unreachable(_))),
        "{gone:?}"
    );
    kafka.restart(1);
    watch.health("is well", well);
    assert_eq!(watch.cluster.view("g"), view);
}

pub(crate) fn a_cluster_that_never_answers_is_given_up(_env: &Env) {
    let port = free_port();
    let connection =
        settings(&format!("127.0.0.1:{port}")).with_request_timeout(Duration::from_secs(1));
    let watch = Watch::new(
        connection,
        PollSettings {
            interval: OFTEN,
            misses: 2,
            ..PollSettings::default()
        },
    );
    let start = watch.cluster.health();
    assert!(start.reachable && start.pending, "{start:?}");
    watch.name("g", &["a"], &[]);
    assert_eq!(watch.announced("g"), BTreeSet::from(["g".to_owned()]));
    let given_up = watch.cluster.health();
    assert!(!given_up.reachable && !given_up.pending, "{given_up:?}");
    assert!(
        matches!(given_up.error, Some(Error::Unreachable(_))),
        "{given_up:?}"
    );
    assert_eq!(watch.cluster.view("g"), None);
}

pub(crate) fn three_nodes_lag_and_lose_a_leader(env: &Env) {
    let mut kafka = KafkaCluster::start(env.root(), 3, KafkaOptions::default());
    let watch = Watch::new(settings(&kafka.bootstrap()), every(Duration::from_secs(1)));
    let topics: Vec<String> = (0..30).map(|n| unique(&format!("spread{n}"))).collect();
    let borrowed: Vec<&str> = topics.iter().map(String::as_str).collect();
    watch.name("g", &borrowed, &[]);
    watch.announced("g");
    let new: Vec<_> = topics.iter().map(|topic| new_topic(topic, 3)).collect();
    let outcomes = watch.wait(watch.cluster.client().create_topics(&new, false));
    assert!(outcomes.values().all(Result::is_ok), "{outcomes:?}");
    watch.cluster.expect_topics(&topics);
    let view = watch
        .wait(watch.cluster.reread(&topics, true, false))
        .expect("a view");
    let count = view
        .topics
        .values()
        .filter(|view| matches!(view.reading, TopicReading::Present(_)))
        .count();
    assert_eq!(count, 30, "{view:?}");
    for topic in &topics {
        watch.see("g", topic, "is empty", |state| {
            state.records == Records::None
        });
    }
    // The one that was asked so far. With one replica each, a third of the partitions has no leader now, and nobody
    // knows what they hold; everything else is answered by the others.
    kafka.kill(1);
    for topic in &topics {
        watch.see("g", topic, "is unreadable", |state| {
            matches!(state.records, Records::Unreadable(_))
        });
    }
    assert!(
        watch.cluster.health().reachable,
        "{:?}",
        watch.cluster.health()
    );
    let new = [new_topic(&unique("meanwhile"), 1)];
    wait_for("a topic to be created", SOON, || {
        let outcomes = watch.wait(watch.cluster.client().create_topics(&new, false));
        match &outcomes[&new[0].name] {
            Ok(()) | Err(TopicError::AlreadyExists) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    assert!(
        watch.cluster.health().reachable,
        "{:?}",
        watch.cluster.health()
    );
    kafka.restart(1);
    for topic in &topics {
        watch.see("g", topic, "is readable", |state| {
            state.records == Records::None
        });
    }
}
