//! Lines and columns.

/// A place in a text, both numbers from 1; columns in UTF-16 units, as editors and source maps count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TextPosition {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl TextPosition {
    /// For what is wrong with a file as a whole.
    pub(crate) const START: TextPosition = TextPosition { line: 1, column: 1 };
}

/// Where the lines of a text begin.
pub(crate) struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        LineIndex { text, starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// The place of a byte.
    pub(crate) fn place(&self, offset: u32) -> TextPosition {
        let offset = (offset as usize).min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        TextPosition { line: number(line), column: number(utf16(&self.text.as_bytes()[start..offset]) + 1) }
    }

    /// A line, cut to what is pleasant to read.
    pub(crate) fn text(&self, line: u32) -> String {
        let start = self.starts.get(line.saturating_sub(1) as usize).copied().unwrap_or(self.text.len());
        let text = self.text[start..].lines().next().unwrap_or_default().trim();
        text.chars().take(80).collect()
    }
}

/// A line of a text and those before and after it, with their numbers.
pub(crate) fn around(text: &str, line: u32) -> Vec<(u32, String)> {
    const BEFORE: u32 = 2;
    const AFTER: u32 = 1;
    let shown = line.saturating_sub(BEFORE)..=line.saturating_add(AFTER);
    let lines = (1..).zip(text.lines()).skip_while(|(number, _)| !shown.contains(number));
    let lines = lines.take_while(|(number, _)| shown.contains(number));
    lines.map(|(number, text)| (number, text.to_owned())).collect()
}

/// How many UTF-16 units a piece of UTF-8 has; the piece may end anywhere.
pub(crate) fn utf16(bytes: &[u8]) -> usize {
    bytes.iter().map(|byte| usize::from(byte & 0xC0 != 0x80) + usize::from(*byte >= 0xF0)).sum()
}

/// Files with more than four thousand million lines are not ours.
pub(crate) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
