//! Waiting for a condition with a deadline: the only place in the tests where time passes.

use std::thread;
use std::time::{Duration, Instant};

/// Calls `check` until it gives `Ok`, and returns that value.
///
/// `what` completes the sentence "waited for ...". The text of an `Err` says what was seen instead.
///
/// # Panics
/// When the deadline has passed: with `what` and the last error, so that a failed test says what was wrong.
pub(crate) fn wait_for<T>(
    what: &str,
    deadline: Duration,
    mut check: impl FnMut() -> Result<T, String>,
) -> T {
    let began = Instant::now();
    loop {
        let seen = match check() {
            Ok(value) => return value,
            Err(seen) => seen,
        };
        assert!(
            began.elapsed() < deadline,
            "waited {deadline:?} for {what}; last seen: {seen}"
        );
        thread::park_timeout(Duration::from_millis(50));
    }
}
