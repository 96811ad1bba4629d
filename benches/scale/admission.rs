//! What the admission policies cost a write of another operator's topic: each is held against each labelled claim.

use std::path::Path;
use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt, TryStreamExt};
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::broker::Folders;
use crate::env::ControlPlane;
use crate::groups::AT_ONCE;
use crate::kinds::{STRIMZI, Says};
use crate::settings::thousands;
use crate::stage;
use crate::table::Rows;

const SPACE: &str = "shop";
/// The cluster that claims and topics name.
const CLUSTER: &str = "prod";
/// Writes of each kind.
const SAMPLES: usize = 41;
/// The API server learns of policies and claims through watches.
const DEADLINE: Duration = Duration::from_secs(120);

/// As the table says it.
pub(crate) fn setting(claims: usize) -> String {
    format!("admission at {} claims x 2 topics", thousands(claims))
}

pub(crate) fn measure(folders: &Folders, claims: usize, rows: &mut Rows) -> Result<(), String> {
    let kube = ControlPlane::start(folders.servers());
    kube.install_crds();
    kube.kubectl_ok(&["create", "namespace", SPACE]);
    kube.apply_ok(&STRIMZI.definition().to_string());
    let definition = format!("crd/{}", STRIMZI.resource());
    kube.kubectl_ok(&["wait", "--for=condition=Established", &definition]);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let client = stage::client(&kube).await;
        put_claims(&client, claims).await?;
        let topics = Topics::new(&client);
        for name in [HELD, FREE] {
            topics.create(name).await?;
        }
        for (policies, word) in [(false, "without policies"), (true, "with policies")] {
            if policies {
                let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("charts/copartition-operator/policies");
                kube.kubectl_ok(&["apply", "-f", &folder.to_string_lossy()]);
                topics.wait_until_guarded().await?;
            }
            let mut note = |what: &str, mut times: Vec<f64>| {
                times.sort_by(f64::total_cmp);
                let (p50, last) = (times[times.len() / 2], times[times.len() - 1]);
                rows.add(&format!("{word}: {what}, p50 of {SAMPLES}"), p50, "ms");
                rows.add(&format!("{word}: {what}, longest"), last, "ms");
            };
            note("count unchanged", topics.relabel().await?);
            note(
                "count changed, of a topic of no group",
                topics.grow().await?,
            );
            if policies {
                note(
                    "count changed, of a held topic: denied",
                    topics.denied().await?,
                );
            }
        }
        Ok(())
    })
}

/// Held at 6 by the first claim.
const HELD: &str = "updates-00000";
/// In no claim.
const FREE: &str = "nobodys";

async fn put_claims(client: &Client, claims: usize) -> Result<(), String> {
    let kind = GroupVersionKind::gvk("copartition.dev", "v1alpha1", "CoPartitionClaim");
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &ApiResource::from_gvk(&kind));
    stream::iter(0..claims)
        .map(|n| {
            let api = api.clone();
            async move {
                let claim: DynamicObject =
                    serde_json::from_value(claim(n)).map_err(|error| error.to_string())?;
                let created = api.create(&PostParams::default(), &claim).await;
                created.map(drop).map_err(|error| error.to_string())
            }
        })
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await
}

fn claim(n: usize) -> Value {
    let topic =
        |name: String| json!({"name": name, "counts": [6], "since": "2026-01-01T00:00:00.000000Z"});
    json!({
        "apiVersion": "copartition.dev/v1alpha1",
        "kind": "CoPartitionClaim",
        "metadata": {"name": format!("shop.group-{n:05}"), "labels": {"copartition.dev/guard": "true"}},
        "spec": {
            "installation": "main",
            "kubeSystemUid": "uid",
            "group": {"namespace": SPACE, "name": format!("group-{n:05}"), "uid": "uid"},
            "aliases": [STRIMZI.alias(CLUSTER, SPACE)],
            "holds": [topic(format!("updates-{n:05}")), topic(format!("notices-{n:05}"))],
            "references": [],
        },
    })
}

struct Topics(Api<DynamicObject>);

impl Topics {
    fn new(client: &Client) -> Self {
        let kind = GroupVersionKind::gvk(STRIMZI.group, STRIMZI.version, STRIMZI.camel);
        let resource = ApiResource::from_gvk_with_plural(&kind, STRIMZI.plural);
        Self(Api::namespaced_with(client.clone(), SPACE, &resource))
    }

    async fn create(&self, name: &str) -> Result<(), String> {
        let says = Says {
            name,
            namespace: SPACE,
            topic: None,
            count: 6,
            cluster: CLUSTER,
        };
        let object = serde_json::from_value(STRIMZI.manifest(says)).map_err(|e| e.to_string())?;
        let created = self.0.create(&PostParams::default(), &object).await;
        created.map(drop).map_err(|error| error.to_string())
    }

    /// One write, and the milliseconds that it took; whether it was taken.
    async fn write(&self, name: &str, change: Value) -> Result<(f64, bool), String> {
        let began = Instant::now();
        let answer = self
            .0
            .patch(name, &PatchParams::default(), &Patch::Merge(change))
            .await;
        let took = began.elapsed().as_secs_f64() * 1e3;
        match answer {
            Ok(_) => Ok((took, true)),
            Err(kube::Error::Api(status)) if status.code == 422 => Ok((took, false)),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn samples(
        &self,
        name: &str,
        taken: bool,
        change: impl Fn(usize) -> Value,
    ) -> Result<Vec<f64>, String> {
        let mut times = Vec::new();
        for n in 0..SAMPLES {
            let (took, was_taken) = self.write(name, change(n)).await?;
            if was_taken != taken {
                return Err(format!("{name}: taken {was_taken}, expected {taken}"));
            }
            times.push(took);
        }
        Ok(times)
    }

    async fn relabel(&self) -> Result<Vec<f64>, String> {
        let label = |n: usize| json!({"metadata": {"labels": {"n": n.to_string()}}});
        self.samples(HELD, true, label).await
    }

    async fn grow(&self) -> Result<Vec<f64>, String> {
        // Each another one than before, also in the second round.
        let count = |n: usize| json!({"spec": {"partitions": 7 + n}});
        let times = self.samples(FREE, true, count).await?;
        self.write(FREE, json!({"spec": {"partitions": 6}})).await?;
        Ok(times)
    }

    async fn denied(&self) -> Result<Vec<f64>, String> {
        self.samples(HELD, false, |n| json!({"spec": {"partitions": 7 + n}}))
            .await
    }

    async fn wait_until_guarded(&self) -> Result<(), String> {
        let end = Instant::now() + DEADLINE;
        while self
            .write(HELD, json!({"spec": {"partitions": 99}}))
            .await?
            .1
        {
            self.write(HELD, json!({"spec": {"partitions": 6}})).await?;
            if Instant::now() > end {
                return Err("the policies do not speak".to_owned());
            }
        }
        Ok(())
    }
}
