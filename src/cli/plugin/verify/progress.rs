//! How far a reading is, for whoever waits at a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::kafka::Progress;

const EVERY: Duration = Duration::from_millis(500);

/// Does something that takes long, and says on a terminal how far it is.
pub(super) fn shown<T>(progress: &Progress, work: impl FnOnce() -> T) -> T {
    if !stderr().is_terminal() {
        return work();
    }
    let (done, ended) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                // Nobody is left to tell if this fails. The line is written over by the next one.
                let _ = write!(stderr(), "\r{}\x1b[K", line(progress));
            }
            let _ = write!(stderr(), "\r\x1b[K");
        });
        let outcome = work();
        drop(done);
        outcome
    })
}

fn line(progress: &Progress) -> String {
    format!(
        "{} records, {} MB, {} of {} partitions",
        progress.records(),
        progress.bytes() / 1_000_000,
        progress.partitions_done(),
        progress.partitions()
    )
}
