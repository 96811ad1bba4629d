//! The exhaustive check of ALTER locks: one topic on two clusters, every order of edits, strangers' ACLs and crashes within
//! a bound, with a pass that is cut between any two of its steps.
//!
//! ```text
//! Look ─> Remember ─> Undo ─> Lift ─> Grow ─> PutBack ─> Set ─> Look again, with what was undone forgotten
//! ```
//! Kafka tells nobody who set an ACL. One that a stranger sets while ours is remembered and missing, or is about to be
//! set, is one and the same as ours ([`Whose::Both`]): nobody could tell them apart.

use stateright::{Checker, Model, Property};

use super::*;

/// Who set the `DENY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Whose {
    Ours,
    Strangers,
    Both,
}

/// What people can edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Wish {
    lock: bool,
    /// Managed, Referenced, or not in the group.
    managed: Option<bool>,
    paused: bool,
    count: i32,
    acknowledged: bool,
}

/// How far a pass has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Idle,
    Looked {
        wish: Wish,
        seen: Seen,
        memory: Memory,
        /// What this pass did last: what is decided once more is left to the next pass.
        did: Option<Actions>,
    },
    Acting {
        actions: Actions,
        memory: Memory,
        at: usize,
        lifted: bool,
    },
    /// The next look remembers what was undone.
    Again(Memory, Actions),
}

/// What a look sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Seen {
    cluster: usize,
    count: i32,
    stands: bool,
    other: bool,
    denies: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Moment {
    wish: Wish,
    /// Where the connection leads.
    cluster: usize,
    count: [i32; 2],
    deny: [Option<Whose>; 2],
    other: bool,
    denies: Option<bool>,
    claim: Memory,
    stage: Stage,
    edits: u8,
    crashes: u8,
    broken: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Step,
    Crash,
    Lock(bool),
    Manage(Option<bool>),
    Pause(bool),
    Want(i32),
    Acknowledge,
    MoveTo(usize),
    StrangerDenies,
    StrangerRemoves,
    Other(bool),
    Denies(Option<bool>),
}

struct Locks {
    edits: u8,
    crashes: u8,
}

const CLUSTERS: [&str; 2] = ["K1", "K2"];
const STEPS: usize = 5;

fn lock_on(cluster: usize) -> Lock {
    Lock {
        topic: "a".to_owned(),
        cluster_id: CLUSTERS[cluster].to_owned(),
    }
}

impl Moment {
    fn world(wish: Wish, seen: Seen, memory: Memory) -> World {
        let mut world = group(wish.count);
        // A topic that stays, so that the group is never without one.
        world.references("r").has("r", wish.count, EMPTY);
        if let Some(managed) = wish.managed {
            world.declares("a", managed);
        }
        world.has("a", seen.count, EMPTY);
        world.group.alter_lock = wish.lock;
        world.group.paused = wish.paused;
        if wish.acknowledged {
            world.acknowledges("K1").acknowledges("K2");
        }
        world.cluster(CLUSTERS[seen.cluster]);
        let locks = LockSeen {
            stands: seen.stands,
            other_acls: seen.other,
            may_alter: None,
        };
        world.locks = LocksView::Seen {
            denies_by_default: seen.denies,
            topics: BTreeMap::from([("a".to_owned(), locks)]),
        };
        world.memory = memory;
        world
    }

    fn look(&self) -> Seen {
        Seen {
            cluster: self.cluster,
            count: self.count[self.cluster],
            stands: self.deny[self.cluster].is_some(),
            other: self.other,
            denies: self.denies,
        }
    }

    fn breaks(&mut self, rule: &'static str, holds: bool) {
        if !holds {
            self.broken = self.broken.or(Some(rule));
        }
    }

    /// Our request to take a lock away.
    fn take_away(&mut self, cluster: usize) {
        let strangers = self.deny[cluster] == Some(Whose::Strangers);
        self.breaks("what strangers deny stays", !strangers);
        self.deny[cluster] = None;
    }

    fn set(&mut self, cluster: usize) {
        self.deny[cluster] = Some(match self.deny[cluster] {
            None | Some(Whose::Ours) => Whose::Ours,
            Some(Whose::Strangers | Whose::Both) => Whose::Both,
        });
    }

