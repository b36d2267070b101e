//! A connection that waits for its peer to read, but not for ever.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

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
}

impl WriteDeadline {
    pub(crate) fn new(stream: TcpStream, timeout: Duration) -> Self {
        Self { stream, timeout, patience: None }
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
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for WriteDeadline {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, write)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.watch(context, write)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
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
