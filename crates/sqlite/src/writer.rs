//! The one thread that writes.
//!
//! Everything that waits becomes one transaction, so that one sync serves all of it; each caller is
//! answered after the commit returned, and not before. The order of the queue is the order of the world.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc as std_mpsc;
use std::thread;

use rival_store::StoreError;
use rusqlite::{Connection, Statement};
use tokio::sync::{mpsc, oneshot, watch};

use crate::fault::{Result, SqliteFault};
use crate::files::StoreFiles;
use crate::header;
use crate::mark::MarkWriter;
use crate::open::keep_log_on_close;
use crate::tables::WriterTables;

/// How many jobs wait before callers do.
pub(crate) const QUEUE: usize = 4096;
/// How many jobs share a transaction at most: bounds how long the first one waits for its answer.
const GROUP: usize = 1000;
/// From this many jobs on, answers are given by a thread of their own: waking hundreds of tasks takes as long
/// as writing for them. A few are answered at once, which saves them the way through another thread.
const MANY: usize = 32;
/// How many pages the write-ahead log may hold before they are moved into the database file. Larger logs
/// write a page that changes often less often, but are slower to recover. 8 to 64 MiB were alike within
/// the noise of a shared machine (`append_speed`): appended pages are moved once in any case.
pub(crate) const CHECKPOINT_PAGES: i32 = 4000;
/// Beyond this, readers must have kept the log from starting over: wait for them.
const RESTART_PAGES: i32 = 16 * CHECKPOINT_PAGES;

/// Something to write, with a caller that waits for the answer.
pub(crate) trait WriteJob: Send {
    /// Writes. May be called again after a rollback.
    fn perform(&mut self, tables: &mut WriterTables<'_>) -> Result<()>;
    /// Answers: the commit returned, or the world failed and nothing was written.
    fn settle(self: Box<Self>, failure: Option<StoreError>);
}

/// A closure as a job. It goes back to the caller with its answer, to be freed where it was made: that
/// is cheaper than here, and all callers wait for the writer thread.
pub(crate) struct WriteTask<F, T> {
    pub(crate) work: F,
    pub(crate) answer: Option<std::result::Result<T, StoreError>>,
    pub(crate) reply: Option<oneshot::Sender<Box<Self>>>,
}

impl<F, T> WriteJob for WriteTask<F, T>
where
    F: FnMut(&mut WriterTables<'_>) -> Result<T> + Send,
    T: Send,
{
    fn perform(&mut self, tables: &mut WriterTables<'_>) -> Result<()> {
        self.answer = Some(Ok((self.work)(tables)?));
        Ok(())
    }

    fn settle(mut self: Box<Self>, failure: Option<StoreError>) {
        if let Some(error) = failure {
            self.answer = Some(Err(error));
        }
        if let Some(reply) = self.reply.take() {
            // The caller may have stopped waiting; what is written stays written.
            let _ = reply.send(self);
        }
    }
}

/// What the writer has done, and met.
#[derive(Debug, Default)]
pub(crate) struct WriterCounters {
    pub(crate) transactions: AtomicU64,
    pub(crate) jobs: AtomicU64,
    /// A write has found no room since there was enough of it.
    pub(crate) was_full: AtomicBool,
}

/// What the writer has beside its connection.
pub(crate) struct WriterParts {
    pub(crate) path: PathBuf,
    pub(crate) page_size: u64,
    pub(crate) place: StoreFiles,
    pub(crate) marker: Option<MarkWriter>,
    pub(crate) counters: Arc<WriterCounters>,
    /// Set when the store is to be closed; the queue is closed at the next turn.
    pub(crate) closing: Arc<AtomicBool>,
    /// Told when no more writes are taken, and why.
    pub(crate) failed: watch::Sender<Option<StoreError>>,
}

/// Runs until every sender is gone, or the store is to be closed, and the queue is empty.
pub(crate) fn run(
    mut connection: Connection,
    parts: WriterParts,
    mut queue: mpsc::Receiver<Box<dyn WriteJob>>,
) {
    let wal_pages = Arc::new(AtomicI32::new(0));
    let (path, closing) = (parts.path.clone(), Arc::clone(&parts.closing));
    let ready = count_pages(&mut connection, wal_pages.clone());
    match ready.and_then(|()| Writer::new(&connection, parts, wal_pages)) {
        Ok(mut writer) => thread::scope(|scope| {
            let (done, answers) = std_mpsc::channel();
            let answerer = thread::Builder::new().name("rival-sqlite-answers".to_owned());
            // Without that thread the writer answers by itself.
            let spawned = answerer.spawn_scoped(scope, move || give_answers(&answers));
            writer.done = spawned.is_ok().then_some(done);
            let mut jobs = Vec::with_capacity(GROUP);
            while queue.blocking_recv_many(&mut jobs, GROUP) > 0 {
                if closing.load(Ordering::Acquire) {
                    queue.close();
                }
                writer.parts.counters.jobs.fetch_add(jobs.len() as u64, Ordering::Relaxed);
                writer.serve(&mut jobs);
                // After the answers: callers prepare their next job meanwhile.
                writer.checkpoint_if_due();
            }
            writer.finish();
            // Without a sender the thread ends, and with it the scope.
            writer.done = None;
        }),
        Err(fault) => {
            while let Some(job) = queue.blocking_recv() {
                if closing.load(Ordering::Acquire) {
                    queue.close();
                }
                job.settle(Some(fault.to_store_error(&path)));
            }
        }
    }
}

/// Replaces SQLite's own checkpoints, which run before the commit returns and swallow their errors.
fn count_pages(connection: &mut Connection, pages: Arc<AtomicI32>) -> Result<()> {
    connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, in_log| {
        pages.store(in_log, Ordering::Relaxed);
        Ok(())
    }))?;
    Ok(())
}

