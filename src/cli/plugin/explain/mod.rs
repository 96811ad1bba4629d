//! `explain`: why a key is where it is.

mod record;
mod table;

use clap::Args;

use super::document::{Output, document};
use super::source::{Where, count};
use super::subject::Subject;
use super::terminal::{Io, print};
use crate::keys::{Encoding, PartitionCount};
use record::Record;

const HELP: &str = "\
Examples:
  kubectl copartition explain 100:48069 --partitions 12
  kubectl copartition explain 100:48069 --partitions 12 --seen 6
  kubectl copartition explain 42 --encoding int64 --partitions 6
  kubectl copartition explain BBCA --group market-data -n trading
  kubectl copartition explain BBCA -f group.yaml

--seen names the schemes that put the key on the partition where its record was found. Records that were written
before a topic grew lie where the old count put them: try that one too.";

/// The arguments.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct Explain {
    /// The logical key
    #[arg(value_name = "KEY", allow_hyphen_values = true)]
    key: String,
    /// A CoPartitionedTopicGroup that gives the partition count and the encoding: of the cluster, or with -f of the file
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    #[command(flatten)]
    place: Where,
    /// The partition count; without it that of the group
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    partitions: Option<PartitionCount>,
    /// The encoding of the key; without it that of the group, else utf8
    #[arg(long, value_name = "E")]
    encoding: Option<String>,
    /// The partition on which the key was seen
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    seen: Option<i32>,
    /// How it is printed
    #[arg(short, long, default_value = "table")]
    output: Output,
}

/// Prints why.
///
/// # Errors
/// One line for the user.
pub(super) fn run(arguments: &Explain, io: &mut Io<'_>) -> Result<u8, String> {
    let group = arguments.subject(io)?;
    let count = arguments.count(group.as_ref())?;
    let encoding = arguments.encoding(group.as_ref())?;
    if let Some(seen) = arguments
        .seen
        .filter(|seen| !(0..count.get()).contains(seen))
    {
        return Err(format!(
            "--seen {seen}: of {count} partitions there are 0 to {}",
            count.get() - 1
        ));
    }
    let record = Record::of(
        &arguments.key,
        encoding,
        count,
        arguments.seen,
        group.as_ref(),
    )
    .map_err(|error| error.to_string())?;
    print(io.stdout, |out| {
        if !document(out, arguments.output, &record)? {
            table::write(out, &record, io.colour)?;
        }
        Ok(())
    })?;
    Ok(0)
}

impl Explain {
    fn subject(&self, io: &mut Io<'_>) -> Result<Option<Subject>, String> {
        if self.group.is_none() && self.place.file.is_none() {
            return Ok(None);
        }
        let groups = self.place.groups(self.group.as_deref(), io.stdin)?;
        match &groups[..] {
            [group] => Subject::of_group(group, self.partitions).map(Some),
            several => Err(format!(
                "the file has {} groups; name one with --group",
                several.len()
            )),
        }
    }

    fn count(&self, group: Option<&Subject>) -> Result<PartitionCount, String> {
        if let Some(count) = self.partitions {
            return Ok(count);
        }
        let Some(group) = group else {
            return Err("give --partitions N, or a group with --group NAME or -f FILE".to_owned());
        };
        let first = &group.layouts[0];
        match group
            .layouts
            .iter()
            .find(|layout| layout.count != first.count)
        {
            None => Ok(first.count),
            Some(other) => Err(format!(
                "the topics have different counts: {} has {}, {} has {}; give --partitions N",
                first.names(),
                first.count,
                other.names(),
                other.count
            )),
        }
    }

