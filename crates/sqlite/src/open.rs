//! Opening a file: whose it is, whether all of it is there, and how SQLite is set up on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rival_store::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, ffi};

use crate::fault::{self, SqliteFault};
use crate::header::{self, FileHeader};
use crate::lock::FileLock;
use crate::mark::{self, FoundMark, MarkWriter, StoreMark, beside};
use crate::meta::StoreMeta;
use crate::schema::{self, APPLICATION_ID, MARKED};
use crate::sum;

/// SQLite before this can corrupt a file when its log starts over (<https://www.sqlite.org/wal.html#walresetbug>).
const OLDEST_SQLITE: i32 = 3_051_003;
/// How long another program, such as a shell, may hold the file before a write gives up.
const PATIENCE: Duration = Duration::from_secs(5);
/// One run of five steps alone takes 7 % less time than with 8192, because each commit writes half as much; many runs at
/// a time take 2 % more.
const PAGE_SIZE: i32 = 4096;
/// Negative is KiB. Holds the right edge of every index; more of it is only more memory to touch.
const WRITER_CACHE: i32 = -16_384;
const READER_CACHE: i32 = -16_384;
/// How long SQLite may look for damage before a store is ready: all of a small file, the beginning of a large one.
const QUICK_CHECK: Duration = Duration::from_millis(200);
/// After how many of its own steps SQLite is asked whether that time is over.
const QUICK_CHECK_STEPS: i32 = 10_000;

/// A file that is ours, with its connections.
#[derive(Debug)]
pub(crate) struct OpenedFile {
    pub(crate) path: PathBuf,
    pub(crate) lock: FileLock,
    pub(crate) writer: Connection,
    pub(crate) readers: Vec<Connection>,
    /// None where it cannot be written.
    pub(crate) marker: Option<MarkWriter>,
    pub(crate) page_size: u64,
    /// Why the store is not to be trusted, if it was opened to be examined.
    pub(crate) distrust: Option<StoreError>,
}

/// How SQLite gets at a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileAccess {
    /// With an index of the log in shared memory, which is a file too. Other programs can look at the store meanwhile.
    Shared,
    /// With that index in this process only: on a full disk there is no room for the file. Other programs are kept out.
    Alone,
    /// Without writing anything, as on a read-only disk.
    Fixed,
}

/// Opens a file, or creates it. With `examine`, one whose mark says that commits are lost is opened too, to be looked at.
pub(crate) fn open(path: &Path, readers: usize, examine: bool) -> Result<OpenedFile, StoreError> {
    check_library()?;
    let path = settle(path)?;
    let lock = FileLock::take(&path)?;
    if matches!(header::check(&lock.file, &path)?, FileHeader::Empty) {
        refuse_remains(&path)?;
    }
    let opened = if lock.read_only {
        connect(&path, &lock, readers, FileAccess::Fixed, examine)
    } else {
        let shared = connect(&path, &lock, readers, FileAccess::Shared, examine);
        match shared {
            Err(StoreError::Full(_) | StoreError::Io(_)) => {
                connect(&path, &lock, readers, FileAccess::Alone, examine)
            }
            other => other,
        }
    };
    let Connections { writer, readers, marker, page_size, distrust } = opened?;
    Ok(OpenedFile { path, lock, writer, readers, marker, page_size, distrust })
}

fn check_library() -> Result<(), StoreError> {
    if rusqlite::version_number() >= OLDEST_SQLITE {
        return Ok(());
    }
    let version = rusqlite::version();
    Err(StoreError::Open(format!("SQLite {version} can corrupt files; 3.51.3 or later is needed")))
}

/// One name for one file, whatever it was called: its log and its mark go by it.
fn settle(path: &Path) -> Result<PathBuf, StoreError> {
    if path.exists() {
        return path.canonicalize().map_err(|error| fault::from_io(&error, path));
    }
    let name = path
        .file_name()
        .ok_or_else(|| StoreError::Open(format!("{} does not name a file", path.display())))?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_dir(parent).map_err(|error| fault::from_io(&error, parent))?;
    let parent = parent.canonicalize().map_err(|error| fault::from_io(&error, parent))?;
    let path = parent.join(name);
    refuse_remains(&path)?;
    Ok(path)
}

