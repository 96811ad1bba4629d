//! Connections that groups write out themselves: which addresses they may name. No IO.

/// An address that inline connections may name: `HOST:PORT`, where the host may be `*` or begin with `*.`, and the port may
/// be `*`; `*` alone is any address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedAddress {
    host: String,
    port: Option<String>,
}

impl std::str::FromStr for AllowedAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(AllowedAddress {
                host: text.to_owned(),
                port: None,
            });
        }
        let wrong =
            || format!("{text:?} is no address: write HOST:PORT, *.DOMAIN:PORT, HOST:* or *");
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let inner = host.strip_prefix("*.").unwrap_or(host);
        let host_fits = host == "*" || (!inner.is_empty() && !inner.contains(['*', ' ', '/', ',']));
        let port_fits = port == "*" || port.parse::<u16>().is_ok_and(|port| port > 0);
        if !host_fits || !port_fits {
            return Err(wrong());
        }
        Ok(AllowedAddress {
            host: host.to_ascii_lowercase(),
            port: (port != "*").then(|| port.to_owned()),
        })
    }
}

impl AllowedAddress {
    /// Whether `HOST:PORT` is one of those.
    pub(super) fn covers(&self, address: &str) -> bool {
        let Some((host, port)) = address.trim().rsplit_once(':') else {
            return false;
        };
        let host = host.to_ascii_lowercase();
        let host_fits = match self.host.strip_prefix('*') {
            Some(rest) => host.ends_with(rest) && (rest.is_empty() || host.len() > rest.len()),
            None => self.host == host,
        };
        host_fits && self.port.as_ref().is_none_or(|allowed| allowed == port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_ports_and_domains_are_allowed() {
        for (allowed, address, fits) in [
            ("*", "anything:1", true),
            ("kafka.kafka:9092", "kafka.kafka:9092", true),
            ("kafka.kafka:9092", "Kafka.kafka:9092", true),
            ("kafka.kafka:9092", "kafka.kafka:9093", false),
            ("kafka.kafka:*", "kafka.kafka:9093", true),
            ("*.kafka.svc:9092", "a.kafka.svc:9092", true),
            ("*.kafka.svc:9092", ".kafka.svc:9092", false),
            ("*.kafka.svc:9092", "evilkafka.svc:9092", false),
            ("*.kafka.svc:9092", "a.kafka.svc.evil:9092", false),
            ("*:9092", "a:9092", true),
            ("*:9092", "a:22", false),
            ("127.0.0.1:*", "127.0.0.1", false),
        ] {
            let allowed: AllowedAddress = allowed.parse().unwrap();
            assert_eq!(allowed.covers(address), fits, "{allowed:?} {address}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for wrong in ["", "kafka", "a*b:1", ":9092", "a:0", "a:b", "*.:1", "a b:1"] {
            assert!(wrong.parse::<AllowedAddress>().is_err(), "{wrong}");
        }
    }
}
