//! Condition types and reasons: the words that users, alerts and GitOps tools rely on. They are frozen once shipped.

use std::fmt;

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($variant:ident: $doc:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        // The docs are also printed as plain text.
        #[allow(clippy::doc_markdown)]
        pub enum $name { $(#[doc = $doc] $variant,)+ }

        impl $name {
            /// All of them, in the order of the documentation.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The word as it stands in the status.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => stringify!($variant),)+ }
            }

            /// One line of documentation.
            pub fn doc(self) -> &'static str {
                match self { $($name::$variant => $doc,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// The condition types of a group.
    ConditionType {
        Accepted: "The resource is valid and permitted, and all its topics are held.",
        KafkaReachable: "The last snapshot of the Kafka cluster is fresh.",
        PartitionsAligned: "Every topic exists with the group's partition count.",
        KeySchemesAligned: "The declared key schemes of all topics map every key alike at this count.",
        TopicConfigsApplied: "The declared topic config holds.",
        KeysVerified: "Sampled records lie where the declared scheme puts them.",
        ConsumersColocated: "Same-numbered partitions of all topics sit on one consumer.",
        SlotsAligned: "All Redis key templates of one key hash to one slot.",
        Locked: "The ALTER lock stands on every topic.",
        Paused: "The pause annotation is set: nothing is written to Kafka.",
        Ready: "Accepted, PartitionsAligned and KeySchemesAligned hold.",
        Reconciling: "kstatus: the operator still works towards the spec or waits for something that may heal by itself.",
        Stalled: "kstatus: somebody has to act.",
    }
}

words! {
    /// Why a condition has its status.
    Reason {
        Accepted: "The resource is valid and its topics are held.",
        InvalidSpec: "A field is wrong or not implemented yet; the message names it.",
        NotPermitted: "The connection's rules do not allow what the group asks for.",
        ConnectionNotFound: "There is no KafkaConnection of that name.",
        SecretNotFound: "A Secret, ConfigMap or Strimzi resource that the connection names is missing, or has not what it should have; the message names it.",
        TopicConflict: "Another group holds one of the topics; the message names it.",
        ManagedByOther: "Another installation of the operator wrote this group's claim.",
        ForeignMemory: "The claim was written in another Kubernetes cluster, as after restoring a backup.",
        Pending: "Not looked at yet.",
        ClusterUnknown: "Kafka has not told its cluster id yet.",
        Reachable: "Kafka answers.",
        Unreachable: "No broker could be reached in several polls.",
        AuthenticationFailed: "Kafka refused the credentials.",
        CertificateRejected: "The TLS handshake failed on a certificate.",
        NotAuthorized: "The principal lacks a permission; the message names it.",
        Timeout: "Brokers took longer than the timeout in several polls.",
        Aligned: "Every topic has the group's partition count.",
        PartitionDrift: "A topic has a count that nobody declared; the message says expected and seen.",
        TopicMissing: "A topic does not exist and is not the operator's to create now.",
        TopicDeleted: "A topic that was recorded is gone.",
        TopicRecreated: "A topic was deleted and created again: it has another id.",
        ClusterChanged: "The address leads to another Kafka cluster than the one recorded.",
        GrowthBlocked: "A growth would move keys and nobody consented to it, or part keys that meet now.",
        GrowthIncomplete: "A growth is under way.",
        WaitingForReferenced: "A Referenced topic does not have the group's count yet; its owner has to grow it.",
        CountsDisagree: "spec.partitions is unset and the existing topics differ.",
        CountUnknown: "spec.partitions is unset and no topic exists.",
        CreateRejected: "Kafka refused to create a topic; the message has its words.",
        GrowthRejected: "Kafka refused to add partitions; the message has its words.",
        Creating: "Topics are being created.",
        TopicNotAuthorized: "The principal may not describe a topic.",
        OffsetsUnreadable: "End offsets could not be read, so a growth is held back.",
        SameScheme: "All topics declare the same key scheme.",
        EquivalentSchemes: "The declared schemes differ and yet map every key alike at this count; the message says with which limits.",
        PartitionerMismatch: "Topics or their producers declare partitioners that map keys differently; the message shows some.",
        EncodingMismatch: "Topics declare encodings that turn one key into different bytes; the message shows some.",
        NotProvable: "Calculation cannot tell: a custom partitioner, or a registry's schema id in the key.",
        SchemeNotDeclared: "At least one topic declares no key scheme.",
        KeysFit: "Sampled records lie where the declared schemes put them, and keys that topics share on equal partition numbers.",
        SchemeMismatch: "Records lie where the declared scheme does not put them, or their keys have another encoding; the message says what fits.",
        NonDeterministic: "One key lies on several partitions of a topic.",
        Unkeyed: "Records have no key.",
        TooFewKeys: "What was read fits, with too few distinct keys to prove anything.",
        NoRecords: "A topic has no records that could be judged.",
        Settling: "All records of a topic are of the time of a growth, when producers may or may not have known of it.",
        ReadIncomplete: "Not everything could be read; the message says why.",
        Colocated: "Same-numbered partitions of all topics are read by one member (of Kafka Streams: in one process).",
        ColocatedByChance: "They are, but the assignor does not keep it so, or there is only one member; the message says what to use.",
        SplitMembers: "Same-numbered partitions are read by different members; the message names the first, the assignor and what to use.",
        SeparateSubTopologies: "A Kafka Streams application reads the topics in different sub-topologies, which nothing keeps together.",
        SeparateGroups: "Topics are read by different consumer groups, and by none together.",
        UnequalCounts: "A consumer group reads topics of unequal partition counts, over which a Kafka Streams application stops; the message names a pair.",
        UnsupportedGroup: "A kind of group, or a way to its broker, that this version does not know. It counts as active.",
        GroupNotAuthorized: "The principal may not describe a consumer group.",
        Rebalancing: "Members of a consumer group come or go.",
        NotReady: "A Kafka Streams application cannot run; the message has the coordinator's words.",
        GroupMissing: "A consumer group does not exist.",
        GroupEmpty: "A consumer group has no members.",
        TopicsUnread: "A consumer group does not read all topics, or not all of their partitions; the message names some.",
        SameSlot: "All Redis key templates of one key hash to one slot.",
        UntaggedTemplate: "A Redis key template has no hash tag.",
        TagMismatch: "Two Redis key templates hash different parts of the key.",
        Applied: "The declared config holds.",
        Rejected: "Kafka refused what was asked of it; the message has its words.",
        WouldDropData: "A declared config would drop records of an adopted topic.",
        Observed: "The config differs, and the group only observes.",
        Locked: "The ALTER lock stands on every Managed topic.",
        SuperUser: "The ALTER lock stands on every Managed topic; the operator's own principal is a super user, whom no ACL binds.",
        ForeignDeny: "An ACL that the operator did not set denies ALTER; it is never the operator's to take away.",
        DefaultAllowUnknown: "No ACL matches a topic, and the cluster may let everybody near such topics: its first ACL would hide it from all.",
        NoAuthorizer: "The cluster has no authorizer, so an ACL would bind nobody.",
        Lifted: "A lock of the operator's is not there, for a growth or because somebody took it away; it is put back.",
        Spreading: "A lock is being set, and not every broker knows of it yet.",
        Off: "Not asked for.",
        Paused: "The pause annotation is set.",
        NotPaused: "The pause annotation is not set.",
        Settled: "Nothing to do.",
        InProgress: "The operator is at work or waits; see Ready.",
        ActionNeeded: "Somebody has to act; see Ready.",
    }
}

impl Reason {
    /// Whether somebody has to act: kstatus' Stalled. `observing` makes a missing topic final, since nobody will
    /// create it.
    pub fn is_stalled(self, observing: bool) -> bool {
        match self {
            Reason::InvalidSpec
            | Reason::NotPermitted
            | Reason::TopicConflict
            | Reason::ManagedByOther
            | Reason::ForeignMemory
            | Reason::PartitionDrift
            | Reason::TopicDeleted
            | Reason::TopicRecreated
            | Reason::ClusterChanged
            | Reason::GrowthBlocked
            | Reason::CountsDisagree
            | Reason::CountUnknown
            | Reason::CreateRejected
            | Reason::GrowthRejected
            | Reason::PartitionerMismatch
            | Reason::EncodingMismatch
            | Reason::AuthenticationFailed
            | Reason::CertificateRejected => true,
            Reason::TopicMissing => observing,
            _ => false,
        }
    }
}

/// True, False or Unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// It cannot be told now.
    Unknown,
}

impl State {
    /// The word as it stands in the status.
    pub fn as_str(self) -> &'static str {
        match self {
            State::True => "True",
            State::False => "False",
            State::Unknown => "Unknown",
        }
    }
}

/// A condition without times: what the times are is the status writer's business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Which.
    pub kind: ConditionType,
    /// Its status.
    pub state: State,
    /// Why.
    pub reason: Reason,
    /// For people: topic, wanted, seen, what to do.
    pub message: String,
}

impl Condition {
    /// A condition.
    pub fn new(
        kind: ConditionType,
        state: State,
        reason: Reason,
        message: impl Into<String>,
    ) -> Self {
        Condition {
            kind,
            state,
            reason,
            message: message.into(),
        }
    }
}
