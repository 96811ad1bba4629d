use proptest::prelude::*;

use super::*;

fn count(n: i32) -> PartitionCount {
    PartitionCount::new(n).unwrap()
}

fn any_partitioner() -> impl Strategy<Value = Partitioner> {
    prop::sample::select(&Partitioner::COMPUTED[..])
}

#[test]
fn a_count_is_at_least_one() {
    for refused in [0, -1, i32::MIN] {
        assert_eq!(PartitionCount::new(refused), None);
    }
    for accepted in [1, 6, i32::MAX] {
        assert_eq!(count(accepted).get(), accepted);
    }
    assert_eq!(count(6).to_string(), "6");
}

#[test]
fn names_are_distinct_and_read_back() {
    let custom = Partitioner::Custom("by-region".to_owned());
    assert_eq!(custom.to_string(), "custom:by-region");
    for partitioner in Partitioner::COMPUTED.iter().chain([&custom]) {
        let name = partitioner.to_string();
        assert_eq!(Partitioner::parse(&name).as_ref(), Ok(partitioner));
    }
    for refused in ["custom", "custom:", "murmur2:x", ""] {
        assert!(Partitioner::parse(refused).is_err(), "{refused:?}");
    }
}

/// The rules of each partitioner, as the clients were seen to follow them.
#[test]
fn empty_and_null_keys_follow_their_rules() {
    use Placement::{At, Spread, Unknown};
    for (partitioner, empty, null) in [
        (Partitioner::Murmur2, At(3), Spread),
        (Partitioner::Murmur2Unsigned, At(3), Spread),
        (Partitioner::Crc32, At(0), Spread),
        (Partitioner::Crc32SpreadEmpty, Spread, Spread),
        (Partitioner::Fnv1aAbs, At(3), Spread),
        (Partitioner::Fnv1aPositive, At(5), Spread),
        (Partitioner::Fnv1aUnsigned, At(1), Spread),
        (Partitioner::KafkajsLegacy, At(0), Spread),
        (Partitioner::JavaStringHashAbs, At(0), Unknown),
        (Partitioner::JavaStringHashPositive, At(0), Unknown),
        (Partitioner::KafkaNodeKeyed, At(1), At(1)),
        (Partitioner::Xxhash32, Spread, Spread),
    ] {
        let six = count(6);
        assert_eq!(
            partitioner.partition(Some(b""), six),
            empty,
            "{partitioner}"
        );
        assert_eq!(partitioner.partition(None, six), null, "{partitioner}");
    }
}

#[test]
fn no_number_where_no_formula_tells() {
    let custom = Partitioner::Custom("mine".to_owned());
    assert_eq!(custom.partition(Some(b"a"), count(6)), Placement::Unknown);
    for text in [
        Partitioner::JavaStringHashAbs,
        Partitioner::JavaStringHashPositive,
        Partitioner::KafkaNodeKeyed,
    ] {
        let placed = text.partition(Some(&[0x80, 0xff]), count(6));
        assert_eq!(placed, Placement::Unknown, "{text}");
    }
    assert_eq!(Placement::Unknown.to_string(), "unknown");
    assert_eq!(Placement::Spread.to_string(), "spread");
    assert_eq!(Placement::At(3).to_string(), "3");
}

#[test]
fn remainders_are_exact_at_the_edges() {
    for n in [
        1,
        2,
        3,
        6,
        7,
        12,
        1000,
        65_536,
        1 << 30,
        i32::MAX - 1,
        i32::MAX,
    ] {
        let near = |value: u32| {
            (0..3_u32).flat_map(move |by| [value.wrapping_sub(by), value.wrapping_add(by)])
        };
        let n = n.unsigned_abs();
        for value in near(0)
            .chain(near(n))
            .chain(near(1 << 31))
            .chain(near(u32::MAX / n * n))
        {
            let remainder = count(n.cast_signed()).remainder(value);
            assert_eq!(remainder.cast_unsigned(), value % n, "{value} mod {n}");
        }
    }
}

#[test]
fn a_specialised_loop_places_as_one_key_does() {
    struct Loop;
    impl PlacingLoop for Loop {
        type Output = Vec<Placement>;
        fn run(self, place: impl Fn(&[u8]) -> Placement) -> Vec<Placement> {
            ["", "BBCA", "日本語"]
                .map(|key| place(key.as_bytes()))
                .into()
        }
    }
    let custom = Partitioner::Custom("mine".to_owned());
    for partitioner in Partitioner::COMPUTED.iter().chain([&custom]) {
        let each =
            ["", "BBCA", "日本語"].map(|key| partitioner.partition(Some(key.as_bytes()), count(7)));
        assert_eq!(
            partitioner.specialised(count(7), Loop),
            each,
            "{partitioner}"
        );
    }
}

proptest! {
    #[test]
    fn remainders_are_exact(value: u32, n in prop_oneof![1..1_000_i32, 1..=i32::MAX]) {
        prop_assert_eq!(count(n).remainder(value).cast_unsigned(), value % n.unsigned_abs());
    }

    #[test]
    fn a_partition_is_always_below_the_count(
        partitioner in any_partitioner(),
        key: Vec<u8>,
        n in 1..=i32::MAX,
    ) {
        if let Placement::At(partition) = partitioner.partition(Some(&key), count(n)) {
            prop_assert!((0..n).contains(&partition));
        } else {
            prop_assert!(key.is_empty() || str::from_utf8(&key).is_err());
        }
    }

    #[test]
    fn text_that_is_not_empty_always_has_a_partition(
        partitioner in any_partitioner(),
        key in ".+",
        n in 1..=i32::MAX,
    ) {
        let placed = partitioner.partition(Some(key.as_bytes()), count(n));
        prop_assert!(matches!(placed, Placement::At(_)), "{placed}");
    }

    #[test]
    fn one_partition_takes_every_key(partitioner in any_partitioner(), key in ".+") {
        prop_assert_eq!(partitioner.partition(Some(key.as_bytes()), count(1)), Placement::At(0));
    }
}
