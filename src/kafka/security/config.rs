//! The client library's settings for [`Security`].

use rdkafka::config::ClientConfig;

use super::super::error::Error;
use super::super::handle::unusable;
use super::{Security, pem};

/// Adds the settings; fails, in words for whoever wrote them, if they can't be used.
pub(in super::super) fn apply(config: &mut ClientConfig, security: &Security) -> Result<(), Error> {
    config.set(
        "security.protocol",
        match (&security.tls, &security.sasl) {
            (None, None) => "plaintext",
            (Some(_), None) => "ssl",
            (None, Some(_)) => "sasl_plaintext",
            (Some(_), Some(_)) => "sasl_ssl",
        },
    );
    // Threads of the library may outlive `main`: where OpenSSL cleans up at exit, as it does unless told not to before its
    // first use, they crash the process now and then.
    openssl_sys::init();
    if let Some(tls) = &security.tls {
        // Both are the library's defaults; a default may change, and this must not.
        config
            .set("enable.ssl.certificate.verification", "true")
            .set("ssl.endpoint.identification.algorithm", "https");
        if let Some(ca) = &tls.ca {
            let ca = pem::certificates("the CA", ca).map_err(|words| unusable(&words))?;
            config.set("ssl.ca.pem", ca);
        }
        if let Some(identity) = &tls.identity {
            let chain = pem::certificates("the client certificate", &identity.certificates)
                .map_err(|words| unusable(&words))?;
            let key = pem::private_key("the client key", identity.key.expose())
                .map_err(|words| unusable(&words))?;
            config
                .set("ssl.certificate.pem", chain)
                .set("ssl.key.pem", key.as_str());
        }
    }
    if let Some(sasl) = &security.sasl {
        config.set("sasl.mechanisms", sasl.mechanism());
        if let Some(login) = sasl.login() {
            config
                .set(
                    "sasl.username",
                    text("the user name", login.username.expose())?,
                )
                .set(
                    "sasl.password",
                    text("the password", login.password.expose())?,
                );
        }
    }
    Ok(())
}

fn text<'a>(what: &str, value: &'a [u8]) -> Result<&'a str, Error> {
    let text =
        std::str::from_utf8(value).map_err(|_| unusable(&format!("{what} is no UTF-8 text")))?;
    if text.is_empty() {
        return Err(unusable(&format!("{what} is empty")));
    }
    if text.contains('\0') {
        return Err(unusable(&format!("{what} holds a NUL character")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::{Login, Sasl, Secret, Tls};
    use super::*;

    fn plain(username: &[u8], password: &[u8]) -> Security {
        Security {
            tls: None,
            sasl: Some(Sasl::Plain(Login {
                username: Secret::new(username),
                password: Secret::new(password),
            })),
        }
    }

    #[test]
    fn what_cannot_be_used_is_named_and_not_shown() {
        let says = |security: &Security| security.check().unwrap_err().to_string();
        assert!(says(&plain(b"", b"x")).contains("the user name is empty"));
        let nul = says(&plain(b"anna", b"ge\0heim"));
        assert!(nul.contains("the password holds a NUL") && !nul.contains("heim"));
        assert!(says(&plain(b"anna", &[0xff])).contains("the password is no UTF-8 text"));
        let tls = Security {
            tls: Some(Tls {
                ca: Some(b"x".to_vec()),
                identity: None,
            }),
            sasl: None,
        };
        assert!(says(&tls).contains("the CA is no PEM text"));
    }

    #[test]
    fn the_brokers_name_is_always_verified() {
        let mut config = ClientConfig::new();
        let security = Security {
            tls: Some(Tls::default()),
            ..plain(b"anna", b"x")
        };
        apply(&mut config, &security).unwrap();
        assert_eq!(config.get("security.protocol"), Some("sasl_ssl"));
        assert_eq!(
            config.get("ssl.endpoint.identification.algorithm"),
            Some("https")
        );
        assert_eq!(
            config.get("enable.ssl.certificate.verification"),
            Some("true")
        );
        assert_eq!(config.get("ssl.ca.pem"), None);
    }
}
