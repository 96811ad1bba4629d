//! Why a declared key scheme can't be used, in words for the author of the resource.

use std::fmt;

use super::{Encoding, Partitioner, clients};

/// A declared scheme that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnsupportedScheme {
    /// At least one of its names is unknown.
    Names {
        /// What is wrong with the encoding, if anything.
        encoding: Option<Box<UnsupportedName>>,
        /// What is wrong with the partitioner, if anything.
        partitioner: Option<Box<UnsupportedName>>,
    },
    /// The partitioner hashes text, and the encoding's bytes are none.
    NotText {
        /// The encoding.
        encoding: Encoding,
        /// The partitioner.
        partitioner: Partitioner,
    },
    /// The keys are windowed, and the partitioner is not the one by which Kafka Streams places those.
    Windowed {
        /// The partitioner.
        partitioner: Partitioner,
    },
}

/// One name that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedName {
    /// The name as it was declared.
    pub name: String,
    /// Why it can't be used.
    pub why: Why,
    /// What may stand there instead.
    instead: Vec<&'static str>,
}

/// Why a name can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// No version knows the name.
    Unknown,
    /// The name differs from a known one in case, spaces or punctuation.
    Misspelt {
        /// The known name.
        meant: &'static str,
    },
    /// Some client calls a setting so.
    ClientsOwn {
        /// The client.
        client: &'static str,
        /// The partitioner that the setting stands for.
        meant: &'static str,
    },
}

impl UnsupportedName {
    pub(super) fn partitioner(name: &str) -> Self {
        let names = Partitioner::COMPUTED.iter().map(Partitioner::name);
        let mut unsupported = Self::of(name, names.chain(["custom:NAME"]).collect());
        if unsupported.why == Why::Unknown
            && let Some((client, meant)) = clients::who_calls_it(name)
        {
            unsupported.why = Why::ClientsOwn { client, meant };
        }
        unsupported
    }

    pub(super) fn encoding(name: &str) -> Self {
        Self::of(name, Encoding::names().collect())
    }

    fn of(name: &str, instead: Vec<&'static str>) -> Self {
        let folded = fold(name);
        let why = match instead.iter().find(|known| fold(known) == folded) {
            Some(meant) if !meant.contains(':') => Why::Misspelt { meant },
            _ => Why::Unknown,
        };
        Self {
            name: name.to_owned(),
            why,
            instead,
        }
    }
}

/// The letters and digits of a name in lower case.
pub(super) fn fold(name: &str) -> String {
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// A text from outside in quotes, escaped and cut: it may come from a command line or an older CRD without bounds, and
/// ends up in a condition's message.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 64;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

/// What to say of a name, to follow its kind.
impl fmt::Display for UnsupportedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = quoted(&self.name);
        match self.why {
            Why::Unknown => write!(f, "{name} is not known; use {}", self.instead.join(", ")),
            Why::Misspelt { meant } => write!(f, "{name} is not known; write it as {meant}"),
            Why::ClientsOwn { client, meant } => {
                write!(f, "{name} is what {client} calls it; write {meant}")
            }
        }
    }
}

/// One sentence a part that can't be used, without the path of the field: the caller knows which topic it is.
impl fmt::Display for UnsupportedScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Names {
                encoding: Some(encoding),
                partitioner: Some(partitioner),
            } => write!(f, "encoding {encoding}. Partitioner {partitioner}"),
            Self::Names {
                encoding: Some(name),
                partitioner: None,
            } => write!(f, "encoding {name}"),
            Self::Names {
                encoding: None,
                partitioner: Some(name),
            } => write!(f, "partitioner {name}"),
            Self::Names {
                encoding: None,
                partitioner: None,
            } => Ok(()),
            Self::NotText {
                encoding,
                partitioner,
            } => write!(
                f,
                "partitioner {partitioner} hashes text, and keys of encoding {encoding} are none; use utf8 or another encoding of text"
            ),
            Self::Windowed { partitioner } => write!(
                f,
                "windowed keys are placed by Kafka Streams with murmur2 over the key inside, not with {partitioner}; declare murmur2, or \
                 declare the bytes as hex without a window if another producer hashes them whole"
            ),
        }
    }
}

impl std::error::Error for UnsupportedScheme {}
impl std::error::Error for UnsupportedName {}
