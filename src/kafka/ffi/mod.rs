//! The admin requests that the safe wrapper lacks or cripples (`DescribeTopics`, `ListOffsets` and
//! `IncrementalAlterConfigs` are missing there; per-topic errors and the broker's messages get lost), as safe
//! blocking functions. The only place with `unsafe`.
//!
//! Every function sends one request on a borrowed [`Handle`], waits for its one answer with a deadline, and
//! copies what it needs out of librdkafka's memory before it frees it. Nothing outlives the call.

#![allow(unsafe_code)]

mod acls;
mod cluster;
mod consume;
mod inventory;
mod offsets;
mod operations;
#[cfg(test)]
mod partitioners;
mod read;
mod token;
mod write;

use std::ffi::{CStr, CString, c_char, c_int};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka_sys as sys;
use sys::rd_kafka_admin_op_t as Op;

pub(super) use acls::{create_locks, delete_locks, describe_topic_acls};
pub(super) use cluster::{authorized_cluster_operations, cluster_id, probe};
pub(super) use consume::{Consumed, ConsumerQueue};
pub(super) use inventory::{all_topics, committed, group_ids};
pub(super) use offsets::{PartitionOffset, Which, list_offsets};
use operations::operations;
pub(super) use read::{
    authorized_operations, describe_broker_config, describe_configs, describe_topics,
};
pub(super) use token::set_token;
pub(super) use write::{alter_configs, create_partitions, create_topics};

/// One name's part of an answer.
pub(super) type PerName<T> = Vec<(String, Result<T, Failure>)>;

/// How long a request may take, and whom it goes to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) timeout: Duration,
    /// The broker to ask; `None` leaves it to librdkafka, which asks the controller.
    pub(super) broker: Option<i32>,
}

/// An error as librdkafka or the broker gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// The protocol's code, or a negative one of librdkafka's own. Not an enum: a broker may be newer than
    /// the library and send codes that it has no name for.
    pub(super) code: i32,
    /// The code's name.
    pub(super) name: String,
    /// The broker's words where it sent some, else the library's.
    pub(super) message: String,
}

/// The error codes that are told apart, named as in the protocol; negative ones are librdkafka's own.
pub(super) mod code {
    use rdkafka_sys::rd_kafka_resp_err_t as E;

    pub(in super::super) const TIMED_OUT: i32 = E::RD_KAFKA_RESP_ERR__TIMED_OUT as i32;
    pub(in super::super) const INVALID_ARGUMENT: i32 = E::RD_KAFKA_RESP_ERR__INVALID_ARG as i32;
    pub(in super::super) const BAD_ANSWER: i32 = E::RD_KAFKA_RESP_ERR__BAD_MSG as i32;
    pub(in super::super) const AUTHENTICATION: i32 = E::RD_KAFKA_RESP_ERR__AUTHENTICATION as i32;
    pub(in super::super) const SSL: i32 = E::RD_KAFKA_RESP_ERR__SSL as i32;
    pub(in super::super) const SASL_AUTHENTICATION_FAILED: i32 =
        E::RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED as i32;
    pub(in super::super) const REQUEST_TIMED_OUT: i32 =
        E::RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT as i32;
    pub(in super::super) const UNKNOWN_TOPIC_OR_PARTITION: i32 =
        E::RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART as i32;
    pub(in super::super) const TOPIC_ALREADY_EXISTS: i32 =
        E::RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS as i32;
    pub(in super::super) const UNKNOWN_SERVER_ERROR: i32 = E::RD_KAFKA_RESP_ERR_UNKNOWN as i32;
    pub(in super::super) const POLICY_VIOLATION: i32 = E::RD_KAFKA_RESP_ERR_POLICY_VIOLATION as i32;
    pub(in super::super) const INVALID_REQUEST: i32 = E::RD_KAFKA_RESP_ERR_INVALID_REQUEST as i32;
    pub(in super::super) const PARTITION_EOF: i32 = E::RD_KAFKA_RESP_ERR__PARTITION_EOF as i32;
    pub(in super::super) const AUTO_OFFSET_RESET: i32 =
        E::RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET as i32;

