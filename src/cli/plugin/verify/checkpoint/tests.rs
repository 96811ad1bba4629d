use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::keys::{KeyScheme, PartitionCount, Partitioner, Placement};
use crate::verify::{Marks, Record};

const SECRET: FingerprintKey = FingerprintKey(*b"of no importance");

fn topics(scheme: &str, count: i32, growth: Option<&Growth>) -> Vec<(Topic, String)> {
    let (encoding, partitioner) = scheme.split_once('/').unwrap();
    ["a", "b"]
        .map(|name| {
            let topic = Topic {
                name: name.to_owned(),
                scheme: Some(KeyScheme::parse(encoding, partitioner).unwrap()),
                count: PartitionCount::new(count).unwrap(),
                growth: growth.cloned(),
            };
            (topic, format!("id-{name}"))
        })
        .to_vec()
}

/// A reading in which each topic has 30 keys.
fn course() -> Course {
    let mut course = Course::new(topics("utf8/murmur2", 6, None), SECRET, 1000);
    let count = PartitionCount::new(6).unwrap();
    for key in (0..30).map(|number| format!("user-{number}")) {
        let bytes = key.as_bytes();
        let Placement::At(partition) = Partitioner::Murmur2.partition(Some(bytes), count) else {
            panic!("{key} is spread");
        };
        for topic in [0, 1] {
            course.judge.add(Record {
                topic,
                partition,
                offset: 0,
                key: Some(bytes),
            });
        }
    }
    course.advance(positions(&[("a", 0, 7), ("b", 1, 3)]));
    course
}

fn positions(next: &[(&str, i32, i64)]) -> Positions {
    let of = |(topic, partition, next): &(&str, i32, i64)| {
        let positions = crate::kafka::TopicPositions {
            id: format!("id-{topic}"),
            next: [(*partition, *next)].into(),
        };
        ((*topic).to_owned(), positions)
    };
    Positions(next.iter().map(of).collect())
}

/// The file of a reading, and the folder that it is in.
fn kept() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    course().keep(&path).unwrap();
    (folder, path)
}

fn refused(path: &Path) -> String {
    load(path).map(|kept| kept.is_some()).unwrap_err()
}

#[test]
fn a_reading_goes_on_where_it_was() {
    let (_folder, path) = kept();
    let kept = load(&path).unwrap().unwrap();
    let mut resumed = Course::resume(topics("utf8/murmur2", 6, None), kept, &path).unwrap();
    let before = course();
    assert_eq!(resumed.judge.report(), before.judge.report());
    assert_eq!(resumed.judge.report().between[0].shared, 30);
    assert_eq!(resumed.positions, before.positions);
    // A partition that was not looked at stays where it was.
    resumed.advance(positions(&[("a", 2, 9)]));
    assert_eq!(resumed.positions.0["a"].next, [(0, 7), (2, 9)].into());
    remove(&path).unwrap();
    assert!(load(&path).unwrap().is_none());
    remove(&path).unwrap();
}

#[test]
fn only_its_owner_may_read_it_and_no_key_is_in_it() {
    let (_folder, path) = kept();
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("user-") && !text.contains("757365722d"));
    for open in [0o640, 0o604, 0o620] {
        fs::set_permissions(&path, fs::Permissions::from_mode(open)).unwrap();
        let said = refused(&path);
        assert!(said.contains(&format!("mode {open:o}")), "{said}");
    }
    // One that took its place is its owner's again.
    course().keep(&path).unwrap();
    assert_eq!(mode(), 0o600);
}

#[test]
fn damage_is_seen_wherever_it_is() {
    let (_folder, path) = kept();
    let whole = fs::read(&path).unwrap();
    let last = whole.len() - 1;
    let cut = (0..last)
        .step_by(97)
        .chain([last])
        .map(|end| whole[..end].to_vec());
    let changed = (0..last).step_by(97).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    });
    for bytes in cut.chain(changed).chain([[&whole[..], b"\n"].concat()]) {
        let said = parse(&bytes, &path).map(|_| ()).unwrap_err();
        let known = ["this checkpoint is damaged", "no checkpoint", "of format"];
        assert!(known.iter().any(|known| said.contains(known)), "{said}");
        assert!(said.starts_with(&format!("{}: ", path.display())), "{said}");
    }
}

#[test]
fn what_is_no_checkpoint_is_left_alone() {
    let (folder, path) = kept();
    fs::write(&path, "kind: CoPartitionedTopicGroup\n").unwrap();
    assert!(refused(&path).contains("no checkpoint of verify"));
    fs::write(&path, format!("{MAGIC} 9\n{{}}\n0\n")).unwrap();
    assert!(refused(&path).contains("of format 9, and this version reads 1"));
    assert!(refused(folder.path()).contains("no checkpoint"));
    let nowhere = folder.path().join("no/such/folder");
    assert!(refused(&nowhere).contains("nothing can be written there"));
}

#[test]
fn other_topics_than_those_of_the_file_are_refused() {
    let (_folder, path) = kept();
    let refused = |topics| {
        let kept = load(&path).unwrap().unwrap();
        Course::resume(topics, kept, &path).map(|_| ()).unwrap_err()
    };
    let same = || topics("utf8/murmur2", 6, None);
    let mut fewer = same();
    fewer.pop();
    let mut swapped = same();
    swapped.swap(0, 1);
    let mut anew = same();
    "id-c".clone_into(&mut anew[1].1);
    let growth = Growth {
        from: PartitionCount::new(3).unwrap(),
        marks: vec![Marks::default(); 6],
    };
    for (topics, wanted) in [
        (fewer, "other topics: wanted a, it has a, b"),
        (swapped, "other topics: wanted b, a, it has a, b"),
        (
            anew,
            "b was deleted and created anew since: its id is id-c, it was id-b",
        ),
        (
            topics("utf8/crc32", 6, None),
            "a is declared as utf8/crc32 now, it was as utf8/murmur2",
        ),
        (
            topics("utf8/murmur2", 8, None),
            "a has 8 partitions now, it had 6",
        ),
        (
            topics("utf8/murmur2", 6, Some(&growth)),
            "the marks of a's last growth",
        ),
    ] {
        let said = refused(topics);
        assert!(said.contains(wanted), "no {wanted} in {said}");
        assert!(said.ends_with("remove the file to begin anew"), "{said}");
    }
}
