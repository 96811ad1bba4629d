//! Somebody else adds a partition to one topic: how long until the group says so. Each sample breaks a group of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kube::Client;
use serde_json::json;

use crate::groups::{self, Manifest};
use crate::somebody::Somebody;
use crate::stage::{POLL_SECONDS, Stage};
use crate::table::{Rows, count};

/// Groups that change meanwhile.
const BUSY: usize = 50;
/// All of these are edited once in this time.
const ROUND: Duration = Duration::from_secs(2);
const SEEN_WITHIN: Duration = Duration::from_secs(60);
/// The golden ratio's part behind the point: its multiples spread evenly over an interval, and the same in each run.
const SPREAD: f64 = 0.618_033_988_749_895;

/// `partitions`: what all topics have at the beginning. `samples`: of each kind, where there are groups enough.
pub(crate) fn measure(
    stage: &mut Stage,
    partitions: usize,
    samples: usize,
    rows: &mut Rows,
) -> Result<(), String> {
    let groups = stage.size.groups;
    let busy = BUSY.min(groups / 2);
    let samples = samples.min((groups - busy) / 2);
    let somebody = Somebody::of(stage.kafka())?;
    let idle = busy..busy + samples;
    let latencies = stage
        .runtime
        .block_on(sample(stage, &somebody, idle, partitions))?;
    report("while all else is idle", &latencies, groups, rows);

    let last = busy + samples..busy + 2 * samples;
    let edits = Arc::<AtomicUsize>::default();
    let manifests = changing(stage, busy, partitions);
    let began = Instant::now();
    let latencies = stage.runtime.block_on(async {
        let editing = tokio::spawn(edit(stage.client.clone(), manifests, edits.clone()));
        let latencies = sample(stage, &somebody, last, partitions).await;
        let failure = editing.is_finished();
        editing.abort();
        match editing.await {
            Ok(Err(error)) if failure => Err(error),
            _ => latencies,
        }
    })?;
    let rate = count(edits.load(Ordering::Relaxed)) / began.elapsed().as_secs_f64();
    report(
        &format!("while {busy} groups change"),
        &latencies,
        groups,
        rows,
    );
    rows.add("drift: edits a second meanwhile", rate, "/s");
    let names: Vec<String> = (0..busy).map(groups::name).collect();
    stage.runtime.block_on(stage.wait(
        "the changed groups to have their config applied",
        &names,
        SEEN_WITHIN,
        |seen| seen.since("TopicConfigsApplied", "True", ""),
    ))?;
    Ok(())
}

/// One group after the other, each at another moment between two polls.
async fn sample(
    stage: &Stage,
    somebody: &Somebody,
    groups: std::ops::Range<usize>,
    partitions: usize,
) -> Result<Vec<Duration>, String> {
    let mut latencies = Vec::new();
    for (sample, n) in groups.enumerate() {
        // The last sample was seen just after a poll, so this is the time since a poll.
        let moment = (count(sample) * SPREAD).fract() * POLL_SECONDS;
        tokio::time::sleep(Duration::from_secs_f64(moment)).await;
        let began = Instant::now();
        let [topic, _] = groups::topics(n);
        somebody.grow(&topic, partitions + 1).await?;
        let names = [groups::name(n)];
        let seen = stage
            .wait("drift to be seen", &names, SEEN_WITHIN, |seen| {
                seen.since("PartitionsAligned", "False", "PartitionDrift")
            })
            .await?;
        latencies.push(seen - began);
    }
    Ok(latencies)
}

/// The groups that change, in two variants that differ in a config of both topics.
fn changing(stage: &Stage, busy: usize, partitions: usize) -> [Vec<Manifest>; 2] {
    let bootstrap = stage.kafka().bootstrap();
    ["600000000", "604800000"].map(|retention| {
        (0..busy)
            .map(|n| {
                let mut manifest = groups::manifest(n, &bootstrap, partitions);
                for topic in 0..2 {
                    manifest.spec["topics"][topic]["config"] = json!({"retention.ms": retention});
                }
                manifest
            })
            .collect()
    })
}

/// Edits all of them, round after round, until it is ended.
async fn edit(
    client: Client,
    variants: [Vec<Manifest>; 2],
    edits: Arc<AtomicUsize>,
) -> Result<(), String> {
    let mut rounds = tokio::time::interval(ROUND);
    for manifests in variants.iter().cycle() {
        rounds.tick().await;
        groups::apply(&client, manifests.clone()).await?;
        edits.fetch_add(manifests.len(), Ordering::Relaxed);
    }
    Ok(())
}

fn report(when: &str, latencies: &[Duration], groups: usize, rows: &mut Rows) {
    let mut sorted = latencies.to_vec();
    sorted.sort();
    let samples = sorted.len();
    let thousand = groups == 1_000;
    for percent in [50, 99] {
        // The nearest rank: with less than a hundred samples the 99th is the slowest.
        let rank = (samples * percent).div_ceil(100).max(1) - 1;
        let Some(latency) = sorted.get(rank) else {
            return;
        };
        let seconds = latency.as_secs_f64();
        let metric = format!("drift seen, {when}: p{percent} of {samples}");
        rows.add(&metric, (seconds * 1_000.0).round(), "ms");
        let polls = rows.add(
            &format!("{metric} in polls"),
            seconds / POLL_SECONDS,
            "polls",
        );
        if percent == 99 {
            polls
                .at_most_if(thousand, 2.0)
                .reference_if(thousand, "up to 155 s of Strimzi's Topic Operator");
        } else {
            polls.reference_if(thousand, "median 62 s of Strimzi's Topic Operator");
        }
    }
}
