//! Several replicas: one acts, another one takes over, and what a deposed one had under way does no harm.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::env::{Env, KafkaCluster, KafkaOptions, Operator, OperatorOptions, unique, wait_for};
use crate::group::{DEADLINE, Group, consent, list, spec};
use crate::seen::{CLIENT_ID, KAFKA_WRITES, TOPICS, api_writes, kafka_writes, options};

/// Enough groups that a leader can be killed in the middle of them.
const MANY: usize = 500;
/// The Lease of the tests' installation.
const LEASE: &str = "copartition-operator-tests";
/// Longer than hundreds of groups may take on a busy machine.
const LONG: Duration = Duration::from_secs(240);

/// A replica of the operator of one namespace, with a short lease.
fn replica(env: &Env, namespace: &str, identity: &str) -> Operator {
    Operator::start(&env.kube, replica_options(env, namespace, identity))
}

fn replica_options(env: &Env, namespace: &str, identity: &str) -> OperatorOptions {
    let args = ["--identity", identity, "--lease-duration", "6s"];
    options(&env.kube, namespace, &args)
}

/// Waits until `/readyz` says so.
fn wait_standing(operator: &Operator, words: &str) {
    wait_for(
        &format!("{words:?} on /readyz"),
        DEADLINE,
        || match operator.try_get("/readyz")? {
            (200, body) if body.contains(words) => Ok(()),
            other => Err(format!("{other:?}")),
        },
    );
}

fn leads(operator: &Operator) -> bool {
    let metrics = operator.metrics();
    metrics.lines().any(|line| line == "copartition_leader 1")
}

fn lease(env: &Env, namespace: &str) -> Value {
    env.kube.get_json(&["lease", LEASE, "-n", namespace])["spec"].clone()
}

pub(crate) fn of_two_replicas_one_acts_and_the_other_takes_over_when_it_stops(env: &Env) {
    let namespace = env.namespace("replicas");
    let mut first = replica(env, &namespace, "first");
    let mut second = replica(env, &namespace, "second");
    wait_standing(&first, "leading");
    wait_standing(&second, "standing by: first leads");
    assert!(leads(&first) && !leads(&second));
    let topics = [unique("replicas"), unique("replicas")];
    let groups = ["one", "two"].map(|name| Group::new(&env.kube, &namespace, name));
    groups[0].apply(&spec(&env.kafka.bootstrap(), 3, &[&topics[0]]));
    groups[0].wait_ready();
    assert!(!second.log().contains("written to Kafka"));

    // It gives the lease back, so that the other one need not wait for its end.
    assert!(first.stop().success());
    wait_standing(&second, "leading");
    let spec_of_lease = lease(env, &namespace);
    assert_eq!(spec_of_lease["holderIdentity"], "second");
    assert_eq!(spec_of_lease["leaseTransitions"], 1);
    groups[1].apply(&spec(&env.kafka.bootstrap(), 3, &[&topics[1]]));
    groups[1].wait_ready();
    assert_eq!(kafka_writes(&env.kafka, &[&topics[0]]), ["CREATE_TOPICS"]);
    assert!(second.stop().success());
    assert_eq!(lease(env, &namespace)["holderIdentity"], "");
}

pub(crate) fn a_leader_that_was_held_up_writes_nothing_once_it_is_deposed(env: &Env) {
    let namespace = env.namespace("deposed");
    let topic = unique("deposed");
    let mut first = replica(env, &namespace, "first");
    // As another user, so that the audit log tells the two apart.
    let admin = OperatorOptions {
        kubeconfig: None,
        ..replica_options(env, &namespace, "second")
    };
    let mut second = Operator::start(&env.kube, admin);
    let group = Group::new(&env.kube, &namespace, "orders");
    let mut wanted = spec(&env.kafka.bootstrap(), 3, &[&topic]);
    group.apply(&wanted);
    group.wait_ready();
    let writes = api_writes(&env.kube, &namespace);

    first.pause();
    wait_standing(&second, "leading");
    wanted["partitions"] = json!(4);
    group.apply(&wanted);
    group.wait_ready();
    first.resume();
    wait_standing(&first, "standing by: second leads");
    // It saw neither the new spec nor the new count while it was held up, and says nothing of either.
    assert_eq!(api_writes(&env.kube, &namespace), writes);
    assert_eq!(
        kafka_writes(&env.kafka, &[&topic]),
        ["CREATE_TOPICS", "CREATE_PARTITIONS"]
    );

    // The same process leads again, and knows what happened in between.
    assert!(second.stop().success());
    wait_standing(&first, "leading");
    env.kafka.grow_topic(&topic, 5);
    let message = group.wait_for("PartitionsAligned", "False", "PartitionDrift");
    assert!(message.contains('4') && message.contains('5'), "{message}");
}

