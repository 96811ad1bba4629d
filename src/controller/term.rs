//! One term as the leader: the caches, watches and tasks that belong to it, and how they end with it.
//!
//! Everything is read anew at its start, above all one live list of the claims: what this process knew in an earlier term
//! may be old.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use futures::stream::{self, Stream, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::Namespace;
use kube::runtime::controller::Action;
use kube::runtime::events::{Recorder, Reporter};
use kube::runtime::reflector::{self, ObjectRef, Store};
use kube::runtime::watcher::{self, watcher};
use kube::runtime::{Controller, WatchStreamExt};
use kube::{Api, Client, Resource, ResourceExt};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::claims::{ClaimEvent, Claims};
use super::collect::Collector;
use super::connections::{self, Connections, Lookups};
use super::context::{Attempts, Context, Neglected, Published, Setbacks};
use super::discovery::{self, Discovery};
use super::error;
use super::gate::Gate;
use super::http::{Caches, Pages};
use super::lease::Term;
use super::memory::Subject;
use super::placement::{self, Watcher};
use super::reconcile::{WatchedGroup, reconcile};
use super::run::{Counters, Settings};
use super::verification::{self, Verifier};
use crate::api::{CoPartitionClaim, KafkaConnection};
use crate::kafka::{Clusters, PollSettings, WriteGuard};
use crate::plan::Owner;

/// Announcements that may wait for a watch's controller; the sender waits beyond that.
const QUEUE: usize = 1024;
/// How often claims without a group are looked for.
const COLLECT_EVERY: Duration = Duration::from_secs(5);
/// How long passes under way may take to end after the term is over: as long as a request to Kafka may take.
const ENDS_WITHIN: Duration = Duration::from_secs(10);

/// What a term works with.
pub(super) struct Office<'a> {
    pub(super) settings: &'a Settings,
    pub(super) installation: &'a str,
    pub(super) identity: &'a str,
    /// Where the Secrets of connections lie.
    pub(super) own_namespace: &'a str,
    pub(super) client: &'a Client,
    pub(super) counters: &'a Counters,
    pub(super) pages: &'a Pages,
}

/// Leads until the term ends or `stopped` turns true; returns when what was under way has ended.
pub(super) async fn lead(office: &Office<'_>, term: Term, stopped: watch::Receiver<bool>) {
    let (end, over) = watch::channel(false);
    let mut tasks = JoinSet::new();
    let watched = term.clone();
    tasks.spawn(async move {
        tokio::select! {
            () = watched.ended() => tracing::warn!("the lease was not renewed in time; this replica stops acting"),
            () = until(stopped) => {}
        }
        // Nobody left to tell is no error.
        let _ = end.send(true);
        end.closed().await;
    });
    let Some(context) = context(office, term, over.clone()).await else {
        return;
    };

    let namespaces: Vec<Option<String>> = if office.settings.namespaces.is_empty() {
        vec![None]
    } else {
        office
            .settings
            .namespaces
            .iter()
            .cloned()
            .map(Some)
            .collect()
    };
    // The watches that have not read their groups yet. Store::wait_until_ready keeps one waker only, so that of several
    // that wait all but one sleep for ever.
    let (unread, all_read) = watch::channel((0..namespaces.len()).collect::<BTreeSet<usize>>());
    let mut triggers = Triggers::default();
    let mut stores = Vec::new();
    let mut controllers = Vec::new();
    for (watch_number, namespace) in namespaces.into_iter().enumerate() {
        let groups: Api<WatchedGroup> = match &namespace {
            Some(namespace) => Api::namespaced(office.client.clone(), namespace),
            None => Api::all(office.client.clone()),
        };
        let announced = triggers.add(namespace.clone());
        let (store, writer) = reflector::store();
        let unread = unread.clone();
        let changes = watcher(groups, watcher::Config::default())
            .default_backoff()
            .modify(slim)
            .reflect(writer)
            .inspect_ok(move |event| {
                if matches!(event, watcher::Event::InitDone) {
                    unread.send_if_modified(|unread| unread.remove(&watch_number));
                }
            })
            .applied_objects();
        // Passes are not limited in number: most of their time they wait for Kafka, and passes of a cluster that does not
        // answer must not keep those of others waiting. What they ask for is bounded: the API server by the gate, each
        // Kafka cluster by its connection.
        let controller = Controller::for_stream(changes, store.clone())
            .reconcile_on(announced)
            .graceful_shutdown_on(until(over.clone()));
        stores.push((namespace, store));
        controllers.push(
            controller
                .run(reconcile, on_error, context.clone())
                .for_each(|_| std::future::ready(())),
        );
    }

    office.pages.show(Caches {
        context: context.clone(),
        stores: stores.iter().map(|(_, store)| store.clone()).collect(),
        unread: all_read.clone(),
    });
    tasks.spawn(watch_claims(
        office.client.clone(),
        context.clone(),
        triggers.clone(),
    ));
    tasks.spawn(watch_connections(
        office.client.clone(),
        context.clone(),
        triggers.clone(),
    ));
    tasks.spawn(look_again(context.clone(), triggers.clone()));
    tasks.spawn(connections::report(context.clone()));
    tasks.spawn(read_records(context.clone(), triggers.clone()));
    tasks.spawn(read_consumer_groups(context.clone(), triggers.clone()));
    tasks.spawn(discovery::run(
        context.clone(),
        office.settings.poll_interval,
    ));
    tasks.spawn(announce_kafka_changes(context.clone(), triggers));
    tasks.spawn(collect_claims(
        context,
        stores,
        all_read,
        office.settings.claim_retention,
    ));

    let mut passes = pin!(join_all(controllers));
    tokio::select! {
        _ = &mut passes => {}
        () = async { until(over).await; tokio::time::sleep(ENDS_WITHIN).await } => {
            tracing::warn!("passes were still under way after {}s; what they left open is completed by the next leader", ENDS_WITHIN.as_secs());
        }
    }
    office.pages.hide();
}

