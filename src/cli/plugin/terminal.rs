//! Standard input and output of a command, and what a terminal may be sent.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::io::{self, ErrorKind, IsTerminal, Read, Write};

use clap::builder::styling::{AnsiColor, Style};

/// What a command reads from and prints to; a test puts memory here.
pub(super) struct Io<'a> {
    pub(super) stdin: &'a mut dyn Read,
    pub(super) stdout: &'a mut dyn Write,
    /// Whether to print colours.
    pub(super) colour: bool,
}

/// Colours are for people: only on a terminal that knows some, and not with `NO_COLOR` (no-color.org).
pub(super) fn wants_colour() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    io::stdout().is_terminal()
        && set("NO_COLOR").is_none()
        && set("TERM").is_none_or(|kind| kind != "dumb")
}

/// Prints all that a command has to say.
///
/// # Errors
/// If it could not be written. A reader that has seen enough, as `head`, is no error.
pub(super) fn print(
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), String> {
    let mut buffered = io::BufWriter::with_capacity(64 << 10, out);
    match write(&mut buffered).and_then(|()| buffered.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| format!("writing to standard output: {error}")),
    }
}

/// A text in red, if colours are wanted.
pub(super) struct Red<T>(pub(super) T, pub(super) bool);

impl<T: Display> Display for Red<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const RED: Style = AnsiColor::Red.on_default();
        if self.1 {
            write!(f, "{RED}{}{RED:#}", self.0)
        } else {
            self.0.fmt(f)
        }
    }
}

/// A text without anything that a terminal obeys: control characters and changes of the direction are written out.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    let obeyed = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(2 * text.len());
    for letter in text.chars() {
        if obeyed(letter) {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// The beginning of a text that is too long for a column.
pub(super) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.chars().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    let mut shown: String = text.chars().take(most.saturating_sub(1)).collect();
    shown.push('…');
    Cow::Owned(shown)
}

/// A text from outside in a column: printable, not longer than fits, and an empty one as such.
pub(super) fn cell(text: &str, most: usize) -> String {
    match text {
        "" => "\"\"".to_owned(),
        text => cut(&printable(text), most).into_owned(),
    }
}

/// Numbers in order, with runs of them written as such: `1, 3-7`. At most `most` parts.
pub(super) fn ranges(numbers: impl Iterator<Item = i32>, most: usize) -> String {
    let mut runs: Vec<(i32, i32)> = Vec::new();
    let mut left_out = 0_u64;
    for number in numbers {
        if let Some((_, end)) = runs.last_mut().filter(|(_, end)| number == *end + 1) {
            *end = number;
        } else if runs.len() < most {
            runs.push((number, number));
        } else {
            left_out += 1;
        }
    }
    let mut parts: Vec<String> = runs
        .into_iter()
        .map(|(begin, end)| match end - begin {
            0 => begin.to_string(),
            1 => format!("{begin}, {end}"),
            _ => format!("{begin}-{end}"),
        })
        .collect();
    if left_out > 0 {
        parts.push(format!("and {left_out} more"));
    }
    parts.join(", ")
}

/// `1 key`, `2 keys`.
pub(super) fn counted(number: u64, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {what}{s}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_nothing_to_obey() {
        assert_eq!(printable("日本 é"), "日本 é");
        assert_eq!(
            printable("a\u{1b}[2J\r\n\u{202e}b"),
            "a\\u{1b}[2J\\r\\n\\u{202e}b"
        );
    }

    #[test]
    fn colours_are_asked_for() {
        assert_eq!(Red("x", false).to_string(), "x");
        assert_eq!(Red("x", true).to_string(), "\u{1b}[31mx\u{1b}[0m");
    }

    #[test]
    fn long_texts_are_cut_between_letters() {
        assert_eq!(cut("ééé", 3), "ééé");
        assert_eq!(cut("éééé", 3), "éé…");
    }

    #[test]
    fn runs_of_numbers_are_short() {
        let said = |numbers: &[i32], most| ranges(numbers.iter().copied(), most);
        assert_eq!(said(&[], 9), "");
        assert_eq!(said(&[1, 3, 4, 6, 7, 8], 9), "1, 3, 4, 6-8");
        assert_eq!(said(&[1, 3, 4, 6, 8], 2), "1, 3, 4, and 2 more");
    }

    #[test]
    fn a_reader_that_has_seen_enough_is_no_error() {
        struct Broken(ErrorKind);
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(self.0.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let say = |kind| print(&mut Broken(kind), |out| out.write_all(b"x"));
        assert_eq!(say(ErrorKind::BrokenPipe), Ok(()));
        let said = say(ErrorKind::StorageFull).unwrap_err();
        assert!(said.starts_with("writing to standard output: "), "{said}");
    }
}
