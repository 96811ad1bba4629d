//! ALTER locks: what is planned and what is said, one pass at a time.

use super::*;

impl World {
    /// The group asks for the lock, on a cluster that lets nobody near topics without ACLs.
    fn locks(&mut self) -> &mut Self {
        self.group.alter_lock = true;
        self.denies(Some(true))
    }

    /// What is known of topics without ACLs.
    fn denies(&mut self, known: Option<bool>) -> &mut Self {
        let LocksView::Seen {
            denies_by_default, ..
        } = self.seen()
        else {
            panic!("the locks were seen");
        };
        *denies_by_default = known;
        self
    }

    /// The locks are looked at from now on, on all topics that are declared.
    fn seen(&mut self) -> &mut LocksView {
        if !matches!(self.locks, LocksView::Seen { .. }) {
            self.locks = LocksView::Seen {
                denies_by_default: None,
                topics: BTreeMap::new(),
            };
        }
        if let LocksView::Seen { topics, .. } = &mut self.locks {
            for topic in &self.group.topics {
                topics.entry(topic.name.clone()).or_default();
            }
        }
        &mut self.locks
    }

    fn acls(&mut self, topic: &str) -> &mut LockSeen {
        match self.seen() {
            LocksView::Seen { topics, .. } => topics.get_mut(topic).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    /// Kafka does what is asked of it, with locks.
    fn turns(&mut self) -> Decision {
        self.seen();
        let decision = self.acts();
        for topic in &decision.actions.locks {
            self.acls(topic).stands = true;
            self.acls(topic).may_alter = Some(false);
        }
        for lock in &decision.actions.unlocks {
            if lock.cluster_id == self.view.cluster_id {
                self.acls(&lock.topic).stands = false;
            }
            self.memory.mark_unlocked(lock);
        }
        decision
    }

    /// The reason of `Locked`.
    fn locked(&self) -> (State, Reason) {
        let condition = self.condition(ConditionType::Locked);
        (condition.state, condition.reason)
    }

    fn is_locked(&mut self) {
        self.turns();
        self.rests();
        assert_eq!(self.locked(), (State::True, Reason::Locked));
    }

    fn says_of_locks(&self, reason: Reason, parts: &[&str]) {
        assert_eq!(self.locked().1, reason);
        self.says(ConditionType::Locked, parts);
    }
}

fn lock(topic: &str, cluster_id: &str) -> Lock {
    Lock {
        topic: topic.to_owned(),
        cluster_id: cluster_id.to_owned(),
    }
}

fn guarded(topics: &[&str]) -> World {
    let mut world = settled(6, topics);
    world.locks();
    world.is_locked();
    world
}

#[test]
fn a_lock_is_remembered_before_it_is_set() {
    let mut world = settled(6, &["a", "b"]);
    assert_eq!(world.locked(), (State::False, Reason::Off));
    world.group.alter_lock = true;
    world.locks = LocksView::Unread;
    assert_eq!(world.locked(), (State::Unknown, Reason::Pending));
    assert!(world.looks().actions.is_empty());
    world.locks();
    let decision = world.looks();
    assert_eq!(decision.actions.locks, ["a", "b"]);
    assert_eq!(
        world.memory.locks,
        [lock("a", "K1"), lock("b", "K1")].into()
    );
    // Cut off right there: the next pass sets them.
    assert_eq!(world.turns().actions.locks, ["a", "b"]);
    world.rests();
    assert_eq!(world.locked(), (State::True, Reason::Locked));
    world.is_aligned();
}

#[test]
fn only_managed_topics_that_are_there_are_locked() {
    let mut world = group(6);
    world.manages("a").references("r").has("r", 6, FULL);
    world.locks();
    let decision = world.turns();
    assert_eq!(creates(&decision), [("a", 6)]);
    assert_eq!(decision.actions.locks, Vec::<String>::new());
    assert_eq!(world.turns().actions.locks, ["a"]);
    world.rests();
    assert_eq!(world.memory.locks, [lock("a", "K1")].into());
    assert_eq!(world.locked(), (State::True, Reason::Locked));
    let mut only = group(6);
    only.references("r").has("r", 6, FULL).locks();
    assert!(only.turns().actions.is_empty());
    only.says_of_locks(Reason::Off, &["no topic is Managed"]);
}

#[test]
fn a_topics_first_acl_is_set_only_where_it_hides_nothing() {
    for (known, others, reason) in [
        (Some(true), false, Reason::Locked),
        (Some(false), true, Reason::Locked),
        (None, true, Reason::Locked),
        (Some(false), false, Reason::DefaultAllowUnknown),
        (None, false, Reason::Pending),
    ] {
        let mut world = settled(6, &["a"]);
        world.locks().denies(known);
        world.acls("a").other_acls = others;
        world.turns();
        world.rests();
        assert_eq!(world.locked().1, reason, "{known:?} {others}");
        let set = reason == Reason::Locked;
        assert_eq!(world.memory.locks.len(), usize::from(set));
    }
    let mut world = settled(6, &["a"]);
    world.locks().denies(Some(false));
    world.turns();
    world.says_of_locks(
        Reason::DefaultAllowUnknown,
        &[
            "a:",
            "allow.everyone.if.no.acl.found=true",
            "allowEveryoneIfNoAclFound: false",
        ],
    );
}

#[test]
fn a_lock_that_is_left_as_the_only_acl_is_taken_away() {
    let mut world = settled(6, &["a"]);
    world.locks().denies(Some(false));
    world.acls("a").other_acls = true;
    world.is_locked();
    // A moment in which nobody knows changes nothing.
    world.acls("a").other_acls = false;
    world.denies(None).rests();
    world.denies(Some(false));
    assert_eq!(world.turns().actions.unlocks, [lock("a", "K1")]);
    world.rests();
    assert_eq!(world.locked().1, Reason::DefaultAllowUnknown);
    assert!(world.memory.locks.is_empty());
}

#[test]
fn what_somebody_else_denies_is_never_ours() {
    let mut world = settled(6, &["a", "b"]);
    world.locks();
    world.acls("a").stands = true;
    assert_eq!(world.turns().actions.locks, ["b"]);
    world.rests();
    world.says_of_locks(
        Reason::ForeignDeny,
        &["a:", "kafka-acls.sh --remove --topic a"],
    );
    world.group.alter_lock = false;
    assert_eq!(world.turns().actions.unlocks, [lock("b", "K1")]);
    world.rests();
    assert!(world.acls("a").stands && !world.acls("b").stands);
    assert_eq!(world.locked(), (State::False, Reason::Off));
}

#[test]
fn a_lost_claim_makes_our_own_lock_somebody_elses() {
    let mut world = guarded(&["a"]);
    world.memory = Memory::default();
    world.turns();
    world.rests();
    assert_eq!(world.locked().1, Reason::ForeignDeny);
    // Who takes it away gets one of ours.
    world.acls("a").stands = false;
    world.is_locked();
}

#[test]
fn a_lock_that_somebody_removed_is_put_back() {
    let mut world = guarded(&["a"]);
    world.acls("a").stands = false;
    assert_eq!(world.locked(), (State::False, Reason::Lifted));
    assert_eq!(
        world.decide().topics[0].lock,
        LockStanding::Missing { again: true }
    );
    world.is_locked();
}

#[test]
fn it_is_undone_before_the_topic_is_released() {
    type Edit = fn(&mut World);
    let edits: [(&str, Edit); 3] = [
        ("leaves", |world| {
            world.group.topics.retain(|topic| topic.name != "b");
        }),
        ("is referenced", |world| {
            world.group.topics[1].managed = false;
        }),
        ("observes", |world| {
            world.observes();
        }),
    ];
    for (name, edit) in edits {
        let mut world = guarded(&["a", "b"]);
        edit(&mut world);
        let decision = world.looks();
        assert!(
            decision.actions.unlocks.contains(&lock("b", "K1")),
            "{name}"
        );
        assert!(world.memory.topics["b"].managed, "{name}: held until then");
        let decision = world.turns();
        assert!(
            decision.actions.unlocks.contains(&lock("b", "K1")),
            "{name}: again"
        );
        world.looks();
        assert!(
            !world
                .memory
                .topics
                .get("b")
                .is_some_and(|topic| topic.managed),
            "{name}"
        );
        world.rests();
    }
}

#[test]
fn a_pause_and_a_conflict_leave_locks_alone() {
    let mut world = guarded(&["a"]);
    world.group.paused = true;
    world.group.alter_lock = false;
    world.rests();
    world.says_of_locks(
        Reason::Off,
        &["the ALTER lock of a is undone once the pause"],
    );
    world.group.alter_lock = true;
    world.acls("a").stands = false;
    world.rests();
    assert_eq!(world.locked(), (State::False, Reason::Paused));
    world.group.paused = false;
    world
        .conflicts
        .insert("a".to_owned(), "other/group".to_owned());
    world.rests();
    world.conflicts.clear();
    world.is_locked();
}

#[test]
fn drift_leaves_locks_alone_and_new_ones_are_set() {
    let mut world = guarded(&["a", "b"]);
    world.grown("a", 7);
    world.rests();
    world.stands(Reason::PartitionDrift);
    assert_eq!(world.locked(), (State::True, Reason::Locked));
    world.manages("c").has("c", 6, FULL);
    world.seen();
    assert_eq!(world.turns().actions.locks, ["c"]);
    world.has("b", 6, FULL);
    world.rests();
    world.stands(Reason::TopicRecreated);
    assert_eq!(world.locked(), (State::True, Reason::Locked));
}

#[test]
fn locks_of_a_cluster_that_was_left_are_undone_there() {
    let mut world = guarded(&["a"]);
    world.cluster("K2");
    world.acls("a").stands = false;
    world.rests();
    world.stands(Reason::ClusterChanged);
    assert_eq!(world.locked(), (State::Unknown, Reason::Pending));
    world.acknowledges("K2");
    let decision = world.looks();
    assert_eq!(decision.actions.unlocks, [lock("a", "K1")]);
    assert_eq!(decision.actions.locks, ["a"]);
    assert_eq!(world.memory.locks.len(), 2);
    // The old one does not answer.
    world.acls("a").stands = true;
    let gone = Failure::Rejected("the KafkaConnection prod is gone".to_owned());
    world.outcomes.unlocks.insert(lock("a", "K1"), gone);
    world.says_of_locks(Reason::Locked, &["a on the cluster K1", "prod is gone"]);
    assert_eq!(
        world.decide().actions.unlocks,
        [lock("a", "K1")],
        "tried again"
    );
    // Only what can't be undone is forgotten, not what stands here.
    world
        .acknowledges(&forget("K1"))
        .acknowledges(&forget("K2"));
    world.rests();
    assert_eq!(world.memory.locks, [lock("a", "K2")].into());
    world.group.alter_lock = false;
    assert_eq!(world.turns().actions.unlocks, [lock("a", "K2")]);
    assert!(world.looks().memory.locks.is_empty());
}

#[test]
fn what_hinders_a_lock_is_named() {
    let mut world = settled(6, &["a"]);
    world.group.alter_lock = true;
    for (failure, state, reason) in [
        (
            LocksFailure::NotAuthorized("DESCRIBE on the cluster".to_owned()),
            State::False,
            Reason::NotAuthorized,
        ),
        (
            LocksFailure::NoAuthorizer("none.".to_owned()),
            State::False,
            Reason::NoAuthorizer,
        ),
        (
            LocksFailure::Other("no answer".to_owned()),
            State::Unknown,
            Reason::Pending,
        ),
    ] {
        world.locks = LocksView::Failed(failure);
        world.rests();
        assert_eq!(world.locked(), (state, reason));
    }
    world.locks();
    world.looks();
    for (failure, reason) in [
        (
            Failure::NotAuthorized("ALTER on the cluster".to_owned()),
            Reason::NotAuthorized,
        ),
        (Failure::Rejected("no".to_owned()), Reason::Rejected),
        (Failure::Unsure("no answer".to_owned()), Reason::Spreading),
    ] {
        world.outcomes.locks.insert("a".to_owned(), failure);
        world.says_of_locks(reason, &["a:", "tried again"]);
    }
    world.outcomes = Outcomes::default();
    world.acls("a").stands = true;
    world.acls("a").may_alter = Some(true);
    assert_eq!(world.locked(), (State::True, Reason::SuperUser));
    world.says(ConditionType::Locked, &["does not bind super users"]);
    world.acls("a").may_alter = None;
    assert_eq!(world.locked(), (State::True, Reason::Locked));
    // Nothing of it touches Ready.
    assert_eq!(world.condition(ConditionType::Ready).state, State::True);
}