pub(crate) fn a_lease_that_cannot_be_used_is_named(env: &Env) {
    let namespace = env.namespace("leaseless");
    let options = OperatorOptions {
        args: vec!["--lease-namespace".to_owned(), "nowhere".to_owned()],
        ..options(&env.kube, &namespace, &[])
    };
    let mut operator = Operator::launch(&env.kube, options);
    wait_for("/readyz to name the Lease", DEADLINE, || {
        match operator.try_get("/readyz")? {
            (503, body) if body.contains("the Lease nowhere/copartition-operator-tests") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    assert!(!leads(&operator));
    assert!(operator.log().contains("namespaces \"nowhere\" not found"));
    assert!(operator.stop().success());
}

pub(crate) fn an_edit_of_the_lease_ends_no_term(env: &Env) {
    let namespace = env.namespace("edited");
    let operator = Operator::start(&env.kube, options(&env.kube, &namespace, &[]));
    let args = ["annotate", "lease", LEASE, "-n", &namespace];
    for round in 0..3 {
        let renewed = || lease(env, &namespace)["renewTime"].clone();
        env.kube
            .kubectl_ok(&[&args[..], &["--overwrite", &format!("seen={round}")]].concat());
        let before = renewed();
        wait_for("a renewal", DEADLINE, || {
            if renewed() == before {
                Err(before.to_string())
            } else {
                Ok(())
            }
        });
    }
    assert_eq!(operator.log().matches("leading").count(), 1);
    assert_eq!(lease(env, &namespace)["leaseTransitions"], 0);
}

/// How many groups of the namespace are Ready at their live generation.
fn ready(env: &Env, namespace: &str) -> usize {
    let list = env.kube.get_json(&["cptg", "-n", namespace]);
    let items = list["items"].as_array().cloned().unwrap_or_default();
    let ready = items.iter().filter(|item| {
        let ready = crate::group::condition(&item["status"], "Ready");
        ready["status"] == "True" && ready["observedGeneration"] == item["metadata"]["generation"]
    });
    ready.count()
}

fn wait_all_ready(env: &Env, namespace: &str) {
    wait_for(
        &format!("{MANY} groups to be Ready"),
        LONG,
        || match ready(env, namespace) {
            MANY => Ok(()),
            ready => Err(format!("{ready} are")),
        },
    );
}

/// Starts a replica that finds all groups waiting, and another one beside it. Kills the first one once it has done this to
/// the first topic, and not everything to all of them. Returns the other one.
fn kill_in_the_middle(env: &Env, namespace: &str, names: [&str; 2], action: &str) -> Operator {
    let launch = |name| Operator::launch(&env.kube, replica_options(env, namespace, name));
    let wait_said = |operator: &Operator, words: &str| {
        wait_for(&format!("{words:?} in the log"), LONG, || {
            if operator.log().contains(words) {
                Ok(())
            } else {
                Err("not yet".to_owned())
            }
        });
    };
    let mut leader = launch(names[0]);
    wait_said(&leader, "leading");
    let other = launch(names[1]);
    wait_said(&leader, &format!("action=\"{action}\""));
    leader.kill();
    let ready = ready(env, namespace);
    assert!(ready < MANY, "it was done before it was killed");
    other
}

/// What the claims of a namespace say: by topic, its id and its counts. Panics if two hold one topic.
fn held(env: &Env, namespace: &str) -> BTreeMap<String, (String, Value)> {
    let claims = env.kube.get_json(&["copartitionclaims"]);
    let mut held = BTreeMap::new();
    let claims = claims["items"].as_array().cloned().unwrap_or_default();
    for claim in claims
        .iter()
        .filter(|claim| claim["spec"]["group"]["namespace"] == namespace)
    {
        assert_eq!(claim["spec"]["intents"], Value::Null, "{claim}");
        for topic in claim["spec"]["holds"].as_array().into_iter().flatten() {
            let name = topic["name"].as_str().expect("a name").to_owned();
            let id = topic["topicId"].as_str().expect("an id").to_owned();
            let before = held.insert(name, (id, topic["counts"].clone()));
            assert_eq!(before, None, "held twice: {topic}");
        }
    }
    held
}

/// The topics as Kafka's own tool shows them: (topic, id, partitions).
fn described(kafka: &KafkaCluster) -> Vec<(String, String, i32)> {
    let output = kafka.tool_ok(TOPICS, &["--describe"]);
    let word = |line: &str, title: &str| {
        let after = line.split_once(title).map(|(_, after)| after.trim_start());
        let word = after.and_then(|after| after.split_whitespace().next());
        word.map(ToOwned::to_owned)
    };
    output
        .lines()
        .filter_map(|line| {
            let count = word(line, "PartitionCount:")?.parse().ok()?;
            Some((word(line, "Topic:")?, word(line, "TopicId:")?, count))
        })
        .collect()
}

/// Fails unless each of the `MANY` topics exists with `count` partitions and is held once, by its id and count.
fn assert_account(env: &Env, kafka: &KafkaCluster, namespace: &str, count: i32) {
    let live = described(kafka);
    let live: BTreeMap<String, (String, Value)> = live
        .into_iter()
        .filter(|(topic, ..)| topic.starts_with("account-"))
        .map(|(topic, id, partitions)| (topic, (id, json!([partitions]))))
        .collect();
    assert_eq!(live.len(), MANY);
    for (topic, (_, counts)) in &live {
        assert_eq!(*counts, json!([count]), "{topic}");
    }
    assert_eq!(held(env, namespace), live);
}

pub(crate) fn a_leader_killed_amid_500_creations_and_a_growth_leaves_an_exact_account(env: &Env) {
    let kafka = KafkaCluster::start(env.root(), 1, KafkaOptions::default());
    let namespace = env.namespace("account");
    let topics: Vec<String> = (0..MANY)
        .map(|number| format!("account-{number}"))
        .collect();
    let groups: Vec<Group<'_>> = topics
        .iter()
        .map(|topic| Group::new(&env.kube, &namespace, topic))
        .collect();
    let mut specs: Vec<Value> = topics
        .iter()
        .map(|topic| spec(&kafka.bootstrap(), 1, &[topic]))
        .collect();
    let apply = |specs: &[Value]| {
        let manifest = list(groups.iter().zip(specs));
        env.kube
            .kubectl_with_input_ok(&["apply", "-f", "-"], &manifest);
    };
    apply(&specs);
    let mut second = kill_in_the_middle(env, &namespace, ["first", "second"], "create");
    wait_all_ready(env, &namespace);
    assert!(leads(&second));
    assert_account(env, &kafka, &namespace, 1);
    let created = held(env, &namespace);

    // The same amid the growth of them all.
    assert!(second.stop().success());
    for (spec, topic) in specs.iter_mut().zip(&topics) {
        spec["partitions"] = json!(2);
        spec["acceptKeyMovement"] = consent(&[topic], 1, 2);
    }
    kafka.produce_all(topics.iter().map(|topic| (topic.as_str(), "BBCA", "1")));
    apply(&specs);
    let fourth = kill_in_the_middle(env, &namespace, ["third", "fourth"], "grow");
    wait_all_ready(env, &namespace);
    assert!(leads(&fourth));
    assert_account(env, &kafka, &namespace, 2);
    let ids = |held: BTreeMap<String, (String, Value)>| -> Vec<String> {
        held.into_values().map(|(id, _)| id).collect()
    };
    assert_eq!(ids(held(env, &namespace)), ids(created), "other topics");
    let claims = env.kube.get_json(&["copartitionclaims"]);
    let claims = claims["items"].as_array().cloned().unwrap_or_default();
    let spent: Vec<&Value> = claims
        .iter()
        .filter(|claim| claim["spec"]["group"]["namespace"] == namespace)
        .flat_map(|claim| {
            claim["spec"]["spentConsents"]
                .as_array()
                .into_iter()
                .flatten()
        })
        .collect();
    assert_eq!(spent.len(), MANY, "each consent is spent once");
    // Nothing but what was asked for was ever asked of Kafka.
    for api in KAFKA_WRITES {
        if !["CREATE_TOPICS", "CREATE_PARTITIONS"].contains(&api) {
            assert_eq!(kafka.requests(api, CLIENT_ID).len(), 0, "{api}");
        }
    }
}
