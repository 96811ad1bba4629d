//! `schemes`: which client places keys how.

mod record;

use std::io::{self, Write};

use clap::Args;

use super::columns::columns;
use super::document::{Output, document};
use super::terminal::{Io, print};
use crate::keys::clients::{self, Client, Keys, LEFT_OUT, ProducerError, Setting};
use crate::keys::{Encoding, Partitioner};
use record::Record;

const HELP: &str = "\
Examples:
  kubectl copartition schemes
  kubectl copartition schemes --client kafkajs
  kubectl copartition schemes -o json

How it is known: run means that the client was run and the partitions of its records were read back, read that its
source was read.";

/// The arguments.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct Schemes {
    /// One client only, with all that its settings are called
    #[arg(long, value_name = "C")]
    client: Option<String>,
    /// How it is printed
    #[arg(short, long, default_value = "table")]
    output: Output,
}

/// Prints the table.
///
/// # Errors
/// One line for the user.
pub(super) fn run(arguments: &Schemes, io: &mut Io<'_>) -> Result<u8, String> {
    let shown: Vec<&Client> = clients::ALL
        .iter()
        .filter(|client| {
            arguments
                .client
                .as_deref()
                .is_none_or(|name| client.name == name)
        })
        .collect();
    if let (Some(client), true) = (&arguments.client, shown.is_empty()) {
        let client = client.clone();
        return Err(ProducerError::UnknownClient { client }.to_string());
    }
    let all = arguments.client.is_none();
    print(io.stdout, |out| {
        if document(out, arguments.output, &Record::of(&shown, all))? {
            return Ok(());
        }
        match &shown[..] {
            [client] if !all => one(out, client),
            _ => every(out, &shown),
        }
    })?;
    Ok(0)
}

/// What a setting does with keys that have bytes.
fn placed(setting: &Setting) -> String {
    match &setting.keys {
        Keys::Placed(partitioner) | Keys::PlacedButEmpty(partitioner) => partitioner.to_string(),
        Keys::Ignored(_) => "refused: keys ignored".to_owned(),
        Keys::Unverified(_) => "refused: not verified".to_owned(),
    }
}

/// What it does with empty keys, and without a key.
fn rules(setting: &Setting) -> [String; 2] {
    let null = setting.partitioner().map(|_| setting.null);
    [setting.empty(), null].map(|rule| rule.map_or_else(|| "-".to_owned(), |it| it.to_string()))
}

fn every(out: &mut dyn Write, shown: &[&Client]) -> io::Result<()> {
    let settings = shown
        .iter()
        .flat_map(|client| client.settings.iter().map(move |it| (client, it)));
    let rows: Vec<[String; 7]> = settings
        .map(|(client, setting)| {
            let [empty, null] = rules(setting);
            [
                client.name.to_owned(),
                setting.names[0].to_owned(),
                setting.versions.to_string(),
                placed(setting),
                empty,
                null,
                setting.evidence.as_str().to_owned(),
            ]
        })
        .collect();
    let heads = [
        "CLIENT",
        "SETTING",
        "VERSIONS",
        "PARTITIONER",
        "EMPTY KEY",
        "NO KEY",
        "KNOWN BY",
    ];
    columns(out, heads, &rows)?;
    writeln!(out)?;
    let rows: Vec<[String; 4]> = Partitioner::COMPUTED
        .iter()
        .filter_map(|partitioner| {
            let formula = partitioner.formula()?;
            Some([
                partitioner.to_string(),
                formula.hash.to_string(),
                formula.reduction.to_string(),
                formula.empty.to_string(),
            ])
        })
        .collect();
    let heads = ["PARTITIONER", "HASH h", "PARTITION OF n", "EMPTY KEY"];
    columns(out, heads, &rows)?;
    let names: Vec<&str> = Encoding::names().collect();
    writeln!(out, "\nEncodings: {}", names.join(", "))?;
    writeln!(
        out,
        "\nLeft out, since where they put keys could not be verified:"
    )?;
    for (what, why) in LEFT_OUT {
        writeln!(out, "  {what}: {why}")?;
    }
    Ok(())
}

fn one(out: &mut dyn Write, client: &Client) -> io::Result<()> {
    writeln!(out, "{}: {}", client.name, client.what)?;
    for setting in client.settings {
        let [empty, null] = rules(setting);
        writeln!(out, "\n{}", setting.names.join(" = "))?;
        writeln!(out, "  versions: {}", setting.versions)?;
        match &setting.keys {
            Keys::Ignored(how) => {
                writeln!(out, "  refused: it does not place records by key: {how}")?;
            }
            Keys::Unverified(why) => {
                writeln!(out, "  refused: where it puts keys is not known: {why}")?;
            }
            Keys::Placed(_) | Keys::PlacedButEmpty(_) => {
                writeln!(out, "  partitioner: {}", placed(setting))?;
                writeln!(out, "  empty key: {empty}; no key: {null}")?;
            }
        }
        writeln!(out, "  known by: {}", setting.evidence.as_str())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::testing::{refusal, said};
    use super::*;

    #[test]
    fn every_client_and_partitioner_is_listed() {
        let printed = said(&["schemes"], "", 0);
        for client in clients::ALL {
            assert!(
                printed.contains(&format!("\n{} ", client.name)),
                "{}",
                client.name
            );
        }
        for partitioner in &Partitioner::COMPUTED {
            assert!(
                printed.contains(&format!("\n{partitioner} ")),
                "{partitioner}"
            );
        }
        for part in [
            "(h & 0x7fffffff) mod n",
            "confluent:ID:E",
            "refused: keys ignored",
            "KoP",
        ] {
            assert!(printed.contains(part), "no {part} in {printed}");
        }
    }

    #[test]
    fn one_client_has_all_names_and_reasons() {
        let printed = said(&["schemes", "--client", "flink"], "", 0);
        for part in [
            "flink: Apache Flink's Kafka connector\n\ndefault = KafkaSink\n",
            "fixed = FlinkFixedPartitioner\n  versions: all\n  refused: it does not place records by key: each parallel",
        ] {
            assert!(printed.contains(part), "no {part} in {printed}");
        }
        let refused = refusal(&["schemes", "--client", "jvm"], "");
        assert!(
            refused.starts_with("client \"jvm\" is not known; use java"),
            "{refused}"
        );
    }

    #[test]
    fn both_forms_for_programs_say_the_same() {
        for args in [&["schemes"][..], &["schemes", "--client", "kafkajs"]] {
            let with = |form| [args, &["-o", form]].concat();
            let json: Value = serde_json::from_str(&said(&with("json"), "", 0)).unwrap();
            let yaml: Value = serde_yaml::from_str(&said(&with("yaml"), "", 0)).unwrap();
            assert_eq!(json, yaml);
            let first = &json["clients"][0]["settings"][0];
            assert!(
                first["names"]
                    .as_array()
                    .unwrap()
                    .contains(&"default".into()),
                "{first}"
            );
            assert_eq!(json.get("partitioners").is_some(), args.len() == 1);
        }
    }
}