pub(super) async fn until(mut stopped: watch::Receiver<bool>) {
    // An error means that the sender is gone, which is a stop as well.
    let _ = stopped.wait_for(|stop| *stop).await;
}

/// The context of the term's passes. `None` if the term was over before the API server answered.
async fn context(
    office: &Office<'_>,
    term: Term,
    over: watch::Receiver<bool>,
) -> Option<Arc<Context>> {
    let client = office.client.clone();
    let kube_system_uid = tokio::select! {
        uid = kube_system_uid(&client) => uid,
        () = until(over) => return None,
    };
    let poll = PollSettings {
        interval: office.settings.poll_interval,
        ..PollSettings::default()
    };
    let reporter = Reporter {
        controller: "copartition-operator".to_owned(),
        instance: Some(office.identity.to_owned()),
    };
    let gate = Arc::new(Gate::new(term.clone(), office.counters.passes.clone()));
    Some(Arc::new(Context {
        me: Owner {
            installation: office.installation.to_owned(),
            kube_system_uid,
        },
        take_over: office.settings.take_over_from.iter().cloned().collect(),
        settling_window: office.settings.settling_window,
        kafka: Clusters::new(
            poll,
            Arc::clone(&office.counters.kafka),
            WriteGuard::new(move || term.holds()),
        ),
        connections: Connections::new(
            Lookups::new(client.clone(), Arc::clone(&gate)),
            office.settings.inline_connections.clone(),
            office.own_namespace,
            office.settings.namespaces.is_empty(),
        ),
        verifier: Verifier::new(
            office.settings.verification_budget,
            office.counters.passes.clone(),
        ),
        placement: Watcher::new(
            office.settings.poll_interval,
            office.counters.passes.clone(),
        ),
        discovery: Discovery::default(),
        claims: Claims::new(Api::all(client.clone()), Arc::clone(&gate)),
        recorder: Recorder::new(client.clone(), reporter),
        metrics: office.counters.passes.clone(),
        attempts: Attempts::default(),
        setbacks: Setbacks::default(),
        published: Published::default(),
        neglected: Neglected::default(),
        gate,
        client,
    }))
}

/// Which Kubernetes cluster this is. Without it no claim can be written, so it is asked for until it is known.
async fn kube_system_uid(client: &Client) -> String {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let mut pause = Duration::from_millis(500);
    loop {
        match tokio::time::timeout(
            Duration::from_secs(10),
            namespaces.get_metadata("kube-system"),
        )
        .await
        {
            Ok(Ok(namespace)) => {
                if let Some(uid) = namespace.uid() {
                    return uid;
                }
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "the namespace kube-system cannot be read; tried again");
            }
            Err(_) => tracing::warn!("the API server does not answer; tried again"),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(15));
    }
}

// The runtime hands both over by value.
#[allow(clippy::needless_pass_by_value)]
fn on_error(object: Arc<WatchedGroup>, error: &error::Error, context: Arc<Context>) -> Action {
    context.metrics.pass(error.category());
    if error.is_deposed() {
        return Action::await_change();
    }
    let group = Subject::of(object.meta()).key();
    tracing::warn!(group, %error, "a pass failed; it is tried again");
    Action::requeue(context.setbacks.note(&group))
}

/// Where announcements go: one queue for each watch.
#[derive(Clone, Default)]
struct Triggers(Vec<(Option<String>, mpsc::Sender<ObjectRef<WatchedGroup>>)>);

impl Triggers {
    fn add(
        &mut self,
        namespace: Option<String>,
    ) -> impl Stream<Item = ObjectRef<WatchedGroup>> + Send + use<> {
        let (sender, receiver) = mpsc::channel(QUEUE);
        self.0.push((namespace, sender));
        stream::unfold(receiver, |mut receiver| async move {
            receiver.recv().await.map(|group| (group, receiver))
        })
    }

