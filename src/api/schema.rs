//! A group as a file has it, held against the CRD's own schema: what the API server would refuse, and every field that
//! it does not know.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::{ACKNOWLEDGE_ANNOTATION, API_GROUP, PAUSED_ANNOTATION, crds};

/// The fields of `metadata` (Kubernetes' `ObjectMeta`).
const METADATA: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];
/// The fields of an object beside those that its schema lists.
const TYPE: [&str; 3] = ["apiVersion", "kind", "metadata"];
/// The most problems that are told at once.
const SHOWN: usize = 20;
/// The longest name of a group: with the namespace and a dot it has to fit a claim's name.
const LONGEST_NAME: usize = 189;

/// The schema of a group; the text of the error if it cannot be represented, which the tests rule out.
static SCHEMA: LazyLock<Result<Value, String>> = LazyLock::new(|| {
    let crds = crds().map_err(|error| error.to_string())?;
    let group = crds
        .iter()
        .find(|(file, _)| file.starts_with("copartitionedtopicgroup"));
    let crd = serde_json::to_value(group.map(|(_, crd)| crd)).map_err(|error| error.to_string())?;
    Ok(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone())
});

/// What is wrong with a group, one sentence for each field. Rules that compare fields with each other, and the two
/// patterns in the schema, are not looked at here: `controller::validate` knows them.
pub fn problems(group: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    match &*SCHEMA {
        Ok(schema) => check(schema, group, "", &mut problems),
        Err(error) => problems.push(format!("the schema cannot be read: {error}")),
    }
    metadata(&group["metadata"], &mut problems);
    if problems.len() > SHOWN {
        let more = problems.len() - SHOWN;
        problems.truncate(SHOWN);
        problems.push(format!("and {more} more"));
    }
    problems
}

