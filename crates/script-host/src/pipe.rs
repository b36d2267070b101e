//! What the data socket brings: frames, in order.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::frame::{CallId, VirtualTime};
use crate::wire::FrameSplitter;

/// A frame, and what the loop must know of it.
#[derive(Debug)]
pub(crate) struct IncomingFrame {
    pub(crate) head: FrameHead,
    pub(crate) bytes: Vec<u8>,
}

/// The kind of a frame, and what says where it goes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum FrameHead {
    Setup(IgnoredAny),
    Realm(IgnoredAny),
    Describe(FrameTarget),
    /// Read when it is delivered, as [`CalledFunction`]: there is no more frequent frame.
    #[serde(skip)]
    Call,
    Parse(FrameTarget),
    Abort(AbortedCall),
    Forget(ForgottenCall),
    Answer(AnsweredCall),
    Drop(DroppedRealm),
    Transform(IgnoredAny),
    Time(VirtualTime),
}

#[derive(Debug, Deserialize)]
pub(crate) struct FrameTarget {
    pub(crate) id: CallId,
    pub(crate) realm: u32,
}

/// How a frame begins that calls a function.
const CALL: &[u8] = br#"{"call":"#;

/// A frame that calls a function.
#[derive(Debug, Deserialize)]
pub(crate) struct CallEnvelope<'a> {
    #[serde(borrow)]
    pub(crate) call: CalledFunction<'a>,
}

/// A function, and what it is called with.
#[derive(Debug, Deserialize)]
pub(crate) struct CalledFunction<'a> {
    pub(crate) id: CallId,
    pub(crate) realm: u32,
    #[serde(borrow)]
    pub(crate) file: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) workflow: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) function: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) cx: &'a RawValue,
    #[serde(borrow)]
    pub(crate) run: &'a RawValue,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ForgottenCall {
    pub(crate) id: CallId,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AbortedCall {
    pub(crate) id: CallId,
    pub(crate) keep: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AnsweredCall {
    pub(crate) id: CallId,
    pub(crate) op: u32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DroppedRealm {
    pub(crate) realm: u32,
}

/// The host's end of the data socket.
#[derive(Debug)]
pub(crate) struct DataPipe {
    socket: UnixStream,
    splitter: FrameSplitter,
    /// Came while something else was waited for.
    queue: VecDeque<IncomingFrame>,
    /// How many frames have come.
    heard: u64,
}

impl DataPipe {
    pub(crate) fn new(socket: UnixStream) -> Self {
        Self { socket, splitter: FrameSplitter::default(), queue: VecDeque::new(), heard: 0 }
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The next frame that is here.
    pub(crate) fn next_frame(&mut self) -> io::Result<Option<IncomingFrame>> {
        match self.queue.pop_front() {
            Some(frame) => Ok(Some(frame)),
            None => self.cut(),
        }
    }

    /// Waits for the answer to an operation. What comes before it is for later, in order. `None` when no answer comes
    /// any more.
    pub(crate) fn wait_for(&mut self, op: u32) -> io::Result<Option<IncomingFrame>> {
        loop {
            while let Some(frame) = self.cut()? {
                if matches!(&frame.head, FrameHead::Answer(reply) if reply.op == op) {
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
            match self.splitter.fill(|room| (&self.socket).read(room)) {
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

    pub(crate) fn heard(&self) -> u64 {
        self.heard
    }

    fn cut(&mut self) -> io::Result<Option<IncomingFrame>> {
        let Some(text) = self.splitter.next_frame() else { return Ok(None) };
        // With room for the zero that JavaScript wants behind a text.
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.extend_from_slice(text);
        let head = if bytes.starts_with(CALL) { FrameHead::Call } else { serde_json::from_slice(&bytes)? };
        self.heard += 1;
        Ok(Some(IncomingFrame { head, bytes }))
    }
}
