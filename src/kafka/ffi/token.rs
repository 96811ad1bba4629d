//! Bearer tokens.

use super::super::token::Token;
use super::{Failure, Handle, Words, c_string, sys};
use zeroize::Zeroizing;

/// Gives a client the token that its connections log in with from now on. Those that are up stay up.
pub(in super::super) fn set_token(handle: Handle<'_>, token: &Token) -> Result<(), Failure> {
    let invalid = |_| Failure::invalid("the token holds a character that no token has");
    let mut value = Zeroizing::new(token.value.expose().to_vec());
    value.push(0);
    let value = std::ffi::CStr::from_bytes_with_nul(&value).map_err(invalid)?;
    let principal = c_string(&token.principal)?;
    let mut words = Words::new();
    // SAFETY: a live client, valid strings, which are copied, no extensions, and a buffer of the given size. The code is
    // librdkafka's own.
    let code = unsafe {
        sys::rd_kafka_oauthbearer_set_token(
            handle.client,
            value.as_ptr(),
            token.expires_ms(),
            principal.as_ptr(),
            std::ptr::null_mut(),
            0,
            words.0.as_mut_ptr(),
            words.0.len(),
        )
    } as i32;
    // Its words may repeat the token.
    Failure::from_code(code, None).map_or(Ok(()), Err)
}
