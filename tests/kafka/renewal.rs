//! Credentials that change while groups are watched.

use std::collections::BTreeSet;
use std::fs;
use std::sync::{Arc, Weak};
use std::time::Duration;

use copartition::kafka::{Cluster, ConnectionSettings, Error, Interest, PollSettings, Sasl};

use super::SOON;
use super::security::{login, secured, trusting};
use super::watch::{OFTEN, Watch, every};
use crate::env::pki::Authority;
use crate::env::secure::{Listener, password};
use crate::env::{Env, SecureKafka, unique, wait_for};

/// The user whose password this test rotates.
const USER: &str = "rotated";

fn with_password(secure: &SecureKafka, password: &str) -> ConnectionSettings {
    let sasl = Sasl::ScramSha512(login(USER, password));
    secured(secure, Listener::Login, Some(sasl))
}

/// A group as the operator keeps it, with settings that change.
struct Group {
    watch: Watch,
    name: &'static str,
    interest: Interest,
}

impl Group {
    /// Watches a topic with these settings, until it is seen.
    fn start(settings: ConnectionSettings, polls: PollSettings, topic: &str) -> Self {
        let watch = Watch::new(settings, polls);
        let interest = Interest {
            topics: BTreeSet::from([topic.to_owned()]),
            ..Interest::default()
        };
        let group = Self {
            watch,
            name: "g",
            interest,
        };
        group
            .watch
            .cluster
            .set_interest(group.name, group.interest.clone());
        group.watch.announced(group.name);
        group
    }

    /// What a reconcile does once its Secret changed. Gives what is left of the earlier cluster.
    fn change(&mut self, settings: ConnectionSettings) -> Weak<Cluster> {
        let clusters = &self.watch.clusters;
        let _context = self.watch.runtime.enter();
        let new = clusters
            .cluster_for(self.name, &settings)
            .expect("a cluster");
        let again = clusters
            .cluster_for(self.name, &settings)
            .expect("a cluster");
        assert!(Arc::ptr_eq(&new, &again));
        new.set_interest(self.name, self.interest.clone());
        let old = std::mem::replace(&mut self.watch.cluster, new);
        let left = Arc::downgrade(&old);
        drop(old);
        clusters.use_only(self.name, &settings);
        self.watch.connection = settings;
        left
    }

    /// Fails if the group could tell that anything happened.
    fn is_well(&self) {
        let health = self.watch.cluster.health();
        assert!(
            health.reachable && !health.pending && health.error.is_none(),
            "{health:?}"
        );
        assert!(
            self.watch.cluster.view(self.name).is_some(),
            "the snapshot has a gap"
        );
    }

    /// Waits for some more polls, and for whatever else, while the group stays well.
    fn goes_on_until(&self, what: &str, mut done: impl FnMut() -> Result<(), String>) {
        let polls = self.watch.cluster.polls();
        wait_for(&format!("five polls and {what}"), SOON, || {
            self.is_well();
            let now = self.watch.cluster.polls();
            if now < polls + 5 {
                return Err(format!("{now} of {polls} + 5 polls"));
            }
            done()
        });
    }
}

/// The ports of this process's connections to the broker that served requests of a principal.
fn ports(secure: &SecureKafka, principal: &str) -> BTreeSet<u16> {
    let requests = secure.kafka.requests("", "copartition-operator");
    let own = requests
        .iter()
        .filter(|request| request.entry["principal"].to_string().contains(principal));
    own.filter_map(|request| {
        // "broker:port-client:port-number"
        let connection = request.entry["connection"].as_str()?;
        let client = connection.split('-').nth(1)?;
        client.rsplit(':').next()?.parse().ok()
    })
    .collect()
}

/// The local ports of all established TCP connections over IPv4.
fn established() -> BTreeSet<u16> {
    let table = fs::read_to_string("/proc/net/tcp").expect("the kernel's table");
    let rows = table.lines().skip(1);
    rows.filter_map(|row| {
        let mut fields = row.split_whitespace().skip(1);
        let port = fields.next()?.rsplit(':').next()?;
        let state = fields.nth(1)?;
        (state == "01").then(|| u16::from_str_radix(port, 16).ok())?
    })
    .collect()
}

