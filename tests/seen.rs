//! What the servers and the operator itself counted: writes in the audit log and in the brokers' request logs, polls in
//! the operator's metrics. And the operator as it is run by all tests that count: as a user of its own, with the role
//! of `examples/rbac.yaml`. No tests here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;

use crate::env::process::Process;
use crate::env::{
    ControlPlane, Env, KafkaCluster, LoggedRequest, Operator, OperatorOptions, wait_for,
};
use crate::rights::manifests;

/// The client id of the operator's requests to Kafka.
pub(crate) const CLIENT_ID: &str = "copartition-operator";
/// The operator's user at the API server.
pub(crate) const USER: &str = "operator";
/// Kafka's own tool for topics.
pub(crate) const TOPICS: &str = "org.apache.kafka.tools.TopicCommand";
/// Longer than a cluster that does not answer may take to be given up: several polls that each wait for an answer.
pub(crate) const OUTAGE: Duration = Duration::from_secs(180);

/// All requests that change something on Kafka.
pub(crate) const KAFKA_WRITES: [&str; 8] = [
    "CREATE_TOPICS",
    "CREATE_PARTITIONS",
    "INCREMENTAL_ALTER_CONFIGS",
    "ALTER_CONFIGS",
    "DELETE_TOPICS",
    "DELETE_RECORDS",
    "CREATE_ACLS",
    "DELETE_ACLS",
];
/// All verbs that change something at the API server.
pub(crate) const API_WRITES: [&str; 5] =
    ["create", "update", "patch", "delete", "deletecollection"];

/// Options for an operator that watches one namespace, as the user whom the example's role is granted to.
pub(crate) fn options(kube: &ControlPlane, namespace: &str, args: &[&str]) -> OperatorOptions {
    grant(kube);
    OperatorOptions {
        namespaces: vec![namespace.to_owned()],
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        kubeconfig: Some(kube.kubeconfig_for_operator()),
        ..OperatorOptions::default()
    }
}

/// Starts such an operator and waits until it is ready.
pub(crate) fn operator(env: &Env, namespace: &str, args: &[&str]) -> Operator {
    Operator::start(&env.kube, options(&env.kube, namespace, args))
}

/// The example that users apply.
pub(crate) fn rbac() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/rbac.yaml");
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Applies the example and binds its role to the user of the tests' operator, once a control plane.
fn grant(kube: &ControlPlane) {
    static GRANTED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    // Held meanwhile: two tests that apply the same at once could meet in a conflict.
    let mut granted = GRANTED
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if granted.insert(kube.kubeconfig()) {
        kube.apply_ok(&rbac());
        kube.apply_ok(&lease_role_everywhere());
        for role in ["copartition-operator", "copartition-operator-lease"] {
            let role_flag = format!("--clusterrole={role}");
            let binding = format!("tests-{role}");
            kube.kubectl_ok(&[
                "create",
                "clusterrolebinding",
                &binding,
                &role_flag,
                "--user",
                USER,
            ]);
        }
    }
}

/// The example's role for the Lease, for all namespaces: the operator of each test has its Lease in its own one.
fn lease_role_everywhere() -> String {
    let mut role = manifests(&rbac())
        .into_iter()
        .find(|document| document["kind"] == "Role")
        .expect("a Role in examples/rbac.yaml");
    role["kind"] = "ClusterRole".into();
    role["metadata"] = serde_json::json!({"name": "copartition-operator-lease"});
    role.to_string()
}

/// The finished requests of the operator that change something about one namespace's groups: their status, their
/// claims, their Events.
pub(crate) fn api_writes(kube: &ControlPlane, namespace: &str) -> Vec<String> {
    let writes = api_requests(kube, namespace);
    let writes = writes.iter().filter(|event| {
        event["verb"]
            .as_str()
            .is_some_and(|verb| API_WRITES.contains(&verb))
    });
    writes.map(described).collect()
}

/// All finished requests of the operator about one namespace's groups; the Lease is not about them.
pub(crate) fn api_requests(kube: &ControlPlane, namespace: &str) -> Vec<Value> {
    let claims = format!("{namespace}.");
    kube.audit(|event| {
        let of = &event["objectRef"];
        let in_namespace = of["namespace"] == namespace && of["resource"] != "leases";
        let its_claim = of["resource"] == "copartitionclaims"
            && of["name"]
                .as_str()
                .is_some_and(|name| name.starts_with(&claims));
        event["user"]["username"] == USER
            && event["stage"] == "ResponseComplete"
            && (in_namespace || its_claim)
    })
}

