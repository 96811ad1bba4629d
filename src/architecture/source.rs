//! Reads Rust source as far as the rules of the architecture need it: enough grammar to tell code from comments
//! and strings, and to unfold `use` trees.

use Token::{Join, Mark, Text, Word};

#[derive(Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// An identifier or keyword.
    Word(&'a str),
    /// A string with its quotes.
    Text(&'a str),
    /// `::`
    Join,
    /// Any other character that is not white space.
    Mark(char),
}
/// Tokens with their lines, counted from 1. Comments are left out, so are characters and white space.
pub(super) fn tokens(source: &str) -> Vec<(usize, Token<'_>)> {
    let (mut found, mut line, mut rest) = (Vec::new(), 1, source);
    while let Some(first) = rest.chars().next() {
        let (length, token) = token(first, rest);
        found.extend(token.map(|token| (line, token)));
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
}

/// The length in bytes of what `rest` begins with, and the token if it is one.
fn token(first: char, rest: &str) -> (usize, Option<Token<'_>>) {
    let until = |from: usize, end: &str| {
        let at = rest[from..].find(end);
        at.map_or(rest.len(), |at| from + at + end.len())
    };
    let text = |length: usize| (length, Some(Text(&rest[..length])));
    match first {
        '/' if rest.starts_with("//") => (until(2, "\n"), None),
        '/' if rest.starts_with("/*") => (until(2, "*/"), None),
        '"' => {
            let mut escaped = false;
            let end = rest.char_indices().skip(1).find(|(_, c)| {
                let ends = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                ends
            });
            text(end.map_or(rest.len(), |(at, _)| at + 1))
        }
        '\'' if rest.starts_with("'\\") => (until(3, "'"), None),
        '\'' => match rest[1..].chars().next() {
            Some(c) if rest[1 + c.len_utf8()..].starts_with('\'') => (c.len_utf8() + 2, None),
            // A lifetime.
            _ => (1, None),
        },
        ':' if rest.starts_with("::") => (2, Some(Join)),
        c if is_word(c) => {
            let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let hashes = rest[word..].chars().take_while(|c| *c == '#').count();
            let raw = matches!(&rest[..word], "r" | "br" | "cr")
                && rest[word + hashes..].starts_with('"');
            if raw {
                let close = format!("\"{}", "#".repeat(hashes));
                text(until(word + hashes + 1, &close))
            } else {
                (word, Some(Word(&rest[..word])))
            }
        }
        c => (c.len_utf8(), (!c.is_whitespace()).then_some(Mark(c))),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// All paths of two and more segments, and all imports, with their lines.
pub(super) fn paths(tokens: &[(usize, Token<'_>)]) -> Vec<(usize, String)> {
    let (mut found, mut i) = (Vec::new(), 0);
    while let Some((line, token)) = tokens.get(i) {
        let next = |i: usize| tokens.get(i).map(|(_, token)| token);
        match token {
            // `use<'a>` is a bound.
            Word("use") if next(i + 1) != Some(&Mark('<')) => {
                i += 1;
                unfold(tokens, &mut i, "", &mut found);
            }
            Word(root) if next(i + 1) == Some(&Join) => {
                let mut path = (*root).to_owned();
                while let (Some(Join), Some(Word(segment))) = (next(i + 1), next(i + 2)) {
                    path = format!("{path}::{segment}");
                    i += 2;
                }
                found.push((*line, path));
                i += 1;
            }
            _ => i += 1,
        }
    }
    found
}

/// The paths of one `use` tree that follows `prefix`.
fn unfold(
    tokens: &[(usize, Token<'_>)],
    i: &mut usize,
    prefix: &str,
    found: &mut Vec<(usize, String)>,
) {
    let mut path = prefix.to_owned();
    while let Some((line, token)) = tokens.get(*i) {
        match token {
            Word("as") => *i += 1,
            Word(segment) => path = join(&path, segment),
            Mark('*') => path = join(&path, "*"),
            Join => {}
            Mark('{') => {
                while matches!(tokens.get(*i), Some((_, Mark('{' | ',')))) {
                    *i += 1;
                    unfold(tokens, i, &path, found);
                }
                *i += 1;
                return;
            }
            _ => {
                if path != prefix {
                    found.push((*line, path));
                }
                return;
            }
        }
        *i += 1;
    }
}

fn join(path: &str, segment: &str) -> String {
    if path.is_empty() {
        segment.to_owned()
    } else {
        format!("{path}::{segment}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Vec<(usize, String)> {
        paths(&tokens(source))
    }

    #[test]
    fn use_trees_are_unfolded_with_their_lines() {
        let found = read("use a;\nuse b::{self, c::{D, E as F},\n  g::*};\npub use crate::h;");
        let expected = [
            (1, "a"),
            (2, "b::self"),
            (2, "b::c::D"),
            (2, "b::c::E"),
            (3, "b::g::*"),
            (4, "crate::h"),
        ];
        assert_eq!(found, expected.map(|(line, path)| (line, path.to_owned())));
    }

    #[test]
    fn paths_in_expressions_are_read_whole() {
        let found =
            read("fn f<'a>(x: &'a b::C) -> impl D + use<'a> { e::f::<g::H>(x); ::i::j!() }");
        let paths: Vec<&str> = found.iter().map(|(_, path)| path.as_str()).collect();
        assert_eq!(paths, ["b::C", "e::f", "g::H", "i::j"]);
    }

    #[test]
    fn comments_and_strings_are_no_paths() {
        for source in [
            "// a::b",
            "/// a::b\n//! c::d",
            "/* a::b\n c::d */",
            r#"let x = "a::b \" c::d";"#,
            r##"let x = r#"a::b " c::d"#;"##,
            r#"let x = b"\\"; let y = "a::b";"#,
        ] {
            assert_eq!(read(source), [], "{source}");
        }
        for source in [
            r#"let x = '"'; a::b"#,
            r"let x = '\''; a::b",
            r"let x = '\u{1}'; a::b",
            "let x: &'static str = a::b",
            r#"let x = "//"; a::b"#,
            "let x = 'é'; /* */ a::b",
        ] {
            assert_eq!(read(source), [(1, "a::b".to_owned())], "{source}");
        }
    }
}
