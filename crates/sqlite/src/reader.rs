//! The threads that read, beside the writer and never in its way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::mpsc;

/// Two: a long list must not hold up a short look.
pub(crate) const READERS: usize = 2;

/// Something to read; it sends its answer to the caller by itself.
pub(crate) type ReadJob = Box<dyn FnOnce(&Connection) + Send>;

/// A queue from which several threads take.
pub(crate) type ReadQueue = Arc<Mutex<mpsc::Receiver<ReadJob>>>;

/// Runs until every sender is gone, or the store is to be closed, and the queue is empty.
pub(crate) fn run(connection: &Connection, queue: &ReadQueue, closing: &AtomicBool) {
    loop {
        // Waiting with the lock held is fine: any other free reader thread waits for the lock, and so for its turn.
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        let read = queue.blocking_recv();
        if closing.load(Ordering::Acquire) {
            queue.close();
        }
        drop(queue);
        let Some(read) = read else { return };
        read(connection);
    }
}
