//! What is said to people: consumer group, wanted, seen, what to do.

use super::asked::{Asked, Counted, Why};
use super::report::{Apart, GroupReport, Report};
use super::verdict::{Habit, Seat, Split, Verdict};

/// How many groups, topics or sub-topologies a text names.
const SHOWN: usize = 3;

/// How much is shown of what clients call themselves, in characters.
const MOST: usize = 100;

impl Report {
    /// What holds and what does not. It begins with the gist; of a split it goes on with the first one and its members.
    pub fn message(&self) -> String {
        let worst = self.says();
        let mut blamed = self.groups.iter().filter(|it| it.verdict.says() == worst);
        let split = blamed.find_map(|group| match &group.verdict {
            Verdict::Split(split) => Some(split.first()),
            _ => None,
        });
        let gist = self.gist();
        split.map_or(gist.clone(), |first| format!("{gist}. First seen: {first}"))
    }

    /// The message without what changes while the verdict does not: members, their hosts, and how many numbers are split.
    pub fn gist(&self) -> String {
        if let Some(apart) = &self.apart {
            return apart.said();
        }
        let worst = self.says();
        let blamed = self.groups.iter().filter(|it| it.verdict.says() == worst);
        let mut said: Vec<String> = blamed.map(GroupReport::said).collect();
        if said.is_empty() {
            return "no consumer group is asked for".to_owned();
        }
        let more = said.len().saturating_sub(SHOWN);
        said.truncate(SHOWN);
        if more > 0 {
            said.push(format!("and {more} more consumer groups"));
        }
        said.join("; ")
    }
}

impl Apart {
    fn said(&self) -> String {
        let ((a, a_by), (b, b_by)) = (&self.a, &self.b);
        format!(
            "{a} is read by consumer group {} and {b} by {}: each group has an assignment of its own, so one process has same-numbered \
             partitions of both by chance at most. Let one application read both under one group id",
            short(a_by),
            short(b_by)
        )
    }
}

impl GroupReport {
    fn said(&self) -> String {
        let of = match &self.of {
            Asked::Id(id) => format!("consumer group {}", short(id)),
            Asked::Prefix(prefix) => format!("consumer groups that begin with {}", short(prefix)),
        };
        match &self.verdict {
            Verdict::Colocated {
                assignor,
                habit,
                alone,
                remedy,
            } => format!(
                "{of}: {}",
                together(&short(assignor), *habit, *alone, remedy)
            ),
            Verdict::Split(split) => format!(
                "{of}: same-numbered partitions are read by different members, under {}. {}",
                short(&split.assignor),
                split.remedy
            ),
            Verdict::SeparateSubTopologies {
                parts,
                repartitioned,
                together,
            } => format!("{of}: {}", separate(parts, repartitioned, *together)),
            Verdict::CannotRun {
                sub_topology,
                pair: [a, b],
                said,
            } => {
                let seen = if *said {
                    "it cannot run"
                } else {
                    "it has no members"
                };
                format!(
                    "{of}: {seen}, and its sub-topology {} reads {a} and {b}, whose partition counts differ (in brackets). An application that \
                     joins them stops over that: give both the same count, with consent where they hold records",
                    short(sub_topology)
                )
            }
            Verdict::UnequalCounts { pair: [a, b] } => format!(
                "{of}: the partition numbers that all topics have are together, but {a} has more partitions than {b} (in brackets), and those \
                 have no counterpart: see PartitionsAligned"
            ),
            Verdict::Partial {
                reads,
                unread,
                unassigned,
            } => format!("{of} {}", partial(reads, unread, unassigned.as_ref())),
            Verdict::NotReady(words) => format!(
                "{of}: a Kafka Streams application that cannot run: {}",
                short(words)
            ),
            Verdict::Empty { unequal } => format!("{of} has no members{}", hint(unequal.as_ref())),
            Verdict::Missing { unequal } => match &self.of {
                Asked::Id(_) => format!(
                    "{of} does not exist: start its application, or correct spec.consumerGroups. Consumers that assign partitions \
                     themselves have no group that could be seen{}",
                    hint(unequal.as_ref())
                ),
                Asked::Prefix(_) => format!(
                    "{of}: none is there, or the principal may not describe them. Start the application, correct \
                     spec.consumerGroups, or grant DESCRIBE on the groups{}",
                    hint(unequal.as_ref())
                ),
            },
            Verdict::Rebalancing => format!("{of}: members come or go, or take over partitions"),
            Verdict::Unsupported(what) => format!(
                "{of} is {}, which is not known here: it counts as active, and nothing is known of who reads what",
                short(what)
            ),
            Verdict::Unread(why, words) => {
                let advice = match why {
                    Why::NotAuthorized => "the principal may not describe it; grant DESCRIBE on it",
                    Why::Unsupported => "it cannot be read here",
                    Why::Failed => "it could not be read",
                };
                format!("{of}: {advice}: {}", short(words))
            }
        }
    }
}

