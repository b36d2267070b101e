//! How the command ends: its exit codes, and errors that say which.

use std::fmt;
use std::process::ExitCode;

use crate::out::note;

/// Something went wrong.
pub(crate) const ERROR: u8 = 1;
/// The command was called wrongly.
pub(crate) const USAGE: u8 = 2;
/// The server wants a token, or another one.
pub(crate) const AUTH: u8 = 3;
/// There is no such run, workflow, file.
pub(crate) const NOT_FOUND: u8 = 4;
/// Interrupted with Ctrl-C, as shells say it.
pub(crate) const INTERRUPTED: u8 = 130;
/// Told to end, as shells say it.
pub(crate) const TERMINATED: u8 = 143;

/// An error that knows its exit code, and what to do about it.
#[derive(Debug)]
pub(crate) struct ExitError {
    pub(crate) exit: u8,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// The stable word of what went wrong.
    pub(crate) code: Option<String>,
    /// Why a request has no answer, if it has none.
    pub(crate) silence: Option<ServerSilence>,
}

/// Why a server has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerSilence {
    /// No connection could be made, so that the request was not sent.
    Absent,
    /// The connection broke off: it is not known what became of the request.
    Lost,
}

impl ExitError {
    fn new(exit: u8, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: None, code: None, silence: None }
    }

    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self::new(ERROR, message)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(USAGE, message)
    }

    pub(crate) fn auth(message: impl Into<String>) -> Self {
        Self::new(AUTH, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(NOT_FOUND, message)
    }

    /// Something went wrong that was told already.
    pub(crate) fn told(exit: u8) -> Self {
        Self::new(exit, "")
    }

    /// Adds the stable word of what went wrong.
    pub(crate) fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// Adds why a server has not answered.
    pub(crate) fn silence(mut self, silence: ServerSilence) -> Self {
        self.silence = Some(silence);
        self
    }

    /// Adds what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for ExitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ExitError {}

/// Why a request has no answer; `None` if it has one, or was not made.
pub(crate) fn silence(error: &anyhow::Error) -> Option<ServerSilence> {
    error.downcast_ref::<ExitError>()?.silence
}

/// Says on stderr what went wrong, and gives the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // The reader has read enough: `rival list | head -1`.
    if broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    let text = format!("{error:#}");
    if !text.is_empty() {
        note(format_args!("error: {text}"));
    }
    let failed = error.downcast_ref::<ExitError>();
    if let Some(hint) = failed.and_then(|failed| failed.hint.as_ref()) {
        note(format_args!("hint: {hint}"));
    }
    ExitCode::from(failed.map_or(ERROR, |failed| failed.exit))
}

pub(crate) fn broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
