//! The custom resources, from the schemas that the API server gets: a table for each object, field by field.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Page, anchor, cell};
use crate::api;

/// What fields are part of, as it heads a table.
struct Object<'a> {
    path: String,
    schema: &'a Value,
}

/// A page for each resource, the groups first.
pub(super) fn pages() -> Result<Vec<Page>, serde_json::Error> {
    let mut pages = Vec::new();
    for (file, crd) in api::crds()?.into_iter().rev() {
        let crd = serde_json::to_value(crd)?;
        let (file, about) = match file {
            "copartitionedtopicgroup.yaml" => (
                "copartitionedtopicgroup.md",
                "Which topics belong together, with which count and key scheme. It belongs to the team, in its namespace.",
            ),
            "kafkaconnection.yaml" => (
                "kafkaconnection.md",
                "How a Kafka cluster is reached, and which namespaces may do what there. It belongs to the platform team.",
            ),
            _ => (
                "copartitionclaim.md",
                "What the operator remembers of a group. Only the operator writes it.",
            ),
        };
        pages.push(Page {
            file,
            title: text(&crd["spec"]["names"]["kind"]).to_owned(),
            about,
            text: resource(&crd),
        });
    }
    Ok(pages)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn resource(crd: &Value) -> String {
    let spec = &crd["spec"];
    let version = &spec["versions"][0];
    let schema = &version["schema"]["openAPIV3Schema"];
    let short = spec["names"]["shortNames"].as_array();
    let names: Vec<String> = short
        .into_iter()
        .flatten()
        .chain([&spec["names"]["plural"]])
        .map(|name| format!("`{}`", text(name)))
        .collect();
    let scope = match text(&spec["scope"]) {
        "Cluster" => "Cluster-scoped",
        _ => "Namespaced",
    };
    // Writing to a String cannot fail, here and below.
    let mut page = format!(
        "{}\n\n`apiVersion: {}/{}`. {scope}; `kubectl get` knows it as {}.\n",
        cell(text(&schema["description"])),
        text(&spec["group"]),
        text(&version["name"]),
        names.join(" or ")
    );
    rules(&mut page, schema);
    let columns = version["additionalPrinterColumns"].as_array();
    if let Some(columns) = columns {
        page.push_str("\n| column of `kubectl get` | |\n|---|---|\n");
        for column in columns {
            let about = match text(&column["type"]) {
                "date" => "How long ago it was made.",
                _ => text(&column["description"]),
            };
            let wide = if column["priority"].as_i64().unwrap_or(0) > 0 {
                " (with `-o wide`)"
            } else {
                ""
            };
            let _ = writeln!(
                page,
                "| {}{wide} | {} |",
                text(&column["name"]),
                cell(about)
            );
        }
    }
    for part in ["spec", "status"] {
        let schema = &schema["properties"][part];
        if !schema.is_null() {
            let path = part.to_owned();
            table(&mut page, &Object { path, schema });
        }
    }
    page
}

/// Writes the table of an object's fields, and then those of the objects among them.
fn table(page: &mut String, object: &Object<'_>) {
    let depth = if object.path.contains('.') {
        "###"
    } else {
        "##"
    };
    let _ = write!(page, "\n{depth} {}\n\n", object.path);
    let about = text(&object.schema["description"]);
    if !about.is_empty() {
        let _ = write!(page, "{}\n\n", cell(about));
    }
    let required: Vec<&str> = object.schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .map(text)
        .collect();
    let mut inner = Vec::new();
    page.push_str("| field | type | |\n|---|---|---|\n");
    let fields = object.schema["properties"].as_object();
    for (name, schema) in fields.into_iter().flatten() {
        let path = format!("{}.{name}", object.path);
        let (kind, below) = kind(&path, schema);
        inner.extend(below);
        let must = if required.contains(&name.as_str()) {
            " **Required.**"
        } else {
            ""
        };
        let _ = writeln!(
            page,
            "| `{name}` | {kind} | {}{must}{} |",
            cell(text(&schema["description"])),
            limits(schema)
        );
    }
    rules(page, object.schema);
    for object in &inner {
        table(page, object);
    }
}

/// How the type of a field reads, and the object in it, if there is one.
fn kind<'a>(path: &str, schema: &'a Value) -> (String, Option<Object<'a>>) {
    let link = |path: &str| {
        format!(
            "[{}](#{})",
            path.rsplit('.').next().unwrap_or(path),
            anchor(path)
        )
    };
    match text(&schema["type"]) {
        "array" => {
            let items = &schema["items"];
            if items["properties"].is_object() {
                let path = format!("{path}[]");
                let kind = format!("list of {}", link(&path));
                let object = Object {
                    path,
                    schema: items,
                };
                return (kind, Some(object));
            }
            (format!("list of {}", scalar(items)), None)
        }
        "object" if schema["properties"].is_object() => {
            let path = path.to_owned();
            (link(&path), Some(Object { path, schema }))
        }
        "object" if schema["additionalProperties"].is_object() => (
            format!("map of {}", scalar(&schema["additionalProperties"])),
            None,
        ),
        _ => (scalar(schema), None),
    }
}

