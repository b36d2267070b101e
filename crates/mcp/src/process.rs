//! The process of a server: started without a shell in a group of its own, heard, and ended with everything that it started.

use std::collections::VecDeque;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::definition::ConnectionDefinition;
use crate::redact::SecretRedactor;
use crate::secret::ResolvedDefinition;

/// What a server gets of this process's environment, if it is there.
const INHERITED: [&str; 14] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SystemRoot",
    "APPDATA",
];
/// How long a server may take to end when its input has ended, and again after it was asked to.
const END_GRACE: Duration = Duration::from_millis(1_500);

/// A line of a server's log that is longer is cut.
const LINE_BYTES_MAX: usize = 4_096;
/// Of so many lines the last ones are kept to say why a server ended.
const LINES_KEPT: usize = 10;
/// So many lines are logged in each of these times; others are counted.
const LINES_LOGGED_MAX: u32 = 100;
const LINES_PERIOD: Duration = Duration::from_secs(10);

/// A server that was started, with its pipes.
pub(crate) struct ServerProcess {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) end: ProcessEnd,
}

/// Ends a process, now or when it is dropped.
pub(crate) struct ProcessEnd {
    stop: CancellationToken,
    watched: AbortOnDropHandle<Option<ExitStatus>>,
    pub(crate) lines: Arc<LastLines>,
}

impl ProcessEnd {
    /// Waits until the process and its group are gone. It is asked to end first, unless it has ended.
    pub(crate) async fn finish(self) -> Option<ExitStatus> {
        self.stop.cancel();
        self.watched.await.ok().flatten()
    }
}

