//! The process: what it needs for all its life, the campaign for the lease, and a term each time that it is won.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::connections::AllowedAddress;
use super::http::{Pages, serve};
use super::lease::{Campaign, Candidate};
use super::metrics::Metrics;
use super::term::{Office, lead, until};
use crate::kafka;

/// What the command line says.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The namespaces to watch; none means all.
    pub namespaces: Vec<String>,
    /// Where `/healthz`, `/readyz` and `/metrics` are served.
    pub listen: SocketAddr,
    /// The time between two polls of a Kafka cluster.
    pub poll_interval: Duration,
    /// The addresses that connections written out in groups may name; with none such connections are refused.
    pub inline_connections: Vec<AllowedAddress>,
    /// How many bytes of records are read of one Kafka cluster in a minute, for all groups with `verification`.
    pub verification_budget: u64,
    /// The name of this installation among those in one Kubernetes cluster; none means the namespace of its Lease.
    pub installation: Option<String>,
    /// Other installations whose claims this one takes over.
    pub take_over_from: Vec<String>,
    /// How long a claim outlives its group.
    pub claim_retention: Duration,
    /// How long producers may take to notice a growth: librdkafka refreshes its metadata every 5 minutes
    /// (`topic.metadata.refresh.interval.ms`), sarama and the Java client within 10 at the latest for topics that they
    /// use. Shorter than they take, and records that they placed at the old count are judged at the new one.
    pub settling_window: Duration,
    /// The namespace of the Lease; none means the one that this process runs in, or the kubeconfig's.
    pub lease_namespace: Option<String>,
    /// How long a Lease that is not renewed stands. Whole seconds.
    pub lease_duration: Duration,
    /// This process among the replicas of the installation; none means the host's name and a random part.
    pub identity: Option<String>,
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

/// What is counted over all terms.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) kafka: Arc<kafka::Metrics>,
    pub(super) passes: Metrics,
}

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
    let candidate = candidate(&settings, client.default_namespace());
    let installation = installation_of(&settings, &candidate.namespace);
    let identity = candidate.identity.clone();
    let own_namespace = candidate.namespace.clone();
    let campaign = Campaign::begin(client.clone(), candidate);

    let counters = Counters::default();
    let mut registry = Registry::with_prefix("copartition");
    counters.kafka.register(&mut registry);
    counters.passes.register(&mut registry);
    // From the start: an operator that waits for the API server is alive, and restarting it would not help.
    let pages = Arc::new(Pages::new(registry, campaign.standing()));
    let serving = tokio::spawn(serve(listener, Arc::clone(&pages), stopped.clone()));

    let office = Office {
        settings: &settings,
        installation: &installation,
        identity: &identity,
        own_namespace: &own_namespace,
        client: &client,
        counters: &counters,
        pages: &pages,
    };
    loop {
        let term = tokio::select! {
            term = campaign.won() => term,
            () = until(stopped.clone()) => break,
        };
        lead(&office, term, stopped.clone()).await;
    }
    campaign.retire().await;
    serving.abort();
    tracing::info!("stopped");
    Ok(())
}

/// The name of the Lease, and without another name of the installation the whole of it.
const LEASE: &str = "copartition-operator";

fn candidate(settings: &Settings, own_namespace: &str) -> Candidate {
    let namespace = settings.lease_namespace.as_deref().unwrap_or(own_namespace);
    Candidate {
        namespace: namespace.to_owned(),
        // Several installations may run in one namespace.
        name: match &settings.installation {
            Some(installation) if installation != namespace => format!("{LEASE}-{installation}"),
            _ => LEASE.to_owned(),
        },
        identity: settings.identity.clone().unwrap_or_else(random_identity),
        duration: settings.lease_duration,
    }
}

fn installation_of(settings: &Settings, lease_namespace: &str) -> String {
    settings
        .installation
        .clone()
        .unwrap_or_else(|| lease_namespace.to_owned())
}

/// The host's name, for people, and a part that no other process has.
fn random_identity() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    // The standard library seeds each of them from the system's random numbers.
    let random = RandomState::new().build_hasher().finish();
    format!("{}_{random:016x}", host.trim())
}

fn spawn_signal_handler(stop: watch::Sender<bool>) -> Result<(), Error> {
    let signal = stop_signal().map_err(Error::Signals)?;
    tokio::spawn(async move {
        signal.await;
        tracing::info!("stopping");
        // Nobody left to tell is no error.
        let _ = stop.send(true);
        stop.closed().await;
    });
    Ok(())
}

/// Ready with SIGTERM or SIGINT; must be called in a Tokio runtime.
///
/// # Errors
/// If the signal handlers cannot be installed.
pub fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(installation: Option<&str>, lease_namespace: Option<&str>) -> Settings {
        Settings {
            namespaces: Vec::new(),
            listen: ([127, 0, 0, 1], 0).into(),
            poll_interval: Duration::from_secs(5),
            installation: installation.map(ToOwned::to_owned),
            take_over_from: Vec::new(),
            inline_connections: Vec::new(),
            verification_budget: 1,
            claim_retention: Duration::from_secs(600),
            settling_window: Duration::from_secs(600),
            lease_namespace: lease_namespace.map(ToOwned::to_owned),
            lease_duration: Duration::from_secs(15),
            identity: None,
        }
    }

    #[test]
    fn each_installation_has_a_lease_of_its_own() {
        let lease = |installation, namespace| {
            let settings = settings(installation, namespace);
            let candidate = candidate(&settings, "own");
            let name = installation_of(&settings, &candidate.namespace);
            (candidate.namespace, candidate.name, name)
        };
        let three = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        // Installed twice by mistake, in two namespaces: two installations, which notice each other.
        assert_eq!(lease(None, None), three("own", LEASE, "own"));
        assert_eq!(lease(None, Some("x")), three("x", LEASE, "x"));
        let named = format!("{LEASE}-team");
        assert_eq!(lease(Some("team"), None), three("own", &named, "team"));
        assert_eq!(lease(Some("own"), None), three("own", LEASE, "own"));
    }

    #[test]
    fn no_two_processes_share_an_identity() {
        assert_ne!(random_identity(), random_identity());
    }
}
