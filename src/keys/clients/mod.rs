//! The clients that producers are written with: which setting of which version uses which partitioner. One table of data
//! ([`ALL`]), which docs/reference prints.

mod find;
mod markdown;
mod table;

use super::{KeyRule, Partitioner};

pub use find::{ProducerError, producer, setting_for};
pub use markdown::{clients_table, users};
pub use table::{ALL, LEFT_OUT};

pub(super) use find::who_calls_it;

/// A client library or a program that writes to Kafka.
#[derive(Debug)]
pub struct Client {
    /// The name that resources and the command line use.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Its settings that decide how keys are placed; the default one first.
    pub settings: &'static [Setting],
}

/// One way to configure a client.
#[derive(Debug)]
pub struct Setting {
    /// What the client itself calls it; the first name is the one that is shown. `default` is what happens if nothing is
    /// configured.
    pub names: &'static [&'static str],
    /// The versions for which this holds.
    pub versions: Versions,
    /// What it does with keys.
    pub keys: Keys,
    /// What becomes of a record without a key.
    pub null: KeyRule,
    /// How it is known.
    pub evidence: Evidence,
}

impl Setting {
    /// Whether this is what the client does if nothing is configured.
    pub fn is_default(&self) -> bool {
        self.names.contains(&DEFAULT)
    }
}

/// The name of a setting that is not made.
pub const DEFAULT: &str = "default";

/// What a setting does with keys.
#[derive(Debug)]
pub enum Keys {
    /// Places them by this partitioner.
    Placed(Partitioner),
    /// Places them by this partitioner, but takes an empty key for none.
    PlacedButEmpty(Partitioner),
    /// Does not look at them.
    Ignored(&'static str),
    /// Places them by a formula that this project could not verify.
    Unverified(&'static str),
}

/// A range of versions of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Versions {
    /// All of them.
    All,
    /// Those before this one: major, minor, patch.
    Before([u32; 3]),
    /// This one and later ones.
    From([u32; 3]),
    /// From the first on, up to before the second.
    Between([u32; 3], [u32; 3]),
}

/// How it is known what a client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The client was run, and where its records landed was read back; of some its own partitioner class, with another
    /// client to send.
    Run,
    /// The client's source was read.
    Read,
}

/// A client that writes a topic, as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Producer {
    /// Client, version and setting, for messages: `librdkafka murmur2_random`.
    pub label: String,
    /// How it places keys.
    pub partitioner: Partitioner,
    /// What it does with a record that has no key.
    pub null: KeyRule,
    /// It takes an empty key for none and spreads it, whatever its partitioner would do.
    pub spreads_empty: bool,
    /// It places windowed keys by the key inside, as Kafka Streams does; all others hash the window too.
    pub hashes_key_inside: bool,
}

#[cfg(test)]
mod tests;
