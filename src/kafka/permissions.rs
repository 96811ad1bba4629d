//! Which permissions the operator needs on Kafka, and what for.

use std::collections::BTreeSet;
use std::fmt;

/// An operation of Kafka's authorizer, by the names that it has in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// Read records.
    Read,
    /// Write records.
    Write,
    /// Create topics.
    Create,
    /// Delete topics, records or groups.
    Delete,
    /// Add partitions; on the cluster, edit ACLs.
    Alter,
    /// See that a resource exists, and what of it is not config.
    Describe,
    /// What brokers do among themselves.
    ClusterAction,
    /// See config.
    DescribeConfigs,
    /// Set config.
    AlterConfigs,
    /// Write records idempotently without being allowed to on any topic.
    IdempotentWrite,
}

impl Operation {
    /// All operations, by the number that the protocol has for each, from 3 on.
    const BY_NUMBER: [Self; 10] = [
        Self::Read,
        Self::Write,
        Self::Create,
        Self::Delete,
        Self::Alter,
        Self::Describe,
        Self::ClusterAction,
        Self::DescribeConfigs,
        Self::AlterConfigs,
        Self::IdempotentWrite,
    ];

    /// The operation of a number (Kafka's `AclOperation`); `None` for one that is not known here.
    pub(super) fn of_number(number: i32) -> Option<Self> {
        let index = usize::try_from(number).ok()?.checked_sub(3)?;
        Self::BY_NUMBER.get(index).copied()
    }

    /// As the protocol and the brokers' messages name it: `DESCRIBE_CONFIGS`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "READ",
            Self::Write => "WRITE",
            Self::Create => "CREATE",
            Self::Delete => "DELETE",
            Self::Alter => "ALTER",
            Self::Describe => "DESCRIBE",
            Self::ClusterAction => "CLUSTER_ACTION",
            Self::DescribeConfigs => "DESCRIBE_CONFIGS",
            Self::AlterConfigs => "ALTER_CONFIGS",
            Self::IdempotentWrite => "IDEMPOTENT_WRITE",
        }
    }

    /// As `kafka-acls.sh` names it: `DescribeConfigs`.
    pub fn tool_name(self) -> String {
        let parts = self.name().split('_');
        parts
            .map(|part| part[..1].to_owned() + &part[1..].to_lowercase())
            .collect()
    }

    /// What else a right to this gives (Kafka's `AclEntry`: READ, WRITE, DELETE and ALTER let describe, `ALTER_CONFIGS` lets
    /// see configs).
    fn includes(self, other: Self) -> bool {
        let describes = matches!(self, Self::Read | Self::Write | Self::Delete | Self::Alter);
        self == other
            || describes && other == Self::Describe
            || self == Self::AlterConfigs && other == Self::DescribeConfigs
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the operator does with a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Use {
    /// Looks at it: `management: Referenced`, `mode: Observe`.
    Observe,
    /// Creates, grows and configures it.
    Manage,
    /// Reads some of its records.
    Sample,
    /// Locks it against ALTER: takes rights on the cluster, none on the topic ([`CLUSTER_PERMISSIONS`]).
    Lock,
}

/// A right on a topic, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permission {
    /// For this use of the topic.
    pub needed_to: Use,
    /// The operation on it.
    pub operation: Operation,
    /// What is done with it.
    pub purpose: &'static str,
    /// The requests that it is for.
    pub requests: &'static str,
}

/// The right on a consumer group that reading its assignments needs: ListGroups leaves groups without it out, and the
/// descriptions refuse them. With the newer protocols coordinators ask for it on the topics as well, where it is there anyway.
pub const GROUP_PERMISSION: Operation = Operation::Describe;

