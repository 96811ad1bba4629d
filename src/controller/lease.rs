//! Who may act: of several replicas the one that holds the Lease.
//!
//! ```text
//! campaign (task) ── get, create, update ──> Lease
//!        │
//!     Standing ──> Term: checked before each write, ended when the lease is not renewed in time
//! ```
//! The rules are those of client-go's `leaderelection`, which need no clocks that agree: a replica takes a lease over
//! only if it saw no change of it for the lease's whole duration, each update carries the resourceVersion that was seen,
//! and the holder stops acting after two thirds of the duration without a renewal, counted from before the request that
//! renewed it last. What a deposed holder has under way may still arrive in the last third or after it; it does no harm,
//! because writes to the API server carry a resourceVersion and writes to Kafka say absolute counts.

use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::Client;
use kube::api::{Api, PostParams};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use super::gate::words;
use super::marks::micros;

/// Conflicts with other writers of the Lease that one try may meet.
const MOST_CONFLICTS: u32 = 2;

/// Which Lease, and as whom.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// The namespace of the Lease.
    pub(super) namespace: String,
    /// Its name.
    pub(super) name: String,
    /// This process among all that want the Lease: no two may share it.
    pub(super) identity: String,
    /// How long a lease that is not renewed stands. Whole seconds.
    pub(super) duration: Duration,
}

impl Candidate {
    /// The pause between two tries to take or renew the Lease: 2 s of 15 s, as in client-go.
    fn retry(&self) -> Duration {
        self.duration * 2 / 15
    }

    /// How long after a renewal the holder may act: 10 s of 15 s, as in client-go.
    fn acts_for(&self) -> Duration {
        self.duration * 2 / 3
    }
}

/// How this replica stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The Lease could not be read or written yet; why.
    Unknown(String),
    /// Another replica holds the Lease.
    Standby {
        /// Its identity.
        holder: String,
    },
    /// This one does.
    Leading {
        /// Counts up each time that the lease was lost in between.
        term: u64,
        /// How long it may act without a renewal.
        until: Until,
    },
}

/// A moment by both clocks: the monotonic one stands still while a machine is suspended, the other one may be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Until {
    steady: Instant,
    wall: SystemTime,
}

impl Until {
    fn after(time: Duration) -> Self {
        Until {
            steady: Instant::now() + time,
            wall: SystemTime::now() + time,
        }
    }

    fn is_ahead(&self) -> bool {
        Instant::now() < self.steady && SystemTime::now() < self.wall
    }
}

/// One uninterrupted time as the leader.
#[derive(Clone, Debug)]
pub(super) struct Term {
    number: u64,
    standing: watch::Receiver<Standing>,
}

impl Term {
    /// Whether this replica may act now. To be asked right before each write.
    pub(super) fn holds(&self) -> bool {
        self.until().is_some()
    }

    /// Waits until it has ended.
    pub(super) async fn ended(&self) {
        let mut standing = self.standing.clone();
        loop {
            standing.mark_unchanged();
            let Some(until) = self.until() else { return };
            tokio::select! {
                () = tokio::time::sleep_until(until.steady.into()) => {}
                // The campaign is over: the lease is not renewed any more, and ends by itself.
                changed = standing.changed() => if changed.is_err() {
                    tokio::time::sleep_until(until.steady.into()).await;
                },
            }
        }
    }

    fn until(&self) -> Option<Until> {
        match &*self.standing.borrow() {
            Standing::Leading { term, until } if *term == self.number && until.is_ahead() => {
                Some(*until)
            }
            _ => None,
        }
    }
}

