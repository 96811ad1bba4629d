//! Wiring: clients, watches, tasks, and how they stop.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use futures::stream::{self, Stream, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::Namespace;
use kube::runtime::controller::{Action, Config as ControllerConfig};
use kube::runtime::events::{Recorder, Reporter};
use kube::runtime::reflector::{self, ObjectRef, Store};
use kube::runtime::watcher::{self, watcher};
use kube::runtime::{Controller, WatchStreamExt};
use kube::{Api, Client, Resource, ResourceExt};
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

use super::claims::{ClaimEvent, Claims};
use super::collect::Collector;
use super::context::{Attempts, Context, Published, Setbacks};
use super::error;
use super::http::{Pages, Served, serve};
use super::memory::Subject;
use super::metrics::Metrics;
use super::reconcile::{WatchedGroup, reconcile};
use crate::api::CoPartitionClaim;
use crate::kafka::{self, Clusters, PollSettings};
use crate::plan::Owner;

/// What the command line says.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The namespaces to watch; none means all.
    pub namespaces: Vec<String>,
    /// Where `/healthz`, `/readyz` and `/metrics` are served.
    pub listen: SocketAddr,
    /// The time between two polls of a Kafka cluster.
    pub poll_interval: Duration,
    /// The name of this installation, where several watch different namespaces of one Kubernetes cluster.
    pub installation: String,
    /// Other installations whose claims this one takes over.
    pub take_over_from: Vec<String>,
    /// How long a claim outlives its group.
    pub claim_retention: Duration,
}

/// Why the operator ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The Kubernetes API.
    #[error("Kubernetes: {0}")]
    Kubernetes(#[from] kube::Error),
    /// No way to the Kubernetes API.
    #[error(
        "no way to the Kubernetes API: {0}; set KUBECONFIG, or run in a pod with a service account"
    )]
    Config(#[from] kube::config::InferConfigError),
    /// The HTTP pages.
    #[error("listening on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What was said.
        #[source]
        source: std::io::Error,
    },
    /// Signals.
    #[error("installing the signal handlers: {0}")]
    Signals(#[source] std::io::Error),
}

/// Passes that run at once, over all groups of one watch. Each waits for the network most of its time.
const CONCURRENCY: u16 = 32;
/// Announcements that may wait for a watch's controller; the sender waits beyond that.
const QUEUE: usize = 1024;
/// How often claims without a group are looked for.
const COLLECT_EVERY: Duration = Duration::from_secs(5);
/// How long passes under way may take to end after a stop was asked for.
const STOPS_WITHIN: Duration = Duration::from_secs(25);

/// Runs until SIGTERM or SIGINT.
///
/// # Errors
/// [`Error`] if it cannot start. Whatever goes wrong later is logged and tried again.
pub async fn run(settings: Settings) -> Result<(), Error> {
    let (stop, stopped) = watch::channel(false);
    spawn_signal_handler(stop)?;
    let listener = TcpListener::bind(settings.listen)
        .await
        .map_err(|source| Error::Listen {
            address: settings.listen,
            source,
        })?;
    let client = Client::try_from(kube::Config::infer().await?)?;
    // From the start: an operator that waits for the API server is alive, and restarting it would not help.
    let served = Served::default();
    let serving = tokio::spawn(serve(listener, served.clone(), stopped.clone()));
    let mut registry = Registry::with_prefix("copartition");
    let Some(context) = context(&settings, client.clone(), &mut registry, stopped.clone()).await
    else {
        return Ok(());
    };

    let namespaces: Vec<Option<String>> = if settings.namespaces.is_empty() {
        vec![None]
    } else {
        settings.namespaces.iter().cloned().map(Some).collect()
    };
    // The watches that have not read their groups yet. Store::wait_until_ready keeps one waker only, so that of several
    // that wait all but one sleep for ever.
    let (unread, all_read) = watch::channel((0..namespaces.len()).collect::<BTreeSet<usize>>());
    let mut triggers = Triggers::default();
    let mut stores = Vec::new();
    let mut controllers = Vec::new();
    for (watch_number, namespace) in namespaces.into_iter().enumerate() {
        let groups: Api<WatchedGroup> = match &namespace {
            Some(namespace) => Api::namespaced(client.clone(), namespace),
            None => Api::all(client.clone()),
        };
        let announced = triggers.add(namespace.clone());
        let (store, writer) = reflector::store();
        let unread = unread.clone();
        let changes = watcher(groups, watcher::Config::default())
            .default_backoff()
            .reflect(writer)
            .inspect_ok(move |event| {
                if matches!(event, watcher::Event::InitDone) {
                    unread.send_if_modified(|unread| unread.remove(&watch_number));
                }
            })
            .applied_objects();
        let controller = Controller::for_stream(changes, store.clone())
            .with_config(ControllerConfig::default().concurrency(CONCURRENCY))
            .reconcile_on(announced)
            .graceful_shutdown_on(until(stopped.clone()));
        stores.push((namespace, store));
        controllers.push(
            controller
                .run(reconcile, on_error, context.clone())
                .for_each(|_| std::future::ready(())),
        );
    }

    let pages = Pages {
        context: context.clone(),
        stores: stores.iter().map(|(_, store)| store.clone()).collect(),
        registry,
        unread: all_read.clone(),
    };
    // It is set here alone, so it was not set before.
    let _ = served.set(pages);
    tokio::spawn(watch_claims(client, context.clone(), triggers.clone()));
    tokio::spawn(announce_kafka_changes(context.clone(), triggers));
    tokio::spawn(collect_claims(
        context,
        stores,
        all_read,
        settings.claim_retention,
    ));

    let passes = join_all(controllers);
    let mut passes = pin!(passes);
    tokio::select! {
        _ = &mut passes => {}
        () = async { until(stopped).await; tokio::time::sleep(STOPS_WITHIN).await } => {
            tracing::warn!("passes were still under way after {}s; what they left open is completed at the next start", STOPS_WITHIN.as_secs());
        }
    }
    serving.abort();
    tracing::info!("stopped");
    Ok(())
}

