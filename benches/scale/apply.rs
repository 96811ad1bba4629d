//! From the first apply to the last group Ready.

use std::time::{Duration, Instant};

use crate::bare::Took;
use crate::groups;
use crate::seen::CLIENT_ID;
use crate::somebody::Somebody;
use crate::stage::Stage;
use crate::table::{Rows, count};

/// For a hundred groups and more; what a group adds.
const DEADLINE: Duration = Duration::from_secs(120);
const DEADLINE_PER_GROUP: Duration = Duration::from_millis(200);

pub(crate) fn measure(stage: &mut Stage, bare: Took, rows: &mut Rows) -> Result<(), String> {
    let groups = stage.size.groups;
    let deadline = deadline(groups);
    let (process, names, manifests) = (stage.process(), stage.names(), stage.manifests());
    stage.logs.since_last();
    let cpu = process.cpu_seconds();
    let began = Instant::now();
    let (applied, ready) = stage.runtime.block_on(async {
        let applied = groups::apply(&stage.client, manifests).await?;
        let ready = stage
            .wait("all groups to be Ready", &names, deadline, |seen| {
                seen.ready()
            })
            .await?;
        Ok::<_, String>((applied, ready))
    })?;
    let cpu = process.cpu_seconds() - cpu;
    let took = (ready - began).as_secs_f64();
    Somebody::of(stage.kafka())?.check(stage.size.topics(), stage.size.partitions)?;
    // What it still does for them a little later belongs to the way there.
    stage.wait_polls(2);
    let requests = stage.logs.since_last();
    println!("  requests of {CLIENT_ID}: {}", requests.kinds());

    let reference = groups == 500;
    let topics = "of Strimzi's Topic Operator for 1,000 topics";
    rows.add(
        "bare CreateTopics in batches: until all topics show",
        bare.shown.as_secs_f64(),
        "s",
    );
    rows.add(
        "bare CreateTopics in batches: until all partitions are led",
        bare.led.as_secs_f64(),
        "s",
    );
    rows.add(
        "apply: until the API server has all groups",
        applied.as_secs_f64(),
        "s",
    );
    rows.add("apply: until all groups are Ready", took, "s")
        .reference_if(reference, &format!("36 s {topics}"));
    rows.add("apply: groups Ready per second", count(groups) / took, "/s");
    rows.add(
        "apply: ratio to the bare CreateTopics",
        took / bare.led.as_secs_f64(),
        "x",
    )
    .at_most_if(reference, 1.5);
    rows.add("apply: CPU time of the operator", cpu, "s")
        .at_most_if(reference, 2.2)
        .reference_if(reference, &format!("22 s {topics}"));
    let per_group = |requests: u64| count(requests) / count(groups);
    rows.add(
        "apply: requests to the API server a group",
        per_group(requests.api()),
        "",
    )
    .at_most_if(reference, 3.0)
    .reference_if(reference, "6 a topic of Strimzi's Topic Operator");
    rows.add(
        "apply: of these, writes a group",
        per_group(requests.api_writes()),
        "",
    );
    rows.add(
        "apply: reads of the API server in all",
        count(requests.api_reads()),
        "",
    );
    rows.add(
        "apply: requests to Kafka in all",
        count(requests.kafka()),
        "",
    );
    rows.add(
        "apply: of these, writes",
        count(requests.kafka_writes()),
        "",
    );
    rows.add(
        "memory: most resident while applying",
        process.peak(),
        "MiB",
    )
    .at_most_if(groups == 1_000, 64.0);
    Ok(())
}

/// How long so many groups may take.
pub(crate) fn deadline(groups: usize) -> Duration {
    DEADLINE + DEADLINE_PER_GROUP * u32::try_from(groups).unwrap_or(u32::MAX)
}
