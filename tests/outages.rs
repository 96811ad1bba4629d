//! Outages: Kafka or the API server is away for a while. Verdicts stand meanwhile, and everything heals by itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::env::{
    ControlPlane, Env, KafkaCluster, KafkaOptions, Operator, OperatorOptions, unique, wait_for,
};
use crate::group::{DEADLINE, Group, condition, list, spec};
use crate::seen::{
    OUTAGE, USER, Watch, api_writes, failed_polls, kafka_writes, operator, options, polls,
    wait_polls,
};

fn own_kafka(env: &Env) -> KafkaCluster {
    KafkaCluster::start(env.root(), 1, KafkaOptions::default())
}

/// Waits until a condition of the group has this status, and returns it whole. It may take several polls that each wait
/// for an answer.
fn wait_long(group: &Group<'_>, kind: &str, status: &str) -> Value {
    wait_for(&format!("{kind}={status}"), OUTAGE, || {
        let seen = condition(&group.status(), kind);
        if seen["status"] == status {
            Ok(seen)
        } else {
            Err(seen.to_string())
        }
    })
}

/// Waits until so many more polls have failed.
fn wait_failed_polls(operator: &Operator, more: u64) {
    let wanted = failed_polls(operator) + more;
    wait_for(&format!("{wanted} failed polls"), OUTAGE, || {
        let seen = failed_polls(operator);
        if seen >= wanted {
            Ok(())
        } else {
            Err(seen.to_string())
        }
    });
}

/// Waits for a status of one of the operator's pages.
fn wait_page(operator: &Operator, path: &str, status: u16, part: &str) {
    wait_for(
        &format!("{status} on {path}"),
        DEADLINE,
        || match operator.try_get(path)? {
            (seen, body) if seen == status && body.contains(part) => Ok(()),
            other => Err(format!("{other:?}")),
        },
    );
}

pub(crate) fn kafka_that_is_down_at_the_start_is_named_and_heals_by_itself(env: &Env) {
    let mut kafka = own_kafka(env);
    kafka.kill(1);
    let namespace = env.namespace("down-at-start");
    let topic = unique("down-at-start");
    let operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&kafka.bootstrap(), 3, &[&topic]));

    let reachable = wait_long(&group, "KafkaReachable", "False");
    assert_eq!(reachable["reason"], "Unreachable");
    let message = reachable["message"].as_str().unwrap_or_default();
    assert!(message.contains(&kafka.bootstrap()), "{message}");
    assert!(
        failed_polls(&operator) >= 3,
        "one missed answer was a verdict"
    );
    group.wait_for("Accepted", "Unknown", "ClusterUnknown");
    group.wait_for("Ready", "Unknown", "ClusterUnknown");
    group.wait_for("Reconciling", "True", "InProgress");
    assert_eq!(group.claim(), None);

    kafka.restart(1);
    wait_long(&group, "Ready", "True");
    group.wait_for("KafkaReachable", "True", "Reachable");
    assert_eq!(kafka.partitions(&topic), Some(3));
}

pub(crate) fn an_outage_keeps_the_verdicts_is_written_once_and_hinders_no_other_cluster(env: &Env) {
    let mut kafka = own_kafka(env);
    let namespace = env.namespace("outage");
    let (here, there) = (unique("here"), unique("there"));
    let operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&kafka.bootstrap(), 3, &[&here]));
    group.wait_ready();
    let other = Group::new(&env.kube, &namespace, "other");
    other.apply(&spec(&env.kafka.bootstrap(), 3, &[&there]));
    other.wait_ready();
    let watch = Watch::start(&env.kube, &namespace);
    let before = api_writes(&env.kube, &namespace);

    kafka.kill(1);
    wait_long(&group, "KafkaReachable", "False");
    wait_failed_polls(&operator, 2);
    let status = group.status();
    for kind in ["Ready", "PartitionsAligned", "Accepted"] {
        assert_eq!(condition(&status, kind)["status"], "True", "{kind}");
    }
    let status = "patch copartitionedtopicgroups/status 200";
    let told = "create events 201";
    let outage = [&before[..], &[status.to_owned(), told.to_owned()]].concat();
    assert_eq!(api_writes(&env.kube, &namespace), outage);

    // The other cluster is looked at as ever.
    env.kafka.grow_topic(&there, 4);
    other.wait_for("PartitionsAligned", "False", "PartitionDrift");

    kafka.restart(1);
    wait_long(&group, "KafkaReachable", "True");
    let states = watch.seen();
    let flipped = states.iter().any(|object| {
        object["metadata"]["name"] == "orders"
            && condition(&object["status"], "Ready")["status"] != "True"
    });
    assert!(!flipped, "an outage changed the verdict");
}

