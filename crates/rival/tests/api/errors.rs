//! Every error code has its page in docs/errors and its line in the index, and nothing else does.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn is_code(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// The words after `before` and before the next quote.
fn words(text: &str, before: &str) -> BTreeSet<String> {
    let found = text.split(before).skip(1).filter_map(|rest| rest.split('"').next());
    found.filter(|word| is_code(word)).map(str::to_owned).collect()
}

/// Every code that the sources raise: what `code()` gives, constants, and what extractors give to `FailureRecord::new`.
fn raised() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for path in [
        "crates/authoring/src/error.rs",
        "crates/engine/src/api/error.rs",
        "crates/store/src/error.rs",
        "crates/server/src/token.rs",
    ] {
        codes.extend(words(&read(path), "=> \""));
    }
    for path in [
        "crates/core/src/failure.rs",
        "crates/script-host/src/code.rs",
        "crates/http/src/lib.rs",
        "crates/mcp/src/code.rs",
        "crates/mcp-server/src/caller.rs",
        "crates/outgoing/src/lib.rs",
        "crates/rival/src/extract/output.rs",
        "crates/script/src/code.rs",
        "crates/server/src/problem.rs",
    ] {
        codes.extend(words(&read(path), ": &str = \""));
    }
    // The errors that the host's JavaScript makes by itself.
    for file in fs::read_dir(root().join("packages/rival/src/host")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap().replace('\'', "\"");
        codes.extend(words(&text, "code: \""));
    }
    for file in fs::read_dir(root().join("crates/rival/src/extract")).unwrap() {
        codes.extend(words(&fs::read_to_string(file.unwrap().path()).unwrap(), "FailureRecord::new(\""));
    }
    codes
}

/// A line of the index.
struct Row {
    code: String,
    status: String,
    meaning: String,
}

fn index() -> Vec<Row> {
    let text = read("docs/errors/README.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| [`")?.strip_suffix(" |"));
    rows.map(|row| {
        let cells: Vec<&str> = row.splitn(3, " | ").collect();
        let [link, status, meaning] = cells[..] else { panic!("{row}") };
        let code = link.split('`').next().unwrap().to_owned();
        assert_eq!(link, format!("{code}`]({code}.md)"));
        Row { code, status: status.trim().to_owned(), meaning: meaning.to_owned() }
    })
    .collect()
}

#[test]
fn every_code_is_documented_and_no_other() {
    let raised = raised();
    assert!(raised.len() > 50, "the sources look different now: {raised:?}");
    let listed: BTreeSet<String> = index().into_iter().map(|row| row.code).collect();
    assert_eq!(raised, listed);
    let files = fs::read_dir(root().join("docs/errors")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let pages: BTreeSet<String> = names
        .filter_map(|name| name.strip_suffix(".md").map(str::to_owned))
        .filter(|n| n != "README")
        .collect();
    assert_eq!(raised, pages);
}

#[test]
fn every_page_says_what_the_code_means_and_what_to_do() {
    for Row { code, status, meaning } in index() {
        let page = read(format!("docs/errors/{code}.md"));
        let expected = format!("# `{code}`\n\n{meaning}\n\n**What to do.** ");
        assert!(page.starts_with(&expected), "{page}");
        let said = page.split("**HTTP status.** ").nth(1);
        assert_eq!(said.map(|said| &said[..3]), (!status.is_empty()).then_some(&*status), "{code}");
    }
}

/// What the server raises by itself is what it answers.
#[test]
fn every_code_of_the_server_has_a_status() {
    let codes = words(&read("crates/server/src/problem.rs"), ": &str = \"");
    for Row { code, status, .. } in index() {
        assert!(!codes.contains(&code) || !status.is_empty(), "{code}");
    }
}
