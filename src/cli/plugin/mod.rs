//! `kubectl copartition`: where keys lie, what a growth moves, why a key is where it is, whether records lie where
//! they should, and which topics Kafka Streams reads together. It needs no Kubernetes cluster but for groups that are named
//! without a file, and no Kafka but to verify and to discover.

mod claims;
mod columns;
mod completion;
mod discover;
mod document;
mod explain;
mod keys;
mod layout;
mod lines;
mod live;
mod page;
mod plan;
mod schemes;
mod source;
mod spool;
mod subject;
mod terminal;
mod topology;
mod verify;

#[cfg(test)]
mod testing;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::terminal::{Io, wants_colour};
use super::arguments;

const EXIT_CODES: &str = "\
Exit codes:
  0  fine
  1  wrong usage, bad input, or something could not be read; then nothing is on standard output
  2  the topics of a group place some key differently, records do not lie where they should, or topics are not read together";

/// Where Kafka keys lie, what a growth moves, and why a key is where it is.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-copartition",
    bin_name = "kubectl copartition",
    version = crate::version(),
    after_help = EXIT_CODES
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show on which partition each key lies
    Layout(layout::Layout),
    /// Show what a growth moves: the exact share of all keys, and each key's partition before and after
    Plan(plan::Plan),
    /// Show which client places keys how
    Schemes(schemes::Schemes),
    /// Show why a key is on its partition: bytes, hash and partition under every scheme
    Explain(explain::Explain),
    /// Show whether the records of topics lie where the declared scheme puts them
    Verify(verify::Verify),
    /// Show which topics a Kafka Streams application reads together, from the text of Topology#describe()
    Topology(topology::Topology),
    /// Show who holds which topic, and which ALTER locks stand
    Claims(claims::Claims),
    /// Show which topics running Kafka Streams applications read together, and print groups for those that have none
    Discover(discover::Discover),
    /// Print a script that completes commands and options
    Completion(completion::Completion),
    /// What kubectl asks for through the script of `completion kubectl`
    #[command(name = "__complete", hide = true)]
    Complete(completion::Complete),
}

/// What clap knows of the plugin's command line.
pub(in crate::cli) fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let cli = match arguments::<Cli>() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let mut io = Io {
        stdin: &mut io::stdin().lock(),
        stdout: &mut io::stdout().lock(),
        colour: wants_colour(),
    };
    match run(&cli.command, &mut io) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let error = terminal::printable(&error).into_owned();
            eprintln!("kubectl copartition: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command and returns the exit code.
fn run(command: &Command, io: &mut Io<'_>) -> Result<u8, String> {
    match command {
        Command::Layout(arguments) => layout::run(arguments, io),
        Command::Plan(arguments) => plan::run(arguments, io),
        Command::Verify(arguments) => verify::run(arguments, io),
        Command::Schemes(arguments) => schemes::run(arguments, io),
        Command::Explain(arguments) => explain::run(arguments, io),
        Command::Topology(arguments) => topology::run(arguments, io),
        Command::Claims(arguments) => claims::run(arguments, io),
        Command::Discover(arguments) => discover::run(arguments, io),
        Command::Completion(arguments) => completion::run(arguments, io),
        Command::Complete(arguments) => completion::complete(arguments, io),
    }
}
