//! Completion: scripts for shells that complete the binary itself, and the answers that kubectl asks for.

use clap::builder::PossibleValue;
use clap::{Arg, Args, Command, CommandFactory, ValueEnum};
use clap_complete::{Shell, generate};

use super::Cli;
use super::terminal::{Io, print};
use crate::keys::clients;
use crate::keys::{Encoding, Partitioner};

const HELP: &str = "\
Examples:
  kubectl copartition completion kubectl > ~/.local/bin/kubectl_complete-copartition
  chmod +x ~/.local/bin/kubectl_complete-copartition
  source <(kubectl copartition completion bash)

kubectl 1.26 and later completes `kubectl copartition` itself if it finds kubectl_complete-copartition on PATH; the
scripts for shells complete kubectl-copartition.";

/// What kubectl runs; it hands over the words behind `kubectl copartition`.
const FOR_KUBECTL: &str = "\
#!/bin/sh
# Executable on PATH as kubectl_complete-copartition, this completes `kubectl copartition` (kubectl 1.26 and later).
exec kubectl-copartition __complete -- \"$@\"
";

/// The arguments.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct Completion {
    /// For what
    #[arg(value_name = "FOR")]
    target: Target,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Target {
    /// kubectl's own completion of plugins
    Kubectl,
    /// The shell bash
    Bash,
    /// The shell zsh
    Zsh,
    /// The shell fish
    Fish,
    /// The shell PowerShell
    Powershell,
}

/// The words behind `kubectl copartition`; the last one is to be completed.
#[derive(Args, Debug)]
pub(super) struct Complete {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Prints a script.
///
/// # Errors
/// If it could not be written.
pub(super) fn run(arguments: &Completion, io: &mut Io<'_>) -> Result<u8, String> {
    let shell = match arguments.target {
        Target::Kubectl => None,
        Target::Bash => Some(Shell::Bash),
        Target::Zsh => Some(Shell::Zsh),
        Target::Fish => Some(Shell::Fish),
        Target::Powershell => Some(Shell::PowerShell),
    };
    let mut script = Vec::new();
    match shell {
        Some(shell) => generate(shell, &mut shown(), "kubectl-copartition", &mut script),
        None => script.extend_from_slice(FOR_KUBECTL.as_bytes()),
    }
    print(io.stdout, |out| out.write_all(&script)).map(|()| 0)
}

/// The command line without what nobody types; the scripts would offer hidden commands too.
fn shown() -> Command {
    let all = Cli::command();
    let inner = all.get_subcommands().filter(|it| !it.is_hide_set());
    Command::new("kubectl-copartition")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommands(inner.cloned())
}

/// Answers kubectl: a candidate a line, then what to do beside them.
///
/// # Errors
/// If it could not be written.
pub(super) fn complete(arguments: &Complete, io: &mut Io<'_>) -> Result<u8, String> {
    let (candidates, files) = candidates(&arguments.words);
    print(io.stdout, |out| {
        for candidate in &candidates {
            writeln!(out, "{candidate}")?;
        }
        // The directives of cobra, by which kubectl is built: 4 is "no file names".
        writeln!(out, ":{}", if files { 0 } else { 4 })
    })
    .map(|()| 0)
}

/// What the last word can become, and whether it may be the name of a file.
fn candidates(words: &[String]) -> (Vec<String>, bool) {
    let root = Cli::command();
    let mut command = &root;
    let mut waiting: Option<&Arg> = None;
    let (current, before) = match words.split_last() {
        Some((last, before)) => (last.as_str(), before),
        None => ("", &[][..]),
    };
    for word in before {
        if waiting.take().is_some() {
            continue;
        }
        if let Some(option) = option(command, word) {
            waiting = Some(option).filter(|option| option.get_action().takes_values());
        } else if let Some(inner) = command.find_subcommand(word) {
            command = inner;
        }
    }
    if let Some(option) = waiting {
        return values(option, before, current, "");
    }
    if let Some((name, value)) = current.split_once('=')
        && let Some(option) = option(command, name)
    {
        return values(option, before, value, &format!("{name}="));
    }
    let mut found: Vec<String> = Vec::new();
    if current.starts_with('-') {
        let options = command.get_arguments().filter(|it| !it.is_hide_set());
        found.extend(options.filter_map(|it| Some(format!("--{}", it.get_long()?))));
        found.push("--help".to_owned());
    } else {
        let inner = command.get_subcommands().filter(|it| !it.is_hide_set());
        found.extend(inner.map(|it| it.get_name().to_owned()));
        let positional = command.get_positionals().next();
        found.extend(positional.into_iter().flat_map(known));
    }
    found.retain(|candidate| candidate.starts_with(current));
    (found, false)
}

fn option<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    let mut arguments = command.get_arguments();
    if let Some(long) = word.strip_prefix("--") {
        return arguments.find(|it| it.get_long() == Some(long));
    }
    let mut letters = word.strip_prefix('-')?.chars();
    let short = letters.next().filter(|_| letters.next().is_none())?;
    arguments.find(|it| it.get_short() == Some(short))
}