    /// Whether a topic or partition that was there is not any more.
    pub(in super::super) fn is_gone(code: i32) -> bool {
        const CODES: [E; 4] = [
            E::RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
            E::RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_ID,
            E::RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
            E::RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
        ];
        CODES.iter().any(|known| *known as i32 == code)
    }

    /// Whether no broker answered: not delivered, or delivered and the answer lost.
    pub(in super::super) fn is_undelivered(code: i32) -> bool {
        const CODES: [E; 8] = [
            E::RD_KAFKA_RESP_ERR__TIMED_OUT,
            E::RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE,
            E::RD_KAFKA_RESP_ERR__TRANSPORT,
            E::RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
            E::RD_KAFKA_RESP_ERR__RESOLVE,
            E::RD_KAFKA_RESP_ERR__DESTROY,
            E::RD_KAFKA_RESP_ERR__DESTROY_BROKER,
            E::RD_KAFKA_RESP_ERR__WAIT_CACHE,
        ];
        CODES.iter().any(|known| *known as i32 == code)
    }

    /// Whether the principal lacks a permission.
    pub(in super::super) fn is_unauthorized(code: i32) -> bool {
        const CODES: [E; 2] = [
            E::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
            E::RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
        ];
        CODES.iter().any(|known| *known as i32 == code)
    }

    /// Whether the same write may succeed a moment later: it went to a broker that is not, or not yet, the
    /// controller, or the cluster throttles changes.
    pub(in super::super) fn is_retriable_write(code: i32) -> bool {
        const CODES: [E; 4] = [
            E::RD_KAFKA_RESP_ERR_NOT_CONTROLLER,
            E::RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS,
            E::RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED,
            E::RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE,
        ];
        CODES.iter().any(|known| *known as i32 == code)
    }

    /// Whether an offset request met leaders or partition counts that the client's metadata cache has wrong.
    pub(in super::super) fn is_stale_metadata(code: i32) -> bool {
        const CODES: [E; 4] = [
            E::RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
            E::RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
            E::RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH,
            E::RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH,
        ];
        CODES.iter().any(|known| *known as i32 == code)
    }
}

/// The same functions as in the bindings, but with plain integers for error codes. The bindings use a Rust
/// enum there, and a code that the enum lacks (brokers are often newer than the library) would be undefined
/// behaviour the moment it is returned. The enum is `repr(i32)`, so the C signatures are the same.
mod plain {
    use super::{c_char, c_int, sys};

    unsafe extern "C" {
        pub(super) fn rd_kafka_metadata(
            client: *mut sys::rd_kafka_t,
            all_topics: c_int,
            only: *mut sys::rd_kafka_topic_t,
            metadata: *mut *const sys::rd_kafka_metadata,
            timeout_ms: c_int,
        ) -> c_int;
        pub(super) fn rd_kafka_list_groups(
            client: *mut sys::rd_kafka_t,
            group: *const c_char,
            list: *mut *const sys::rd_kafka_group_list,
            timeout_ms: c_int,
        ) -> c_int;
        pub(super) fn rd_kafka_event_error(event: *mut sys::rd_kafka_event_t) -> c_int;
        pub(super) fn rd_kafka_error_code(error: *const sys::rd_kafka_error_t) -> c_int;
        pub(super) fn rd_kafka_topic_result_error(
            result: *const sys::rd_kafka_topic_result_t,
        ) -> c_int;
        pub(super) fn rd_kafka_ConfigResource_error(
            resource: *const sys::rd_kafka_ConfigResource_t,
        ) -> c_int;
        pub(super) fn rd_kafka_err2name(code: c_int) -> *const c_char;
        pub(super) fn rd_kafka_err2str(code: c_int) -> *const c_char;
    }
}

