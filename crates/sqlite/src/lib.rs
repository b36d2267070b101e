//! Rival on one SQLite file.
//!
//! One thread writes and groups whatever waits into one transaction, so that hundreds of runs share a sync;
//! an answer comes only after that sync. Two more threads read beside it, and one gives the answers of large groups.
//! The file belongs to one process at a time, which a lock on it makes sure of. Everything in it has a checksum, and a mark
//! beside it says how far the store has come, so that what is damaged or lost is found.
//!
//! ```no_run
//! # fn main() -> Result<(), rival_store::StoreError> {
//! let store = rival_sqlite::SqliteStore::open("data/rival.db")?;
//! # Ok(()) }
//! ```

mod append;
mod check;
mod claim;
mod fault;
mod files;
mod header;
mod lock;
mod logs;
mod mark;
mod messages;
mod meta;
mod name;
mod open;
mod query;
mod reader;
mod records;
mod retention;
mod schema;
mod sum;
mod tables;
#[cfg(test)]
mod tests;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_trait::async_trait;
use rival_core::{PlanHash, RunId, Seq, Time};
use rival_store::{
    Claim, Commit, CommitError, EngineId, EventBatch, LogFilter, LogLine, Message, NewMessage, NewRecord,
    NewRun, Page, PutResult, Record, RunFilter, RunRow, SendResult, Snapshot, Store, StoreDamage, StoreError,
    StoreFigures,
};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot, watch};

use crate::files::StoreFiles;
use crate::lock::FileLock;
use crate::open::OpenedFile;
use crate::reader::ReadJob;
use crate::tables::WriterTables;
use crate::writer::{WriteJob, WriteTask, WriterCounters, WriterParts};

/// How much must be left on a disk that was full before it counts as writable again: some dozen starts of ordinary size.
const ROOM_BYTES: u64 = 256 * 1024;

/// How often an idle store is looked for by its name, while a caller waits in `failed`.
const LOOK: Duration = Duration::from_secs(1);

/// A store in one SQLite file. Dropping it finishes what is queued, ends its threads and lets the file go.
pub struct SqliteStore {
    path: PathBuf,
    counters: Arc<WriterCounters>,
    // Taken out when the store is dropped: without senders the threads end.
    jobs: Option<mpsc::Sender<Box<dyn WriteJob>>>,
    reads: Option<mpsc::Sender<ReadJob>>,
    closing: Arc<AtomicBool>,
    failed: watch::Receiver<Option<StoreError>>,
    place: StoreFiles,
    distrust: Option<StoreError>,
    held: Mutex<OpenStore>,
}

/// What a store holds until it is closed. The writer ends after the readers: the last connection to close moves the log
/// into the file, and a reader cannot.
#[derive(Default)]
struct OpenStore {
    readers: Vec<JoinHandle<()>>,
    writer: Option<JoinHandle<()>>,
    lock: Option<FileLock>,
}

impl OpenStore {
    /// Waits until the readers have ended. A thread that panicked has nothing left to finish.
    fn end_readers(&mut self) {
        for thread in self.readers.drain(..) {
            let _ = thread.join();
        }
    }

    /// Waits until the writer has ended, and lets the file go: it is ours until then.
    fn end_writer(&mut self) {
        if let Some(thread) = self.writer.take() {
            let _ = thread.join();
        }
        self.lock = None;
    }
}

/// What a store has done since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqliteStats {
    /// Transactions that wrote something; each of them was synced.
    pub transactions: u64,
    /// Calls that went through the writer.
    pub jobs: u64,
}

