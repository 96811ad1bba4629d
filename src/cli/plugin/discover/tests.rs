//! What is said of sets that were read, without servers.

use std::collections::{BTreeMap, BTreeSet};

use clap::Parser;
use serde_json::{Value, json};

use super::cluster::{Declared, Group};
use super::read::Seen;
use super::*;
use crate::api;
use crate::placement::Needed;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    arguments: Discover,
}

fn arguments(more: &[&str]) -> Discover {
    let all = [&["x", "--bootstrap-server", "kafka:9092"], more].concat();
    Line::try_parse_from(all).unwrap().arguments
}

fn set(topics: &[&str], by: &[&str]) -> Needed {
    Needed {
        topics: topics.iter().map(|it| (*it).to_owned()).collect(),
        by: by
            .iter()
            .map(|it| ((*it).to_owned(), "0".to_owned()))
            .collect(),
    }
}

/// Three sets: of equal counts, of unequal ones, and with a topic that is gone.
fn seen() -> Seen {
    let counts = [("a", 6), ("b", 6), ("c", 4), ("d", 3), ("e", 2)];
    let counts = counts.map(|(topic, count)| (topic.to_owned(), Ok(count)));
    let mut counts = BTreeMap::from(counts);
    counts.insert("f".to_owned(), Err("the topic does not exist".to_owned()));
    Seen {
        cluster_id: "here".to_owned(),
        sets: vec![
            set(&["a", "b"], &["Orders_App", "other"]),
            set(&["c", "d"], &["x"]),
            set(&["e", "f"], &["x"]),
        ],
        stopped: BTreeSet::from(["x".to_owned()]),
        counts,
        unread: Vec::new(),
    }
}

fn declared(groups: &[(&str, &[&str], Option<&str>)], owned: &[&str]) -> Declared {
    let group = |(name, topics, cluster): &(&str, &[&str], Option<&str>)| {
        let topics: BTreeSet<String> = topics.iter().map(|it| (*it).to_owned()).collect();
        Group {
            name: (*name).to_owned(),
            managed: topics.clone(),
            topics,
            cluster_id: cluster.map(str::to_owned),
        }
    };
    let owned = owned.iter().map(|it| {
        (
            (*it).to_owned(),
            format!("KafkaTopic kafka/{it} of Strimzi"),
        )
    });
    Declared {
        groups: groups.iter().map(group).collect(),
        owned: owned.collect(),
    }
}

fn manifests(record: &Record, more: &[&str]) -> (String, Vec<Value>) {
    let mut out = Vec::new();
    manifest::write(&mut out, record, &arguments(more)).unwrap();
    let text = String::from_utf8(out).unwrap();
    let documents = serde_yaml::Deserializer::from_str(&text);
    let documents = documents.map(|it| <Value as serde::Deserialize>::deserialize(it).unwrap());
    let objects = documents.filter(Value::is_object).collect();
    (text, objects)
}

fn table(record: &Record) -> String {
    let mut out = Vec::new();
    table::write(&mut out, record, false).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_manifest_has_the_topics_as_they_are_and_is_a_group() {
    let record = Record::of(&seen(), Some(&declared(&[], &["b"])));
    let (text, groups) = manifests(&record, &["-n", "trading"]);
    let [group] = &groups[..] else {
        panic!("{text}")
    };
    let expected = json!({
        "apiVersion": "copartition.dev/v1alpha1",
        "kind": "CoPartitionedTopicGroup",
        "metadata": {"name": "orders-app", "namespace": "trading"},
        "spec": {
            "kafka": {"inline": {"bootstrapServers": ["kafka:9092"]}},
            "partitions": 6,
            "topics": [{"name": "a"}, {"name": "b", "management": "Referenced"}],
            "consumerGroups": [{"groupId": "Orders_App"}, {"groupId": "other"}],
        },
    });
    assert_eq!(group, &expected);
    assert_eq!(api::problems(group), [""; 0]);
    for part in [
        "# Read together by Orders_App, sub-topology 0.",
        "# b belongs to KafkaTopic kafka/b of Strimzi, so it is Referenced.",
        "# No group for c, d: their counts are unequal",
        "# No group for e, f: ",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let (_, named) = manifests(&record, &["--connection", "prod"]);
    assert_eq!(
        named[0]["spec"]["kafka"],
        json!({"connectionRef": {"name": "prod"}})
    );
}

#[test]
fn without_kubernetes_nothing_is_taken_over() {
    let record = Record::of(&seen(), None);
    let (_, groups) = manifests(&record, &[]);
    for topic in groups[0]["spec"]["topics"].as_array().unwrap() {
        assert_eq!(topic["management"], "Referenced");
    }
}

#[test]
fn a_group_covers_what_it_has_whole_on_this_cluster() {
    let covered = |groups: &[(&str, &[&str], Option<&str>)]| {
        let record = Record::of(&seen(), Some(&declared(groups, &[])));
        record.sets[0].covered_by.clone()
    };
    let all: &[&str] = &["a", "b", "z"];
    assert_eq!(
        covered(&[("t/g", all, Some("here"))]).as_deref(),
        Some("t/g")
    );
    assert_eq!(covered(&[("t/g", all, None)]).as_deref(), Some("t/g"));
    assert_eq!(covered(&[("t/g", all, Some("elsewhere"))]), None);
    assert_eq!(
        covered(&[("t/g", &["a"], Some("here")), ("t/h", &["b"], None)]),
        None
    );
    // What one of them has is not taken from it.
    let held = declared(&[("t/g", &["a"], Some("here"))], &[]);
    let (text, groups) = manifests(&Record::of(&seen(), Some(&held)), &[]);
    assert_eq!(groups[0]["spec"]["topics"][0]["management"], "Referenced");
    assert!(
        text.contains("a belongs to CoPartitionedTopicGroup t/g"),
        "{text}"
    );
}

#[test]
fn people_read_what_is_to_be_done() {
    let covered = declared(&[("t/g", &["a", "b"], None)], &[]);
    let said = table(&Record::of(&seen(), Some(&covered)));
    for part in [
        "a, b    6           Orders_App, other  t/g",
        "c, d    4, 3        x (no members)     -",
        "c has 4, d has 3",
        "f: the topic does not exist",
    ] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    assert!(!said.contains("-o manifests"), "{said}");
    let said = table(&Record::of(&seen(), None));
    assert!(
        said.contains("no group covers them: -o manifests prints one"),
        "{said}"
    );
    let mut nothing = seen();
    nothing.sets.clear();
    assert!(table(&Record::of(&nothing, None)).starts_with("No running"));
}

#[test]
fn names_are_ones_that_kubernetes_takes_and_differ() {
    let mut seen = seen();
    let id = format!("{}.", "Ünï_x".repeat(60));
    seen.sets = vec![
        set(&["a", "b"], &[&id]),
        set(&["a", "b"], &[&id]),
        set(&["a", "b"], &["..."]),
    ];
    let (_, groups) = manifests(&Record::of(&seen, None), &[]);
    let names: BTreeSet<&str> = groups
        .iter()
        .filter_map(|it| it["metadata"]["name"].as_str())
        .collect();
    assert_eq!(names.len(), 3);
    assert!(names.contains("discovered"));
    for name in names {
        assert!(api::is_label(name) && name.len() <= 63, "{name}");
    }
}
