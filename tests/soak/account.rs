//! What must hold once nobody disturbs any more.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use copartition::kafka::{
    Cancel, ConnectionSettings, Extent, Progress, SampleRequest, SampledRecord, sample_blocking,
};
use serde_json::{Value, json};

use super::people::People;
use crate::env::wait_for;
use crate::group::condition;
use crate::seen::{kafka_writes, polls};

/// Both servers were just killed, on a machine that may be busy.
const DEADLINE: Duration = Duration::from_secs(180);

/// Waits until each group has a verdict on what its owner wants now.
pub(crate) fn converge(people: &mut People<'_>) {
    let end = Instant::now() + DEADLINE;
    for group in 0..people.groups.len() {
        if people.groups[group].1.is_none() {
            continue;
        }
        loop {
            let object = people.group(group).get();
            let status = &object["status"];
            let (ready, reachable) = (
                condition(status, "Ready"),
                condition(status, "KafkaReachable"),
            );
            if ready["observedGeneration"] == object["metadata"]["generation"]
                && reachable["status"] == "True"
            {
                break;
            }
            if Instant::now() > end {
                people.history.fail(&format!("no verdict: {object}"));
            }
        }
    }
    people.history.note("looks at the account", "");
}

/// Does what messages ask for until all groups are Ready.
pub(crate) fn heal(people: &mut People<'_>) {
    let end = Instant::now() + DEADLINE;
    loop {
        let waiting: Vec<usize> = (0..people.groups.len())
            .filter(|group| people.groups[*group].1.is_some())
            .filter(|group| !is_ready(&people.group(*group).get()))
            .collect();
        if waiting.is_empty() {
            return;
        }
        if Instant::now() > end {
            let objects: Vec<String> = waiting
                .iter()
                .map(|group| people.group(*group).get().to_string())
                .collect();
            people
                .history
                .fail(&format!("not Ready in time: {}", objects.join("\n")));
        }
        for group in waiting {
            people.give_way(group);
        }
        let before = polls(people.operator());
        wait_for("two more polls", DEADLINE, || {
            let now = polls(people.operator());
            if now >= before + 2 {
                Ok(())
            } else {
                Err(now.to_string())
            }
        });
    }
}

fn is_ready(object: &Value) -> bool {
    let ready = condition(&object["status"], "Ready");
    ready["status"] == "True" && ready["observedGeneration"] == object["metadata"]["generation"]
}

impl People<'_> {
    /// Each record that was acknowledged is there once, by its key.
    pub(crate) fn assert_records(&mut self) {
        let all = self.all_topics();
        let live = self.history.look(&all);
        let settings = ConnectionSettings::new(self.kafka.bootstrap().split(','));
        let names: Vec<&str> = live.keys().map(String::as_str).collect();
        let request = SampleRequest::new(names, Extent::Everything);
        let mut read: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        let mut sink = |record: &SampledRecord<'_>| {
            let key = String::from_utf8_lossy(record.key.unwrap_or_default()).into_owned();
            let of_topic = read.entry(record.topic.to_owned()).or_default();
            *of_topic.entry(key).or_default() += 1;
            ControlFlow::Continue(())
        };
        let (progress, cancel) = (Progress::default(), Cancel::default());
        let sample = sample_blocking(&settings, &request, &progress, &cancel, &mut sink);
        sample.expect("the topics can be read");
        for (topic, live) in &live {
            let written = self.history.written(topic, &live.id);
            let read = read.remove(topic).unwrap_or_default();
            if read != written {
                self.history
                    .fail(&format!("{topic}: written {written:?}, read {read:?}"));
            }
        }
    }

    /// Each group holds its topics as they are, and nothing else.
    pub(crate) fn assert_claims(&mut self) {
        for group in 0..self.groups.len() {
            let Some(wanted) = self.groups[group].1.clone() else {
                continue;
            };
            let live = self.history.look(&wanted.topics);
            let claim = self.group(group).claim().unwrap_or_default();
            let holds = claim["spec"]["holds"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let mut held: Vec<Value> = holds
                .iter()
                .map(|it| json!([it["name"], it["topicId"], it["counts"]]))
                .collect();
            held.sort_by_key(Value::to_string);
            let exact: Vec<Value> = live
                .iter()
                .map(|(name, live)| json!([name, live.id, [live.partitions]]))
                .collect();
            let aligned = live.values().all(|it| it.partitions == wanted.partitions);
            if held != exact || !aligned || live.len() != wanted.topics.len() {
                self.history.fail(&format!(
                    "group-{group} wants {wanted:?}, Kafka has {exact:?}, the claim {claim}"
                ));
            }
        }
    }
}

/// Nothing is written any more, neither to the API server nor to Kafka.
pub(crate) fn is_still(people: &People<'_>) {
    let topics = people.all_topics();
    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
    let written = || {
        let groups = (0..people.groups.len()).filter(|group| people.groups[*group].1.is_some());
        let versions: Vec<String> = groups
            .flat_map(|group| {
                let group = people.group(group);
                let claim = group.claim().unwrap_or_default();
                [
                    group.resource_version(),
                    claim["metadata"]["resourceVersion"].to_string(),
                ]
            })
            .collect();
        (versions, kafka_writes(&people.kafka, &topics).len())
    };
    let wait_polls = |more: u64| {
        let before = polls(people.operator());
        wait_for("more polls", DEADLINE, || {
            let now = polls(people.operator());
            if now >= before + more {
                Ok(())
            } else {
                Err(now.to_string())
            }
        });
    };
    // The second marks of the last growths are the last thing that is written.
    wait_polls(15);
    let before = written();
    wait_polls(15);
    let after = written();
    if before != after {
        people
            .history
            .fail(&format!("it still writes: {before:?}, then {after:?}"));
    }
}
