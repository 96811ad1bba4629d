//! `ListOffsets`: where partitions begin and end, and from where on records are of a time.

use super::{
    Event, Failure, Handle, Limits, Op, Options, ask, c_string, code, items, plain, sys, text,
};

/// One partition's offset.
pub(in super::super) type PartitionOffset = (String, i32, Result<i64, Failure>);

/// Which offset is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Which {
    /// The end of the log: the high watermark.
    Latest,
    /// The end of what a `read_committed` consumer gets: the last stable offset, before any open transaction.
    LatestCommitted,
    /// The beginning of the log.
    Earliest,
    /// The first record at or after this time (milliseconds since 1970, not negative); -1 if there is none.
    Since(i64),
}

impl Which {
    /// How librdkafka spells the question in the offset field.
    fn spec(self) -> i64 {
        use sys::rd_kafka_OffsetSpec_t as Spec;
        match self {
            Self::Latest | Self::LatestCommitted => Spec::RD_KAFKA_OFFSET_SPEC_LATEST as i64,
            Self::Earliest => Spec::RD_KAFKA_OFFSET_SPEC_EARLIEST as i64,
            Self::Since(milliseconds) => milliseconds.max(0),
        }
    }
}

/// Offsets of partitions, which must be distinct.
pub(in super::super) fn list_offsets(
    handle: Handle<'_>,
    limits: Limits,
    partitions: &[(String, i32)],
    which: Which,
) -> Result<Vec<PartitionOffset>, Failure> {
    struct List(*mut sys::rd_kafka_topic_partition_list_t);
    impl Drop for List {
        fn drop(&mut self) {
            // SAFETY: created by rd_kafka_topic_partition_list_new, destroyed once.
            unsafe { sys::rd_kafka_topic_partition_list_destroy(self.0) }
        }
    }
    let size =
        i32::try_from(partitions.len()).map_err(|_| Failure::invalid("too many partitions"))?;
    // SAFETY: any size is fine.
    let list = List(unsafe { sys::rd_kafka_topic_partition_list_new(size) });
    for (topic, partition) in partitions {
        let topic = c_string(topic)?;
        // SAFETY: a live list and a valid string, which is copied; the element that comes back lives in the
        // list, and its offset field carries the question.
        unsafe {
            let element =
                sys::rd_kafka_topic_partition_list_add(list.0, topic.as_ptr(), *partition);
            (*element).offset = which.spec();
        }
    }
    let options = Options::new(handle, Op::RD_KAFKA_ADMIN_OP_LISTOFFSETS, limits)?;
    if which == Which::LatestCommitted {
        options.read_committed()?;
    }
    let event = ask(handle, &options, limits, |client, options, queue| {
        // SAFETY: all four are live; the list is copied.
        unsafe { sys::rd_kafka_ListOffsets(client, list.0, options, queue) }
    })?;
    offsets(&event, which)
}

impl Options {
    fn read_committed(&self) -> Result<(), Failure> {
        // SAFETY: live options; a returned error is read, copied and destroyed once.
        unsafe {
            let error = sys::rd_kafka_AdminOptions_set_isolation_level(
                self.0.as_ptr(),
                sys::rd_kafka_IsolationLevel_t::RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED,
            );
            if error.is_null() {
                return Ok(());
            }
            let failure = Failure::from_code(
                plain::rd_kafka_error_code(error),
                text(sys::rd_kafka_error_string(error)),
            );
            sys::rd_kafka_error_destroy(error);
            failure.map_or(Ok(()), Err)
        }
    }
}

fn offsets(event: &Event, which: Which) -> Result<Vec<PartitionOffset>, Failure> {
    // What a partition without a record of that time answers.
    const NONE: i64 = -1;
    // SAFETY: a live event of this type (a null result is checked). The array and what it points to live in
    // it and are copied. The error field is read as an integer, since its enum type may lack the value.
    unsafe {
        let result = sys::rd_kafka_event_ListOffsets_result(event.0.as_ptr());
        if result.is_null() {
            return Err(Failure::bad_answer("not an answer to ListOffsets"));
        }
        let mut count = 0;
        let infos = sys::rd_kafka_ListOffsets_result_infos(result, &raw mut count);
        let mut offsets = Vec::with_capacity(count);
        for info in items(infos, count).iter().filter(|info| !info.is_null()) {
            let element = sys::rd_kafka_ListOffsetsResultInfo_topic_partition(*info);
            let Some(topic) = text((*element).topic) else {
                continue;
            };
            let code = (&raw const (*element).err).cast::<i32>().read();
            let offset = (*element).offset;
            let found = match Failure::from_code(code, None) {
                Some(failure) => Err(failure),
                None if offset == NONE && matches!(which, Which::Since(_)) => Ok(NONE),
                // When one leader does not answer, librdkafka leaves its partitions without an error and
                // with its "invalid" offset of -1001.
                None if offset < 0 => Err(Failure::new(code::TIMED_OUT, None)),
                None => Ok(offset),
            };
            offsets.push((topic, (*element).partition, found));
        }
        Ok(offsets)
    }
}
