//! What a run is printed as: the documented shape of `-o json` and `-o yaml`, from which the text is made too.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::api::{LayoutStatus, TopicStatus};
use crate::controller::oneshot::{self, Done, StepOutcome};
use crate::plan::{ConditionType, Exit, Reason, State};

/// A whole run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) dry_run: bool,
    /// The worst of all groups.
    pub(super) exit_code: u8,
    pub(super) groups: Vec<GroupRecord>,
}

/// One group, in the order of the input. In a dry run all but the plan is as it would be after the plan.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GroupRecord {
    pub(super) source: String,
    pub(super) namespace: Option<String>,
    pub(super) name: Option<String>,
    pub(super) bootstrap_servers: Vec<String>,
    pub(super) cluster_id: Option<String>,
    pub(super) verdict: &'static str,
    pub(super) exit_code: u8,
    /// The reason and message of the condition that decides.
    pub(super) reason: &'static str,
    pub(super) message: String,
    pub(super) plan: Vec<StepRecord>,
    pub(super) conditions: Vec<ConditionRecord>,
    /// As in the resource's status.
    pub(super) topics: Vec<TopicStatus>,
    pub(super) layout: Option<LayoutStatus>,
    pub(super) recorded_partitions: Option<i32>,
    pub(super) holds_records: Option<bool>,
    #[serde(skip)]
    pub(super) cut_off: Option<String>,
}

/// One action on one topic.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StepRecord {
    pub(super) topic: String,
    #[serde(flatten)]
    pub(super) action: ActionRecord,
    /// Done, WouldBeDone, Rejected, NotAuthorized, Unsure or NotDone.
    pub(super) outcome: &'static str,
    /// Kafka's words, or why it was not done.
    pub(super) message: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "action", rename_all_fields = "camelCase")]
pub(super) enum ActionRecord {
    Create {
        partitions: i32,
        replication_factor: Option<i16>,
        config: BTreeMap<String, String>,
    },
    Grow {
        from_partitions: i32,
        to_partitions: i32,
        movement: Option<String>,
    },
    Configure {
        changes: Vec<ChangeRecord>,
    },
}

#[derive(Debug, Serialize)]
pub(super) struct ChangeRecord {
    pub(super) key: String,
    pub(super) from: Option<String>,
    pub(super) to: String,
}

#[derive(Debug, Serialize)]
pub(super) struct ConditionRecord {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) status: String,
    pub(super) reason: String,
    pub(super) message: String,
}

impl Record {
    pub(super) fn new(dry_run: bool, groups: Vec<GroupRecord>) -> Self {
        let worst = groups.iter().map(GroupRecord::exit).max();
        Self {
            dry_run,
            exit_code: worst.unwrap_or(Exit::Failed).code(),
            groups,
        }
    }
}

impl GroupRecord {
    /// Of something that cannot be read as a group.
    pub(super) fn of_problem(
        source: String,
        namespace: Option<String>,
        name: Option<String>,
        problem: String,
    ) -> Self {
        let accepted = ConditionRecord {
            kind: ConditionType::Accepted.as_str().to_owned(),
            status: State::False.as_str().to_owned(),
            reason: Reason::InvalidSpec.as_str().to_owned(),
            message: problem.clone(),
        };
        Self {
            source,
            namespace,
            name,
            bootstrap_servers: Vec::new(),
            cluster_id: None,
            verdict: Exit::Failed.as_str(),
            exit_code: Exit::Failed.code(),
            reason: Reason::InvalidSpec.as_str(),
            message: problem,
            plan: Vec::new(),
            conditions: vec![accepted],
            topics: Vec::new(),
            layout: None,
            recorded_partitions: None,
            holds_records: None,
            cut_off: None,
        }
    }

    pub(super) fn of(source: String, done: Done) -> Self {
        let status = done.status;
        let conditions = status.conditions.into_iter();
        Self {
            source,
            namespace: Some(done.namespace),
            name: Some(done.name),
            bootstrap_servers: done.bootstrap_servers,
            cluster_id: status.cluster_id,
            verdict: done.exit.as_str(),
            exit_code: done.exit.code(),
            reason: done.reason.as_str(),
            message: done.message,
            plan: done.plan.into_iter().map(StepRecord::of).collect(),
            conditions: conditions
                .map(|condition| ConditionRecord {
                    kind: condition.type_,
                    status: condition.status,
                    reason: condition.reason,
                    message: condition.message,
                })
                .collect(),
            topics: status.topics,
            layout: status.layout,
            recorded_partitions: status.recorded_partitions,
            holds_records: status.holds_records,
            cut_off: done.cut_off,
        }
    }

    /// What it came to.
    pub(super) fn exit(&self) -> Exit {
        let exit = Exit::ALL
            .into_iter()
            .find(|exit| exit.code() == self.exit_code);
        exit.unwrap_or(Exit::Failed)
    }
}

impl StepRecord {
    fn of(step: oneshot::Step) -> Self {
        let (outcome, message) = match step.outcome {
            StepOutcome::Done => ("Done", None),
            StepOutcome::WouldBeDone => ("WouldBeDone", None),
            StepOutcome::Rejected(words) => ("Rejected", Some(words)),
            StepOutcome::NotAuthorized(words) => ("NotAuthorized", Some(words)),
            StepOutcome::Unsure(words) => ("Unsure", Some(words)),
            StepOutcome::NotDone(words) => ("NotDone", Some(words)),
        };
        let action = match step.action {
            oneshot::Action::Create {
                partitions,
                replication_factor,
                config,
            } => ActionRecord::Create {
                partitions,
                replication_factor,
                config: config.into_iter().collect(),
            },
            oneshot::Action::Grow { from, to, movement } => ActionRecord::Grow {
                from_partitions: from,
                to_partitions: to,
                movement,
            },
            oneshot::Action::Configure { changes } => ActionRecord::Configure {
                changes: changes
                    .into_iter()
                    .map(|change| ChangeRecord {
                        key: change.key,
                        from: change.from,
                        to: change.to,
                    })
                    .collect(),
            },
        };
        Self {
            topic: step.topic,
            action,
            outcome,
            message,
        }
    }
}