/// All rights on topics that the operator needs. It needs none on transactional ids, on groups [`GROUP_PERMISSION`], and on the
/// cluster only what [`CLUSTER_PERMISSIONS`] says.
pub const PERMISSIONS: [Permission; 6] = [
    Permission {
        needed_to: Use::Observe,
        operation: Operation::Describe,
        purpose: "see partitions, ids, and whether there are records",
        requests: "Metadata, ListOffsets",
    },
    Permission {
        needed_to: Use::Observe,
        operation: Operation::DescribeConfigs,
        purpose: "compare config",
        requests: "DescribeConfigs",
    },
    Permission {
        needed_to: Use::Manage,
        operation: Operation::Create,
        purpose: "create the topic (on the cluster does as well)",
        requests: "CreateTopics",
    },
    Permission {
        needed_to: Use::Manage,
        operation: Operation::Alter,
        purpose: "add partitions; includes DESCRIBE",
        requests: "CreatePartitions",
    },
    Permission {
        needed_to: Use::Manage,
        operation: Operation::AlterConfigs,
        purpose: "set config; includes DESCRIBE_CONFIGS",
        requests: "IncrementalAlterConfigs",
    },
    Permission {
        needed_to: Use::Sample,
        operation: Operation::Read,
        purpose: "read records; includes DESCRIBE",
        requests: "Fetch, ListOffsets",
    },
];

/// A right on the cluster itself, which only the ALTER lock needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterPermission {
    /// The operation on it.
    pub operation: Operation,
    /// Whether there is no lock without it.
    pub required: bool,
    /// What is done with it.
    pub purpose: &'static str,
    /// The requests that it is for.
    pub requests: &'static str,
}

/// All rights on the cluster that the operator can use. None is needed where no group sets `alterLock: Deny`.
pub const CLUSTER_PERMISSIONS: [ClusterPermission; 3] = [
    ClusterPermission {
        operation: Operation::Alter,
        required: true,
        purpose: "set, lift and undo locks; includes DESCRIBE",
        requests: "CreateAcls, DeleteAcls",
    },
    ClusterPermission {
        operation: Operation::Describe,
        required: true,
        purpose: "see which locks stand",
        requests: "DescribeAcls",
    },
    ClusterPermission {
        operation: Operation::DescribeConfigs,
        required: false,
        purpose: "see that the brokers do not set allow.everyone.if.no.acl.found",
        requests: "DescribeConfigs of brokers",
    },
];

/// The table of [`CLUSTER_PERMISSIONS`] as it stands in `docs/permissions.md`.
pub fn cluster_permissions_table() -> String {
    let mut lines = vec![
        "| operation on the cluster | needed | what for | requests |".to_owned(),
        "|---|---|---|---|".to_owned(),
    ];
    lines.extend(CLUSTER_PERMISSIONS.iter().map(|permission| {
        let ClusterPermission {
            operation,
            required,
            purpose,
            requests,
        } = permission;
        let needed = if *required {
            "yes"
        } else {
            "to lock a topic that no ACL matches yet, unless the connection states the setting"
        };
        format!("| {operation} | {needed} | {purpose} | {requests} |")
    }));
    lines.join("\n") + "\n"
}

/// The rights that these uses of a topic need and that are not there, given those that are
/// ([`Client::authorized_operations`](super::Client::authorized_operations)); none is left out because another one
/// includes it, but what is included counts as there.
pub fn missing(authorized: &BTreeSet<Operation>, uses: &[Use]) -> Vec<Operation> {
    let mut needed: Vec<Operation> = uses.iter().flat_map(|of| least(*of)).collect();
    needed.sort_unstable();
    needed.dedup();
    needed.retain(|operation| !authorized.iter().any(|has| has.includes(*operation)));
    needed
}

/// The least set of rights for one use of a topic.
pub fn least(needed_to: Use) -> impl Iterator<Item = Operation> {
    let all = PERMISSIONS.iter();
    all.filter(move |permission| permission.needed_to == needed_to)
        .map(|permission| permission.operation)
}

