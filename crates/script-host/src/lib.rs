//! The script host: runs JavaScript in a process that can be killed.
//!
//! A host knows no files, no plans and no engine. It is told sources and calls over a socket, and answers; see
//! [`frame`]. A second socket reaches it also while JavaScript is stuck.

pub mod assets;
mod builtin;
mod clock;
pub mod code;
mod common_js;
mod confine;
mod control;
mod error;
mod fetch;
pub mod frame;
mod host;
mod logs;
mod mark;
mod memory;
mod modules;
mod native;
mod ops;
mod outbox;
mod pipe;
mod realm;
mod rejections;
mod sandbox;
mod shared;
mod text;
pub mod wire;

use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use confine::confine;
pub use rival_outgoing::{AllowError, OutgoingPolicy};

use control::{ControlEnd, LoopWatch};
use host::HostLoop;
pub use mark::CallMark;
use outbox::FrameOutbox;

/// Set for a process that is to be a host.
pub const VARIABLE: &str = "RIVAL_SCRIPT_HOST";

/// What [`VARIABLE`] is if the first byte of the data socket brings a [`CallMark`].
pub const MARKED: &str = "marked";

/// Whether [`main_if_asked`] was called.
static CALLED: AtomicBool = AtomicBool::new(false);

/// Whether this program can be started as a host: it has called [`main_if_asked`].
pub fn was_asked() -> bool {
    CALLED.load(Ordering::Relaxed)
}

/// Turns this process into a host if it was started as one: its standard input is the data socket, its standard output
/// the control socket. To be called before anything else, by a program that starts itself as hosts.
#[expect(clippy::exit, reason = "a host must not go on as the program that it is also")]
pub fn main_if_asked() {
    CALLED.store(true, Ordering::Relaxed);
    if let Some(how) = std::env::var_os(VARIABLE) {
        // Whatever ended it, the parent sees that it has ended.
        let _ = serve_standard(how == MARKED);
        std::process::exit(0);
    }
}

fn serve_standard(marked: bool) -> io::Result<()> {
    // First of all: before there are threads, and before anything of others is read.
    let confinement = confine();
    let data = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let control = UnixStream::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mark = if marked { Some(mark::receive(&data)?) } else { None };
    let life = ControlEnd::Process { parent: rustix::process::getppid(), confinement };
    run(data, control, life, LoopWatch::new(mark))
}

/// Serves until the other end of `data` is closed, in this thread, which needs a stack of at least two megabytes.
/// Closing `control` as well stops a script that does not end, if QuickJS can be interrupted in what it does: only a
/// process can be killed.
///
/// # Errors
///
/// What the sockets say, and frames that are none.
pub fn serve(data: UnixStream, control: UnixStream) -> io::Result<()> {
    run(data, control, ControlEnd::Thread, LoopWatch::new(None))
}

fn run(data: UnixStream, control: UnixStream, life: ControlEnd, watch: LoopWatch) -> io::Result<()> {
    let watch = Arc::new(watch);
    let out = Arc::new(FrameOutbox::new(data.try_clone()?));
    control::watch(control, Arc::clone(&watch), Arc::clone(&out), life.clone())?;
    let ran =
        HostLoop::begin(data, out, watch, life).and_then(|host| host.map_or(Ok(()), |mut host| host.run()));
    match ran {
        // The other side went while it was being told something.
        Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => Ok(()),
        ran => ran,
    }
}
