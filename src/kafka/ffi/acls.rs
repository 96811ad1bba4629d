//! Requests about ACLs on topics.

use super::super::model::{AclPattern, Lock, TopicAcl};
use super::{
    Failure, Handle, Limits, Op, Options, PerName, Words, ask, c_string, items, sys, text,
};

/// As librdkafka numbers them (and the protocol). Kept as integers where they are read: a broker may send more.
mod number {
    pub(super) const LITERAL: i32 = 3;
    pub(super) const PREFIXED: i32 = 4;
    pub(super) const ALTER: i32 = 7;
    pub(super) const DENY: i32 = 2;
}

/// Everybody, and from everywhere: what a lock speaks of.
const EVERYBODY: &str = "User:*";
const EVERYWHERE: &str = "*";

/// The same functions as in the bindings, with plain integers for enums: see [`super::plain`].
mod plain {
    use super::super::{c_int, sys};

    unsafe extern "C" {
        pub(super) fn rd_kafka_AclBinding_operation(
            acl: *const sys::rd_kafka_AclBinding_t,
        ) -> c_int;
        pub(super) fn rd_kafka_AclBinding_permission_type(
            acl: *const sys::rd_kafka_AclBinding_t,
        ) -> c_int;
        pub(super) fn rd_kafka_AclBinding_resource_pattern_type(
            acl: *const sys::rd_kafka_AclBinding_t,
        ) -> c_int;
    }
}

/// Bindings, or filters (which are the same to the library), freed when dropped.
struct Bindings(Vec<*mut sys::rd_kafka_AclBinding_t>);

impl Bindings {
    /// The binding that locks a topic.
    fn add_lock(&mut self, topic: &str) -> Result<(), Failure> {
        let (name, principal, host) = (
            c_string(topic)?,
            c_string(EVERYBODY)?,
            c_string(EVERYWHERE)?,
        );
        let mut words = Words::new();
        // SAFETY: valid strings, which are copied, and a buffer of the given size.
        let binding = unsafe {
            sys::rd_kafka_AclBinding_new(
                sys::rd_kafka_ResourceType_t::RD_KAFKA_RESOURCE_TOPIC,
                name.as_ptr(),
                sys::rd_kafka_ResourcePatternType_t::RD_KAFKA_RESOURCE_PATTERN_LITERAL,
                principal.as_ptr(),
                host.as_ptr(),
                sys::rd_kafka_AclOperation_t::RD_KAFKA_ACL_OPERATION_ALTER,
                sys::rd_kafka_AclPermissionType_t::RD_KAFKA_ACL_PERMISSION_TYPE_DENY,
                words.0.as_mut_ptr(),
                words.0.len(),
            )
        };
        self.push(binding, &words)
    }

    /// A filter that the lock of one topic passes, or of all topics, and no other binding.
    fn add_lock_filter(&mut self, topic: Option<&str>) -> Result<(), Failure> {
        let name = topic.map(c_string).transpose()?;
        let name = name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
        let (principal, host) = (c_string(EVERYBODY)?, c_string(EVERYWHERE)?);
        let mut words = Words::new();
        // SAFETY: valid strings (or null for any name), which are copied, and a buffer of the given size.
        let filter = unsafe {
            sys::rd_kafka_AclBindingFilter_new(
                sys::rd_kafka_ResourceType_t::RD_KAFKA_RESOURCE_TOPIC,
                name,
                sys::rd_kafka_ResourcePatternType_t::RD_KAFKA_RESOURCE_PATTERN_LITERAL,
                principal.as_ptr(),
                host.as_ptr(),
                sys::rd_kafka_AclOperation_t::RD_KAFKA_ACL_OPERATION_ALTER,
                sys::rd_kafka_AclPermissionType_t::RD_KAFKA_ACL_PERMISSION_TYPE_DENY,
                words.0.as_mut_ptr(),
                words.0.len(),
            )
        };
        self.push(filter, &words)
    }

