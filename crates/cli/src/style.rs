//! Colours and symbols: on a terminal that wants them, and words elsewhere.

use std::fmt::Display;
use std::io::IsTerminal;

/// How to write for who reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextStyle {
    pub(crate) colour: bool,
}

impl TextStyle {
    /// Without colours.
    pub(crate) const PLAIN: Self = Self { colour: false };

    /// Colours are for terminals, and for those who have not turned them off.
    pub(crate) fn of(terminal: bool) -> Self {
        Self { colour: terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
    }

    /// For what is written on stderr.
    pub(crate) fn of_stderr() -> Self {
        Self::of(std::io::stderr().is_terminal())
    }

    fn paint(self, code: &str, text: impl Display) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    pub(crate) fn bold(self, text: impl Display) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: impl Display) -> String {
        self.paint("2", text)
    }

    pub(crate) fn green(self, text: impl Display) -> String {
        self.paint("32", text)
    }

    pub(crate) fn yellow(self, text: impl Display) -> String {
        self.paint("33", text)
    }

    pub(crate) fn red(self, text: impl Display) -> String {
        self.paint("31", text)
    }

    pub(crate) fn cyan(self, text: impl Display) -> String {
        self.paint("36", text)
    }

    /// The word for where a run or a step stands, in its colour.
    pub(crate) fn status(self, word: &str) -> String {
        match word {
            "completed" => self.green(word),
            "failed" | "blocked" | "not_undone" => self.red(word),
            "running" | "compensating" | "undoing" => self.cyan(word),
            "waiting" | "waiting_retry" | "paused" | "queued" | "cancelling" | "undone" => self.yellow(word),
            _ => self.dim(word),
        }
    }

    /// The sign of a step; `turn` moves the one of a step at work.
    pub(crate) fn sign(self, status: &str, turn: usize) -> String {
        const TURNING: [&str; 8] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"];
        match status {
            "running" | "compensating" | "undoing" => self.cyan(TURNING[turn % TURNING.len()]),
            "waiting_retry" => self.yellow("↻"),
            "waiting" | "paused" | "queued" | "cancelling" => self.yellow("◷"),
            "blocked" => self.red("■"),
            "completed" => self.green("✔"),
            "failed" | "not_undone" => self.red("✘"),
            "undone" => self.yellow("↶"),
            "skipped" => self.dim("⤼"),
            "cancelled" => self.dim("⊘"),
            _ => self.dim("·"),
        }
    }
}
