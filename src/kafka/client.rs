//! Every request that the operator makes of a cluster, as async functions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::chunk;
use super::connection::Connection;
use super::error::{Error, TopicError};
use super::ffi::{self, Failure, Handle, Limits, PerName};
use super::gather::Gather;
use super::guard::WriteGuard;
use super::metrics::{Api, Metrics};
use super::model::{ConfigChange, Growth, Lock, NewTopic, TopicAcl, TopicDescription};
use super::offsets;
use super::permissions::{self, Operation};
use super::settings::ConnectionSettings;
use super::writes::{self, Call, Item, Outcomes};

/// One name's part of an answer.
pub type PerTopic<T> = BTreeMap<String, Result<T, TopicError>>;

/// A blocking request about names.
type Request<T> = fn(Handle<'_>, Limits, &[String]) -> Result<PerName<T>, Failure>;

const DESCRIBE: (Api, Operation) = (Api::DescribeTopics, Operation::Describe);
/// A name that every broker refuses, so that no topic can be meant by it or come to be by it.
const NO_TOPIC: &str = "..";

/// The authorizers that read `allow.everyone.if.no.acl.found` as Kafka documents it, and take its absence for `false`:
/// that of `KRaft`, and that of Kafka with `ZooKeeper` (up to 3.9).
const KNOWN_AUTHORIZERS: [&str; 2] = [
    "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "kafka.security.authorizer.AclAuthorizer",
];

/// What becomes of a topic that no ACL matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutAcl {
    /// Nobody gets near it, but super users.
    Denied,
    /// Perhaps everybody may do everything.
    Unknown,
    /// There is no authorizer: everybody may do everything with all topics, whatever ACLs say.
    NoAuthorizer,
}

impl WithoutAcl {
    fn of(config: &BTreeMap<String, Option<String>>) -> Self {
        let Some(Some(authorizer)) = config.get("authorizer.class.name") else {
            return Self::Unknown;
        };
        if authorizer.is_empty() {
            return Self::NoAuthorizer;
        }
        let known = KNOWN_AUTHORIZERS.contains(&authorizer.as_str());
        if known && !config.contains_key("allow.everyone.if.no.acl.found") {
            Self::Denied
        } else {
            Self::Unknown
        }
    }
}

/// One connection to one Kafka cluster. Clones share it. No method blocks the runtime; each waits at most the
/// request timeout for an answer, and gives up after the first request of several that is not answered.
///
/// Writes made at nearly the same time (by many groups) are sent as one request where they fit into one.
#[derive(Clone, Debug)]
pub struct Client {
    connection: Arc<Connection>,
    creations: Gather<Call<NewTopic>, Outcomes>,
    growths: Gather<Call<Growth>, Outcomes>,
    changes: Gather<Call<ConfigChange>, Outcomes>,
    locks: Gather<Call<Lock>, Outcomes>,
    unlocks: Gather<Call<Lock>, Outcomes>,
}

impl Client {
    /// A client for the cluster; must be called in a Tokio runtime. Returns at once, before anything is
    /// connected: an unreachable cluster shows with the first request. Fails if the settings are unusable,
    /// for one without a server. Nothing is written while `guard` does not allow it.
    pub fn connect(
        settings: &ConnectionSettings,
        metrics: Arc<Metrics>,
        guard: &WriteGuard,
    ) -> Result<Self, Error> {
        let connection = Arc::new(Connection::open(settings, metrics)?);
        let api = Api::CreateTopics;
        let creations = gather(&connection, guard, api, ffi::create_topics);
        let api = Api::CreatePartitions;
        let growths = gather(&connection, guard, api, ffi::create_partitions);
        let api = Api::IncrementalAlterConfigs;
        let changes = gather(&connection, guard, api, ffi::alter_configs);
        let locks = gather(&connection, guard, Api::CreateAcls, ffi::create_locks);
        let unlocks = gather(&connection, guard, Api::DeleteAcls, ffi::delete_locks);
        Ok(Self {
            connection,
            creations,
            growths,
            changes,
            locks,
            unlocks,
        })
    }

    /// The id of the cluster that answers.
    pub async fn cluster_id(&self) -> Result<String, Error> {
        let (id, _) = self.look(&[]).await?;
        Ok(id)
    }