impl SqliteStore {
    /// Opens a file, or creates it (readable by its owner only) with the folders it is in.
    ///
    /// Refused if another store has it open, if it is not a file of Rival's, if a newer version wrote it, or if what
    /// was acknowledged is not all there; such a file is left as it is.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::on(open::open(path.as_ref(), reader::READERS, false)?)
    }

    /// Opens a file to look at it, also one that [`open`](Self::open) refuses because its mark is missing or says that
    /// commits are lost. [`distrust`](Self::distrust) says so then.
    pub fn examine(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::on(open::open(path.as_ref(), reader::READERS, true)?)
    }

    /// Whether a process, this one or another on this machine, has the file open as a store. The file is left as it is.
    pub fn is_held(path: impl AsRef<Path>) -> bool {
        lock::is_held(path.as_ref())
    }

    fn on(opened: OpenedFile) -> Result<Self, StoreError> {
        let OpenedFile { path, lock, writer, readers, marker, page_size, distrust } = opened;
        let counters = Arc::new(WriterCounters::default());
        let closing = Arc::new(AtomicBool::new(false));
        let (failing, failed) = watch::channel(None);
        let parts = WriterParts {
            path: path.clone(),
            page_size,
            place: StoreFiles::new(path.clone(), lock.identity()),
            marker,
            counters: Arc::clone(&counters),
            closing: Arc::clone(&closing),
            failed: failing,
        };
        let place = StoreFiles::new(path.clone(), lock.identity());
        let (jobs, writer) = spawn_writer(writer, parts)?;
        let (reads, readers) = spawn_readers(readers, &closing)?;
        Ok(Self {
            path,
            counters,
            jobs: Some(jobs),
            reads: Some(reads),
            closing,
            failed,
            place,
            distrust,
            held: Mutex::new(OpenStore { readers, writer: Some(writer), lock: Some(lock) }),
        })
    }

    /// Why [`open`](Self::open) would refuse this store, if it was opened by [`examine`](Self::examine).
    pub fn distrust(&self) -> Option<&StoreError> {
        self.distrust.as_ref()
    }

    /// Takes an [examined](Self::examine) store as it is, with whatever was lost: makes a new mark, so that it can be
    /// opened from now on.
    pub async fn accept(&self) -> Result<(), StoreError> {
        let path = self.path.clone();
        let made = self.write(move |tables| {
            let made = open::accept(tables.connection, &path)?;
            if made.is_ok() {
                open::keep_log_on_close(tables.connection, false);
            }
            Ok(made.map(drop))
        });
        made.await?.map_err(|error| fault::from_io(&error, &mark::path_of(&self.path)))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it has done so far.
    pub fn stats(&self) -> SqliteStats {
        SqliteStats {
            transactions: self.counters.transactions.load(Ordering::Relaxed),
            jobs: self.counters.jobs.load(Ordering::Relaxed),
        }
    }

    /// Fails if a write has found no room and there still is little. The probe alone does not tell: it writes so little
    /// that it finds a place in the log where a start does not.
    async fn check_room(&self) -> Result<(), StoreError> {
        if !self.counters.was_full.load(Ordering::Relaxed) {
            return Ok(());
        }
        let path = self.path.clone();
        let space = self.read(move |_| Ok(files::space(&path))).await?;
        if let Some(free) = space.free.filter(|free| *free < ROOM_BYTES) {
            return Err(StoreError::Full(format!("{}: {free} bytes are left", self.path.display())));
        }
        self.counters.was_full.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Queues a job and waits until it is durable. A caller that goes away does not stop the job.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut WriterTables<'_>) -> fault::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let jobs = self.jobs.as_ref().ok_or(StoreError::Closed)?;
        let (reply, settled) = oneshot::channel();
        let job = Box::new(WriteTask { work, answer: None, reply: Some(reply) });
        jobs.send(job).await.map_err(|_| StoreError::Closed)?;
        settled.await.map_err(|_| StoreError::Closed)?.answer.unwrap_or(Err(StoreError::Closed))
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> fault::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let reads = self.reads.as_ref().ok_or(StoreError::Closed)?;
        let read = Box::new(move |connection: &Connection| {
            // The caller may have stopped waiting.
            let _ = reply.send(in_one_view(connection, work));
        });
        reads.send(read).await.map_err(|_| StoreError::Closed)?;
        let result = answer.await.map_err(|_| StoreError::Closed)?;
        result.map_err(|fault| fault.to_store_error(&self.path))
    }
}

/// All statements of a read see the same moment, and that moment is after every acknowledged write.
fn in_one_view<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> fault::Result<T>,
) -> fault::Result<T> {
    let view = connection.unchecked_transaction()?;
    work(&view)
}

fn spawn_writer(
    connection: Connection,
    parts: WriterParts,
) -> Result<(mpsc::Sender<Box<dyn WriteJob>>, JoinHandle<()>), StoreError> {
    let (sender, queue) = mpsc::channel(writer::QUEUE);
    let thread = spawn("rival-sqlite-writer", move || writer::run(connection, parts, queue))?;
    Ok((sender, thread))
}

