//! A run for people: what each group came to first, then why.

use super::record::{ActionRecord, ConditionRecord, GroupRecord, Record, StepRecord};
use crate::plan::{Exit, State};

/// The conditions that are shown whenever they were judged.
const ALWAYS: [&str; 3] = [
    "PartitionsAligned",
    "KeySchemesAligned",
    "TopicConfigsApplied",
];
/// The conditions that are shown unless they are True.
const IF_NOT_TRUE: [&str; 2] = ["Accepted", "KafkaReachable"];

/// The text of a run.
pub(super) fn text(record: &Record) -> String {
    let mut lines = Vec::new();
    for group in &record.groups {
        lines.extend(of_group(group, record.dry_run));
        lines.push(String::new());
    }
    lines.push(summary(record));
    // Keys and names come out of files, and what a terminal obeys could be in them.
    let printable = |line: String| -> String {
        line.chars()
            .map(|letter| {
                if letter.is_control() {
                    letter.escape_default().to_string()
                } else {
                    letter.to_string()
                }
            })
            .collect()
    };
    let lines: Vec<String> = lines.into_iter().map(printable).collect();
    lines.join("\n") + "\n"
}

fn of_group(group: &GroupRecord, dry_run: bool) -> Vec<String> {
    let name = match (&group.namespace, &group.name) {
        (Some(namespace), Some(name)) => format!("{namespace}/{name}"),
        _ => group.source.clone(),
    };
    let foretold = dry_run && !group.plan.is_empty();
    let verdict = match group.exit() {
        Exit::Aligned if foretold => "would be aligned".to_owned(),
        Exit::Aligned => "aligned".to_owned(),
        Exit::Blocked => format!("blocked ({})", group.reason),
        Exit::Failed => format!("failed ({})", group.reason),
    };
    let mut lines = vec![format!("{name}: {verdict}")];
    // Something that could not be read as a group: there is nothing more to say.
    if group.name.is_none() {
        lines.push(format!("  {}", group.message));
        return lines;
    }
    let on = match group.bootstrap_servers.join(", ") {
        servers if servers.is_empty() => servers,
        servers => format!(", on {servers}"),
    };
    let cluster = match &group.cluster_id {
        Some(cluster_id) => format!(" (cluster {cluster_id})"),
        None => String::new(),
    };
    lines.push(format!("  from {}{on}{cluster}", group.source));
    lines.extend(group.cut_off.iter().map(|why| format!("  {why}")));
    // Of what was not judged there is no plan to speak of.
    if group.cluster_id.is_some() {
        let none = if group.plan.is_empty() { " none" } else { "" };
        lines.push(format!("  plan:{none}"));
    }
    for step in &group.plan {
        lines.extend(of_step(step));
    }
    let indent = if foretold {
        lines.push("  after the plan:".to_owned());
        "    "
    } else {
        "  "
    };
    let begin = lines.len();
    lines.extend(of_conditions(&group.conditions));
    for topic in &group.topics {
        if let Some(message) = &topic.message {
            lines.push(format!("{}: {message}", topic.name));
        }
    }
    if let Some(layout) = &group.layout {
        let keys: Vec<String> = layout
            .keys
            .iter()
            .map(|key| match key.partition {
                Some(partition) => format!("{} {} -> {partition}", key.key, key.bytes),
                None => format!("{} {} -> any", key.key, key.bytes),
            })
            .collect();
        lines.push(format!(
            "layout at {} partitions ({}): {}",
            layout.partitions,
            layout.scheme,
            keys.join(", ")
        ));
    }
    for line in &mut lines[begin..] {
        line.insert_str(0, indent);
    }
    lines
}

