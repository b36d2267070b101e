//! SIGINT and SIGTERM: the first asks to stop, the second ends the process at once. SIGHUP asks a server to load its files
//! again.

use crate::exit;

/// Which one came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopSignal {
    Interrupt,
    Terminate,
}

impl StopSignal {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        }
    }

    /// What shells say of a command that this ended.
    pub(crate) fn exit(self) -> u8 {
        match self {
            Self::Interrupt => exit::INTERRUPTED,
            Self::Terminate => exit::TERMINATED,
        }
    }
}

/// Waits for the first signal. From then on the next one ends the process at once.
pub(crate) async fn first() -> StopSignal {
    let mut signals = SignalStream::new();
    let signal = signals.next().await;
    // The same streams: a signal that comes before the task below is first polled is not missed.
    tokio::spawn(async move { leave_now(signals.next().await) });
    signal
}

#[allow(clippy::exit, reason = "the user asked twice, and Rival loses nothing")]
fn leave_now(signal: StopSignal) {
    std::process::exit(i32::from(signal.exit()));
}

/// The signals that come from now on.
#[cfg(unix)]
struct SignalStream {
    /// Without handlers the signals end the process by themselves.
    streams: Option<(tokio::signal::unix::Signal, tokio::signal::unix::Signal)>,
}

#[cfg(unix)]
impl SignalStream {
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self { streams: signal(SignalKind::interrupt()).ok().zip(signal(SignalKind::terminate()).ok()) }
    }

    async fn next(&mut self) -> StopSignal {
        let Some((interrupt, terminate)) = &mut self.streams else { return std::future::pending().await };
        tokio::select! {
            _ = interrupt.recv() => StopSignal::Interrupt,
            _ = terminate.recv() => StopSignal::Terminate,
        }
    }
}

#[cfg(not(unix))]
struct SignalStream;

#[cfg(not(unix))]
impl SignalStream {
    fn new() -> Self {
        Self
    }

    async fn next(&mut self) -> StopSignal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => StopSignal::Interrupt,
            // Without a handler the signal ends the process by itself.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Requests to load files again.
#[cfg(unix)]
pub(crate) struct ReloadRequests {
    hangups: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl ReloadRequests {
    pub(crate) fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self { hangups: signal(SignalKind::hangup()).ok() }
    }

    /// Waits for the next one; `false` if there will be none.
    pub(crate) async fn next(&mut self) -> bool {
        match &mut self.hangups {
            Some(hangups) => hangups.recv().await.is_some(),
            None => false,
        }
    }
}

/// There are none.
#[cfg(not(unix))]
pub(crate) struct ReloadRequests;

#[cfg(not(unix))]
impl ReloadRequests {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) async fn next(&mut self) -> bool {
        false
    }
}
