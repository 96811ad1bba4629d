//! Keys that show that two schemes differ: a sentence that names two formulas convinces nobody.

use super::Example;
use crate::keys::{KeyScheme, PartitionCount};

/// How many are shown.
const SHOWN: usize = 3;

/// Some keys that the two place differently: first those of the group's own sample keys that do, else made-up ones.
pub(super) fn find(
    a: &KeyScheme,
    b: &KeyScheme,
    count: Option<PartitionCount>,
    keys: &[String],
) -> Vec<Example> {
    let Some(count) = count else {
        return Vec::new();
    };
    let differ = |key: String| {
        let [at_a, at_b] = [a, b].map(|scheme| scheme.place(&key, count).ok());
        let (a, b) = (at_a?, at_b?);
        (a != b).then_some(Example { key, a, b })
    };
    let mut found: Vec<Example> = keys
        .iter()
        .cloned()
        .filter_map(differ)
        .take(SHOWN)
        .collect();
    if found.is_empty() {
        found.extend(made_up().filter_map(differ).take(SHOWN));
    }
    found
}

/// Keys that most encodings can represent: numbers of four digits are also text, JSON, hex and base64.
fn made_up() -> impl Iterator<Item = String> {
    let numbers = (1000..1200).map(|number| number.to_string());
    let uuids = (0..20).map(|number| format!("00000000-0000-4000-8000-{number:012}"));
    // Last, since they differ where nothing else does: no bytes, and a text whose String.hashCode is -1.
    let odd = ["", "zsjpxag"].map(str::to_owned);
    numbers.chain(uuids).chain(odd)
}
