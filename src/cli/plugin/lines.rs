//! Keys from a file, one a line, in flat memory however long the file is.

use std::io::{self, ErrorKind, Read};

use memchr::{memchr_iter, memrchr};

use crate::keys::EncodeError;

/// The longest line: Kafka's default for the largest record, so that no key of a real record is longer.
const MOST_BYTES: usize = 1 << 20;
/// What is read at once. It fits the cache of a core, where the lines are looked at three times.
const AT_ONCE: usize = 256 << 10;
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Why keys were not read to the end.
#[derive(Debug)]
pub(super) enum Stop {
    /// The key is no value of the encoding. Whoever knows the place adds it.
    Key(EncodeError),
    /// What was to be printed could not be kept until then.
    Output(io::Error),
}

impl From<EncodeError> for Stop {
    fn from(error: EncodeError) -> Self {
        Self::Key(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Stop {
    /// One line for the user, with the place of the key.
    pub(super) fn at(self, place: &str) -> String {
        match self {
            Self::Key(error) => format!("{place}: {error}"),
            Self::Output(error) => format!("keeping the output in a temporary file: {error}"),
        }
    }
}

/// The lines of a file.
pub(super) struct Lines<R> {
    source: R,
    /// The file's name for messages.
    label: String,
    /// The file was written on Windows.
    crlf: bool,
    /// How many lines were seen.
    line: u64,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(source: R, label: String, crlf: bool) -> Self {
        Self {
            source,
            label,
            crlf,
            line: 0,
        }
    }

    /// Hands over each line without its end. A last line without an end counts, and an empty one is the empty key.
    ///
    /// # Errors
    /// One line for the user that names the place.
    pub(super) fn each(
        mut self,
        mut take: impl FnMut(&str) -> Result<(), Stop>,
    ) -> Result<(), String> {
        let mut buffer = vec![0; AT_ONCE];
        let mut filled = 0;
        loop {
            if filled == buffer.len() {
                // The buffer holds one line so far: all that were whole have been handed over.
                if filled > MOST_BYTES {
                    return Err(self.too_long());
                }
                buffer.resize((2 * filled).min(MOST_BYTES + 1), 0);
            }
            let read = match self.source.read(&mut buffer[filled..]) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(format!("{}: {error}", self.label)),
            };
            let begin = filled;
            filled += read;
            let whole = match memrchr(b'\n', &buffer[begin..filled]) {
                _ if read == 0 => filled,
                Some(at) => begin + at + 1,
                None => continue,
            };
            self.lines(&buffer[..whole], &mut take)?;
            if read == 0 {
                return Ok(());
            }
            buffer.copy_within(whole..filled, 0);
            filled -= whole;
        }
    }

    /// Hands over lines that are whole. Whether they are text is checked for all of them at once, which is cheaper.
    fn lines(
        &mut self,
        bytes: &[u8],
        take: &mut impl FnMut(&str) -> Result<(), Stop>,
    ) -> Result<(), String> {
        let error = match str::from_utf8(bytes) {
            Ok(text) => return self.texts(text, take),
            Err(error) => error,
        };
        let good = &bytes[..error.valid_up_to()];
        let begin = memrchr(b'\n', good).map_or(0, |at| at + 1);
        self.texts(str::from_utf8(&good[..begin]).unwrap_or_default(), take)?;
        let (place, at) = (self.place(self.line + 1), good.len() - begin + 1);
        Err(format!(
            "{place}: not UTF-8 at byte {at}; write keys that are no text as hex or base64, and declare that --encoding"
        ))
    }

    /// Hands over the lines of a text. The loop that millions of keys go through: what concerns the first line or files
    /// of Windows only is kept out of it.
    fn texts(
        &mut self,
        text: &str,
        take: &mut impl FnMut(&str) -> Result<(), Stop>,
    ) -> Result<(), String> {
        let mut rest = text;
        if self.line == 0 && !text.is_empty() {
            let (first, others) = text.split_once('\n').unwrap_or((text, ""));
            self.of_windows(first)?;
            let first = match first.strip_prefix(BYTE_ORDER_MARK) {
                Some(marked) if self.crlf => marked,
                _ => first,
            };
            self.text(first, take)?;
            rest = others;
        }
        if self.crlf {
            return rest
                .split_terminator('\n')
                .try_for_each(|line| self.text(line, take));
        }
        let mut begin = 0;
        for end in memchr_iter(b'\n', rest.as_bytes()) {
            self.line += 1;
            take(&rest[begin..end]).map_err(|stop| self.stopped(stop))?;
            begin = end + 1;
        }
        if begin < rest.len() {
            self.text(&rest[begin..], take)?;
        }
        Ok(())
    }

    fn text(
        &mut self,
        line: &str,
        take: &mut impl FnMut(&str) -> Result<(), Stop>,
    ) -> Result<(), String> {
        self.line += 1;
        let key = match line.strip_suffix('\r') {
            Some(key) if self.crlf => key,
            _ => line,
        };
        take(key).map_err(|stop| self.stopped(stop))
    }

    #[cold]
    fn stopped(&self, stop: Stop) -> String {
        stop.at(&self.place(self.line))
    }

    /// A `\r` that is no part of the keys would silently move every one of them.
    fn of_windows(&self, first: &str) -> Result<(), String> {
        let what = match first {
            _ if self.crlf => return Ok(()),
            first if first.ends_with('\r') => "ends with a carriage return",
            first if first.starts_with(BYTE_ORDER_MARK) => "begins with a byte order mark",
            _ => return Ok(()),
        };
        Err(format!(
            "{} {what}, as in files from Windows; give --crlf if that is no part of the key",
            self.place(1)
        ))
    }

    fn too_long(&self) -> String {
        format!(
            "{}: longer than 1 MiB, the largest record that Kafka takes by default; wanted one key a line",
            self.place(self.line + 1)
        )
    }

    fn place(&self, line: u64) -> String {
        format!("{} line {line}", self.label)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hands out a few bytes at a time, as a pipe does.
    struct Pipe<'a>(&'a [u8], usize);

    impl Read for Pipe<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let step = self.1.min(buffer.len());
            self.0.read(&mut buffer[..step])
        }
    }

