//! What keys are laid out for: a live group, a group of a file, or a bare scheme.

use std::io::Read;
use std::path::PathBuf;

use clap::Args;

use super::live::{self, Place};
use super::subject::Subject;
use crate::api::CoPartitionedTopicGroup;
use crate::cli::reconcile::input;
use crate::keys::clients::{self, Producer};
use crate::keys::{Encoding, KeyScheme, PartitionCount, Partitioner, UnsupportedScheme};

/// The arguments that say so.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "What to look at")]
pub(super) struct Source {
    /// A CoPartitionedTopicGroup: of the cluster, or with -f of the file
    #[arg(value_name = "NAME")]
    pub(super) name: Option<String>,
    #[command(flatten)]
    pub(super) place: Where,
    #[command(flatten)]
    pub(super) bare: Bare,
    /// The partition count, whatever the group has
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    pub(super) partitions: Option<PartitionCount>,
}

/// Where groups are.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Where {
    /// A file with CoPartitionedTopicGroups, a folder of them, or - for standard input; no cluster is asked then
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// The group's namespace; without it that of the context
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(super) namespace: Option<String>,
    /// The context of the kubeconfig
    #[arg(long, value_name = "CONTEXT", conflicts_with = "file")]
    pub(super) context: Option<String>,
    /// The kubeconfig; without it KUBECONFIG or ~/.kube/config
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub(super) kubeconfig: Option<PathBuf>,
}

/// A scheme without a group.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Bare {
    /// A partitioner without a group; `schemes` lists them
    #[arg(long, value_name = "P", conflicts_with_all = ["name", "file", "client"])]
    pub(super) partitioner: Option<String>,
    /// A client without a group, for the partitioner that it uses; `schemes` lists them
    #[arg(long, value_name = "C", conflicts_with_all = ["name", "file"])]
    pub(super) client: Option<String>,
    /// The client's version
    #[arg(long, value_name = "V", requires = "client")]
    pub(super) client_version: Option<String>,
    /// The client's own name of the partitioner that is configured; without it its default
    #[arg(long, value_name = "S", requires = "client")]
    pub(super) setting: Option<String>,
    /// The encoding of keys; without it utf8
    #[arg(long, value_name = "E", conflicts_with_all = ["name", "file"])]
    pub(super) encoding: Option<String>,
}

/// Reads a partition count.
pub(super) fn count(text: &str) -> Result<PartitionCount, String> {
    let number: Option<i32> = text.parse().ok();
    number
        .and_then(PartitionCount::new)
        .ok_or_else(|| format!("wanted a partition count, 1 to {}", i32::MAX))
}

impl Source {
    /// What there is to look at, at least one.
    ///
    /// # Errors
    /// One line for the user.
    pub(super) fn subjects(&self, stdin: &mut dyn Read) -> Result<Vec<Subject>, String> {
        if self.name.is_some() || self.place.file.is_some() {
            let groups = self.place.groups(self.name.as_deref(), stdin)?;
            return groups
                .iter()
                .map(|group| Subject::of_group(group, self.partitions))
                .collect();
        }
        let Some((scheme, spreads_empty)) = self.bare.scheme()? else {
            return Err(
                "nothing to look at: name a group, or give -f FILE, or --partitioner or --client with --partitions; \
                 --help has examples"
                    .to_owned(),
            );
        };
        let count = self.partitions.ok_or(
            "without a group the partition count is not known; give --partitions N".to_owned(),
        )?;
        Subject::bare(&scheme, spreads_empty, count).map(|subject| vec![subject])
    }
}

impl Where {
    /// The cluster that is asked where there is no file.
    pub(super) fn live(&self) -> Place {
        Place {
            namespace: self.namespace.clone(),
            context: self.context.clone(),
            kubeconfig: self.kubeconfig.clone(),
        }
    }

    /// The groups that are meant, at least one.
    pub(super) fn groups(
        &self,
        name: Option<&str>,
        stdin: &mut dyn Read,
    ) -> Result<Vec<CoPartitionedTopicGroup>, String> {
        let Some(file) = &self.file else {
            let name = name.ok_or("name a group, or give -f FILE".to_owned())?;
            return live::get(name, &self.live()).map(|group| vec![group]);
        };
        let mut groups = Vec::new();
        let mut seen = Vec::new();
        for entry in input::read(std::slice::from_ref(file), stdin) {
            let known = |wanted: Option<&str>, seen: &Option<String>| {
                wanted.is_none_or(|wanted| seen.as_deref().is_none_or(|seen| seen == wanted))
            };
            seen.extend(entry.name.clone());
            if known(name, &entry.name) && known(self.namespace.as_deref(), &entry.namespace) {
                let group = entry.group;
                groups.push(group.map_err(|problem| format!("{}: {problem}", entry.source))?);
            }
        }
        if groups.is_empty() {
            let wanted = [self.namespace.as_deref(), name].into_iter().flatten();
            let wanted: Vec<&str> = wanted.collect();
            let label = match file.to_string_lossy() {
                name if name == "-" => "stdin".into(),
                name => name,
            };
            return Err(format!(
                "{label} has no group {}; it has {}",
                wanted.join("/"),
                seen.join(", ")
            ));
        }
        Ok(groups)
    }
}

impl Bare {
    /// The scheme, and whether the client spreads empty keys whatever the partitioner does with them.
    pub(super) fn scheme(&self) -> Result<Option<(KeyScheme, bool)>, String> {
        let (partitioner, spreads_empty) = match (&self.partitioner, &self.client) {
            (Some(name), _) => match Partitioner::parse(name) {
                Ok(partitioner) => (partitioner, false),
                Err(unsupported) => {
                    // Both names at once, as for a group.
                    let encoding = self.encoding().err().map(Box::new);
                    let partitioner = Some(Box::new(unsupported));
                    return Err(UnsupportedScheme::Names {
                        encoding,
                        partitioner,
                    }
                    .to_string());
                }
            },
            (None, Some(client)) => {
                let Producer {
                    partitioner,
                    spreads_empty,
                    ..
                } = clients::producer(
                    client,
                    self.client_version.as_deref(),
                    self.setting.as_deref(),
                )
                .map_err(|error| error.to_string())?;
                (partitioner, spreads_empty)
            }
            (None, None) => return Ok(None),
        };
        let encoding = self
            .encoding()
            .map_err(|unsupported| format!("encoding {unsupported}"))?;
        let scheme = KeyScheme::of(encoding, partitioner).map_err(|error| error.to_string())?;
        Ok(Some((scheme, spreads_empty)))
    }

    fn encoding(&self) -> Result<Encoding, crate::keys::UnsupportedName> {
        match &self.encoding {
            Some(name) => Encoding::parse(name),
            None => Ok(Encoding::UTF8),
        }
    }
}
