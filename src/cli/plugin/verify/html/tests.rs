use super::super::record::Proof;
use super::*;
use crate::kafka::Incomplete;
use crate::keys::{KeyScheme, PartitionCount, Partitioner, Placement};
use crate::verify::{FingerprintKey, Judge, Record, Topic};

/// Two topics with the same keys, the first one written by what is declared.
fn proof(second: &Partitioner, count: i32, unread: Vec<(String, Incomplete)>) -> Proof {
    let count = PartitionCount::new(count).unwrap();
    let topic = |name: &str| Topic {
        name: name.to_owned(),
        scheme: Some(KeyScheme::parse("utf8", "murmur2").unwrap()),
        count,
        growth: None,
    };
    let topics = vec![topic("updates"), topic("<notes>")];
    let mut judge = Judge::new(topics, FingerprintKey(*b"of no importance"));
    for key in (0..300).map(|number| format!("user-{number}")) {
        for (topic, partitioner) in [&Partitioner::Murmur2, second].into_iter().enumerate() {
            let key = Some(key.as_bytes());
            if let Placement::At(partition) = partitioner.partition(key, count) {
                judge.add(Record {
                    topic,
                    partition,
                    offset: 0,
                    key,
                });
            }
        }
    }
    Proof::of(None, "all records".to_owned(), &judge.report(), unread)
}

fn page(proofs: &[Proof]) -> String {
    let mut page = Vec::new();
    write(&mut page, proofs).unwrap();
    let page = String::from_utf8(page).unwrap();
    for tag in [
        "html", "head", "body", "main", "section", "ul", "ol", "li", "dl", "dt", "dd", "div",
        "svg", "p", "span", "h2", "h3",
    ] {
        let opened =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    for outside in [
        "http", "url(", "@import", "<script", "<link", "<img", "onload",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(!page.contains("user-"), "a key is on the page");
    page
}

#[test]
fn a_proof_is_said_and_drawn() {
    let page = page(&[proof(&Partitioner::Murmur2, 6, Vec::new())]);
    for part in [
        "<title>Where the records of updates, &lt;notes&gt; lie</title>",
        "<p class=\"verdict\"><strong>\u{2713} KeysVerified is True (KeysFit).</strong> ",
        "<p class=\"faint\">Read: all records.</p>",
        "<strong>updates</strong> and <strong>&lt;notes&gt;</strong>: 300 keys, on equal partition numbers",
        "<div><dt>Scheme</dt><dd>utf8/murmur2</dd></div>",
        "<div><dt>Distinct keys</dt><dd>300</dd></div>",
    ] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    assert_eq!(page.matches("<span class=\"bars\">").count(), 12);
    assert_eq!(page.matches(" seen, ").count(), 12);
    assert!(
        !page.contains("\u{2260}") && !page.contains("Not read"),
        "{page}"
    );
}

#[test]
fn what_differs_is_marked_in_words() {
    let gone = ("other".to_owned(), Incomplete::TopicNotFound);
    let page = page(&[proof(&Partitioner::Crc32, 6, vec![gone])]);
    for part in [
        "<p class=\"verdict odd\"><strong>\u{2260} KeysVerified is False (SchemeMismatch).</strong>",
        "<li><strong>other</strong>: the topic does not exist</li>",
        "of them on different partition numbers</li>",
        "<p class=\"verdict\"><strong>KeysFit.</strong>",
        "<p class=\"verdict odd\"><strong>SchemeMismatch.</strong>",
    ] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    assert!(
        page.matches("<li class=\"odd\"><span class=\"number\">")
            .count()
            > 3
    );
}

#[test]
fn of_many_partitions_those_that_differ_most_are_drawn() {
    let page = page(&[proof(&Partitioner::Crc32, 4_000, Vec::new())]);
    assert!(
        page.contains("those of 1000 of 4000 partitions that differ most"),
        "{page}"
    );
    assert_eq!(page.matches("<span class=\"bars\">").count(), 2_000);
}
