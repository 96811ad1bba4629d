//! From the lists of brokers to the questions that are left.

use std::collections::{BTreeMap, BTreeSet};

use super::super::error::Error;
use super::super::wire::{Listed, Node};
use super::{FoundGroups, GroupError, WantedGroups, bare};
use crate::placement::{Phase, Protocol};

/// How a group is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Classic,
    Consumer,
    Streams,
}

/// What brokers list.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Wanted groups, with the broker that lists them.
    pub(super) groups: BTreeMap<String, (Node, Listed)>,
    /// Why one of the brokers gave no list.
    pub(super) failure: Option<Error>,
}

impl Listing {
    /// Leaves out groups that only a prefix found, beyond a number for each; notes the prefixes that found too many, or,
    /// without all lists, may have found too few.
    pub(super) fn shorten(&mut self, most: usize, wanted: &WantedGroups, found: &mut FoundGroups) {
        let mut stay: BTreeSet<String> = BTreeSet::new();
        for prefix in &wanted.prefixes {
            let mut all = self.groups.keys().filter(|id| id.starts_with(prefix));
            stay.extend(all.clone().take(most).cloned());
            let beyond = all.nth(most).map(|_| Error::Rejected {
                code: "_TOO_MANY_GROUPS".to_owned(),
                message: format!("more than {most} groups begin so, and no more are read"),
            });
            if let Some(error) = self.failure.clone().or(beyond) {
                found.unlisted.insert(prefix.clone(), error);
            }
        }
        self.groups
            .retain(|id, _| wanted.ids.contains(id) || stay.contains(id));
    }

    /// The groups that are wanted by id and that no broker lists: they are gone, or hidden.
    pub(super) fn unlisted(&self, wanted: &WantedGroups) -> Vec<String> {
        let ids = wanted.ids.iter();
        let unlisted = ids.filter(|id| !self.groups.contains_key(*id));
        unlisted.cloned().collect()
    }

    /// Notes groups that no broker lists, and that are not hidden: they do not exist, if all brokers gave their lists.
    pub(super) fn missing(&self, unlisted: &[String], found: &mut FoundGroups) {
        for id in unlisted {
            if found.groups.contains_key(id) {
                continue;
            }
            let group = match &self.failure {
                None => Ok(bare(id, Protocol::Classic, Phase::Missing)),
                Some(error) => Err(GroupError::Failed(error.clone())),
            };
            found.groups.insert(id.clone(), group);
        }
    }

    /// Which groups to describe where, by kind. What needs no description is noted.
    pub(super) fn questions(&self, found: &mut FoundGroups) -> BTreeMap<(Node, Kind), Vec<String>> {
        let mut questions: BTreeMap<(Node, Kind), Vec<String>> = BTreeMap::new();
        for (id, (node, listed)) in &self.groups {
            match kind(listed) {
                // The topology of a stopped application stays for a while.
                Ok(kind) if kind == Kind::Streams || listed.state != "Empty" => {
                    let question = questions.entry((node.clone(), kind)).or_default();
                    question.push(id.clone());
                }
                Ok(kind) => {
                    let protocol = match kind {
                        Kind::Classic => Protocol::Classic,
                        Kind::Consumer => Protocol::Consumer,
                        Kind::Streams => Protocol::Streams,
                    };
                    let empty = bare(id, protocol, Phase::Empty);
                    found.groups.insert(id.clone(), Ok(empty));
                }
                Err(other) => {
                    let phase = Phase::Other(listed.state.clone());
                    let group = bare(id, Protocol::Other(other), phase);
                    found.groups.insert(id.clone(), Ok(group));
                }
            }
        }
        questions
    }
}

