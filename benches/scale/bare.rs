//! The bare reference, by Kafka's own admin client: `BareAdmin.java` does it and takes the time.

use std::path::Path;
use std::time::Duration;

use crate::settings::Size;
use crate::stage;

/// What the same topics take without an operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bare {
    /// From the first request until a broker shows all topics led.
    pub(crate) create: Duration,
    /// The same for the growth, where it is measured.
    pub(crate) grow: Option<Duration>,
}

/// Measures on a Kafka of its own, which is gone afterwards.
pub(crate) fn measure(root: &Path, size: Size) -> Result<Bare, String> {
    let kafka = stage::kafka(root);
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/scale/BareAdmin.java");
    let mut args = vec![
        "bare-".to_owned(),
        size.topics().to_string(),
        size.partitions.to_string(),
    ];
    args.extend(size.grown().map(|grown| grown.to_string()));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let printed = kafka.tool_ok(&program.to_string_lossy(), &args);
    let took = |name: &str| {
        let mut lines = printed.lines();
        let millis = lines.find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        millis.map(Duration::from_millis)
    };
    Ok(Bare {
        create: took("create_visible ")
            .ok_or_else(|| format!("BareAdmin.java printed no figure:\n{printed}"))?,
        grow: took("grow_visible "),
    })
}
