//! From what a group says about its Kafka cluster to a way there that it may use.
//!
//! ```text
//! kafka.connectionRef ─▶ KafkaConnection (watched) ─▶ its Secrets, CA, Strimzi cluster (looked up) ─┐
//! kafka.inline ─▶ allowed addresses, Secrets of the group's namespace (looked up) ─────────────────┴▶ Link
//! ```
//! A [`Link`] has the settings of the client and what the connection's rules allow. Whoever asked hears of it when
//! something changes that it was made of.

mod inline;
mod lookup;
mod resolve;
mod rights;
mod rules;
mod status;
mod strimzi;
mod version;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube::ResourceExt;
use tokio::sync::{Notify, watch};

use self::lookup::{Kind, Object};
use self::resolve::Resolver;
use self::rules::Rules;
use super::gate::GateError;
use crate::api::{
    Alias, AliasKind, GroupSpec, InlineConnection, KafkaConnection, KafkaRef, SaslMechanism,
};
use crate::kafka::{ConnectionSettings, Use};
use crate::plan::{self, Reason};
pub use inline::AllowedAddress;
pub(super) use lookup::Lookups;
pub(super) use status::run as report;

/// Why a group has no way to Kafka, or may not use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The reason of Accepted=False.
    pub(super) reason: Reason,
    /// What was wanted, what was seen, what to do.
    pub(super) message: String,
}

/// Why there is no [`Link`].
#[derive(Debug)]
pub(super) enum LinkError {
    /// Somebody has to change something.
    Refused(Refusal),
    /// The API server did not answer.
    Api(GateError),
}

/// A way to a Kafka cluster, and what may be done there.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// How the client connects.
    pub(super) settings: ConnectionSettings,
    /// The names under which other operators know the cluster.
    pub(super) aliases: Vec<Alias>,
    /// The `KafkaConnection`; none for an inline connection.
    pub(super) connection: Option<String>,
    /// What the connection states of the brokers' setting `allow.everyone.if.no.acl.found`.
    pub(super) allow_everyone: Option<bool>,
    /// The connection's rules, and the labels of the group's namespace; none for an inline connection.
    allowed: Option<(Arc<Rules>, BTreeMap<String, String>)>,
}

impl Link {
    /// The topics of a group that admission policies shall guard if it only refers to them.
    pub(super) fn guarded(&self, namespace: &str, topics: &[plan::Topic]) -> BTreeSet<String> {
        let Some((rules, labels)) = &self.allowed else {
            return BTreeSet::new();
        };
        let names = topics.iter().map(|topic| &topic.name);
        names
            .filter(|name| rules.guard(namespace, labels, name))
            .cloned()
            .collect()
    }

    /// What a group asks for that it may not.
    pub(super) fn refuse(&self, namespace: &str, spec: &GroupSpec) -> Result<(), Refusal> {
        let Some((rules, labels)) = &self.allowed else {
            return Ok(());
        };
        let refused = rules.refuse(namespace, labels, spec);
        if refused.is_empty() {
            return Ok(());
        }
        let name = spec.kafka.connection_ref.as_ref();
        let name = name.map_or("", |reference| reference.name.as_str());
        Err(Refusal {
            reason: Reason::NotPermitted,
            message: format!(
                "the rules of the KafkaConnection {name} do not allow what the group asks for: {}. Nothing is read or written for it; ask the \
                 platform team for a rule, or leave it out",
                refused.join("; ")
            ),
        })
    }
}

/// All connections, and who uses which.
pub(super) struct Connections {
    lookups: Lookups,
    /// The addresses that inline connections may name; with none they are switched off.
    inline: Vec<AllowedAddress>,
    /// Where the Secrets of connections lie.
    namespace: String,
    /// Whether connections are reported on that no group names.
    all: bool,
    state: Mutex<State>,
    synced: watch::Sender<bool>,
    /// There is something to say of a connection.
    woken: Notify,
}

#[derive(Default)]
struct State {
    /// By name.
    connections: BTreeMap<String, Arc<Known>>,
    /// The connection that each group names, whether or not it is there. Bounded by the number of groups.
    used_by: HashMap<String, String>,
    /// What each group does with which topic. Bounded by the number of groups.
    uses: HashMap<String, Uses>,
}