    fn read(source: impl Read, crlf: bool) -> Result<Vec<String>, String> {
        let mut keys = Vec::new();
        let lines = Lines::new(source, "keys.txt".to_owned(), crlf);
        lines.each(|key| {
            keys.push(key.to_owned());
            Ok(())
        })?;
        Ok(keys)
    }

    fn keys(text: &str) -> Vec<String> {
        read(text.as_bytes(), false).unwrap()
    }

    #[test]
    fn a_line_is_a_key() {
        for (text, wanted) in [
            ("", &[][..]),
            ("\n", &[""]),
            ("a", &["a"]),
            ("a\n", &["a"]),
            ("a\n\n b \n", &["a", "", " b "]),
            ("a\nb\r\n\u{feff}c", &["a", "b\r", "\u{feff}c"]),
            ("a\0b\u{2028}c\n", &["a\0b\u{2028}c"]),
        ] {
            assert_eq!(keys(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn files_of_windows_are_refused_until_they_are_declared() {
        for text in ["a\r\nb\r\n", "a\r", "\u{feff}a\n"] {
            let said = read(text.as_bytes(), false).unwrap_err();
            assert!(said.starts_with("keys.txt line 1 "), "{said}");
            assert!(said.contains("give --crlf"), "{said}");
        }
        let text = "\u{feff}a\r\n\r\nb\r\r\nc";
        assert_eq!(read(text.as_bytes(), true).unwrap(), ["a", "", "b\r", "c"]);
    }

    #[test]
    fn what_is_not_utf8_is_named_by_line_and_byte() {
        for (bytes, place) in [
            (
                &b"a\nb\nc\xff\n"[..],
                "keys.txt line 3: not UTF-8 at byte 2",
            ),
            (b"\xc3", "keys.txt line 1: not UTF-8 at byte 1"),
            (b"a\n\xc3\na\n", "keys.txt line 2: not UTF-8 at byte 1"),
        ] {
            for step in [1, 2, 3, 1000] {
                let said = read(Pipe(bytes, step), false).unwrap_err();
                assert!(said.starts_with(place), "{said}");
            }
        }
    }

    #[test]
    fn the_first_thing_that_is_wrong_is_named() {
        let mut lines = 0;
        let failed = Lines::new(&b"1\nx\n\xff\n"[..], "k".to_owned(), false).each(|key| {
            lines += 1;
            let encoding = crate::keys::Encoding::parse("int32").unwrap();
            encoding.encode(key)?;
            Ok(())
        });
        let said = failed.unwrap_err();
        assert!(
            said.starts_with("k line 2: key \"x\" has no int32"),
            "{said}"
        );
        assert_eq!(lines, 2);
    }

    #[test]
    fn a_line_may_have_a_mebibyte() {
        let longest = "x".repeat(MOST_BYTES);
        for end in ["", "\n", "\nb\n"] {
            let read = keys(&format!("a\n{longest}{end}"));
            assert_eq!(read[1].len(), MOST_BYTES);
        }
        for end in ["", "\n", "\nb\n"] {
            let text = format!("a\n{longest}x{end}");
            let said = read(text.as_bytes(), false).unwrap_err();
            assert!(
                said.starts_with("keys.txt line 2: longer than 1 MiB"),
                "{said}"
            );
        }
    }

    #[test]
    fn an_endless_line_is_given_up() {
        let mut source = io::repeat(b'x').take(1 << 40);
        let said = read(&mut source, false).unwrap_err();
        assert!(said.starts_with("keys.txt line 1: longer"), "{said}");
        let taken = (1 << 40) - source.limit();
        assert!(taken <= 2 << 20, "{taken} bytes were read");
    }

    proptest! {
        #[test]
        fn nothing_depends_on_how_bytes_arrive(
            text in "[ab\n\u{e9}\u{1f600}\r]{0,60}",
            step in 1..9_usize,
            crlf: bool,
        ) {
            let whole = read(text.as_bytes(), crlf);
            prop_assert_eq!(read(Pipe(text.as_bytes(), step), crlf), whole.clone());
            if let (Ok(keys), false) = (whole, crlf) {
                let mut wanted: Vec<&str> = text.split('\n').collect();
                if wanted.last() == Some(&"") {
                    wanted.pop();
                }
                prop_assert_eq!(keys, wanted);
            }
        }
    }
}
