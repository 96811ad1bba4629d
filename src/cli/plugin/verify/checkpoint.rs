//! What `--checkpoint` keeps of a reading that ended early, so that another run goes on from there.
//!
//! ```text
//! copartition verify checkpoint 1      what it is, and its FORMAT
//! {"topics": ..., "state": ...}        one line of JSON
//! 0f3c...                              the SipHash-2-4-128 of the lines above, which shows damage
//! ```
//! It holds no key, but whoever has it can find out whether a key that he guesses is in the topics: it has the secret of
//! the fingerprints, without which those of the next run would be others, and the hashes of the known partitioners. So
//! only its owner may read it, it takes the place of an older one as a whole, and it is removed when the reading is done.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128, SipHasher24};
use tempfile::NamedTempFile;

use crate::kafka::Positions;
use crate::verify::{FingerprintKey, Growth, Judge, State, Topic};

const MAGIC: &str = "copartition verify checkpoint";
/// To be raised with all that changes what is kept, or what a number in it means: the known hashes and their order too.
const FORMAT: &str = "1";
/// The largest file that is read, in bytes. A key takes about 200, and there are at most [`super::proof::MOST_KEYS`].
const LARGEST: u64 = 1 << 30;
/// The owner alone may read and write it.
const OTHERS: u32 = 0o077;

/// A reading that is under way.
pub(super) struct Course {
    pub(super) judge: Judge,
    /// Where to go on.
    pub(super) positions: Positions,
    /// What the judge was told.
    told: Vec<Told>,
    secret: FingerprintKey,
    max_keys: usize,
}

/// A topic, its id, and what decides how its records are judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Told {
    topic: String,
    id: String,
    scheme: Option<String>,
    partitions: i32,
    growth: Option<(i32, Vec<Offsets>)>,
}

/// A partition's two growth marks.
type Offsets = (Option<i64>, Option<i64>);

#[derive(Serialize)]
struct Writing<'a, S> {
    topics: &'a [Told],
    secret: String,
    max_keys: usize,
    positions: &'a Positions,
    state: S,
}

/// What a file has.
#[derive(Deserialize)]
pub(super) struct Kept {
    topics: Vec<Told>,
    secret: String,
    max_keys: usize,
    positions: Positions,
    state: State,
}

impl Course {
    /// A reading from the beginning, of topics with their ids.
    pub(super) fn new(
        topics: Vec<(Topic, String)>,
        secret: FingerprintKey,
        max_keys: usize,
    ) -> Self {
        let told = topics.iter().map(Told::of).collect();
        let topics = topics.into_iter().map(|(topic, _)| topic).collect();
        Self {
            judge: Judge::with_max_keys(topics, secret, max_keys),
            positions: Positions::default(),
            told,
            secret,
            max_keys,
        }
    }

    /// A reading that goes on.
    ///
    /// # Errors
    /// One line for the user, if the file is not of these topics as they are now.
    pub(super) fn resume(
        topics: Vec<(Topic, String)>,
        kept: Kept,
        path: &Path,
    ) -> Result<Self, String> {
        let told: Vec<Told> = topics.iter().map(Told::of).collect();
        if let Some(difference) = difference(&kept.topics, &told) {
            return Err(format!(
                "{}: {difference}; remove the file to begin anew",
                path.display()
            ));
        }
        let damaged = |what: &str| damaged(path, what);
        let secret = HEXLOWER.decode(kept.secret.as_bytes()).ok();
        let secret = secret.and_then(|secret| secret.try_into().ok());
        let secret = FingerprintKey(secret.ok_or_else(|| damaged("it has no secret"))?);
        let topics = topics.into_iter().map(|(topic, _)| topic).collect();
        let judge = Judge::resume(topics, secret, kept.max_keys, kept.state).map_err(damaged)?;
        Ok(Self {
            judge,
            positions: kept.positions,
            told,
            secret,
            max_keys: kept.max_keys,
        })
    }

    /// The names of the topics, in the judge's order.
    pub(super) fn topics(&self) -> impl Iterator<Item = &str> {
        self.told.iter().map(|told| told.topic.as_str())
    }

    /// Where a reading has come to. What it did not even look at stays where it was.
    pub(super) fn advance(&mut self, read: Positions) {
        for (topic, read) in read.0 {
            match self.positions.0.get_mut(&topic) {
                Some(positions) => positions.next.extend(read.next),
                None => {
                    self.positions.0.insert(topic, read);
                }
            }
        }
    }

    /// Keeps it in a file.
    ///
    /// # Errors
    /// One line for the user. An older file is then as it was.
    pub(super) fn keep(&self, path: &Path) -> Result<(), String> {
        let failed = |error: io::Error| format!("{}: writing it: {error}", path.display());
        let file = beside(path).map_err(failed)?;
        let mut out = Summed::new(BufWriter::new(file));
        self.write(&mut out).map_err(failed)?;
        let sum = out.sum();
        let mut file = out.inner;
        writeln!(file, "{sum}").map_err(failed)?;
        let file = file
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(path)
            .map(|_| ())
            .map_err(|error| failed(error.error))
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{MAGIC} {FORMAT}")?;
        let writing = Writing {
            topics: &self.told,
            secret: HEXLOWER.encode(&self.secret.0),
            max_keys: self.max_keys,
            positions: &self.positions,
            state: self.judge.state(),
        };
        serde_json::to_writer(&mut *out, &writing)?;
        out.write_all(b"\n")
    }
}

