//! Colours and symbols: on a terminal that wants them, and words elsewhere.

use std::fmt::Display;

use rival::NodeStatus;

/// How to write for who reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) colour: bool,
}

impl Style {
    fn paint(self, code: &str, text: impl Display) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    pub(super) fn bold(self, text: impl Display) -> String {
        self.paint("1", text)
    }

    pub(super) fn dim(self, text: impl Display) -> String {
        self.paint("2", text)
    }

    pub(super) fn green(self, text: impl Display) -> String {
        self.paint("32", text)
    }

    pub(super) fn yellow(self, text: impl Display) -> String {
        self.paint("33", text)
    }

    pub(super) fn red(self, text: impl Display) -> String {
        self.paint("31", text)
    }

    pub(super) fn cyan(self, text: impl Display) -> String {
        self.paint("36", text)
    }

    /// The sign of a step; `turn` moves the one of a step at work.
    pub(super) fn sign(self, status: NodeStatus, turn: usize) -> String {
        const TURNING: [&str; 8] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"];
        match status {
            NodeStatus::Pending => self.dim("·"),
            NodeStatus::Running => self.cyan(TURNING[turn % TURNING.len()]),
            NodeStatus::WaitingRetry => self.yellow("↻"),
            NodeStatus::Waiting => self.yellow("◷"),
            NodeStatus::Blocked => self.red("■"),
            NodeStatus::Completed => self.green("✔"),
            NodeStatus::Failed => self.red("✘"),
            NodeStatus::Skipped => self.dim("⤼"),
            NodeStatus::Cancelled => self.dim("⊘"),
        }
    }
}

/// A time for people: `0.8 s`.
pub(super) fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1_000, ms % 1_000 / 100)
}
