//! What the operator has asked of both servers, counted in their own logs since a mark.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::env::{ControlPlane, KafkaCluster};
use crate::seen::{API_WRITES, CLIENT_ID, KAFKA_WRITES, USER};

/// A server logs a request just after it has answered it.
const LOGGED_WITHIN: Duration = Duration::from_millis(500);

/// Reads both logs from where it stopped the last time.
pub(crate) struct RequestLogs {
    audit: Tail,
    broker: Tail,
}

/// What was asked between two marks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    /// By `verb resource`; without those for the Lease.
    api: BTreeMap<String, u64>,
    api_writes: u64,
    /// Requests for the Lease: an elected leader renews it, whatever else goes on.
    pub(crate) lease: u64,
    /// By Kafka's own name.
    kafka: BTreeMap<String, u64>,
    kafka_writes: u64,
}

impl RequestLogs {
    /// Both logs from their present ends on.
    pub(crate) fn new(kube: &ControlPlane, kafka: &KafkaCluster) -> Self {
        let mut logs = Self {
            audit: Tail::new(kube.audit_path()),
            broker: Tail::new(kafka.log_path(1)),
        };
        logs.since_last();
        logs
    }

    /// What was asked since the last call.
    pub(crate) fn since_last(&mut self) -> Requests {
        thread::sleep(LOGGED_WITHIN);
        let mut requests = Requests::default();
        self.audit.lines(|line| requests.count_api(line));
        self.broker.lines(|line| requests.count_kafka(line));
        requests
    }
}

impl Requests {
    pub(crate) fn api_writes(&self) -> u64 {
        self.api_writes
    }

    pub(crate) fn api_reads(&self) -> u64 {
        self.api() - self.api_writes
    }

    /// All requests to the API server but those for the Lease.
    pub(crate) fn api(&self) -> u64 {
        self.api.values().sum()
    }

    pub(crate) fn kafka(&self) -> u64 {
        self.kafka.values().sum()
    }

    pub(crate) fn kafka_writes(&self) -> u64 {
        self.kafka_writes
    }

    /// Both by kind, for who wants to know what they were.
    pub(crate) fn kinds(&self) -> String {
        let words = |kinds: &BTreeMap<String, u64>| {
            let words = kinds.iter().map(|(kind, count)| format!("{count} {kind}"));
            words.collect::<Vec<_>>().join(", ")
        };
        format!(
            "API server: {}; lease: {}; Kafka: {}",
            words(&self.api),
            self.lease,
            words(&self.kafka)
        )
    }

    fn count_api(&mut self, line: &str) {
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            return;
        };
        if event["user"]["username"] != USER {
            return;
        }
        let verb = event["verb"].as_str().unwrap_or_default();
        // A watch is logged when it begins and, minutes later, when it ends; anything else when it ends.
        let stage = if verb == "watch" {
            "ResponseStarted"
        } else {
            "ResponseComplete"
        };
        if event["stage"] != stage {
            return;
        }
        let of = &event["objectRef"];
        let resource = of["resource"].as_str().unwrap_or("other");
        if resource == "leases" {
            self.lease += 1;
            return;
        }
        if API_WRITES.contains(&verb) {
            self.api_writes += 1;
        }
        let resource = match &of["subresource"] {
            Value::String(subresource) => format!("{resource}/{subresource}"),
            _ => resource.to_owned(),
        };
        *self.api.entry(format!("{verb} {resource}")).or_default() += 1;
    }

    /// Only the header is parsed: an entry with an answer about thousands of topics has megabytes.
    fn count_kafka(&mut self, line: &str) {
        let header = line
            .split_once("Completed request:")
            .and_then(|(_, entry)| entry.split_once("\"requestHeader\":"))
            .and_then(|(_, rest)| Some(&rest[..=rest.find('}')?]))
            .and_then(|header| serde_json::from_str::<Value>(header).ok());
        let Some(header) = header else { return };
        // What a broker passes on to the controller is not another request of the client's.
        if header["clientId"] != CLIENT_ID || line.contains("\"listener\":\"CONTROLLER\"") {
            return;
        }
        let api = header["requestApiKeyName"].as_str().unwrap_or_default();
        // One that only asks whether a change would do changes nothing.
        let asks = line.contains("\"validateOnly\":true");
        if KAFKA_WRITES.contains(&api) && !asks {
            self.kafka_writes += 1;
        }
        let asks = if asks { " to validate" } else { "" };
        *self.kafka.entry(format!("{api}{asks}")).or_default() += 1;
    }
}

/// A file that grows.
struct Tail {
    path: PathBuf,
    offset: u64,
}

impl Tail {
    fn new(path: PathBuf) -> Self {
        Self { path, offset: 0 }
    }

    /// Gives each line that was completed since the last call.
    fn lines(&mut self, mut each: impl FnMut(&str)) {
        let mut file =
            File::open(&self.path).unwrap_or_else(|e| panic!("{}: {e}", self.path.display()));
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        assert!(
            length >= self.offset,
            "{} has become shorter, so nothing can be counted in it",
            self.path.display()
        );
        file.seek(SeekFrom::Start(self.offset))
            .unwrap_or_else(|e| panic!("{}: {e}", self.path.display()));
        let mut reader = BufReader::with_capacity(1 << 20, file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = reader
                .read_until(b'\n', &mut line)
                .unwrap_or_else(|e| panic!("{}: {e}", self.path.display()));
            // The last line may still be being written.
            if read == 0 || line.last() != Some(&b'\n') {
                return;
            }
            self.offset += read as u64;
            each(&String::from_utf8_lossy(&line));
        }
    }
}
