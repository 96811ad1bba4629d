//! The Helm chart: what it renders, and a release on an API server of its own, whose operator runs with the token and
//! the rights of the installed service account.

pub(crate) mod helm;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::env::secure::{Listener, password};
use crate::env::{ControlPlane, Env, SecureKafka, copy, text, unique, wait_for};
use crate::group::{DEADLINE, Group, consent, spec};
use crate::locks::with_locks;
use crate::policies::kinds::{STRIMZI, Says};
use crate::rights::{self, granted, manifests};
use crate::seen;
use helm::{ACCOUNT, Helm, RELEASE, SYSTEM, chart, offline, render};

/// Everything that is off by default.
const ALL_ON: [&str; 12] = [
    "monitoring.serviceMonitor.enabled=true",
    "monitoring.prometheusRule.enabled=true",
    "monitoring.dashboard.enabled=true",
    "watchNamespaces={trading,settling}",
    "rbac.inlineSecrets=true",
    "rbac.namespaceLabels=true",
    "rbac.strimziNamespaces={kafka}",
    "rbac.secrets={kafka-login}",
    "inlineConnections={*.kafka:9092}",
    "installation=blue",
    "networkPolicy.egress[0].ports[0].port=6443",
    "image.digest=sha256:0000000000000000000000000000000000000000000000000000000000000000",
];
/// Everything that can be left out.
const ALL_OFF: [&str; 5] = [
    "crds.enabled=false",
    "policies.enabled=false",
    "rbac.aggregate=false",
    "podDisruptionBudget.enabled=false",
    "networkPolicy.enabled=false",
];

pub(crate) fn helm_finds_nothing_wrong_and_refuses_what_it_does_not_know(_env: &Env) {
    let path = chart();
    let path = path.to_str().expect("a path");
    for values in [&[][..], &ALL_ON, &ALL_OFF] {
        let mut args = vec!["lint", "--strict", path];
        for value in values {
            args.extend(["--set", value]);
        }
        let output = offline(&args);
        assert!(output.status.success(), "{values:?}: {}", text(&output));
    }
    for (wrong, named) in [
        ("replicsa=1", "replicsa"),
        ("monitoring.dashbord.enabled=true", "dashbord"),
        ("pollInterval=5", "pollInterval"),
        ("leaseDuration=500ms", "leaseDuration"),
        ("watchNamespaces={Trading}", "watchNamespaces"),
        ("inlineConnections={kafka}", "inlineConnections"),
        ("policies.include={kafka}", "policies"),
        ("log.format=xml", "format"),
    ] {
        let output = offline(&["template", RELEASE, path, "--set", wrong]);
        let said = text(&output);
        assert!(!output.status.success(), "{wrong} is rendered");
        assert!(said.contains(named), "{wrong}: {said}");
    }
    let about = fs::read_to_string(chart().join("Chart.yaml")).expect("Chart.yaml");
    let about = &manifests(&about)[0];
    for field in ["version", "appVersion"] {
        assert_eq!(about[field], env!("CARGO_PKG_VERSION"), "{field}");
    }
}

fn kinds(objects: &[Value]) -> Vec<&str> {
    objects
        .iter()
        .filter_map(|it| it["kind"].as_str())
        .collect()
}

fn find<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    objects.iter().filter(|it| it["kind"] == kind).collect()
}

