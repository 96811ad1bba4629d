//! What there is on a cluster as a whole: its topics, its consumer groups, and where those have read to.

use std::collections::BTreeMap;

use super::{
    Event, Failure, Handle, Limits, Op, Options, ask, c_string, items, milliseconds, plain, sys,
    text,
};

/// All topics that the client may describe, with their partition counts. Never creates one.
pub(in super::super) fn all_topics(
    handle: Handle<'_>,
    limits: Limits,
) -> Result<BTreeMap<String, i32>, Failure> {
    let mut metadata = std::ptr::null();
    // SAFETY: the handle is live; no topic is named; the result pointer is written only on success.
    let code = unsafe {
        plain::rd_kafka_metadata(
            handle.client,
            1,
            std::ptr::null_mut(),
            &raw mut metadata,
            milliseconds(limits.timeout),
        )
    };
    if let Some(failure) = Failure::from_code(code, None) {
        return Err(failure);
    }
    if metadata.is_null() {
        return Err(Failure::bad_answer("no metadata"));
    }
    // SAFETY: returned by rd_kafka_metadata, with an array of as many topics; names are copied, then all is destroyed once.
    unsafe {
        let count = usize::try_from((*metadata).topic_cnt).unwrap_or(0);
        let topics = (*metadata).topics.cast_const();
        let found = (0..count)
            .filter(|_| !topics.is_null())
            .filter_map(|at| {
                let topic = topics.add(at);
                Some((text((*topic).topic)?, (*topic).partition_cnt))
            })
            // One with an error has no partitions here.
            .filter(|(_, partitions)| *partitions > 0)
            .collect();
        sys::rd_kafka_metadata_destroy(metadata);
        Ok(found)
    }
}

/// The ids of all groups that the client may describe, of every protocol, and whether every broker answered. To be asked
/// after [`all_topics`], which makes the brokers known.
///
/// `ListConsumerGroups` leaves out groups of Kafka Streams and share groups (librdkafka 2.12.1). This lists the ids of all;
/// what it says of their members is right for classic groups only, and is not looked at.
pub(in super::super) fn group_ids(
    handle: Handle<'_>,
    limits: Limits,
) -> Result<(Vec<String>, bool), Failure> {
    const PARTIAL: i32 = sys::rd_kafka_resp_err_t::RD_KAFKA_RESP_ERR__PARTIAL as i32;
    let mut list = std::ptr::null();
    // SAFETY: the handle is live; a null group means all; the result pointer is written on success and with PARTIAL only.
    let code = unsafe {
        plain::rd_kafka_list_groups(
            handle.client,
            std::ptr::null(),
            &raw mut list,
            milliseconds(limits.timeout),
        )
    };
    if code != PARTIAL
        && let Some(failure) = Failure::from_code(code, None)
    {
        return Err(failure);
    }
    if list.is_null() {
        return Err(Failure::bad_answer("no list of groups"));
    }
    // SAFETY: returned by rd_kafka_list_groups, with an array of as many groups; ids are copied, then all is destroyed once.
    unsafe {
        let count = usize::try_from((*list).group_cnt).unwrap_or(0);
        let groups = (*list).groups.cast_const();
        let ids = (0..count)
            .filter(|_| !groups.is_null())
            .filter_map(|at| text((*groups.add(at)).group))
            .collect();
        sys::rd_kafka_group_list_destroy(list);
        Ok((ids, code != PARTIAL))
    }
}

/// The offsets that a group has committed, by topic and partition; none of a group that does not exist.
pub(in super::super) fn committed(
    handle: Handle<'_>,
    limits: Limits,
    group: &str,
) -> Result<Vec<(String, i32, i64)>, Failure> {
    struct Question(*mut sys::rd_kafka_ListConsumerGroupOffsets_t);
    impl Drop for Question {
        fn drop(&mut self) {
            // SAFETY: created by rd_kafka_ListConsumerGroupOffsets_new, destroyed once.
            unsafe { sys::rd_kafka_ListConsumerGroupOffsets_destroy(self.0) }
        }
    }
    if group.is_empty() {
        return Err(Failure::invalid("a consumer group's id is not empty"));
    }
    let group = c_string(group)?;
    // SAFETY: a valid string that is not empty, which is copied; no partitions means all.
    let question = Question(unsafe {
        sys::rd_kafka_ListConsumerGroupOffsets_new(group.as_ptr(), std::ptr::null())
    });
    let options = Options::new(
        handle,
        Op::RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS,
        limits,
    )?;
    let event = ask(handle, &options, limits, |client, options, queue| {
        let mut questions = [question.0];
        // SAFETY: all are live; the question is copied.
        unsafe {
            sys::rd_kafka_ListConsumerGroupOffsets(
                client,
                questions.as_mut_ptr(),
                questions.len(),
                options,
                queue,
            );
        }
    })?;
    offsets(&event)
}

fn offsets(event: &Event) -> Result<Vec<(String, i32, i64)>, Failure> {
    // SAFETY: a live event of this type (a null result is checked). What it holds is copied; error codes are read as
    // integers, since their enum type may lack the value.
    unsafe {
        let result = sys::rd_kafka_event_ListConsumerGroupOffsets_result(event.0.as_ptr());
        if result.is_null() {
            return Err(Failure::bad_answer(
                "not an answer to ListConsumerGroupOffsets",
            ));
        }
        let mut count = 0;
        let groups = sys::rd_kafka_ListConsumerGroupOffsets_result_groups(result, &raw mut count);
        let mut found = Vec::new();
        for group in items(groups, count).iter().filter(|group| !group.is_null()) {
            let error = sys::rd_kafka_group_result_error(*group);
            if !error.is_null()
                && let Some(failure) = Failure::from_code(
                    plain::rd_kafka_error_code(error),
                    text(sys::rd_kafka_error_string(error)),
                )
            {
                return Err(failure);
            }
            let list = sys::rd_kafka_group_result_partitions(*group);
            if list.is_null() || (*list).elems.is_null() {
                continue;
            }
            let size = usize::try_from((*list).cnt).unwrap_or(0);
            for at in 0..size {
                let element = (*list).elems.cast_const().add(at);
                let code = (&raw const (*element).err).cast::<i32>().read();
                if let Some(failure) = Failure::from_code(code, None) {
                    return Err(failure);
                }
                // A negative offset is none.
                if (*element).offset >= 0
                    && let Some(topic) = text((*element).topic)
                {
                    found.push((topic, (*element).partition, (*element).offset));
                }
            }
        }
        Ok(found)
    }
}
