//! The types that authors see, and the host's own JavaScript, as the TypeScript compiler judges them.

use std::fs;
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

/// An author who copies a file out of the docs into a project of `rival init` has no red line.
#[test]
fn the_files_in_the_docs_compile_as_strictly_as_a_new_project_does() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("docs");
    // What an earlier run has left there.
    let _ = fs::remove_dir_all(&folder);
    let mut count = 0;
    for doc in ["README.md", "docs/typescript.md", "docs/testing.md"] {
        let text = fs::read_to_string(root.join(doc)).unwrap();
        for block in text.split("```ts\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            let name = block.lines().next().and_then(|line| line.strip_prefix("// ")).unwrap_or("readme.ts");
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, block).unwrap();
            count += 1;
        }
    }
    assert!(count > 5, "{count}");
    let types = root.join("packages/rival");
    let settings = serde_json::json!({
        "extends": root.join("crates/cli/src/project/tsconfig.json"),
        "compilerOptions": {
            "skipLibCheck": true,
            "paths": {
                "rival": [types.join("types/rival.d.ts")],
                "rival/test": [types.join("types/rival-test.d.ts")],
                "zod": [types.join("node_modules/zod")],
            },
        },
        "include": ["."],
    });
    fs::write(folder.join("tsconfig.json"), settings.to_string()).unwrap();
    assert_compiles(folder.to_str().unwrap());
}
