//! `discover`: which topics running Kafka Streams applications read together, and whether a group covers them.

mod cluster;
mod manifest;
mod read;
mod record;
mod table;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::document::{self, document};
use super::live::Place;
use super::terminal::{Io, print, printable};
use crate::kafka::{ClientProperties, ConnectionSettings};
use record::Record;

const HELP: &str = "\
Examples:
  kubectl copartition discover --bootstrap-server kafka:9092
  kubectl copartition discover --bootstrap-server kafka:9092 --command-config client.properties --prefix trading-
  kubectl copartition discover --bootstrap-server kafka:9092 -n trading -o manifests > groups.yaml

The source topics of one sub-topology are read by one task: Kafka Streams groups (group.protocol=streams) publish them, of
applications on the classic protocol the tasks of their members tell, while they run. Whether the topics meet in a store is
not told; what is only merged need not be co-partitioned.

-o manifests prints a CoPartitionedTopicGroup for each set that no group covers and whose topics have one count. A topic that
another operator's resource or another group has is Referenced in it; so are all if Kubernetes cannot be asked.

Exit codes:
  0  a group covers each set, and its topics have one count
  1  wrong usage, or nothing could be read
  2  some set is not covered, or has unequal counts";

/// The arguments.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct Discover {
    /// host:port of brokers; repeat it or separate with commas
    #[arg(
        long = "bootstrap-server",
        value_name = "HOST:PORT",
        value_delimiter = ',',
        required = true
    )]
    bootstrap: Vec<String>,
    /// A properties file of Kafka's own tools (security.protocol, sasl.jaas.config, ssl.truststore.location ...)
    #[arg(long, value_name = "FILE")]
    command_config: Option<PathBuf>,
    /// The beginning of application ids; repeat it for several. Without it all are looked at
    #[arg(long, value_name = "PREFIX")]
    prefix: Vec<String>,
    /// How long Kafka may take
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "60s",
        value_parser = crate::cli::duration
    )]
    timeout: Duration,
    /// The namespace of the manifests
    #[arg(short, long, value_name = "NAMESPACE", help_heading = "Manifests")]
    namespace: Option<String>,
    /// The KafkaConnection that the manifests name; without it they have the brokers' addresses
    #[arg(long, value_name = "NAME", help_heading = "Manifests")]
    connection: Option<String>,
    /// The context of the kubeconfig
    #[arg(long, value_name = "CONTEXT", help_heading = "Kubernetes")]
    context: Option<String>,
    /// The kubeconfig; without it KUBECONFIG or ~/.kube/config
    #[arg(long, value_name = "FILE", help_heading = "Kubernetes")]
    kubeconfig: Option<PathBuf>,
    /// How it is printed
    #[arg(short, long, default_value = "table")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// Columns for people
    Table,
    /// One JSON object
    Json,
    /// One YAML document
    Yaml,
    /// A CoPartitionedTopicGroup for each set that needs one
    Manifests,
}

/// Reads, judges, prints, and returns the exit code.
///
/// # Errors
/// One line for the user.
pub(super) fn run(arguments: &Discover, io: &mut Io<'_>) -> Result<u8, String> {
    let properties = arguments.command_config.as_deref();
    let properties = properties.map(ClientProperties::read).transpose()?;
    let settings = ConnectionSettings::new(arguments.bootstrap.clone())
        .with_security(properties.map(|it| it.security).unwrap_or_default());
    let seen = read::read(&settings, &arguments.prefix, arguments.timeout)?;
    let place = Place {
        namespace: None,
        context: arguments.context.clone(),
        kubeconfig: arguments.kubeconfig.clone(),
    };
    let declared = match cluster::declared(&place) {
        Ok(declared) => Some(declared),
        Err(why) => {
            warn(&format!(
                "Kubernetes was not asked, so nothing counts as covered, and all topics are Referenced: {why}"
            ));
            None
        }
    };
    for unread in &seen.unread {
        warn(unread);
    }
    let record = Record::of(&seen, declared.as_ref());
    print(io.stdout, |out| {
        let form = match arguments.output {
            Output::Manifests => return manifest::write(out, &record, arguments),
            Output::Table => return table::write(out, &record, io.colour),
            Output::Json => document::Output::Json,
            Output::Yaml => document::Output::Yaml,
        };
        document(out, form, &record).map(|_| ())
    })?;
    Ok(if record.sets.iter().all(record::Set::is_fine) {
        0
    } else {
        2
    })
}

fn warn(line: &str) {
    eprintln!("kubectl copartition: {}", printable(line));
}

#[cfg(test)]
mod tests;
