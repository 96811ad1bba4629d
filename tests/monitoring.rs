//! What Prometheus and Grafana are given: the page, the alerts and the dashboard, each looked at by promtool.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use copartition::plan::Reason;
use serde_json::{Value, json};

use crate::env::{Env, Operator, free_port, text, tool, unique};
use crate::group::{Group, spec};
use crate::seen::{self, wait_polls};

/// It is on the page only while an application of Kafka Streams runs, which other tests start; `colocated` looks at it.
const OF_STREAMS: &str = "copartition_needed_sets";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("charts/copartition-operator/monitoring")
}

fn promtool(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(tool("promtool"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cannot run promtool");
    // If it ends without reading everything, its exit status says why.
    let _ = child
        .stdin
        .take()
        .map(|mut stdin| stdin.write_all(input.as_bytes()));
    child
        .wait_with_output()
        .expect("cannot read what promtool says")
}

/// An operator that has something to tell of: a group that is fine and verified, one that drifted, one out of reach.
fn busy(env: &Env) -> Operator {
    let namespace = env.namespace("monitored");
    let operator = seen::operator(env, &namespace, &[]);
    let group = |name: &str| Group::new(&env.kube, &namespace, name);
    let topics: Vec<String> = (0..3).map(|_| unique("monitored")).collect();
    let bootstrap = env.kafka.bootstrap();
    let fine = group("fine");
    env.kafka.create_topic(&topics[0], 3);
    let keys: Vec<String> = (0..100).map(|n| format!("account-{n}")).collect();
    let records: Vec<_> = keys.iter().map(|key| (key.as_str(), "x")).collect();
    env.kafka.produce(&topics[0], &records);
    let mut wanted = spec(&bootstrap, 3, &[&topics[0]]);
    wanted["verification"] = json!({"interval": "10s"});
    wanted["consumerGroups"] = json!([{"groupId": unique("nobody")}]);
    fine.apply(&wanted);
    fine.wait_for("KeysVerified", "True", "KeysFit");
    fine.wait_for("ConsumersColocated", "Unknown", "GroupMissing");
    let drifted = group("drifted");
    drifted.apply(&spec(&bootstrap, 3, &[&topics[1]]));
    drifted.wait_ready();
    env.kafka.grow_topic(&topics[1], 4);
    drifted.wait_for("PartitionsAligned", "False", "PartitionDrift");
    let nobody = format!("127.0.0.1:{}", free_port());
    let away = group("away");
    away.apply(&spec(&nobody, 3, &[&topics[2]]));
    away.wait_until("a verdict", |status| status["observedGeneration"] == 1);
    wait_polls(&operator, 1);
    operator
}

/// `docs/reference/metrics.md` has a line for each metric of the page, and for none besides.
fn the_reference_lists_them(page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/metrics.md");
    let reference = fs::read_to_string(&path).unwrap_or_default();
    let elsewhere = format!("| `{OF_STREAMS}` | gauge | `cluster`, `counts`, `covered` |");
    assert!(reference.contains(&elsewhere), "no {elsewhere}");
    let listed: Vec<&str> = reference
        .lines()
        .filter(|line| line.starts_with("| `copartition_") && !line.starts_with(&elsewhere))
        .collect();
    let mut wanted: Vec<String> = Vec::new();
    for about in page.lines().filter_map(|line| line.strip_prefix("# HELP ")) {
        let (name, help) = about.split_once(' ').expect("a name and its help");
        if name == OF_STREAMS {
            continue;
        }
        let kind = format!("# TYPE {name} ");
        let kind = page.lines().find_map(|line| line.strip_prefix(&kind));
        let kind = kind.unwrap_or_else(|| panic!("no type of {name}"));
        // What a histogram's buckets are told apart by is no label of its own.
        let labels: BTreeSet<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix('{'))
            .flat_map(|labels| labels.split("=\"").collect::<Vec<_>>())
            .filter_map(|text| text.rsplit(['{', ',', '"']).next())
            .filter(|label| {
                !label.is_empty() && label.chars().all(|c| c.is_ascii_lowercase() || c == '_')
            })
            .collect();
        let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        let help = help.trim_end_matches('.');
        wanted.push(format!(
            "| `{name}` | {kind} | {} | {help} |",
            labels.join(", ")
        ));
    }
    wanted.sort();
    assert!(
        listed == wanted,
        "docs/reference/metrics.md differs from the page; its table is to be\n{}",
        wanted.join("\n")
    );
}

/// The names of all series of a page.
fn series(page: &str) -> BTreeSet<String> {
    let lines = page.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split(['{', ' ']).next().map(ToOwned::to_owned))
        .collect()
}

/// The names of our series that an expression uses.
fn used(expression: &str) -> BTreeSet<String> {
    expression
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with("copartition_"))
        .map(ToOwned::to_owned)
        .collect()
}