impl Failure {
    /// A failure with the library's name for the code, and its words if there are no others.
    fn new(code: i32, message: Option<String>) -> Self {
        // SAFETY: both functions take any integer and return a string that is static, or (for a code without
        // a name) a thread-local buffer that the next call reuses; it is copied here at once.
        let (name, words) = unsafe {
            (
                text(plain::rd_kafka_err2name(code)),
                text(plain::rd_kafka_err2str(code)),
            )
        };
        let name = match name.as_deref() {
            // librdkafka's own names for what the protocol calls otherwise.
            Some("UNKNOWN") => Some("UNKNOWN_SERVER_ERROR".to_owned()),
            Some("UNKNOWN_TOPIC_OR_PART") => Some("UNKNOWN_TOPIC_OR_PARTITION".to_owned()),
            Some("TOPIC_EXCEPTION") => Some("INVALID_TOPIC_EXCEPTION".to_owned()),
            _ => name,
        };
        let message = message.filter(|message| !message.is_empty()).or(words);
        Self {
            code,
            name: name.unwrap_or_else(|| code.to_string()),
            message: message.unwrap_or_else(|| format!("error {code}")),
        }
    }

    /// `None` for code 0.
    fn from_code(code: i32, message: Option<String>) -> Option<Self> {
        (code != 0).then(|| Self::new(code, message))
    }

    /// What a caller asked for cannot be put into a request.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_ARGUMENT, Some(message.into()))
    }

    /// A part of the answer is missing, so it may still come true.
    pub(super) fn unanswered() -> Self {
        Self::new(code::TIMED_OUT, None)
    }

    /// The answer lacks what it must hold.
    fn bad_answer(message: impl Into<String>) -> Self {
        Self::new(code::BAD_ANSWER, Some(message.into()))
    }
}

/// A live librdkafka client, borrowed from the consumer that owns it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handle<'a> {
    client: *mut sys::rd_kafka_t,
    owner: PhantomData<&'a ()>,
}

impl<'a> Handle<'a> {
    /// The client inside of a consumer. The borrow keeps the consumer, and with it the client, alive.
    pub(super) fn of<C: ConsumerContext>(consumer: &'a BaseConsumer<C>) -> Self {
        Self {
            client: consumer.client().native_ptr(),
            owner: PhantomData,
        }
    }
}

/// Copies a C string; `None` for a null pointer. Bytes that are not UTF-8 are replaced.
///
/// # Safety
/// `pointer` is null or points to a string that ends in NUL and stays unchanged during the call.
unsafe fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not null, and the caller vouches for the rest.
    Some(
        unsafe { CStr::from_ptr(pointer) }
            .to_string_lossy()
            .into_owned(),
    )
}

/// A C array with its length as librdkafka returns it; empty for a null pointer.
///
/// # Safety
/// `start` is null or points to `count` readable pointers that stay unchanged while the slice is used.
unsafe fn items<'a, T>(start: *mut *const T, count: usize) -> &'a [*const T] {
    if start.is_null() {
        return &[];
    }
    // SAFETY: not null; the caller vouches for the length and the lifetime.
    unsafe { std::slice::from_raw_parts(start, count) }
}

fn c_string(value: &str) -> Result<CString, Failure> {
    CString::new(value).map_err(|_| Failure::invalid("the text holds a NUL character"))
}

/// A buffer for librdkafka's `errstr` parameters.
struct Words([c_char; 512]);

impl Words {
    fn new() -> Self {
        Self([0; 512])
    }

    fn text(&self) -> Option<String> {
        // SAFETY: the buffer was zeroed, and librdkafka writes at most its length with a final NUL.
        unsafe { text(self.0.as_ptr()) }
    }
}

struct Queue(NonNull<sys::rd_kafka_queue_t>);

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: created by rd_kafka_queue_new, destroyed once. A request still under way keeps its own
        // reference to the queue, and its late answer is freed with it.
        unsafe { sys::rd_kafka_queue_destroy(self.0.as_ptr()) }
    }
}

struct Options(NonNull<sys::rd_kafka_AdminOptions_t>);

impl Drop for Options {
    fn drop(&mut self) {
        // SAFETY: created by rd_kafka_AdminOptions_new, destroyed once; requests copy what they need.
        unsafe { sys::rd_kafka_AdminOptions_destroy(self.0.as_ptr()) }
    }
}

/// An answer. Everything read from it points into it, so it is kept until all is copied.
struct Event(NonNull<sys::rd_kafka_event_t>);

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: returned by rd_kafka_queue_poll, destroyed once.
        unsafe { sys::rd_kafka_event_destroy(self.0.as_ptr()) }
    }
}

