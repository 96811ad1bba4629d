//! Consumer groups as their coordinators describe them, of whatever protocol.
//!
//! ```text
//! Metadata ─▶ all brokers ─▶ ListGroups of each: which groups are there, and of which kind
//!                              ├▶ one description per broker and kind: DescribeGroups (classic),
//!                              │  ConsumerGroupDescribe (KIP-848), StreamsGroupDescribe (KIP-1071)
//!                              └▶ may those be seen that no broker lists? (DescribeGroups, at any broker)
//! ```
//! Coordinators are not asked for (FindCoordinator): a cluster that never had a group would make a topic of its own to answer.
//! So a reading of many groups takes a few requests per broker. The list decides of which kind a group is: asked for a
//! group of another kind, brokers before 4.0 call it dead, whoever is in it. What is not known here is active.

mod plan;
mod streams;
mod translate;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::client::Client;
use super::connection::Connection;
use super::error::Error;
use super::permissions::GROUP_PERMISSION;
use super::wire::{
    Code, ConsumerGroupDescribe, DescribeGroups, Failure, ListGroups, Metadata, Node, Session,
    StreamsGroupDescribe, code,
};
use crate::placement::{ConsumerGroup, Phase, Protocol};
use plan::{Kind, Listing};

/// Groups in one request; what a coordinator says of one can be long.
const CHUNK: usize = 100;
/// So many groups of one prefix are read at most; what it finds beyond is left out, and said.
const MOST_OF_A_PREFIX: usize = 500;

/// Which groups are to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedGroups {
    /// By id.
    pub ids: BTreeSet<String>,
    /// By the beginning of their ids.
    pub prefixes: BTreeSet<String>,
}

impl WantedGroups {
    fn want(&self, id: &str) -> bool {
        self.ids.contains(id) || self.prefixes.iter().any(|prefix| id.starts_with(prefix))
    }
}

/// Why a group could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// The principal may not describe it. The text names operation and group.
    #[error("not authorized: {0}")]
    NotAuthorized(String),
    /// The brokers cannot tell of such a group, or not in a way that is understood here.
    #[error("{0}")]
    Unsupported(String),
    /// No answer, or the broker's words.
    #[error(transparent)]
    Failed(Error),
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundGroups {
    /// Each group that was asked for by its id, and those that the prefixes found. One that does not exist is
    /// [`Phase::Missing`].
    pub groups: BTreeMap<String, Result<ConsumerGroup, GroupError>>,
    /// Prefixes that may have found too little, and why.
    pub unlisted: BTreeMap<String, Error>,
}

/// Reads groups of one cluster; its connections stay open from one reading to the next.
#[derive(Default)]
pub struct GroupReader {
    /// With the connection that it belongs to.
    session: Option<(Weak<Connection>, Session)>,
}

impl GroupReader {
    /// Reads groups as they are now, by the client's way to the cluster. Descriptions that take several requests are spread
    /// over a time. Fails if no broker answers at all; each request waits at most the request timeout.
    pub async fn read(
        &mut self,
        client: &Client,
        wanted: &WantedGroups,
        spread: Duration,
    ) -> Result<FoundGroups, Error> {
        let connection = client.shared_connection();
        let same = |of: &Weak<Connection>| std::ptr::eq(of.as_ptr(), Arc::as_ptr(connection));
        let mut session = match self.session.take() {
            Some((of, session)) if same(&of) => session,
            _ => connection.wire().session().await?,
        };
        let found = read(&mut session, wanted, spread).await;
        // After a failure as a whole it begins anew, with the addresses that were given.
        if found.is_ok() {
            self.session = Some((Arc::downgrade(connection), session));
        }
        found
    }
}

