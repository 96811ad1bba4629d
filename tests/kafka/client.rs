//! Single requests.

use std::collections::BTreeSet;
use std::time::Duration;

use copartition::kafka::{ConfigChange, Growth, NewTopic, TopicError};
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, Producer};

use super::{Bench, SOON, names, new_topic, pairs};
use crate::env::{Env, KafkaCluster, KafkaOptions, unique, wait_for};

pub(super) fn growth(topic: &str, to: i32) -> Growth {
    Growth {
        topic: topic.to_owned(),
        to,
    }
}

fn change(topic: &str, set: &[(&str, &str)]) -> ConfigChange {
    ConfigChange {
        topic: topic.to_owned(),
        set: pairs(set),
    }
}

/// The code and the words of a refusal.
pub(super) fn refusal(outcome: &Result<(), TopicError>) -> (&str, &str) {
    match outcome {
        Err(TopicError::Rejected { code, message }) => (code, message),
        other => panic!("not a refusal: {other:?}"),
    }
}

pub(crate) fn the_cluster_tells_its_id(env: &Env) {
    let bench = Bench::new(&env.kafka.bootstrap());
    assert_eq!(
        bench.wait(bench.client.cluster_id()),
        Ok(env.kafka.id().to_owned())
    );
    assert_eq!(bench.metrics.requests("DescribeTopics", "Ok"), 1);
}

/// A large cluster takes long to name all its topics, so nothing may ask for them, not even by accident: librdkafka
/// asks for all when it is told to ask for none.
pub(crate) fn nothing_asks_for_all_topics(env: &Env) {
    let kafka = KafkaCluster::start(env.root(), 1, KafkaOptions::default());
    let topic = unique("one-of-many");
    kafka.create_topic(&topic, 2);
    let bench = Bench::new(&kafka.bootstrap());
    // The first request of a client, which looks first whether anybody answers, and one about a topic.
    assert!(bench.wait(bench.client.cluster_id()).is_ok());
    assert!(bench.describe(&topic).is_ok());
    kafka.flush_request_log();
    let asked = kafka.requests("METADATA", "copartition-operator");
    assert!(!asked.is_empty());
    let mut probed = BTreeSet::new();
    let mut others = BTreeSet::new();
    for request in asked {
        let topics = &request.entry["request"]["topics"];
        let Some(topics) = topics.as_array() else {
            panic!("it asks for all topics: {}", request.entry);
        };
        let connection = request.entry["connection"].to_string();
        if topics.iter().any(|topic| topic["name"] == ".") {
            probed.insert(connection);
        } else {
            others.insert(connection);
        }
    }
    // The library asks once a second for ever for a topic that was named once, so that one is named on a handle that is
    // gone by now.
    assert!(!probed.is_empty());
    assert!(probed.is_disjoint(&others), "{probed:?} {others:?}");
}

pub(crate) fn asking_never_creates_a_topic(env: &Env) {
    let properties = vec!["auto.create.topics.enable=true".to_owned()];
    let kafka = KafkaCluster::start(
        env.root(),
        1,
        KafkaOptions {
            properties,
            ..KafkaOptions::default()
        },
    );
    let bench = Bench::new(&kafka.bootstrap());
    let ghost = unique("ghost");
    for _ in 0..3 {
        assert_eq!(bench.describe(&ghost), Err(TopicError::UnknownTopic));
        assert_eq!(bench.config(&ghost), Err(TopicError::UnknownTopic));
        assert!(bench.ends(&ghost, 1).is_err());
        let grown = bench.wait(bench.client.create_partitions(&[growth(&ghost, 3)], false));
        assert_eq!(grown[&ghost], Err(TopicError::UnknownTopic));
        let checked = bench.wait(bench.client.create_topics(&[new_topic(&ghost, 1)], true));
        assert_eq!(checked[&ghost], Ok(()));
    }
    // The proof that this broker does create topics when it is asked in another way.
    let other = unique("auto");
    let producer: BaseProducer = ClientConfig::new()
        .set("bootstrap.servers", kafka.bootstrap())
        .create()
        .expect("a producer");
    wait_for("a topic to be created by asking", SOON, || {
        let _ = producer
            .client()
            .fetch_metadata(Some(&other), Duration::from_secs(1));
        kafka
            .partitions(&other)
            .map(|_| ())
            .ok_or_else(|| "none".to_owned())
    });
    assert_eq!(kafka.partitions(&ghost), None);
}

