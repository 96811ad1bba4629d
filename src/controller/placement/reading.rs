//! From what groups ask for to one question, and from its answer to what the judge says to each of them.

use crate::kafka::{ConnectionSettings, Error, FoundGroups, GroupError, WantedGroups};
use crate::placement::{Asked, ConsumerGroup, Counted, Unread, Why, judge};
use crate::plan::PlacementEvidence;

/// What is to be read for a group.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::controller) struct Wish {
    /// The way to its cluster.
    pub(in crate::controller) settings: ConnectionSettings,
    /// Its topics as they are.
    pub(in crate::controller) about: Vec<Counted>,
    /// The consumer groups that are to read them together.
    pub(in crate::controller) asked: Vec<Asked>,
}

/// What all of them want.
pub(super) fn wanted<'a>(wishes: impl Iterator<Item = &'a Wish>) -> WantedGroups {
    let mut wanted = WantedGroups::default();
    for asked in wishes.flat_map(|wish| &wish.asked) {
        match asked {
            Asked::Id(id) => wanted.ids.insert(id.clone()),
            Asked::Prefix(prefix) => wanted.prefixes.insert(prefix.clone()),
        };
    }
    wanted
}

/// What a reading says of one wish.
pub(super) fn of(wish: &Wish, found: &FoundGroups) -> PlacementEvidence {
    let asks = |id: &String| wish.asked.iter().any(|asked| asked.asks_for(id));
    let (mut groups, mut unread) = (Vec::<ConsumerGroup>::new(), Vec::new());
    for (id, group) in found.groups.iter().filter(|(id, _)| asks(id)) {
        match group {
            Ok(group) => groups.push(group.clone()),
            Err(error) => {
                let (why, words) = why(error);
                unread.push(Unread {
                    of: Asked::Id(id.clone()),
                    why,
                    words,
                });
            }
        }
    }
    for (prefix, error) in &found.unlisted {
        let of = Asked::Prefix(prefix.clone());
        if wish.asked.contains(&of) {
            unread.push(Unread {
                of,
                why: Why::Failed,
                words: error.to_string(),
            });
        }
    }
    let report = judge(&wish.about, &wish.asked, &groups, &unread);
    PlacementEvidence::new(wish.about.clone(), wish.asked.clone(), &report)
}

/// What it says that nothing could be read.
pub(super) fn nothing(wish: &Wish, error: &Error) -> PlacementEvidence {
    let (why, words) = why_nothing(error);
    let unread: Vec<Unread> = wish
        .asked
        .iter()
        .map(|asked| Unread {
            of: asked.clone(),
            why,
            words: words.clone(),
        })
        .collect();
    let report = judge(&wish.about, &wish.asked, &[], &unread);
    PlacementEvidence::new(wish.about.clone(), wish.asked.clone(), &report)
}

/// The groups that may not be described.
pub(super) fn hidden(found: &FoundGroups) -> Vec<String> {
    let groups = found.groups.iter();
    let hidden = groups.filter(|(_, group)| matches!(group, Err(GroupError::NotAuthorized(_))));
    hidden.map(|(id, _)| id.clone()).collect()
}

fn why(error: &GroupError) -> (Why, String) {
    match error {
        GroupError::NotAuthorized(words) => (Why::NotAuthorized, words.clone()),
        GroupError::Unsupported(words) => (Why::Unsupported, words.clone()),
        GroupError::Failed(error) => (Why::Failed, error.to_string()),
    }
}

/// The client library reaches the cluster, or nothing would be asked for. Where the way by which groups are read does not get in,
/// which has a TLS library of its own, that is a limit of this program.
fn why_nothing(error: &Error) -> (Why, String) {
    let why = match error {
        Error::AuthenticationFailed(_) | Error::CertificateRejected(_) => Why::Unsupported,
        Error::Rejected { code, .. } if code == "UNSUPPORTED_VERSION" => Why::Unsupported,
        Error::NotAuthorized(_) => Why::NotAuthorized,
        Error::Unreachable(_) | Error::Timeout(_) | Error::Rejected { .. } => Why::Failed,
    };
    (why, error.to_string())
}
