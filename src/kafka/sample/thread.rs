//! A reading as a future: on a thread of its own, because it blocks for long.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::super::error::Error;
use super::super::handle::unusable;
use super::super::settings::ConnectionSettings;
use super::reader::sample_blocking;
use super::request::{Cancel, Progress, Sample, SampleRequest, Sink};

/// Ends the reading when the future is dropped.
struct EndWhenDropped(Cancel);

impl Drop for EndWhenDropped {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// As [`sample_blocking`], without blocking: the sink goes to the reading's thread and comes back with the sample. A
/// future that is dropped ends the reading, and its thread destroys the consumer.
pub async fn sample<S: Sink + Send + 'static>(
    settings: &ConnectionSettings,
    request: SampleRequest,
    progress: Arc<Progress>,
    mut sink: S,
) -> Result<(Sample, S), Error> {
    let settings = settings.clone();
    let cancel = Cancel::default();
    let end = EndWhenDropped(cancel.clone());
    let (sender, receiver) = oneshot::channel();
    std::thread::Builder::new()
        .name("kafka-sample".to_owned())
        .spawn(move || {
            let read = sample_blocking(&settings, &request, &progress, &cancel, &mut sink);
            // Nobody waits for it any more if this fails.
            let _ = sender.send(read.map(|sample| (sample, sink)));
        })
        .map_err(|error| unusable(&format!("no thread to read: {error}")))?;
    let answer = receiver.await.unwrap_or_else(|_| Err(Error::stopping()));
    drop(end);
    answer
}