fn of_step(step: &StepRecord) -> Vec<String> {
    let topic = &step.topic;
    let (what, movement) = match &step.action {
        ActionRecord::Create {
            partitions,
            replication_factor,
            config,
        } => {
            let mut parts = vec![format!("{partitions} partitions")];
            parts.extend(replication_factor.map(|factor| format!("replication factor {factor}")));
            parts.extend(config.iter().map(|(key, value)| format!("{key}={value}")));
            (format!("create {topic} with {}", parts.join(", ")), None)
        }
        ActionRecord::Grow {
            from_partitions,
            to_partitions,
            movement,
        } => (
            format!("grow {topic} from {from_partitions} to {to_partitions} partitions"),
            movement.as_ref(),
        ),
        ActionRecord::Configure { changes } => {
            let changes: Vec<String> = changes
                .iter()
                .map(|change| {
                    let from = change.from.as_deref().unwrap_or("?");
                    format!("{} from {from} to {}", change.key, change.to)
                })
                .collect();
            (format!("set on {topic} {}", changes.join(", ")), None)
        }
    };
    let outcome = match step.outcome {
        "Done" => "done",
        "WouldBeDone" => "would be done",
        "Rejected" => "Kafka refused",
        "NotAuthorized" => "not authorized",
        "Unsure" => "not known whether it was done",
        _ => "not done",
    };
    let words = step
        .message
        .as_ref()
        .map_or_else(String::new, |words| format!(": {words}"));
    let mut lines = vec![format!("    {what}: {outcome}{words}")];
    lines.extend(movement.map(|movement| format!("      {movement}")));
    lines
}

fn of_conditions(conditions: &[ConditionRecord]) -> impl Iterator<Item = String> + '_ {
    let is_true = |condition: &ConditionRecord| condition.status == State::True.as_str();
    let accepted = conditions
        .iter()
        .any(|condition| condition.kind == "Accepted" && is_true(condition));
    conditions
        .iter()
        .filter(move |condition| {
            let kind = condition.kind.as_str();
            (ALWAYS.contains(&kind) && (accepted || condition.reason != "Pending"))
                || (IF_NOT_TRUE.contains(&kind)
                    && !is_true(condition)
                    && !["Pending", "ClusterUnknown"].contains(&condition.reason.as_str()))
                || (kind == "Paused" && is_true(condition))
        })
        .map(|condition| {
            format!(
                "{}={} ({}): {}",
                condition.kind, condition.status, condition.reason, condition.message
            )
        })
}

fn summary(record: &Record) -> String {
    let count = |exit: Exit| {
        let like = record.groups.iter().filter(|group| group.exit() == exit);
        like.count()
    };
    let aligned = if record.dry_run {
        "aligned after the plan"
    } else {
        "aligned"
    };
    let parts: Vec<String> = [
        (Exit::Aligned, aligned),
        (Exit::Blocked, "blocked"),
        (Exit::Failed, "failed"),
    ]
    .into_iter()
    .map(|(exit, word)| (count(exit), word))
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{count} {word}"))
    .collect();
    let dry_run = if record.dry_run {
        "dry run, nothing was written; "
    } else {
        ""
    };
    format!(
        "{dry_run}{}; exit code {}",
        parts.join(", "),
        record.exit_code
    )
}

#[cfg(test)]
mod tests {
    use super::super::record::ChangeRecord;
    use super::*;
    use crate::api::{LayoutKey, LayoutStatus, TopicStatus};

    fn group(exit: Exit, reason: &'static str, plan: Vec<StepRecord>) -> GroupRecord {
        let condition = |kind: &str, status: &str, reason: &str| ConditionRecord {
            kind: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: format!("of {kind}"),
        };
        GroupRecord {
            source: "group.yaml:1".to_owned(),
            namespace: Some("trading".to_owned()),
            name: Some("orders".to_owned()),
            bootstrap_servers: vec!["kafka:9092".to_owned()],
            cluster_id: Some("c".to_owned()),
            verdict: exit.as_str(),
            exit_code: exit.code(),
            reason,
            message: String::new(),
            plan,
            conditions: vec![
                condition("Accepted", "True", "Accepted"),
                condition("PartitionsAligned", "True", "Aligned"),
                condition("KeysVerified", "Unknown", "Off"),
                condition("Paused", "True", "Paused"),
            ],
            topics: vec![TopicStatus {
                name: "a".to_owned(),
                message: Some("replication factor".to_owned()),
                ..TopicStatus::default()
            }],
            layout: Some(LayoutStatus {
                scheme: "utf8/murmur2".to_owned(),
                partitions: 6,
                keys: vec![LayoutKey {
                    key: "BBCA\u{1b}[2J".to_owned(),
                    bytes: "42".to_owned(),
                    hash: None,
                    partition: Some(0),
                }],
                ..LayoutStatus::default()
            }),
            recorded_partitions: Some(6),
            holds_records: None,
            cut_off: None,
        }
    }