fn check(schema: &Value, value: &Value, path: &str, problems: &mut Vec<String>) {
    let wanted = schema["type"].as_str().unwrap_or_default();
    let fits = match wanted {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        _ => true,
    };
    if !fits {
        let quote = if wanted == "string" {
            "; put it in quotes"
        } else {
            ""
        };
        problems.push(format!(
            "{path}: wanted {wanted}, seen {}{quote}",
            shown(value)
        ));
        return;
    }
    match value {
        Value::Object(fields) => object(schema, fields, path, problems),
        Value::Array(items) => {
            bounds(schema, "Items", items.len(), path, "entries", problems);
            for (index, item) in items.iter().enumerate() {
                check(
                    &schema["items"],
                    item,
                    &format!("{path}[{index}]"),
                    problems,
                );
            }
        }
        Value::String(text) => {
            bounds(
                schema,
                "Length",
                text.chars().count(),
                path,
                "characters",
                problems,
            );
            let known = schema["enum"].as_array();
            if let Some(known) = known.filter(|known| !known.contains(value)) {
                let known: Vec<&str> = known.iter().filter_map(Value::as_str).collect();
                let known = known.join(", ");
                problems.push(format!(
                    "{path}: wanted one of {known}, seen {}",
                    shown(value)
                ));
            }
        }
        Value::Number(number) => {
            let seen = number.as_f64().unwrap_or_default();
            let least = schema["minimum"].as_f64().filter(|least| seen < *least);
            let most = schema["maximum"].as_f64().filter(|most| seen > *most);
            if let Some(least) = least {
                problems.push(format!("{path}: wanted {least} or more, seen {number}"));
            }
            if let Some(most) = most {
                problems.push(format!("{path}: wanted {most} at most, seen {number}"));
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn object(schema: &Value, fields: &Map<String, Value>, path: &str, problems: &mut Vec<String>) {
    bounds(
        schema,
        "Properties",
        fields.len(),
        path,
        "entries",
        problems,
    );
    let nothing = Map::new();
    let known = schema["properties"].as_object().unwrap_or(&nothing);
    let free = &schema["additionalProperties"];
    for (key, value) in fields {
        let path = join(path, key);
        if let Some(schema) = known.get(key) {
            // As if it was not there; what is required is looked for below.
            if !value.is_null() {
                check(schema, value, &path, problems);
            }
        } else if free.is_object() {
            check(free, value, &path, problems);
        } else if known.is_empty() || (path == *key && TYPE.contains(&key.as_str())) {
            // Nothing is known of it here.
        } else {
            problems.push(unknown(&path, key, known.keys().map(String::as_str)));
        }
    }
    for required in schema["required"].as_array().into_iter().flatten() {
        let required = required.as_str().unwrap_or_default();
        if fields.get(required).is_none_or(Value::is_null) {
            problems.push(format!("{}: it is required", join(path, required)));
        }
    }
}

fn metadata(metadata: &Value, problems: &mut Vec<String>) {
    let nothing = Map::new();
    let fields = metadata.as_object().unwrap_or(&nothing);
    for key in fields
        .keys()
        .filter(|key| !METADATA.contains(&key.as_str()))
    {
        problems.push(unknown(
            &format!("metadata.{key}"),
            key,
            METADATA.into_iter(),
        ));
    }
    match fields.get("name").and_then(Value::as_str) {
        Some(name) if name.len() > LONGEST_NAME => problems.push(format!(
            "metadata.name: wanted {LONGEST_NAME} characters at most, seen {}",
            name.len()
        )),
        Some(name) if name.split('.').all(is_label) => {}
        Some(name) => problems.push(format!(
            "metadata.name: {name:?} is no name; use a-z, 0-9, '-' and '.', beginning and ending with a letter or digit"
        )),
        None => problems.push("metadata.name: it is required".to_owned()),
    }
    if let Some(namespace) = fields.get("namespace").and_then(Value::as_str)
        && !(is_label(namespace) && namespace.len() <= 63)
    {
        problems.push(format!(
            "metadata.namespace: {namespace:?} is no name; use at most 63 of a-z, 0-9 and '-'"
        ));
    }
    for (field, values) in ["annotations", "labels"].map(|field| (field, &metadata[field])) {
        for (key, value) in values.as_object().into_iter().flatten() {
            if !value.is_string() {
                let seen = shown(value);
                problems.push(format!(
                    "metadata.{field}.{key}: wanted string, seen {seen}; put it in quotes"
                ));
            }
        }
    }
    // A misspelt one would not pause.
    let own = [PAUSED_ANNOTATION, ACKNOWLEDGE_ANNOTATION];
    for key in metadata["annotations"]
        .as_object()
        .unwrap_or(&nothing)
        .keys()
    {
        let ours = key
            .strip_prefix(API_GROUP)
            .is_some_and(|rest| rest.starts_with('/'));
        if ours && !own.contains(&key.as_str()) {
            let path = format!("metadata.annotations.{key}");
            problems.push(unknown(&path, key, own.into_iter()));
        }
    }
}

/// Whether a text is a DNS label but for its length (RFC 1123): what Kubernetes makes of many names.
pub fn is_label(text: &str) -> bool {
    let inner = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    text.bytes().all(|letter| inner(letter) || letter == b'-')
        && text.bytes().next().is_some_and(inner)
        && text.bytes().last().is_some_and(inner)
}

fn bounds(
    schema: &Value,
    of: &str,
    seen: usize,
    path: &str,
    unit: &str,
    problems: &mut Vec<String>,
) {
    let bound = |end: &str| {
        let bound = schema[format!("{end}{of}")].as_u64()?;
        usize::try_from(bound).ok()
    };
    if let Some(least) = bound("min").filter(|least| seen < *least) {
        problems.push(format!(
            "{path}: wanted {least} {unit} or more, seen {seen}"
        ));
    }
    if let Some(most) = bound("max").filter(|most| seen > *most) {
        problems.push(format!("{path}: wanted {most} {unit} at most, seen {seen}"));
    }
}

fn unknown<'a>(path: &str, key: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let nearest = known
        .clone()
        .map(|name| (distance(name, key), name))
        .min()
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4);
    let hint = match nearest {
        Some((_, name)) => format!("did you mean {name}?"),
        None => format!("known are {}", known.collect::<Vec<_>>().join(", ")),
    };
    format!("{path}: unknown field; {hint}")
}

/// How many letters have to be changed, added or removed to make one word of the other (Levenshtein). Long words are
/// cut: they are no slip of the finger.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (index, letter) in a.to_lowercase().chars().take(64).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for at in 1..row.len() {
            let change = diagonal + usize::from(b[at - 1] != letter);
            diagonal = row[at];
            row[at] = change.min(row[at] + 1).min(row[at - 1] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// A value in a message: not longer than a line.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        other => other.to_string().chars().take(80).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    /// All patterns of a schema by path.
    fn patterns(schema: &Value, path: &str, found: &mut BTreeMap<String, String>) {
        if let Some(pattern) = schema["pattern"].as_str() {
            found.insert(path.to_owned(), pattern.to_owned());
        }
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            patterns(inner, &join(path, key), found);
        }
        if schema["items"].is_object() {
            patterns(&schema["items"], &format!("{path}[]"), found);
        }
    }

    fn group() -> Value {
        json!({
            "apiVersion": "copartition.dev/v1alpha1",
            "kind": "CoPartitionedTopicGroup",
            "metadata": {"name": "orders", "namespace": "trading"},
            "spec": {
                "kafka": {"inline": {"bootstrapServers": ["kafka:9092"]}},
                "partitions": 6,
                "topics": [{"name": "a", "config": {"retention.ms": "1"}}, {"name": "b"}],
            },
        })
    }

    fn said(change: impl FnOnce(&mut Value)) -> String {
        let mut group = group();
        change(&mut group);
        problems(&group).join("\n")
    }

    #[test]
    fn a_group_that_the_api_server_takes_has_no_problem() {
        assert_eq!(said(|_| {}), "");
        // As `kubectl get -o yaml` prints it.
        let exported = said(|group| {
            group["metadata"]["uid"] = json!("u");
            group["metadata"]["managedFields"] = json!([{"manager": "kubectl"}]);
            group["metadata"]["annotations"] =
                json!({"copartition.dev/paused": "true", "x/y": "z"});
            group["spec"]["mode"] = Value::Null;
            group["status"] = json!({
                "clusterId": "c", "recordedPartitions": 6,
                "topics": [{"name": "a", "management": "Managed", "topicId": "i", "partitions": 6, "verdict": "Aligned"}],
                "conditions": [{
                    "type": "Ready", "status": "True", "reason": "Aligned", "message": "",
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                }],
            });
        });
        assert_eq!(exported, "");
    }

    #[test]
    fn unknown_fields_are_told_with_their_path() {
        type Edit = fn(&mut Value);
        let changes: [(&str, Edit); 6] = [
            (
                "spec.partitons: unknown field; did you mean partitions?",
                |group| {
                    group["spec"]["partitons"] = json!(6);
                },
            ),
            (
                "spec.topics[1].managment: unknown field; did you mean management?",
                |group| {
                    group["spec"]["topics"][1]["managment"] = json!("Referenced");
                },
            ),
            (
                "metadata.anotations: unknown field; did you mean annotations?",
                |group| {
                    group["metadata"]["anotations"] = json!({});
                },
            ),
            (
                "copartition.dev/pause: unknown field; did you mean copartition.dev/paused?",
                |group| {
                    group["metadata"]["annotations"] = json!({"copartition.dev/pause": "true"});
                },
            ),
            ("specs: unknown field; did you mean spec?", |group| {
                group["specs"] = json!({});
            }),
            (
                "spec.kafka.zookeeper: unknown field; known are connectionRef, inline",
                |group| {
                    group["spec"]["kafka"]["zookeeper"] = json!("z:1");
                },
            ),
        ];
        for (wanted, change) in changes {
            let said = said(change);
            assert!(said.contains(wanted), "{said}");
        }
    }

    #[test]
    fn bounds_types_and_words_are_those_of_the_crd() {
        let long = "x".repeat(5_000);
        for (wanted, field, value) in [
            (
                "spec.partitions: wanted 20000 at most, seen 20001",
                "partitions",
                json!(20_001),
            ),
            (
                "spec.partitions: wanted 1 or more, seen 0",
                "partitions",
                json!(0),
            ),
            (
                "spec.partitions: wanted integer, seen \"6\"",
                "partitions",
                json!("6"),
            ),
            (
                "spec.partitions: wanted integer, seen 6.5",
                "partitions",
                json!(6.5),
            ),
            (
                "spec.mode: wanted one of Enforce, Observe, seen \"observe\"",
                "mode",
                json!("observe"),
            ),
            (
                "spec.replicationFactor: wanted 1000 at most",
                "replicationFactor",
                json!(1_001),
            ),
            (
                "spec.sampleKeys: wanted 100 entries at most, seen 101",
                "sampleKeys",
                json!(vec!["k"; 101]),
            ),
            (
                "spec.sampleKeys[0]: wanted 256 characters at most",
                "sampleKeys",
                json!([long]),
            ),
            (
                "spec.sampleKeys[0]: wanted string, seen 7; put it in quotes",
                "sampleKeys",
                json!([7]),
            ),
            ("spec.topics: it is required", "topics", Value::Null),
            (
                "spec.topics[0].config.retention.ms: wanted string, seen 7; put it in quotes",
                "topics",
                json!([{"name": "a", "config": {"retention.ms": 7}}]),
            ),
            (
                "4096 characters at most, seen 5000",
                "topics",
                json!([{"name": "a", "config": {"x": long}}]),
            ),
            (
                "spec.acceptKeyMovement.toPartitions: it is required",
                "acceptKeyMovement",
                json!({"topics": ["a"], "fromPartitions": 6}),
            ),
        ] {
            let said = said(|group| group["spec"][field] = value);
            assert!(said.contains(wanted), "{said}");
        }
    }

    #[test]
    fn names_are_those_that_the_api_server_takes() {
        for name in [
            json!("Orders"),
            json!("-a"),
            json!("a..b"),
            json!(""),
            json!("a/b"),
            json!("x".repeat(190)),
            json!(7),
        ] {
            let said = said(|group| group["metadata"]["name"] = name.clone());
            assert!(said.contains("metadata.name"), "{name}: {said}");
        }
        assert_eq!(
            said(|group| group["metadata"]["name"] = json!("market.data-1")),
            ""
        );
        let said = said(|group| group["metadata"]["namespace"] = json!("a.b"));
        assert!(said.contains("metadata.namespace"), "{said}");
    }

    /// `validate` holds topic names against Kafka's rules, and `verification` is not implemented.
    #[test]
    fn no_pattern_is_left_to_nobody() {
        let mut found = BTreeMap::new();
        patterns(SCHEMA.as_ref().expect("a schema"), "", &mut found);
        let paths: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(paths, ["spec.topics[].name", "spec.verification.interval"]);
    }
}
