//! Cutting what is asked of Kafka into requests of a bounded size.

/// The most that one writing request may weigh, by [`create_weight`] and [`growth_weight`]. `KRaft` turns a
/// request into metadata records (one per topic and one per partition) and refuses one of more than 10,000
/// records as a whole (`QuorumController.MAX_RECORDS_PER_USER_OP`); half of it leaves room for config records.
pub(super) const WRITE_LIMIT: usize = 5_000;
/// The highest partition count that a topic is grown to. A growth by more than 10,000 partitions, in one
/// request, is the one thing that fails in the worst way: the broker answers `UNKNOWN_SERVER_ERROR`, and keeps
/// the first 10,000 new partitions, which nobody can take back (Kafka 4.3.1,
/// `ReplicationControlManager.createPartitions`). A topic that is created cannot have more either.
pub(super) const MOST_PARTITIONS: i32 = 10_000;
/// Topics in one describing request: its answer stays well below a megabyte at usual partition counts. librdkafka looks
/// for each topic of the answer in a list, so the work grows with the square of it.
pub(super) const DESCRIBE_LIMIT: usize = 300;
/// Topics in one request for configs: each answers with some 35 entries and their synonyms.
pub(super) const CONFIG_LIMIT: usize = 200;
/// Partitions in one request for offsets. librdkafka merges the answers of leaders by searching a list for
/// each partition, so the work grows with the square of it.
pub(super) const OFFSET_LIMIT: usize = 500;

/// Cuts items into chunks that weigh at most `limit` each, in their order. An item that alone weighs more
/// gets a chunk of its own, so that it fails alone.
pub(super) fn by_weight<T>(
    items: Vec<T>,
    limit: usize,
    weight: impl Fn(&T) -> usize,
) -> Vec<Vec<T>> {
    let mut chunks = Vec::new();
    let mut chunk = Vec::new();
    let mut filled = 0_usize;
    for item in items {
        let weight = weight(&item);
        if !chunk.is_empty() && filled.saturating_add(weight) > limit {
            chunks.push(std::mem::take(&mut chunk));
            filled = 0;
        }
        filled = filled.saturating_add(weight);
        chunk.push(item);
    }
    if !chunk.is_empty() {
        chunks.push(chunk);
    }
    chunks
}

/// What a topic to create weighs: a record per partition and one for itself.
pub(super) fn create_weight(partitions: i32) -> usize {
    usize::try_from(partitions).unwrap_or(0).saturating_add(1)
}

/// What a topic to grow weighs at most: as many records as it shall have partitions, and one.
pub(super) fn growth_weight(to: i32) -> usize {
    create_weight(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_is_no_chunk() {
        assert!(by_weight(Vec::<usize>::new(), 10, |item| *item).is_empty());
    }

    #[test]
    fn an_oversized_item_stands_alone() {
        let chunks = by_weight(vec![3, 3, 12, 3, 7, 1], 10, |item| *item);
        assert_eq!(chunks, [vec![3, 3], vec![12], vec![3, 7], vec![1]]);
    }

    #[test]
    fn topics_weigh_their_records() {
        assert_eq!(create_weight(6), 7);
        assert_eq!(create_weight(-1), 1);
        assert_eq!(growth_weight(8), 9);
    }

    proptest! {
        #[test]
        fn chunks_keep_all_items_in_order_and_the_limit(
            items in prop::collection::vec(0_usize..30, 0..60),
            limit in 1_usize..40,
        ) {
            let chunks = by_weight(items.clone(), limit, |item| *item);
            prop_assert_eq!(chunks.concat(), items);
            for chunk in &chunks {
                let weight: usize = chunk.iter().sum();
                prop_assert!(!chunk.is_empty());
                prop_assert!(weight <= limit || chunk.len() == 1);
            }
            for pair in chunks.windows(2) {
                let joined: usize = pair[0].iter().sum::<usize>() + pair[1][0];
                prop_assert!(joined > limit, "a chunk was closed too early");
            }
        }
    }
}