/// How the group is described, or the name of its kind, if it is not known here.
fn kind(listed: &Listed) -> Result<Kind, String> {
    match listed.kind.to_ascii_lowercase().as_str() {
        "consumer" => Ok(Kind::Consumer),
        "streams" => Ok(Kind::Streams),
        // Brokers before 3.8 name no kind. Of other uses of the classic protocol, such as Kafka Connect's, the protocol type
        // tells; it is empty where offsets were committed and nobody ever joined.
        "classic" | "" => match listed.protocol_type.as_str() {
            "consumer" | "" => Ok(Kind::Classic),
            other => Err(other.to_owned()),
        },
        _ => Err(listed.kind.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(id: &str, protocol_type: &str, state: &str, kind: &str) -> Listed {
        Listed {
            id: id.to_owned(),
            protocol_type: protocol_type.to_owned(),
            state: state.to_owned(),
            kind: kind.to_owned(),
        }
    }

    fn node(port: u16) -> Node {
        Node {
            host: "kafka".to_owned(),
            port,
        }
    }

    fn wanted(ids: &[&str]) -> WantedGroups {
        WantedGroups {
            ids: ids.iter().map(|id| (*id).to_owned()).collect(),
            prefixes: BTreeSet::from(["p".to_owned()]),
        }
    }

    #[test]
    fn the_list_says_how_to_ask_and_what_need_not_be_asked() {
        let mut listing = Listing::default();
        for group in [
            listed("classic", "consumer", "Stable", "classic"),
            listed("new", "consumer", "Stable", "Consumer"),
            listed("streams", "streams", "Empty", "streams"),
            listed("old", "consumer", "", ""),
            listed("committed", "", "Empty", "classic"),
            listed("connect", "connect", "Stable", "classic"),
            listed("share", "share", "Stable", "share"),
            listed("future", "future", "Stable", "Future"),
        ] {
            listing.groups.insert(group.id.clone(), (node(1), group));
        }
        let mut found = FoundGroups::default();
        let questions = listing.questions(&mut found);
        let asked = |kind| questions[&(node(1), kind)].join(" ");
        assert_eq!(asked(Kind::Classic), "classic old");
        assert_eq!(asked(Kind::Consumer), "new");
        assert_eq!(asked(Kind::Streams), "streams");
        let said = |id: &str| {
            let group = found.groups[id].clone().unwrap();
            (group.protocol, group.phase)
        };
        assert_eq!(said("committed"), (Protocol::Classic, Phase::Empty));
        for (id, kind) in [
            ("connect", "connect"),
            ("share", "share"),
            ("future", "Future"),
        ] {
            let stable = Phase::Other("Stable".to_owned());
            assert_eq!(said(id), (Protocol::Other(kind.to_owned()), stable));
        }
    }

    #[test]
    fn a_group_is_missing_only_if_all_brokers_gave_their_lists() {
        let mut listing = Listing::default();
        let mut found = FoundGroups::default();
        let hidden = Err(GroupError::NotAuthorized("x".to_owned()));
        found.groups.insert("hidden".to_owned(), hidden.clone());
        let unlisted = listing.unlisted(&wanted(&["gone", "hidden"]));
        listing.missing(&unlisted, &mut found);
        assert_eq!(found.groups["gone"].as_ref().unwrap().phase, Phase::Missing);
        assert_eq!(found.groups["hidden"], hidden);
        let error = Error::Timeout("x".to_owned());
        listing.failure = Some(error.clone());
        let mut found = FoundGroups::default();
        listing.shorten(9, &wanted(&["gone"]), &mut found);
        listing.missing(&unlisted, &mut found);
        assert_eq!(found.groups["gone"], Err(GroupError::Failed(error.clone())));
        assert_eq!(found.unlisted["p"], error);
    }

    #[test]
    fn what_is_named_is_never_left_out() {
        let mut listing = Listing::default();
        for id in ["p1", "p2", "p3", "z"] {
            let group = listed(id, "consumer", "Stable", "classic");
            listing.groups.insert(id.to_owned(), (node(1), group));
        }
        let mut found = FoundGroups::default();
        listing.shorten(3, &wanted(&["z"]), &mut found);
        assert!(found.unlisted.is_empty());
        listing.shorten(1, &wanted(&["z", "p3"]), &mut found);
        assert_eq!(listing.groups.keys().collect::<Vec<_>>(), ["p1", "p3", "z"]);
        let said = found.unlisted["p"].to_string();
        assert!(said.contains("more than 1 groups"), "{said}");
    }
}
