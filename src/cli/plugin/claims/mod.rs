//! `claims`: who holds which topic, and which ALTER locks stand; and forgetting locks that nobody can undo.

mod forget;
mod record;
mod table;

use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;

use super::document::{Output, document};
use super::live::{self, Place};
use super::terminal::{Io, print};
pub(super) use record::Clusters;
use record::Record;

const HELP: &str = "\
Examples:
  kubectl copartition claims
  kubectl copartition claims --topic market-updates -o json
  kubectl copartition claims --forget trading/market-data

A lock is Orphaned if no KafkaConnection leads to its cluster any more, so that the operator can't undo it. It stays in the
claim until it is forgotten, and on Kafka until somebody removes the ACL, which --forget prints. Of a group that is gone,
--forget also drops what the operator may not undo, as for lack of a right.";

/// The arguments.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(super) struct Claims {
    /// Only who holds or references this topic, or locked it
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// Only groups of this namespace; without it all
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// Make the claim of this group forget the locks that the operator can't undo, and print how to remove the ACLs by hand
    #[arg(long, value_name = "NAMESPACE/NAME", conflicts_with_all = ["topic", "namespace", "output"])]
    forget: Option<String>,
    /// Do not ask before anything is forgotten
    #[arg(short, long, requires = "forget")]
    yes: bool,
    /// The context of the kubeconfig
    #[arg(long, value_name = "CONTEXT")]
    context: Option<String>,
    /// The kubeconfig; without it KUBECONFIG or ~/.kube/config
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// How it is printed
    #[arg(short, long, default_value = "table", help_heading = "Output")]
    output: Output,
}

/// Runs, prints, and returns the exit code.
///
/// # Errors
/// One line for the user.
pub(super) fn run(arguments: &Claims, io: &mut Io<'_>) -> Result<u8, String> {
    let place = Place {
        namespace: None,
        context: arguments.context.clone(),
        kubeconfig: arguments.kubeconfig.clone(),
    };
    let (claims, clusters) = live::claims(&place)?;
    let mut record = Record::of(&claims, clusters.as_ref());
    if let Some(name) = &arguments.forget {
        return forget::run(name, &record, arguments.yes, &place, io);
    }
    record.keep(arguments.namespace.as_deref(), arguments.topic.as_deref());
    print(io.stdout, |out| {
        if document(out, arguments.output, &record)? {
            return Ok(());
        }
        table::print(out, &record, Timestamp::now())
    })?;
    Ok(0)
}