fn create_dir(path: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Refuses to begin a new store over what is left of another: its log may hold all of it.
fn refuse_remains(path: &Path) -> Result<(), StoreError> {
    let log = beside(path, "-wal");
    let mark = mark::path_of(path);
    let left = if log.metadata().is_ok_and(|meta| meta.len() > 0) {
        format!("the log {} is, which may hold all of it", log.display())
    } else {
        match mark::read(path).map_err(|error| fault::from_io(&error, &mark))? {
            FoundMark::Mark(StoreMark { commits: 0, .. }) | FoundMark::Nothing => return Ok(()),
            FoundMark::Mark(StoreMark { commits, .. }) => {
                format!("the mark {} says that {commits} commits were made", mark.display())
            }
            FoundMark::Unreadable => format!("the mark {} is", mark.display()),
        }
    };
    Err(StoreError::Open(format!(
        "{} is missing or empty, but {left}; bring the database file back, or move what is left away to begin anew",
        path.display()
    )))
}

struct Connections {
    writer: Connection,
    readers: Vec<Connection>,
    marker: Option<MarkWriter>,
    page_size: u64,
    distrust: Option<StoreError>,
}

fn connect(
    path: &Path,
    lock: &FileLock,
    readers: usize,
    access: FileAccess,
    examine: bool,
) -> Result<Connections, StoreError> {
    if access == FileAccess::Fixed {
        refuse_log(path)?;
    }
    let failed = |error: rusqlite::Error| SqliteFault::from(error).to_store_error(path);
    let mut writer = access.open(path, true).map_err(failed)?;
    // Until the store is known to be whole: closing a connection must not move a log that is not this store's.
    keep_log_on_close(&writer, true);
    set_up_writer(&writer).map_err(failed)?;
    if access != FileAccess::Fixed {
        begin_log(&writer, path)?;
    }
    let done = schema::version(&writer, path)?;
    let (mark, distrust) = judge(&writer, path, done)?;
    if let Some(distrust) = distrust.as_ref().filter(|_| !examine) {
        return Err(distrust.clone());
    }
    let (page_size, pages) = measure(&writer).map_err(failed)?;
    header::check_length(&lock.file, path, page_size, pages)?;
    quick_check(&mut writer, path)?;
    let marker = match mark {
        _ if access == FileAccess::Fixed => None,
        Some(mark) => {
            schema::migrate(&mut writer, path, done, &mark.store)?;
            let opened = MarkWriter::open(path, mark);
            Some(opened.map_err(|error| fault::from_io(&error, &mark::path_of(path)))?)
        }
        None if distrust.is_some() => None,
        None => Some(begin(&mut writer, path, done)?),
    };
    if access == FileAccess::Fixed && done < schema::NEWEST {
        let text = format!("{} is of an older version and must be brought up to date", path.display());
        return Err(StoreError::ReadOnly(text));
    }
    keep_log_on_close(&writer, distrust.is_some());
    let readers = (0..readers).map(|_| open_reader(path, access)).collect::<Result<_, _>>()?;
    Ok(Connections { writer, readers, marker, page_size, distrust })
}

impl FileAccess {
    fn open(self, path: &Path, writes: bool) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match self {
            Self::Shared if writes => {
                Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)
            }
            Self::Shared => Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_ONLY),
            // Its readers cannot be read-only: they would want the index in shared memory.
            Self::Alone => Connection::open_with_flags_and_vfs(
                path,
                flags | OpenFlags::SQLITE_OPEN_READ_WRITE,
                "unix-excl",
            ),
            Self::Fixed => Connection::open_with_flags(
                format!("file:{}?immutable=1", escaped(path)),
                flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
            ),
        }?;
        // Else SQLite looks at the values of parameters to see whether a partial index serves, and for that it parses and
        // plans the statement again each time that it is used.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(connection)
    }
}

