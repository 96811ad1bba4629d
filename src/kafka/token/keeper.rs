//! Keeps one connection's token fresh.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use super::super::security::TokenSource;
use super::{Token, fetch};

/// The pause after a token could not be fetched; doubles.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A token that the broker refused is replaced no more often than this.
const APART: Duration = Duration::from_secs(10);

/// What is known of the token.
#[derive(Clone, Debug, Default)]
struct Known {
    token: Option<Token>,
    /// Why the last one could not be fetched.
    failure: Option<String>,
}

/// A task that fetches tokens until it is dropped.
#[derive(Debug)]
pub(in super::super) struct Keeper {
    known: watch::Receiver<Known>,
    refused: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Keeper {
    /// Starts fetching; must be called in a Tokio runtime. `timeout` is that of requests.
    pub(in super::super) fn start(source: TokenSource, timeout: Duration) -> Self {
        let (sender, known) = watch::channel(Known::default());
        let refused = Arc::new(Notify::new());
        let task = tokio::spawn(keep(source, timeout, sender, Arc::clone(&refused)));
        Self {
            known,
            refused,
            task,
        }
    }

    /// A token that is valid now; waits for the first attempt to fetch one. The error says why there is none.
    pub(in super::super) async fn token(&self) -> Result<Token, String> {
        let mut known = self.known.clone();
        let tried = known.wait_for(|known| known.token.is_some() || known.failure.is_some());
        let Ok(known) = tried.await.map(|known| known.clone()) else {
            return Err("no token: the operator is shutting down".to_owned());
        };
        match known.token {
            Some(token) if token.is_valid(SystemTime::now()) => Ok(token),
            _ => Err(known.failure.unwrap_or_else(|| {
                "the token is expired, and the next one is on its way".to_owned()
            })),
        }
    }

    /// The broker refused the token: the keys or the rights may have changed, so that a new one may do.
    pub(in super::super) fn refused(&self) {
        self.refused.notify_one();
    }
}

async fn keep(
    source: TokenSource,
    timeout: Duration,
    known: watch::Sender<Known>,
    refused: Arc<Notify>,
) {
    let mut pause = PAUSE;
    loop {
        let began = tokio::time::Instant::now();
        let wait = match fetch(&source, timeout).await {
            Ok(token) => {
                pause = PAUSE;
                let wait = token.renew_in(&source, SystemTime::now());
                known.send_replace(Known {
                    token: Some(token),
                    failure: None,
                });
                wait
            }
            Err(words) => {
                tracing::debug!(words, "a token could not be fetched");
                known.send_modify(|known| known.failure = Some(words));
                let wait = pause;
                pause = (pause * 2).min(LONGEST_PAUSE);
                wait
            }
        };
        let early = async {
            refused.notified().await;
            tokio::time::sleep_until(began + APART).await;
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = early => {}
        }
    }
}