fn scalar(schema: &Value) -> String {
    if schema["x-kubernetes-int-or-string"] == true {
        return "integer or string".to_owned();
    }
    match (text(&schema["type"]), text(&schema["format"])) {
        ("", _) => "any".to_owned(),
        (kind, "") => kind.to_owned(),
        (_, format @ ("date-time" | "duration")) => format.to_owned(),
        (kind, format) => format!("{kind} ({format})"),
    }
}

/// Words, bounds and the default of a field, in words.
fn limits(schema: &Value) -> String {
    let mut said = String::new();
    let items = &schema["items"];
    for words in [&schema["enum"], &items["enum"]] {
        let words: Vec<String> = words
            .as_array()
            .into_iter()
            .flatten()
            .filter(|word| !word.is_null())
            .map(|word| format!("`{}`", text(word)))
            .collect();
        if !words.is_empty() {
            let _ = write!(said, " One of {}.", words.join(", "));
        }
    }
    for (least, most, unit) in [
        ("minimum", "maximum", ""),
        ("minItems", "maxItems", " entries"),
        ("minProperties", "maxProperties", " entries"),
        ("minLength", "maxLength", " characters"),
    ] {
        let number = |name: &str| schema[name].as_f64();
        let mut range = match (number(least), number(most)) {
            (Some(least), Some(most)) => format!("{least} to {most}{unit}"),
            (Some(least), None) => format!("at least {least}{unit}"),
            (None, Some(most)) => format!("at most {most}{unit}"),
            (None, None) => continue,
        };
        range[..1].make_ascii_uppercase();
        let _ = write!(said, " {range}.");
    }
    for (of, pattern) in [("", &schema["pattern"]), (" each", &items["pattern"])] {
        if let Some(pattern) = pattern.as_str() {
            let _ = write!(said, " Matches{of} `{}`.", pattern.replace('|', "\\|"));
        }
    }
    if !schema["default"].is_null() && schema["default"].to_string().len() < 40 {
        let _ = write!(said, " Default `{}`.", schema["default"]);
    }
    said
}

/// The rules beyond types that the API server holds an object to, in the words of their refusals.
fn rules(page: &mut String, schema: &Value) {
    let rules = schema["x-kubernetes-validations"].as_array();
    let messages: Vec<&str> = rules
        .into_iter()
        .flatten()
        .map(|rule| text(&rule["message"]))
        .filter(|message| !message.is_empty())
        .collect();
    if messages.is_empty() {
        return;
    }
    page.push_str("\nThe API server refuses what breaks one of these rules, in these words:\n\n");
    for message in messages {
        let _ = writeln!(page, "- {}", cell(message));
    }
}

#[cfg(test)]
mod tests {
    use super::super::anchors;
    use super::*;

    #[test]
    fn every_field_of_the_spec_has_a_row_and_words() {
        for page in pages().expect("pages") {
            for row in page.text.lines().filter(|line| line.starts_with("| `")) {
                let cells: Vec<&str> = row.split(" | ").collect();
                assert!(
                    cells.len() >= 3 && !cells[2].trim().is_empty(),
                    "{}: {row}",
                    page.file
                );
            }
            assert!(
                !page.text.contains("|  |\n"),
                "{}: a column without words",
                page.file
            );
            let anchors = anchors(&page.text);
            for link in page.text.split("](#").skip(1) {
                let (wanted, _) = link.split_once(')').expect("a link");
                assert!(anchors.contains(wanted), "{}: no #{wanted}", page.file);
            }
        }
    }

    #[test]
    fn limits_are_said_in_words() {
        let schema = serde_json::json!({
            "type": "integer", "minimum": 1, "maximum": 20000, "enum": ["A", "B"], "default": "A", "pattern": "^a|b$",
        });
        assert_eq!(
            limits(&schema),
            " One of `A`, `B`. 1 to 20000. Matches `^a\\|b$`. Default `\"A\"`."
        );
    }
}
