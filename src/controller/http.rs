//! `/healthz`, `/readyz` and `/metrics`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use kube::runtime::reflector::Store;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::classic::classic;
use super::context::Context;
use super::gauges;
use super::lease::Standing;
use super::reconcile::WatchedGroup;
use crate::plan::ConditionType;

/// What the pages are made from.
pub(super) struct Pages {
    registry: Registry,
    standing: watch::Receiver<Standing>,
    caches: Mutex<Option<Caches>>,
}

/// What a leader knows.
pub(super) struct Caches {
    pub(super) context: Arc<Context>,
    pub(super) stores: Vec<Store<WatchedGroup>>,
    /// The watches that have not read their groups yet.
    pub(super) unread: watch::Receiver<BTreeSet<usize>>,
}

impl Pages {
    /// Pages of a replica that does not lead yet.
    pub(super) fn new(registry: Registry, standing: watch::Receiver<Standing>) -> Self {
        Pages {
            registry,
            standing,
            caches: Mutex::default(),
        }
    }

    /// Shows what this replica knows as the leader.
    pub(super) fn show(&self, caches: Caches) {
        *self.caches() = Some(caches);
    }

    /// Shows nothing of it any more.
    pub(super) fn hide(&self) {
        *self.caches() = None;
    }

    fn caches(&self) -> MutexGuard<'_, Option<Caches>> {
        self.caches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves the pages until `stop` turns true.
pub(super) async fn serve(
    listener: TcpListener,
    pages: Arc<Pages>,
    mut stop: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .with_state(pages);
    axum::serve(listener, router)
        .with_graceful_shutdown(async move {
            // An error means that the sender is gone, which is a stop as well.
            let _ = stop.wait_for(|stop| *stop).await;
        })
        .await
}

/// A leader is ready once all claims and groups were read, another replica while it stands by: a rolling update waits for
/// it. A Kafka outage does not make it unready: there is nothing that another replica could do better, and the verdicts
/// stay readable.
async fn readyz(State(pages): State<Arc<Pages>>) -> impl IntoResponse {
    let standing = pages.standing.borrow().clone();
    match readiness(&standing, pages.caches().as_ref()) {
        Ok(words) => (StatusCode::OK, format!("{words}\n")),
        Err(waits) => (
            StatusCode::SERVICE_UNAVAILABLE,
            format!("waiting for {waits}\n"),
        ),
    }
}

fn readiness(standing: &Standing, caches: Option<&Caches>) -> Result<String, String> {
    match standing {
        Standing::Unknown(why) => return Err(format!("the Lease: {why}")),
        Standing::Standby { holder } => return Ok(format!("standing by: {holder} leads")),
        Standing::Leading { .. } => {}
    }
    let Some(caches) = caches else {
        return Err("the Kubernetes API server".to_owned());
    };
    let waits: Vec<&str> = [
        (!caches.context.claims.synced()).then_some("claims (is the CRD copartitionclaims.copartition.dev installed, and may it be listed?)"),
        (!caches.context.connections.synced()).then_some("connections (is the CRD kafkaconnections.copartition.dev installed, and may it be listed?)"),
        (!caches.unread.borrow().is_empty()).then_some("groups (is the CRD copartitionedtopicgroups.copartition.dev installed, and may it be listed?)"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if waits.is_empty() {
        Ok("leading".to_owned())
    } else {
        Err(waits.join(", "))
    }
}

/// OpenMetrics for who asks for it, as Prometheus does, and the older text format for everybody else.
async fn metrics(State(pages): State<Arc<Pages>>, headers: HeaderMap) -> impl IntoResponse {
    let accepts = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    let open = accepts.is_some_and(|it| it.contains("application/openmetrics-text"));
    let mut text = String::new();
    if prometheus_client::encoding::text::encode_registry(&mut text, &pages.registry).is_err() {
        return (
            StatusCode::INTERNAL_SERVER_ERROR,
            [(header::CONTENT_TYPE, "text/plain")],
            String::new(),
        );
    }
    let leads = matches!(&*pages.standing.borrow(), Standing::Leading { .. });
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "# HELP copartition_leader Whether this replica holds the Lease.\n# TYPE copartition_leader gauge\ncopartition_leader {}",
        u8::from(leads)
    );
    gauges::build(&mut text);
    if let Some(caches) = pages.caches().as_ref() {
        groups(&mut text, &caches.stores);
        gauges::reasons(&mut text, &caches.stores);
        gauges::clusters(&mut text, &caches.context.kafka);
        gauges::needed(&mut text, &caches.context.discovery);
        records(&mut text, &caches.stores);
    }
    text.push_str("# EOF\n");
    let (kind, text) = if open {
        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        (kind, text)
    } else {
        ("text/plain; version=0.0.4; charset=utf-8", classic(&text))
    };
    (StatusCode::OK, [(header::CONTENT_TYPE, kind)], text)
}

/// How many groups have each condition in each status, counted from the cache when the page is asked for.
fn groups(text: &mut String, stores: &[Store<WatchedGroup>]) {
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for object in stores.iter().flat_map(Store::state) {
        let Ok(group) = &object.0 else { continue };
        for condition in group.status.iter().flat_map(|status| &status.conditions) {
            // Only known words: a status edited by hand must not make new labels.
            let kind = ConditionType::ALL
                .iter()
                .find(|kind| kind.as_str() == condition.type_);
            let state = ["True", "False", "Unknown"]
                .into_iter()
                .find(|state| *state == condition.status);
            if let (Some(kind), Some(state)) = (kind, state) {
                *counts.entry((kind.as_str(), state)).or_default() += 1;
            }
        }
    }
    text.push_str("# HELP copartition_groups Groups by condition and its status.\n# TYPE copartition_groups gauge\n");
    for ((condition, status), count) in counts {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "copartition_groups{{condition=\"{condition}\",status=\"{status}\"}} {count}"
        );
    }
}

/// What the records of each topic said when they were last read, from the statuses. Only groups with `verification` have
/// these, so their number is bounded by what was asked for.
fn records(text: &mut String, stores: &[Store<WatchedGroup>]) {
    let (mut placed, mut unkeyed, mut times) = (String::new(), String::new(), String::new());
    for object in stores.iter().flat_map(Store::state) {
        let Ok(group) = &object.0 else { continue };
        let meta = &group.metadata;
        let (Some(namespace), Some(name)) = (&meta.namespace, &meta.name) else {
            continue;
        };
        let Some(verification) = group
            .status
            .as_ref()
            .and_then(|it| it.verification.as_ref())
        else {
            continue;
        };
        for topic in &verification.topics {
            let labels = format!(
                "{{namespace=\"{namespace}\",group=\"{name}\",topic=\"{}\"}}",
                topic.name
            );
            // A status edited by hand is no number.
            let share = |share: &String| share.parse::<f64>().ok();
            // Writing to a String cannot fail.
            if let Some(share) = topic.share_placed.as_ref().and_then(share) {
                let _ = writeln!(placed, "copartition_records_placed_share{labels} {share}");
            }
            if let Some(share) = share(&topic.share_unkeyed) {
                let _ = writeln!(unkeyed, "copartition_records_unkeyed_share{labels} {share}");
            }
            let time = verification.last_verified_time.0.as_second();
            let _ = writeln!(
                times,
                "copartition_records_read_timestamp_seconds{labels} {time}"
            );
        }
    }
    for (name, help, lines) in [
        (
            "copartition_records_placed_share",
            "Sampled keyed records that lie where the declared scheme puts them.",
            placed,
        ),
        (
            "copartition_records_unkeyed_share",
            "Sampled records without a key.",
            unkeyed,
        ),
        (
            "copartition_records_read_timestamp_seconds",
            "When the records were last read, to ten minutes.",
            times,
        ),
    ] {
        if !lines.is_empty() {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{lines}");
        }
    }
}
