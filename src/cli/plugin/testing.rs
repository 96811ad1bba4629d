//! Commands, run in memory.

use std::io::Write;
use std::path::PathBuf;

use clap::Parser;

use super::terminal::Io;
use super::{Cli, run};

/// What a command came to.
#[derive(Debug)]
pub(super) struct Ran {
    /// The exit code, or the line for standard error.
    pub(super) code: Result<u8, String>,
    pub(super) stdout: String,
}

/// `kubectl copartition ARGS` with `input` on standard input.
pub(super) fn ran(args: &[&str], input: impl AsRef<[u8]>) -> Ran {
    let all = ["kubectl-copartition"].iter().chain(args);
    let cli = match Cli::try_parse_from(all) {
        Ok(cli) => cli,
        Err(error) => {
            return Ran {
                code: Err(error.to_string()),
                stdout: String::new(),
            };
        }
    };
    let mut stdout = Vec::new();
    let mut io = Io {
        stdin: &mut input.as_ref(),
        stdout: &mut stdout,
        colour: false,
    };
    let code = run(&cli.command, &mut io);
    Ran {
        code,
        stdout: String::from_utf8(stdout).unwrap(),
    }
}

/// What is printed by a command that ends with this code.
pub(super) fn said(args: &[&str], input: impl AsRef<[u8]>, code: u8) -> String {
    let ran = ran(args, input);
    assert_eq!(ran.code, Ok(code), "{args:?}");
    ran.stdout
}

/// What a command says that is refused; nothing may be on standard output then.
pub(super) fn refusal(args: &[&str], input: impl AsRef<[u8]>) -> String {
    let ran = ran(args, input);
    assert_eq!(ran.stdout, "", "{args:?} printed something");
    ran.code.expect_err("it is refused")
}

/// A file that is removed with the folder.
pub(super) fn file(name: &str, content: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::File::create(&path)
        .unwrap()
        .write_all(content)
        .unwrap();
    (folder, path)
}

/// Two topics with one scheme, six partitions and three sample keys.
pub(super) const GROUP: &str = "apiVersion: copartition.dev/v1alpha1
kind: CoPartitionedTopicGroup
metadata: {name: market-data, namespace: trading}
spec:
  kafka: {inline: {bootstrapServers: ['kafka:9092']}}
  partitions: 6
  keyScheme: {encoding: utf8, partitioner: murmur2}
  topics: [{name: updates}, {name: notes}]
  sampleKeys: [BBCA, ANTM, ASII]
";

/// The same with another scheme for the second topic.
pub(super) fn mixed(partitioner: &str) -> String {
    let own = format!("{{name: notes, keyScheme: {{encoding: utf8, partitioner: {partitioner}}}}}");
    GROUP.replace("{name: notes}", &own)
}
