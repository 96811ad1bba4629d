//! The command line of `copartition-operator`.

pub mod plugin;
mod reconcile;
pub(crate) mod reference;

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{api, controller};

/// Keeps Kafka topics co-partitioned: equal partition counts and one key scheme, declared, enforced and proven.
#[derive(Debug, Parser)]
#[command(name = "copartition-operator", version = crate::version())]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Watch CoPartitionedTopicGroups and reconcile them until SIGTERM.
    Run(Run),
    /// Reconcile groups from files once, without Kubernetes, and print the plan and the verdict.
    Reconcile(reconcile::Reconcile),
    /// Print the CRDs, or write them into a folder.
    Crd {
        /// The folder; without it all CRDs go to standard output.
        #[arg(long)]
        output_dir: Option<PathBuf>,
    },
    /// Write the pages of docs/reference into a folder.
    #[command(hide = true)]
    Reference {
        /// The folder.
        #[arg(long)]
        output_dir: PathBuf,
    },
}

#[derive(Args, Debug)]
struct Run {
    /// A namespace to watch; repeat it for several. Without it all are watched.
    #[arg(
        long = "watch-namespace",
        env = "WATCH_NAMESPACE",
        value_delimiter = ','
    )]
    watch_namespaces: Vec<String>,
    /// Where /healthz, /readyz and /metrics are served.
    #[arg(long, env = "LISTEN", default_value = "0.0.0.0:8080")]
    listen: SocketAddr,
    /// The time between two polls of a Kafka cluster, for example 5s or 500ms.
    #[arg(long, env = "POLL_INTERVAL", default_value = "5s", value_parser = duration)]
    poll_interval: Duration,
    /// An address that groups may name in kafka.inline: `HOST:PORT`, `*.DOMAIN:PORT`, `HOST:*` or `*` for all; repeat it for several.
    /// Without it groups need a KafkaConnection.
    #[arg(
        long = "inline-connections",
        env = "INLINE_CONNECTIONS",
        value_name = "ADDRESS",
        value_delimiter = ','
    )]
    inline_connections: Vec<controller::AllowedAddress>,
    /// How many MiB of records are read of one Kafka cluster in a minute, shared by all groups with spec.verification.
    #[arg(
        long,
        env = "VERIFICATION_BUDGET",
        value_name = "MIB",
        default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    verification_budget: u32,
    /// The name of this installation, where several watch different namespaces of one Kubernetes cluster; without it
    /// the namespace of the Lease.
    #[arg(long, env = "INSTALLATION", value_parser = label)]
    installation: Option<String>,
    /// Another installation that is gone, whose claims this one takes over; repeat it for several.
    #[arg(long, env = "TAKE_OVER_FROM", value_delimiter = ',')]
    take_over_from: Vec<String>,
    /// How long the memory of a group outlives the group.
    #[arg(long, env = "CLAIM_RETENTION", default_value = "10m", value_parser = duration)]
    claim_retention: Duration,
    /// How long producers may take to notice that a topic has grown. librdkafka looks every 5 minutes, the Java client
    /// and sarama within 10.
    #[arg(long, env = "SETTLING_WINDOW", default_value = "10m", value_parser = duration)]
    settling_window: Duration,
    /// The namespace of the Lease that decides which replica acts; without it the namespace that the operator runs in.
    #[arg(long, env = "LEASE_NAMESPACE", value_parser = label)]
    lease_namespace: Option<String>,
    /// How long a replica may be silent before another one takes over; whole seconds, at least 3s.
    #[arg(long, env = "LEASE_DURATION", default_value = "15s", value_parser = lease_duration)]
    lease_duration: Duration,
    /// The name of this replica, which no other may have: the pod's name.
    #[arg(long, env = "POD_NAME")]
    identity: Option<String>,
    /// How logs are written.
    #[arg(long, env = "LOG_FORMAT", default_value = "text")]
    log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line: timestamp, level, target, message, and what the line is about as fields beside them.
    Json,
}

fn duration(text: &str) -> Result<Duration, String> {
    let parsed: jiff::SignedDuration = text
        .parse()
        .map_err(|_| format!("{text:?} is no duration; write for example 5s, 500ms or 10m"))?;
    Duration::try_from(parsed)
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| format!("{text:?} is not above zero"))
}