    fn step(&mut self) {
        match std::mem::replace(&mut self.stage, Stage::Idle) {
            Stage::Idle => {
                self.stage = Stage::Looked {
                    wish: self.wish,
                    seen: self.look(),
                    memory: self.claim.clone(),
                    did: None,
                };
            }
            Stage::Again(memory, did) => {
                self.stage = Stage::Looked {
                    wish: self.wish,
                    seen: self.look(),
                    memory,
                    did: Some(did),
                };
            }
            Stage::Looked {
                wish,
                seen,
                memory,
                did,
            } => {
                let actions = self.remember(wish, seen, memory);
                if !actions.is_empty() && did.as_ref() != Some(&actions) {
                    self.stage = Stage::Acting {
                        actions,
                        memory: self.claim.clone(),
                        at: 0,
                        lifted: false,
                    };
                }
            }
            Stage::Acting {
                actions,
                memory,
                at,
                lifted,
            } => self.act(actions, memory, at, lifted),
        }
    }

    fn remember(&mut self, wish: Wish, seen: Seen, memory: Memory) -> Actions {
        let decision = Self::world(wish, seen, memory).decide();
        let locks = &decision.actions.locks;
        let hides = !seen.other && seen.denies != Some(true);
        self.breaks("no lock hides a topic", locks.is_empty() || !hides);
        self.breaks(
            "a pause writes nothing",
            !wish.paused || decision.actions.is_empty(),
        );
        // A stranger who did the same since the look can't be told apart from now on.
        let here = CLUSTERS.iter().position(|it| *it == decision.cluster_id);
        let deny = &mut self.deny[here.unwrap()];
        if !decision.actions.locks.is_empty() && *deny == Some(Whose::Strangers) {
            *deny = Some(Whose::Both);
        }
        self.claim = decision.memory;
        decision.actions
    }

    fn act(&mut self, actions: Actions, mut memory: Memory, at: usize, mut lifted: bool) {
        // Where the pass was led; the connection may lead elsewhere by now, and requests go there: it is told apart by the
        // id of the cluster, which the client compares.
        let here = CLUSTERS
            .iter()
            .position(|it| Some(*it) == memory.cluster_id.as_deref());
        let here = here.unwrap_or(self.cluster);
        let grows = actions.growths.iter().any(|grow| grow.topic == "a");
        match at {
            0 => {
                for lock in &actions.unlocks {
                    let cluster = CLUSTERS.iter().position(|it| *it == lock.cluster_id);
                    self.take_away(cluster.unwrap());
                    memory.mark_unlocked(lock);
                }
            }
            1 if grows && memory.has_locked("a") && self.deny[here].is_some() => {
                self.take_away(here);
                lifted = true;
            }
            2 if grows => {
                let own = self.deny[here] == Some(Whose::Ours);
                self.breaks("no growth fails for a lock of ours", !own);
                if self.deny[here].is_none() {
                    self.count[here] = actions.growths[0].to;
                }
            }
            3 if lifted => self.set(here),
            4 if actions.locks.contains(&"a".to_owned()) => self.set(here),
            _ => {}
        }
        self.stage = if at + 1 < STEPS {
            Stage::Acting {
                actions,
                memory,
                at: at + 1,
                lifted,
            }
        } else {
            Stage::Again(memory, actions)
        };
    }

    /// What holds at every moment.
    fn check(&mut self) {
        for (cluster, name) in CLUSTERS.iter().enumerate() {
            if self.deny[cluster] != Some(Whose::Ours) {
                continue;
            }
            let remembered = self.claim.locks.contains(&lock_on(cluster));
            self.breaks("a lock never outlives its memory", remembered);
            let held = self
                .claim
                .topics
                .get("a")
                .is_some_and(|topic| topic.managed);
            let here = self.claim.cluster_id.as_deref() == Some(name);
            self.breaks("what is locked is held", held || !here);
        }
        if self.stage == Stage::Idle {
            self.check_rest();
        }
    }

    /// Left alone, the operator comes to rest, and then locks stand where they may and nowhere else.
    fn check_rest(&mut self) {
        let mut left = self.clone();
        let mut steps = 0;
        loop {
            left.step();
            steps += 1;
            if left.stage == Stage::Idle {
                break;
            }
            if steps > 40 || left.broken.is_some() {
                self.breaks("who is left alone comes to rest", false);
                return;
            }
        }
        let wish = left.wish;
        let here = left.cluster;
        let settled = left.claim.cluster_id.as_deref() == Some(CLUSTERS[here]);
        if wish.paused || !settled || left.broken.is_some() {
            return;
        }
        let wanted = wish.lock && wish.managed == Some(true);
        let ours = left.deny[here] == Some(Whose::Ours);
        let remembered = left.claim.locks.contains(&lock_on(here));
        self.breaks(
            "what is not wanted is undone",
            wanted || !ours && !remembered,
        );
        let may = left.other || left.denies == Some(true);
        self.breaks(
            "what is wanted is locked",
            !(wanted && may) || left.deny[here].is_some(),
        );
        let hides = left.denies == Some(false) && !left.other;
        self.breaks("no lock that hides a topic stays", !(hides && ours));
        self.breaks(
            "no lock is left elsewhere",
            !left.claim.locks.contains(&lock_on(1 - here)),
        );
        if wanted {
            // Of one that was both, the stranger's part stays.
            let foreign = left.deny[here].is_some() && !left.claim.locks.contains(&lock_on(here));
            self.breaks(
                "a growth under a lock of ours gets there",
                foreign || left.count[here] == wish.count,
            );
        }
    }
}

