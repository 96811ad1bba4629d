//! The shared snapshot and its poller.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use copartition::kafka::{ConfigChange, ConnectionSettings, Growth, Interest};
use copartition::plan::{Records, TopicReading, TopicView};

use super::watch::{NEVER, OFTEN, Watch, every};
use super::{SOON, names, new_topic, pairs, settings};
use crate::env::{Env, unique, wait_for};

pub(crate) fn new_topics_are_read_at_once(env: &Env) {
    let watch = Watch::new(settings(&env.kafka.bootstrap()), every(NEVER));
    let [topic, ghost, later] = ["at-once", "ghost", "later"].map(unique);
    watch.foreign_topic(&env.kafka, &topic, 6);
    assert_eq!(watch.cluster.view("g"), None);
    watch.name("g", &[&topic, &ghost], &[&topic]);
    assert_eq!(watch.announced("g"), BTreeSet::from(["g".to_owned()]));
    let view = watch.cluster.view("g").expect("a view");
    assert_eq!(view.cluster_id, env.kafka.id());
    let state = watch.state("g", &topic).expect("the topic");
    assert_eq!(
        (state.partitions, state.replication_factor, state.records),
        (6, 1, Records::None)
    );
    assert_eq!(
        state.config.expect("its config")["cleanup.policy"],
        "delete"
    );
    assert_eq!(
        watch.topic("g", &ghost),
        Some(TopicView {
            reading: TopicReading::Missing,
            misses: 1
        })
    );
    // A group that names more has no view until that was read too; one that names less has it at once.
    watch.foreign_topic(&env.kafka, &later, 2);
    watch.name("h", &[&topic], &[]);
    assert!(watch.cluster.view("h").is_some());
    watch.name("h", &[&topic, &later], &[&later]);
    assert_eq!(watch.cluster.view("h"), None);
    assert_eq!(watch.announced("h"), BTreeSet::from(["h".to_owned()]));
    assert!(
        watch
            .state("h", &later)
            .expect("the topic")
            .config
            .is_some()
    );
    assert_eq!(watch.cluster.view("nobody"), None);
}

pub(crate) fn changes_are_announced_to_their_groups_only(env: &Env) {
    let watch = Watch::new(settings(&env.kafka.bootstrap()), every(OFTEN));
    let [mine, shared, other] = ["mine", "shared", "other"].map(unique);
    for topic in [&mine, &shared, &other] {
        watch.foreign_topic(&env.kafka, topic, 2);
    }
    watch.name("a", &[&mine, &shared], &[]);
    watch.name("b", &[&shared, &other], &[]);
    watch.name("c", &[&other], &[]);
    for group in ["a", "b", "c"] {
        wait_for("the first view", SOON, || {
            watch
                .cluster
                .view(group)
                .map(|_| ())
                .ok_or_else(String::new)
        });
    }
    watch.announced_within(OFTEN);
    assert_eq!(
        watch.announced_within(4 * OFTEN),
        Vec::<String>::new(),
        "nothing changed"
    );
    env.kafka.grow_topic(&mine, 4);
    assert_eq!(watch.announced("a"), BTreeSet::from(["a".to_owned()]));
    assert_eq!(watch.state("a", &mine).expect("the topic").partitions, 4);
    env.kafka.produce(&shared, &[("key", "value")]);
    let mut groups = watch.announced("a");
    if groups.len() < 2 {
        groups.extend(watch.announced("b"));
    }
    assert_eq!(groups, BTreeSet::from(["a".to_owned(), "b".to_owned()]));
    assert_eq!(
        watch.state("b", &shared).expect("the topic").records,
        Records::Some
    );
    // Records that go away again leave the fact that there were some.
    assert_eq!(watch.announced_within(3 * OFTEN), Vec::<String>::new());
    watch.clusters.forget("a");
    env.kafka.grow_topic(&mine, 5);
    assert_eq!(watch.announced_within(3 * OFTEN), Vec::<String>::new());
}

