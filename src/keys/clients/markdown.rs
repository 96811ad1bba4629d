//! The table of clients as the reference prints it, and who uses a partitioner.

use std::fmt::Write;

use super::{ALL, Client, Evidence, Keys, LEFT_OUT, Setting};
use crate::keys::{KeyRule, Partitioner};

impl Setting {
    /// What becomes of an empty key; `None` if keys are not looked at, or by no known formula.
    pub fn empty(&self) -> Option<KeyRule> {
        match &self.keys {
            Keys::Placed(partitioner) => partitioner.formula().map(|formula| formula.empty),
            Keys::PlacedButEmpty(_) => Some(KeyRule::Spread),
            Keys::Ignored(_) | Keys::Unverified(_) => None,
        }
    }

    /// The partitioner that places keys, if one does.
    pub fn partitioner(&self) -> Option<&Partitioner> {
        match &self.keys {
            Keys::Placed(partitioner) | Keys::PlacedButEmpty(partitioner) => Some(partitioner),
            Keys::Ignored(_) | Keys::Unverified(_) => None,
        }
    }
}

impl Evidence {
    /// The word that tables use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Read => "read",
        }
    }
}

/// The clients and settings that place keys by a partitioner.
pub fn users(
    partitioner: &Partitioner,
) -> impl Iterator<Item = (&'static Client, &'static Setting)> {
    let all = ALL
        .iter()
        .flat_map(|client| client.settings.iter().map(move |it| (client, it)));
    all.filter(move |(_, setting)| setting.partitioner() == Some(partitioner))
}

/// The table of the reference: a row for each client and each outcome, where clients that are alike share theirs, and what
/// is left out below it.
pub fn clients_table() -> String {
    let mut table = String::from(
        "| Client | Setting | Partitioner | Empty key | No key | Seen by |\n|---|---|---|---|---|---|\n",
    );
    let mut groups: Vec<(Vec<&str>, Vec<Row>)> = Vec::new();
    for client in ALL {
        let rows = rows(client);
        match groups.iter_mut().find(|(_, known)| *known == rows) {
            Some((clients, _)) => clients.push(client.name),
            None => groups.push((vec![client.name], rows)),
        }
    }
    for (clients, rows) in &groups {
        for (at, (names, outcome)) in rows.iter().enumerate() {
            let clients = if at == 0 {
                clients.join(", ")
            } else {
                String::new()
            };
            // Writing to a String cannot fail.
            let _ = writeln!(
                table,
                "| {clients} | {} | {} |",
                names.join(", "),
                outcome.join(" | ")
            );
        }
    }
    let left_out: Vec<String> = LEFT_OUT
        .iter()
        .map(|(what, why)| format!("{what} ({why})"))
        .collect();
    let _ = write!(
        table,
        "\nLeft out, since where they put keys could not be verified: {}.\n",
        left_out.join("; ")
    );
    table
}

/// The names of settings, and what they come to.
type Row = (Vec<String>, [String; 4]);

fn rows(client: &Client) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for setting in client.settings {
        let outcome = outcome(setting);
        match rows.iter_mut().find(|(_, known)| *known == outcome) {
            Some((names, _)) => names.push(name(setting)),
            None => rows.push((vec![name(setting)], outcome)),
        }
    }
    rows
}

/// What the client itself calls it, and the versions for which it holds.
fn name(setting: &Setting) -> String {
    let mut text = setting.names[0].to_owned();
    if let (true, Some(own)) = (setting.is_default(), setting.names.get(1)) {
        let _ = write!(text, " ({own})");
    }
    let versions = setting.versions.to_string();
    if versions != "all" {
        let _ = write!(text, " {versions}");
    }
    text
}

fn outcome(setting: &Setting) -> [String; 4] {
    let dash = || "-".to_owned();
    let evidence = setting.evidence.as_str().to_owned();
    match (&setting.keys, setting.partitioner()) {
        (_, Some(partitioner)) => [
            format!("`{partitioner}`"),
            setting.empty().map_or_else(dash, |rule| rule.to_string()),
            setting.null.to_string(),
            evidence,
        ],
        (Keys::Unverified(_), _) => ["refused: not verified".to_owned(), dash(), dash(), dash()],
        _ => ["refused: keys ignored".to_owned(), dash(), dash(), dash()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_with_one_outcome_share_a_row() {
        let table = clients_table();
        for row in [
            "| java, kafka-streams | default (DefaultPartitioner) | `murmur2` | hashed | spread | run |",
            "| confluent-python, rust-rdkafka | default (consistent_random) | `crc32_spread_empty` | spread | spread | run |",
            "|  | fnv1a_random | `fnv1a_abs` | hashed | spread | run |",
            "| kafkajs | default (DefaultPartitioner) < 2.0, LegacyPartitioner >= 2.0 | `kafkajs_legacy` | hashed | spread | run |",
            "|  | partitioner.ignore.keys, RoundRobinPartitioner, UniformStickyPartitioner | refused: keys ignored | - | - | - |",
        ] {
            assert!(table.contains(row), "no {row} in\n{table}");
        }
        for client in ALL {
            assert!(table.contains(client.name), "{}", client.name);
        }
        for (what, _) in LEFT_OUT {
            assert!(table.contains(what), "{what}");
        }
    }

    #[test]
    fn the_default_of_java_is_found_by_its_partitioner() {
        let names: Vec<&str> = users(&Partitioner::Murmur2Unsigned)
            .map(|(it, _)| it.name)
            .collect();
        assert!(names.contains(&"platformatic-kafka"), "{names:?}");
        assert!(!names.contains(&"java"), "{names:?}");
    }
}
