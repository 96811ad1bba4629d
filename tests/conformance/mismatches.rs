//! Comparing what has landed with what `copartition::keys` says.

use std::collections::{BTreeMap, BTreeSet};

use copartition::keys::{KeyRule, PartitionCount, Placement};

use super::keys::{COPIES, Key, hex};
use super::landed::Landed;
use super::setting::{Client, Setting, Wanted};

/// Below this many partitions even a partitioner that spreads may be seen to use one only.
const SPREAD_SHOWS: i32 = 5;

/// One line for each record that is not as it should be, and for each key that is not spread although it should be.
pub(super) fn mismatches(
    client: &Client,
    setting: &Setting,
    wanted: &Wanted,
    counts: &[i32],
    keys: &[Key],
    records: &[Landed],
) -> Vec<String> {
    // The partitions of each line at each count.
    let mut seen: BTreeMap<(i32, usize), BTreeSet<i32>> = BTreeMap::new();
    let mut found = Vec::new();
    for record in records {
        let Some(line) = line_of(record, keys) else {
            found.push(format!("{}: unknown value {}", record.count, record.value));
            continue;
        };
        seen.entry((record.count, line))
            .or_default()
            .insert(record.partition);
        if cut(&record.key, setting.window) != sent(&keys[line], setting) {
            let arrived = hex(&record.key);
            found.push(format!(
                "{}: {}: arrived as {arrived}",
                record.count,
                name(&keys[line])
            ));
        }
    }
    for count in counts {
        let mut spread: BTreeMap<&Key, Vec<BTreeSet<i32>>> = BTreeMap::new();
        for (line, key) in keys.iter().enumerate() {
            let partitions = seen.remove(&(*count, line)).unwrap_or_default();
            match placement(wanted, key, *count) {
                _ if partitions.is_empty() => {
                    found.push(format!("{count}: {}: it did not land", name(key)));
                }
                Placement::At(at) if partitions != BTreeSet::from([at]) => found.push(format!(
                    "{count}: {}: wanted partition {at}, seen {partitions:?}",
                    name(key)
                )),
                Placement::At(_) => {}
                Placement::Unknown => found.push(format!(
                    "{count}: {}: no partition wanted, seen {partitions:?}",
                    name(key)
                )),
                Placement::Spread => spread.entry(key).or_default().push(partitions),
            }
        }
        for (key, copies) in spread {
            let enough = copies.len() >= COPIES && *count >= SPREAD_SHOWS && !setting.sticky;
            let partitions: BTreeSet<i32> = copies.into_iter().flatten().collect();
            if enough && partitions.len() == 1 {
                found.push(format!(
                    "{count}: {}: wanted it spread, seen {partitions:?} only",
                    name(key)
                ));
            }
        }
    }
    for line in &mut found {
        *line = format!("{} {:?} at {line}", client.name, setting.name);
    }
    found
}

fn placement(wanted: &Wanted, key: &Key, count: i32) -> Placement {
    let Some(partitioner) = &wanted.partitioner else {
        return Placement::Spread;
    };
    let count = PartitionCount::new(count).expect("a count");
    match (key, wanted.null) {
        (Some(key), _) => partitioner.partition(Some(key), count),
        (None, KeyRule::Hashed) => partitioner.partition(Some(b""), count),
        (None, KeyRule::First) => Placement::At(0),
        (None, KeyRule::Spread) => Placement::Spread,
        (None, KeyRule::Refused) => Placement::Unknown,
    }
}

fn line_of(record: &Landed, keys: &[Key]) -> Option<usize> {
    let line = record.value.parse().ok()?;
    (line < keys.len()).then_some(line)
}

/// A key as the client should send it, but for the window.
fn sent(key: &Key, setting: &Setting) -> Key {
    let dropped = |bytes: &Vec<u8>| bytes.is_empty() && setting.drops_empty;
    key.clone().filter(|bytes| !dropped(bytes))
}

/// A key without the window that a client has appended; as it is if it is too short.
fn cut(key: &Key, window: usize) -> Key {
    key.as_ref().map(|bytes| {
        let length = bytes.len().checked_sub(window);
        bytes[..length.unwrap_or(bytes.len())].to_vec()
    })
}

fn name(key: &Key) -> String {
    match key {
        None => "key null".to_owned(),
        Some(bytes) if bytes.is_empty() => "key empty".to_owned(),
        Some(_) => format!("key {}", hex(key)),
    }
}
