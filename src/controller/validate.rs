//! Step 2, validate: the spec becomes a [`Group`] with every default resolved, or a list of what is wrong with it.
//! No IO. The schema and its CEL rules refuse most of this earlier; a resource can still get past them (an older
//! CRD, a restored backup), and what is not implemented yet is refused only here.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::{
    self, ACKNOWLEDGE_ANNOTATION, AlterLock, GroupSpec, InlineConnection, KafkaRef, KeySchemeSpec,
    Management, Mode, PAUSED_ANNOTATION, TopicSpec,
};
use crate::keys::KeyScheme;
use crate::keys::clients::{self, Producer};
use crate::layout::PLACEHOLDER;
use crate::plan::{Consent, Group, Topic};

/// The most partitions that a group may ask for, over all its topics.
const MOST_PARTITIONS: i64 = 20_000;

/// A spec that can be worked on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Valid {
    /// What the group wants.
    pub(super) group: Group,
    /// `host:port` of some brokers of its cluster.
    pub(super) bootstrap_servers: Vec<String>,
}

impl Valid {
    /// The names of all topics.
    pub(super) fn names(&self) -> Vec<String> {
        let topics = self.group.topics.iter();
        topics.map(|topic| topic.name.clone()).collect()
    }
}

/// Turns a spec and the annotations beside it into a [`Valid`].
///
/// # Errors
/// One sentence for each thing that is wrong, naming the field.
pub(super) fn validate(
    spec: &GroupSpec,
    annotations: &BTreeMap<String, String>,
) -> Result<Valid, Vec<String>> {
    let mut problems = Vec::new();
    let bootstrap_servers = connection(&spec.kafka, &mut problems);
    not_implemented(spec, &mut problems);
    names(&spec.topics, &mut problems);
    counts(spec, &mut problems);
    let group = group(spec, annotations, &mut problems);
    templates(&group.redis_templates, &mut problems);
    if problems.is_empty() {
        Ok(Valid {
            group,
            bootstrap_servers,
        })
    } else {
        Err(problems)
    }
}

/// What a spec declares of its topics and keys, for whoever only calculates: whether the operator could act on the rest
/// of the spec does not matter.
///
/// # Errors
/// One sentence for each thing that is wrong with the key schemes, the producers and the sample keys.
pub fn declared(spec: &GroupSpec) -> Result<Group, Vec<String>> {
    let mut problems = Vec::new();
    let group = group(spec, &BTreeMap::new(), &mut problems);
    if problems.is_empty() {
        Ok(group)
    } else {
        Err(problems)
    }
}

fn group(
    spec: &GroupSpec,
    annotations: &BTreeMap<String, String>,
    problems: &mut Vec<String>,
) -> Group {
    let observe = spec.mode == Some(Mode::Observe);
    let topics = spec
        .topics
        .iter()
        .map(|topic| Topic {
            name: topic.name.clone(),
            managed: !observe && topic.management != Some(Management::Referenced),
            config: topic.config.clone(),
            scheme: scheme(spec, topic, problems),
            producers: producers(topic, problems),
        })
        .collect();
    let group = Group {
        observe,
        paused: annotations
            .get(PAUSED_ANNOTATION)
            .is_some_and(|value| value == "true"),
        partitions: spec.partitions,
        replication_factor: spec.replication_factor,
        topics,
        sample_keys: spec.sample_keys.clone(),
        redis_templates: spec
            .redis
            .as_ref()
            .map(|redis| redis.key_templates.clone())
            .unwrap_or_default(),
        consent: spec.accept_key_movement.as_ref().map(|consent| Consent {
            topics: consent.topics.iter().cloned().collect(),
            from: consent.from_partitions,
            to: consent.to_partitions,
            topic_ids: consent.topic_ids.iter().cloned().collect(),
        }),
        data_loss: spec.accept_data_loss.as_ref().map(|consent| {
            (
                consent.topic.clone(),
                consent.keys.iter().cloned().collect(),
            )
        }),
        acknowledged: annotations
            .get(ACKNOWLEDGE_ANNOTATION)
            .map(|ids| acknowledged(ids))
            .unwrap_or_default(),
    };
    schemes_fit(&group, problems);
    group
}

fn acknowledged(ids: &str) -> BTreeSet<String> {
    ids.split(',')
        .map(str::trim)
        .filter(|id| !id.is_empty())
        .map(ToOwned::to_owned)
        .collect()
}

