//! Opening a file: whose it is, who else has it, and how SQLite is set up on it.

use std::fs::{self, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rival_store::StoreError;
use rusqlite::{Connection, OpenFlags};

use crate::fault::{self, Fault};
use crate::lock::{self, Lock};
use crate::schema::{self, APPLICATION_ID};

/// SQLite before this can corrupt a file when its log starts over (<https://www.sqlite.org/wal.html#walresetbug>).
const OLDEST_SQLITE: i32 = 3_051_003;
/// How long another program, such as a shell, may hold the file before a write gives up.
const PATIENCE: Duration = Duration::from_secs(5);
/// With `append_speed`: 195 k commits/s at 4096, 229 k at 8192, 210 k at 16384, one run each.
const PAGE_SIZE: i32 = 8192;
/// Negative is KiB. Holds the right edge of every index; more of it is only more memory to touch.
const WRITER_CACHE: i32 = -16_384;
const READER_CACHE: i32 = -16_384;

/// A file that is ours, with its connections.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) lock: Lock,
    pub(crate) writer: Connection,
    pub(crate) readers: Vec<Connection>,
}

pub(crate) fn open(path: &Path, readers: usize) -> Result<Opened, StoreError> {
    check_library()?;
    let path = settle(path)?;
    let lock = Lock::take(&path)?;
    create_if_absent(&path)?;
    let writer = open_writer(&path)?;
    let readers = (0..readers).map(|_| open_reader(&path)).collect::<Result<_, _>>()?;
    Ok(Opened { path, lock, writer, readers })
}

fn check_library() -> Result<(), StoreError> {
    if rusqlite::version_number() >= OLDEST_SQLITE {
        return Ok(());
    }
    let version = rusqlite::version();
    Err(StoreError::Open(format!("SQLite {version} can corrupt files; 3.51.3 or later is needed")))
}

/// One name for one file, whatever it was called: the lock goes by it. A file that is somebody else's is
/// refused here, before anything is put beside it.
fn settle(path: &Path) -> Result<PathBuf, StoreError> {
    if path.exists() {
        let path = path.canonicalize().map_err(|error| fault::from_io(&error, path))?;
        check_header(&path)?;
        return Ok(path);
    }
    let name = path
        .file_name()
        .ok_or_else(|| StoreError::Open(format!("{} does not name a file", path.display())))?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_dir(parent).map_err(|error| fault::from_io(&error, parent))?;
    let parent = parent.canonicalize().map_err(|error| fault::from_io(&error, parent))?;
    Ok(parent.join(name))
}

fn create_dir(path: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Reads the header without SQLite, which would run recovery on a file that is not ours to touch.
/// It is written before the first log exists, so it is never only in a log.
fn check_header(path: &Path) -> Result<(), StoreError> {
    let mut header = Vec::with_capacity(100);
    let file = fs::File::open(path).map_err(|error| fault::from_io(&error, path))?;
    file.take(100).read_to_end(&mut header).map_err(|error| fault::from_io(&error, path))?;
    // Created, but its first write never came.
    if header.is_empty() {
        return Ok(());
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
    Ok(())
}

/// By hand, because SQLite would let the whole group read it. Opening to write shows a read-only file.
fn create_if_absent(path: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    lock::private(&mut options);
    options.open(path).map(drop).map_err(|error| fault::from_io(&error, path))
}

fn open_writer(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |error| Fault::from(error).to_store_error(path);
    let mut writer = Connection::open_with_flags(path, flags).map_err(failed)?;
    set_up_writer(&writer).map_err(failed)?;
    schema::migrate(&mut writer, path)?;
    // Whoever owned runs is dead: we hold the lock.
    writer.execute("DELETE FROM engines", []).map_err(failed)?;
    Ok(writer)
}

fn set_up_writer(writer: &Connection) -> rusqlite::Result<()> {
    writer.busy_timeout(PATIENCE)?;
    // Only a new file takes it. Larger pages take fewer calls per byte on the way to the log and the file.
    writer.pragma_update(None, "page_size", PAGE_SIZE)?;
    let application: i32 = writer.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if application != APPLICATION_ID {
        // Before the log exists, so that the header always tells whose file this is.
        writer.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    writer.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    writer.pragma_update(None, "synchronous", "FULL")?;
    writer.pragma_update(None, "foreign_keys", false)?;
    writer.pragma_update(None, "cache_size", WRITER_CACHE)?;
    // Sorts and the like stay in memory: a full disk must not stop a read.
    writer.pragma_update(None, "temp_store", "MEMORY")
}

fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |error| Fault::from(error).to_store_error(path);
    let reader = Connection::open_with_flags(path, flags).map_err(failed)?;
    set_up_reader(&reader).map_err(failed)?;
    Ok(reader)
}

fn set_up_reader(reader: &Connection) -> rusqlite::Result<()> {
    reader.busy_timeout(PATIENCE)?;
    reader.pragma_update(None, "query_only", true)?;
    reader.pragma_update(None, "cache_size", READER_CACHE)?;
    reader.pragma_update(None, "temp_store", "MEMORY")?;
    reader.set_prepared_statement_cache_capacity(64);
    Ok(())
}
