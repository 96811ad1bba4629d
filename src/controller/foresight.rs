//! What a spec would do to the partitions of its topics, before anybody applies it: the same decision as a pass makes, on
//! what Kafka shows now, with everything around it that somebody should know who consents. Nothing is written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::act::{Basis, rehearse};
use super::memory::{Subject, from_claim, from_status};
use super::report::explain;
use super::validate::declared_with;
use crate::api::{ClaimSpec, CoPartitionedTopicGroup};
use crate::kafka::{
    Cluster, Clusters, ConnectionSettings, Interest, Metrics, PollSettings, WriteGuard,
};
use crate::placement::Asked;
use crate::plan::{
    Actions, Break, Condition, ConditionType, Consent, Coverage, Decision, Failure, Group, Growing,
    LocksView, Memory, Outcomes, Owner, Proposal, Records, Standing, State, Surroundings, View,
    breaks, predict, proposals, report,
};

/// Half of it lies between two looks that believe a topic missing which was recorded.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The pause between two looks for what is awaited.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What a spec would do.
#[derive(Clone, Debug)]
pub struct Foresight {
    /// The Kafka cluster.
    pub cluster_id: String,
    /// The count that all topics shall have, where it is known.
    pub target: Option<i32>,
    /// The topics in the order of the spec.
    pub topics: Vec<Foreseen>,
    /// PartitionsAligned as the operator would say it now.
    pub now: Condition,
    /// PartitionsAligned once the operator has done what it may.
    pub then: Condition,
    /// The consents that are missing.
    pub consents: Vec<Proposal>,
    /// What the growth breaks besides the place of keys, with or without consent.
    pub breaks: Vec<Break>,
    /// The creations and growths that Kafka would refuse even with consent, as topic and Kafka's words.
    pub refused: Vec<(String, String)>,
    /// What could not be found out, one sentence each.
    pub unread: Vec<String>,
}

/// One topic of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreseen {
    /// Its name.
    pub name: String,
    /// Whether the operator may write it.
    pub managed: bool,
    /// Its live id.
    pub id: Option<String>,
    /// Its live count; `None` if it does not exist or cannot be seen.
    pub partitions: Option<i32>,
    /// Whether it holds records; `None` if that is not known.
    pub records: Option<bool>,
    /// The sum of its end offsets: how many records were written to it so far.
    pub written: Option<i64>,
    /// What the spec's consent says of its growth; `None` if it need not grow.
    pub coverage: Option<Coverage>,
    /// Whether the operator would grow it now: it is empty, or covered.
    pub grows: bool,
}

/// Foretells what a group would do. `claim` is what the operator remembers of it, `to` a count in place of the spec's.
/// Ends within `limit` but for the last request, and must be called in a Tokio runtime.
///
/// # Errors
/// One sentence for the user: the spec is wrong, or Kafka does not answer.
pub async fn foresee(
    group: &CoPartitionedTopicGroup,
    claim: Option<&ClaimSpec>,
    settings: &ConnectionSettings,
    to: Option<i32>,
    limit: Duration,
) -> Result<Foresight, String> {
    let deadline = Instant::now() + limit;
    let annotations = group.metadata.annotations.clone().unwrap_or_default();
    let mut declared =
        declared_with(&group.spec, &annotations).map_err(|problems| problems.join("; "))?;
    declared.partitions = to.or(declared.partitions);
    let memory = match (claim, &group.status) {
        (Some(claim), _) => from_claim(claim),
        (None, Some(status)) => from_status(status),
        (None, None) => Memory::default(),
    };
    let look = Look {
        key: Subject::of(&group.metadata).key(),
        me: memory.owner.clone().unwrap_or(Owner {
            installation: String::new(),
            kube_system_uid: String::new(),
        }),
        group: declared,
        memory,
        cluster: connect(settings)?,
        deadline,
    };
    look.foresee().await
}

fn connect(settings: &ConnectionSettings) -> Result<Arc<Cluster>, String> {
    let poll = PollSettings {
        interval: POLL_INTERVAL,
        misses: 1,
        ..PollSettings::default()
    };
    let clusters = Clusters::new(poll, Arc::new(Metrics::default()), WriteGuard::default());
    clusters
        .cluster(settings)
        .map_err(|error| error.to_string())
}

