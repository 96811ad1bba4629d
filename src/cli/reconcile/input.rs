//! The groups of the files that are named, each checked as the API server would.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::yaml::{MOST_BYTES, documents};
use crate::api::{self, CoPartitionedTopicGroup};

/// The namespace of a group that names none; without a cluster it is but a part of the name.
const NAMESPACE: &str = "default";
const VERSION: &str = "copartition.dev/v1alpha1";
const KIND: &str = "CoPartitionedTopicGroup";

/// A group, or something that should have been one.
#[derive(Debug)]
pub(in crate::cli) struct Entry {
    /// The file and the line.
    pub(in crate::cli) source: String,
    /// Its namespace and name, as far as they are known.
    pub(in crate::cli) namespace: Option<String>,
    pub(in crate::cli) name: Option<String>,
    /// The group, or what is wrong with it.
    pub(in crate::cli) group: Result<CoPartitionedTopicGroup, String>,
}

/// Reads all files, `-` as `stdin`, and of a folder the manifests in it. One that cannot be read stops no other.
pub(in crate::cli) fn read(files: &[PathBuf], mut stdin: impl Read) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut seen = BTreeSet::new();
    for (file, is_known) in files.iter().flat_map(|file| expanded(file)) {
        let is_stdin = file.as_os_str() == "-";
        let label = if is_stdin {
            "stdin".to_owned()
        } else {
            file.display().to_string()
        };
        let text = match is_known {
            Err(problem) => Err(problem),
            Ok(()) if !seen.insert(file.clone()) => Err("it is named twice".to_owned()),
            Ok(()) if is_stdin => bounded(&mut stdin),
            Ok(()) => File::open(&file)
                .map_err(|error| error.to_string())
                .and_then(bounded),
        };
        entries.extend(text.map_or_else(
            |problem| vec![broken(label.clone(), problem)],
            |text| parse(&label, &text),
        ));
    }
    refuse_repeated(&mut entries);
    entries
}

/// A file, or the manifests of a folder in the order of their names, as for kubectl. Each with what is wrong with it.
fn expanded(file: &Path) -> Vec<(PathBuf, Result<(), String>)> {
    if !file.is_dir() {
        return vec![(file.to_owned(), Ok(()))];
    }
    let failed = |problem: String| vec![(file.to_owned(), Err(problem))];
    let listed: io::Result<Vec<PathBuf>> = file
        .read_dir()
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut found = match listed {
        Ok(paths) => paths,
        Err(error) => return failed(error.to_string()),
    };
    found.retain(|path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("yaml" | "yml" | "json")) && !path.is_dir()
    });
    found.sort();
    if found.is_empty() {
        return failed("the folder has no .yaml, .yml or .json file".to_owned());
    }
    found.into_iter().map(|path| (path, Ok(()))).collect()
}

/// A text of at most [`MOST_BYTES`].
pub(in crate::cli) fn bounded(source: impl Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    // One more than allowed tells a file that is too long from one that just fits.
    let most = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX) + 1;
    source
        .take(most)
        .read_to_end(&mut bytes)
        .map_err(|error: io::Error| error.to_string())?;
    if bytes.len() > MOST_BYTES {
        let most = MOST_BYTES >> 20;
        return Err(format!("it has more than {most} MiB; split it"));
    }
    String::from_utf8(bytes).map_err(|error| format!("it is no UTF-8: {error}"))
}

fn parse(label: &str, text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    for document in documents(text) {
        let source = format!("{label}:{}", document.line);
        match document.content {
            Err(problem) => entries.push(broken(source, problem)),
            Ok(value) => entries.extend(objects(value).map(|object| entry(&source, object))),
        }
    }
    if entries.is_empty() {
        let problem = format!("there is no {KIND} in it");
        entries.push(broken(label.to_owned(), problem));
    }
    entries
}

/// The objects of a document: `kubectl get -o yaml` puts several into a list.
fn objects(mut value: Value) -> impl Iterator<Item = Value> {
    let kind = value["kind"].as_str().unwrap_or_default();
    let is_list = kind == "List" || kind == "CoPartitionedTopicGroupList";
    let items = match value.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) if is_list => items,
        _ => vec![value],
    };
    items.into_iter()
}

fn entry(source: &str, object: Value) -> Entry {
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let metadata = |field: &str| text(&object["metadata"][field]);
    let (name, namespace) = (metadata("name"), metadata("namespace"));
    if version.as_deref() != Some(VERSION) || kind.as_deref() != Some(KIND) {
        let seen = |word: Option<String>| word.unwrap_or_else(|| "(none)".to_owned());
        let name = name.map_or_else(String::new, |name| format!(" {name}"));
        let problem = format!(
            "wanted {KIND} (apiVersion {VERSION}), seen {}{name} (apiVersion {}); take it out or correct it",
            seen(kind),
            seen(version)
        );
        return broken(source.to_owned(), problem);
    }
    let namespace = namespace.or_else(|| name.as_ref().map(|_| NAMESPACE.to_owned()));
    let mut group = group(object);
    if let Ok(group) = &mut group {
        group.metadata.namespace.clone_from(&namespace);
    }
    Entry {
        source: source.to_owned(),
        namespace,
        name,
        group,
    }
}

fn group(object: Value) -> Result<CoPartitionedTopicGroup, String> {
    let problems = api::problems(&object);
    if !problems.is_empty() {
        return Err(problems.join("; "));
    }
    serde_json::from_value(object).map_err(|error| error.to_string())
}