/// A replica's campaign for the Lease, which goes on until [`Campaign::retire`].
pub(super) struct Campaign {
    standing: watch::Receiver<Standing>,
    retire: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Campaign {
    /// Begins; must be called in a Tokio runtime.
    pub(super) fn begin(client: Client, candidate: Candidate) -> Self {
        let (told, standing) = watch::channel(Standing::Unknown(
            "the Kubernetes API server has not answered yet".to_owned(),
        ));
        let (retire, retired) = oneshot::channel();
        let task = tokio::spawn(campaign(client, candidate, told, retired));
        Campaign {
            standing,
            retire,
            task,
        }
    }

    /// How this replica stands.
    pub(super) fn standing(&self) -> watch::Receiver<Standing> {
        self.standing.clone()
    }

    /// Waits until this replica leads.
    pub(super) async fn won(&self) -> Term {
        let mut standing = self.standing.clone();
        loop {
            if let Standing::Leading { term, until } = &*standing.borrow_and_update()
                && until.is_ahead()
            {
                return Term {
                    number: *term,
                    standing: self.standing.clone(),
                };
            }
            if standing.changed().await.is_err() {
                // The campaign only ends with the process.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Ends it, and gives the Lease back if this replica holds it, so that another one need not wait.
    pub(super) async fn retire(self) {
        // It fails if the task is gone, which is the aim.
        let _ = self.retire.send(());
        let _ = self.task.await;
    }
}

async fn campaign(
    client: Client,
    candidate: Candidate,
    told: watch::Sender<Standing>,
    mut retired: oneshot::Receiver<()>,
) {
    let api: Api<Lease> = Api::namespaced(client, &candidate.namespace);
    let mut election = Election::new(candidate);
    loop {
        let turn = election.turn(&api, &told);
        // A request that is cut off here may be carried out all the same: the lease then ends by itself.
        tokio::select! {
            () = turn => {}
            _ = &mut retired => break,
        }
        tokio::select! {
            () = tokio::time::sleep(election.candidate.retry()) => {}
            _ = &mut retired => break,
        }
    }
    election.give_back(&api).await;
}

/// What is to be done about a lease.
#[derive(Debug, PartialEq)]
enum Step {
    /// Write it, saying that we hold it.
    Claim,
    /// Leave it to its holder.
    Wait { holder: String },
}

/// What one replica knows of the election.
struct Election {
    candidate: Candidate,
    /// The Lease as last seen.
    seen: Option<Lease>,
    /// Since when it looks so.
    since: Instant,
    term: u64,
    /// The last thing that was logged, so that it is logged once.
    said: String,
}

impl Election {
    fn new(candidate: Candidate) -> Self {
        Election {
            candidate,
            seen: None,
            since: Instant::now(),
            term: 0,
            said: String::new(),
        }
    }

    /// One try to take or to renew the Lease.
    async fn turn(&mut self, api: &Api<Lease>, told: &watch::Sender<Standing>) {
        let until = Until::after(self.candidate.acts_for());
        let limit = self.candidate.acts_for() / 2;
        let outcome = match tokio::time::timeout(limit, self.attempt(api)).await {
            Ok(outcome) => outcome.map_err(|error| words(&error)),
            Err(_) => Err(format!("no answer within {} ms", limit.as_millis())),
        };
        let Candidate {
            namespace,
            name,
            identity,
            ..
        } = &self.candidate;
        let standing = match outcome {
            Ok(Step::Claim) => {
                let leads =
                    matches!(&*told.borrow(), Standing::Leading { until, .. } if until.is_ahead());
                if !leads {
                    self.term += 1;
                    tracing::info!(lease = %format!("{namespace}/{name}"), identity, term = self.term, "leading");
                }
                self.said.clear();
                Standing::Leading {
                    term: self.term,
                    until,
                }
            }
            Ok(Step::Wait { holder }) => {
                if self.said != holder {
                    tracing::info!(lease = %format!("{namespace}/{name}"), identity, holder, "standing by");
                    self.said.clone_from(&holder);
                }
                Standing::Standby { holder }
            }
            Err(error) => {
                let error = format!("the Lease {namespace}/{name} cannot be used: {error}");
                if self.said != error {
                    tracing::warn!(identity, "{error}; tried again");
                    self.said.clone_from(&error);
                }
                // Who leads does so until its time is over; whether it is renewed by then shows.
                if matches!(&*told.borrow(), Standing::Leading { until, .. } if until.is_ahead()) {
                    return;
                }
                Standing::Unknown(error)
            }
        };
        told.send_replace(standing);
    }

    async fn attempt(&mut self, api: &Api<Lease>) -> Result<Step, kube::Error> {
        // Who holds it knows its resourceVersion, and need not read it.
        let mut known = self.holds();
        let mut conflicts = 0;
        loop {
            if !known {
                let found = api.get_opt(&self.candidate.name).await?;
                self.observe(found, Instant::now());
            }
            let step = self.step(Instant::now());
            if step != Step::Claim {
                return Ok(step);
            }
            match self.write(api, &self.claimed(Timestamp::now())).await {
                Ok(lease) => {
                    self.observe(Some(lease), Instant::now());
                    return Ok(Step::Claim);
                }
                // Somebody wrote or removed it meanwhile, which need not mean that somebody else holds it.
                Err(kube::Error::Api(answer))
                    if matches!(answer.code, 404 | 409) && conflicts < MOST_CONFLICTS =>
                {
                    known = false;
                    conflicts += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn write(&self, api: &Api<Lease>, lease: &Lease) -> Result<Lease, kube::Error> {
        let params = PostParams {
            field_manager: Some("copartition-operator".to_owned()),
            ..PostParams::default()
        };
        if self.seen.is_some() {
            api.replace(&self.candidate.name, &params, lease).await
        } else {
            api.create(&params, lease).await
        }
    }

    fn holds(&self) -> bool {
        let seen = self.seen.as_ref();
        seen.is_some_and(|lease| holder(lease) == self.candidate.identity)
    }

    /// Takes in how the Lease looks at `now`.
    fn observe(&mut self, found: Option<Lease>, now: Instant) {
        if found != self.seen {
            self.since = now;
        }
        self.seen = found;
    }

    /// What is to be done at `now`.
    fn step(&self, now: Instant) -> Step {
        let Some(lease) = &self.seen else {
            return Step::Claim;
        };
        let holder = holder(lease);
        let seconds = lease
            .spec
            .as_ref()
            .and_then(|spec| spec.lease_duration_seconds)
            .and_then(|seconds| u64::try_from(seconds).ok());
        let stands = seconds.map_or(self.candidate.duration, Duration::from_secs);
        let free = holder.is_empty() || holder == self.candidate.identity;
        if free || now.saturating_duration_since(self.since) >= stands {
            Step::Claim
        } else {
            Step::Wait { holder }
        }
    }

    /// The Lease as it shall be while we hold it.
    fn claimed(&self, now: Timestamp) -> Lease {
        let now = MicroTime(micros(now));
        let before = self
            .seen
            .as_ref()
            .and_then(|lease| lease.spec.clone())
            .unwrap_or_default();
        let ours = before.holder_identity.as_deref() == Some(self.candidate.identity.as_str());
        let transitions = before.lease_transitions.unwrap_or(0);
        self.written(LeaseSpec {
            holder_identity: Some(self.candidate.identity.clone()),
            lease_duration_seconds: Some(seconds(self.candidate.duration)),
            acquire_time: before
                .acquire_time
                .filter(|_| ours)
                .or_else(|| Some(now.clone())),
            renew_time: Some(now),
            lease_transitions: Some(match &self.seen {
                Some(_) if !ours => transitions.saturating_add(1),
                _ => transitions,
            }),
            ..before
        })
    }

    /// The Lease with another spec, to be written only if it still is as it was seen.
    fn written(&self, spec: LeaseSpec) -> Lease {
        let seen = self.seen.as_ref();
        let metadata = seen.map_or_else(
            || ObjectMeta {
                name: Some(self.candidate.name.clone()),
                namespace: Some(self.candidate.namespace.clone()),
                ..ObjectMeta::default()
            },
            |lease| lease.metadata.clone(),
        );
        Lease {
            metadata,
            spec: Some(spec),
        }
    }

    /// Lets others take the Lease at once.
    async fn give_back(&mut self, api: &Api<Lease>) {
        if !self.holds() {
            return;
        }
        let before = self.seen.as_ref().and_then(|lease| lease.spec.clone());
        let free = self.written(LeaseSpec {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(1),
            renew_time: Some(MicroTime(micros(Timestamp::now()))),
            ..before.unwrap_or_default()
        });
        let written = self.write(api, &free);
        match tokio::time::timeout(self.candidate.retry(), written).await {
            Ok(Ok(_)) => tracing::info!("the Lease is given back"),
            Ok(Err(error)) => {
                tracing::warn!(
                    error = words(&error),
                    "the Lease could not be given back; it ends by itself"
                );
            }
            Err(_) => {
                tracing::warn!("the Lease could not be given back in time; it ends by itself");
            }
        }
    }
}

/// Who holds a Lease; empty if nobody does.
fn holder(lease: &Lease) -> String {
    let spec = lease.spec.as_ref();
    spec.and_then(|spec| spec.holder_identity.clone())
        .unwrap_or_default()
}

fn seconds(duration: Duration) -> i32 {
    i32::try_from(duration.as_secs()).unwrap_or(i32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn election(identity: &str) -> Election {
        Election::new(Candidate {
            namespace: "ns".to_owned(),
            name: "operator".to_owned(),
            identity: identity.to_owned(),
            duration: Duration::from_secs(15),
        })
    }

    /// The Lease as the API server returns it after a write.
    fn stored(mut lease: Lease, version: &str) -> Lease {
        lease.metadata.resource_version = Some(version.to_owned());
        lease
    }

    fn waits_for(holder: &str) -> Step {
        Step::Wait {
            holder: holder.to_owned(),
        }
    }

    #[test]
    fn a_lease_is_taken_over_after_its_duration_without_a_change_and_not_before() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let (mut a, mut b) = (election("a"), election("b"));
        assert_eq!(a.step(start), Step::Claim, "nobody has it");
        let first = stored(a.claimed(Timestamp::UNIX_EPOCH), "1");
        a.observe(Some(first.clone()), start);
        assert_eq!(a.step(at(100)), Step::Claim, "the holder renews");

        // The time that the holder wrote is long past by our clock, and proves nothing.
        b.observe(Some(first.clone()), start);
        assert_eq!(b.step(at(14)), waits_for("a"));
        let renewed = stored(a.claimed(Timestamp::UNIX_EPOCH), "2");
        b.observe(Some(renewed.clone()), at(14));
        assert_eq!(b.step(at(28)), waits_for("a"), "each renewal counts anew");
        b.observe(Some(renewed.clone()), at(28));
        assert_eq!(b.step(at(29)), Step::Claim);

        let taken = b.claimed(Timestamp::UNIX_EPOCH);
        assert_eq!(taken.metadata.resource_version.as_deref(), Some("2"));
        let spec = taken.spec.unwrap();
        assert_eq!(spec.holder_identity.as_deref(), Some("b"));
        assert_eq!(spec.lease_transitions, Some(1));
        assert_eq!(spec.lease_duration_seconds, Some(15));
    }

    #[test]
    fn a_lease_that_was_given_back_is_free_at_once() {
        let (mut a, mut b) = (election("a"), election("b"));
        a.observe(Some(stored(a.claimed(Timestamp::UNIX_EPOCH), "1")), a.since);
        let mut free = a.claimed(Timestamp::UNIX_EPOCH);
        free.spec.as_mut().unwrap().holder_identity = Some(String::new());
        b.observe(Some(stored(free, "2")), b.since);
        assert_eq!(b.step(b.since), Step::Claim);
    }

    #[test]
    fn who_comes_back_under_its_own_name_need_not_wait() {
        let mut before = election("a");
        let lease = stored(before.claimed(Timestamp::UNIX_EPOCH), "1");
        before.observe(Some(lease.clone()), before.since);
        let mut after = election("a");
        after.observe(Some(lease), after.since);
        assert_eq!(after.step(after.since), Step::Claim);
        let spec = after.claimed(Timestamp::UNIX_EPOCH).spec.unwrap();
        assert_eq!(
            spec.lease_transitions,
            Some(0),
            "it stayed with the same holder"
        );
    }

    #[tokio::test]
    async fn a_term_ends_when_it_is_not_renewed_and_does_not_come_back() {
        let leading = |term, time| Standing::Leading {
            term,
            until: Until::after(time),
        };
        let (told, standing) = watch::channel(leading(1, Duration::from_millis(30)));
        let first = Term {
            number: 1,
            standing,
        };
        assert!(first.holds());
        told.send_replace(leading(1, Duration::from_millis(60)));
        first.ended().await;
        assert!(!first.holds());
        // Leading again is another term: what the first one knew is old.
        told.send_replace(leading(2, Duration::from_secs(60)));
        assert!(!first.holds());
        first.ended().await;
    }

    #[tokio::test]
    async fn a_term_ends_at_once_when_another_replica_leads() {
        let (told, standing) = watch::channel(Standing::Leading {
            term: 1,
            until: Until::after(Duration::from_secs(600)),
        });
        let term = Term {
            number: 1,
            standing,
        };
        told.send_replace(Standing::Standby {
            holder: "b".to_owned(),
        });
        assert!(!term.holds());
        term.ended().await;
    }
}
