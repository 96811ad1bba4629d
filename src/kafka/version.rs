//! Which version of Kafka brokers run, as far as their protocol tells: nothing in it names one.
//!
//! Since 3.3 with KRaft, each broker says which levels of the feature `metadata.version` its program supports, and which one
//! the cluster has switched on; each release has levels of its own. Brokers without it (with ZooKeeper, or of other makers) are told by the
//! versions of the Fetch API, which releases raise now and then: they are as new as that, or newer.

use super::wire::Versions;

/// The feature that all brokers with KRaft have.
const FEATURE: &str = "metadata.version";
/// The highest level that is meant for production in each release, oldest first (Kafka's `MetadataVersion`).
const LEVELS: [(i16, &str); 11] = [
    (7, "3.3"),
    (8, "3.4"),
    (11, "3.5"),
    (14, "3.6"),
    (19, "3.7"),
    (20, "3.8"),
    (21, "3.9"),
    (25, "4.0"),
    (27, "4.1"),
    (29, "4.2"),
    (30, "4.3"),
];
/// The number of the Fetch API.
const FETCH: i16 = 1;
/// The release in which the Fetch API got a version, oldest first.
const FETCHES: [(i16, &str); 5] = [
    (11, "2.4"),
    (12, "2.7"),
    (13, "3.1"),
    (15, "3.5"),
    (16, "3.7"),
];

/// For people: `4.3`; `4.3, metadata.version 4.1` in the middle of an upgrade; `3.7 or later`. `None` if nothing tells.
pub(super) fn version(versions: &Versions) -> Option<String> {
    let program = versions.supported.get(FEATURE).map(|(_, level)| *level);
    let Some(program) = program else {
        let (_, fetch) = versions.apis.get(&FETCH)?;
        let known = FETCHES.iter().rev().find(|(least, _)| fetch >= least);
        return known.map(|(_, release)| format!("{release} or later"));
    };
    let of_program = release(program)?;
    let of_cluster = versions.finalized.get(FEATURE).copied().and_then(release);
    Some(match of_cluster {
        Some(of_cluster) if of_cluster != of_program => {
            format!("{of_program}, {FEATURE} {of_cluster}")
        }
        _ => of_program,
    })
}

/// The release that a level belongs to.
fn release(level: i16) -> Option<String> {
    let known = LEVELS.iter().find(|(highest, _)| level <= *highest);
    match known {
        Some((_, release)) => Some((*release).to_owned()),
        None => LEVELS
            .last()
            .map(|(_, release)| format!("later than {release}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kraft(program: i16, cluster: i16) -> Option<String> {
        let mut versions = Versions::default();
        versions.supported.insert(FEATURE.to_owned(), (1, program));
        versions.finalized.insert(FEATURE.to_owned(), cluster);
        version(&versions)
    }

    #[test]
    fn levels_tell_the_release() {
        assert_eq!(kraft(30, 30).as_deref(), Some("4.3"));
        assert_eq!(kraft(21, 21).as_deref(), Some("3.9"));
        // Within one release.
        assert_eq!(kraft(27, 26).as_deref(), Some("4.1"));
        let upgrade = kraft(30, 21);
        assert_eq!(upgrade.as_deref(), Some("4.3, metadata.version 3.9"));
        assert_eq!(kraft(99, 99).as_deref(), Some("later than 4.3"));
        assert!(kraft(i16::MAX, 99).is_some_and(|text| text.len() <= 63));
    }

    #[test]
    fn others_are_at_least_as_new_as_their_apis() {
        let fetch = |most| {
            let mut versions = Versions::default();
            versions.apis.insert(FETCH, (0, most));
            version(&versions)
        };
        assert_eq!(fetch(16).as_deref(), Some("3.7 or later"));
        assert_eq!(fetch(14).as_deref(), Some("3.1 or later"));
        assert_eq!(fetch(9), None);
        assert_eq!(version(&Versions::default()), None);
    }
}
