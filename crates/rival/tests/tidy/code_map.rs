//! The code map in docs/ARCHITECTURE.md against the folders.

use std::collections::BTreeMap;

use crate::{files_under, read, root};

/// The rows of the code map: for each folder of a crate, what their first cells name.
fn code_map() -> BTreeMap<String, Vec<String>> {
    let text = read("docs/ARCHITECTURE.md");
    let map = text.split("\n## Code map").nth(1).expect("there is a code map");
    let map = map.split("\n## ").next().unwrap_or_default();
    let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut folder = String::new();
    for line in map.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            folder = heading.split('`').nth(1).unwrap_or_default().to_owned();
        } else if let Some(row) = line.strip_prefix("| `") {
            let cell = row.split(" | ").next().unwrap_or_default();
            let names = format!("`{cell}");
            let names = names.split('`').skip(1).step_by(2).map(str::to_owned);
            rows.entry(folder.clone()).or_default().extend(names);
        }
    }
    rows
}

/// Whether a row's entry names this file of `src`: by its path, by its last part, or by a folder around it.
fn names(entry: &str, file: &str) -> bool {
    entry == file || file.ends_with(&format!("/{entry}")) || (entry.ends_with('/') && file.starts_with(entry))
}

#[test]
fn the_code_map_is_complete() {
    let map = code_map();
    let others = map.get("").cloned().unwrap_or_default();
    let mut missing = Vec::new();
    for folder in ["crates", "rigs"] {
        for path in files_under(folder, &[".rs"]) {
            let Some((package, file)) = path.split_once("/src/") else { continue };
            let is_root = file.ends_with("mod.rs") || ["lib.rs", "main.rs", "tests.rs"].contains(&file);
            let rows = map.get(package).map(Vec::as_slice).unwrap_or_default();
            let is_named =
                rows.iter().any(|entry| names(entry, file)) || others.iter().any(|it| it == package);
            if !is_root && !is_named {
                missing.push(path);
            }
        }
    }
    assert!(missing.is_empty(), "not on the code map of docs/ARCHITECTURE.md: {missing:#?}");
}

#[test]
fn everything_on_the_code_map_is_there() {
    let mut stale = Vec::new();
    for (folder, entries) in code_map() {
        let src = root().join(&folder).join("src");
        let files = files_under(&format!("{folder}/src"), &[".rs"]);
        let prefix = format!("{folder}/src/");
        for entry in entries {
            let places = [src.join(&entry), root().join(&folder).join(&entry), root().join(&entry)];
            let is_file = files.iter().any(|file| names(&entry, file.trim_start_matches(&prefix)));
            if !is_file && !places.iter().any(|place| place.exists()) {
                stale.push(format!("{folder}: {entry}"));
            }
        }
    }
    assert!(stale.is_empty(), "on the code map of docs/ARCHITECTURE.md, and not there: {stale:#?}");
}