/// What is done with each topic.
pub(super) type Uses = BTreeMap<String, BTreeSet<Use>>;

/// A connection as the watch shows it.
struct Known {
    object: KafkaConnection,
    rules: Arc<Rules>,
    /// What is wrong with its rules.
    problems: Vec<String>,
}

/// How a connection is called among the users of objects and clusters: no group has an empty namespace.
fn user_of(connection: &str) -> String {
    format!("/{connection}")
}

impl Connections {
    /// With `all` it reports on connections that no group names, too. An installation that watches some namespaces only
    /// leaves those to the others.
    pub(super) fn new(
        lookups: Lookups,
        inline: Vec<AllowedAddress>,
        namespace: &str,
        all: bool,
    ) -> Self {
        Connections {
            lookups,
            inline,
            namespace: namespace.to_owned(),
            all,
            state: Mutex::default(),
            synced: watch::Sender::new(false),
            woken: Notify::new(),
        }
    }

    /// The connections to report on.
    fn reported(&self) -> Vec<Arc<Known>> {
        let state = self.lock();
        let named: BTreeSet<&String> = state.used_by.values().collect();
        let all = state.connections.iter();
        all.filter(|(name, _)| self.all || named.contains(name))
            .map(|(_, known)| Arc::clone(known))
            .collect()
    }

    /// Something may have to be said of a connection.
    pub(super) fn wake(&self) {
        self.woken.notify_one();
    }

    /// Waits until the watch has shown all connections.
    pub(super) async fn wait_synced(&self) {
        // The sender lives as long as self.
        let _ = self.synced.subscribe().wait_for(|synced| *synced).await;
    }

    /// Whether the watch has shown all connections.
    pub(super) fn synced(&self) -> bool {
        *self.synced.borrow()
    }

    /// The watch has shown all connections. Those that it did not show are gone.
    pub(super) fn listed(&self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let gone: Vec<String> = {
            let state = self.lock();
            let known = state.connections.keys();
            known
                .filter(|name| !names.contains(*name))
                .cloned()
                .collect()
        };
        let users = gone.iter().flat_map(|name| self.gone(name)).collect();
        self.synced.send_replace(true);
        users
    }

    /// Takes in a connection that changed. Returns the groups that use it.
    pub(super) fn changed(&self, object: KafkaConnection) -> BTreeSet<String> {
        let name = object.name_any();
        let (rules, problems) = Rules::new(&object.spec.rules);
        let mut state = self.lock();
        let old = state.connections.get(&name);
        let same = old.is_some_and(|old| old.object.spec == object.spec);
        let known = Known {
            object,
            rules: Arc::new(rules),
            problems,
        };
        state.connections.insert(name.clone(), Arc::new(known));
        // Its own status is no news.
        if same {
            return BTreeSet::new();
        }
        self.woken.notify_one();
        state.users(&name)
    }

    /// Takes in that a connection is gone. Returns the groups that use it.
    pub(super) fn gone(&self, name: &str) -> BTreeSet<String> {
        self.lookups.use_only(&user_of(name), &BTreeSet::new());
        let mut state = self.lock();
        state.connections.remove(name);
        state.users(name)
    }

    /// The way of a group to its cluster.
    pub(super) async fn link(
        &self,
        group: &str,
        namespace: &str,
        kafka: &KafkaRef,
    ) -> Result<Link, LinkError> {
        match (&kafka.connection_ref, &kafka.inline) {
            (Some(reference), None) => self.by_name(group, namespace, &reference.name).await,
            (None, Some(inline)) => {
                self.lock().used_by.remove(group);
                self.inline(group, namespace, inline).await
            }
            _ => Err(refused(
                Reason::InvalidSpec,
                "kafka: give exactly one of connectionRef and inline".to_owned(),
            )),
        }
    }