impl Model for Locks {
    type State = Moment;
    type Action = Event;

    fn init_states(&self) -> Vec<Moment> {
        let begin = Moment {
            wish: Wish {
                lock: true,
                managed: Some(true),
                paused: false,
                count: 1,
                acknowledged: false,
            },
            cluster: 0,
            count: [1, 1],
            deny: [None, None],
            other: false,
            denies: Some(true),
            claim: Memory::default(),
            stage: Stage::Idle,
            edits: self.edits,
            crashes: self.crashes,
            broken: None,
        };
        let known = [None, Some(false), Some(true)];
        let begins = known
            .into_iter()
            .flat_map(|denies| [false, true].map(|other| (denies, other)));
        begins
            .map(|(denies, other)| Moment {
                other,
                denies,
                ..begin.clone()
            })
            .collect()
    }

    fn actions(&self, state: &Moment, events: &mut Vec<Event>) {
        if state.broken.is_some() {
            return;
        }
        events.push(Event::Step);
        if state.crashes > 0 && state.stage != Stage::Idle {
            events.push(Event::Crash);
        }
        if state.edits == 0 {
            return;
        }
        let wish = state.wish;
        events.extend([
            Event::Lock(!wish.lock),
            Event::Pause(!wish.paused),
            Event::Other(!state.other),
            Event::MoveTo(1 - state.cluster),
        ]);
        if wish.count < 2 {
            events.push(Event::Want(2));
        }
        if !wish.acknowledged {
            events.push(Event::Acknowledge);
        }
        for managed in [None, Some(false), Some(true)] {
            if managed != wish.managed {
                events.push(Event::Manage(managed));
            }
        }
        for denies in [None, Some(false), Some(true)] {
            if denies != state.denies {
                events.push(Event::Denies(denies));
            }
        }
        events.push(match state.deny[state.cluster] {
            None => Event::StrangerDenies,
            Some(_) => Event::StrangerRemoves,
        });
    }

    fn next_state(&self, last: &Moment, event: Event) -> Option<Moment> {
        let mut next = last.clone();
        match event {
            Event::Step => next.step(),
            Event::Crash => {
                next.stage = Stage::Idle;
                next.crashes -= 1;
            }
            _ => next.edits -= 1,
        }
        match event {
            Event::Step | Event::Crash => {}
            Event::Lock(lock) => next.wish.lock = lock,
            Event::Manage(managed) => next.wish.managed = managed,
            Event::Pause(paused) => next.wish.paused = paused,
            Event::Want(count) => next.wish.count = count,
            Event::Acknowledge => next.wish.acknowledged = true,
            Event::MoveTo(cluster) => next.cluster = cluster,
            Event::StrangerDenies => {
                let known = next.claim.locks.contains(&lock_on(next.cluster));
                next.deny[next.cluster] = Some(if known { Whose::Both } else { Whose::Strangers });
            }
            Event::StrangerRemoves => next.deny[next.cluster] = None,
            Event::Other(other) => next.other = other,
            Event::Denies(denies) => next.denies = denies,
        }
        next.check();
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("all rules of locks hold", |_, state: &Moment| {
                state.broken.is_none()
            }),
            Property::sometimes("a lock stands", |_, state: &Moment| {
                state.deny.contains(&Some(Whose::Ours))
            }),
            Property::sometimes("a lock is lifted for a growth", |_, state: &Moment| {
                matches!(state.stage, Stage::Acting { lifted: true, .. }) && state.count[0] == 2
            }),
            Property::sometimes("a stranger denies", |_, state: &Moment| {
                state.deny.contains(&Some(Whose::Strangers))
            }),
        ]
    }
}

fn explore(edits: u8, crashes: u8, size: [usize; 2]) {
    let checker = Locks { edits, crashes }
        .checker()
        .threads(2)
        .spawn_dfs()
        .join();
    checker.assert_properties();
    let found = [checker.unique_state_count(), checker.state_count()];
    assert_eq!(found, size, "states and steps between them");
}

#[test]
fn locks_are_safe_whatever_happens_between_two_steps() {
    explore(2, 1, [22_810, 56_058]);
}

/// Twenty seconds; `make model`.
#[test]
#[ignore = "seconds"]
fn locks_are_safe_after_one_more_edit() {
    explore(3, 1, [151_617, 450_661]);
}
