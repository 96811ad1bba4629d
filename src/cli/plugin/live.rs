//! A group as it lives in the cluster, and what the operator remembers of it, read through the API.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};

use super::claims::Clusters;
use crate::api::{
    ClaimSpec, CoPartitionClaim, CoPartitionedTopicGroup, ConnectionSpec, FORGET_ANNOTATION,
    KafkaConnection,
};
use crate::controller::memory::claim_name;

/// How long an answer is waited for.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Which cluster, and which namespace of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) namespace: Option<String>,
    pub(super) context: Option<String>,
    pub(super) kubeconfig: Option<PathBuf>,
}

/// Reads one group.
///
/// # Errors
/// One line for the user.
pub(super) fn get(name: &str, place: &Place) -> Result<CoPartitionedTopicGroup, String> {
    in_time(async {
        let config = config(place).await?;
        let namespace = place
            .namespace
            .clone()
            .unwrap_or_else(|| config.default_namespace.clone());
        let groups: Api<CoPartitionedTopicGroup> = Api::namespaced(connect(config)?, &namespace);
        groups
            .get(name)
            .await
            .map_err(|error| explained(&error, &namespace, name))
    })
}

/// Reads the claim of a group: what the operator remembers of it. `None` if there is none.
///
/// # Errors
/// One line for the user, of a missing permission too: claims lie in no namespace, so that who may read a group need not be
/// allowed to read its claim.
pub(super) fn claim(
    namespace: &str,
    name: &str,
    place: &Place,
) -> Result<Option<ClaimSpec>, String> {
    let name = claim_name(namespace, name);
    in_time(async {
        let claims: Api<CoPartitionClaim> = Api::all(connect(config(place).await?)?);
        match claims.get_opt(&name).await {
            Ok(claim) => Ok(claim.map(|claim| claim.spec)),
            Err(kube::Error::Api(status)) if status.code == 403 => Err(format!(
                "you may not get copartitionclaims: {}",
                status.message
            )),
            Err(error) => Err(format!("reading the claim {name}: {}", chain(&error))),
        }
    })
}

/// Reads a `KafkaConnection`.
///
/// # Errors
/// One line for the user, of a missing permission too: connections lie in no namespace.
pub(super) fn connection(name: &str, place: &Place) -> Result<ConnectionSpec, String> {
    in_time(async {
        let connections: Api<KafkaConnection> = Api::all(connect(config(place).await?)?);
        match connections.get(name).await {
            Ok(connection) => Ok(connection.spec),
            Err(error) => Err(format!(
                "reading KafkaConnection {name}: {}; or say how Kafka is reached with --bootstrap-server and --command-config",
                chain(&error)
            )),
        }
    })
}

/// Has the API server check a spec by all its rules and policies, without keeping it: why it would refuse, if it would.
///
/// # Errors
/// One line for the user if it cannot be asked, as where this user may not edit the group.
pub(super) fn admitted(
    group: &CoPartitionedTopicGroup,
    place: &Place,
) -> Result<Option<String>, String> {
    in_time(async {
        let config = config(place).await?;
        let namespace = group.metadata.namespace.clone();
        let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
        let groups: Api<CoPartitionedTopicGroup> = Api::namespaced(connect(config)?, &namespace);
        let name = group.metadata.name.clone().unwrap_or_default();
        let spec = Patch::Merge(serde_json::json!({"spec": group.spec}));
        let params = PatchParams {
            dry_run: true,
            ..PatchParams::default()
        };
        let mut answer = groups.patch(&name, &params, &spec).await;
        if matches!(&answer, Err(kube::Error::Api(status)) if status.code == 404) {
            let mut new = CoPartitionedTopicGroup::new(&name, group.spec.clone());
            new.metadata.namespace = Some(namespace);
            let params = PostParams {
                dry_run: true,
                ..PostParams::default()
            };
            answer = groups.create(&params, &new).await;
        }
        match answer {
            Ok(_) => Ok(None),
            // What RBAC forbids is no verdict on the change; what a policy or a webhook forbids is.
            Err(kube::Error::Api(status))
                if status.code == 422
                    || (status.code == 403 && status.message.contains("denied")) =>
            {
                Ok(Some(status.message))
            }
            Err(error) => Err(chain(&error)),
        }
    })
}

