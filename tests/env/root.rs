//! The folder of one test run: removed when the run ends, or by the next run if this one is cut off.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

const PREFIX: &str = "servers-";
const LOCK: &str = "in-use";

/// A folder for data and logs. Set `COPARTITION_TEST_KEEP` to keep it for reading the logs after a failure.
pub(crate) struct Root {
    folder: TempDir,
    /// Held while the run lives; the kernel lets go of it however the run ends.
    _lock: File,
}

impl Root {
    pub(crate) fn create() -> Self {
        Self::create_in(Path::new(env!("CARGO_TARGET_TMPDIR")))
    }

    /// In a folder that holds nothing but such folders.
    pub(crate) fn create_in(parent: &Path) -> Self {
        fs::create_dir_all(parent).unwrap_or_else(|e| panic!("{}: {e}", parent.display()));
        // One run at a time creates or cleans up, so that a folder is never seen between its creation and its lock.
        let turn = open(&parent.join("servers.lock"));
        turn.lock().expect("cannot lock the folder of test runs");
        remove_leftovers(parent);
        let mut folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(parent)
            .unwrap_or_else(|e| panic!("cannot create a folder in {}: {e}", parent.display()));
        let lock = open(&folder.path().join(LOCK));
        lock.lock().expect("cannot lock a new folder");
        if std::env::var_os("COPARTITION_TEST_KEEP").is_some() {
            folder.disable_cleanup(true);
            eprintln!(
                "logs stay in {} until the next run",
                folder.path().display()
            );
        }
        Self {
            folder,
            _lock: lock,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn open(path: &Path) -> File {
    File::create(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Removes the folders of runs that have ended without removing them.
fn remove_leftovers(parent: &Path) {
    for folder in folders(parent) {
        let dead = File::open(folder.join(LOCK)).map_or(true, |lock| lock.try_lock().is_ok());
        if dead && let Err(e) = fs::remove_dir_all(&folder) {
            eprintln!(
                "cannot remove {}, left by an earlier run: {e}",
                folder.display()
            );
        }
    }
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).unwrap_or_else(|e| panic!("{}: {e}", parent.display()));
    entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX))
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect()
}
