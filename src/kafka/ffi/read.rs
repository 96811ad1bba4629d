//! Requests that only read.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, c_char};

use super::super::model::TopicDescription;
use super::super::permissions::Operation;
use super::operations;
use super::{
    Failure, Handle, Limits, Op, Options, PerName, ask, c_string, items, plain, sys, text,
};

/// A topic's config resources of one request, freed when dropped.
pub(super) struct Resources(pub(super) Vec<*mut sys::rd_kafka_ConfigResource_t>);

impl Resources {
    /// Adds an empty resource for a topic and returns it.
    pub(super) fn add(
        &mut self,
        topic: &str,
    ) -> Result<*mut sys::rd_kafka_ConfigResource_t, Failure> {
        let kind = sys::rd_kafka_ResourceType_t::RD_KAFKA_RESOURCE_TOPIC;
        self.add_kind(kind, topic)
    }

    fn add_kind(
        &mut self,
        kind: sys::rd_kafka_ResourceType_t,
        name: &str,
    ) -> Result<*mut sys::rd_kafka_ConfigResource_t, Failure> {
        let name = c_string(name)?;
        // SAFETY: a valid string, which is copied.
        let resource = unsafe { sys::rd_kafka_ConfigResource_new(kind, name.as_ptr()) };
        if resource.is_null() {
            return Err(Failure::invalid("no resource of this name"));
        }
        self.0.push(resource);
        Ok(resource)
    }
}

impl Drop for Resources {
    fn drop(&mut self) {
        for resource in &self.0 {
            // SAFETY: created by rd_kafka_ConfigResource_new, destroyed once; requests keep copies.
            unsafe { sys::rd_kafka_ConfigResource_destroy(*resource) }
        }
    }
}

/// Describes topics; the names must be distinct and not empty. Never creates one.
pub(in super::super) fn describe_topics(
    handle: Handle<'_>,
    limits: Limits,
    names: &[String],
) -> Result<PerName<TopicDescription>, Failure> {
    let options = Options::new(handle, Op::RD_KAFKA_ADMIN_OP_DESCRIBETOPICS, limits)?;
    described(handle, &options, limits, names, |topic| {
        // SAFETY: `described` gives topics of a live event.
        unsafe { description(topic) }
    })
}

/// What the client may do with each topic; the names as for [`describe_topics`].
pub(in super::super) fn authorized_operations(
    handle: Handle<'_>,
    limits: Limits,
    names: &[String],
) -> Result<PerName<BTreeSet<Operation>>, Failure> {
    let options = Options::new(handle, Op::RD_KAFKA_ADMIN_OP_DESCRIBETOPICS, limits)?
        .with_authorized_operations()?;
    described(handle, &options, limits, names, |topic| {
        let mut count = 0;
        // SAFETY: `described` gives topics of a live event; the array lives in it.
        unsafe {
            let all = sys::rd_kafka_TopicDescription_authorized_operations(topic, &raw mut count);
            operations(all, count)
        }
    })
}

/// Describes topics and reads from each that has no error.
fn described<T>(
    handle: Handle<'_>,
    options: &Options,
    limits: Limits,
    names: &[String],
    read: impl Fn(*const sys::rd_kafka_TopicDescription_t) -> T,
) -> Result<PerName<T>, Failure> {
    struct Collection(*mut sys::rd_kafka_TopicCollection_t);
    impl Drop for Collection {
        fn drop(&mut self) {
            // SAFETY: created by rd_kafka_TopicCollection_of_topic_names, destroyed once.
            unsafe { sys::rd_kafka_TopicCollection_destroy(self.0) }
        }
    }
    let strings = names
        .iter()
        .map(|name| c_string(name))
        .collect::<Result<Vec<CString>, _>>()?;
    let mut pointers: Vec<*const c_char> = strings.iter().map(|name| name.as_ptr()).collect();
    // SAFETY: an array of as many valid strings, which are copied.
    let collection = Collection(unsafe {
        sys::rd_kafka_TopicCollection_of_topic_names(pointers.as_mut_ptr(), pointers.len())
    });
    let event = ask(handle, options, limits, |client, options, queue| {
        // SAFETY: all four are live; the names are copied.
        unsafe { sys::rd_kafka_DescribeTopics(client, collection.0, options, queue) }
    })?;
    // SAFETY: a live event of this type (a null result is checked); the array and what it points to live in
    // it, and `read` copies all that it reads. An element can be null: the library puts answers at the places
    // of the questions, and a broker may leave one out.
    unsafe {
        let result = sys::rd_kafka_event_DescribeTopics_result(event.0.as_ptr());
        if result.is_null() {
            return Err(Failure::bad_answer("not an answer to DescribeTopics"));
        }
        let mut count = 0;
        let topics = sys::rd_kafka_DescribeTopics_result_topics(result, &raw mut count);
        let topics = items(topics, count).iter().filter(|topic| !topic.is_null());
        let topics = topics.filter_map(|topic| {
            let (name, outcome) = topic_outcome(*topic)?;
            Some((name, outcome.map(|()| read(*topic))))
        });
        Ok(topics.collect())
    }
}