async fn read(
    session: &mut Session,
    wanted: &WantedGroups,
    spread: Duration,
) -> Result<FoundGroups, Error> {
    let mut found = FoundGroups::default();
    let mut listing = Listing::default();
    for node in session.ask(&Metadata).await? {
        match session.ask_at(&node, &ListGroups).await {
            Ok((code, groups)) if code.number == code::NONE => {
                let groups = groups.into_iter().filter(|group| wanted.want(&group.id));
                let listed = groups.map(|group| (group.id.clone(), (node.clone(), group)));
                listing.groups.extend(listed);
            }
            Ok((code, _)) => listing.failure = Some(failed(&code)),
            Err(failure) => listing.failure = Some(Error::from(failure)),
        }
    }
    listing.shorten(MOST_OF_A_PREFIX, wanted, &mut found);
    let unlisted = listing.unlisted(wanted);
    for chunk in unlisted.chunks(CHUNK) {
        let answer = session.ask(&DescribeGroups(chunk)).await?;
        for group in answer {
            if group.code.number == code::GROUP_AUTHORIZATION_FAILED {
                let refused = refused(&group.code, &group.id);
                found.groups.insert(group.id, Err(refused));
            }
        }
    }
    listing.missing(&unlisted, &mut found);
    let questions = listing.questions(&mut found);
    let chunks: Vec<(&Node, Kind, &[String])> = questions
        .iter()
        .flat_map(|((node, kind), ids)| ids.chunks(CHUNK).map(move |ids| (node, *kind, ids)))
        .collect();
    let pause = spread / u32::try_from(chunks.len().max(1)).unwrap_or(u32::MAX);
    for (number, (node, kind, ids)) in chunks.into_iter().enumerate() {
        if number > 0 {
            tokio::time::sleep(pause).await;
        }
        describe(session, node, kind, ids, &listing, &mut found).await;
    }
    Ok(found)
}

/// Describes groups of one kind at their coordinator. Where all of them are too much for one answer, half of them are
/// asked for.
async fn describe(
    session: &mut Session,
    node: &Node,
    kind: Kind,
    ids: &[String],
    listing: &Listing,
    found: &mut FoundGroups,
) {
    let mut told: BTreeMap<String, Result<ConsumerGroup, GroupError>> = BTreeMap::new();
    let answer = match kind {
        Kind::Classic => session
            .ask_at(node, &DescribeGroups(ids))
            .await
            .map(|groups| {
                told.extend(groups.into_iter().map(|group| {
                    let listed = listing.groups.get(&group.id).map(|(_, listed)| listed);
                    (group.id.clone(), translate::classic(group, listed))
                }));
            }),
        Kind::Consumer => session
            .ask_at(node, &ConsumerGroupDescribe(ids))
            .await
            .map(|groups| {
                told.extend(
                    groups
                        .into_iter()
                        .map(|group| (group.id.clone(), translate::consumer(group))),
                );
            }),
        Kind::Streams => session
            .ask_at(node, &StreamsGroupDescribe(ids))
            .await
            .map(|groups| {
                told.extend(
                    groups
                        .into_iter()
                        .map(|group| (group.id.clone(), translate::streams(group))),
                );
            }),
    };
    let failure = match answer {
        Ok(()) => GroupError::Failed(Error::Timeout(
            "the broker's answer leaves this group out".to_owned(),
        )),
        Err(Failure::TooLarge) if ids.len() > 1 => {
            let (one, other) = ids.split_at(ids.len() / 2);
            Box::pin(describe(session, node, kind, one, listing, found)).await;
            Box::pin(describe(session, node, kind, other, listing, found)).await;
            return;
        }
        Err(failure) => of_failure(failure),
    };
    for id in ids {
        let group = told.remove(id).unwrap_or_else(|| Err(failure.clone()));
        found.groups.insert(id.clone(), group);
    }
}

fn of_failure(failure: Failure) -> GroupError {
    match failure {
        Failure::Unsupported(_) => GroupError::Unsupported(Error::from(failure).to_string()),
        other => GroupError::Failed(other.into()),
    }
}

/// What a broker refuses of one group.
fn refused(code: &Code, id: &str) -> GroupError {
    match code.number {
        code::GROUP_AUTHORIZATION_FAILED => GroupError::NotAuthorized(format!(
            "{GROUP_PERMISSION} on the group {id} is not granted ({})",
            code.name()
        )),
        code::TOPIC_AUTHORIZATION_FAILED => GroupError::NotAuthorized(format!(
            "DESCRIBE on the topics of the group {id} is not granted, without which the coordinator does not describe it ({})",
            code.name()
        )),
        _ => GroupError::Failed(failed(code)),
    }
}

fn failed(code: &Code) -> Error {
    match code.number {
        code::COORDINATOR_LOAD_IN_PROGRESS
        | code::COORDINATOR_NOT_AVAILABLE
        | code::NOT_COORDINATOR => Error::Timeout(format!(
            "another broker is about to coordinate it ({})",
            code.name()
        )),
        code::CLUSTER_AUTHORIZATION_FAILED => Error::NotAuthorized(code.words()),
        _ => Error::Rejected {
            code: code.name(),
            message: code.words(),
        },
    }
}

/// A group of which no more is known than that.
fn bare(id: &str, protocol: Protocol, phase: Phase) -> ConsumerGroup {
    ConsumerGroup {
        id: id.to_owned(),
        protocol,
        phase,
        assignor: None,
        members: Vec::new(),
        sub_topologies: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