pub(crate) fn a_blip_flips_nothing_and_writes_nothing(env: &Env) {
    let mut kafka = own_kafka(env);
    let namespace = env.namespace("blip");
    let topic = unique("blip");
    let operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&kafka.bootstrap(), 3, &[&topic]));
    group.wait_ready();
    let version = group.resource_version();
    let writes = api_writes(&env.kube, &namespace);

    kafka.pause(1);
    wait_failed_polls(&operator, 1);
    kafka.resume(1);
    let failed = failed_polls(&operator);
    let answered = || polls(&operator) - failed_polls(&operator);
    let before = answered();
    wait_for("two polls that are answered again", OUTAGE, || {
        let seen = answered();
        if seen >= before + 2 {
            Ok(())
        } else {
            Err(seen.to_string())
        }
    });
    assert!(failed < 3, "that was no blip: {failed} polls failed");
    assert_eq!(group.resource_version(), version);
    assert_eq!(api_writes(&env.kube, &namespace), writes);
}

pub(crate) fn a_spec_that_changes_during_an_outage_is_never_called_aligned_before_it_is_looked_at(
    env: &Env,
) {
    let mut kafka = own_kafka(env);
    let namespace = env.namespace("changed-meanwhile");
    let (old, new) = (unique("old"), unique("new"));
    let mut operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "orders");
    group.apply(&spec(&kafka.bootstrap(), 3, &[&old]));
    group.wait_ready();
    let watch = Watch::start(&env.kube, &namespace);

    // A node that is stopped keeps its connections and answers nothing.
    kafka.pause(1);
    let reachable = wait_long(&group, "KafkaReachable", "False");
    assert_eq!(reachable["reason"], "Timeout");
    group.apply(&spec(&kafka.bootstrap(), 3, &[&old, &new]));
    group.wait_for("PartitionsAligned", "Unknown", "Pending");
    group.wait_for("Ready", "Unknown", "ClusterUnknown");
    // It ends in time although requests are under way that nobody will answer.
    assert!(operator.stop().success());
    let generation = group.get()["metadata"]["generation"].clone();
    let stale = watch.seen().into_iter().any(|object| {
        let aligned = condition(&object["status"], "PartitionsAligned");
        aligned["observedGeneration"] == generation && aligned["status"] == "True"
    });
    assert!(
        !stale,
        "a spec that nobody had looked at was called aligned"
    );

    kafka.resume(1);
    let _operator = crate::seen::operator(env, &namespace, &[]);
    group.wait_ready();
    assert_eq!(kafka.partitions(&new), Some(3));
}

pub(crate) fn the_operator_outlives_the_api_server(env: &Env) {
    let mut kube = ControlPlane::start(env.root());
    kube.install_crds();
    kube.kubectl_ok(&["create", "namespace", "here"]);
    let topic = unique("outlives");
    // It watches all namespaces: there is no other operator here.
    let everywhere = OperatorOptions {
        namespaces: Vec::new(),
        ..options(&kube, "", &[])
    };
    let operator = Operator::start(&kube, everywhere);
    let group = Group::new(&kube, "here", "orders");
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&topic]));
    group.wait_ready();

    kube.kill_apiserver();
    env.kafka.grow_topic(&topic, 4);
    wait_polls(&operator, 4);
    assert_eq!(operator.get("/healthz").0, 200);
    kube.restart_apiserver();
    let group = Group::new(&kube, "here", "orders");
    group.wait_for("PartitionsAligned", "False", "PartitionDrift");

    kube.pause_apiserver();
    env.kafka.grow_topic(&topic, 5);
    wait_polls(&operator, 4);
    assert_eq!(operator.get("/healthz").0, 200);
    kube.resume_apiserver();
    let group = Group::new(&kube, "here", "orders");
    group.apply(&spec(&env.kafka.bootstrap(), 5, &[&topic]));
    group.wait_ready();
    assert_eq!(kafka_writes(&env.kafka, &[&topic]), ["CREATE_TOPICS"]);
}

