//! From generated code back to TypeScript.

use std::path::{Path, PathBuf};

use crate::module::in_package;
use crate::place::{TextPosition, number, utf16};
use crate::program::ScriptProgram;

/// Where pieces of generated code come from, in the order of the generated code.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceMap {
    pieces: Vec<(TextPosition, TextPosition)>,
}

impl SourceMap {
    /// From the generator's table, whose lines and columns begin with 0: generated line and column, then the origin's.
    pub(crate) fn new(pieces: impl Iterator<Item = [u32; 4]>) -> Self {
        let place = |line: u32, column: u32| TextPosition { line: line + 1, column: column + 1 };
        SourceMap {
            pieces: pieces.map(|[line, column, from, at]| (place(line, column), place(from, at))).collect(),
        }
    }

    /// The origin of the piece that a place is in, or of the first on its line.
    pub(crate) fn origin(&self, generated: TextPosition) -> Option<TextPosition> {
        let after = self.pieces.partition_point(|(place, _)| *place <= generated);
        let near = [after.checked_sub(1), Some(after)];
        let mut found = near.into_iter().flatten().filter_map(|at| self.pieces.get(at));
        found.find(|(place, _)| place.line == generated.line).map(|(_, origin)| *origin)
    }
}

/// A place in generated code with its column in UTF-16 units; QuickJS counts bytes.
pub(crate) fn from_bytes(code: &str, line: u32, column: u32) -> TextPosition {
    let text = code.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default().as_bytes();
    let before = &text[..text.len().min(column.saturating_sub(1) as usize)];
    TextPosition { line, column: number(utf16(before) + 1) }
}

/// What a place begins with that is one of TypeScript already, as scripts see them.
pub(crate) const MAPPED: &str = "file://";

/// A stack trace of generated code as one of TypeScript.
pub(crate) fn map(program: &ScriptProgram, stack: &str, show: impl Fn(&Path) -> String) -> String {
    let lines: Vec<String> = stack.lines().filter_map(|line| map_line(program, line, &show)).collect();
    lines.join("\n")
}

/// The first frame of a stack trace that lies in a file of the author.
pub(crate) fn first_place(program: &ScriptProgram, stack: &str) -> Option<(PathBuf, u32, u32)> {
    let mut places = stack.lines().filter_map(frame).filter_map(|(_, place)| origin(program, place));
    places.find(|(path, ..)| !in_package(path))
}

/// The first frame of a stack trace, if it lies in a package.
pub(crate) fn place_in_package(program: &ScriptProgram, stack: &str) -> Option<(PathBuf, u32, u32)> {
    let mut places = stack.lines().filter_map(frame).filter_map(|(_, place)| origin(program, place));
    places.next().filter(|(path, ..)| in_package(path))
}

/// A line of a stack trace; none if it is a frame of code that is not the author's.
fn map_line(program: &ScriptProgram, line: &str, show: &impl Fn(&Path) -> String) -> Option<String> {
    let Some((function, place)) = frame(line) else { return Some(line.to_owned()) };
    if place == "native" {
        return Some(line.to_owned());
    }
    let (path, line, column) = origin(program, place)?;
    let shown = show(&path);
    Some(match function {
        Some(function) => format!("    at {function} ({shown}:{line}:{column})"),
        None => format!("    at {shown}:{line}:{column}"),
    })
}

/// A frame's function and place: `at function (place)` or `at place`.
fn frame(line: &str) -> Option<(Option<&str>, &str)> {
    let frame = line.trim_start().strip_prefix("at ")?;
    Some(match frame.strip_suffix(')').and_then(|frame| frame.rsplit_once(" (")) {
        Some((function, place)) => (Some(function), place),
        None => (None, frame),
    })
}

/// A place in the code of a module as one in TypeScript.
fn origin(program: &ScriptProgram, place: &str) -> Option<(PathBuf, u32, u32)> {
    if let Some((file, line, column)) = place.strip_prefix(MAPPED).and_then(split) {
        return Some((program.modules.get(Path::new(file))?.path.clone(), line, column));
    }
    let (module, line, column) = split(place)?;
    let module = program.modules.get(Path::new(module))?;
    let (line, column) = program.origin(&module.path, line, column).unwrap_or((line, column));
    Some((module.path.clone(), line, column))
}

/// `name:line:column`, or `name:line`.
fn split(place: &str) -> Option<(&str, u32, u32)> {
    let (rest, last) = place.rsplit_once(':')?;
    let last = last.parse().ok()?;
    match rest.rsplit_once(':').map(|(name, line)| (name, line.parse())) {
        Some((name, Ok(line))) => Some((name, line, last)),
        _ => Some((rest, last, 1)),
    }
}