fn milliseconds(duration: Duration) -> c_int {
    c_int::try_from(duration.as_millis()).unwrap_or(c_int::MAX)
}

impl Options {
    fn new(handle: Handle<'_>, op: Op, limits: Limits) -> Result<Self, Failure> {
        // SAFETY: the handle is live.
        let options = unsafe { sys::rd_kafka_AdminOptions_new(handle.client, op) };
        let options = NonNull::new(options).map(Self);
        let options = options.ok_or_else(|| Failure::invalid("no options for this request"))?;
        options.set(|options, words, size| {
            // SAFETY: live options and a buffer of the given size.
            unsafe {
                sys::rd_kafka_AdminOptions_set_request_timeout(
                    options,
                    milliseconds(limits.timeout),
                    words,
                    size,
                )
            }
        })?;
        if let Some(broker) = limits.broker {
            options.set(|options, words, size| {
                // SAFETY: live options and a buffer of the given size.
                unsafe { sys::rd_kafka_AdminOptions_set_broker(options, broker, words, size) }
            })?;
        }
        Ok(options)
    }

    /// Leaves the broker most of the time for its own work. To be set for whatever creates: without it,
    /// librdkafka reports `REQUEST_TIMED_OUT` of a topic as success.
    fn with_time_at_broker(self, limits: Limits) -> Result<Self, Failure> {
        let at_broker = milliseconds(limits.timeout.mul_f32(0.8)).max(1);
        self.set(|options, words, size| {
            // SAFETY: live options and a buffer of the given size.
            unsafe {
                sys::rd_kafka_AdminOptions_set_operation_timeout(options, at_broker, words, size)
            }
        })?;
        Ok(self)
    }

    /// Has the request checked, but not carried out, if `validate_only`.
    fn with_check_only(self, validate_only: bool) -> Result<Self, Failure> {
        let flag = c_int::from(validate_only);
        self.set(|options, words, size| {
            // SAFETY: live options and a buffer of the given size.
            unsafe { sys::rd_kafka_AdminOptions_set_validate_only(options, flag, words, size) }
        })?;
        Ok(self)
    }

    fn set(
        &self,
        option: impl FnOnce(
            *mut sys::rd_kafka_AdminOptions_t,
            *mut c_char,
            usize,
        ) -> sys::rd_kafka_resp_err_t,
    ) -> Result<(), Failure> {
        let mut words = Words::new();
        // These codes are librdkafka's own, never a broker's, so the bindings' enum has them all.
        let code = option(self.0.as_ptr(), words.0.as_mut_ptr(), words.0.len()) as i32;
        Failure::from_code(code, words.text()).map_or(Ok(()), Err)
    }
}

/// Sends one request and waits for its answer. `send` gets the client, the options and the queue to answer
/// to; librdkafka copies all arguments before it returns.
fn ask(
    handle: Handle<'_>,
    options: &Options,
    limits: Limits,
    send: impl FnOnce(
        *mut sys::rd_kafka_t,
        *const sys::rd_kafka_AdminOptions_t,
        *mut sys::rd_kafka_queue_t,
    ),
) -> Result<Event, Failure> {
    // SAFETY: the handle is live.
    let queue = unsafe { sys::rd_kafka_queue_new(handle.client) };
    let queue = NonNull::new(queue).map(Queue);
    let queue = queue.ok_or_else(|| Failure::invalid("no queue for the answer"))?;
    send(handle.client, options.0.as_ptr(), queue.0.as_ptr());
    // The library answers by its own timeout; the extra second is for the case that it does not.
    let wait = milliseconds(limits.timeout + Duration::from_secs(1));
    // SAFETY: a live queue that nobody else polls.
    let event = unsafe { sys::rd_kafka_queue_poll(queue.0.as_ptr(), wait) };
    let event = NonNull::new(event).map(Event);
    let event = event.ok_or_else(|| Failure::new(code::TIMED_OUT, None))?;
    // SAFETY: a live event; the error string points into it and is copied.
    let (code, words) = unsafe {
        (
            plain::rd_kafka_event_error(event.0.as_ptr()),
            text(sys::rd_kafka_event_error_string(event.0.as_ptr())),
        )
    };
    Failure::from_code(code, words).map_or(Ok(event), Err)
}
