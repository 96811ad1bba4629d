use serde_json::{Value, json};

use super::super::testing::{GROUP, mixed, refusal, said};

fn parsed(args: &[&str], input: &str, code: u8) -> Value {
    let with = |form| [&["plan"], args, &["-o", form]].concat();
    let json: Value = serde_json::from_str(&said(&with("json"), input, code)).unwrap();
    let yaml: Value = serde_yaml::from_str(&said(&with("yaml"), input, code)).unwrap();
    assert_eq!(json, yaml);
    json
}

#[test]
fn a_growth_of_a_group() {
    let seen = parsed(&["-f", "-", "--to", "8"], GROUP, 0);
    assert_eq!(
        (&seen["group"], &seen["to"]),
        (&json!("trading/market-data"), &json!(8))
    );
    assert_eq!(seen["keySchemesAligned"]["reason"], "SameScheme");
    let layout = &seen["layouts"][0];
    assert_eq!(layout["topics"], json!(["updates", "notes"]));
    assert_eq!(
        layout["movedShare"],
        json!({"percent": "75 %", "numerator": 3, "denominator": 4})
    );
    let wanted = json!({"key": "BBCA", "before": 0, "after": 2, "moves": true});
    assert_eq!(layout["keys"][0], wanted);
    assert_eq!(layout["total"], 3);
    let moved = layout["keys"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|key| key["moves"] == true);
    assert_eq!(layout["moved"], json!(moved.count()));
    let after = layout["keysPerPartitionAfter"].as_array().unwrap();
    assert_eq!(
        after.iter().map(|keys| keys.as_u64().unwrap()).sum::<u64>(),
        3
    );
    assert_eq!(after.len(), 8);

    let table = said(&["plan", "-f", "-", "--to", "8"], GROUP, 0);
    for part in [
        "trading/market-data\nupdates, notes: utf8/murmur2 from 6 to 8 partitions moves 75 % of all keys\n\nKEY   BEFORE  AFTER\nBBCA  0       2  ",
        "        moves\n",
        "PARTITION  KEYS BEFORE  KEYS AFTER\n0 ",
        "\n7          -            ",
        " of 3 keys move",
        "KeySchemesAligned at 8: True (SameScheme), all 2 topics",
    ] {
        let part = part.trim_start();
        assert!(table.contains(part), "no {part:?} in {table}");
    }
}

#[test]
fn schemes_that_agree_now_and_not_then_are_named() {
    let group = mixed("murmur2_unsigned").replace("partitions: 6", "partitions: 8");
    let seen = parsed(&["-f", "-", "--to", "16"], &group, 0);
    assert_eq!(seen["keySchemesAligned"]["reason"], "EquivalentSchemes");
    assert_eq!(seen["layouts"].as_array().map(Vec::len), Some(2));
    let seen = parsed(&["-f", "-", "--to", "12"], &group, 2);
    assert_eq!(seen["keySchemesAligned"]["status"], "False");
    assert_eq!(seen["keySchemesAligned"]["reason"], "PartitionerMismatch");
    let table = said(&["plan", "-f", "-", "--to", "12"], &group, 2);
    assert!(
        table.contains("KeySchemesAligned at 12: False (PartitionerMismatch)"),
        "{table}"
    );
}

#[test]
fn the_share_needs_no_keys() {
    let bare = ["--partitioner", "crc32", "--partitions", "6", "--to", "12"];
    let seen = parsed(&bare, "", 0);
    assert_eq!(seen["layouts"][0]["movedShare"]["percent"], "50 %");
    assert_eq!(seen["layouts"][0]["keys"], json!([]));
    assert_eq!(seen.get("keySchemesAligned"), None);
    let table = said(&[&["plan"], &bare[..]].concat(), "", 0);
    assert_eq!(
        table,
        "utf8/crc32 from 6 to 12 partitions moves 50 % of all keys\n\n"
    );
}

#[test]
fn keys_are_counted_one_by_one() {
    let args = [
        "--client",
        "librdkafka",
        "--partitions",
        "2",
        "--to",
        "3",
        "--keys-file",
        "-",
    ];
    let seen = parsed(&args, "a\n\nb\n", 0);
    let layout = &seen["layouts"][0];
    assert_eq!(
        layout["keys"][1],
        json!({"key": "", "before": null, "after": null, "moves": false, "spread": true})
    );
    assert_eq!(
        (&layout["spread"], &layout["total"]),
        (&json!(1), &json!(3))
    );
    let seen = parsed(&[&args[..], &["--summary"]].concat(), "a\n\nb\n", 0);
    assert_eq!(seen["layouts"][0].get("keys"), None);
    assert_eq!(seen["layouts"][0]["total"], 3);
    let refused = refusal(
        &[
            "plan",
            "--partitioner",
            "crc32",
            "--encoding",
            "int32",
            "--partitions",
            "2",
            "--to",
            "3",
            "--keys-file",
            "-",
        ],
        "1\nx\n",
    );
    assert!(refused.starts_with("stdin line 2: key \"x\""), "{refused}");
}

#[test]
fn an_equal_count_moves_nothing_and_a_lower_one_is_refused() {
    let table = said(&["plan", "-f", "-", "--to", "6"], GROUP, 0);
    assert!(
        table.contains("utf8/murmur2 on 6 partitions already: nothing moves"),
        "{table}"
    );
    assert!(table.contains("0 of 3 keys move"), "{table}");
    let refused = refusal(&["plan", "-f", "-", "--to", "4"], GROUP);
    assert_eq!(
        refused,
        "Kafka cannot shrink a topic: updates, notes: there are 6 partitions, and --to asks for 4; ask for more"
    );
    let refused = refusal(&["plan", "-f", "-", "--to", "2147483647"], GROUP);
    assert!(refused.contains("too many to count"), "{refused}");
    let refused = refusal(&["plan", "-f", "-", "--to", "0"], GROUP);
    assert!(refused.contains("wanted a partition count"), "{refused}");
}

#[test]
fn several_groups_are_one_object() {
    let two = format!("{GROUP}---\n{}", GROUP.replace("market-data", "orders"));
    let printed = said(&["plan", "-f", "-", "--to", "8", "-o", "json"], &two, 0);
    let seen: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(seen["groups"][1]["group"], "trading/orders");
}
