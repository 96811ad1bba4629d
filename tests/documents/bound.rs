//! What the documents assume, said once: how their placeholders are bound, which commands end with another code than 0, which
//! last until they are stopped, and which are not run and why. An entry that nothing needs any more is reported.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What stands for a placeholder.
#[derive(Clone, Copy)]
pub(super) enum Value {
    /// The address of the broker, for clients without a login.
    Kafka,
    /// The address of its listener with TLS and a login.
    Login,
    Text(&'static str),
}

/// Replaced in this order, so a name that holds another one comes first.
pub(super) const BOUND: &[(&str, Value)] = &[
    ("kafka.kafka:9092", Value::Kafka),
    ("kafka.kafka:9093", Value::Login),
    ("kafka:9092", Value::Kafka),
    // Of one's own cluster.
    ("KUBECONFIG=... ", Value::Text("")),
    // There is one broker.
    ("replicationFactor: 3", Value::Text("replicationFactor: 1")),
];

/// Commands that end with another code than 0, unless their comment says `ends with N` itself.
pub(super) const ENDS: &[(&str, &[i32])] = &[
    // Whether applications of other tests read topics that no group covers, at this moment.
    ("kubectl copartition discover --bootstrap-server", &[0, 2]),
];

/// Commands that last: each is stopped, as by Ctrl-C or Kubernetes, once it has printed this.
pub(super) const LASTS: &[(&str, &str)] = &[
    ("target/release/copartition-operator run", "leading"),
    ("node consumer.mjs", "memberAssignment"),
];

/// What is looked at in place of a run.
#[derive(Clone, Copy)]
pub(super) enum Instead {
    /// The target is one of the Makefile.
    Target,
    /// The Dockerfile is there, and knows each `--build-arg`.
    BuildArgs,
    /// These files are there, from the command's folder on.
    Files(&'static [&'static str]),
}

/// Commands that are not run, with the reason.
pub(super) const NOT_RUN: &[(&str, &str, Instead)] = &[
    (
        "make ",
        "the suite is itself a part of what it makes",
        Instead::Target,
    ),
    (
        "docker build ",
        "no machine of the tests runs containers",
        Instead::BuildArgs,
    ),
    (
        "cargo build --release",
        "takes minutes; the binaries of the tests stand for those that it makes",
        Instead::Files(&["Cargo.toml"]),
    ),
    (
        "npm ci",
        "the set-up has installed the same packages",
        Instead::Files(&["package.json", "package-lock.json"]),
    ),
    (
        "mvn -q compile",
        "takes plugins from the network; examples::* compiles and runs the class with the same jars",
        Instead::Files(&["pom.xml", "src/main/java/Placement.java"]),
    ),
    (
        "mvn -q exec:java -Dexec.args=\"shared 127",
        "as above; examples::a_shared_store_joins_the_sub_topologies_of_kafka_streams runs it",
        Instead::Files(&["src/main/java/Placement.java"]),
    ),
];

/// Which entries something has needed.
#[derive(Default)]
pub(super) struct Used(BTreeSet<&'static str>);

impl Used {
    /// The entry that a command, once bound, begins with, leaving aside variables that are set for it.
    pub(super) fn find<T>(
        &mut self,
        table: &'static [T],
        name: impl Fn(&T) -> &'static str,
        command: &str,
    ) -> Option<&'static T> {
        let command = without_variables(command);
        let entry = table.iter().find(|it| command.starts_with(name(it)))?;
        self.0.insert(name(entry));
        Some(entry)
    }

    /// With each placeholder replaced.
    pub(super) fn bind(&mut self, text: &str, value: impl Fn(Value) -> String) -> String {
        BOUND.iter().fold(text.to_owned(), |text, (name, bound)| {
            if !text.contains(name) {
                return text;
            }
            self.0.insert(name);
            text.replace(name, &value(*bound))
        })
    }

    /// The entries that nothing has needed.
    pub(super) fn rest(&self) -> Vec<&'static str> {
        let bound = BOUND.iter().map(|it| it.0);
        let ends = ENDS.iter().map(|it| it.0);
        let lasts = LASTS.iter().map(|it| it.0);
        let not_run = NOT_RUN.iter().map(|it| it.0);
        let all = bound.chain(ends).chain(lasts).chain(not_run);
        all.filter(|it| !self.0.contains(it)).collect()
    }
}

/// `KEEP=1 make demo` is `make demo`.
pub(super) fn without_variables(mut command: &str) -> &str {
    while let Some((word, rest)) = command.split_once(' ') {
        let Some((name, _)) = word.split_once('=') else {
            break;
        };
        let variable = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_';
        if name.is_empty() || !name.chars().all(variable) {
            break;
        }
        command = rest.trim_start();
    }
    command
}

impl Instead {
    /// What is wrong with a command that is not run, in the folder where it would be.
    pub(super) fn check(self, command: &str, folder: &Path) -> Result<(), String> {
        let code = command.split(" #").next().unwrap_or_default();
        let words = || code.split_whitespace();
        match self {
            Self::Target => {
                let makefile = read(&folder.join("Makefile"))?;
                let demo = read(&folder.join("examples/demo.sh"))?;
                for word in words().filter(|it| *it != "make") {
                    let rule = format!("{word}:");
                    match word.split_once('=') {
                        Some((name, _)) if makefile.contains(name) || demo.contains(name) => {}
                        Some((name, _)) => {
                            return Err(format!("neither the Makefile nor the demo knows {name}"));
                        }
                        None if makefile.lines().any(|line| line.starts_with(&rule)) => {}
                        None => return Err(format!("the Makefile has no target {word}")),
                    }
                }
                Ok(())
            }
            Self::BuildArgs => {
                let recipe = read(&folder.join("Dockerfile"))?;
                let given = words().zip(words().skip(1));
                for (_, argument) in given.filter(|(flag, _)| *flag == "--build-arg") {
                    let name = argument.split('=').next().unwrap_or_default();
                    if !recipe.contains(&format!("ARG {name}")) {
                        return Err(format!("the Dockerfile has no ARG {name}"));
                    }
                }
                Ok(())
            }
            Self::Files(names) => names
                .iter()
                .try_for_each(|name| read(&folder.join(name)).map(drop)),
        }
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}
