//! A connection that waits for its peer to read, but not for ever.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// Fails when nothing could be written for too long: the peer does not read. Without it a client that opens streams and
/// reads none of them would hold their memory for as long as it likes.
#[derive(Debug)]
pub(crate) struct WriteDeadline {
    stream: TcpStream,
    timeout: Duration,
    /// Runs while the peer lets us wait.
    patience: Option<Pin<Box<Sleep>>>,
    /// Is read before what the peer sends.
    before: Bytes,
    /// Nothing that was to be written is left.
    flushed: Arc<AtomicBool>,
}

impl WriteDeadline {
    pub(crate) fn new(stream: TcpStream, timeout: Duration) -> Self {
        Self {
            stream,
            timeout,
            patience: None,
            before: Bytes::new(),
            flushed: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Lets these bytes be read next.
    pub(crate) fn read_first(&mut self, bytes: Bytes) {
        self.before = bytes;
    }

    /// Whether all that was to be written has been.
    pub(crate) fn flushed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flushed)
    }

    /// Comes when the peer has sent something, or has closed the connection.
    pub(crate) async fn has_spoken(&self) -> io::Result<()> {
        self.stream.readable().await
    }

    /// Comes when the peer has closed the connection without sending more; of one that has sent more it is not known.
    pub(crate) async fn is_left(&self) {
        let peeked = self.stream.peek(&mut [0]).await;
        if matches!(peeked, Ok(1..)) {
            std::future::pending::<()>().await;
        }
    }

    /// Passes on what a write came to, unless it has been waiting for too long.
    fn watch<T>(&mut self, context: &mut Context<'_>, write: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if write.is_ready() {
            self.patience = None;
            return write;
        }
        let timeout = self.timeout;
        let patience = self.patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        ready!(patience.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not read")))
    }
}

impl AsyncRead for WriteDeadline {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.before.is_empty() {
            let now = self.before.len().min(buffer.remaining());
            buffer.put_slice(&self.before.split_to(now));
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for WriteDeadline {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.flushed.store(false, Ordering::Relaxed);
        let write = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, write)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.flushed.store(false, Ordering::Relaxed);
        let write = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.watch(context, write)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Who writes flushes when all of it is written.
        self.flushed.store(true, Ordering::Relaxed);
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    async fn pair(timeout: Duration) -> (WriteDeadline, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (WriteDeadline::new(listener.accept().await.unwrap().0, timeout), peer)
    }

    #[tokio::test]
    async fn a_peer_that_does_not_read_ends_the_connection() {
        let (mut patient, _peer) = pair(Duration::from_millis(10)).await;
        let written = patient.write_all(&vec![0; 100_000_000]).await;
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_peer_that_reads_may_take_its_time_between_writes() {
        let (mut patient, mut peer) = pair(Duration::from_secs(60)).await;
        let reads = tokio::spawn(async move { peer.read_to_end(&mut Vec::new()).await.unwrap() });
        patient.write_all(&vec![0; 10_000_000]).await.unwrap();
        assert!(patient.patience.is_none());
        drop(patient);
        assert_eq!(reads.await.unwrap(), 10_000_000);
    }
}
