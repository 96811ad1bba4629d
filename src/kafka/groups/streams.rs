//! What Kafka Streams writes into the classic protocol: each subscription carries its process, each assignment its tasks.
//! The formats are those of `SubscriptionInfo` (`SubscriptionInfoData.json`) and `AssignmentInfo` in Kafka Streams; what
//! they begin with has been the same in all versions so far, 1 to 11.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::super::wire::{Malformed, Reader};
use crate::placement::{SubTopology, Task, TopicPartitions};

/// From this version of the format on a task may belong to a named topology (KIP-809).
const NAMED_TOPOLOGIES: i32 = 10;

/// The process that a member is a thread of, from the user data of its subscription.
pub(super) fn process(user_data: &[u8]) -> Option<String> {
    let mut reader = Reader::new(user_data);
    let version = reader.i32().ok()?;
    if version >= 2 {
        // The highest version that it could use.
        reader.i32().ok()?;
    }
    let id = reader.take(16).ok()?;
    Uuid::from_slice(id).ok().map(|id| id.to_string())
}

/// The active tasks of a member, one for each partition that it was given, in the order of topics and partitions; from the
/// user data of its assignment. `None` if there are not as many.
pub(super) fn tasks(user_data: &[u8], partitions: usize) -> Option<Vec<Task>> {
    let tasks = read_tasks(user_data).ok()?;
    (tasks.len() == partitions).then_some(tasks)
}

fn read_tasks(user_data: &[u8]) -> Result<Vec<Task>, Malformed> {
    let mut reader = Reader::new(user_data);
    let version = reader.i32()?;
    if version >= 3 {
        // The highest version that all could use.
        reader.i32()?;
    }
    reader.old_array(|task| {
        let sub_topology = task.i32()?;
        let partition = task.i32()?;
        let named = match version {
            NAMED_TOPOLOGIES.. => task.i32()?,
            _ => 0,
        };
        let length = usize::try_from(named).map_err(|_| Malformed)?;
        // In UTF-16.
        let name = task.take(length.checked_mul(2).ok_or(Malformed)?)?;
        let units = name
            .chunks_exact(2)
            .map(|unit| u16::from_be_bytes([unit[0], unit[1]]));
        let name: String = char::decode_utf16(units)
            .map(|c| c.unwrap_or('?'))
            .collect();
        Ok(Task {
            sub_topology: if name.is_empty() {
                sub_topology.to_string()
            } else {
                format!("{name}/{sub_topology}")
            },
            partition,
        })
    })
}

/// Sub-topologies as far as members' partitions and tasks show them: which topics each reads. `application` is the group's
/// id, with which the names of its internal topics begin.
#[derive(Debug, Default)]
pub(super) struct Shown(BTreeMap<String, Vec<String>>);

impl Shown {
    /// Takes in one member's partitions, ascending, with the task of each.
    pub(super) fn add(&mut self, assigned: &[TopicPartitions], tasks: &[Task]) {
        let topics = assigned
            .iter()
            .flat_map(|topic| topic.partitions.iter().map(|_| &topic.topic));
        for (topic, task) in topics.zip(tasks) {
            let known = self.0.entry(task.sub_topology.clone()).or_default();
            if !known.contains(topic) {
                known.push(topic.clone());
            }
        }
    }

    pub(super) fn sub_topologies(self, application: &str) -> Vec<SubTopology> {
        let is_internal = |topic: &String| {
            topic
                .strip_prefix(application)
                .is_some_and(|rest| rest.starts_with('-') && rest.ends_with("-repartition"))
        };
        let of = |(id, mut topics): (String, Vec<String>)| {
            topics.sort();
            let (repartition_topics, source_topics) = topics.into_iter().partition(is_internal);
            SubTopology {
                id,
                source_topics,
                repartition_topics,
                changelog_topics: Vec::new(),
            }
        };
        self.0.into_iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(parts: &[i32]) -> Vec<u8> {
        parts.iter().flat_map(|part| part.to_be_bytes()).collect()
    }

    fn task(sub_topology: &str, partition: i32) -> Task {
        Task {
            sub_topology: sub_topology.to_owned(),
            partition,
        }
    }

    #[test]
    fn tasks_are_read_in_all_versions() {
        let two = vec![task("0", 1), task("1", 2)];
        for (version, data) in [
            (1, bytes(&[1, 2, 0, 1, 1, 2, 9])),
            (3, bytes(&[3, 3, 2, 0, 1, 1, 2, 9])),
            (11, bytes(&[11, 11, 2, 0, 1, 0, 1, 2, 0, 9])),
        ] {
            assert_eq!(tasks(&data, 2), Some(two.clone()), "{version}");
            assert_eq!(tasks(&data, 3), None, "{version}");
            for end in 0..12.min(data.len()) {
                assert_eq!(tasks(&data[..end], 2), None, "{version}");
            }
        }
        let mut named = bytes(&[10, 10, 1, 0, 1, 1]);
        named.extend([0, b'x']);
        assert_eq!(tasks(&named, 1), Some(vec![task("x/0", 1)]));
        assert_eq!(tasks(&bytes(&[11, 11, 1, 0, 1, i32::MAX]), 1), None);
        assert_eq!(tasks(&bytes(&[11, 11, 1, 0, 1, -1]), 1), None);
    }

    #[test]
    fn the_process_is_read() {
        let mut data = bytes(&[11, 11]);
        data.extend(1..=16);
        let process = process(&data);
        assert_eq!(
            process.as_deref(),
            Some("01020304-0506-0708-090a-0b0c0d0e0f10")
        );
        assert_eq!(super::process(&data[..20]), None);
    }

    #[test]
    fn tasks_show_what_sub_topologies_read() {
        let assigned = [
            ("app-x-repartition", vec![0]),
            ("left", vec![0, 1]),
            ("right", vec![0]),
        ]
        .map(|(topic, partitions)| TopicPartitions {
            topic: topic.to_owned(),
            partitions,
        });
        let mut shown = Shown::default();
        shown.add(
            &assigned,
            &[task("1", 0), task("0", 0), task("0", 1), task("0", 0)],
        );
        let parts = shown.sub_topologies("app");
        assert_eq!(parts[0].source_topics, ["left", "right"]);
        assert_eq!(parts[1].repartition_topics, ["app-x-repartition"]);
        assert!(parts[1].source_topics.is_empty());
    }
}
