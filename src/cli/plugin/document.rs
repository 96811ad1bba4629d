//! Output for programs: JSON and YAML of the same record.

use std::io::{self, Write};

use clap::ValueEnum;
use serde::Serialize;

use super::spool::Spool;

/// How a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Output {
    /// Columns for people
    Table,
    /// One JSON object
    Json,
    /// One YAML document
    Yaml,
}

/// Prints a whole record, or says that this is no form for programs.
pub(super) fn document(
    out: &mut dyn Write,
    output: Output,
    record: &impl Serialize,
) -> io::Result<bool> {
    match output {
        Output::Table => return Ok(false),
        Output::Json => {
            serde_json::to_writer_pretty(&mut *out, record)?;
            out.write_all(b"\n")?;
        }
        Output::Yaml => serde_yaml::to_writer(out, record).map_err(io::Error::other)?,
    }
    Ok(true)
}

/// The fields of a record in JSON, without the braces around them, so that others can follow.
pub(super) fn json_fields(
    out: &mut dyn Write,
    before: &str,
    record: &impl Serialize,
) -> io::Result<()> {
    let text = serde_json::to_string(record)?;
    let inner = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    write!(out, "{before}  {}", inner.unwrap_or_default())
}

/// A value in YAML, with something before its first line and before the others.
pub(super) fn yaml_block(
    out: &mut dyn Write,
    value: &impl Serialize,
    first: &str,
    others: &str,
) -> io::Result<()> {
    let text = serde_yaml::to_string(value).map_err(io::Error::other)?;
    let mut before = first;
    for line in text.split_inclusive('\n') {
        // An empty line of a text in a block stays empty.
        let before = match line {
            "\n" => "",
            _ => std::mem::replace(&mut before, others),
        };
        write!(out, "{before}{line}")?;
    }
    Ok(())
}

/// A list named `keys` of a JSON object or of a YAML mapping, kept until it is whole.
pub(super) struct List {
    items: Spool,
    is_empty: bool,
    /// How far the mapping around it is indented; `None` is JSON.
    yaml: Option<&'static str>,
}

impl List {
    pub(super) fn json(spools: usize) -> Self {
        Self {
            items: Spool::one_of(spools),
            is_empty: true,
            yaml: None,
        }
    }

    pub(super) fn yaml(indent: &'static str, spools: usize) -> Self {
        Self {
            yaml: Some(indent),
            ..Self::json(spools)
        }
    }

    pub(super) fn push(&mut self, item: &impl Serialize) -> io::Result<()> {
        if let Some(indent) = self.yaml {
            yaml_block(&mut self.items, &[item], indent, indent)?;
        } else {
            let before: &[u8] = if self.is_empty { b"\n    " } else { b",\n    " };
            self.items.write_all(before)?;
            serde_json::to_writer(&mut self.items, item)?;
        }
        self.is_empty = false;
        Ok(())
    }

    /// Prints the list with its name.
    pub(super) fn print(self, out: &mut dyn Write) -> io::Result<()> {
        match (self.yaml, self.is_empty) {
            (Some(indent), true) => return writeln!(out, "{indent}keys: []"),
            (Some(indent), false) => writeln!(out, "{indent}keys:")?,
            (None, true) => return out.write_all(b",\n  \"keys\": []"),
            (None, false) => out.write_all(b",\n  \"keys\": [")?,
        }
        self.items.copy_to(out)?;
        match self.yaml {
            Some(_) => Ok(()),
            None => out.write_all(b"\n  ]"),
        }
    }
}