    /// Announces a group, given as `namespace/name`.
    async fn announce_group(&self, group: &str) {
        if let Some((namespace, name)) = group.split_once('/') {
            self.announce(namespace, name).await;
        }
    }

    async fn announce(&self, namespace: &str, name: &str) {
        for (watched, sender) in &self.0 {
            if watched.as_ref().is_none_or(|watched| watched == namespace) {
                // The controller has stopped: nobody needs to know.
                let _ = sender.send(ObjectRef::new(name).within(namespace)).await;
            }
        }
    }
}

/// Takes away what no pass reads and what is most of an object in memory: who wrote which field.
fn slim(object: &mut impl ResourceExt) {
    object.managed_fields_mut().clear();
    object
        .annotations_mut()
        .remove("kubectl.kubernetes.io/last-applied-configuration");
}

async fn watch_claims(client: Client, context: Arc<Context>, triggers: Triggers) {
    let claims: Api<CoPartitionClaim> = Api::all(client);
    let events = watcher(claims, watcher::Config::default()).default_backoff();
    let mut events = pin!(events.modify(slim));
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(watcher::Event::Init) => ClaimEvent::Listing,
            Ok(watcher::Event::InitApply(claim)) => ClaimEvent::Listed(claim),
            Ok(watcher::Event::InitDone) => ClaimEvent::ListingDone,
            Ok(watcher::Event::Apply(claim)) => ClaimEvent::Changed(claim),
            Ok(watcher::Event::Delete(claim)) => ClaimEvent::Gone(claim),
            Err(error) => {
                tracing::warn!(%error, "watching claims; tried again");
                continue;
            }
        };
        for (namespace, name) in context.claims.apply(event) {
            triggers.announce(&namespace, &name).await;
        }
    }
}

async fn announce_kafka_changes(context: Arc<Context>, triggers: Triggers) {
    loop {
        for group in context.kafka.next_changed().await {
            announce(&context, &triggers, &group).await;
        }
    }
}

/// Announces a group, or a connection, which is called as a group without a namespace.
async fn announce(context: &Context, triggers: &Triggers, user: &str) {
    if user.starts_with('/') {
        context.connections.wake();
    } else {
        triggers.announce_group(user).await;
    }
}

async fn watch_connections(client: Client, context: Arc<Context>, triggers: Triggers) {
    let connections: Api<KafkaConnection> = Api::all(client);
    let events = watcher(connections, watcher::Config::default()).default_backoff();
    let mut events = pin!(events.modify(slim));
    let mut listed = BTreeSet::new();
    while let Some(event) = events.next().await {
        let users = match event {
            Ok(watcher::Event::Init) => {
                listed.clear();
                continue;
            }
            Ok(watcher::Event::InitApply(connection)) => {
                listed.insert(connection.name_any());
                context.connections.changed(connection)
            }
            Ok(watcher::Event::InitDone) => context.connections.listed(&listed),
            Ok(watcher::Event::Apply(connection)) => context.connections.changed(connection),
            Ok(watcher::Event::Delete(connection)) => {
                let name = connection.name_any();
                context.kafka.forget(&format!("/{name}"));
                context.connections.gone(&name)
            }
            Err(error) => {
                tracing::warn!(%error, "watching connections; tried again");
                continue;
            }
        };
        for group in users {
            triggers.announce_group(&group).await;
        }
    }
}

/// How often it is looked whether what connections refer to is due to be read again.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

async fn look_again(context: Arc<Context>, triggers: Triggers) {
    loop {
        tokio::time::sleep(LOOK_AGAIN).await;
        for user in context.connections.refresh().await {
            announce(&context, &triggers, &user).await;
        }
    }
}

async fn read_records(context: Arc<Context>, triggers: Triggers) {
    let announce = |group: String| {
        let triggers = &triggers;
        async move { triggers.announce_group(&group).await }
    };
    verification::run(&context.verifier, announce).await;
}

/// Reads consumer groups for the groups that want it, and announces those of which something else is known.
async fn read_consumer_groups(context: Arc<Context>, triggers: Triggers) {
    let announce = |group: String| {
        let triggers = &triggers;
        async move { triggers.announce_group(&group).await }
    };
    placement::run(&context.placement, &context.kafka, announce).await;
}

async fn collect_claims(
    context: Arc<Context>,
    stores: Vec<(Option<String>, Store<WatchedGroup>)>,
    mut unread: watch::Receiver<BTreeSet<usize>>,
    retention: Duration,
) {
    context.claims.wait_synced().await;
    if unread.wait_for(BTreeSet::is_empty).await.is_err() {
        return;
    }
    let mut collector = Collector {
        context,
        stores,
        retention,
        orphans: std::collections::HashMap::new(),
        later: std::collections::HashMap::new(),
        known: std::collections::HashSet::new(),
    };
    let mut ticks =
        tokio::time::interval(COLLECT_EVERY.min(retention.max(Duration::from_millis(100))));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        collector.look().await;
    }
}