pub(crate) fn a_deleted_topic_is_missed_twice_and_comes_back_as_another(env: &Env) {
    let watch = Watch::new(
        settings(&env.kafka.bootstrap()),
        every(Duration::from_secs(3)),
    );
    let topic = unique("comes-back");
    watch.foreign_topic(&env.kafka, &topic, 3);
    env.kafka.produce(&topic, &[("key", "value")]);
    watch.name("g", &[&topic], &[]);
    let before = watch.see("g", &topic, "holds records", |state| {
        state.records == Records::Some
    });
    env.kafka.delete_topic(&topic);
    let missed = wait_for("the first miss", SOON, || match watch.topic("g", &topic) {
        Some(view) if view.misses > 0 => Ok(view),
        other => Err(format!("{other:?}")),
    });
    assert_eq!(
        missed,
        TopicView {
            reading: TopicReading::Present(before.clone()),
            misses: 1
        }
    );
    wait_for("the second miss", SOON, || match watch.topic("g", &topic) {
        Some(TopicView {
            reading: TopicReading::Missing,
            misses: 2,
        }) => Ok(()),
        other => Err(format!("{other:?}")),
    });
    watch.foreign_topic(&env.kafka, &topic, 3);
    let after = watch.see("g", &topic, "is back", |state| {
        state.records == Records::None
    });
    assert_ne!(after.id, before.id);
}

pub(crate) fn own_changes_show_soon_without_a_poll(env: &Env) {
    let watch = Watch::new(settings(&env.kafka.bootstrap()), every(NEVER));
    let topics: Vec<String> = (0..20).map(|n| unique(&format!("own{n}"))).collect();
    let borrowed: Vec<&str> = topics.iter().map(String::as_str).collect();
    watch.name("g", &borrowed, &[]);
    watch.announced("g");
    let new: Vec<_> = topics.iter().map(|topic| new_topic(topic, 3)).collect();
    let outcomes = watch.wait(watch.cluster.client().create_topics(&new, false));
    assert!(outcomes.values().all(Result::is_ok), "{outcomes:?}");
    watch.cluster.expect_topics(&topics);
    let view = wait_for("all topics in one fresh reading", SOON, || {
        let view = watch
            .wait(watch.cluster.reread(&topics, true, true))
            .expect("a view");
        // Not one answer of a broker that lags behind makes it into the view as a second miss.
        assert!(view.topics.values().all(|view| view.misses < 2), "{view:?}");
        let whole = |view: &&TopicView| {
            matches!(&view.reading, TopicReading::Present(state)
                if state.partitions == 3 && state.records == Records::None && state.config.is_some())
        };
        match view.topics.values().filter(whole).count() {
            20 => Ok(view),
            count => Err(format!("{count} of them")),
        }
    });
    assert_eq!(watch.cluster.view("g"), Some(view));
    let growths: Vec<_> = topics
        .iter()
        .map(|topic| Growth {
            topic: topic.clone(),
            to: 5,
        })
        .collect();
    let outcomes = watch.wait(watch.cluster.client().create_partitions(&growths, false));
    assert!(outcomes.values().all(Result::is_ok), "{outcomes:?}");
    watch.cluster.expect_growth(&growths);
    for topic in &topics {
        watch.see("g", topic, "has grown", |state| state.partitions == 5);
    }
    // Announced without anybody rereading, too.
    let another = unique("another");
    watch.name("h", &[&another], &[]);
    watch.announced("h");
    watch.create(&another, 1);
    watch.cluster.expect_topics(std::slice::from_ref(&another));
    watch.announced("h");
    watch.state("h", &another).expect("the topic");
}

pub(crate) fn a_fresh_reading_goes_past_the_snapshot_and_into_it(env: &Env) {
    let watch = Watch::new(settings(&env.kafka.bootstrap()), every(NEVER));
    let [topic, foreign] = ["fresh", "foreign"].map(unique);
    watch.foreign_topic(&env.kafka, &topic, 3);
    watch.foreign_topic(&env.kafka, &foreign, 1);
    watch.name("g", &[&topic], &[&topic]);
    watch.announced("g");
    let old = watch.state("g", &topic).expect("the topic");
    env.kafka.grow_topic(&topic, 4);
    env.kafka.produce(&topic, &[("key", "value")]);
    let change = ConfigChange {
        topic: topic.clone(),
        set: pairs(&[("segment.ms", "7777")]),
    };
    assert_eq!(
        watch.wait(watch.cluster.client().alter_configs(&[change]))[&topic],
        Ok(())
    );
    assert_eq!(
        watch.state("g", &topic),
        Ok(old.clone()),
        "no poll, no news"
    );
    let view = wait_for("the new config", SOON, || {
        let asked = names(&[&topic, &foreign]);
        let view = watch
            .wait(watch.cluster.reread(&asked, true, true))
            .expect("a view");
        let state = watch.state("g", &topic)?;
        let config = state.config.unwrap_or_default();
        if config["segment.ms"] == "7777" {
            Ok(view)
        } else {
            Err(format!("{config:?}"))
        }
    });
    assert_eq!(view.topics.len(), 2);
    let new = watch.state("g", &topic).expect("the topic");
    assert_eq!(
        (new.partitions, new.records, &new.id),
        (4, Records::Some, &old.id)
    );
    assert_eq!(watch.announced("g"), BTreeSet::from(["g".to_owned()]));
    // Without offsets and configs, what was known of them stays.
    let view = watch
        .wait(watch.cluster.reread(&names(&[&topic]), false, false))
        .expect("a view");
    let TopicReading::Present(state) = &view.topics[&topic].reading else {
        panic!("{view:?}")
    };
    assert_eq!(
        (&state.records, state.config.is_some()),
        (&Records::Some, true)
    );
}

