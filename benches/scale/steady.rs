//! Nothing changes: what the operator still does.

use std::thread;
use std::time::{Duration, Instant};

use crate::stage::Stage;
use crate::table::{Rows, count};

pub(crate) fn measure(stage: &mut Stage, duration: Duration, rows: &mut Rows) {
    let process = stage.process();
    stage.logs.since_last();
    let (cpu, before) = (process.cpu_seconds(), process.resident());
    let began = Instant::now();
    thread::sleep(duration);
    let cpu = process.cpu_seconds() - cpu;
    let seconds = began.elapsed().as_secs_f64();
    let after = process.resident();
    let requests = stage.logs.since_last();
    println!("  requests in {seconds:.0} s: {}", requests.kinds());

    let thousand = stage.size.groups == 1_000;
    let minutes = seconds / 60.0;
    let name = |what: &str| format!("steady {} s: {what}", duration.as_secs());
    rows.add(
        &name("writes to the API server but the Lease"),
        count(requests.api_writes()),
        "",
    )
    .at_most(0.0);
    rows.add(&name("writes to Kafka"), count(requests.kafka_writes()), "")
        .at_most(0.0);
    rows.add(
        &name("requests to the API server but the Lease"),
        count(requests.api()) / minutes,
        "/min",
    )
    .reference_if(thousand, "400 a minute of Strimzi's Topic Operator");
    rows.add(
        &name("requests for the Lease"),
        count(requests.lease) / minutes,
        "/min",
    );
    rows.add(
        &name("requests to Kafka"),
        count(requests.kafka()) / minutes,
        "/min",
    );
    rows.add(&name("CPU of one core"), 100.0 * cpu / seconds, "%")
        .at_most_if(thousand, 0.5)
        .reference_if(thousand, "2.9 % of Strimzi's Topic Operator");
    rows.add(&name("resident at its start"), before, "MiB");
    rows.add(&name("resident at its end"), after, "MiB")
        .at_most_if(thousand, 64.0)
        .reference_if(thousand, "203 MiB of Strimzi's Topic Operator");
}
