//! Functions that fit on a screen.

use crate::{allowed, read, sources};

const LINES_MAX: usize = 70;

/// Functions that are longer, as `path: name`.
fn long_functions() -> Vec<String> {
    let mut long = Vec::new();
    for path in sources() {
        let text = read(&path);
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(name) = function_name(line) else { continue };
            let first = |end: char| lines[at..].iter().position(|line| line.ends_with(end));
            let is_declared =
                first(';').is_some_and(|semicolon| first('{').is_none_or(|brace| semicolon < brace));
            // The sources are formatted: a function ends with the first brace that stands below its own beginning.
            let indent = line.len() - line.trim_start().len();
            let end = format!("{}}}", " ".repeat(indent));
            let length = lines[at..].iter().position(|line| *line == end).map_or(0, |last| last + 1);
            if !is_declared && length > LINES_MAX {
                long.push(format!("{path}: {name}"));
            }
        }
    }
    long
}

fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_start = before.split_whitespace().all(|word| {
        word.starts_with("pub") || ["async", "const", "unsafe", "extern", "in", "\"C\""].contains(&word)
    });
    let name = after.split(['(', '<']).next()?;
    let is_one_line = line.trim_end().ends_with([';', '}']);
    (is_start && !name.is_empty() && !is_one_line).then_some(name)
}

#[test]
fn functions_are_short() {
    let (long, known) = (long_functions(), allowed("long_functions.txt"));
    let new: Vec<_> = long.iter().filter(|function| !known.contains(function)).collect();
    assert!(new.is_empty(), "longer than {LINES_MAX} lines: {new:#?}");
    let mended: Vec<_> = known.iter().filter(|function| !long.contains(function)).collect();
    assert!(mended.is_empty(), "short now, so remove them from tools/tidy/long_functions.txt: {mended:#?}");
}
