//! The sentinel: a thread that answers on the control socket, also while JavaScript is stuck.

use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::frame::{CallId, ControlFrame, ControlReply, HostConfinement};
use crate::outbox::FrameOutbox;

/// How often a child looks whether its parent is still there, should the socket not tell.
const PARENT_CHECK: Duration = Duration::from_secs(1);

/// What the loop is doing, for the sentinel; and what the sentinel wants, for the loop. Calls count from 1; 0 is none.
#[derive(Debug)]
pub(crate) struct LoopWatch {
    epoch: Instant,
    current: AtomicU64,
    /// Where the parent reads the current call when this process is gone.
    mark: Option<&'static AtomicU64>,
    since_us: AtomicU64,
    wanted: AtomicU64,
    closing: AtomicBool,
}

impl LoopWatch {
    pub(crate) fn new(mark: Option<&'static AtomicU64>) -> Self {
        Self {
            epoch: Instant::now(),
            current: AtomicU64::new(0),
            mark,
            since_us: AtomicU64::new(0),
            wanted: AtomicU64::new(0),
            closing: AtomicBool::new(false),
        }
    }

    /// Says that JavaScript works for this call from now on.
    pub(crate) fn enter(&self, call: CallId) {
        self.since_us.store(self.now_us(), Relaxed);
        self.set_current(call);
    }

    fn set_current(&self, call: CallId) {
        self.current.store(call, Relaxed);
        if let Some(mark) = self.mark {
            mark.store(call, Relaxed);
        }
    }

    /// Says that JavaScript has returned.
    pub(crate) fn leave(&self) {
        self.set_current(0);
    }

    /// The call that JavaScript works for.
    pub(crate) fn current(&self) -> CallId {
        self.current.load(Relaxed)
    }

    /// Whether the current call is to be interrupted. True once for each time that this is wanted.
    pub(crate) fn take_wanted(&self) -> bool {
        let wanted = self.wanted.load(Relaxed);
        let mine = wanted != 0 && wanted == self.current();
        if mine {
            self.wanted.store(0, Relaxed);
        }
        mine
    }

    /// Whether the parent is gone to hear of anything.
    pub(crate) fn closing(&self) -> bool {
        self.closing.load(Relaxed)
    }

    /// The parent is gone: whatever runs is stopped.
    pub(crate) fn close(&self) {
        self.closing.store(true, Relaxed);
    }

    fn now_us(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn answer(&self, asked: &ControlFrame) -> ControlReply {
        let current = self.current();
        match *asked {
            ControlFrame::Ping(ping) => ControlReply::Pong {
                ping,
                current: (current != 0).then_some(current),
                since_ms: match current {
                    0 => 0,
                    _ => self.now_us().saturating_sub(self.since_us.load(Relaxed)) / 1000,
                },
            },
            ControlFrame::Interrupt(id) => {
                let was = current == id;
                if was {
                    self.wanted.store(id, Relaxed);
                }
                ControlReply::Interrupted { id, was }
            }
        }
    }
}

/// What the end of the control socket means.
#[derive(Clone, Debug)]
pub(crate) enum ControlEnd {
    /// The host is a process of its own, which ends with its parent.
    Process {
        /// The parent.
        parent: Option<rustix::process::Pid>,
        /// What the kernel keeps the process from.
        confinement: HostConfinement,
    },
    /// The host is a thread, which can only be asked to end.
    Thread,
}

/// Starts the sentinel.
pub(crate) fn watch(
    control: UnixStream,
    watch: Arc<LoopWatch>,
    out: Arc<FrameOutbox>,
    life: ControlEnd,
) -> io::Result<()> {
    if let ControlEnd::Process { .. } = life {
        control.set_read_timeout(Some(PARENT_CHECK))?;
    }
    let sentinel = move || {
        // An error ends the conversation too: the sentinel can no longer answer the parent.
        let _ = converse(&control, &watch, &out, &life);
        match life {
            ControlEnd::Process { .. } => leave_process(),
            ControlEnd::Thread => watch.close(),
        }
    };
    thread::Builder::new().name("rival-sentinel".to_owned()).spawn(sentinel)?;
    Ok(())
}

#[expect(
    clippy::exit,
    reason = "JavaScript may be stuck in the other thread; nothing of this process is worth keeping"
)]
fn leave_process() -> ! {
    std::process::exit(0)
}

fn converse(control: &UnixStream, watch: &LoopWatch, out: &FrameOutbox, life: &ControlEnd) -> io::Result<()> {
    let mut lines = BufReader::new(control);
    let mut replies = control;
    let mut line = String::new();
    loop {
        match lines.read_line(&mut line) {
            Ok(0) => return Ok(()),
            Ok(_) => {
                let asked: ControlFrame = serde_json::from_str(&line)?;
                // Lines that a stuck script wrote before it got stuck would go with it.
                out.flush_for();
                let mut text = serde_json::to_vec(&watch.answer(&asked))?;
                text.push(b'\n');
                replies.write_all(&text)?;
                line.clear();
            }
            // A part of a line that has come already stays in `line`.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if orphaned(life) {
                    return Ok(());
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn orphaned(life: &ControlEnd) -> bool {
    match life {
        ControlEnd::Process { parent, .. } => rustix::process::getppid() != *parent,
        ControlEnd::Thread => false,
    }
}
