//! What the host says over the data socket, many frames per write.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::wire;

/// What waits to be written is written when it is this much, or this old, also within a turn of the loop.
const FLUSH_BYTES: usize = 64 * 1024;
const FLUSH_AFTER: Duration = Duration::from_millis(1);

/// Frames that wait to be written. Shared with the sentinel, which writes them when JavaScript is stuck.
#[derive(Debug)]
pub(crate) struct FrameOutbox(Mutex<QueuedFrames>);

#[derive(Debug)]
pub(crate) struct QueuedFrames {
    socket: UnixStream,
    bytes: Vec<u8>,
    since: Option<Instant>,
}

impl FrameOutbox {
    pub(crate) fn new(socket: UnixStream) -> Self {
        Self(Mutex::new(QueuedFrames { socket, bytes: Vec::new(), since: None }))
    }

    pub(crate) fn put(&self, frame: &impl Serialize) -> io::Result<()> {
        let mut waiting = self.lock();
        wire::put(&mut waiting.bytes, frame)?;
        waiting.added()
    }

    /// A frame that is text already, in parts.
    pub(crate) fn put_parts(&self, parts: &[&[u8]]) -> io::Result<()> {
        let mut waiting = self.lock();
        wire::put_parts(&mut waiting.bytes, parts)?;
        waiting.added()
    }

    /// Writes what has waited for long enough.
    pub(crate) fn flush_old(&self) -> io::Result<()> {
        let mut waiting = self.lock();
        match waiting.since {
            Some(since) if since.elapsed() > FLUSH_AFTER => waiting.flush(),
            _ => Ok(()),
        }
    }

    /// Writes what there is, unless the loop is writing itself.
    pub(crate) fn flush_for(&self) {
        if let Ok(mut waiting) = self.0.try_lock() {
            // The loop will find out by itself.
            let _ = waiting.flush();
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, QueuedFrames> {
        // Nothing in here is left half done by a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueuedFrames {
    fn added(&mut self) -> io::Result<()> {
        if self.bytes.len() > FLUSH_BYTES {
            return self.flush();
        }
        self.since.get_or_insert_with(Instant::now);
        Ok(())
    }

    /// Writes what there is.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.since = None;
        if self.bytes.is_empty() {
            return Ok(());
        }
        let written = self.socket.write_all(&self.bytes);
        self.bytes.clear();
        self.bytes.shrink_to(2 * FLUSH_BYTES);
        written
    }
}