fn lease_duration(text: &str) -> Result<Duration, String> {
    let parsed = duration(text)?;
    if parsed < Duration::from_secs(3) || parsed.subsec_nanos() > 0 {
        return Err(format!("{text:?} is not a number of whole seconds from 3s"));
    }
    Ok(parsed)
}

/// A name that can be part of the Lease's.
fn label(text: &str) -> Result<String, String> {
    if !(api::is_label(text) && text.len() <= 63) {
        return Err(format!(
            "{text:?} is no name: use at most 63 of a-z, 0-9 and '-', with a letter or digit at both ends"
        ));
    }
    Ok(text.to_owned())
}

/// What the process was started with; if there is nothing to run, the exit code, and what there is to say is said.
fn arguments<C: Parser>() -> Result<C, ExitCode> {
    C::try_parse().map_err(|message| {
        let failed = message.use_stderr();
        // Nobody is left to tell.
        let _ = message.print();
        // Not clap's 2, which a pipeline would read as a verdict: also of a subcommand that is misspelt.
        ExitCode::from(u8::from(failed))
    })
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let cli = match arguments::<Cli>() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let outcome = match cli.command {
        Command::Run(arguments) => run(arguments),
        Command::Reconcile(arguments) => match reconcile::reconcile(&arguments) {
            Ok(code) => return ExitCode::from(code),
            Err(error) => Err(error),
        },
        Command::Crd { output_dir } => {
            crd(output_dir.as_deref()).map_err(|error| error.to_string())
        }
        Command::Reference { output_dir } => {
            reference::write(&output_dir).map_err(|error| error.to_string())
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("copartition-operator: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Run) -> Result<(), String> {
    logs("info,kube_runtime=warn", arguments.log_format);
    let settings = controller::Settings {
        namespaces: arguments.watch_namespaces,
        listen: arguments.listen,
        poll_interval: arguments.poll_interval,
        inline_connections: arguments.inline_connections,
        verification_budget: u64::from(arguments.verification_budget) << 20,
        installation: arguments.installation,
        take_over_from: arguments.take_over_from,
        claim_retention: arguments.claim_retention,
        settling_window: arguments.settling_window,
        lease_namespace: arguments.lease_namespace,
        lease_duration: arguments.lease_duration,
        identity: arguments.identity.filter(|identity| !identity.is_empty()),
    };
    let runtime = runtime()?;
    let outcome = runtime
        .block_on(controller::run(settings))
        .map_err(|error| error.to_string());
    // Requests to Kafka that are still waited for end with their own timeouts; a stop does not wait for them.
    runtime.shutdown_background();
    outcome
}

/// Logs to standard error; `levels` unless the environment says otherwise.
fn logs(levels: &str, format: LogFormat) {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(levels));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => logs.init(),
        LogFormat::Json => logs.json().flatten_event(true).init(),
    }
}

pub(in crate::cli) fn runtime() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("starting the runtime: {error}"))
}

fn crd(output_dir: Option<&Path>) -> Result<(), Box<dyn std::error::Error>> {
    for (file, crd) in api::crds()? {
        let text = api::to_yaml(&crd)?;
        match output_dir {
            Some(folder) => std::fs::write(folder.join(file), text)
                .map_err(|error| format!("writing {file} into {}: {error}", folder.display()))?,
            None => println!("---\n{text}"),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reconciles(args: &[&str]) -> Result<reconcile::Reconcile, String> {
        let all = ["copartition-operator", "reconcile"].iter().chain(args);
        match Cli::try_parse_from(all)
            .map_err(|error| error.to_string())?
            .command
        {
            Command::Reconcile(arguments) => Ok(arguments),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn a_run_without_kubernetes_takes_files_and_little_else() {
        let parsed = reconciles(&["-f", "a", "--filename", "-", "--dry-run", "-o", "json"]);
        let said = format!("{parsed:?}");
        for part in [
            r#"["a", "-"]"#,
            "dry_run: true",
            "output: Json",
            "timeout: 60s",
        ] {
            assert!(said.contains(part), "no {part} in {said}");
        }
        let parsed = reconciles(&["-f", "a", "--timeout", "5m"]);
        assert!(format!("{parsed:?}").contains("timeout: 300s"));
        for wrong in [
            &[][..],
            &["-f"],
            &["-f", "a", "--timeout", "0s"],
            &["-f", "a", "-o", "x"],
        ] {
            assert!(reconciles(wrong).is_err(), "{wrong:?}");
        }
    }
}
