//! Texts that Kafka Streams printed, and texts that it would not.

use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> Topology {
    Topology::parse(text).unwrap()
}

/// For each sub-topology what it reads, all kinds in one list.
fn reads(topology: &Topology) -> Vec<(&str, Vec<&str>)> {
    let parts = topology.parts.iter();
    parts.map(|it| (it.id.as_str(), all(&it.reads))).collect()
}

fn all(sources: &Sources) -> Vec<&str> {
    let Sources {
        topics,
        patterns,
        repartition_topics,
    } = sources;
    let all = topics.iter().chain(patterns).chain(repartition_topics);
    all.map(String::as_str).collect()
}

/// What must be co-partitioned, by sub-topology.
fn sets(topology: &Topology) -> Vec<(&str, Vec<&str>)> {
    let parts = topology.parts.iter();
    let sets = parts.flat_map(|part| part.shared.iter().map(|it| (part.id.as_str(), it)));
    sets.map(|(id, it)| (id, all(&it.sources))).collect()
}

#[test]
fn a_join_needs_both_of_its_topics() {
    let join = parsed(include_str!("texts/join.txt"));
    let both = vec!["market-updates", "notifications"];
    assert_eq!(sets(&join), [("0", both.clone())]);
    assert_eq!(join.parts[0].shared[0].stores.len(), 2);
    let shared = parsed(include_str!("texts/shared.txt"));
    assert_eq!(
        sets(&shared),
        [("0", vec!["notifications", "market-updates"])]
    );
    assert_eq!(shared.parts[0].shared[0].stores, ["both"]);
    let tables = parsed(include_str!("texts/tables.txt"));
    assert_eq!(sets(&tables), [("0", vec!["left", "right"])]);
    let cogroup = parsed(include_str!("texts/cogroup.txt"));
    assert_eq!(sets(&cogroup), [("0", vec!["x", "y"])]);
}

#[test]
fn sub_topologies_meet_nowhere() {
    let separate = parsed(include_str!("texts/separate.txt"));
    assert_eq!(
        reads(&separate),
        [("0", vec!["market-updates"]), ("1", vec!["notifications"])]
    );
    assert_eq!(sets(&separate), []);
}

#[test]
fn what_is_merged_without_a_store_shares_a_task_only() {
    let merge = parsed(include_str!("texts/merge.txt"));
    assert_eq!(reads(&merge), [("0", vec!["a", "b"])]);
    assert_eq!(sets(&merge), []);
    // With a store behind it records of both meet.
    let stored = include_str!("texts/merge.txt").replace(
        "MERGE-0000000002 (stores: [])",
        "MERGE-0000000002 (stores: [s])",
    );
    assert_eq!(sets(&parsed(&stored)), [("0", vec!["a", "b"])]);
}

#[test]
fn global_stores_patterns_and_topics_of_its_own_are_told_apart() {
    let rich = parsed(include_str!("texts/rich.txt"));
    assert_eq!(rich.global_topics, ["countries"]);
    assert_eq!(
        reads(&rich),
        [
            ("1", vec!["customers", "by-customer-repartition"]),
            ("2", vec!["orders-us", "orders-eu"]),
            ("3", vec!["audit", "logs-(a|b).*"]),
            (
                "4",
                vec![
                    "left",
                    "KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-0000000030-topic"
                ]
            ),
            (
                "5",
                vec![
                    "right",
                    "KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000022-topic"
                ]
            ),
        ]
    );
    let repartitioned: Vec<usize> = rich
        .parts
        .iter()
        .map(|it| it.reads.repartition_topics.len())
        .collect();
    assert_eq!(repartitioned, [1, 0, 0, 1, 1]);
    // By its foreign key `left` meets `right` by way of topics that Kafka Streams makes.
    let met: Vec<&str> = sets(&rich).iter().map(|(id, _)| *id).collect();
    assert_eq!(met, ["1", "4", "5"]);
}

#[test]
fn a_topic_of_ones_own_between_two_parts_is_no_topic_of_kafka_streams() {
    let through = parsed(include_str!("texts/through.txt"));
    assert_eq!(
        reads(&through),
        [
            ("0", vec!["raw"]),
            ("1", vec!["clean"]),
            ("2", vec!["per-value-repartition"])
        ]
    );
    assert_eq!(through.parts[1].reads.topics, ["clean"]);
    assert_eq!(through.parts[2].reads.topics, [""; 0]);
}