/// The values of an option that begin so.
fn values(option: &Arg, before: &[String], begin: &str, prefix: &str) -> (Vec<String>, bool) {
    let named: Vec<&str> = match option.get_id().as_str() {
        "file" | "keys-file" | "kubeconfig" => return (Vec::new(), true),
        "client" => clients::ALL.iter().map(|client| client.name).collect(),
        "setting" => settings(before),
        "partitioner" => Partitioner::COMPUTED
            .iter()
            .map(Partitioner::name)
            .collect(),
        "encoding" => Encoding::names()
            .filter(|name| !name.contains(':'))
            .collect(),
        _ => Vec::new(),
    };
    let named = named
        .into_iter()
        .map(ToOwned::to_owned)
        .chain(known(option));
    let fitting = named.filter(|value| value.starts_with(begin));
    (
        fitting.map(|value| format!("{prefix}{value}")).collect(),
        false,
    )
}

/// What clap itself knows of the values.
fn known(option: &Arg) -> Vec<String> {
    let values = option.get_possible_values();
    let shown = values.iter().filter(|value| !value.is_hide_set());
    shown
        .map(PossibleValue::get_name)
        .map(ToOwned::to_owned)
        .collect()
}

/// The settings of the client that is named on the line.
fn settings(before: &[String]) -> Vec<&'static str> {
    let named = before.windows(2).find(|pair| pair[0] == "--client");
    let name = named.map(|pair| pair[1].as_str());
    let inline = before
        .iter()
        .find_map(|word| word.strip_prefix("--client="));
    let client = clients::ALL
        .iter()
        .find(|client| Some(client.name) == name.or(inline));
    let settings = client.into_iter().flat_map(|client| client.settings);
    let mut names: Vec<&str> = settings
        .filter(|setting| setting.partitioner().is_some())
        .map(|setting| setting.names[0])
        .collect();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::super::testing::said;

    fn completed(words: &[&str]) -> Vec<String> {
        let printed = said(&[&["__complete", "--"], words].concat(), "", 0);
        printed.lines().map(ToOwned::to_owned).collect()
    }

    #[test]
    fn kubectl_is_answered() {
        for (words, wanted) in [
            (&["lay"][..], &["layout", ":4"][..]),
            (
                &[""],
                &[
                    "layout",
                    "plan",
                    "schemes",
                    "explain",
                    "verify",
                    "topology",
                    "claims",
                    "discover",
                    "completion",
                    ":4",
                ],
            ),
            (&["layout", "--keys"], &["--keys-file", ":4"]),
            (&["layout", "--keys-file", ""], &[":0"]),
            (
                &["layout", "-o", ""],
                &["table", "yaml", "csv", "json", "html", ":4"],
            ),
            (&["layout", "-o", "js"], &["json", ":4"]),
            (&["layout", "--output=js"], &["--output=json", ":4"]),
            (&["layout", "--client", "kafkaj"], &["kafkajs", ":4"]),
            (&["schemes", "--client", "sar"], &["sarama", ":4"]),
            (
                &["layout", "--partitioner", "murmur"],
                &["murmur2", "murmur2_unsigned", ":4"],
            ),
            (
                &["explain", "x", "--encoding", "int"],
                &["int16", "int32", "int64", ":4"],
            ),
            (
                &["layout", "--client", "librdkafka", "--setting", "murmur2_"],
                &["murmur2_random", ":4"],
            ),
            (&["completion", "z"], &["zsh", ":4"]),
            (&["layout", "market"], &[":4"]),
            (&["nope", "--nope", "x"], &[":4"]),
        ] {
            assert_eq!(completed(words), wanted, "{words:?}");
        }
        assert!(completed(&["plan", "-"]).contains(&"--to".to_owned()));
        let none = completed(&[]);
        assert!(none.contains(&"layout".to_owned()), "{none:?}");
    }

    #[test]
    fn every_shell_has_a_script() {
        for shell in ["bash", "zsh", "fish", "powershell"] {
            let script = said(&["completion", shell], "", 0);
            for part in ["kubectl-copartition", "layout", "keys-file"] {
                assert!(script.contains(part), "{shell} without {part}");
            }
            assert!(!script.contains("__complete"), "{shell}");
        }
        let script = said(&["completion", "kubectl"], "", 0);
        assert!(script.starts_with("#!/bin/sh\n"), "{script}");
        assert!(
            script.ends_with("exec kubectl-copartition __complete -- \"$@\"\n"),
            "{script}"
        );
    }
}
