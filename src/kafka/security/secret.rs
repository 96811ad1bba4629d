//! A value that nobody may read by accident.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use zeroize::Zeroizing;

/// A password, a private key or the like. Neither `Debug` nor `Display` tell anything of it, not even its length.
///
/// Clones share one copy, which is overwritten when the last one goes. Two are equal, and ordered, by their bytes, so
/// that settings with secrets can be told apart; a hash is made of none of them, since hashes get stored and shown.
#[derive(Clone)]
pub struct Secret(Arc<Zeroizing<Vec<u8>>>);

impl Secret {
    /// Takes the value over.
    pub fn new(value: impl Into<Vec<u8>>) -> Self {
        Self(Arc::new(Zeroizing::new(value.into())))
    }

    /// The value itself: to be handed on, not to be kept.
    pub(crate) fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.expose() == other.expose()
    }
}

impl Eq for Secret {}

impl PartialOrd for Secret {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Secret {
    fn cmp(&self, other: &Self) -> Ordering {
        self.expose().cmp(other.expose())
    }
}

impl Hash for Secret {
    fn hash<H: Hasher>(&self, _state: &mut H) {}
}

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hasher as _};

    use super::*;

    fn hash(secret: &Secret) -> u64 {
        let mut hasher = DefaultHasher::new();
        secret.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn it_is_told_apart_without_being_shown() {
        let [one, same, other] = ["geheim", "geheim", "anders"].map(Secret::new);
        assert_eq!(one, same);
        assert_ne!(one, other);
        assert!(one > other);
        assert_eq!(hash(&one), hash(&other));
        assert_eq!(
            format!("{one} {one:?} {one:#?}"),
            "(secret) (secret) (secret)"
        );
    }

    #[test]
    fn clones_share_one_copy() {
        let one = Secret::new("geheim");
        assert_eq!(one.clone().expose().as_ptr(), one.expose().as_ptr());
    }
}