pub(crate) fn a_rotated_password_is_taken_over_without_a_gap(env: &Env) {
    let secure = env.secure();
    let topic = unique("watched");
    secure.kafka.create_topic(&topic, 2);
    secure.allow(&[USER], "Describe", &topic);
    let settings = with_password(secure, &password(USER));
    let mut group = Group::start(settings, every(OFTEN), &topic);
    group.goes_on_until("a reading of the topic", || {
        group.watch.state("g", &topic).map(drop)
    });
    let before = ports(secure, USER);
    let open = established();
    assert!(before.iter().any(|port| open.contains(port)), "{before:?}");

    // The Secret is a little ahead of the broker: until the password is the user's, the earlier connection serves.
    let new = "another-secret";
    let earlier = group.change(with_password(secure, new));
    assert!(earlier.upgrade().is_none(), "the earlier cluster is gone");
    group.goes_on_until("the new password to be refused", || {
        match group.watch.cluster.health().renewal {
            Some(Error::AuthenticationFailed(_)) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    secure.replace_password(USER, new);
    group.goes_on_until("the earlier connection to be closed", || {
        let left: Vec<_> = established().intersection(&before).copied().collect();
        match group.watch.cluster.health().renewal {
            None if left.is_empty() => Ok(()),
            other => Err(format!("{other:?}, open: {left:?}")),
        }
    });
    let now = ports(secure, USER);
    assert!(
        now.difference(&before)
            .any(|port| established().contains(port))
    );
}

pub(crate) fn a_rotated_ca_is_taken_over_without_a_gap(env: &Env) {
    let secure = env.secure();
    let topic = unique("watched");
    secure.kafka.create_topic(&topic, 2);
    let settings = secured(secure, Listener::Rotating, None);
    let mut group = Group::start(settings.clone(), every(OFTEN), &topic);
    let next = Authority::new("The next CA");
    let certificate = next.issue("broker", &["127.0.0.1"]);
    secure.replace_certificate(Listener::Rotating, &certificate);
    // What is connected stays so.
    group.goes_on_until("nothing", || Ok(()));
    wait_for(
        "the certificate to be replaced",
        SOON,
        || match super::security::ask(&settings) {
            Err(Error::CertificateRejected(_)) => Ok(()),
            other => Err(format!("{other:?}")),
        },
    );
    group.is_well();
    let mut renewed = settings;
    renewed.security.tls = Some(trusting(&next));
    let earlier = group.change(renewed);
    assert!(earlier.upgrade().is_none(), "the earlier cluster is gone");
    group.goes_on_until("the new CA to be in use", || {
        match group.watch.cluster.health().renewal {
            None => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
}

pub(crate) fn renewed_credentials_that_are_wrong_show_once_the_earlier_ones_are_given_up(
    env: &Env,
) {
    let secure = env.secure();
    let topic = unique("watched");
    secure.kafka.create_topic(&topic, 1);
    let as_anna = |password: &str| {
        let sasl = Sasl::ScramSha256(login("anna", password));
        secured(secure, Listener::Login, Some(sasl)).with_request_timeout(Duration::from_secs(1))
    };
    let polls = PollSettings {
        renewal_patience: Duration::from_secs(3),
        ..every(OFTEN)
    };
    let good = as_anna(&password("anna"));
    let mut group = Group::start(good.clone(), polls, &topic);
    // Another group with the same credentials, which stay right for it.
    let stays = Arc::clone(&group.watch.cluster);
    stays.set_interest("h", group.interest.clone());
    let view = group.watch.cluster.view("g");
    assert!(view.is_some());
    let earlier = group.change(as_anna("wrong-secret"));
    let failed = group.watch.health("fails", |health| !health.reachable);
    assert!(
        matches!(failed.error, Some(Error::AuthenticationFailed(_))),
        "{failed:?}"
    );
    assert_eq!(failed.renewal, None);
    assert_eq!(group.watch.cluster.view("g"), view, "what was read stays");
    assert!(earlier.upgrade().is_some() && stays.health().error.is_none());
    group.change(good);
    let well = |health: &copartition::kafka::Health| health.reachable && health.error.is_none();
    group.watch.health("heals", well);
    assert!(Arc::ptr_eq(&group.watch.cluster, &stays));
    assert_eq!(group.watch.cluster.view("g"), view);
}