fn together(assignor: &str, habit: Habit, alone: bool, remedy: &str) -> String {
    match (habit, alone) {
        (Habit::Keeps, true) => format!(
            "one member reads all partitions, and under {assignor} same-numbered ones stay together when others join"
        ),
        (Habit::Keeps, false) => {
            format!("each member reads the same partition numbers of all topics, under {assignor}")
        }
        (Habit::Parts, true) => format!(
            "same-numbered partitions are together only because one member reads them all: under {assignor} a second member can \
             part them. {remedy}"
        ),
        (Habit::Parts, false) => format!(
            "same-numbered partitions are together with the members of now, but {assignor} does not keep them so: when members come \
             or go it can part them. {remedy}"
        ),
        (Habit::Unknown, true) => format!(
            "same-numbered partitions are together because one member reads them all; whether they stay so under {assignor} will \
             show when a second one joins"
        ),
        (Habit::Unknown, false) => format!(
            "each member reads the same partition numbers of all topics, under {assignor}; what that does when members come or go \
             is not known here"
        ),
    }
}

impl Split {
    fn first(&self) -> String {
        let Self {
            partition,
            a,
            b,
            split,
            of,
            ..
        } = self;
        format!(
            "partition {partition} of {} is read by {}, and of {} by {}; {split} of {of} partition numbers are split",
            a.topic,
            a.said(),
            b.topic,
            b.said()
        )
    }
}

impl Seat {
    fn said(&self) -> String {
        let Self {
            member,
            client_id,
            host,
            ..
        } = self;
        // Classic members' ids begin with the client's.
        let client = if member.starts_with(client_id.as_str()) {
            String::new()
        } else {
            format!(" ({})", short(client_id))
        };
        format!("{}{client} on {}", short(member), short(host))
    }
}

fn separate(parts: &[(String, Vec<String>)], repartitioned: &[String], together: bool) -> String {
    let shown = parts.iter().take(SHOWN);
    let mut read: Vec<String> = shown
        .map(|(id, topics)| format!("{} in sub-topology {}", listed(topics), short(id)))
        .collect();
    let more = parts.len().saturating_sub(SHOWN);
    if more > 0 {
        read.push(format!("others in {more} more"));
    }
    let now = if together {
        "they are in one process now, but only by chance"
    } else {
        "they are in different processes now"
    };
    let right = if repartitioned.is_empty() {
        String::new()
    } else {
        format!(
            ". What Kafka Streams itself joins by way of {} is right as it is",
            listed(repartitioned)
        )
    };
    format!(
        "Kafka Streams reads {}: each sub-topology has tasks of its own, which go to any process ({now}). Read the topics in one \
         sub-topology: join them, or connect one state store to the processors of both{right}",
        read.join(" and ")
    )
}

fn partial(reads: &[String], unread: &[String], unassigned: Option<&(String, i32)>) -> String {
    if reads.is_empty() {
        return "reads none of these topics: correct spec.consumerGroups, or what it subscribes to"
            .to_owned();
    }
    match (unread, unassigned) {
        ([], Some((topic, partition))) => {
            format!("does not read partition {partition} of {topic}: nobody was given it yet")
        }
        ([], None) => format!("reads {}", listed(reads)),
        (unread, _) => format!(
            "reads {} but not {}: let it read all of them. (Topics of a global table or of a consumer that assigns partitions itself do not \
             show; a group that reads them elsewhere is not one with it)",
            listed(reads),
            listed(unread)
        ),
    }
}

fn hint(unequal: Option<&[Counted; 2]>) -> String {
    unequal.map_or_else(String::new, |[a, b]| {
        format!(
            ". {a} and {b} have different partition counts (in brackets): a Kafka Streams application that joins them can stop over that"
        )
    })
}

fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| short(name)).collect();
    let more = names.len().saturating_sub(SHOWN);
    let shown = shown.join(", ");
    if more > 0 {
        format!("{shown} and {more} more")
    } else {
        shown
    }
}

/// A text from outside: nothing that a terminal obeys, and not too long.
fn short(text: &str) -> String {
    let shown = text.chars().take(MOST).map(|letter| {
        if letter.is_control() {
            char::REPLACEMENT_CHARACTER
        } else {
            letter
        }
    });
    let mut shown: String = shown.collect();
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}