    /// Describes topics as [`Client::describe_topics`] does, and tells which cluster they are of.
    pub(super) async fn look(
        &self,
        names: &[String],
    ) -> Result<(String, PerTopic<TopicDescription>), Error> {
        // No answer without a question: a request for no topic is one for all.
        let nothing = [NO_TOPIC.to_owned()];
        let asked = if names.is_empty() { &nothing } else { names };
        let (id, mut described) = self
            .read_with_id(DESCRIBE, asked, chunk::DESCRIBE_LIMIT, ffi::describe_topics)
            .await?;
        described.retain(|name, _| name != NO_TOPIC || names.contains(name));
        let id = id.ok_or_else(|| Error::Rejected {
            code: "_BAD_MSG".to_owned(),
            message: "the broker names no cluster id".to_owned(),
        })?;
        Ok((id, described))
    }

    /// Describes topics by name; never creates one. `UnknownTopic` is the answer of one broker, which may
    /// lag behind a change made a moment ago.
    pub async fn describe_topics(
        &self,
        names: &[String],
    ) -> Result<PerTopic<TopicDescription>, Error> {
        self.read(DESCRIBE, names, chunk::DESCRIBE_LIMIT, ffi::describe_topics)
            .await
    }

    /// What the connection's principal may do with each topic, as the brokers tell (since Kafka 2.3; nothing before).
    /// Costs as much as describing them.
    pub async fn authorized_operations(
        &self,
        names: &[String],
    ) -> Result<PerTopic<BTreeSet<Operation>>, Error> {
        self.read(
            DESCRIBE,
            names,
            chunk::DESCRIBE_LIMIT,
            ffi::authorized_operations,
        )
        .await
    }

    /// Which version of Kafka the brokers run, as far as their protocol tells: `4.3`, or `3.7 or later`. One broker is
    /// asked, on a connection that is closed afterwards. `None` if nothing tells.
    pub async fn broker_version(&self) -> Result<Option<String>, Error> {
        let mut session = self.connection.wire().session().await?;
        let versions = session.versions().await?;
        Ok(super::version::version(&versions))
    }

    /// What the connection's principal may do with the cluster, as the brokers tell.
    pub async fn authorized_cluster_operations(&self) -> Result<BTreeSet<Operation>, Error> {
        self.connection.doubt();
        self.connection
            .ask_any(Api::DescribeCluster, ffi::authorized_cluster_operations)
            .await
    }

