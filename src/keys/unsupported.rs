//! Why a declared key scheme can't be used, in words for the author of the resource.

use std::fmt;

use super::{encoding, partitioner};

/// A declared scheme that this version can't compute; at least one part is `Some`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedScheme {
    /// What is wrong with the encoding, if anything.
    pub encoding: Option<UnsupportedName>,
    /// What is wrong with the partitioner, if anything.
    pub partitioner: Option<UnsupportedName>,
}

/// One name that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedName {
    /// The name as it was declared.
    pub name: String,
    /// Why it can't be used.
    pub why: Why,
}

/// Why a name can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// No version knows the name.
    Unknown,
    /// The name differs from a supported one in case, spaces or punctuation.
    Misspelt {
        /// The supported name.
        meant: &'static str,
    },
    /// The name is part of the API, but this version has no code for it.
    NotBuiltYet,
}

impl UnsupportedName {
    /// Sorts a name that isn't in `supported` by whether it is in `known`, the names of the API.
    pub(super) fn of(
        name: &str,
        supported: &'static [&'static str],
        known: &'static [&'static str],
    ) -> Self {
        let folded = fold(name);
        let why = match known.iter().find(|known| fold(known) == folded) {
            Some(meant) if supported.contains(meant) => Why::Misspelt { meant },
            Some(_) => Why::NotBuiltYet,
            None => Why::Unknown,
        };
        Self {
            name: name.to_owned(),
            why,
        }
    }
}

/// The letters and digits of a name in lower case.
fn fold(name: &str) -> String {
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// A declared name in quotes, escaped and cut: it may come from a command line or an older CRD without bounds,
/// and ends up in a condition's message.
fn quoted(name: &str) -> String {
    const SHOWN: usize = 64;
    let mut shown: String = name.chars().take(SHOWN).collect();
    if shown.len() < name.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

/// One sentence per part that can't be used, without the path of the field: the caller knows which topic it is.
impl fmt::Display for UnsupportedScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encoding = self
            .encoding
            .as_ref()
            .map(|part| sentence(part, &encoding::NAMES));
        let partitioner = self
            .partitioner
            .as_ref()
            .map(|part| sentence(part, &partitioner::BUILT));
        match (encoding, partitioner) {
            (Some(encoding), Some(partitioner)) => {
                write!(f, "encoding {encoding}. Partitioner {partitioner}")
            }
            (Some(encoding), None) => write!(f, "encoding {encoding}"),
            (None, Some(partitioner)) => write!(f, "partitioner {partitioner}"),
            (None, None) => Ok(()),
        }
    }
}

/// What to say of a part, to follow its kind; `supported` may stand there instead.
fn sentence(part: &UnsupportedName, supported: &[&str]) -> String {
    let name = quoted(&part.name);
    let supported = supported.join(", ");
    match part.why {
        Why::Unknown => format!("{name} is not known; use {supported}"),
        Why::Misspelt { meant } => format!("{name} is not known; write it as {meant}"),
        Why::NotBuiltYet => format!(
            "{name} is known, but this version of the operator does not support it yet; use {supported}, or \
             leave keyScheme out to have partition counts checked only"
        ),
    }
}

impl std::error::Error for UnsupportedScheme {}