    fn encoding(&self, group: Option<&Subject>) -> Result<Encoding, String> {
        if let Some(name) = &self.encoding {
            return Encoding::parse(name).map_err(|unsupported| format!("encoding {unsupported}"));
        }
        let Some(group) = group else {
            return Ok(Encoding::UTF8);
        };
        let encodings = || group.layouts.iter().map(|layout| layout.scheme.encoding);
        let first = group.layouts[0].scheme.encoding;
        match encodings().find(|encoding| *encoding != first) {
            None => Ok(first),
            Some(other) => Err(format!(
                "the topics have different encodings: {first} and {other}; give --encoding E"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::testing::{GROUP, mixed, refusal, said};

    fn json_of(args: &[&str], input: &str) -> Value {
        let all = [&["explain"], args, &["-o", "json"]].concat();
        serde_json::from_str(&said(&all, input, 0)).unwrap()
    }

    fn partition(record: &Value, partitioner: &str) -> Value {
        let schemes = record["schemes"].as_array().unwrap();
        let found = schemes.iter().find(|it| it["partitioner"] == partitioner);
        found.unwrap()["partition"].clone()
    }

    #[test]
    fn the_published_case_is_answered() {
        let seen = json_of(&["100:48069", "--partitions", "12"], "");
        assert_eq!(partition(&seen, "murmur2"), 9);
        assert_eq!(partition(&seen, "kafkajs_legacy"), 6);
        assert_eq!(seen["bytes"], "3130303a3438303639");
        assert_eq!(
            (&seen["length"], &seen["encoding"]),
            (&json!(9), &json!("utf8"))
        );
        let table = said(
            &["explain", "100:48069", "--partitions", "12", "--seen", "6"],
            "",
            0,
        );
        for part in [
            "bytes      3130303a3438303639 (9 bytes as utf8)\n",
            "partition 6 is explained by crc32, crc32_spread_empty, kafkajs_legacy",
            "kafkajs < 2.0",
        ] {
            assert!(table.contains(part), "no {part:?} in {table}");
        }
        let marked = table
            .lines()
            .find(|line| line.starts_with("kafkajs_legacy"))
            .unwrap();
        assert!(marked.contains("  6  <- seen"), "{marked}");
    }

    #[test]
    fn nothing_explains_some_places() {
        // Over seven partitions, twelve schemes leave some without a key.
        let unexplained = (0..7).map(|seen| seen.to_string()).find(|seen| {
            let record = json_of(&["x", "--partitions", "7", "--seen", seen], "");
            record["explainedBy"] == json!([])
        });
        let seen = unexplained.unwrap();
        let table = said(
            &["explain", "x", "--partitions", "7", "--seen", &seen],
            "",
            0,
        );
        assert!(
            table.contains("no known scheme puts this key there"),
            "{table}"
        );
        for wrong in ["7", "-1"] {
            let refused = refusal(&["explain", "x", "--partitions", "7", "--seen", wrong], "");
            assert!(refused.contains("there are 0 to 6"), "{refused}");
        }
    }

    #[test]
    fn redis_hashes_what_stands_in_braces() {
        let seen = json_of(&["{user1000}.following", "--partitions", "3"], "");
        assert_eq!(
            seen["redis"],
            json!({"slot": 3443, "hashedPart": "user1000"})
        );
        let table = said(
            &["explain", "{user1000}.following", "--partitions", "3"],
            "",
            0,
        );
        assert!(
            table.contains("slot 3443 of user1000, the hash tag"),
            "{table}"
        );
        let table = said(&["explain", "BBCA", "--partitions", "3"], "", 0);
        assert!(table.contains("slot 12355 of the whole key"), "{table}");
    }

    #[test]
    fn a_group_gives_count_and_encoding_and_is_marked() {
        let seen = json_of(&["BBCA", "-f", "-"], GROUP);
        assert_eq!(seen["partitions"], 6);
        let schemes = seen["schemes"].as_array().unwrap();
        assert_eq!(schemes[0]["topics"], json!(["updates", "notes"]));
        assert_eq!(schemes[0]["partition"], 0);
        let ints = GROUP
            .replace("utf8", "int32")
            .replace("[BBCA, ANTM, ASII]", "['7']");
        assert_eq!(json_of(&["7", "-f", "-"], &ints)["bytes"], "00000007");
        let two = mixed("crc32").replace(
            "{encoding: utf8, partitioner: crc32}",
            "{encoding: json, partitioner: crc32}",
        );
        let two = two.replace("[BBCA, ANTM, ASII]", "['7']");
        let refused = refusal(&["explain", "7", "-f", "-"], &two);
        assert!(
            refused.contains("different encodings: utf8 and json"),
            "{refused}"
        );
    }

    #[test]
    fn any_count_will_do_and_bad_ones_are_refused() {
        let seen = json_of(&["BBCA", "--partitions", "2147483647"], "");
        assert_eq!(partition(&seen, "murmur2"), 0x49ec_b712);
        for (args, wanted) in [
            (&["explain", "x"][..], "give --partitions N"),
            (&["explain", "x", "--partitions", "0"], "1 to 2147483647"),
            (
                &["explain", "abc", "--partitions", "3", "--encoding", "int32"],
                "key \"abc\" has no int32",
            ),
            (
                &["explain", "x", "--partitions", "3", "--encoding", "utf-8"],
                "write it as utf8",
            ),
        ] {
            let refused = refusal(args, "");
            assert!(refused.contains(wanted), "{refused}");
        }
    }

    #[test]
    fn schemes_that_cannot_hash_the_bytes_say_so() {
        let seen = json_of(&["7", "--encoding", "int32", "--partitions", "6"], "");
        let schemes = seen["schemes"].as_array().unwrap();
        let java = schemes
            .iter()
            .find(|it| it["partitioner"] == "java_string_hash_abs")
            .unwrap();
        assert_eq!(java["partition"], Value::Null);
        assert!(
            java["notApplicable"]
                .as_str()
                .unwrap()
                .contains("hashes text"),
            "{java}"
        );
        let windowed = json_of(
            &["7", "--encoding", "windowed:utf8", "--partitions", "6"],
            "",
        );
        assert_eq!(partition(&windowed, "crc32"), Value::Null);
        let spread = json_of(&["", "--partitions", "6"], "");
        let schemes = spread["schemes"].as_array().unwrap();
        let crc = schemes
            .iter()
            .find(|it| it["partitioner"] == "crc32_spread_empty")
            .unwrap();
        assert_eq!(crc["spread"], true);
    }
}