/// A topic's name and error.
///
/// # Safety
/// `topic` points into a live event.
unsafe fn topic_outcome(
    topic: *const sys::rd_kafka_TopicDescription_t,
) -> Option<(String, Result<(), Failure>)> {
    // SAFETY: the caller's promise; all strings are copied, and a null error means no error.
    unsafe {
        let name = text(sys::rd_kafka_TopicDescription_name(topic))?;
        let error = sys::rd_kafka_TopicDescription_error(topic);
        let failure = if error.is_null() {
            None
        } else {
            Failure::from_code(
                plain::rd_kafka_error_code(error),
                text(sys::rd_kafka_error_string(error)),
            )
        };
        Some((name, failure.map_or(Ok(()), Err)))
    }
}

/// # Safety
/// `topic` points into a live event.
unsafe fn description(topic: *const sys::rd_kafka_TopicDescription_t) -> TopicDescription {
    // SAFETY: the caller's promise; the partition array has `count` elements, which are never null.
    unsafe {
        let mut count = 0;
        let partitions = sys::rd_kafka_TopicDescription_partitions(topic, &raw mut count);
        let partitions = items(partitions, count);
        let leaderless = partitions
            .iter()
            .filter(|partition| sys::rd_kafka_TopicPartitionInfo_leader(**partition).is_null())
            .count();
        let first = partitions
            .iter()
            .find(|partition| sys::rd_kafka_TopicPartitionInfo_partition(**partition) == 0);
        let mut replicas = 0;
        if let Some(first) = first {
            sys::rd_kafka_TopicPartitionInfo_replicas(*first, &raw mut replicas);
        }
        let id = sys::rd_kafka_TopicDescription_topic_id(topic);
        TopicDescription {
            id: topic_id(
                sys::rd_kafka_Uuid_most_significant_bits(id),
                sys::rd_kafka_Uuid_least_significant_bits(id),
            ),
            partitions: i32::try_from(count).unwrap_or(i32::MAX),
            replication_factor: i16::try_from(replicas).unwrap_or(i16::MAX),
            leaderless,
        }
    }
}

/// A topic id as Kafka prints it: URL-safe base64 without padding. (librdkafka prints the alphabet with `+`
/// and `/`, and nothing at all when built without TLS.)
fn topic_id(most: i64, least: i64) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let bits = (u128::from(most.cast_unsigned()) << 64) | u128::from(least.cast_unsigned());
    // 128 bits are 21 digits of 6 bits and one of 2, which stands at the left of its digit.
    (0..22)
        .map(|digit| {
            let value = if digit < 21 {
                bits >> (122 - 6 * digit)
            } else {
                bits << 4
            };
            char::from(ALPHABET[(value & 63) as usize])
        })
        .collect()
}

/// The effective configs of topics, without values that the broker hides.
pub(in super::super) fn describe_configs(
    handle: Handle<'_>,
    limits: Limits,
    names: &[String],
) -> Result<PerName<BTreeMap<String, String>>, Failure> {
    let mut resources = Resources(Vec::with_capacity(names.len()));
    for name in names {
        resources.add(name)?;
    }
    let shown = |entries: BTreeMap<String, Option<String>>| {
        let shown = entries.into_iter();
        shown
            .filter_map(|(key, value)| Some((key, value?)))
            .collect()
    };
    let configs = configs(handle, limits, &mut resources)?.into_iter();
    Ok(configs
        .map(|(name, found)| (name, found.map(shown)))
        .collect())
}