    async fn by_name(&self, group: &str, namespace: &str, name: &str) -> Result<Link, LinkError> {
        let known = {
            let mut state = self.lock();
            state.used_by.insert(group.to_owned(), name.to_owned());
            state.connections.get(name).cloned()
        };
        let Some(known) = known else {
            self.lookups.use_only(group, &BTreeSet::new());
            return Err(refused(
                Reason::ConnectionNotFound,
                format!(
                    "kafka.connectionRef: wanted the KafkaConnection {name}, seen none of that name. Correct the name, or ask the platform team for \
                     the connection; it is used as soon as it is there"
                ),
            ));
        };
        let settings = self.settings(&known).await?;
        let labels = if known.rules.need_labels() {
            self.labels(group, namespace).await?
        } else {
            self.lookups.use_only(group, &BTreeSet::new());
            BTreeMap::new()
        };
        Ok(Link {
            settings,
            aliases: aliases(&known.object),
            connection: Some(name.to_owned()),
            allow_everyone: known.object.spec.allow_everyone_if_no_acl_found,
            allowed: Some((Arc::clone(&known.rules), labels)),
        })
    }

    /// The settings of a connection, whoever uses it.
    async fn settings(&self, known: &Known) -> Result<ConnectionSettings, LinkError> {
        let name = known.object.name_any();
        let user = user_of(&name);
        let mut resolver = self.resolver(&user, &self.namespace);
        resolver.place = format!("KafkaConnection {name}");
        let settings = resolver.connection(&known.object.spec).await;
        self.lookups.use_only(&user, &resolver.used);
        settings
    }

    /// The settings of the connection of that name, for what is left of groups that are gone; or why there are none, in
    /// words.
    pub(super) async fn settings_of(&self, name: &str) -> Result<ConnectionSettings, String> {
        let known = self.lock().connections.get(name).cloned();
        let known = known.ok_or_else(|| format!("the KafkaConnection {name} is gone"))?;
        match self.settings(&known).await {
            Ok(settings) => Ok(settings),
            Err(LinkError::Refused(refusal)) => Err(refusal.message),
            Err(LinkError::Api(error)) => Err(error.to_string()),
        }
    }

    /// The cluster that a connection led to last; none if there is no such connection, or it never led anywhere.
    pub(super) fn cluster_of(&self, name: &str) -> Option<String> {
        let state = self.lock();
        let status = state.connections.get(name)?.object.status.as_ref()?;
        status.cluster_id.clone()
    }

    async fn inline(
        &self,
        group: &str,
        namespace: &str,
        inline: &InlineConnection,
    ) -> Result<Link, LinkError> {
        if let Some(problem) = self.refuse_inline(inline) {
            self.lookups.use_only(group, &BTreeSet::new());
            return Err(refused(Reason::NotPermitted, problem));
        }
        let mut resolver = self.resolver(group, namespace);
        let security = resolver
            .security(
                inline.tls.as_ref(),
                inline.sasl.as_ref(),
                &inline.bootstrap_servers,
            )
            .await;
        self.lookups.use_only(group, &resolver.used);
        let settings = ConnectionSettings::new(inline.bootstrap_servers.iter().cloned());
        Ok(Link {
            settings: resolver.checked(settings.with_security(security?))?,
            aliases: Vec::new(),
            connection: None,
            allow_everyone: None,
            allowed: None,
        })
    }

    fn refuse_inline(&self, inline: &InlineConnection) -> Option<String> {
        if self.inline.is_empty() {
            return Some(
                "kafka.inline: this installation does not allow connections that groups write out (--inline-connections). Use kafka.connectionRef"
                    .to_owned(),
            );
        }
        let covered = |address: &&String| self.inline.iter().any(|it| it.covers(address));
        let address = inline.bootstrap_servers.iter().find(|it| !covered(it));
        if let Some(address) = address {
            return Some(format!(
                "kafka.inline.bootstrapServers: {address} is not among the addresses that this installation allows (--inline-connections). Use \
                 kafka.connectionRef, or ask the platform team to allow it"
            ));
        }
        let sasl = inline.sasl.as_ref()?;
        // A file of the operator's, or an address that nobody allowed.
        if sasl.oauth.is_some() {
            return Some("kafka.inline.sasl.oauth: only a KafkaConnection may name a token file or a token endpoint. Use kafka.connectionRef".to_owned());
        }
        // The operator's own identity.
        (sasl.mechanism == SaslMechanism::AwsMskIam).then(|| {
            "kafka.inline.sasl.mechanism: only a KafkaConnection may log in with the operator's AWS identity. Use kafka.connectionRef".to_owned()
        })
    }

