//! SIGINT and SIGTERM: the first asks to stop, the second ends the process at once.

use crate::exit;

/// Which one came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
}

impl Signal {
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
pub(crate) async fn first() -> Signal {
    let mut signals = Signals::new();
    let signal = signals.next().await;
    // The same streams: a signal that comes before the task below is first polled is not missed.
    tokio::spawn(async move { leave_now(signals.next().await) });
    signal
}

#[allow(clippy::exit, reason = "the user asked twice, and Rival loses nothing")]
fn leave_now(signal: Signal) {
    std::process::exit(i32::from(signal.exit()));
}

/// The signals that come from now on.
#[cfg(unix)]
struct Signals {
    /// Without handlers the signals end the process by themselves.
    streams: Option<(tokio::signal::unix::Signal, tokio::signal::unix::Signal)>,
}

#[cfg(unix)]
impl Signals {
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self { streams: signal(SignalKind::interrupt()).ok().zip(signal(SignalKind::terminate()).ok()) }
    }

    async fn next(&mut self) -> Signal {
        let Some((interrupt, terminate)) = &mut self.streams else { return std::future::pending().await };
        tokio::select! {
            _ = interrupt.recv() => Signal::Interrupt,
            _ = terminate.recv() => Signal::Terminate,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Self {
        Self
    }

    async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            // Without a handler the signal ends the process by itself.
            Err(_) => std::future::pending().await,
        }
    }
}