/// All config keys of the broker that is asked, with their values where it shows them.
pub(in super::super) fn describe_broker_config(
    handle: Handle<'_>,
    limits: Limits,
    broker: i32,
) -> Result<BTreeMap<String, Option<String>>, Failure> {
    let mut resources = Resources(Vec::with_capacity(1));
    resources.add_kind(
        sys::rd_kafka_ResourceType_t::RD_KAFKA_RESOURCE_BROKER,
        &broker.to_string(),
    )?;
    let found = configs(handle, limits, &mut resources)?;
    let found = found.into_iter().next().map(|(_, found)| found);
    found.unwrap_or_else(|| Err(Failure::unanswered()))
}

/// The entries of each resource.
fn configs(
    handle: Handle<'_>,
    limits: Limits,
    resources: &mut Resources,
) -> Result<PerName<BTreeMap<String, Option<String>>>, Failure> {
    let options = Options::new(handle, Op::RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, limits)?;
    let event = ask(handle, &options, limits, |client, options, queue| {
        // SAFETY: all are live; the resources are copied.
        unsafe {
            sys::rd_kafka_DescribeConfigs(
                client,
                resources.0.as_mut_ptr(),
                resources.0.len(),
                options,
                queue,
            );
        }
    })?;
    // SAFETY: a live event of this type (a null result is checked); `resource_outcome` and `entries` copy all
    // they read from it.
    unsafe {
        let result = sys::rd_kafka_event_DescribeConfigs_result(event.0.as_ptr());
        if result.is_null() {
            return Err(Failure::bad_answer("not an answer to DescribeConfigs"));
        }
        let mut count = 0;
        let found = sys::rd_kafka_DescribeConfigs_result_resources(result, &raw mut count);
        let found = items(found, count)
            .iter()
            .filter(|resource| !resource.is_null());
        Ok(found
            .filter_map(|resource| {
                let (name, outcome) = resource_outcome(*resource)?;
                Some((name, outcome.and_then(|()| entries(*resource))))
            })
            .collect())
    }
}

/// A resource's name and error.
///
/// # Safety
/// `resource` points into a live event.
pub(super) unsafe fn resource_outcome(
    resource: *const sys::rd_kafka_ConfigResource_t,
) -> Option<(String, Result<(), Failure>)> {
    // SAFETY: the caller's promise; strings are copied.
    unsafe {
        let name = text(sys::rd_kafka_ConfigResource_name(resource))?;
        let failure = Failure::from_code(
            plain::rd_kafka_ConfigResource_error(resource),
            text(sys::rd_kafka_ConfigResource_error_string(resource)),
        );
        Some((name, failure.map_or(Ok(()), Err)))
    }
}

/// # Safety
/// `resource` points into a live event.
unsafe fn entries(
    resource: *const sys::rd_kafka_ConfigResource_t,
) -> Result<BTreeMap<String, Option<String>>, Failure> {
    // SAFETY: the caller's promise; strings are copied, and the value of an entry that the broker hides is null.
    let entries: BTreeMap<String, Option<String>> = unsafe {
        let mut count = 0;
        let entries = sys::rd_kafka_ConfigResource_configs(resource, &raw mut count);
        items(entries, count)
            .iter()
            .filter_map(|entry| {
                let name = text(sys::rd_kafka_ConfigEntry_name(*entry))?;
                Some((name, text(sys::rd_kafka_ConfigEntry_value(*entry))))
            })
            .collect()
    };
    if entries.is_empty() {
        return Err(Failure::bad_answer("the broker sent no config entries"));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::topic_id;

    #[test]
    fn topic_ids_are_printed_as_kafka_prints_them() {
        assert_eq!(topic_id(0, 0), "AAAAAAAAAAAAAAAAAAAAAA");
        // Kafka's Uuid.METADATA_TOPIC_ID (0, 1).
        assert_eq!(topic_id(0, 1), "AAAAAAAAAAAAAAAAAAAAAQ");
        assert_eq!(topic_id(-1, -1), "_____________________w");
        assert_eq!(
            topic_id(-0x0400_0000_0000_0001, 0x3e),
            "-_________8AAAAAAAAAPg"
        );
    }
}
