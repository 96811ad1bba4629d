//! ACLs that lock topics, on a broker with the authorizer of `KRaft`.

use std::collections::BTreeSet;

use copartition::kafka::{
    AclPattern, Error, Operation, Outcomes, TopicAcl, TopicError, WithoutAcl,
};
use copartition::plan::{LockSeen, LocksFailure, LocksView};

use super::client::growth;
use super::permissions::as_user;
use super::watch::{NEVER, Watch, every};
use super::{Bench, SOON, names, settings};
use crate::env::secure::acls;
use crate::env::{Env, unique, wait_for};

/// Whether the user may ALTER the topic: as the broker tells, and as it acts.
fn may_alter(bench: &Bench, topic: &str) -> (bool, bool) {
    let client = &bench.client;
    let told = bench.wait(client.authorized_operations(&names(&[topic])));
    let told = told.expect("an answer")[topic].clone().expect("its rights");
    let grown = bench.wait(client.create_partitions(&[growth(topic, 3)], true));
    let acts = match &grown[topic] {
        Ok(()) => true,
        Err(TopicError::NotAuthorized(_)) => false,
        Err(other) => panic!("{other:?}"),
    };
    (told.contains(&Operation::Alter), acts)
}

fn sees(bench: &Bench, topic: &str, expected: (bool, bool)) {
    wait_for(
        &format!("{expected:?} of {topic}"),
        SOON,
        || match may_alter(bench, topic) {
            seen if seen == expected => Ok(()),
            seen => Err(format!("{seen:?}")),
        },
    );
}

fn all_fine(outcomes: &Outcomes, topics: &[&str]) {
    let topics: BTreeSet<&str> = topics.iter().copied().collect();
    assert_eq!(topics, outcomes.keys().map(String::as_str).collect());
    assert!(outcomes.values().all(Result::is_ok), "{outcomes:?}");
}

pub(crate) fn a_lock_denies_all_but_super_users_and_touches_no_other_acl(env: &Env) {
    let secure = env.secure();
    let prefix = unique("locked");
    let (one, two) = (&*format!("{prefix}.one"), &*format!("{prefix}.two"));
    for topic in [one, two] {
        secure.kafka.create_topic(topic, 2);
    }
    for operation in ["Alter", "Describe"] {
        secure.allow(&["locker", "hurried"], operation, &prefix);
    }
    secure.allow_on_cluster("locker", &["Alter", "DescribeConfigs"]);
    let before = secure.acls(&prefix);
    assert_eq!(before.len(), 4, "{before:#?}");
    let locker = Bench::with(&as_user(secure, "locker"));
    let hurried = Bench::with(&as_user(secure, "hurried"));
    let super_user = Bench::with(&settings(&secure.kafka.bootstrap()));
    for bench in [&locker, &hurried] {
        sees(bench, one, (true, true));
    }
    let client = &locker.client;
    assert_eq!(locker.wait(client.without_acl()), Ok(WithoutAcl::Denied));
    let all = |only_locks| -> Vec<TopicAcl> {
        let found = locker
            .wait(client.topic_acls(only_locks))
            .expect("an answer");
        let ours = found
            .into_iter()
            .filter(|acl| acl.name.starts_with(&prefix));
        ours.collect()
    };
    let prefixed = all(false);
    assert_eq!(prefixed.len(), 4);
    let by_prefix = |acl: &TopicAcl| acl.pattern == AclPattern::Prefixed && !acl.locks;
    assert!(prefixed.iter().all(by_prefix), "{prefixed:?}");
    assert_eq!(all(true), []);

    // Twice, and one of them beside a name that cannot be sent.
    all_fine(&locker.wait(client.lock(&names(&[one, two]))), &[one, two]);
    let again = locker.wait(client.lock(&names(&[one, "\0"])));
    assert_eq!(again[one], Ok(()));
    assert!(again["\0"].is_err(), "{again:?}");
    for bench in [&locker, &hurried] {
        sees(bench, one, (false, false));
    }
    sees(&super_user, one, (true, true));
    wait_for("both locks", SOON, || match all(true) {
        found if found.len() == 2 && found.iter().all(|acl| acl.locks) => Ok(()),
        found => Err(format!("{found:?}")),
    });
    assert_eq!(secure.acls(&prefix).len(), 6);

    // Not one more than named; what is not there is fine.
    let ghost = &*format!("{prefix}.ghost");
    let undone = locker.wait(client.unlock(&names(&[one, ghost])));
    all_fine(&undone, &[one, ghost]);
    for bench in [&locker, &hurried] {
        sees(bench, one, (true, true));
        sees(bench, two, (false, false));
    }
    all_fine(&locker.wait(client.unlock(&names(&[two]))), &[two]);
    wait_for("the ACLs of before", SOON, || match secure.acls(&prefix) {
        now if now == before => Ok(()),
        now => Err(format!("{now:#?}")),
    });
}