fn broken(source: String, problem: String) -> Entry {
    Entry {
        source,
        namespace: None,
        name: None,
        group: Err(problem),
    }
}

/// Of two groups with one name nobody knows which is meant.
fn refuse_repeated(entries: &mut [Entry]) {
    let mut seen: BTreeMap<(String, String), String> = BTreeMap::new();
    for entry in entries {
        let (Some(namespace), Some(name)) = (&entry.namespace, &entry.name) else {
            continue;
        };
        let key = (namespace.clone(), name.clone());
        if let Some(first) = seen.get(&key) {
            entry.group = Err(format!(
                "{namespace}/{name} stands in {first} already; keep one of the two"
            ));
        } else {
            seen.insert(key, entry.source.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: &str = "apiVersion: copartition.dev/v1alpha1
kind: CoPartitionedTopicGroup
metadata: {name: orders}
spec:
  kafka: {inline: {bootstrapServers: ['kafka:9092']}}
  topics: [{name: a}]
";

    fn entries(text: &str) -> Vec<Entry> {
        read(&[PathBuf::from("-")], text.as_bytes())
    }

    fn problem(text: &str) -> String {
        let found = entries(text);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].group.as_ref().expect_err("it is refused").clone()
    }

    #[test]
    fn groups_are_found_in_documents_and_lists() {
        let named = |name: &str| GROUP.replace("orders", name);
        let item = |name: &str| {
            let text = named(name).replace('\n', "\n  ");
            format!("- {}\n", text.trim_end())
        };
        let text = format!(
            "{}---\napiVersion: v1\nkind: List\nitems:\n{}{}",
            named("a"),
            item("b"),
            item("c").replace("name: c", "name: c, namespace: n")
        );
        let found: Vec<(String, String)> = entries(&text)
            .into_iter()
            .map(|entry| {
                let group = entry.group.expect("a group");
                assert_eq!(group.metadata.namespace, entry.namespace);
                (
                    entry.source,
                    format!(
                        "{}/{}",
                        entry.namespace.expect("one"),
                        entry.name.expect("one")
                    ),
                )
            })
            .collect();
        let wanted = [
            ("stdin:1", "default/a"),
            ("stdin:8", "default/b"),
            ("stdin:8", "n/c"),
        ];
        assert_eq!(found, wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn other_kinds_are_named() {
        let said = problem("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n");
        assert!(said.contains("seen ConfigMap x (apiVersion v1)"), "{said}");
        let said = problem(&GROUP.replace("v1alpha1", "v1"));
        assert!(said.contains("(apiVersion copartition.dev/v1);"), "{said}");
        let said = problem("just text");
        assert!(said.contains("seen (none)"), "{said}");
    }

    #[test]
    fn a_typo_does_not_pass() {
        let said = problem(&GROUP.replace("topics:", "partitons: 6\n  topics:"));
        assert_eq!(
            said,
            "spec.partitons: unknown field; did you mean partitions?"
        );
    }

    #[test]
    fn what_cannot_be_read_is_said_and_stops_no_other() {
        assert!(problem("").contains("no CoPartitionedTopicGroup"));
        assert!(problem("# nothing\n---\n").contains("no CoPartitionedTopicGroup"));
        let folder = tempfile::tempdir().expect("a folder");
        let files = [
            Path::new("/nowhere/x.yaml"),
            folder.path(),
            Path::new("-"),
            Path::new("-"),
        ];
        let files = files.map(PathBuf::from);
        let found = read(&files, GROUP.as_bytes());
        let said: Vec<&str> = found
            .iter()
            .map(|entry| entry.group.as_ref().map_or_else(String::as_str, |_| "fine"))
            .collect();
        assert!(said[0].contains("No such file"), "{said:?}");
        assert!(said[1].contains("the folder has no"), "{said:?}");
        assert_eq!(said[2], "fine");
        assert!(said[3].contains("twice"), "{said:?}");
        let invalid: &[u8] = b"a: \xff";
        let found = read(&[PathBuf::from("-")], invalid);
        assert!(
            found[0]
                .group
                .as_ref()
                .expect_err("refused")
                .contains("UTF-8")
        );
    }

    #[test]
    fn a_folder_stands_for_its_manifests() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["b.yaml", "a.yml", "c.json", "README.md"] {
            let text = GROUP.replace("orders", &name[..1]);
            std::fs::write(folder.path().join(name), text).expect("a file");
        }
        std::fs::create_dir(folder.path().join("d.yaml")).expect("a folder");
        let names: Vec<Option<String>> = read(&[folder.path().to_owned()], io::empty())
            .into_iter()
            .map(|entry| entry.name)
            .collect();
        assert_eq!(names, ["a", "b", "c"].map(|name| Some(name.to_owned())));
    }

    #[test]
    fn an_endless_file_is_refused() {
        let found = read(&[PathBuf::from("-")], io::repeat(b'a'));
        let said = found[0].group.as_ref().expect_err("refused");
        assert!(said.contains("more than 4 MiB"), "{said}");
    }

    #[test]
    fn one_name_twice_is_refused() {
        let found = entries(&format!("{GROUP}---\n{GROUP}"));
        assert!(found[0].group.is_ok());
        let said = found[1].group.as_ref().expect_err("refused");
        assert!(said.contains("default/orders stands in stdin:1"), "{said}");
    }
}