fn spawn_readers(
    connections: Vec<Connection>,
    closing: &Arc<AtomicBool>,
) -> Result<(mpsc::Sender<ReadJob>, Vec<JoinHandle<()>>), StoreError> {
    let (sender, queue) = mpsc::channel(writer::QUEUE);
    let queue = Arc::new(Mutex::new(queue));
    let threads = connections
        .into_iter()
        .map(|connection| {
            let (queue, closing) = (Arc::clone(&queue), Arc::clone(closing));
            spawn("rival-sqlite-reader", move || reader::run(&connection, &queue, &closing))
        })
        .collect::<Result<_, _>>()?;
    Ok((sender, threads))
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(|error| StoreError::Open(format!("no thread for the store: {error}")))
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop(self.reads.take());
        held.end_readers();
        drop(self.jobs.take());
        held.end_writer();
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).field("stats", &self.stats()).finish()
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn join(&self) -> Result<EngineId, StoreError> {
        match self.write(|tables| Ok(tables.join(false))).await {
            // An engine can begin on a disk that takes no writes: it can read, and writes when there is room.
            Err(StoreError::Full(_) | StoreError::ReadOnly(_)) => {
                self.write(|tables| Ok(tables.join(true))).await
            }
            answer => answer,
        }
    }

    async fn leave(&self, engine: EngineId) -> Result<(), StoreError> {
        self.write(move |tables| {
            tables.leave(engine);
            Ok(())
        })
        .await
    }

    async fn start(&self, run: NewRun) -> Result<Option<RunRow>, StoreError> {
        self.write(move |tables| tables.start(&run)).await?
    }

    async fn commit(&self, commit: Arc<Commit>) -> Result<Vec<usize>, CommitError> {
        let body = commit.events.as_ref().map_or(0, |batch| sum::of_body(&batch.body));
        self.write(move |tables| tables.commit(&commit, body)).await?
    }

    async fn send(&self, run: &RunId, message: NewMessage, now: Time) -> Result<SendResult, StoreError> {
        let run = run.clone();
        self.write(move |tables| tables.send(&run, &message, now)).await
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<Message>, StoreError> {
        let run = run.clone();
        self.read(move |connection| messages::waiting(connection, &run)).await
    }

    async fn claim(&self, run: &RunId, engine: EngineId) -> Result<Option<Claim>, StoreError> {
        let run = run.clone();
        self.write(move |tables| tables.claim(&run, engine)).await
    }

    async fn claim_due(&self, engine: EngineId, now: Time, limit: usize) -> Result<Vec<Claim>, StoreError> {
        self.write(move |tables| tables.claim_due(engine, now, limit)).await
    }

    async fn claim_queued(&self, engine: EngineId, limit: usize) -> Result<Vec<Claim>, StoreError> {
        self.write(move |tables| tables.claim_queued(engine, limit)).await
    }

    async fn next_wake(&self) -> Result<Option<Time>, StoreError> {
        self.read(query::next_wake).await
    }

    async fn wake_blocked(&self, workflow: &str, now: Time) -> Result<u64, StoreError> {
        let workflow = workflow.to_owned();
        // A disk that takes no writes must not stop a workflow from being registered.
        let asked = workflow.clone();
        if !self.read(move |connection| query::has_blocked(connection, &asked)).await? {
            return Ok(0);
        }
        self.write(move |tables| tables.wake_blocked(&workflow, now)).await
    }

    async fn load(&self, run: &RunId, after: Seq, limit: usize) -> Result<Vec<EventBatch>, StoreError> {
        let run = run.clone();
        self.read(move |connection| query::batches(connection, &run, after, limit)).await
    }

    async fn last_batch(&self, run: &RunId) -> Result<Option<EventBatch>, StoreError> {
        let run = run.clone();
        self.read(move |connection| query::last_batch(connection, &run)).await
    }

    async fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, StoreError> {
        let run = run.clone();
        self.read(move |connection| query::snapshot(connection, &run)).await
    }

    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        let run = run.clone();
        self.read(move |connection| query::row_by_id(connection, &run)).await
    }

    async fn runs(&self, filter: &RunFilter, page: &Page) -> Result<Vec<RunRow>, StoreError> {
        let (filter, page) = (filter.clone(), page.clone());
        self.read(move |connection| query::rows(connection, &filter, &page)).await
    }

    async fn count_children(&self, runs: &[RunId]) -> Result<Vec<u64>, StoreError> {
        let runs = runs.to_vec();
        self.read(move |connection| query::count_children(connection, &runs)).await
    }

    async fn figures(&self, now: Time) -> Result<StoreFigures, StoreError> {
        let path = self.path.clone();
        let counted =
            self.read(move |connection| Ok((query::figures(connection, now)?, files::space(&path))));
        let (figures, space) = counted.await?;
        Ok(StoreFigures { bytes: space.taken, free_bytes: space.free, ..figures })
    }

    async fn put_plan(&self, hash: &PlanHash, json: &str) -> Result<(), StoreError> {
        let (hash, json) = (hash.clone(), json.to_owned());
        let asked = hash.clone();
        if self.read(move |connection| query::has_plan(connection, asked.as_str())).await? {
            return Ok(());
        }
        self.write(move |tables| tables.put_plan(hash.as_str(), &json)).await
    }

    async fn plan(&self, hash: &PlanHash) -> Result<Option<String>, StoreError> {
        let hash = hash.clone();
        self.read(move |connection| query::plan(connection, hash.as_str())).await
    }

    async fn plans(&self) -> Result<Vec<(PlanHash, String)>, StoreError> {
        self.read(query::plans).await
    }

    async fn put_record(&self, record: NewRecord) -> Result<PutResult, StoreError> {
        record.check()?;
        self.write(move |tables| tables.put_record(&record)).await
    }

    async fn record(
        &self,
        kind: &str,
        key: &str,
        version: Option<u64>,
    ) -> Result<Option<Record>, StoreError> {
        let (kind, key) = (kind.to_owned(), key.to_owned());
        self.read(move |connection| records::one(connection, &kind, &key, version)).await
    }

    async fn records(
        &self,
        kind: &str,
        after_key: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let (kind, after_key) = (kind.to_owned(), after_key.map(str::to_owned));
        self.read(move |connection| records::page(connection, &kind, after_key, limit)).await
    }

    async fn record_versions(
        &self,
        kind: &str,
        key: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let (kind, key) = (kind.to_owned(), key.to_owned());
        self.read(move |connection| records::versions(connection, &kind, &key, before, limit)).await
    }

    async fn append_logs(&self, lines: Vec<LogLine>) -> Result<(), StoreError> {
        self.write(move |tables| tables.append_logs(&lines)).await
    }

    async fn logs(&self, run: &RunId, filter: &LogFilter) -> Result<Vec<LogLine>, StoreError> {
        let (run, filter) = (run.clone(), filter.clone());
        self.read(move |connection| logs::read(connection, &run, &filter)).await
    }

    async fn purge(&self, ended_before: Time, limit: usize) -> Result<u64, StoreError> {
        self.write(move |tables| tables.purge(ended_before, limit)).await
    }

    async fn check_writable(&self) -> Result<(), StoreError> {
        self.write(|tables| {
            tables.probe();
            Ok(())
        })
        .await?;
        self.check_room().await
    }

    async fn check(&self) -> Result<Vec<StoreDamage>, StoreError> {
        self.read(check::check).await
    }

    async fn failed(&self) -> StoreError {
        let mut failed = self.failed.clone();
        loop {
            if let Some(error) = failed.borrow_and_update().clone() {
                return error;
            }
            match tokio::time::timeout(LOOK, failed.changed()).await {
                Ok(Ok(())) => {}
                // The writer has ended: the store was closed, which is no failure.
                Ok(Err(_)) => std::future::pending().await,
                Err(_) => {
                    if let Err(error) = self.place.look() {
                        return error;
                    }
                }
            }
        }
    }

    async fn close(&self) {
        self.closing.store(true, Ordering::Release);
        // Something to take: a thread that waits sees only then that it is to end.
        let _ = self.read(|_| Ok(())).await;
        let mut held = std::mem::take(&mut *self.held.lock().unwrap_or_else(PoisonError::into_inner));
        // Waits for the threads in a blocking task, so that no async task is held up.
        let readers_ended = tokio::task::spawn_blocking(move || {
            held.end_readers();
            held
        });
        let held = readers_ended.await;
        let _ = self.write(|_| Ok(())).await;
        if let Ok(mut held) = held {
            let _ = tokio::task::spawn_blocking(move || held.end_writer()).await;
        }
    }
}
