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
    let signal = next().await;
    tokio::spawn(async { leave_now(next().await) });
    signal
}

#[allow(clippy::exit, reason = "the user asked twice, and Rival loses nothing")]
fn leave_now(signal: Signal) {
    std::process::exit(i32::from(signal.exit()));
}

#[cfg(unix)]
async fn next() -> Signal {
    use tokio::signal::unix::{SignalKind, signal};
    let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    let (Ok(mut interrupt), Ok(mut terminate)) = (interrupt, terminate) else {
        // Without handlers the signals end the process by themselves.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => Signal::Interrupt,
        _ = terminate.recv() => Signal::Terminate,
    }
}

#[cfg(not(unix))]
async fn next() -> Signal {
    match tokio::signal::ctrl_c().await {
        Ok(()) => Signal::Interrupt,
        // Without a handler the signal ends the process by itself.
        Err(_) => std::future::pending().await,
    }
}
