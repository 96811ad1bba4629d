//! The fenced blocks of a Markdown document, and the commands in them. No tests here.

use std::ops::Range;
use std::process::Command;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::Fault;

/// What a block is, by the first word after its fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Commands.
    Sh,
    /// Commands after `$ ` and what they print; `...` stands for any lines.
    Console,
    /// Manifests, parts of them, or steps of a pipeline.
    Yaml,
    /// A program, of which only the syntax is checked.
    Js,
    /// Only shown; it has to parse.
    Json,
    /// Only shown.
    Text,
}

/// A fenced block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The document, as it is named in the repository.
    pub(super) file: String,
    /// The line of its first line of text, from 1.
    pub(super) line: usize,
    pub(super) kind: Kind,
    pub(super) text: String,
}

/// A command of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// From 1, in the document.
    pub(super) at: usize,
    /// Whole, with the lines that continue it and its comment.
    pub(super) command: String,
    /// What a console shows below it; nothing is compared if it shows nothing.
    pub(super) shown: Vec<String>,
}

/// All fenced blocks of a document, and those that cannot be told what they are.
pub(super) fn blocks(file: &str, markdown: &str) -> (Vec<Block>, Vec<Fault>) {
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    let mut open: Option<(String, Option<usize>, String)> = None;
    let line = |range: &Range<usize>| line_at(markdown, range.start);
    for (event, range) in Parser::new_ext(markdown, Options::all()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => "by its indentation".to_owned(),
                };
                open = Some((info, None, String::new()));
            }
            Event::Text(part) => {
                if let Some((_, first, text)) = &mut open {
                    first.get_or_insert(line(&range));
                    text.push_str(&part);
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                let Some((info, first, text)) = open.take() else {
                    continue;
                };
                let at = first.unwrap_or_else(|| line(&range));
                match kind(&info) {
                    Some(kind) => found.push(Block {
                        file: file.to_owned(),
                        line: at,
                        kind,
                        text,
                    }),
                    None => faults.push(Fault::new(
                        file,
                        at,
                        &format!("a block of kind {info:?}"),
                        "give it one: sh, console, yaml, json, text or js",
                    )),
                }
            }
            _ => {}
        }
    }
    (found, faults)
}

/// The line of a place in a document, from 1.
pub(super) fn line_at(markdown: &str, at: usize) -> usize {
    markdown[..at].matches('\n').count() + 1
}

fn kind(info: &str) -> Option<Kind> {
    Some(match info.split_whitespace().next()? {
        "sh" => Kind::Sh,
        "console" => Kind::Console,
        "yaml" => Kind::Yaml,
        "js" => Kind::Js,
        "json" => Kind::Json,
        "text" => Kind::Text,
        _ => return None,
    })
}

/// The commands of a block of `sh` or `console`.
pub(super) fn lines(block: &Block) -> Vec<Line> {
    commands(&block.text, block.line, block.kind == Kind::Console)
}

/// The commands of a script that begins at a line.
pub(super) fn commands(script: &str, first: usize, console: bool) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut open = false;
    for (offset, text) in script.lines().enumerate() {
        if open && let Some(last) = lines.last_mut() {
            last.command.push('\n');
            last.command.push_str(text);
            open = !whole(&last.command);
            continue;
        }
        let command = if console {
            text.strip_prefix("$ ")
        } else {
            let blank = text.trim().is_empty() || text.trim_start().starts_with('#');
            (!blank).then_some(text)
        };
        match (command, lines.last_mut()) {
            (Some(command), _) => {
                open = !whole(command);
                lines.push(Line {
                    at: first + offset,
                    command: command.to_owned(),
                    shown: Vec::new(),
                });
            }
            (None, Some(last)) if console => last.shown.push(text.to_owned()),
            (None, _) => {}
        }
    }
    lines
}

/// Whether bash takes it for a whole command: it says something of an open quote, loop or here-document. A backslash at the end
/// passes there.
fn whole(command: &str) -> bool {
    let parsed = Command::new("bash").args(["-n", "-c", command]).output();
    let parsed = parsed.expect("cannot run bash");
    !command.ends_with('\\') && parsed.status.success() && parsed.stderr.is_empty()
}

/// The code that a command's comment says it ends with.
pub(super) fn ends_with(command: &str) -> Option<i32> {
    let (_, rest) = command.rsplit_once('#')?.1.split_once("ends with ")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Where what was printed differs from what a console shows. Columns may be of another width, and times are of any length.
pub(super) fn difference(shown: &[String], printed: &str) -> Option<String> {
    let words = |line: &str| -> Vec<String> {
        let words = line.split_whitespace();
        words.map(|it| age(it).unwrap_or(it).to_owned()).collect()
    };
    let printed: Vec<&str> = printed.lines().filter(|it| !it.trim().is_empty()).collect();
    let mut rest = printed.as_slice();
    let mut any = false;
    for line in shown.iter().filter(|it| !it.trim().is_empty()) {
        if line.trim() == "..." {
            any = true;
            continue;
        }
        let wanted = words(line);
        let at = if any {
            rest.iter().position(|it| words(it) == wanted)
        } else {
            rest.first().filter(|it| words(it) == wanted).map(|_| 0)
        };
        let Some(at) = at else {
            return Some(format!("the document shows {line:?}, which is not there"));
        };
        rest = &rest[at + 1..];
        any = false;
    }
    match rest.first() {
        Some(more) if !any && !shown.is_empty() => {
            Some(format!("the document does not show {more:?}"))
        }
        _ => None,
    }
}

/// A word such as `12s` or `3m20s`, as kubectl prints an age.
fn age(word: &str) -> Option<&'static str> {
    let digit = word.starts_with(|first: char| first.is_ascii_digit());
    let unit = word.ends_with(['s', 'm', 'h', 'd']);
    let clean = word
        .chars()
        .all(|it| it.is_ascii_digit() || "smhd".contains(it));
    (digit && unit && clean).then_some("AGE")
}