impl Told {
    fn of((topic, id): &(Topic, String)) -> Self {
        let growth = |growth: &Growth| {
            let marks = growth.marks.iter().map(|mark| (mark.before, mark.after));
            (growth.from.get(), marks.collect())
        };
        Self {
            topic: topic.name.clone(),
            id: id.clone(),
            scheme: topic.scheme.as_ref().map(ToString::to_string),
            partitions: topic.count.get(),
            growth: topic.growth.as_ref().map(growth),
        }
    }
}

/// What differs between the topics of a file and those of now.
fn difference(kept: &[Told], now: &[Told]) -> Option<String> {
    let names = |told: &[Told]| {
        let names: Vec<&str> = told.iter().map(|it| it.topic.as_str()).collect();
        names.join(", ")
    };
    if names(kept) != names(now) {
        return Some(format!(
            "it is of other topics: wanted {}, it has {}",
            names(now),
            names(kept)
        ));
    }
    let scheme = |told: &Told| told.scheme.clone().unwrap_or_else(|| "nothing".to_owned());
    kept.iter().zip(now).find_map(|(kept, now)| {
        let topic = &now.topic;
        if kept.id != now.id {
            Some(format!(
                "{topic} was deleted and created anew since: its id is {}, it was {}",
                now.id, kept.id
            ))
        } else if kept.scheme != now.scheme {
            Some(format!(
                "{topic} is declared as {} now, it was as {}",
                scheme(now),
                scheme(kept)
            ))
        } else if kept.partitions != now.partitions {
            Some(format!(
                "{topic} has {} partitions now, it had {}",
                now.partitions, kept.partitions
            ))
        } else {
            let grown = kept.growth != now.growth;
            grown.then(|| format!("the marks of {topic}'s last growth are others now"))
        }
    })
}

fn damaged(path: &Path, what: &str) -> String {
    format!(
        "{}: this checkpoint is damaged: {what}; remove the file to begin anew",
        path.display()
    )
}

/// Reads a file; `None` if there is none. Either way one can be written there later.
///
/// # Errors
/// One line for the user.
pub(super) fn load(path: &Path) -> Result<Option<Kept>, String> {
    let failed = |error: io::Error| format!("{}: {error}", path.display());
    // It is better known now than after an hour of reading.
    beside(path)
        .map_err(|error| format!("{}: nothing can be written there: {error}", path.display()))?;
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(failed)?,
    };
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        return Err(format!(
            "{}: it is no checkpoint of verify: no file, or larger than any",
            path.display()
        ));
    }
    if metadata.mode() & OTHERS != 0 {
        return Err(format!(
            "{}: others may read or write it (mode {:o}), and it tells whether a key that one guesses is in the topics; \
             chmod 600 it if nobody has",
            path.display(),
            metadata.mode() & 0o777
        ));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).map_err(failed)?;
    parse(&bytes, path).map(Some)
}

fn parse(bytes: &[u8], path: &Path) -> Result<Kept, String> {
    let damaged = |what: &str| damaged(path, what);
    let Some(rest) = bytes.strip_prefix(MAGIC.as_bytes()) else {
        return Err(format!(
            "{}: it is no checkpoint of verify; name another file",
            path.display()
        ));
    };
    let cut_off = || damaged("it is cut off");
    let end = rest.iter().position(|byte| *byte == b'\n');
    let (format, body) = rest.split_at(end.ok_or_else(cut_off)?);
    let format = String::from_utf8_lossy(format);
    if format.trim() != FORMAT {
        return Err(format!(
            "{}: it is a checkpoint of format {}, and this version reads {FORMAT}; go on with the version that wrote it, or \
             remove the file to begin anew",
            path.display(),
            format.trim()
        ));
    }
    let summed = bytes.strip_suffix(b"\n").ok_or_else(cut_off)?;
    let at = summed.iter().rposition(|byte| *byte == b'\n');
    let (summed, sum) = bytes.split_at(at.ok_or_else(cut_off)? + 1);
    let mut hasher = Summed::new(io::sink());
    hasher
        .write_all(summed)
        .map_err(|error| damaged(&error.to_string()))?;
    if hasher.sum().as_bytes() != sum.trim_ascii_end() {
        return Err(damaged("its checksum is another"));
    }
    serde_json::from_slice(body.strip_suffix(sum).unwrap_or(body))
        .map_err(|error| damaged(&error.to_string()))
}

/// Removes a file that is not needed any more, if there is one.
///
/// # Errors
/// One line for the user.
pub(super) fn remove(path: &Path) -> Result<(), String> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(format!("{}: removing it: {error}", path.display()))
        }
        _ => Ok(()),
    }
}

/// A new file that can take the place of another; it is its owner's alone from the start.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
}

/// Passes on what is written and sums it up.
struct Summed<W> {
    inner: W,
    hasher: SipHasher24,
}

impl<W> Summed<W> {
    fn new(inner: W) -> Self {
        Self {
            inner,
            hasher: SipHasher24::new(),
        }
    }

    fn sum(&self) -> String {
        HEXLOWER.encode(&self.hasher.finish128().as_bytes())
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        std::hash::Hasher::write(&mut self.hasher, &bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests;