    fn step(action: ActionRecord, outcome: &'static str, message: Option<&str>) -> StepRecord {
        StepRecord {
            topic: "a".to_owned(),
            action,
            outcome,
            message: message.map(ToOwned::to_owned),
        }
    }

    fn grow() -> ActionRecord {
        ActionRecord::Grow {
            from_partitions: 6,
            to_partitions: 8,
            movement: Some("moves keys".to_owned()),
        }
    }

    #[test]
    fn a_group_is_told_from_its_verdict_on() {
        let configure = ActionRecord::Configure {
            changes: vec![ChangeRecord {
                key: "retention.ms".to_owned(),
                from: Some("1".to_owned()),
                to: "2".to_owned(),
            }],
        };
        let plan = vec![
            step(grow(), "Done", None),
            step(configure, "Rejected", Some("no")),
        ];
        let record = Record::new(false, vec![group(Exit::Failed, "Rejected", plan)]);
        let wanted = "\
trading/orders: failed (Rejected)
  from group.yaml:1, on kafka:9092 (cluster c)
  plan:
    grow a from 6 to 8 partitions: done
      moves keys
    set on a retention.ms from 1 to 2: Kafka refused: no
  PartitionsAligned=True (Aligned): of PartitionsAligned
  Paused=True (Paused): of Paused
  a: replication factor
  layout at 6 partitions (utf8/murmur2): BBCA\\u{1b}[2J 42 -> 0

1 failed; exit code 1
";
        assert_eq!(text(&record), wanted);
    }

    #[test]
    fn a_dry_run_says_that_nothing_was_written() {
        let planned = vec![step(grow(), "WouldBeDone", None)];
        let groups = vec![
            group(Exit::Aligned, "Aligned", planned),
            group(Exit::Aligned, "Aligned", Vec::new()),
            group(Exit::Blocked, "PartitionDrift", Vec::new()),
        ];
        let said = text(&Record::new(true, groups));
        for part in [
            "trading/orders: would be aligned\n",
            "partitions: would be done\n",
            "  after the plan:\n    PartitionsAligned=True",
            "trading/orders: aligned\n",
            "trading/orders: blocked (PartitionDrift)\n",
            "  plan: none\n",
            "dry run, nothing was written; 2 aligned after the plan, 1 blocked; exit code 2\n",
        ] {
            assert!(said.contains(part), "no {part:?} in {said}");
        }
    }

    #[test]
    fn what_is_no_group_is_named_by_its_file() {
        let problem = "it is broken".to_owned();
        let broken = GroupRecord::of_problem("x.yaml".to_owned(), None, None, problem);
        let said = text(&Record::new(false, vec![broken]));
        let wanted = "x.yaml: failed (InvalidSpec)\n  it is broken\n\n1 failed; exit code 1\n";
        assert_eq!(said, wanted);
    }

    #[test]
    fn the_worst_exit_code_counts() {
        let of = |exits: &[Exit]| {
            let groups = exits.iter().map(|exit| group(*exit, "", Vec::new()));
            Record::new(false, groups.collect()).exit_code
        };
        assert_eq!(of(&[Exit::Aligned, Exit::Aligned]), 0);
        assert_eq!(of(&[Exit::Blocked, Exit::Aligned]), 2);
        assert_eq!(of(&[Exit::Blocked, Exit::Failed, Exit::Aligned]), 1);
        assert_eq!(of(&[]), 1);
    }
}