/// The table of [`PERMISSIONS`] as it stands in `docs/permissions.md`.
pub fn permissions_table() -> String {
    let mut lines = vec![
        "| to | operation on the topic | what for | requests |".to_owned(),
        "|---|---|---|---|".to_owned(),
    ];
    lines.extend(PERMISSIONS.iter().map(|permission| {
        let Permission {
            needed_to,
            operation,
            purpose,
            requests,
        } = permission;
        let to = format!("{needed_to:?}").to_lowercase();
        format!("| {to} | {operation} | {purpose} | {requests} |")
    }));
    lines.join("\n") + "\n"
}

/// How to say that an operation is refused.
pub(super) fn denied(operation: Operation, topic: &str, words: &str) -> String {
    let words = words.trim_end_matches('.');
    format!("{operation} on topic {topic} ({words}): allow it to the principal of this connection")
}

/// How to say that an operation on the cluster is refused.
pub(super) fn denied_on_cluster(operation: Operation, words: &str) -> String {
    let words = words.trim_end_matches('.');
    format!("{operation} on the cluster ({words}): allow it to the principal of this connection")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../docs/permissions.md");

    #[test]
    fn the_page_has_the_table() {
        let table = permissions_table();
        assert!(
            PAGE.contains(&table),
            "put this into docs/permissions.md\n{table}"
        );
    }

    #[test]
    fn the_page_has_the_table_of_the_cluster() {
        let table = cluster_permissions_table();
        assert!(
            PAGE.contains(&table),
            "put this into docs/permissions.md\n{table}"
        );
    }

    #[test]
    fn the_commands_of_the_page_grant_the_least_set() {
        for (of, name) in [
            (Use::Observe, "observe"),
            (Use::Manage, "manage"),
            (Use::Sample, "sample"),
        ] {
            let begin = format!("# {name}\n");
            let (_, command) = PAGE.split_once(&begin).unwrap();
            let command = command.split("\n\n").next().unwrap();
            let granted: BTreeSet<&str> = command
                .split_whitespace()
                .zip(command.split_whitespace().skip(1))
                .filter_map(|(flag, value)| (flag == "--operation").then_some(value))
                .collect();
            let least: Vec<String> = least(of).map(Operation::tool_name).collect();
            assert_eq!(
                granted,
                least.iter().map(String::as_str).collect(),
                "{name}"
            );
        }
    }

    #[test]
    fn the_command_for_consumer_groups_grants_what_they_need() {
        let (_, command) = PAGE.split_once("# watch\n").unwrap();
        let command = command.split("```").next().unwrap();
        assert!(command.contains("--group "), "{command}");
        let operation = format!("--operation {}\n", GROUP_PERMISSION.tool_name());
        assert!(command.ends_with(&operation), "{command}");
        assert_eq!(command.matches("--operation").count(), 1);
    }

    #[test]
    fn what_is_missing_is_what_nothing_includes() {
        use Operation::{Alter, AlterConfigs, Create, Describe, DescribeConfigs, Read};
        let missing =
            |has: &[Operation], uses: &[Use]| missing(&has.iter().copied().collect(), uses);
        assert_eq!(missing(&[], &[Use::Observe]), [Describe, DescribeConfigs]);
        assert_eq!(missing(&[Alter, AlterConfigs], &[Use::Observe]), []);
        assert_eq!(
            missing(&[Alter], &[Use::Manage, Use::Sample]),
            [Read, Create, AlterConfigs]
        );
    }

    #[test]
    fn numbers_are_those_of_the_protocol() {
        assert_eq!(Operation::of_number(3), Some(Operation::Read));
        assert_eq!(Operation::of_number(8), Some(Operation::Describe));
        assert_eq!(Operation::of_number(12), Some(Operation::IdempotentWrite));
        assert!(
            [-1, 0, 1, 2, 13]
                .iter()
                .all(|n| Operation::of_number(*n).is_none())
        );
        assert_eq!(Operation::AlterConfigs.tool_name(), "AlterConfigs");
    }
}
