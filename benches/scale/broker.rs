//! A fresh Kafka with enough heap, whose data lies in memory where there is room.

use std::fs;
use std::path::{Path, PathBuf};

use crate::env::{KafkaCluster, KafkaOptions, Root, unique};

/// 12,000 partitions need more than the heap of the tests' brokers; the collector and the compiler are theirs.
const JVM: &str = "-Xms512m -Xmx3g -XX:+UseSerialGC -XX:TieredStopAtLevel=1";

/// Where brokers keep their data.
pub(crate) struct Folders {
    /// Logs of all servers, and data where there is no folder in memory.
    servers: Root,
    /// A broker forces every new partition to the disk several times over: on a disk that is most of the time which
    /// anything takes here, it differs from machine to machine, and the operator would vanish behind it.
    memory: Option<Root>,
}

impl Folders {
    /// `data`: a folder in memory, such as /dev/shm; if it does not exist, the data lies with the rest.
    pub(crate) fn create(data: &Path) -> Self {
        let memory = data
            .is_dir()
            .then(|| Root::create_in(&data.join("copartition-bench")));
        Self {
            servers: Root::create(),
            memory,
        }
    }

    pub(crate) fn servers(&self) -> &Path {
        self.servers.path()
    }

    /// For the line that says what was measured.
    pub(crate) fn describe(&self) -> &'static str {
        if self.memory.is_some() {
            "its data in memory"
        } else {
            "its data on disk"
        }
    }
}

/// A running Kafka; its data is gone when dropped, after the broker itself.
pub(crate) struct Broker {
    pub(crate) kafka: KafkaCluster,
    _data: Option<Data>,
}

struct Data(PathBuf);

impl Drop for Data {
    fn drop(&mut self) {
        // The folder of the whole run goes at the end in any case; this only keeps a long run small.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Broker {
    pub(crate) fn start(folders: &Folders) -> Self {
        let data = folders
            .memory
            .as_ref()
            .map(|memory| Data(memory.path().join(unique("data"))));
        let properties = data
            .iter()
            .map(|data| format!("log.dirs={}", data.0.display()));
        let options = KafkaOptions {
            properties: properties.collect(),
            jvm: Some(JVM.to_owned()),
            ..KafkaOptions::default()
        };
        Self {
            kafka: KafkaCluster::start(folders.servers(), 1, options),
            _data: data,
        }
    }
}