    /// The ACLs on topics, as one broker knows them: of all kinds, or only those that are a [`Lock`]. Needs DESCRIBE on the
    /// cluster. A cluster without an authorizer has none ([`Client::without_acl`] tells).
    pub async fn topic_acls(&self, only_locks: bool) -> Result<Vec<TopicAcl>, Error> {
        let ask = || {
            let request = move |handle: Handle<'_>, limits| {
                ffi::describe_topic_acls(handle, limits, only_locks)
            };
            self.connection.ask_any(Api::DescribeAcls, request)
        };
        let found = ask().await?;
        if !found.is_empty() {
            return Ok(found);
        }
        // librdkafka 2.12 drops the error of an answer to DescribeAcls, so that a refusal looks like "there is none" (seen,
        // and rd_kafka_DescribeAclsResponse_parse does so). Who may look, and sees none again, has seen it.
        let may = self.authorized_cluster_operations().await?;
        if !may.contains(&Operation::Describe) {
            let words = "Cluster authorization failed";
            let denied = permissions::denied_on_cluster(Operation::Describe, words);
            return Err(Error::NotAuthorized(denied));
        }
        ask().await
    }

    /// What becomes of a topic that no ACL matches, as far as all brokers tell. The setting that decides it,
    /// `allow.everyone.if.no.acl.found`, is hidden, so only its absence from the config of a broker tells, and only of an
    /// authorizer that is known to read it. Needs `DESCRIBE_CONFIGS` on the cluster.
    pub async fn without_acl(&self) -> Result<WithoutAcl, Error> {
        // Asking for anything tells which brokers there are.
        self.connection.doubt();
        self.cluster_id().await?;
        let brokers = self.connection.brokers();
        let mut all = Vec::with_capacity(brokers.len());
        for broker in brokers {
            let limits = Limits {
                timeout: self.connection.timeout(),
                broker: Some(broker),
            };
            let request = move |handle: Handle<'_>, limits| {
                ffi::describe_broker_config(handle, limits, broker)
            };
            let api = Api::DescribeConfigs;
            let config = self.connection.ask(api, limits, request).await;
            let config = config.map_err(|error| on_cluster(error, Operation::DescribeConfigs))?;
            all.push(WithoutAcl::of(&config));
        }
        let first = all.first().copied().unwrap_or(WithoutAcl::Unknown);
        let alike = all.iter().all(|it| *it == first);
        Ok(if alike { first } else { WithoutAcl::Unknown })
    }

    /// The effective configs of topics, defaults included, without the values that the broker hides.
    pub async fn describe_configs(
        &self,
        names: &[String],
    ) -> Result<PerTopic<BTreeMap<String, String>>, Error> {
        self.read(
            (Api::DescribeConfigs, Operation::DescribeConfigs),
            names,
            chunk::CONFIG_LIMIT,
            ffi::describe_configs,
        )
        .await
    }

    /// The end offsets (high watermarks) of partitions 0 to n-1 of topics, given with n. One partition without
    /// an offset makes its topic an error. Fails as a whole only if the topics cannot be described; topics whose
    /// offsets are not answered within one request timeout in all are `Timeout`.
    pub async fn end_offsets(&self, topics: &[(String, i32)]) -> Result<PerTopic<Vec<i64>>, Error> {
        let names: Vec<String> = topics.iter().map(|(topic, _)| topic.clone()).collect();
        let described = self.describe_topics(&names).await?;
        Ok(offsets::read(self, topics.iter().cloned().collect(), described).await)
    }

    /// All end offsets of topics that were described just now.
    pub(super) async fn end_offsets_of(
        &self,
        described: PerTopic<TopicDescription>,
    ) -> PerTopic<Vec<i64>> {
        let present = described
            .iter()
            .filter_map(|(topic, found)| Some((topic, found.as_ref().ok()?)));
        let asked = present
            .map(|(topic, found)| (topic.clone(), found.partitions))
            .collect();
        offsets::read(self, asked, described).await
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The same, to tell it from another one.
    pub(super) fn shared_connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// Creates topics, or with `validate_only` only asks whether that would do: one outcome per topic. After
    /// `Ok`, brokers (even the one that answered) may still call the topic unknown for a while. After
    /// `Timeout` or `Unreachable` it may have been created. When an answer is lost, the client library sends
    /// the request again, so that the own creation can come back as `AlreadyExists`.
    pub async fn create_topics(&self, topics: &[NewTopic], validate_only: bool) -> Outcomes {
        write(&self.creations, topics, validate_only).await
    }

    /// Adds partitions, or with `validate_only` only asks whether that would do. As with
    /// [`Client::create_topics`], any other outcome than `Ok` leaves it to a fresh reading to tell the count.
    ///
    /// A growth beyond 10,000 partitions is refused here, see [`Growth::to`].
    pub async fn create_partitions(&self, growths: &[Growth], validate_only: bool) -> Outcomes {
        let (safe, large): (Vec<Growth>, Vec<Growth>) = growths
            .iter()
            .cloned()
            .partition(|growth| growth.to <= chunk::MOST_PARTITIONS);
        let mut outcomes = write(&self.growths, &safe, validate_only).await;
        outcomes.extend(
            large
                .into_iter()
                .map(|growth| (growth.topic, Err(too_large()))),
        );
        outcomes
    }

    /// Sets config keys of topics; all other keys stay as they are.
    pub async fn alter_configs(&self, changes: &[ConfigChange]) -> Outcomes {
        write(&self.changes, changes, false).await
    }

    /// Asks whether [`Client::alter_configs`] would do.
    pub async fn check_configs(&self, changes: &[ConfigChange]) -> Outcomes {
        write(&self.changes, changes, true).await
    }

    /// Locks topics: nobody but super users may ALTER them any more, this connection's principal included. Needs ALTER on
    /// the cluster. A lock that is there already is fine. Authorizers learn of it one after the other.
    ///
    /// On a cluster that lets everybody near topics without ACLs, a topic's first ACL hides it from all.
    pub async fn lock(&self, topics: &[String]) -> Outcomes {
        write(&self.locks, &locks(topics), false).await
    }

    /// Takes the locks of topics away, whoever set them, and no other ACL. One that is not there is fine.
    pub async fn unlock(&self, topics: &[String]) -> Outcomes {
        write(&self.unlocks, &locks(topics), false).await
    }

    /// Asks about distinct names, in chunks.
    async fn read<T: Send + 'static>(
        &self,
        (api, operation): (Api, Operation),
        names: &[String],
        limit: usize,
        request: Request<T>,
    ) -> Result<PerTopic<T>, Error> {
        let (_, answers) = self
            .read_with_id((api, operation), names, limit, request)
            .await?;
        Ok(answers)
    }

    /// As [`Client::read`], with the id of the cluster that described topics last.
    async fn read_with_id<T: Send + 'static>(
        &self,
        (api, operation): (Api, Operation),
        names: &[String],
        limit: usize,
        request: Request<T>,
    ) -> Result<(Option<String>, PerTopic<T>), Error> {
        let mut of_cluster = None;
        let names: BTreeSet<&String> = names.iter().collect();
        let mut answers = PerTopic::new();
        let mut askable = Vec::new();
        for name in names {
            match refuse_name(name) {
                Some(refusal) => {
                    answers.insert(name.clone(), Err(refusal));
                }
                None => askable.push(name.clone()),
            }
        }
        for chunk in chunk::by_weight(askable, limit, |_| 1) {
            let asked = chunk.clone();
            let request = move |handle: Handle<'_>, limits| {
                let found = request(handle, limits, &asked)?;
                Ok((ffi::cluster_id(handle), found))
            };
            let (id, found) = self.connection.ask_any(api, request).await?;
            if of_cluster.is_some() && of_cluster != id {
                let words = "another cluster answered in the middle of a reading";
                return Err(Error::Timeout(words.to_owned()));
            }
            of_cluster = id;
            let found = found.into_iter().map(|(name, found)| {
                let found =
                    found.map_err(|failure| TopicError::of(failure).during(operation, &name));
                (name, found)
            });
            answers.extend(found);
            for name in chunk {
                answers
                    .entry(name)
                    .or_insert_with(|| Err(TopicError::left_out()));
            }
        }
        Ok((of_cluster, answers))
    }
}