fn connection(kafka: &KafkaRef, problems: &mut Vec<String>) -> Vec<String> {
    match (&kafka.connection_ref, &kafka.inline) {
        (Some(_), None) => problems.push(unavailable(
            "kafka.connectionRef",
            "write the connection out in kafka.inline",
        )),
        (None, Some(inline)) => return bootstrap(inline, problems),
        _ => problems.push("kafka: give exactly one of connectionRef and inline".to_owned()),
    }
    Vec::new()
}

fn bootstrap(inline: &InlineConnection, problems: &mut Vec<String>) -> Vec<String> {
    if inline.tls.is_some() {
        problems.push(unavailable("kafka.inline.tls", "use a plaintext listener"));
    }
    if inline.sasl.is_some() {
        problems.push(unavailable(
            "kafka.inline.sasl",
            "use a listener without a login",
        ));
    }
    if inline.bootstrap_servers.is_empty() {
        problems.push(
            "kafka.inline.bootstrapServers: name at least one broker as host:port".to_owned(),
        );
    }
    for server in &inline.bootstrap_servers {
        let valid = server.rsplit_once(':').is_some_and(|(host, port)| {
            !host.is_empty()
                && !host.contains(|letter: char| {
                    letter.is_whitespace() || letter == ',' || letter == '/'
                })
                && port.parse::<u16>().is_ok_and(|port| port > 0)
        });
        if !valid {
            problems.push(format!(
                "kafka.inline.bootstrapServers: {server:?} is not host:port"
            ));
        }
    }
    inline.bootstrap_servers.clone()
}

/// A field of the API that this version does not act on is refused: silence would look like consent.
fn not_implemented(spec: &GroupSpec, problems: &mut Vec<String>) {
    let mut refuse = |asked: bool, field: &str| {
        if asked {
            problems.push(unavailable(field, "leave it out"));
        }
    };
    refuse(spec.alter_lock == Some(AlterLock::Deny), "alterLock: Deny");
    refuse(spec.verification.is_some(), "verification");
    refuse(!spec.consumer_groups.is_empty(), "consumerGroups");
}

fn unavailable(field: &str, instead: &str) -> String {
    format!("{field}: not implemented in this version; {instead}")
}

/// Kafka's own rules for names (org.apache.kafka.common.internals.Topic), and one of ours: `__` is Kafka's own.
fn names(topics: &[TopicSpec], problems: &mut Vec<String>) {
    if topics.is_empty() || topics.len() > 100 {
        problems.push(format!(
            "topics: wanted 1 to 100 topics, seen {}",
            topics.len()
        ));
    }
    let mut twins: BTreeMap<String, &str> = BTreeMap::new();
    for topic in topics {
        let name = topic.name.as_str();
        let legal = !name.is_empty()
            && name.len() <= 249
            && name.bytes().all(|letter| {
                letter.is_ascii_alphanumeric() || matches!(letter, b'.' | b'_' | b'-')
            })
            && name != "."
            && name != "..";
        if !legal {
            problems.push(format!("topics: {name:?} is not a topic name; use 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-'"));
        }
        if name.starts_with("__") {
            problems.push(format!("topics: {name} is one of Kafka's own topics (they begin with '__'); name another topic"));
        }
        match twins.insert(name.replace('.', "_"), name) {
            Some(twin) if twin == name => problems.push(format!("topics: {name} is listed twice; list it once")),
            Some(twin) => problems.push(format!("topics: {twin} and {name} differ only in '.' and '_', which Kafka refuses; rename one")),
            None => {}
        }
    }
}

fn counts(spec: &GroupSpec, problems: &mut Vec<String>) {
    if let Some(partitions) = spec.partitions {
        let all = i64::from(partitions)
            .saturating_mul(i64::try_from(spec.topics.len()).unwrap_or(i64::MAX));
        if partitions < 1 {
            problems.push(format!("partitions: wanted 1 or more, seen {partitions}"));
        } else if all > MOST_PARTITIONS {
            problems.push(format!("partitions: topics x partitions may be at most {MOST_PARTITIONS}, seen {all}; split the group or ask for fewer"));
        }
    }
    if let Some(factor) = spec.replication_factor.filter(|factor| *factor < 1) {
        problems.push(format!(
            "replicationFactor: wanted 1 or more, seen {factor}"
        ));
    }
}