pub(crate) fn without_an_api_server_or_its_definitions_it_waits_and_writes_nothing(env: &Env) {
    let mut kube = ControlPlane::start(env.root());
    kube.kubectl_ok(&["create", "namespace", "here"]);
    let topic = unique("before-crds");
    let options = options(&kube, "here", &[]);
    kube.kill_apiserver();
    let mut operator = Operator::launch(&kube, options);
    wait_page(&operator, "/healthz", 200, "ok");
    wait_page(&operator, "/readyz", 503, "API server");

    kube.restart_apiserver();
    wait_page(
        &operator,
        "/readyz",
        503,
        "copartitionclaims.copartition.dev",
    );
    wait_page(
        &operator,
        "/readyz",
        503,
        "copartitionedtopicgroups.copartition.dev",
    );
    assert_eq!(operator.get("/healthz").0, 200);

    // Groups can be read, claims cannot: nothing may be decided yet.
    let crd = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/crds/copartitionedtopicgroup.yaml"
    );
    kube.kubectl_ok(&["apply", "--server-side", "-f", crd]);
    kube.kubectl_ok(&[
        "wait",
        "--for=condition=Established",
        "--timeout=60s",
        "-f",
        crd,
    ]);
    let group = Group::new(&kube, "here", "orders");
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&topic]));
    wait_for("the groups to be read", DEADLINE, || {
        match operator.get("/readyz") {
            (503, body) if !body.contains("groups") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    assert_eq!(condition(&group.status(), "Ready")["reason"], "Pending");
    assert_eq!(kafka_writes(&env.kafka, &[&topic]), [""; 0]);

    kube.install_crds();
    operator.wait_until_ready();
    group.wait_ready();
    assert_eq!(operator.get("/healthz").0, 200);
    assert_eq!(kafka_writes(&env.kafka, &[&topic]), ["CREATE_TOPICS"]);
}

pub(crate) fn metrics_parse_and_name_no_group_and_no_topic(env: &Env) {
    let namespace = env.namespace("metrics");
    let topic = unique("metered");
    let operator = operator(env, &namespace, &[]);
    let group = Group::new(&env.kube, &namespace, "measured-group");
    group.apply(&spec(&env.kafka.bootstrap(), 3, &[&topic]));
    group.wait_ready();
    wait_polls(&operator, 1);
    let text = operator.metrics();
    let mut lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.pop(), Some("# EOF"));
    for line in lines {
        let comment = ["# HELP ", "# TYPE ", "# UNIT "]
            .iter()
            .any(|beginning| line.starts_with(beginning));
        assert!(comment || is_sample(line), "no line of OpenMetrics: {line}");
    }
    let asked = "copartition_kafka_requests_total{api=\"CreateTopics\",outcome=\"Ok\"} 1";
    assert!(text.contains(asked), "{text}");
    let ready = "copartition_groups{condition=\"Ready\",status=\"True\"} 1";
    assert!(text.contains(ready), "{text}");
    for name in [namespace.as_str(), &topic, "measured-group"] {
        assert!(!text.contains(name), "{name} is a label: {text}");
    }
}

/// `name{label="value",...} number`
fn is_sample(line: &str) -> bool {
    let Some((series, number)) = line.rsplit_once(' ') else {
        return false;
    };
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    let word = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let Some(labels) = labels.strip_suffix('}') else {
        return false;
    };
    let labelled = |label: &str| {
        label.split_once('=').is_some_and(|(key, value)| {
            word(key) && value.len() >= 2 && value.starts_with('"') && value.ends_with('"')
        })
    };
    let labels = labels.is_empty() || labels.split(',').all(labelled);
    word(name) && labels && number.parse::<f64>().is_ok()
}

pub(crate) fn an_outage_of_one_of_three_clusters_is_written_once_a_group_and_in_turns(env: &Env) {
    const MANY: usize = 60;
    let (mut dead, other) = (own_kafka(env), own_kafka(env));
    let namespace = env.namespace("turns");
    let operator = operator(env, &namespace, &[]);
    let groups_on = |name: &str, kafka: &KafkaCluster| -> Vec<(String, Value)> {
        (0..MANY)
            .map(|n| {
                let topic = format!("{namespace}-{name}-{n}");
                (
                    format!("{name}-{n}"),
                    spec(&kafka.bootstrap(), 1, &[&topic]),
                )
            })
            .collect()
    };
    let specs = [
        groups_on("dead", &dead),
        groups_on("other", &other),
        groups_on("third", &env.kafka),
    ]
    .concat();
    let groups: Vec<Group<'_>> = specs
        .iter()
        .map(|(name, _)| Group::new(&env.kube, &namespace, name))
        .collect();
    let manifest = list(groups.iter().zip(specs.iter().map(|(_, spec)| spec)));
    env.kube
        .kubectl_with_input_ok(&["create", "-f", "-"], &manifest);
    let count = |kind: &str, status: &str| {
        let list = env.kube.get_json(&["cptg", "-n", &namespace]);
        let items = list["items"].as_array().cloned().unwrap_or_default();
        let fits = |item: &&Value| condition(&item["status"], kind)["status"] == status;
        items.iter().filter(fits).count()
    };
    let wait_count = |kind: &str, status: &str, wanted: usize| {
        wait_for(
            &format!("{wanted} with {kind}={status}"),
            OUTAGE,
            || match count(kind, status) {
                seen if seen == wanted => Ok(()),
                seen => Err(format!("{seen} of {wanted}")),
            },
        );
    };
    wait_count("Ready", "True", 3 * MANY);

    // When the status of each group was written so far.
    let patches = || {
        let mut patches: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let of_status = env.kube.audit(|event| {
            event["objectRef"]["namespace"] == namespace.as_str()
                && event["objectRef"]["subresource"] == "status"
                && event["user"]["username"] == USER
        });
        for event in &of_status {
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let times = patches.entry(word(&event["objectRef"]["name"]));
            times
                .or_default()
                .push(word(&event["requestReceivedTimestamp"]));
        }
        patches
    };
    let before = patches();
    dead.kill(1);
    wait_count("KafkaReachable", "False", MANY);
    wait_failed_polls(&operator, 2);
    let mut moments = BTreeSet::new();
    for (name, after) in patches() {
        let new = &after[before[&name].len()..];
        let expected = usize::from(name.starts_with("dead"));
        assert_eq!(new.len(), expected, "{name}: {after:?}");
        // To the tenth of a second: 2026-11-30T00:00:00.1
        moments.extend(new.iter().map(|at| at[..21].to_owned()));
    }
    // 60 groups share 1.2 s: were they not spread, they would fall into one or two tenths.
    assert!(moments.len() >= 5, "{moments:?}");
    assert_eq!(
        count("Ready", "True"),
        3 * MANY,
        "an outage flipped a verdict"
    );

    // The others are looked at as ever.
    for (kafka, name) in [(&other, "other-7"), (&env.kafka, "third-7")] {
        kafka.grow_topic(&format!("{namespace}-{name}"), 2);
        let group = Group::new(&env.kube, &namespace, name);
        group.wait_for("PartitionsAligned", "False", "PartitionDrift");
    }

    dead.restart(1);
    wait_count("KafkaReachable", "True", 3 * MANY);
    for (name, after) in patches() {
        if name.starts_with("dead") {
            assert_eq!(after.len() - before[&name].len(), 2, "{name}");
        }
    }
}
