//! What a consumer's queue holds. The safe wrapper tells of an error, and of the end of a partition, without the
//! topic that it is about.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::time::Duration;

use super::{Event, Failure, Handle, Queue, milliseconds, plain, sys, text};

/// The queue of a consumer, from which its records and errors come. While this is used nobody else polls it.
pub(in super::super) struct ConsumerQueue<'a> {
    queue: Queue,
    owner: PhantomData<Handle<'a>>,
}

/// One event, which keeps the memory of its record until it is dropped.
pub(in super::super) struct Polled(Event);

/// What an event tells.
pub(in super::super) enum Consumed<'a> {
    /// A record.
    Record {
        topic: &'a str,
        partition: i32,
        offset: i64,
        /// Milliseconds since 1970, of the record or of its batch's append; `None` in the oldest formats.
        timestamp: Option<i64>,
        key: Option<&'a [u8]>,
        /// The value's bytes; `None` for null.
        value: Option<usize>,
    },
    /// An error, or the end, of one partition.
    Partition {
        topic: String,
        partition: i32,
        failure: Failure,
    },
    /// An error of the client as a whole.
    Client(Failure),
    /// Nothing that matters to a reader.
    Other,
}

impl<'a> ConsumerQueue<'a> {
    pub(in super::super) fn of(handle: Handle<'a>) -> Result<Self, Failure> {
        // SAFETY: the handle is live; a new reference is returned, or null if this is no consumer.
        let queue = unsafe { sys::rd_kafka_queue_get_consumer(handle.client) };
        let queue = NonNull::new(queue).map(Queue);
        let queue = queue.ok_or_else(|| Failure::invalid("the consumer has no queue"))?;
        Ok(Self {
            queue,
            owner: PhantomData,
        })
    }

    /// Waits for an event.
    pub(in super::super) fn poll(&self, timeout: Duration) -> Option<Polled> {
        // SAFETY: a live queue.
        let event =
            unsafe { sys::rd_kafka_queue_poll(self.queue.0.as_ptr(), milliseconds(timeout)) };
        NonNull::new(event).map(|event| Polled(Event(event)))
    }
}

impl Polled {
    /// Reads the event; a record is given once.
    pub(in super::super) fn read(&self) -> Consumed<'_> {
        let event = self.0.0.as_ptr();
        // SAFETY: a live event.
        match unsafe { sys::rd_kafka_event_type(event) } {
            // SAFETY: a live event of this type.
            sys::RD_KAFKA_EVENT_FETCH => unsafe { self.record() },
            sys::RD_KAFKA_EVENT_ERROR => self.error(),
            _ => Consumed::Other,
        }
    }

    /// # Safety
    /// The event is a fetched record.
    unsafe fn record(&self) -> Consumed<'_> {
        // SAFETY: the caller's promise. The message, its topic's name, its key and its value live as long as the
        // event, to which the result is bound; null pointers are told apart. The error is read as an integer,
        // since its enum type may lack the value.
        unsafe {
            let message = sys::rd_kafka_event_message_next(self.0.0.as_ptr());
            if message.is_null() || (&raw const (*message).err).cast::<i32>().read() != 0 {
                return Consumed::Other;
            }
            let name = std::ffi::CStr::from_ptr(sys::rd_kafka_topic_name((*message).rkt));
            let Ok(topic) = name.to_str() else {
                return Consumed::Other;
            };
            let key = (*message).key.cast::<u8>().cast_const();
            let timestamp = sys::rd_kafka_message_timestamp(message, std::ptr::null_mut());
            Consumed::Record {
                topic,
                partition: (*message).partition,
                offset: (*message).offset,
                timestamp: (timestamp >= 0).then_some(timestamp),
                key: (!key.is_null()).then(|| std::slice::from_raw_parts(key, (*message).key_len)),
                value: (!(*message).payload.is_null()).then_some((*message).len),
            }
        }
    }

    fn error(&self) -> Consumed<'_> {
        let event = self.0.0.as_ptr();
        // SAFETY: a live event; its words are copied, and the partition that is returned, if any, is copied and
        // destroyed once.
        let (failure, partition) = unsafe {
            let failure = Failure::from_code(
                plain::rd_kafka_event_error(event),
                text(sys::rd_kafka_event_error_string(event)),
            );
            let about = sys::rd_kafka_event_topic_partition(event);
            let partition = NonNull::new(about).and_then(|about| {
                let named =
                    text(about.as_ref().topic).map(|topic| (topic, about.as_ref().partition));
                sys::rd_kafka_topic_partition_destroy(about.as_ptr());
                named
            });
            (failure, partition)
        };
        match (failure, partition) {
            (None, _) => Consumed::Other,
            (Some(failure), None) => Consumed::Client(failure),
            (Some(failure), Some((topic, partition))) => Consumed::Partition {
                topic,
                partition,
                failure,
            },
        }
    }
}
