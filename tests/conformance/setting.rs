//! What a client can be set to, and what it then is expected to do with a key.

use copartition::keys::clients::{Producer, ProducerError, producer};
use copartition::keys::{KeyRule, Partitioner};

/// A client library.
pub(super) struct Client {
    /// The name that `tests/clients/run` knows it by.
    pub(super) name: &'static str,
    /// Its name in `copartition::keys::clients`, and the version that runs here.
    pub(super) known_as: (&'static str, [u32; 3]),
    pub(super) keys: Keys,
    pub(super) settings: &'static [Setting],
}

/// What a client takes as a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    Bytes,
    /// Its partitioner looks at the characters of a text.
    Text,
}

/// One way to configure a client's partitioner.
pub(super) struct Setting {
    /// The client's own name of it; `default` is nothing configured.
    pub(super) name: &'static str,
    /// Our name of the partitioner that it is; `None` where it looks at no key.
    pub(super) partitioner: Option<&'static str>,
    /// Whether keys that are spread change the partition with time and not with each record: then a few records say
    /// nothing of them.
    pub(super) sticky: bool,
    /// How many bytes of a window the client appends to a key after it has chosen the partition.
    pub(super) window: usize,
    /// Whether the client sends an empty key as no key.
    pub(super) drops_empty: bool,
}

impl Setting {
    pub(super) const fn of(name: &'static str, partitioner: &'static str) -> Self {
        Self {
            name,
            partitioner: Some(partitioner),
            sticky: false,
            window: 0,
            drops_empty: false,
        }
    }

    pub(super) const fn without_keys(name: &'static str) -> Self {
        Self {
            partitioner: None,
            ..Self::of(name, "")
        }
    }

    pub(super) const fn sticky(mut self) -> Self {
        self.sticky = true;
        self
    }

    /// Its name in `copartition::keys::clients`. Kafka Streams has no settings for windows: it knows them by the key.
    pub(super) fn known_as(&self) -> &'static str {
        if self.window == 0 {
            self.name
        } else {
            "default"
        }
    }

    pub(super) const fn drops_empty(mut self) -> Self {
        self.drops_empty = true;
        self
    }

    pub(super) const fn with_window(mut self, bytes: usize) -> Self {
        self.window = bytes;
        self
    }
}

/// What a client should do with keys.
pub(super) struct Wanted {
    /// `None` if it should look at none.
    pub(super) partitioner: Option<Partitioner>,
    pub(super) null: KeyRule,
}

impl Wanted {
    /// What the table of clients says of it, which is what a resource that names the client relies on.
    ///
    /// # Panics
    /// When the partitioner is not the one that the setting names.
    pub(super) fn of(client: &Client, setting: &Setting) -> Self {
        let (name, version) = client.known_as;
        let version = version.map(|number| number.to_string()).join(".");
        let known = setting.known_as();
        let wanted = match producer(name, Some(&version), Some(known)) {
            Ok(Producer {
                hashes_key_inside, ..
            }) if (setting.window > 0) && !hashes_key_inside => {
                panic!("{name} should hash the key inside a window")
            }
            // A grouping by key, which is what makes windows, takes no record without one.
            Ok(known) if setting.window > 0 => Self::by(known.partitioner, KeyRule::Refused),
            Ok(known) => Self::by(known.partitioner, known.null),
            Err(ProducerError::IgnoresKeys { .. }) => Self {
                partitioner: None,
                null: KeyRule::Spread,
            },
            Err(e) => panic!("{e}"),
        };
        let named = wanted.partitioner.as_ref().map(Partitioner::name);
        assert_eq!(named, setting.partitioner, "{name} {version} {known}");
        wanted
    }

    pub(super) fn by(partitioner: Partitioner, null: KeyRule) -> Self {
        Self {
            partitioner: Some(partitioner),
            null,
        }
    }
}
