//! The data socket: frames in, in order; frames out, many per write.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::frame::CallId;
use crate::wire::{self, Splitter};

/// What waits to be written is written when it is this much, or this old, also within a turn of the loop.
const FLUSH_BYTES: usize = 64 * 1024;
const FLUSH_AFTER: Duration = Duration::from_millis(1);

/// A frame, and what the loop must know of it.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) head: Head,
    pub(crate) bytes: Vec<u8>,
}

/// The fields of a frame that say where it goes.
#[derive(Debug, Deserialize)]
pub(crate) struct Head {
    pub(crate) t: Kind,
    #[serde(default)]
    pub(crate) id: CallId,
    #[serde(default)]
    pub(crate) realm: u32,
    #[serde(default)]
    pub(crate) op: u32,
}

/// The kinds of frames that a host is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Kind {
    Setup,
    Realm,
    Describe,
    Call,
    Parse,
    Abort,
    Forget,
    Answer,
    Drop,
    Transform,
}

/// The host's end of the data socket.
#[derive(Debug)]
pub(crate) struct Pipe {
    socket: UnixStream,
    splitter: Splitter,
    /// Came while something else was waited for.
    queue: VecDeque<Incoming>,
    out: Vec<u8>,
    out_since: Option<Instant>,
}

impl Pipe {
    pub(crate) fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            splitter: Splitter::default(),
            queue: VecDeque::new(),
            out: Vec::new(),
            out_since: None,
        }
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The next frame that is here.
    pub(crate) fn next_frame(&mut self) -> io::Result<Option<Incoming>> {
        match self.queue.pop_front() {
            Some(frame) => Ok(Some(frame)),
            None => self.cut(),
        }
    }

    /// Waits for the answer to an operation. What comes before it is for later, in order. `None` when nobody answers
    /// any more.
    pub(crate) fn wait_for(&mut self, op: u32) -> io::Result<Option<Incoming>> {
        self.flush()?;
        loop {
            while let Some(frame) = self.cut()? {
                if frame.head.t == Kind::Answer && frame.head.op == op {
                    return Ok(Some(frame));
                }
                self.queue.push_back(frame);
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Reads what is there, waiting for something if nothing is. False when the other side is gone.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        loop {
            match self.splitter.fill(&mut &self.socket) {
                Ok(read) => return Ok(read > 0),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether there are frames that came while another was waited for.
    pub(crate) fn has_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    pub(crate) fn put(&mut self, frame: &impl Serialize) -> io::Result<()> {
        wire::put(&mut self.out, frame)?;
        self.written()
    }

    pub(crate) fn put_text(&mut self, text: &[u8]) -> io::Result<()> {
        wire::put_text(&mut self.out, text)?;
        self.written()
    }

    fn written(&mut self) -> io::Result<()> {
        if self.out.len() > FLUSH_BYTES {
            return self.flush();
        }
        self.out_since.get_or_insert_with(Instant::now);
        Ok(())
    }

    /// Writes what has waited for long enough.
    pub(crate) fn flush_old(&mut self) -> io::Result<()> {
        match self.out_since {
            Some(since) if since.elapsed() > FLUSH_AFTER => self.flush(),
            _ => Ok(()),
        }
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out_since = None;
        if self.out.is_empty() {
            return Ok(());
        }
        let written = (&self.socket).write_all(&self.out);
        self.out.clear();
        self.out.shrink_to(2 * FLUSH_BYTES);
        written
    }

    fn cut(&mut self) -> io::Result<Option<Incoming>> {
        let Some(bytes) = self.splitter.next_frame() else { return Ok(None) };
        let head = serde_json::from_slice(&bytes)?;
        Ok(Some(Incoming { head, bytes }))
    }
}
