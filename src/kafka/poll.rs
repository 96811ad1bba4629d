//! The poller of one cluster.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cluster::Shared;
use super::locks;
use super::read::{self, Wanted};

/// How long to wait for more after something new is to be read, so that many groups make few requests.
const LINGER: Duration = Duration::from_millis(20);
/// The longest pause between two looks for a change of our own that does not show.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// At least so many times what the last look took is the pause before the next one: looking for thousands of new topics
/// must not keep brokers from creating them.
const LOOKS_APART: u32 = 4;

/// Polls until the task is ended.
pub(super) async fn run(shared: Arc<Shared>) {
    let mut next_poll = Instant::now();
    let mut next_fill: Option<Instant> = None;
    let mut pause = LINGER;
    // How early something new may be looked for.
    let mut earliest = next_poll;
    loop {
        let wake_at = next_fill.map_or(next_poll, |fill| fill.min(next_poll));
        tokio::select! {
            () = tokio::time::sleep_until(wake_at.into()) => {}
            () = shared.wake.notified() => {
                pause = LINGER;
                let soon = Instant::now() + LINGER;
                next_fill = Some(soon.max(earliest));
                // The first interest of all is the first poll's.
                if shared.lock().polls == 0 {
                    next_poll = soon;
                }
                continue;
            }
        }
        let now = Instant::now();
        if now >= next_poll {
            if poll(&shared, now).await {
                locks::poll(&shared);
            }
            next_poll = now
                + shared
                    .lock()
                    .tally
                    .pause(shared.settings.interval, shared.seed);
        } else {
            fill(&shared, now).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        let done = Instant::now();
        earliest = done + (done - now).saturating_mul(LOOKS_APART).min(LONGEST_PAUSE);
        let more = !shared.lock().unread(done).is_empty();
        next_fill = more.then(|| (done + pause).max(earliest));
    }
}

/// Reads all that the groups name. Whether the cluster answered.
async fn poll(shared: &Shared, now: Instant) -> bool {
    let topics = {
        let mut state = shared.lock();
        if state.interests.is_empty() {
            return false;
        }
        state.polls += 1;
        state.interests.topics().cloned().collect()
    };
    let wanted = Wanted::due(topics);
    let in_renewal = shared.link.is_in_renewal();
    // Neither waits for the other: renewed credentials that nobody answers to delay no poll.
    let reading = read::read(shared, &wanted);
    let (mut outcome, ()) = tokio::join!(reading, shared.link.try_own());
    if in_renewal && outcome.is_err() {
        shared.link.give_up_before();
        outcome = read::read(shared, &wanted).await;
    }
    let answered = outcome.is_ok();
    shared.polled(now, outcome);
    answered
}

/// Reads what was never read, what could not be read just now, and what we changed ourselves and do not see yet. A cluster that does not answer
/// is left to the polls, which pause.
async fn fill(shared: &Shared, now: Instant) {
    let topics: BTreeSet<String> = {
        let state = shared.lock();
        if state.tally.is_failing() {
            BTreeSet::new()
        } else {
            state.unread(now)
        }
    };
    if topics.is_empty() {
        return;
    }
    match read::read(shared, &Wanted::due(topics)).await {
        Ok(reading) => {
            shared.merge(reading, &BTreeSet::new());
        }
        // Only polls, which are an interval apart, count towards the verdict that a cluster is out of reach.
        Err(error) => {
            tracing::debug!(%error, "what is new could not be read; the next poll tries again");
        }
    }
}
