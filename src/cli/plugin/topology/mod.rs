//! `topology`: which topics a Kafka Streams application reads together, before it is deployed.

mod record;
mod table;

use std::fs::File;
use std::path::PathBuf;

use clap::Args;

use super::document::{Output, document};
use super::terminal::{Io, print};
use crate::cli::reconcile::input::bounded;
use crate::placement::topology::Topology as Described;
use record::Record;

const HELP: &str = "\
Examples:
  kubectl copartition topology topology.txt
  java -cp app.jar MyTopology | kubectl copartition topology -
  kubectl copartition topology topology.txt --topics orders,payments

FILE has what System.out.print(topology.describe()) prints; lines before \"Topologies:\" are left out. Topics whose records
meet in a state store have to be co-partitioned. Topics of different sub-topologies are read by tasks that go where they
like, whatever counts they have. With --topics the exit code is 2 if those are not read by one sub-topology.";

/// The arguments.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct Topology {
    /// The text of Topology#describe(), or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Topics that are to be read together
    #[arg(long, value_name = "TOPIC", value_delimiter = ',')]
    topics: Vec<String>,
    /// How it is printed
    #[arg(short, long, default_value = "table")]
    output: Output,
}

/// Reads, judges and prints.
///
/// # Errors
/// One line for the user.
pub(super) fn run(arguments: &Topology, io: &mut Io<'_>) -> Result<u8, String> {
    let is_stdin = arguments.file.as_os_str() == "-";
    let label = if is_stdin {
        "stdin".to_owned()
    } else {
        arguments.file.display().to_string()
    };
    let text = if is_stdin {
        bounded(&mut *io.stdin)
    } else {
        File::open(&arguments.file)
            .map_err(|error| error.to_string())
            .and_then(bounded)
    };
    let described = text
        .and_then(|text| Described::parse(&text).map_err(|malformed| malformed.to_string()))
        .map_err(|problem| format!("{label}: {problem}"))?;
    let record = Record::of(&described, &arguments.topics)?;
    print(io.stdout, |out| {
        if !document(out, arguments.output, &record)? {
            table::write(out, &record, io.colour)?;
        }
        Ok(())
    })?;
    let apart = record.asked.as_ref().is_some_and(|asked| !asked.together);
    Ok(if apart { 2 } else { 0 })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::testing::{file, refusal, said};

    const RICH: &str = include_str!("../../../placement/topology/texts/rich.txt");
    const SEPARATE: &str = include_str!("../../../placement/topology/texts/separate.txt");
    const JOIN: &str = include_str!("../../../placement/topology/texts/join.txt");

    fn json_of(args: &[&str], input: &str, code: u8) -> Value {
        let all = [&["topology", "-", "-o", "json"], args].concat();
        serde_json::from_str(&said(&all, input, code)).unwrap()
    }

    #[test]
    fn people_read_what_must_be_co_partitioned_and_what_is_apart() {
        let said = said(&["topology", "-"], RICH, 0);
        for part in [
            "SUB-TOPOLOGY",
            "1             customers, by-customer-repartition*",
            "Must be co-partitioned",
            "customers, by-customer-repartition* (sub-topology 1, store customers-STATE-STORE-0000000003)",
            "Read by one task, but met in no store",
            "orders-us, orders-eu (sub-topology 2)",
            "Global: countries",
            "* made by Kafka Streams",
        ] {
            assert!(said.contains(part), "no {part:?} in {said}");
        }
    }

    #[test]
    fn programs_read_the_same() {
        let record = json_of(&[], JOIN, 0);
        assert_eq!(
            record["subTopologies"][0]["topics"],
            json!(["market-updates", "notifications"])
        );
        let set = &record["subTopologies"][0]["coPartitioned"][0];
        assert_eq!(set["topics"], json!(["market-updates", "notifications"]));
        assert_eq!(record["globalTopics"], json!([]));
        assert!(record.get("asked").is_none());
    }

    #[test]
    fn topics_that_are_to_be_together_are_judged() {
        let asked = ["--topics", "market-updates,notifications"];
        let apart = json_of(&asked, SEPARATE, 2);
        assert_eq!(apart["asked"]["together"], false);
        let joined = json_of(&asked, JOIN, 0);
        let expected = json!({"topics": ["market-updates", "notifications"], "together": true, "subTopology": "0", "meet": true});
        assert_eq!(joined["asked"], expected);
        let table = said(&[&["topology", "-"], &asked[..]].concat(), SEPARATE, 2);
        let line = "market-updates and notifications are not read by one sub-topology: market-updates by 0, notifications by 1";
        assert!(table.contains(line), "{table}");
        let refused = refusal(&["topology", "-", "--topics", "nowhere"], JOIN);
        assert!(
            refused.contains("nowhere is not read by this application"),
            "{refused}"
        );
    }

    #[test]
    fn a_global_table_is_everywhere() {
        let asked = json_of(&["--topics", "countries,customers"], RICH, 0);
        assert_eq!(asked["asked"]["together"], true);
        assert_eq!(asked["asked"]["meet"], false);
    }

    #[test]
    fn a_wrong_file_is_named_with_its_line() {
        let (_folder, path) = file("topology.txt", b"Topologies:\n  nonsense\n");
        let path = path.to_str().unwrap();
        let refused = refusal(&["topology", path], "");
        assert!(
            refused.starts_with(&format!("{path}: line 2: ")),
            "{refused}"
        );
        let refused = refusal(&["topology", "-"], b"\xff\xfe");
        assert!(refused.starts_with("stdin: it is no UTF-8"), "{refused}");
        let long = vec![b'x'; (4 << 20) + 1];
        assert!(refusal(&["topology", "-"], long).contains("more than 4 MiB"));
        assert!(refusal(&["topology", "/no/such"], "").starts_with("/no/such: "));
    }
}
