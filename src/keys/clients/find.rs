//! From what a resource says of a producer to what the table knows of it.

use std::fmt;

use super::{ALL, Client, DEFAULT, Keys, Producer, Setting, Versions};
use crate::keys::unsupported::{fold, quoted};
use crate::keys::{KeyRule, Partitioner};

/// Why a declared producer can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProducerError {
    /// No client has this name.
    UnknownClient {
        /// The name as it was declared.
        client: String,
    },
    /// The client has no such setting.
    UnknownSetting {
        /// The client.
        client: &'static str,
        /// The setting as it was declared.
        setting: String,
    },
    /// The version is none: it does not begin with a number.
    UnreadableVersion {
        /// The client.
        client: &'static str,
        /// The version as it was declared.
        version: String,
    },
    /// What the setting does changed over time, and no version is declared.
    VersionNeeded {
        /// The client.
        client: &'static str,
        /// What it does in which versions.
        which: String,
    },
    /// The setting does not exist in that version.
    NotInVersion {
        /// The client.
        client: &'static str,
        /// The setting as it was declared.
        setting: String,
        /// The versions that have it.
        versions: String,
    },
    /// The setting does not look at keys.
    IgnoresKeys {
        /// The client and its setting.
        label: String,
        /// How.
        how: &'static str,
        /// The settings that do.
        instead: String,
    },
    /// The formula could not be verified.
    Unverified {
        /// The client and its setting.
        label: String,
        /// Why not.
        why: &'static str,
    },
}

impl fmt::Display for ProducerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownClient { client } => {
                let known: Vec<&str> = ALL.iter().map(|client| client.name).collect();
                write!(
                    f,
                    "client {} is not known; use {}, or leave it out and declare the partitioner in keyScheme",
                    quoted(client),
                    known.join(", ")
                )
            }
            Self::UnknownSetting { client, setting } => write!(
                f,
                "{client} has no partitioner {}; use {}, or custom:NAME for one of your own",
                quoted(setting),
                settings_of(client)
            ),
            Self::UnreadableVersion { client, version } => write!(
                f,
                "version {} of {client} is not a number such as 2 or 2.2.4",
                quoted(version)
            ),
            Self::VersionNeeded { client, which } => write!(
                f,
                "what {client} does changed ({which}); declare its version"
            ),
            Self::NotInVersion {
                client,
                setting,
                versions,
            } => write!(
                f,
                "{client} has {} in versions {versions} only",
                quoted(setting)
            ),
            Self::IgnoresKeys {
                label,
                how,
                instead,
            } => {
                write!(f, "{label} does not place records by key: {how}")?;
                match instead.as_str() {
                    "" => Ok(()),
                    instead => write!(f, "; configure {instead}"),
                }
            }
            Self::Unverified { label, why } => write!(
                f,
                "where {label} puts keys is not known: {why}; declare it as custom:NAME"
            ),
        }
    }
}

impl std::error::Error for ProducerError {}

/// What a client does with keys, by its name, version and its own name of the setting; `None` for the version asks for
/// one that holds in all versions, `None` for the setting for the default. `custom:NAME` is a partitioner of the
/// author's own in any client.
///
/// # Errors
/// [`ProducerError`] says what is wrong and what may stand there.
pub fn producer(
    client: &str,
    version: Option<&str>,
    setting: Option<&str>,
) -> Result<Producer, ProducerError> {
    let Some(known) = named(client) else {
        return Err(ProducerError::UnknownClient {
            client: client.to_owned(),
        });
    };
    let parsed = version.map(|version| {
        parse(version).ok_or_else(|| ProducerError::UnreadableVersion {
            client: known.name,
            version: version.to_owned(),
        })
    });
    let parsed = parsed.transpose()?;
    let label = label(known, version, setting);
    let custom = setting.and_then(|name| name.strip_prefix("custom:"));
    if let Some(own) = custom.filter(|own| !own.is_empty()) {
        return Ok(Producer {
            label,
            partitioner: Partitioner::Custom(own.to_owned()),
            null: KeyRule::Spread,
            spreads_empty: false,
            hashes_key_inside: false,
        });
    }
    let found = find(known, parsed, setting.unwrap_or(DEFAULT))?;
    let (partitioner, spreads_empty) = match &found.keys {
        Keys::Placed(partitioner) => (partitioner, false),
        Keys::PlacedButEmpty(partitioner) => (partitioner, true),
        Keys::Ignored(how) => {
            return Err(ProducerError::IgnoresKeys {
                label,
                how,
                instead: placing(known).join(", "),
            });
        }
        Keys::Unverified(why) => return Err(ProducerError::Unverified { label, why }),
    };
    Ok(Producer {
        label,
        partitioner: partitioner.clone(),
        null: found.null,
        spreads_empty,
        hashes_key_inside: matches!(known.name, "kafka-streams" | "ksqldb"),
    })
}

