//! A restart of the operator while nothing has changed.

use std::thread;
use std::time::{Duration, Instant};

use crate::apply;
use crate::stage::{self, Stage};
use crate::table::{Rows, count};

/// Counts the passes that came to a verdict and reported it (or found it reported); those that had nothing to go by
/// yet are not in it. The gauges of the metrics page are no proof: they show what earlier processes wrote.
const PASSES: &str = "copartition_reconciles_total{outcome=\"Ok\"}";
const LOOK: Duration = Duration::from_millis(20);

pub(crate) fn measure(stage: &mut Stage, rows: &mut Rows) -> Result<(), String> {
    let groups = stage.size.groups;
    stage.stop_operator()?;
    stage.logs.since_last();
    let began = Instant::now();
    stage.operator = stage::launch(&stage.kube);
    stage.operator.wait_until_ready();
    let ready = began.elapsed();
    let wanted = u64::try_from(groups).unwrap_or(u64::MAX);
    let deadline = apply::deadline(groups);
    loop {
        let passes = stage.counted(PASSES);
        if passes >= wanted {
            break;
        }
        if began.elapsed() > deadline {
            return Err(format!(
                "waited {deadline:?} after a restart for a verdict on {groups} groups; {passes} passes came to one"
            ));
        }
        thread::sleep(LOOK);
    }
    let took = began.elapsed();
    let until = stage.logs.since_last();
    let cpu = stage.process().cpu_seconds();
    println!("  requests until then: {}", until.kinds());
    stage.wait_polls(2);
    let after = stage.logs.since_last();
    println!(
        "  {} passes came to a verdict; requests in two polls after that: {}",
        stage.counted(PASSES),
        after.kinds()
    );
    rows.add("restart: until ready", ready.as_secs_f64(), "s");
    rows.add(
        "restart: until a verdict on all groups",
        took.as_secs_f64(),
        "s",
    );
    rows.add("restart: CPU time of the operator until then", cpu, "s");
    rows.add(
        "restart: requests to the API server until then",
        count(until.api()),
        "",
    );
    rows.add(
        "restart: requests to Kafka until then",
        count(until.kafka()),
        "",
    );
    rows.add(
        "restart: writes to both, also in the two polls after",
        count(
            until.api_writes() + until.kafka_writes() + after.api_writes() + after.kafka_writes(),
        ),
        "",
    )
    .at_most(0.0);
    rows.add(
        "restart: resident after it",
        stage.process().resident(),
        "MiB",
    );
    Ok(())
}
