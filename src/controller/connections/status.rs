//! The status of each `KafkaConnection`: whether it can be used, and whether its cluster answers.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition as KubeCondition;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, ResourceExt};
use serde_json::json;

use super::super::context::Context;
use super::super::gate::GateError;
use super::super::report::{not_asked, reachable, silence};
use super::super::status::kube_condition;
use super::version::Versions;
use super::{Known, LinkError, Refusal, Uses, user_of};
use crate::api::{ConnectionStatus, KafkaConnection};
use crate::kafka::{
    self, CLUSTER_PERMISSIONS, Cluster, ConnectionSettings, Interest, Operation, Use,
};
use crate::plan::{Condition, ConditionType, Reason, State};

/// How often clusters are looked at without a cause.
const TICK: Duration = Duration::from_secs(5);

/// How often rights are looked at again: they change seldom, and nobody says when.
const RIGHTS: Duration = Duration::from_secs(300);
/// The most missing rights that a status lists; the schema bounds it.
const MOST_MISSING: usize = 100;

/// What was found of the rights of a connection.
struct Rights {
    read_at: Instant,
    uses: Uses,
    missing: Vec<String>,
}

/// Keeps the status of all connections true, for as long as it is polled.
pub(in crate::controller) async fn run(context: Arc<Context>) {
    let connections = &context.connections;
    connections.wait_synced().await;
    // By connection; those that are gone are dropped.
    let mut rights: HashMap<String, Rights> = HashMap::new();
    let mut versions = Versions::default();
    loop {
        let reported = connections.reported();
        let is_reported = |name: &str| {
            let mut names = reported.iter().map(|known| known.object.name_any());
            names.any(|reported| reported == name)
        };
        rights.retain(|name, _| is_reported(name));
        versions.retain(is_reported);
        for known in reported {
            let name = known.object.name_any();
            let new = match status(&context, &known, &mut rights, &mut versions).await {
                Ok(new) => new,
                Err(error) => {
                    tracing::warn!(connection = name, %error, "what a connection refers to cannot be read; tried again");
                    continue;
                }
            };
            if known.object.status.as_ref() == Some(&new) {
                continue;
            }
            match write(&context, &known, &new).await {
                // Changed or gone meanwhile: the watch brings it.
                Err(error) if matches!(error.code(), Some(404 | 409)) => {}
                Err(GateError::NotLeading) => return,
                Err(error) => {
                    tracing::warn!(connection = name, %error, "the status of a connection cannot be written; tried again");
                }
                Ok(written) => {
                    connections.changed(written);
                }
            }
        }
        // Whatever comes first; a tick that nothing came of costs a look into caches.
        let _ = tokio::time::timeout(TICK, connections.woken.notified()).await;
    }
}

async fn status(
    context: &Context,
    known: &Known,
    rights: &mut HashMap<String, Rights>,
    versions: &mut Versions,
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
                broker_version = versions.of(&name, settings, &cluster, broker_version).await;
            }
            if kafka.state == State::True
                && let Some(missing) = missing(context, &name, &cluster, rights).await
            {
                missing_permissions = missing;
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

/// The rights that groups of a connection need and its principal lacks, as far as they can be read. Topics that are not
/// there, or may not even be seen, tell nothing.
async fn missing(
    context: &Context,
    name: &str,
    cluster: &Cluster,
    rights: &mut HashMap<String, Rights>,
) -> Option<Vec<String>> {
    let uses = context.connections.uses(name);
    if let Some(known) = rights.get(name)
        && known.uses == uses
        && known.read_at.elapsed() < RIGHTS
    {
        return Some(known.missing.clone());
    }
    let topics: Vec<String> = uses.keys().cloned().collect();
    let granted = match cluster.client().authorized_operations(&topics).await {
        Ok(granted) => granted,
        Err(error) => {
            tracing::debug!(connection = name, %error, "the rights on topics cannot be read");
            return None;
        }
    };
    let mut missing = missing_on_cluster(cluster, &uses).await;
    // What our own lock denies is not missing: it is lifted when it is needed.
    let locked: BTreeSet<String> = {
        let claims = context.claims.all();
        let locks = claims.iter().flat_map(|claim| &claim.spec.locks);
        let ours = locks.filter(|lock| lock.connection.as_deref() == Some(name));
        ours.map(|lock| lock.topic.clone()).collect()
    };
    for (topic, uses) in &uses {
        let Some(Ok(granted)) = granted.get(topic) else {
            continue;
        };
        // Whether the principal may create it is of no interest: it is there.
        let uses: Vec<Use> = uses.iter().copied().collect();
        let lacking = kafka::missing(granted, &uses).into_iter();
        let lacking = lacking.filter(|operation| match operation {
            Operation::Create => false,
            Operation::Alter => !locked.contains(topic),
            _ => true,
        });
        missing.extend(lacking.map(|operation| format!("{operation} on topic {topic}")));
    }
    let more = missing.len().saturating_sub(MOST_MISSING);
    if more > 0 {
        missing.truncate(MOST_MISSING - 1);
        missing.push(format!("and {} more", more + 1));
    }
    let known = Rights {
        read_at: Instant::now(),
        uses,
        missing,
    };
    let missing = known.missing.clone();
    rights.insert(name.to_owned(), known);
    Some(missing)
}

/// The rights on the cluster that locks need and the principal lacks; none if they can't be read.
async fn missing_on_cluster(cluster: &Cluster, uses: &Uses) -> Vec<String> {
    if !uses.values().any(|uses| uses.contains(&Use::Lock)) {
        return Vec::new();
    }
    match cluster.client().authorized_cluster_operations().await {
        Ok(granted) => CLUSTER_PERMISSIONS
            .iter()
            .filter(|needed| needed.required && !granted.contains(&needed.operation))
            .map(|needed| format!("{} on the cluster", needed.operation))
            .collect(),
        Err(error) => {
            tracing::debug!(%error, "the rights on the cluster cannot be read");
            Vec::new()
        }
    }
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