struct Writer<'c> {
    parts: WriterParts,
    tables: WriterTables<'c>,
    begin: Statement<'c>,
    commit: Statement<'c>,
    wal_pages: Arc<AtomicI32>,
    /// How long the log may grow before the next attempt to move it.
    checkpoint_at: i32,
    poison: Option<StoreError>,
    done: Option<std_mpsc::Sender<Vec<Box<dyn WriteJob>>>>,
}

impl<'c> Writer<'c> {
    fn new(connection: &'c Connection, parts: WriterParts, wal_pages: Arc<AtomicI32>) -> Result<Self> {
        // Where nothing can be written, a transaction that writes nothing must still be one.
        let begin = if connection.is_readonly(rusqlite::MAIN_DB)? { "BEGIN" } else { "BEGIN IMMEDIATE" };
        Ok(Self {
            parts,
            tables: WriterTables::new(connection)?,
            begin: connection.prepare(begin)?,
            commit: connection.prepare("COMMIT")?,
            wal_pages,
            checkpoint_at: CHECKPOINT_PAGES,
            poison: None,
            done: None,
        })
    }

    /// Writes jobs and answers them, all together if that can be.
    fn serve(&mut self, jobs: &mut Vec<Box<dyn WriteJob>>) {
        let failure = match self.poison.clone() {
            Some(poison) => Some(poison),
            None => match self.transact(jobs) {
                Ok(()) => None,
                Err(GroupRefusal::Gone(error)) => {
                    self.give_up(error.clone());
                    Some(error)
                }
                Err(GroupRefusal::Fault(fault)) => {
                    self.undo();
                    // Whichever it was, the others must not suffer for it.
                    if jobs.len() > 1 && fault.is_of_one_job() {
                        return std::mem::take(jobs).into_iter().for_each(|job| self.serve(&mut vec![job]));
                    }
                    Some(self.judge(&fault))
                }
            },
        };
        match &self.done {
            Some(done) if failure.is_none() && jobs.len() >= MANY => {
                let group = std::mem::replace(jobs, Vec::with_capacity(GROUP));
                // It is there for as long as the writer is; if it panicked, the callers learn that they have no answer.
                let _ = done.send(group);
            }
            _ => jobs.drain(..).for_each(|job| job.settle(failure.clone())),
        }
    }

