//! The frame of a page that needs nothing beside itself: no script, no font, no picture from elsewhere.

use std::fmt::{self, Display};
use std::io::{self, Write};

use super::terminal::printable;

const STYLE: &str = include_str!("style.css");

/// A text in HTML.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = printable(self.0);
        let mut rest = &text[..];
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                _ => "&#39;",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

/// Begins a page, with a style of its own beside what all pages share.
pub(super) fn open(out: &mut dyn Write, title: &str, heading: &str, style: &str) -> io::Result<()> {
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n",
        Escaped(title),
        Escaped(heading)
    )
}

/// Ends it.
pub(super) fn close(out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "</main>\n<footer>Made by kubectl copartition {}</footer>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// A bar as a drawing, since backgrounds are not printed. What it says stands beside it in words. `class` may be empty.
pub(super) fn bar(out: &mut dyn Write, class: &str, part: u64, most: u64) -> io::Result<()> {
    let least = if part == 0 { 0 } else { 5 };
    let thousandths = (u128::from(part) * 1000 / u128::from(most.max(1))).max(least);
    let class = match class {
        "" => String::new(),
        class => format!(" class=\"{class}\""),
    };
    write!(
        out,
        "<svg viewBox=\"0 0 1000 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect{class} width=\"{thousandths}\" height=\"8\"/></svg>"
    )
}
