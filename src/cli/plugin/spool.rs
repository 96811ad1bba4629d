//! Output that is shown only once it is whole. Millions of rows do not stay in memory until then.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use tempfile::SpooledTempFile;

/// What all spools of a run keep in memory before each goes to a temporary file.
const IN_MEMORY: usize = 16 << 20;

/// A place to write to now and to print from later.
pub(super) struct Spool(BufWriter<SpooledTempFile>);

impl Spool {
    /// One of `spools` of a run.
    pub(super) fn one_of(spools: usize) -> Self {
        let most = IN_MEMORY / spools.max(1);
        Self(BufWriter::new(tempfile::spooled_tempfile(most)))
    }

    /// Prints what was written.
    pub(super) fn copy_to(self, out: &mut dyn Write) -> io::Result<()> {
        let mut file = self
            .0
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        io::copy(&mut file, out).map(|_| ())
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_printed_from_memory_and_from_a_file() {
        for size in [10, 3000] {
            // A thousandth of what is kept in memory: the larger one goes to a file.
            let mut spool = Spool::one_of(IN_MEMORY / 1000);
            let text: Vec<u8> = (0..size)
                .map(|at| u8::try_from(at % 251).unwrap())
                .collect();
            spool.write_all(&text).unwrap();
            let mut printed = Vec::new();
            spool.copy_to(&mut printed).unwrap();
            assert!(printed == text, "{size}");
        }
    }
}
