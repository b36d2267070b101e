//! Columns of text that fit into a terminal.

use crate::style::TextStyle;

/// What is between two columns.
const GAP: usize = 2;
/// A column is not cut to less than this, nor its title.
const COLUMN_MIN: usize = 8;
/// With less room than this beside the others, the last column is below them.
const LAST_MIN: usize = 24;
/// How far a last column is set in that is below the others.
const BELOW: usize = 4;

/// Columns of text, as wide as they need to be. Where a terminal is too narrow, the last column is broken into lines and others
/// are cut.
#[derive(Debug)]
pub(crate) struct TextTable {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// Columns that are never cut, as those with ids, which are there to be copied.
    whole: Vec<usize>,
}

/// How a table is laid out.
struct TableLayout {
    widths: Vec<usize>,
    /// How wide the lines of the last column are, and how far they are set in.
    last: LastColumn,
}

enum LastColumn {
    Beside(usize),
    Below(usize),
}

impl TextTable {
    pub(crate) fn new(head: &[&'static str]) -> Self {
        Self { head: head.to_vec(), rows: Vec::new(), whole: Vec::new() }
    }

    /// Never cuts these columns.
    pub(crate) fn whole(mut self, columns: &[usize]) -> Self {
        self.whole = columns.to_vec();
        self
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        debug_assert_eq!(N, self.head.len());
        self.rows.push(cells.into());
    }

    /// The text of it, for a terminal of this width; without one, each row is one line.
    pub(crate) fn show(&self, style: TextStyle, terminal: Option<usize>) -> String {
        let layout = self.layout(terminal.unwrap_or(usize::MAX));
        let head = self.head.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let mut lines: Vec<String> = layout.lines(&head).into_iter().map(|line| style.dim(line)).collect();
        lines.extend(self.rows.iter().flat_map(|row| layout.lines(row)));
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn layout(&self, terminal: usize) -> TableLayout {
        let mut widths: Vec<usize> = self.head.iter().map(|cell| width(cell)).collect();
        for row in &self.rows {
            for (cell, widest) in row.iter().zip(&mut widths) {
                *widest = (*widest).max(width(cell));
            }
        }
        let last = widths.pop().unwrap_or(0).min(LAST_MIN);
        let beside = self.cut(widths.clone(), terminal.saturating_sub(last));
        let room = terminal.saturating_sub(beside.iter().map(|it| it + GAP).sum());
        if room >= last {
            return TableLayout { widths: beside, last: LastColumn::Beside(room) };
        }
        let room = terminal.saturating_sub(BELOW).max(LAST_MIN);
        TableLayout { widths: self.cut(widths, terminal), last: LastColumn::Below(room) }
    }

    /// Cuts the widest columns until they fit into so much room, as far as they can be cut.
    fn cut(&self, mut widths: Vec<usize>, room: usize) -> Vec<usize> {
        loop {
            let all: usize = widths.iter().map(|it| it + GAP).sum();
            let least = |at: usize| width(self.head[at]).max(COLUMN_MIN);
            let cuttable = widths.iter().copied().enumerate();
            let cuttable = cuttable.filter(|(at, it)| !self.whole.contains(at) && *it > least(*at));
            match cuttable.max_by_key(|(_, it)| *it).map(|(at, _)| at) {
                Some(at) if all > room => widths[at] -= 1,
                _ => return widths,
            }
        }
    }
}

impl TableLayout {
    fn lines(&self, row: &[String]) -> Vec<String> {
        let Some((last, others)) = row.split_last() else { return Vec::new() };
        let padded = others.iter().zip(&self.widths).map(|(cell, widest)| {
            let cell = cut_to(cell, *widest);
            let pad = widest.saturating_sub(width(&cell)) + GAP;
            format!("{cell}{}", " ".repeat(pad))
        });
        let mut first: String = padded.collect();
        let (room, indent) = match self.last {
            LastColumn::Beside(room) => (room, width(&first)),
            LastColumn::Below(room) => (room, BELOW),
        };
        let mut parts = broken(last, room).into_iter();
        if let LastColumn::Beside(_) = self.last {
            first += &parts.next().unwrap_or_default();
        }
        let below = parts.filter(|part| !part.is_empty()).map(|part| format!("{}{part}", " ".repeat(indent)));
        std::iter::once(first.trim_end().to_owned()).chain(below).collect()
    }
}

/// A text of at most so many columns. Paths are told apart by their ends, so the beginning of one is left out.
fn cut_to(text: &str, room: usize) -> String {
    let long = width(text).saturating_sub(room);
    if long == 0 || text.contains('\x1b') {
        return text.to_owned();
    }
    if text.contains('/') {
        return format!("…{}", text.chars().skip(long + 1).collect::<String>());
    }
    format!("{}…", text.chars().take(room - 1).collect::<String>())
}

/// A text in lines of at most so many columns, broken between words where there are some.
fn broken(text: &str, room: usize) -> Vec<String> {
    if width(text) <= room || text.contains('\x1b') {
        return vec![text.to_owned()];
    }
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split(' ') {
        if !line.is_empty() && width(&line) + 1 + width(word) > room {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
        while width(&line) > room {
            let rest = line.chars().skip(room).collect();
            line = line.chars().take(room).collect();
            lines.push(std::mem::replace(&mut line, rest));
        }
    }
    lines.push(line);
    lines
}

/// How many columns a text takes, without the codes of its colours.
pub(crate) fn width(text: &str) -> usize {
    let mut width = 0;
    let mut in_code = false;
    for c in text.chars() {
        match c {
            '\x1b' => in_code = true,
            'm' if in_code => in_code = false,
            _ if !in_code => width += 1,
            _ => {}
        }
    }
    width
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: [&str; 4] = ["RUN", "WORKFLOW", "STATUS", "NOTE"];

    fn shown(id: &str, workflow: &str, note: &str, terminal: Option<usize>) -> Vec<String> {
        let mut table = TextTable::new(&HEAD).whole(&[0]);
        table.row([id.to_owned(), workflow.to_owned(), "failed".to_owned(), note.to_owned()]);
        let shown = table.show(TextStyle { colour: false }, terminal);
        shown.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_table_is_as_wide_as_it_needs_to_be() {
        let note = "a long text ".repeat(20);
        let lines = shown("r1", "order", &note, None);
        assert_eq!(
            lines,
            ["RUN  WORKFLOW  STATUS  NOTE".to_owned(), format!("r1   order     failed  {}", note.trim_end())]
        );
        assert_eq!(shown("r1", "order", "short", Some(80))[1], "r1   order     failed  short");
    }

    #[test]
    fn a_last_column_is_broken_between_words() {
        let lines = shown("r1", "order", "the card was refused by its bank, which gave no reason", Some(60));
        assert_eq!(
            lines[1..],
            [
                "r1   order     failed  the card was refused by its bank,",
                "                       which gave no reason"
            ]
        );
    }

    #[test]
    fn an_id_stays_whole_and_what_has_no_room_is_below() {
        let id = "019a8c3e-7c1d-7e53-a4b1-0c7d3f5a9e21";
        let lines = shown(id, "a-workflow-with-a-name", "the card was refused by its bank", Some(60));
        assert_eq!(
            lines[2..],
            [format!("{id}  a-workflow-…  failed"), "    the card was refused by its bank".to_owned()]
        );
        assert!(lines.iter().all(|line| width(line) <= 60), "{lines:?}");
    }

    #[test]
    fn a_long_path_keeps_its_end() {
        assert_eq!(cut_to("setup/database/create_user", 12), "…create_user");
        assert_eq!(broken("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
    }

    #[test]
    fn columns_line_up_and_colours_take_no_room() {
        let mut table = TextTable::new(&["A", "B"]);
        table.row(["\x1b[31mlonger\x1b[0m".to_owned(), "x".to_owned()]);
        table.row(["a b".to_owned(), "y".to_owned()]);
        let plain = TextStyle { colour: false };
        assert_eq!(table.show(plain, None), "A       B\n\x1b[31mlonger\x1b[0m  x\na b     y\n");
    }
}
