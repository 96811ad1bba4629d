use super::super::super::testing::{GROUP, mixed, said};

fn page(args: &[&str], input: &str, code: u8) -> String {
    let page = said(&[&["layout"], args, &["-o", "html"]].concat(), input, code);
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    assert!(page.ends_with("</html>\n"));
    for tag in [
        "html", "head", "body", "main", "table", "tbody", "tr", "td", "ul", "li", "svg", "p",
    ] {
        let opened =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    // Nothing comes from elsewhere and nothing runs.
    for outside in [
        "http", "url(", "@import", "<script", "<link", "<img", "onload",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
    page
}

#[test]
fn topics_stand_side_by_side() {
    let page = page(&["-f", "-"], GROUP, 0);
    for part in [
        "<title>Where the keys of trading/market-data lie</title>",
        "<h2>trading/market-data</h2>",
        "3 keys, each on the same partition of every topic.",
        "scope=\"col\">updates<small>utf8/murmur2, 6 partitions; skew ",
        "scope=\"col\">notes<small>",
        "scope=\"row\">0</th><td role=\"cell\" data-topic=\"updates\"><span class=\"count\">1 key</span><svg",
        "<li><bdi>BBCA</bdi></li>",
        "<span class=\"none\">no key</span>",
    ] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    assert_eq!(page.matches("<bdi>BBCA</bdi>").count(), 2);
}

#[test]
fn keys_that_differ_are_marked_in_words() {
    let page = page(
        &["-f", "-", "--key", "BBCA", "--key", "", "--key", "TLKM"],
        &mixed("crc32_spread_empty"),
        2,
    );
    assert!(
        page.contains("of 3 keys on different partitions.</strong>"),
        "{page}"
    );
    assert!(
        page.contains("<li class=\"odd\">\u{2260} <em>empty key</em></li>"),
        "{page}"
    );
    assert!(
        page.contains("class=\"spread\">Spread over all</th>"),
        "{page}"
    );
}

#[test]
fn every_text_is_escaped() {
    let evil = "<script>alert('1')</script>\"&\u{202e}\u{1b}";
    let page = page(
        &[
            "--partitioner",
            "murmur2",
            "--partitions",
            "2",
            "--key",
            evil,
        ],
        "",
        0,
    );
    let shown = "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;\\u{202e}\\u{1b}";
    assert!(page.contains(shown), "{page}");
}

#[test]
fn long_lists_are_cut_and_say_so() {
    let keys: Vec<String> = (0..5_000).map(|at| format!("user-{at}")).collect();
    let keys = keys.join(
        "
",
    );
    let bare = [
        "--partitioner",
        "murmur2",
        "--keys-file",
        "-",
        "--partitions",
    ];
    let page_of =
        |count: &str, more: &[&str]| page(&[&bare, &[count][..], more].concat(), &keys, 0);
    let page = page_of("6", &[]);
    assert!(
        page.contains("The first 2000 of 5000 keys are listed"),
        "{}",
        &page[..9000]
    );
    assert_eq!(page.matches("<bdi>").count(), 2_000);
    assert_eq!(page_of("6", &["--summary"]).matches("<bdi>").count(), 0);
    let page = page_of("100000", &["--summary"]);
    assert!(
        page.contains("<caption>2000 of 100000 partitions: the first that hold keys</caption>")
    );
}

#[test]
fn many_topics_share_a_column_and_many_groups_a_page() {
    let more = GROUP.replace(
        "{name: notes}",
        "{name: b}, {name: c}, {name: d}, {name: e}",
    );
    let shared = page(&["-f", "-"], &more, 0);
    assert!(
        shared.contains("scope=\"col\">updates, b, c, d, e<small>"),
        "{shared}"
    );
    let two = format!("{GROUP}---\n{}", GROUP.replace("market-data", "orders"));
    let both = page(&["-f", "-"], &two, 0);
    assert_eq!(both.matches("<h2>").count(), 2);
    assert_eq!(both.matches("<h1>").count(), 1);
}