/// Starts the program of a definition.
pub(crate) fn start(
    name: &str,
    definition: &ConnectionDefinition,
    resolved: &ResolvedDefinition,
) -> std::io::Result<ServerProcess> {
    let mut command = Command::new(definition.command.as_deref().unwrap_or_default());
    command.args(&definition.args).env_clear();
    command.envs(INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.envs(resolved.env.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = &definition.cwd {
        command.current_dir(folder);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn()?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (stdin, stdout, stderr) = stdin
        .zip(stdout)
        .zip(stderr)
        .map(|((stdin, stdout), stderr)| (stdin, stdout, stderr))
        .expect("all three were asked for");
    let lines = Arc::new(LastLines::default());
    let (group, stop) = (ProcessGroup::of(&child), CancellationToken::new());
    let hearing = hear(name.to_owned(), stderr, resolved.redactor.clone(), Arc::clone(&lines));
    let hearing = AbortOnDropHandle::new(tokio::spawn(hearing));
    let watched = AbortOnDropHandle::new(tokio::spawn(watch(child, group, stop.clone(), hearing)));
    Ok(ServerProcess { stdin, stdout, end: ProcessEnd { stop, watched, lines } })
}

/// Waits for a process's end. When it is to stop, its input has ended: it gets some time, is asked, and is killed.
async fn watch(
    mut child: Child,
    group: ProcessGroup,
    stop: CancellationToken,
    hearing: AbortOnDropHandle<()>,
) -> Option<ExitStatus> {
    let ended = tokio::select! {
        status = child.wait() => Some(status),
        () = stop.cancelled() => None,
    };
    let status = match ended {
        Some(status) => status,
        None => end(&mut child, &group).await,
    };
    // What it started may still be there, and hold its pipes.
    drop(group);
    // The last lines say why it ended.
    _ = tokio::time::timeout(Duration::from_millis(200), hearing).await;
    status.ok()
}

async fn end(child: &mut Child, group: &ProcessGroup) -> std::io::Result<ExitStatus> {
    if let Ok(status) = tokio::time::timeout(END_GRACE, child.wait()).await {
        return status;
    }
    group.terminate();
    if let Ok(status) = tokio::time::timeout(END_GRACE, child.wait()).await {
        return status;
    }
    group.kill();
    child.kill().await?;
    child.wait().await
}

/// The group of a process; whatever is left of it is killed when this is dropped.
struct ProcessGroup {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl ProcessGroup {
    #[cfg(unix)]
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self { leader: id.and_then(rustix::process::Pid::from_raw) }
    }

    #[cfg(not(unix))]
    fn of(_child: &Child) -> Self {
        Self {}
    }

    fn terminate(&self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::TERM);
    }

    fn kill(&self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(leader) = self.leader {
            // There may be no process left in it.
            _ = rustix::process::kill_process_group(leader, signal);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The last lines that a server wrote, without secrets.
#[derive(Debug, Default)]
pub(crate) struct LastLines(Mutex<VecDeque<String>>);

impl LastLines {
    fn push(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES_KEPT {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// The last line that says something.
    pub(crate) fn last(&self) -> Option<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().rev().find(|line| !line.trim().is_empty()).cloned()
    }
}

/// Reads everything that a server writes to its log, so that it never waits, and logs some of it.
async fn hear(name: String, stderr: ChildStderr, redactor: SecretRedactor, last: Arc<LastLines>) {
    let mut reader = LineReader::new(stderr, LINE_BYTES_MAX);
    let (mut since, mut logged) = (Instant::now(), 0_u32);
    while let Ok(Some(line)) = reader.next().await {
        let text = match &line {
            ReadLine::Whole(line) => redactor.text(&String::from_utf8_lossy(line)).into_owned(),
            ReadLine::TooLong { head, .. } => {
                format!("{}…", redactor.cut_line(&String::from_utf8_lossy(head)))
            }
        };
        last.push(text.clone());
        if since.elapsed() >= LINES_PERIOD {
            if logged > LINES_LOGGED_MAX {
                tracing::warn!(target: TARGET, connection = name, lines = logged - LINES_LOGGED_MAX, "lines were left out");
            }
            (since, logged) = (Instant::now(), 0);
        }
        logged += 1;
        if logged <= LINES_LOGGED_MAX {
            tracing::info!(target: TARGET, connection = name, "{text}");
        }
    }
}

/// What servers write to their logs is filed under this.
const TARGET: &str = "rival::connection";

/// Reads lines of which none takes more than so much memory.
pub(crate) struct LineReader<R> {
    from: R,
    bytes_max: usize,
    buffer: Vec<u8>,
    /// Where the line begins that is looked for.
    start: usize,
    /// Where the search for its end goes on.
    searched: usize,
    /// The beginning of a line that is too long, of which the rest is to come.
    cut: Option<Vec<u8>>,
}

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReadLine {
    Whole(Vec<u8>),
    /// Its beginning and its end.
    TooLong {
        head: Vec<u8>,
        tail: Vec<u8>,
    },
}

/// How much of the end of a line is kept that is too long.
const TAIL_BYTES: usize = 256;
const CHUNK_BYTES: usize = 64 * 1024;

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(from: R, bytes_max: usize) -> Self {
        Self { from, bytes_max, buffer: Vec::new(), start: 0, searched: 0, cut: None }
    }

    /// The next line; `None` at the end. What was read stays if the future is dropped.
    pub(crate) async fn next(&mut self) -> std::io::Result<Option<ReadLine>> {
        loop {
            if let Some(line) = self.take_line() {
                return Ok(Some(line));
            }
            self.make_room();
            self.buffer.reserve(CHUNK_BYTES);
            if self.from.read_buf(&mut self.buffer).await? == 0 {
                return Ok(self.take_rest());
            }
        }
    }

    fn take_line(&mut self) -> Option<ReadLine> {
        let end = self.searched + self.buffer[self.searched..].iter().position(|byte| *byte == b'\n')?;
        let line = self.buffer[self.start..end].to_vec();
        (self.start, self.searched) = (end + 1, end + 1);
        Some(self.finish(line))
    }

    fn take_rest(&mut self) -> Option<ReadLine> {
        let line = self.buffer.split_off(self.start);
        self.buffer.clear();
        (self.start, self.searched) = (0, 0);
        (!line.is_empty() || self.cut.is_some()).then(|| self.finish(line))
    }

    fn finish(&mut self, mut line: Vec<u8>) -> ReadLine {
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        match self.cut.take() {
            Some(head) => ReadLine::TooLong { head, tail: line },
            None if line.len() > self.bytes_max => {
                let tail = line[line.len() - TAIL_BYTES.min(line.len())..].to_vec();
                line.truncate(LINE_BYTES_MAX);
                ReadLine::TooLong { head: line, tail }
            }
            None => ReadLine::Whole(line),
        }
    }

    /// Forgets lines that were taken, and the middle of a line that is too long.
    fn make_room(&mut self) {
        self.buffer.drain(..self.start);
        self.start = 0;
        let is_long = self.buffer.len() > self.bytes_max || self.cut.is_some();
        if is_long && self.buffer.len() > TAIL_BYTES {
            let tail = self.buffer.split_off(self.buffer.len() - TAIL_BYTES);
            let mut head = std::mem::replace(&mut self.buffer, tail);
            // Of a message the very beginning is enough; of a line in a log, what is shown.
            head.truncate(LINE_BYTES_MAX);
            self.cut.get_or_insert(head);
        }
        self.searched = self.buffer.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8], bytes_max: usize) -> Vec<ReadLine> {
        let mut reader = LineReader::new(text, bytes_max);
        let mut lines = Vec::new();
        while let Some(line) = reader.next().await.unwrap() {
            lines.push(line);
        }
        lines
    }

    #[tokio::test]
    async fn lines_are_read_one_by_one() {
        let whole = |text: &str| ReadLine::Whole(text.as_bytes().to_vec());
        assert_eq!(lines(b"a\r\n\nbc\nd", 10).await, [whole("a"), whole(""), whole("bc"), whole("d")]);
        assert_eq!(lines(b"", 10).await, []);
    }

    #[tokio::test]
    async fn a_line_of_any_length_takes_little_memory_and_leaves_its_ends() {
        let long = [b"head".as_slice(), &vec![b'x'; 1 << 20], b"tail\nnext\n"].concat();
        let mut reader = LineReader::new(&long[..], 1_000);
        let Some(ReadLine::TooLong { head, tail }) = reader.next().await.unwrap() else {
            panic!("it is too long")
        };
        assert!(head.starts_with(b"head") && tail.ends_with(b"tail") && head.len() <= LINE_BYTES_MAX);
        assert!(reader.buffer.capacity() <= 2 * CHUNK_BYTES, "{}", reader.buffer.capacity());
        assert_eq!(reader.next().await.unwrap(), Some(ReadLine::Whole(b"next".to_vec())));
    }
}