fn find(
    client: &'static Client,
    version: Option<[u32; 3]>,
    name: &str,
) -> Result<&'static Setting, ProducerError> {
    let named = |name: &str| -> Vec<&Setting> {
        let settings = client.settings.iter();
        settings
            .filter(|setting| setting.names.iter().any(|known| fold(known) == fold(name)))
            .collect()
    };
    // As it stands, or without the package, class or module before it: `&kafka.Hash{}`.
    let own = name.rsplit('.').next().unwrap_or(name);
    let named = Some(named(name))
        .filter(|found| !found.is_empty())
        .unwrap_or_else(|| named(own));
    if named.is_empty() {
        return Err(ProducerError::UnknownSetting {
            client: client.name,
            setting: name.to_owned(),
        });
    }
    let said = || {
        let each = named.iter().map(|setting| match &setting.keys {
            Keys::Placed(partitioner) | Keys::PlacedButEmpty(partitioner) => {
                format!("{}: {partitioner}", setting.versions)
            }
            Keys::Ignored(_) => format!("{}: keys ignored", setting.versions),
            Keys::Unverified(_) => format!("{}: not known", setting.versions),
        });
        each.collect::<Vec<_>>().join(", ")
    };
    match (version, &named[..]) {
        // A setting that came with some version is there if somebody declares it. Versions before 1.0 are history: who
        // still has one declares it.
        (None, [only]) => Ok(only),
        (None, [old, now]) if old.versions.are_history() => Ok(now),
        (None, _) => Err(ProducerError::VersionNeeded {
            client: client.name,
            which: said(),
        }),
        (Some(version), _) => named
            .iter()
            .find(|setting| setting.versions.contain(version))
            .copied()
            .ok_or_else(|| ProducerError::NotInVersion {
                client: client.name,
                setting: name.to_owned(),
                versions: said(),
            }),
    }
}

/// `kafkajs 2.2.4 LegacyPartitioner`.
fn label(client: &Client, version: Option<&str>, setting: Option<&str>) -> String {
    let parts = [Some(client.name), version, setting];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The settings of a client that look at keys.
fn placing(client: &Client) -> Vec<&'static str> {
    let placed = client
        .settings
        .iter()
        .filter(|setting| setting.partitioner().is_some() && !setting.is_default());
    first_names(placed)
}

/// The names that are shown, of which several versions share one.
fn first_names<'a>(settings: impl Iterator<Item = &'a Setting>) -> Vec<&'static str> {
    let mut names: Vec<&str> = settings.map(|setting| setting.names[0]).collect();
    names.dedup();
    names
}

/// The client of that name.
fn named(client: &str) -> Option<&'static Client> {
    ALL.iter().find(|known| known.name == client)
}

fn settings_of(client: &str) -> String {
    let settings = named(client).into_iter().flat_map(|client| client.settings);
    first_names(settings).join(", ")
}

/// How a client is configured to use a partitioner; `None` if it can't.
pub fn setting_for(client: &str, partitioner: &Partitioner) -> Option<&'static str> {
    let client = named(client)?;
    let setting =
        client.settings.iter().rev().find(
            |setting| matches!(&setting.keys, Keys::Placed(placed) if placed == partitioner),
        )?;
    Some(setting.names[0])
}

/// The client that calls a setting so, and the partitioner it stands for; `None` if several mean different ones by it.
pub(in crate::keys) fn who_calls_it(name: &str) -> Option<(&'static str, &'static str)> {
    let mut found: Option<(&'static str, &'static str)> = None;
    let own = |setting: &&Setting| {
        let mut names = setting.names.iter().filter(|known| **known != DEFAULT);
        !setting.versions.are_history() && names.any(|known| fold(known) == fold(name))
    };
    for client in ALL {
        let settings = client.settings.iter().filter(own);
        for partitioner in settings.filter_map(Setting::partitioner) {
            match found {
                None => found = Some((client.name, partitioner.name())),
                Some((_, meant)) if meant == partitioner.name() => {}
                Some(_) => return None,
            }
        }
    }
    found
}

/// The first three numbers of a version; what is missing is 0. `v1.16`, `2`, `2.2.4-beta` are fine.
fn parse(version: &str) -> Option<[u32; 3]> {
    let mut numbers = [0; 3];
    let mut parts = version
        .strip_prefix('v')
        .unwrap_or(version)
        .split(['.', '-', '+']);
    numbers[0] = parts.next()?.parse().ok()?;
    for number in &mut numbers[1..] {
        match parts.next().map(str::parse) {
            Some(Ok(part)) => *number = part,
            _ => break,
        }
    }
    Some(numbers)
}

impl Versions {
    fn are_history(self) -> bool {
        matches!(self, Self::Before([0, ..]))
    }

    /// Whether this version is one of them.
    pub fn contain(self, version: [u32; 3]) -> bool {
        match self {
            Self::All => true,
            Self::Before(end) => version < end,
            Self::From(start) => start <= version,
            Self::Between(start, end) => start <= version && version < end,
        }
    }
}

/// `all`, `< 2.0`, `>= 2.0`.
impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |[major, minor, patch]: [u32; 3]| match patch {
            0 => format!("{major}.{minor}"),
            patch => format!("{major}.{minor}.{patch}"),
        };
        match *self {
            Self::All => f.write_str("all"),
            Self::Before(end) => write!(f, "< {}", short(end)),
            Self::From(start) => write!(f, ">= {}", short(start)),
            Self::Between(start, end) => write!(f, "{} to < {}", short(start), short(end)),
        }
    }
}
