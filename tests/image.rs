//! The image's recipe, as far as it can be held to the rest without a container engine.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::chart::helm::render;
use crate::env::{Env, copy, text};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The arguments of each line of the recipe with this instruction.
fn lines<'a>(recipe: &'a str, instruction: &str) -> Vec<Vec<&'a str>> {
    let lines = recipe.lines().map(|line| line.split_whitespace());
    lines
        .filter_map(|mut words| (words.next() == Some(instruction)).then(|| words.collect()))
        .collect()
}

/// What the build stage copies of the repository.
fn copied(recipe: &str) -> Vec<&str> {
    lines(recipe, "COPY")
        .into_iter()
        .filter(|words| !words[0].starts_with("--from="))
        .flat_map(|words| words[..words.len() - 1].to_vec())
        .collect()
}

pub(crate) fn the_recipe_copies_what_cargo_needs(env: &Env) {
    let recipe = read("Dockerfile");
    let sources = copied(&recipe);
    let ignored = read(".dockerignore");
    let kept: Vec<&str> = ignored
        .lines()
        .filter_map(|line| line.strip_prefix('!'))
        .collect();
    for source in &sources {
        assert!(kept.contains(source), "{source} is ignored");
    }
    // Cargo reads its manifest with only that beside it: each target's file has to be there.
    let folder = env.root().join("image");
    fs::create_dir_all(&folder).expect("a folder");
    for source in sources {
        copy(&root().join(source), &folder.join(source));
    }
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--locked"])
        .args(["--format-version", "1"])
        .current_dir(&folder)
        .output()
        .expect("cannot run cargo");
    assert!(output.status.success(), "{}", text(&output));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let targets = metadata["packages"][0]["targets"].as_array();
    for target in targets.expect("targets") {
        let path = target["src_path"].as_str().expect("a path");
        assert!(Path::new(path).is_file(), "{path} is not copied");
    }
}

pub(crate) fn the_recipe_fits_the_toolchain_and_the_chart(_env: &Env) {
    let recipe = read("Dockerfile");
    let bases = lines(&recipe, "FROM");
    let toolchain = read("rust-toolchain.toml");
    let channel = toolchain
        .lines()
        .find_map(|line| line.strip_prefix("channel = "))
        .expect("a channel")
        .trim_matches('"');
    assert_eq!(bases[0][0], format!("rust:{channel}-bookworm"));

    let objects = render(&[]);
    let deployment = objects.iter().find(|it| it["kind"] == "Deployment");
    let pod = &deployment.expect("a Deployment")["spec"]["template"]["spec"];
    let context = &pod["securityContext"];
    let user = format!("{}:{}", context["runAsUser"], context["runAsGroup"]);
    assert_eq!(lines(&recipe, "USER"), [[user.as_str()]]);
    let port = pod["containers"][0]["ports"][0]["containerPort"].to_string();
    assert_eq!(lines(&recipe, "EXPOSE"), [[port.as_str()]]);
    // The chart gives arguments only, so the binary has to be what is started.
    assert_eq!(pod["containers"][0]["command"], json!(null));
    let entry = lines(&recipe, "ENTRYPOINT");
    assert!(entry[0][0].contains("/copartition-operator"), "{entry:?}");
}
