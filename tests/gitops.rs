//! What GitOps tools make of the resources: Argo CD's health by the scripts of examples/argocd in the interpreter that it
//! uses, kstatus by its own library, and what they would call OutOfSync.

mod samples;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::env::secure::Listener;
use crate::env::{Env, free_port, text, unique, wait_for};
use crate::group::{DEADLINE, Group, spec};
use crate::rights::manifests;
use crate::scene::Scene;
use samples::{health, kstatus, script, tested};

/// The states that a GitOps tool tells apart, each as the object itself, its sample's name, and what both tools say.
type State = (Value, &'static str, &'static str, &'static str);

/// Brings groups into every state on real servers.
fn states(env: &Env) -> Vec<State> {
    let scene = Scene::new(env, "gitops");
    let unseen = Group::new(&env.kube, &env.namespace("unseen"), "market-data");
    let topic = |name: &str| unique(&format!("gitops-{name}"));
    let mut states = Vec::new();

    unseen.apply(&scene.spec(3, &[&topic("unseen")]));
    states.push((unseen.get(), "pending", "Progressing", "InProgress"));

    let ready = scene.group("ready");
    ready.apply(&scene.spec(3, &[&topic("ready")]));
    ready.wait_ready();
    states.push((ready.get(), "ready", "Healthy", "Current"));

    // What was judged is the spec before.
    let mut edited = ready.get();
    let generation = edited["metadata"]["generation"].as_i64().unwrap_or(0);
    edited["metadata"]["generation"] = json!(generation + 1);
    states.push((edited, "edited", "Progressing", "InProgress"));

    let drifted = scene.group("drifted");
    let name = topic("drifted");
    drifted.apply(&scene.spec(3, &[&name]));
    drifted.wait_ready();
    env.kafka.grow_topic(&name, 4);
    drifted.wait_for("PartitionsAligned", "False", "PartitionDrift");
    states.push((drifted.get(), "drifted", "Degraded", "Failed"));

    let blocked = scene.group("growth-blocked");
    let name = topic("blocked");
    scene.topic_with_records(&name, 2);
    blocked.apply(&scene.spec(3, &[&name]));
    blocked.wait_for("PartitionsAligned", "False", "GrowthBlocked");
    states.push((blocked.get(), "growth-blocked", "Degraded", "Failed"));

    let refused = scene.group("refused");
    let mut wrong = scene.spec(3, &[&topic("refused")]);
    wrong["keyScheme"]["partitioner"] = json!("by-hand");
    refused.apply(&wrong);
    refused.wait_for("Accepted", "False", "InvalidSpec");
    states.push((refused.get(), "refused", "Degraded", "Failed"));

    let waiting = scene.group("waiting");
    let mut referring = scene.spec(3, &[&topic("waiting"), &topic("of-another-team")]);
    referring["topics"][1]["management"] = json!("Referenced");
    waiting.apply(&referring);
    waiting.wait_for("PartitionsAligned", "False", "TopicMissing");
    states.push((waiting.get(), "waiting", "Progressing", "InProgress"));

    let away = scene.group("away");
    let nobody = format!("127.0.0.1:{}", free_port());
    away.apply(&spec(&nobody, 3, &[&topic("away")]));
    away.wait_until("a first verdict", |status| {
        status["observedGeneration"] == 1
    });
    states.push((away.get(), "unreachable", "Progressing", "InProgress"));

    let paused = scene.group("paused");
    let mut resting: Value =
        serde_json::from_str(&paused.manifest(&scene.spec(3, &[&topic("paused")]))).expect("JSON");
    resting["metadata"]["annotations"] = json!({"copartition.dev/paused": "true"});
    env.kube.apply_ok(&resting.to_string());
    paused.wait_for("Paused", "True", "Paused");
    paused.wait_for("PartitionsAligned", "False", "TopicMissing");
    states.push((paused.get(), "paused", "Suspended", "InProgress"));
    states
}

pub(crate) fn every_state_is_what_argo_cd_and_kstatus_should_show(env: &Env) {
    let states = states(env);
    let objects: Vec<Value> = states.iter().map(|state| state.0.clone()).collect();
    let by_argo = health("CoPartitionedTopicGroup", &objects);
    let by_kstatus = kstatus(&objects);
    for (at, (object, name, argo, current)) in states.iter().enumerate() {
        assert_eq!(by_argo[at]["status"], *argo, "{name}: {object}");
        assert_eq!(by_kstatus[at]["status"], *current, "{name}: {object}");
        let ready = crate::group::condition(&object["status"], "Ready");
        let message = by_argo[at]["message"].as_str().unwrap_or_default();
        let said = match *name {
            // There is no verdict on this spec.
            "pending" | "edited" => "waiting for the operator",
            _ => ready["message"].as_str().unwrap_or_default(),
        };
        assert!(message.ends_with(said), "{name}: {message}");
        samples::keep_or_compare("CoPartitionedTopicGroup", name, object);
    }
}

pub(crate) fn the_health_scripts_give_what_their_tests_say(_env: &Env) {
    for kind in ["CoPartitionedTopicGroup", "KafkaConnection"] {
        let tests = tested(kind);
        assert!(tests.len() >= 5, "{kind}: {tests:?}");
        let objects: Vec<Value> = tests.iter().map(|test| test.object.clone()).collect();
        for (test, given) in tests.iter().zip(health(kind, &objects)) {
            assert_eq!(given, test.wanted, "{kind}: {}", test.path);
        }
        // None of the samples is left out.
        let folder = script(kind).with_file_name("testdata");
        let samples = fs::read_dir(&folder).expect("samples").count();
        assert_eq!(samples, tests.len(), "{}", folder.display());
    }
}

pub(crate) fn the_config_map_for_argo_cd_holds_the_scripts(_env: &Env) {
    let path = examples().join("argocd/argocd-cm.yaml");
    let config = &manifests(&fs::read_to_string(&path).expect("argocd-cm.yaml"))[0];
    for kind in ["CoPartitionedTopicGroup", "KafkaConnection"] {
        let key = format!("resource.customizations.health.copartition.dev_{kind}");
        let held = config["data"][&key].as_str().unwrap_or_default();
        let script = fs::read_to_string(script(kind)).expect("a script");
        assert_eq!(held, script, "{key}");
    }
}

pub(crate) fn connections_are_judged_on_what_the_operator_says(env: &Env) {
    let scene = Scene::new(env, "gitops-connections");
    let apply = |name: &str, more: &Value, used: bool| {
        let mut object = json!({
            "apiVersion": "copartition.dev/v1alpha1", "kind": "KafkaConnection", "metadata": {"name": name},
            "spec": {"bootstrapServers": [env.kafka.bootstrap()],
                     "rules": [{"namespaces": {"names": [scene.namespace]}, "manage": [{"pattern": ".*"}]}]},
        });
        let spec = object["spec"].as_object_mut().expect("a spec");
        spec.extend(more.as_object().expect("fields").clone());
        env.kube.apply_ok(&object.to_string());
        if used {
            let mut wanted = scene.spec(3, &[&unique("gitops")]);
            wanted["kafka"] = json!({"connectionRef": {"name": name}});
            scene.group(name).apply(&wanted);
        }
    };
    let get = |name: &str| env.kube.get_json(&["kafkaconnection", name]);
    let [good, missing, refused, unused] =
        ["prod", "no-ca", "wrong-password", "unused"].map(unique);
    apply(&good, &json!({}), true);
    let reference = json!({"kind": "Secret", "name": "missing", "key": "x"});
    apply(&missing, &json!({"tls": {"caRef": reference}}), true);
    apply(&refused, &wrong_login(env, &scene), true);
    apply(&unused, &json!({}), false);
    for (name, sample, wanted) in [
        (&good, "ready", "Healthy"),
        (&missing, "secret-missing", "Progressing"),
        (&refused, "login-refused", "Degraded"),
    ] {
        let object = wait_for(&format!("{sample} of {name}"), DEADLINE, || {
            let object = get(name);
            let given = &health("KafkaConnection", std::slice::from_ref(&object))[0];
            let reported = object["status"]["conditions"].is_array();
            if reported && given["status"] == wanted {
                Ok(object)
            } else {
                Err(object.to_string())
            }
        });
        samples::keep_or_compare("KafkaConnection", sample, &object);
    }
    // This operator watches one namespace, and reports on what its groups name.
    let object = get(&unused);
    assert_eq!(object["status"], Value::Null);
    let given = &health("KafkaConnection", std::slice::from_ref(&object))[0];
    assert_eq!(given["status"], "Healthy");
    samples::keep_or_compare("KafkaConnection", "unused", &object);
    // What was judged is the spec before.
    let mut edited = get(&good);
    edited["metadata"]["generation"] = json!(2);
    let given = &health("KafkaConnection", std::slice::from_ref(&edited))[0];
    assert_eq!(given["status"], "Progressing");
    samples::keep_or_compare("KafkaConnection", "edited", &edited);
    for name in [&good, &missing, &refused] {
        scene.group(name).delete();
    }
    for name in [&good, &missing, &refused, &unused] {
        env.kube.kubectl_ok(&["delete", "kafkaconnection", name]);
    }
}

/// The part of a spec that leads to a broker with a password that it refuses.
fn wrong_login(env: &Env, scene: &Scene<'_>) -> Value {
    let kafka = env.secure();
    let object = |kind: &str, name: &str, field: &str, data: &Value| {
        let meta = json!({"name": name, "namespace": scene.namespace});
        let object = json!({"apiVersion": "v1", "kind": kind, "metadata": meta, field: data});
        env.kube.apply_ok(&object.to_string());
    };
    let ca = json!({"ca.crt": kafka.authority.certificate()});
    object("ConfigMap", "kafka-ca", "data", &ca);
    let login = json!({"user": "anna", "password": "wrong"});
    object("Secret", "kafka-login", "stringData", &login);
    let key = |key: &str| json!({"name": "kafka-login", "key": key});
    json!({
        "bootstrapServers": [kafka.address(Listener::Login)],
        "tls": {"caRef": {"kind": "ConfigMap", "name": "kafka-ca", "key": "ca.crt"}},
        "sasl": {"mechanism": "SCRAM-SHA-512", "usernameRef": key("user"), "passwordRef": key("password")},
    })
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// All YAML files of a folder and those in it that are to be applied.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("resource_customizations") {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|end| end == "yaml") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Whether everything that the manifest says is so in the live object.
fn holds(live: &Value, manifest: &Value) -> bool {
    match (live, manifest) {
        (Value::Object(live), Value::Object(said)) => said
            .iter()
            .all(|(key, value)| live.get(key).is_some_and(|live| holds(live, value))),
        (Value::Array(live), Value::Array(said)) => {
            live.len() == said.len() && live.iter().zip(said).all(|(live, said)| holds(live, said))
        }
        _ => live == manifest,
    }
}

pub(crate) fn no_example_is_out_of_sync_once_it_is_reconciled(env: &Env) {
    let plane = &env.kube;
    let namespace = "trading";
    plane.kubectl_ok(&["create", "namespace", namespace]);
    plane.kubectl_ok(&["create", "namespace", "argocd"]);
    let scene = Scene::in_namespace(env, namespace.to_owned());
    let mut groups = 0;
    for file in files(&examples()) {
        let yaml = fs::read_to_string(&file).expect("an example");
        let yaml = yaml.replace("${KAFKA_BOOTSTRAP}", &env.kafka.bootstrap());
        plane.apply_ok(&yaml);
        for said in manifests(&yaml) {
            let name = said["metadata"]["name"].as_str().expect("a name");
            let kind = said["kind"].as_str().expect("a kind");
            let api = said["apiVersion"].as_str().unwrap_or_default();
            let ours = api.starts_with("copartition.dev/");
            if kind == "CoPartitionedTopicGroup" {
                groups += 1;
                scene.group(name).wait_ready();
            }
            let mut args = vec![kind, name];
            if let Some(namespace) = said["metadata"]["namespace"].as_str() {
                args.extend(["-n", namespace]);
            }
            let live = plane.get_json(&args);
            let shown = || format!("{}: {kind} {name}: {live}", file.display());
            assert!(holds(&live, &said), "{}", shown());
            if ours {
                // Nothing is filled in, and nothing is added to what users write.
                assert_eq!(live["spec"], said["spec"], "{}", shown());
                assert_eq!(
                    live["metadata"]["labels"],
                    said["metadata"]["labels"],
                    "{}",
                    shown()
                );
                assert_eq!(live["metadata"]["finalizers"], Value::Null, "{}", shown());
                let mut annotations = live["metadata"]["annotations"].clone();
                if let Some(annotations) = annotations.as_object_mut() {
                    annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
                }
                let said = said["metadata"]
                    .get("annotations")
                    .cloned()
                    .unwrap_or(json!({}));
                assert_eq!(annotations, said, "{}", shown());
                the_operator_owns_the_status_alone(&live);
            }
        }
        // As a GitOps tool asks that applies on the server.
        let output = plane.kubectl_with_input(&["diff", "-f", "-"], &yaml);
        assert!(
            output.status.success(),
            "{}: {}",
            file.display(),
            text(&output)
        );
    }
    assert!(groups >= 3, "{groups} groups");
}

fn the_operator_owns_the_status_alone(live: &Value) {
    let fields = live["metadata"]["managedFields"].as_array();
    for entry in fields.into_iter().flatten() {
        if entry["manager"] == "copartition-operator" {
            assert_eq!(entry["subresource"], "status", "{live}");
        }
    }
}
