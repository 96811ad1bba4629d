//! The table: figures of this run beside those of the past one, kept in benchmarks.json, shown in benchmarks.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::settings::thousands;

const HEAD: &str = "\
# Benchmarks

Written by `make bench`. Everything is measured on a real Kafka (one broker) and a real Kubernetes API server, on the same machine
as the operator and the benchmark itself, each size on fresh servers. `benches/scale/main.rs` says what is done and what is counted.

- A ratio is one of the same run: before each size Kafka's own admin client makes the same topics in batched requests, on a broker of
  its own. A broker shows a topic before it has made its logs; *led* means that each partition's leader answers, which is what Ready waits for too.
- Where there is a folder in memory, the broker's data lies there: on a disk most of the time is the broker's forcing each new partition to it.
- The figures of Strimzi's Topic Operator 1.2.0 were measured once, on a two-core machine of the same kind.
- The past run is the one before, of the same setting.
";

/// All that is known: one section a setting.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Table {
    sections: Vec<Section>,
}

/// The rows of one setting.
#[derive(Debug, Deserialize, Serialize)]
struct Section {
    /// Sections stand in this order, so that a partial run leaves the others where they were.
    order: usize,
    setting: String,
    /// On what, and when.
    measured: String,
    rows: Vec<Row>,
}

/// One figure.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Row {
    metric: String,
    figure: f64,
    unit: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    past: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
}

/// The rows that a run is making.
#[derive(Debug, Default)]
pub(crate) struct Rows(Vec<Row>);

impl Rows {
    /// Adds a figure, and shows it at once: a run takes long.
    pub(crate) fn add(&mut self, metric: &str, figure: f64, unit: &str) -> &mut Row {
        println!("  {metric}: {}", shown(figure, unit));
        self.0.push(Row {
            metric: metric.to_owned(),
            figure,
            unit: unit.to_owned(),
            ..Row::default()
        });
        let last = self.0.len() - 1;
        &mut self.0[last]
    }
}

impl Row {
    /// The figure is to be no more than this.
    pub(crate) fn at_most(&mut self, bound: f64) -> &mut Self {
        self.at_most = Some(bound);
        self
    }

    /// The same, where the setting is the one that the bound was set for.
    pub(crate) fn at_most_if(&mut self, applies: bool, bound: f64) -> &mut Self {
        if applies { self.at_most(bound) } else { self }
    }

    /// What another operator takes for the same.
    pub(crate) fn reference_if(&mut self, applies: bool, reference: &str) -> &mut Self {
        if applies {
            self.reference = Some(reference.to_owned());
        }
        self
    }

    fn markdown(&self, setting: &str) -> String {
        let past = self
            .past
            .map_or_else(|| "-".to_owned(), |past| shown(past, &self.unit));
        let verdict = self.at_most.map(|bound| {
            let verdict = if self.figure <= bound {
                "met"
            } else {
                "**missed**"
            };
            format!("at most {}: {verdict}", shown(bound, &self.unit))
        });
        let notes: Vec<String> = verdict.into_iter().chain(self.reference.clone()).collect();
        format!(
            "| {} | {setting} | {} | {past} | {} |",
            self.metric,
            shown(self.figure, &self.unit),
            notes.join("; ")
        )
    }
}

impl Table {
    /// What was measured before; nothing if there is no file yet.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let path = folder.join("benchmarks.json");
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display())),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(e) => Err(format!("{}: {e}", path.display())),
        }
    }

    /// Puts the rows of a setting in, in place of those of the past run, whose figures stay beside them.
    pub(crate) fn put(&mut self, order: usize, setting: &str, measured: &str, rows: Rows) {
        let past = self
            .sections
            .iter()
            .position(|section| section.setting == setting)
            .map(|at| self.sections.remove(at));
        let past: BTreeMap<String, f64> = past
            .into_iter()
            .flat_map(|section| section.rows)
            .map(|row| (row.metric, row.figure))
            .collect();
        let rows = rows.0.into_iter().map(|row| Row {
            past: past.get(&row.metric).copied(),
            ..row
        });
        self.sections.push(Section {
            order,
            setting: setting.to_owned(),
            measured: measured.to_owned(),
            rows: rows.collect(),
        });
        self.sections.sort_by_key(|section| section.order);
    }

    /// Writes both files.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), String> {
        let json = serde_json::to_string_pretty(self).map_err(|e| e.to_string())?;
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(folder.join("benchmarks.json"), json + "\n"))
            .and_then(|()| fs::write(folder.join("benchmarks.md"), self.markdown()))
            .map_err(|e| format!("{}: {e}", folder.display()))
    }

    /// As people read it.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!(
            "{HEAD}\n| metric | setting | figure | past run | target, and others |\n|---|---|---|---|---|\n"
        );
        // Writing to a String cannot fail.
        for section in &self.sections {
            for row in &section.rows {
                let _ = writeln!(text, "{}", row.markdown(&section.setting));
            }
        }
        text.push_str("\nMeasured:\n\n");
        for section in &self.sections {
            let _ = writeln!(text, "- {}: {}", section.setting, section.measured);
        }
        text
    }
}

/// A count as a figure.
pub(crate) fn count(number: impl TryInto<u32>) -> f64 {
    f64::from(number.try_into().unwrap_or(u32::MAX))
}

/// Three digits that mean something, and no more.
fn shown(figure: f64, unit: &str) -> String {
    let number = if figure.fract() == 0.0 || figure.abs() >= 100.0 {
        whole(figure)
    } else if figure.abs() >= 10.0 {
        format!("{figure:.1}")
    } else {
        format!("{figure:.2}")
    };
    match unit {
        "" => number,
        "/s" | "/min" => format!("{number}{unit}"),
        unit => format!("{number} {unit}"),
    }
}

// Figures are positive and far below what does not fit.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(figure: f64) -> String {
    thousands(figure.round() as usize)
}