    /// A filter that every binding on topics passes.
    fn add_any_filter(&mut self) -> Result<(), Failure> {
        let mut words = Words::new();
        // SAFETY: null stands for any name, principal and host; a buffer of the given size.
        let filter = unsafe {
            sys::rd_kafka_AclBindingFilter_new(
                sys::rd_kafka_ResourceType_t::RD_KAFKA_RESOURCE_TOPIC,
                std::ptr::null(),
                sys::rd_kafka_ResourcePatternType_t::RD_KAFKA_RESOURCE_PATTERN_ANY,
                std::ptr::null(),
                std::ptr::null(),
                sys::rd_kafka_AclOperation_t::RD_KAFKA_ACL_OPERATION_ANY,
                sys::rd_kafka_AclPermissionType_t::RD_KAFKA_ACL_PERMISSION_TYPE_ANY,
                words.0.as_mut_ptr(),
                words.0.len(),
            )
        };
        self.push(filter, &words)
    }

    fn push(
        &mut self,
        binding: *mut sys::rd_kafka_AclBinding_t,
        words: &Words,
    ) -> Result<(), Failure> {
        if binding.is_null() {
            return Err(Failure::invalid(words.text().unwrap_or_default()));
        }
        self.0.push(binding);
        Ok(())
    }
}

impl Drop for Bindings {
    fn drop(&mut self) {
        for binding in &self.0 {
            // SAFETY: created by rd_kafka_AclBinding_new or its filter twin, destroyed once; requests keep copies.
            unsafe { sys::rd_kafka_AclBinding_destroy(*binding) }
        }
    }
}

/// The ACLs on topics that any broker knows of: of all kinds, or only locks.
pub(in super::super) fn describe_topic_acls(
    handle: Handle<'_>,
    limits: Limits,
    only_locks: bool,
) -> Result<Vec<TopicAcl>, Failure> {
    let mut filter = Bindings(Vec::new());
    if only_locks {
        filter.add_lock_filter(None)?;
    } else {
        filter.add_any_filter()?;
    }
    let options = Options::new(handle, Op::RD_KAFKA_ADMIN_OP_DESCRIBEACLS, limits)?;
    let event = ask(handle, &options, limits, |client, options, queue| {
        // SAFETY: all are live, and the filter is the one that was just added; it is copied.
        unsafe { sys::rd_kafka_DescribeAcls(client, filter.0[0], options, queue) }
    })?;
    // SAFETY: a live event; a null result is checked, the array lives in the event, strings are copied.
    unsafe {
        let result = sys::rd_kafka_event_DescribeAcls_result(event.0.as_ptr());
        if result.is_null() {
            return Err(Failure::bad_answer("not an answer to DescribeAcls"));
        }
        let mut count = 0;
        let found = sys::rd_kafka_DescribeAcls_result_acls(result, &raw mut count);
        let found = items(found, count).iter().filter(|acl| !acl.is_null());
        Ok(found.filter_map(|acl| topic_acl(*acl)).collect())
    }
}

/// # Safety
/// `acl` points into a live event.
unsafe fn topic_acl(acl: *const sys::rd_kafka_AclBinding_t) -> Option<TopicAcl> {
    // SAFETY: the caller's promise; strings are copied.
    let (name, principal, host, pattern, operation, permission) = unsafe {
        (
            text(sys::rd_kafka_AclBinding_name(acl))?,
            text(sys::rd_kafka_AclBinding_principal(acl)),
            text(sys::rd_kafka_AclBinding_host(acl)),
            plain::rd_kafka_AclBinding_resource_pattern_type(acl),
            plain::rd_kafka_AclBinding_operation(acl),
            plain::rd_kafka_AclBinding_permission_type(acl),
        )
    };
    let pattern = match pattern {
        number::LITERAL => AclPattern::Literal,
        number::PREFIXED => AclPattern::Prefixed,
        // Of a kind that is not known here, so it is not known what it matches.
        _ => return None,
    };
    let locks = pattern == AclPattern::Literal
        && principal.as_deref() == Some(EVERYBODY)
        && host.as_deref() == Some(EVERYWHERE)
        && operation == number::ALTER
        && permission == number::DENY;
    Some(TopicAcl {
        pattern,
        name,
        locks,
    })
}