/// A path as a part of a URI.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}

/// What is in a log cannot be read without writing.
fn refuse_log(path: &Path) -> Result<(), StoreError> {
    let log = beside(path, "-wal");
    if log.metadata().is_ok_and(|meta| meta.len() > 0) {
        return Err(StoreError::ReadOnly(format!(
            "{} was not closed in order, and its log can only be read where it can be written",
            path.display()
        )));
    }
    Ok(())
}

/// Compares the store with its mark. Gives the mark, and why the store is not to be trusted.
fn judge(
    writer: &Connection,
    path: &Path,
    done: usize,
) -> Result<(Option<StoreMark>, Option<StoreError>), StoreError> {
    let file = path.display();
    let mark = mark::path_of(path);
    let found = mark::read(path).map_err(|error| fault::from_io(&error, &mark))?;
    let lost = |has: i64, acknowledged: i64| {
        StoreError::Damaged(format!(
            "{file} is behind its mark: it has {has} commits, but {acknowledged} were acknowledged; its log \
             (-wal) was cut, removed or replaced, or the file is an older copy. Bring back the database file and its log as \
             they were; or see what is there with `rival verify`, and take it is with `rival verify --accept`"
        ))
    };
    if done < MARKED {
        // Not to be examined either: there is nothing yet to judge it by.
        let refusal = match found {
            FoundMark::Mark(StoreMark { commits, .. }) if commits > 0 => Some(StoreError::Damaged(format!(
                "{file} is of an older version or has nothing in it, but the mark {} says that {commits} commits \
                 were acknowledged; its log (-wal) was cut, removed or replaced, or the file is an older copy. Bring back the \
                 files that belong together, or move the mark away to take this one as it is",
                mark.display()
            ))),
            _ => None,
        };
        return refusal.map_or(Ok((None, None)), Err);
    }
    let failed = |fault: SqliteFault| fault.to_store_error(path);
    let meta = StoreMeta::read(writer).map_err(failed)?;
    let unmarked = |what: &str| {
        StoreError::Open(format!(
            "{file}: the mark {} {what}, so it cannot be told whether commits were lost. Bring it back; or, if \
             the file is a copy that was made without it, look at the store and make a new mark with `rival \
             verify --accept`",
            mark.display()
        ))
    };
    let found = match found {
        FoundMark::Mark(found) => found,
        FoundMark::Nothing => return Ok((None, Some(unmarked("is missing")))),
        FoundMark::Unreadable => return Ok((None, Some(unmarked("is damaged")))),
    };
    let then = StoreMeta::read_at(writer, found.commits).map_err(failed)?;
    let distrust = if found.store != meta.store {
        Some(StoreError::Damaged(format!(
            "{file} (store {}) and its mark (store {}) are of two stores; its log (-wal) or its mark was \
             swapped. Bring back the files that belong together",
            meta.store, found.store
        )))
    } else if meta.commits < found.commits {
        Some(lost(meta.commits, found.commits))
    } else if then.is_some_and(|then| then.digest != found.digest) {
        Some(StoreError::Damaged(format!(
            "{file} has as many commits as its mark says ({}), but other ones; it is a copy that went its own \
             way, or its log (-wal) was swapped. Bring back the files that belong together",
            found.commits
        )))
    } else {
        None
    };
    // A store may be ahead of its mark: the process died between a commit and its mark.
    let mark = StoreMark { commits: meta.commits, digest: meta.digest, ..found };
    Ok((Some(mark).filter(|_| distrust.is_none()), distrust))
}

/// Creates the tables, or brings them up to date. The mark is there first, and says that nothing was acknowledged.
fn begin(writer: &mut Connection, path: &Path, done: usize) -> Result<MarkWriter, StoreError> {
    let store = uuid::Uuid::now_v7().to_string();
    let mark = StoreMark { store: store.clone(), commits: 0, digest: 0, holder: std::process::id() };
    let failed = |error: std::io::Error| fault::from_io(&error, &mark::path_of(path));
    let marker = MarkWriter::create(path, mark).map_err(failed)?;
    schema::migrate(writer, path, done, &store)?;
    Ok(marker)
}

