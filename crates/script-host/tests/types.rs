//! The types that authors see, and the host's own JavaScript, as the TypeScript compiler judges them.

use std::path::Path;
use std::process::Command;

fn assert_compiles(project: &str) {
    let js = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packages/rival");
    let tsc = Command::new("node")
        .args(["node_modules/typescript/lib/tsc.js", "--project", project])
        .current_dir(js)
        .output()
        .expect("node runs: `make setup` installs it");
    assert!(tsc.status.success(), "{}", String::from_utf8_lossy(&tsc.stdout));
}

#[test]
fn the_sources_compile() {
    assert_compiles(".");
}

/// Some lines in there must not compile; they say so.
#[test]
fn authors_who_write_types_get_types() {
    assert_compiles("types/check");
}

#[test]
fn code_without_types_compiles_as_it_was_written() {
    assert_compiles("types/check/seed");
}

#[test]
fn the_examples_compile() {
    assert_compiles("types/check/examples");
}
