//! All groups from one count to the next, with consent, over topics that hold records.

use std::time::Instant;

use serde_json::json;

use crate::apply;
use crate::bare::Took;
use crate::board::Seen;
use crate::groups::{self, Manifest};
use crate::somebody::Somebody;
use crate::stage::Stage;
use crate::table::{Rows, count};

pub(crate) fn measure(
    stage: &mut Stage,
    to: usize,
    bare: Took,
    rows: &mut Rows,
) -> Result<(), String> {
    let (groups, from) = (stage.size.groups, stage.size.partitions);
    let somebody = Somebody::of(stage.kafka())?;
    // Only a topic with records needs a consent.
    somebody.write_to_each((0..groups).flat_map(groups::topics))?;
    stage.wait_polls(2);
    let (process, names) = (stage.process(), stage.names());
    let manifests: Vec<Manifest> = (0..groups).map(|n| manifest(stage, n, to)).collect();
    stage.logs.since_last();
    let cpu = process.cpu_seconds();
    let began = Instant::now();
    let deadline = apply::deadline(groups);
    let (applied, ready) = stage.runtime.block_on(async {
        let applied = groups::apply(&stage.client, manifests).await?;
        let what = format!("all groups to be Ready with {to} partitions");
        let ready = stage.wait(&what, &names, deadline, Seen::ready).await?;
        Ok::<_, String>((applied, ready))
    })?;
    let cpu = process.cpu_seconds() - cpu;
    let took = (ready - began).as_secs_f64();
    somebody.check(stage.size.topics(), to)?;
    stage.wait_polls(2);
    let requests = stage.logs.since_last();
    println!("  requests: {}", requests.kinds());

    let reference = groups == 500;
    let name = |what: &str| format!("growth {from} to {to}: {what}");
    rows.add(
        &name("bare CreatePartitions in batches: until all topics show it"),
        bare.shown.as_secs_f64(),
        "s",
    );
    rows.add(
        &name("bare CreatePartitions in batches: until all partitions are led"),
        bare.led.as_secs_f64(),
        "s",
    );
    rows.add(
        &name("until the API server has all groups"),
        applied.as_secs_f64(),
        "s",
    );
    rows.add(&name("until all groups are Ready"), took, "s")
        .reference_if(
            reference,
            "22 s of Strimzi's Topic Operator for 1,000 topics",
        );
    rows.add(
        &name("ratio to the bare CreatePartitions"),
        took / bare.led.as_secs_f64(),
        "x",
    )
    .at_most_if(reference, 1.5);
    rows.add(&name("CPU time of the operator"), cpu, "s");
    rows.add(
        &name("requests to the API server a group"),
        count(requests.api()) / count(groups),
        "",
    );
    rows.add(
        &name("requests to Kafka in all"),
        count(requests.kafka()),
        "",
    );
    rows.add(
        &name("of these, writes"),
        count(requests.kafka_writes()),
        "",
    );
    Ok(())
}

fn manifest(stage: &Stage, n: usize, to: usize) -> Manifest {
    let mut manifest = groups::manifest(n, &stage.kafka().bootstrap(), to);
    manifest.spec["acceptKeyMovement"] = json!({
        "topics": groups::topics(n),
        "fromPartitions": stage.size.partitions,
        "toPartitions": to,
    });
    manifest
}
