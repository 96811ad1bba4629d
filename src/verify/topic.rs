//! What the judge is told: the topics, and their records one by one.

use serde::{Deserialize, Serialize};
use siphasher::sip128::SipHasher24;

use crate::keys::{Formula, KeyScheme, PartitionCount};

/// A topic whose records are judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// The scheme that is declared for it, if any.
    pub scheme: Option<KeyScheme>,
    /// Its partition count now.
    pub count: PartitionCount,
    /// Its last growth, if one is known.
    pub growth: Option<Growth>,
}

/// The last growth of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The partition count before.
    pub from: PartitionCount,
    /// The marks of each partition, from partition 0 on. Records of partitions without marks are left out.
    pub marks: Vec<Marks>,
}

/// Two offsets of a partition around a growth. A missing one proves nothing: records that it would have shown to be of
/// the old or the new count are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The end offset before the growth: records below were placed at the old count. 0 for a new partition.
    pub before: Option<i64>,
    /// The end offset once all producers had to know of it: records from here on were placed at the new count.
    pub after: Option<i64>,
}

/// A record, as far as the judge looks at it.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The number of its topic, from 0 on, in the order in which the judge was given them.
    pub topic: usize,
    /// Its partition.
    pub partition: i32,
    /// Its offset.
    pub offset: i64,
    /// The bytes of its key; `None` if it has none.
    pub key: Option<&'a [u8]>,
}

/// The secret of the fingerprints: 16 random bytes that the caller draws anew for each process.
#[derive(Clone, Copy)]
pub struct FingerprintKey(pub [u8; 16]);

impl FingerprintKey {
    pub(super) fn fingerprint(self, key: &[u8]) -> u128 {
        SipHasher24::new_with_key(&self.0).hash(key).as_u128()
    }
}

/// The time at which a record was placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Era {
    /// Before the last growth.
    Before,
    /// Since then.
    Now,
}

impl Topic {
    /// When a record was placed; `None` if nobody can tell.
    pub(super) fn era(&self, partition: i32, offset: i64) -> Option<Era> {
        let Some(growth) = &self.growth else {
            return Some(Era::Now);
        };
        let at = usize::try_from(partition).ok()?;
        let marks = growth.marks.get(at).copied().unwrap_or_default();
        if marks.before.is_some_and(|mark| offset < mark) {
            return Some(Era::Before);
        }
        marks.after.filter(|mark| offset >= *mark).map(|_| Era::Now)
    }

    /// The partition count at that time.
    pub(super) fn count_in(&self, era: Era) -> PartitionCount {
        match (era, &self.growth) {
            (Era::Before, Some(growth)) => growth.from,
            _ => self.count,
        }
    }

    /// The formula of the declared partitioner, if it has one.
    pub(super) fn formula(&self) -> Option<Formula> {
        self.scheme.as_ref()?.partitioner.formula()
    }

    /// The bytes of a key that are hashed: without the window that is declared. A key that is too short to have one is
    /// hashed as it is.
    pub(super) fn hashed<'a>(&self, key: &'a [u8]) -> &'a [u8] {
        let window = self.scheme.as_ref().and_then(|it| it.encoding.window);
        let suffix = window.map_or(0, crate::keys::Window::suffix);
        key.len()
            .checked_sub(suffix)
            .and_then(|inside| key.get(..inside))
            .unwrap_or(key)
    }
}