fn spawn_signal_handler(stop: watch::Sender<bool>) -> Result<(), Error> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).map_err(Error::Signals)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Error::Signals)?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
        // Nobody left to tell is no error.
        let _ = stop.send(true);
        stop.closed().await;
    });
    Ok(())
}

async fn until(mut stopped: watch::Receiver<bool>) {
    // An error means that the sender is gone, which is a stop as well.
    let _ = stopped.wait_for(|stop| *stop).await;
}

/// The shared context. `None` if a stop was asked for before the API server answered.
async fn context(
    settings: &Settings,
    client: Client,
    registry: &mut Registry,
    stopped: watch::Receiver<bool>,
) -> Option<Arc<Context>> {
    let kube_system_uid = tokio::select! {
        uid = kube_system_uid(&client) => uid,
        () = until(stopped) => return None,
    };
    let kafka_metrics = Arc::new(kafka::Metrics::default());
    kafka_metrics.register(registry);
    let metrics = Metrics::default();
    metrics.register(registry);
    let poll = PollSettings {
        interval: settings.poll_interval,
        ..PollSettings::default()
    };
    let reporter = Reporter {
        controller: "copartition-operator".to_owned(),
        instance: std::env::var("POD_NAME").ok(),
    };
    Some(Arc::new(Context {
        me: Owner {
            installation: settings.installation.clone(),
            kube_system_uid,
        },
        take_over: settings.take_over_from.iter().cloned().collect(),
        kafka: Clusters::new(poll, kafka_metrics),
        claims: Claims::new(Api::all(client.clone())),
        recorder: Recorder::new(client.clone(), reporter),
        metrics,
        attempts: Attempts::default(),
        setbacks: Setbacks::default(),
        published: Published::default(),
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
    tracing::warn!(group = %object.name_any(), namespace = object.namespace().unwrap_or_default(), %error, "a pass failed; it is tried again");
    Action::requeue(context.setbacks.note(&Subject::of(object.meta()).key()))
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

    async fn announce(&self, namespace: &str, name: &str) {
        for (watched, sender) in &self.0 {
            if watched.as_ref().is_none_or(|watched| watched == namespace) {
                // The controller has stopped: nobody needs to know.
                let _ = sender.send(ObjectRef::new(name).within(namespace)).await;
            }
        }
    }
}

async fn watch_claims(client: Client, context: Arc<Context>, triggers: Triggers) {
    let claims: Api<CoPartitionClaim> = Api::all(client);
    let mut events = pin!(watcher(claims, watcher::Config::default()).default_backoff());
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
            if let Some((namespace, name)) = group.split_once('/') {
                triggers.announce(namespace, name).await;
            }
        }
    }
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
