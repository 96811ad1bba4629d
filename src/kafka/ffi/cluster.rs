//! Requests about the cluster as a whole.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::time::Duration;

use super::super::permissions::Operation;
use super::{
    Failure, Handle, Limits, Op, Options, ask, code, milliseconds, operations, plain, sys, text,
};

/// Whether any broker answers, and the ids of those that it knows; asks for the metadata of a topic that cannot exist.
///
/// An admin request that waits for a broker makes librdkafka 2.12 reconnect without any pause (seen: thousands of
/// attempts a second against a closed port, and half a core). This one waits at the pace of `reconnect.backoff.ms`, so
/// it goes first while a cluster does not answer. A topic must be named: without one, and with no topic known yet, the
/// library asks for all topics of the cluster.
///
/// An answer without a single broker counts as none: a broker gives it that was held up until the controller took it for
/// dead. To a DescribeCluster that finds the same, librdkafka 2.12 makes no result and ends the process by an assertion
/// (seen: a node that was stopped for ten seconds). A description of topics does not, since it is about topics.
pub(in super::super) fn probe(handle: Handle<'_>, timeout: Duration) -> Result<Vec<i32>, Failure> {
    struct Topic(*mut sys::rd_kafka_topic_t);
    impl Drop for Topic {
        fn drop(&mut self) {
            // SAFETY: created by rd_kafka_topic_new, destroyed once.
            unsafe { sys::rd_kafka_topic_destroy(self.0) }
        }
    }
    // SAFETY: the handle is live, the name is copied, and a null config means the default one.
    let topic = Topic(unsafe {
        sys::rd_kafka_topic_new(
            handle.client,
            IMPOSSIBLE_TOPIC.as_ptr(),
            std::ptr::null_mut(),
        )
    });
    if topic.0.is_null() {
        // Destroying null would not do.
        std::mem::forget(topic);
        return Err(Failure::invalid("no handle for a topic"));
    }
    let mut metadata = std::ptr::null();
    // SAFETY: the handle and the topic are live; the result pointer is written only on success.
    let code = unsafe {
        plain::rd_kafka_metadata(
            handle.client,
            0,
            topic.0,
            &raw mut metadata,
            milliseconds(timeout),
        )
    };
    if let Some(failure) = Failure::from_code(code, None) {
        return Err(failure);
    }
    if metadata.is_null() {
        return Err(Failure::bad_answer("no metadata"));
    }
    // SAFETY: returned by rd_kafka_metadata, with an array of as many brokers; copied, then destroyed once.
    let ids: Vec<i32> = unsafe {
        let count = usize::try_from((*metadata).broker_cnt).unwrap_or(0);
        let brokers = (*metadata).brokers.cast_const();
        let ids = (0..count)
            .filter(|_| !brokers.is_null())
            .map(|at| (*brokers.add(at)).id)
            .collect();
        sys::rd_kafka_metadata_destroy(metadata);
        ids
    };
    if ids.is_empty() {
        let words = "a broker answers, and knows of none that is up";
        return Err(Failure::new(code::TIMED_OUT, Some(words.to_owned())));
    }
    Ok(ids)
}

/// A name that every broker refuses, so no topic can be meant by it or come to be by it.
const IMPOSSIBLE_TOPIC: &CStr = c".";

/// The id of the cluster that gave the last description of topics; `None` before any, or if its brokers tell none.
pub(in super::super) fn cluster_id(handle: Handle<'_>) -> Option<String> {
    // SAFETY: the handle is live; without time it only looks at what it has. The string is ours: it is copied, then freed
    // once.
    unsafe {
        let id = sys::rd_kafka_clusterid(handle.client, 0);
        let copy = text(id);
        if !id.is_null() {
            sys::rd_kafka_mem_free(handle.client, id.cast());
        }
        copy.filter(|id| !id.is_empty())
    }
}

/// What the client may do with the cluster. To be asked for right after a probe, which says why.
pub(in super::super) fn authorized_cluster_operations(
    handle: Handle<'_>,
    limits: Limits,
) -> Result<BTreeSet<Operation>, Failure> {
    let options = Options::new(handle, Op::RD_KAFKA_ADMIN_OP_DESCRIBECLUSTER, limits)?
        .with_authorized_operations()?;
    let event = ask(handle, &options, limits, |client, options, queue| {
        // SAFETY: all three are live.
        unsafe { sys::rd_kafka_DescribeCluster(client, options, queue) }
    })?;
    // SAFETY: a live event; a null result is checked, the array lives in the event.
    unsafe {
        let result = sys::rd_kafka_event_DescribeCluster_result(event.0.as_ptr());
        if result.is_null() {
            return Err(Failure::bad_answer("not an answer to DescribeCluster"));
        }
        let mut count = 0;
        let all =
            sys::rd_kafka_DescribeCluster_result_authorized_operations(result, &raw mut count);
        Ok(operations(all, count))
    }
}
