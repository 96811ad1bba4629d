//! What connections refer to in Kubernetes, by name: read once, then looked at again on a timer, and more often while
//! something is wrong. Nothing is listed or watched, so that the right to read a few names is enough.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret as KubeSecret};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client};

use super::super::gate::{Gate, GateError};
use super::strimzi;
use crate::kafka::Secret;

/// How often what is fine is looked at again.
const REFRESH: Duration = Duration::from_secs(30);
/// How often what is missing, or may be what a cluster complains of, is looked at again.
const REFRESH_SUSPECT: Duration = Duration::from_secs(5);

/// An object that is read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::controller) struct Object {
    pub(super) kind: Kind,
    /// Empty for a namespace itself.
    pub(super) namespace: String,
    pub(super) name: String,
}

/// What is read of which kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The data of a Secret.
    Secret,
    /// The data of a ConfigMap.
    ConfigMap,
    /// The labels of a Namespace.
    Namespace,
    /// The listeners of a Strimzi `Kafka`, as [`strimzi::listeners`] lays them out.
    StrimziKafka,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Secret => "Secret",
            Kind::ConfigMap => "ConfigMap",
            Kind::Namespace => "Namespace",
            Kind::StrimziKafka => "Strimzi Kafka",
        }
    }
}

impl std::fmt::Display for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let slash = if self.namespace.is_empty() { "" } else { "/" };
        let kind = self.kind.word();
        write!(f, "{kind} {}{slash}{}", self.namespace, self.name)
    }
}

/// The values of an object by their keys.
pub(super) type Values = Arc<BTreeMap<String, Secret>>;

/// Why an object has no values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// There is none of that name.
    NotFound,
    /// The operator may not read it; the API server's words.
    Forbidden(String),
}

type Read = Result<Values, Absent>;

/// Objects that somebody uses. Bounded by what connections and groups refer to.
pub(in crate::controller) struct Lookups {
    client: Client,
    gate: Arc<Gate>,
    entries: Mutex<HashMap<Object, Entry>>,
}

struct Entry {
    known: Option<Read>,
    /// Held while it is read for the first time, so that many who want the same at once ask once.
    first: Arc<tokio::sync::Mutex<()>>,
    read_at: Option<Instant>,
    suspect: bool,
    users: BTreeSet<String>,
}

impl Lookups {
    pub(in crate::controller) fn new(client: Client, gate: Arc<Gate>) -> Self {
        Lookups {
            client,
            gate,
            entries: Mutex::default(),
        }
    }

