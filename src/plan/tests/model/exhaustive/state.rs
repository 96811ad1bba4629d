//! What a state is made of: small values that can be hashed, and how they become what the planner reads.

use super::super::rules::{Broken, Used};
use super::*;

/// How much more may happen that is not the operator's own work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    /// Commits, acknowledgements, groups deleted and created again.
    pub(super) edits: u8,
    /// What others do on Kafka: topics made, grown, written to, deleted.
    pub(super) outside: u8,
    /// Crashes, requests that Kafka carries out in part, claims that get lost.
    pub(super) faults: u8,
}

impl Budget {
    pub(super) fn new([edits, outside, faults]: [u8; 3]) -> Self {
        Budget {
            edits,
            outside,
            faults,
        }
    }

    pub(super) fn is_spent(self) -> bool {
        self.edits + self.outside + self.faults == 0
    }
}

/// A topic on Kafka.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Live {
    /// Which of the topics that had this name.
    pub(super) made: u8,
    pub(super) count: u8,
    pub(super) records: bool,
}

/// A name on Kafka.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Slot {
    pub(super) live: Option<Live>,
    /// How many topics have had this name.
    pub(super) made: u8,
}

/// What the last reading of a topic left: as `TopicView`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Seen {
    pub(super) live: Option<Live>,
    pub(super) misses: u8,
}

impl Seen {
    /// What one more reading makes of it: a first miss keeps the reading before it.
    pub(super) fn then(self, slot: Slot) -> Self {
        match (slot.live, self.live) {
            (Some(live), _) => Seen {
                live: Some(live),
                misses: 0,
            },
            (None, Some(live)) if self.misses == 0 => Seen {
                live: Some(live),
                misses: 1,
            },
            (None, _) => Seen {
                live: None,
                misses: 2.min(self.misses + 1),
            },
        }
    }
}

/// What a spec says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Spec {
    /// 0: unset.
    pub(super) partitions: u8,
    pub(super) consent: Option<Consent>,
    pub(super) acknowledged: BTreeSet<String>,
}

/// How far a pass has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pass {
    Idle,
    /// It has read everything.
    Begun {
        spec: Spec,
        seen: Vec<Seen>,
        memory: Memory,
        rival: bool,
    },
    /// Its claim is written, and it has to see that no other came first.
    Listed {
        spec: Spec,
        seen: Vec<Seen>,
        memory: Memory,
        actions: Actions,
        /// The claim before.
        before: Option<Memory>,
    },
    /// It may write to Kafka.
    Decided {
        spec: Spec,
        seen: Vec<Seen>,
        memory: Memory,
        actions: Actions,
    },
    /// It has a status to write.
    Done {
        status: Memory,
    },
}

/// One group, as Kubernetes and its operator know it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Known {
    /// None while the group is deleted.
    pub(super) spec: Option<Spec>,
    pub(super) claim: Option<Memory>,
    /// What its status remembers.
    pub(super) status: Option<Memory>,
    /// The last poll; None after a start.
    pub(super) seen: Option<Vec<Seen>>,
    pub(super) pass: Pass,
    pub(super) used: BTreeSet<Used>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Moment {
    pub(super) kafka: Vec<Slot>,
    pub(super) groups: Vec<Known>,
    /// The groups whose claims list the topic, in the order of the claim watch. Only for two groups.
    pub(super) listed: Vec<usize>,
    pub(super) left: Budget,
    pub(super) broken: Option<Rule>,
}

pub(super) fn id(topic: usize, live: Live) -> String {
    format!("{}#{}", NAMES[topic], live.made)
}

/// What a poll shows to the planner.
pub(super) fn view(seen: &[Seen]) -> View {
    let topic = |(at, seen): (usize, &Seen)| {
        let reading = match seen.live {
            None => TopicReading::Missing,
            Some(live) => TopicReading::Present(TopicState {
                id: id(at, live),
                partitions: i32::from(live.count),
                replication_factor: 1,
                records: if live.records { FULL } else { EMPTY },
                config: None,
            }),
        };
        let misses = seen.misses;
        (NAMES[at].to_owned(), TopicView { reading, misses })
    };
    View {
        cluster_id: "K1".to_owned(),
        topics: seen.iter().enumerate().map(topic).collect(),
    }
}

/// What the planner decides.
pub(super) fn choose(group: &Group, memory: &Memory, view: &View, rival: bool) -> Decision {
    let conflicts = rival.then(|| (NAMES[0].to_owned(), "other/group".to_owned()));
    decide(&Input {
        group,
        memory,
        view,
        locks: &LocksView::Unread,
        me: &owner("main", "uid-1"),
        take_over: &BTreeSet::new(),
        conflicts: &conflicts.into_iter().collect(),
    })
}

impl Shape {
    pub(super) fn group(&self, spec: &Spec) -> Group {
        let mut world = group(i32::from(spec.partitions));
        for (managed, name) in self.topics.iter().zip(NAMES) {
            world.declares(name, *managed);
        }
        world.group.consent.clone_from(&spec.consent);
        world.group.acknowledged.clone_from(&spec.acknowledged);
        world.group
    }

    /// Each topic missing, or with each count, empty or not; each count in the spec, or none. Or a few of these, from
    /// which the others are reached.
    pub(super) fn beginnings(&self) -> Vec<Moment> {
        let slot = |count: u8, records: bool| {
            let made = u8::from(count > 0);
            let live = (count > 0).then_some(Live {
                made,
                count,
                records,
            });
            Slot { live, made }
        };
        let each: Vec<Slot> = std::iter::once(slot(0, false))
            .chain((1..=4).flat_map(|count| [false, true].map(|records| slot(count, records))))
            .collect();
        let (some, full, less) = (slot(2, false), slot(2, true), slot(1, true));
        let pairs: Vec<[Slot; 2]> = match self.from {
            Start::Everywhere => (0..each.len())
                .flat_map(|a| (0..each.len()).map(move |b| (a, b)))
                // Topics that are managed alike may change places.
                .filter(|(a, b)| a <= b || self.topics != [true, true])
                .map(|(a, b)| [each[a], each[b]])
                .collect(),
            Start::Few => vec![[full, full], [some, full], [full, each[0]], [less, full]],
        };
        let counts = match self.from {
            Start::Everywhere => 0..=4,
            Start::Few => 2..=3,
        };
        let mut all = Vec::new();
        for pair in pairs {
            for partitions in counts.clone() {
                let group = Known {
                    spec: Some(Spec {
                        partitions,
                        consent: None,
                        acknowledged: BTreeSet::new(),
                    }),
                    claim: None,
                    status: None,
                    seen: None,
                    pass: Pass::Idle,
                    used: BTreeSet::new(),
                };
                all.push(Moment {
                    kafka: pair[..self.topics.len()].to_vec(),
                    groups: vec![group; self.groups],
                    listed: Vec::new(),
                    left: self.budget,
                    broken: None,
                });
            }
        }
        // Of pairs that are cut to one topic some are alike.
        let mut seen = std::collections::HashSet::new();
        all.retain(|moment| seen.insert(moment.clone()));
        all
    }
}

/// The result of an event.
pub(super) type Outcome = Result<(), Broken>;