/// Locks topics, which must be distinct. One that is locked already stays so.
pub(in super::super) fn create_locks(
    handle: Handle<'_>,
    limits: Limits,
    locks: &[Lock],
    _validate_only: bool,
) -> Result<PerName<()>, Failure> {
    let mut outcomes: PerName<()> = Vec::with_capacity(locks.len());
    let mut list = Bindings(Vec::with_capacity(locks.len()));
    let sent = sendable(locks, &mut outcomes, |topic| list.add_lock(topic));
    if sent.is_empty() {
        return Ok(outcomes);
    }
    let options = Options::new(handle, Op::RD_KAFKA_ADMIN_OP_CREATEACLS, limits)?;
    let event = ask(handle, &options, limits, |client, options, queue| {
        // SAFETY: all are live; the bindings are copied.
        unsafe {
            sys::rd_kafka_CreateAcls(client, list.0.as_mut_ptr(), list.0.len(), options, queue);
        }
    })?;
    // SAFETY: a live event; a null result is checked, the array lives in the event. Results stand in the order of the
    // questions and have no names; one that is null is left out.
    unsafe {
        let result = sys::rd_kafka_event_CreateAcls_result(event.0.as_ptr());
        if result.is_null() {
            return Err(Failure::bad_answer("not an answer to CreateAcls"));
        }
        let mut count = 0;
        let results = sys::rd_kafka_CreateAcls_result_acls(result, &raw mut count);
        for (topic, result) in sent.into_iter().zip(items(results, count)) {
            if !result.is_null() {
                outcomes.push((topic, outcome(sys::rd_kafka_acl_result_error(*result))));
            }
        }
    }
    Ok(outcomes)
}

/// Takes the locks of topics away, which must be distinct. One that is not there is fine; no other ACL is touched.
pub(in super::super) fn delete_locks(
    handle: Handle<'_>,
    limits: Limits,
    locks: &[Lock],
    _validate_only: bool,
) -> Result<PerName<()>, Failure> {
    let mut outcomes: PerName<()> = Vec::with_capacity(locks.len());
    let mut list = Bindings(Vec::with_capacity(locks.len()));
    let sent = sendable(locks, &mut outcomes, |topic| {
        list.add_lock_filter(Some(topic))
    });
    if sent.is_empty() {
        return Ok(outcomes);
    }
    let options = Options::new(handle, Op::RD_KAFKA_ADMIN_OP_DELETEACLS, limits)?;
    let event = ask(handle, &options, limits, |client, options, queue| {
        // SAFETY: all are live; the filters are copied.
        unsafe {
            sys::rd_kafka_DeleteAcls(client, list.0.as_mut_ptr(), list.0.len(), options, queue);
        }
    })?;
    // SAFETY: a live event; a null result is checked, the arrays live in the event, responses stand in the order of the
    // filters.
    unsafe {
        let result = sys::rd_kafka_event_DeleteAcls_result(event.0.as_ptr());
        if result.is_null() {
            return Err(Failure::bad_answer("not an answer to DeleteAcls"));
        }
        let mut count = 0;
        let responses = sys::rd_kafka_DeleteAcls_result_responses(result, &raw mut count);
        for (topic, response) in sent.into_iter().zip(items(responses, count)) {
            if response.is_null() {
                continue;
            }
            let mut deleted = outcome(sys::rd_kafka_DeleteAcls_result_response_error(*response));
            let mut matching = 0;
            let acls = sys::rd_kafka_DeleteAcls_result_response_matching_acls(
                *response,
                &raw mut matching,
            );
            for acl in items(acls, matching).iter().filter(|acl| !acl.is_null()) {
                deleted = deleted.and_then(|()| outcome(sys::rd_kafka_AclBinding_error(*acl)));
            }
            outcomes.push((topic, deleted));
        }
    }
    Ok(outcomes)
}

/// The topics that can be put into a request; what can't is an outcome.
fn sendable(
    locks: &[Lock],
    outcomes: &mut PerName<()>,
    mut add: impl FnMut(&str) -> Result<(), Failure>,
) -> Vec<String> {
    let mut sent = Vec::with_capacity(locks.len());
    for Lock { topic } in locks {
        match add(topic) {
            Ok(()) => sent.push(topic.clone()),
            Err(failure) => outcomes.push((topic.clone(), Err(failure))),
        }
    }
    sent
}

/// # Safety
/// `error` is null or points into a live event.
unsafe fn outcome(error: *const sys::rd_kafka_error_t) -> Result<(), Failure> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: not null, and the caller's promise; the string is copied.
    let (code, words) = unsafe {
        (
            super::plain::rd_kafka_error_code(error),
            text(sys::rd_kafka_error_string(error)),
        )
    };
    Failure::from_code(code, words).map_or(Ok(()), Err)
}
