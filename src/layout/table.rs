//! The layout of some keys at one partition count.

use crate::keys::{EncodeError, KeyScheme, PartitionCount, Placement};

/// Where some keys lie under one scheme at one partition count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The scheme that places them.
    pub scheme: KeyScheme,
    /// The number of partitions, 1 or more.
    pub partitions: i32,
    /// One row per key, in the order in which the keys were given; a key given twice has two rows.
    pub rows: Vec<Row>,
    /// How many rows lie on each partition, by partition number; as long as `partitions`, so 4 bytes for each.
    /// Rows that are spread count nowhere.
    pub keys_per_partition: Vec<u32>,
}

/// One key of a [`Table`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The logical key.
    pub key: String,
    /// Its bytes under the scheme's encoding, shown beside the partition so that a wrong serializer is seen.
    pub bytes: Vec<u8>,
    /// Where it lies.
    pub placement: Placement,
}

impl Table {
    /// Lays out `keys` under a scheme on `count` partitions.
    ///
    /// # Errors
    /// [`EncodeError`] for the first key that is no value of the scheme's encoding.
    pub fn of(
        scheme: &KeyScheme,
        keys: &[String],
        count: PartitionCount,
    ) -> Result<Self, EncodeError> {
        let rows: Vec<Row> = keys
            .iter()
            .map(|key| Row::of(scheme, key, count))
            .collect::<Result<_, _>>()?;
        // A positive i32 fits an index on targets of 32 bits and more, the only ones with a Kafka client.
        let mut keys_per_partition = vec![0; usize::try_from(count.get()).unwrap_or(usize::MAX)];
        for row in &rows {
            if let Some(keys) = index(row.placement).and_then(|at| keys_per_partition.get_mut(at)) {
                *keys += 1;
            }
        }
        Ok(Self {
            scheme: scheme.clone(),
            partitions: count.get(),
            rows,
            keys_per_partition,
        })
    }
}

impl Row {
    fn of(scheme: &KeyScheme, key: &str, count: PartitionCount) -> Result<Self, EncodeError> {
        let bytes = scheme.encoding.encode(key)?;
        Ok(Self {
            key: key.to_owned(),
            placement: scheme.partitioner.partition(Some(&bytes), count),
            bytes: bytes.into_owned(),
        })
    }
}

/// The partition of a placement as an index.
fn index(placement: Placement) -> Option<usize> {
    match placement {
        Placement::At(partition) => usize::try_from(partition).ok(),
        Placement::Spread | Placement::Unknown => None,
    }
}

/// Bytes as lower-case hex digits, two a byte, without prefix: `42424341` for `BBCA`.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 0xf])
        .map(|digit| DIGITS[usize::from(digit)])
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::keys::{Encoding, Partitioner};

    fn table(keys: &[&str], count: i32) -> Table {
        let scheme = KeyScheme {
            encoding: Encoding::UTF8,
            partitioner: Partitioner::Murmur2,
        };
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        Table::of(&scheme, &keys, PartitionCount::new(count).unwrap()).unwrap()
    }

    const TICKERS: [&str; 10] = [
        "BBCA", "BBRI", "BMRI", "TLKM", "ASII", "GOTO", "UNVR", "ICBP", "ANTM", "BBNI",
    ];

    fn on(table: &Table, partition: i32) -> Vec<&str> {
        table
            .rows
            .iter()
            .filter(|row| row.placement == Placement::At(partition))
            .map(|row| row.key.as_str())
            .collect()
    }

    #[test]
    fn ten_tickers_at_six() {
        let table = table(&TICKERS, 6);
        assert_eq!(table.scheme.to_string(), "utf8/murmur2");
        assert_eq!(table.partitions, 6);
        assert_eq!(on(&table, 0), ["BBCA", "BBRI", "BMRI", "BBNI"]);
        assert_eq!(on(&table, 1), ["ANTM"]);
        assert_eq!(on(&table, 2), ["ASII", "GOTO", "ICBP"]);
        assert_eq!(on(&table, 3), ["UNVR"]);
        assert_eq!(on(&table, 4), [""; 0]);
        assert_eq!(on(&table, 5), ["TLKM"]);
        assert_eq!(table.keys_per_partition, [4, 1, 3, 1, 0, 1]);
        assert_eq!(hex(&table.rows[0].bytes), "42424341");
    }

    #[test]
    fn bbca_lies_on_two_at_eight() {
        assert_eq!(table(&["BBCA"], 8).rows[0].placement, Placement::At(2));
    }

    #[test]
    fn rows_keep_the_order_and_the_repeats_of_the_keys() {
        let table = table(&["b", "a", "b"], 3);
        let keys: Vec<&str> = table.rows.iter().map(|row| row.key.as_str()).collect();
        assert_eq!(keys, ["b", "a", "b"]);
        assert_eq!(table.keys_per_partition.iter().sum::<u32>(), 3);
    }

    #[test]
    fn no_keys_make_an_empty_table_of_the_right_width() {
        let table = table(&[], 4);
        assert!(table.rows.is_empty());
        assert_eq!(table.keys_per_partition, [0; 4]);
    }

    #[test]
    fn hex_is_lower_case_and_padded() {
        assert_eq!(hex(&[]), "");
        assert_eq!(hex(&[0, 0x0f, 0xa0, 0xff]), "000fa0ff");
    }

    proptest! {
        #[test]
        fn the_counts_add_up_to_the_rows(keys: Vec<String>, count in 1..500_i32) {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let table = table(&keys, count);
            prop_assert_eq!(table.rows.len(), keys.len());
            for (partition, held) in (0..).zip(&table.keys_per_partition) {
                prop_assert_eq!(on(&table, partition).len(), usize::try_from(*held).unwrap());
            }
            prop_assert_eq!(
                table.keys_per_partition.iter().sum::<u32>(),
                u32::try_from(keys.len()).unwrap()
            );
        }

        #[test]
        fn hex_reads_back(bytes: Vec<u8>) {
            let text = hex(&bytes);
            let back: Vec<u8> = (0..text.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
                .collect();
            prop_assert_eq!(back, bytes);
        }
    }
}