    /// Writes jobs in one transaction, between two looks whether the file is still where its name says. What a fault
    /// leaves is for the caller to undo.
    fn transact(&mut self, jobs: &mut [Box<dyn WriteJob>]) -> std::result::Result<(), GroupRefusal> {
        self.parts.place.look_before_commit().map_err(GroupRefusal::Gone)?;
        self.begin.execute([])?;
        self.tables.refresh()?;
        let before = self.tables.connection.total_changes();
        for job in jobs {
            job.perform(&mut self.tables)?;
        }
        let wrote = self.tables.count(self.tables.connection.total_changes() - before)?;
        let frames = self.wal_pages.load(Ordering::Relaxed);
        // Costs no sync when nothing was written.
        self.commit.execute([])?;
        if !wrote {
            return Ok(());
        }
        // Another program has moved all of the log into the file.
        if self.wal_pages.load(Ordering::Relaxed) <= frames {
            self.tables.tell_again();
        }
        self.parts.counters.transactions.fetch_add(1, Ordering::Relaxed);
        self.note_durable().map_err(GroupRefusal::Gone)
    }

    /// After a commit and before its answers: what was written is where its name says, and the mark knows of it.
    fn note_durable(&mut self) -> std::result::Result<(), StoreError> {
        let frames = self.wal_pages.load(Ordering::Relaxed);
        let bytes = header::log_bytes(u64::from(frames.unsigned_abs()), self.parts.page_size);
        self.parts.place.look_after_commit(bytes)?;
        if let Some(marker) = &mut self.parts.marker {
            marker.advance(self.tables.meta.commits, self.tables.meta.digest);
        }
        Ok(())
    }

    /// Before the store is closed in order: what it knows of itself is in one place. Nothing depends on it.
    fn finish(&mut self) {
        if self.poison.is_none() && self.tables.has_tail() {
            self.tables.probe();
            if self.transact(&mut []).is_err() {
                self.undo();
            }
        }
    }

    fn undo(&mut self) {
        // What is remembered may not be what is stored any more.
        self.tables.forget();
        if !self.tables.connection.is_autocommit() {
            // A rollback that fails leaves the transaction open, and the next BEGIN says so.
            let _ = self.tables.connection.execute_batch("ROLLBACK");
        }
    }

    fn judge(&mut self, fault: &SqliteFault) -> StoreError {
        let error = fault.to_store_error(&self.parts.path);
        if matches!(error, StoreError::Full(_)) {
            self.parts.counters.was_full.store(true, Ordering::Relaxed);
        }
        if fault.is_failed_sync() {
            self.give_up(error.clone());
        }
        error
    }

    /// Takes no more writes. The log is the only witness: it is left as it is for the next store that opens the file.
    fn give_up(&mut self, error: StoreError) {
        keep_log_on_close(self.tables.connection, true);
        self.parts.failed.send_replace(Some(error.clone()));
        self.poison = Some(error);
    }

    /// Moves the log's pages into the database file, if there are many. Nothing acknowledged depends on it: if it
    /// fails, the log keeps everything and the next attempt begins where this one did.
    fn checkpoint_if_due(&mut self) {
        let pages = self.wal_pages.load(Ordering::Relaxed);
        if self.poison.is_some() || pages < self.checkpoint_at {
            return;
        }
        let mode = if pages >= RESTART_PAGES { "RESTART" } else { "PASSIVE" };
        let moved = self.tables.connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
            Ok(row.get::<_, i32>(1)? == row.get::<_, i32>(2)?)
        });
        match moved {
            // All of it is moved, so the next commit starts the log over.
            Ok(true) => {
                self.checkpoint_at = CHECKPOINT_PAGES;
                self.tables.tell_again();
            }
            Ok(false) => self.checkpoint_at = pages.saturating_add(CHECKPOINT_PAGES),
            Err(error) => {
                self.checkpoint_at = pages.saturating_add(CHECKPOINT_PAGES);
                self.judge(&SqliteFault::from(error));
            }
        }
    }
}

/// Why a group was not acknowledged.
enum GroupRefusal {
    Fault(SqliteFault),
    /// Its name does not lead to the file any more: what was written, if it was, is not where the next store looks.
    Gone(StoreError),
}

impl From<SqliteFault> for GroupRefusal {
    fn from(fault: SqliteFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<rusqlite::Error> for GroupRefusal {
    fn from(error: rusqlite::Error) -> Self {
        Self::Fault(error.into())
    }
}

fn give_answers(groups: &std_mpsc::Receiver<Vec<Box<dyn WriteJob>>>) {
    while let Ok(jobs) = groups.recv() {
        jobs.into_iter().for_each(|job| job.settle(None));
    }
}
