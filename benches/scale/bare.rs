//! The bare reference, by Kafka's own admin client: `BareAdmin.java` does it and takes the time.

use std::path::Path;
use std::time::Duration;

use crate::broker::{Broker, Folders};
use crate::settings::Size;

/// What the same topics take without an operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bare {
    pub(crate) create: Took,
    /// The same for the growth, where it is measured.
    pub(crate) grow: Option<Took>,
}

/// From the first request on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Took {
    /// Until a broker shows all topics as wanted.
    pub(crate) shown: Duration,
    /// Until it also leads all their partitions: only then can anybody write to them, and the operator says Ready not
    /// before that. So this is what ratios are made with.
    pub(crate) led: Duration,
}

/// Measures on a Kafka of its own, which is gone afterwards.
pub(crate) fn measure(folders: &Folders, size: Size) -> Result<Bare, String> {
    let broker = Broker::start(folders);
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/scale/BareAdmin.java");
    let mut args = vec![
        "bare-".to_owned(),
        size.topics().to_string(),
        size.partitions.to_string(),
    ];
    args.extend(size.grown().map(|grown| grown.to_string()));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let printed = broker.kafka.tool_ok(&program.to_string_lossy(), &args);
    let took = |name: &str| {
        let mut lines = printed.lines();
        let millis = lines.find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        millis.map(Duration::from_millis)
    };
    let both = |what: &str| {
        Some(Took {
            shown: took(&format!("{what}_visible "))?,
            led: took(&format!("{what}_led "))?,
        })
    };
    Ok(Bare {
        create: both("create")
            .ok_or_else(|| format!("BareAdmin.java printed no figure:\n{printed}"))?,
        grow: both("grow"),
    })
}
