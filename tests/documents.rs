//! The documents do what they say: each fenced block of the README, of docs/ and of the examples is run or checked on real servers.
//!
//! The info string says what a block is ([`blocks::Kind`]). Commands run by bash in a clone of the repository, with the tools on
//! PATH that a reader has; each has to end with 0, or with the code that its comment says (`# ends with 2`). Manifests go to the
//! API server as a dry run. Commands within a sentence are looked up ([`mentions`]). What placeholders stand for and what is not run is in tables of [`bound`].

mod blocks;
mod bound;
mod manifests;
mod mentions;
mod mistakes;
mod shell;
mod stage;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::env::{Env, unique};
use blocks::{Block, Kind, blocks, lines};
use stage::Stage;

/// Something that a document says and that is not so.
#[derive(Debug)]
struct Fault {
    at: String,
    what: String,
    wrong: String,
}

impl Fault {
    fn new(file: &str, line: usize, what: &str, wrong: &str) -> Self {
        Self {
            at: format!("{file}:{line}"),
            what: what.to_owned(),
            wrong: wrong.to_owned(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wrong = self.wrong.trim().replace('\n', "\n    ");
        write!(f, "{}: {}\n    {wrong}", self.at, self.what.trim())
    }
}

/// Commands that install something, for which nothing may be installed yet.
const INSTALLS: [&str; 3] = ["helm ", "charts/install.yaml", "-f crds/"];

fn installs(block: &Block) -> bool {
    let shell = block.kind == Kind::Sh || block.kind == Kind::Console;
    shell && INSTALLS.iter().any(|it| block.text.contains(it))
}

pub(crate) fn every_command_and_manifest_of_the_documents_works(env: &Env) {
    let mut stage = Stage::bare(env);
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    let mut helps = mentions::Helps::default();
    for file in documents() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
        let markdown = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
        let (found, wrong) = blocks(&file, &markdown);
        all.extend(found);
        faults.extend(wrong);
        faults.extend(mentions::check(&stage, &mut helps, &file, &markdown));
    }
    assert!(all.len() >= 20, "only {} blocks were found", all.len());
    let (installing, others): (Vec<_>, Vec<_>) = all.iter().partition(|it| installs(it));
    for block in installing {
        faults.extend(check(&mut stage, block));
        stage.clean();
    }
    stage.furnish(example(&others));
    for block in others {
        faults.extend(check(&mut stage, block));
    }
    let mut said: Vec<String> = faults.iter().map(ToString::to_string).collect();
    said.extend(mistakes::unseen(&mut stage));
    let rest = stage.used.rest();
    if !rest.is_empty() {
        said.push(format!("tests/documents/bound.rs: nothing needs {rest:?}"));
    }
    assert!(
        said.is_empty(),
        "{} faults\n{}",
        said.len(),
        said.join("\n")
    );
}

pub(crate) fn blocks_are_told_apart_and_outputs_compared(_env: &Env) {
    mistakes::in_blocks_are_named();
    mistakes::in_outputs_are_named();
}

fn check(stage: &mut Stage<'_>, block: &Block) -> Vec<Fault> {
    match block.kind {
        Kind::Sh | Kind::Console => shell::run(stage, &block.file, &lines(block)),
        Kind::Yaml => manifests::check(stage, block),
        Kind::Js => {
            let file = stage.folder.join(format!("{}.mjs", unique("shown")));
            fs::write(&file, &block.text).expect("a file for a program");
            let wrong = stage.run(&format!("node --check '{}'", file.display()));
            let wrong = wrong.err();
            let fault = wrong.map(|it| Fault::new(&block.file, block.line, "JavaScript", &it));
            fault.into_iter().collect()
        }
        Kind::Json => {
            let wrong = serde_json::from_str::<serde_json::Value>(&block.text).err();
            let fault =
                wrong.map(|it| Fault::new(&block.file, block.line, "JSON", &it.to_string()));
            fault.into_iter().collect()
        }
        Kind::Text => Vec::new(),
    }
}

/// The manifest of the group that all other documents speak of.
fn example<'a>(blocks: &[&'a Block]) -> &'a Block {
    let shown = |it: &&&Block| {
        let of = |line: &str| it.text.lines().any(|given| given.trim() == line);
        it.kind == Kind::Yaml && of("kind: CoPartitionedTopicGroup") && of("name: market-data")
    };
    let found = blocks.iter().find(shown);
    found.expect("no document shows the manifest of the group market-data")
}

/// The names of all documents, from the root of the repository on.
fn documents() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = vec!["CONTRIBUTING.md".to_owned(), "README.md".to_owned()];
    let mut folders: Vec<PathBuf> = ["charts", "docs", "examples"]
        .map(|it| root.join(it))
        .into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            // What somebody has installed there by hand is not ours.
            if path.is_dir() && !path.ends_with("node_modules") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                let name = path.strip_prefix(root).expect("a file of the repository");
                found.push(name.display().to_string());
            }
        }
    }
    found.sort();
    found
}
