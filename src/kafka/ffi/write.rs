//! Requests that change something.

use super::super::model::{ConfigChange, Growth, NewTopic};
use super::read::{Resources, resource_outcome};
use super::{
    Event, Failure, Handle, Limits, Op, Options, PerName, Words, ask, c_string, items, plain, sys,
    text,
};

/// Topics to create, freed when dropped.
struct NewTopics(Vec<*mut sys::rd_kafka_NewTopic_t>);

impl NewTopics {
    fn add(&mut self, topic: &NewTopic) -> Result<(), Failure> {
        let name = c_string(&topic.name)?;
        let replicas = topic.replication_factor.map_or(-1, i32::from);
        let mut words = Words::new();
        // SAFETY: a valid string, which is copied, and a buffer of the given size.
        let created = unsafe {
            sys::rd_kafka_NewTopic_new(
                name.as_ptr(),
                topic.partitions,
                replicas,
                words.0.as_mut_ptr(),
                words.0.len(),
            )
        };
        if created.is_null() {
            return Err(Failure::invalid(words.text().unwrap_or_default()));
        }
        self.0.push(created);
        for (key, value) in &topic.config {
            let configured = set_config(created, key, value);
            if let Err(failure) = configured {
                self.0.pop();
                // SAFETY: created above, and no longer in the list that frees it.
                unsafe { sys::rd_kafka_NewTopic_destroy(created) };
                return Err(failure);
            }
        }
        Ok(())
    }
}

fn set_config(topic: *mut sys::rd_kafka_NewTopic_t, key: &str, value: &str) -> Result<(), Failure> {
    let (key, value) = (c_string(key)?, c_string(value)?);
    // SAFETY: a live topic and valid strings, which are copied. The code is librdkafka's own.
    let code =
        unsafe { sys::rd_kafka_NewTopic_set_config(topic, key.as_ptr(), value.as_ptr()) } as i32;
    Failure::from_code(code, None).map_or(Ok(()), Err)
}

impl Drop for NewTopics {
    fn drop(&mut self) {
        for topic in &self.0 {
            // SAFETY: created by rd_kafka_NewTopic_new, destroyed once; requests keep copies.
            unsafe { sys::rd_kafka_NewTopic_destroy(*topic) }
        }
    }
}

/// Creates topics (or only asks whether that would do); the names must be distinct.
pub(in super::super) fn create_topics(
    handle: Handle<'_>,
    limits: Limits,
    topics: &[NewTopic],
    validate_only: bool,
) -> Result<PerName<()>, Failure> {
    let mut outcomes: PerName<()> = Vec::with_capacity(topics.len());
    let mut list = NewTopics(Vec::with_capacity(topics.len()));
    for topic in topics {
        if let Err(failure) = list.add(topic) {
            outcomes.push((topic.name.clone(), Err(failure)));
        }
    }
    if list.0.is_empty() {
        return Ok(outcomes);
    }
    let op = Op::RD_KAFKA_ADMIN_OP_CREATETOPICS;
    let options = Options::new(handle, op, limits)?
        .with_time_at_broker(limits)?
        .with_check_only(validate_only)?;
    let event = ask(handle, &options, limits, |client, options, queue| {
        // SAFETY: all are live; the topics are copied.
        unsafe {
            sys::rd_kafka_CreateTopics(client, list.0.as_mut_ptr(), list.0.len(), options, queue);
        }
    })?;
    // SAFETY: a live event; a null result is checked, the array lives in the event.
    unsafe {
        let result = sys::rd_kafka_event_CreateTopics_result(event.0.as_ptr());
        if result.is_null() {
            return Err(Failure::bad_answer("not an answer to CreateTopics"));
        }
        let mut count = 0;
        let results = sys::rd_kafka_CreateTopics_result_topics(result, &raw mut count);
        topic_results(items(results, count), &event, &mut outcomes);
    }
    Ok(outcomes)
}

/// # Safety
/// The results point into the event (or are null, where the broker left out a topic).
unsafe fn topic_results(
    results: &[*const sys::rd_kafka_topic_result_t],
    _keeps_alive: &Event,
    outcomes: &mut PerName<()>,
) {
    for result in results.iter().filter(|result| !result.is_null()) {
        // SAFETY: the caller's promise; strings are copied.
        let (name, code, words) = unsafe {
            (
                text(sys::rd_kafka_topic_result_name(*result)),
                plain::rd_kafka_topic_result_error(*result),
                text(sys::rd_kafka_topic_result_error_string(*result)),
            )
        };
        if let Some(name) = name {
            outcomes.push((name, Failure::from_code(code, words).map_or(Ok(()), Err)));
        }
    }
}

/// Growths, freed when dropped.
struct NewPartitions(Vec<*mut sys::rd_kafka_NewPartitions_t>);

impl NewPartitions {
    fn add(&mut self, growth: &Growth) -> Result<(), Failure> {
        let name = c_string(&growth.topic)?;
        let to = usize::try_from(growth.to)
            .map_err(|_| Failure::invalid("a partition count cannot be negative"))?;
        let mut words = Words::new();
        // SAFETY: a valid string, which is copied, and a buffer of the given size.
        let created = unsafe {
            sys::rd_kafka_NewPartitions_new(name.as_ptr(), to, words.0.as_mut_ptr(), words.0.len())
        };
        if created.is_null() {
            return Err(Failure::invalid(words.text().unwrap_or_default()));
        }
        self.0.push(created);
        Ok(())
    }
}