    /// The values of an object for a user, who hears of it when they change.
    ///
    /// # Errors
    /// The API server did not answer, and the object was never read before.
    pub(super) async fn get(&self, object: &Object, user: &str) -> Result<Read, GateError> {
        let first = {
            let mut entries = self.lock();
            let entry = entries.entry(object.clone()).or_insert_with(|| Entry {
                known: None,
                first: Arc::default(),
                read_at: None,
                suspect: false,
                users: BTreeSet::new(),
            });
            if !entry.users.contains(user) {
                entry.users.insert(user.to_owned());
            }
            if let Some(known) = &entry.known {
                return Ok(known.clone());
            }
            Arc::clone(&entry.first)
        };
        let _alone = first.lock().await;
        let known = self
            .lock()
            .get(object)
            .and_then(|entry| entry.known.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        let read = self.read(object).await?;
        self.note(object, &read);
        Ok(read)
    }

    /// Ends a user's interest in all objects but these.
    pub(super) fn use_only(&self, user: &str, objects: &BTreeSet<Object>) {
        self.lock().retain(|object, entry| {
            if !objects.contains(object) {
                entry.users.remove(user);
            }
            !entry.users.is_empty()
        });
    }

    /// What a user refers to may be what is wrong with its cluster.
    pub(super) fn suspect(&self, user: &str) {
        for entry in self.lock().values_mut() {
            entry.suspect |= entry.users.contains(user);
        }
    }

    /// Reads again what is due. Returns the users of what has changed.
    pub(super) async fn refresh(&self) -> BTreeSet<String> {
        let now = Instant::now();
        let due: Vec<Object> = self
            .lock()
            .iter()
            .filter(|(_, entry)| entry.is_due(now))
            .map(|(object, _)| object.clone())
            .collect();
        let mut changed = BTreeSet::new();
        for object in due {
            match self.read(&object).await {
                Ok(read) => changed.extend(self.note(&object, &read)),
                // What is known stands.
                Err(error) => tracing::debug!(%object, %error, "not read again"),
            }
        }
        changed
    }

    /// Takes in what was read. Returns the users if it is news.
    fn note(&self, object: &Object, read: &Read) -> BTreeSet<String> {
        let mut entries = self.lock();
        let Some(entry) = entries.get_mut(object) else {
            return BTreeSet::new();
        };
        entry.read_at = Some(Instant::now());
        entry.suspect = read.is_err();
        if entry.known.as_ref() == Some(read) {
            return BTreeSet::new();
        }
        entry.known = Some(read.clone());
        entry.users.clone()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Object, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read(&self, object: &Object) -> Result<Read, GateError> {
        let client = self.client.clone();
        let (namespace, name) = (object.namespace.as_str(), object.name.as_str());
        let read = match object.kind {
            Kind::Secret => {
                let api: Api<KubeSecret> = Api::namespaced(client, namespace);
                let secret = self.gate.read(api.get(name)).await;
                secret.map(|secret| {
                    let data = secret.data.unwrap_or_default().into_iter();
                    data.map(|(key, value)| (key, Secret::new(value.0)))
                        .collect()
                })
            }
            Kind::ConfigMap => {
                let api: Api<ConfigMap> = Api::namespaced(client, namespace);
                let map = self.gate.read(api.get(name)).await;
                map.map(|map| {
                    let text = map.data.unwrap_or_default().into_iter();
                    let text = text.map(|(key, value)| (key, Secret::new(value)));
                    let bytes = map.binary_data.unwrap_or_default().into_iter();
                    let bytes = bytes.map(|(key, value)| (key, Secret::new(value.0)));
                    text.chain(bytes).collect()
                })
            }
            Kind::Namespace => {
                let api: Api<Namespace> = Api::all(client);
                let labelled = self.gate.read(api.get_metadata(name)).await;
                labelled.map(|labelled| {
                    let labels = labelled.metadata.labels.unwrap_or_default().into_iter();
                    labels
                        .map(|(key, value)| (key, Secret::new(value)))
                        .collect()
                })
            }
            Kind::StrimziKafka => self
                .strimzi(namespace, name)
                .await
                .map(|kafka| strimzi::listeners(&kafka.data)),
        };
        match read {
            Ok(values) => Ok(Ok(Arc::new(values))),
            Err(error) => match error.code() {
                Some(404) => Ok(Err(Absent::NotFound)),
                Some(403) => Ok(Err(Absent::Forbidden(error.to_string()))),
                _ => Err(error),
            },
        }
    }

    /// Newer Strimzi versions serve `v1` only, older ones `v1beta2` only.
    async fn strimzi(&self, namespace: &str, name: &str) -> Result<DynamicObject, GateError> {
        let mut answer = None;
        for version in ["v1", "v1beta2"] {
            let kind = GroupVersionKind::gvk("kafka.strimzi.io", version, "Kafka");
            let resource = ApiResource::from_gvk_with_plural(&kind, "kafkas");
            let api: Api<DynamicObject> =
                Api::namespaced_with(self.client.clone(), namespace, &resource);
            let read = self.gate.read(api.get(name)).await;
            let absent = read.as_ref().is_err_and(|error| error.code() == Some(404));
            if !absent {
                return read;
            }
            answer = Some(read);
        }
        answer.unwrap_or(Err(GateError::Slow))
    }
}

impl Entry {
    fn is_due(&self, now: Instant) -> bool {
        let every = if self.suspect {
            REFRESH_SUSPECT
        } else {
            REFRESH
        };
        // What was never read is for the next who wants it.
        self.read_at
            .is_some_and(|read_at| now.saturating_duration_since(read_at) >= every)
    }
}
