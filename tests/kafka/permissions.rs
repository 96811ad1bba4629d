//! What the operator may do, on a broker whose authorizer allows nothing by itself.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use copartition::kafka::{
    Cancel, Clusters, ConfigChange, ConnectionSettings, Error, Extent, Incomplete, Metrics,
    Operation, PollSettings, Progress, Sample, SampleRequest, SampledRecord, Sasl, TopicError, Use,
    WriteGuard, least, missing, sample_blocking,
};

use super::bearer::{endpoint, from_endpoint};
use super::client::growth;
use super::security::{login, secured};
use super::{Bench, SOON, names, new_topic, pairs};
use crate::env::idp::CLIENT;
use crate::env::secure::{Listener, password};
use crate::env::{Env, SecureKafka, unique, wait_for};

/// The users that may do all but one thing, by the operation that each is allowed.
const ALLOWED: [(Operation, &[&str]); 6] = [
    (
        Operation::Create,
        &["full", "no-alter", "no-alter-configs", "no-read"],
    ),
    (
        Operation::Alter,
        &["full", "no-create", "no-alter-configs", "no-read"],
    ),
    (
        Operation::AlterConfigs,
        &["full", "no-create", "no-alter", "no-read"],
    ),
    (
        Operation::Read,
        &[
            "full",
            "no-create",
            "no-alter",
            "no-alter-configs",
            CLIENT.0,
        ],
    ),
    (Operation::Describe, &["observer", "no-describe-configs"]),
    (Operation::DescribeConfigs, &["observer", "no-describe"]),
];

fn allow(secure: &SecureKafka, prefix: &str) {
    thread::scope(|scope| {
        for (operation, users) in ALLOWED {
            scope.spawn(move || secure.allow(users, &operation.tool_name(), prefix));
        }
    });
}

pub(super) fn as_user(secure: &SecureKafka, user: &str) -> ConnectionSettings {
    let login = login(user, &password(user));
    secured(secure, Listener::Login, Some(Sasl::Plain(login)))
}

fn sample(settings: &ConnectionSettings, topic: &str) -> Result<Sample, Error> {
    let request = SampleRequest::new([topic], Extent::Everything);
    let mut sink = |_: &SampledRecord<'_>| ControlFlow::Continue(());
    let (progress, cancel) = (Progress::default(), Cancel::default());
    sample_blocking(settings, &request, &progress, &cancel, &mut sink)
}

/// What one user may not do to a topic, by what each attempt says of it; makes another topic beside it.
fn refusals(secure: &SecureKafka, user: &str, topic: &str) -> Vec<String> {
    let settings = as_user(secure, user);
    let bench = Bench::with(&settings);
    let client = &bench.client;
    let mut said = Vec::new();
    let mut note = |outcome: Result<(), TopicError>| match outcome {
        Ok(()) => {}
        Err(TopicError::NotAuthorized(words)) => said.push(words),
        Err(other) => panic!("{user}: {other:?}"),
    };
    // Needs no right at all.
    assert_eq!(
        bench.wait(client.cluster_id()).as_deref(),
        Ok(secure.kafka.id()),
        "{user}"
    );
    note(bench.describe(topic).map(drop));
    note(bench.ends(topic, 2).map(drop));
    note(bench.config(topic).map(drop));
    let other = format!("{topic}-of-{user}");
    let created = bench.wait(client.create_topics(&[new_topic(&other, 1)], false));
    note(created[&other].clone());
    let grown = bench.wait(client.create_partitions(&[growth(topic, 3)], true));
    note(grown[topic].clone());
    let change = ConfigChange {
        topic: topic.to_owned(),
        set: pairs(&[("segment.ms", "7777777")]),
    };
    let changed = bench.wait(client.alter_configs(&[change]));
    note(changed[topic].clone());
    let sample = sample(&settings, topic).expect("an answer");
    match sample.topics[topic].incomplete() {
        None => {}
        Some(Incomplete::NotAuthorized(words)) => said.push(words.clone()),
        other => panic!("{user}: {other:?}"),
    }
    for words in &said {
        assert!(words.contains("allow it to the principal"), "{words}");
    }
    said
}

