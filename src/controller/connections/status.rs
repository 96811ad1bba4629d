//! The status of each `KafkaConnection`: whether it can be used, and whether its cluster answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, StreamExt};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition as KubeCondition;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, ResourceExt};
use serde_json::json;

use super::super::context::Context;
use super::super::gate::GateError;
use super::super::report::{not_asked, reachable, silence};
use super::super::status::kube_condition;
use super::rights::Rights;
use super::version::Version;
use super::{Known, LinkError, Refusal, user_of};
use crate::api::{ConnectionStatus, KafkaConnection};
use crate::kafka::{Cluster, ConnectionSettings, Interest};
use crate::plan::{Condition, ConditionType, Reason, State};

/// How often clusters are looked at without a cause.
const TICK: Duration = Duration::from_secs(5);

/// Connections that are looked at at the same time: one whose cluster answers slowly keeps no other waiting.
const AT_ONCE: usize = 64;

/// What is asked of a connection's brokers now and then.
#[derive(Default)]
struct Seen {
    rights: Rights,
    version: Version,
}

/// Keeps the status of all connections true, for as long as it is polled.
pub(in crate::controller) async fn run(context: Arc<Context>) {
    let connections = &context.connections;
    connections.wait_synced().await;
    // By connection; those that are gone are dropped.
    let mut seen: HashMap<String, Seen> = HashMap::new();
    loop {
        let looks = connections.reported().into_iter().map(|known| {
            let seen = seen.remove(&known.object.name_any()).unwrap_or_default();
            look(&context, known, seen)
        });
        // Made before they run: each takes along what is known of its connection.
        let looks: Vec<_> = looks.collect();
        let ended: Vec<_> = stream::iter(looks)
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        if ended.iter().any(|(_, _, leads)| !leads) {
            return;
        }
        seen = ended
            .into_iter()
            .map(|(name, seen, _)| (name, seen))
            .collect();
        // Whatever comes first; a tick that nothing came of costs a look into caches.
        let _ = tokio::time::timeout(TICK, connections.woken.notified()).await;
    }
}

/// Looks at one connection, and writes its status if it changed. Returns what is known of it by now, and whether this process
/// still leads.
async fn look(context: &Context, known: Arc<Known>, mut seen: Seen) -> (String, Seen, bool) {
    let name = known.object.name_any();
    let new = match status(context, &known, &mut seen).await {
        Ok(new) => new,
        Err(error) => {
            tracing::warn!(connection = name, %error, "what a connection refers to cannot be read; tried again");
            return (name, seen, true);
        }
    };
    if known.object.status.as_ref() == Some(&new) {
        return (name, seen, true);
    }
    match write(context, &known, &new).await {
        // Changed or gone meanwhile: the watch brings it.
        Err(error) if matches!(error.code(), Some(404 | 409)) => {}
        Err(GateError::NotLeading) => return (name, seen, false),
        Err(error) => {
            tracing::warn!(connection = name, %error, "the status of a connection cannot be written; tried again");
        }
        Ok(written) => {
            context.connections.changed(written);
        }
    }
    (name, seen, true)
}

async fn status(
    context: &Context,
    known: &Known,
    seen: &mut Seen,
) -> Result<ConnectionStatus, GateError> {
    let object = &known.object;
    let user = user_of(&object.name_any());
    let settings = match context.connections.settings(known).await {
        Ok(settings) => Ok(settings),
        Err(LinkError::Refused(refusal)) => Err(refusal),
        Err(LinkError::Api(error)) => return Err(error),
    };
    let cluster = settings
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|settings| {
            context
                .kafka
                .cluster_for(&user, settings)
                .map_err(|error| Refusal {
                    reason: Reason::InvalidSpec,
                    message: error.to_string(),
                })
                .map(|cluster| (settings, cluster))
        });
    let old = object.status.clone().unwrap_or_default();
    let mut missing_permissions = old.missing_permissions.clone();
    let mut broker_version = old.broker_version.clone();
    let (accepted, kafka, cluster_id) = match cluster {
        Err(refusal) => {
            context.kafka.forget(&user);
            let kafka = not_asked(refusal.reason);
            (Err(refusal), kafka, old.cluster_id.clone())
        }
        Ok((settings, cluster)) => {
            context.kafka.use_only(&user, settings);
            cluster.set_interest(&user, Interest::default());
            let name = object.name_any();
            let (kafka, id) = answer(&user, settings, &cluster, &old, &name);
            if kafka.state == State::True {
                let version = &mut seen.version;
                broker_version = version.of(&name, settings, &cluster, broker_version).await;
                if let Some(missing) = seen
                    .rights
                    .missing(context, &name, settings, &cluster)
                    .await
                {
                    missing_permissions = missing;
                }
            }
            let problems = known.problems.join("; ");
            let accepted = if problems.is_empty() {
                Ok(())
            } else {
                Err(Refusal {
                    reason: Reason::InvalidSpec,
                    message: format!("{problems}. These allow nothing, the other rules hold"),
                })
            };
            (accepted, kafka, id)
        }
    };
    let accepted = match accepted {
        Ok(()) => Condition::new(
            ConditionType::Accepted,
            State::True,
            Reason::Accepted,
            "the connection and what it refers to can be used",
        ),
        Err(refusal) => Condition::new(
            ConditionType::Accepted,
            State::False,
            refusal.reason,
            refusal.message,
        ),
    };
    let ready = ready(&accepted, &kafka);
    let now = Timestamp::now();
    let generation = object.metadata.generation;
    let conditions: Vec<KubeCondition> = [accepted, kafka, ready]
        .iter()
        .map(|condition| kube_condition(condition, generation, &old.conditions, now))
        .collect();
    Ok(ConnectionStatus {
        observed_generation: generation,
        cluster_id,
        broker_version,
        missing_permissions,
        conditions,
    })
}

