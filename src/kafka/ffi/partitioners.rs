//! The bundled library's own partitioner functions against ours, on any bytes. A test only: nothing else calls them.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use proptest::prelude::*;
use rdkafka_sys as sys;

use crate::keys::{PartitionCount, Partitioner, Placement};

type Function = unsafe extern "C" fn(
    *const sys::rd_kafka_topic_t,
    *const c_void,
    usize,
    i32,
    *mut c_void,
    *mut c_void,
) -> i32;

/// The library's names that look at keys, with ours. `random` does not.
const FUNCTIONS: [(&str, Function, Partitioner); 6] = [
    (
        "consistent",
        sys::rd_kafka_msg_partitioner_consistent,
        Partitioner::Crc32,
    ),
    (
        "consistent_random",
        sys::rd_kafka_msg_partitioner_consistent_random,
        Partitioner::Crc32SpreadEmpty,
    ),
    (
        "murmur2",
        sys::rd_kafka_msg_partitioner_murmur2,
        Partitioner::Murmur2,
    ),
    (
        "murmur2_random",
        sys::rd_kafka_msg_partitioner_murmur2_random,
        Partitioner::Murmur2,
    ),
    (
        "fnv1a",
        sys::rd_kafka_msg_partitioner_fnv1a,
        Partitioner::Fnv1aAbs,
    ),
    (
        "fnv1a_random",
        sys::rd_kafka_msg_partitioner_fnv1a_random,
        Partitioner::Fnv1aAbs,
    ),
];

/// What the library says of a key that it hashes.
fn theirs(function: Function, key: &[u8], count: PartitionCount) -> i32 {
    // SAFETY: the functions read `key.len()` bytes at `key`, which the slice holds, and give a number. Topic and opaques
    // are looked at only where a key is not hashed (a null one, and an empty one under consistent_random), which
    // the caller leaves out. A slice's pointer is never null.
    unsafe {
        function(
            null(),
            key.as_ptr().cast(),
            key.len(),
            count.get(),
            null_mut(),
            null_mut(),
        )
    }
}

fn agree(key: &[u8], n: i32) -> Result<(), String> {
    let count = PartitionCount::new(n).expect("a count");
    for (name, function, partitioner) in &FUNCTIONS {
        let ours = partitioner.partition(Some(key), count);
        if ours == Placement::Spread {
            assert!(key.is_empty() && *name == "consistent_random");
            continue;
        }
        let theirs = theirs(*function, key, count);
        if ours != Placement::At(theirs) {
            return Err(format!("{name} at {n}: {key:02x?} is {theirs}, not {ours}"));
        }
    }
    Ok(())
}

#[test]
fn the_edges_are_those_of_the_library() {
    // The two whose FNV-1a is the smallest integer, no bytes, each length of a tail, and bytes above 0x7f.
    let mut keys: Vec<Vec<u8>> = vec![b"3wujz9a".to_vec(), b"gq3p75b".to_vec(), b"a\0b".to_vec()];
    keys.extend((0..=9).map(|length| vec![0xff; length]));
    for key in &keys {
        for n in [1, 2, 3, 5, 6, 7, 8, 12, 100, 16_384, i32::MAX - 1, i32::MAX] {
            assert_eq!(agree(key, n), Ok(()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn any_bytes_lie_where_the_library_puts_them(
        key in prop::collection::vec(any::<u8>(), 0..64),
        n in prop_oneof![1..200_i32, 1..=i32::MAX],
    ) {
        prop_assert_eq!(agree(&key, n), Ok(()));
    }
}
