//! The figures.

use std::fmt::{self, Display, Write as _};

use super::command::Run;
use super::{PARTITIONS, ROUNDS, VALUE};

/// The share of the bare client's rate that reading with judging is to reach.
const WANTED: f64 = 0.8;

/// The seconds that each reader took.
pub(crate) struct Readers {
    pub(crate) bare: f64,
    pub(crate) reading: f64,
    pub(crate) judging: f64,
}

impl Default for Readers {
    fn default() -> Self {
        Self {
            bare: f64::INFINITY,
            reading: f64::INFINITY,
            judging: f64::INFINITY,
        }
    }
}

impl Readers {
    pub(crate) fn least(&self, other: &Self) -> Self {
        Self {
            bare: self.bare.min(other.bare),
            reading: self.reading.min(other.reading),
            judging: self.judging.min(other.judging),
        }
    }
}

impl Display for Readers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            bare,
            reading,
            judging,
        } = self;
        write!(
            f,
            "bare {bare:.2} s, reading {reading:.2} s, with judging {judging:.2} s: {:.2} of the bare rate",
            bare / judging
        )
    }
}

/// What was measured of one topic.
pub(crate) struct Measured {
    pub(crate) records: u64,
    pub(crate) keys: u64,
    pub(crate) best: Readers,
    pub(crate) command: Vec<Run>,
}

pub(crate) fn table(measured: &[Measured], machine: &str) -> String {
    let mut table = format!(
        "# Reading and judging records\n\nWritten by `make bench-verify`: {machine}.\n\n\
         Records of {VALUE} bytes on {PARTITIONS} partitions of one broker on the same machine, utf8/murmur2. The bare client is \
         rdkafka's `BaseConsumer` with the same fetch settings, which polls and counts. All take turns; best of {ROUNDS} rounds. \
         Wanted is a share of {WANTED} of the bare client's rate.\n\n\
         | records | keys | reader | s | records/s | of the bare rate |\n|---|---|---|---|---|---|\n"
    );
    for Measured {
        records,
        keys,
        best,
        ..
    } in measured
    {
        for (reader, seconds) in [
            ("bare client", best.bare),
            ("reading", best.reading),
            ("reading with judging", best.judging),
        ] {
            // Writing to a String cannot fail.
            let _ = writeln!(
                table,
                "| {records} | {keys} | {reader} | {seconds:.2} | {:.0} | {:.2} |",
                rate(*records, seconds),
                best.bare / seconds
            );
        }
    }
    table.push_str(
        "\n`kubectl copartition verify --full`, from its start to its end:\n\n\
         | records | keys | s | records/s | most memory, MiB |\n|---|---|---|---|---|\n",
    );
    for Measured {
        records,
        keys,
        command,
        ..
    } in measured
    {
        let least = |of: fn(&Run) -> f64| command.iter().map(of).fold(f64::INFINITY, f64::min);
        let most = command.iter().map(|run| run.peak).fold(0.0, f64::max);
        let seconds = least(|run| run.seconds);
        let _ = writeln!(
            table,
            "| {records} | {keys} | {seconds:.2} | {:.0} | {most:.0} |",
            rate(*records, seconds)
        );
    }
    table
}

// No count of records here is beyond 2^52.
#[allow(clippy::cast_precision_loss)]
fn rate(records: u64, seconds: f64) -> f64 {
    records as f64 / seconds
}