/// A blocking write; the flag asks for a check only.
type Write<I> = fn(Handle<'_>, Limits, &[I], bool) -> Result<PerName<()>, Failure>;

fn gather<I: Item>(
    connection: &Arc<Connection>,
    guard: &WriteGuard,
    api: Api,
    request: Write<I>,
) -> Gather<Call<I>, Outcomes> {
    let (connection, guard) = (Arc::clone(connection), guard.clone());
    Gather::start(move |calls| {
        let (connection, guard) = (Arc::clone(&connection), guard.clone());
        writes::serve(calls, move |items: Vec<I>, validate_only| {
            let (connection, guard) = (Arc::clone(&connection), guard.clone());
            async move {
                let limits = Limits {
                    timeout: connection.timeout(),
                    broker: None,
                };
                let send = move |handle: Handle<'_>, limits| {
                    guard.check()?;
                    request(handle, limits, &items, validate_only)
                };
                connection.ask(api, limits, send).await
            }
        })
    })
}

async fn write<I: Item>(
    gather: &Gather<Call<I>, Outcomes>,
    items: &[I],
    validate_only: bool,
) -> Outcomes {
    if items.is_empty() {
        return Outcomes::new();
    }
    let outcomes = gather
        .ask(Call {
            items: items.to_vec(),
            validate_only,
        })
        .await;
    outcomes.unwrap_or_else(|| {
        items
            .iter()
            .map(|item| (item.topic().to_owned(), Err(Error::stopping().into())))
            .collect()
    })
}

fn locks(topics: &[String]) -> Vec<Lock> {
    let topics = topics.iter().cloned();
    topics.map(|topic| Lock { topic }).collect()
}

/// The same error; if it is one for lack of a permission, it names the operation on the cluster.
fn on_cluster(error: Error, operation: Operation) -> Error {
    match error {
        Error::NotAuthorized(words) => {
            Error::NotAuthorized(permissions::denied_on_cluster(operation, &words))
        }
        other => other,
    }
}

fn too_large() -> TopicError {
    TopicError::Rejected {
        code: "_INVALID_PARTITIONS".to_owned(),
        message: format!(
            "brokers can't grow a topic beyond {} partitions at once",
            chunk::MOST_PARTITIONS
        ),
    }
}

/// What no request can ask about: librdkafka fails the whole request for such a name.
pub(super) fn refuse_name(name: &str) -> Option<TopicError> {
    let unusable = name.is_empty() || name.contains('\0');
    unusable.then(|| TopicError::Rejected {
        code: "INVALID_TOPIC_EXCEPTION".to_owned(),
        message: "a topic name has at least one character, and no NUL".to_owned(),
    })
}
