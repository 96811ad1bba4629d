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
fn a_lock_needs_a_way_to_undo_it() {
    let locked = |lock: &str, kafka| {
        let spec = spec(|spec| {
            spec["alterLock"] = json!(lock);
            if kafka != json!(null) {
                spec["kafka"] = kafka;
            }
        });
        validate(&spec, &BTreeMap::new()).map(|valid| valid.group.alter_lock)
    };
    let said = locked("Deny", json!(null)).expect_err("an inline connection");
    assert!(
        said.join("; ").contains("needs kafka.connectionRef"),
        "{said:?}"
    );
    assert_eq!(locked("None", json!(null)), Ok(false));
    let by_name = json!({"connectionRef": {"name": "prod"}});
    assert_eq!(locked("Deny", by_name), Ok(true));
}

#[test]
fn sampling_has_defaults_and_a_range() {
    let sampling = |verification| {
        let spec = spec(|spec| spec["verification"] = verification);
        validate(&spec, &BTreeMap::new()).map(|valid| valid.sampling)
    };
    let sampled = |interval, records, reveal_keys| {
        Ok(Some(Sampling {
            interval: Duration::from_secs(interval),
            records,
            reveal_keys,
        }))
    };
    assert_eq!(sampling(json!(null)), Ok(None));
    assert_eq!(sampling(json!({})), sampled(3600, 200, false));
    let all = json!({"interval": "1h30m", "recordsPerPartition": 7, "revealKeys": true});
    assert_eq!(sampling(all), sampled(5400, 7, true));
    for wrong in ["9s", "721h", "1x", "-1h", "2000000h"] {
        let said = sampling(json!({"interval": wrong})).expect_err("not a usable time");
        assert!(
            said[0].starts_with("verification.interval: wanted"),
            "{said:?}"
        );
        assert!(said[0].contains(wrong), "{said:?}");
    }
    let said = sampling(json!({"recordsPerPartition": 0})).expect_err("none");
    assert!(said[0].contains("recordsPerPartition"), "{said:?}");
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
        let said = problems(|spec| spec["kafka"]["inline"]["bootstrapServers"] = json!([server]));
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
