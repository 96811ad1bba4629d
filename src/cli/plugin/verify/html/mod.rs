//! What was verified as one page: the verdict, and of each topic where its records lie against where they belong.

use std::io::{self, Write};

use super::super::page::{self, Escaped, bar};
use super::super::terminal::counted;
use super::record::{Judged, Partition, Proof};

const STYLE: &str = include_str!("style.css");
/// The most partitions that are shown of all topics of a group together, so that a browser can show the page.
const MOST_ROWS: usize = 10_000;
/// The most of one topic, however few topics there are, and the least.
const ROWS: (usize, usize) = (50, 1_000);

pub(super) fn write(out: &mut dyn Write, proofs: &[Proof]) -> io::Result<()> {
    let title = match proofs {
        [one] => one.name(),
        _ => "several groups".to_owned(),
    };
    let title = format!("Where the records of {title} lie");
    page::open(out, &title, "Whether records lie where they should", STYLE)?;
    for proof in proofs {
        group(out, proof)?;
    }
    page::close(out)
}

fn group(out: &mut dyn Write, proof: &Proof) -> io::Result<()> {
    writeln!(out, "<h2>{}</h2>", Escaped(&proof.name()))?;
    let condition = &proof.keys_verified;
    let (class, mark) = match condition.status {
        "True" => ("", "\u{2713} "),
        "False" => (" odd", "\u{2260} "),
        _ => (" open", "? "),
    };
    writeln!(
        out,
        "<p class=\"verdict{class}\"><strong>{mark}KeysVerified is {} ({}).</strong> {}</p>",
        condition.status,
        Escaped(&condition.reason),
        Escaped(&condition.message)
    )?;
    writeln!(
        out,
        "<p class=\"faint\">Read: {}.</p>",
        Escaped(&proof.read)
    )?;
    if !proof.incomplete.is_empty() {
        out.write_all(b"<h3>Not read to the end</h3>\n<ul class=\"odd\">\n")?;
        for unread in &proof.incomplete {
            let (topic, why) = (Escaped(&unread.topic), Escaped(&unread.why));
            writeln!(out, "<li><strong>{topic}</strong>: {why}</li>")?;
        }
        out.write_all(b"</ul>\n")?;
    }
    if !proof.between.is_empty() {
        out.write_all(b"<h3>Keys that topics share</h3>\n<ul>\n")?;
        for pair in &proof.between {
            let class = if pair.apart > 0 { " class=\"odd\"" } else { "" };
            let how = match pair.apart {
                0 => "on equal partition numbers".to_owned(),
                apart => format!("{apart} of them on different partition numbers"),
            };
            writeln!(
                out,
                "<li{class}><strong>{}</strong> and <strong>{}</strong>: {}, {how}</li>",
                Escaped(&pair.a),
                Escaped(&pair.b),
                counted(pair.shared, "key")
            )?;
        }
        out.write_all(b"</ul>\n")?;
    }
    let most = MOST_ROWS
        .checked_div(proof.topics.len())
        .unwrap_or(MOST_ROWS);
    for judged in &proof.topics {
        topic(out, judged, most.clamp(ROWS.0, ROWS.1))?;
    }
    Ok(())
}

fn topic(out: &mut dyn Write, topic: &Judged, most: usize) -> io::Result<()> {
    let class = match (&topic.reason[..], topic.refuted) {
        ("KeysFit", _) => "",
        (_, true) => " odd",
        (_, false) => " open",
    };
    write!(
        out,
        "<section>\n<h3>{}</h3>\n<p class=\"verdict{class}\"><strong>{}.</strong> {}</p>\n<dl>",
        Escaped(&topic.topic),
        Escaped(&topic.reason),
        Escaped(&topic.message)
    )?;
    let more = if topic.more_keys { "more than " } else { "" };
    let distinct = format!("{more}{}", topic.distinct_keys);
    let scheme = topic.scheme.as_deref().unwrap_or("not declared");
    let left_out = (topic.left_out > 0).then(|| topic.left_out.to_string());
    let facts = [
        ("Scheme", scheme.to_owned()),
        ("Partitions", topic.partitions.to_string()),
        ("Records read", topic.records.to_string()),
        ("with a key", topic.keyed.to_string()),
        ("without a key", topic.unkeyed.to_string()),
        ("misplaced", topic.misplaced.to_string()),
        ("Distinct keys", distinct),
    ];
    let left_out = left_out.map(|records| ("left out: of its growth", records));
    for (name, value) in facts.into_iter().chain(left_out) {
        write!(
            out,
            "<div><dt>{name}</dt><dd>{}</dd></div>",
            Escaped(&value)
        )?;
    }
    out.write_all(b"</dl>\n")?;
    picture(out, topic, most)?;
    out.write_all(b"</section>\n")
}

/// Each partition with what lies there above what belongs there.
fn picture(out: &mut dyn Write, topic: &Judged, most: usize) -> io::Result<()> {
    let partitions = &topic.per_partition;
    if partitions.is_empty() {
        return out.write_all(
            b"<p class=\"faint\">There is no picture: of no record the declared scheme tells where it belongs.</p>\n",
        );
    }
    let count = usize::try_from(topic.partitions).unwrap_or_default();
    let empty = Partition {
        seen: 0,
        predicted: 0,
    };
    let all = (0..count).map(|at| (at, partitions.get(at).unwrap_or(&empty)));
    let mut shown: Vec<(usize, &Partition)> = all.collect();
    // The greatest differences first, and of equal ones the first partitions.
    if count > most {
        shown.sort_by_key(|(at, it)| (std::cmp::Reverse(it.seen.abs_diff(it.predicted)), *at));
        shown.truncate(most);
        shown.sort_by_key(|(at, _)| *at);
    }
    let caption = if shown.len() < count {
        format!(
            "Records per partition, those of {} of {count} partitions that differ most",
            shown.len()
        )
    } else {
        "Records per partition".to_owned()
    };
    writeln!(
        out,
        "<p class=\"key\">{caption}: <span><span class=\"swatch\"></span>seen there,</span> \
         <span><span class=\"swatch predicted\"></span>predicted there</span></p>\n<ol>"
    )?;
    let counts = partitions.iter().flat_map(|it| [it.seen, it.predicted]);
    let fullest = counts.max().unwrap_or_default();
    for (at, Partition { seen, predicted }) in shown {
        let (class, mark) = if seen == predicted {
            ("", "")
        } else {
            (" class=\"odd\"", "\u{2260} ")
        };
        write!(
            out,
            "<li{class}><span class=\"number\">{at}</span><span class=\"bars\">"
        )?;
        bar(out, "seen", *seen, fullest)?;
        bar(out, "predicted", *predicted, fullest)?;
        writeln!(
            out,
            "</span><span class=\"count\">{mark}{seen} seen, {predicted} predicted</span></li>"
        )?;
    }
    out.write_all(b"</ol>\n")
}

#[cfg(test)]
mod tests;