pub(crate) fn creation_has_one_outcome_per_topic(env: &Env) {
    let bench = Bench::new(&env.kafka.bootstrap());
    let [good, wide, bad, old] = ["good", "wide", "bad", "old"].map(unique);
    bench.create(&new_topic(&old, 1));
    let asked = [
        NewTopic {
            config: pairs(&[("retention.ms", "12345")]),
            ..new_topic(&good, 3)
        },
        NewTopic {
            replication_factor: Some(9),
            ..new_topic(&wide, 3)
        },
        NewTopic {
            config: pairs(&[("cleanup.policy", "bogus")]),
            ..new_topic(&bad, 3)
        },
        new_topic(&old, 3),
        new_topic("not/a/name", 3),
        new_topic("negative", -5),
    ];
    for validate_only in [true, false] {
        let outcomes = bench.wait(bench.client.create_topics(&asked, validate_only));
        assert_eq!(outcomes[&good], Ok(()));
        assert_eq!(outcomes[&old], Err(TopicError::AlreadyExists));
        let (code, words) = refusal(&outcomes[&wide]);
        assert_eq!(code, "INVALID_REPLICATION_FACTOR");
        assert!(
            words.contains("replication factor of 9 cannot be reached"),
            "{words}"
        );
        let (code, words) = refusal(&outcomes[&bad]);
        assert_eq!(code, "INVALID_CONFIG");
        assert!(
            words.contains("Invalid value bogus for configuration cleanup.policy"),
            "{words}"
        );
        let (code, words) = refusal(&outcomes["not/a/name"]);
        assert_eq!(code, "INVALID_TOPIC_EXCEPTION");
        assert!(words.contains("ASCII alphanumerics"), "{words}");
        assert!(
            refusal(&outcomes["negative"])
                .1
                .contains("out of expected range")
        );
        if validate_only {
            assert_eq!(bench.describe(&good), Err(TopicError::UnknownTopic));
        }
    }
    let seen = bench.see(&good, 3);
    assert_eq!((seen.id.len(), seen.replication_factor), (22, 1));
    assert_eq!(
        bench.config(&good).expect("a config")["retention.ms"],
        "12345"
    );
    assert_eq!(bench.describe(&bad), Err(TopicError::UnknownTopic));
    assert_eq!(bench.metrics.requests("CreateTopics", "Ok"), 3);
}

pub(crate) fn growth_has_one_outcome_per_topic(env: &Env) {
    let bench = Bench::new(&env.kafka.bootstrap());
    let [grown, equal, lower, ghost] = ["grown", "equal", "lower", "ghost"].map(unique);
    for topic in [&grown, &equal, &lower] {
        bench.create(&new_topic(topic, 3));
    }
    let asked = [
        growth(&grown, 6),
        growth(&equal, 3),
        growth(&lower, 2),
        growth(&ghost, 3),
    ];
    for validate_only in [true, false] {
        let outcomes = bench.wait(bench.client.create_partitions(&asked, validate_only));
        assert_eq!(outcomes[&grown], Ok(()));
        let refused = ("INVALID_PARTITIONS", "Topic already has 3 partition(s).");
        assert_eq!(refusal(&outcomes[&equal]), refused);
        let (code, words) = refusal(&outcomes[&lower]);
        assert_eq!(code, "INVALID_PARTITIONS");
        assert!(words.contains("2 would not be an increase"), "{words}");
        assert_eq!(outcomes[&ghost], Err(TopicError::UnknownTopic));
    }
    bench.see(&grown, 6);
    assert_eq!(bench.see(&equal, 3).partitions, 3);
    assert_eq!(bench.see(&lower, 3).partitions, 3);
    assert_eq!(bench.metrics.requests("CreatePartitions", "Ok"), 2);
}

pub(crate) fn odd_names_do_not_spoil_a_request(env: &Env) {
    let bench = Bench::new(&env.kafka.bootstrap());
    let (good, ghost) = (unique("good"), unique("ghost"));
    bench.create(&new_topic(&good, 1));
    let asked = names(&[&good, &ghost, &ghost, "", "nul\0", "not/a/name"]);
    let described = bench
        .wait(bench.client.describe_topics(&asked))
        .expect("an answer");
    let configs = bench
        .wait(bench.client.describe_configs(&asked))
        .expect("an answer");
    assert!(described[&good].is_ok() && configs[&good].is_ok());
    assert_eq!(described[&ghost], Err(TopicError::UnknownTopic));
    assert_eq!(configs[&ghost], Err(TopicError::UnknownTopic));
    for name in ["", "nul\0", "not/a/name"] {
        for error in [described[name].as_ref().err(), configs[name].as_ref().err()] {
            let error = error.expect("an error");
            assert!(
                matches!(error, TopicError::Rejected { code, .. } if code == "INVALID_TOPIC_EXCEPTION")
            );
        }
    }
}

