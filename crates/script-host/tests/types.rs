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
                "rival/*": [types.join("types/rival-*.d.ts")],
                "zod": [types.join("node_modules/zod")],
            },
        },
        "include": ["."],
    });
    fs::write(folder.join("tsconfig.json"), settings.to_string()).unwrap();
    assert_compiles(folder.to_str().unwrap());
}

/// The types of documents refuse what their published schema refuses, as far as types can say it, and nothing else. The schema
/// itself is held to the same list in `crates/document`.
#[test]
fn documents_compile_as_their_schema_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cases = fs::read_to_string(root.join("crates/document/tests/cases/documents.json")).unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_str(&cases).unwrap();
    let mut file =
        "import type { DocumentStep, DocumentTrigger, WorkflowDocument } from 'rival/document'\n".to_owned();
    for (number, case) in cases.iter().enumerate() {
        let [document, step, trigger] = ["document", "step", "trigger"].map(|kind| case.get(kind));
        let (name, value) = match (step, trigger) {
            (Some(step), _) => ("DocumentStep", step),
            (_, Some(trigger)) => ("DocumentTrigger", trigger),
            (None, None) => ("WorkflowDocument", document.unwrap()),
        };
        if case["types"] == "refuse" {
            file += "// @ts-expect-error\n";
        }
        let about = case["about"].to_string();
        file += &format!("export const case{number}: {name} = {value} // {about}\n");
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("documents.ts"), file).unwrap();
    let settings = serde_json::json!({
        "extends": root.join("packages/rival/types/check/tsconfig.json"),
        "include": ["documents.ts"],
    });
    fs::write(folder.join("tsconfig.json"), settings.to_string()).unwrap();
    assert_compiles(folder.to_str().unwrap());
}
