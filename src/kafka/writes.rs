//! One outcome per topic from requests for many: chunks, retries, and halving what is refused as a whole.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use super::chunk;
use super::error::{Error, TopicError};
use super::ffi::{Failure, PerName, code};
use super::model::{ConfigChange, Growth, Lock, NewTopic};
use super::permissions::{self, Operation};

/// What became of each topic of a write.
pub type Outcomes = BTreeMap<String, Result<(), TopicError>>;

/// One topic's part of a write.
pub(super) trait Item: Clone + Send + 'static {
    /// What of the topic the principal must be allowed.
    const OPERATION: Operation;
    fn topic(&self) -> &str;
    fn weight(&self) -> usize;

    /// How to say that the principal may not do it, given the broker's words.
    fn denied(&self, words: &str) -> String {
        permissions::denied(Self::OPERATION, self.topic(), words)
    }
}

impl Item for NewTopic {
    const OPERATION: Operation = Operation::Create;

    fn topic(&self) -> &str {
        &self.name
    }

    fn weight(&self) -> usize {
        chunk::create_weight(self.partitions)
    }
}

impl Item for Growth {
    const OPERATION: Operation = Operation::Alter;

    fn topic(&self) -> &str {
        &self.topic
    }

    fn weight(&self) -> usize {
        chunk::growth_weight(self.to)
    }
}

impl Item for ConfigChange {
    const OPERATION: Operation = Operation::AlterConfigs;

    fn topic(&self) -> &str {
        &self.topic
    }

    /// One record per key, and one.
    fn weight(&self) -> usize {
        self.set.len() + 1
    }
}

impl Item for Lock {
    const OPERATION: Operation = Operation::Alter;

    fn topic(&self) -> &str {
        &self.topic
    }

    fn weight(&self) -> usize {
        1
    }

    fn denied(&self, words: &str) -> String {
        permissions::denied_on_cluster(Self::OPERATION, words)
    }
}

/// A call's items, and whether they are only to be checked.
#[derive(Debug)]
pub(super) struct Call<I> {
    pub(super) items: Vec<I>,
    pub(super) validate_only: bool,
}

/// Serves calls together: one write for all that do not get in each other's way. Two calls for one topic, or
/// a check and a write, are served one after the other.
pub(super) async fn serve<I, S, F>(calls: Vec<Call<I>>, send: S) -> Vec<Outcomes>
where
    I: Item,
    S: Fn(Vec<I>, bool) -> F,
    F: Future<Output = Result<PerName<()>, Error>>,
{
    let mut answers: Vec<Outcomes> = calls.iter().map(|_| Outcomes::new()).collect();
    for round in rounds(&calls) {
        let validate_only = round.first().is_some_and(|call| calls[*call].validate_only);
        let items = round
            .iter()
            .flat_map(|call| calls[*call].items.iter().cloned())
            .collect();
        let outcomes = write(items, |items| send(items, validate_only)).await;
        for call in round {
            let topics = calls[call].items.iter().map(Item::topic);
            answers[call] = topics
                .filter_map(|topic| Some((topic.to_owned(), outcomes.get(topic)?.clone())))
                .collect();
        }
    }
    answers
}

/// The places of calls that can be served together, in their order.
fn rounds<I: Item>(calls: &[Call<I>]) -> Vec<Vec<usize>> {
    let mut rounds = Vec::new();
    let mut left: Vec<usize> = (0..calls.len()).collect();
    while let Some(first) = left.first() {
        let validate_only = calls[*first].validate_only;
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        let (round, later) = left.into_iter().partition(|call| {
            let call = &calls[*call];
            let topics: BTreeSet<&str> = call.items.iter().map(Item::topic).collect();
            let free = topics.is_disjoint(&taken);
            // One that waits holds back those behind it too, so that the order per topic is kept.
            taken.extend(topics);
            free && call.validate_only == validate_only
        });
        left = later;
        rounds.push(round);
    }
    rounds
}

/// How often a write is sent again that a broker refused only for the moment.
const RETRIES: u32 = 3;
/// The pause before the first retry; doubles.
const BACKOFF: Duration = Duration::from_millis(100);

