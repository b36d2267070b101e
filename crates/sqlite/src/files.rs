//! Whether the file that is open is still the one that its name leads to.

use std::fs::File;
use std::path::{Path, PathBuf};

use rival_store::StoreError;

use crate::lock::{self, FileIdentity};
use crate::mark::beside;

/// A store's file and its log, by name and by identity.
#[derive(Debug)]
pub(crate) struct StoreFiles {
    database: PathBuf,
    log: PathBuf,
    file: FileIdentity,
    /// Known from the first commit on.
    logged: Option<OpenLog>,
}

/// A store's log. It stays while a store is open, and does not shrink.
#[derive(Debug)]
struct OpenLog {
    /// SQLite has no locks on it, so another handle does no harm.
    file: File,
    identity: FileIdentity,
    /// How many bytes it has at least.
    bytes: u64,
}

impl StoreFiles {
    pub(crate) fn new(database: PathBuf, file: FileIdentity) -> Self {
        let log = beside(&database, "-wal");
        Self { database, log, file, logged: None }
    }

    /// Fails if the database file was removed or replaced.
    pub(crate) fn look(&self) -> Result<(), StoreError> {
        match at(&self.database) {
            Ok((there, _)) if there == self.file => Ok(()),
            Ok(_) => Err(self.gone("another file has its name now")),
            Err(_) => Err(self.gone("it was removed or renamed while it was open")),
        }
    }

    /// Fails if the log was cut. Before a commit: what SQLite writes at its end would hide a cut. By its handle, which is
    /// cheaper than by its name.
    pub(crate) fn look_before_commit(&self) -> Result<(), StoreError> {
        let Some(log) = &self.logged else { return Ok(()) };
        match length(&log.file) {
            Ok(length) if length >= log.bytes => Ok(()),
            _ => Err(self.gone("its log (-wal) was cut while it was open")),
        }
    }

    /// Fails if one of the files was removed or replaced, after a commit that made the log at least so long.
    pub(crate) fn look_after_commit(&mut self, bytes: u64) -> Result<(), StoreError> {
        self.look()?;
        let there = at(&self.log);
        match (&mut self.logged, there) {
            // The log starts over when all of it was moved, and keeps its length then.
            (Some(log), Ok((there, _))) if there == log.identity => log.bytes = bytes.max(log.bytes),
            (Some(_), Ok(_)) => return Err(self.gone("another file has the name of its log (-wal) now")),
            (Some(_), Err(_)) => return Err(self.gone("its log (-wal) was removed while it was open")),
            (None, there) => {
                let opened = there.and_then(|(identity, _)| Ok((File::open(&self.log)?, identity)));
                let (file, identity) = opened.map_err(|_| self.gone("its log (-wal) is missing"))?;
                self.logged = Some(OpenLog { file, identity, bytes });
            }
        }
        Ok(())
    }

    fn gone(&self, what: &str) -> StoreError {
        StoreError::Gone(format!("{}: {what}", self.database.display()))
    }
}

/// How many bytes a store takes on its disk, with its log, and how many are left there; what the system does not say is
/// `None`.
pub(crate) struct DiskSpace {
    pub(crate) taken: Option<u64>,
    pub(crate) free: Option<u64>,
}

/// The space of the store with this file.
pub(crate) fn space(database: &Path) -> DiskSpace {
    let bytes = |path: &Path| at(path).ok().map(|(_, bytes)| bytes);
    let log = bytes(&beside(database, "-wal")).unwrap_or(0);
    DiskSpace { taken: bytes(database).map(|file| file + log), free: free_bytes(database) }
}

/// What a process without special rights may still write.
#[cfg(target_os = "linux")]
fn free_bytes(path: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(path).ok()?;
    Some(found.f_bavail * found.f_frsize)
}

#[cfg(not(target_os = "linux"))]
fn free_bytes(_path: &Path) -> Option<u64> {
    None
}

/// The identity of the file that a name leads to, and its length.
///
/// Asked for without its times. Linux keeps the times of a file exactly once a program has read them: the next write
/// changes them, and its sync has the inode to write too, through the journal of the file system.
#[cfg(target_os = "linux")]
fn at(path: &Path) -> std::io::Result<(FileIdentity, u64)> {
    use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};
    match statx(CWD, path, AtFlags::empty(), StatxFlags::INO | StatxFlags::SIZE) {
        Ok(found) => Ok(((makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino), found.stx_size)),
        // An old kernel does not know this call, and a sandbox may forbid it.
        Err(_) => by_metadata(path),
    }
}

#[cfg(not(target_os = "linux"))]
fn at(path: &Path) -> std::io::Result<(FileIdentity, u64)> {
    by_metadata(path)
}

/// The length of a file, asked for without its times too.
#[cfg(target_os = "linux")]
fn length(file: &File) -> std::io::Result<u64> {
    use rustix::fs::{AtFlags, StatxFlags, statx};
    match statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::SIZE) {
        Ok(found) => Ok(found.stx_size),
        Err(_) => Ok(file.metadata()?.len()),
    }
}

#[cfg(not(target_os = "linux"))]
fn length(file: &File) -> std::io::Result<u64> {
    Ok(file.metadata()?.len())
}

fn by_metadata(path: &Path) -> std::io::Result<(FileIdentity, u64)> {
    let meta = path.metadata()?;
    Ok((lock::identity(path, &meta), meta.len()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_however_it_is_looked_up() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert_eq!(at(&path).unwrap(), by_metadata(&path).unwrap());
        assert_eq!(length(&File::open(&path).unwrap()).unwrap(), at(&path).unwrap().1);
        assert!(at(&path.join("none")).is_err());
    }
}