    fn resolver<'a>(&'a self, user: &'a str, namespace: &'a str) -> Resolver<'a> {
        Resolver {
            lookups: &self.lookups,
            user,
            namespace,
            place: "kafka.inline".to_owned(),
            used: BTreeSet::new(),
        }
    }

    /// The labels of a group's namespace; none if they may not be read, so that rules by label allow nothing.
    async fn labels(
        &self,
        group: &str,
        namespace: &str,
    ) -> Result<BTreeMap<String, String>, LinkError> {
        let object = Object {
            kind: Kind::Namespace,
            namespace: String::new(),
            name: namespace.to_owned(),
        };
        let read = self.lookups.get(&object, group).await;
        let read = read.map_err(LinkError::Api)?;
        self.lookups.use_only(group, &BTreeSet::from([object]));
        let values = read.unwrap_or_else(|absent| {
            tracing::warn!(
                namespace,
                ?absent,
                "the labels of a namespace cannot be read, so rules that go by labels allow it nothing"
            );
            Arc::default()
        });
        let text =
            |value: &crate::kafka::Secret| String::from_utf8_lossy(value.expose()).into_owned();
        Ok(values
            .iter()
            .map(|(key, value)| (key.clone(), text(value)))
            .collect())
    }

    /// What a group or connection refers to may be why its cluster does not answer: it is looked at again soon.
    pub(super) fn suspect(&self, user: &str) {
        let connection = self.lock().used_by.get(user).cloned();
        match connection {
            Some(connection) => self.lookups.suspect(&user_of(&connection)),
            None => self.lookups.suspect(user),
        }
    }

    /// Notes what a group does with which topic, so that it can be said which rights are missing.
    pub(super) fn note(&self, group: &str, uses: Uses) {
        let mut state = self.lock();
        if state.uses.get(group) != Some(&uses) {
            state.uses.insert(group.to_owned(), uses);
        }
    }

    /// What all groups of a connection do with which topic.
    fn uses(&self, connection: &str) -> Uses {
        let state = self.lock();
        let mut all = Uses::new();
        for group in state.users(connection) {
            for (topic, uses) in state.uses.get(&group).into_iter().flatten() {
                all.entry(topic.clone()).or_default().extend(uses);
            }
        }
        all
    }

    /// Forgets a group.
    pub(super) fn forget(&self, group: &str) {
        self.lookups.use_only(group, &BTreeSet::new());
        let mut state = self.lock();
        state.used_by.remove(group);
        state.uses.remove(group);
    }

    /// Looks again at what was read. Returns the groups and connections of which something changed.
    pub(super) async fn refresh(&self) -> BTreeSet<String> {
        let mut changed = self.lookups.refresh().await;
        let state = self.lock();
        let connections: Vec<String> = changed
            .iter()
            .filter_map(|user| user.strip_prefix('/').map(ToOwned::to_owned))
            .collect();
        for connection in connections {
            changed.extend(state.users(&connection));
        }
        changed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn users(&self, connection: &str) -> BTreeSet<String> {
        let used = self.used_by.iter();
        used.filter(|(_, name)| *name == connection)
            .map(|(group, _)| group.clone())
            .collect()
    }
}

/// The declared aliases, and the Strimzi cluster that the connection takes its address from.
fn aliases(connection: &KafkaConnection) -> Vec<Alias> {
    let mut aliases = connection.spec.aliases.clone();
    if let Some(strimzi) = &connection.spec.strimzi {
        let own = Alias {
            kind: AliasKind::Strimzi,
            namespace: Some(strimzi.namespace.clone()),
            name: strimzi.name.clone(),
        };
        if !aliases.contains(&own) {
            aliases.push(own);
        }
    }
    aliases
}

fn refused(reason: Reason, message: String) -> LinkError {
    LinkError::Refused(Refusal { reason, message })
}