pub(crate) fn what_is_rendered_follows_the_values(_env: &Env) {
    let default = render(&[]);
    for (kind, count) in [
        ("CustomResourceDefinition", 3),
        ("Deployment", 1),
        ("PodDisruptionBudget", 1),
        ("NetworkPolicy", 1),
        ("Service", 1),
        ("ServiceMonitor", 0),
        ("ConfigMap", 0),
    ] {
        assert_eq!(find(&default, kind).len(), count, "{kind}");
    }
    // Helm creates in this order: a policy whose parameters have no definition yet would be refused by older servers.
    let order = kinds(&default);
    let last = order
        .iter()
        .rposition(|it| *it == "CustomResourceDefinition");
    let first = order.iter().position(|it| it.starts_with("Validating"));
    assert!(last < first, "{order:?}");
    for definition in find(&default, "CustomResourceDefinition") {
        let keep = &definition["metadata"]["annotations"]["helm.sh/resource-policy"];
        assert_eq!(keep, "keep");
    }
    for object in &default {
        let labels = &object["metadata"]["labels"];
        assert_eq!(labels["app.kubernetes.io/managed-by"], "Helm", "{object}");
        assert_eq!(labels["app.kubernetes.io/instance"], RELEASE, "{object}");
    }

    let bare = render(&ALL_OFF);
    let mut left = kinds(&bare);
    left.sort_unstable();
    assert_eq!(
        left,
        [
            "ClusterRole",
            "ClusterRole",
            "ClusterRoleBinding",
            "Deployment",
            "Role",
            "RoleBinding",
            "Service",
            "ServiceAccount",
        ]
    );

    let all = render(&ALL_ON);
    for kind in ["ServiceMonitor", "PrometheusRule", "ConfigMap"] {
        assert_eq!(find(&all, kind).len(), 1, "{kind}");
    }
    let dashboard = &find(&all, "ConfigMap")[0]["data"]["copartition.json"];
    let dashboard: Value = serde_json::from_str(dashboard.as_str().expect("text")).expect("JSON");
    assert!(dashboard.is_object());
    let pod = &find(&all, "Deployment")[0]["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let image = container["image"].as_str().unwrap_or_default();
    assert!(
        image.starts_with("copartition-operator@sha256:0"),
        "{image}"
    );
    let args = container["args"].to_string();
    for arg in [
        "--watch-namespace=trading",
        "--watch-namespace=settling",
        "--inline-connections=*.kafka:9092",
        "--installation=blue",
    ] {
        assert!(args.contains(arg), "no {arg} in {args}");
    }
    let types = &find(&all, "NetworkPolicy")[0]["spec"]["policyTypes"];
    assert_eq!(*types, json!(["Ingress", "Egress"]));

    // With some namespaces nothing of theirs is cluster-wide.
    let cluster: Vec<Value> = find(&all, "ClusterRole")
        .into_iter()
        .filter(|role| role["metadata"]["name"] == format!("{SYSTEM}:{RELEASE}"))
        .cloned()
        .collect();
    let cluster: Vec<String> = granted(&cluster).into_iter().map(|it| it.1).collect();
    for resource in &cluster {
        let known = [
            "copartitionclaims",
            "kafkaconnections",
            "kafkaconnections/status",
            "namespaces",
        ];
        assert!(known.contains(&resource.as_str()), "{resource}");
    }
    let spaces: Vec<&Value> = find(&all, "Role")
        .iter()
        .map(|role| &role["metadata"]["namespace"])
        .collect();
    assert_eq!(spaces.len(), 4, "{spaces:?}");
    for space in [SYSTEM, "trading", "settling", "kafka"] {
        assert!(spaces.iter().any(|it| *it == space), "{space}");
    }
    let own = find(&all, "Role")
        .into_iter()
        .find(|role| role["metadata"]["namespace"] == SYSTEM);
    let rules = own.expect("a role of its own")["rules"].to_string();
    assert!(
        rules.contains(r#"["copartition-operator-blue"]"#),
        "{rules}"
    );
    assert!(rules.contains(r#"["kafka-login"]"#), "{rules}");
}

/// The roles of the operator alone, without those for people.
fn of_operator(objects: &[Value]) -> Vec<Value> {
    let people = |role: &Value| {
        let name = role["metadata"]["name"].as_str().unwrap_or_default();
        [":view", ":edit", ":platform"]
            .iter()
            .any(|end| name.ends_with(end))
    };
    objects.iter().filter(|it| !people(it)).cloned().collect()
}

pub(crate) fn the_plain_manifests_grant_what_the_example_grants(_env: &Env) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("charts/install.yaml");
    let plain = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let plain = granted(&of_operator(&manifests(&plain)));
    assert_eq!(plain, granted(&manifests(&seen::rbac())));
    assert_eq!(plain, granted(&of_operator(&render(&[]))));
}

/// The chart as an earlier version may have been: with another category, and with fewer policies.
fn previous(plane: &ControlPlane) -> PathBuf {
    let folder = plane.dir().join("previous-chart");
    copy(&chart(), &folder);
    let edit = |file: &str, from: &str, to: &str| {
        let path = folder.join(file);
        let before = fs::read_to_string(&path).expect("a file of the chart");
        let after = before.replace(from, to);
        assert_ne!(before, after, "{file} has no {from}");
        fs::write(path, after).expect("a file of the chart");
    };
    edit("Chart.yaml", "ersion: 0.1.0", "ersion: 0.0.1");
    edit(
        "definitions/copartitionedtopicgroup.yaml",
        "categories:\n    - kafka\n",
        "categories:\n    - older\n",
    );
    fs::remove_file(folder.join("policies/strimzi.yaml")).expect("a policy");
    edit("values.yaml", "groups, strimzi, ", "groups, ");
    folder
}

/// What operators under test are given beside the defaults.
fn fast(more: &Value) -> Value {
    let mut values =
        json!({"pollInterval": "500ms", "claimRetention": "1s", "installation": "blue"});
    let fields = values.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("fields").clone());
    values
}

/// Who the operator is at Kafka: no super user, and may edit ACLs.
const LOGIN: &str = "locker";

/// A connection with TLS and a login, whose ConfigMap and Secret lie in the release's namespace.
fn connect(plane: &ControlPlane, kafka: &SecureKafka, namespace: &str, prefix: &str) {
    for operation in ["Create", "Alter", "AlterConfigs", "Read"] {
        kafka.allow(&[LOGIN], operation, prefix);
    }
    kafka.allow_on_cluster(LOGIN, &["Alter", "DescribeConfigs"]);
    kafka.allow_group(LOGIN, prefix);
    let meta = |name: &str| json!({"name": name, "namespace": SYSTEM});
    let all = json!([{"pattern": ".*"}]);
    let objects = json!([
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("kafka-ca"),
         "data": {"ca.crt": kafka.authority.certificate()}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": meta("kafka-login"),
         "stringData": {"user": LOGIN, "password": password(LOGIN)}},
        {"apiVersion": "copartition.dev/v1alpha1", "kind": "KafkaConnection", "metadata": {"name": "prod"}, "spec": {
            "bootstrapServers": [kafka.address(Listener::Login)],
            "tls": {"caRef": {"kind": "ConfigMap", "name": "kafka-ca", "key": "ca.crt"}},
            "sasl": {
                "mechanism": "PLAIN",
                "usernameRef": {"name": "kafka-login", "key": "user"},
                "passwordRef": {"name": "kafka-login", "key": "password"},
            },
            "rules": [{"namespaces": {"names": [namespace]}, "manage": all, "sample": all, "consumerGroups": [{"groupId": prefix}]}],
            "aliases": [STRIMZI.alias("prod", namespace)],
        }},
    ]);
    plane.apply_ok(&json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string());
}

pub(crate) fn the_operator_works_under_the_rights_of_the_chart_and_what_it_managed_outlives_it(
    env: &Env,
) {
    let kafka = env.secure();
    let plane = ControlPlane::start(env.root());
    let helm = Helm(&plane);
    let said = helm.put("install", &previous(&plane), &fast(&json!({})));
    assert!(said.contains("looks at all namespaces"), "{said}");
    for name in ["trading", "kafka"] {
        plane.kubectl_ok(&["create", "namespace", name]);
    }
    pods_may_run_where_only_restricted_ones_may(&helm);

    let operator = helm.operator();
    let prefix = unique("chart");
    let topics = [format!("{prefix}-updates"), format!("{prefix}-notes")];
    let topics = topics.each_ref().map(String::as_str);
    connect(&plane, kafka, "trading", &prefix);
    let group = Group::new(&plane, "trading", "market-data");
    let wanted = |partitions: i32| {
        let mut wanted = spec("", partitions, &topics);
        wanted["kafka"] = json!({"connectionRef": {"name": "prod"}});
        wanted["verification"] = json!({"interval": "10s"});
        wanted["topics"][0]["config"] = json!({"retention.ms": "604800000"});
        // Of this name, which may be described. Who may not read it is told so.
        wanted["consumerGroups"] = json!([{"groupId": prefix}]);
        wanted
    };
    group.apply(&wanted(3));
    group.wait_ready();
    group.wait_for("TopicConfigsApplied", "True", "Applied");
    // Placed as declared: by one of librdkafka's partitioners that is Java's.
    for topic in topics {
        let keys: Vec<String> = (0..100).map(|n| format!("account-{n}")).collect();
        let records: Vec<_> = keys.iter().map(|key| (key.as_str(), "x")).collect();
        kafka.kafka.produce(topic, &records);
    }
    group.wait_for("KeysVerified", "True", "KeysFit");
    group.wait_for("ConsumersColocated", "Unknown", "GroupMissing");
    people_may_do_what_is_theirs(&plane);

    // Drift twice, so that the second Event counts up the first; each time the way out is the seen count.
    for partitions in [4, 5] {
        kafka.kafka.grow_topic(topics[0], partitions);
        group.wait_for("PartitionsAligned", "False", "PartitionDrift");
        let partitions = i32::try_from(partitions).unwrap_or_default();
        let mut accepted = wanted(partitions);
        accepted["acceptKeyMovement"] = consent(&topics[1..], partitions - 1, partitions);
        group.apply(&accepted);
        group.wait_ready();
    }

    // The new chart: the definitions follow, groups and claims stay, and the new policy guards the topics at once.
    let before = (group.get()["metadata"]["uid"].clone(), group.claim());
    let upgrade = fast(&json!({"podAnnotations": {"team": "platform"}}));
    helm.put("upgrade", &chart(), &upgrade);
    let definition = plane.get_json(&["crd", "copartitionedtopicgroups.copartition.dev"]);
    assert_eq!(definition["spec"]["names"]["categories"], json!(["kafka"]));
    assert_eq!(
        before,
        (group.get()["metadata"]["uid"].clone(), group.claim())
    );
    let annotations = &helm.deployment()["spec"]["template"]["metadata"]["annotations"];
    assert_eq!(annotations["team"], "platform");
    the_policies_guard(&plane, topics[0]);

    the_lock_stands(kafka, &group, &wanted(5), topics);

    // A group goes, and its claim after it: by whom alone may write claims.
    let short = Group::new(&plane, "trading", "short-lived");
    let mut one = wanted(3);
    one["topics"] = json!([{"name": format!("{prefix}-short")}]);
    short.apply(&one);
    short.wait_ready();
    short.delete();
    wait_for("the claim to be collected", DEADLINE, || {
        short.claim().map_or(Ok(()), |claim| Err(claim.to_string()))
    });

    let log = operator.log();
    assert!(!log.contains(&password(LOGIN)), "a password in the log");
    assert!(
        log.lines().any(|line| line.starts_with(r#"{"timestamp""#)),
        "{log}"
    );
    let roles = of_operator(&manifests(&helm.run(&["get", "manifest", RELEASE])));
    rights::assert_exact(&granted(&roles), &rights::used(&plane, ACCOUNT));
    let refused = plane.audit(|event| {
        event["user"]["username"] == ACCOUNT && event["responseStatus"]["code"] == 403
    });
    assert!(refused.is_empty(), "{refused:?}");
    drop(operator);

    helm.run(&["uninstall", RELEASE]);
    what_the_release_managed_is_still_there(&plane, &group, kafka, topics);
    the_plain_manifests_take_over(&plane, &group);
}

/// Ring 3 under the same rights: set, lifted for a growth and put back, and undone.
fn the_lock_stands(kafka: &SecureKafka, group: &Group<'_>, spec: &Value, topics: [&str; 2]) {
    // The names of this test's topics begin so, and no other's.
    let prefix = topics[0].trim_end_matches("updates");
    let before = kafka.acls(prefix);
    let locked = with_locks(&before, &topics);
    let mut wanted = spec.clone();
    wanted["alterLock"] = json!("Deny");
    group.apply(&wanted);
    group.wait_for("Locked", "True", "Locked");
    assert_eq!(kafka.acls(prefix), locked);
    wanted["partitions"] = json!(6);
    wanted["acceptKeyMovement"] = consent(&topics, 5, 6);
    group.apply(&wanted);
    group.wait_ready();
    group.wait_for("Locked", "True", "Locked");
    for topic in topics {
        assert_eq!(kafka.kafka.partitions(topic), Some(6), "{topic}");
    }
    assert_eq!(kafka.acls(prefix), locked);
    wanted["alterLock"] = json!("None");
    group.apply(&wanted);
    wait_for("the locks to be undone", DEADLINE, || {
        match kafka.acls(prefix) {
            now if now == before => Ok(()),
            now => Err(format!("{now:#?}")),
        }
    });
}

/// What the release left, which only people remove.
fn what_the_release_managed_is_still_there(
    plane: &ControlPlane,
    group: &Group<'_>,
    kafka: &SecureKafka,
    topics: [&str; 2],
) {
    assert_eq!(group.status()["recordedPartitions"], 6);
    assert!(group.claim().is_some());
    plane.kubectl_ok(&["get", "kafkaconnection", "prod"]);
    for topic in topics {
        assert_eq!(kafka.kafka.partitions(topic), Some(6), "{topic}");
    }
    for kind in [
        "deployment",
        "role",
        "serviceaccount",
        "networkpolicy",
        "pdb",
    ] {
        let left = plane.kubectl_ok(&["get", kind, "-n", SYSTEM, "-o", "name"]);
        assert!(!left.contains(RELEASE), "{left}");
    }
    for kind in [
        "clusterrole",
        "clusterrolebinding",
        "validatingadmissionpolicy",
    ] {
        let left = plane.kubectl_ok(&["get", kind, "-o", "name"]);
        assert!(!left.contains("copartition"), "{left}");
    }
}

/// A user of kubectl instead: over what was left, and a second time without a change.
fn the_plain_manifests_take_over(plane: &ControlPlane, group: &Group<'_>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("charts/install.yaml");
    let path = path.to_string_lossy();
    let apply = ["apply", "--server-side", "-f", &path];
    plane.kubectl_ok(&apply);
    let versions = || {
        let objects = plane.get_json(&["-f", &path]);
        let items = objects["items"].as_array().cloned().unwrap_or_default();
        // Definitions and policies get a status by themselves.
        items
            .into_iter()
            .map(|item| {
                (
                    item["kind"].clone(),
                    item["metadata"]["name"].clone(),
                    item["spec"].clone(),
                    item["rules"].clone(),
                )
            })
            .collect::<Vec<_>>()
    };
    let first = versions();
    assert!(first.len() > 30, "{first:?}");
    plane.kubectl_ok(&apply);
    assert_eq!(versions(), first);
    let deployment = plane.get_json(&["deployment", RELEASE, "-n", SYSTEM]);
    assert_eq!(deployment["spec"]["replicas"], 2);
    let labels = &deployment["metadata"]["labels"];
    assert_eq!(labels["app.kubernetes.io/managed-by"], Value::Null);
    assert!(group.claim().is_some());
}

/// The API server's own check of pods, in a namespace that takes restricted ones only.
fn pods_may_run_where_only_restricted_ones_may(helm: &Helm<'_>) {
    let label = "pod-security.kubernetes.io/enforce=restricted";
    helm.0.kubectl_ok(&["label", "namespace", SYSTEM, label]);
    let template = helm.deployment()["spec"]["template"].clone();
    let try_pod = |spec: &Value| {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "tried", "namespace": SYSTEM}, "spec": spec});
        let args = ["create", "--dry-run=server", "-f", "-"];
        helm.0.kubectl_with_input(&args, &pod.to_string())
    };
    let output = try_pod(&template["spec"]);
    assert!(output.status.success(), "{}", text(&output));
    let mut loose = template["spec"].clone();
    loose["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = json!(true);
    assert!(text(&try_pod(&loose)).contains("allowPrivilegeEscalation"));
    // An unknown identity of the operator would wait out the lease with every restart.
    let env = template["spec"]["containers"][0]["env"].to_string();
    assert!(env.contains("POD_NAME"), "{env}");
}

/// Users of a namespace read and write groups there; claims and connections are the platform team's.
fn people_may_do_what_is_theirs(plane: &ControlPlane) {
    for (user, role) in [("reader", "view"), ("writer", "edit")] {
        let (role, user_flag) = (format!("--clusterrole={role}"), format!("--user={user}"));
        plane.kubectl_ok(&[
            "create",
            "rolebinding",
            user,
            &role,
            &user_flag,
            "-n",
            "trading",
        ]);
    }
    let platform = format!("--clusterrole={SYSTEM}:{RELEASE}:platform");
    plane.kubectl_ok(&[
        "create",
        "clusterrolebinding",
        "platform",
        &platform,
        "--user=platform",
    ]);
    let may = |user: &str, verb: &str, resource: &str, namespace: &str| {
        let user = format!("--as={user}");
        let args = [
            "auth", "can-i", verb, resource, &user, "-n", namespace, "-q",
        ];
        plane.kubectl(&args).status.success()
    };
    // The cluster roles are put together by a controller that does not run here, so what they take up is asked for.
    for (user, role) in [("reader", "view"), ("writer", "edit")] {
        for part in if role == "view" {
            &["view"][..]
        } else {
            &["view", "edit"]
        } {
            let name = format!("{SYSTEM}:{RELEASE}:{part}");
            let live = plane.get_json(&["clusterrole", &name]);
            let label = format!("rbac.authorization.k8s.io/aggregate-to-{role}");
            assert_eq!(live["metadata"]["labels"][&label], "true", "{name} {label}");
            let binding = format!("{user}-{part}");
            let (role, user_flag) = (format!("--clusterrole={name}"), format!("--user={user}"));
            plane.kubectl_ok(&[
                "create",
                "rolebinding",
                &binding,
                &role,
                &user_flag,
                "-n",
                "trading",
            ]);
        }
    }
    let groups = "copartitionedtopicgroups.copartition.dev";
    assert!(may("reader", "get", groups, "trading"));
    assert!(!may("reader", "update", groups, "trading"));
    assert!(may("writer", "update", groups, "trading"));
    assert!(!may("writer", "get", groups, "kafka"));
    for resource in [
        "copartitionclaims.copartition.dev",
        "kafkaconnections.copartition.dev",
    ] {
        assert!(!may("writer", "get", resource, "trading"));
        assert!(may("platform", "list", resource, "trading"));
        assert!(!may(
            "platform",
            "update",
            "copartitionclaims.copartition.dev",
            "trading"
        ));
    }
    assert!(may(
        "platform",
        "update",
        "kafkaconnections.copartition.dev",
        "trading"
    ));
}

/// Claims are the operator's, and another operator's resource cannot break the count of a held topic.
fn the_policies_guard(plane: &ControlPlane, topic: &str) {
    plane.apply_ok(&STRIMZI.definition().to_string());
    let name = format!("crd/{}", STRIMZI.resource());
    plane.kubectl_ok(&[
        "wait",
        "--for=condition=Established",
        "--timeout=60s",
        &name,
    ]);
    let says = |count: i32| {
        STRIMZI.manifest(Says {
            name: topic,
            namespace: "trading",
            topic: None,
            count,
            cluster: "prod",
        })
    };
    wait_for(
        "a KafkaTopic with another count to be refused",
        DEADLINE,
        || {
            let args = ["create", "--dry-run=server", "-f", "-"];
            let output = plane.kubectl_with_input(&args, &says(99).to_string());
            let said = text(&output);
            if !output.status.success() && said.contains("wanted 5 partitions, seen 99") {
                Ok(())
            } else {
                Err(said)
            }
        },
    );
    plane.apply_ok(&says(5).to_string());
    let claim = "trading.market-data";
    wait_for(
        "claims to be the operator's",
        Duration::from_secs(60),
        || {
            let output = plane.kubectl(&[
                "label",
                "copartitionclaim",
                claim,
                "x=y",
                "--dry-run=server",
            ]);
            if output.status.success() {
                Err(text(&output))
            } else {
                Ok(())
            }
        },
    );
}

/// With the definitions of the Prometheus operator, whose rules the API server holds what the chart renders to.
fn monitoring_is_what_the_prometheus_operator_takes(helm: &Helm<'_>, values: &Value) {
    helm.0.install_definitions();
    helm.put("upgrade", &chart(), values);
    // What the server knows no field for it leaves away, so that what is there is what was rendered.
    let monitor = helm.0.get_json(&["servicemonitor", RELEASE, "-n", SYSTEM]);
    let endpoint = &monitor["spec"]["endpoints"][0];
    assert_eq!(endpoint["honorLabels"], true, "{monitor}");
    assert_eq!(monitor["metadata"]["labels"]["release"], "prometheus");
    let service = helm.0.get_json(&["service", RELEASE, "-n", SYSTEM]);
    assert_eq!(service["spec"]["ports"][0]["name"], endpoint["port"]);
    let labels = service["metadata"]["labels"].as_object().expect("labels");
    let selected = monitor["spec"]["selector"]["matchLabels"].as_object();
    for (label, value) in selected.expect("labels") {
        assert_eq!(labels.get(label), Some(value), "{label}");
    }
    let rules = helm.0.get_json(&["prometheusrule", RELEASE, "-n", SYSTEM]);
    let rules = rules["spec"]["groups"][0]["rules"].as_array().cloned();
    let rules = rules.unwrap_or_default();
    assert!(rules.len() > 10, "{rules:?}");
    for rule in rules {
        let url = rule["annotations"]["runbook_url"]
            .as_str()
            .unwrap_or_default();
        assert!(
            url.starts_with("https://docs.example/runbooks.md#"),
            "{rule}"
        );
        assert!(
            rule["for"].is_string() && rule["expr"].is_string(),
            "{rule}"
        );
    }
    let dashboard = format!("{RELEASE}-dashboard");
    let dashboard = helm.0.get_json(&["configmap", &dashboard, "-n", SYSTEM]);
    assert_eq!(dashboard["metadata"]["labels"]["grafana_dashboard"], "1");
}

pub(crate) fn an_installation_for_some_namespaces_has_its_rights_there(env: &Env) {
    let plane = ControlPlane::start(env.root());
    let helm = Helm(&plane);
    for name in ["trading", "settling", "elsewhere"] {
        plane.kubectl_ok(&["create", "namespace", name]);
    }
    let values = json!({
        "watchNamespaces": ["trading", "settling"],
        "inlineConnections": ["127.0.0.1:*"],
        "rbac": {"inlineSecrets": true},
    });
    let mut watched = values.clone();
    watched["monitoring"] = json!({
        "serviceMonitor": {"enabled": true, "labels": {"release": "prometheus"}},
        "prometheusRule": {"enabled": true, "runbooks": "https://docs.example/runbooks.md"},
        "dashboard": {"enabled": true},
    });
    let refused = helm.try_put("install", &chart(), &fast(&watched));
    assert!(!refused.status.success(), "{}", text(&refused));
    assert!(
        text(&refused).contains("ServiceMonitor"),
        "{}",
        text(&refused)
    );
    let said = helm.put("install", &chart(), &fast(&values));
    assert!(said.contains("looks at trading, settling"), "{said}");
    monitoring_is_what_the_prometheus_operator_takes(&helm, &fast(&watched));
    let operator = helm.operator();
    let topics = [unique("some"), unique("some"), unique("some")];
    let [first, second, third] = topics.each_ref().map(String::as_str);
    let group = |namespace: &str, topic: &str| {
        let group = Group::new(&plane, namespace, "orders");
        group.apply(&spec(&env.kafka.bootstrap(), 3, &[topic]));
        group
    };
    let elsewhere = group("elsewhere", third);
    for (namespace, topic) in [("trading", first), ("settling", second)] {
        group(namespace, topic).wait_ready();
        // A Warning, so an Event is written there.
        env.kafka.grow_topic(topic, 4);
        let group = Group::new(&plane, namespace, "orders");
        group.wait_for("PartitionsAligned", "False", "PartitionDrift");
        wait_for("an Event", DEADLINE, || {
            let events = seen::events(&plane, namespace);
            if events.is_empty() {
                Err(operator.log())
            } else {
                Ok(())
            }
        });
    }
    assert_eq!(env.kafka.partitions(third), None);
    assert!(elsewhere.claim().is_none());

    let may = |verb: &str, resource: &str, namespace: &str| {
        let user = format!("--as={ACCOUNT}");
        let args = [
            "auth", "can-i", verb, resource, &user, "-n", namespace, "-q",
        ];
        plane.kubectl(&args).status.success()
    };
    let groups = "copartitionedtopicgroups.copartition.dev";
    assert!(may("watch", groups, "trading") && !may("get", groups, "elsewhere"));
    assert!(may("get", "secrets", "settling") && !may("get", "secrets", "elsewhere"));
    assert!(!may("list", "secrets", SYSTEM) && !may("get", "namespaces/elsewhere", "elsewhere"));
    assert!(may("get", "namespaces/kube-system", "kube-system"));
    let refused = plane.audit(|event| {
        event["user"]["username"] == ACCOUNT && event["responseStatus"]["code"] == 403
    });
    assert!(refused.is_empty(), "{refused:?}");
}
