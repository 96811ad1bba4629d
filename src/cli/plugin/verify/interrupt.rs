//! Ctrl-C during a reading whose state is kept.

use std::process::exit;

use crate::controller::stop_signal;
use crate::kafka::Cancel;

/// As a shell tells of a process that SIGINT has ended.
const INTERRUPTED: i32 = 130;

/// From now on the first SIGINT or SIGTERM ends the reading, and the second the process.
///
/// # Errors
/// One line for the user.
pub(super) fn listen(cancel: &Cancel) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("listening to signals: {error}");
    let runtime = crate::cli::runtime()?;
    let first = {
        let _inside = runtime.enter();
        stop_signal().map_err(failed)?
    };
    let cancel = cancel.clone();
    // It ends with the process.
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                first.await;
                cancel.cancel();
                if let Ok(second) = stop_signal() {
                    second.await;
                    exit(INTERRUPTED);
                }
            });
        })
        .map_err(failed)?;
    Ok(())
}