struct Look {
    key: String,
    me: Owner,
    group: Group,
    memory: Memory,
    cluster: Arc<Cluster>,
    deadline: Instant,
}

impl Look {
    async fn foresee(&self) -> Result<Foresight, String> {
        let (view, decision) = self.decide().await?;
        let mut unread = Vec::new();
        let done = predict(&view, &growths_only(&decision.actions));
        let then = self.decide_on(&self.group, &decision.memory, &done);
        let consents = proposals(&decision);
        let refused = self.refused(&view, &decision, &consents, &mut unread).await;
        let growing = growing(&decision, &mut unread);
        let around = if growing.is_empty() {
            Surroundings::default()
        } else {
            self.around(&growing, &mut unread).await
        };
        Ok(Foresight {
            cluster_id: decision.cluster_id.clone(),
            target: decision.target,
            topics: self.topics(&decision, &mut unread).await,
            now: self.aligned(&decision).await?,
            then: self.aligned(&then).await?,
            breaks: breaks(&growing, &self.group.consumer_groups, &around),
            consents,
            refused,
            unread,
        })
    }

    /// What Kafka shows, and the decision on it: once no topic has to be looked at once more.
    async fn decide(&self) -> Result<(View, Decision), String> {
        let topics: BTreeSet<String> = self.group.topics.iter().map(|it| it.name.clone()).collect();
        let configs = topics.clone();
        self.cluster.set_interest(
            &self.key,
            Interest {
                topics,
                configs,
                ..Interest::default()
            },
        );
        loop {
            let health = self.cluster.health();
            if !health.reachable {
                return Err(match health.error {
                    Some(error) => format!("Kafka does not answer: {error}"),
                    None => "Kafka does not answer".to_owned(),
                });
            }
            if let Some(view) = self.cluster.view(&self.key) {
                let decision = self.decide_on(&self.group, &self.memory, &view);
                if !decision.undecided {
                    return Ok((view, decision));
                }
            }
            if Instant::now() >= self.deadline {
                return Err(
                    "Kafka did not tell enough in time; give it more with --timeout".to_owned(),
                );
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn decide_on(&self, group: &Group, memory: &Memory, view: &View) -> Decision {
        let basis = Basis {
            group,
            memory,
            me: &self.me,
            take_over: &BTreeSet::new(),
            conflicts: &BTreeMap::new(),
            // Locks are no matter of counts.
            locks: &LocksView::Unread,
        };
        basis.decide(view)
    }

    /// What Kafka would refuse of all that would be created or grown with the consents that are missing. Kafka is asked to
    /// validate only.
    async fn refused(
        &self,
        view: &View,
        decision: &Decision,
        consents: &[Proposal],
        unread: &mut Vec<String>,
    ) -> Vec<(String, String)> {
        let mut actions = growths_only(&decision.actions);
        for proposal in consents {
            let mut group = self.group.clone();
            group.consent = Some(Consent {
                topics: proposal.topics.iter().cloned().collect(),
                from: proposal.from,
                to: proposal.to,
                topic_ids: proposal.topic_ids.iter().cloned().collect(),
            });
            for grow in self.decide_on(&group, &self.memory, view).actions.growths {
                if !actions.growths.contains(&grow) {
                    actions.growths.push(grow);
                }
            }
        }
        if actions.is_empty() {
            return Vec::new();
        }
        let outcomes = rehearse(&self.cluster, &actions).await.outcomes;
        let mut refused = Vec::new();
        for (topic, failure) in outcomes.creates.into_iter().chain(outcomes.growths) {
            match failure {
                Failure::Rejected(words) => refused.push((topic, words)),
                // This principal is not the operator's.
                Failure::NotAuthorized(words) | Failure::Unsure(words) => unread.push(format!(
                    "whether Kafka would refuse to change {topic}: {words}"
                )),
            }
        }
        refused
    }

    async fn around(&self, growing: &[Growing], unread: &mut Vec<String>) -> Surroundings {
        let client = self.cluster.client();
        let topics = match client.all_topics().await {
            Ok(topics) => topics,
            Err(error) => {
                unread.push(format!(
                    "the topics of the cluster, so internal ones of Kafka Streams are not listed: {error}"
                ));
                BTreeMap::new()
            }
        };
        let named = self
            .group
            .consumer_groups
            .iter()
            .filter_map(|group| match group {
                Asked::Id(id) => Some(id.clone()),
                Asked::Prefix(_) => None,
            });
        let grown = growing.iter().map(|it| it.topic.clone()).collect();
        let readers = client
            .readers(&grown, &named.collect(), self.deadline)
            .await;
        unread.extend(readers.unread);
        Surroundings {
            topics,
            readers: readers.by_topic,
        }
    }

    async fn aligned(&self, decision: &Decision) -> Result<Condition, String> {
        let mut said = report(&self.group, decision, &Outcomes::default());
        explain(&mut said, decision, &self.cluster).await;
        let of = |wanted: ConditionType| said.conditions.iter().find(|it| it.kind == wanted);
        // What is not accepted is not judged further: its reason says more.
        let accepted = of(ConditionType::Accepted);
        accepted
            .filter(|accepted| accepted.state == State::False)
            .or_else(|| of(ConditionType::PartitionsAligned))
            .cloned()
            .ok_or_else(|| "the counts were not judged".to_owned())
    }

    async fn topics(&self, decision: &Decision, unread: &mut Vec<String>) -> Vec<Foreseen> {
        let live = decision.topics.iter().filter_map(|judged| {
            let live = judged.live()?;
            Some((judged.topic.name.clone(), live.partitions))
        });
        let asked: Vec<(String, i32)> = live.collect();
        let ends = match self.cluster.end_offsets(&asked).await {
            Ok(ends) => ends,
            Err(error) => {
                unread.push(format!("how many records the topics hold: {error}"));
                BTreeMap::new()
            }
        };
        let topics = decision.topics.iter().map(|judged| {
            let name = &judged.topic.name;
            let live = judged.live();
            let ends = ends.get(name).and_then(|ends| ends.as_ref().ok());
            let (coverage, grows) = match &judged.standing {
                Standing::Below { covered, coverage } => (
                    Some(coverage.clone()),
                    *covered && decision.actions.growths.iter().any(|it| it.topic == *name),
                ),
                _ => (None, false),
            };
            Foreseen {
                name: name.clone(),
                managed: judged.topic.managed,
                id: live.map(|live| live.id.clone()),
                partitions: live.map(|live| live.partitions),
                records: live.and_then(|live| match live.records {
                    Records::None => Some(false),
                    Records::Some => Some(true),
                    Records::Unreadable(_) => None,
                }),
                written: ends.map(|ends| {
                    ends.iter()
                        .fold(0, |sum: i64, end| sum.saturating_add(*end))
                }),
                coverage,
                grows,
            }
        });
        topics.collect()
    }
}

/// The topics below the target, whoever has to grow them.
fn growing(decision: &Decision, unread: &mut Vec<String>) -> Vec<Growing> {
    let Some(to) = decision.target else {
        return Vec::new();
    };
    let below = decision.topics.iter().filter_map(|judged| {
        let live = judged.live().filter(|live| live.partitions < to)?;
        let config = live.config.as_ref();
        Some(Growing {
            topic: judged.topic.name.clone(),
            from: live.partitions,
            to,
            cleanup_policy: config.and_then(|config| config.get("cleanup.policy").cloned()),
        })
    });
    let growing: Vec<Growing> = below.collect();
    for it in growing.iter().filter(|it| it.cleanup_policy.is_none()) {
        unread.push(format!(
            "the config of {}, so whether it is compacted is not known; it needs DESCRIBE_CONFIGS",
            it.topic
        ));
    }
    growing
}

/// Config is no matter of partitions.
fn growths_only(actions: &Actions) -> Actions {
    Actions {
        configs: Vec::new(),
        ..actions.clone()
    }
}