pub(crate) fn setting_a_key_leaves_the_others(env: &Env) {
    let bench = Bench::new(&env.kafka.bootstrap());
    let (topic, ghost) = (unique("configured"), unique("ghost"));
    let set = pairs(&[("retention.ms", "12345"), ("cleanup.policy", "compact")]);
    bench.create(&NewTopic {
        config: set,
        ..new_topic(&topic, 1)
    });
    let changes = [
        change(
            &topic,
            &[("segment.ms", "7777"), ("max.message.bytes", "99999")],
        ),
        change(&ghost, &[("segment.ms", "7777")]),
        change("nothing", &[]),
    ];
    let outcomes = bench.wait(bench.client.alter_configs(&changes));
    assert_eq!(outcomes[&topic], Ok(()));
    assert_eq!(outcomes[&ghost], Err(TopicError::UnknownTopic));
    assert!(refusal(&outcomes["nothing"]).1.contains("needs keys"));
    let config = wait_for("the new values", SOON, || {
        let config = bench.config(&topic).expect("a config");
        if config["segment.ms"] == "7777" {
            Ok(config)
        } else {
            Err(format!("{config:?}"))
        }
    });
    assert_eq!(config["max.message.bytes"], "99999");
    assert_eq!(config["retention.ms"], "12345");
    assert_eq!(config["cleanup.policy"], "compact");
    assert_eq!(
        config["min.insync.replicas"], "1",
        "defaults are part of the effective config"
    );
    let refused = bench.wait(
        bench
            .client
            .alter_configs(&[change(&topic, &[("segment.ms", "abc")])]),
    );
    let (code, words) = refusal(&refused[&topic]);
    assert_eq!(code, "INVALID_CONFIG");
    assert!(
        words.contains("Invalid value abc for configuration segment.ms"),
        "{words}"
    );
}

pub(crate) fn end_offsets_follow_records_and_growth(env: &Env) {
    let bench = Bench::new(&env.kafka.bootstrap());
    let topic = unique("written");
    bench.create(&new_topic(&topic, 6));
    assert_eq!(bench.ends(&topic, 6), Ok(vec![0; 6]));
    env.kafka
        .produce(&topic, &[("BBCA", "1"), ("ANTM", "2"), ("BBRI", "3")]);
    assert_eq!(bench.ends(&topic, 6), Ok(vec![2, 1, 0, 0, 0, 0]));
    let grown = bench.wait(bench.client.create_partitions(&[growth(&topic, 8)], false));
    assert_eq!(grown[&topic], Ok(()));
    bench.see(&topic, 8);
    // The library's cache still has six partitions.
    assert_eq!(bench.ends(&topic, 8), Ok(vec![2, 1, 0, 0, 0, 0, 0, 0]));
    assert!(bench.ends(&topic, 9).is_err());
    let asked = [(topic.clone(), 8), (unique("ghost"), 2)];
    let ends = bench
        .wait(bench.client.end_offsets(&asked))
        .expect("an answer");
    assert!(ends[&topic].is_ok());
    assert_eq!(ends[&asked[1].0], Err(TopicError::UnknownTopic));
    // Created anew: offsets of the new topic, not of the old one.
    env.kafka.delete_topic(&topic);
    let before = bench.create(&new_topic(&topic, 6)).id;
    wait_for("the new topic's offsets", SOON, || {
        match bench.ends(&topic, 6) {
            Ok(ends) if ends == [0; 6] => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    assert_eq!(bench.describe(&topic).expect("the topic").id, before);
}

/// A denied topic and a missing one look alike to whoever may not describe it.
pub(crate) fn a_hidden_topic_is_not_authorized(env: &Env) {
    let properties = vec![
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer".to_owned(),
        "allow.everyone.if.no.acl.found=true".to_owned(),
    ];
    let kafka = KafkaCluster::start(
        env.root(),
        1,
        KafkaOptions {
            properties,
            ..KafkaOptions::default()
        },
    );
    let bench = Bench::new(&kafka.bootstrap());
    let [hidden, open, fixed] = ["hidden", "open", "fixed"].map(unique);
    for topic in [&hidden, &open, &fixed] {
        bench.create(&new_topic(topic, 2));
    }
    let acl = |topic: &str, args: &[&str]| {
        let args = [&["--add", "--topic", topic], args].concat();
        kafka.tool_ok("org.apache.kafka.tools.AclCommand", &args);
    };
    acl(
        &hidden,
        &["--allow-principal", "User:alice", "--operation", "All"],
    );
    let all = ["--allow-principal", "User:*", "--operation", "All"];
    let but = [
        "--deny-principal",
        "User:*",
        "--operation",
        "Alter",
        "--operation",
        "AlterConfigs",
    ];
    acl(&fixed, &all);
    acl(&fixed, &but);
    wait_for("the topic to be hidden", SOON, || {
        match bench.describe(&hidden) {
            Err(TopicError::NotAuthorized(_)) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    assert!(matches!(
        bench.config(&hidden),
        Err(TopicError::NotAuthorized(_))
    ));
    assert!(bench.ends(&hidden, 2).is_err());
    wait_for("the topic to be fixed", SOON, || {
        let growths = [growth(&hidden, 3), growth(&open, 3), growth(&fixed, 3)];
        let checked = bench.wait(bench.client.create_partitions(&growths, true));
        assert_eq!(checked[&open], Ok(()));
        match (&checked[&hidden], &checked[&fixed]) {
            (Err(TopicError::NotAuthorized(_)), Err(TopicError::NotAuthorized(_))) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    let changes = [&open, &fixed].map(|topic| change(topic, &[("segment.ms", "7777")]));
    let changed = bench.wait(bench.client.alter_configs(&changes));
    assert_eq!(changed[&open], Ok(()));
    assert!(
        matches!(changed[&fixed], Err(TopicError::NotAuthorized(_))),
        "{changed:?}"
    );
    assert_eq!(bench.see(&fixed, 2).partitions, 2);
}
