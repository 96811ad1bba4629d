//! Holds the boundaries between the folders of `src/`: which of them may name what. The compiler can't hold
//! them inside one crate, so this test reads the source. Comments are left out, `use` trees are unfolded, and
//! every path is compared with the rules of the folder in which it stands.

mod source;

use std::fs;
use std::path::Path;

use source::Token::{Text, Word};

/// This file names all that is forbidden.
const SELF: &str = "src/architecture.rs";

/// Folders that decide without looking at anything but their arguments.
const PURE: [&str; 5] = ["keys", "layout", "plan", "verify", "placement"];
/// The other folders.
const IMPURE: [&str; 4] = ["api", "cli", "controller", "kafka"];
/// The dependencies that a pure folder may name.
const PURE_CRATES: [&str; 11] = [
    "crc",
    "data_encoding",
    "proptest",
    "serde",
    "serde_json",
    "siphasher",
    "smallvec",
    "stateright",
    "thiserror",
    "twox_hash",
    "uuid",
];
/// What a pure folder may not take from the standard library: the world outside, by path ...
const IMPURE_STD: [&str; 6] = [
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::process",
    "std::thread",
];
/// ... and clocks and randomness, by name, because `time::Instant` is a path too.
const IMPURE_WORDS: [&str; 3] = ["SystemTime", "Instant", "RandomState"];

/// The dependencies that the custom resources may name: data formats and schemas.
const API_CRATES: [&str; 6] = [
    "k8s_openapi",
    "kube",
    "schemars",
    "serde",
    "serde_json",
    "serde_yaml",
];
/// What of `kube` is a client; the custom resources need its derives and traits only.
const KUBE_CLIENT: [&str; 6] = [
    "kube::Api",
    "kube::Client",
    "kube::Config",
    "kube::api::Api",
    "kube::client",
    "kube::runtime",
];

/// Whether a path leads to or into `rule`, or takes it along with a glob.
fn reaches(path: &str, rule: &str) -> bool {
    let into = path
        .strip_prefix(rule)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    into || path
        .strip_suffix('*')
        .is_some_and(|glob| rule.starts_with(glob))
}

/// The folder of `src/` that a path of this crate leads to, from a file that is `depth` modules deep. Inside an
/// inline module `super` leads less far than it seems, so there only the name of a folder counts as one.
fn folder_of(path: &str, depth: usize) -> Option<&str> {
    let supers = path.split("::").take_while(|s| *s == "super").count();
    if supers < depth {
        return path.strip_prefix("crate::")?.split("::").next();
    }
    let folder = path.split("::").nth(supers)?;
    (PURE.contains(&folder) || IMPURE.contains(&folder)).then_some(folder)
}

/// What a file of `src/` names against the rules, as `file:line: reason`.
fn broken(file: &str, text: &str, crates: &[String]) -> Vec<String> {
    let inside = file.trim_start_matches("src/").trim_end_matches(".rs");
    let folder = inside.split('/').next().unwrap();
    let depth = inside.trim_end_matches("/mod").split('/').count();
    let (crates_allowed, folders_allowed) = match folder {
        "api" => (&API_CRATES[..], &["api"][..]),
        _ if PURE.contains(&folder) => (&PURE_CRATES[..], &PURE[..]),
        _ => (&[][..], &[][..]),
    };
    let pure = PURE.contains(&folder);
    let bounded = pure || folder == "api";
    let mut found = Vec::new();
    let tokens = source::tokens(text);
    for (line, token) in &tokens {
        let (Word(text) | Text(text)) = *token else {
            continue;
        };
        let word = matches!(token, Word(_));
        if word && matches!(text, "rdkafka" | "rdkafka_sys") && folder != "kafka" {
            found.push(format!("{file}:{line}: {text} outside src/kafka"));
        }
        if word && text == "unsafe" && !file.starts_with("src/kafka/ffi") {
            found.push(format!("{file}:{line}: unsafe outside src/kafka/ffi"));
        }
        if word && pure && IMPURE_WORDS.contains(&text) {
            found.push(format!("{file}:{line}: {text} in a pure folder"));
        }
        if text.to_lowercase().replace('_', "").contains("deletetopic") {
            found.push(format!("{file}:{line}: may delete a topic: {text}"));
        }
    }
    for (line, path) in source::paths(&tokens).iter().filter(|_| bounded) {
        let root = path.split("::").next().unwrap();
        let foreign = crates.iter().any(|name| name == root) && !crates_allowed.contains(&root);
        let impure = pure && IMPURE_STD.iter().any(|rule| reaches(path, rule));
        let client = !pure && KUBE_CLIENT.iter().any(|rule| reaches(path, rule));
        let across = folder_of(path, depth).is_some_and(|to| !folders_allowed.contains(&to));
        // `use std as s` would hide what follows.
        let hidden = path == "std" || path == "crate";
        if foreign || impure || client || across || hidden {
            found.push(format!("{file}:{line}: {path} in src/{folder}"));
        }
    }
    found
}

/// The names by which the code calls the direct dependencies.
fn dependencies() -> Vec<String> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in include_str!("../Cargo.toml").lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        } else if let (true, Some((name, _))) = (inside, line.split_once('=')) {
            names.push(name.trim().replace('-', "_"));
        }
    }
    names
}

