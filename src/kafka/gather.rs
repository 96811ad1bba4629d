//! Calls made at nearly the same time, answered together: what keeps the number of requests to Kafka from
//! growing with the number of groups.

use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

/// How long the first call of a batch waits for others.
const LINGER: Duration = Duration::from_millis(5);
/// Calls in one batch, and calls waiting for the next one; beyond that, callers wait for a place.
const MOST: usize = 1_000;

/// Gathers calls into batches. While one batch is served, the calls for the next one gather. The serving task
/// ends when the gatherer and its clones are dropped, after what was asked is served.
#[derive(Debug)]
pub(super) struct Gather<Q, A> {
    calls: mpsc::Sender<(Q, oneshot::Sender<A>)>,
}

impl<Q, A> Clone for Gather<Q, A> {
    fn clone(&self) -> Self {
        Self {
            calls: self.calls.clone(),
        }
    }
}

impl<Q: Send + 'static, A: Send + 'static> Gather<Q, A> {
    /// Starts the serving task, on the current Tokio runtime. `serve` gives one answer per call, in order.
    pub(super) fn start<S, F>(serve: S) -> Self
    where
        S: Fn(Vec<Q>) -> F + Send + 'static,
        F: Future<Output = Vec<A>> + Send,
    {
        let (calls, mut queue) = mpsc::channel::<(Q, oneshot::Sender<A>)>(MOST);
        tokio::spawn(async move {
            while let Some(first) = queue.recv().await {
                tokio::time::sleep(LINGER).await;
                let mut batch = vec![first];
                while batch.len() < MOST
                    && let Ok(call) = queue.try_recv()
                {
                    batch.push(call);
                }
                let (questions, replies): (Vec<Q>, Vec<_>) = batch.into_iter().unzip();
                for (reply, answer) in replies.into_iter().zip(serve(questions).await) {
                    // Fails if the caller gave up; what it asked for was done all the same.
                    let _ = reply.send(answer);
                }
            }
        });
        Self { calls }
    }

    /// Asks. `None` only if the runtime is being shut down.
    pub(super) async fn ask(&self, question: Q) -> Option<A> {
        let (reply, answer) = oneshot::channel();
        self.calls.send((question, reply)).await.ok()?;
        answer.await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[tokio::test]
    async fn calls_at_the_same_time_share_a_batch() {
        let batches = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&batches);
        let gather = Gather::start(move |calls: Vec<u32>| {
            seen.lock().unwrap().push(calls.len());
            async move { calls.into_iter().map(|call| call * 2).collect() }
        });
        let asked = futures::future::join_all((0..50).map(|call| gather.ask(call))).await;
        assert_eq!(
            asked,
            (0..50).map(|call| Some(call * 2)).collect::<Vec<_>>()
        );
        assert_eq!(*batches.lock().unwrap(), [50]);
    }

    #[tokio::test]
    async fn a_caller_that_gives_up_does_not_harm_the_others() {
        let gather = Gather::start(async |calls: Vec<u32>| calls);
        let (gone, kept) = (gather.clone(), gather);
        let given_up = tokio::time::timeout(Duration::from_millis(1), gone.ask(1));
        let (given_up, kept) = tokio::join!(given_up, kept.ask(2));
        assert!(given_up.is_err());
        assert_eq!(kept, Some(2));
    }
}
