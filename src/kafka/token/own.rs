//! The token of somebody who blocks a thread of his own: a reading of records.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant, SystemTime};

use super::super::security::TokenSource;
use super::{Token, fetch};

/// The pause after a token could not be fetched, while the last one is still valid.
const PAUSE: Duration = Duration::from_secs(1);

/// Fetches tokens when they are asked for, and blocks meanwhile.
#[derive(Debug)]
pub(in super::super) struct OwnToken {
    source: TokenSource,
    timeout: Duration,
    last: Mutex<Option<(Token, Instant)>>,
}

impl OwnToken {
    pub(in super::super) fn new(source: TokenSource, timeout: Duration) -> Self {
        Self {
            source,
            timeout,
            last: Mutex::default(),
        }
    }

    /// Whether there is a token that need not be replaced yet.
    pub(in super::super) fn is_fresh(&self) -> bool {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().is_some_and(|(_, due)| Instant::now() < *due)
    }

    /// A token that is valid now.
    pub(in super::super) fn token(&self) -> Result<Token, String> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((token, due)) = last.as_ref()
            && Instant::now() < *due
        {
            return Ok(token.clone());
        }
        let fetched = self.fetch();
        let now = SystemTime::now();
        match (fetched, last.as_mut()) {
            (Ok(token), _) => {
                let due = Instant::now() + token.renew_in(&self.source, now);
                *last = Some((token.clone(), due));
                Ok(token)
            }
            (Err(_), Some((token, due))) if token.is_valid(now) => {
                *due = Instant::now() + PAUSE;
                Ok(token.clone())
            }
            (Err(words), _) => Err(words),
        }
    }

    /// On a thread of its own, since the calling one may belong to a runtime, and a runtime can't be entered twice.
    fn fetch(&self) -> Result<Token, String> {
        let fetch = || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| error.to_string())?;
            runtime.block_on(fetch(&self.source, self.timeout))
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new()
                .name("kafka-token".to_owned())
                .spawn_scoped(scope, fetch)
                .map_err(|error| format!("no thread to fetch a token: {error}"))?;
            thread
                .join()
                .unwrap_or_else(|_| Err("the thread that fetches a token died".to_owned()))
        })
    }
}