/// Makes a new mark for a store as it is.
pub(crate) fn accept(connection: &Connection, path: &Path) -> fault::Result<std::io::Result<MarkWriter>> {
    let StoreMeta { store, commits, digest, .. } = StoreMeta::read(connection)?;
    let holder = std::process::id();
    Ok(MarkWriter::create(path, StoreMark { store, commits, digest, holder }))
}

fn set_up_writer(writer: &Connection) -> rusqlite::Result<()> {
    sum::register(writer)?;
    writer.busy_timeout(PATIENCE)?;
    // Only a new file takes it.
    writer.pragma_update(None, "page_size", PAGE_SIZE)?;
    let application: i32 = writer.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if application != APPLICATION_ID {
        // Before the log exists, so that the header always tells whose file this is.
        writer.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    writer.pragma_update(None, "synchronous", "FULL")?;
    writer.pragma_update(None, "foreign_keys", false)?;
    writer.pragma_update(None, "cache_size", WRITER_CACHE)?;
    // Sorts and the like stay in memory: a full disk must not stop a read.
    writer.pragma_update(None, "temp_store", "MEMORY")
}

/// Has SQLite write to a log. Where it cannot, as on some network file systems, it says so and does something else.
fn begin_log(writer: &Connection, path: &Path) -> Result<(), StoreError> {
    let mode = writer.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
    match mode.map_err(|error| SqliteFault::from(error).to_store_error(path))? {
        mode if mode == "wal" => Ok(()),
        _ => Err(StoreError::Open(format!(
            "{}: SQLite can keep no log on this file system; choose a local disk",
            path.display()
        ))),
    }
}

/// The size of a page, and how many there are.
fn measure(connection: &Connection) -> rusqlite::Result<(u64, u64)> {
    let number = |pragma: &str| connection.query_row(pragma, [], |row| row.get::<_, i64>(0));
    Ok((number("PRAGMA page_size")?.unsigned_abs(), number("PRAGMA page_count")?.unsigned_abs()))
}

/// Lets SQLite look for damage in its structures, for a moment.
fn quick_check(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| SqliteFault::from(error).to_store_error(path);
    let end = Instant::now() + QUICK_CHECK;
    let over = move || Instant::now() >= end;
    connection.progress_handler(QUICK_CHECK_STEPS, Some(over)).map_err(failed)?;
    let said = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    connection.progress_handler(0, None::<fn() -> bool>).map_err(failed)?;
    match said {
        Ok(said) if said == "ok" => Ok(()),
        Ok(said) => Err(StoreError::Damaged(format!(
            "{}: {said}; `rival verify` looks at all of it, and a copy brings it back",
            path.display()
        ))),
        // The time is over: what it has seen is well.
        Err(error) if error.sqlite_error_code() == Some(ffi::ErrorCode::OperationInterrupted) => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

/// Whether closing the last connection leaves the log as it is, instead of moving it into the file.
pub(crate) fn keep_log_on_close(connection: &Connection, keep: bool) {
    let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep);
}

fn open_reader(path: &Path, access: FileAccess) -> Result<Connection, StoreError> {
    let failed = |error| SqliteFault::from(error).to_store_error(path);
    let reader = access.open(path, false).map_err(failed)?;
    set_up_reader(&reader).map_err(failed)?;
    Ok(reader)
}

fn set_up_reader(reader: &Connection) -> rusqlite::Result<()> {
    sum::register(reader)?;
    reader.busy_timeout(PATIENCE)?;
    reader.pragma_update(None, "query_only", true)?;
    reader.pragma_update(None, "cache_size", READER_CACHE)?;
    reader.pragma_update(None, "temp_store", "MEMORY")?;
    reader.set_prepared_statement_cache_capacity(64);
    Ok(())
}
