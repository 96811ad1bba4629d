//! What a judge has gathered, in a form that can be kept and taken up again.
//!
//! It holds the fingerprints of keys and their hashes under the known partitioners, never a key. With the secret of the
//! fingerprints, and by the hashes without it, anybody can find out whether a key that he guesses is among them.

use serde::{Deserialize, Serialize};

use super::Judge;
use super::evidence::{OnPartition, Records};
use super::limits::MAX_HISTOGRAM;
use super::remembered::{Kept, Remembered};
use super::topic::{FingerprintKey, Topic};

/// What a judge had gathered when it was kept, to be given to [`Judge::resume`].
#[derive(Debug, Deserialize)]
pub struct State(Vec<Gathered>);

#[derive(Debug, Deserialize)]
struct Gathered {
    records: Records,
    keys: Kept,
    more_keys: bool,
    whole_fits: u64,
    per_partition: Vec<OnPartition>,
}

/// The same, of a judge that lives.
#[derive(Serialize)]
struct Borrowed<'a> {
    records: &'a Records,
    keys: &'a Remembered,
    more_keys: bool,
    whole_fits: u64,
    per_partition: &'a [OnPartition],
}

impl Judge {
    /// All that it has gathered, to be serialised. What it was told of the topics is not part of it.
    pub fn state(&self) -> impl Serialize + use<'_> {
        let topics = self.topics.iter().map(|topic| Borrowed {
            records: &topic.records,
            keys: &topic.keys,
            more_keys: topic.keys.more,
            whole_fits: topic.whole_fits,
            per_partition: &topic.per_partition,
        });
        topics.collect::<Vec<_>>()
    }

    /// A judge that goes on where the one of `state` was. The topics, the secret and the bound have to be that one's.
    ///
    /// # Errors
    /// What shows that the state cannot be one of such a judge.
    pub fn resume(
        topics: Vec<Topic>,
        secret: FingerprintKey,
        max_keys: usize,
        state: State,
    ) -> Result<Self, &'static str> {
        if topics.len() != state.0.len() {
            return Err("it is of another number of topics");
        }
        let mut judge = Self::with_max_keys(topics, secret, max_keys);
        for (topic, gathered) in judge.topics.iter_mut().zip(state.0) {
            gathered.check(&topic.topic, max_keys)?;
            let Gathered {
                records,
                keys,
                more_keys,
                whole_fits,
                per_partition,
            } = gathered;
            topic.records = records;
            topic.keys.refill(keys, more_keys);
            topic.whole_fits = whole_fits;
            topic.per_partition = per_partition;
        }
        Ok(judge)
    }
}

impl Gathered {
    /// Whatever is calculated later rests on this.
    fn check(&self, topic: &Topic, max_keys: usize) -> Result<(), &'static str> {
        let Records {
            read,
            left_out,
            outside,
            unkeyed,
            spread,
            unpredicted,
            placed,
            misplaced,
        } = self.records;
        let parts = [left_out, outside, unkeyed, spread, unpredicted, placed];
        let sum = parts.into_iter().try_fold(0_u64, u64::checked_add);
        if sum != Some(read) || misplaced > placed || self.whole_fits > placed + unpredicted {
            return Err("its numbers of records do not add up");
        }
        let (mut of_keys, mut misplaced_of_keys) = (0_u64, 0_u64);
        for key in self.keys.keys() {
            of_keys = of_keys.saturating_add(key.records);
            misplaced_of_keys = misplaced_of_keys.saturating_add(key.misplaced);
        }
        if of_keys > placed + unpredicted || misplaced_of_keys > misplaced {
            return Err("its keys have more records than it has seen");
        }
        if self.keys.len() > max_keys.max(1) {
            return Err("it has more keys than are kept");
        }
        let partitions = i32::try_from(self.per_partition.len()).unwrap_or(i32::MAX);
        if partitions > topic.count.get().min(MAX_HISTOGRAM) {
            return Err("it has more partitions than the topic");
        }
        Ok(())
    }
}
