//! Every error code has its place in docs/errors.md, and nothing else does.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn is_code(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// The words after `before` and before the next quote.
fn words(text: &str, before: &str) -> BTreeSet<String> {
    let found = text.split(before).skip(1).filter_map(|rest| rest.split('"').next());
    found.filter(|word| is_code(word)).map(str::to_owned).collect()
}

/// Every code that the sources raise: what `code()` gives, constants, and `.code("..")` of the library's own errors.
fn raised() -> BTreeSet<String> {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let mut codes = BTreeSet::new();
    for path in ["crates/engine/src/error.rs", "crates/store/src/error.rs"] {
        codes.extend(words(&read(path), "=> \""));
    }
    for path in ["crates/core/src/failure.rs", "crates/http/src/lib.rs", "crates/rival/src/extract/output.rs"]
    {
        codes.extend(words(&read(path), ": &str = \""));
    }
    for file in fs::read_dir(root().join("crates/rival/src/extract")).unwrap() {
        codes.extend(words(&fs::read_to_string(file.unwrap().path()).unwrap(), ".code(\""));
    }
    codes
}

/// Every code that begins a line of a table.
fn documented() -> BTreeSet<String> {
    let page = fs::read_to_string(root().join("docs/errors.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(code, _)| code.to_owned()).collect()
}

#[test]
fn every_code_is_documented_and_no_other() {
    let (raised, documented) = (raised(), documented());
    assert!(raised.len() > 35, "the sources look different now: {raised:?}");
    assert_eq!(raised, documented);
}