pub(crate) fn many_groups_make_few_requests(env: &Env) {
    let watch = Watch::new(settings(&env.kafka.bootstrap()), every(NEVER));
    let prefix = unique("crowd");
    let groups: Vec<String> = (0..300).map(|n| format!("{prefix}.{n}")).collect();
    for group in &groups {
        watch.name(group, &[&format!("{group}.a"), &format!("{group}.b")], &[]);
    }
    let mut left: BTreeSet<_> = groups.iter().cloned().collect();
    while let Some(group) = left.first().cloned() {
        for announced in watch.announced(&group) {
            left.remove(&announced);
        }
    }
    let requests = |api| watch.metrics.requests(api, "Ok");
    assert!(
        requests("DescribeTopics") <= 40,
        "{} requests for 600 topics",
        requests("DescribeTopics")
    );
    let before = requests("DescribeTopics");
    let rereads = groups.iter().map(|group| {
        let topics = names(&[&format!("{group}.a"), &format!("{group}.b")]);
        let cluster = Arc::clone(&watch.cluster);
        async move { cluster.reread(&topics, true, true).await }
    });
    let views = watch.wait(futures::future::join_all(rereads));
    assert!(
        views
            .iter()
            .all(|view| view.as_ref().is_ok_and(|view| view.topics.len() == 2))
    );
    let after = requests("DescribeTopics");
    assert!(
        after - before <= 40,
        "{} requests for 300 fresh readings",
        after - before
    );
    assert_eq!(requests("DescribeCluster"), 0);
}

pub(crate) fn groups_share_clusters_that_live_as_long_as_they_are_used(env: &Env) {
    let watch = Watch::new(settings(&env.kafka.bootstrap()), every(OFTEN));
    let topic = unique("shared");
    watch.foreign_topic(&env.kafka, &topic, 1);
    let handle = watch.runtime.handle().clone();
    let _context = handle.enter();
    let same = watch.clusters.cluster(&ConnectionSettings {
        bootstrap_servers: vec![
            format!(" {} ", env.kafka.bootstrap()),
            env.kafka.bootstrap(),
        ],
        ..watch.connection.clone()
    });
    assert!(Arc::ptr_eq(&same.expect("a cluster"), &watch.cluster));
    watch.name("g", &[&topic], &[]);
    watch.name("h", &[&topic], &[]);
    watch.announced("h");
    let weak = Arc::downgrade(&watch.cluster);
    let slower = watch
        .connection
        .clone()
        .with_request_timeout(Duration::from_secs(20));
    let other = watch.clusters.cluster(&slower).expect("a cluster");
    other.set_interest(
        "g",
        Interest {
            topics: [topic.clone()].into(),
            ..Interest::default()
        },
    );
    watch.clusters.use_only("g", &slower);
    assert_eq!(watch.cluster.view("g"), None);
    watch.announced("g");
    assert!(other.view("g").is_some() && watch.cluster.view("h").is_some());
    let Watch {
        runtime,
        clusters,
        cluster,
        ..
    } = watch;
    clusters.forget("h");
    assert_eq!(clusters.all().len(), 2, "somebody holds it");
    drop(cluster);
    clusters.forget("h");
    assert_eq!(clusters.all().len(), 1);
    assert!(weak.upgrade().is_none());
    let start = Instant::now();
    drop((other, clusters));
    assert!(start.elapsed() < Duration::from_millis(200));
    drop(runtime);
}
