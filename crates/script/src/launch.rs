//! Starts a host: a child process of the same binary, or a thread.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{Child, Command};

use crate::settings::Hosting;

/// A host that has begun.
pub(crate) struct Launched {
    /// Frames.
    pub(crate) data: UnixStream,
    /// Questions that are answered while JavaScript is stuck.
    pub(crate) control: UnixStream,
    /// What can be killed.
    pub(crate) life: Life,
}

/// What a host lives in.
#[derive(Debug)]
pub(crate) enum Life {
    Process(Child),
    Thread,
}

pub(crate) fn launch(hosting: &Hosting, number: u32) -> io::Result<Launched> {
    let (data, its_data) = UnixStream::pair()?;
    let (control, its_control) = UnixStream::pair()?;
    let life = match hosting {
        Hosting::Itself => Life::Process(spawn(&itself()?, its_data, its_control)?),
        Hosting::Program(program) => Life::Process(spawn(program, its_data, its_control)?),
        Hosting::Threads => {
            let name = format!("script-host-{number}");
            std::thread::Builder::new().name(name).spawn(move || rival_host::serve(its_data, its_control))?;
            Life::Thread
        }
    };
    Ok(Launched { data, control, life })
}

/// The running binary, also when its file was replaced meanwhile.
fn itself() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

fn spawn(program: &Path, data: UnixStream, control: UnixStream) -> io::Result<Child> {
    Command::new(program)
        .arg0("rival-script-host")
        .env_clear()
        .env(rival_host::VARIABLE, "1")
        .stdin(Stdio::from(OwnedFd::from(data)))
        .stdout(Stdio::from(OwnedFd::from(control)))
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .spawn()
}
