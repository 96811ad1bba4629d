//! Who does something during a soak: owners of groups, somebody with Kafka's tools, and whatever kills processes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::history::{History, Live};
use crate::env::{Env, KafkaCluster, Operator, OperatorOptions};
use crate::group::{self, Group, TICKERS};
use crate::seen::TOPICS;
use crate::xorshift::Xorshift;

const GROUPS: usize = 4;
const TOPICS_EACH: usize = 3;
/// Counts are small, so that the same numbers come again.
const MOST: usize = 9;

/// What one group's owner last had the API server take.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) partitions: i32,
    pub(crate) topics: Vec<String>,
    observe: bool,
}

pub(crate) struct People<'a> {
    env: &'a Env,
    pub(crate) kafka: KafkaCluster,
    pub(crate) history: History,
    random: Xorshift,
    pub(crate) namespace: String,
    operator: Option<Operator>,
    kafka_is_up: bool,
    /// The topics of each group, and what is wanted of it while it is there.
    pub(crate) groups: Vec<(Vec<String>, Option<Wanted>)>,
}

impl<'a> People<'a> {
    pub(crate) fn new(env: &'a Env, kafka: KafkaCluster, history: History, seed: u64) -> Self {
        let topics = |group: usize| {
            let topic = |at: usize| format!("soak-{seed}-{group}-{at}");
            ((0..TOPICS_EACH).map(topic).collect(), None)
        };
        let mut people = Self {
            env,
            kafka,
            history,
            random: Xorshift::seeded(seed),
            namespace: env.namespace("soak"),
            operator: None,
            kafka_is_up: true,
            groups: (0..GROUPS).map(topics).collect(),
        };
        people.start_operator();
        for group in 0..GROUPS {
            people.create_group(group);
        }
        people
    }

