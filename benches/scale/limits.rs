//! Whether the system lets one broker have so many partitions.

use std::fs;

use crate::settings::Size;

/// A broker maps the two indexes of each partition, and libraries and heaps besides.
const MAPS_PER_PARTITION: usize = 2;
const MAPS_BESIDES: usize = 5_000;
/// It keeps the newest segment of each partition open.
const FILES_BESIDES: usize = 2_000;

pub(crate) fn check(size: Size) -> Result<(), String> {
    let partitions = size.topics() * size.grown().unwrap_or(size.partitions);
    let maps = partitions * MAPS_PER_PARTITION + MAPS_BESIDES;
    let allowed = read("/proc/sys/vm/max_map_count", |text| {
        text.trim().parse().ok()
    })?;
    if allowed < maps {
        return Err(format!(
            "{partitions} partitions take {maps} memory maps, and vm.max_map_count is {allowed}: raise it, or measure fewer groups"
        ));
    }
    let files = partitions + FILES_BESIDES;
    // The soft limit is raised by the JVM itself.
    let allowed = read("/proc/self/limits", |text| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("Max open files"))?;
        match line.split_whitespace().nth(1)? {
            "unlimited" => Some(usize::MAX),
            number => number.parse().ok(),
        }
    })?;
    if allowed < files {
        return Err(format!(
            "{partitions} partitions take {files} open files, and the hard limit is {allowed}: raise it (ulimit -Hn), or measure fewer groups"
        ));
    }
    Ok(())
}

fn read(path: &str, parse: impl Fn(&str) -> Option<usize>) -> Result<usize, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    parse(&text).ok_or_else(|| format!("{path}: not understood"))
}
