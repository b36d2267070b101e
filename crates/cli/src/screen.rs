//! Lines on a terminal that change in place.

use std::io::{IsTerminal, Write};

use crate::out::visible;
use crate::style::TextStyle;

/// How many lines a terminal has that does not say.
const HEIGHT: usize = 24;

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

    pub(crate) fn draw(&mut self, lines: &[String]) -> std::io::Result<()> {
        self.turn += 1;
        let height = terminal_size::terminal_size().map_or(HEIGHT, |(_, height)| usize::from(height.0));
        let lines = fitting(lines, height.saturating_sub(1).max(1));
        let mut frame = String::new();
        if self.drawn > 0 {
            frame += &format!("\x1b[{}A", self.drawn);
        }
        for line in &lines {
            // Clear what was there; a long line is cut by the terminal and not wrapped.
            frame += &format!("\x1b[2K\x1b[?7l{}\x1b[?7h\n", visible(line));
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

/// As many lines as there is room for: the first, and the last of the others.
fn fitting(lines: &[String], room: usize) -> Vec<String> {
    if lines.len() <= room || room < 3 {
        return lines.iter().take(room).cloned().collect();
    }
    let left_out = lines.len() - (room - 1);
    let gap = format!("  … {left_out} more lines");
    std::iter::once(lines[0].clone()).chain([gap]).chain(lines[1 + left_out..].iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_tree_keeps_its_first_and_last_lines() {
        let lines: Vec<String> = (0..10).map(|n| n.to_string()).collect();
        assert_eq!(fitting(&lines, 10), lines);
        assert_eq!(fitting(&lines, 5), ["0", "  … 6 more lines", "7", "8", "9"]);
    }
}
