//! What a JWT (RFC 7519) says of itself. Nothing is verified: that is the broker's part, and the only use here is to know
//! when to fetch the next one.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;

#[derive(Debug, Default, PartialEq)]
pub(super) struct Claims {
    pub(super) subject: Option<String>,
    pub(super) expires: Option<SystemTime>,
}

/// The claims of a token; none of what is no JWT.
pub(super) fn claims(token: &str) -> Claims {
    /// Times are numbers, which may have a fraction (section 2).
    #[derive(Deserialize)]
    struct Payload {
        sub: Option<String>,
        exp: Option<f64>,
    }
    let mut parts = token.split('.');
    let (Some(_), Some(payload), Some(_), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Claims::default();
    };
    let payload = data_encoding::BASE64URL_NOPAD
        .decode(payload.as_bytes())
        .ok()
        .and_then(|json| serde_json::from_slice::<Payload>(&json).ok());
    let Some(payload) = payload else {
        return Claims::default();
    };
    let expires = payload
        .exp
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .and_then(|since| UNIX_EPOCH.checked_add(since));
    Claims {
        // It becomes a C string.
        subject: payload
            .sub
            .filter(|name| !name.is_empty() && !name.contains('\0')),
        expires,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(payload: &str) -> Claims {
        let payload = data_encoding::BASE64URL_NOPAD.encode(payload.as_bytes());
        claims(&format!("e30.{payload}.c2ln"))
    }

    #[test]
    fn claims_are_read() {
        let at = |seconds| Some(UNIX_EPOCH + Duration::from_secs(seconds));
        let read = of(r#"{"sub":"anna","exp":1800000000,"more":[1]}"#);
        assert_eq!(read.subject.as_deref(), Some("anna"));
        assert_eq!(read.expires, at(1_800_000_000));
        assert_eq!(of(r#"{"exp":1.8e9}"#).expires, at(1_800_000_000));
    }

    #[test]
    fn what_is_none_has_none() {
        for token in ["", "opaque", "a.b", "a.b.c", "a.b.c.d"] {
            assert_eq!(claims(token), Claims::default(), "{token}");
        }
        for payload in ["", "[]", r#"{"exp":"soon"}"#] {
            assert_eq!(of(payload), Claims::default(), "{payload}");
        }
        for exp in ["-1", "1e300"] {
            assert_eq!(of(&format!(r#"{{"exp":{exp}}}"#)).expires, None, "{exp}");
        }
    }
}
