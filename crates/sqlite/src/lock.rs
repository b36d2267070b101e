//! One store per file: the lock beside it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use rival_store::StoreError;

use crate::fault;

/// Held while a store is open. The operating system lets it go when the process dies, however it dies.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a database file, or says who has it.
    pub(crate) fn take(database: &Path) -> Result<Self, StoreError> {
        let path = beside(database);
        let mut file = open(&path).map_err(|error| fault::from_io(&error, &path))?;
        match file.try_lock() {
            Ok(()) => {
                // Only for the message below: the lock holds whether or not the number could be written.
                let _ = note_holder(&mut file);
                Ok(Self { _file: file })
            }
            Err(TryLockError::WouldBlock) => Err(refusal(database, &mut file)),
            Err(TryLockError::Error(error)) => Err(fault::from_io(&error, &path)),
        }
    }
}

fn beside(database: &Path) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(".lock");
    PathBuf::from(name)
}

fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    private(&mut options);
    options.open(path)
}

/// New files are for their owner's eyes only: runs carry people's data.
pub(crate) fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

fn note_holder(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{}", std::process::id())
}

fn refusal(database: &Path, file: &mut File) -> StoreError {
    let mut holder = String::new();
    let known = file.read_to_string(&mut holder).is_ok_and(|_| !holder.is_empty());
    let who = if known { format!("process {holder}") } else { "another store".to_owned() };
    let file = database.display();
    StoreError::Locked(format!(
        "{file} is open in {who}; stop it, or talk to the running engine instead of opening the file twice"
    ))
}
