//! The groups of a run as they are applied: two topics each, the ten sample keys of the examples.

use std::time::{Duration, Instant};

use copartition::api::CoPartitionedTopicGroup;
use futures::stream::{self, StreamExt, TryStreamExt};
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::{Value, json};

pub(crate) const NAMESPACE: &str = "bench";
/// Requests to the API server at the same time, as of a GitOps tool that syncs.
pub(crate) const AT_ONCE: usize = 32;

const SAMPLE_KEYS: [&str; 10] = [
    "BBCA", "BBRI", "BMRI", "BBNI", "ANTM", "ASII", "GOTO", "ICBP", "UNVR", "TLKM",
];

/// A group to apply.
#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    pub(crate) name: String,
    pub(crate) spec: Value,
}

/// The name of the n-th group.
pub(crate) fn name(n: usize) -> String {
    format!("group-{n:05}")
}

/// The topics of the n-th group.
pub(crate) fn topics(n: usize) -> [String; 2] {
    [format!("updates-{n:05}"), format!("notices-{n:05}")]
}

/// The n-th group.
pub(crate) fn manifest(n: usize, bootstrap: &str, partitions: usize) -> Manifest {
    Manifest {
        name: name(n),
        spec: json!({
            "kafka": {"inline": {"bootstrapServers": [bootstrap]}},
            "partitions": partitions,
            "replicationFactor": 1,
            "keyScheme": {"encoding": "utf8", "partitioner": "murmur2"},
            "topics": topics(n).map(|name| json!({"name": name})),
            "sampleKeys": SAMPLE_KEYS,
        }),
    }
}

/// Applies them, a bounded number at the same time, and says how long that took.
pub(crate) async fn apply(client: &Client, manifests: Vec<Manifest>) -> Result<Duration, String> {
    let api: Api<CoPartitionedTopicGroup> = Api::namespaced(client.clone(), NAMESPACE);
    let began = Instant::now();
    stream::iter(manifests)
        .map(|manifest| {
            let api = api.clone();
            async move { apply_one(&api, &manifest).await }
        })
        .buffer_unordered(AT_ONCE)
        .try_collect::<()>()
        .await?;
    Ok(began.elapsed())
}

async fn apply_one(api: &Api<CoPartitionedTopicGroup>, manifest: &Manifest) -> Result<(), String> {
    let object = json!({
        "apiVersion": "copartition.dev/v1alpha1",
        "kind": "CoPartitionedTopicGroup",
        "metadata": {"name": manifest.name},
        "spec": manifest.spec,
    });
    let by = PatchParams::apply("bench").force();
    api.patch(&manifest.name, &by, &Patch::Apply(&object))
        .await
        .map(|_| ())
        .map_err(|e| format!("applying {}: {e}", manifest.name))
}
