//! What a spec declares of keys: schemes, producers, sample keys and Redis templates.

use crate::api::{GroupSpec, KeySchemeSpec, TopicSpec};
use crate::keys::KeyScheme;
use crate::keys::clients::{self, Producer};
use crate::layout::PLACEHOLDER;
use crate::plan::Group;

/// The key scheme that applies to a topic.
pub(super) fn scheme(
    spec: &GroupSpec,
    topic: &TopicSpec,
    problems: &mut Vec<String>,
) -> Option<KeyScheme> {
    let (field, declared): (String, &KeySchemeSpec) = match (&topic.key_scheme, &spec.key_scheme) {
        (Some(own), _) => (format!("topics[{}].keyScheme", topic.name), own),
        (None, Some(shared)) => ("keyScheme".to_owned(), shared),
        (None, None) => return None,
    };
    let partitioner = match (declared.partitioner.as_str(), &declared.name) {
        ("custom", Some(name)) => format!("custom:{name}"),
        ("custom", None) => {
            push_once(
                problems,
                format!("{field}.name: a custom partitioner is compared by its name; give it one"),
            );
            return None;
        }
        (_, Some(_)) => {
            push_once(
                problems,
                format!("{field}.name: only a custom partitioner has a name; leave it out"),
            );
            return None;
        }
        (partitioner, None) => partitioner.to_owned(),
    };
    match KeyScheme::parse(&declared.encoding, &partitioner) {
        Ok(scheme) => Some(scheme),
        Err(unsupported) => {
            push_once(problems, format!("{field}: {unsupported}"));
            None
        }
    }
}

/// The clients that write a topic.
pub(super) fn producers(topic: &TopicSpec, problems: &mut Vec<String>) -> Vec<Producer> {
    let mut found = Vec::new();
    for declared in &topic.producers {
        let (version, setting) = (declared.version.as_deref(), declared.partitioner.as_deref());
        match clients::producer(&declared.client, version, setting) {
            Ok(producer) => found.push(producer),
            Err(error) => problems.push(format!("topics[{}].producers: {error}", topic.name)),
        }
    }
    found
}

/// The group's scheme is read for each topic, and what is wrong with it is said once.
fn push_once(problems: &mut Vec<String>, problem: String) {
    if !problems.contains(&problem) {
        problems.push(problem);
    }
}

/// The sample keys are keys of every scheme, and the producers can write what their topics declare.
pub(super) fn schemes_fit(group: &Group, problems: &mut Vec<String>) {
    for topic in &group.topics {
        let Some(scheme) = &topic.scheme else {
            continue;
        };
        if scheme.encoding.is_computed() {
            for key in &group.sample_keys {
                if let Err(error) = scheme.encoding.encode(key) {
                    push_once(problems, format!("sampleKeys: {error}"));
                }
            }
        }
        for producer in &topic.producers {
            // How a producer treats windowed keys is compared, not refused.
            let hashed = scheme.encoding.hashed();
            if let Err(unsupported) = KeyScheme::of(hashed, producer.partitioner.clone()) {
                problems.push(format!(
                    "topics[{}].producers: {}: {unsupported}",
                    topic.name, producer.label
                ));
            }
        }
    }
}

/// The Redis key templates have a place for the key.
pub(super) fn templates(templates: &[String], problems: &mut Vec<String>) {
    for template in templates {
        if !template.contains(PLACEHOLDER) {
            problems.push(format!(
                "redis.keyTemplates: {template:?} has no {PLACEHOLDER}, which stands for the logical key"
            ));
        }
    }
}
