//! Failures as people read them: what went wrong, where, and the source around it.

use rival::failure::{FailureOrigin, FailureRecord, SourceLine};

use crate::out::{clean, short};
use crate::style::TextStyle;
use crate::table::width;

/// How much of a line of source is shown.
const LINE: usize = 120;
/// How many lines of the stack are shown beside the place itself.
const FRAMES: usize = 4;

/// In one line: class, message and place.
pub(crate) fn told(failure: &FailureRecord) -> String {
    let place = failure.origin.as_ref().and_then(|origin| origin.place());
    clean(&match place {
        Some(place) => format!("{} ({place})", failure.sentence()),
        None => failure.sentence(),
    })
}

/// Below the sentence: the place, the source around it, and what led there. Nothing if that is not known.
pub(crate) fn source(failure: &FailureRecord, style: TextStyle) -> Vec<String> {
    let Some(origin) = &failure.origin else { return Vec::new() };
    let Some(place) = origin.place() else { return Vec::new() };
    let last = origin.excerpt.last().map_or(0, |last| last.line);
    let margin = last.to_string().len();
    let mut lines = vec![format!("{}{} {}", " ".repeat(margin), style.dim("-->"), clean(&place))];
    for line in &origin.excerpt {
        lines.extend(numbered(origin, line, margin, style));
    }
    lines.extend(stack(origin, &place).map(|line| style.dim(format_args!("{:margin$} {line}", ""))));
    lines
}

/// The same as one text, under a sentence.
pub(crate) fn below(failure: &FailureRecord, style: TextStyle) -> String {
    source(failure, style).iter().map(|line| format!("\n  {line}")).collect()
}

/// A line of source, and a mark under it if it is the one.
fn numbered(origin: &FailureOrigin, line: &SourceLine, margin: usize, style: TextStyle) -> Vec<String> {
    let text = short(&shown(&line.text), LINE);
    if origin.line != Some(line.line) {
        let number = style.dim(format_args!("{:>margin$} |", line.line));
        return vec![format!("{number} {text}").trim_end().to_owned()];
    }
    let number = style.red(format_args!("{:>margin$} |", line.line));
    let mut lines = vec![format!("{number} {text}").trim_end().to_owned()];
    let before = origin.column.map_or(0, |column| width(&shown(&until(&line.text, column))));
    if before < width(&text) {
        let bar = style.dim(format_args!("{:margin$} |", ""));
        lines.push(format!("{bar} {}{}", " ".repeat(before), style.red("^")));
    }
    lines
}

/// The part of a line before a column, which counts UTF-16 units from 1.
fn until(text: &str, column: u32) -> String {
    let mut left = column.saturating_sub(1) as usize;
    let before = text.chars().take_while(|c| {
        let fits = left >= c.len_utf16();
        left = left.saturating_sub(c.len_utf16());
        fits
    });
    before.collect()
}

fn shown(text: &str) -> String {
    clean(&text.replace('\t', "    "))
}

/// What led to the place, and what caused it.
fn stack<'a>(origin: &'a FailureOrigin, place: &str) -> impl Iterator<Item = String> + use<'a> {
    let here = [format!("({place})"), format!("at {place}")];
    let lines = origin.stack.as_deref().unwrap_or_default().lines().map(str::trim);
    let others = lines.filter(move |line| !here.iter().any(|here| line.ends_with(here)) && !line.is_empty());
    others.filter(|line| !line.ends_with("(native)")).take(FRAMES).map(|line| short(&clean(line), LINE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(text: &str, column: u32) -> FailureRecord {
        let origin = FailureOrigin {
            class: Some("TypeError".to_owned()),
            file: Some("flows/etl.ts".to_owned()),
            line: Some(10),
            column: Some(column),
            excerpt: vec![
                SourceLine { line: 9, text: "function parse({ input }) {".to_owned() },
                SourceLine { line: 10, text: text.to_owned() },
            ],
            stack: Some(
                "    at size (flows/etl.ts:10:9)\n    at parse (flows/etl.ts:20:1)\nCaused by: Error: no"
                    .to_owned(),
            ),
        };
        FailureRecord { origin: Some(Box::new(origin)), ..FailureRecord::new("error", "no\nlength") }
    }

    #[test]
    fn a_failure_is_shown_with_the_line_that_it_comes_from() {
        let failure = failure("\treturn input.rows", 9);
        assert_eq!(told(&failure), "TypeError: no length (flows/etl.ts:10:9)");
        let expected = [
            "  --> flows/etl.ts:10:9",
            " 9 | function parse({ input }) {",
            "10 |     return input.rows",
            "   |            ^",
            "   at parse (flows/etl.ts:20:1)",
            "   Caused by: Error: no",
        ];
        assert_eq!(source(&failure, TextStyle::PLAIN), expected);
    }

    #[test]
    fn a_mark_that_would_be_beyond_the_line_is_left_out() {
        let lines = source(&failure(&"x".repeat(500), 400), TextStyle::PLAIN);
        assert_eq!(lines[2], format!("10 | {}…", "x".repeat(LINE)));
        assert!(!lines.iter().any(|line| line.contains('^')), "{lines:?}");
    }

    #[test]
    fn of_a_failure_without_a_place_there_is_only_the_sentence() {
        let failure = FailureRecord::new("timeout", "it took too long");
        assert_eq!(told(&failure), "it took too long");
        assert_eq!(below(&failure, TextStyle::PLAIN), "");
    }
}