pub(crate) fn the_page_the_alerts_and_the_dashboard_fit_each_other(env: &Env) {
    let operator = busy(env);
    let page = operator.metrics();
    for said in [
        "copartition_groups_not_true{condition=\"PartitionsAligned\",status=\"False\",reason=\"PartitionDrift\"} 1",
        "copartition_groups{condition=\"Ready\",status=\"True\"} 1",
        "copartition_build_info{version=\"",
        "copartition_kafka_reachable{cluster=\"",
        "copartition_kubernetes_requests_total{kind=\"write\",outcome=\"Ok\"}",
        "copartition_reconcile_duration_seconds_count",
    ] {
        assert!(page.contains(said), "no {said} in {page}");
    }
    // promtool reads the older format, which whoever does not ask for another one gets.
    let (status, older) = operator.try_get_as("/metrics", "*/*").expect("a page");
    assert_eq!(status, 200);
    let output = promtool(&["check", "metrics"], &older);
    assert!(output.status.success(), "{}\n{older}", text(&output));
    assert!(series(&page).is_subset(&series(&older)), "{older}");

    the_reference_lists_them(&older);
    let shown = series(&page);
    let alerts = alerts();
    assert!(!alerts.is_empty());
    for alert in &alerts {
        for name in used(alert["expr"].as_str().expect("an expression")) {
            assert!(
                shown.contains(&name),
                "{name} of {} is in no page",
                alert["alert"]
            );
        }
    }
    let queries = queries();
    assert!(queries.len() >= 10, "{queries:?}");
    for query in &queries {
        for name in used(query) {
            assert!(
                shown.contains(&name) || name == OF_STREAMS,
                "{name} of {query} is in no page"
            );
        }
    }
}

fn alerts() -> Vec<Value> {
    let yaml = fs::read_to_string(folder().join("alerts.yaml")).expect("the alerts");
    let rules: Value = serde_yaml::from_str(&yaml).expect("YAML");
    let groups = rules["groups"].as_array().expect("groups");
    groups
        .iter()
        .flat_map(|group| group["rules"].as_array().cloned().unwrap_or_default())
        .collect()
}

/// The expressions of all panels.
fn queries() -> Vec<String> {
    let json = fs::read_to_string(folder().join("dashboard.json")).expect("the dashboard");
    let dashboard: Value = serde_json::from_str(&json).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().cloned().unwrap_or_default());
    targets
        .filter_map(|target| target["expr"].as_str().map(ToOwned::to_owned))
        .collect()
}

/// The reasons that keep a group from being Ready for longer than an hour are told by one of two alerts, whatever they are.
pub(crate) fn waiting_is_all_that_is_not_stalled(_env: &Env) {
    let alerts = alerts();
    let waiting = alerts
        .iter()
        .find(|alert| alert["alert"] == "CopartitionGroupsWaiting");
    let expression = waiting
        .and_then(|alert| alert["expr"].as_str())
        .expect("an expression");
    let (_, left_out) = expression
        .split_once("reason!~\"")
        .expect("reasons that are left out");
    let (left_out, _) = left_out.split_once('"').expect("an end of the pattern");
    let left_out: BTreeSet<&str> = left_out.split('|').collect();
    let stalled = Reason::ALL.iter().filter(|reason| reason.is_stalled(false));
    assert_eq!(left_out, stalled.map(|reason| reason.as_str()).collect());
}

/// A page of a document, as its headings are linked.
fn anchors(file: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let page = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    page.lines()
        .filter_map(|line| line.strip_prefix('#'))
        .map(|line| {
            line.trim_start_matches('#')
                .trim()
                .to_lowercase()
                .replace(' ', "-")
        })
        .collect()
}

pub(crate) fn every_alert_is_tested_and_has_its_runbook(_env: &Env) {
    let path = folder().join("alerts.yaml");
    let output = promtool(&["check", "rules", &path.to_string_lossy()], "");
    assert!(output.status.success(), "{}", text(&output));
    let tests = folder().join("alerts_test.yaml");
    let output = promtool(&["test", "rules", &tests.to_string_lossy()], "");
    assert!(output.status.success(), "{}", text(&output));
    let tested = fs::read_to_string(&tests).expect("the tests of the alerts");
    let runbooks = anchors("docs/runbooks.md");
    for alert in alerts() {
        let name = alert["alert"].as_str().expect("a name");
        assert!(
            tested.contains(&format!("alertname=\"{name}\"")),
            "{name} is not tested"
        );
        for annotation in ["summary", "description", "runbook_url"] {
            let said = alert["annotations"][annotation]
                .as_str()
                .unwrap_or_default();
            assert!(!said.is_empty(), "{name} has no {annotation}");
        }
        let severity = alert["labels"]["severity"].as_str().unwrap_or_default();
        assert!(
            ["critical", "warning"].contains(&severity),
            "{name}: {severity}"
        );
        let url = alert["annotations"]["runbook_url"]
            .as_str()
            .unwrap_or_default();
        let anchor = url.split_once("docs/runbooks.md#").map(|it| it.1);
        assert!(
            anchor.is_some_and(|it| runbooks.contains(it)),
            "{name}: {url}"
        );
    }
}