pub(crate) fn locks_need_rights_and_an_authorizer(env: &Env) {
    let secure = env.secure();
    let topic = &*unique("unlocked");
    secure.kafka.create_topic(topic, 1);
    let stranger = Bench::with(&as_user(secure, "stranger"));
    let client = &stranger.client;
    let denied = |outcomes: &Outcomes| match &outcomes[topic] {
        Err(TopicError::NotAuthorized(words)) => {
            assert!(words.starts_with("ALTER on the cluster ("), "{words}");
        }
        other => panic!("{other:?}"),
    };
    denied(&stranger.wait(client.lock(&names(&[topic]))));
    denied(&stranger.wait(client.unlock(&names(&[topic]))));
    for (answer, operation) in [
        (
            stranger.wait(client.topic_acls(false)).map(drop),
            "DESCRIBE",
        ),
        (
            stranger.wait(client.without_acl()).map(drop),
            "DESCRIBE_CONFIGS",
        ),
    ] {
        let Err(Error::NotAuthorized(words)) = answer else {
            panic!("{answer:?}");
        };
        assert!(
            words.starts_with(&format!("{operation} on the cluster (")),
            "{words}"
        );
    }
    assert_eq!(acls(&secure.kafka, topic), Vec::<String>::new());
    let watch = Watch::new(as_user(secure, "stranger"), every(NEVER));
    let asked = BTreeSet::from([topic.to_owned()]);
    let seen = watch.runtime.block_on(watch.cluster.read_locks(&asked));
    let LocksView::Failed(LocksFailure::NotAuthorized(words)) = seen else {
        panic!("{seen:?}");
    };
    assert!(words.contains("DESCRIBE on the cluster"), "{words}");

    // Who may look sees the topic; no ACL matches it.
    let watch = Watch::new(settings(&secure.kafka.bootstrap()), every(NEVER));
    let bare = LockSeen {
        may_alter: Some(true),
        ..LockSeen::default()
    };
    wait_for("the topic", SOON, || {
        match watch.runtime.block_on(watch.cluster.read_locks(&asked)) {
            LocksView::Seen {
                denies_by_default: Some(true),
                topics,
            } if topics[topic] == bare => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });

    // Without an authorizer an ACL binds nobody.
    let open = Bench::new(&env.kafka.bootstrap());
    let refused = |error: String| assert!(error.starts_with("SECURITY_DISABLED: "), "{error}");
    let none = open.wait(open.client.topic_acls(false));
    assert_eq!(none, Ok(Vec::new()));
    let locked = open.wait(open.client.lock(&names(&[topic])));
    refused(
        locked[topic]
            .clone()
            .expect_err("no authorizer")
            .to_string(),
    );
    assert_eq!(
        open.wait(open.client.without_acl()),
        Ok(WithoutAcl::NoAuthorizer)
    );
    let watch = Watch::new(settings(&env.kafka.bootstrap()), every(NEVER));
    let seen = watch.runtime.block_on(watch.cluster.read_locks(&asked));
    assert!(
        matches!(seen, LocksView::Failed(LocksFailure::NoAuthorizer(_))),
        "{seen:?}"
    );
}
