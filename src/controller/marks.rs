//! Growth marks: the end offsets of a topic around its last growth. Records below the first mark were placed at the
//! old count, those above the second at the new one, and those between by producers that may or may not have known of
//! it: they refresh their metadata only every few minutes.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;

use crate::api::GrowthMark;
use crate::kafka::Cluster;
use crate::keys::PartitionCount;
use crate::plan::{Decision, Grow, Memory};
use crate::verify::{Growth, Marks};

/// The marks before some growths. They are taken before the intent is written, so that no record of the old count can
/// lie above its first mark unseen: one that is written in between falls between the marks.
pub(super) async fn before(cluster: &Cluster, growths: &[Grow], now: Timestamp) -> Vec<GrowthMark> {
    let asked: Vec<(String, i32)> = growths
        .iter()
        .map(|grow| (grow.topic.clone(), grow.from))
        .collect();
    let ends = if asked.is_empty() {
        Ok(BTreeMap::default())
    } else {
        cluster.end_offsets(&asked).await
    };
    let ends = ends.unwrap_or_default();
    growths
        .iter()
        .map(|grow| GrowthMark {
            topic: grow.topic.clone(),
            topic_id: grow.id.clone(),
            from: grow.from,
            to: grow.to,
            grown_at: MicroTime(micros(now)),
            // Unreadable end offsets leave the mark empty: nothing below it is then proven.
            before: ends
                .get(&grow.topic)
                .and_then(|ends| ends.as_ref().ok())
                .map(|ends| packed(ends))
                .unwrap_or_default(),
            after: None,
        })
        .collect()
}

/// The marks of growths that somebody else made, as the owner of a Referenced topic does. What was there before is not
/// known by now, so nothing is proven before the second mark.
pub(super) fn noticed(
    memory: &Memory,
    decision: &Decision,
    known: &[GrowthMark],
    now: Timestamp,
) -> Vec<GrowthMark> {
    let grown = decision.topics.iter().filter_map(|judged| {
        let live = judged.live()?;
        let before = memory.topics.get(&judged.topic.name)?;
        let from = before.count.filter(|count| *count < live.partitions)?;
        (before.id.as_ref() == Some(&live.id)).then(|| GrowthMark {
            topic: judged.topic.name.clone(),
            topic_id: live.id.clone(),
            from,
            to: live.partitions,
            grown_at: MicroTime(micros(now)),
            before: String::new(),
            after: None,
        })
    });
    let is_known = |new: &GrowthMark| {
        known.iter().any(|mark| {
            mark.topic == new.topic && mark.topic_id == new.topic_id && mark.to == new.to
        })
    };
    grown.filter(|mark| !is_known(mark)).collect()
}

/// Those marks whose settling window has passed, with their second mark.
pub(super) async fn settled(
    cluster: &Cluster,
    marks: &[GrowthMark],
    window: Duration,
    now: Timestamp,
) -> Vec<GrowthMark> {
    let due: Vec<&GrowthMark> = marks
        .iter()
        .filter(|mark| mark.after.is_none() && left(mark, window, now).is_zero())
        .collect();
    if due.is_empty() {
        return Vec::new();
    }
    let asked: Vec<(String, i32)> = due
        .iter()
        .map(|mark| (mark.topic.clone(), mark.to))
        .collect();
    let ends = cluster.end_offsets(&asked).await.unwrap_or_default();
    due.into_iter()
        .filter_map(|mark| {
            let ends = ends.get(&mark.topic)?.as_ref().ok()?;
            Some(GrowthMark {
                after: Some(packed(ends)),
                ..mark.clone()
            })
        })
        .collect()
}

/// The time until the next second mark is due.
pub(super) fn next_due(marks: &[GrowthMark], window: Duration, now: Timestamp) -> Option<Duration> {
    marks
        .iter()
        .filter(|mark| mark.after.is_none())
        .map(|mark| Some(left(mark, window, now)).filter(|left| !left.is_zero()))
        .map(|left| left.unwrap_or(RETRY))
        .min()
}

/// The pause before end offsets are read again that could not be read when they were due.
const RETRY: Duration = Duration::from_secs(30);

fn left(mark: &GrowthMark, window: Duration, now: Timestamp) -> Duration {
    let passed = Duration::try_from(now.duration_since(mark.grown_at.0)).unwrap_or_default();
    window.saturating_sub(passed)
}

/// The marks of a claim with newer ones in place of those of the same topics; marks of topics that left go.
pub(super) fn merged(
    old: &[GrowthMark],
    new: Vec<GrowthMark>,
    claims: impl Fn(&str) -> bool,
) -> Vec<GrowthMark> {
    let mut marks: Vec<GrowthMark> = old
        .iter()
        .filter(|mark| claims(&mark.topic) && new.iter().all(|newer| newer.topic != mark.topic))
        .cloned()
        .collect();
    marks.extend(new);
    marks
}

