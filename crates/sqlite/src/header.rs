//! The database file without SQLite: whose it is, and whether all of it is there.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use rival_store::StoreError;

use crate::fault;
use crate::schema::APPLICATION_ID;

/// The bytes before the first frame of a log, and before each page in it.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// What the first bytes of a file say.
#[derive(Debug)]
pub(crate) enum FileHeader {
    /// Nothing is in it: it was created, and its first write never came.
    Empty,
    /// It is a store.
    Store,
}

/// Reads the header without SQLite, which would run recovery on a file that is not ours to touch.
/// It is written before the first log exists, so it is never only in a log.
pub(crate) fn check(mut file: &File, path: &Path) -> Result<FileHeader, StoreError> {
    let mut header = Vec::with_capacity(100);
    let read = file.rewind().and_then(|()| file.take(100).read_to_end(&mut header));
    read.map_err(|error| fault::from_io(&error, path))?;
    if header.is_empty() {
        return Ok(FileHeader::Empty);
    }
    let refuse = |what: &str| {
        Err(StoreError::Open(format!("{} {what}; it was left as it is, choose another file", path.display())))
    };
    if header.len() < 100 || !header.starts_with(b"SQLite format 3\0") {
        return refuse("is not a SQLite database");
    }
    if header[68..72] != APPLICATION_ID.to_be_bytes() {
        return refuse("is a SQLite database of another program");
    }
    // With other numbers here SQLite would not look for the log, or would read texts in another encoding. Before the first
    // table is made, the file has no log yet.
    let begun = header[60..64] != [0; 4];
    let fits = header[18..20] == [2, 2] && header[56..60] == [0, 0, 0, 1];
    if begun && !fits {
        return Err(StoreError::Damaged(format!("{}: its header is not as Rival writes it", path.display())));
    }
    Ok(FileHeader::Store)
}

/// Fails if pages of the database are neither in the file nor in its log: then the file was cut.
pub(crate) fn check_length(file: &File, path: &Path, page_size: u64, pages: u64) -> Result<(), StoreError> {
    let failed = |error: std::io::Error| fault::from_io(&error, path);
    let in_file = file.metadata().map_err(failed)?.len() / page_size;
    if in_file >= pages {
        return Ok(());
    }
    let log = pages_of_log(path, page_size).map_err(failed)?;
    let missing = (in_file + 1..=pages).filter(|page| !log.contains(page)).count();
    if missing == 0 {
        return Ok(());
    }
    Err(StoreError::Damaged(format!(
        "{} was cut: {missing} of its {pages} pages are missing; bring back the whole file from a copy",
        path.display()
    )))
}

/// The pages that a log holds, or held before it was started over.
fn pages_of_log(path: &Path, page_size: u64) -> std::io::Result<BTreeSet<u64>> {
    let mut pages = BTreeSet::new();
    let Ok(mut log) = File::open(crate::mark::beside(path, "-wal")) else { return Ok(pages) };
    let length = log.metadata()?.len();
    let mut at = LOG_HEADER;
    while at + FRAME_HEADER + page_size <= length {
        let mut number = [0; 4];
        log.seek(SeekFrom::Start(at))?;
        log.read_exact(&mut number)?;
        pages.insert(u64::from(u32::from_be_bytes(number)));
        at += FRAME_HEADER + page_size;
    }
    Ok(pages)
}

/// How long a log with so many frames is.
pub(crate) fn log_bytes(frames: u64, page_size: u64) -> u64 {
    if frames == 0 { 0 } else { LOG_HEADER + frames * (FRAME_HEADER + page_size) }
}