/// Whether the cluster answers, and its id as far as it is known.
fn answer(
    user: &str,
    settings: &ConnectionSettings,
    cluster: &Cluster,
    old: &ConnectionStatus,
    name: &str,
) -> (Condition, Option<String>) {
    let health = cluster.health();
    let old_id = old.cluster_id.clone();
    if health.reachable
        && let Some(view) = cluster.view(user)
    {
        return (reachable(&view.cluster_id), Some(view.cluster_id));
    }
    let servers = settings.bootstrap_servers.join(", ");
    if health.reachable || health.pending {
        // A blip, or a new connection: what was said last stands until it is decided.
        let last = old
            .conditions
            .iter()
            .find(|it| it.type_ == ConditionType::KafkaReachable.as_str() && it.status == "True");
        let said = match (last, &old_id) {
            (Some(_), Some(id)) => reachable(id),
            _ => Condition::new(
                ConditionType::KafkaReachable,
                State::Unknown,
                Reason::Pending,
                format!("{servers} has not answered yet"),
            ),
        };
        return (said, old_id);
    }
    let (reason, words) = silence(&health);
    log_once(name, reason, &words, old);
    let message = format!(
        "wanted an answer from {servers}, seen: {} {}",
        reason.doc(),
        advice(reason)
    );
    let said = Condition::new(ConditionType::KafkaReachable, State::False, reason, message);
    (said, old_id)
}

/// What the broker said goes to the log, once: it has addresses and times that change with each try.
fn log_once(name: &str, reason: Reason, words: &str, old: &ConnectionStatus) {
    let told = old.conditions.iter().any(|it| {
        it.type_ == ConditionType::KafkaReachable.as_str() && it.reason == reason.as_str()
    });
    if !told {
        tracing::warn!(connection = name, reason = reason.as_str(), error = %words, "Kafka does not answer");
    }
}

fn advice(reason: Reason) -> &'static str {
    match reason {
        Reason::AuthenticationFailed => {
            "Check the user, the password and the mechanism; the Secrets are looked at again every few seconds."
        }
        Reason::CertificateRejected => {
            "Check the CA, the host names and dates of the brokers' certificates, and the client's own; the operator's log has the words."
        }
        Reason::NotAuthorized => "Grant the user DESCRIBE on the cluster; the log has the words.",
        Reason::Timeout => {
            "Check the brokers and the network, or raise timeouts.request; it is tried again."
        }
        _ => {
            "Check the address, the port and the network, and whether the listener wants TLS; it is tried again."
        }
    }
}

fn ready(accepted: &Condition, kafka: &Condition) -> Condition {
    let decides = if accepted.state == State::True {
        kafka
    } else {
        accepted
    };
    Condition::new(
        ConditionType::Ready,
        decides.state,
        decides.reason,
        decides.message.clone(),
    )
}

async fn write(
    context: &Context,
    known: &Known,
    status: &ConnectionStatus,
) -> Result<KafkaConnection, GateError> {
    let client: Client = context.client.clone();
    let api: Api<KafkaConnection> = Api::all(client);
    // A merge patch keeps what is left out.
    let mut body = json!({
        "metadata": {"resourceVersion": known.object.resource_version()},
        "status": status,
    });
    if status.missing_permissions.is_empty() {
        body["status"]["missingPermissions"] = json!(null);
    }
    if status.broker_version.is_none() {
        body["status"]["brokerVersion"] = json!(null);
    }
    let params = PatchParams {
        field_manager: Some("copartition-operator".to_owned()),
        ..PatchParams::default()
    };
    let name = known.object.name_any();
    let body = Patch::Merge(&body);
    context
        .gate
        .write(api.patch_status(&name, &params, &body))
        .await
}