/// One number a partition, in base 36 with commas between: the marks of a group of 20,000 partitions then take at most
/// 560 kB, and the largest claim fits into etcd's limit of 1.5 MiB a request.
fn packed(ends: &[i64]) -> String {
    let mut packed = String::with_capacity(ends.len() * 4);
    for (partition, end) in ends.iter().enumerate() {
        if partition > 0 {
            packed.push(',');
        }
        base36(end.unsigned_abs(), &mut packed);
    }
    packed
}

fn base36(number: u64, text: &mut String) {
    if number >= 36 {
        base36(number / 36, text);
    }
    let digit = u32::try_from(number % 36).unwrap_or_default();
    text.extend(char::from_digit(digit, 36));
}

/// What a claim's mark says about the records of a topic that has this id and count now. `None` if it is about another
/// topic or another growth.
pub(crate) fn growth(mark: &GrowthMark, topic_id: &str, count: PartitionCount) -> Option<Growth> {
    let from = PartitionCount::new(mark.from)?;
    if mark.topic_id != topic_id || mark.to != count.get() {
        return None;
    }
    let before = unpacked(&mark.before);
    let after = mark.after.as_deref().map(unpacked).unwrap_or_default();
    let old = usize::try_from(from.get()).unwrap_or_default();
    let all = usize::try_from(count.get()).unwrap_or_default();
    let marks = (0..all).map(|partition| Marks {
        // Nothing lies in a new partition from before.
        before: if partition < old {
            before.get(partition).copied()
        } else {
            Some(0)
        },
        after: after.get(partition).copied(),
    });
    Some(Growth {
        from,
        marks: marks.collect(),
    })
}

/// The numbers that [`packed`] wrote; none if anything else stands there: half of them prove no more than none.
fn unpacked(text: &str) -> Vec<i64> {
    let numbers: Result<Vec<i64>, _> = text
        .split(',')
        .map(|number| i64::from_str_radix(number, 36))
        .collect();
    numbers.unwrap_or_default()
}

/// Kubernetes keeps microseconds in these times.
pub(super) fn micros(now: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(topic: &str, grown_at: i64, after: Option<&str>) -> GrowthMark {
        GrowthMark {
            topic: topic.to_owned(),
            topic_id: "id".to_owned(),
            from: 6,
            to: 8,
            grown_at: MicroTime(seconds(grown_at)),
            before: "1,2".to_owned(),
            after: after.map(ToOwned::to_owned),
        }
    }

    fn seconds(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn the_second_mark_is_due_when_the_growth_has_settled() {
        let marks = [
            mark("a", 0, None),
            mark("b", 100, None),
            mark("c", 0, Some("3")),
        ];
        let due = |marks, now| next_due(marks, Duration::from_secs(600), seconds(now));
        assert_eq!(due(&marks, 0), Some(Duration::from_secs(600)));
        assert_eq!(due(&marks, 200), Some(Duration::from_secs(400)));
        assert_eq!(due(&marks, 599), Some(Duration::from_secs(1)));
        // One that could not be read when it was due is tried again, but not at once.
        assert_eq!(due(&marks, 5_000), Some(RETRY));
        assert_eq!(due(&marks[2..], 0), None);
        // A clock that was set back makes it wait, not overflow.
        assert_eq!(due(&marks[..1], -50), Some(Duration::from_secs(600)));
    }

    #[test]
    fn a_new_mark_takes_the_place_of_the_one_of_the_last_growth() {
        let old = [
            mark("a", 0, Some("3")),
            mark("b", 0, None),
            mark("gone", 0, None),
        ];
        let merged = merged(&old, vec![mark("a", 9, None)], |topic| topic != "gone");
        assert_eq!(merged, [mark("b", 0, None), mark("a", 9, None)]);
    }

    #[test]
    fn offsets_are_packed_by_partition() {
        assert_eq!(packed(&[7, 0, 12, 36, 1_295]), "7,0,c,10,zz");
        let largest = packed(&[i64::MAX]);
        assert_eq!(largest.len(), 13);
        assert_eq!(i64::from_str_radix(&largest, 36), Ok(i64::MAX));
    }

    #[test]
    fn a_mark_tells_which_records_are_of_which_count() {
        let count = |count| PartitionCount::new(count).unwrap();
        let mut marked = mark("a", 0, None);
        marked.from = 2;
        marked.to = 3;
        marked.before = packed(&[40, 7]);
        let marks = |before, after| Marks { before, after };
        let seen = growth(&marked, "id", count(3)).unwrap();
        assert_eq!(seen.from, count(2));
        let unsettled = [
            marks(Some(40), None),
            marks(Some(7), None),
            marks(Some(0), None),
        ];
        assert_eq!(seen.marks, unsettled);
        marked.after = Some(packed(&[50, 9, 3]));
        let seen = growth(&marked, "id", count(3)).unwrap();
        assert_eq!(seen.marks[2], marks(Some(0), Some(3)));
        // What could not be read, or was written by hand, proves nothing.
        marked.before = "14,?".to_owned();
        let seen = growth(&marked, "id", count(3)).unwrap();
        assert_eq!(seen.marks[0], marks(None, Some(50)));
        // Of another topic of that name, or of an earlier growth.
        assert_eq!(growth(&marked, "other", count(3)), None);
        assert_eq!(growth(&marked, "id", count(4)), None);
    }
}
