use serde_json::{Value, json};

use super::super::testing::{GROUP, mixed, ran, refusal, said};

const BARE: [&str; 5] = ["layout", "--partitioner", "murmur2", "--partitions", "6"];

pub(super) fn bare(more: &[&str]) -> Vec<&'static str> {
    let more: Vec<&'static str> = more.iter().map(|arg| &*(*arg).to_owned().leak()).collect();
    BARE.into_iter().chain(more).collect()
}

fn json_of(args: &[&str], input: &str, code: u8) -> Value {
    let all: Vec<&str> = args.iter().copied().chain(["-o", "json"]).collect();
    let printed = said(&all, input, code);
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

fn yaml_of(args: &[&str], input: &str, code: u8) -> Value {
    let all: Vec<&str> = args.iter().copied().chain(["-o", "yaml"]).collect();
    let printed = said(&all, input, code);
    serde_yaml::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

#[test]
fn a_bare_scheme_as_a_table() {
    let printed = said(&bare(&["--keys-file", "-"]), "BBCA\nANTM\n\nBBRI", 0);
    let wanted = "\
utf8/murmur2 on 6 partitions

KEY   BYTES     HASH      PARTITION
BBCA  42424341  c9ecb712  0
ANTM  414e544d  43ea14f7  1
\"\"    \"\"        106e08d9  3
BBRI  42425249  70684c0e  0

PARTITION  KEYS
        0     2  ##
        1     1  #
        2     0
        3     1  #
        4     0
        5     0
4 keys; empty partitions: 2, 4, 5; skew 3.00; spread: 0
";
    assert_eq!(printed, wanted);
}

#[test]
fn json_lists_keys_in_their_order() {
    let args = bare(&["--key", "BBCA", "--key", "a\"b", "--key", "BBCA"]);
    let wanted = json!({
        "scheme": "utf8/murmur2",
        "partitions": 6,
        "keys": [
            {"key": "BBCA", "bytes": "42424341", "hash": "c9ecb712", "partition": 0},
            {"key": "a\"b", "bytes": "612262", "hash": "2540fd0c", "partition": 0},
            {"key": "BBCA", "bytes": "42424341", "hash": "c9ecb712", "partition": 0},
        ],
        "keysPerPartition": [3, 0, 0, 0, 0, 0],
        "emptyPartitions": [1, 2, 3, 4, 5],
        "skew": "6.00",
        "spread": 0,
        "total": 3,
    });
    assert_eq!(json_of(&args, "", 0), wanted);
}

#[test]
fn a_spread_key_has_no_partition() {
    let args = [
        "layout",
        "--client",
        "librdkafka",
        "--partitions",
        "6",
        "--key",
        "",
        "--key",
        "a",
    ];
    let seen = json_of(&args, "", 0);
    assert_eq!(seen["scheme"], "utf8/crc32_spread_empty");
    assert_eq!(seen["keys"][0]["partition"], Value::Null);
    assert_eq!(seen["keys"][0]["spread"], true);
    assert_eq!(seen["keys"][1].get("spread"), None);
    assert_eq!((&seen["spread"], &seen["total"]), (&json!(1), &json!(2)));
    let table = said(&args, "", 0);
    assert!(
        table.contains("spread\n") && table.ends_with("spread: 1\n"),
        "{table}"
    );
}

#[test]
fn a_client_stands_for_its_partitioner() {
    for (args, scheme) in [
        (&["--client", "java"][..], "utf8/murmur2"),
        (
            &["--client", "sarama", "--encoding", "int32"],
            "int32/fnv1a_abs",
        ),
        (
            &["--client", "kafkajs", "--client-version", "1.16.0"],
            "utf8/kafkajs_legacy",
        ),
        (
            &["--client", "librdkafka", "--setting", "consistent"],
            "utf8/crc32",
        ),
    ] {
        let all = ["layout", "--partitions", "3", "--key", "7"]
            .iter()
            .chain(args);
        let all: Vec<&str> = all.copied().collect();
        assert_eq!(json_of(&all, "", 0)["scheme"], scheme);
    }
}

#[test]
fn yaml_says_the_same_as_json() {
    let keys = "BBCA\n~\n1e5\n\n- x\n日本\n'\"\n\u{7f}\u{85}\n a: b \nnull\n";
    let args = bare(&["--keys-file", "-"]);
    assert_eq!(yaml_of(&args, keys, 0), json_of(&args, keys, 0));
    for group in [GROUP.to_owned(), mixed("crc32"), mixed("custom, name: x")] {
        let group = group.replace(
            "partitioner: custom, name: x",
            "partitioner: custom, name: mine",
        );
        let code = if group.contains("crc32") { 2 } else { 0 };
        for more in [&["--summary"][..], &["--key", "a\nb\n"], &[]] {
            let all = ["layout", "-f", "-"].iter().chain(more);
            let all: Vec<&str> = all.copied().collect();
            let seen = ran(&all, &group).code;
            let code = if more.contains(&"--key") {
                seen.unwrap()
            } else {
                code
            };
            assert_eq!(yaml_of(&all, &group, code), json_of(&all, &group, code));
        }
    }
    let none = yaml_of(&args, "", 0);
    assert_eq!(none["keys"], json!([]));
    assert_eq!(none, json_of(&args, "", 0));
}

#[test]
fn csv_is_quoted_where_it_must_be() {
    let printed = said(
        &bare(&["--keys-file", "-", "-o", "csv"]),
        "BBCA\na,\"b\n",
        0,
    );
    let mut lines = printed.lines();
    assert_eq!(lines.next(), Some("key,bytes,hash,partition"));
    assert_eq!(lines.next(), Some("BBCA,42424341,c9ecb712,0"));
    assert!(
        lines.next().unwrap().starts_with("\"a,\"\"b\",612c2262,"),
        "{printed}"
    );
    let printed = said(
        &bare(&["--keys-file", "-", "-o", "csv", "--summary"]),
        "BBCA\n",
        0,
    );
    assert!(
        printed.starts_with("partition,keys\n0,1\n1,0\n"),
        "{printed}"
    );
    let printed = said(&["layout", "-f", "-", "-o", "csv"], GROUP, 0);
    let wanted = "key,bytes,hash,partition,group,topics\nBBCA,42424341,c9ecb712,0,trading/market-data,\"updates, notes\"\n";
    assert!(printed.starts_with(wanted), "{printed}");
}

#[test]
fn a_summary_has_no_rows() {
    let printed = said(&bare(&["--keys-file", "-", "--summary"]), "BBCA\nANTM\n", 0);
    assert!(
        !printed.contains("BBCA") && printed.contains("2 keys; "),
        "{printed}"
    );
    let seen = json_of(&bare(&["--keys-file", "-", "--summary"]), "BBCA\nANTM\n", 0);
    assert_eq!(seen.get("keys"), None);
    assert_eq!(seen["keysPerPartition"], json!([1, 1, 0, 0, 0, 0]));
}

#[test]
fn topics_that_differ_are_told_apart() {
    let group = mixed("crc32");
    let printed = said(&["layout", "-f", "-"], &group, 2);
    for part in [
        "trading/market-data\nupdates: utf8/murmur2 on 6 partitions\nnotes: utf8/crc32 on 6",
        "KEY   BYTES     updates  notes\n",
        "  <- differs\n",
        "different partitions\n",
    ] {
        assert!(printed.contains(part), "no {part:?} in {printed}");
    }
    let seen = json_of(&["layout", "-f", "-"], &group, 2);
    assert_eq!(seen["topics"], json!(["updates"]));
    let other = &seen["otherLayouts"][0];
    assert_eq!(other["topics"], json!(["notes"]));
    assert_eq!(other["keys"].as_array().map(Vec::len), Some(3));
    assert!(seen["differing"].as_u64().unwrap() > 0);
    // The summary looks at each key as well.
    said(&["layout", "-f", "-", "--summary"], &group, 2);
}

#[test]
fn masked_and_unsigned_differ_at_twelve_and_not_at_eight() {
    let group = mixed("murmur2_unsigned");
    let layout = |count: &str, code| {
        json_of(&["layout", "-f", "-", "--partitions", count], &group, code)["differing"].clone()
    };
    assert_eq!(layout("8", 0), 0);
    assert_ne!(layout("12", 2), 0);
}

#[test]
fn live_counts_go_before_declared_ones() {
    let status = "status:\n  recordedPartitions: 4\n  topics: [{name: notes, partitions: 8, verdict: Aligned}]\n";
    let seen = json_of(&["layout", "-f", "-"], &format!("{GROUP}{status}"), 2);
    assert_eq!(
        (&seen["topics"], &seen["partitions"]),
        (&json!(["updates"]), &json!(4))
    );
    assert_eq!(seen["otherLayouts"][0]["partitions"], 8);
    let given = ["layout", "-f", "-", "--partitions", "5"];
    assert_eq!(
        json_of(&given, &format!("{GROUP}{status}"), 0)["partitions"],
        5
    );
    let said = refusal(
        &["layout", "-f", "-"],
        GROUP.replace("  partitions: 6\n", ""),
    );
    assert!(said.contains("give --partitions N"), "{said}");
}

#[test]
fn a_file_may_have_several_groups() {
    let two = format!("{GROUP}---\n{}", GROUP.replace("market-data", "orders"));
    let seen = json_of(&["layout", "-f", "-"], &two, 0);
    let names: Vec<&Value> = seen["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["group"])
        .collect();
    assert_eq!(names, ["trading/market-data", "trading/orders"]);
    assert_eq!(
        json_of(&["layout", "-f", "-", "orders"], &two, 0)["group"],
        "trading/orders"
    );
    let table = said(&["layout", "-f", "-", "--summary"], &two, 0);
    assert!(table.contains("\n\ntrading/orders\n"), "{table}");
    let refused = refusal(&["layout", "-f", "-", "nope"], &two);
    assert_eq!(
        refused,
        "stdin has no group nope; it has market-data, orders"
    );
    let refused = refusal(&["layout", "-f", "-", "orders", "-n", "prod"], &two);
    assert!(refused.contains("no group prod/orders"), "{refused}");
}

#[test]
fn producers_count_as_their_topic_does() {
    let with = |producer: &str| {
        GROUP.replace(
            "{name: notes}",
            &format!("{{name: notes, producers: [{{{producer}}}]}}"),
        )
    };
    let seen = json_of(&["layout", "-f", "-"], &with("client: java"), 0);
    assert_eq!(seen["topics"], json!(["updates", "notes"]));
    assert_eq!(seen.get("otherLayouts"), None);
    let seen = json_of(&["layout", "-f", "-"], &with("client: confluent-python"), 2);
    assert_eq!(
        seen["otherLayouts"][0]["topics"],
        json!(["confluent-python on notes"])
    );
}

#[test]
fn what_cannot_be_calculated_is_named() {
    let own = "partitioner: custom, name: mine";
    let group = mixed("custom").replace("partitioner: custom", own);
    let seen = json_of(&["layout", "-f", "-"], &group, 0);
    assert_eq!(seen["notCalculated"][0]["topic"], "notes");
    let table = said(&["layout", "-f", "-"], &group, 0);
    assert!(table.contains("notes: not shown, a custom"), "{table}");
    let group = GROUP
        .replace("  keyScheme: {encoding: utf8, partitioner: murmur2}\n", "")
        .replace(
            "{name: updates}",
            "{name: updates, keyScheme: {encoding: int32, partitioner: murmur2}}",
        )
        .replace(
            "{name: notes}",
            "{name: notes, producers: [{client: kafka-node, partitioner: partitionerType 3}]}",
        )
        .replace("[BBCA, ANTM, ASII]", "['7']");
    let seen = json_of(&["layout", "-f", "-"], &group, 0);
    let reason = seen["notCalculated"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("hashes text"), "{seen}");
    let none = GROUP.replace("  keyScheme: {encoding: utf8, partitioner: murmur2}\n", "");
    let refused = refusal(&["layout", "-f", "-"], none);
    assert!(
        refused.contains("updates: no key scheme is declared"),
        "{refused}"
    );
    let refused = refusal(
        &[
            "layout",
            "--partitioner",
            "custom:mine",
            "--partitions",
            "3",
        ],
        "",
    );
    assert!(refused.contains("cannot be calculated"), "{refused}");
}

#[test]
fn nothing_of_a_key_reaches_the_terminal_unescaped() {
    let printed = said(
        &bare(&["--key", "a\u{1b}[31m\n\u{202e}", "--key", &"x".repeat(5000)]),
        "",
        0,
    );
    assert!(
        !printed.contains('\u{1b}') && printed.contains("a\\u{1b}[31m\\n"),
        "{printed}"
    );
    assert!(
        printed.lines().all(|line| line.chars().count() < 130),
        "{printed}"
    );
}

#[test]
fn a_producer_that_hashes_windows_makes_the_topics_differ() {
    let windowed = |client: &str| {
        GROUP.replace("utf8", "\"windowed:utf8\"").replace(
            "{name: notes}",
            &format!("{{name: notes, producers: [{{client: {client}}}]}}"),
        )
    };
    for (client, code) in [("kafka-streams", 0), ("java", 2)] {
        let input = windowed(client);
        assert!(input.contains(client), "{input}");
        let printed = said(&["layout", "-f", "-"], &input, code);
        assert_eq!(
            printed.contains("java on notes"),
            client == "java",
            "{printed}"
        );
    }
}
