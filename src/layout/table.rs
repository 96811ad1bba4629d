//! The layout of some keys at one partition count.

use super::Tally;
use crate::keys::{EncodeError, KeyScheme, PartitionCount, Placement};

/// Where some keys lie under one scheme at one partition count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The scheme that places them.
    pub scheme: KeyScheme,
    /// One row per key, in the order in which the keys were given; a key given twice has two rows.
    pub rows: Vec<Row>,
    /// How many rows lie on each partition.
    pub tally: Tally,
}

/// One key of a [`Table`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The logical key.
    pub key: String,
    /// The bytes that are hashed, shown beside the partition so that a wrong serializer is seen.
    pub bytes: Vec<u8>,
    /// Their hash; `None` if the partitioner has none for them.
    pub hash: Option<u32>,
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
        let mut tally = Tally::new(count);
        for row in &rows {
            tally.add(row.placement);
        }
        Ok(Self {
            scheme: scheme.clone(),
            rows,
            tally,
        })
    }
}

impl Row {
    /// The row of one key.
    ///
    /// # Errors
    /// [`EncodeError`] if it is no value of the scheme's encoding.
    pub fn of(scheme: &KeyScheme, key: &str, count: PartitionCount) -> Result<Self, EncodeError> {
        let bytes = scheme.encoding.encode(key)?;
        Ok(Self {
            key: key.to_owned(),
            hash: scheme
                .partitioner
                .formula()
                .and_then(|formula| formula.hash.of(&bytes)),
            placement: scheme.partitioner.partition(Some(&bytes), count),
            bytes: bytes.into_owned(),
        })
    }
}

/// Bytes as lower-case hex digits, two a byte, without prefix: `42424341` for `BBCA`.
pub fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
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
        assert_eq!(on(&table, 0), ["BBCA", "BBRI", "BMRI", "BBNI"]);
        assert_eq!(on(&table, 1), ["ANTM"]);
        assert_eq!(on(&table, 2), ["ASII", "GOTO", "ICBP"]);
        assert_eq!(on(&table, 3), ["UNVR"]);
        assert_eq!(on(&table, 4), [""; 0]);
        assert_eq!(on(&table, 5), ["TLKM"]);
        assert_eq!(table.tally.per_partition(), [4, 1, 3, 1, 0, 1]);
        assert_eq!(hex(&table.rows[0].bytes), "42424341");
        assert_eq!(table.rows[0].hash, Some(0xc9ec_b712));
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
        assert_eq!(table.tally.keys(), 3);
    }

    #[test]
    fn no_keys_make_an_empty_table_of_the_right_width() {
        let table = table(&[], 4);
        assert!(table.rows.is_empty());
        assert_eq!(table.tally.per_partition(), [0; 4]);
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
            for (partition, held) in (0..).zip(table.tally.per_partition()) {
                prop_assert_eq!(on(&table, partition).len(), usize::try_from(*held).unwrap());
            }
        }
    }
}
