//! What a client may do, as brokers tell when asked to.

use std::collections::BTreeSet;

use super::super::permissions::Operation;
use super::{Failure, Options, plain, sys, text};

impl Options {
    pub(super) fn with_authorized_operations(self) -> Result<Self, Failure> {
        // SAFETY: live options; a returned error is read, copied and destroyed once.
        unsafe {
            let error =
                sys::rd_kafka_AdminOptions_set_include_authorized_operations(self.0.as_ptr(), 1);
            if error.is_null() {
                return Ok(self);
            }
            let failure = Failure::from_code(
                plain::rd_kafka_error_code(error),
                text(sys::rd_kafka_error_string(error)),
            );
            sys::rd_kafka_error_destroy(error);
            failure.map_or(Ok(self), Err)
        }
    }
}

/// Operations out of librdkafka's memory, without those that are not known here.
///
/// # Safety
/// `start` is null or points to `count` readable elements.
pub(super) unsafe fn operations(
    start: *const sys::rd_kafka_AclOperation_t,
    count: usize,
) -> BTreeSet<Operation> {
    if start.is_null() {
        return BTreeSet::new();
    }
    // SAFETY: the caller's promise. The elements are read as integers, since their enum type may lack a value.
    let numbers = unsafe { std::slice::from_raw_parts(start.cast::<i32>(), count) };
    numbers
        .iter()
        .filter_map(|number| Operation::of_number(*number))
        .collect()
}