/// All Rust files below a folder, as (path from the crate's root, text).
fn sources(root: &Path, folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            found.extend(sources(root, &path));
        } else if Path::new(&path).extension().is_some_and(|e| e == "rs") && path != SELF {
            found.push((path, fs::read_to_string(entry.path()).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn the_source_keeps_to_its_folders() {
    let crates = dependencies();
    for name in ["kube", "rdkafka", "tokio", "proptest"] {
        assert!(crates.iter().any(|c| c == name), "{name} not in {crates:?}");
    }
    let sources = sources(Path::new(env!("CARGO_MANIFEST_DIR")), "src");
    assert!(
        sources
            .iter()
            .any(|(path, _)| path == "src/keys/hash/murmur2.rs")
    );
    let found: Vec<String> = sources
        .iter()
        .flat_map(|(path, text)| broken(path, text, &crates))
        .collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn every_rule_catches_what_it_is_for() {
    // Each line is fine somewhere, but breaks exactly one rule in its file.
    let bad = [
        ("keys/a.rs", "use kube::Client;"),
        (
            "layout/mod.rs",
            "fn f(t: k8s_openapi::api::core::v1::Pod) {}",
        ),
        ("plan/a.rs", "use tokio as t;"),
        ("verify/a.rs", "fn f() { tracing::info!(\"x\") }"),
        ("placement/a.rs", "use rand::random;"),
        ("keys/a.rs", "use std::time::{Duration, SystemTime};"),
        ("keys/a.rs", "fn f() { time::Instant::now(); }"),
        ("plan.rs", "use std::{collections, env};"),
        ("plan/a.rs", "use std::fs::{self};"),
        ("plan/a.rs", "use std::*;"),
        ("plan/a.rs", "use std as s;"),
        ("plan/a.rs", "fn f() -> std::net::IpAddr { todo!() }"),
        ("plan/a.rs", "use crate::{keys, kafka};"),
        ("plan/a.rs", "use crate::controller::Context;"),
        ("plan/mod.rs", "use super::api::Group;"),
        ("plan/a/b.rs", "use super::super::super::api;"),
        ("cli/a.rs", "use rdkafka::ClientConfig;"),
        ("lib.rs", "pub use rdkafka_sys as sys;"),
        ("kafka/admin.rs", "fn f() { unsafe { g() } }"),
        ("kafka/ffi.rs", "fn f() { rd_kafka_DeleteTopics(); }"),
        ("kafka/admin.rs", "fn f() { admin.delete_topics(&[]); }"),
        ("cli/a.rs", "const OPERATION: &str = \"DeleteTopics\";"),
        ("api/a.rs", "use tokio::sync::Mutex;"),
        ("api/a.rs", "use crate::controller;"),
        ("api/mod.rs", "use crate::kafka::Snapshot;"),
        ("api/mod.rs", "use super::plan;"),
        ("api/a.rs", "use kube::{Api, CustomResource};"),
    ];
    let crates = ["kube", "k8s_openapi", "tokio", "tracing", "rand", "rdkafka"].map(str::to_owned);
    for (file, line) in bad {
        let found = broken(
            &format!("src/{file}"),
            &format!("//! x\n\n{line}\n"),
            &crates,
        );
        assert_eq!(found.len(), 1, "{file}: {line}: {found:?}");
        assert!(
            found[0].starts_with(&format!("src/{file}:3: ")),
            "{found:?}"
        );
    }
}

#[test]
fn what_is_allowed_is_not_caught() {
    let good = [
        (
            "keys/a.rs",
            "/// As `rdkafka::Client`, unsafe, SystemTime.\nuse super::mod_b; // kube::Api",
        ),
        (
            "keys/a.rs",
            "use std::time::Duration; use std::collections::{BTreeMap, env_like};",
        ),
        (
            "keys/a.rs",
            "const CLIENT: &str = \"librdkafka\"; let rand = librdkafka;",
        ),
        (
            "plan/a.rs",
            "use crate::{keys::KeyScheme, layout}; use super::api_like;",
        ),
        ("plan/a/b.rs", "use super::super::a::api;"),
        (
            "plan/mod.rs",
            "mod tests { use super::*; use super::Plan; }",
        ),
        ("kafka/ffi.rs", "unsafe { rdkafka_sys::rd_kafka_new() }"),
        (
            "kafka/ffi/admin.rs",
            "unsafe { rdkafka_sys::rd_kafka_new() }",
        ),
        (
            "controller/a.rs",
            "use crate::{api, kafka}; use kube::Api; use tokio::fs; use std::env;",
        ),
        (
            "controller/a.rs",
            "let filter = \"rdkafka=warn\"; Reason::TopicDeleted",
        ),
        (
            "api/a.rs",
            "use kube::CustomResource; use super::Group; use crate::api::Status;",
        ),
        (
            "api/mod.rs",
            "mod kafka; pub use kafka::Connection; #![allow(unsafe_code)]",
        ),
    ];
    let crates = ["kube", "k8s_openapi", "tokio", "tracing", "rand", "rdkafka"].map(str::to_owned);
    for (file, line) in good {
        assert_eq!(broken(&format!("src/{file}"), line, &crates), [""; 0]);
    }
}
