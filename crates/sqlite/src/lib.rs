//! Rival on one SQLite file.
//!
//! One thread writes and groups whatever waits into one transaction, so that hundreds of runs share a sync;
//! an answer comes only after that sync. Two more threads read beside it, and one gives the answers of large groups. The file belongs to one process
//! at a time, which a lock beside it makes sure of.
//!
//! ```no_run
//! # fn main() -> Result<(), rival_store::StoreError> {
//! let store = rival_sqlite::SqliteStore::open("data/rival.db")?;
//! # Ok(()) }
//! ```

mod append;
mod claim;
mod fault;
mod lock;
mod log;
mod message;
mod name;
mod open;
mod purge;
mod query;
mod reader;
mod schema;
mod tables;
#[cfg(test)]
mod tests;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use async_trait::async_trait;
use rival_core::{PlanHash, RunId, Seq, Time};
use rival_store::{
    Batch, Claim, Commit, CommitError, EngineId, LogFilter, LogLine, Message, NewMessage, NewRun, Page,
    RunFilter, RunRow, Sent, Snapshot, Started, Store, StoreError,
};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::lock::Lock;
use crate::reader::Read;
use crate::tables::Tables;
use crate::writer::{Counters, Job, Task};

/// A store in one SQLite file. Dropping it finishes what is queued, ends its threads and lets the file go.
pub struct SqliteStore {
    path: PathBuf,
    counters: Arc<Counters>,
    // Taken out when the store is dropped: without senders the threads end.
    jobs: Option<mpsc::Sender<Box<dyn Job>>>,
    reads: Option<mpsc::Sender<Read>>,
    writer: Option<JoinHandle<()>>,
    readers: Vec<JoinHandle<()>>,
    // Last: the file is ours until the threads have closed it.
    _lock: Lock,
}

/// What a store has done since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Transactions that wrote something; each of them was synced.
    pub transactions: u64,
    /// Calls that went through the writer.
    pub jobs: u64,
}

impl SqliteStore {
    /// Opens a file, or creates it (readable by its owner only) with the folders it is in.
    ///
    /// Refused if another store has it open, if it is not a file of Rival's, or if a newer version wrote it;
    /// such a file is left as it is.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let opened = open::open(path.as_ref(), reader::READERS)?;
        let counters = Arc::new(Counters::default());
        let (jobs, writer) = spawn_writer(opened.writer, &opened.path, &counters)?;
        let (reads, readers) = spawn_readers(opened.readers)?;
        Ok(Self {
            path: opened.path,
            counters,
            jobs: Some(jobs),
            reads: Some(reads),
            writer: Some(writer),
            readers,
            _lock: opened.lock,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it has done so far.
    pub fn stats(&self) -> Stats {
        Stats {
            transactions: self.counters.transactions.load(Ordering::Relaxed),
            jobs: self.counters.jobs.load(Ordering::Relaxed),
        }
    }

    /// Queues a job and waits until it is durable. A caller that goes away does not stop the job.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Tables<'_>) -> fault::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let jobs = self.jobs.as_ref().ok_or(StoreError::Closed)?;
        let (job, answer) = Task::new(work);
        jobs.send(job).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?.into_answer()
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> fault::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let reads = self.reads.as_ref().ok_or(StoreError::Closed)?;
        let read = Box::new(move |connection: &Connection| {
            // Whoever asked may have gone.
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
    path: &Path,
    counters: &Arc<Counters>,
) -> Result<(mpsc::Sender<Box<dyn Job>>, JoinHandle<()>), StoreError> {
    let (sender, queue) = mpsc::channel(writer::QUEUE);
    let (path, counters) = (path.to_path_buf(), counters.clone());
    let thread = spawn("rival-sqlite-writer", move || writer::run(connection, &path, queue, &counters))?;
    Ok((sender, thread))
}

fn spawn_readers(
    connections: Vec<Connection>,
) -> Result<(mpsc::Sender<Read>, Vec<JoinHandle<()>>), StoreError> {
    let (sender, queue) = mpsc::channel(writer::QUEUE);
    let queue = Arc::new(Mutex::new(queue));
    let threads = connections
        .into_iter()
        .map(|connection| {
            let queue = queue.clone();
            spawn("rival-sqlite-reader", move || reader::run(&connection, &queue))
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
        // A thread that panicked has nothing left to finish.
        drop(self.reads.take());
        for thread in self.readers.drain(..) {
            let _ = thread.join();
        }
        // The writer goes last: the last connection to close moves the log into the file, and a reader cannot.
        drop(self.jobs.take());
        if let Some(thread) = self.writer.take() {
            let _ = thread.join();
        }
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
        self.write(|tables| tables.join()).await
    }

    async fn leave(&self, engine: EngineId) -> Result<(), StoreError> {
        self.write(move |tables| tables.leave(engine)).await
    }

    async fn start(&self, run: NewRun) -> Result<Started, StoreError> {
        self.write(move |tables| tables.start(&run)).await?
    }

    async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        self.write(move |tables| tables.commit(&commit)).await?
    }

    async fn send(&self, run: &RunId, message: NewMessage, now: Time) -> Result<Sent, StoreError> {
        let run = run.clone();
        self.write(move |tables| tables.send(&run, &message, now)).await
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<Message>, StoreError> {
        let run = run.clone();
        self.read(move |connection| message::waiting(connection, &run)).await
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
        self.write(move |tables| tables.wake_blocked(&workflow, now)).await
    }

    async fn load(&self, run: &RunId, after: Seq, limit: usize) -> Result<Vec<Batch>, StoreError> {
        let run = run.clone();
        self.read(move |connection| query::batches(connection, &run, after, limit)).await
    }

    async fn last_batch(&self, run: &RunId) -> Result<Option<Batch>, StoreError> {
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

    async fn put_plan(&self, hash: &PlanHash, json: &str) -> Result<(), StoreError> {
        let (hash, json) = (hash.clone(), json.to_owned());
        self.write(move |tables| tables.put_plan(hash.as_str(), &json)).await
    }

    async fn plan(&self, hash: &PlanHash) -> Result<Option<String>, StoreError> {
        let hash = hash.clone();
        self.read(move |connection| query::plan(connection, hash.as_str())).await
    }

    async fn plans(&self) -> Result<Vec<(PlanHash, String)>, StoreError> {
        self.read(query::plans).await
    }

    async fn append_logs(&self, lines: Vec<LogLine>) -> Result<(), StoreError> {
        self.write(move |tables| tables.append_logs(&lines)).await
    }

    async fn logs(&self, run: &RunId, filter: &LogFilter) -> Result<Vec<LogLine>, StoreError> {
        let (run, filter) = (run.clone(), filter.clone());
        self.read(move |connection| log::read(connection, &run, &filter)).await
    }

    async fn purge(&self, ended_before: Time, limit: usize) -> Result<u64, StoreError> {
        self.write(move |tables| tables.purge(ended_before, limit)).await
    }

    async fn check_writable(&self) -> Result<(), StoreError> {
        self.write(|tables| tables.probe()).await
    }
}
