//! The manifests of README and documents are what the code takes, runbooks have all reasons, and links lead somewhere.

use std::path::{Path, PathBuf};

use crate::api::{CoPartitionedTopicGroup, KafkaConnection};
use crate::cli::reference::anchors;
use crate::plan::{State, VOCABULARY};

/// The text between two markers of a page.
fn section(page: &'static str, name: &str) -> &'static str {
    let begin = format!("<!-- {name} -->\n");
    let end = format!("<!-- /{name} -->");
    let (_, rest) = page
        .split_once(&begin)
        .unwrap_or_else(|| panic!("no line {begin:?}"));
    let (text, _) = rest
        .split_once(&end)
        .unwrap_or_else(|| panic!("no line {end:?}"));
    text
}

/// The manifest between two markers.
fn manifest<T: serde::de::DeserializeOwned>(page: &'static str, name: &str) -> T {
    let text = section(page, name)
        .trim()
        .trim_start_matches("```yaml")
        .trim_end_matches("```");
    serde_yaml::from_str(text).unwrap_or_else(|error| panic!("section {name}: {error}"))
}

#[test]
fn the_example_of_a_connection_is_one() {
    let connection: KafkaConnection =
        manifest(include_str!("../docs/connections.md"), "connection");
    let rules = connection.spec.rules;
    assert_eq!(rules.len(), 2);
    let pattern = rules[0].sample[0].pattern.as_deref().unwrap_or_default();
    assert!(regex::Regex::new(pattern).is_ok_and(|it| it.is_match("trading.orders")));
}

#[test]
fn the_example_is_a_group() {
    let group: CoPartitionedTopicGroup = manifest(include_str!("../README.md"), "example");
    let names: Vec<&str> = group
        .spec
        .topics
        .iter()
        .map(|topic| topic.name.as_str())
        .collect();
    assert_eq!(names, ["market-updates", "notifications"]);
    assert_eq!(group.spec.partitions, Some(6));
}

/// What to do about each reason for which a condition is not True; those that mean nothing to do have no section.
#[test]
fn each_reason_has_its_runbook() {
    let page = include_str!("../docs/runbooks.md");
    let sections: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .collect();
    for entry in VOCABULARY {
        for reason in entry.reasons.iter().map(|reason| reason.as_str()) {
            let fine = entry.state == State::True || matches!(reason, "Off" | "NotPaused");
            assert!(
                fine || sections.contains(&reason),
                "docs/runbooks.md has no section {reason}"
            );
        }
    }
}

/// Every page of the project.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![
        root.to_owned(),
        root.join("docs"),
        root.join("docs/reference"),
    ];
    folders.extend(["kafka-streams", "kafkajs"].map(|it| root.join("examples").join(it)));
    let files = folders.iter().flat_map(|folder| {
        let entries = std::fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path())
    });
    files
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut dead = Vec::new();
    let mut seen = 0;
    for path in pages() {
        let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
        let page = read(&path);
        for link in page.split("](").skip(1) {
            let link = link.split_once(')').map_or(link, |it| it.0);
            if link.starts_with("http") {
                continue;
            }
            seen += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => path.clone(),
                file => path.with_file_name(file),
            };
            let there =
                target.exists() && (anchor.is_empty() || anchors(&read(&target)).contains(anchor));
            if !there {
                dead.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(seen > 100, "only {seen} links were found");
    assert!(dead.is_empty(), "{dead:#?}");
}
