//! A judge that was kept and went on says what one says that never stopped.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::properties::{any_records, any_topic, judged};
use super::*;

fn resumed(topics: &[Topic], max_keys: usize, kept: &str) -> Result<Judge, String> {
    let state: State = serde_json::from_str(kept).map_err(|error| error.to_string())?;
    Judge::resume(topics.to_vec(), SECRET, max_keys, state).map_err(ToOwned::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_judge_goes_on_where_it_was(
        topics in prop::collection::vec(any_topic(), 1..3),
        records in any_records(),
        pauses in prop::collection::btree_set(0..200_usize, 0..4),
        max_keys in 0..40_usize,
    ) {
        let mut judge = Judge::with_max_keys(topics.clone(), SECRET, max_keys);
        for (at, (topic, partition, offset, key)) in records.iter().enumerate() {
            if pauses.contains(&at) {
                let kept = serde_json::to_string(&judge.state()).unwrap();
                judge = resumed(&topics, max_keys, &kept).unwrap();
            }
            judge.add(Record { topic: *topic, partition: *partition, offset: *offset, key: key.as_deref() });
        }
        prop_assert_eq!(judge.report(), judged(&topics, &records, max_keys).0);
    }

    /// What somebody wrote into it makes nothing panic.
    #[test]
    fn any_number_may_stand_in_what_is_kept(
        records in any_records(),
        at in any::<prop::sample::Index>(),
        number in prop_oneof![0..20_i64, any::<i64>()],
    ) {
        let topics = [topic("utf8/murmur2", 6)];
        let mut judge = Judge::new(topics.to_vec(), SECRET);
        for (topic, partition, offset, key) in &records {
            judge.add(Record { topic: *topic, partition: *partition, offset: *offset, key: key.as_deref() });
        }
        let mut kept = serde_json::to_value(judge.state()).unwrap();
        let mut numbers = Vec::new();
        places(&mut kept, &mut numbers);
        *numbers.swap_remove(at.index(numbers.len())) = json!(number);
        if let Ok(judge) = resumed(&topics, MAX_KEYS, &kept.to_string()) {
            let _ = judge.report().message();
        }
    }
}

/// All numbers of a value.
fn places<'v>(value: &'v mut Value, found: &mut Vec<&'v mut Value>) {
    match value {
        Value::Number(_) => found.push(value),
        Value::Array(values) => values.iter_mut().for_each(|it| places(it, found)),
        Value::Object(values) => values.values_mut().for_each(|it| places(it, found)),
        _ => {}
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let topics = [topic("utf8/murmur2", 6)];
    let mut judge = Judge::new(topics.to_vec(), SECRET);
    for key in keys(30, "utf8") {
        let Placement::At(partition) = Partitioner::Murmur2.partition(Some(&key), at(6)) else {
            panic!("{key:?} is spread");
        };
        judge.add(Record {
            topic: 0,
            partition,
            offset: 0,
            key: Some(&key),
        });
    }
    let kept = serde_json::to_value(judge.state()).unwrap();
    // No key stands in it, and none of its bytes in hex.
    let text = kept.to_string();
    assert!(!text.contains("key-") && !text.contains("6b65792d"));
    assert_eq!(
        resumed(&topics, MAX_KEYS, &text).unwrap().report(),
        judge.report()
    );
    let damaged = |change: &dyn Fn(&mut Value)| {
        let mut kept = kept.clone();
        change(&mut kept);
        resumed(&topics, MAX_KEYS, &kept.to_string())
            .map(|_| ())
            .unwrap_err()
    };
    let twice = |kept: &mut Value| {
        let first = kept[0].clone();
        kept.as_array_mut().unwrap().push(first);
    };
    assert!(damaged(&twice).contains("another number of topics"));
    assert!(damaged(&|kept| kept[0]["records"]["read"] = json!(7)).contains("add up"));
    assert!(damaged(&|kept| kept[0]["records"]["misplaced"] = json!(31)).contains("add up"));
    let more = json!(vec![json!({"seen": 0, "predicted": 0}); 7]);
    assert!(damaged(&|kept| kept[0]["per_partition"] = more.clone()).contains("partitions"));
    assert!(damaged(&|kept| kept[0]["keys"] = json!(3)).contains("invalid type"));
    let few = resumed(&topics, 29, &text).map(|_| ()).unwrap_err();
    assert!(few.contains("more keys"), "{few}");
}