/// Reads all claims, and the cluster that each connection leads to; `None` if connections may not be listed.
///
/// # Errors
/// One line for the user.
pub(super) fn claims(place: &Place) -> Result<(Vec<CoPartitionClaim>, Option<Clusters>), String> {
    in_time(async {
        let client = connect(config(place).await?)?;
        let claims: Api<CoPartitionClaim> = Api::all(client.clone());
        let all = ListParams::default();
        let claims = claims.list(&all).await.map_err(|error| match &error {
            kube::Error::Api(status) if status.code == 403 => {
                format!("you may not list copartitionclaims: {}", status.message)
            }
            kube::Error::Api(status) if status.code == 404 => {
                "this cluster does not know CoPartitionClaims: the CRDs are not installed, or this is another cluster \
                 than you think; check --context"
                    .to_owned()
            }
            _ => format!("reading the claims: {}", chain(&error)),
        })?;
        let connections: Api<KafkaConnection> = Api::all(client);
        let clusters = match connections.list(&all).await {
            Ok(connections) => Some(
                connections
                    .into_iter()
                    .map(|connection| {
                        let name = connection.metadata.name.unwrap_or_default();
                        (name, connection.status.and_then(|status| status.cluster_id))
                    })
                    .collect(),
            ),
            Err(kube::Error::Api(status)) if status.code == 403 => None,
            Err(error) => return Err(format!("reading the connections: {}", chain(&error))),
        };
        Ok((claims.items, clusters))
    })
}

/// Whether there is no such group (any more).
///
/// # Errors
/// One line for the user.
pub(super) fn is_gone(namespace: &str, name: &str, place: &Place) -> Result<bool, String> {
    in_time(async {
        let client = connect(config(place).await?)?;
        let groups: Api<CoPartitionedTopicGroup> = Api::namespaced(client, namespace);
        let found = groups.get_metadata_opt(name).await;
        found
            .map(|found| found.is_none())
            .map_err(|error| explained(&error, namespace, name))
    })
}

/// Asks the operator to forget the locks of a claim on these clusters, given with commas between them.
///
/// # Errors
/// One line for the user.
pub(super) fn forget_locks(claim: &str, clusters: &str, place: &Place) -> Result<(), String> {
    in_time(async {
        let claims: Api<CoPartitionClaim> = Api::all(connect(config(place).await?)?);
        let annotations = serde_json::json!({FORGET_ANNOTATION: clusters});
        let patch = serde_json::json!({"metadata": {"annotations": annotations}});
        let params = PatchParams::default();
        let patched = claims
            .patch_metadata(claim, &params, &Patch::Merge(&patch))
            .await;
        patched.map(drop).map_err(|error| match error {
            kube::Error::Api(status) => format!("annotating the claim {claim}: {}", status.message),
            error => format!("annotating the claim {claim}: {}", chain(&error)),
        })
    })
}

/// Asks a cluster something.
///
/// # Errors
/// One line for the user.
pub(super) fn asked<T, F: Future<Output = Result<T, String>>>(
    place: &Place,
    ask: impl FnOnce(Client) -> F,
) -> Result<T, String> {
    in_time(async { ask(connect(config(place).await?)?).await })
}

/// Runs what asks the API, for as long as an answer is waited for.
fn in_time<T>(read: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime = crate::cli::runtime()?;
    let read = runtime.block_on(async {
        match tokio::time::timeout(TIMEOUT, read).await {
            Ok(outcome) => outcome,
            Err(_) => Err(format!(
                "the Kubernetes API did not answer within {} s; check the context and the network, or use -f FILE",
                TIMEOUT.as_secs()
            )),
        }
    });
    // A request that nobody waits for any more does not hold the process up.
    runtime.shutdown_background();
    read
}