/// Sends items in chunks, and answers for every topic. For two items of one topic the later one counts.
async fn write<I, S, F>(items: Vec<I>, send: S) -> Outcomes
where
    I: Item,
    S: Fn(Vec<I>) -> F,
    F: Future<Output = Result<PerName<()>, Error>>,
{
    let distinct: BTreeMap<String, I> = items
        .into_iter()
        .map(|item| (item.topic().to_owned(), item))
        .collect();
    let distinct = distinct.into_values().collect();
    let mut outcomes = Outcomes::new();
    let mut queue: VecDeque<(Vec<I>, u32)> =
        chunk::by_weight(distinct, chunk::WRITE_LIMIT, Item::weight)
            .into_iter()
            .map(|chunk| (chunk, 0))
            .collect();
    while let Some((items, attempt)) = queue.pop_front() {
        if attempt > 0 {
            tokio::time::sleep(BACKOFF * 2_u32.pow(attempt - 1)).await;
        }
        let answer = send(items.clone()).await;
        let silent = matches!(answer, Err(Error::Timeout(_) | Error::Unreachable(_)));
        let judged = judge(items, answer, attempt < RETRIES);
        outcomes.extend(judged.done);
        for half in judged.halves {
            queue.push_front((half, attempt));
        }
        if !judged.again.is_empty() {
            queue.push_back((judged.again, attempt + 1));
        }
        if silent {
            // Each further chunk would wait for the full timeout too.
            let rest = queue.drain(..).flat_map(|(items, _)| items);
            outcomes.extend(rest.map(|item| (item.topic().to_owned(), Err(not_sent()))));
        }
    }
    outcomes
}

fn not_sent() -> TopicError {
    TopicError::Unreachable("not sent, since the request before it was not answered".to_owned())
}

/// What an answer means for the items of its request.
struct Judged<I> {
    done: Vec<(String, Result<(), TopicError>)>,
    /// Send these again, apart.
    halves: Vec<Vec<I>>,
    /// Send these again, a little later.
    again: Vec<I>,
}

fn judge<I: Item>(items: Vec<I>, answer: Result<PerName<()>, Error>, may_retry: bool) -> Judged<I> {
    let mut judged = Judged {
        done: Vec::new(),
        halves: Vec::new(),
        again: Vec::new(),
    };
    let mut answers: BTreeMap<String, Result<(), Failure>> = match answer {
        Ok(answers) => answers.into_iter().collect(),
        Err(Error::Rejected { .. }) if items.len() > 1 => {
            judged.halves = halves(items);
            return judged;
        }
        Err(error) => {
            let failed = |item: &I| (item.topic().to_owned(), Err(error.clone().into()));
            judged.done = items.iter().map(failed).collect();
            return judged;
        }
    };
    if items.len() > 1 && refused_as_a_whole(&items, &answers) {
        judged.halves = halves(items);
        return judged;
    }
    for item in items {
        match answers.remove(item.topic()) {
            Some(Err(failure)) if may_retry && code::is_retriable_write(failure.code) => {
                judged.again.push(item);
            }
            Some(answer) => {
                let refused = |failure| TopicError::of(failure).said(|words| item.denied(words));
                judged
                    .done
                    .push((item.topic().to_owned(), answer.map_err(refused)));
            }
            None => {
                judged
                    .done
                    .push((item.topic().to_owned(), Err(TopicError::left_out())));
            }
        }
    }
    judged
}

/// Whether one topic, or the sum of all, made the broker refuse the request: the protocol has no error for a
/// whole request here, so it repeats the same one for each topic.
fn refused_as_a_whole<I: Item>(
    items: &[I],
    answers: &BTreeMap<String, Result<(), Failure>>,
) -> bool {
    let mut failures = items.iter().map(|item| answers.get(item.topic()));
    let Some(Some(Err(first))) = failures.next() else {
        return false;
    };
    let whole = [
        code::UNKNOWN_SERVER_ERROR,
        code::POLICY_VIOLATION,
        code::INVALID_REQUEST,
        code::INVALID_ARGUMENT,
    ];
    whole.contains(&first.code)
        && failures.all(|failure| matches!(failure, Some(Err(failure)) if failure == first))
}

fn halves<I>(mut items: Vec<I>) -> Vec<Vec<I>> {
    let right = items.split_off(items.len() / 2);
    vec![right, items]
}

#[cfg(test)]
mod tests;
