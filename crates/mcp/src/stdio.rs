//! Messages over the pipes of a process, one in each line.

use std::io;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use crate::process::{LineReader, ReadLine};
use crate::wire::{self, WireReader};

/// How many messages may wait to be written.
const QUEUE: usize = 64;
/// How long what was sent last may take to be written when the pipe is closed.
const CLOSE_GRACE: Duration = Duration::from_millis(200);

/// The pipes of a server.
pub(crate) struct PipeTransport {
    queue: Option<mpsc::Sender<QueuedLine>>,
    writer: AbortOnDropHandle<()>,
    lines: LineReader<ChildStdout>,
    wire: WireReader,
    bytes_max: usize,
    name: String,
    has_garbage: bool,
}

/// A line, and who waits for it.
struct QueuedLine {
    line: String,
    written: oneshot::Sender<io::Result<()>>,
}

impl PipeTransport {
    /// Messages of a server have at most so many bytes.
    pub(crate) fn new(name: &str, stdin: ChildStdin, stdout: ChildStdout, bytes_max: usize) -> Self {
        let (queue, queued) = mpsc::channel(QUEUE);
        Self {
            queue: Some(queue),
            writer: AbortOnDropHandle::new(tokio::spawn(write_lines(stdin, queued))),
            lines: LineReader::new(stdout, bytes_max),
            wire: WireReader::default(),
            bytes_max,
            name: name.to_owned(),
            has_garbage: false,
        }
    }

    fn read(&self, line: &ReadLine) -> Option<ServerJsonRpcMessage> {
        match line {
            ReadLine::Whole(line) => std::str::from_utf8(line).ok().and_then(|line| self.wire.read(line)),
            ReadLine::TooLong { head, tail } => wire::too_large(head, tail, self.bytes_max),
        }
    }
}

/// Writes whole lines, also if those who sent them do not wait any more.
async fn write_lines(mut stdin: ChildStdin, mut queued: mpsc::Receiver<QueuedLine>) {
    while let Some(QueuedLine { line, written }) = queued.recv().await {
        let result = async {
            stdin.write_all(line.as_bytes()).await?;
            stdin.flush().await
        };
        _ = written.send(result.await);
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the server's input is closed")
}

impl Transport<RoleClient> for PipeTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let queue = self.queue.clone();
        async move {
            let line = wire::write(&message)? + "\n";
            let (written, answer) = oneshot::channel();
            let queue = queue.ok_or_else(closed)?;
            queue.send(QueuedLine { line, written }).await.map_err(|_| closed())?;
            answer.await.unwrap_or_else(|_| Err(closed()))
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let line = self.lines.next().await.ok().flatten()?;
            if let Some(message) = self.read(&line) {
                return Some(message);
            }
            let is_blank = matches!(&line, ReadLine::Whole(line) if line.trim_ascii().is_empty());
            // What it is may hold a secret, and is of no use.
            if !is_blank && !std::mem::replace(&mut self.has_garbage, true) {
                let connection = &self.name;
                tracing::warn!(
                    connection,
                    "the server writes to its output what is no message; that is left out"
                );
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Its input ends, which asks the server to end.
        self.queue = None;
        _ = tokio::time::timeout(CLOSE_GRACE, &mut self.writer).await;
        self.writer.abort();
        Ok(())
    }
}