impl Drop for NewPartitions {
    fn drop(&mut self) {
        for growth in &self.0 {
            // SAFETY: created by rd_kafka_NewPartitions_new, destroyed once; requests keep copies.
            unsafe { sys::rd_kafka_NewPartitions_destroy(*growth) }
        }
    }
}

/// Adds partitions (or only asks whether that would do); the topics must be distinct.
pub(in super::super) fn create_partitions(
    handle: Handle<'_>,
    limits: Limits,
    growths: &[Growth],
    validate_only: bool,
) -> Result<PerName<()>, Failure> {
    let mut outcomes: PerName<()> = Vec::with_capacity(growths.len());
    let mut list = NewPartitions(Vec::with_capacity(growths.len()));
    for growth in growths {
        if let Err(failure) = list.add(growth) {
            outcomes.push((growth.topic.clone(), Err(failure)));
        }
    }
    if list.0.is_empty() {
        return Ok(outcomes);
    }
    let op = Op::RD_KAFKA_ADMIN_OP_CREATEPARTITIONS;
    let options = Options::new(handle, op, limits)?
        .with_time_at_broker(limits)?
        .with_check_only(validate_only)?;
    let event = ask(handle, &options, limits, |client, options, queue| {
        // SAFETY: all are live; the growths are copied.
        unsafe {
            sys::rd_kafka_CreatePartitions(
                client,
                list.0.as_mut_ptr(),
                list.0.len(),
                options,
                queue,
            );
        }
    })?;
    // SAFETY: a live event; a null result is checked, the array lives in the event.
    unsafe {
        let result = sys::rd_kafka_event_CreatePartitions_result(event.0.as_ptr());
        if result.is_null() {
            return Err(Failure::bad_answer("not an answer to CreatePartitions"));
        }
        let mut count = 0;
        let results = sys::rd_kafka_CreatePartitions_result_topics(result, &raw mut count);
        topic_results(items(results, count), &event, &mut outcomes);
    }
    Ok(outcomes)
}

fn add_change(list: &mut Resources, change: &ConfigChange) -> Result<(), Failure> {
    // All strings first: once the resource is in the list, the request will carry it.
    let entries = change
        .set
        .iter()
        .map(|(key, value)| Ok((c_string(key)?, c_string(value)?)))
        .collect::<Result<Vec<_>, Failure>>()?;
    if entries.is_empty() || entries.iter().any(|(key, _)| key.is_empty()) {
        return Err(Failure::invalid(
            "a config change needs keys, and none may be empty",
        ));
    }
    let resource = list.add(&change.topic)?;
    for (key, value) in entries {
        // SAFETY: a live resource and valid strings, which are copied. A non-null answer is an error that we
        // own; it is only given for an empty name, which was ruled out, so it is freed unread.
        unsafe {
            let error = sys::rd_kafka_ConfigResource_add_incremental_config(
                resource,
                key.as_ptr(),
                sys::rd_kafka_AlterConfigOpType_t::RD_KAFKA_ALTER_CONFIG_OP_TYPE_SET,
                value.as_ptr(),
            );
            if !error.is_null() {
                sys::rd_kafka_error_destroy(error);
            }
        }
    }
    Ok(())
}

/// Sets config keys and leaves all others as they are (`IncrementalAlterConfigs`; the older `AlterConfigs`
/// would reset them). The topics must be distinct.
pub(in super::super) fn alter_configs(
    handle: Handle<'_>,
    limits: Limits,
    changes: &[ConfigChange],
    validate_only: bool,
) -> Result<PerName<()>, Failure> {
    let mut outcomes: PerName<()> = Vec::with_capacity(changes.len());
    let mut list = Resources(Vec::with_capacity(changes.len()));
    for change in changes {
        if let Err(failure) = add_change(&mut list, change) {
            outcomes.push((change.topic.clone(), Err(failure)));
        }
    }
    if list.0.is_empty() {
        return Ok(outcomes);
    }
    let op = Op::RD_KAFKA_ADMIN_OP_INCREMENTALALTERCONFIGS;
    let options = Options::new(handle, op, limits)?.with_check_only(validate_only)?;
    let event = ask(handle, &options, limits, |client, options, queue| {
        // SAFETY: all are live; the resources are copied.
        unsafe {
            sys::rd_kafka_IncrementalAlterConfigs(
                client,
                list.0.as_mut_ptr(),
                list.0.len(),
                options,
                queue,
            );
        }
    })?;
    // SAFETY: a live event; a null result is checked, the array lives in the event, elements may be null.
    unsafe {
        let result = sys::rd_kafka_event_IncrementalAlterConfigs_result(event.0.as_ptr());
        if result.is_null() {
            return Err(Failure::bad_answer(
                "not an answer to IncrementalAlterConfigs",
            ));
        }
        let mut count = 0;
        let found = sys::rd_kafka_IncrementalAlterConfigs_result_resources(result, &raw mut count);
        let found = items(found, count)
            .iter()
            .filter(|resource| !resource.is_null());
        outcomes.extend(found.filter_map(|resource| resource_outcome(*resource)));
    }
    Ok(outcomes)
}