fn connect(config: Config) -> Result<Client, String> {
    Client::try_from(config)
        .map_err(|error| format!("connecting to the Kubernetes API: {}", chain(&error)))
}

async fn config(place: &Place) -> Result<Config, String> {
    let options = KubeConfigOptions {
        context: place.context.clone(),
        ..KubeConfigOptions::default()
    };
    if let Some(path) = &place.kubeconfig {
        let failed = |error: &dyn std::error::Error| in_file(path, error);
        let file = Kubeconfig::read_from(path).map_err(|error| failed(&error))?;
        return Config::from_custom_kubeconfig(file, &options)
            .await
            .map_err(|error| failed(&error));
    }
    if place.context.is_some() {
        return Config::from_kubeconfig(&options)
            .await
            .map_err(|error| format!("the kubeconfig: {}", chain(&error)));
    }
    Config::infer().await.map_err(|error| {
        format!(
            "no cluster to read from: {}; give --kubeconfig FILE or set KUBECONFIG, or use -f FILE",
            chain(&error)
        )
    })
}

fn in_file(path: &Path, error: &dyn std::error::Error) -> String {
    format!("kubeconfig {}: {}", path.display(), chain(error))
}

fn explained(error: &kube::Error, namespace: &str, name: &str) -> String {
    let kube::Error::Api(status) = error else {
        return format!("reading {namespace}/{name}: {}", chain(error));
    };
    let of_this = status
        .details
        .as_ref()
        .is_some_and(|details| details.name == name);
    match status.code {
        404 if of_this => format!(
            "there is no CoPartitionedTopicGroup {name} in namespace {namespace}; name another one with -n"
        ),
        404 => "this cluster does not know CoPartitionedTopicGroups: the CRDs are not installed, or this is another \
                cluster than you think; check --context"
            .to_owned(),
        403 => format!(
            "you may not get copartitionedtopicgroups in namespace {namespace}: {}",
            status.message
        ),
        401 => "the Kubernetes API does not accept these credentials; log in again".to_owned(),
        _ => format!("reading {namespace}/{name}: {}", status.message),
    }
}

/// An error with its causes on one line, as far as they are not repeated.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = next.source();
    }
    text.replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use kube::core::Status;
    use kube::core::response::StatusDetails;

    use super::*;

    fn said(code: u16, named: &str) -> String {
        let status = Status {
            code,
            message: "in its own words".to_owned(),
            details: Some(StatusDetails {
                name: named.to_owned(),
                group: String::new(),
                kind: String::new(),
                uid: String::new(),
                causes: Vec::new(),
                retry_after_seconds: 0,
            }),
            ..Status::default()
        };
        explained(&kube::Error::Api(Box::new(status)), "trading", "orders")
    }

    #[test]
    fn a_missing_group_is_not_a_missing_crd() {
        assert!(
            said(404, "orders").contains("no CoPartitionedTopicGroup orders in namespace trading")
        );
        assert!(said(404, "").contains("the CRDs are not installed"));
        assert!(
            said(403, "orders").starts_with(
                "you may not get copartitionedtopicgroups in namespace trading: in its"
            )
        );
        assert!(said(401, "").contains("log in again"));
        assert_eq!(said(500, ""), "reading trading/orders: in its own words");
    }

    #[test]
    fn a_kubeconfig_that_cannot_be_read_is_named() {
        let (_folder, broken) = super::super::testing::file("config", b"{");
        for (path, wanted) in [
            (&broken, "config"),
            (&PathBuf::from("/nowhere/config"), "No such file"),
        ] {
            let place = Place {
                kubeconfig: Some(path.clone()),
                ..Place::default()
            };
            let said = get("orders", &place).expect_err("no cluster");
            assert!(
                said.starts_with("kubeconfig ") && said.contains(wanted),
                "{said}"
            );
            assert!(!said.contains('\n'), "{said}");
        }
    }
}