#[test]
fn a_pattern_may_be_several_topics_that_meet() {
    let text = "Topologies:\n Sub-topology: 0\n Source: s (topics: [a-z]+\\.(x|y))\n --> p\n Processor: p (stores: [kept])\n --> none\n <-- s\n";
    let topology = parsed(text);
    assert_eq!(topology.parts[0].reads.patterns, ["[a-z]+\\.(x|y)"]);
    assert_eq!(sets(&topology).len(), 1);
}

#[test]
fn a_named_topology_names_its_parts() {
    let named = parsed(include_str!("texts/named.txt"));
    assert_eq!(
        reads(&named),
        [("first/0", vec!["a"]), ("first/1", vec!["b"])]
    );
}

#[test]
fn what_a_log_puts_around_it_does_not_matter() {
    let text = include_str!("texts/join.txt");
    let logged = format!(
        "12:00:00 INFO  starting\n12:00:01 INFO  {}",
        text.replace('\n', "\r\n")
    );
    assert_eq!(parsed(&logged), parsed(text));
}

#[test]
fn another_text_is_refused_with_its_line() {
    let refused = |text: &str| Topology::parse(text).unwrap_err().to_string();
    let join = include_str!("texts/join.txt");
    for (text, line, problem) in [
        (String::new(), 1, "no \"Topologies:\""),
        ("kind: Topic\nname: a\n".to_owned(), 2, "no \"Topologies:\""),
        (
            include_str!("texts/empty.txt").to_owned(),
            2,
            "no sub-topologies",
        ),
        (
            join.replace("Sub-topology: 0", "Sub-topology: x"),
            2,
            "number of a sub-topology",
        ),
        (
            join.replace("(topics: [market-updates])", "[market-updates]"),
            3,
            "wanted a Source",
        ),
        (
            join.replace("(stores: [])", "(stores: none)"),
            19,
            "in brackets",
        ),
        (
            join.replacen("--> KSTREAM-WINDOWED-0000000002", "--> nobody", 1),
            4,
            "\"nobody\" is not described",
        ),
        (
            join.replacen("      --> KSTREAM-WINDOWED-0000000002\n", "", 1),
            3,
            "successors are missing",
        ),
        (
            join.replacen("Sub-topology: 0\n", "Sub-topology: 0\n --> a\n", 1),
            3,
            "follow no node",
        ),
        (format!("{join}12:00:02 INFO  running\n"), 25, "running"),
        ("Topologies:\n\nhello\n".to_owned(), 3, "Sub-topology: N"),
        (
            "Topologies:\n Sub-topology: 0\n\n".to_owned(),
            2,
            "has no nodes",
        ),
    ] {
        let said = refused(&text);
        assert!(
            said.starts_with(&format!("line {line}: ")),
            "{said} for {problem}"
        );
        assert!(said.contains(problem), "{said} for {problem}");
    }
    let twice = join.replace("KSTREAM-SOURCE-0000000001", "KSTREAM-SOURCE-0000000000");
    assert!(refused(&twice).contains("is there twice"));
    let long = format!("Topologies:\n{}", "x".repeat(1 << 20));
    assert!(refused(&long).len() < 200);
}

/// A text of ten thousand sources that all come to ten thousand stores, and back: it is no work.
#[test]
fn a_hostile_text_takes_no_longer_than_a_long_one() {
    let number = 10_000;
    let nodes = (0..number).map(|at| {
        let next = (at + 1) % number;
        format!(
            " Source: s{at} (topics: [t{at}])\n --> p{at}\n Processor: p{at} (stores: [x{at}])\n --> p{next}\n"
        )
    });
    let nodes: String = nodes.collect();
    let text = format!("Topologies:\n Sub-topology: 0\n{nodes}");
    let topology = parsed(&text);
    assert_eq!(topology.parts[0].shared.len(), 1);
    assert_eq!(topology.parts[0].shared[0].sources.topics.len(), number);
}

proptest! {
    #[test]
    fn no_text_makes_it_fail(text in "(Topologies:\n)?([ -~]|\n|Sub-topology: 0\n|Source: |Processor: |Sink: | \\(topics: \\[|\\]\\)|--> |<-- |none){0,60}") {
        let _ = Topology::parse(&text);
    }

    /// Cut anywhere, it is either read or refused with one of its lines.
    #[test]
    fn a_text_that_is_cut_is_refused_with_a_line_of_it(at in 0..4_300_usize) {
        let text = include_str!("texts/rich.txt");
        let cut = &text[..at.min(text.len())];
        if let Err(malformed) = Topology::parse(cut) {
            prop_assert!((1..=cut.lines().count().max(1)).contains(&malformed.line));
        }
    }
}
