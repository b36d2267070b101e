//! One store per file: the lock is on the file itself.
//!
//! A lock of the whole file (`flock`), which goes with the file and not with one of its names: hard links and symbolic
//! links are the same store. SQLite's own locks are of another kind (`fcntl`) and do not meet it.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rival_store::StoreError;

use crate::fault;
use crate::mark::{self, FoundMark, beside};

/// A file's identity, whatever it is called.
pub(crate) type FileIdentity = (u64, u64);

/// The files that this process has open as stores. Asked before a second handle of such a file is opened: closing
/// that one would let go of the locks that SQLite holds on the file in this process
/// (<https://www.sqlite.org/howtocorrupt.html>, 2.2).
static OPEN: Mutex<BTreeSet<FileIdentity>> = Mutex::new(BTreeSet::new());

fn open_files() -> MutexGuard<'static, BTreeSet<FileIdentity>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Held while a store is open. The operating system lets it go when the process dies, however it dies.
#[derive(Debug)]
pub(crate) struct FileLock {
    /// The database file. Closed last, for the reason above.
    pub(crate) file: File,
    /// Whether the file, or what it is on, takes no writes.
    pub(crate) read_only: bool,
    identity: FileIdentity,
    /// Where the file itself cannot be locked.
    _beside: Option<File>,
}

impl FileLock {
    /// Opens the database file, or creates it, and takes its lock, or says who has it.
    pub(crate) fn take(database: &Path) -> Result<Self, StoreError> {
        let mut open_files = open_files();
        let there = database.metadata().ok().map(|meta| identity(database, &meta));
        if there.is_some_and(|identity| open_files.contains(&identity)) {
            return Err(refusal(database, "this process"));
        }
        let failed = |error: std::io::Error| fault::from_io(&error, database);
        let (file, read_only) = open(database).map_err(failed)?;
        let beside = lock(&file, database)?;
        refuse_older(database)?;
        let identity = identity(database, &file.metadata().map_err(failed)?);
        open_files.insert(identity);
        Ok(Self { file, read_only, identity, _beside: beside })
    }

    pub(crate) fn identity(&self) -> FileIdentity {
        self.identity
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        open_files().remove(&self.identity);
    }
}

/// By hand, because SQLite would let the whole group read a new file. One that takes no writes can still be read.
fn open(path: &Path) -> std::io::Result<(File, bool)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    private(&mut options);
    match options.open(path) {
        Ok(file) => Ok((file, false)),
        Err(error) if fault::is_read_only(&error) && path.exists() => Ok((File::open(path)?, true)),
        Err(error) => Err(error),
    }
}

/// New files are for their owner's eyes only: runs carry people's data.
pub(crate) fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

#[cfg(unix)]
pub(crate) fn identity(_: &Path, meta: &std::fs::Metadata) -> FileIdentity {
    use std::os::unix::fs::MetadataExt;
    (meta.dev(), meta.ino())
}

/// Where files have no identity that programs can see, their names are all there is.
#[cfg(not(unix))]
pub(crate) fn identity(path: &Path, _: &std::fs::Metadata) -> FileIdentity {
    (0, crate::sum::of_body(path.as_os_str().as_encoded_bytes()))
}

#[cfg(unix)]
fn lock(file: &File, database: &Path) -> Result<Option<File>, StoreError> {
    try_lock(file, database, database)?;
    Ok(None)
}

/// Locks are mandatory here, and SQLite would stumble over one on its file.
#[cfg(not(unix))]
fn lock(_: &File, database: &Path) -> Result<Option<File>, StoreError> {
    let path = beside(database, ".lock");
    let (file, _) = open(&path).map_err(|error| fault::from_io(&error, &path))?;
    try_lock(&file, &path, database)?;
    Ok(Some(file))
}

fn try_lock(file: &File, path: &Path, database: &Path) -> Result<(), StoreError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(refusal(database, &holder(database))),
        Err(TryLockError::Error(error)) => Err(fault::from_io(&error, path)),
    }
}

/// Version 0.1 locked a file beside the database. Such a server may still run; if none does, its file goes.
#[cfg(unix)]
fn refuse_older(database: &Path) -> Result<(), StoreError> {
    let path = beside(database, ".lock");
    let Ok(file) = File::open(&path) else { return Ok(()) };
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        let holder = std::fs::read_to_string(&path).unwrap_or_default();
        let who = if holder.is_empty() { "another process".to_owned() } else { format!("process {holder}") };
        return Err(refusal(database, &format!("{who}, an older version of Rival")));
    }
    // On a read-only disk it stays, which does no harm.
    let _ = std::fs::remove_file(&path);
    Ok(())
}

#[cfg(not(unix))]
fn refuse_older(_: &Path) -> Result<(), StoreError> {
    Ok(())
}

/// Whether a process holds the store at this path. Nothing is created, and the lock is held for no longer than it takes
/// to see that it was free.
pub(crate) fn is_held(database: &Path) -> bool {
    let open_files = open_files();
    let there = database.metadata().ok().map(|meta| identity(database, &meta));
    if there.is_some_and(|identity| open_files.contains(&identity)) {
        return true;
    }
    let locked = if cfg!(unix) { database.to_owned() } else { beside(database, ".lock") };
    File::open(locked).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn holder(database: &Path) -> String {
    match mark::read(database) {
        Ok(FoundMark::Mark(mark)) => format!("process {}", mark.holder),
        _ => "another process".to_owned(),
    }
}

fn refusal(database: &Path, who: &str) -> StoreError {
    let file = database.display();
    StoreError::Locked(format!(
        "{file} is open in {who}; stop it, or talk to the running engine instead of opening the file twice"
    ))
}
