//! The worker, as its parent holds it.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::TestFolder;

/// A worker process. It is killed when it is dropped.
#[derive(Debug)]
pub struct WorkerProcess {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

/// How a worker is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerEnd {
    /// SIGKILL, this long after it was ready.
    Kill(Duration),
    /// SIGKILL, this long after it was started, ready or not.
    KillEarly(Duration),
    /// SIGTERM, this long after it was ready.
    Terminate(Duration),
}

impl WorkerProcess {
    /// Starts one.
    pub fn start(program: &Path, folder: &TestFolder, arguments: &[&str]) -> io::Result<Self> {
        let log = OpenOptions::new().create(true).append(true).open(folder.log())?;
        let mut command = Command::new(program);
        command.arg(&folder.0).args(arguments).env("RUST_BACKTRACE", "0");
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        Ok(Self { child, stdout: BufReader::new(stdout) })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it says this; `false` if it ended without.
    pub fn says(&mut self, word: &str) -> io::Result<bool> {
        Ok(self.tells(word)?.is_some())
    }

    /// Waits until it says this, and gives what it says after it; `None` if it ended without.
    pub fn tells(&mut self, word: &str) -> io::Result<Option<String>> {
        let mut line = String::new();
        while self.stdout.read_line(&mut line)? > 0 {
            let (first, rest) = line.trim_end().split_once(' ').unwrap_or((line.trim_end(), ""));
            if first == word {
                return Ok(Some(rest.to_owned()));
            }
            line.clear();
        }
        Ok(None)
    }

    /// Ends it, and says how it went: a killed one has no exit code.
    pub fn end(mut self, end: WorkerEnd) -> io::Result<ExitStatus> {
        match end {
            WorkerEnd::KillEarly(after) => {
                std::thread::sleep(after);
                self.child.kill()?;
            }
            WorkerEnd::Kill(after) => {
                self.be_ready()?;
                std::thread::sleep(after);
                self.child.kill()?;
            }
            WorkerEnd::Terminate(after) => {
                self.be_ready()?;
                std::thread::sleep(after);
                let pid = self.child.id().to_string();
                Command::new("kill").args(["-TERM", &pid]).status()?;
            }
        }
        self.wait()
    }

    fn be_ready(&mut self) -> io::Result<()> {
        if self.says("ready")? {
            Ok(())
        } else {
            Err(io::Error::other("the worker ended before it was ready"))
        }
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        // It has ended already, most of the time.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
