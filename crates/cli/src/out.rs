//! What the command prints: data on stdout, everything else on stderr.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::{Display, Write as _};
use std::io::{IsTerminal, Write};

use anyhow::Result;
use clap::ValueEnum;
use rival_core::text::is_hidden;

use crate::style::TextStyle;
use crate::table::TextTable;

/// How data is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    #[default]
    Table,
    Json,
    Ids,
}

/// Where data goes, and in which form.
#[derive(Clone, Debug)]
pub(crate) struct DataOutput {
    pub(crate) format: OutputFormat,
    /// How to write on stdout.
    pub(crate) style: TextStyle,
    /// Whether stdout is a terminal.
    pub(crate) terminal: bool,
    /// How many columns it has, if it is one.
    pub(crate) width: Option<usize>,
    /// Whether several documents are printed: then each is one line, so that a program can tell them apart.
    pub(crate) several: Cell<bool>,
}

impl DataOutput {
    pub(crate) fn new(format: OutputFormat) -> Self {
        let terminal = std::io::stdout().is_terminal();
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let (style, width) = (TextStyle::of(terminal), width.filter(|_| terminal));
        Self { format, style, terminal, width, several: Cell::new(false) }
    }

    /// One line of data. Fails when the reader is gone, which ends the command.
    pub(crate) fn line(&self, text: impl Display) -> Result<()> {
        Ok(writeln!(std::io::stdout().lock(), "{}", visible(&text.to_string()))?)
    }

    /// JSON for programs that people can read too.
    pub(crate) fn json(&self, json: &str) -> Result<()> {
        if self.several.get() { self.line(json.trim_end()) } else { self.line(pretty(json)) }
    }

    /// A text in a cell of a table. Only a terminal has too little room for all of it: what reads a pipe gets the whole.
    pub(crate) fn cell(&self, text: &str, max: usize) -> String {
        if self.terminal { short(text, max) } else { text.to_owned() }
    }

    pub(crate) fn table(&self, table: &TextTable) -> Result<()> {
        Ok(std::io::stdout().lock().write_all(visible(&table.show(self.style, self.width)).as_bytes())?)
    }
}

/// One line for people, on stderr, beside the data. A failed write is ignored: no output is left to report it on.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{}", visible(&text.to_string()));
}

/// A text of others as one line, without what could do something to a terminal or to the order of what it shows.
pub(crate) fn clean(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => line.push(' '),
            c if is_hidden(c) => escape(c, &mut line),
            c => line.push(c),
        }
    }
    line
}

/// What is about to be printed, with nothing in it that could do something to a terminal but the colours of ours.
/// Everything that is printed passes here, so that no text of others needs to be remembered. JSON stays the same JSON:
/// these characters are only inside of its strings, and escaped there as JSON has it.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let fine = |c: char| matches!(c, '\n' | '\t') || !is_hidden(c);
    if text.chars().all(fine) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let len = colour_len(rest).unwrap_or(c.len_utf8());
        if fine(c) || len > 1 && c == '\x1b' {
            shown.push_str(&rest[..len]);
        } else {
            escape(c, &mut shown);
        }
        rest = &rest[len..];
    }
    Cow::Owned(shown)
}

/// The length of the escape sequence for a colour that a text begins with.
fn colour_len(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\x1b[")?;
    let end = numbers.find(|c: char| !(c.is_ascii_digit() || c == ';'))?;
    numbers[end..].starts_with('m').then_some(2 + end + 1)
}

/// As JSON escapes a character.
fn escape(c: char, text: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\\u{unit:04x}");
    }
}

/// The first part of a text, if it is longer than that.
pub(crate) fn short(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// JSON with line breaks, in the order in which it came.
pub(crate) fn pretty(json: &str) -> String {
    let mut text = String::with_capacity(json.len() * 2);
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        if in_string {
            text.push(c);
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                text.push(c);
            }
            '{' | '[' => {
                text.push(c);
                while chars.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(end) = chars.next_if(|next| matches!(next, '}' | ']')) {
                    text.push(end);
                } else {
                    depth += 1;
                    new_line(&mut text, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut text, depth);
                text.push(c);
            }
            ',' => {
                text.push(c);
                new_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => text.push(c),
        }
    }
    text
}

fn new_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pretty_json_is_the_same_json() {
        let json = r#"{"b":[1,{"x":"a\"{,:\\"}],"a":{},"c":[ ],"d": null}"#;
        let text = pretty(json);
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parse(&text), parse(json));
        assert!(text.find("\"b\"") < text.find("\"a\""), "{text}");
        assert!(text.contains("\n      \"x\": \"a\\\"{,:\\\\\"\n"), "{text}");
        assert_eq!(pretty(&text), text);
    }

    #[test]
    fn nothing_of_others_reaches_the_terminal_as_anything_but_text() {
        let nasty = "a\x1b[2Jb\u{9b}c\x7fd\u{202e}e\u{200b}\u{e0041}\nf";
        assert_eq!(clean(nasty), r"a\u001b[2Jb\u009bc\u007fd\u202ee\u200b\udb40\udc41 f");
        assert_eq!(visible(nasty), "a\\u001b[2Jb\\u009bc\\u007fd\\u202ee\\u200b\\udb40\\udc41\nf");
        assert_eq!(visible("\x1b[1;31mred\x1b[0m\t\x1b[31"), "\x1b[1;31mred\x1b[0m\t\\u001b[31");
        let json = serde_json::json!({ "k\u{202e}": nasty }).to_string();
        let shown: serde_json::Value = serde_json::from_str(&visible(&json)).unwrap();
        assert_eq!(shown["k\u{202e}"], nasty);
    }
}