    pub(crate) fn group(&self, group: usize) -> Group<'a> {
        Group::new(&self.env.kube, &self.namespace, &format!("group-{group}"))
    }

    pub(crate) fn operator(&self) -> &Operator {
        self.operator.as_ref().expect("the operator runs")
    }

    /// Something happens.
    pub(crate) fn step(&mut self) {
        let group = self.random.below(GROUPS);
        let exists = self.groups[group].1.is_some();
        match self.random.below(20) {
            0..=2 => self.write(group),
            3..=6 if exists => self.raise(group),
            7 if exists => self.lower(group),
            8 if exists => self.other_topics(group),
            9 if exists => self.mode(group),
            10 if exists => self.pause(group),
            11 if exists => self.delete_group(group),
            12..=13 => self.somebody_grows(group),
            14 => self.somebody_deletes(group),
            15..=16 => self.kill_operator(),
            17 => self.kill_kafka(),
            _ if !exists => self.create_group(group),
            _ => self.acknowledge(group),
        }
        let all = self.all_topics();
        self.look(&all);
    }

    /// All that was killed runs again.
    pub(crate) fn repair(&mut self) {
        if !self.kafka_is_up {
            self.kafka.restart(1);
            self.kafka_is_up = true;
        }
        if self.operator.is_none() {
            self.start_operator();
        }
        self.operator
            .as_mut()
            .expect("it was started")
            .wait_until_ready();
    }

    pub(crate) fn all_topics(&self) -> Vec<String> {
        self.groups
            .iter()
            .flat_map(|(topics, _)| topics.clone())
            .collect()
    }

    /// Looks at topics; a broker that does not run shows nothing.
    fn look(&mut self, topics: &[String]) -> BTreeMap<String, Live> {
        if self.kafka_is_up {
            self.history.look(topics)
        } else {
            BTreeMap::new()
        }
    }

    fn start_operator(&mut self) {
        let options = OperatorOptions {
            namespaces: vec![self.namespace.clone()],
            // Longer than any run: what is forgotten may be used again.
            args: ["--claim-retention", "24h", "--settling-window", "5s"]
                .map(str::to_owned)
                .to_vec(),
            ..OperatorOptions::default()
        };
        self.operator = Some(Operator::launch(&self.env.kube, options));
    }

    fn count(&mut self) -> i32 {
        i32::try_from(1 + self.random.below(MOST)).expect("a small number")
    }

    fn spec(&self, wanted: &Wanted) -> Value {
        let topics: Vec<&str> = wanted.topics.iter().map(String::as_str).collect();
        let mut spec = group::spec(&self.kafka.bootstrap(), wanted.partitions, &topics);
        if wanted.observe {
            spec["mode"] = json!("Observe");
        }
        spec
    }

    /// Has the API server take what is wanted, by force if need be; it may refuse.
    fn put(&mut self, group: usize, wanted: Wanted, consent: Option<&Value>, force: bool) {
        let mut spec = self.spec(&wanted);
        if let Some(consent) = consent {
            spec["acceptKeyMovement"] = consent.clone();
            // Before it is taken: it may be used at once.
            let number = |field: &str| {
                consent[field]
                    .as_i64()
                    .and_then(|it| i32::try_from(it).ok())
            };
            let (from, to) = (number("fromPartitions"), number("toPartitions"));
            let topics = consent["topics"].as_array().into_iter().flatten();
            let topics: Vec<String> = topics
                .filter_map(|it| Some(it.as_str()?.to_owned()))
                .collect();
            let has_ids = consent["topicIds"].is_array();
            self.history.consented(
                &topics,
                from.unwrap_or_default(),
                to.unwrap_or_default(),
                has_ids,
            );
        }
        let resource = self.group(group);
        let output = if force {
            resource.replace_force(&spec)
        } else {
            resource.try_apply(&spec)
        };
        let taken = output.status.success();
        let what = if taken {
            "edits taken"
        } else {
            "edits refused"
        };
        self.history.note(
            what,
            &format!("group-{group} {wanted:?} {consent:?} force {force}"),
        );
        if taken {
            self.groups[group].1 = Some(wanted);
        }
    }

    fn create_group(&mut self, group: usize) {
        let partitions = self.count();
        let observe = self.random.below(8) == 0;
        let wanted = Wanted {
            partitions,
            topics: self.some_topics(group),
            observe,
        };
        self.put(group, wanted, None, false);
    }

    fn some_topics(&mut self, group: usize) -> Vec<String> {
        let all = self.groups[group].0.clone();
        let left_out = self.random.below(TOPICS_EACH + 1);
        let kept = all.into_iter().enumerate();
        kept.filter(|(at, _)| *at != left_out)
            .map(|(_, topic)| topic)
            .collect()
    }

    /// More partitions: with the right consent, with a wrong one, with none, or by force.
    fn raise(&mut self, group: usize) {
        let Some(mut wanted) = self.groups[group].1.clone() else {
            return;
        };
        let from = wanted.partitions;
        wanted.partitions += 1 + i32::try_from(self.random.below(3)).expect("a small number");
        let to = wanted.partitions;
        let names = wanted.topics.clone();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (consent, force) = match self.random.below(6) {
            0..=2 => (Some(group::consent(&names, from, to)), false),
            3 => (Some(group::consent(&names[..1], from, to)), false),
            4 => (
                Some(group::consent(&names, from + 1, to + 1)),
                self.random.below(2) == 0,
            ),
            _ => (None, self.random.below(2) == 0),
        };
        self.put(group, wanted, consent.as_ref(), force);
    }

    fn lower(&mut self, group: usize) {
        if let Some(mut wanted) = self.groups[group].1.clone() {
            wanted.partitions = self.count().min(wanted.partitions);
            let force = self.random.below(2) == 0;
            self.put(group, wanted, None, force);
        }
    }

    fn other_topics(&mut self, group: usize) {
        if let Some(mut wanted) = self.groups[group].1.clone() {
            wanted.topics = self.some_topics(group);
            self.put(group, wanted, None, false);
        }
    }

    fn mode(&mut self, group: usize) {
        if let Some(mut wanted) = self.groups[group].1.clone() {
            wanted.observe = !wanted.observe;
            self.put(group, wanted, None, false);
        }
    }

    fn pause(&mut self, group: usize) {
        let value = if self.random.below(2) == 0 {
            "true"
        } else {
            "false"
        };
        self.group(group).annotate("copartition.dev/paused", value);
        self.history
            .note("pauses", &format!("group-{group} {value}"));
    }

    fn delete_group(&mut self, group: usize) {
        self.group(group).delete();
        self.groups[group].1 = None;
        self.history
            .note("groups deleted", &format!("group-{group}"));
    }

    /// The ids that its status remembers, as if its owner had read the message.
    fn acknowledge(&mut self, group: usize) {
        let all = self.groups[group].0.clone();
        let live = self.look(&all);
        self.group(group).acknowledge(&self.ids(group, &live));
        self.history
            .note("acknowledgements", &format!("group-{group}"));
    }

    fn ids(&self, group: usize, live: &BTreeMap<String, Live>) -> String {
        let status = self.group(group).status();
        let recorded = status["topics"].as_array().into_iter().flatten();
        let recorded = recorded.filter_map(|it| it["topicId"].as_str());
        // Of those that are gone only: what is there may be deleted later, and shall be missed then.
        let is_gone = |id: &&str| !live.values().any(|live| live.id == *id);
        let recorded = recorded.filter(is_gone);
        let mut ids: Vec<String> = recorded.map(|id| format!("deleted:{id}")).collect();
        ids.extend(live.values().map(|live| live.id.clone()));
        ids.join(",")
    }

    fn write(&mut self, group: usize) {
        if self.kafka_is_up {
            let topic = self.one_topic(group);
            let keys = (0..5).map(|_| TICKERS[self.random.below(TICKERS.len())].to_owned());
            let keys: Vec<String> = keys.collect();
            self.history.write(&self.kafka, &topic, &keys);
            self.history.note("writes", &topic);
        }
    }

    fn one_topic(&mut self, group: usize) -> String {
        let at = self.random.below(TOPICS_EACH);
        self.groups[group].0[at].clone()
    }

    /// Somebody creates a topic, or adds partitions with Kafka's own tool or with a client.
    fn somebody_grows(&mut self, group: usize) {
        if !self.kafka_is_up {
            return;
        }
        let topic = self.one_topic(group);
        let live = self.look(std::slice::from_ref(&topic));
        let Some(live) = live.get(&topic) else {
            let partitions = self.count();
            if self.history.create(&topic, partitions) {
                self.history.note("topics created by somebody", &topic);
            }
            return;
        };
        let (from, to) = (live.partitions, live.partitions + 1);
        let done = if self.random.below(2) == 0 {
            self.history.will_grow(&topic, from, to);
            let count = to.to_string();
            let args = ["--alter", "--topic", &topic, "--partitions", &count];
            self.kafka.tool(TOPICS, &args).status.success()
        } else {
            self.history.grow(&topic, from, to)
        };
        if done {
            self.history.note(
                "topics grown by somebody",
                &format!("{topic} {from} -> {to}"),
            );
        }
    }

    /// Somebody deletes a topic, and perhaps makes another one of that name. Only one whose id the operator remembers: one
    /// that it does not know yet is created again, rightly.
    fn somebody_deletes(&mut self, group: usize) {
        let topic = self.one_topic(group);
        if !self.kafka_is_up {
            return;
        }
        let live = self.look(std::slice::from_ref(&topic));
        let claim = self.group(group).claim().unwrap_or_default();
        let holds = claim["spec"]["holds"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let known = |live: &Live| holds.iter().any(|it| it["topicId"] == live.id);
        if !live.get(&topic).is_some_and(known) {
            return;
        }
        self.history.deleted(&topic);
        self.kafka.delete_topic(&topic);
        self.history.note("topics deleted by somebody", &topic);
        let partitions = self.count();
        if self.random.below(2) == 0 && self.history.create(&topic, partitions) {
            self.history.note("topics created by somebody", &topic);
        }
    }

    fn kill_operator(&mut self) {
        match self.operator.take() {
            Some(mut operator) => {
                operator.kill();
                self.history.note("operator killed", "");
            }
            None => self.start_operator(),
        }
    }

    fn kill_kafka(&mut self) {
        if self.kafka_is_up {
            self.kafka.kill(1);
            self.history.note("broker killed", "");
        } else {
            self.kafka.restart(1);
        }
        self.kafka_is_up = !self.kafka_is_up;
    }

    /// Does what the messages ask for, so that the group can become Ready.
    pub(crate) fn give_way(&mut self, group: usize) {
        let Some(mut wanted) = self.groups[group].1.clone() else {
            return;
        };
        let live = self.look(&wanted.topics);
        let resource = self.group(group);
        resource.annotate("copartition.dev/paused", "false");
        resource.acknowledge(&self.ids(group, &live));
        let recorded = resource.status()["recordedPartitions"].as_i64();
        let recorded = recorded.and_then(|it| i32::try_from(it).ok()).unwrap_or(1);
        let counts = || live.values().map(|live| live.partitions);
        let highest = counts().chain([wanted.partitions, recorded]).max();
        wanted.partitions = highest.unwrap_or(1);
        wanted.observe = false;
        let to = wanted.partitions;
        let lowest = counts().filter(|count| *count < to).min();
        let consent = lowest.map(|from| {
            let grown = live.iter().filter(|(_, live)| live.partitions == from);
            let (names, ids): (Vec<&str>, Vec<&str>) = grown
                .map(|(name, live)| (name.as_str(), live.id.as_str()))
                .unzip();
            let mut consent = group::consent(&names, from, to);
            consent["topicIds"] = json!(ids);
            consent
        });
        self.put(group, wanted, consent.as_ref(), false);
    }
}
