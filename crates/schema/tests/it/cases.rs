//! The tables in `tests/cases`: a verdict, a source, a target, and for a mismatch its message. Each verdict is tried against
//! the validator, too.
//!
//! ```text
//! type Name = …                            a type for the lines below
//! yes      string -> string | null
//! no       number -> string // the value is `number`, and `string` is expected
//! unknown  any -> string // nothing is said
//! ```

use std::fs;
use std::path::PathBuf;

use rival_schema::{AssignVerdict, path_text};
use serde_json::Value;

use crate::oracle::{SchemaOracle, VerdictCount, check};
use crate::types;

pub fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// One line of a table.
pub struct Case {
    pub place: String,
    pub expected: String,
    pub from: String,
    pub to: String,
    pub message: Option<String>,
}

/// The lines of all tables in a folder, and the types that they name.
pub fn cases(name: &str) -> (Vec<Case>, Vec<(String, String)>) {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder(name)).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    let (mut found, mut named) = (Vec::new(), Vec::new());
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        for (at, line) in text.lines().enumerate() {
            let place = format!("{}:{}", path.file_name().unwrap().display(), at + 1);
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some((name, ty)) = line.strip_prefix("type ").and_then(|it| it.split_once(" = ")) {
                named.push((name.to_owned(), ty.to_owned()));
                continue;
            }
            found.push(case(place, line));
        }
    }
    (found, named)
}

fn case(place: String, line: &str) -> Case {
    let (line, message) = match line.split_once(" // ") {
        Some((line, message)) => (line.trim(), Some(message.trim().to_owned())),
        None => (line, None),
    };
    let (expected, pair) = line.split_once(' ').unwrap_or_else(|| panic!("{place}: no verdict"));
    let (from, to) = pair.split_once(" -> ").unwrap_or_else(|| panic!("{place}: no arrow"));
    let texts = [expected, from, to].map(|it| it.trim().to_owned());
    let [expected, from, to] = texts;
    Case { place, expected, from, to, message }
}

/// Judges all cases, and says all that is wrong.
pub fn judge(cases: &[Case], schema: impl Fn(&Case, &str) -> Value, count: &mut VerdictCount) {
    let mut wrong = Vec::new();
    for case in cases {
        let (from, to) = (schema(case, &case.from), schema(case, &case.to));
        let verdict = check(&SchemaOracle::new(&from), &SchemaOracle::new(&to), count);
        let (word, text) = match &verdict {
            AssignVerdict::Yes => ("yes", String::new()),
            AssignVerdict::No(mismatch) => ("no", mismatch.message.clone()),
            AssignVerdict::Unknown { path, why } => ("unknown", format!("{}: {why}", path_text(path))),
        };
        let is_said = case.message.as_ref().is_none_or(|message| text.contains(message.as_str()));
        if word != case.expected || !is_said {
            let Case { place, expected, from, to, .. } = case;
            wrong.push(format!("{place}: {expected} {from} -> {to}\n    is {word} // {text}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn types_are_judged_as_the_tables_say() {
    let (cases, named) = cases("cases/types");
    let mut count = VerdictCount::default();
    judge(&cases, |_, text| types::schema(text, &named), &mut count);
    println!("types: {} cases, {count:?}", cases.len());
}

#[test]
fn schemas_are_judged_as_the_tables_say() {
    let (cases, _) = cases("cases/schemas");
    let mut count = VerdictCount::default();
    let read = |case: &Case, text: &str| {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{}: {error}: {text}", case.place))
    };
    judge(&cases, read, &mut count);
    println!("schemas: {} cases, {count:?}", cases.len());
}

#[test]
fn there_are_at_least_five_hundred_cases() {
    let all = ["cases/types", "cases/schemas", "cases/mcp"].map(|name| cases(name).0.len());
    println!("cases: {all:?}");
    assert!(all.iter().sum::<usize>() >= 500, "{all:?}");
}
