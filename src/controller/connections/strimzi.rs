//! What a Strimzi `Kafka` resource tells of its listeners, and the Secrets that Strimzi keeps beside it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::kafka::Secret;

/// The listeners of a `Kafka`, flat: `NAME.bootstrapServers`, `NAME.certificates` (PEM) where the listener has some, and
/// `NAME.tls` and `NAME.authentication` where the spec says so.
///
/// From `status.listeners[]` (name, bootstrapServers, certificates) and `spec.kafka.listeners[]` (name, tls,
/// authentication.type) of kafka.strimzi.io.
pub(super) fn listeners(kafka: &Value) -> BTreeMap<String, Secret> {
    let mut values = BTreeMap::new();
    let list = |path: &str| kafka.pointer(path).and_then(Value::as_array).cloned();
    for listener in list("/status/listeners").unwrap_or_default() {
        // Before 0.33 a listener was called by its type.
        let name = listener["name"].as_str().or(listener["type"].as_str());
        let Some(name) = name else { continue };
        if let Some(servers) = listener["bootstrapServers"].as_str() {
            values.insert(format!("{name}.bootstrapServers"), Secret::new(servers));
        }
        let certificates: Vec<&str> = listener["certificates"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if !certificates.is_empty() {
            let pem = certificates.join("\n");
            values.insert(format!("{name}.certificates"), Secret::new(pem));
        }
    }
    for listener in list("/spec/kafka/listeners").unwrap_or_default() {
        let Some(name) = listener["name"].as_str() else {
            continue;
        };
        if listener["tls"] == true {
            values.insert(format!("{name}.tls"), Secret::new("true"));
        }
        if let Some(kind) = listener
            .pointer("/authentication/type")
            .and_then(Value::as_str)
        {
            values.insert(format!("{name}.authentication"), Secret::new(kind));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn listeners_are_found_by_name() {
        let kafka = json!({
            "spec": {"kafka": {"listeners": [
                {"name": "plain", "port": 9092, "tls": false},
                {"name": "tls", "port": 9093, "tls": true, "authentication": {"type": "scram-sha-512"}},
            ]}},
            "status": {"listeners": [
                {"name": "plain", "bootstrapServers": "my-kafka-bootstrap.kafka.svc:9092"},
                {"name": "tls", "bootstrapServers": "my-kafka-bootstrap.kafka.svc:9093", "certificates": ["A", "B"]},
            ]},
        });
        let values = listeners(&kafka);
        let text = |key: &str| values.get(key).map(|value| value.expose().to_vec());
        assert_eq!(
            text("plain.bootstrapServers").as_deref(),
            Some(b"my-kafka-bootstrap.kafka.svc:9092".as_slice())
        );
        assert_eq!(
            text("tls.certificates").as_deref(),
            Some(b"A\nB".as_slice())
        );
        assert_eq!(text("tls.tls").as_deref(), Some(b"true".as_slice()));
        assert_eq!(
            text("tls.authentication").as_deref(),
            Some(b"scram-sha-512".as_slice())
        );
        assert_eq!(text("plain.tls"), None);
        // Not ready yet.
        assert!(listeners(&json!({"spec": {}})).is_empty());
    }
}
