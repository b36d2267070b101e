//! Starts a host: a child process of the same binary, or a thread.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rival_script_host::CallMark;
use rival_script_host::frame::{FromHost, HostConfinement, ToHost};
use rival_script_host::wire::{self, FrameSplitter};
use tokio::process::{Child, Command};

use crate::settings::{Hosting, ScriptSettings};

/// A host that has begun.
pub(crate) struct LaunchedHost {
    /// Frames.
    pub(crate) data: UnixStream,
    /// Questions that are answered while JavaScript is stuck.
    pub(crate) control: UnixStream,
    /// What can be killed.
    pub(crate) life: HostRuntime,
    /// Says which call it works for, also when it is gone.
    pub(crate) mark: Option<CallMark>,
}

/// What a host lives in.
#[derive(Debug)]
pub(crate) enum HostRuntime {
    Process(Child),
    Thread,
}

pub(crate) fn launch(hosting: &Hosting, number: u32) -> io::Result<LaunchedHost> {
    let (data, its_data) = UnixStream::pair()?;
    let (control, its_control) = UnixStream::pair()?;
    let mark = match hosting {
        Hosting::Itself | Hosting::Program(_) => mark_over(&data),
        Hosting::Threads => None,
    };
    let life = match hosting {
        Hosting::Itself => HostRuntime::Process(spawn(&itself()?, its_data, its_control, mark.is_some())?),
        Hosting::Program(program) => {
            HostRuntime::Process(spawn(program, its_data, its_control, mark.is_some())?)
        }
        Hosting::Threads => {
            let name = format!("script-host-{number}");
            std::thread::Builder::new()
                .name(name)
                .spawn(move || rival_script_host::serve(its_data, its_control))?;
            HostRuntime::Thread
        }
    };
    Ok(LaunchedHost { data, control, life, mark })
}

/// A mark that is on its way. A host can do without: then each of its calls is suspect when it is gone.
fn mark_over(data: &UnixStream) -> Option<CallMark> {
    let mark = CallMark::new().ok()?;
    mark.send(data).ok()?;
    Some(mark)
}

/// The running binary, also when its file was replaced meanwhile.
fn itself() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

fn spawn(program: &Path, data: UnixStream, control: UnixStream, marked: bool) -> io::Result<Child> {
    Command::new(program)
        .arg0("rival-script-host")
        .env_clear()
        .env(rival_script_host::VARIABLE, if marked { rival_script_host::MARKED } else { "1" })
        .stdin(Stdio::from(OwnedFd::from(data)))
        .stdout(Stdio::from(OwnedFd::from(control)))
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .spawn()
}

/// What the kernel keeps script hosts from: starts one that is to do nothing, and asks it. Nothing is known of hosts that are
/// threads.
///
/// # Errors
///
/// What starting a process and talking to it can bring.
pub async fn confinement(settings: &ScriptSettings) -> io::Result<Option<HostConfinement>> {
    // A host ends with its control socket: that is held until it has answered.
    let LaunchedHost { data, control, life, mark: _ } = launch(&settings.hosting, 0)?;
    let (memory_limit, outgoing) = (settings.memory_limit, settings.outgoing.clone());
    let setup = ToHost::Setup { memory_limit, env: Default::default(), outgoing, virtual_time: None };
    let ready = tokio::task::spawn_blocking(move || first_frame(&data, &setup)).await;
    drop((control, life));
    match ready.map_err(io::Error::other)?? {
        FromHost::Ready { confinement } => Ok(confinement),
        _ => Err(io::Error::other("a script host began with another frame than `ready`")),
    }
}

fn first_frame(mut data: &UnixStream, setup: &ToHost) -> io::Result<FromHost> {
    data.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut bytes = Vec::new();
    wire::put(&mut bytes, setup)?;
    data.write_all(&bytes)?;
    let mut splitter = FrameSplitter::default();
    loop {
        if let Some(frame) = splitter.next_frame() {
            return Ok(serde_json::from_slice(frame)?);
        }
        if splitter.fill(|room| data.read(room))? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