/// A request in a few words: verb, resource, answer.
fn described(event: &Value) -> String {
    let of = &event["objectRef"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let subresource = match &of["subresource"] {
        Value::String(name) => format!("/{name}"),
        _ => String::new(),
    };
    format!(
        "{} {}{subresource} {}",
        text(&event["verb"]),
        text(&of["resource"]),
        event["responseStatus"]["code"]
    )
}

/// The operator's requests that change something on Kafka about one of these topics. Those that only ask whether a
/// change would do are none.
pub(crate) fn kafka_writes(kafka: &KafkaCluster, topics: &[&str]) -> Vec<String> {
    let mut writes = kafka.requests("", CLIENT_ID);
    writes.retain(|request| {
        KAFKA_WRITES.contains(&request.api.as_str())
            && request.entry["request"]["validateOnly"] != true
            && names(request, topics)
    });
    writes.into_iter().map(|request| request.api).collect()
}

/// Whether a logged request names one of the topics.
pub(crate) fn names(request: &LoggedRequest, topics: &[&str]) -> bool {
    let body = request.entry["request"].to_string();
    topics
        .iter()
        .any(|topic| body.contains(&format!("\"{topic}\"")))
}

/// How many polls of Kafka have ended, well or not.
pub(crate) fn polls(operator: &Operator) -> u64 {
    counted(operator, "copartition_kafka_polls_total{")
}

/// How many polls of Kafka have failed.
pub(crate) fn failed_polls(operator: &Operator) -> u64 {
    // Of one page: another one has more polls.
    sum(&operator.metrics(), |line| {
        line.starts_with("copartition_kafka_polls_total{") && !line.contains("outcome=\"Ok\"")
    })
}

/// The sum over the metrics that begin so.
pub(crate) fn counted(operator: &Operator, beginning: &str) -> u64 {
    sum(&operator.metrics(), |line| line.starts_with(beginning))
}

fn sum(page: &str, counts: impl Fn(&str) -> bool) -> u64 {
    let lines = page.lines().filter(|line| counts(line));
    lines
        .filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok())
        .sum()
}

/// Waits until so many more polls have ended.
pub(crate) fn wait_polls(operator: &Operator, more: u64) {
    let wanted = polls(operator) + more;
    wait_for(&format!("{wanted} polls"), OUTAGE, || {
        let seen = polls(operator);
        if seen >= wanted {
            Ok(())
        } else {
            Err(seen.to_string())
        }
    });
}

/// What `kubectl get cptg -w` shows of a namespace while this lives: no state that a client could have seen is missed.
pub(crate) struct Watch(Process);

impl Watch {
    /// Returns once the API server serves the watch.
    pub(crate) fn start(kube: &ControlPlane, namespace: &str) -> Self {
        let process = kube.kubectl_running(&["get", "cptg", "-n", namespace, "-w", "-o", "json"]);
        wait_for("the watch to begin", Duration::from_secs(60), || {
            let begun = kube.audit(|event| {
                event["verb"] == "watch"
                    && event["objectRef"]["namespace"] == namespace
                    && event["user"]["username"] == "admin"
            });
            if begun.is_empty() {
                Err("no watch".to_owned())
            } else {
                Ok(())
            }
        });
        Self(process)
    }

    /// The objects so far, oldest first.
    pub(crate) fn seen(&self) -> Vec<Value> {
        let log = self.0.log();
        let objects = serde_json::Deserializer::from_str(&log).into_iter::<Value>();
        // The last one may still be being written.
        objects.map_while(Result::ok).collect()
    }

    /// `Type=Status/Reason` of all conditions of all states so far, each once.
    pub(crate) fn conditions(&self) -> BTreeSet<String> {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let of = |object: &Value| -> Vec<String> {
            let conditions = object["status"]["conditions"].as_array();
            let conditions = conditions.into_iter().flatten();
            conditions
                .map(|c| {
                    format!(
                        "{}={}/{}",
                        word(&c["type"]),
                        word(&c["status"]),
                        word(&c["reason"])
                    )
                })
                .collect()
        };
        self.seen().iter().flat_map(of).collect()
    }
}

/// The Events about a namespace's groups as (type, reason, how often).
pub(crate) fn events(kube: &ControlPlane, namespace: &str) -> Vec<(String, String, u64)> {
    let list = kube.get_json(&["events.events.k8s.io", "-n", namespace]);
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let events = list["items"].as_array().cloned().unwrap_or_default();
    events
        .iter()
        .map(|event| {
            let times = event["series"]["count"].as_u64().unwrap_or(1);
            (word(&event["type"]), word(&event["reason"]), times)
        })
        .collect()
}
