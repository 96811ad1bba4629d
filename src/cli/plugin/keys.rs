//! The keys to look at: of a file, of the command line, or the group's own.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use clap::Args;

use super::lines::{Lines, Stop};
use super::subject::Subject;

/// The arguments that say which.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Keys")]
pub(super) struct Keys {
    /// A file with one key a line, or - for standard input; without keys the group's sampleKeys
    #[arg(id = "keys-file", long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// A key; repeat it for several
    #[arg(
        long,
        value_name = "KEY",
        conflicts_with = "keys-file",
        allow_hyphen_values = true
    )]
    pub(super) key: Vec<String>,
    /// The keys file is of Windows: neither \r before the end of a line nor a byte order mark is part of a key
    #[arg(long, requires = "keys-file")]
    pub(super) crlf: bool,
}

impl Keys {
    /// Whether the command line names any; else the groups' sample keys count.
    pub(super) fn are_given(&self) -> bool {
        self.file.is_some() || !self.key.is_empty()
    }

    /// Whether they come from standard input.
    pub(super) fn use_stdin(&self) -> bool {
        self.file
            .as_ref()
            .is_some_and(|file| file.as_os_str() == "-")
    }

    /// Hands over each given key. It is generic, so that a loop over millions of keys is compiled as one.
    ///
    /// # Errors
    /// One line for the user that names the place.
    pub(super) fn each(
        &self,
        stdin: &mut dyn Read,
        mut take: impl FnMut(&str) -> Result<(), Stop>,
    ) -> Result<(), String> {
        let Some(path) = &self.file else {
            return self
                .key
                .iter()
                .try_for_each(|key| take(key).map_err(|stop| stop.at("--key")));
        };
        if self.use_stdin() {
            return Lines::new(stdin, "stdin".to_owned(), self.crlf).each(take);
        }
        let label = path.display().to_string();
        let file = File::open(path).map_err(|error| format!("{label}: {error}"))?;
        Lines::new(file, label, self.crlf).each(take)
    }

    /// Hands over the keys of each subject: the given ones to all, else to each its own sample keys.
    ///
    /// # Errors
    /// One line for the user that names the place.
    pub(super) fn for_each(
        &self,
        stdin: &mut dyn Read,
        subjects: &[Subject],
        mut take: impl FnMut(usize, &str) -> Result<(), Stop>,
    ) -> Result<(), String> {
        if self.are_given() {
            return self.each(stdin, |key| {
                (0..subjects.len()).try_for_each(|at| take(at, key))
            });
        }
        for (at, subject) in subjects.iter().enumerate() {
            let place = format!("{}: sampleKeys", subject.name().unwrap_or_default());
            for key in subject.sample_keys() {
                take(at, key).map_err(|stop| stop.at(&place))?;
            }
        }
        Ok(())
    }
}

/// Both a manifest and keys cannot be read from one standard input.
pub(super) fn one_stdin(file: Option<&PathBuf>, keys: &Keys) -> Result<(), String> {
    if keys.use_stdin() && file.is_some_and(|file| file.as_os_str() == "-") {
        return Err(
            "standard input can be read once: give -f or --keys-file another file".to_owned(),
        );
    }
    Ok(())
}