pub(crate) fn the_least_set_of_rights_is_enough_and_each_is_needed(env: &Env) {
    let secure = env.secure();
    let prefix = unique("ruled");
    let topic = format!("{prefix}.one");
    secure.kafka.create_topic(&topic, 2);
    secure.kafka.produce(&topic, &[("a", "1"), ("b", "2")]);
    allow(secure, &prefix);
    // `full` is allowed just what the table says.
    let all = [Use::Manage, Use::Sample].into_iter().flat_map(least);
    let granted = ALLOWED.iter().filter(|(_, users)| users.contains(&"full"));
    let granted: BTreeSet<Operation> = granted.map(|(operation, _)| *operation).collect();
    assert_eq!(granted, all.collect());
    wait_for("the rights to be known", SOON, || {
        match refusals(secure, "full", &topic) {
            said if said.is_empty() => Ok(()),
            said => Err(format!("{said:?}")),
        }
    });
    let of = |operation: &str, name: &str| format!("{operation} on topic {name} (");
    let cases: [(&str, Vec<String>); 6] = [
        (
            "no-create",
            vec![of("CREATE", &format!("{topic}-of-no-create"))],
        ),
        ("no-alter", vec![of("ALTER", &topic)]),
        (
            "no-alter-configs",
            vec![of("DESCRIBE_CONFIGS", &topic), of("ALTER_CONFIGS", &topic)],
        ),
        ("no-read", vec![of("READ", &topic)]),
        (
            "observer",
            vec![
                of("CREATE", &format!("{topic}-of-observer")),
                of("ALTER", &topic),
                of("ALTER_CONFIGS", &topic),
                of("READ", &topic),
            ],
        ),
        (
            "no-describe",
            vec![
                of("DESCRIBE", &topic),
                of("DESCRIBE", &topic),
                of("CREATE", &format!("{topic}-of-no-describe")),
                of("ALTER", &topic),
                of("ALTER_CONFIGS", &topic),
                of("DESCRIBE", &topic),
            ],
        ),
    ];
    thread::scope(|scope| {
        for (user, expected) in &cases {
            let topic = &topic;
            scope.spawn(move || {
                let said = refusals(secure, user, topic);
                let matches = said.len() == expected.len()
                    && said
                        .iter()
                        .zip(expected)
                        .all(|(said, begin)| said.starts_with(begin));
                assert!(matches, "{user}: {said:#?}\n{expected:#?}");
            });
        }
    });
    // With a token that lasts less long than the reading may take.
    let settings = from_endpoint(secure, endpoint(secure, "short", &unique("scope")));
    let sample = sample(&settings, &topic).expect("an answer");
    assert_eq!(sample.topics[&topic].incomplete(), None);
    assert_eq!(sample.records(), 2);
}

pub(crate) fn what_a_principal_may_do_is_told(env: &Env) {
    use Operation::{Alter, AlterConfigs, Create, Describe, DescribeConfigs, Read};
    let secure = env.secure();
    let prefix = unique("told");
    let topic = format!("{prefix}.one");
    let ghost = format!("{prefix}.ghost");
    secure.kafka.create_topic(&topic, 1);
    allow(secure, &prefix);
    let told = |user: &str| {
        let bench = Bench::with(&as_user(secure, user));
        let asked = names(&[&topic, &ghost]);
        let told = bench.wait(bench.client.authorized_operations(&asked));
        told.expect("an answer")
    };
    let everything = [Use::Observe, Use::Manage, Use::Sample];
    wait_for("the rights to be known", Duration::from_secs(60), || {
        let told = told("full");
        let expected = [Read, Create, Alter, Describe, DescribeConfigs, AlterConfigs];
        if told[&topic] == Ok(BTreeSet::from(expected)) {
            assert_eq!(told[&ghost], Err(TopicError::UnknownTopic));
            Ok(())
        } else {
            Err(format!("{told:?}"))
        }
    });
    let observer = told("observer")
        .remove(&topic)
        .expect("the topic")
        .expect("its rights");
    assert_eq!(observer, BTreeSet::from([Describe, DescribeConfigs]));
    assert_eq!(missing(&observer, &[Use::Observe]), []);
    assert_eq!(
        missing(&observer, &everything),
        [Read, Create, Alter, AlterConfigs]
    );
    let hidden = told("stranger").remove(&topic).expect("the topic");
    let words = hidden.expect_err("no rights").to_string();
    assert!(
        words.contains(&format!("DESCRIBE on topic {topic}")),
        "{words}"
    );
    let cluster = |settings: &ConnectionSettings| {
        let bench = Bench::with(settings);
        bench
            .wait(bench.client.authorized_cluster_operations())
            .expect("an answer")
    };
    assert_eq!(cluster(&as_user(secure, "full")), BTreeSet::new());
    let all = cluster(&super::settings(&secure.kafka.bootstrap()));
    assert!(
        all.is_superset(&BTreeSet::from([Create, Alter, Describe])),
        "{all:?}"
    );
}

pub(crate) fn the_brokers_default_count_is_told_to_who_may_see_it(env: &Env) {
    let runtime = super::runtime();
    let default_of = |settings: &ConnectionSettings| {
        runtime.block_on(async {
            let clusters = Clusters::new(
                PollSettings::default(),
                Arc::new(Metrics::default()),
                WriteGuard::default(),
            );
            let cluster = clusters.cluster(settings).expect("a cluster");
            cluster.default_partitions().await
        })
    };
    assert_eq!(
        default_of(&super::settings(&env.kafka.bootstrap())),
        Some(1)
    );
    // It needs a right on the cluster, which the operator does without.
    assert_eq!(default_of(&as_user(env.secure(), "full")), None);
}