fn scheme(spec: &GroupSpec, topic: &TopicSpec, problems: &mut Vec<String>) -> Option<KeyScheme> {
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

fn producers(topic: &TopicSpec, problems: &mut Vec<String>) -> Vec<Producer> {
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
fn schemes_fit(group: &Group, problems: &mut Vec<String>) {
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

fn templates(templates: &[String], problems: &mut Vec<String>) {
    for template in templates {
        if !template.contains(PLACEHOLDER) {
            problems.push(format!(
                "redis.keyTemplates: {template:?} has no {PLACEHOLDER}, which stands for the logical key"
            ));
        }
    }
}

/// The interest in the `api` module beyond the spec: what a claim and a status call the management of a topic.
pub(super) fn management(managed: bool) -> api::Management {
    if managed {
        Management::Managed
    } else {
        Management::Referenced
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec(change: impl FnOnce(&mut serde_json::Value)) -> GroupSpec {
        let mut spec = json!({
            "kafka": {"inline": {"bootstrapServers": ["kafka:9092"]}},
            "partitions": 6,
            "keyScheme": {"encoding": "utf8", "partitioner": "murmur2"},
            "topics": [{"name": "a"}, {"name": "b", "management": "Referenced"}],
            "sampleKeys": ["BBCA"],
        });
        change(&mut spec);
        serde_json::from_value(spec).expect("a spec")
    }

    fn problems(change: impl FnOnce(&mut serde_json::Value)) -> String {
        let outcome = validate(&spec(change), &BTreeMap::new());
        outcome.expect_err("it is refused").join("; ")
    }

    #[test]
    fn defaults_are_resolved() {
        let valid = validate(&spec(|_| {}), &BTreeMap::new()).expect("valid");
        assert!(!valid.group.observe && !valid.group.paused);
        let managed: Vec<&str> = valid
            .group
            .managed()
            .map(|topic| topic.name.as_str())
            .collect();
        assert_eq!(managed, ["a"]);
        assert_eq!(valid.bootstrap_servers, ["kafka:9092"]);
    }

    #[test]
    fn observing_manages_nothing() {
        let valid = validate(
            &spec(|spec| spec["mode"] = json!("Observe")),
            &BTreeMap::new(),
        );
        let group = valid.expect("valid").group;
        assert!(group.observe);
        assert_eq!(group.managed().count(), 0);
    }

    #[test]
    fn annotations_pause_and_acknowledge() {
        let annotations = BTreeMap::from([
            (PAUSED_ANNOTATION.to_owned(), "true".to_owned()),
            (ACKNOWLEDGE_ANNOTATION.to_owned(), " x, y,,".to_owned()),
        ]);
        let group = validate(&spec(|_| {}), &annotations).expect("valid").group;
        assert!(group.paused);
        assert_eq!(
            group.acknowledged,
            BTreeSet::from(["x".to_owned(), "y".to_owned()])
        );
        let annotations = BTreeMap::from([(PAUSED_ANNOTATION.to_owned(), "yes".to_owned())]);
        assert!(
            !validate(&spec(|_| {}), &annotations)
                .expect("valid")
                .group
                .paused
        );
    }

    #[test]
    fn what_is_not_implemented_is_refused_by_name() {
        for (field, change) in [
            (
                "kafka.connectionRef",
                json!({"kafka": {"connectionRef": {"name": "prod"}}}),
            ),
            ("alterLock", json!({"alterLock": "Deny"})),
            ("verification", json!({"verification": {}})),
            (
                "consumerGroups",
                json!({"consumerGroups": [{"groupId": "g"}]}),
            ),
        ] {
            let said = problems(|spec| {
                for (key, value) in change.as_object().expect("fields") {
                    spec[key] = value.clone();
                }
            });
            assert!(said.contains(field), "{field}: {said}");
        }
        assert!(
            validate(
                &spec(|spec| spec["alterLock"] = json!("None")),
                &BTreeMap::new()
            )
            .is_ok()
        );
    }

    #[test]
    fn key_schemes_and_producers_are_read() {
        let valid = validate(
            &spec(|spec| {
                spec["keyScheme"] =
                    json!({"encoding": "utf8", "partitioner": "custom", "name": "mine"});
                spec["topics"] = json!([
                    {"name": "a"},
                    {
                        "name": "b",
                        "keyScheme": {"encoding": "confluent:avro_string", "partitioner": "crc32"},
                        "producers": [{"client": "kafkajs", "version": "1"}, {"client": "librdkafka", "partitioner": "murmur2_random"}],
                    },
                ]);
            }),
            &BTreeMap::new(),
        );
        let topics = valid.expect("valid").group.topics;
        let schemes = topics.iter().map(|topic| topic.scheme.as_ref());
        let schemes: Vec<String> = schemes.flatten().map(ToString::to_string).collect();
        assert_eq!(schemes, ["utf8/custom:mine", "confluent:avro_string/crc32"]);
        let producers = topics[1].producers.iter();
        let producers: Vec<String> = producers
            .map(|producer| format!("{}: {}", producer.label, producer.partitioner))
            .collect();
        assert_eq!(
            producers,
            [
                "kafkajs 1: kafkajs_legacy",
                "librdkafka murmur2_random: murmur2"
            ]
        );
    }

    #[test]
    fn what_is_wrong_with_keys_is_said_with_its_field() {
        for (change, says) in [
            (
                json!({"keyScheme": {"encoding": "utf8", "partitioner": "custom"}}),
                "keyScheme.name: a custom partitioner is compared by its name",
            ),
            (
                json!({"keyScheme": {"encoding": "utf8", "partitioner": "murmur2", "name": "x"}}),
                "keyScheme.name: only a custom partitioner has a name",
            ),
            (
                json!({"keyScheme": {"encoding": "utf8", "partitioner": "murmur3"}}),
                "keyScheme: partitioner \"murmur3\" is not known",
            ),
            (
                json!({"keyScheme": {"encoding": "int32", "partitioner": "murmur2"}}),
                "sampleKeys: key \"BBCA\" has no int32 encoding: expected a whole number",
            ),
            (
                json!({"topics": [{"name": "a", "producers": [{"client": "kafka-go"}]}]}),
                "topics[a].producers: kafka-go does not place records by key",
            ),
            (
                json!({"topics": [{"name": "a", "producers": [{"client": "kafkajs"}]}]}),
                "topics[a].producers: what kafkajs does changed",
            ),
            (
                json!({
                    "keyScheme": {"encoding": "int64", "partitioner": "murmur2"},
                    "sampleKeys": ["7"],
                    "topics": [{"name": "a", "producers": [{"client": "kafka-node", "partitioner": "3"}]}],
                }),
                "topics[a].producers: kafka-node 3: partitioner kafka_node_keyed hashes text",
            ),
            (
                json!({"redis": {"keyTemplates": ["market:{%s}", "market"]}}),
                "redis.keyTemplates: \"market\" has no %s",
            ),
        ] {
            let said = problems(|spec| {
                for (key, value) in change.as_object().expect("fields") {
                    spec[key] = value.clone();
                }
            });
            assert!(said.contains(says), "{said}");
        }
    }

    #[test]
    fn names_follow_kafkas_rules() {
        for (name, says) in [
            ("..", "not a topic name"),
            ("a b", "not a topic name"),
            ("__offsets", "Kafka's own"),
        ] {
            let said = problems(|spec| spec["topics"] = json!([{"name": name}]));
            assert!(said.contains(says), "{name}: {said}");
        }
        let said = problems(|spec| spec["topics"] = json!([{"name": "a.b"}, {"name": "a_b"}]));
        assert!(said.contains("differ only in"), "{said}");
        let said = problems(|spec| spec["topics"] = json!([{"name": "a"}, {"name": "a"}]));
        assert!(said.contains("listed twice"), "{said}");
    }

    #[test]
    fn addresses_are_host_and_port() {
        for server in [
            "kafka",
            "kafka:",
            ":9092",
            "kafka:0",
            "kafka:70000",
            "a,b:1",
            "http://kafka:9092/",
        ] {
            let said =
                problems(|spec| spec["kafka"]["inline"]["bootstrapServers"] = json!([server]));
            assert!(said.contains("is not host:port"), "{server}: {said}");
        }
        let ipv6 = spec(|spec| spec["kafka"]["inline"]["bootstrapServers"] = json!(["[::1]:9092"]));
        assert!(validate(&ipv6, &BTreeMap::new()).is_ok());
    }

    #[test]
    fn a_group_is_bounded() {
        let said = problems(|spec| spec["partitions"] = json!(20_000));
        assert!(said.contains("at most 20000"), "{said}");
        let said = problems(|spec| spec["partitions"] = json!(0));
        assert!(said.contains("wanted 1 or more"), "{said}");
    }
}
