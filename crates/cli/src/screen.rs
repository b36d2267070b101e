//! Lines on a terminal that change in place.

use std::io::{IsTerminal, Write};

use crate::out::visible;
use crate::pick::{PickedItems, pick};
use crate::style::TextStyle;

/// How many lines a terminal has that does not say.
const HEIGHT: usize = 24;

/// A line, and whether it is one of those that are to be seen where there is room for a few.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScreenLine {
    pub(crate) text: String,
    pub(crate) matters: bool,
}

impl From<String> for ScreenLine {
    fn from(text: String) -> Self {
        Self { text, matters: false }
    }
}

/// Lines, drawn over those before them.
#[derive(Debug)]
pub(crate) struct LiveScreen {
    pub(crate) style: TextStyle,
    on_stderr: bool,
    drawn: usize,
    /// How often it was drawn; moves the signs of what is at work.
    pub(crate) turn: usize,
}

impl LiveScreen {
    pub(crate) fn on_stdout(style: TextStyle) -> Self {
        Self { style, on_stderr: false, drawn: 0, turn: 0 }
    }

    /// Beside the data that goes to stdout; `None` if stderr is not a terminal.
    pub(crate) fn on_stderr() -> Option<Self> {
        let terminal = std::io::stderr().is_terminal();
        terminal.then(|| Self { style: TextStyle::of(true), on_stderr: true, drawn: 0, turn: 0 })
    }

    pub(crate) fn draw(&mut self, lines: Vec<ScreenLine>) -> std::io::Result<()> {
        self.turn += 1;
        let height = terminal_size::terminal_size().map_or(HEIGHT, |(_, height)| usize::from(height.0));
        let lines = fitting(lines, height.saturating_sub(1).max(1));
        let mut frame = String::new();
        if self.drawn > 0 {
            frame += &format!("\x1b[{}A", self.drawn);
        }
        for line in &lines {
            // Clear what was there; a long line is cut by the terminal and not wrapped.
            frame += &format!("\x1b[2K\x1b[?7l{}\x1b[?7h\n", visible(&line.text));
        }
        frame += "\x1b[J";
        self.drawn = lines.len();
        if self.on_stderr {
            std::io::stderr().lock().write_all(frame.as_bytes())
        } else {
            let mut out = std::io::stdout().lock();
            out.write_all(frame.as_bytes())?;
            out.flush()
        }
    }
}

/// As many lines as there is room for: the first, and of the others those that matter, then the last.
fn fitting(mut lines: Vec<ScreenLine>, room: usize) -> Vec<ScreenLine> {
    if lines.len() <= room || room < 3 {
        lines.truncate(room);
        return lines;
    }
    let first = lines.remove(0);
    let PickedItems { shown, left_out } = pick(lines, room - 2, |line| u8::from(line.matters));
    let gap = format!("  … {left_out} more lines").into();
    [first, gap].into_iter().chain(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_tree_keeps_its_first_and_last_lines_and_what_matters() {
        let lines: Vec<ScreenLine> = (0..10).map(|n| n.to_string().into()).collect();
        let texts = |lines: Vec<ScreenLine>| lines.into_iter().map(|line| line.text).collect::<Vec<_>>();
        assert_eq!(fitting(lines.clone(), 10), lines);
        assert_eq!(texts(fitting(lines.clone(), 5)), ["0", "  … 6 more lines", "7", "8", "9"]);
        let mut failed = lines;
        failed[2].matters = true;
        assert_eq!(texts(fitting(failed, 5)), ["0", "  … 6 more lines", "2", "8", "9"]);
    }
}
