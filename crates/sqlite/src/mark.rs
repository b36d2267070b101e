//! The mark beside the file: how far the store has come, kept apart from the store.
//!
//! When a group is durable, and before its callers are told so, its number is written here, without a sync of its
//! own. So the mark is never ahead of what is durable, also after a power cut; and if the store is behind it, then
//! commits that were acknowledged are gone: its log was cut, removed or replaced, or the file is an older copy. SQLite
//! by itself takes such a log for a short one, and says nothing.

use std::fs::{File, OpenOptions};
#[cfg(not(unix))]
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::lock::private;
use crate::sum::of_body;

/// Always the same length, so that a write in place is whole: it is within one sector.
const LENGTH: usize = 112;
const BEGIN: &str = "rival-mark-1";

/// What the mark says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreMark {
    /// The store's id.
    pub(crate) store: String,
    /// How many transactions were acknowledged.
    pub(crate) commits: i64,
    /// The digest of all batches up to there.
    pub(crate) digest: i64,
    /// The process that wrote it: a second one that wants the file is told.
    pub(crate) holder: u32,
}

/// What is found where the mark should be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FoundMark {
    Mark(StoreMark),
    Nothing,
    /// It is there and does not read as a mark.
    Unreadable,
}

pub(crate) fn path_of(database: &Path) -> PathBuf {
    beside(database, "-mark")
}

/// The name of a file beside the database, as SQLite names its own.
pub(crate) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

pub(crate) fn read(database: &Path) -> std::io::Result<FoundMark> {
    match std::fs::read(path_of(database)) {
        Ok(bytes) => Ok(decode(&bytes).map_or(FoundMark::Unreadable, FoundMark::Mark)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(FoundMark::Nothing),
        Err(error) => Err(error),
    }
}

/// By hand where a number changes with every commit: this is written before the answers.
fn encode(mark: &StoreMark) -> [u8; LENGTH] {
    let StoreMark { store, commits, digest, holder } = mark;
    let mut line = [b' '; LENGTH];
    let mut rest = &mut line[..];
    // It fits: the id of a store is 36 characters, and each number has its width.
    for (word, width) in [
        (BEGIN.as_bytes(), BEGIN.len()),
        (store.as_bytes(), 36),
        (&hex(commits.cast_unsigned()), 16),
        (&hex(digest.cast_unsigned()), 16),
        (&decimal(*holder), 10),
    ] {
        let (field, after) = rest.split_at_mut(width + 1);
        let length = word.len().min(width);
        field[..length].copy_from_slice(&word[..length]);
        rest = after;
    }
    let sum = of_body(&line[..LENGTH - 17]);
    line[LENGTH - 17..LENGTH - 1].copy_from_slice(&hex(sum));
    line[LENGTH - 1] = b'\n';
    line
}

fn hex(number: u64) -> [u8; 16] {
    let bytes = number.to_be_bytes();
    let digit = |value: u8| b"0123456789abcdef"[usize::from(value)];
    std::array::from_fn(|at| digit(if at % 2 == 0 { bytes[at / 2] >> 4 } else { bytes[at / 2] & 15 }))
}

fn decimal(number: u32) -> [u8; 10] {
    let mut rest = number;
    let mut digits = [b'0'; 10];
    for digit in digits.iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    digits
}

fn decode(bytes: &[u8]) -> Option<StoreMark> {
    let line: &[u8; LENGTH] = bytes.try_into().ok()?;
    let text = std::str::from_utf8(line).ok()?;
    let mut words = text.split_ascii_whitespace();
    let number = |word: Option<&str>| Some(u64::from_str_radix(word?, 16).ok()?.cast_signed());
    let begin = words.next()?;
    let mark = StoreMark {
        store: words.next()?.to_owned(),
        commits: number(words.next())?,
        digest: number(words.next())?,
        holder: words.next()?.parse().ok()?,
    };
    (begin == BEGIN && encode(&mark) == *line).then_some(mark)
}

/// The mark, open to be written.
#[derive(Debug)]
pub(crate) struct MarkWriter {
    file: File,
    mark: StoreMark,
}

impl MarkWriter {
    /// Writes a mark, durably: it is there before anything that it speaks of.
    pub(crate) fn create(database: &Path, mark: StoreMark) -> std::io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        private(&mut options);
        let path = path_of(database);
        let mut marker = Self { file: options.open(&path)?, mark };
        marker.write()?;
        marker.file.set_len(LENGTH as u64)?;
        marker.file.sync_all()?;
        // The name too.
        #[cfg(unix)]
        if let Some(folder) = path.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(marker)
    }

    /// Takes up a mark that is there.
    pub(crate) fn open(database: &Path, mark: StoreMark) -> std::io::Result<Self> {
        let file = OpenOptions::new().write(true).open(path_of(database))?;
        let mut marker = Self { file, mark: StoreMark { holder: std::process::id(), ..mark } };
        // A full disk is no reason to refuse: a mark that cannot be written stays behind, which is safe.
        let _ = marker.write();
        Ok(marker)
    }

    /// Notes how far the store has come. A mark that cannot be written stays behind, which is safe.
    pub(crate) fn advance(&mut self, commits: i64, digest: i64) {
        self.mark.commits = commits;
        self.mark.digest = digest;
        let _ = self.write();
    }

    #[cfg(unix)]
    fn write(&mut self) -> std::io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, &encode(&self.mark), 0)
    }

    #[cfg(not(unix))]
    fn write(&mut self) -> std::io::Result<()> {
        use std::io::Seek;
        self.file.rewind()?;
        self.file.write_all(&encode(&self.mark))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark() -> StoreMark {
        let store = "0198d2a0-0000-7000-8000-000000000001".to_owned();
        StoreMark { store, commits: 812, digest: -5, holder: 77 }
    }

    #[test]
    fn a_mark_reads_as_it_was_written() {
        assert_eq!(decode(&encode(&mark())), Some(mark()));
        let line = String::from_utf8(encode(&mark()).to_vec()).unwrap();
        let words =
            "rival-mark-1 0198d2a0-0000-7000-8000-000000000001 000000000000032c fffffffffffffffb 0000000077 ";
        assert!(line.starts_with(words) && line.ends_with('\n'), "{line}");
    }

    #[test]
    fn a_mark_with_any_byte_changed_is_none() {
        let line = encode(&mark());
        for index in 0..line.len() {
            let mut changed = line;
            changed[index] ^= 1;
            assert_eq!(decode(&changed), None, "byte {index}");
        }
        assert_eq!(decode(&line[..LENGTH - 1]), None);
    }
}
