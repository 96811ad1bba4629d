//! Whether anything may be written at all.

use std::fmt;
use std::sync::Arc;

use super::ffi::Failure;

/// Asked right before each request that writes: of several replicas of an operator only one may. The default allows all.
#[derive(Clone, Default)]
pub struct WriteGuard(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl WriteGuard {
    /// Writes are sent only while `allowed` says so; others end as
    /// [`TopicError::Timeout`](super::TopicError::Timeout).
    pub fn new(allowed: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(allowed)))
    }

    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.0.as_ref().is_none_or(|allowed| allowed()) {
            return Ok(());
        }
        Err(Failure {
            message: "not sent, because this replica does not lead any more".to_owned(),
            ..Failure::unanswered()
        })
    }
}

impl fmt::Debug for WriteGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WriteGuard")
            .field(&self.0.as_ref().map(|_| "a condition"))
            .finish()
    }
}
