//! The plan of a run as it is printed: one step a topic and action, with what became of it.

use super::super::act::Acted;
use crate::plan::{Actions, Decision, Failure, Group, Records, movement};

/// One action on one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The topic.
    pub topic: String,
    /// What is done to it.
    pub action: Action,
    /// What became of it.
    pub outcome: StepOutcome,
}

/// What is done to a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is created.
    Create {
        /// With so many partitions.
        partitions: i32,
        /// With so many replicas; `None` is the broker's default.
        replication_factor: Option<i16>,
        /// With this config, as (key, value).
        config: Vec<(String, String)>,
    },
    /// Partitions are added.
    Grow {
        /// The count before.
        from: i32,
        /// The count to reach.
        to: i32,
        /// Which keys move, if the topic may hold records.
        movement: Option<String>,
    },
    /// Config keys are set.
    Configure {
        /// Which.
        changes: Vec<Change>,
    },
}

/// One config key that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The key.
    pub key: String,
    /// The live value; `None` if Kafka does not tell.
    pub from: Option<String>,
    /// The declared value.
    pub to: String,
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// It was carried out.
    Done,
    /// A dry run: Kafka says that it would do.
    WouldBeDone,
    /// Kafka refused (in a dry run: would refuse); its words.
    Rejected(String),
    /// The principal lacks a permission; Kafka's words.
    NotAuthorized(String),
    /// No answer: it may have been carried out. The next run sees.
    Unsure(String),
    /// It was not tried; why.
    NotDone(String),
}

/// The steps of some actions while they are under way.
pub(super) fn begun(group: &Group, decision: &Decision) -> Vec<Step> {
    let step = |topic: &str, action| Step {
        topic: topic.to_owned(),
        action,
        outcome: StepOutcome::Unsure("the run ended while it was under way".to_owned()),
    };
    let live = |topic: &str| {
        let judged = decision.topics.iter().find(|one| one.topic.name == topic)?;
        judged.live()
    };
    let Actions {
        creates,
        growths,
        configs,
        // A run without Kubernetes locks nothing.
        locks: _,
        unlocks: _,
    } = &decision.actions;
    let creates = creates.iter().map(|create| {
        let action = Action::Create {
            partitions: create.partitions,
            replication_factor: create.replication_factor,
            config: create.config.clone().into_iter().collect(),
        };
        step(&create.topic, action)
    });
    let growths = growths.iter().map(|grow| {
        let empty = live(&grow.topic).is_some_and(|live| live.records == Records::None);
        let action = Action::Grow {
            from: grow.from,
            to: grow.to,
            movement: (!empty).then(|| movement(group, grow.from, grow.to)),
        };
        step(&grow.topic, action)
    });
    let configs = configs.iter().map(|alter| {
        let seen = live(&alter.topic).and_then(|live| live.config.as_ref());
        let changes = alter.set.iter().map(|(key, value)| Change {
            key: key.clone(),
            from: seen.and_then(|config| config.get(key)).cloned(),
            to: value.clone(),
        });
        let action = Action::Configure {
            changes: changes.collect(),
        };
        step(&alter.topic, action)
    });
    creates.chain(growths).chain(configs).collect()
}

/// Notes on the steps what came of them.
pub(super) fn finish(steps: &mut [Step], acted: &Acted, dry_run: bool) {
    let done = if dry_run {
        StepOutcome::WouldBeDone
    } else {
        StepOutcome::Done
    };
    for step in steps {
        let topic = &step.topic;
        let outcomes = &acted.outcomes;
        let (failure, otherwise) = match &step.action {
            Action::Create { .. } if acted.created.contains(topic) => (None, done.clone()),
            Action::Create { .. } => (
                outcomes.creates.get(topic),
                not_done("it exists by now; somebody else was faster"),
            ),
            Action::Grow { .. } if acted.grown.iter().any(|grow| grow.topic == *topic) => {
                (None, done.clone())
            }
            Action::Grow { .. } => (
                outcomes.growths.get(topic),
                not_done(
                    "held back: something changed meanwhile, or a topic with the same count was refused",
                ),
            ),
            Action::Configure { .. } => (outcomes.configs.get(topic), done.clone()),
        };
        step.outcome = match failure {
            Some(Failure::Rejected(words)) => StepOutcome::Rejected(words.clone()),
            Some(Failure::NotAuthorized(words)) => StepOutcome::NotAuthorized(words.clone()),
            Some(Failure::Unsure(words)) => StepOutcome::Unsure(words.clone()),
            None => otherwise,
        };
    }
}

fn not_done(why: &str) -> StepOutcome {
    StepOutcome::NotDone(why.to_owned())
}
