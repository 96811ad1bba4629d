//! What the judge is asked, and what could not be read for it.

use std::fmt;

/// Which consumer groups are looked at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    /// The one with this id. It is expected to exist.
    Id(String),
    /// All whose ids begin so.
    Prefix(String),
}

impl Asked {
    /// Whether this asks for the group.
    pub fn asks_for(&self, id: &str) -> bool {
        match self {
            Self::Id(one) => one == id,
            Self::Prefix(prefix) => id.starts_with(prefix.as_str()),
        }
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "consumer group {id}"),
            Self::Prefix(prefix) => write!(f, "consumer groups that begin with {prefix}"),
        }
    }
}

/// A topic with its partition count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Its name.
    pub name: String,
    /// How many partitions it has, 1 or more.
    pub partitions: i32,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.partitions)
    }
}

/// Something that was asked for and could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// One group, or the list of those that begin with a prefix.
    pub of: Asked,
    /// Why.
    pub why: Why,
    /// The broker's words, or what is missing here.
    pub words: String,
}

/// Why a consumer group could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The principal may not describe it.
    NotAuthorized,
    /// Its kind, or the way to its broker, is one that this program cannot use.
    Unsupported,
    /// No answer, or an error.
    Failed,
}
