//! What was done during a soak and what was seen on Kafka, and whether the one explains the other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use copartition::kafka::{Client, ConnectionSettings, Metrics, WriteGuard};
use tokio::runtime::Runtime;

use crate::env::KafkaCluster;

/// A topic as Kafka tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Live {
    pub(crate) id: String,
    pub(crate) partitions: i32,
}

/// What may take a topic from one count to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    Somebody,
    Consent,
}

#[derive(Debug, Default)]
struct Course {
    /// The counts in the order in which they were seen.
    counts: Vec<i32>,
    /// The last of these at which no record had been written.
    empty_until: usize,
    /// Records by key, all of which the broker acknowledged.
    written: BTreeMap<String, u64>,
}

pub(crate) struct History {
    runtime: Runtime,
    client: Client,
    seed: u64,
    log: Vec<String>,
    counted: BTreeMap<&'static str, u64>,
    /// What explains a growth of a topic, by whom; how often, of consents without topic ids.
    steps: BTreeMap<(String, i32, i32), BTreeMap<By, u64>>,
    /// Consents that name topic ids, which count again.
    with_ids: BTreeSet<(String, i32, i32)>,
    deletions: BTreeMap<String, usize>,
    courses: BTreeMap<String, Vec<(String, Course)>>,
}

impl History {
    pub(crate) fn new(kafka: &KafkaCluster, seed: u64) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let settings = ConnectionSettings::new(kafka.bootstrap().split(','));
        let client = {
            let _guard = runtime.enter();
            let metrics = Arc::new(Metrics::default());
            Client::connect(&settings, metrics, &WriteGuard::default()).expect("a client")
        };
        Self {
            runtime,
            client,
            seed,
            log: Vec::new(),
            counted: BTreeMap::new(),
            steps: BTreeMap::new(),
            with_ids: BTreeSet::new(),
            deletions: BTreeMap::new(),
            courses: BTreeMap::new(),
        }
    }

    /// Counts a thing that happened, and notes the words.
    pub(crate) fn note(&mut self, what: &'static str, words: &str) {
        *self.counted.entry(what).or_default() += 1;
        self.log.push(format!("{what}: {words}"));
    }

    /// The figures of the run, one a line.
    pub(crate) fn figures(&self) -> String {
        let mut text = String::new();
        for (what, count) in &self.counted {
            let _ = writeln!(text, "{what}: {count}");
        }
        let courses = || self.courses.values().flatten();
        let growths: usize = courses().map(|(_, it)| it.counts.len() - 1).sum();
        let records: u64 = courses().flat_map(|(_, it)| it.written.values()).sum();
        let _ = write!(
            text,
            "topics seen: {}, growths seen and explained: {growths}, records written: {records}",
            courses().count()
        );
        text
    }

    /// Ends the test, with the seed and all that happened.
    pub(crate) fn fail(&self, problem: &str) -> ! {
        let log = self.log.join("\n");
        panic!("SEED={}\n{log}\n{}\n{problem}", self.seed, self.figures());
    }

    /// A consent was taken by the API server.
    pub(crate) fn consented(&mut self, topics: &[String], from: i32, to: i32, has_ids: bool) {
        for topic in topics {
            let step = (topic.clone(), from, to);
            if has_ids {
                self.with_ids.insert(step.clone());
            }
            let by = self.steps.entry(step).or_default();
            *by.entry(By::Consent).or_default() += 1;
        }
    }

    /// Somebody else adds partitions; false if Kafka refused.
    pub(crate) fn grow(&mut self, topic: &str, from: i32, to: i32) -> bool {
        // Before it is done: it may be seen at once.
        let by = self.steps.entry((topic.to_owned(), from, to)).or_default();
        *by.entry(By::Somebody).or_default() += 1;
        let growth = copartition::kafka::Growth {
            topic: topic.to_owned(),
            to,
        };
        let outcome = self
            .runtime
            .block_on(self.client.create_partitions(&[growth], false));
        outcome.get(topic).is_some_and(Result::is_ok)
    }

    /// The same, by somebody with Kafka's own tool.
    pub(crate) fn will_grow(&mut self, topic: &str, from: i32, to: i32) {
        let by = self.steps.entry((topic.to_owned(), from, to)).or_default();
        *by.entry(By::Somebody).or_default() += 1;
    }

    /// Somebody else creates a topic; false if Kafka refused.
    pub(crate) fn create(&mut self, topic: &str, partitions: i32) -> bool {
        let new = copartition::kafka::NewTopic {
            name: topic.to_owned(),
            partitions,
            replication_factor: Some(1),
            config: BTreeMap::new(),
        };
        let outcome = self
            .runtime
            .block_on(self.client.create_topics(&[new], false));
        outcome.get(topic).is_some_and(Result::is_ok)
    }

    pub(crate) fn deleted(&mut self, topic: &str) {
        *self.deletions.entry(topic.to_owned()).or_default() += 1;
    }

    /// Looks at topics and takes in what is seen. A broker that does not answer shows nothing.
    pub(crate) fn look(&mut self, topics: &[String]) -> BTreeMap<String, Live> {
        let Ok(found) = self.runtime.block_on(self.client.describe_topics(topics)) else {
            return BTreeMap::new();
        };
        let found = found.into_iter().filter_map(|(topic, found)| {
            let found = found.ok()?;
            let live = Live {
                id: found.id,
                partitions: found.partitions,
            };
            Some((topic, live))
        });
        let found: BTreeMap<String, Live> = found.collect();
        for (topic, live) in &found {
            let course = course(&mut self.courses, topic, &live.id);
            let last = course.counts.last().copied();
            if last.is_some_and(|last| live.partitions < last) {
                self.fail(&format!("{topic}: fewer partitions than before: {found:?}"));
            }
            if last != Some(live.partitions) {
                course.counts.push(live.partitions);
            }
            if course.written.is_empty() {
                course.empty_until = course.counts.len() - 1;
            }
        }
        found
    }

    /// Writes one record a key, and notes that they were acknowledged.
    pub(crate) fn write(&mut self, kafka: &KafkaCluster, topic: &str, keys: &[String]) {
        let names = [topic.to_owned()];
        if !self.look(&names).contains_key(topic) {
            return;
        }
        let records: Vec<(&str, &str)> = keys.iter().map(|key| (key.as_str(), "1")).collect();
        kafka.produce(topic, &records);
        // The operator may have grown it right before the first record came: it was empty then.
        let seen = self.look(&names);
        let Some(live) = seen.get(topic) else {
            self.fail(&format!("{topic} is gone, and nobody deleted it"));
        };
        let course = course(&mut self.courses, topic, &live.id);
        for key in keys {
            *course.written.entry(key.clone()).or_default() += 1;
        }
    }

    /// The records that a topic of this id must hold, by key.
    pub(crate) fn written(&self, topic: &str, id: &str) -> BTreeMap<String, u64> {
        let courses = self.courses.get(topic).into_iter().flatten();
        let mut of_id = courses.filter(|(known, _)| known == id);
        of_id
            .next()
            .map(|(_, it)| it.written.clone())
            .unwrap_or_default()
    }

    /// Each growth of a topic that held records was somebody else's, or consented to and not more often than that counts;
    /// and each topic that is another one than before was deleted here.
    pub(crate) fn assert_explained(&self) {
        for (topic, courses) in &self.courses {
            let deletions = self.deletions.get(topic).copied().unwrap_or(0);
            if courses.len() > deletions + 1 {
                self.fail(&format!(
                    "{topic} had {} ids and was deleted {deletions} times here",
                    courses.len()
                ));
            }
            // Growths that nothing but a consent explains, by their numbers.
            let mut used: BTreeMap<(i32, i32), u64> = BTreeMap::new();
            for (id, course) in courses {
                for at in course.empty_until..course.counts.len() - 1 {
                    let (from, to) = (course.counts[at], course.counts[at + 1]);
                    if !self.is_explained(topic, from, to) {
                        self.fail(&format!(
                            "{topic} ({id}) grew from {from} to {to} without consent: {course:?}"
                        ));
                    }
                    let step = (topic.clone(), from, to);
                    let by = self.steps.get(&step);
                    let only = by.is_some_and(|by| !by.contains_key(&By::Somebody));
                    if only && !self.with_ids.contains(&step) {
                        *used.entry((from, to)).or_default() += 1;
                    }
                }
            }
            if let Some(((from, to), times)) = used.iter().find(|(_, times)| **times > 1) {
                self.fail(&format!(
                    "a consent was used {times} times to grow {topic} from {from} to {to}"
                ));
            }
        }
    }

    /// Whether known steps lead from one count to the other; several may lie between two looks.
    fn is_explained(&self, topic: &str, from: i32, to: i32) -> bool {
        let mut reached = BTreeSet::from([from]);
        loop {
            let next: BTreeSet<i32> = self
                .steps
                .keys()
                .filter(|(of, begin, end)| of == topic && reached.contains(begin) && *end <= to)
                .map(|(_, _, end)| *end)
                .filter(|end| !reached.contains(end))
                .collect();
            if reached.contains(&to) || next.is_empty() {
                return reached.contains(&to);
            }
            reached.extend(next);
        }
    }
}

fn course<'a>(
    courses: &'a mut BTreeMap<String, Vec<(String, Course)>>,
    topic: &str,
    id: &str,
) -> &'a mut Course {
    let of_topic = courses.entry(topic.to_owned()).or_default();
    let at = of_topic.iter().position(|(known, _)| known == id);
    let at = at.unwrap_or_else(|| {
        of_topic.push((id.to_owned(), Course::default()));
        of_topic.len() - 1
    });
    &mut of_topic[at].1
}
